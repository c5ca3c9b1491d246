"""Predict measured programs with the fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import simulate
from ..compile import graph_of
from ..results import Results
from ..scenario import Scenario, ScenarioError
from .lines import FitError
from .model import Model
from .samples import Folder

QUANTITIES = {
    "simulated_ns": ("time of the whole program", "ns"),
    "messages.mbytes_per_s": ("bytes of messages", "MB/s"),
    "message_latency_ns.mean": ("message latency, mean", "ns"),
    "rounds.ns_mean": ("time per round, mean", "ns"),
    "events.achieved_per_s": ("events", "1/s"),
    "events.latency_ns.mean": ("event latency, mean", "ns"),
}
"""Compared quantities: key of the summary, name and unit."""


@dataclass(frozen=True)
class Prediction:
    """One quantity of one point."""

    program: str
    settings: str
    quantity: str
    unit: str
    measured: float
    predicted: float
    noise: float
    """Relative noise of the measurement."""

    @property
    def deviation(self) -> float:
        """Predicted divided by measured, minus one."""
        return self.predicted / self.measured - 1 if self.measured else 0.0


def predict(
    model: Model, folders: list[Folder], progress: Callable[[int, int, str], None]
) -> list[Prediction]:
    """Predict all folders, point by point. Raises :class:`FitError` for one that cannot be simulated."""
    points = [(folder, *point) for folder in folders for point in folder.points]
    found: list[Prediction] = []
    for number, (folder, settings, summary) in enumerate(points):
        program = str(folder.resolved["program"]["kind"])
        progress(number, len(points), program)
        try:
            ours = run(model, folder.scenario(settings)).summary
        except ScenarioError as error:
            raise FitError(f"{folder.path}: cannot be predicted: {error}") from error
        text = ", ".join(f"{path.rsplit('.', 1)[-1]} {value}" for path, value in settings.items())
        noise = float((summary.get("measured") or {}).get("noise", 0.0))
        for key, (words, unit) in QUANTITIES.items():
            theirs, mine = _at(summary, key), _at(ours, key)
            if theirs is not None and mine is not None:
                found.append(Prediction(folder.path.name, text, words, unit, theirs, mine, noise))
    return found


def run(model: Model, resolved: dict[str, Any]) -> Results:
    """Simulate a scenario on the fitted machine: all terminals on one crossbar."""
    return simulate.run(Scenario.from_dict(on_machine(model, resolved)))


def on_machine(model: Model, resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scenario with the fitted technology and protocol; message windows stay unchanged."""
    found = {name: resolved[name] for name in ("program", "seed", "run", "name") if name in resolved}
    sections = model.sections()
    given = resolved.get("protocol", {})
    kept = {name: given[name] for name in ("messages_at_once", "channels_limit") if name in given}
    topology = resolved["topology"]
    if topology["kind"] != "crossbar":
        topology = {"kind": "crossbar", "terminals": _terminals(resolved)}
    output = {"links": False, "flows": False}
    protocol = {**sections["protocol"], **kept}
    return {
        **found,
        "topology": topology,
        "technology": sections["technology"],
        "protocol": protocol,
        "output": output,
    }


def _terminals(resolved: Mapping[str, Any]) -> int:
    alone = {name: value for name, value in resolved.items() if name not in ("sweep", "variants")}
    return graph_of(Scenario.from_dict(alone)).terminals


def _at(summary: Mapping[str, Any], key: str) -> float | None:
    value: Any = summary
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return None if value is None else float(value)
