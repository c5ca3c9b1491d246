"""Runs of the slow twin that send every flow-control character; the fast engine uses their average load."""

from __future__ import annotations

import numpy as np

from .. import _native
from ..compile import compile as compile_scenario
from ..scenario import Scenario as Checked
from .lab import Scenario

PS_PER_MS = 10**9


def accepted_mbytes_per_s(scenario: Scenario, warmup_ms: float, measure_ms: float) -> float:
    """Return the throughput of all terminals in MB/s; a saturated Clos of 256 takes 30 s per ms."""
    # The flow-control share is not added to the characters, because flow-control characters are sent.
    technology = scenario["technology"] | {"flow_control": "ignored"}
    arrays = compile_scenario(Checked.from_dict(scenario | {"technology": technology})).arrays
    per_ms = PS_PER_MS / arrays["tick_ps"]
    run = _native.run_twin(arrays, True, int((warmup_ms + measure_ms) * per_ms))
    counted = np.asarray(run["trace_delivered_ticks"]) > warmup_ms * per_ms
    return float(np.asarray(run["trace_length"])[counted].sum()) / (measure_ms * 1000)
