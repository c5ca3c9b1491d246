"""Ctrl-C as hands press it: early, twice, on a terminal; and what is said of work that it ended."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import fabriloom
import fabriloom_papers
import pytest
import typer
from fabriloom import simulate
from fabriloom.cli import exits, frame
from fabriloom.cli.app import app
from fabriloom.scenario import resolve
from fabriloom.scenario.fields import Section
from fabriloom.studies.points import computed
from fabriloom.studies.store import Store
from fabriloom_papers.lab import Findings
from pydantic import PlainSerializer
from typer.testing import CliRunner

FABRILOOM = [sys.executable, "-m", "fabriloom"]
LONG = """
[topology]
kind = "crossbar"
terminals = 8
[traffic]
load = 0.3
[run]
duration = "200 ms"
precision = 0
"""
PATIENCE_S = 60.0


def on_a_terminal(arguments: list[str], press_when: Any) -> tuple[int, str]:
    """Run it and press Ctrl-C twice once ``press_when`` says so; its exit code and all it wrote."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [*FABRILOOM, *arguments])
    began, pressed, said = time.monotonic(), False, b""
    while time.monotonic() - began < PATIENCE_S:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                more = os.read(terminal, 1 << 16)
            except OSError:  # how a terminal says that the other end has gone
                break
            said += more
        if not pressed and press_when(said.decode(errors="replace")):
            pressed = True
            for _ in range(2):
                os.write(terminal, b"\x03")
                time.sleep(0.1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode(errors="replace")


class Pressed(Section):
    """Ctrl-C while its value is written."""

    value: Annotated[Literal["auto"] | int, PlainSerializer(lambda _: signal.raise_signal(signal.SIGINT))] = 1


def test_ctrl_c_while_a_scenario_is_resolved_is_not_lost() -> None:
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            resolve._dump(Pressed())
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)


def test_a_second_ctrl_c_loses_nothing(tmp_path: Path) -> None:
    """What the first one began is finished: the points are written and printed."""
    path, out = tmp_path / "long.toml", tmp_path / "out"
    path.write_text(LONG, encoding="utf-8")
    loads = ",".join(f"0.{n:02}" for n in range(1, 60))
    arguments = ["curve", str(path), "--loads", loads, "--out", str(out)]
    code, said = on_a_terminal(arguments, lambda _: len(list(tmp_path.glob("out.partial/points/*.json"))) > 1)
    assert code == exits.INTERRUPTED, said
    assert "Interrupted before" not in said
    # A terminal breaks the line.
    told = " ".join(said.split())
    assert "runs were finished, and only they are shown. The same command continues from here." in told
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["interrupted"]


def test_ctrl_c_closes_the_page_without_a_word() -> None:
    """Its workers are not to hear of it: they would die with a traceback each."""
    began = time.monotonic()
    code, said = on_a_terminal(
        ["page", "--no-browser", "--port", "0"],
        lambda said: "Ctrl-C closes it" in said and time.monotonic() - began > 3.0,
    )
    assert code == exits.OK, said
    assert "Traceback" not in said


def test_an_interrupted_study_says_how_much_there_is(tmp_path: Path) -> None:
    assert frame.interrupted(0, None) == "Interrupted: no run was finished."
    again = "The same command continues from here."
    assert frame.interrupted(1, tmp_path).endswith(f"1 run was finished, and only it is shown. {again}")


def test_what_was_not_reproduced_is_counted_and_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each of some hundreds of numbers that were not run would hide those that were."""

    def interrupted(papers: list[str], *_: Any) -> dict[str, Findings]:
        return {paper: Findings(unfinished=["all"]) for paper in papers}

    monkeypatch.setattr(fabriloom_papers, "studies", interrupted)
    done = CliRunner().invoke(app, ["reproduce", "all", "--out", str(tmp_path)])
    assert done.exit_code == exits.INTERRUPTED
    assert "not run yet" not in done.stdout
    assert "before there were results of macrame all" in done.stderr
    assert "not run yet" in (tmp_path / "reproduction.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("when", ["import", "call"])
def test_interrupted_before_a_command_begins(when: str) -> None:
    """Ctrl-C in the first tenths of a second: a plain end, no traceback of what was being imported."""
    broken = "raise KeyboardInterrupt" if when == "import" else "def app(**_): raise KeyboardInterrupt"
    script = (
        "import importlib.util, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'fabriloom.cli.app': return importlib.util.spec_from_loader(name, self)\n"
        "    def create_module(self, spec): return None\n"
        f"    def exec_module(self, module): exec({broken!r}, module.__dict__)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from fabriloom.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (exits.INTERRUPTED, "")


@pytest.mark.parametrize("pressed", [True, False])
def test_a_library_that_takes_an_interrupt_for_an_error(
    pressed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pydantic says that a schema is wrong if Ctrl-C comes while it is built."""

    def command() -> None:
        if pressed:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        raise RuntimeError("error building the schema")

    with pytest.raises(typer.Exit) as ended:
        exits.guarded(command)()  # type: ignore[arg-type]
    assert ended.value.exit_code == (exits.INTERRUPTED if pressed else exits.FAULT)
    assert capsys.readouterr().err.startswith("Interrupted before" if pressed else "fault: RuntimeError")


class PressedAtTheEnd:
    """A simulation that is interrupted in its last step, after all has been simulated."""

    real = simulate._native.Simulation

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._simulation = self.real(*arguments, **options)

    def advance(self, events: int) -> bool:
        if self._simulation.advance(events):
            raise KeyboardInterrupt
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulation, name)


def test_an_interrupt_in_the_last_step_is_not_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The results are complete, and who called does not go on; no such run is a point of a study."""
    network = {"topology": {"kind": "crossbar", "terminals": 4}, "technology": {"preset": "generic"}}
    data = {**network, "run": {"duration": "50 us"}}
    scenario = fabriloom.Scenario.from_dict(data)
    whole = fabriloom.run(scenario)
    monkeypatch.setattr(simulate._native, "Simulation", PressedAtTheEnd)
    found = fabriloom.run(scenario)
    assert found.end_reason == "interrupted" != whole.end_reason
    assert found.summary["packets"] == whole.summary["packets"]
    with pytest.raises(KeyboardInterrupt):
        computed({}, scenario, Store.of(tmp_path), lambda _: None)
    assert not [*tmp_path.rglob("*.json")]
