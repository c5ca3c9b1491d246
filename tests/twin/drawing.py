"""Scenarios at random, as users write them: a family, a preset, a few settings, traffic or a program."""

from __future__ import annotations

from random import Random
from typing import Any

from fabriloom import compile as compiling
from fabriloom import simulate
from fabriloom.routing import RoutingError
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.technology import TechnologyError
from fabriloom.topology import GraphError

Table = dict[str, Any]

CHARACTERS = (10_000, 30_000, 60_000, 150_000)
"""About so many characters cross all the links of a run: what the twin does in a second or less."""
SPACEWIRE = ("spacewire-200", "spw-10x", "shimafuji-router")
LINKS = ("ds-link-c104", "ds-link-c104-32-32", "ds-link-c104-70", "t9000-c104", *SPACEWIRE, "generic")
RINGS = (
    "scinet",
    "sci-retry",
    "sci-1000",
    "sci-lc2",
    "sci-lx-d310",
    "sci-bx-d321",
    "sci-lc1-alpha",
    "sci-testbed-1",
    "sci-testbed-2",
    "rpr-10g",
    "noc-ring",
    "fddi",
)
OTHER_RINGS: tuple[Table, ...] = (
    {},
    {},
    {"payloads": "any", "symbol": "32 B"},
    {"when_full": "pass", "phases": False},
    {
        "token": {"length": "6 B", "packets": 1},
        "retry": {"at": "requester"},
        "forwarding": "cut-through",
        "bandwidth_allocation": False,
    },
    {"slot": "300 B", "forwarding": "cut-through", "bandwidth_allocation": False},
    {
        "echo": "0 B",
        "echo_idle": "0 B",
        "hold_until": "sent",
        "in_order": False,
        "phases": False,
        "requests_in": 0,
        "responses_in": 0,
    },
)
"""Settings by which other rings differ from SCI."""


def _some(dice: Random, share: float, settings: Table) -> Table:
    """Each of some settings with a probability."""
    return {key: value for key, value in settings.items() if dice.random() < share}


def _topology(dice: Random) -> Table:
    many = {
        "terminals_per_switch": dice.choice([1, 2, 3, 4]),
        "links_per_edge": dice.choice([1, 1, 2, 4]),
    }
    side = lambda: dice.randint(2, 5)  # noqa: E731
    return dice.choice(
        [
            {"kind": "grid", "shape": [side(), side()], **many},
            {"kind": "torus", "shape": [side(), side()], **many},
            {"kind": "grid", "shape": [2, 3, 2], **many},
            {"kind": "ring", "switches": dice.randint(2, 8), **many},
            {"kind": "hypercube", "dimensions": dice.randint(1, 4), **many},
            {"kind": "clos", "terminals": dice.choice([32, 64])},
            {"kind": "clos", "terminals": 16, "switch_ports": 8},
            {"kind": "fat_tree", "arity": dice.choice([2, 3]), "levels": dice.choice([2, 3])},
            {
                "kind": "banyan",
                "terminals": dice.choice([8, 16]),
                "variant": dice.choice(["omega", "butterfly"]),
            },
            {"kind": "star", "arms": dice.randint(2, 5), **many},
            {"kind": "tree", "arity": 2, "depth": dice.randint(1, 3), **many},
            {"kind": "crossbar", "terminals": dice.randint(2, 16)},
            {"kind": "cable"},
        ]
    )


def _technology(dice: Random) -> Table:
    preset = dice.choice(LINKS)
    found: Table = {"preset": preset}
    if dice.random() < 0.5:
        return found
    found |= _some(
        dice,
        0.3,
        {
            "crossbar": dice.choice(["fast", "link-rate"]),
            "arbiter": dice.choice(["fifo", "round-robin", "fixed", "random", "oldest-first"]),
            "group_choice": dice.choice(["first", "least-recent", "random", "drawn", "source"]),
        },
    )
    if preset == "generic":
        quantum = dice.choice([1, 1, 2, 4, 8])
        return found | _some(
            dice,
            0.7,
            {
                "router_cycles": dice.randint(0, 4),
                "turn_around_cycles": dice.randint(1, 4),
                "link_cycles": dice.choice([1, 1, 2, 10]),
                "output_buffer_flits": dice.choice([1, 4, 16]),
                "credit_quantum_flits": quantum,
                "input_buffer_flits": quantum + dice.choice([0, 2, 4, 60]),
            },
        )
    quantum = dice.choice([1, 4, 8, 8, 16])
    sizes = {"credit_quantum": f"{quantum} B", "input_buffer": f"{quantum + dice.choice([4, 20, 60])} B"}
    return (
        found
        | _some(
            dice,
            0.4,
            {
                "cable_length": dice.choice(["1 m", "10 m", "100 m", "1 km"]),
                "output_buffer": dice.choice(["2 B", "16 B", "64 B"]),
                "header": dice.choice(["1 B", "2 B"]),
                "flow_control": dice.choice(["average", "ignored"]),
            },
        )
        | (sizes if dice.random() < 0.5 else {})
    )


