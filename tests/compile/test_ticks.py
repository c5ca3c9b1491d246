"""No result depends on the tick: every duration is a whole number of ticks, and none is rounded.

A time of the user that whole grains change by more than 1 % is told, and no other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fabriloom.compile as compiler
import numpy as np
import pytest
from fabriloom import _native, simulate
from fabriloom.compile import compile, times
from fabriloom.compile.times import tick_ps
from fabriloom.programs.kinds import UNTIL, WAIT
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import Technology

GRID = {"kind": "grid", "shape": [2, 3], "terminals_per_switch": 2}
WAITS = [
    {"terminal": 0, "do": ["repeat 40", "send 3 100 B", "wait 1300 ns", "end"]},
    {"terminal": 3, "do": ["repeat 40", "receive 0", "end", "until 300 us", "send 1 8 B"]},
    {"terminal": 1, "do": ["receive any"]},
]


def open_(arrivals: Any, **more: Any) -> dict[str, Any]:
    return {"topology": GRID, "traffic": {"arrivals": arrivals, "load": 0.6, "length": "40 B"}, **more}


SCENARIOS: dict[str, dict[str, Any]] = {
    "links": open_("poisson"),
    "bursts": open_({"kind": "on-off", "burst_packets": 5, "on_load": 0.9}),
    "constant": open_("constant", technology={"preset": "t9000-c104", "link_rate": "70 Mbit/s"}),
    "waits by load": open_("wait"),
    "random waits": open_("random-wait", technology={"preset": "spacewire-200", "cable_length": "0.2 m"}),
    "refused": {
        **open_("poisson"),
        "traffic": {
            "load": 0.9,
            "length": {"kind": "uniform", "min": "1 B", "max": "90 B"},
            "source_queue": 1,
        },
    },
    "cycles": open_("poisson", technology={"preset": "generic", "cycle": "4 ns", "router_cycles": 2}),
    "odd bits": open_("poisson", technology={"preset": "ds-link-c104", "link_rate": "99999 kbit/s"}),
    "rings": {
        "topology": {"kind": "sci-ring", "terminals": 5},
        "traffic": {"load": 0.3, "arrivals": "poisson"},
    },
    "rings that serve at once": {
        "topology": {"kind": "sci-switch", "ports": 4},
        "technology": {"preset": "sci-bx-d321", "memory": {"access": "0 ns", "block": "0 ns"}},
        "traffic": {"load": 0.5, "arrivals": "random-wait", "transaction": "nread"},
    },
    "program": {
        "topology": GRID,
        "technology": {"preset": "generic", "cycle": "1 us"},
        "program": {"kind": "operations", "terminals": WAITS},
        "protocol": {"preset": "raw", "send_time": "400 ns", "byte_time": "700 ps"},
    },
}
RUN = {"duration": "400 us", "warmup": "50 us", "precision": 0.0}


PARTS = 10


def split(arrays: dict[str, Any]) -> dict[str, Any]:
    """The same arrays with every tick cut into parts: all columns of times."""
    found = {name: arrays[name] * PARTS if name.endswith("_ticks") else arrays[name] for name in arrays}
    timed = np.isin(arrays["op_kind"], (WAIT, UNTIL))
    found["op_ticks"] = np.where(timed, found["op_ticks"], arrays["op_ticks"])
    found["tick_ps"] = arrays["tick_ps"] / PARTS
    return found


def run(arrays: dict[str, Any], options: dict[str, Any], parts: int) -> dict[str, Any]:
    """What the engine gives; ``options`` are in ticks of the undivided arrays."""
    times = {name: options[name] * parts for name in ("until", "warmup", "batch")}
    simulation = _native.Simulation({**arrays, "tick_ps": 1}, **{**options, **times})
    while not simulation.advance(1 << 20):
        pass
    return simulation.result()


def packets(native: dict[str, Any], factor: int) -> np.ndarray:
    """All packets, also those of one moment in an order of their own."""
    times = [
        np.asarray(native[f"trace_{name}_ticks"]) * factor for name in ("delivered", "started", "created")
    ]
    who = [np.asarray(native[f"trace_{name}"], np.int64) for name in ("target", "source", "length")]
    rows = np.stack([*times, *who])
    return rows[:, np.lexsort(rows[::-1])]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_tenth_of_the_tick_gives_the_same(name: str) -> None:
    """Every packet at the same moments, and the same counts; only the unit of times is another one."""
    scenario = Scenario.from_dict({**SCENARIOS[name], "run": RUN, "output": {"trace": True}})
    compiled = simulate.matched(compiler.compile(scenario))
    options = simulate.options_of(compiled)
    whole = run(compiled.arrays, options, 1)
    tenth = run(split(compiled.arrays), options, PARTS)
    assert len(whole["trace_source"]) > 50
    assert np.array_equal(packets(whole, PARTS), packets(tenth, 1))
    for name in ("offered", "refused", "events", "latency_sum_ticks", "total_sum_ticks", "link_wait_ticks"):
        parts = PARTS if name.endswith("_ticks") else 1
        assert np.array_equal(np.asarray(whole[name]) * parts, tenth[name]), name


def test_a_finer_tick_of_the_compiler_gives_these_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but rates and lengths changes by the same factor: nothing else knows of the tick."""
    scenario = Scenario.from_dict({**SCENARIOS["waits by load"], "run": RUN})
    whole = compiler.compile(scenario)
    monkeypatch.setattr(times, "tick_ps", lambda *given: tick_ps(*given) // PARTS)
    tenth, cut = compiler.compile(scenario), split(whole.arrays)
    assert tenth.tick_ps * PARTS == whole.tick_ps
    for name, column in tenth.arrays.items():
        assert np.array_equal(column, cut[name]), name
    options, finer = simulate.options_of(whole), simulate.options_of(tenth)
    assert [finer[name] for name in ("until", "warmup", "batch")] == [
        options[name] * PARTS for name in ("until", "warmup", "batch")
    ]


def program(*lines: str, **protocol: str) -> Scenario:
    """Two terminals of a switch whose cycle is a microsecond; the first does this."""
    do = [{"terminal": 0, "do": list(lines)}, {"terminal": 1, "do": ["receive any"]}]
    return Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": {"preset": "generic", "cycle": "1 us"},
            "program": {"kind": "operations", "terminals": do},
            "protocol": {"preset": "raw", **protocol},
        }
    )


