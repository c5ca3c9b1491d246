"""Study folders: points are shared, go on after anything, and each mishap is said in one line."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import fabriloom
import polars as pl
import pytest
from fabriloom import Scenario, ScenarioError, output, simulate
from fabriloom.cli import exits
from fabriloom.studies import StudyError, study
from fabriloom.studies.folder import Folder
from fabriloom.studies.plan import Plan, samples, spread
from fabriloom.studies.store import Key, loaded, program, written

from .small import command, text

FABRILOOM = [sys.executable, "-m", "fabriloom"]
SMALL = text("100 us", 3)


def small(**study_settings: Any) -> Scenario:
    """A crossbar whose runs take milliseconds."""
    return Scenario.from_dict(
        {
            "name": "Small",
            "topology": {"kind": "crossbar", "terminals": 4},
            "run": {"duration": "50 us", "warmup": "10 us", "precision": 0.0},
            "study": study_settings,
        }
    )


def ran(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """Which scenarios are run from now on."""
    found: list[Scenario] = []
    original = simulate.run

    def counted(scenario: Scenario, **options: Any) -> Any:
        found.append(scenario)
        return original(scenario, **options)

    monkeypatch.setattr(simulate, "run", counted)
    return found


def test_points_are_products_of_all_that_is_varied() -> None:
    scenario = small(
        zip={"topology.terminals": [4, 8], "traffic.length": ["16 B", "32 B"]},
        sample={"technology.input_buffer": {"from": "50 B", "to": "90 B"}},
        samples=3,
        replications=2,
    ).with_settings(
        {"sweep": {"traffic.load": [0.1, 0.2]}, "variants": {"waiting": {"traffic.arrivals": "wait"}}}
    )
    plan = Plan(scenario)
    assert len(plan) == 2 * 2 * 2 * 3 * 2
    assert plan.varied[:4] == ["scenario", "traffic.load", "topology.terminals", "traffic.length"]
    first, last = plan.settings(0), plan.settings(len(plan) - 1)
    assert (first["scenario"], first["topology.terminals"], first["traffic.length"]) == ("Small", 4, "16 B")
    assert (last["scenario"], last["topology.terminals"], last["traffic.length"]) == ("waiting", 8, "32 B")
    assert (first["seed"], last["seed"]) == (1, 2)
    assert plan.point(len(plan) - 1).traffic.arrivals.kind == "wait"
    assert sorted(spread(11)) == list(range(11))
    assert spread(8)[:4] == [0, 4, 2, 6]


def test_every_single_failure_is_a_point() -> None:
    """Of each variant its own: a grid of 2 x 2 has 4 cables of terminals, 4 between switches, 4 switches."""
    asked = small(failures="all", failures_at="20 us").raw | {
        "topology": {"kind": "grid", "shape": [2, 2]},
        "variants": {"wide": {"topology.links_per_edge": 2}},
    }
    found = study(Scenario.from_dict(asked)).table
    assert found["scenario"].to_list() == ["Small"] * 13 + ["wide"] * 17
    assert found["failure"].to_list()[:2] == ["none", "cable t(0,0).0>s(0,0)"]
    whole = found.filter(found["failure"] == "none")
    assert whole["packets_lost"].sum() == 0
    assert found["packets_lost"].sum() > 0


def test_a_latin_hypercube_has_one_value_in_each_part() -> None:
    drawn = small(
        sample={"traffic.load": {"from": 0.1, "to": 0.9}, "seed": {"from": 1, "to": 10}}, samples=10
    )
    found = samples(drawn.study.sample, 10, "latin-hypercube", 1)
    assert sorted(int((row["traffic.load"] - 0.1) / 0.08) for row in found) == list(range(10))
    assert sorted(row["seed"] for row in found) == list(range(1, 11)), "whole numbers stay whole"
    one = samples({"traffic.load": drawn.study.sample["traffic.load"]}, 10, "latin-hypercube", 1)
    assert [row["traffic.load"] for row in found] == [row["traffic.load"] for row in one]
    more = samples(drawn.study.sample, 20, "random", 1)
    assert more[:10] == samples(drawn.study.sample, 10, "random", 1), "more are added, none is changed"


def test_an_edited_study_runs_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = ran(monkeypatch)
    first = study(small(), tmp_path / "s", sweep={"traffic.load": [0.1, 0.2]}, replications=2)
    assert (len(runs), first.table["seed"].to_list()) == (4, [1, 2, 1, 2])
    again = study(small(), tmp_path / "s", sweep={"traffic.load": [0.2, 0.3]}, replications=2)
    assert [scenario.traffic.load for scenario in runs[4:]] == [0.3, 0.3]
    assert again.table["traffic.load"].to_list() == [0.2, 0.2, 0.3, 0.3]
    other = study(small().with_settings({"seed": 2}), tmp_path / "s", sweep={"traffic.load": [0.1]})
    assert len(runs) == 6, "another study has the same points"
    assert other.table["accepted_mbytes_per_s"][0] == first.table["accepted_mbytes_per_s"][1]
    columns = ["traffic.load", "seed"]
    assert first.table.columns[:2] == columns
    assert set(first.means.columns) > {"traffic.load", "runs", "accepted_mbytes_per_s_ci95"}


def test_curves_and_studies_have_the_same_points() -> None:
    found = study(small(), sweep={"traffic.load": [0.1, 0.4]})
    curve = fabriloom.curve(small(), [0.1, 0.4])
    assert found.table.equals(curve.table)


def test_replications_stop_at_the_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, long = ran(monkeypatch), small().with_settings({"run.duration": "1 ms"})
    wide = study(long, sweep={"traffic.load": [0.1, 0.4]}, replications=12, precision=0.9)
    assert (len(runs), wide.runs, len(wide.table)) == (6, 6, 6), "three are always made"
    narrow = study(long, sweep={"traffic.load": [0.1, 0.4]}, replications=12, precision=0.0001)
    assert len(narrow.table) == 24
    some = study(long, sweep={"traffic.load": [0.1, 0.4]}, replications=40, precision=0.04)
    assert 6 < len(some.table) < 80
    for row in some.means.iter_rows(named=True):
        assert row["runs"] == 40 or row["accepted_mbytes_per_s_ci95"] <= 0.04 * row["accepted_mbytes_per_s"]


def test_the_command_tells_keeps_and_goes_on(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out"
    done = command("run", file, "--out", place)
    assert done.exit_code == exits.OK, done.stderr
    assert "Small: 24 of 24 points are finished" in done.stdout
    monkeypatch.setattr(simulate, "run", lambda *_, **__: pytest.fail("nothing is run again"))
    assert command("resume", place).exit_code == exits.OK
    assert "24" in command("status", place).stdout
    assert "Small: 24 of 24" in command("show", place).stdout
    table = tmp_path / "points.csv"
    assert command("export", place, table).stdout.endswith("points.csv: 24 of 24 points\n")
    assert pl.read_csv(table).shape[0] == 24
    assert "--force" in command("export", place, table).stderr
    assert "24 points were packed; 1 segment holds 24" in command("pack", place).stdout
    assert not list((place / "points").iterdir())
    before = table.read_bytes()
    assert command("export", place, table, "--force").exit_code == exits.OK
    assert table.read_bytes() == before
    assert command("clean", place).stdout == "0 points were removed, 24 are kept\n"
    status = json.loads(command("status", place, "--json").stdout)
    assert status["store"] == {"points": 24, "of_other_versions": 0, "in_segments": 24}


def test_a_smaller_study_leaves_points_to_be_cleaned(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    command("run", file, "--out", place)
    command("pack", place)
    assert command("run", file, "--out", place, "--set", "study.replications=1").exit_code == exits.OK
    assert command("clean", place).stdout == "16 points were removed, 8 are kept\n"
    assert "8 of 8" in command("show", place).stdout


def test_points_of_another_version_are_kept_and_not_used(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    command("run", file, "--out", place)
    for path in (place / "points").iterdir():
        key, value = loaded(path.read_text()) or pytest.fail("broken")
        other = Key(key.what, "another", key.content)
        (place / "points" / other.name).write_text(written(other, value))
        path.unlink()
    (place / "index.sqlite").unlink()
    told = command("status", place).stdout
    assert "24 are of another version and are not used" in told
    assert command("show", place).stdout == "Small: 0 of 24 points are finished\n"
    assert command("resume", place).exit_code == exits.OK
    assert command("clean", place).stdout == "24 points were removed, 24 are kept\n"


@pytest.mark.parametrize("what", ["points", "index.sqlite", "segments", "studies"])
def test_what_is_damaged_is_said_and_mended(file: Path, tmp_path: Path, what: str) -> None:
    """See ``test_damage``; here, what is said."""
    place = tmp_path / "out"
    command("run", file, "--out", place)
    if what == "segments":
        command("pack", place)
    path = place / what if what.startswith("index") else sorted((place / what).iterdir())[0]
    path.write_bytes(path.read_bytes()[:-200])
    told = command("show", place).stderr
    done = command("resume", place)
    if what == "studies":
        assert "give `fabriloom study run` with its file again" in told
        assert done.stderr == told
        done = command("run", file, "--out", place)
    elif what != "index.sqlite":
        assert path.name in told
        assert "missing, cut short or changed; `fabriloom study resume" in told
    said = {"index.sqlite": "rebuilt from the points", "studies": ""}
    assert said.get(what, "what is lost is computed again") in done.stderr
    assert (done.exit_code, done.stderr.count("\n")) == (exits.OK, what != "studies"), done.stderr
    assert "24 of 24" in command("show", place).stdout


def test_one_changed_byte_of_a_segment_costs_one_point(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out"
    command("run", file, "--out", place)
    command("pack", place)
    path = next((place / "segments").iterdir())
    content = path.read_bytes()
    for at, lost in ((200, 1), (len(content) - 20, 0)):
        path.unlink()
        changed = next((place / "segments").iterdir(), path)
        changed.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with monkeypatch.context() as patch:
            runs = ran(patch)
            assert command("resume", place).exit_code == exits.OK
        assert len(runs) == lost
        path = next((place / "segments").iterdir())


def test_a_study_that_is_given_up_frees_its_points(file: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "out", tmp_path / "other.toml"
    other.write_text(
        SMALL.replace('"Small"', '"Other"').replace("replications = 3", "replications = 4"), encoding="utf-8"
    )
    for path in (file, other):
        command("run", path, "--out", place)
    assert "choose from: Other, Small" in command("clean", place, "--forget", "Mine").stderr
    assert command("clean", place, "--forget", "Other").stdout == "32 points were removed, 24 are kept\n"
    assert "only study; remove the folder" in command("clean", place, "--forget", "Small").stderr
    assert "Small" in command("status", place).stdout


def test_no_point_is_removed_if_it_may_be_needed(file: Path, tmp_path: Path) -> None:
    """The cables of one point are in a file that is not there at the moment."""
    place, cables = tmp_path / "out", tmp_path / "cables.csv"
    cables.write_text("kind,source,target\nterminal,a,s\nterminal,b,s\n")
    text = SMALL.replace("replications = 3", "replications = 1").replace(
        "[sweep]",
        f"""[sweep]
