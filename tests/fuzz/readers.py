"""Every reader of files, with good files to begin from.

Damaged files: changes of good ones, drawn from a seed.
"""

from __future__ import annotations

import bz2
import contextlib
import copy
import itertools
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expects import unpacked
from fabriloom import routing, topology
from fabriloom.compile import compile
from fabriloom.design.candidates import candidates, check_settings
from fabriloom.design.load import load as load_requirements
from fabriloom.fit import FitError, imports
from fabriloom.fit.samples import from_folder, read_folder
from fabriloom.imports import read as read_fabric
from fabriloom.programs.simple import LONG_TRAIN, RECEIVES, ROUND, SENDS, TRAIN
from fabriloom.reading import ReadError
from fabriloom.routing import RoutingError
from fabriloom.routing.levels import read_levels
from fabriloom.routing.own_paths import own_paths
from fabriloom.routing.own_ports import own_ports
from fabriloom.routing.own_table import own_table
from fabriloom.scenario import Scenario, ScenarioError, load
from fabriloom.topology import GraphError
from fabriloom.topology.sci_rings import sci_rings
from imports.test_booksim import CONFIG
from imports.test_infiniband import LFTS, LISTED, RECORDS, SUBNET, other_rail
from imports.test_simulators import (
    ANYNET,
    CHIP,
    CLUSTER,
    FAT,
    FLOWS,
    HPCC,
    MATRIX,
    PHASES,
    PLATFORM,
    STAR,
    TORUS,
    TREE,
    TRIGGERED,
    ZONES,
)
from imports.test_traces import ALLPROF, CHAKRA, DUMPI, GATHERED, OTHER_RANK, grouped
from imports.test_waiting import PACKETS
from imports.test_waiting import trace as packets_of_netrace
from programs.test_goal import binary

WORDS = [
    *("", "0", "-1", "1e999", "NaN", "inf", "-0.0", "1" * 30, "9" * 5000, "1e-400", "0x10", "1_000", "١٢"),
    *(
        '"',
        "'",
        ",",
        ";",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\0",
        "#",
        "=",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "&amp;",
        "&x;",
    ),
    *("t0", "t1", "sw(0,0)", "source", "target", "weight", "length", "wait", "kind", "path", "true", "null"),
    *("64 B", "1 ns", "-1 B", "1e18 s", "999999999 GB", "100 Mbit/s", "0 B", "18446744073709551616 B"),
    *("\ufeff", "\u202e", "é", "\U0001f600", "\\ud800", "\\u0000", "$a$", "%s", "{0}", "../..", "/dev/zero"),
    "x" * 300,
    "a." * 60,
    "[" * 60,
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 0.5, -0.0, 1e308, 5e-324),
    *("", "x", "t0", "\0", "é", "$a$", [], {}, [[]], [1], {"a": 1}, "1", "64 B", "1" * 400),
]


def damaged(good: bytes, others: Sequence[bytes], dice: random.Random) -> bytes:
    """``good`` with some changes; now and then a piece of one of the ``others``."""
    text = bytearray(good)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6, 15))):
        at = dice.randrange(len(text) + 1)
        length = min(dice.choice((1, 1, 2, 5, 20, 200)), len(text) - at)
        what = dice.randrange(7)
        if what == 0 and at < len(text):
            text[at] = dice.randrange(256)
        elif what == 1:
            del text[at : at + length]
        elif what == 2:
            text[at:at] = dice.choice(WORDS).encode("utf-8", "surrogatepass")
        elif what == 3:
            text[at : at + length] = dice.choice(WORDS).encode("utf-8", "surrogatepass")
        elif what == 4:
            text[at:at] = text[at : at + length] * dice.choice((1, 1, 2, 50))
        elif what == 5:
            other = dice.choice(others)
            begin = dice.randrange(len(other) + 1)
            text[at : at + length] = other[begin : begin + dice.choice((3, 30, 300))]
        else:
            del text[at:]
            text += dice.choice((b"", b"\n", b'"'))
    return bytes(text[:200_000])


def changed_fields(good: bytes, separator: bytes, dice: random.Random) -> bytes:
    """Fields of lines exchanged for words: it stays a table."""
    lines = [line.split(separator) for line in good.split(b"\n")]
    for _ in range(dice.choice((1, 1, 2, 4))):
        line = dice.choice(lines)
        at = dice.randrange(len(line) + 1)
        word = dice.choice(WORDS).encode("utf-8", "surrogatepass")
        if at == len(line):
            line.append(word)
        elif dice.random() < 0.2:
            del line[at]
        else:
            line[at] = word
    return b"\n".join(separator.join(line) for line in lines)


