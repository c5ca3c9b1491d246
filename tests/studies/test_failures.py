"""What single failures leave of a network: against the core's own loads, by hand, and against runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fabriloom import Scenario, ScenarioError, run
from fabriloom.compile import compile
from fabriloom.results import columns
from fabriloom.routing import channel_loads
from fabriloom.studies import failures
from fabriloom.studies.kinds import inspection_of
from fabriloom.studies.links.failures import LinkWays

CLOS = {"kind": "clos", "terminals": 64}
GRID = {"kind": "grid", "shape": [2, 3], "terminals_per_switch": 2}
SWITCH = {"kind": "sci-switch", "ports": 4, "terminals_per_ring": 2}


def ways(topology: dict[str, Any], **sections: Any) -> LinkWays:
    compiled = compile(Scenario.from_dict({"topology": topology, **sections}))
    found = inspection_of(compiled).ways()
    assert isinstance(found, LinkWays)
    return found


def found(topology: dict[str, Any], kinds: str = "all") -> dict[str, Any]:
    return failures.look(compile(Scenario.from_dict({"topology": topology})), kinds)


@pytest.mark.parametrize("topology", [CLOS, GRID, {"kind": "banyan", "terminals": 16, "variant": "omega"}])
def test_without_a_failure_loads_are_those_of_the_core(topology: dict[str, Any]) -> None:
    it = ways(topology)
    none = np.empty(0, np.int64)
    shares = it.shares(none)
    demand = it.compiled.demand()
    expected = channel_loads(it.graph, it.routes.table, demand.pairs, demand.even)
    assert it.loads(shares, it.demand, none) == pytest.approx(expected)
    left = it.after("none", "", none)
    assert (left.cut_off, left.lossy, left.delivered_share) == (0, 0, pytest.approx(1.0))


def test_a_clos_network_loses_nothing_but_what_hangs_at_what_fails() -> None:
    by_kind = {row["name"]: row for row in found(CLOS)["failures"]}
    centre, cable = by_kind["centre(1)"], by_kind["edge(0)>centre(0)#1"]
    for row in (centre, cable):
        assert (row["cut_off_pairs"], row["lossy_pairs"], row["delivered_share"]) == (0, 0, pytest.approx(1))
    # Fifteen of sixteen cables of a switch of sixteen terminals are left, and 48 of 63 packets go over them.
    without = found(CLOS)["without"]
    assert cable["load_bound"] == pytest.approx(without["load_bound"])
    # Half of the cables carry what went over all.
    share = 16 * 48 / 63 / 8
    assert centre["load_bound"] == pytest.approx(without["load_bound"] / share, rel=0.03)
    terminal = by_kind["t(0).0>edge(0)"]
    assert terminal["cut_off_pairs"] == terminal["lossy_pairs"] == 2 * 63


def test_one_way_through_a_grid_is_a_single_point_of_failure() -> None:
    after = found(GRID, "cables")
    assert after["cut_off_count"] == after["count"]
    assert "cut terminals off" in failures.verdict(after)
    defined = set(columns.FAILURES.names)
    assert {*after["failures"][0], *after} - {"without", "failures"} == defined


def test_a_choice_that_leads_to_a_dead_end_is_seen() -> None:
    """All cables from the second centre to the last switch: half of what goes there goes by that centre."""
    it = ways(CLOS)
    dead = [link for link, name in enumerate(it.graph.link_names) if name.startswith("centre(1)>edge(3)")]
    left = it.after("cable", "", np.array(dead))
    assert (left.cut_off, left.lossy) == (0, 48 * 16)
    assert left.delivered_share == pytest.approx(1 - 48 * 16 / (64 * 63) / 2)


@pytest.mark.parametrize("fault", [{"cable": "s(0,0)>s(0,1)"}, {"switch": "s(1,1)"}])
def test_a_run_loses_what_was_foretold(fault: dict[str, str]) -> None:
    scenario = Scenario.from_dict(
        {
            "topology": GRID,
            "traffic": {"pattern": "uniform", "length": "16 B", "load": 0.1},
            "fault": [{**fault, "at": "0 us"}],
            "run": {"duration": "8 ms"},
        }
    )
    name = next(iter(fault.values()))
    rows = found(GRID)["failures"]
    [row] = [row for row in rows if row["name"] == name]
    packets = run(scenario).summary["packets"]
    # Of thousands of packets; those of terminals at a failed switch wait for ever.
    share = packets["delivered"] / packets["offered"]
    assert share == pytest.approx(row["delivered_share"], abs=0.02)


@pytest.mark.parametrize(
    ("topology", "pairs"),
    [
        (GRID, [[0, 9], [0, 11]]),
        (SWITCH, [[0, 4], [0, 6]]),
    ],
)
def test_only_pairs_that_send_are_counted(topology: dict[str, Any], pairs: list[list[int]]) -> None:
    """Two flows from terminal 0: only its own cable or ring stops both."""
    flows = [
        {"source": source, "target": target, "length": "64 B", "rate": "1 MB/s"} for source, target in pairs
    ]
    compiled = compile(
        Scenario.from_dict({"topology": topology, "traffic": {"pattern": {"kind": "flows", "flows": flows}}})
    )
    rows = failures.look(compiled, "cables")["failures"]
    assert {row["cut_off_pairs"] for row in rows} == {0, 1, 2}
    for row in rows:
        assert row["delivered_share"] == 1 - row["cut_off_pairs"] / 2


def test_a_dead_ring_takes_its_terminals_with_it() -> None:
    after = found(SWITCH)
    cables = [row for row in after["failures"] if row["kind"] == "cable"]
    # Two of eight terminals: 2 x 7 ways from them, 2 x 6 to them.
    assert len(cables) == 12
    assert {row["cut_off_pairs"] for row in cables} == {26}
    assert cables[0]["delivered_share"] == pytest.approx(1 - 26 / 56)
    [switch] = [row for row in after["failures"] if row["kind"] == "switch"]
    assert (switch["cut_off_pairs"], switch["delivered_share"]) == (0, 0)


def test_long_rings_through_a_banyan_have_more_to_lose_than_ringlets() -> None:
    def worst(wiring: str) -> float:
        topology = {"kind": "sci-banyan", "terminals": 8, "variant": "omega", "base": 2, "wiring": wiring}
        after = found(topology, "cables")
        assert after["cut_off_count"] == after["count"]
        return after["failures"][0]["delivered_share"]

    assert worst("long-ring") < worst("ringlet")


def test_a_run_of_rings_loses_what_was_foretold() -> None:
    scenario = Scenario.from_dict(
        {
            "topology": SWITCH,
            "technology": {"preset": "sci-lc2", "timeout": "20 us", "close_after": 1, "closed_for": "10 ms"},
            "traffic": {"length": "64 B", "load": 0.05},
            "fault": [{"link": "t0>t1", "at": "0 us"}],
            "run": {"duration": "4 ms"},
        }
    )
    packets = run(scenario).summary["packets"]
    [row] = [row for row in found(SWITCH)["failures"] if row["name"] == "t0>t1"]
    assert packets["delivered"] / packets["offered"] == pytest.approx(row["delivered_share"], abs=0.02)


def test_what_cannot_be_looked_at() -> None:
    with pytest.raises(ScenarioError, match="too many"):
        failures.look(compile(Scenario.from_dict({"topology": {"kind": "sci-ring", "terminals": 600}})))
    with pytest.raises(ScenarioError, match="universal"):
        ways(CLOS, routing={"universal": True})
