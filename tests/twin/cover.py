"""Scenarios that cover every pair of settings: each value of a setting beside each value of every other one.

Settings are written with dots; the value ``None`` leaves one out, so that its default applies. A rule names
values that are refused unless another setting has one of some values: everything else has to be legal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from random import Random
from typing import Any

from .drawing import Table

Settings = Mapping[str, list[Any]]
Row = dict[str, Any]
Choice = tuple[str, int]
"""A setting and the index of its value."""
Partners = defaultdict[Choice, set[Choice]]
"""Of each value those of other settings beside it."""

ROUTING: Settings = {
    "topology": [
        {"kind": "grid", "shape": [4, 4]},
        {"kind": "torus", "shape": [4, 2], "terminals_per_switch": 2},
        {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 4, "links_per_edge": 2},
        {"kind": "clos", "terminals": 16, "switch_ports": 8},
        {"kind": "tree", "arity": 2, "depth": 2, "terminals_per_switch": 4},
        {"kind": "banyan", "terminals": 16},
        {"kind": "crossbar", "terminals": 16},
    ],
    "routing.kind": [
        "auto",
        "dimension-order",
        "up-down",
        "self-routing",
        "shortest-path",
        "up-star-down-star",
        "interval",
    ],
    "routing.adaptive": [None, False],
    "routing.spread": [None, "turns", "runs", "random"],
    "routing.universal": [None, True],
    "routing.high_priority": [None, [0, 5]],
    "routing.traffic_class": [None, [{"from": [1, 2, 3, 7], "lanes": [1]}]],
    "routing.interval_labelling": [None, True],
}
TRAFFIC: Settings = {
    "traffic.pattern": [
        "uniform",
        {"kind": "shift", "by": 3},
        "transpose",
        "bit-reverse",
        "bit-complement",
        "shuffle",
        "tornado",
        "point-mirror",
        "axis-mirror",
        "nearest-neighbour",
        {"kind": "permutation", "random": True},
        {"kind": "map", "random": True},
        {"kind": "local", "share": 0.5, "random": True},
        {"kind": "hot-spot", "target": 0, "share": 0.3},
    ],
    "traffic.length": [
        "1 B",
        "64 B",
        "200 B",
        {"kind": "uniform", "min": "8 B", "max": "100 B"},
        {"kind": "table", "lengths": ["16 B", "200 B"]},
    ],
    "traffic.arrivals": [
        "poisson",
        "constant",
        "together",
        "bernoulli",
        {"kind": "wait", "wait": "1 us"},
        {"kind": "random-wait", "wait": "1 us"},
        "random-wait",
        "backlog",
        {"kind": "on-off", "burst_packets": 4},
        {"kind": "burst", "packets": 3, "every": "20 us"},
    ],
    "traffic.load": [None, 0.2, 0.9],
    "traffic.rate": [None, "2 MB/s"],
    "traffic.scale": [None, 1.5],
    "traffic.source_queue": [None, 2],
    "traffic.senders": [None, [0, 1, 2, 3, 7]],
}
SWITCHES: Settings = {
    "technology.crossbar": ["fast", "link-rate"],
    "technology.arbiter": ["fifo", "round-robin", "fixed", "random", "oldest-first"],
    "technology.group_choice": ["first", "drawn", "source", "least-recent", "random"],
}
FLITS: Settings = {
    "technology.preset": ["generic", "infiniband-4x-edr"],
    "technology.cycle": ["1 ns", "5120 ps"],
    "technology.flit": ["8 B", "64 B"],
    "technology.router_cycles": [0, 1, 17],
    "technology.input_cycles": [None, 2],
    "technology.forward_cycles": [0, 2, 16],
    "technology.link_cycles": [1, 4],
    "technology.cable_length": ["0 m", "100 m"],
    "technology.turn_around_cycles": [0, 1, 4],
    "technology.handover_cycles": [1, 3],
    "technology.next_head_cycles": [0, 1, 3],
    "technology.output_buffer_flits": [1, 2, 33],
    "technology.credit_quantum_flits": [1, 4],
    "technology.input_buffer_flits": [40, 128],
    "technology.lanes": [1, 2, 4],
    "technology.lane_sharing": ["flit", "packet", "frame"],
    "technology.frame_flits": [None, 1, 5],
    "technology.frame_start_flits": [None, 2],
    "technology.frame_end_flits": [None, 1],
    "technology.physical_lanes": [None, 3],
    "technology.lane_arbiter": ["round-robin", "fixed", "reserved", "weighted"],
    "technology.lane_priority": [None, [1, 0], [0, 1, 1, 0]],
    "technology.lane_reserved": [None, [0.2, 0.7], [0.4, 0, 0.1, 0.2]],
    "technology.lane_credit_limit_flits": [None, 3, 200],
    "technology.lane_slots": [None, ["0-31", "16-63"], ["0-63", "0,8,16-63", "1", "0-40"]],
    "technology.lane_slot_cycles": [None, 1, 50],
    "technology.lane_high": [None, "1:1"],
    "technology.lane_low": [None, "0:1,1:3", "3:1,0:2,1:2,2:9"],
    "technology.lane_high_limit": [None, 1, 255],
    "technology.switching": ["wormhole", "virtual-cut-through", "store-and-forward"],
    "technology.overhead": ["0 B", "26 B"],
    "technology.shortest_packet": ["0 B", "84 B"],
    "technology.input_queues": ["fifo", "per-output"],
    "technology.watchdog_cycles": [None, 300],
    "routing.lane_choice": [None, "any", "destination", "bubble"],
    **SWITCHES,
    **ROUTING,
    **TRAFFIC,
}
CHARACTERS: Settings = {
    "technology.preset": ["ds-link-c104", "spacewire-200"],
    "technology.link_rate": ["100 Mbit/s", "200 Mbit/s"],
    "technology.flow_control": ["matched", "average", "ignored"],
    "technology.cable_length": ["1 m", "100 m"],
    "technology.credit_quantum": ["1 B", "8 B"],
    "technology.input_buffer": ["16 B", "45 B"],
    "technology.output_buffer": ["2 B", "20 B"],
    "technology.header": ["1 B", "2 B"],
    "technology.via_header": ["1 B", "2 B"],
    "technology.delete_header": [False, True],
    "technology.decode_latency": ["0 ns", "200 ns"],
    "technology.forward_latency": ["0 ns", "100 ns"],
    "technology.receiver_latency": ["0 ns", "50 ns"],
    "technology.handover": ["10 ns", "300 ns"],
    "technology.turn_around": ["0 ns", "100 ns"],
    "technology.watchdog": [None, "200 us"],
    **SWITCHES,
    **{name: values for name, values in ROUTING.items() if name != "routing.traffic_class"},
    **TRAFFIC,
}
FAMILIES: Mapping[str, Settings] = {"flits": FLITS, "characters": CHARACTERS}

Rule = tuple[str, Any, str, Any]
"""A setting, a test of its value, another setting, and a test of that one, which must hold then."""


def _kind(value: Any) -> Any:
    return value["kind"] if isinstance(value, dict) else value


def _is(*kinds: Any) -> Any:
    return lambda value: _kind(value) in kinds


def _not(*kinds: Any) -> Any:
    return lambda value: _kind(value) not in kinds


_given = _not(None)


def _sized(lanes: int) -> Any:
    """Whether a value is of this many lanes."""
    return lambda value: bool(value) and len(value.split(",") if isinstance(value, str) else value) == lanes


def _waits(value: Any) -> bool:
    """Whether arrivals say by themselves how much is sent."""
    return _kind(value) in ("backlog", "burst") or (isinstance(value, dict) and "wait" in value)


def _varies(value: Any) -> bool:
    return not _waits(value)


def _lane_rules() -> list[Rule]:
    """Settings of frames, reservations and tables go with the sharing or the arbiter that they are of."""
    frames = ["frame_flits", "frame_start_flits", "frame_end_flits", "physical_lanes"]
    shares, tables = (
        ["lane_reserved", "lane_credit_limit_flits"],
        ["lane_low", "lane_high", "lane_high_limit"],
    )
    of = {
        "frame": ("lane_sharing", frames),
        "reserved": ("lane_arbiter", shares),
        "weighted": ("lane_arbiter", tables),
    }
    sized = ["lane_priority", "lane_reserved", "lane_slots", "lane_low"]
    found: list[tuple[str, Any, str, Any]] = []
    for kind, (chosen_by, names) in of.items():
        found += [
            (chosen_by, _is(kind), names[0], _given),
            *((name, _given, chosen_by, _is(kind)) for name in names),
        ]
        found += [(name, _given, names[0], _given) for name in names[1:]]
    found += [("lane_reserved", _given, "lane_credit_limit_flits", _given)]
    found += [("lane_high_limit", _given, "lane_high", _given)]
    slots = ["lane_slots", "lane_slot_cycles"]
    found += [(one, _given, two, _given) for one in slots for two in slots if one != two]
    found += [("lane_slot_cycles", _given, "lanes", _not(1))]
    found += [(one, _given, two, _is(None)) for one in [*shares, "lane_priority"] for two in tables]
    found += [("lane_priority", _given, "lane_arbiter", _not("weighted"))]
    found += [(name, _given, "lanes", _not(1)) for name in shares + tables]
    found += [("lane_arbiter", _is("reserved", "weighted"), "lanes", _not(1))]
    for lanes, other in ((2, 4), (4, 2)):
        found += [(name, _sized(lanes), "lanes", _is(lanes)) for name in sized]
        unlike = _sized(other)
        found += [
            (one, _sized(lanes), two, lambda value, unlike=unlike: not unlike(value))
            for one in sized
            for two in sized
        ]
    return [(f"technology.{one}", test, f"technology.{two}", needs) for one, test, two, needs in found]


_BUBBLE = {
    "technology.group_choice": _not("drawn", "source"),
    "topology": _is("torus"),
    "routing.kind": _is("auto", "dimension-order"),
    "routing.universal": _is(None),
    "routing.traffic_class": _is(None),
    "technology.switching": _not("wormhole"),
    "technology.lane_sharing": _is("packet"),
    "technology.crossbar": _is("fast"),
    "technology.input_buffer_flits": _is(128),
    "technology.output_buffer_flits": _is(33),
    "technology.watchdog_cycles": _is(None),
}
"""What switches take that count places of packets, and what has rings."""

LEFT_OUT = {
    "preset_file": "a file of settings",
    "first_port": "limit of what a file may give, as the next three",
    "last_port": "",
    "first_address": "",
    "last_address": "",
    "mtu": "a limit of lengths",
    "pause_above_flits": "drawn by the tests of Ethernet, as the next one",
    "pause_until_flits": "",
    "drop_when_full": "drawn by the tests of Ethernet, as the memory that ports share",
    "shared_buffer_flits": "",
    "shared_buffer_alpha": "",
    "shared_buffer_reserved_flits": "",
    "shared_buffer_headroom_flits": "",
    "shared_buffer_offset_flits": "",
    "spare_physical_lanes": "of faults, as the next ones",
    "realign_cycles": "",
    "fault_stops": "",
    "disconnect_cycles": "",
    "restart_cycles": "",
    "disconnect": "",
    "restart": "",
    "start_rate": "",
    "distribution": "drawn by the tests of packet distribution",
    "addressing": "drawn by the tests of addresses, as regions",
    "regions": "",
    "after_fault": "drawn by the tests of tables",
    "service_levels": "a file; the tests of levels draw them",
    "spread_seed": "a seed",
    "transaction": "of rings",
    "data_bits": "the bits of characters, as the next two, say no more than a link rate",
    "end_bits": "",
    "flow_control_bits": "",
    "credit_limit": "of no effect but where it is refused",
    "cable_delay": "multiplied by the length",
    "router_latency": "instead of two latencies, as the next three",
    "router_clock": "",
    "router_switching": "",
    "router_receive": "",
    "threshold": "of ugal, which the tests of the engine draw",
    "time_code_bits": "of time-codes, as the next four",
    "time_code_jitter": "",
    "time_code_latency": "",
    "time_code_forward": "",
    "interrupt_hold": "",
    "broadcast_flits": "of broadcasts, which the drawing of lanes has, as the next two",
    "broadcast_cycles": "",
    "broadcast_hold_cycles": "",
}
"""Settings that are not drawn here, and why."""

RULES: list[Rule] = [
    ("technology.input_queues", _is("per-output"), "technology.switching", _not("wormhole")),
    ("technology.router_cycles", _is(0), "technology.next_head_cycles", _not(0)),
    *_lane_rules(),
    *(("routing.lane_choice", _is("bubble"), name, needs) for name, needs in _BUBBLE.items()),
    ("traffic.rate", _given, "traffic.arrivals", _not("on-off", "bernoulli")),
    ("routing.traffic_class", _given, "technology.lanes", _not(1)),
    ("routing.spread", _given, "routing.adaptive", _is(False)),
    ("routing.kind", _is("dimension-order"), "topology", _is("grid", "torus")),
    ("routing.kind", _is("up-down"), "topology", _is("clos")),
    ("routing.kind", _is("self-routing"), "topology", _is("banyan")),
    ("routing.kind", _is("up-star-down-star"), "topology", _not("banyan")),
    ("routing.kind", _is("interval"), "topology", _is("clos", "tree", "crossbar")),
    ("routing.interval_labelling", _given, "topology", _is("clos", "tree", "crossbar")),
    ("routing.universal", _given, "topology", _not("crossbar", "banyan")),
    ("traffic.pattern", _is("tornado"), "topology", lambda value: value.get("shape") != [2, 2]),
    ("traffic.load", _given, "traffic.rate", _is(None)),
    ("traffic.load", _given, "traffic.arrivals", _varies),
    ("traffic.rate", _given, "traffic.arrivals", lambda value: _varies(value) and value != "random-wait"),
    ("traffic.scale", _given, "traffic.rate", _given),
]
"""What is refused otherwise, with the reason in its message."""
_RULES_OF: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
for _first, _applies, _second, _needs in RULES:
    _RULES_OF[_first, _second].append((_applies, _needs))
_RULED = {name for names in _RULES_OF for name in names}
"""Settings that rules name."""


def is_legal(one: tuple[str, Any], other: tuple[str, Any]) -> bool:
    """Whether no rule forbids two values beside each other."""
    return all(
        not applies(value) or needs(needed)
        for (name, value), (second, needed) in ((one, other), (other, one))
        for applies, needs in _RULES_OF[name, second]
    )


def pairs(settings: Settings) -> set[tuple[Choice, Choice]]:
    """Every pair of values of two settings that no rule forbids."""
    names = sorted(settings)
    return {
        ((one, i), (other, j))
        for one, other in combinations(names, 2)
        for i, value in enumerate(settings[one])
        for j, beside in enumerate(settings[other])
        if is_legal((one, value), (other, beside))
    }


def _partners(of: Iterable[tuple[Choice, Choice]]) -> Partners:
    """Return what is beside each value in some pairs."""
    found: Partners = defaultdict(set)
    for one, other in of:
        found[one].add(other)
        found[other].add(one)
    return found


@cache
def _legal(family: str) -> tuple[Partners, list[tuple[Choice, Choice]]]:
    found = pairs(FAMILIES[family])
    return _partners(found), sorted(found)


def one(seed: int) -> Table:
    """A scenario with a pair of settings, and most others beside what is seldom beside them."""
    dice = Random(f"one {seed}")
    family = dice.choice(sorted(FAMILIES))
    legal, inorder = _legal(family)
    row = None
    while row is None:
        row = _complete(FAMILIES[family], legal, defaultdict(set), dice.choice(inorder), dice)
    return {**_written(FAMILIES[family], row), "seed": seed}


def rows(settings: Settings, seed: int) -> Iterator[tuple[Table, set[tuple[Choice, Choice]]]]:
    """Scenarios until every pair is covered that can be, each with the pairs that it covers first."""
    dice = Random(f"cover {seed}")
    left = sorted(pairs(settings))
    legal, beside = _partners(left), _partners(left)
    while left:
        start = dice.choice(left)
        found = [row for _ in range(8) if (row := _complete(settings, legal, beside, start, dice))]
        if not found:
            left.remove(start)
            continue
        best = max(found, key=lambda row: sum(len(beside[one] & row.items()) for one in row.items()))
        new = {(one, other) for one, other in _covers(best) if other in beside[one]}
        for one, other in new:
            beside[one].discard(other)
            beside[other].discard(one)
        left = [pair for pair in left if pair not in new]
        yield _written(settings, best), new


def _covers(row: Mapping[str, int]) -> set[tuple[Choice, Choice]]:
    return set(combinations(sorted(row.items()), 2))


def _complete(
    settings: Settings,
    legal: Partners,
    left: Partners,
    start: tuple[Choice, Choice],
    dice: Random,
) -> dict[str, int] | None:
    """Values of all settings with a pair among them, most beside those that they have not been beside."""
    row = dict(start)
    others = [name for name in settings if name not in row]
    dice.shuffle(others)
    # Those that rules name first: a value of them may leave others no choice.
    others.sort(key=lambda name: name not in _RULED)
    for name in others:
        chosen = set(row.items())
        able = [
            (len(left[name, value] & chosen), dice.random(), value)
            for value in range(len(settings[name]))
            if chosen <= legal[name, value]
        ]
        if not able:
            return None
        row[name] = max(able)[2]
    return row


def _written(settings: Settings, row: Mapping[str, int]) -> Table:
    """The scenario of a row."""
    found: Table = {"seed": 7}
    for name, value in ((name, settings[name][index]) for name, index in row.items()):
        section, _, inner = name.partition(".")
        if not inner:
            found[section] = value
        elif value is not None:
            found.setdefault(section, {})[inner] = value
    return found
