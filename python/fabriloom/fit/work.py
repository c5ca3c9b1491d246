"""A complete fit: measurements, model, predictions, and the preset file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__, simulate
from ..compile import graph_of
from ..process.libraries import pl
from ..reading import toml_value
from ..results import Results
from ..results.figures import figures
from ..scenario import Scenario, ScenarioError
from . import imports
from .model import Model, Rate, build, rates
from .samples import QUANTITIES, Curve, FitError, Folder, Line, Samples, from_folder, read_folder

# Predict measured programs with the fitted model.

PREDICTED = {
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
        for key, (words, unit) in PREDICTED.items():
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
        alone = {name: value for name, value in resolved.items() if name not in ("sweep", "variants")}
        topology = {"kind": "crossbar", "terminals": graph_of(Scenario.from_dict(alone)).terminals}
    return {
        **found,
        "topology": topology,
        "technology": sections["technology"],
        "protocol": {**sections["protocol"], **kept},
        "output": {"links": False, "flows": False},
    }


def _at(summary: Mapping[str, Any], key: str) -> float | None:
    value: Any = summary
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return None if value is None else float(value)


# Write the model as a preset file for scenarios: every number with its source.

KIND = "measured"
_NOISY = 0.3
_ALONE = 1.1
"""Least ratio of the next time per byte to the least, for this to rest on one size."""
_LONG = re.compile(r"\d{4,}")


def preset_lines(model: Model, version: str) -> Iterator[str]:
    """Yield a preset file: tables ``[technology]`` and ``[protocol]`` with value, kind and source."""
    where = "; ".join(model.samples.sources)
    yield f"# Written by fabriloom {version}: fit of {where}.\n"
    yield '# In a scenario: preset_file = "fitted.toml" in [technology] and in [protocol].\n'
    yield from (f"# {line}\n" for line in told(model))
    sections = model.sections()
    yield "\n[technology]\n"
    source = (
        f"G = {figures_text(model.byte_ns, 5)} ns a byte, the best rate seen in trains, and L = "
        f"{figures_text(model.latency_ns)} ns: {where}"
    )
    for name, value in sections["technology"].items():
        yield _entry(name, value, _sources(name, source))
    yield "\n[protocol]\n"
    yield _entry("preset", "raw", "A message is a packet")
    largest = "A message is a packet, up to the largest there is"
    yield _entry("packet", sections["protocol"]["packet"], largest)
    source = f"Half rounds, sends, receives and trains by size, cut where a line ends: {where}"
    yield _entry("by_size", sections["protocol"]["by_size"], source)


def _sources(name: str, link: str) -> str:
    if name in ("cycle", "flit", "link_cycles"):
        return link
    if name.endswith("_flits"):
        return "Enough to keep the link busy"
    return "That of an ideal crossbar: what switches there are is in L"


def _entry(name: str, value: Any, source: str) -> str:
    kind = KIND if source.startswith(("G =", "Half")) else "assumed"
    return (
        f"{name} = {{ value = {_toml(value)}, kind = {json.dumps(kind)}, source = {json.dumps(source)} }}\n"
    )


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[\n" + "".join(f"    {toml_value(inner)},\n" for inner in value) + "]"
    return toml_value(value)


def told(model: Model) -> list[str]:
    """Return the parameters as lines of text."""
    found = [
        f"L = {figures_text(model.latency_ns)} ns, "
        f"G = {figures_text(model.byte_ns, 5)} ns per byte of the link"
    ]
    for name, curve in model.curves.items():
        found.append(f"{QUANTITIES[name]}: {pieces(curve)}")
        for low, high, step in curve.jumps():
            sign = "-" if step < 0 else "+"
            found.append(
                f"  between {low:,.0f} and {high:,.0f} B it jumps by {sign}{figures_text(abs(step))} ns"
            )
    if model.receiver_limits:
        found.append("a train is held up by its receiver: to several targets in turn messages go faster")
    return [*found, *_doubts(model)]


def _doubts(model: Model) -> Iterator[str]:
    """Yield, as lines of text, what the measurements do not tell or what the model cannot represent."""
    samples = model.samples
    for name in ("half_round", "gap", "turn"):
        for size in samples.columns(name)[0][samples.odd(name)].tolist():
            yield f"{QUANTITIES[name]}: at {size:,.0f} B off the line of its neighbours, and not taken for G"
    yield from _of_rate(rates(samples, model.curves))
    sizes, values, tolerances = samples.columns("half_round")
    if (noisy := int((tolerances > _NOISY * values).sum())) > 0:
        yield f"noisy: at {noisy} of {len(sizes)} sizes half a round is known within 30 % at best"
    if not len(sizes):
        yield "half a round was not measured: it is taken to be the time per message of a train"
        return
    last = max(row.size for row in model.rows)
    if sizes[-1] < last:
        yield f"half a round was measured up to {sizes[-1]:,.0f} B: from there to {last:,} B it is extended"
    within = [row for row in model.rows if sizes[0] <= row.size <= sizes[-1]]
    half = model.curves["half_round"]
    left = [(abs(row.left), row) for row in within if abs(row.left) > 0.05 * half.at(row.size)]
    for too_slow in (False, True):
        some = [(most, row.size) for most, row in left if (row.left < 0) == too_slow]
        if some:
            most, size = max(some)
            what = "too slow: the network alone takes" if too_slow else "not in the model:"
            of = "longer than" if too_slow else "of"
            yield f"{what} up to {figures_text(most)} ns {of} half a round, at {size:,} B"


def _of_rate(found: list[Rate]) -> Iterator[str]:
    """Yield what is not sure of G, the least of these times per byte."""
    if not any(rate.between for rate in found):
        yield "G may be less: it is all the time of a message, none long enough to tell G from the rest"
        return
    first, others = found[0], [rate for rate in found if rate.size != found[0].size]
    if not first.between and others and others[0].byte_ns > _ALONE * first.byte_ns:
        value = f"{QUANTITIES[first.quantity]}, at {first.size:,} B"
        yield f"G rests on one value, {value}: without it, {figures_text(others[0].byte_ns, 5)} ns per byte"


def figures_text(value: float, digits: int = 4) -> str:
    """Format a number with thousands separators and without an exponent."""
    whole, dot, rest = figures(value, digits).partition(".")
    return _LONG.sub(lambda found: f"{int(found[0]):,}", whole) + dot + rest


def pieces(curve: Curve) -> str:
    """Return the lines of a curve as text."""
    lines = [line for line in curve.lines if not line.is_table]
    kept = sum(line.points for line in curve.lines if line.is_table)
    texts = [f"{_line(line)} from {line.first:,.0f} to {line.last:,.0f} B" for line in lines]
    tables = f"{'; ' if texts else ''}{kept} size{'s' * (kept > 1)} kept as a table"
    return ", then ".join(texts) + (tables if kept else "")


def _line(line: Line) -> str:
    """Return a line as text; a slope below a nanosecond in total is omitted."""
    slope = f" {'-' if line.slope < 0 else '+'} {figures_text(abs(line.slope))} ns/B"
    return f"{figures_text(line.base)} ns{slope if abs(line.slope) * line.last >= 1 else ''}"


@dataclass
class Fitted:
    """A fitted model and its predictions."""

    model: Model
    predictions: list[Prediction]

    @property
    def summary(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        curves = {
            name: {
                "lines": [{**asdict(line), "table": line.is_table} for line in curve.lines],
                "jumps": [{"after": low, "from": high, "ns": step} for low, high, step in curve.jumps()],
            }
            for name, curve in self.model.curves.items()
        }
        return {
            "version": __version__,
            "sources": self.model.samples.sources,
            "byte_ns": self.model.byte_ns,
            "latency_ns": self.model.latency_ns,
            "receiver_limits": self.model.receiver_limits,
            "samples": {name: self._values(name) for name in self.model.curves},
            "curves": curves,
            "rows": [asdict(row) for row in self.model.rows],
            "predictions": [{**asdict(one), "deviation": one.deviation} for one in self.predictions],
        }

    def _values(self, quantity: str) -> list[list[float]]:
        sizes, values, _ = self.model.samples.columns(quantity)
        return [[size, value] for size, value in zip(sizes.tolist(), values.tolist(), strict=True)]

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per prediction."""
        return pl.DataFrame([{**asdict(one), "deviation": one.deviation} for one in self.predictions])

    @property
    def text(self) -> str:
        return "".join(preset_lines(self.model, __version__))

    def told(self) -> list[str]:
        return told(self.model)

    def parameters(self) -> list[tuple[str, str]]:
        """Return the meaning and the lines of each quantity."""
        return [(QUANTITIES[name], pieces(curve)) for name, curve in self.model.curves.items()]


def fit(paths: Sequence[Path], progress: Callable[[int, int, str], None] | None = None) -> Fitted:
    """Fit parameters to ping-pong, message-train and one-to-many measurements, and predict the other
    programs.

    Args:
        paths: output folders of ``fabriloom measure``, and files of other tools
            (:mod:`~fabriloom.fit.imports`). Folders of the program ``logp`` are fitted, all others predicted.
        progress: called with each prediction.

    Raises:
        FitError: a file cannot be read, or there are too few measurements.
    """
    samples, others = Samples(), list[Folder]()
    for path in paths:
        if path.is_dir():
            folder = read_folder(path)
            if folder.calibrates:
                samples.add(from_folder(folder))
            else:
                others.append(folder)
        else:
            samples.add(imports.read(path))
    if not samples.values:
        names = ", ".join(folder.path.name for folder in others) or "nothing"
        raise FitError(
            f"{names}: there is nothing to fit, only what is to be predicted\n  = name a measurement of the "
            "program logp as well, or a file of OSU, netgauge or CSV"
        )
    model = build(samples)
    return Fitted(model, predict(model, others, progress or (lambda *_: None)))
