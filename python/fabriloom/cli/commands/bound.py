"""``fabriloom bound``: the largest delay of each flow, and its causes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from .. import exits
from ..exits import Mistake, say
from ..frame import Call, command, document, flag, option
from ..house import Bounds, Line, Part, Promise, bars, bounds, promised, show

ROWS = 20
"""Most flows that are printed; ``--json`` has all."""
NAMED = 8
"""Most flows that a message names."""


@command("file settings seed", "json")
def bound(
    call: Call,
    tries: Annotated[
        int, option("--tries N", "Runs per flow in the search for its longest delay.", min=0, max=10**6)
    ] = 60,
    flow: Annotated[
        str | None, option("--flow SOURCE:TARGET", "Show the parts of the bound of this flow.")
    ] = None,
    strict: Annotated[bool, flag("--strict", "Exit code 1 if a requirement is not guaranteed.")] = False,
) -> int:
    """Compute an upper bound on the delay of every flow, and search for the longest delay."""
    scenario = call.scenario()
    with bars.bar("bound") as bar:
        found = bounds.bound(
            scenario, tries, lambda done, of: bar.steps(done, of, "looking for late packets")
        )
    which = _worst(found) if flow is None else _named(found, flow)
    if call.json:
        say(document(_document(found, which)))
    else:
        _print_table(found)
        if found.promises:
            promised.of_bounds(found)
        _print_missing(found, which)
        if lines := _lines(found, which):
            say(f"\n{_heading(found, which)}:")
            show.pairs(("  " * line.depth + show.us(line.time_ns), line.words) for line in lines)
    return exits.DISAGREES if strict and not promised.are_guaranteed(found.promises) else exits.OK


def _worst(found: Bounds) -> Promise | int:
    """Return the requirement with the least margin; without any, the flow with the largest bound."""
    if promise := _tightest(found.promises):
        return promise
    order = found.order()
    return next((flow for flow in order if found.most(flow) is not None), order[0])


def _tightest(promises: Iterable[Promise]) -> Promise | None:
    """Return the requirement whose guarantee leaves the least margin, if any is known."""
    known = [one for one in promises if one.bound_ns is not None]
    return max(known, key=lambda one: (one.bound_ns or 0.0) / one.requirement_ns, default=None)


def _named(found: Bounds, flow: str) -> Promise | int:
    """Return the requirement or the flow of a name, or of "source:target"."""
    kept = [one for one in found.promises if flow in (one.flow, f"{one.source}:{one.target}")]
    if promise := _tightest(kept):
        return promise
    names = list(found.compiled.sources.given["flow_name"]) if found.flow_of else []
    if flow in names:
        return found.flow_of[names.index(flow)]
    pairs = [found.named(number).replace(" -> ", ":") for number in found.order()]
    if flow in pairs:
        return found.order()[pairs.index(flow)]
    raise Mistake(f"--flow {flow}: there is no such flow; {_offer(flow, [*names, *pairs])}")


def _offer(flow: str, known: list[str]) -> str:
    """Say which flow may be meant."""
    turned = ":".join(reversed(flow.split(":")))
    near = [turned] if turned in known else difflib.get_close_matches(flow, known, 1)
    if near:
        return f"did you mean {near[0]}?"
    first = list(dict.fromkeys(known))
    return f"there are {', '.join(first[:NAMED])}{', …' if len(first) > NAMED else ''}"


def _heading(found: Bounds, which: Promise | int) -> str:
    if isinstance(which, int):
        return f"What the smaller bound of {found.named(which)} consists of"
    whole = f"{which.flow}, {show.us(which.bound_ns)} from creation to delivery"
    return f"What the guarantee of {whole}, consists of"


def _lines(found: Bounds, which: Promise | int) -> Sequence[Line]:
    return found.tree(which) if isinstance(which, int) else found.blocked(which).lines


def _print_table(found: Bounds) -> None:
    rows = found.first(ROWS)
    both = {"bound_ns": "bound", "periods_ns": "with periods"}
    columns = {key: head for key, head in both.items() if any(row[key] is not None for row in rows)}
    heads = [word for head in columns.values() for word in (head, "worst found", "share")]
    show.table(
        ["source", "target", "packet", *heads],
        [[row["source"], row["target"], f"{row['packet_bytes']} B", *_beside(row, columns)] for row in rows],
        [False, False, *[True] * (1 + len(heads))],
    )
    if found.doubt:
        say(f"{found.doubt[0].upper()}{found.doubt[1:]}.")
    more = len(found.worst.flows) - len(rows)
    if more > 0:
        say(f"{more:,} flows with smaller bounds are not shown; --json has all.")


def _print_missing(found: Bounds, which: Promise | int) -> None:
    """Say why flows have no bound: each reason once, with one of its flows, the asked one if it is."""
    flows: dict[str, list[int]] = {}
    for flow in sorted(found.order(), key=lambda flow: flow != which):
        if why := _no_bound(found, flow):
            flows.setdefault(why, []).append(flow)
    for why, of in flows.items():
        more = f" and {len(of) - 1:,} more" if len(of) > 1 else ""
        say(f"No bound for {found.named(of[0])}{more}: {why}.")


def _no_bound(found: Bounds, flow: int) -> str:
    """Return why a flow has no bound; empty if it has one."""
    if found.most(flow) is not None:
        return ""
    totals = [found.periods.totals[row] for row in found.rows.get(flow, [])]
    return next((one for one in totals if isinstance(one, str)), found.doubt or bounds.STARVED)


def _beside(row: dict[str, Any], columns: Iterable[str]) -> list[str]:
    """Return the cells for a bound, the longest delay found, and its share of the bound."""
    cells = []
    for key in columns:
        prefix = key.removesuffix("ns").removeprefix("bound_")
        share = row[f"{prefix}found_share"]
        shown = "-" if share is None else f"{share:.2f}"
        cells += [show.us(row[key]), show.us(row[f"{prefix}found_ns"]), shown]
    return cells


def _document(found: Bounds, which: Promise | int) -> dict[str, Any]:
    flow = which if isinstance(which, int) else found.flow_of[which.row]
    return {
        "name": found.compiled.scenario.name,
        "scenario_sha256": found.compiled.scenario.sha256,
        "flows": found.table.to_dicts(),
        "requirements": promised.document(found.promises),
        "largest": {
            "flow": found.named(flow),
            "parts": []
            if found.sent(flow) is None
            else [_part(found, part) for part in found.blocking(flow)],
            "lines": [
                {"ns": line.time_ns, "depth": line.depth, "words": line.words}
                for line in _lines(found, which)
            ],
        },
    }


def _part(found: Bounds, part: Part) -> dict[str, Any]:
    of_packet = part.kind in ("ahead", "other", "own")
    return {
        "kind": part.kind,
        "link": found.worst.network.name(part.link),
        "ns": part.ticks * found.tick_ns,
        "flow": found.named(part.flow) if of_packet else None,
        "packets": part.packets,
        "parts": [_part(found, inner) for inner in part.parts],
    }