def changed_json(good: bytes, dice: random.Random) -> bytes:
    """Values within JSON exchanged: it stays JSON."""
    data = json.loads(good)
    for _ in range(dice.choice((1, 1, 2, 4))):
        holder, key = None, None
        at = data
        while isinstance(at, dict | list) and at and (holder is None or dice.random() < 0.7):
            holder, key = at, dice.choice(list(at) if isinstance(at, dict) else range(len(at)))
            at = holder[key]
        if holder is not None:
            holder[key] = copy.deepcopy(dice.choice(VALUES))
            if isinstance(holder, dict) and dice.random() < 0.2:
                holder[dice.choice(("kind", "x", "id", "\0", ""))] = copy.deepcopy(dice.choice(VALUES))
    return json.dumps(data).encode()


ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = [file.read_bytes() for file in sorted((ROOT / "scenarios").glob("*.toml"))]
REQUIREMENTS = [file.read_bytes() for file in sorted((ROOT / "scenarios" / "design").glob("*.toml"))]
VALID = unpacked("valid")
SMALL: dict[str, Any] = {"topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}}
GRID = topology.build("grid", shape=[2, 2])
TWO_RINGS = topology.build(
    "sci-rings", rings={"r": ["a", "s", "b", "t"], "q": ["c", "s", "d", "t"]}, switches=["s", "t"]
)
_ROWS = b"source,target,length,wait\n0,1,64 B,1 us\nt(0,1).0,2,128 B,0 ns\n3,0,64,200\n2,1,8 B,5 ns\n"


@dataclass(frozen=True)
class Reader:
    """``read`` takes a file with such a suffix; it gives anything or raises one of ``errors``."""

    suffix: str
    good: list[bytes]
    read: Callable[[Path], object]
    errors: tuple[type[Exception], ...]
    kind: str = "text"

    def draw(self, dice: random.Random, pool: Sequence[bytes] = ()) -> bytes:
        """A damaged file, of those in a pool or of the good ones."""
        pool = pool or self.good
        good = dice.choice(pool)
        if self.kind == "json" and dice.random() < 0.6:
            with contextlib.suppress(ValueError, RecursionError):
                return changed_json(good, dice)
        if self.kind == "csv" and dice.random() < 0.6:
            return changed_fields(good, b",", dice)
        return damaged(good, pool, dice)


def _traffic(pattern: dict[str, Any]) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        traffic = {"pattern": {**pattern, "path": path.name}}
        return compile(Scenario.from_dict({**SMALL, "traffic": traffic}, path.parent))

    return read


def _program(path: Path) -> object:
    program = {"kind": "descriptors", "path": path.name}
    return compile(Scenario.from_dict({**SMALL, "program": program}, path.parent))


def _goal(path: Path) -> object:
    program = {"kind": "goal", "path": path.name}
    return compile(Scenario.from_dict({**SMALL, "program": program}, path.parent))


_SUBNET, _LFTS, _ANYNET, _HPCC = (text.encode() for text in (SUBNET, LFTS, ANYNET, HPCC))


_PLATFORMS = [PLATFORM, STAR, ZONES, *(CLUSTER.format(shape) for shape in ("", TORUS, FAT))]


def _fabric(kind: str, *beside: str, by_host: bool = False) -> Callable[[Path], object]:
    """Read the file as this kind, with right ones beside it."""

    def read(path: Path) -> object:
        others = [path.with_name(f"beside-{number}.txt") for number in range(len(beside))]
        for other, text in zip(others, beside, strict=True):
            other.write_text(text)
        return read_fabric(kind, *others, path, by_host=by_host)

    return read


def _trace(kind: str) -> Callable[[Path], object]:
    """Read the file as the trace of the first of two ranks, and compile what comes out."""

    def read(path: Path) -> object:
        first, second = (path.with_name(f"trace-{number}.txt") for number in range(2))
        first.write_bytes(path.read_bytes())
        second.write_text(OTHER_RANK[kind])
        for name, parts in read_fabric(kind, first, second).files("trace").items():
            path.with_name(name).write_text("".join(parts))
        return compile(load(path.with_name("scenario.toml")))

    return read


def _netrace(path: Path) -> object:
    for name, parts in read_fabric("netrace", path).files("trace").items():
        path.with_name(name).write_text("".join(parts))
    return compile(load(path.with_name("scenario.toml")))


def _preset(path: Path) -> object:
    return Scenario.from_dict({**SMALL, "technology": {"preset_file": path.name}}, path.parent)


def _graph(path: Path) -> object:
    return topology.file(path)


def _routes(path: Path) -> object:
    return own_table(GRID, path)


_LEVELS = b'source,target,level\n"s(0,0)","s(1,1)",2\n"t(0,0).0","t(0,1).0",1\n'


def _levels(path: Path) -> object:
    return read_levels(GRID, path)


def _paths(path: Path) -> object:
    return own_paths(GRID, path, routing.build(GRID, adaptive=False))


def _ways(path: Path) -> object:
    return own_ports(TWO_RINGS, path)


def _override(path: Path) -> object:
    text = path.read_bytes().decode("utf-8", "replace")
    return load(VALID / "formats-toml.toml", [text])


def _requirements(path: Path) -> object:
    found = load_requirements(path)
    check_settings(found)
    return [one.name for one in itertools.islice(candidates(found), 100)]


def _samples(path: Path) -> object:
    """One file with both files of an output folder."""
    both = None
    with contextlib.suppress(ValueError):
        both = json.loads(path.read_bytes())
    if not isinstance(both, list) or len(both) != 2:
        return None
    for name, content in zip(("summary", "scenario.resolved"), both, strict=True):
        path.with_name(f"{name}.json").write_text(json.dumps(content))
    return from_folder(read_folder(path.parent))


def _rings(path: Path) -> object:
    return sci_rings(path=path)


def _written(suffix: str) -> list[bytes]:
    """Graphs of the families as files, and files that people wrote."""
    import tempfile

    graphs = [topology.build("grid", shape=[2, 2]), topology.build("clos", terminals=8, switch_ports=4)]
    graphs += [topology.build("banyan", terminals=8), topology.build("ring", switches=3, links_per_edge=2)]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for graph in graphs:
            topology.write(graph, Path(folder) / f"graph{suffix}")
            found.append((Path(folder) / f"graph{suffix}").read_bytes())
    return found + _BY_HAND.get(suffix, [])


_BY_HAND = {
    ".csv": [
        b"kind,source,target,parallel,rate,length,x,y\nswitch,a,,,,,1,2\nswitch,b,,,,,2,2\n"
        b"cable,a,b,3,100 Mbit/s,2 m,,\nterminal,t,a,,,,,\nterminal,u,b,,,,,\n",
        (ROOT / "scenarios" / "spacewire-onboard.csv").read_bytes(),
    ],
    ".json": [
        b'{"nodes": [{"id": 1}, {"id": "t", "kind": "terminal"}, {"id": "u", "kind": "terminal"}],'
        b' "links": [{"source": "t", "target": 1}, {"source": "u", "target": 1, "length": "2 m"}]}'
    ],
}
_RINGS_CSV = b"ring,vertex,buses\nr,a,\nr,s,1\nq,s,1\nq,b,\nq,c,\n"
_RINGS_JSON = b'{"rings": {"r": ["a", "s"], "q": ["s", "b", "c"]}, "switches": {"s": 1}}'
_PATHS = b'source,target,path\n"t(0,0).0","t(1,1).0",2 3 1\n"t(0,1).0","t(1,0).0",2 3 1\n'
_REQUIREMENTS = json.dumps(
    {
        "require": {"terminals": 12, "latency": "60 us", "survive_links": 1, "growth": 2},
        "traffic": {"rate": "3 MB/s", "length": "64 B"},
        "cost": {"switch": 100, "cable": 5, "pitch": "1 m"},
        "limits": {"switch_ports": 8, "cost": 5000},
        "networks": [1, 2],
        "families": {
            "clos": {"terminals_per_switch": [4], "switch_ports": [8], "routing.spread": ["random"]},
            "clos5": {"terminals": [12], "switch_ports": [8]},
            "torus": {"shape": [[4, 3], [6, 2]], "links_per_edge": {"from": 1, "to": 2}},
            "tree": {"arity": [2], "depth": [2]},
            "hypercube": {"dimensions": [3]},
        },
        "vary": {"traffic.length": ["64 B", "1 kB"], "routing.adaptive": [True, False]},
        "what-if": {"require.margin": [1.2, 2]},
    }
).encode()
_ROUTES = b"switch,terminal,links\n" + b"".join(
    f'"s({a},{b})","t({c},{d}).0","{next_}"\n'.encode()
    for a in (0, 1)
    for b in (0, 1)
    for c in (0, 1)
    for d in (0, 1)
    if (a, b) != (c, d)
    for next_ in [f"s({c},{b})" if a != c else f"s({a},{d})"]
)
_IN_C = routing.routers.as_c(routing.routers.routers(GRID, routing.build(GRID)), "a */ comment").encode()
_ROWS_IN_C = b"const uint8_t ways[4][256] = {" + b"{[32] = (1u << 3) | 0, 0x2, 02, 4},\n" * 4 + b"};"
_WAYS = b"switch,ring,terminal,to\ns,r,q,q\nt,q,a,r\ns,q,s>b,r\nt,r,d,q\nt,q,r,r\n"
_YAML = [file.read_bytes() for file in sorted(VALID.glob("*.yaml"))]
_JSON = [file.read_bytes() for file in sorted(VALID.glob("*.json"))]
_REPORT = (
    b'<html><script id="charts" type="application/json">[{"title": "a", "x": {"label": "$x", "log": false},'
    b' "y": {"label": "y", "log": true}, "series": [{"name": "$a$ b$", '
    b'"points": [[1, 2, null, null]]}]}]</script>'
)
_GOAL = (
    b"num_ranks 2\nrank 0 {\nl1: calc 100 cpu 0\nl2: send 8b to 1 tag 42 cpu 0 nic 0\nl2 requires l1\n}\n"
    b"rank 1 {\nl1: recv 8b from 0 tag 42\nl2: calc 7\nl2 requires l1\n}\n"
)
_PRESET = (
    b'[technology]\npreset = { value = "generic", kind = "assumed", source = "a" }\n'
    b'cycle = { value = "2 ns", kind = "measured", source = "b" }\n'
)
_OSU = b"# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n1            1.62\n64         1.70\n"
_NETGAUGE = b"# netgauge\nL=2.1000 s=1 o_s=0.4000 o_r=0.5000 g=1.2000 G=0.0004 (2 GiB/s) lsqu(g,G)=0.0\n"
_SPANS = [
    {"from": first, "to": last, "count": 9, "ns_p25": 900.0, "ns_p50": 1000.0, "ns_p75": 1100.0}
    for first, last in (ROUND, SENDS, RECEIVES, TRAIN, LONG_TRAIN)
]
_MEASURED = {"crowded": False, "ranks": 2, "cores": 4, "mpi": "MPICH", "transport": "shared memory"}
_POINT = {
    "settings": {"program.size": "8 B"},
    "spans": _SPANS,
    "measured": _MEASURED,
    "network": {"terminals": 2},
}
_PROGRAM = {"kind": "logp", "size": "8 B", "pause": "50 us", "train": 8}
_SAMPLES = json.dumps([{"points": [_POINT]}, {"program": _PROGRAM, "sweep": {}}]).encode()
_TIMES = b"bytes,half_round_us,gap_ns\n1,1.5,400\n0,1.4,\n4096,3.5,1900\n"
_SETTINGS = [b"traffic.load=0.5", b"seed=3", b"topology.shape=[2, 3]", b'technology.link_rate="50 Mbit/s"']
_SCENARIO = (ScenarioError,)

READERS: dict[str, Reader] = {
    "scenario.toml": Reader(".toml", SCENARIOS, load, _SCENARIO),
    "scenario.yaml": Reader(".yaml", _YAML, load, _SCENARIO),
    "scenario.json": Reader(".json", _JSON, load, _SCENARIO, "json"),
    "requirements.toml": Reader(".toml", REQUIREMENTS, _requirements, _SCENARIO),
    "requirements.json": Reader(".json", [_REQUIREMENTS], _requirements, _SCENARIO, "json"),
    "override": Reader(".txt", _SETTINGS, _override, _SCENARIO),
    "graph.csv": Reader(".csv", _written(".csv"), _graph, (GraphError,), "csv"),
    "graph.json": Reader(".json", _written(".json"), _graph, (GraphError,), "json"),
    "graph.graphml": Reader(".graphml", _written(".graphml"), _graph, (GraphError,)),
    "rings.csv": Reader(".csv", [_RINGS_CSV], _rings, (GraphError,), "csv"),
    "rings.json": Reader(".json", [_RINGS_JSON], _rings, (GraphError,), "json"),
    "ways.csv": Reader(".csv", [_WAYS], _ways, (RoutingError,), "csv"),
    "routes.csv": Reader(".csv", [_ROUTES], _routes, (RoutingError,), "csv"),
    "routing.c": Reader(".c", [_IN_C, _ROWS_IN_C], _routes, (RoutingError,)),
    "paths.csv": Reader(".csv", [_PATHS], _paths, (RoutingError,), "csv"),
    "levels.csv": Reader(".csv", [_LEVELS], _levels, (RoutingError,), "csv"),
    "descriptors.csv": Reader(".csv", [_ROWS], _traffic({"kind": "descriptors"}), _SCENARIO, "csv"),
    "matrix.csv": Reader(
        ".csv", [b"0,1,2,3\n1,0,1,1\n0.5,0,0,1\n1,1,1,0\n"], _traffic({"kind": "matrix"}), _SCENARIO, "csv"
    ),
    "weights.csv": Reader(
        ".csv",
        [b"source,target,weight\n0,1,2\n1,2,0.5\n3,0,1\n"],
        _traffic({"kind": "matrix"}),
        _SCENARIO,
        "csv",
    ),
    "permutation.csv": Reader(
        ".csv", [b"source,target\n0,1\n1,2\n2,3\n3,0\n"], _traffic({"kind": "permutation"}), _SCENARIO, "csv"
    ),
    "program.csv": Reader(".csv", [_ROWS], _program, _SCENARIO, "csv"),
    "trace.goal": Reader(".goal", [_GOAL], _goal, _SCENARIO),
    "binary.goal": Reader(".goal", [binary()], _goal, _SCENARIO),
    "preset.toml": Reader(".toml", [_PRESET], _preset, _SCENARIO),
    "osu.txt": Reader(".txt", [_OSU, _NETGAUGE], imports.read, (FitError,)),
    "samples.json": Reader(".json", [_SAMPLES], _samples, (FitError,), "json"),
    "times.csv": Reader(".csv", [_TIMES], imports.read, (FitError,), "csv"),
    "ibnetdiscover.out": Reader(".out", [_SUBNET, LISTED.encode()], _fabric("ibnetdiscover"), (ReadError,)),
    "rail.out": Reader(
        ".out", [other_rail(SUBNET).encode()], _fabric("ibnetdiscover", SUBNET, by_host=True), (ReadError,)
    ),
    "lfts.out": Reader(".out", [_LFTS], _fabric("ibnetdiscover", SUBNET), (ReadError,)),
    "paths.out": Reader(".out", [RECORDS.encode()], _fabric("ibnetdiscover", SUBNET, LFTS), (ReadError,)),
    "anynet.txt": Reader(".txt", [_ANYNET], _fabric("anynet"), (ReadError,)),
    "booksim.txt": Reader(".txt", [CONFIG.encode()], _fabric("booksim"), (ReadError,)),
    "hpcc.txt": Reader(".txt", [_HPCC], _fabric("hpcc"), (ReadError,)),
    "flow.txt": Reader(".txt", [FLOWS.encode()], _fabric("hpcc", HPCC), (ReadError,)),
    "tree.topo": Reader(".topo", [TREE.encode()], _fabric("htsim"), (ReadError,)),
    "matrix.cm": Reader(".cm", [MATRIX.encode(), TRIGGERED.encode()], _fabric("htsim", TREE), (ReadError,)),
    "dumpi.txt": Reader(
        ".dumpi", [DUMPI.encode(), grouped(0).encode()], _trace("dumpi"), (ReadError, ScenarioError)
    ),
    "allprof.txt": Reader(".allprof", [ALLPROF.encode()], _trace("liballprof"), (ReadError, ScenarioError)),
    "chakra.json": Reader(".chakra", [CHAKRA.encode()], _trace("chakra"), (ReadError, ScenarioError)),
    "chakra.et": Reader(".et", [GATHERED], _trace("chakra"), (ReadError, ScenarioError)),
    "packed.tra": Reader(".tra", [packets_of_netrace(PACKETS)], _netrace, (ReadError, ScenarioError)),
    "packed.tra.bz2": Reader(
        ".bz2", [bz2.compress(packets_of_netrace(PACKETS))], _netrace, (ReadError, ScenarioError)
    ),
    "platform.xml": Reader(".xml", [text.encode() for text in _PLATFORMS], _fabric("simgrid"), (ReadError,)),
    "chip.xml": Reader(".xml", [CHIP.encode()], _fabric("ratatoskr"), (ReadError,)),
    "phases.xml": Reader(".xml", [PHASES.encode()], _fabric("ratatoskr", CHIP), (ReadError,)),
    "report.html": Reader(".html", [_REPORT], lambda path: _plotted(path), (ValueError,)),
}
"""By their names; all but the tables in Parquet, whose reader is a process of its own."""


def _plotted(path: Path) -> object:
    from fabriloom.report import plot

    charts = plot.charts_in(path.read_bytes().decode("utf-8", "replace"))
    for chart in charts[:1]:
        plot.drawn(chart, "svg")
    return charts
