"""The report of a check: what is known of a network before it runs, for an operator or a review."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..results.figures import in_percent
from .fabric import fabric
from .page import Cell, Page, Table, number, render
from .pages import provenance_of, scenario_texts

if TYPE_CHECKING:
    from ..studies.checked import Checked

_MOST = 20


def for_check(checked: Checked) -> str:
    """Return the report of ``fabriloom check`` as HTML."""
    found, failed, origin = checked.found, checked.failed, checked.provenance
    page = Page(
        title=origin.name,
        kind="check",
        description=origin.description,
        verdicts={"": f"Deadlock {found['deadlock']['text']}"},
        warnings=checked.warnings,
        facts=_facts(checked),
    )
    cycle = found["deadlock"]["cycle"] or ()
    page.sections = [
        *fabric(checked.graph, checked.used, checked.when, cycle=cycle),
        _known(checked.lines),
        _fullest(checked),
        *([] if failed is None else [_failures(checked)]),
        *scenario_texts(origin),
    ]
    fault = "" if failed is None else f" --fault {failed['kinds']}"
    page.provenance = provenance_of(
        origin, [("To run it again", f"fabriloom check scenario.json{fault} --out check.html")]
    )
    return render(page)


def _facts(checked: Checked) -> list[tuple[str, str, str]]:
    found, failed = checked.found, checked.failed
    network, load, latency = found["network"], found["channel_load"], found["zero_load_latency_ns"]
    most, shared = load["accepted_mbytes_per_s_bound"], load["shared_load_bound"]
    rate = most * (shared or load["load_bound"]) / load["load_bound"] if most else 0.0
    evenly = (
        f"{number(most)} MB/s with ways shared evenly: "
        if shared and number(rate) != number(most or 0.0)
        else ""
    )
    parts = f"{number(network['switches'])} switches", f"{number(network['terminals'])} terminals"
    facts = [
        ("Parts", *parts),
        (
            "At most" if shared else "With ways shared evenly",
            f"{number(rate)} MB/s",
            f"{evenly}{load['busiest_link']} is full first" if most else "",
        ),
    ]
    if latency["pairs"]:
        facts.append(("Latency without other traffic", f"{number(latency['mean'] / 1e3)} µs", "mean"))
    if failed is not None:
        cut_off = f"{number(failed['cut_off_count'])} cut terminals off"
        facts.append(("Single failures", cut_off, f"of {number(failed['count'])}"))
    return facts


def _known(lines: list[tuple[str, str]]) -> Table:
    rows = [[Cell(name), Cell(value)] for name, value in lines]
    return Table("What is known without a run", ["What", "Value"], rows, [False, False])


def _fullest(checked: Checked) -> Table:
    """Return the links that are used most."""
    used, names = checked.used, checked.graph.link_names
    order = [int(at) for at in np.argsort(-used, kind="stable")[:_MOST] if used[at] > 0]
    top = max((float(used[at]) for at in order), default=1.0)
    rows = [
        [Cell(names[at]), Cell(in_percent(float(used[at])), float(used[at]) / top, float(used[at]))]
        for at in order
    ]
    many = number(int(np.count_nonzero(used)))
    note = f"{len(rows)} of {many} links with traffic; utilisation{checked.when}."
    return Table("Links that carry most", ["Link", "Utilisation"], rows, [False, True], note)


def _failures(checked: Checked) -> Table:
    """Return every single failure that matters, the worst first."""
    verdict, head, rows = checked.failure_table()
    cells = [[Cell(cell) for cell in row] for row in rows]
    return Table("Single failures", head, cells, [False, *[True] * 5, False], f"{verdict}.")
