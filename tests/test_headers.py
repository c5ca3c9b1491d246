"""Every command in the header of a ready scenario runs, and so does what its tables are for; shortened."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from fabriloom.cli import exits
from fabriloom.cli.app import app
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
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
