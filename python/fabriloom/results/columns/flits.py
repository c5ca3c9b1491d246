"""Keys and columns of networks of flits, in the units of networks on chip: flits, nodes and cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ... import units
from .column import Value, of_summary, table


@dataclass(frozen=True)
class FlitRun:
    """A summary of a network of flits, with the length of a cycle and the size of a flit."""

    summary: Mapping[str, Any]
    cycle_ns: float
    flit_bytes: int

    def per_node_cycle(self, key: str) -> float | None:
        """Return a throughput of the summary in flits per terminal and cycle."""
        mbytes_per_s = self.summary[key]
        if mbytes_per_s is None:
            return None
        flits_per_ns = mbytes_per_s / 1e3 / self.flit_bytes
        return flits_per_ns * self.cycle_ns / self.summary["network"]["terminals"]

    def cycles(self, which: str, key: str) -> float | None:
        """Return a latency of the summary in cycles."""
        value_ns = self.summary[which][key]
        return None if value_ns is None else value_ns / self.cycle_ns


def _rate(key: str) -> Value:
    return lambda run: run.per_node_cycle(f"{key}_mbytes_per_s")


def _cycles(which: str, key: str) -> Value:
    return lambda run: run.cycles(which, key)


FLIT_SUMMARY = table(
    "flit_summary",
    "Summary of networks of flits",
    "With `generic`: the same numbers in these units.",
    {
        "flits.cycle_ns": ("ns | Length of a cycle.", lambda run: run.cycle_ns),
        "flits.flit_bytes": ("B | Payload of a flit.", lambda run: run.flit_bytes),
        "flits.offered_per_node_cycle": (
            "flits | Payload offered per terminal and cycle, as full flits.",
            _rate("offered"),
        ),
        "flits.accepted_per_node_cycle": (
            "flits | Payload delivered per terminal and cycle, as full flits.",
            _rate("accepted"),
        ),
        "flits.accepted_per_node_cycle_ci95": (
            "flits | Half-width of its 95 % confidence interval.",
            lambda run: run.per_node_cycle("accepted_mbytes_per_s_ci95"),
        ),
        "flits.latency_cycles_mean": ("cycles | Mean network latency.", _cycles("latency_ns", "mean")),
        "flits.latency_cycles_mean_ci95": (
            "cycles | Half-width of its 95 % confidence interval.",
            _cycles("latency_ns", "mean_ci95"),
        ),
        "flits.latency_cycles_p99": (
            "cycles | 99 % of the packets did not take longer.",
            _cycles("latency_ns", "p99"),
        ),
        "flits.total_latency_cycles_mean": (
            "cycles | Mean latency from creation at the source.",
            _cycles("total_latency_ns", "mean"),
        ),
    },
)

FLIT_POINTS = table(
    "flit_points",
    "Points of networks of flits",
    "",
    {
        **of_summary(
            "flits",
            offered_flits_per_node_cycle="flits.offered_per_node_cycle",
            accepted_flits_per_node_cycle="flits.accepted_per_node_cycle",
        ),
        **of_summary(
            "cycles",
            latency_cycles_mean="flits.latency_cycles_mean",
            latency_cycles_p99="flits.latency_cycles_p99",
            total_latency_cycles_mean="flits.total_latency_cycles_mean",
        ),
    },
)


def add_flits(summary: dict[str, Any], technology: Mapping[str, Any]) -> None:
    """Add the keys of :data:`FLIT_SUMMARY` if the resolved technology is that of networks on chip.

    InfiniBand has flits and cycles in its presets, too, but its users think in bytes and nanoseconds.
    """
    if technology.get("preset") != "generic":
        return
    cycle_ns = float(units.parse_cycle_ps(technology["cycle"])) / 1000
    FLIT_SUMMARY.fill(summary, FlitRun(summary, cycle_ns, units.parse_bytes(technology["flit"])))
