"""A replay inside a report: the whole file that plays, packed, behind two buttons."""

from __future__ import annotations

import base64
import gzip
import re
from functools import cache
from html import escape
from importlib import resources

from .page import source_hash

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


@cache
def _script() -> str:
    return resources.files("fabriloom.report").joinpath("replay.js").read_text(encoding="utf-8")


def with_replay(report: str, replay: str, said: str) -> str:
    """Return a report that plays, and saves, a replay: a whole HTML file made of text of ours and JSON.

    A page in a frame may only run what the page around it may: the report allows the scripts of the replay.
    """
    packed = base64.b64encode(gzip.compress(replay.encode(), 6, mtime=0)).decode()
    allowed = " ".join(dict.fromkeys(re.findall(r"'sha256-[A-Za-z0-9+/=]+'", replay.split("<style>", 1)[0])))
    script = _script()
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
