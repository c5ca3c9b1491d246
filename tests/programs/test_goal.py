"""Traces in GOAL as programs.

Traces in binary GOAL: the same programs as from the text.
"""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fabriloom import Results, Scenario, run
from fabriloom.compile import compile
from fabriloom.programs import goal as goal_module
from fabriloom.programs.table import Programs
from fabriloom.scenario import ScenarioError
from fabriloom.traffic import TrafficError

from .common import lists

RING = """num_ranks 3
// each waits for the one before it
rank 0 {
    l1: calc 100 cpu 0
    l2: send 8b to 1 tag 42 cpu 0 nic 0
    l3: recv 1000b from 2 tag 7
    l2 requires l1
    l3 requires l2
    l4: calc 5
    l4 requires l3
}
rank 1 {
    a: recv 8b from 0 tag 42
    c: calc 50
    b: send 0b to 2
    b requires c
    c requires a
}
rank 2
{
    recv 0b from any
    x: send 1000b to 0 tag 7
}
"""


def scenario(folder: Path, text: str, terminals: int = 4) -> Scenario:
    (folder / "trace.goal").write_text(text, encoding="utf-8")
    program = {"kind": "goal", "path": "trace.goal"}
    return Scenario.from_dict(
        {"topology": {"kind": "crossbar", "terminals": terminals}, "program": program}, folder
    )


def results(folder: Path, text: str) -> Results:
    return run(scenario(folder, text))


def test_a_trace_is_a_program(tmp_path: Path) -> None:
    text = RING.replace("x: send 1000b to 0 tag 7", "x: send 1000b to 0 tag 7\n y: calc 1\n y requires x")
    text = text.replace("recv 0b from any", "r: recv 0b from any").replace(
        "y: calc", "x requires r\n y: calc"
    )
    found = compile(scenario(tmp_path, text)).programs
    assert found is not None
    assert lists(found)[:3] == [
        ["wait 100 ns", "send t.1 8 B tag 42", "receive t.2 tag 7", "wait 5 ns"],
        ["receive t.0 tag 42", "wait 50 ns", "send t.2 1 B tag 0"],
        ["receive any tag 0", "send t.0 1 kB tag 7", "wait 1 ns"],
    ]
    ran = results(tmp_path, text).summary
    assert ran["end"]["reason"] == "drained"
    assert ran["messages"]["received"] == 3


def test_what_does_not_wait_runs_beside_a_receive(tmp_path: Path) -> None:
    """Rank 2 sends at once, although its receive stands before it."""
    found = results(tmp_path, RING)
    assert found.summary["end"]["reason"] == "drained"
    ended = dict(zip(found.hosts["terminal"], found.hosts["ended_ns"], strict=True))
    assert ended["t.3"] is None
    assert ended["t.0"] > ended["t.1"] > 100


JOIN = """num_ranks 3
rank 0 {
l1: recv 8b from 1 tag 1
l2: recv 8b from 2 tag 2
l3: send 8b to 1 tag 3
l3 requires l1
l3 requires l2
}
rank 1 {
l1: send 8b to 0 tag 1
l2: recv 8b from 0 tag 3
}
rank 2 {
l1: calc 500
l2: send 8b to 0 tag 2
l2 requires l1
}
"""
LOGP = {
    "topology": {"kind": "crossbar", "terminals": 3},
    "technology": {
        "preset": "generic",
        "cycle": "5 ns",
        "flit": "1 B",
        "router_cycles": 0,
        "link_cycles": 250,
    },
    "protocol": {"preset": "raw", "packet": "65535 B", "send_time": "1500 ns", "receive_time": "1500 ns"},
    "program": {"kind": "goal", "path": "trace.goal"},
    "output": {"messages": True},
}
LOGP["technology"] |= {"input_buffer_flits": 4096, "output_buffer_flits": 4096}


def times(folder: Path, text: str) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """When each message was made, by its ends, and when each rank ended."""
    (folder / "trace.goal").write_text(text, encoding="utf-8")
    found = run(Scenario.from_dict(LOGP, folder))
    assert found.summary["end"]["reason"] == "drained"
    rows = found.messages.iter_rows(named=True)
    made = {f"{row['source'][-1]}{row['target'][-1]}": row for row in rows}
    return made, dict(zip("012", found.hosts["ended_ns"], strict=True))


