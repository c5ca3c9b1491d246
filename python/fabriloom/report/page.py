"""A report as data, and its rendering into one HTML file.

And numbers, times and data as its parts: cells, tables of data frames, points of charts, texts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from ..process.libraries import pl
from ..results.figures import deviation, figures, measured
from .drawing.style import round_above

MOST_ON_A_LINE = 30
"""If solid points differ by more than this factor, the axis is logarithmic, so that low ones stay visible."""
ROOM, ROOM_LOG = 2, 10
"""An axis that a dashed line leaves ends at this multiple of the highest solid point."""


def is_log(series: Sequence[Series]) -> bool:
    heights = [y for y in _heights(series, dashed=False) if y > 0]
    return bool(heights) and max(heights) > MOST_ON_A_LINE * min(heights)


def top(series: Sequence[Series], log: bool) -> float | None:
    """Return where a vertical axis ends; None: where its points end."""
    end = (ROOM_LOG if log else ROOM) * max(_heights(series, dashed=False), default=0.0)
    if not end or max(_heights(series, dashed=True), default=0.0) <= end:
        return None
    return round_above(end)


def _heights(series: Sequence[Series], dashed: bool) -> list[float]:
    chosen = (one for one in series if (one.style == "dashed") == dashed)
    return [point[1] for one in chosen for point in one.points if point[1] is not None]


@dataclass(frozen=True)
class Units:
    """The units of throughput and latency on the axes of charts."""

    accepted: str
    latency: str
    of_flits: bool = False

    def throughput(self, summary: Mapping[str, Any], end: str = "") -> float | None:
        """Return the accepted throughput of a run, or its half-width (``end="_ci95"``)."""
        if self.of_flits:
            return summary["flits"][f"accepted_per_node_cycle{end}"]
        return summary[f"accepted_mbytes_per_s{end}"]

    def time(self, summary: Mapping[str, Any], value_ns: float | None) -> float | None:
        if value_ns is None:
            return None
        return value_ns / (summary["flits"]["cycle_ns"] if self.of_flits else 1e3)


USUAL = Units("accepted throughput (MB/s)", "mean latency (µs)")
_FLITS = Units("accepted (flits/node/cycle)", "mean latency (cycles)", of_flits=True)


def units_of(summaries: Iterable[Mapping[str, Any]]) -> Units:
    """Return flits and cycles where all runs are of flits; else MB/s and µs."""
    found = [*summaries]
    return _FLITS if found and all("flits" in summary for summary in found) else USUAL


@dataclass(frozen=True)
class Series:
    """One line or cloud of points of a chart."""

    name: str
    points: Sequence[Sequence[Any]]
    """Each ``[x, y, y low, y high, label]``, see :func:`.cells.spot`."""
    style: str = "line"
    """``line``, ``dashed``, ``step``, ``points`` or ``published``."""
    hollow: Sequence[int] = field(default_factory=list)
    """Numbers of the points drawn hollow: those past saturation."""
    of: str = ""
    """Name of the series whose colour this one shares; empty: its own colour."""


@dataclass(frozen=True)
class Axis:
    label: str
    log: bool = False
    top: float | None = None
    """Where it ends; None: where its points end."""


@dataclass(frozen=True)
class Chart:
    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    note: str = ""


MOST_OPEN_ROWS = 60


@dataclass(frozen=True)
class Cell:
    """One cell of a table: a text, and a bar of ``share`` (0 to 1) behind it if given."""

    text: str
    share: float | None = None
    sort: float | str | None = None
    mark: str = ""
    """``good``, ``bad``, ``quiet``, ``over1`` to ``over3``, ``under1`` to ``under3`` or nothing."""
    below: str = ""
    """A smaller line under the text."""


@dataclass(frozen=True)
class Table:
    """A table; ``numbers``: right-aligned columns."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: Sequence[bool]
    note: str = ""

    @property
    def folded(self) -> bool:
        """Whether the table is collapsed at first, as long ones are."""
        return len(self.rows) > MOST_OPEN_ROWS


