"""Collectives as messages: what each member knows at the end, for groups of any size."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from fabriloom import run
from fabriloom.imports.collectives import KINDS, Collective, add
from fabriloom.imports.traces import Rank, Trace
from fabriloom.scenario import load
from hypothesis import given, settings
from hypothesis import strategies as st

_LINE = re.compile(r"l(\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)\n")


def ranks_of(kind: str, count: int, root: int, size: int, parts: list[int] | None = None) -> list[Rank]:
    """Build what all ranks do; members are the ranks, in reverse order."""
    members = list(range(count))[::-1]
    found = []
    for number in range(count):
        rank, me = Rank(number, count), members.index(number)
        sent, got = (), ()
        if parts and kind in ("all_gather", "reduce_scatter"):
            got = parts
        elif parts and kind == "all_to_all":  # block from a to b is of parts[a] + parts[b]
            sent = got = [parts[me] + one for one in parts]
        elif parts and kind in ("gather", "scatter"):
            sent = got = parts if me == root else [parts[me]]
        add(rank, Collective(kind, members, me, 2, 5, root, size, sent, got), [])
        found.append(rank)
    return found


def played(ranks: list[Rank]) -> tuple[list[set[int]], int]:
    """Do all operations; returns whose values each rank has at the end, and the messages."""
    todo, needs, done = {}, defaultdict(set), set()
    for rank in ranks:
        for line in rank.lines.decode().splitlines(keepends=True):
            match = _LINE.fullmatch(line)
            assert match is not None
            number, word, size, peer, tag = match.groups()
            todo[rank.number, int(number)] = (word, int(size), int(peer), int(tag))
        for line in rank.needs.decode().splitlines(keepends=True):
            after, before = re.findall(r"l(\d+)", line)
            needs[rank.number, int(after)].add((rank.number, int(before)))
    known = [{rank.number} for rank in ranks]
    under_way: dict[tuple[int, int, int], list[tuple[int, set[int]]]] = defaultdict(list)
    messages = len(todo) // 2
    while todo:
        ready = [one for one in todo if needs[one] <= done]
        # Sends first, so that a message has what its sender knew when it could leave.
        sends = [one for one in ready if todo[one][0] == "send"]
        for one in sends:
            _, size, peer, tag = todo.pop(one)
            under_way[one[0], peer, tag].append((size, set(known[one[0]])))
            done.add(one)
        arrived = [one for one in ready if one in todo and under_way[todo[one][2], one[0], todo[one][3]]]
        for one in arrived:
            _, size, peer, tag = todo.pop(one)
            of, values = under_way[peer, one[0], tag].pop(0)
            assert of == size
            known[one[0]] |= values
            done.add(one)
        assert sends or arrived, "nothing can go on"
    assert not any(under_way.values())
    return known, messages


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 19),
    st.data(),
    st.sampled_from([0, 8, 200, 3000, 20_000, 100_000]),
    st.booleans(),
)
def test_who_knows_what(kind: str, count: int, data: st.DataObject, size: int, uneven: bool) -> None:
    root = data.draw(st.integers(0, count - 1))
    parts = [size + 3 * at for at in range(count)] if uneven else None
    known, _ = played(ranks_of(kind, count, root, size, parts))
    everyone = set(range(count))
    place = list(range(count))[::-1]
    for me, rank in enumerate(place):
        if kind in ("broadcast", "scatter"):
            assert place[root] in known[rank]
        elif kind == "scan":
            assert known[rank] == set(place[: me + 1])
        elif kind not in ("reduce", "gather") or me == root:
            assert known[rank] == everyone


@pytest.mark.parametrize(
    ("kind", "count", "size", "messages", "bytes_"),
    [
        ("barrier", 8, 0, 24, 0),
        ("broadcast", 8, 1000, 7, 7000),
        ("broadcast", 8, 80_000, 7 + 56, 12 * 10_000 + 56 * 10_000),
        ("reduce", 8, 1000, 7, 7000),
        ("all_reduce", 8, 8, 24, 192),
        ("all_reduce", 6, 8, 8 + 4, 96),
        ("all_reduce", 8, 80_000, 112, 14 * 80_000),
        ("all_gather", 8, 8, 24, 8 * 7 * 8),
        ("all_gather", 8, 80_000, 56, 56 * 80_000),
        ("all_to_all", 8, 80_000, 56, 56 * 80_000),
        ("all_to_all", 8, 8, 24, 3 * 8 * 4 * 8),
        ("gather", 8, 100, 7, 12 * 100),
    ],
)
def test_messages_and_bytes(kind: str, count: int, size: int, messages: int, bytes_: int) -> None:
    ranks = ranks_of(kind, count, 0, size)
    sent = [int(found[1]) for rank in ranks for found in re.finditer(rb"send (\d+)b", rank.lines)]
    assert (len(sent), sum(sent)) == (messages, bytes_)
    assert played(ranks)[1] == messages


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_they_end_where_long_messages_wait_for_their_receive(kind: str, tmp_path: Path) -> None:
    ranks = ranks_of(kind, 7, 2, 50_000)
    text = "num_ranks 7\n" + "".join(rank.text() for rank in ranks)
    for name, content in Trace(7, 0, text, Counter(), "mpi-infiniband").files("all").items():
        (tmp_path / name).write_text(content)
    assert run(load(tmp_path / "scenario.toml")).end_reason == "drained"
