"""The effect of every single failure of a cable or a switch on a network, without running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compile import Compiled
from ..results.columns.faults import FAILURE
from ..results.figures import figures, in_percent
from ..routing import AROUND
from ..topology import Graph
from .kinds import inspection_of
from .left import Left
from .port_loads import Ints

KINDS = ("all", "cables", "switches")
"""The kinds of failures."""
RULES = (*AROUND, "lash")
"""The rules of new tables after a failure."""
MOST_WAYS = 1 << 34
"""Limit of table entries, or ways between ports, times failures: some minutes."""
SHOWN = 8


def failures(graph: Graph, kinds: str) -> list[tuple[str, str, Ints]]:
    """Return kind, name and links of each single failure: cables, by the name of one link, and switches."""
    found: list[tuple[str, str, Ints]] = []
    if kinds in ("all", "cables"):
        reverse = np.asarray(graph.link_reverse)
        for link in range(graph.links):
            if reverse[link] < 0 or link < reverse[link]:
                dead = [link] if reverse[link] < 0 else [link, int(reverse[link])]
                found.append(("cable", graph.link_names[link], np.array(dead)))
    if kinds in ("all", "switches"):
        source, target = np.asarray(graph.link_source), np.asarray(graph.link_target)
        for switch, name in enumerate(graph.switch_names):
            found.append(("switch", name, np.flatnonzero((source == switch) | (target == switch))))
    return found


def look(
    compiled: Compiled,
    kinds: str = "all",
    reroute: str | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Evaluate every single failure; returns them ready for JSON, the worst first. Raises ScenarioError.

    Args:
        compiled: the network.
        kinds: one of ``KINDS``.
        reroute: the rule of new tables after each, one of ``RULES``; None: tables stay.
        progress: called with the finished share.
    """
    if compiled.demand().spread is not None:
        message = "what failures leave of packets that go to several terminals is not followed"
        raise compiled.scenario.error(message, ("routing", "distribution"), "remove it", key=True)
    ways = inspection_of(compiled).ways(reroute)
    which = failures(ways.graph, kinds)
    if len(which) * ways.count > MOST_WAYS:
        message = f"{len(which):,} failures of {ways.count:,} ways are too many to follow"
        raise compiled.scenario.error(message, ("topology",), "take a smaller network")
    nothing = ways.after("none", "", np.empty(0, np.int64))
    found = list[Left]()
    for failure in which:
        found.append(ways.after(*failure))
        progress(len(found) / len(which))
    found.sort(key=lambda left: left.rank)
    return {
        "kinds": kinds,
        "reroute": reroute,
        "deadlock_free": compiled.cycle is None and not ways.deadlocks,
        "deadlock_count": ways.deadlocks if compiled.cycle is None or reroute else len(found),
        "between_count": ways.between,
        "without": FAILURE.row_of(nothing),
        "count": len(found),
        "cut_off_count": sum(left.cut_off > 0 for left in found),
        "lossy_count": sum(left.lossy > 0 for left in found),
        "failures": [FAILURE.row_of(left) for left in found],
    }


HEAD = (
    "failure of",
    "cut off",
    "to spare",
    "lossy",
    "of the traffic arrives",
    "MB/s, evenly shared",
    "full first",
)
"""Head of the table of the worst failures."""


def table(found: dict[str, Any]) -> list[list[str]]:
    """Return the worst failures as rows, below the network without a failure; equal ones share a row."""
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in found["failures"]:
        alike.setdefault((row["kind"], *_cells(row)), []).append(row)
    rows = [["nothing", *_cells(found["without"]), found["without"]["busiest_link"] or "-"]]
    for (kind, *cells), same in list(alike.items())[:SHOWN]:
        others = f" and {len(same) - 1:,} more" if len(same) > 1 else ""
        rows.append([f"{kind} {same[0]['name']}{others}", *cells, same[0]["busiest_link"] or "-"])
    return rows


def _cells(row: dict[str, Any]) -> list[str]:
    most = row["accepted_mbytes_per_s_bound"]
    return [
        f"{row['cut_off_pairs']:,}",
        f"{row['spared_pairs']:,}",
        f"{row['lossy_pairs']:,}",
        in_percent(row["delivered_share"]),
        "-" if most is None else figures(most),
    ]


def tables_said(found: dict[str, Any]) -> str:
    """Say whether routing tables stay after a failure."""
    if found["reroute"]:
        return f"After each failure between switches there are new tables ({found['reroute']})."
    return "Routing tables stay; groups shrink to what is left."


def verdict(found: dict[str, Any]) -> str:
    """Summarise all single failures in a sentence."""
    count, cut_off, lossy = found["count"], found["cut_off_count"], found["lossy_count"]
    if not count:
        return "There is nothing that could fail"
    many = f"Of {count:,} single failures"
    if cut_off:
        text = f"{many} {cut_off:,} cut terminals off"
        spared = sum(row["spared_pairs"] > 0 for row in found["failures"])
        if spared:
            text += (
                f", {spared:,} of them although another port would do: senders notice only failures of "
                "their own cables, so somebody has to tell them"
            )
    elif lossy:
        text = f"{many} none cuts terminals off, but {lossy:,} lose packets that take the wrong way"
    else:
        text = f"{many} none cuts terminals off or loses packets for good"
    free = "none can deadlock"
    if loops := found["deadlock_count"]:
        whole = "all can deadlock, as the whole network can"
        free = f"{loops:,} can deadlock with their new tables" if found["reroute"] else whole
    if between := found["between_count"]:
        free = free if loops else "none can deadlock by new tables alone"
        free += f", {between:,} beside packets by the old"
    worst = found["failures"][0]
    share = in_percent(worst["delivered_share"])
    return f"{text}; {free}; the worst is {worst['kind']} {worst['name']}: {share} of the traffic arrives"
