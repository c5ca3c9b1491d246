"""Scenarios to start from: each is right, runs, and says what its settings are.

The command on scenarios with programs: what it prints and writes, and how it ends.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
from fabriloom import load, run
from fabriloom.cli import exits, templates
from fabriloom.cli.app import app
from typer.testing import CliRunner

from .test_cli import command


@pytest.mark.parametrize("name", templates.names())
def test_it_runs_as_it_is(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    assert f"next: fabriloom check {path}" in command("new", name, path).stdout
    scenario = load(path, ["run.duration=50 us", "run.precision=0"])
    assert run(scenario.alone()).summary["end"]["reason"] in ("time_limit", "drained", "saturated")


@pytest.mark.parametrize("name", templates.names())
def test_it_says_what_to_do_with_it_and_what_can_be_changed(name: str) -> None:
    text = templates.text(name)
    assert text.startswith("# ")
    assert f"{name}.toml" in text
    assert len(re.findall(r"\S +# ", text)) >= 3
    assert tomllib.loads(text)["name"].startswith("My ")


def test_nothing_of_the_users_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    refused = command("new", "daq", path)
    assert refused.exit_code == 2
    assert "the file exists" in refused.stderr
    assert path.read_text() == "mine"
    assert command("new", "event-builder", path, "--force").exit_code == 0
    assert "mine.toml" in path.read_text()


@pytest.mark.parametrize(
    ("word", "said"),
    [("gird", "did you mean grid?"), ("", "name a kind of network"), ("x", "choose from: cluster")],
)
def test_an_unknown_kind_names_the_others(word: str, said: str) -> None:
    refused = command("new", *([word] if word else []))
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_help_is_not_cut() -> None:
    said = command("--help").stdout
    assert "..." not in said.partition("Commands:")[2]
    assert "--install-completion" in said


def test_a_shell_completes_commands_kinds_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the script that --install-completion writes asks for it."""
    for words, expected in {
        "fabriloom rep": ["replay", "reproduce"],
        "fabriloom new ": templates.names(),
        "fabriloom reproduce m": ["macrame"],
        "fabriloom saturate a.toml --definition ": ["peak", "backlog"],
        "fabriloom study run a.toml --on s": ["slurm"],
    }.items():
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        monkeypatch.setenv("_FABRILOOM_COMPLETE", "complete_bash")
        told = CliRunner().invoke(app, [], prog_name="fabriloom").stdout
        assert sorted(told.split()) == sorted(expected)


BUILDING = """
name = "Building"
[topology]
kind = "crossbar"
terminals = 8
[protocol]
preset = "virtual-link"
[program]
kind = "level-2"
block = "300 B"
events = 60
rate = "10 kHz"
[output]
messages = true
"""
STUCK = """
[topology]
kind = "crossbar"
terminals = 2
[program]
kind = "operations"
[[program.terminals]]
terminal = 0
do = ["receive 1", "send 1 8 B"]
[[program.terminals]]
terminal = 1
do = ["receive 0", "send 0 8 B"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "building.toml"
    path.write_text(BUILDING, encoding="utf-8")
    return path


def test_a_run_tells_of_its_events(file: Path) -> None:
    done = command("run", file)
    assert done.exit_code == exits.OK
    lines = {line[:15].strip(): line[15:].strip() for line in done.output.splitlines()}
    assert lines["messages"].startswith("180 received of 180; 9.0")
    assert lines["events"].startswith("60 complete of 60")
    assert lines["event rate"].endswith("kHz achieved of 10 kHz attempted")
    assert "99 % within" in lines["event latency"]
    assert lines["back-pressure"].startswith("senders waited for a free place")
    assert "from the moment at which the event was due" in done.output


def test_the_folder_holds_the_tables(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("run", file, "--out", out).exit_code == exits.OK
    assert {"events.parquet", "hosts.parquet", "messages.parquet"} <= {path.name for path in out.iterdir()}
    assert not (out / "marks.parquet").exists(), "this program has none"
    assert pl.read_parquet(out / "events.parquet")["latency_ns"].null_count() == 0
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["events"]["complete"] == 60
    resolved = json.loads((out / "scenario.resolved.json").read_text(encoding="utf-8"))
    assert resolved["protocol"]["packet"] == "32 B"
    assert "Event after event" in (out / "report.html").read_text(encoding="utf-8")


def test_a_curve_shows_events_attempted_and_achieved(file: Path) -> None:
    file.write_text(BUILDING + '[sweep]\n"program.rate" = ["5 kHz", "10 kHz"]\n', encoding="utf-8")
    done = command("curve", file, "-j", "1")
    assert done.exit_code == exits.OK
    assert "attempted 1/s" in done.output
    assert [line.split()[2] for line in done.output.splitlines() if "kHz" in line] == ["5000", "10000"]


def test_a_deadlock_of_programs_has_its_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "stuck.toml"
    path.write_text(STUCK, encoding="utf-8")
    done = command("run", path)
    assert done.exit_code == exits.DEADLOCK
    assert "t.0: receive t.1 (line 9)" in " ".join(done.output.split())


def test_the_engine_and_its_twin_agree(file: Path) -> None:
    assert command("run", file, "--twin").exit_code == exits.OK


def test_a_mistake_in_an_operation_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "stuck.toml"
    path.write_text(STUCK.replace("send 1 8 B", "send 1 8"), encoding="utf-8")
    done = command("check", path)
    assert done.exit_code == exits.MISTAKE
    assert 'stuck.toml:9:28: terminal "t.0": "8" has no unit' in done.stderr