def test_a_send_waits_for_several_receives(tmp_path: Path) -> None:
    """By hand: both messages come while the first is received, so their receives follow each other."""
    made, ended = times(tmp_path, JOIN)
    first, later = made["10"]["received_ns"], made["20"]["received_ns"]
    assert 4000 < first < 4100
    assert later == first + 500
    assert made["01"]["made_ns"] == first + 2 * 1500
    assert ended["0"] == first + 3 * 1500
    assert ended["2"] == 2000
    assert ended["1"] == made["01"]["received_ns"] + 1500


def test_messages_go_to_receives_in_the_order_of_posting(tmp_path: Path) -> None:
    """A wildcard posted first takes the first message; a calculation may begin with the posting."""
    text = JOIN.replace("from 1 tag 1", "from any tag -1").replace("l2: recv 8b from 2", "l2: recv 8b from 1")
    text = text.replace("to 0 tag 1", "to 0 tag 2").replace("to 0 tag 2\nl2 req", "to 0 tag 9\nl2 req")
    text = text.replace("l3 requires l1", "l4: calc 100\nl4 irequires l1\nl3 requires l1\nl3 requires l4")
    with pytest.raises(ScenarioError, match="nobody sends"):
        times(tmp_path, text.replace("send 8b to 0 tag 2", "send 8b to 0 tag 4"))
    (tmp_path / "trace.goal").write_text(text, encoding="utf-8")
    found = run(Scenario.from_dict(LOGP, tmp_path))
    assert found.summary["end"]["reason"] == "deadlocked"
    assert "receive t.1 tag 2" in str(found.summary["end"])


def test_a_graph_that_goes_round_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="this operation waits for itself"):
        compile(scenario(tmp_path, JOIN.replace("l3 requires l2", "l3 requires l2\nl2 irequires l3")))


@pytest.mark.parametrize("needs", ["l2 requires l3", "l3 requires l1", "l2 irequires l1"])
def test_a_receive_that_nobody_sends_to_is_named_by_its_line(needs: str, tmp_path: Path) -> None:
    """In lists, of which the order may differ from that of the lines, and in graphs."""
    text = "num_ranks 2\nrank 1 {\nl1: calc 5\nl2: recv 10b from 0 tag 6\nl3: recv 10b from 0 tag 5\n"
    text += needs + "\n}\nrank 0 {\nl1: send 10b to 1 tag 5\n}\n"
    with pytest.raises(ScenarioError, match=r"\.goal:4:1: .*nobody sends that to it"):
        results(tmp_path, text)


def test_lines_are_read_alike_however_they_are_written(tmp_path: Path) -> None:
    """What is alike is looked up, the rest searched for: comments, blanks, ends of lines change nothing."""
    plain = "num_ranks 2\nrank 0 {\n" + "".join(
        f"l{n}: {'send 8b to 1' if n % 3 else 'calc 10'}\n{f'l{n} requires l{n - 1}' if n else ''}\n"
        for n in range(40)
    )
    plain += "l7 irequires l3\nl7 irequires l6\n}\nrank 1 {\n" + "recv 8b from any\n" * 26 + "}\n"
    others = (
        plain.replace("\n", "\r\n"),
        plain.replace(": ", " :  ").replace("\n", ";  // said\n").replace("{;", "{").replace("};", "}"),
        plain.replace(" ", "\t"),
        "/* of {\n//*\nnum_ranks 9 */" + plain.replace("\n", " /* l1: */ /**/\n").replace(": c", ": /*#*/c"),
    )
    first = compile(scenario(tmp_path, plain)).arrays
    for text in others:
        found = compile(scenario(tmp_path, text)).arrays
        for name in ("op_kind", "op_peer", "op_bytes", "op_ticks", "op_needs", "op_needs_start"):
            assert found[name].tolist() == first[name].tolist(), name
    needs, start = first["op_needs"].tolist(), first["op_needs_start"].tolist()
    # Its end includes its beginning.
    assert needs[start[7] : start[8]] == [2 * 3 + 1, 2 * 6]


