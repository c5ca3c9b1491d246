"""Memories that the ports of a switch share: how much each takes, who is paused, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom import Scenario, run
from fabriloom.bounds import bound
from fabriloom.compile import compile
from fabriloom.scenario import ScenarioError

FRAME = 1538
DROPS = {"pause_above_flits": 0, "pause_until_flits": 0, "drop_when_full": True}


def written(senders: int = 2, **technology: Any) -> dict[str, Any]:
    """Return some senders at full rate to one target, over a switch of 100 Mbit/s."""
    pattern = {"kind": "hot-spot", "target": senders, "share": 1}
    return {
        "topology": {"kind": "crossbar", "terminals": senders + 1},
        "technology": {"preset": "ethernet-100m", **technology},
        "traffic": {"arrivals": "backlog", "pattern": pattern, "senders": list(range(senders))},
        "run": {"duration": "200 ms", "warmup": "0 ns", "precision": 0},
    }


def scenario(senders: int = 2, **technology: Any) -> Scenario:
    return Scenario.from_dict(written(senders, **technology))


def memory(flits: int, alpha: float, **parts: int) -> dict[str, Any]:
    return {"shared_buffer_flits": flits, "shared_buffer_alpha": alpha} | {
        f"shared_buffer_{name}_flits": value for name, value in parts.items()
    }


@pytest.mark.parametrize("senders", [2, 4, 7])
@pytest.mark.parametrize("alpha", [0.125, 0.5, 1, 4])
@pytest.mark.parametrize("pauses", [False, True])
def test_overloaded_lanes_take_equal_parts(senders: int, alpha: float, pauses: bool) -> None:
    """``k`` of them hold ``alpha P / (1 + k alpha)`` each (Choudhury and Hahne, 1998), to a frame; with
    pauses besides what comes after them.
    """
    size, each = 400_000, 4 * FRAME if pauses else 0
    lanes = senders + 1
    own = memory(size + lanes * each, alpha, **({"headroom": each} if pauses else {}))
    found = run(scenario(senders, **(own if pauses else DROPS | own)))
    part = alpha * size / (1 + senders * alpha)
    into = found.links.filter(found.links["target"] == "s")
    stored = into["stored_most"].to_list()[:senders]
    assert all(abs(one - part) <= 2 * FRAME * (1 + alpha) + each for one in stored), (stored, part)
    assert into["memory_most"].max() == pytest.approx(senders * part, abs=senders * (FRAME + each))
    assert found.links.filter(found.links["link"] == f"s>t.{senders}")["utilisation"].item() > 0.995
    assert (found.summary["packets"].get("lost", 0) == 0) == pauses
    assert found.warnings == []


def test_a_burst_takes_what_idle_ports_leave() -> None:
    """Of 50 frames each of two senders, half are in the switch when the last ones come: 38 kB for each port.
    One of eight has 20 kB of 160 kB to itself, and 53 kB where two share them.
    """
    flows = [{"source": one, "target": 7, "count": 50, "length": "1500 B"} for one in (0, 1)]
    traffic = {"traffic": {"pattern": {"kind": "flows", "flows": flows}}}
    rules = ({"input_buffer_flits": 20_000}, memory(160_000, 1.0))
    found = [run(Scenario.from_dict(written(7, **DROPS | own) | traffic)).summary for own in rules]
    assert [one["packets"]["lost"] > 0 for one in found] == [True, False]


def test_headroom_that_is_too_small_is_told_before_and_after() -> None:
    found = run(scenario(**memory(50_000, 0.5)))
    before, after = found.warnings
    assert "may need 3,228 flits of headroom and has 0" in before
    assert "write shared_buffer_headroom_flits = 3228" in before
    assert "in its headroom of 0" in after
    assert found.links["headroom_most"].max() > 0
    enough = run(scenario(**memory(60_000, 0.5, headroom=3228)))
    assert enough.warnings == []
    assert 0 < enough.links["headroom_most"].max() <= 3228


@pytest.mark.parametrize("alpha", [0.0078125, 1.0])
def test_no_cycle_is_closed_through_a_memory(alpha: float) -> None:
    """A lane that holds nothing goes on, however full the memory is, so a network without cycles moves on."""
    own = memory(40_000, alpha, headroom=4 * FRAME)
    whole = {
        "topology": {"kind": "grid", "shape": [3, 3]},
        "technology": {"preset": "ethernet-1g", "cable_length": "100 m", **own},
        "traffic": {"arrivals": "backlog", "pattern": "uniform"},
        "run": {"duration": "20 ms", "warmup": "0 ns", "precision": 0},
    }
    full = Scenario.from_dict(whole)
    assert compile(full).deadlock.free
    found = run(full)
    assert found.summary["end"]["reason"] == "time_limit"
    assert found.links["headroom_most"].max() > 0
    into = found.links.filter(~found.links["target"].str.starts_with("t"))
    assert into["packets"].min() > 50


def test_a_bound_is_refused() -> None:
    flows = [{"source": 0, "target": 2, "length": "100 B", "period": "1 ms"}]
    traffic = {"traffic": {"pattern": {"kind": "flows", "flows": flows}}}
    of_flows = Scenario.from_dict(written(**memory(60_000, 0.5, headroom=3228)) | traffic)
    with pytest.raises(ScenarioError, match="depends on what all others hold"):
        bound(of_flows)
