"""The command as its users meet it: exit codes, one message per mistake, folders, quiet pipes, Ctrl-C."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commands import command
from fabriloom import __version__
from fabriloom import simulate as simulation
from fabriloom.cli import exits, frame
from fabriloom.output import Plain
from fabriloom.reading.texts import escaped, refused_in
from fabriloom.results.files import write_table
from fabriloom.scenario import Scenario
from typer.main import get_command_from_info

SMALL = """
name = "Small"
[topology]
kind = "crossbar"
terminals = 4
[traffic]
length = "32 B"
load = 0.2
[run]
duration = "5 ms"
warmup = "50 us"
precision = 0
"""
FABRILOOM = [sys.executable, "-m", "fabriloom"]
DEADLOCK = """
[topology]
kind = "torus"
shape = [5, 5]
terminals_per_switch = 2
[routing]
kind = "dimension-order"
variant = "minimal"
[traffic]
arrivals = "backlog"
[run]
duration = "20 ms"
precision = 0
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def imported_by(*words: str) -> tuple[set[str], str]:
    """The modules that a command imports, and what it prints."""
    script = (
        f"import sys; sys.argv = {['fabriloom', *words]!r}\n"
        "from fabriloom.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split()), done.stdout


def test_help_comes_without_the_heavy_packages() -> None:
    """The time is bounded by what is imported; the clock of a busy machine would be no test."""
    loaded, said = imported_by("--help")
    assert "run" in said
    heavy = {"numpy", "polars", "pydantic", "networkx", "matplotlib", "jinja2", "rich", "yaml"}
    assert not loaded & {*heavy, "fabriloom.scenario", "fabriloom._native"}


def test_a_run_imports_nothing_that_it_does_not_need(file: Path) -> None:
    """From the shell to the result in a moment; the clock of a busy machine would be no test."""
    loaded, _ = imported_by("run", str(file))
    assert "fabriloom._native" in loaded
    heavy = {"polars", "networkx", "matplotlib", "jinja2", "starlette", "uvicorn", "yaml"}
    needless = {"ssl", "http.client", "urllib.request", "email.parser"}
    unread = ("interface", "program", "protocol", "ring_technology")
    sections = {f"fabriloom.scenario.sections.{name}" for name in unread}
    readers = {"fabriloom.reading.parquet", "fabriloom.traffic.tables"}
    assert not loaded & {*heavy, *needless, *sections, *readers}


def test_a_run_builds_the_checks_of_few_sections(file: Path) -> None:
    """Of more than a hundred kinds of sections, a file has some ten; the rest is built for nothing."""
    script = (
        f"import fabriloom; from fabriloom.scenario.fields import Section\nfabriloom.load({str(file)!r})\n"
        "def all_of(kind): return {kind}.union(*map(all_of, kind.__subclasses__()))\n"
        "print(sum(kind.__pydantic_complete__ for kind in all_of(Section)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20, done.stdout


def test_a_command_reads_the_options_of_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def seen(info: Any, **settings: Any) -> Any:
        made.append(info.name)
        return get_command_from_info(info, **settings)

    monkeypatch.setattr(frame, "get_command_from_info", seen)
    assert command("new", "grid").exit_code == exits.OK
    assert made == ["new"]


@pytest.mark.parametrize(
    ("word", "command_here"), [("what-if", "check FILE --fault all"), ("report", "--out")]
)
def test_words_of_other_programs_name_a_command(word: str, command_here: str) -> None:
    done = command(word, "network.toml")
    assert done.exit_code == exits.MISTAKE
    assert f"No such command '{word}': use " in done.stderr
    assert command_here in done.stderr


def test_version() -> None:
    done = command("--version")
    assert (done.exit_code, done.stdout) == (0, f"fabriloom {__version__}\n")


def test_run_says_what_it_measured(file: Path) -> None:
    done = command("run", file)
    assert done.exit_code == exits.OK
    assert done.stderr == ""
    assert "time_limit" in done.stdout
    assert "Latency: from the start of the packet's first character" in done.stdout


def test_a_comparison_says_of_each_what_its_latency_counts(file: Path) -> None:
    """A ring counts the time to store the data, links do not."""
    ring = file.with_name("ring.toml")
    ring.write_text(
        'name = "r"\n[topology]\nkind = "sci-ring"\nterminals = 3\n[run]\nduration = "50 us"\n'
        '[sweep]\n"technology.cable_length" = ["1 m", "9 m"]\n'
    )
    done = command("compare", file, ring, "--loads", "0.1", "--out", file.with_name("out"))
    start = "from the start of the request on the link out of its source's station, to the end of storing"
    assert f"; of r: {start}" in done.stdout
    assert done.stderr.startswith(f"warning: {ring}: compare runs no [sweep]")
    page = (file.with_name("out") / "report.html").read_text(encoding="utf-8")
    assert "; of r: from the start of the request" in page


def test_run_json_is_json_and_nothing_else(file: Path) -> None:
    done = command("run", file, "--json", "--seed", 9, "--set", "traffic.load=0.4")
    summary = json.loads(done.stdout)
    assert summary["seed"] == 9
    assert summary["end"]["reason"] == "time_limit"
    assert done.stderr == ""


def test_run_writes_its_folder(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    done = command("run", file, "--out", out, "--set", "output.trace=true")
    assert done.exit_code == exits.OK, done.stderr
    expected = {"summary.json", "report.html", "scenario.toml", "scenario.resolved.json", "trace.json"}
    expected |= {"fabriloom.sha256"}
    expected |= {f"{name}.parquet" for name in ("links", "flows", "batches", "latency", "over_time", "trace")}
    assert {path.name for path in out.iterdir()} == expected
    assert (out / "scenario.toml").read_text(encoding="utf-8") == SMALL
    assert len(pl.read_parquet(out / "links.parquet")) == 8
    again = command("run", out / "scenario.resolved.json", "--json", "--set", "output.trace=true")
    first = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert json.loads(again.stdout)["scenario_sha256"] == first["scenario_sha256"]


@pytest.mark.parametrize("name", ["run", "curve", "saturate"])
def test_a_used_folder_is_refused_before_the_run(file: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "used"
    out.mkdir()
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    done = command(name, file, "--out", out)
    assert done.exit_code == exits.MISTAKE
    assert "the folder holds notes.txt, which fabriloom did not write" in done.stderr
    assert [path.name for path in out.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "FILE"],
        ["curve", "FILE", "--loads", "0.1"],
        ["compare", "FILE", "FILE", "--loads", "0.1"],
        ["saturate", "FILE", "--definition", "backlog"],
        ["reproduce", "sci-retry", "--quick"],
        ["plot", "REPORT"],
    ],
    ids=lambda words: words[0],
)
def test_nothing_of_the_users_is_deleted_or_replaced(file: Path, tmp_path: Path, words: list[str]) -> None:
    """Whatever the names are: a folder ``runs`` was once taken for one of an unfinished reproduction."""
    report = tmp_path / "written" / "report.html"
    if "REPORT" in words:
        assert command("run", file, "--out", report.parent).exit_code == exits.OK
    known = {"FILE": file, "REPORT": report}
    out = tmp_path / "mine"
    names = ("runs/a.json", "points/b.json", "notes/c", "summary.json", "report.html", "scenario.toml")
    for name in (*names, "reproduction.html", "fabriloom.sha256", ".writing", ".lock", "1-curve.svg"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine", encoding="utf-8")
    (out / "trace.parquet").symlink_to(file)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for force in ([], ["--force"]):
        done = command(*(known.get(word, word) for word in words), "--out", out, *force)
        assert done.exit_code == exits.MISTAKE, done.output
        assert "which fabriloom did not write; your files are never replaced" in done.stderr
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_force_replaces_an_earlier_result(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("run", file, "--out", out, "--set", "output.trace=true").exit_code == exits.OK
    done = command("curve", file, "--loads", "0.1", "--out", out)
    assert "holds an earlier result of run; name another one, or add --force to replace it" in done.stderr
    assert command("curve", file, "--loads", "0.1", "--out", out, "--force").exit_code == exits.OK
    names = {"fabriloom.sha256", "points", "points.parquet", "report.html", "scenario.resolved.json"}
    assert {path.name for path in out.iterdir()} == {*names, "scenario.toml", "summary.json"}
    assert {path.name for path in tmp_path.iterdir()} == {"out", "small.toml"}


def test_the_home_folder_is_found(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell leaves ``"~/x"`` in quotes as it is; a folder called ~ is what nobody wants."""
    import matplotlib

    monkeypatch.setenv("MPLCONFIGDIR", matplotlib.get_cachedir())  # or it would list its fonts anew
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done = command("run", "~/small.toml", "--out", "~/x")
    assert (done.exit_code, (tmp_path / "x" / "report.html").exists()) == (exits.OK, True)
    assert f"Written to x{os.sep}; open {Path('x') / 'report.html'}" in done.stdout
    assert command("draw", file, "-o", "~/net.svg").exit_code == exits.OK
    assert command("plot", "~/x/report.html", "--out", "~/figures").exit_code == exits.OK
    made = {path.name for path in tmp_path.glob("[!.]*")}  # our cache is there, too
    assert made == {"x", "net.svg", "figures", "small.toml"}


def test_a_drawing_follows_no_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "net.svg").symlink_to(file)
    for force in ([], ["--force"]):
        done = command("draw", file, "-o", tmp_path / "net.svg", *force)
        assert done.exit_code == exits.MISTAKE
    assert "it is a symbolic link; name the file itself" in done.stderr
    assert file.read_text(encoding="utf-8") == SMALL


@pytest.mark.parametrize("json", [False, True])
def test_a_full_disk_loses_no_result(
    file: Path, tmp_path: Path, json: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is being written says no name; what was simulated for hours is told all the same."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("fabriloom.cli.folders.write_run", full)
    monkeypatch.setattr("fabriloom.cli.folders.write_study", full)
    for words in (["run"], ["curve", "--loads", "0.1"], ["saturate", "--definition", "backlog"]):
        done = command(*words, file, "--out", tmp_path / words[0], *(["--json"] if json else []))
        assert done.exit_code == exits.MISTAKE
        assert "accepted" in done.stdout
        assert "Written to" not in done.stdout
        assert done.stderr.startswith("error: cannot write: no space left on device; ")


def test_a_disk_that_fills_up_in_a_curve_loses_no_point(tmp_path: Path) -> None:
    """A limit on the size of files is the full disk that a test may make; Parquet says so by itself."""
    path = tmp_path / "grid.toml"
    grid = SMALL.replace("crossbar", "grid").replace("terminals = 4", "shape = [6, 6]")
    path.write_text(grid.replace("5 ms", "100 us"))
    done = subprocess.run(
        [*FABRILOOM, "curve", str(path), "--loads", "0.1,0.2", "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # Python would keep modules that are cut short
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == exits.MISTAKE, done.stderr
    assert done.stdout.count("time_limit") == 2
    kept, end = done.stderr.splitlines()
    assert kept.startswith("warning: ")
    assert kept.endswith("no longer kept here: file too large")
    assert end.startswith("error: cannot write: ")
    assert not (tmp_path / "out").exists()  # a report that was cut short would look whole in a browser


@pytest.mark.parametrize("words", [["schema"], ["run", "FILE"]])
def test_a_full_disk_behind_standard_output_is_said(file: Path, words: list[str]) -> None:
    command = [*FABRILOOM, *(str(file) if word == "FILE" else word for word in words)]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == exits.MISTAKE
    assert done.stderr.startswith("error: cannot write: no space left on device; ")
    assert "Exception" not in done.stderr


def test_a_drawing_into_a_folder_that_is_not_there_is_said(file: Path, tmp_path: Path) -> None:
    done = command("draw", file, "-o", tmp_path / "nowhere" / "net.svg")
    assert (done.exit_code, "net.svg: No such file or directory" in done.stderr) == (exits.MISTAKE, True)


def test_a_table_says_that_the_disk_is_full() -> None:
    """Polars has an error of its own for it, which would look like a fault of ours."""
    with pytest.raises(OSError, match=f"Errno {errno.ENOSPC}"):
        write_table(Plain(Path("/dev")), "full", pl.DataFrame({"number": [1]}))


def test_a_study_that_could_not_be_written_is_taken_up_again(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk was full when it was to be written: its points are there, and no result that looks whole."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    out, again = tmp_path / "out", ["curve", file, "--loads", "0.1", "--out", tmp_path / "out"]
    with monkeypatch.context() as patched:
        patched.setattr("fabriloom.results.files.put_text", full)
        assert command(*again).exit_code == exits.MISTAKE
    assert not out.exists()
    assert len(list((tmp_path / "out.partial" / "points").iterdir())) == 1
    monkeypatch.setattr("fabriloom.simulate.run", full)  # nothing is run again
    assert command(*again).exit_code == exits.OK
    assert {path.name for path in tmp_path.iterdir()} == {"out", "small.toml"}


def test_no_terminal_obeys_the_name_of_a_file(tmp_path: Path) -> None:
    """Names come from archives too. A byte that is no character lost the finished run."""
    path, out = tmp_path / "evil\x1b[2J\x9b2J\u202e\udcff.toml", tmp_path / "out"
    path.write_text(SMALL.replace('name = "Small"', "").replace("5 ms", "100 us"), encoding="utf-8")
    for words in (["run"], ["compare", str(path), "--loads", "0.1"], ["run", "--seed", "-1"]):
        done = subprocess.run(
            [*FABRILOOM, *words, str(path), "--out", str(out), "--force"], capture_output=True, check=False
        )
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == (exits.MISTAKE if "--seed" in words else exits.OK), said
        assert not set(said) & {"\x1b", "\x9b", "\u202e", "\udcff"}
        assert "\\u" in said or "--seed" in words


def test_what_is_not_printable_is_shown_and_not_obeyed() -> None:
    assert (
        escaped("a\x1b[31m\tb\r\n\x9b \ud800 \u202e ü") == "a\\u001b[31m\tb\\u000d\n\\u009b \\ud800 \\u202e ü"
    )
    assert json.loads(f'"{escaped(chr(0x9B))}"') == "\x9b"
    assert (refused_in("two\nlines"), refused_in("two\r\nlines", lines=True)) == ("U+000A", "")
    assert refused_in("no character: \ufffe") == "U+FFFE"


def test_of_a_long_line_the_middle_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    exits.complain(f"error: {'n' * 1_000_000} is no terminal\n  {'m' * 1_998}\n")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("error: nnn")
    assert first.endswith("nnn is no terminal")
    assert len(first) < 2_500
    assert second == "  " + "m" * 1_998


def test_a_drawing_is_svg(file: Path, tmp_path: Path) -> None:
    done = command("draw", file, "-o", tmp_path / "network.png")
    assert (done.exit_code, done.stdout) == (exits.MISTAKE, "")
    assert "a drawing is SVG; name it network.svg" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "missing.toml"], "missing.toml"),
        (["run"], "Missing argument"),
        (["run", "FILE", "--set", "traffic.lode=0.5"], "lode"),
        (["run", "FILE", "--set", "nonsense"], "not a setting"),
        (["run", "FILE", "--set", "traffic.load=2"], "at most 1"),
        (["run", "FILE", "--set", "topology.terminals=1000000000"], "terminals"),
        (["curve", "FILE", "--loads", "0.1,many"], "write numbers with commas"),
        (["curve", "FILE", "--loads", "0.1,7"], "not above 0 and at most 1"),
        (["curve", "FILE", "--published"], "no published numbers about this network"),
        (["curve", "FILE", "--jobs", "0"], "--jobs"),
        (["saturate", "FILE", "--definition", "best"], "backlog or peak"),
        (["run", "FILE", "--out", "FILE"], "there is a file of this name"),
        (["run", "FILE", "--out", "/proc/nowhere/out"], "cannot be written"),
        (["run", "FILE", "--set", "load=0.5"], "write traffic.load: it is a key of [traffic]"),
        (["curve", "FILE", "--loads", "10"], "1 is all that a link carries; for 10 % write 0.1\n"),
        (["reproduce", "nothing"], "macrame"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_mistakes_are_one_message_and_exit_code_2(file: Path, arguments: list[str], message: str) -> None:
    done = command(*(str(file) if argument == "FILE" else argument for argument in arguments))
    assert done.exit_code == exits.MISTAKE
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_deadlock_is_a_result_with_its_own_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "deadlock.toml"
    path.write_text(DEADLOCK, encoding="utf-8")
    done = command("run", path, "--json")
    assert done.exit_code == exits.DEADLOCK
    assert "warning: the routing can deadlock" in done.stderr
    assert len(json.loads(done.stdout)["end"]["cycle"]) >= 2
    checked = command("check", path)
    assert checked.exit_code == exits.DEADLOCK
    assert "can happen; a cycle" in checked.stdout


def test_check_says_all_it_should(file: Path) -> None:
    done = command("check", file)
    assert done.exit_code == exits.OK
    for word in ("cables", "ports", "bisection", "throughput", "zero-load latency", "deadlock"):
        assert word in done.stdout
    assert "{" not in done.stdout
    whole = command("check", file, "--resolved").stdout
    assert whole.startswith(done.stdout)
    assert Scenario.from_dict(json.loads(whole[whole.index("{") :])).sha256
    assert command("check", file, "--resolved", "--fault", "all").exit_code == exits.MISTAKE
    found = json.loads(command("check", file, "--json").stdout)
    assert found["network"]["cables"] == 4
    assert found["deadlock"]["free"]
    assert found["deadlock"]["cycle"] == found["deadlock"]["any_traffic_cycle"] == []


def test_draw_to_a_file_and_to_a_pipe(file: Path, tmp_path: Path) -> None:
    svg = tmp_path / "net.svg"
    assert command("draw", file, "-o", svg).exit_code == exits.OK
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert "exists" in command("draw", file, "-o", svg).stderr
    assert command("draw", file, "-o", svg, "--force").exit_code == exits.OK
    assert command("draw", file).stdout.startswith("<svg")


def test_schema_is_a_json_schema() -> None:
    assert "topology" in json.loads(command("schema").stdout)["properties"]


def test_curve_and_saturation_print_their_tables(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "curve"
    done = command("curve", file, "--loads", "0.1,0.4", "--out", out)
    assert done.exit_code == exits.OK, done.stderr
    assert "accepted MB/s" in done.stdout
    assert len(pl.read_parquet(out / "points.parquet")) == 2
    saturated = command("saturate", file, "--definition", "backlog")
    assert "infinite backlog" in saturated.stdout
    assert "±" in saturated.stdout


def test_an_interrupted_curve_is_taken_up_again(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "curve"
    simulate = simulation.run

    def once(scenario: Any, **options: Any) -> Any:
        if scenario.traffic.load > 0.1:
            raise KeyboardInterrupt
        return simulate(scenario, **options)

    with monkeypatch.context() as patched:
        patched.setattr("fabriloom.simulate.run", once)
        done = command("curve", file, "--loads", "0.1,0.2", "--jobs", 1, "--out", out)
    assert (done.exit_code, (out / "summary.json").exists()) == (exits.INTERRUPTED, True)
    assert "an earlier result of curve" in command("saturate", file, "--out", out).stderr
    done = command("curve", file, "--loads", "0.1,0.2", "--out", out)
    assert done.exit_code == exits.OK, done.stderr
    assert len(json.loads((out / "summary.json").read_text(encoding="utf-8"))["points"]) == 2


def test_the_twin_agrees(file: Path) -> None:
    done = command("run", file, "--twin", "--set", "run.duration=100 us", "--set", "run.warmup=0 us")
    assert done.exit_code == exits.OK
    assert "identical" in done.stdout


def test_a_fault_of_the_program_says_what_to_report(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by naught")

    monkeypatch.setattr("fabriloom.simulate.run", broken)
    done = command("run", file)
    assert done.exit_code == exits.FAULT
    assert "ZeroDivisionError: by naught" in done.stderr
    assert "Please report it" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_writes_what_there_is(file: Path, tmp_path: Path, sent: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    for seconds in (1.5, 4, 15, 45):  # on a busy machine the program may not have begun to simulate yet
        out = tmp_path / f"out-{seconds}"
        endless = [*FABRILOOM, "run", str(file), "--set", "run.duration=1000 s", "--out", str(out)]
        with subprocess.Popen(
            endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        ) as process:
            time.sleep(seconds)
            process.send_signal(sent)
            printed, said = process.communicate(timeout=60)
        if (out / "summary.json").exists():
            break
    assert process.returncode == exits.INTERRUPTED, said
    assert b"interrupted" in printed
    assert b"Traceback" not in said
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["end"]["reason"] == "interrupted"
    assert summary["packets"]["delivered"] > 0
    assert "interrupted" in (out / "report.html").read_text(encoding="utf-8")


def test_a_pipe_that_closes_is_no_error(file: Path) -> None:
    """``fabriloom schema | head -1``"""
    shell = f"{sys.executable} -m fabriloom schema | head -1"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert done.stdout == "{\n"
    assert done.stderr == ""


def test_tables_as_csv(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("run", file, "--out", out, "--csv").exit_code == exits.OK
    names = {path.stem for path in out.glob("*.parquet")}
    assert (
        names
        == {path.stem for path in out.glob("*.csv")}
        == {"links", "flows", "batches", "latency", "over_time"}
    )
    assert (
        pl.read_csv(out / "links.csv")["link"].to_list()
        == pl.read_parquet(out / "links.parquet")["link"].to_list()
    )
    done = command("curve", file, "--loads", "0.1,0.2", "--out", tmp_path / "curve", "--csv")
    assert done.exit_code == exits.OK
    assert pl.read_csv(tmp_path / "curve" / "points.csv")["traffic.load"].to_list() == [0.1, 0.2]
    refused = command("run", file, "--csv")
    assert refused.exit_code == exits.MISTAKE
    assert "--out" in refused.stderr


def test_loads_run_in_order_and_each_once(file: Path) -> None:
    done = command("curve", file, "--loads", "0.3,0.1,0.3", "--json")
    assert [point["settings"]["traffic.load"] for point in json.loads(done.stdout)["points"]] == [0.1, 0.3]
    assert done.stderr == "--loads: run in order and each once, 0.1,0.3\n"


def test_a_seed_out_of_range_speaks_of_the_seed(file: Path) -> None:
    done = command("run", file, "--seed", "-1")
    assert done.exit_code == exits.MISTAKE
    assert "'--seed'" in done.stderr
    assert "--set" not in done.stderr


def test_seeds(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "seeds"
    done = command("run", file, "--seeds", 3, "--out", out)
    assert done.exit_code == exits.OK, done.stderr
    assert "mean over seeds" in done.stdout
    assert "± is half of a 95 % interval over seeds" in done.stdout
    assert pl.read_parquet(out / "points.parquet")["seed"].to_list() == [1, 2, 3]
    assert "refused" not in done.stdout, "a row of zeros"
    assert "Throughput, seed by seed" in (out / "report.html").read_text(encoding="utf-8")
    assert "choose one" in command("run", file, "--seeds", 3, "--twin").stderr