topology = [{{ kind = "crossbar", terminals = 4 }}, {{ kind = "file", path = "{cables}" }}]""",
    )
    file.write_text(text, encoding="utf-8")
    done = command("run", file, "--out", place)
    assert "16 of 16" in done.stdout, done.stderr
    cables.rename(tmp_path / "elsewhere.csv")
    (place / "index.sqlite").unlink()
    done = command("clean", place)
    assert (done.exit_code, "nothing was removed" in done.stderr) == (exits.MISTAKE, True), done.output
    (tmp_path / "elsewhere.csv").rename(cables)
    assert command("clean", place).stdout == "0 points were removed, 16 are kept\n"


def test_what_a_killed_writer_left_is_swept(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    command("run", file, "--out", place)
    (place / "points" / ".dead.partial").touch()
    os.utime(place / "points" / ".dead.partial", (0, 0))
    with output.file(place / "points" / "a.json"):
        [living] = {*(place / "points").glob(".*.partial")} - {place / "points" / ".dead.partial"}
        os.utime(living, (0, 0))
        assert command("resume", place).exit_code == exits.OK
        assert [*(place / "points").glob(".*.partial")] == [living]


def test_two_coordinators_of_one_folder(file: Path, tmp_path: Path) -> None:
    """The second is refused at once; who only looks is not."""
    place = tmp_path / "out"
    with Folder(place, take=True, make=True) as first:
        first.ask(fabriloom.load(file))
        done = command("run", file, "--out", place)
        assert (done.exit_code, done.stderr.count("\n")) == (exits.MISTAKE, 1)
        assert "another fabriloom works in this study; wait for it" in done.stderr
        assert command("status", place).exit_code == exits.OK
    assert command("run", file, "--out", place).exit_code == exits.OK


def test_folders_that_are_none(file: Path, tmp_path: Path) -> None:
    """Nothing is written into a folder of the user's, nor into one of another format."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for words in (("run", file, "--out", tmp_path / "mine"), ("status", tmp_path / "mine")):
        done = command(*words)
        assert (done.exit_code, "it holds notes.txt" in done.stderr) == (exits.MISTAKE, True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    done = command("resume", tmp_path / "nowhere")
    assert (done.exit_code, "there is no such folder" in done.stderr) == (exits.MISTAKE, True)
    assert not (tmp_path / "nowhere").exists()
    command("run", file, "--out", tmp_path / "out")
    (tmp_path / "out" / "fabriloom-study.json").write_text('{"format": 9}')
    done = command("resume", tmp_path / "out")
    assert "of format 9, and this version reads format 2; use the version that wrote it" in done.stderr
    assert done.exit_code == exits.MISTAKE
    with pytest.raises(StudyError, match="this is a file"):
        study(small(), file)


def test_a_point_that_cannot_be_run_is_told_and_the_others_are_run(tmp_path: Path) -> None:
    """In combination only: each value by itself is legal."""
    text = SMALL.replace("replications = 3", "").replace("[sweep]", '[sweep]\n"topology.terminals" = [4, 5]')
    (tmp_path / "odd.toml").write_text(text.replace("[run]", '[traffic]\npattern = "bit-reverse"\n[run]'))
    done = command("run", tmp_path / "odd.toml", "--out", tmp_path / "out")
    assert done.exit_code == exits.MISTAKE
    assert "error: 8 of 16 points cannot be run; the first, with topology.terminals = 5" in done.stderr
    assert "8 of 16 points are finished" in done.stdout


def test_the_budget_ends_a_study_that_goes_on_later(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "out"
    longer = ("--set", "run.duration=4 s", "--set", "study.replications=1")
    done = command("run", file, "--out", place, "--budget", "0.3s", *longer)
    assert done.exit_code == exits.OK
    assert "The budget is used up: " in done.stderr
    assert "continues from here" in done.stderr
    done = command("run", file, "--budget", "soon")
    assert (done.exit_code, "such as 90s, 10min or 2h" in done.stderr) == (exits.MISTAKE, True)


def test_a_full_disk_stops_a_study_and_loses_nothing(file: Path, tmp_path: Path) -> None:
    """A limit on the size of files is the full disk that a test may make."""
    place = tmp_path / "out"
    command("run", file, "--out", place, "--set", "study.replications=1")
    words = [*FABRILOOM, "study", "run", str(file), "--out", str(place)]
    limit = (2048, 2048)
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    assert done.returncode == exits.MISTAKE, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert len(list((place / "points").iterdir())) == 8
    done = command("resume", place)
    assert (done.exit_code, done.stderr) == (exits.OK, "")


def test_killed_at_any_moment(file: Path, tmp_path: Path) -> None:
    """The table is that of a study that was never killed; with processes as users start them."""
    text = SMALL.replace('"100 us"', '"3 ms"').replace("replications = 3", "replications = 8")
    file.write_text(text, encoding="utf-8")
    whole, broken, dice = tmp_path / "whole", tmp_path / "broken", random.Random(3)
    assert command("run", file, "--out", whole).exit_code == exits.OK
    for _ in range(3):
        process = subprocess.Popen(
            [*FABRILOOM, "study", "run", str(file), "--out", str(broken)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(dice.uniform(0.8, 3.0))
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[1]
        assert said in (b"", b"warning: ") or b"rebuilt" in said, said
    assert command("run", file, "--out", broken).exit_code == exits.OK
    for place in (whole, broken):
        command("export", place, place / "all.csv")
    assert (whole / "all.csv").read_bytes() == (broken / "all.csv").read_bytes()
    names = [sorted(path.name for path in (place / "points").glob("*.json")) for place in (whole, broken)]
    assert names[0] == names[1], "nothing twice, nothing lost"
    for name in names[0]:
        assert (whole / "points" / name).read_bytes() == (broken / "points" / name).read_bytes()


def test_looking_at_a_study_while_it_runs(file: Path, tmp_path: Path) -> None:
    """A viewer reads the files and a copy of the index; it never disturbs, whatever state that is in."""
    place = tmp_path / "out"
    command("run", file, "--out", place)
    with Folder(place, take=True) as folder:
        folder.index._sql.execute("BEGIN EXCLUSIVE")
        assert "24" in command("status", place).stdout
    (place / "index.sqlite").unlink()
    assert "24 of 24" in command("show", place).stdout


def test_a_field_that_does_not_exist() -> None:
    with pytest.raises(ScenarioError, match='unknown key "lod"'):
        study(small(), sweep={"traffic.lod": [1]})
    with pytest.raises(ScenarioError, match="different lengths"):
        study(small(), zipped={"traffic.load": [0.1], "topology.terminals": [4, 5]})


def test_a_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is known by what it is, not by when it was written."""
    study(small(), tmp_path / "s", sweep={"traffic.load": [0.1, 0.2]})
    for path in (tmp_path / "s").rglob("*"):
        os.utime(path, (10**10, 10**10))
    runs = ran(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study(small(), tmp_path / "s", sweep={"traffic.load": [0.1, 0.2]})
    assert not runs


def test_the_index_is_only_an_index(tmp_path: Path) -> None:
    """Made anew it has the same rows."""
    place = tmp_path / "s"
    study(small(), place, sweep={"traffic.load": [0.1, 0.2]})
    shutil.copy(place / "index.sqlite", tmp_path / "before.sqlite")
    (place / "index.sqlite").unlink()
    study(small(), place, sweep={"traffic.load": [0.1, 0.2]})
    rows = [
        sorted(sqlite3.connect(path).execute("SELECT name, program, content, cells FROM points"))
        for path in (tmp_path / "before.sqlite", place / "index.sqlite")
    ]
    assert rows[0] == rows[1]
    assert {row[1] for row in rows[0]} == {program()}
