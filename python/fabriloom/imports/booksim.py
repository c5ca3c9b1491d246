"""Configurations of BookSim: assignments such as ``topology = mesh;``, to the scenario of the same network.

Networks: mesh, torus, cmesh, fly, fattree, flatfly, dragonflynew, anynet. What a line asks for and no
scenario has is a remark with its line and with what was taken instead. Fields that the file does not set
have BookSim's defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..reading import ReadError, toml_text
from ..topology import Graph, build, edge_list, measure
from .anynet import CYCLE_PS, anynet
from .common import Imported, Lines, Route, only, routes_csv
from .packets import FLIT_BYTES

# The networks of BookSim: topologies and routing functions, as far as there is a counterpart.

_ORDER = {"kind": "dimension-order"}
_DATELINE = {"kind": "dimension-order", "variant": "minimal", "lane_choice": "kept-dateline"}
_DRAWN = {"group_choice": "drawn"}
"""Of the technology, beside the routing that it is of in BookSim."""
_PARTS = "by any shortest paths, with few lanes by up*/down* ones; BookSim goes in dimension order"
ROUTINGS: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "mesh": {"dor": (_ORDER, ""), "dim_order": (_ORDER, ""), "valiant": ({"kind": "valiant"}, _PARTS)},
    "torus": {
        "dim_order": (_DATELINE, ""),
        "dim_order_bal": (_DATELINE | {"lane_choice": "wide-dateline"}, "the lanes of wide-dateline"),
        "valiant": ({"kind": "valiant"}, _PARTS),
    },
    "cmesh": {"dor_no_express": (_ORDER, ""), "dor": (_ORDER, "no express channels along the border")},
    "fly": {"dest_tag": ({"kind": "self-routing"}, "")},
    "fattree": {
        "nca": ({"kind": "up-down"} | _DRAWN, ""),
        "anca": ({"kind": "up-down"}, "any free upward link; BookSim compares two"),
    },
    "flatfly": {
        "ran_min": (_ORDER, ""),
        "valiant": ({"kind": "valiant"}, _PARTS),
        "ugal": ({"kind": "ugal", "threshold": 2}, _PARTS),
    },
    "dragonflynew": {
        "min": ({"kind": "hops"}, "a lane for each hop"),
        "ugal": ({"kind": "ugal", "threshold": 30}, ""),
    },
    "anynet": {"min": ({"kind": "shortest-path", "next_hops": "first"}, "")},  # or a table
}
"""Per topology, the routing of each function and what differs; the first stands for other functions."""
_LOCAL_CYCLES, _GLOBAL_CYCLES = 10, 100
"""Latencies of the channels of a dragonfly there."""


@dataclass
class Network:
    """A network: its topology and its channels."""

    topology: dict[str, Any]
    graph: Graph
    uneven: bool = False
    """Whether channels have latencies of their own."""
    routing: dict[str, Any] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    digits: tuple[int, int] | None = None
    """Radix and dimensions of the node numbers."""
    routes: list[Route] = field(default_factory=list)
    """Those of ``anynet``."""
    weights: list[str] = field(default_factory=list)
    """Lines of a matrix."""


def network(kind: str, sizes: dict[str, int], read: Imported | None) -> Network:
    """Return the network of a kind; ``read``: that of ``anynet``."""
    if read is not None:
        return Network({}, read.graph, uneven=True, routes=read.routes, remarks=[*read.remarks])
    k, n, c = sizes["k"], sizes["n"], sizes["c"]
    shape = [k] * n
    topology: dict[str, Any] = {
        "mesh": {"kind": "grid", "shape": shape},
        "torus": {"kind": "torus", "shape": shape} | ({"links_per_edge": 2} if k == 2 else {}),
        "cmesh": {"kind": "grid", "shape": shape, "terminals_per_switch": c},
        "fly": {"kind": "banyan", "variant": "butterfly", "terminals": k**n, "base": k},
        "fattree": {"kind": "fat_tree", "arity": k, "levels": n},
        "flatfly": {"kind": "hyperx", "shape": shape, "terminals_per_switch": c},
        "dragonflynew": {
            "kind": "dragonfly",
            "switches_per_group": 2 * k,
            "global_links": k,
            "arrangement": "absolute",
            "terminals_per_switch": k,
        },
    }[kind]
    graph = build(topology["kind"], **{key: value for key, value in topology.items() if key != "kind"})
    found = Network(topology, graph, digits=(k, n) if kind in ("mesh", "torus", "fly", "fattree") else None)
    if kind in ("cmesh", "flatfly") and n > 1:  # node 1 is the next along the last dimension here
        found.routing["order"] = [*reversed(range(n))]
    inner = (graph.link_source < graph.switches) & (graph.link_target < graph.switches)
    if kind == "torus" and sizes["noc"]:
        _lengthen(found, np.where(inner, 2, 1))
    elif kind == "dragonflynew":
        group = np.append(graph.layout["groups"], np.zeros(graph.terminals, np.int64))
        within = group[graph.link_source] == group[graph.link_target]
        _lengthen(found, np.where(inner, np.where(within, _LOCAL_CYCLES, _GLOBAL_CYCLES), 1))
    elif kind in ("cmesh", "flatfly") and sizes["noc"] and c > 1:
        found.remarks.append("use_noc_latency: channels as long as their wires; taken: 1 cycle each")
    return found


def _lengthen(found: Network, cycles: NDArray[np.int64]) -> None:
    """Give each link its latency."""
    found.graph.attributes["delay_ps"] = (cycles - 1.0) * CYCLE_PS
    found.uneven = True


# What a configuration says of traffic and routers.

_BITS: dict[str, Callable[[int, int], int]] = {
    "bitcomp": lambda node, bits: ~node & ((1 << bits) - 1),
    "transpose": lambda node, bits: (node >> bits // 2) | ((node & ((1 << bits // 2) - 1)) << bits // 2),
    "bitrev": lambda node, bits: int(f"{node:0{bits}b}"[::-1], 2),
    "shuffle": lambda node, bits: ((node << 1) | (node >> (bits - 1))) & ((1 << bits) - 1),
}
_DIGITS: dict[str, Callable[[int], int]] = {"tornado": lambda k: (k + 1) // 2 - 1, "neighbor": lambda k: 1}
"""How far along each dimension a packet goes."""
_ALIKE = {"bitcomp": "bit-complement", "tornado": "tornado"}
"""Patterns of meshes and tori that do not depend on the order of the dimensions."""
KNOWN = ("uniform", *_BITS, *_DIGITS, "randperm", "hotspot({nodes},{weights})")
_HOT = re.compile(r"\{?(\d{1,7}(?:,\d{1,7})*)\}?(?:,\{?(\d{1,6}(?:,\d{1,6})*)\}?)?\)")
Fail = Callable[[str, str], NoReturn]


def pattern(text: str, network: Network, kind: str, fail: Fail) -> tuple[dict[str, Any], str]:
    """Return the pattern of a scenario, and a remark on what differs."""
    terminals = network.graph.terminals
    name, _, arguments = text.partition("(")
    hot = _HOT.fullmatch(arguments)
    if name == "uniform" and not arguments:
        return {"kind": "uniform", "include_self": True}, ""
    if name == "randperm" and not arguments:
        return {"kind": "permutation", "random": True}, "randperm: a random permutation, but another one"
    if name == "hotspot" and hot:
        nodes, given = ([int(one) for one in (part or "").split(",") if one] for part in hot.groups())
        if max(nodes) >= terminals:
            fail(f"there is no node {max(nodes)} of {terminals}", "nodes count from 0")
        return _hot(nodes, [*given, *[1] * len(nodes)], network, kind)
    bits = terminals.bit_length() - 1
    if name in _BITS and not arguments:
        if 1 << bits != terminals or (name == "transpose" and bits % 2):
            message = f"{name} needs a power of {4 if name == 'transpose' else 2} of nodes, not {terminals}"
            fail(message, "change k or n")
        if kind not in ("mesh", "torus") or name not in _ALIKE:
            return _mapped([_BITS[name](node, bits) for node in range(terminals)], network, kind)
    if name in _ALIKE and not arguments and kind in ("mesh", "torus"):
        return {"kind": _ALIKE[name]}, ""
    if name in _DIGITS and not arguments and network.digits:
        k, n = network.digits
        ahead = [
            sum((node // k**at + _DIGITS[name](k)) % k * k**at for at in range(n))
            for node in range(terminals)
        ]
        return _mapped(ahead, network, kind)
    return fail(f'traffic = "{text[:40]}" has no counterpart for {kind}', f"there are {', '.join(KNOWN)}")


def _hot(nodes: list[int], weights: list[int], network: Network, kind: str) -> tuple[dict[str, Any], str]:
    """Return the pattern of hot spots; with several it is a matrix."""
    here = _places(network, kind)
    if len(nodes) == 1:
        return _mapped(nodes * len(here), network, kind)
    pairs = [*zip(nodes, weights, strict=False)]
    rows = (f"{source},{here[node]},{weight}\n" for source in here for node, weight in pairs)
    network.weights = ["source,target,weight\n", *rows]
    return {"kind": "matrix", "path": "traffic.csv", "include_self": True}, ""


def _places(network: Network, kind: str) -> list[int]:
    """Return the terminals' numbers here, by their numbers there."""
    terminals = range(network.graph.terminals)
    k, n = (network.digits or (1, 0)) if kind in ("mesh", "torus") else (terminals.stop, 1)
    return [sum(node // k**at % k * k ** (n - 1 - at) for at in range(n)) for node in terminals]


def _mapped(targets: list[int], network: Network, kind: str) -> tuple[dict[str, Any], str]:
    """Return the destinations by the terminals' numbers here."""
    here = _places(network, kind)
    found = [0] * len(targets)
    for node, target in enumerate(targets):
        found[here[node]] = here[target]
    own = sum(target == number for number, target in enumerate(found))
    remarks = ["nodes are numbered router by router"] if kind in ("cmesh", "flatfly") else []
    remarks += [f"{own} nodes that would send to themselves are silent"] if own else []
    return {"kind": "map", "map": found}, "; ".join(remarks)


_DEFAULTS = {
    **{"topology": "torus", "k": "8", "n": "2", "c": "1", "routing_function": "none", "use_noc_latency": "1"},
    **{"num_vcs": "16", "vc_buf_size": "8", "speculative": "0", "network_file": "", "seed": "0"},
    **{"routing_delay": "1", "vc_alloc_delay": "1", "sw_alloc_delay": "1", "credit_delay": "0"},
    **{"st_prepare_delay": "0", "st_final_delay": "1", "output_delay": "0"},
    **{"traffic": "uniform", "injection_rate": "0.1", "injection_rate_uses_flits": "0", "packet_size": "1"},
    **{"packet_size_rate": "1", "injection_process": "bernoulli", "classes": "1"},
    **{"warmup_periods": "3", "sample_period": "1000", "max_samples": "10"},
}
_ONLY = {
    "router": ("iq", "an input-queued router"),
    "vc_allocator": ("separable_input_first", "every input nominates a lane, every output takes one"),
    "sw_allocator": ("separable_input_first", "every input nominates a lane, every output takes one"),
    "alloc_iters": ("1", "one iteration"),
    "arb_type": ("round_robin", "turns"),
    "internal_speedup": ("1", "a crossbar at the rate of the links"),
    "input_speedup": ("1", "a crossbar at the rate of the links"),
    "output_speedup": ("1", "a crossbar at the rate of the links"),
    "output_buffer_size": ("-1", "the output buffer of generic"),
    "buf_size": ("-1", "a buffer for each virtual channel"),
    "buffer_policy": ("private", "a buffer for each virtual channel"),
    "wait_for_tail_credit": ("0", "a channel is free behind a tail"),
    "hold_switch_for_packet": ("0", "flits of several lanes take turns; with one lane it is the same"),
    "noq": ("0", "queues of inputs alone"),
    "subnets": ("1", "one network"),
    "classes": ("1", "the packets of all as one class"),
    "priority": ("none", "no priorities"),
    "use_read_write": ("0", "packets without replies"),
    "link_failures": ("0", "no faults; see the guide of faults"),
    "channel_file": ("", "the usual latencies of this topology"),
    "sim_type": ("latency", "packets at the given rate, warm-up and measurement"),
}
"""Fields of which one value has a counterpart, and what is taken for all others."""
_ABSENT = {"vc_allocator": "islip", "sw_allocator": "islip"}
"""Defaults that are not that value."""
_SILENT = re.compile(
    r".*_thres|.*_out|watch_.*|print_.*|sim_count|sim_power|power_.*|tech_file|channel_(width|sweep)|viewer_trace|"
    r"pair_stats|measure_stats|deadlock_warn_timeout|include_queuing|x|y|xr|yr|in_ports|out_ports|perm_seed|"
    r"(read|write)_(request|reply)_.*|write_fraction|batch_.*|spec_.*|burst_.*|fail_seed|private_buf.*"
)
"""Fields that say what is printed or stored, or details of what another field turns on."""
_FIELD = re.compile(r"\s*([A-Za-z_]\w*)\s*=([^;=]*);")
_HINT = "write fields such as: topology = mesh;"
_MOST_TERMINALS = 1 << 16
_LANES_OF_DETOURS = 4
"""That a dragonfly needs if packets may go round; BookSim has three."""
_DETOURS = ("valiant", "ugal")
_SEVERAL_LANES = (*_DETOURS, "hops")
"""Kinds of routing that need two."""


@dataclass
class Fields:
    """The fields of a configuration, with the line of each."""

    lines: Lines
    given: dict[str, tuple[str, int]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        """Return the value of a field, or its default."""
        value = self.given[name][0] if name in self.given else _DEFAULTS[name]
        return value[1:-1].strip() if value.startswith("{") and not re.search(r"[,{]", value[1:]) else value

    def line(self, name: str) -> int:
        """Return the line of a field, 1 if it is not there."""
        return self.given[name][1] if name in self.given else 1

    def fail(self, name: str, message: str, hint: str) -> NoReturn:
        """Raise an error at a field."""
        self.lines.fail(self.line(name), message, hint, self.text(name).split("(")[0])

    def whole(self, name: str, most: int, least: int = 0) -> int:
        value = self.text(name)
        if not (value.isascii() and value.isdecimal() and len(value) < 10 and least <= int(value) <= most):
            self.fail(name, f'{name} = "{value[:40]}" is no whole number from {least} to {most:,}', _HINT)
        return int(value)

    def number(self, name: str) -> float:
        """Return a number above 0."""
        value = self.text(name)
        if not re.fullmatch(r"\d{0,9}\.?\d{1,15}", value) or not float(value):
            self.fail(name, f'{name} = "{value[:40]}" is no number above 0', _HINT)
        return float(value)

    def taken(self, name: str, instead: str) -> None:
        """Remark that a field has no counterpart."""
        where = f"line {self.line(name)}" if name in self.given else "not given"
        value = self.given[name][0] if name in self.given else _ABSENT.get(name, _DEFAULTS.get(name, ""))
        self.remarks.append(f"{where}: {name} = {value[:60]} has no counterpart; taken: {instead}")


@dataclass
class Configuration:
    """The scenario of a configuration."""

    network: Network
    sections: dict[str, dict[str, Any]]
    remarks: tuple[str, ...]
    seed: int
    graph: Graph | None = None
    """The network as a file, if its channels are not all equal."""

    def summary(self) -> list[tuple[str, str]]:
        """Return what was read, as names and values."""
        counted = measure.counts(self.network.graph)
        found = [("switches", counted.switches), ("terminals", counted.terminals), ("cables", counted.cables)]
        return [(name, f"{count:,}") for name, count in found]

    def files(self, name: str) -> dict[str, Iterable[str]]:
        """Return the files of a scenario with this name, by file name: their texts, in parts."""
        topology = {"kind": "file", "path": "network.csv"} if self.graph else self.network.topology
        more = {"network.csv": [edge_list.write(self.graph)]} if self.graph else {}
        more |= {"routes.csv": [routes_csv(self.network.routes)]} if self.network.routes else {}
        more |= {"traffic.csv": self.network.weights} if self.network.weights else {}
        scenario = {"name": name, "seed": self.seed, "topology": topology, "routing": self.network.routing}
        return {"scenario.toml": [toml_text(scenario | self.sections)], **more}


def booksim(files: Sequence[Path]) -> Configuration:
    """Read a configuration; that of ``anynet`` names the file of its network."""
    fields = _fields(Lines(only(files, "a configuration")))
    for name, (known, instead) in _ONLY.items():
        given = name in fields.given
        value = fields.given[name][0] if given else _ABSENT.get(name, known)
        if value.removesuffix(".0") != known:
            fields.taken(name, instead)
    kind = fields.text("topology")
    if kind not in ROUTINGS:
        fields.fail("topology", f'topology = "{kind[:40]}" is not read', f"there are {', '.join(ROUTINGS)}")
    found = network(kind, _sizes(fields, kind), _anynet(fields, files[0]) if kind == "anynet" else None)
    _routing(fields, kind, found)
    fields.remarks += found.remarks
    sections = {
        "technology": _technology(fields, found),
        "traffic": _traffic(fields, kind, found),
        "run": _run(fields),
    }
    seed = fields.text("seed")
    number = int(seed) if seed.isascii() and seed.isdecimal() and len(seed) < 10 else 1
    return Configuration(
        found, sections, tuple(fields.remarks), number, found.graph if found.uneven else None
    )


def _fields(lines: Lines) -> Fields:
    fields = Fields(lines)
    text = re.sub(r"//[^\n]*", lambda match: " " * len(match[0]), lines.text).rstrip()
    at, line = 0, 1
    while at < len(text):
        match = _FIELD.match(text, at)
        begin = match.start(1) if match else len(text) - len(text[at:].lstrip())
        line += text.count("\n", at, begin)
        if match is None:
            rest = text[begin : begin + 40].partition("\n")[0]
            lines.fail(line, f'"{rest}" is no field of a configuration', _HINT, rest)
        name, value = match[1], "".join(match[2].split())
        fields.given[name] = (value, line)
        line += text.count("\n", begin, match.end())
        at = match.end()
        if name not in _DEFAULTS and name not in _ONLY and not _SILENT.fullmatch(name):
            fields.taken(name, "nothing")
    if "topology" not in fields.given:
        raise ReadError(f"{lines.path}: no topology", _HINT)
    return fields


def _sizes(fields: Fields, kind: str) -> dict[str, int]:
    sizes = {name: fields.whole(name, _MOST_TERMINALS, 1) for name in "knc"}
    k, n, c = sizes["k"], min(sizes["n"], 20), sizes["c"]
    if kind == "dragonflynew" and sizes["n"] != 1:
        fields.fail("n", "a dragonfly has n = 1 in BookSim", "write n = 1;")
    if kind in ("fly", "fattree") and k < 2:
        fields.fail("k", f"{kind} has a k of at least 2", "write its radix")
    terminals = 2 * k * k * (2 * k * k + 1) if kind == "dragonflynew" else k**n * max(1, c)
    if kind != "anynet" and not (2 <= terminals <= _MOST_TERMINALS and n == sizes["n"]):
        message = f"{terminals:,} nodes, the most are {_MOST_TERMINALS:,}, the least 2"
        fields.fail("k", message, "change k or n")
    sizes["noc"] = fields.whole("use_noc_latency", 1)
    return sizes


def _anynet(fields: Fields, file: Path) -> Imported:
    name = fields.text("network_file")
    if not name:
        fields.fail("topology", "anynet without a network_file", "write network_file = network;")
    return anynet([file.parent / name])


def _routing(fields: Fields, kind: str, found: Network) -> None:
    name = fields.text("routing_function")
    known = ROUTINGS[kind]
    if name in known:
        routing, remark = known[name]
    else:
        routing, remark = next(iter(known.values()))
        fields.taken("routing_function", f"that of {next(iter(known))}")
    if routing["kind"] in _DETOURS and found.graph.switches == 1:
        message = f"{name} goes by way of another router, and this network has one"
        fields.fail("routing_function", message, "write a larger k, or another routing_function")
    if routing["kind"] == "dimension-order":
        routing = found.routing | (_around(fields, found, routing) if kind == "torus" else routing)
    found.routing = {"kind": "table", "path": "routes.csv"} if found.routes else {**routing}
    if remark:
        fields.remarks.append(f"line {fields.line('routing_function')}: {name}: {remark}")


def _around(fields: Fields, found: Network, routing: dict[str, Any]) -> dict[str, Any]:
    """Return the routing of a torus, and remark what BookSim draws for each packet."""
    k = found.graph.layout["shape"][0]
    if k == 2:
        fields.remarks.append("k = 2: any lane of the cable that a packet draws; BookSim divides them")
    elif k % 2 == 0:
        remark = "one of two equally long ways round a ring for each pair of nodes; BookSim draws one"
        fields.remarks.append(f"k = {k}: {remark} for each packet")
    return _ORDER | _DRAWN if k == 2 else routing


def _technology(fields: Fields, found: Network) -> dict[str, Any]:
    route, channel, switch = (
        fields.whole(f"{name}_delay", 1000) for name in ("routing", "vc_alloc", "sw_alloc")
    )
    both = max(channel, switch) if fields.text("speculative") == "1" else channel + switch
    crossing = sum(
        fields.whole(name, 1000) for name in ("st_prepare_delay", "st_final_delay", "output_delay")
    )
    choice = found.routing.pop("group_choice", None)
    settings: dict[str, Any] = {
        "preset": "generic",
        "arbiter": "round-robin",
        **({"group_choice": choice} if choice else {}),
        # Flits are allocated as they arrive: only what a head takes longer is time at the front of a queue.
        "router_cycles": max(route + both - 1, 0),
        # Crossing takes a place behind the link there: in forward_cycles a flit would wait in one before it.
        "input_cycles": crossing,
        "link_cycles": 2,
        "handover_cycles": max(1, both),
        "next_head_cycles": 1,
        "turn_around_cycles": fields.whole("credit_delay", 1000),
        "input_buffer_flits": fields.whole("vc_buf_size", 1 << 20, 1),
    }
    lanes = fields.whole("num_vcs", 1 << 10, 1)
    if lanes == 1 and (found.routing["kind"] in _SEVERAL_LANES or "lane_choice" in found.routing):
        lanes = 2
        fields.taken("num_vcs", "2 lanes, the fewest that this routing has")
    if found.routing["kind"] == "ugal" and "groups" in found.graph.layout and lanes < _LANES_OF_DETOURS:
        lanes = _LANES_OF_DETOURS
        fields.taken("num_vcs", f"{lanes} lanes, one for each cable between groups and one more, twice")
    if lanes > 16:
        fields.taken("num_vcs", "16 lanes")
    return settings | ({"lanes": min(16, lanes)} if lanes > 1 else {})


def _traffic(fields: Fields, kind: str, found: Network) -> dict[str, Any]:
    text = fields.text("packet_size")
    sizes = [int(one) for one in re.findall(r"\d{1,6}", text)]
    rates = [int(one) for one in re.findall(r"\d{1,6}", fields.text("packet_size_rate"))]
    if not re.fullmatch(r"[{}\d,]*", text) or not sizes or 0 in sizes:
        message = f'packet_size = "{text[:40]}" is no number of flits'
        fields.fail("packet_size", message, "write a whole number")
    rates = rates if len(rates) == len(sizes) and sum(rates) else [1] * len(sizes)
    mean = sum(size * rate for size, rate in zip(sizes, rates, strict=True)) / sum(rates)
    load = fields.number("injection_rate")
    load *= 1 if fields.whole("injection_rate_uses_flits", 1) else mean
    load *= fields.whole("classes", 64, 1)
    if load > 1:
        fields.taken("injection_rate", "1 flit per node and cycle, the most that a link carries")
    if fields.text("injection_process") != "bernoulli":
        fields.taken("injection_process", "a draw for every node and cycle")
    lengths = [f"{size * FLIT_BYTES} B" for size in sizes]
    several = {"kind": "table", "lengths": lengths, "weights": rates}
    what, remark = pattern(fields.text("traffic"), found, kind, partial(fields.fail, "traffic"))
    if remark:
        fields.remarks.append(f"line {fields.line('traffic')}: {remark}")
    return {
        "pattern": what,
        "length": lengths[0] if len(lengths) == 1 else several,
        "arrivals": "bernoulli",
        "load": float(f"{min(1.0, load):.6g}"),
    }


def _run(fields: Fields) -> dict[str, Any]:
    period = fields.whole("sample_period", 10**8, 1)
    warm, samples = fields.whole("warmup_periods", 10**4), fields.whole("max_samples", 10**4, 1)
    cycle_ns = CYCLE_PS // 1000
    times = [f"{count * period * cycle_ns} ns" for count in (warm, warm + samples)]
    return {"warmup": times[0], "duration": times[1], "precision": 0}
