"""The command on scenarios with programs: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from fabriloom.cli import exits

from .test_cli import command

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
