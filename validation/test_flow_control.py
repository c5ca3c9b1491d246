"""Matched flow control against flow-control characters sent one by one."""

from __future__ import annotations

import numpy as np
from fabriloom import _native, compile, simulate
from fabriloom.scenario import Scenario


def _scenario(flow_control: str) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 8, "links_per_edge": 4},
            "technology": {"preset": "ds-link-c104", "header": "1 B", "flow_control": flow_control},
            "traffic": {"arrivals": "random-wait", "load": 0.5},
            "run": {"duration": "8 ms", "warmup": "1 ms", "precision": 0},
        }
    )


def test_matched_is_close_to_exact() -> None:
    """Mean latency and throughput within 2 % of the twin that sends every flow-control character.

    Both runs have the same seed but not the same packets, so statistics count: with about 10 000 packets
    the standard error of either mean is 0.5 %; false alarms are below one in a thousand, and with fixed
    seeds there are none.
    """
    results = simulate.run(_scenario("matched"))
    assert 0 < results.summary["reverse_load"] < 1
    arrays = compile.compile(_scenario("ignored")).arrays
    nominal = compile.compile(_scenario("average")).arrays
    arrays["source_interval_grains"] = nominal["source_interval_grains"]
    tick_ns = arrays["tick_ps"] / 1000
    exact = _native.run_twin(arrays, True, int(8e6 / tick_ns))
    counted = exact["trace_delivered_ticks"] > 1e6 / tick_ns
    latency = (exact["trace_delivered_ticks"] - exact["trace_started_ticks"])[counted].mean() * tick_ns
    accepted = float(np.asarray(exact["trace_length"])[counted].sum()) / 7e-3 / 1e6
    assert abs(results.summary["latency_ns"]["mean"] / latency - 1) < 0.02
    assert abs(results.summary["accepted_mbytes_per_s"] / accepted - 1) < 0.02
