"""A complete fit: measurements, model and predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..process.libraries import pl
from . import imports, predict
from .lines import FitError
from .model import Model, build
from .preset import pieces, to_toml, told
from .samples import QUANTITIES, Folder, Samples, from_folder, read_folder


@dataclass
class Fitted:
    """A fitted model and its predictions."""

    model: Model
    predictions: list[predict.Prediction]

    @property
    def summary(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        from .. import __version__

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
        """Return sizes and values of a quantity."""
        sizes, values, _ = self.model.samples.columns(quantity)
        return [[size, value] for size, value in zip(sizes.tolist(), values.tolist(), strict=True)]

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per prediction."""
        return pl.DataFrame([{**asdict(one), "deviation": one.deviation} for one in self.predictions])

    @property
    def text(self) -> str:
        """Return the text of the preset file."""
        from .. import __version__

        return to_toml(self.model, __version__)

    def told(self) -> list[str]:
        """Return the parameters as text."""
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
            f"{names}: there is nothing to fit, only what is to be predicted\n  = name a "
            "measurement of the program logp "
            "as well, or a file of OSU, netgauge or CSV"
        )
    model = build(samples)
    return Fitted(model, predict.predict(model, others, progress or (lambda *_: None)))