def test_times_shorter_than_a_cycle_count() -> None:
    """A send of 400 ns and a wait of 300 ns before it put the message off by 700 ns."""
    plain = simulate.run(program("send 1 8 B")).native["trace_delivered_ticks"]
    assert len(plain) == 0
    late = simulate.run(program("wait 300 ns", "send 1 8 B", send_time="400 ns"))
    early = simulate.run(program("send 1 8 B"))
    ends = [results.summary["simulated_ns"] for results in (late, early)]
    assert ends[0] - ends[1] == pytest.approx(700)


def test_waits_of_sources_are_kept_to_the_picosecond() -> None:
    """A packet of two flits every 4.4 us: 2273 in 10 ms, where whole cycles would be 2500."""
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "crossbar", "terminals": 2},
            "technology": {"preset": "generic", "cycle": "1 us"},
            "traffic": {
                "pattern": {"kind": "permutation", "map": [1, 0]},
                "arrivals": {"kind": "wait", "wait": "2400 ns"},
                "length": "16 B",
                "senders": [0],
            },
            "run": {"duration": "10 ms", "warmup": "0 ns", "precision": 0.0},
        }
    )
    assert abs(simulate.run(scenario).summary["packets"]["offered"] - 10_000 / 4.4) < 2


def test_a_duration_that_no_tick_can_count_is_named() -> None:
    """And the other one, which makes the steps so short."""
    technology = {"preset": "ds-link-c104", "decode_latency": "2 ms", "turn_around": "1 ps"}
    scenario = Scenario.from_dict({"topology": GRID, "technology": technology})
    with pytest.raises(ScenarioError, match=r"technology\.decode_latency of 2 ms is too long") as caught:
        compiler.compile(scenario)
    assert caught.value.hint == "shorten it, or round technology.turn_around, so that steps of 1 ns do"


PRESETS = ["ethernet-10g", "spacewire-200", "infiniband-4x-edr", "generic", "spacefibre-2g5"]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_cable_that_is_long_beside_a_character_has_coarser_ticks(preset: str, tmp_path: Path) -> None:
    """A rate without an exact character and a cable of 2,000 km: both are rounded, which is told."""
    rows = ["switch,x,,,", "terminal,a,,,", "terminal,b,,,"]
    rows += [f"cable,x,{end},941000003,{delay}" for end, delay in (("a", 0), ("b", 10**10))]
    text = "\n".join(["kind,source,target,rate_bits_per_s,delay_ps", *rows, ""])
    (tmp_path / "network.csv").write_text(text)
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "file", "path": str(tmp_path / "network.csv")},
            "technology": {"preset": preset},
            "run": {"duration": "40 ms", "warmup": "0 ns", "precision": 0.0},
            "traffic": {"load": 0.001},
            "output": {"trace": True},
        }
    )
    compiled = compile(scenario)
    tech = compiled.technology
    assert isinstance(tech, Technology)
    step_ps = tech.step_ps
    assert step_ps > 0 == compiled.tick_ps % step_ps
    character_ps, arrival_ps = (
        compiled.tick_ps * compiled.arrays[f"link_{name}_ticks"].astype(np.int64)
        for name in ("character", "arrival")
    )
    exact_ps = float(tech.data_bits + tech.share_bits) * 1e12 / 941_000_003
    assert abs(character_ps - exact_ps).max() <= step_ps / 2
    assert arrival_ps.max() - arrival_ps.min() == 10**10
    assert any("characters change by up to 0.0" in one for one in compiled.warnings)
    results = simulate.run(compiled)
    assert results.native["trace_source"].size


BASE: dict[str, Any] = {
    "topology": {"kind": "crossbar", "terminals": 2},
    "technology": {"preset": "generic", "cycle": "100 ns"},
    "run": {"duration": "1 ms"},
}


def warned(**more: Any) -> list[str]:
    return compile(Scenario.from_dict(BASE | more)).warnings


@pytest.mark.parametrize("wait", ["1 ps", "30 ns", "1 us"])
def test_a_random_wait_of_few_cycles_is_told(wait: str) -> None:
    found = warned(traffic={"arrivals": {"kind": "random-wait", "wait": wait}})
    assert [wait in one and "100 ns" in one for one in found] == [True]


def test_times_below_a_cycle_are_told() -> None:
    (found,) = warned(run={"duration": "1 ms", "warmup": "50 ns"})
    assert "run.warmup of 50 ns becomes 0" in found
    (found,) = warned(time_code=[], fault=[{"terminal": 0, "at": "150 ns"}])
    assert "fault[0].at of 150 ns becomes 100 ns" in found


def test_long_times_and_exact_ones_are_not() -> None:
    assert warned(traffic={"arrivals": {"kind": "random-wait", "wait": "10 us"}}) == []
    assert warned(traffic={"arrivals": {"kind": "wait", "wait": "30 ns"}}) == []