def test_the_checksum_is_that_of_the_trace(tmp_path: Path) -> None:
    text = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"
    first = scenario(tmp_path, text).sha256
    assert scenario(tmp_path, text.replace("8b", "9b")).sha256 != first


SEND, RECEIVE, CALC = 1, 2, 3
Rank = tuple[list[tuple[int, int, int, int]], dict[int, list[int]], dict[int, list[int]]]
"""Operations as type, size, peer and tag; those that wait for the end, and for the beginning, of each."""
RANKS: list[Rank] = [
    (
        [(CALC, 100, 0, 0), (SEND, 8, 1, 42), (RECEIVE, 9, 1, 2**32 - 1), (CALC, 5, 0, 0)],
        {0: [1], 2: [3]},
        {1: [2]},
    ),
    ([(RECEIVE, 8, 2**32 - 1, 42), (SEND, 9, 0, 3)], {0: [1]}, {}),
]
TEXT = """num_ranks 2
rank 0 {
a: calc 100
b: send 8b to 1 tag 42
c: recv 9b from 1 tag any
d: calc 5
b requires a
c irequires b
d requires c
}
rank 1 {
a: recv 8b from any tag 42
b: send 9b to 0 tag 3
b requires a
}
"""


def binary(ranks: list[Rank] = RANKS) -> bytes:
    """Return a file as LogGOPSim's own writer lays it out."""
    parts, places, at = [], b"", 6 + 16 * len(ranks)
    for operations, ends, begins in ranks:
        waits = [
            sum(one in more for table in (ends, begins) for more in table.values())
            for one in range(len(operations))
        ]
        roots = [one for one, count in enumerate(waits) if not count]
        part = struct.pack(f"<II{len(roots)}I", len(operations), len(roots), *roots)
        appendix: list[int] = []
        for number, (kind, size, peer, tag) in enumerate(operations):
            part += struct.pack("<IBIQIBB", waits[number], kind, peer, size, tag, 0, 0)
            for table in (ends, begins):
                part += struct.pack("<II", len(table.get(number, [])), len(appendix))
                appendix += table.get(number, [])
        part += struct.pack(f"<{len(appendix)}I", *appendix)
        places += struct.pack("<QQ", at, at + len(part))
        at += len(part)
        parts.append(part)
    return struct.pack("<QIBB", 4223, len(ranks), 0, 0) + places + b"".join(parts)


def programs(folder: Path, content: bytes) -> Programs:
    (folder / "trace.goal").write_bytes(content)
    program = {"kind": "goal", "path": "trace.goal"}
    found = compile(
        Scenario.from_dict({"topology": {"kind": "crossbar", "terminals": 2}, "program": program}, folder)
    ).programs
    assert found is not None
    return found


def test_the_same_as_from_text(tmp_path: Path) -> None:
    ours, theirs = programs(tmp_path, binary()), programs(tmp_path, TEXT.encode())
    assert lists(ours) == lists(theirs)
    assert [one.tolist() for one in ours.needs or ()] == [one.tolist() for one in theirs.needs or ()]


