"""Head-of-line blocking in one switch of 32 links: the theory that the paper cites for a crossbar."""

from __future__ import annotations

from ..lab import Effort, Findings, Lab, Scenario
from ..published import numbers
from ..rows import predicted

PORTS = 32
FLIT_BYTES, FLITS = 8, 4
FLIT_MBYTES_PER_S = 8000
"""A flit of 8 bytes per nanosecond."""


def scenarios(effort: Effort) -> list[Scenario]:
    """Return an ideal switch: one queue per input, packets of one length, always full, random contention."""
    technology = {"preset": "generic", "router_cycles": 0, "input_buffer_flits": 256, "arbiter": "random"}
    return [
        {
            "name": f"crossbar {PORTS} x {PORTS}",
            "seed": 1,
            "topology": {"kind": "crossbar", "terminals": PORTS},
            "technology": technology,
            "traffic": {"pattern": "uniform", "length": f"{FLIT_BYTES * FLITS} B", "arrivals": "backlog"},
            "run": {"duration": f"{effort.time_ms(0.1, 0.02)} ms", "warmup": "1 us", "precision": 0.0},
            "output": {"links": False, "flows": False},
        }
    ]


def findings(lab: Lab) -> Findings:
    """Compare its throughput, as a fraction of the link bandwidth."""
    (switch,) = lab.measure(scenarios(lab.effort))
    scale = 100 / (PORTS * FLIT_MBYTES_PER_S)
    printed = numbers("macrame")["crossbar-random-limit"]
    return Findings(rows=[predicted(printed, tolerance=(58.0, 62.0), **switch.accepted(scale))])