def _length(dice: Random) -> Any:
    low = dice.choice([dice.randint(1, 200), dice.randint(51, 75), 64, dice.randint(200, 1500)])
    if dice.random() < 0.6:
        return f"{low} B"
    return {"kind": "uniform", "min": f"{low} B", "max": f"{low + dice.randint(1, 100)} B"}


def _traffic(dice: Random) -> Table:
    arrivals = dice.choice(
        ["poisson", "poisson", "random-wait", "constant", "together", "wait", "backlog", "on-off"]
    )
    pattern = dice.choice(
        ["uniform"] * 4 + ["permutation", "shift", "point-mirror", "nearest-neighbour", "hot-spot"]
    )
    settings: Table = {
        "shift": {"by": 1},
        "hot-spot": {"target": 0, "share": 0.2},
        "permutation": {"random": True},
    }
    table = {"kind": pattern, **settings[pattern]} if pattern in settings else pattern
    found: Table = {"pattern": table, "length": _length(dice), "arrivals": arrivals}
    if arrivals == "on-off":
        found["arrivals"] = {"kind": "on-off", "burst_packets": dice.choice([2, 8])}
    if arrivals != "backlog":
        found["load"] = round(dice.choice([dice.uniform(0.05, 0.4), dice.uniform(0.1, 1)]), 3)
    return found


def _routing(dice: Random) -> Table:
    found = {"kind": dice.choice(["auto"] * 5 + ["shortest-path", "up-star-down-star"])}
    return found | _some(dice, 0.25, {"adaptive": False, "universal": dice.random() < 0.5})


def _program(dice: Random) -> Table:
    size = dice.choice(["8 B", "64 B", "200 B", "1000 B"])
    program = dice.choice(
        [
            {"kind": "all-to-all", "size": size, "rounds": 2},
            {"kind": "ping-pong", "size": size, "rounds": 3},
            {"kind": "fixed-pairs", "size": size, "rounds": 5},
        ]
    )
    preset = dice.choice(["raw", "virtual-link", "t9000", "dma"])
    announced = _some(dice, 0.4, {"eager_limit": dice.choice(["8 B", "100 B"])})
    if program["kind"] == "all-to-all":
        announced = {}  # all send before they receive: such programs can wait for each other for ever
    return {"program": program, "protocol": {"preset": preset, **announced}}


def _interfaces(dice: Random) -> list[Table]:
    """A chip for all terminals, or one for the first and perhaps another for the others."""
    slow = dice.choice([{}, {}, {"read_rate": "3 MB/s"}, {"receive_buffer": "8 B"}])
    chip = lambda: {"preset": dice.choice(["plain", "shimafuji-codec", "spacewire-light"]), **slow}  # noqa: E731
    own = {**chip(), "terminals": [0], "clock": "40 MHz", "transmit": "3 sys + 2 tx", "receive": "2.5 rx"}
    return dice.choice([[chip()], [own], [own, chip()]])


def links(seed: int) -> Table:
    """A network of links with traffic or, one time in five, a program."""
    dice = Random(seed)
    found: Table = {"seed": seed, "topology": _topology(dice), "technology": _technology(dice)}
    found["routing"] = _routing(dice)
    if found["technology"]["preset"] in SPACEWIRE and dice.random() < 0.6:
        found["interface"] = _interfaces(dice)
        if found["technology"]["preset"] == "spw-10x" and dice.random() < 0.5:
            found["interface"] += [{"preset": "external-port", "terminals": [1]}]
    if dice.random() >= 0.2:
        return found | {"traffic": _traffic(dice)}
    return found | _program(dice) | _beside(Random(f"beside {seed}"))


def _beside(dice: Random) -> Table:
    """Traffic beside a program, one time in two: its times are its own."""
    arrivals = dice.choice(["poisson", "constant", "together"])
    traffic = {**_traffic(dice), "arrivals": arrivals, "load": round(dice.uniform(0.05, 0.7), 3)}
    return _some(dice, 0.5, {"traffic": traffic})


