"""Results of a sweep of the input: output, losses and latencies, and where each saturates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..lab import Lab, Measured, Scenario
from ..rows import series

Place = tuple[float, float, str]
"""A value that the text states: input, value, id of the number."""
LOSSES = 0.002
"""Fraction of lost packets above which a point counts as saturated."""
LATENCY = 1.1
"""Largest latency of a point, relative to the lightest point, above which its latency counts as saturated."""


@dataclass(frozen=True)
class Sweep:
    """One network at a growing input. Rates are MB/s of all senders together; the input is gross."""

    inputs: list[float]
    points: list[Measured]

    @classmethod
    def of(cls, lab: Lab, runs: Sequence[tuple[float, Scenario]]) -> Sweep:
        """Measure the runs of a sweep."""
        return cls([gross for gross, _ in runs], lab.measure([run for _, run in runs]))

    def at(self, gross_mbytes_per_s: float) -> Measured:
        """Return the point with this input."""
        return self.points[self.inputs.index(gross_mbytes_per_s)]

    def knee(self) -> float:
        """Return the lowest input with losses."""
        lossy = (
            gross for gross, one in zip(self.inputs, self.points, strict=True) if one.refused_share > LOSSES
        )
        return next(lossy, float("nan"))

    def _flat(self) -> int:
        """Return the number of points before the latency grows."""
        limit = LATENCY * self.points[0].most_ns
        return next((i for i, one in enumerate(self.points) if one.most_ns > limit), len(self.points))

    def latency_knee(self) -> float:
        """Return the highest input before the latency grows."""
        return self.inputs[self._flat() - 1]

    def latency_below_ns(self) -> float:
        """Return the largest latency of a packet up to that input."""
        return max(one.most_ns for one in self.points[: self._flat()])

    def latency_above_ns(self) -> tuple[float, float]:
        """Return the smallest and the largest latency of a packet above that input, if there are points."""
        beyond = self.points[self._flat() :]
        if not beyond:
            return float("nan"), float("nan")
        return min(one.least_ns for one in beyond), max(one.most_ns for one in beyond)

    def throughput(
        self, figure: str, title: str, label: str, **published: Sequence[Place]
    ) -> list[dict[str, Any]]:
        """Return output and losses against input; ``published`` has values for "output" and "losses"."""
        rates = {
            "output": [one.accepted_mbytes_per_s for one in self.points],
            "losses": [one.lost_mbytes_per_s for one in self.points],
        }
        return self._drawn(figure, title, label, rates, "payload (MB/s)", published)

    def latency(
        self, figure: str, title: str, label: str, published: Sequence[Place]
    ) -> list[dict[str, Any]]:
        """Return the largest, mean and smallest latency against input."""
        latencies = {
            "greatest": [one.most_ns / 1000 for one in self.points],
            "mean": [one.made_ns / 1000 for one in self.points],
            "least": [one.least_ns / 1000 for one in self.points],
        }
        quantity = "latency from making to storing (us)"
        return self._drawn(figure, title, label, latencies, quantity, {"greatest": published}, log="y")

    def _drawn(
        self,
        figure: str,
        title: str,
        label: str,
        curves: Mapping[str, Sequence[float]],
        quantity: str,
        published: Mapping[str, Sequence[Place]],
        **more: str,
    ) -> list[dict[str, Any]]:
        """Return some curves against input."""
        shared: dict[str, Any] = {
            "x": self.inputs,
            "x_quantity": "gross input (MB/s)",
            "y_quantity": quantity,
            **more,
        }
        return [
            series(figure, title, f"{label}, {what}", y=values, published=published.get(what, ()), **shared)
            for what, values in curves.items()
        ]