@dataclass(frozen=True)
class HeatMap:
    """Numbers over two settings: one row per value of the first, one column per value of the second."""

    title: str
    down: str
    """Path of the first setting."""
    down_values: Sequence[str]
    across: str
    across_values: Sequence[str]
    cells: Sequence[Sequence[float | None]]
    """None: not measured."""


@dataclass(frozen=True)
class Drawing:
    """The fabric as SVG text made by ``drawing.fabric_svg``, or a heat map; every name is escaped. A fabric
    too large for that has no text, but its parts under ``large`` in ``links``: see ``plan.parts_of``."""

    title: str
    svg: str
    note: str = ""
    links: Mapping[str, Any] | None = None
    """Values of links and terminals, and what can be coloured.

    ``names`` of the links; ``limit``, the number of the limiting link, if
    there is one; and ``columns``, each with ``label``, ``values``, ``kind`` (``share``, ``count`` or
    ``mean``) and the ``top`` of its scale."""
    heat_map: HeatMap | None = None
    """The numbers of a heat map."""


@dataclass(frozen=True)
class Text:
    title: str
    text: str
    note: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Heading:
    """The heading of a section of the page, with a paragraph about it."""

    title: str
    note: str = ""
    short: str = ""
    """The name of this section in addresses; empty: from the title."""

    @property
    def anchor(self) -> str:
        """Return the anchor of the section in the page."""
        return re.sub(r"[^a-z0-9]+", "-", (self.short or self.title).lower()).strip("-")


@dataclass(frozen=True)
class Prose:
    """Paragraphs in markdown; HTML in them is shown as text, and links and images are ignored."""

    title: str
    text: str
    note: str = ""

    def html(self) -> str:
        from markdown_it import MarkdownIt

        maker = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])
        return str(maker.render(self.text))


@dataclass
class Page:
    title: str
    kind: str
    """Kind of report, one or two words."""
    description: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """The answer in one sentence, by name of the network."""
    status: tuple[str, str] = ("", "")
    """How the run ended: a word and a sentence."""
    status_mark: str = ""
    warnings: list[str] = field(default_factory=list)
    """Warnings to read before the results."""
    facts: list[tuple[str, str, str]] = field(default_factory=list)
    """The key numbers: (name, value, note)."""
    sections: list[Chart | Table | Drawing | Text | Heading | Prose] = field(default_factory=list)
    provenance: list[tuple[str, str]] = field(default_factory=list)

    def interrupt(self, told: str) -> None:
        """Say that the runs were interrupted, and what that means."""
        self.status, self.status_mark = ("interrupted", told), "bad"


def number(value: float | None, digits: int = 4) -> str:
    """Format a number with ``digits`` significant digits and thin spaces; a dash for None."""
    return _typeset(figures(value, digits, none="–"))


def plus_minus(value: float | None, ci95: float | None) -> str:
    """Format a number with its half-width."""
    return _typeset(measured(value, ci95, none="–"))


def signed(part: float | None) -> str:
    """Format a deviation as a percentage with its sign; a dash for None."""
    return deviation(part, none="–").replace("-", "\u2212")


_LONG = re.compile(r"(?<![\d.])\d{4,}(?![\d]*e)")


def _typeset(text: str) -> str:
    """Add thin spaces to whole parts of more than three digits, and minus signs."""
    grouped = _LONG.sub(lambda found: f"{int(found[0]):,}".replace(",", "\u202f"), text)
    return re.sub(r"e([+-])0*(\d)", lambda e: "e" + e[1].replace("+", "") + e[2], grouped).replace(
        "-", "\u2212"
    )


@cache
def file_text(path: str, room: str = "fabriloom.report") -> str:
    """Return the text of a file that is installed with a room."""
    return resources.files(room).joinpath(*path.split("/")).read_text(encoding="utf-8")


