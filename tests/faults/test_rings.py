"""Rings of which a station, a link or a switch fails: what is down, what is lost, what closed routes save."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario, run
from fabriloom.compile import compile

SWITCH = {"kind": "sci-switch", "ports": 4, "terminals_per_ring": 2}
DEAD = {"terminal": 0, "at": "200 us", "repaired": "700 us"}


def scenario(*faults: dict[str, Any], load: float = 0.05, **technology: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "topology": SWITCH,
            "technology": {"preset": "sci-lc2", "timeout": "50 us", **technology},
            "traffic": {"length": "64 B", "load": load},
            "fault": list(faults),
            "run": {"duration": "1 ms"},
        }
    )


def down(*faults: dict[str, Any], **technology: Any) -> dict[str, list[int]]:
    """Names of the links that fail, and for how many nanoseconds each time."""
    compiled = compile(scenario(*faults, **technology))
    columns, found = compiled.arrays, {}
    lasts = columns["fault_up_ticks"].astype(np.int64) - columns["fault_down_ticks"].astype(np.int64)
    for link, ticks in zip(columns["fault_link"], lasts * compiled.tick_ps, strict=True):
        found.setdefault(compiled.graph.link_names[link], []).append(int(ticks) // 1000)
    return found


@pytest.mark.parametrize("fault", [{"terminal": 0}, {"link": "t0>t1"}, {"cable": "s0>t0"}])
def test_what_fails_takes_its_ring_down_until_that_has_started_again(fault: dict[str, Any]) -> None:
    moments = {"at": "200 us", "repaired": "300 us"}
    ring = {"s0>t0": [110_000], "t0>t1": [110_000], "t1>s0": [110_000]}
    assert down({**fault, **moments}) == ring
    alone = down({**fault, **moments}, fault_stops="link", restart="1 us")
    assert all(lasts == [101_000] for lasts in alone.values())
    assert len(alone) == (2 if "terminal" in fault else 1)


def test_a_switch_takes_all_its_rings_down() -> None:
    assert len(down({"switch": "s0", "at": "200 us"})) == 12


def test_a_wrong_bit_costs_no_more_than_what_is_on_the_link() -> None:
    errors = {"link": "all", "bit_error_rate": 1e-6}
    lasts = [ns for each in down(errors).values() for ns in each]
    assert len(lasts) > 10
    assert max(lasts) <= 2
    summary = run(scenario(errors)).summary
    # Links are in use for a seventh of the time.
    assert 0 < summary["faults"]["cut"] < len(lasts) / 2
    assert summary["packets"]["lost"] == summary["faults"]["cut"]


def through(results: Results) -> dict[str, float]:
    return {name: results.summary["faults"][f"{name}_mbytes_per_s"] for name in ("before", "during", "after")}


def test_a_dead_ring_slows_others_down_unless_routes_to_it_are_closed() -> None:
    open_ = run(scenario(DEAD))
    closed = run(scenario(DEAD, close_after=2, closed_for="100 us"))
    for results in (open_, closed):
        packets = results.summary["packets"]
        parts = (packets[name] for name in ("delivered", "refused", "in_flight", "lost"))
        assert packets["offered"] == sum(parts)
        rates = through(results)
        assert rates["after"] == pytest.approx(rates["before"], rel=0.1)
        # Of 8 terminals 6 can still send, each to 5 of 7 others.
        assert rates["during"] < 0.6 * rates["before"]
    assert open_.summary["faults"]["discarded"] == 0 < closed.summary["faults"]["discarded"]
    assert through(closed)["during"] > 0.9 * 6 / 8 * 5 / 7 * through(closed)["before"]
    assert through(open_)["during"] < 0.8 * through(closed)["during"]


def test_losses_are_where_they_happened() -> None:
    results = run(scenario({"link": "t0>t1", "at": "200 us"}, fault_stops="link", close_after=1))
    links = {row["link"]: row for row in results.links.to_dicts()}
    assert {name for name, row in links.items() if row["cut_packets"]} == {"t0>t1"}
    # Terminals discard at their own links.
    assert all(name.startswith("t") for name, row in links.items() if row["discarded_packets"])
    assert results.summary["faults"]["worst_link"]