def _lane_rules(dice: Random, lanes: int) -> Table:
    """Frames, priorities, reservations or tables of lanes; often none."""
    found: Table = {}
    if dice.random() < 0.3:
        found |= {"lane_sharing": "frame", "frame_flits": dice.choice([1, 4, 64])}
        found |= {"frame_start_flits": dice.randint(0, 2), "frame_end_flits": dice.randint(0, 2)}
        found["physical_lanes"] = dice.choice([1, 1, 2, 3])
    if dice.random() < 0.2:
        some = [dice.choice(["0-63", "0,16,32,48", "8-40"]) for _ in range(lanes)]
        found |= {"lane_slots": some, "lane_slot_cycles": dice.choice([1, 30])}
    if (order := dice.random()) < 0.15:
        found |= {"lane_arbiter": "reserved", "lane_credit_limit_flits": dice.choice([4, 1024])}
        found["lane_reserved"] = [dice.choice([0, 0.1, 1 / 3, 0.5]) for _ in range(lanes)]
    elif order < 0.3:
        rows = [f"{lane}:{dice.randint(1, 4)}" for lane in range(lanes)]
        found |= {"lane_arbiter": "weighted", "lane_low": ",".join(rows)}
        if dice.random() < 0.5:
            found |= {"lane_high": dice.choice(rows), "lane_high_limit": dice.choice([0, 1, 255])}
        return found
    if dice.random() < 0.3:
        found["lane_priority"] = [dice.randint(0, 2) for _ in range(lanes)]
    return found


def _broadcasts(dice: Random, technology: Table) -> Table:
    """Messages between the words of frames, in every second network that has frames."""
    if "frame_flits" not in technology or dice.random() < 0.5:
        return {}
    technology |= {"broadcast_flits": dice.randint(1, 5), "broadcast_cycles": dice.randint(0, 9)}
    technology["broadcast_hold_cycles"] = dice.choice([1_000, 20_000])
    messages = [
        {"source": source, "channel": dice.randint(0, 31), "first": f"{dice.randint(0, 90)} ns"}
        for source in range(dice.randint(1, 3))
    ]
    return {"broadcast": [one | {"every": f"{dice.randint(200, 9_000)} ns"} for one in messages]}


def lanes(seed: int) -> Table:
    """The network of :func:`links` in flits, its links divided."""
    dice = Random(f"lanes {seed}")
    written = links(seed)
    written.pop("interface", None)  # chips are of SpaceWire
    technology: Table = {
        "preset": "generic",
        "lanes": dice.choice([1, 2, 2, 3, 4]),
        "lane_sharing": dice.choice(["flit", "flit", "packet"]),
        "lane_arbiter": dice.choice(["round-robin", "round-robin", "fixed"]),
        "crossbar": dice.choice(["fast", "link-rate", "link-rate"]),
        "router_cycles": dice.randint(0, 3),
        "link_cycles": dice.choice([1, 2, 5]),
        "input_buffer_flits": dice.choice([2, 8, 30]),
    }
    if dice.random() < 0.4:
        queues = dice.choice(["fifo", "per-output"])
        switching = dice.choice(["virtual-cut-through", "store-and-forward"])
        technology |= {"switching": switching, "input_queues": queues, "input_buffer_flits": 400}
    technology |= _lane_rules(Random(f"lane rules {seed}"), technology["lanes"])
    written |= _broadcasts(Random(f"broadcasts {seed}"), technology)
    choice = dice.choice(["any", "any", "destination", "dateline", "escape", "escape-with-room", "bubble"])
    if choice in ("escape-with-room", "bubble") and "frame_flits" in technology:
        choice = "any"  # these are for lanes that share by packets
    routing: Table = {"lane_choice": choice}
    if choice in ("escape-with-room", "bubble"):
        technology |= {
            "lane_sharing": "packet",
            "crossbar": "fast",
            "input_buffer_flits": dice.choice([60, 400]),
        }
        technology["switching"] = dice.choice(["virtual-cut-through", "store-and-forward"])
    if choice not in ("any", "destination"):
        kind = dice.choice(["torus", "torus", "grid"]) if choice.startswith("escape") else "torus"
        written["topology"] = {"kind": kind, "shape": [dice.randint(2, 5), dice.randint(3, 5)]}
        routing["kind"] = "dimension-order"
        if kind == "torus":
            routing["variant"] = "minimal"
    if choice == "any" and Random(f"levels {seed}").random() < 0.3:
        routing = {"kind": "lash"}
        if (own := Random(f"planes {seed}")).random() < 0.4:
            written["topology"] |= {"replicate": 2}
            written["ports"] = {"choice": own.choice(["round-robin", "destination", "first-free"])}
    return {**written, "technology": technology, "routing": routing}


