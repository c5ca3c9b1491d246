"""Delays in the clocks of a data sheet: a packet through routers needs what the manual's formula says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fabriloom import simulate
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import TechnologyError, technology

RATES = {"a": 200, "b": 100, "c": 50}
SYS_PS = 1e6 / 30


def latency_ns(folder: Path, routers: int, rates_mbit: list[int], **tech: Any) -> float:
    """Of the only packet through routers in a row; ``rates_mbit`` of their links, one more than routers."""
    names = ["source", *(f"r{n}" for n in range(routers)), "sink"]
    lines = ["kind,source,target,rate,length", f"terminal,source,r0,{rates_mbit[0]} Mbit/s,0 m"]
    lines += [f"switch,r{n},,," for n in range(routers)]
    lines += [f"cable,r{n},r{n + 1},{rates_mbit[n + 1]} Mbit/s,0 m" for n in range(routers - 1)]
    lines += [f"terminal,sink,r{routers - 1},{rates_mbit[-1]} Mbit/s,0 m"]
    assert len(names) == routers + 2
    (folder / "cables.csv").write_text("\n".join(lines))
    flow = {"source": "source", "target": "sink", "length": "1 B", "period": "1 ms", "phase": "0 s"}
    written = {
        "topology": {"kind": "file", "path": "cables.csv"},
        "technology": {"preset": "spw-10x", "flow_control": "ignored", "crossbar": "fast", **tech},
        "traffic": {"pattern": {"kind": "flows", "flows": [flow]}},
        "run": {"duration": "100 us", "warmup": "0 ns", "precision": 0},
        "output": {"trace": True},
    }
    return float(simulate.run(Scenario.from_dict(written, folder)).trace["latency_ns"][0])


def manual_ns(rate_in: int, rate_out: int) -> float:
    """5 Trx + 8 Tsys + 23 Ttx of the manual of the SpW-10X; Trx and Ttx are two bit times."""
    return (5 * 2e6 / rate_in + 8 * SYS_PS + 23 * 2e6 / rate_out) / 1000


@pytest.mark.parametrize("rate", [10, 50, 100, 200])
def test_each_router_more_adds_the_latency_that_the_manual_prints(tmp_path: Path, rate: int) -> None:
    two, three = (latency_ns(tmp_path, count, [rate] * (count + 1)) for count in (2, 3))
    assert three - two == pytest.approx(manual_ns(rate, rate), abs=0.01)


def test_the_first_clock_is_of_the_link_in_and_the_last_of_the_link_out(tmp_path: Path) -> None:
    """A slow last link: 23 slower Ttx, and the rest of the packet, a byte and an end, at the slow rate."""
    fast, slow = latency_ns(tmp_path, 1, [200, 200]), latency_ns(tmp_path, 1, [200, 50])
    rest_bits = 10 + 4
    assert slow - fast == pytest.approx(
        manual_ns(200, 50) - manual_ns(200, 200) + rest_bits * (20 - 5), abs=0.01
    )


def test_a_data_sheet_of_ones_own(tmp_path: Path) -> None:
    """Other numbers than those of the preset, in the same three settings."""
    own = {"router_clock": "50 MHz", "router_latency": "4 rx + 6 sys + 12.5 tx", "router_switching": "2 sys"}
    two, three = (latency_ns(tmp_path, count, [100] * (count + 1), **own) for count in (2, 3))
    assert three - two == pytest.approx((4 * 20 + 6 * 20 + 12.5 * 20), abs=0.01)
    tech = technology("spacewire-200", {"router_latency": "9 tx", "link_rate_bits_per_s": 10**8})
    assert (tech.decode_latency_ps, tech.transmitter_ps()) == (0, 80_000)


WRONG = {
    "5 rx + 8 sys + 23 txx": 'there is no clock "txx"',
    "5 rx + 8": "is no number of periods",
    "5 rx + 5 rx": "rx is there twice",
    "5 rx + 8 sys + 4 tx": "at least 5 tx",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_latency_is_refused(text: str) -> None:
    with pytest.raises(TechnologyError, match=WRONG[text]):
        technology("spw-10x", {"router_latency": text})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"router_latency": "8 sys + 23 tx"}, "there is none"),
        ({"router_clock": "30 MHz"}, "router_clock has no effect without router_latency"),
        ({"router_latency": "23 tx", "router_switching": "4 sys"}, "some of the 0 sys"),
        ({"router_latency": "23 tx", "decode_latency": "1 us"}, "decode_latency is a part of router_latency"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, str], message: str) -> None:
    written = {"topology": {"kind": "crossbar", "terminals": 2}, "traffic": {"load": 0.1}}
    technology = {"preset": "spacewire-200", **settings}
    with pytest.raises(ScenarioError, match=message):
        simulate.run(Scenario.from_dict({**written, "technology": technology}))
