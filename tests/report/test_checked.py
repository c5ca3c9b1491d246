"""Reports of checks: the page says what the command prints, and the picture has the loads of the bound."""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import pytest
from fabriloom import load
from fabriloom.cli.app import app
from fabriloom.compile import compile
from fabriloom.report import for_check
from fabriloom.studies import failures, inspection
from fabriloom.studies.checked import Checked
from typer.testing import CliRunner

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
