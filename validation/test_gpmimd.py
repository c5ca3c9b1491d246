"""The GPMIMD machine: a quick subset of its reproduction, and what its model does by arithmetic.

The quick runs are short, so a scored row must be within its tolerance widened by its own confidence
half-width, if it has one. False alarms: seeds are fixed, so what passes passes always. A change that leaves
the model alike draws other destinations; random pairs and level II then move by about a point of percent, a
third of their margins.
"""

from __future__ import annotations

from typing import Any

import fabriloom_papers
import numpy as np
import pytest
from fabriloom import _native, compile, simulate
from fabriloom.output import Pieces
from fabriloom.report.tally import number_of
from fabriloom.scenario import Scenario
from fabriloom.technology import protocol, technology
from fabriloom_papers import published
from fabriloom_papers.gpmimd import networks, pairs, settings
from fabriloom_papers.lab import Findings, Lab, Measured
from fabriloom_papers.page import explained

QUICK_LEAVES_OUT = {"figure-6-flat", "level-3-better-least", "level-3-better-most"}
FIGURES = {"3a", "3b", "5a", "5b", "5c", "5d", "6a", "6b", "7a", "7b", "8a", "8b", "9a", "9b"}
FIGURES |= {"10a", "10b", "10b, text"}


@pytest.fixture(scope="module")
def found(finished: Pieces) -> Findings:
    """Everything the quick subset gives."""
    return fabriloom_papers.study("gpmimd", quick=True, keep=finished)


def test_every_printed_number_has_a_row(found: Findings) -> None:
    """Nothing that the paper prints is skipped, and what is not scored says why."""
    ids = [row["id"] for row in found.rows]
    assert len(ids) == len(set(ids))
    covered = {number_of(row).removeprefix("gpmimd.") for row in found.rows}
    assert covered | QUICK_LEAVES_OUT == set(published.numbers("gpmimd"))
    for row in found.rows:
        assert (row["kind"] == "reported") == bool(row["reason"]) == (row["within"] is None), row["id"]


def test_scored_rows_agree_or_are_told(found: Findings) -> None:
    """What is outside is said to be, with a reason, on the page of the paper."""

    def agrees(row: dict[str, Any]) -> bool:
        slack = row["ci95"] or 0.0
        return row["tolerance"][0] - slack <= row["ours"] <= row["tolerance"][1] + slack

    scored = [row for row in found.rows if row["tolerance"] is not None]
    outside = {number_of(row).removeprefix("gpmimd."): row["ours"] for row in scored if not agrees(row)}
    assert set(outside) <= explained("gpmimd"), outside


def test_series_can_be_drawn(found: Findings) -> None:
    """Every figure has its curves, and published points name a printed number."""
    assert {one["figure"] for one in found.series} == FIGURES
    printed = published.numbers("gpmimd")
    for one in found.series:
        assert len(one["x"]) == len(one["y"]) > 0
        assert all(point["id"] in printed for point in one["published"])


def measured(links_per_pair: int, links: int = 12) -> Measured:
    """Fixed pairs with this many virtual links each."""
    times: dict[str, Any] = {"warmup_ms": 1.0, "measure_ms": 10.0}
    program = {"kind": "fixed-pairs", "size": "65536 B", "rounds": 0} | networks.ends((3, 3))
    setting = settings.setting(1, links_per_pair, 1)
    with Lab() as lab:
        (one,) = lab.measure([networks.scenario("pairs", program, links=links, protocol=setting, **times)])
    return one


def test_a_virtual_link_carries_a_packet_per_round() -> None:
    """Header through three switches to the T9000, acknowledgement back through three, and the T9000s' times.

    One source on each board, so nothing is in the way.
    """
    tech = technology(networks.PRESET, {"flow_control": "ignored"})
    host = protocol(networks.PROTOCOL)
    character_ps, switches = tech.character_ps(), 3
    hop_ps = tech.arrival_ps() + character_ps + tech.decode_latency_ps + tech.forward_latency_ps
    there_ps = switches * hop_ps + tech.arrival_ps()
    back_ps = switches * hop_ps + 2 * character_ps + tech.end_ps() + tech.cable_ps()
    round_us = (there_ps + host["ack_time_ps"] + back_ps + host["resume_time_ps"]) / 1e6
    assert measured(1).accepted_mbytes_per_s / 3 == pytest.approx(32 / round_us, rel=0.01)


def test_two_virtual_links_carry_twice_as_much() -> None:
    """As long as the physical link carries both."""
    one, two = measured(1).accepted_mbytes_per_s, measured(2).accepted_mbytes_per_s
    assert two == pytest.approx(2 * one, rel=0.01)


def test_bandwidth_is_linear_in_the_links() -> None:
    """Fixed pairs fill whatever links there are, up to what flow control leaves of the 9.26 MB/s of a link.

    The first free link of a group is taken, so acknowledgements crowd on the first links. Data that goes the
    other way there pays for their flow control: the twin that sends every such character has 4 % less than
    the theory with 12 links, in a window as short as this one.
    """
    with Lab(quick=True) as lab:
        runs = [
            pairs.run(lab.effort, "fixed-pairs", links, pairs.asymptote_bytes(lab.effort))
            for links in networks.LINKS
        ]
        for links, one in zip(networks.LINKS, lab.measure(runs), strict=True):
            assert 0.95 <= one.accepted_mbytes_per_s / networks.theory_mbytes_per_s(links) <= 1.005


def test_fixed_pairs_carry_what_the_twin_does_with_real_flow_control() -> None:
    """Throughput within 1 % of the twin with every flow-control character; fixed seeds, no false alarm."""
    with Lab(quick=True) as lab:
        program = pairs.run(lab.effort, "fixed-pairs", 12, pairs.asymptote_bytes(lab.effort))

    def accepted(flow_control: str, exact: bool) -> float:
        technology = {**program["technology"], "flow_control": flow_control}
        compiled = compile.compile(Scenario.from_dict({**program, "technology": technology}))
        compiled = simulate.matched(compiled)
        until, warmup = (int(us * 1e6 / compiled.tick_ps) for us in (3000, 500))
        seen = _native.run_twin(compiled.arrays, exact, until)
        return float(np.asarray(seen["trace_length"])[seen["trace_delivered_ticks"] > warmup].sum())

    assert accepted("matched", False) == pytest.approx(accepted("ignored", True), rel=0.01)
