"""Sensitivity of the results for the 256-node Clos: one assumption changed at a time."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Measured, Scenario, one_at_a_time
from . import networks

CASES: dict[str, dict[str, Any]] = {
    "as reproduced": {},
    "header of 2 bytes": {"header": "2 B"},
    "no time from crossbar to output": {"forward_latency": "0 ns"},
    "200 ns from crossbar to output": {"forward_latency": "200 ns"},
    "no time to decode, 900 ns to the output": {"decode_latency": "0 ns", "forward_latency": "900 ns"},
    "buffers 32 + 32": {"preset": "ds-link-c104-32-32"},
    "buffers 46 + 24": {"preset": "ds-link-c104-70"},
    "crossbar at link rate": {"crossbar": "link-rate"},
    "flow-control characters paid for in full": {"flow_control": "average"},
    "flow-control characters cost nothing": {"flow_control": "ignored"},
    "any free link of a group, at random": {"group_choice": "random"},
    "the free link of a group that rested longest": {"group_choice": "least-recent"},
    "heads served round robin": {"arbiter": "round-robin"},
    "heads served by fixed priority": {"arbiter": "fixed"},
    "heads served at random": {"arbiter": "random"},
}
"""Description of each change, and its technology settings."""

HEADER = (
    "changed",
    "saturation (GB/s)",
    "latency at 10 % (us)",
    "later than 3 means (%)",
    "latency at 50 % (us)",
    "later than 5 means (%)",
)


def table(jobs: int = 2) -> list[list[str]]:
    """Return one line per case."""
    return one_at_a_time(CASES, _runs, _columns, jobs)


def _runs(changed: dict[str, Any]) -> list[Scenario]:
    effort, topology = Effort(quick=False), networks.clos(256)
    loads = (None, 0.1, 0.5)
    return [networks.saturated(effort, topology, load=load, technology=changed) for load in loads]


def _columns(measured: list[Measured]) -> list[str]:
    full, light, half = measured
    return [
        f"{full.accepted_mbytes_per_s / 1000:.3f} ± {full.accepted_mbytes_per_s_ci95 / 1000:.3f}",
        f"{light.latency_ns / 1000:.2f}",
        f"{100 * light.share_longer(3 * light.latency_ns):.3f}",
        f"{half.latency_ns / 1000:.2f}",
        f"{100 * half.share_longer(5 * half.latency_ns):.3f}",
    ]