def test_operations_mean_the_same_many_at_once(tmp_path: Path) -> None:
    """Sizes, peers and tags around their limits, of processors in any order."""
    dice = Random(7)
    edges = [0, 1, 2, 5, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1]
    legal = 0
    for _ in range(300):
        size = dice.choice([*edges, 10**15, 10**15 + 1, 2**63])
        cpus = [dice.choice([0, 3, 255]) for _ in range(3)]
        said = (dice.choice([CALC, SEND, RECEIVE]), size, dice.choice(edges), dice.choice(edges))
        ranks: list[Rank] = [([(CALC, 1, 0, 0), said, (CALC, 2, 0, 0)], {}, {}), ([], {}, {}), ([], {}, {})]
        file = bytearray(binary(ranks))
        first = file.index(struct.pack("<BIQI", CALC, 0, 1, 0))
        for number, cpu in enumerate(cpus):
            file[first + 17 + 39 * number] = cpu
        words = {CALC: "calc {0}", SEND: "send {0}b to {1} tag {2}", RECEIVE: "recv {0}b from {1} tag {2}"}
        lines = [
            f"calc 1 cpu {cpus[0]}",
            f"{words[said[0]].format(*said[1:])} cpu {cpus[1]}",
            f"calc 2 cpu {cpus[2]}",
        ]
        text = "\n".join(["num_ranks 3", "rank 0 {", *lines, "}", "rank 1 {", "}", "rank 2 {", "}"])
        found = []
        for content in (bytes(file), text.encode()):
            path = tmp_path / "trace.goal"
            path.write_bytes(content)
            reader = goal_module._Reader(str(path), lists=False)
            try:
                reader.read()
                found.append(reader.done[0].rows.tolist())
            except TrafficError as error:
                found.append(error.message.partition(": at byte ")[2].partition(": ")[2] or error.message)
        assert found[0] == found[1]
        legal += isinstance(found[0], list)
    assert 50 < legal < 250


def test_two_receives_at_a_time(tmp_path: Path) -> None:
    """What waits for two receives is a graph, and both are under way from the beginning."""
    graph: Rank = ([(RECEIVE, 8, 1, 0), (RECEIVE, 8, 1, 1), (CALC, 7, 0, 0)], {0: [2], 1: [2]}, {})
    sender: Rank = ([(SEND, 8, 0, 1), (SEND, 8, 0, 0)], {}, {})
    found = programs(tmp_path, binary([graph, sender]))
    assert found.needs is not None
    needs, start = found.needs
    assert start[:4].tolist() == [0, 0, 0, 2]
    assert needs[:2].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary()[:-1], "is not in the file"),
        (binary()[:20], "ranks are announced"),
        (binary()[:9], "the file ends after 9 bytes"),
        (binary([([(7, 0, 0, 0)], {}, {})]), "operation 0 is of the unknown type 7"),
        (binary([([(CALC, 1, 0, 0)], {0: [5]}, {})]), "there is no operation 5 of 1"),
        (binary([([(SEND, 8, 3, 0)], {}, {})]), "at byte 42: rank 3 is no other one of 1"),
        (binary([([(CALC, 1, 0, 0), (CALC, 1, 0, 0)], {0: [1], 1: [0]}, {})]), "waits for itself"),
        (
            binary().replace(struct.pack("<IIII", 1, 0, 0, 1), struct.pack("<IIII", 9, 0, 0, 1), 1),
            "more operations wait",
        ),
    ],
)
def test_wrong_files(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=message):
        programs(tmp_path, content)


TWO = """num_ranks 2
rank 0 {
l1: calc 9000 cpu 0
l2: recv 8b from 1 tag 1 cpu 1
l3: send 8b to 1 tag 2 cpu 1
l4: send 8b to 1 tag 3 cpu 0
l3 requires l2
l4 requires l1
}
rank 1 {
l1: send 8b to 0 tag 1
l2: recv 8b from 0 tag 2
l3: recv 8b from 0 tag 3
l2 requires l1
l3 requires l2
}
"""


def test_each_processor_of_a_rank_does_one_operation_at_a_time(tmp_path: Path) -> None:
    """By hand: the answer does not wait for the calculation, unless one processor does both."""
    made, ended = times(tmp_path, TWO)
    there = made["10"]["received_ns"]
    assert ended["0"] == 9000 + 1500
    assert ended["1"] > ended["0"]
    (tmp_path / "trace.goal").write_text(TWO, encoding="utf-8")
    rows = run(Scenario.from_dict(LOGP, tmp_path)).messages
    made_ns = {row["tag"]: row["made_ns"] for row in rows.iter_rows(named=True)}
    assert made_ns == {1: 0, 2: there + 1500, 3: 9000}
    (tmp_path / "trace.goal").write_text(TWO.replace("cpu 1", "cpu 0"), encoding="utf-8")
    rows = run(Scenario.from_dict(LOGP, tmp_path)).messages
    made_ns = {row["tag"]: row["made_ns"] for row in rows.iter_rows(named=True)}
    # The receive was ready first, then the send of the calculation, then the answer.
    assert made_ns == {1: 0, 3: 9000 + 1500, 2: 9000 + 2 * 1500}


