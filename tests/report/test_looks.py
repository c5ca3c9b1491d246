"""What is seen in the light and in the dark, and where the axes of charts end.

Reports of checks: the page says what the command prints, and the picture has the loads of the bound.
"""

from __future__ import annotations

import html
import re
from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fabriloom import Scenario, load, routing
from fabriloom.cli.app import app
from fabriloom.compile import compile
from fabriloom.report import for_check, page
from fabriloom.report.drawing import style as drawing_style
from fabriloom.report.page import Axis, Chart, Series
from fabriloom.report.plot import figure
from fabriloom.studies import failures, inspection
from fabriloom.studies.inspection import Checked
from typer.testing import CliRunner

STYLE = resources.files("fabriloom.report").joinpath("style.css").read_text(encoding="utf-8")


def ramps() -> list[list[str]]:
    """Return the stops of the light and of the dark ramp."""
    return [found.split(", ") for found in re.findall(r"--ramp: ([^;]+);", STYLE)]


def test_the_ramp_of_the_style_sheet_is_that_of_the_drawing() -> None:
    """The dark one gets lighter where the other gets darker, evenly enough to read an order from it."""
    light, dark = ramps()
    assert tuple(light) == drawing_style.RAMP
    for stops, way in ((light, -1), (dark, 1)):
        grey = [
            sum(w * int(c[at : at + 2], 16) for w, at in ((0.2126, 1), (0.7152, 3), (0.0722, 5)))
            for c in stops
        ]
        steps = [way * (after - before) for before, after in pairwise(grey)]
        assert min(steps) > 6, grey


def test_every_colour_of_a_drawing_has_one_for_the_dark() -> None:
    for name in ("PAPER", "INK", "SOFT", "LINE", "BOX", "BOX_EDGE", "NO_VALUE"):
        assert f'.fabric [fill="{getattr(drawing_style, name)}"]' in STYLE, name
    assert "invert(" not in STYLE


def curve(*total: float, network: tuple[float, ...] = (27.0, 31.0, 48.0)) -> list[Series]:
    def points(ys: tuple[float, ...]) -> list[list[float | str | None]]:
        return [[x, y, None, None, ""] for x, y in enumerate(ys)]

    return [Series("", points(network), "line"), Series("with the wait", points(total), "dashed", of="")]


@pytest.mark.parametrize(
    ("total", "log", "top"),
    [
        ((27.0, 31.5, 60.0), False, None),
        ((27.0, 40.0, 400_000.0), False, 100.0),
        ((1.0, 40.0, 96.0), False, None),
    ],
)
def test_the_wait_before_the_network_does_not_flatten_its_curve(
    total: tuple[float, ...], log: bool, top: float | None
) -> None:
    series = curve(*total)
    assert page.is_log(series) == log
    assert page.top(series, log) == top


def test_a_long_span_within_the_network_is_logarithmic_and_still_ends() -> None:
    series = curve(1.0, 60.0, 4e6, network=(1.0, 5.0, 90.0))
    assert page.is_log(series)
    assert page.top(series, True) == 1000.0


def test_figures_end_where_reports_do_and_have_gaps() -> None:
    series = curve(27.0, 40.0, 400_000.0)
    series[0].points[1][1] = None  # type: ignore[index]
    drawn = figure(Chart("t", Axis("x"), Axis("y", top=100.0), series)).axes[0]
    assert drawn.get_ylim() == (0, 100)
    assert [y == y for y in drawn.lines[0].get_ydata()] == [True, False, True]


SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("teaching-credit-loop", "Deadlock can happen"),
        ("teaching-pause", "at the given rates"),
        ("sci-omega-16-ringlet", "at the load at which the first part of the network is full"),
        ("macrame-clos-256", "Deadlock cannot happen"),
    ],
)
def test_a_page_says_what_the_command_prints(name: str, more: str) -> None:
    compiled = compile(load(SCENARIOS / f"{name}.toml"))
    page = for_check(Checked.of(compiled, inspection.inspect(compiled), None))
    assert more in page
    for _, value in inspection.lines(inspection.inspect(compiled)):
        assert html.escape(value, quote=False).replace("'", "&#39;").replace('"', "&#34;") in page


def test_the_fullest_links_name_the_terminals_that_share_them() -> None:
    """A path from a terminal at the switch before a link crosses it if, and only if, its end is named."""
    fabric = {
        "topology": {
            "kind": "clos",
            "terminals": 32,
            "terminals_per_switch": 8,
            "centre_switches": 2,
            "links_per_pair": 2,
        },
        "routing": {"adaptive": False},
    }
    compiled = compile(Scenario.from_dict(fabric))
    checked = Checked.of(compiled, inspection.inspect(compiled), None)
    graph, table = compiled.graph, compiled.routes.table
    assert len(checked.leads_to) == 20
    assert any(graph.link_names[link].startswith("edge(0)>centre") for link in checked.leads_to)
    for link, names in checked.leads_to.items():
        before = int(graph.link_source[link])
        sources = [at for at in range(32) if int(graph.link_target[graph.terminal_out_links[at]]) == before]
        for source in sources:
            on = {at for at in range(32) if at != source and link in routing.path(graph, table, source, at)}
            assert set(names) - {graph.terminal_names[source]} == {graph.terminal_names[at] for at in on}
    assert "Leads to" in for_check(checked)


@pytest.mark.parametrize("name", ["macrame-clos-256", "own-graph", "sci-ring-8", "sci-omega-16-long-ring"])
def test_the_first_link_is_full_or_a_bus_is(name: str) -> None:
    compiled = compile(load(SCENARIOS / f"{name}.toml"))
    used, _ = inspection.use_of_links(compiled)
    first = inspection.inspect(compiled)["channel_load"]["busiest_link"]
    assert len(used) == compiled.graph.links
    if first in compiled.graph.link_names:
        assert used[compiled.graph.link_names.index(first)] == pytest.approx(1.0)
        assert used.max() <= 1.0 + 1e-9
    else:
        assert 0 < used.max() < 1
    assert np.all(used >= 0)


def test_every_failure_is_on_the_page_and_a_file_is_not_replaced(tmp_path: Path) -> None:
    scenario, out = SCENARIOS / "own-graph.toml", tmp_path / "page.html"
    told = CliRunner().invoke(app, ["check", str(scenario), "--fault", "all", "--out", str(out)])
    assert told.exit_code == 0
    found = failures.look(compile(load(scenario)))
    assert html.escape(failures.verdict(found)).replace("&#x27;", "&#39;") in out.read_text()
    assert failures.verdict(found) in told.output
    assert f"Written to {out}" in told.output
    other = CliRunner().invoke(app, ["check", str(scenario), "--out", str(tmp_path / "page.pdf")])
    assert (other.exit_code, "a report is HTML; name it page.html" in other.stderr) == (2, True)
    again = CliRunner().invoke(app, ["check", str(scenario), "--out", str(out)])
    assert again.exit_code == 2
    assert "--out" in again.stderr