def script_safe_json(data: Any) -> str:
    """Return JSON whose strings cannot end the surrounding script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def source_hash(script: str) -> str:
    """Return the hash by which a content security policy allows this one script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _template() -> Any:
    """Return the template of all reports, which takes longer to compile than to fill."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(file_text("template.html.j2"))


def render(page: Page) -> str:
    """Render the page as one HTML document.

    Its content security policy allows only our own scripts, by hash, and no downloads: even a name that is
    not escaped could do no harm.
    """
    from markupsafe import Markup

    drawn = [section.links for section in page.sections if isinstance(section, Drawing)]
    large = ("vendor/lines.min.js", "large.js") if any("large" in (links or {}) for links in drawn) else ()
    names = ("vendor/charts.min.js", "reach.js", "plots.js", *large, "saving.js", "report.js")
    scripts = [file_text(name) for name in names]
    sections = [(type(section).__name__.lower(), section) for section in page.sections]
    charts = [asdict(section) for section in page.sections if isinstance(section, Chart)]
    maps = [
        asdict(section.heat_map)
        for section in page.sections
        if isinstance(section, Drawing) and section.heat_map
    ]
    return _template().render(
        page=page,
        sections=sections,
        style=Markup(file_text("style.css")),
        scripts=[Markup(script) for script in scripts],
        script_hashes=[Markup(source_hash(script)) for script in scripts],
        data=Markup(script_safe_json(charts)),
        maps=Markup(script_safe_json(maps)),
        fabrics=Markup(script_safe_json(drawn)),
        svg=Markup,
    )


def micro(value_ns: float | None) -> float | None:
    """Return a time in µs."""
    return None if value_ns is None else value_ns / 1e3


def amount(value: float | None, digits: int = 4) -> Cell:
    return Cell(number(value, digits), None, value)


def micros(value_ns: float | None) -> Cell:
    """Return the cell of a time in µs."""
    return Cell(number(micro(value_ns)), None, value_ns)


def percent(share: float | None) -> Cell:
    """Return the cell of a share in per cent, with its bar; a dash for None."""
    return Cell("–" if share is None else f"{number(100 * share, 3)} %", share, share)


Columns = dict[str, tuple[str, Callable[[Any], Cell]]]
"""Per heading the column of a data frame, and what makes a cell of its value: ``Cell`` of a text."""


def listed(title: str, columns: Columns, rows: pl.DataFrame, note: str) -> list[Table]:
    """Return columns of a data frame as a table; none without rows."""
    return [table_of(title, columns, rows, note)] if len(rows) else []


MOST = 20
"""Most rows of a table of the first ones."""


def first(rows: pl.DataFrame, by: str | pl.Expr) -> pl.DataFrame:
    """Return the rows with the largest values of a column, or of an expression, the largest first."""
    return rows.sort(by, descending=True, maintain_order=True).head(MOST)


def busiest(title: str, columns: Columns, rows: pl.DataFrame, by: str, note: str) -> list[Table]:
    """Return the first rows by a column as a table, with a note that says of how many they are the busiest.

    ``note``: begins with what they are.
    """
    shown = first(rows, by)
    return listed(title, columns, shown, f"The {len(shown)} busiest of {number(len(rows))} {note}")


def table_of(title: str, columns: Columns, rows: pl.DataFrame, note: str) -> Table:
    """Return columns of a data frame as a table."""
    cells = [[made(row[name]) for name, made in columns.values()] for row in rows.iter_rows(named=True)]
    return Table(title, [*columns], cells, [made is not Cell for _, made in columns.values()], note)


def spot(x: Any, y: Any, label: str = "", half: float | None = None) -> list[Any]:
    """Return a point of a chart, with the half-width of its interval if it is known."""
    low, high = (None, None) if y is None or half is None else (y - half, y + half)
    return [x, y, low, high, label]


def json_text(title: str, data: Any) -> Text:
    """Return data as indented JSON, collapsed at first."""
    return Text(title, json.dumps(data, indent=2, ensure_ascii=False), folded=True)
