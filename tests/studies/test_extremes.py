"""Extreme values of every number of a scenario: each is refused by a message, or runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from fabriloom import _native, simulate
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.scenario.translate import keys_at
from fabriloom.studies import inspection

Path = tuple[str, ...]
GRID = {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}
RING = {"kind": "sci-ring", "terminals": 3}
RUN = {"duration": "20 us"}
PING = {"kind": "ping-pong", "pairs": 1, "size": "100 B", "rounds": 3}
BASES: dict[str, dict[str, Any]] = {
    "ds-link": {"topology": GRID, "run": RUN, "technology": {"preset": "ds-link-c104"}},
    "spacewire": {"topology": GRID, "run": RUN, "technology": {"preset": "spacewire-200"}},
    "generic": {"topology": GRID, "run": RUN, "technology": {"preset": "generic"}},
    "ring": {"topology": RING, "run": RUN, "technology": {"preset": "sci-lc2"}},
    "switch": {
        "topology": {"kind": "sci-switch", "ports": 3},
        "run": RUN,
        "technology": {"preset": "scinet"},
    },
    "messages": {"topology": GRID, "program": PING, "protocol": {"preset": "t9000"}},
    "messages on a ring": {"topology": RING, "program": PING, "protocol": {"preset": "pio"}},
}
TIMES = ("0 ns", "1 ps", "7 ps", "1 s", "999999 s", "4611686 s")
SIZES = ("0 B", "1 B", "3 B", "2 MB", "2 GB", "1000 GB", "4000000 GB")
RATES = ("1 bit/s", "7 bit/s", "10 Tbit/s", "999 Tbit/s", "4000000 Tbit/s", "1000000 TB/s")
CABLES = ("0 m", "1 mm", "3.3 m", "1000 km", "1000000000000 m", "0 ps/m", "1 ps/m", "4000000000 us/m")
NUMBERS = (0, 1, 3, 1000, 4096, 65535, 2**20, 2**31, 2**62, 1e-300, 1e-12, 1e-6, 0.999999, 1.0, 1e15, 1e300)
VALUES = (*TIMES, *SIZES, *RATES, *CABLES, *NUMBERS)
OTHERS: tuple[Path, ...] = (
    ("traffic", "arrivals", "wait", "wait"),
    ("traffic", "arrivals", "random-wait", "wait"),
    ("traffic", "arrivals", "on-off", "burst_packets"),
    ("traffic", "arrivals", "on-off", "on_load"),
    ("program", "size"),
    ("program", "rounds"),
    *(
        ("technology", table, name)
        for table, names in {
            "retry": ("delay",),
            "bus": ("rate", "width", "setup", "encapsulation"),
            "memory": ("access", "block"),
        }.items()
        for name in names
    ),
)


def paths(base: dict[str, Any]) -> Iterator[Path]:
    """Every setting of the sections that hold numbers."""
    for section in ("technology", "run", "protocol" if "program" in base else "traffic"):
        for key in keys_at((section,), {**base, section: base.get(section, {})}):
            if key not in ("preset", "kind", "path"):
                yield section, key
    ring = base["topology"]["kind"].startswith("sci")
    wanted = {"program"} if "program" in base else {"traffic"}
    yield from (path for path in OTHERS if path[0] in wanted or (path[0] == "technology" and ring))


def changed(base: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """The scenario with one other value; of four steps the third is the kind of the table."""
    section = dict(base.get(path[0], {}))
    if len(path) == 4:
        section[path[1]] = {"kind": path[2], path[3]: value}
    elif len(path) == 3:
        section[path[1]] = {path[2]: value}
    else:
        section[path[1]] = value
    return {**base, path[0]: section}


def shortly(compiled: Any, options: dict[str, Any], progress: Any) -> dict[str, Any]:
    """A run of a few events."""
    simulation = _native.Simulation(compiled.arrays, **options)
    simulation.advance(2000)
    return simulation.result()


@pytest.mark.parametrize("name", BASES)
def test_extreme_values_are_refused_or_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "_simulate", shortly)
    cases = [(path, value) for path in paths(BASES[name]) for value in VALUES]
    refused = 0
    for path, value in random.Random(1).sample(cases, min(len(cases), 400)):
        try:
            scenario = Scenario.from_dict(changed(BASES[name], path, value))
            inspection.inspect(scenario)
            assert simulate.run(scenario).summary
        except ScenarioError:
            refused += 1
        except Exception as error:
            pytest.fail(f"{'.'.join(path)} = {value!r}: {type(error).__name__}: {error}")
    assert refused < len(cases)


@pytest.mark.parametrize(
    ("section", "setting", "value", "message"),
    [
        ("technology", "link_rate", "10 Tbit/s", "at this rate 4 bits last less than 10 ps"),
        (
            "technology",
            "input_buffer",
            "2 MB",
            "input_buffer has 2,000,000 characters, the most is 1,048,576",
        ),
        ("technology", "cable_delay", "4000000 us/m", "is too long beside the other times"),
        ("traffic", "load", 1e-12, "there would be no packet in any run"),
    ],
)
def test_what_is_legal_is_said(section: str, setting: str, value: Any, message: str) -> None:
    """And why, before the run, as everything else."""
    with pytest.raises(ScenarioError) as caught:
        simulate.run(Scenario.from_dict({"topology": GRID, section: {setting: value}}))
    assert message in caught.value.message
    assert caught.value.hint
    assert (caught.value.path or ())[:1] == (section,)