def test_too_many_processors_of_a_rank_are_refused(tmp_path: Path) -> None:
    lines = "\n".join(f"calc 1 cpu {cpu}" for cpu in range(300))
    with pytest.raises(ScenarioError, match="more than 256 processors"):
        compile(scenario(tmp_path, f"num_ranks 1\nrank 0 {{\n{lines}\n}}\n"))


def test_labels_that_count_on_are_known_by_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rank of many operations: all labels are found, held or not, and each is there once."""
    most = 1 << 10
    monkeypatch.setattr(goal_module, "_MOST_LABELS", most)
    count = most * 2 + 100

    def text(label: str, *more: str) -> str:
        body = "".join(f"{label}{n}: calc {n % 7}\n" for n in range(5, 5 + count))
        return f"num_ranks 1\nrank 0 {{\n{body}" + "\n".join([*more, "}", ""])

    first, later, last = 0, most + 3, count - 1
    needs = [f"l{5 + last} requires l{5 + first}", f"l{5 + last} irequires l{5 + later}", "end: calc 1"]
    found = compile(scenario(tmp_path, text("l", *needs, f"end requires l{5 + later}"))).programs
    assert found is not None
    assert found.needs is not None
    whole, start = found.needs
    assert whole[start[last] : start[last + 1]].tolist() == [2 * first, 2 * later + 1]
    assert whole[start[count] : start[count + 1]].tolist() == [2 * later]
    for wrong in ("l4", f"l{5 + count}", "l05", "l٧", "l", "x7"):
        with pytest.raises(ScenarioError, match=r"there is no operation|is no operation of GOAL"):
            compile(scenario(tmp_path, text("l", f"l{5 + last} requires {wrong}")))
    for twice in ("l5", f"l{5 + later}", f"l{5 + last}"):
        for what in ("calc 1", "calc 99"):
            with pytest.raises(ScenarioError, match=f'"{twice}" is there already'):
                compile(scenario(tmp_path, text("l", f"{twice}: {what}")))


def test_what_a_beginning_frees_comes_before_what_an_end_frees(tmp_path: Path) -> None:
    """Also where the graph is a list."""
    text = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\nb: send 8b to 1 tag 2\nc: send 8b to 1 tag 3\n"
    text += "b requires a\nc irequires a\n}\nrank 1 {\nd: recv 8b from any tag any\n}\n"
    found = compile(scenario(tmp_path, text)).programs
    assert found is not None
    assert found.needs is None
    assert found.tag[:3].tolist() == [1, 3, 2]


def test_a_list_keeps_its_order_where_another_rank_is_none(tmp_path: Path) -> None:
    """Rank 0 alone would be a list in another order; what it waits for counts operations as they stand."""
    text = (
        "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\nb: calc 2\nc: send 9b to 1 tag 1\nb irequires a\n}\n"
    )
    text += "rank 1 {\nd: recv 8b from 0 tag 1\ne: recv 8b from 0 tag 1\n}\n"
    found = compile(scenario(tmp_path, text)).programs
    assert found is not None
    assert found.needs is not None
    assert lists(found)[0] == ["send t.1 8 B tag 1", "wait 2 ns", "send t.1 9 B tag 1"]
    chained = compile(scenario(tmp_path, text.removesuffix("}\n") + "e requires d\n}\n")).programs
    assert chained is not None
    assert chained.needs is None
    assert lists(chained)[0] == ["send t.1 8 B tag 1", "send t.1 9 B tag 1", "wait 2 ns"]


def test_a_trace_without_operations_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "trace.goal").write_text("num_ranks 2\n", encoding="utf-8")
    found = run(Scenario.from_dict({**LOGP, "protocol": {"preset": "mpi-infiniband"}}, tmp_path))
    assert found.summary["end"]["reason"] == "drained"
