"""The drawing of the network in a report: links coloured by load, and the limiting one marked."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..process.libraries import pl
from ..topology.graph import Graph
from .drawing import fabric_svg, plan
from .drawing.style import scale_of
from .page import Drawing, Prose, file_text, number, source_hash

_MOST_TOLD = 20_000
"""With more links a drawing has only their utilisation: the tables have the rest."""


def fabric(
    graph: Graph | None,
    utilisation: Sequence[float] | np.ndarray,
    when: str = "",
    table: pl.DataFrame | None = None,
    limit: Mapping[str, Any] | None = None,
    cycle: Sequence[str] = (),
) -> list[Drawing | Prose]:
    """Return the network with its links coloured by utilisation, or a sentence if it has too many links.

    Links and terminals show their own numbers; with the table of links, more than the utilisation. The link
    that is the ``limit`` of a summary is marked, or the links of the ``cycle`` of a deadlock.
    """
    if graph is None or not len(utilisation):
        return []

    if graph.links > plan.MOST_LINKS:
        size = f"{number(graph.links)} links"
        return [
            Prose("The fabric", f"Not drawn: {size} would make this file very large. The tables say more.")
        ]
    of_lines = plan.is_large(graph)
    svg = "" if of_lines else fabric_svg(graph, np.asarray(utilisation))
    note = f"Colour is utilisation{when}: the share of the time in which the wire was occupied."
    if table is None or graph.links > _MOST_TOLD:
        table = pl.DataFrame({"link": graph.link_names, "utilisation": np.asarray(utilisation)})
    numbers = own_numbers(table)
    if of_lines:
        numbers["large"] = plan.parts_of(graph)
        note += " Ctrl and the wheel or + and − enlarge, dragging moves."
    held = (limit or {}).get("name")
    if cycle:
        numbers["limit"] = [numbers["names"].index(name) for name in cycle]
        note += " The bright marks are at the links of the deadlock."
    elif held in numbers["names"]:
        numbers["limit"] = numbers["names"].index(held)
        note += f" The bright mark is at what is nearest to its limit, or limits: {held}."
    return [Drawing("The fabric", svg, note, numbers)]


_OWN = {
    "utilisation": ("utilisation", 1.0, "share"),
    "blocked_share": ("blocked", 1.0, "share"),
    "retry_share": ("retries", 1.0, "share"),
    "echo_share": ("echoes", 1.0, "share"),
    "packets": ("packets", 1.0, "count"),
    "retried": ("sent again", 1.0, "count"),
    "waiting_ns_mean": ("mean wait (µs)", 1e-3, "mean"),
    "busied": ("busied", 1.0, "count"),
}
"""Columns of links that the drawing shows: name, factor and kind."""


def own_numbers(table: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of each link that a drawing shows, from the table of links."""
    columns = []
    for name, (label, factor, kind) in _OWN.items():
        if name in table.columns:
            values = table[name].to_numpy().astype(float) * factor
            kept = [None if value != value else float(f"{value:.4g}") for value in values.tolist()]
            top = scale_of(values, label).top
            columns.append({"label": label, "values": kept, "kind": kind, "top": top})
    return {"names": table["link"].to_list(), "columns": columns}


_SOURCES = "frame-src 'none'; "
_PLACE = "<!-- replay -->\n"
_SCRIPT = "<!-- script of the replay -->\n"
"""Marks of the template; the names of users cannot contain them, because they are escaped."""
_BUTTONS = """<section class="replay">
<p><button type="button" id="play">Play its packets</button>
<button type="button" id="keep">Save replay</button>
<span class="note" id="told">{said}</span></p>
</section>
"""


def with_replay(report: str, replay: str, said: str) -> str:
    """Return a report that plays, and saves, a replay: a whole HTML file made of text of ours and JSON.

    A page in a frame may only run what the page around it may: the report allows the scripts of the replay.
    """
    packed = base64.b64encode(gzip.compress(replay.encode(), 6, mtime=0)).decode()
    allowed = " ".join(dict.fromkeys(re.findall(r"'sha256-[A-Za-z0-9+/=]+'", replay.split("<style>", 1)[0])))
    script = file_text("replay.js")
    packs = f'<script type="application/gzip" id="replay">{packed}</script>\n<script>{script}</script>\n'
    for mark, text in (
        (_SOURCES, "frame-src blob:; "),
        ("img-src data:; script-src", f"img-src data: blob:; script-src '{source_hash(script)}' {allowed}"),
        (_PLACE, _BUTTONS.format(said=escape(said))),
        (_SCRIPT, packs),
    ):
        if report.count(mark) != 1:
            raise ValueError(f"the report has no place for {mark!r}")
        report = report.replace(mark, text)
    return report
