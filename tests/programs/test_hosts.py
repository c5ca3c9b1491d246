"""Presets of hosts of today: queue pairs over InfiniBand and Ethernet, and TCP."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Results, run

from .common import scenario

STREAM: dict[str, Any] = {
    "kind": "fixed-pairs",
    "size": "64 kB",
    "rounds": 20,
    "sources": [0],
    "targets": [1],
}
PING: dict[str, Any] = {"kind": "ping-pong", "size": "8 B", "rounds": 20}
EDR: dict[str, Any] = {"preset": "infiniband-4x-edr"}


def on(preset: str, program: dict[str, Any]) -> Results:
    return run(scenario(program, technology=EDR, protocol={"preset": preset}))


@pytest.mark.parametrize("preset", ["verbs-infiniband", "verbs-roce"])
def test_verbs_fill_the_link(preset: str) -> None:
    found = scenario(STREAM, technology=EDR, protocol={"preset": preset}).resolve()
    assert found["protocol"]["packet"] == "2048 B"  # the MTU of the technology
    assert on(preset, STREAM).summary["messages"]["mbytes_per_s"] > 11_000


def test_verbs_answer_in_a_microsecond() -> None:
    half = on("verbs-infiniband", PING).summary["rounds"]["ns_mean"] / 2
    assert 500 < half < 1500


def test_tcp_is_bound_by_its_copies_and_calls() -> None:
    assert 2_500 < on("tcp", STREAM).summary["messages"]["mbytes_per_s"] < 4_000
    assert 10_000 < on("tcp", PING).summary["rounds"]["ns_mean"] / 2 < 13_000
