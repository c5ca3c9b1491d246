"""What an operation of a program costs, beside what its packets cost: a part of ``RESULTS.md``.

Each case is a trace in GOAL on one switch. Its packets are taken from a run and sent again by sources, as a
list with times: the difference in machine instructions is that of the program and its protocol.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Row, compiled_of, counted, options, per_hop

RANKS = 32
ROUNDS = 600
SPAN = (8_000, 24_000)
"""The packet-hops between which instructions are counted."""
MOST = 400
"""What an operation should cost at most."""


@dataclass(frozen=True)
class Case:
    """A round of a rank as lines with ``{n}``, the round before as ``{b}``, and two neighbours each way."""

    lines: str
    protocol: Row
    behind: str = ""
    """Lines of every round but the first."""


LIST = """c{n}: calc 2000
s{n}: send 256b to {to} tag 1
r{n}: recv 256b from {of} tag 1
s{n} requires c{n}
r{n} requires s{n}"""
LIST_BEHIND = "c{n} requires r{b}"
GRAPH = """c{n}: calc 2000
r{n}: recv 256b from {of} tag 1
q{n}: recv 256b from {off} tag 2
s{n}: send 256b to {to} tag 1
t{n}: send 256b to {too} tag 2
s{n} requires c{n}
t{n} requires c{n}"""
GRAPH_BEHIND = """c{n} requires r{b}
c{n} requires q{b}
r{n} requires r{b}
q{n} requires q{b}"""
JOINED = LIST.replace("r{n} requires s{n}", "r{n} requires c{n}")
"""Ranks whose sends end with their receives would wait for each other."""
JOINED_BEHIND = "c{n} requires r{b}\nc{n} requires s{b}"
EAGER: Row = {"preset": "raw", "packet": "2048 B"}
CASES: dict[str, Case] = {
    "a list: compute, send, receive": Case(LIST, EAGER, LIST_BEHIND),
    "a graph: compute, two sends, two receives at a time": Case(GRAPH, EAGER, GRAPH_BEHIND),
    "the same in two streams": Case(
        GRAPH.replace("tag 2", "tag 2 cpu 1").replace("calc 2000", "calc 2000 cpu 1"), EAGER, GRAPH_BEHIND
    ),
    "send and receive at a time, announced": Case(JOINED, {**EAGER, "eager_limit": "100 B"}, JOINED_BEHIND),
    "the graph, announced": Case(GRAPH, {**EAGER, "eager_limit": "100 B"}, GRAPH_BEHIND),
    "the graph, with a host of InfiniBand verbs": Case(GRAPH, {"preset": "verbs-infiniband"}, GRAPH_BEHIND),
}


NOTES = f"""### What an operation costs

{RANKS} ranks on one switch of `infiniband-4x-edr` compute for 2 us, send 256 B to their neighbours and
receive as much, round after round, each at a time of its own. The same packets are sent by sources, too, as a
list with times: what the program takes more is divided by its operations. A packet counts with its source,
an operation with its share of the messages: their matching, their division into packets, their statistics. At
most {MOST} instructions are aimed at. What a computation takes alone is the difference to the same program
whose ranks compute twice for 1 us."""


def twice(case: Case) -> Case:
    """The same, with two computations one after the other instead of one as long as both."""
    first, *others = case.lines.replace("calc 2000", "calc 1000").splitlines()
    before = first.replace("c{n}", "w{n}")
    lines = "\n".join([before, first, "c{n} requires w{n}", *others])
    return Case(lines, case.protocol, case.behind.replace("c{n} requires", "w{n} requires"))


def trace(case: Case) -> str:
    """The trace of a case."""
    begin = case.lines[0]
    parts = [f"num_ranks {RANKS}"]
    for rank in range(RANKS):
        to, too, of, off = ((rank + step) % RANKS for step in (1, 2, -1, -2))
        parts += [f"rank {rank} {{", f"c: calc {37 * rank}"]
        for number in range(ROUNDS):
            lines = f"{case.lines}\n{case.behind}" if number else f"{case.lines}\n{begin}0 requires c"
            parts.append(lines.format(n=number, b=number - 1, to=to, too=too, of=of, off=off))
        parts.append("}")
    return "\n".join(parts)


def scenario(name: str) -> Row:
    """One switch."""
    return {
        "name": name,
        "topology": {"kind": "crossbar", "terminals": RANKS},
        "technology": {"preset": "infiniband-4x-edr"},
        "run": {"duration": "1 s", "warmup": "0 ns", "precision": 0},
    }


def with_program(name: str, case: Case, folder: Path) -> Any:
    """The arrays of a case."""
    path = folder / "trace.goal"
    path.write_text(trace(case), encoding="utf-8")
    program = {"kind": "goal", "path": str(path)}
    return compiled_of({**scenario(name), "protocol": case.protocol, "program": program})


def as_packets(name: str, compiled: Any, folder: Path) -> tuple[Any, int]:
    """The same packets sent by sources, and how many they are."""
    from fabriloom import _native

    engine = _native.Simulation(compiled.arrays, **{**options(compiled), "trace": 1 << 22})
    while not engine.advance(200_000):
        pass
    result = engine.result()
    if result["end_reason"] != "drained":
        raise RuntimeError(f"the run ended {result['end_reason']}")
    names = compiled.programs.terminal_names
    columns = ("started_ticks", "source", "target", "length")
    rows = sorted(zip(*(result[f"trace_{one}"].tolist() for one in columns), strict=True))
    lines = [
        f"{at * compiled.tick_ps / 1000:.0f},{names[source]},{names[target]},{length}"
        for at, source, target, length in rows
    ]
    path = folder / "packets.csv"
    path.write_text("\n".join(["at_ns,source,target,length", *lines]) + "\n", encoding="utf-8")
    pattern = {"kind": "descriptors", "path": str(path)}
    return compiled_of({**scenario(name), "traffic": {"pattern": pattern}}), len(rows)


def costs(name: str) -> Row:
    """What an operation of a case costs."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = with_program(name, CASES[name], folder)
        packets, hops = as_packets(name, program, folder)
        runs = []
        divided = with_program(name, twice(CASES[name]), folder)
        for kind, one in (("program", program), ("packets", packets), ("twice", divided)):
            file = folder / kind
            file.write_bytes(pickle.dumps((one.arrays, options(one))))
            runs += [(str(file), end) for end in SPAN]
        ends = counted(sys.executable, runs)
    whole, beside, longer = (per_hop(ends[at : at + 2]) for at in (0, 2, 4))
    each = hops / program.programs.rows
    alone = (longer - whole) * hops / (RANKS * ROUNDS)
    operation = (whole - beside) * each
    return {"name": name, "each": each, "packets": beside, "operation": operation, "alone": alone}


def table() -> str:
    """The table of all cases."""
    lines = [
        "| program | packets per operation | instructions of a packet | of an operation beside | met "
        "| of a computation alone |",
        "|---|---:|---:|---:|---|---:|",
    ]
    for name in CASES:
        row = costs(name)
        met = "yes" if row["operation"] <= MOST else "**no**"
        lines.append(
            f"| {name} | {row['each']:.2f} | {row['packets']:.0f} | {row['operation']:.0f} | {met} "
            f"| {row['alone']:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
