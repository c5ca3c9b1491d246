# ruff: noqa: E501  (a page of prose)
"""Writes docs/reference/python.md: the Python interface, from its docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import fabriloom
from fabriloom import topology
from fabriloom.bounds import Bounds
from fabriloom.pictures import Picture
from fabriloom.results import Results
from fabriloom.results.files import Tabled
from fabriloom.results.statistics import Histogram
from fabriloom.scenario import Scenario, ScenarioError
from fabriloom.studies import Comparison, Curve, Point, Repetition, Saturation
from fabriloom.studies.run_all import Study
from fabriloom.studies.search import Searched

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"

_HEAD = """# The Python interface

Written from the docstrings by `FABRILOOM_EXPECT=write pytest tests/python`; do not edit it.

```python
>>> import fabriloom
>>> scenario = fabriloom.Scenario.from_dict({
...     "name": "small grid",
...     "topology": {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 2},
...     "traffic": {"load": 0.3},
...     "run": {"duration": "200 us", "precision": 0.0},
... })
>>> scenario
<Scenario 'small grid': grid [2, 2], ds-link-c104, uniform traffic at load 0.3>
>>> results = fabriloom.run(scenario)
>>> graph = fabriloom.topology.build("ring", switches=4, terminals_per_switch=2)  # or from_networkx(…), or a file
>>> fabriloom.run({"topology": graph, "traffic": {"load": 0.1}, "run": {"duration": "200 us"}}).graph == graph
True
>>> results.end_reason
'time_limit'
>>> results.links.columns[:2], len(results.links) == results.graph.links
(['link', 'source'], True)
>>> study = fabriloom.curve(scenario, [0.1, 0.3])
>>> study.table["accepted_mbytes_per_s"].to_list()[0] > 0
True
>>> fabriloom.compare([scenario, scenario.with_settings({"name": "longer", "traffic.length": "128 B"})], [0.2])
<Comparison 'small grid vs. longer': 2 points>
>>> fabriloom.draw(results)
<Picture 'Graph grid: 4 switches, 8 terminals, 24 links'>
>>> [picture.title for picture in fabriloom.charts(study)][0]
'Latency against throughput'
>>> try:
...     scenario.with_settings({"traffic.load": 2})
... except fabriloom.ScenarioError as error:
...     print(error)
the setting traffic.load=2: traffic.load is 2, it must be at most 1
 |
 | traffic.load=2
 |              ^
 = 1 is the most that the link of a terminal can carry (100 %); write a fraction such as 0.5

```

In a notebook, pictures, results, studies and bounds show themselves; `fabriloom.widget(scenario)` plays the packets in the cell, and
`fabriloom.widget(scenario, study)` shows the curve beside them, with the extra `fabriloom[notebook]`. Charts need `fabriloom[plots]`. Every table is a Polars data frame:
`write_csv` and `write_parquet` write it, `to_numpy()` and, with the extra `fabriloom[pandas]`, `to_pandas()` convert it. [Results](results.md) defines all columns,
[scenarios](scenario.md) all settings. Names end with their unit: `_ps`, `_ns`, `_bytes`, `_bits_per_s`, `_mbytes_per_s` (10^6 bytes of payload per second).

Functions that run several points share four arguments. `jobs` is the number of parallel runs; results do not depend on it. `out` is a folder in which
finished points are stored, and not run again. `progress` is called at intervals with the progress, `on_point` with every finished point. Ctrl-C ends such a function
early: its result holds the finished points, and `interrupted` is set.

Results, curves, comparisons, repetitions, saturations and studies have `tables()`, their tables by file name; `to_json(path=None)`
returns the summary as JSON text and writes it to `path` if given; `to_parquet(folder)` and `to_csv(folder)` write the tables into
`folder`, which is created if needed, and return the files.

