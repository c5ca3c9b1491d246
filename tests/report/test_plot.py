"""Figures for papers: every chart of a report, the same bytes each time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib
import pytest
from fabriloom.cli.app import app
from fabriloom.report import page, plot
from typer.testing import CliRunner


def chart() -> page.Chart:
    """Two lines, one with intervals, and a published point."""
    series = [
        page.Series("a <b> & \u2028", [[1.0, 2.0, 1.5, 2.5, ""], [3.0, 4.0, 3.0, 5.0, "label"]]),
        page.Series("steps", [[1.0, 1.0, None, None, ""], [4.0, 0.01, None, None, ""]], "step"),
        page.Series("published", [[2.0, 3.0, None, None, ""]], "published"),
    ]
    return page.Chart(
        "Latency against </script> throughput", page.Axis("x (MB/s)"), page.Axis("y", True), series
    )


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report with two charts."""
    shown = page.Page(title="t", kind="run")
    shown.sections = [chart(), chart()]
    file = tmp_path / "report.html"
    file.write_text(page.render(shown), encoding="utf-8")
    return file


def test_charts_come_back_as_they_were(report: Path) -> None:
    assert plot.charts_in(report.read_text(encoding="utf-8")) == [chart(), chart()]


def test_maps_come_back_behind_the_charts_and_are_drawn(report: Path, tmp_path: Path) -> None:
    kept = page.HeatMap(
        "Throughput over both", "a.$x$", ["1", "2"], "b", ["u", "v", "w"], [[1.0, None, 3.5], [4.0, 5.0, 6e5]]
    )
    shown = page.Page(title="t", kind="sweep")
    shown.sections = [page.Drawing("m", "<svg></svg>", heat_map=kept), chart()]
    report.write_text(page.render(shown), encoding="utf-8")
    assert plot.charts_in(report.read_text(encoding="utf-8")) == [chart(), kept]
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(tmp_path / "out"), "--figure", "2"])
    assert done.exit_code == 0
    svg = (tmp_path / "out" / "2-throughput-over-both.svg").read_text(encoding="utf-8")
    assert all(text in svg for text in (">a.$x$<", ">w<", ">3.5<", "600\u202f000"))
    assert plot.drawn(kept, "png") == plot.drawn(kept, "png")


@pytest.mark.parametrize("form", plot.FORMATS)
def test_the_same_chart_gives_the_same_bytes(form: str) -> None:
    with matplotlib.rc_context():
        first = plot.drawn(chart(), form)
        matplotlib.rcParams["axes.facecolor"] = "red"  # as a matplotlibrc in the present folder says
        assert plot.drawn(chart(), form) == first
    assert len(first) > 3000


def test_signs_of_formulas_in_names_are_text() -> None:
    series = page.Series("$_^$ and $\\frac$", [[1.0, 2.0, None, None, ""]])
    drawn = page.Chart("$$", page.Axis("$\\x$"), page.Axis("$}$"), [series])
    assert b"$}$" in plot.drawn(drawn, "svg")


def test_the_command_writes_what_is_asked_for(report: Path, tmp_path: Path) -> None:
    out = tmp_path / "figures"
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(out), "--figure", "2"])
    assert done.exit_code == 0
    names = {"2-latency-against-script-throughput.svg", "fabriloom.sha256"}
    assert {file.name for file in out.iterdir()} == names


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--format", "gif"], "choose from svg, pdf, png"),
        (["--figure", "3"], "has 2 charts"),
    ],
)
def test_mistakes_are_said(arguments: list[str], says: str, report: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(tmp_path / "out"), *arguments])
    assert done.exit_code == 2
    assert says in done.output


def test_no_pipe_is_waited_for_and_no_device_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.html")
    for file in (tmp_path / "report.html", tmp_path, Path("/dev/zero")):
        done = CliRunner().invoke(app, ["plot", str(file), "--out", str(tmp_path / "out")])
        assert done.exit_code == 2
        assert "this is a pipe or a device, not a file" in done.output


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<html></html>",
        b'<script id="charts">[1]</script>',
        b'<script id="charts">[]</script><script id="maps">[{}]</script>',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_report_is_refused(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.html"
    file.write_bytes(b'<script id="charts">' + text if text.startswith(b"[") else text)
    done = CliRunner().invoke(app, ["plot", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "no report of fabriloom" in done.output


@pytest.mark.parametrize(
    ("was", "damaged", "says"),
    [
        ("[1.0,2.0,1.5,2.5,", "[1.0,2.0,1.5,null,", "no report of fabriloom"),
        ("[1.0,2.0,1.5,2.5,", '["1",2.0,1.5,2.5,', "no report of fabriloom"),
        ('"label":"y"', '"label":"\\ud800"', "no report of fabriloom"),
        ("[1.0,2.0,1.5,2.5,", "[1.0,2.0,2.5,1.5,", "Latency against </script> throughput cannot be drawn"),
    ],
)
def test_a_damaged_chart_is_refused(was: str, damaged: str, says: str, report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert was in text
    report.write_text(text.replace(was, damaged), encoding="utf-8")
    done = CliRunner().invoke(app, ["plot", str(report), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert says in done.output
    assert not (tmp_path / "out").exists()


def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'fabriloom\[plots\]'"):
        plot.of_figures()
    refused = CliRunner().invoke(app, ["plot", str(tmp_path)])
    assert refused.exit_code == 2
    assert "fabriloom[plots]" in refused.stderr
