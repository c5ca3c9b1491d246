"""A whole fit: what was measured, the model, and what it says of the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import imports, predict
from .errors import FitError
from .model import Model, build
from .preset import pieces, to_toml, told
from .samples import QUANTITIES, Folder, Samples, from_folder, read_folder

if TYPE_CHECKING:
    import polars as pl

FILE = "fitted.toml"


@dataclass
class Fitted:
    """A fitted model and its predictions."""

    model: Model
    predictions: list[predict.Prediction]

    @property
    def summary(self) -> dict[str, Any]:
        """Everything as numbers, ready for JSON."""
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
        """Sizes and values of a quantity."""
        sizes, values, _ = self.model.samples.columns(quantity)
        return [[size, value] for size, value in zip(sizes.tolist(), values.tolist(), strict=True)]

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per prediction."""
        import polars as pl

        return pl.DataFrame([{**asdict(one), "deviation": one.deviation} for one in self.predictions])

    @property
    def text(self) -> str:
        """The preset file."""
        from .. import __version__

        return to_toml(self.model, __version__)

    def told(self) -> list[str]:
        """The parameters in words."""
        return told(self.model)

    def parameters(self) -> list[tuple[str, str]]:
        """What each quantity is, and its lines."""
        return [(QUANTITIES[name], pieces(curve)) for name, curve in self.model.curves.items()]


def fit(paths: Sequence[Path], progress: Callable[[int, int, str], None] | None = None) -> Fitted:
    """Fit what was measured by ping-pong, trains and one to many, and predict the rest.

    Args:
        paths: output folders of ``fabriloom measure``, and files of others (:mod:`~fabriloom.fit.imports`).
            Folders of the program ``logp`` are fitted; those of all others are predicted.
        progress: called with each prediction.

    Raises:
        FitError: for what cannot be read, and for too little.
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
