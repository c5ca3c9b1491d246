"""How runs end, beside the twin: deadlocked ones agree up to their end, one that stands still does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import _native, simulate
from fabriloom.cli import exits
from fabriloom.cli.app import app
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parent.parent.parent
DEADLOCK = ROOT / "scenarios" / "deadlock.toml"
SMALL = {
    "topology": {"kind": "grid", "shape": [2, 2]},
    "traffic": {"pattern": "uniform", "load": 0.1},
    "run": {"duration": "100 us", "warmup": "0 ns", "precision": 0},
}


def test_deadlocked_runs_are_compared_up_to_their_end() -> None:
    scenario = fabriloom.load(DEADLOCK)
    compared = simulate.compare(scenario)
    assert compared.end_reason == "deadlocked"
    assert compared.until_ps < scenario.run.duration_ps
    assert compared.identical
    assert compared.packets > 0


class Frozen:
    """The engine, saying that a link does not send."""

    def __init__(self, arrays: dict[str, Any], **options: Any) -> None:
        self._real = _REAL(arrays, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def result(self) -> dict[str, Any]:
        fault = {"end_reason": "stalled", "standstill": (0, 1, 2, "Unsent")}
        return self._real.result() | fault


_REAL = _native.Simulation


def test_a_run_that_stands_still_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_native, "Simulation", Frozen)
    scenario = fabriloom.Scenario.from_dict(SMALL)
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL), encoding="utf-8")
    shown = CliRunner().invoke(app, ["run", str(path)])
    assert shown.exit_code == exits.FAULT
    link = simulate.compile(scenario).graph.link_names[0]
    message = f"the link {link} has characters to send and credit for them, and does not send (a packet from"
    assert f"fault: The engine stalled after 0.1 ms of simulated time: {message}" in shown.stderr
    assert "This is a fault of Fabriloom, not of the network: do not use these numbers" in shown.stderr
    assert "stalled" in shown.stdout
    assert not simulate.compare(scenario).identical
