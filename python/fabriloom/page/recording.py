"""Packets on their paths, as the page plays them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes import FAULT_KIND
from ..compile import Compiled, compile
from ..compile.faults import NEVER_TICKS
from ..results import Results
from ..results.figures import moment
from ..results.tables import column
from ..scenario import Scenario
from ..simulate import Progress, run
from ..technology import Technology
from ..topology import Graph

HOPS = 12_000
"""The number of stays of packets on links that are shown: some thousand packets."""
_KEPT = 1 << 19
"""The number that a run keeps: more than there can be between two looks at it."""
_NOBODY = 2**32 - 1
_BUS, _LOST, _CODE = 8, 16, 32
_MOST_CODES = 20_000
_MOST_OUTAGES = 2000
_MOST_QUEUES, _MOST_WAITING = 64, 200_000
"""Sources with queues that can be drawn, and packets in them that are worth sending to the page."""
_EVERY_S = 0.2

Told = Callable[[float], None]


def record(
    scenario: Scenario,
    since_ps: int | None,
    check: Callable[[], None],
    told: Told,
    until_ps: int | None = None,
) -> dict[str, Any]:
    """Run a scenario again and return the paths of its packets, from a time on or of the last ones, before
    the end of the run or ``until_ps``.

    Recording does not change the run. ``told`` is called with the finished fraction; ``check`` raises
    KeyboardInterrupt to end the run.
    """
    before, next_s = None, 0.0

    def progress(state: Progress) -> None:
        nonlocal before, next_s
        check()
        if time.monotonic() > next_s:
            told(state.share if since_ps is None else min(1.0, state.simulated_ps / max(since_ps, 1)))
            next_s = time.monotonic() + _EVERY_S
        if until_ps is not None and state.simulated_ps >= until_ps:
            raise KeyboardInterrupt
        if since_ps is None or state.simulated_ps < since_ps:
            return
        before = state.packet_hops if before is None else before
        if state.packet_hops - before >= HOPS:
            raise KeyboardInterrupt

    compiled = compile(scenario)
    results = run(compiled, progress, hops=_KEPT)
    shown = recording(results, since_ps, until_ps=until_ps)
    return {**shown, **around(compiled), "tails": tails(compiled, shown), "outages": outages(compiled, shown)}


def together(
    scenarios: Sequence[Scenario], recordings: list[dict[str, Any]], check: Callable[[], None], told: Told
) -> list[dict[str, Any]]:
    """Return the recordings of fabrics on one clock: where their times do not meet, with the last packets
    before the time at which one of them is deadlocked, or else the first of them ends.
    """

    def span(one: Mapping[str, Any]) -> tuple[float, float]:
        return one["from_ns"], one["from_ns"] + one["until_ns"]

    begin, end = span(min(recordings, key=lambda one: (not one["cycle"], span(one)[1])))
    if all(span(one)[0] <= end and span(one)[1] >= begin for one in recordings):
        return recordings
    sides = zip(scenarios, recordings, strict=True)
    return [one if one["cycle"] else record(its, None, check, told, round(end * 1e3)) for its, one in sides]


def around(compiled: Compiled) -> dict[str, Any]:
    """Return the time to fill an input buffer."""
    tech = compiled.technology
    buffer_ps = tech.input_buffer_chars * tech.character_ps() if isinstance(tech, Technology) else 0
    return {"buffer_ns": float(buffer_ps) / 1e3}


def tails(compiled: Compiled, shown: Mapping[str, Any]) -> dict[int, float]:
    """Return, per link into a terminal, the ns from its being free again to the end of the arrival."""
    arrays, last = compiled.arrays, zip(shown.get("last", ()), shown.get("link", ()), strict=True)
    if compiled.graph.network_kind.buses:
        return {}
    after = arrays["link_arrival_ticks"].astype(np.int64) - arrays["link_character_ticks"].astype(np.int64)
    return {link: float(after[link]) * compiled.tick_ps / 1000 for link in {at for one, at in last if one}}


def outages(compiled: Compiled, shown: Mapping[str, Any]) -> list[list[float | int | None]]:
    """Return the links that are down in the shown time.

    Per outage: link, begin and end in ns of the run (None: for ever), and whether only its terminal is stuck.
    """
    arrays, tick_ns = compiled.arrays, compiled.tick_ps / 1000
    if "fault_link" not in arrays:
        return []
    first, last = shown["from_ns"], shown["from_ns"] + shown["until_ns"]
    names = ("fault_link", "fault_down_ticks", "fault_up_ticks", "fault_kind")
    rows = zip(*(arrays[name].tolist() for name in names), strict=True)
    found = [
        [link, down * tick_ns, None if up >= NEVER_TICKS else up * tick_ns, stuck]
        for link, down, up, stuck in rows
        if stuck <= FAULT_KIND.STUCK and down * tick_ns <= last and up * tick_ns >= first
    ]
    return found[:_MOST_OUTAGES]


def recording(
    results: Results, since_ps: int | None = None, most: int = HOPS, until_ps: int | None = None
) -> dict[str, Any]:
    """Return every stay of a packet on a link, in ns from the first shown moment, as columns of equal length.

    ``packet`` numbers what moves as one, -1 for echoes. ``kind`` is 0 for packets and requests, 1 for
    responses, 2 for echoes, 3 for busy echoes, plus 4 if it is sent again. ``bus`` is the port to which the
    packet moves from the port of ``link``, or -1. ``last``: it arrives by this stay. ``losses``: time, place
    and packet of each packet that was cut, discarded or timed out. ``codes``: begin, end and link of each
    time-code, interrupt or broadcast.
    """
    native, graph = results.native, results.graph
    rows = {name: column(native, f"hop_{name}") for name in ("source", "target", "link", "kind")}
    rows |= {
        name: column(native, f"hop_{name}_ticks").astype(np.int64)
        for name in ("created", "started", "begin", "end")
    }
    losses, codes, moved = (
        {name: values[which] for name, values in rows.items()}
        for which in (rows["kind"] == _LOST, rows["kind"] == _CODE, rows["kind"] < _LOST)
    )
    goes = _goes(moved, losses, graph)
    rows, first, last = _shown({**moved, "goes": goes}, results, since_ps, until_ps, most)
    tick_ns, count = results.tick_ps / 1000, len(rows["begin"])
    ended = last == int(native["end_time_ticks"])
    shown = {"from_ns": first * tick_ns, "until_ns": (last - first) * tick_ns, "rows": count, "cycle": []}
    packet, number = _packets(rows)
    shown["losses"] = _losses(losses, rows, packet, first, last, tick_ns)
    shown["codes"] = _codes(codes, first, last, tick_ns)
    shown["part"] = _said(shown, number)
    shown["said"] = shown["part"] + (" " + results.summary["end"]["message"] if ended else "")
    if ended:
        shown["cycle"] = column(native, "deadlock_links").tolist()
    if not count:
        return shown
    bus, end = rows["kind"] & _BUS > 0, rows["end"]
    names = names_of(graph, [*graph.terminal_names, *_distributions(results)])
    return {
        **shown,
        "queues": _queues(moved, names, results, first, last),
        "packet": packet.tolist(),
        "link": rows["link"].tolist(),
        "kind": (rows["kind"] & 7).tolist(),
        "bus": np.where(bus, rows["target"].astype(np.int64), -1).tolist(),
        "begin": np.round((rows["begin"] - first) * tick_ns, 2).tolist(),
        "end": [None if one < 0 else round((one - first) * tick_ns, 2) for one in end.tolist()],
        "last": _arrives(rows, graph).astype(int).tolist(),
        "packets": [
            [names[source], names[target], start * tick_ns]
            for source, target, start in zip(*_ends(rows, packet, number), strict=True)
        ],
        "rings": graph.network_kind.buses,
    }


def _arrives(rows: Mapping[str, NDArray[Any]], graph: Graph) -> NDArray[np.bool_]:
    """Return, per row, whether a packet arrives by it; a copy for several terminals does at any of them."""
    into = np.asarray(graph.terminal_in_links)[np.minimum(rows["target"], graph.ports - 1)]
    copies = (rows["target"] >= graph.ports) & (np.asarray(graph.link_target)[rows["link"]] >= graph.switches)
    found: NDArray[np.bool_] = (rows["kind"] & _BUS == 0) & ((rows["link"] == into) | copies)
    return found


def _goes(
    rows: Mapping[str, NDArray[Any]], losses: Mapping[str, NDArray[Any]], graph: Graph
) -> NDArray[np.int64]:
    """Return, per row, when its packet is no longer behind the link: it has arrived, goes on or is lost."""
    end, begin = rows["end"], rows["begin"]
    same = [rows["kind"] & 3, rows["started"], rows["source"]]
    order = np.lexsort([begin, *same])
    follows = np.logical_and.reduce([one[order[1:]] == one[order[:-1]] for one in same])
    found = np.full(len(end), end.max(initial=0) + 1 if not graph.network_kind.buses else -1, np.int64)
    found[order[:-1][follows]] = begin[order[1:][follows]]
    over = _arrives(rows, graph) | (rows["source"] == _NOBODY)
    lost = set(zip(losses["source"].tolist(), losses["started"].tolist(), strict=True))
    if lost:
        pairs = zip(rows["source"].tolist(), rows["started"].tolist(), strict=True)
        over |= np.fromiter((pair in lost for pair in pairs), bool, len(end))
    return np.where(over, end, found)


def names_of(graph: Graph, targets: list[str]) -> list[str]:
    """Return the names of ports, which are those of their terminals, and of distributions."""
    owner = range(graph.terminals) if graph.several is None else graph.several.terminal.tolist()
    return [targets[terminal] for terminal in owner] + targets[graph.terminals :]


def _queues(
    moved: Mapping[str, NDArray[Any]], names: list[str], results: Results, first: int, last: int
) -> dict[str, list[list[float]]]:
    """Return, per source, when packets were created and when they started, in ns from the first shown moment.

    These are packets that wait at their source at some shown moment; those that wait at the end never start.
    Nothing is returned for programs and for more sources or packets than can be shown.
    """
    native, terminals = results.native, results.graph.terminal_names
    if results.program is not None:
        return {}
    sent = np.stack([moved[name].astype(np.int64) for name in ("source", "created", "started")])
    packets = np.unique(sent[:, moved["kind"] & 15 == 0], axis=1)
    waited = (packets[1] < packets[2]) & (packets[1] <= last) & (packets[2] > first)
    waits = zip(
        *(column(native, f"wait_{name}").tolist() for name in ("terminal", "created_ticks")), strict=True
    )
    found: dict[str, list[list[float]]] = {}
    tick_ns, rows = results.tick_ps / 1000, packets[:, waited].T.tolist()
    for name, created, started in [
        *((names[source], *times) for source, *times in rows),
        *((terminals[terminal], created, None) for terminal, created in waits if created <= last),
    ]:
        own = found.setdefault(name, [[], []])
        own[0].append(round((created - first) * tick_ns, 1))
        if started is not None and started <= last:
            own[1].append(round((started - first) * tick_ns, 1))
    if len(found) > _MOST_QUEUES or sum(len(own[0]) for own in found.values()) > _MOST_WAITING:
        return {}
    return {name: [sorted(own[0]), sorted(own[1])] for name, own in found.items()}


def _distributions(results: Results) -> list[str]:
    """Return the names of targets that are several terminals."""
    given = results.provenance.resolved.get("routing", {}).get("distribution") or []
    return [one["name"] for one in given]


def _shown(
    rows: Mapping[str, NDArray[Any]], results: Results, since_ps: int | None, until_ps: int | None, most: int
) -> tuple[dict[str, NDArray[Any]], int, int]:
    """Return the shown rows, ordered by their begin, and the first and the last shown tick."""
    begin, end = rows["begin"], rows["end"]
    first, last = int((since_ps or 0) // results.tick_ps), int(results.native["end_time_ticks"])
    if until_ps is not None:
        last = min(last, int(until_ps // results.tick_ps))
    # The engine knows undisturbed moves ahead of its clock; moves that begin after the end are not shown.
    order = np.argsort(begin, kind="stable")
    order = order[begin[order] <= last]
    if since_ps is None and len(order) > most:
        first = int(begin[order[-most]])
    # Packets that were already on their link at the start, or waited behind it, are shown too.
    order = order[(end[order] < 0) | (end[order] >= first) | (rows["goes"][order] > first)]
    if first >= last:
        order = order[:0]
    if since_ps is not None and len(order) > most:
        last = int(begin[order[most]])
        order = order[begin[order] < last]
    return {name: values[order] for name, values in rows.items()}, min(first, last), last


def _packets(rows: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.int64], int]:
    """Return, per row, the number of its packet, and the number of packets."""
    known = rows["source"] != _NOBODY
    source, kind = (rows[name].astype(np.int64) for name in ("source", "kind"))
    keys = np.stack([source, rows["started"], kind & 3])[:, known]
    found, inverse = np.unique(keys, axis=1, return_inverse=True)
    packet = np.full(len(source), -1, np.int64)
    packet[known] = inverse.ravel()
    return packet, found.shape[1]


def _losses(
    losses: Mapping[str, NDArray[Any]],
    rows: Mapping[str, NDArray[Any]],
    packet: NDArray[np.int64],
    first: int,
    last: int,
    tick_ns: float,
) -> list[list[float]]:
    """Return time in ns from the first shown moment, link and packet of each loss of a shown packet."""
    numbers = dict(
        zip(zip(rows["source"].tolist(), rows["started"].tolist(), strict=True), packet.tolist(), strict=True)
    )
    keys = zip(*(losses[name].tolist() for name in ("begin", "link", "source", "started")), strict=True)
    return [
        [round((begin - first) * tick_ns, 2), link, numbers[source, started]]
        for begin, link, source, started in keys
        if first <= begin <= last and (source, started) in numbers
    ]


def _codes(codes: Mapping[str, NDArray[Any]], first: int, last: int, tick_ns: float) -> list[list[float]]:
    """Return begin and end in ns from the first shown moment, and link, of each code, in order."""
    order = np.argsort(codes["begin"], kind="stable")
    order = order[(codes["end"][order] >= first) & (codes["begin"][order] <= last)][:_MOST_CODES]
    begin, end = (np.round((codes[name][order] - first) * tick_ns, 2) for name in ("begin", "end"))
    return [
        list(row) for row in zip(begin.tolist(), end.tolist(), codes["link"][order].tolist(), strict=True)
    ]


def _ends(rows: Mapping[str, NDArray[Any]], packet: NDArray[np.int64], number: int) -> list[list[int]]:
    """Return source, target and start per packet; if only a bus transfer is shown, the source twice."""
    bus = rows["kind"] & _BUS > 0
    order = np.argsort(~bus, kind="stable")  # the last row of a packet is decisive
    order = order[packet[order] >= 0]
    found = np.zeros((3, number), np.int64)
    target = np.where(bus, rows["source"], rows["target"])
    found[:, packet[order]] = np.stack([rows["source"], target, rows["started"]])[:, order]
    return found.tolist()


def _said(shown: Mapping[str, Any], packets: int) -> str:
    """Describe what is shown, in a sentence."""
    first, last = shown["from_ns"], shown["from_ns"] + shown["until_ns"]
    if not packets:
        return f"No packet was under way after {moment(first)}."
    return f"{packets:,} packets under way from {moment(first)} to {moment(last)} of the run."