def streams(seed: int) -> Table:
    """Long packets with their links to themselves: lanes that share by packet or one lane, and a fault."""
    dice = Random(f"streams {seed}")
    quantum = dice.choice([1, 1, 2, 4])
    technology: Table = {
        "preset": "generic",
        "lanes": dice.choice([1, 1, 2, 4]),
        "lane_sharing": "packet",
        "crossbar": dice.choice(["fast", "link-rate"]),
        "forward_cycles": dice.choice([0, 0, 1, 3]),
        "link_cycles": dice.choice([1, 1, 2, 10]),
        "output_buffer_flits": dice.choice([1, 2, 4, 16]),
        "credit_quantum_flits": quantum,
        "input_buffer_flits": quantum * dice.choice([1, 2, 4]) + dice.choice([0, 1, 8, 30]),
    }
    flits = dice.choice([64, 200, 1000])
    traffic = {"load": dice.uniform(0.05, 0.6), "length": f"{8 * flits - dice.randint(0, 99)} B"}
    fault = {"cable": "s(0,1)>s(0,2)", "at": f"{dice.randint(1, 5)} us", "repaired": "9 us"}
    topology = {"kind": "grid", "shape": [2, 3]}
    return {
        "seed": seed,
        "topology": topology,
        "technology": technology,
        "fault": [fault],
        "traffic": traffic,
    }


def rings(seed: int) -> Table:
    """A network of rings with traffic or, one time in five, a program."""
    dice = Random(seed)
    topology = dice.choice(
        [
            {"kind": "sci-ring", "terminals": dice.randint(2, 12)},
            {"kind": "sci-bridge", "terminals": dice.randint(1, 4)},
            {"kind": "sci-switch", "ports": dice.choice([2, 4, 8]), "terminals_per_ring": dice.randint(1, 2)},
            {"kind": "sci-long-rings", "ports": 4, "pairs_per_ring": 1},
            {"kind": "sci-torus", "shape": [2, 3]},
            {"kind": "sci-banyan", "terminals": 8, "wiring": dice.choice(["ringlet", "long-ring"])},
            {"kind": "sci-module"},
        ]
    )
    settings = {
        "in_flight": dice.choice([1, 4, 64]),
        "requests_in": dice.choice([1, 2, 4]),
        "forwarding": dice.choice(["store-and-forward", "cut-through"]),
        "hold_until": dice.choice(["sent", "echo"]),
        "in_order": dice.choice([True, False, "ports", "terminals", "but-requests"]),
        "phases": dice.choice([True, False]),
        "bandwidth_allocation": dice.choice([True, False, "ports", "terminals"]),
        "retry": {
            "delay": dice.choice(["0 ns", "1 us"]),
            "order": dice.choice(["first", "ready", "new-first"]),
        },
    }
    technology = {"preset": dice.choice(RINGS), **_some(dice, 0.2, settings), **dice.choice(OTHER_RINGS)}
    traffic: Table = {
        "pattern": "uniform",
        "length": dice.choice(["16 B", "16 B", "64 B", "64 B", "256 B"]),
        "arrivals": dice.choice(["poisson", "constant", "together", "random-wait", "backlog"]),
        "transaction": dice.choice(["nwrite", "dmove", "nread", "lock"]),
    }
    if traffic["arrivals"] != "backlog":
        traffic["load"] = round(dice.uniform(0.05, 1), 3)
    found: Table = {"seed": seed, "topology": topology, "technology": technology, "traffic": traffic}
    dice = Random(f"program {seed}")
    if dice.random() >= 0.2:
        return found
    del found["traffic"]
    load = {"arrivals": dice.choice(["poisson", "constant", "together"]), "load": traffic.get("load", 0.3)}
    beside = {"traffic": {"pattern": "uniform", "length": traffic["length"], **load}}
    found |= _program(dice) | _some(dice, 0.5, beside)
    found["protocol"] |= {"packet": "64 B", **_some(dice, 0.5, {"transaction": "dmove"})}
    if found["protocol"]["preset"] == "t9000":
        found["protocol"]["acknowledge_from"] = "end"  # on rings no packet is acknowledged before it is whole
    return found


def compare(written: Table) -> simulate.Comparison | None:
    """The engine beside its twin on a scenario, if it is a legal one."""
    whole = {**written, "run": {"duration": "1 ms", "warmup": "0 ns", "precision": 0}}
    try:
        compiled = compiling.compile(Scenario.from_dict(whole))
    except (ScenarioError, GraphError, RoutingError, TechnologyError):
        return None
    return simulate.compare(compiled, duration_ps(compiled, Random(repr(written))))


def duration_ps(compiled: Any, dice: Random) -> int:
    """For so long that about as many characters as chosen cross about four links each, at a busy time."""
    arrays = compiled.arrays
    character_ps = int(max(arrays["link_character_ticks"])) * compiled.tick_ps
    characters = dice.choice(CHARACTERS) / (4 * compiled.graph.terminals)
    return int(max(characters / 0.3, 200) * character_ps)