What takes a scenario raises `ScenarioError` (a `ValueError`), whose text is the whole message, if it cannot be run. Outside a scenario, a graph that cannot be built
raises `topology.GraphError`, and a routing `routing.RoutingError`. Any other argument that cannot be used raises a `ValueError`, whose text says what to give.
"""
_PARTS: list[tuple[str, list[tuple[str, Any]]]] = [
    ("Functions", [(f"fabriloom.{name}", getattr(fabriloom, name)) for name in sorted(fabriloom.__all__)]),
    (
        "Graphs",
        [(f"fabriloom.topology.{name}", getattr(topology, name)) for name in ("build", "file", "write")]
        + [
            ("fabriloom.topology.from_networkx", topology.from_networkx),
            ("fabriloom.topology.to_networkx", topology.to_networkx),
        ],
    ),
    (
        "Classes",
        [
            (kind.__name__, kind)
            for kind in (
                Scenario,
                ScenarioError,
                topology.Graph,
                Results,
                Histogram,
                Point,
                Curve,
                Comparison,
                Repetition,
                Saturation,
                Study,
                Searched,
                Bounds,
                Picture,
            )
        ],
    ),
]


_SHARED = re.compile(
    r"`jobs`: number of parallel runs;|`progress`: called at intervals with the progress\.$|`on_point`: called with every"
    r"|`out`: folder in which finished (?:points|runs) are stored(?:, see|\. A stored)|Ctrl-C ends it early: the result holds"
    r"|`ScenarioError`: (?:the|a) scenario (?:or a point )?(?:cannot be run|is wrong)\.$|`scenario`: the scenario\.$"
)
"""What the head of the page says of several functions."""
_OF_ROOMS = {
    "Scenario": "network_kind needs_load port_choice spreads_messages located",
    "ScenarioError": "in_file",
    "Graph": "several remarks extremes network_kind own_rings partner face",
    "Results": "measured_ticks transfers has_requirements has_codes has_congestion_control keeps_links has_trace",
    "Point": "of measured",
    "Comparison": "between",
    "Searched": "search spread axes columns label",
    "Bounds": "compiled worst tried kept doubt flow_of rows waited periods with_periods most promises",
}
"""What one room of the package asks of another, and no user needs."""
_TABLE = re.compile(r"One row per (?!run|point|trial|quantity)")
"""The beginning of what is said of a table that the page of results defines."""


def _text(docstring: str | None) -> str:
    """A docstring as Markdown: roles as code, sections as lists."""
    text = inspect.cleandoc(docstring or "")
    text = re.sub(r":\w+:`[~.]*([^`<>]+)`", r"`\1`", text).replace("``", "`")
    parts = []
    for block in re.split(r"\n\n", text):
        head, _, rest = block.partition("\n")
        if head in ("Args:", "Raises:", "Returns:"):
            entries = re.split(r"\n(?=\S)", inspect.cleandoc(rest))
            lines = [re.sub(r"^([\w, ]+): ", r"`\1`: ", " ".join(entry.split())) for entry in entries]
            kept = [f"- {line}" for line in lines if not _SHARED.match(line)]
            if kept:
                parts.append(("" if head == "Args:" else f"{head}\n\n") + "\n".join(kept))
        elif not _SHARED.match(block):
            parts.append(block)
    return "\n\n".join(parts)


def _signature(name: str, function: Any) -> str:
    found = inspect.signature(function)
    kept = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name not in ("self", "cls")]
    return f"{name}{found.replace(parameters=kept, return_annotation=inspect.Signature.empty)}"


def _members(kind: type) -> list[str]:
    """Public attributes, properties and methods with their own words, in the order of the source."""
    lines, tables = [], []
    left_out = set(_OF_ROOMS.get(kind.__name__, "").split())
    source = inspect.getsource(kind)
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    for name in sorted(
        (fields - left_out) & set(vars(kind).get("__annotations__", {})),
        key=lambda name: source.find(f"    {name}:"),
    ):
        after = re.search(rf'\n    {name}: [^\n]*\n    """(.*?)"""', source, re.DOTALL)
        lines.append(f"- `{name}`" + (f": {' '.join(_text(after[1]).split())}" if after else ""))
    for name, member in vars(kind).items():
        if name.startswith(("_", "model_")) or name in {*fields, *vars(Tabled), *left_out}:
            continue
        if isinstance(member, property | cached_property):
            about = member.fget.__doc__ if isinstance(member, property) else member.__doc__
            if kind is Results and _TABLE.match(about or ""):
                tables.append(f"`{name}`")
            else:
                lines.append(f"- `{name}`: {' '.join(_text(about).split())}")
        elif isinstance(member, staticmethod | classmethod) or inspect.isfunction(member):
            function = getattr(kind, name)
            lines.append(f"- `{_signature(name, function)}`: {' '.join(_text(function.__doc__).split())}")
    if tables:
        lines.append(
            f"- Tables, whose rows and columns are on the page of [results](results.md): {', '.join(tables)}."
        )
    return lines


def page() -> str:
    """The page."""
    parts = [_HEAD]
    for title, things in _PARTS:
        parts.append(f"\n## {title}\n")
        for name, thing in things:
            if isinstance(thing, str) or (inspect.isclass(thing) and title != "Classes"):
                continue
            if inspect.isclass(thing):
                own = thing.__doc__ or ""
                parts.append(f"\n### {name}\n\n{_text(own)}\n\n" + "\n".join(_members(thing)) + "\n")
            else:
                parts.append(f"\n### {name}\n\n`{_signature(name, thing)}`\n\n{_text(thing.__doc__)}\n")
    return "".join(parts)
