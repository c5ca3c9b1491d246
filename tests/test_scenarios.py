"""Every file under ``scenarios/`` loads, runs and keeps its packets; shortened, so that all take seconds.

Every command in its header runs, and so does what its tables are for.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom.cli import exits
from fabriloom.cli.app import app
from typer.testing import CliRunner

SCENARIOS = sorted((Path(__file__).resolve().parent.parent / "scenarios").glob("*.toml"))
SHORTER = ["run.duration=400 us", "run.warmup=50 us"]
ENDS = {"time_limit", "precision", "saturated", "drained"}


def shortened(path: Path, *more: str) -> Any:
    """The scenario with a short run; a deadlock stops by itself, and periods take milliseconds."""
    if "deadlock" in path.stem:
        return fabriloom.load(path, list(more))
    has_periods = tomllib.loads(path.read_text(encoding="utf-8")).get("run", {}).get("warmup") == "0 ns"
    return fabriloom.load(path, [*(["run.duration=5 ms"] if has_periods else SHORTER), *more])


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_scenario_runs_and_loses_nothing(path: Path) -> None:
    summary = fabriloom.run(shortened(path)).summary
    stands_still = "deadlock" in path.stem or path.stem == "teaching-credit-loop"
    expected = {"deadlocked"} if stands_still else ENDS
    assert summary["end"]["reason"] in expected
    packets = summary["packets"]
    assert packets["delivered"] > 0
    kept = packets["delivered"] + packets["refused"] + packets["in_flight"]
    assert packets["offered"] == kept + packets.get("lost", 0)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_scenario_is_explained(path: Path) -> None:
    """A scenario to learn from says what it is for and has a name for its report."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert tomllib.loads(text)["name"]


SWEPT = [path for path in SCENARIOS if "[sweep]" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", SWEPT, ids=lambda p: p.stem)
def test_every_value_of_a_sweep_loads(path: Path) -> None:
    sweep = tomllib.loads(path.read_text(encoding="utf-8"))["sweep"]
    for setting, values in sweep.items():
        for value in values:
            shortened(path, f"{setting}={json.dumps(value)}")


ROOT = Path(__file__).resolve().parent.parent
COMMAND = re.compile(
    r"fabriloom ((?:run|curve|compare|saturate|check) scenarios/\S+(?: --\S+(?: [^\s-]\S*)?)*)"
)


def commands(path: Path) -> list[str]:
    """What the header says, and what the tables of the file are for."""
    text = path.read_text(encoding="utf-8")
    header = "\n".join(line for line in text.split("\n") if line.startswith("#"))
    told = [found[1] for found in COMMAND.finditer(header)]
    data, name = tomllib.loads(text), f"scenarios/{path.name}"
    told += [f"curve {name}"] if "sweep" in data else []
    told += [f"compare {name}"] if "variants" in data else []
    return list(dict.fromkeys(told))


def shorter(path: Path, command: str) -> list[str]:
    """Settings that make a run short; a program comes to its end by itself, and a fault comes before it."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    if command.startswith("check"):
        return []
    settings = {"run.duration": "60 us", "run.warmup": "10 us"}
    if "program" in data or "fault" in data:
        settings = {"run.duration": "2 ms"}
    load = data.get("traffic", {}).get("load")
    loads = ["--loads", str(load)] if load and command.startswith("compare") else []
    return [*loads, *(part for name, value in settings.items() for part in ("--set", f"{name}={value}"))]


RUNS = [(path, command) for path in SCENARIOS for command in commands(path)]


@pytest.mark.parametrize(("path", "command"), RUNS, ids=[command for _, command in RUNS])
def test_what_a_header_says_runs(
    path: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [*shlex.split(command), *shorter(path, command)])
    assert done.exit_code in (exits.OK, exits.DEADLOCK), done.stderr
    assert (done.exit_code == exits.DEADLOCK) == ("deadlock" in path.stem), done.stdout


def test_headers_are_found() -> None:
    assert {"curve scenarios/buffers.toml", "compare scenarios/event-builder.toml"} <= {c for _, c in RUNS}
