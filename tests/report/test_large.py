"""Fabrics of more than 600 switches: laid out, packed, and drawn in a browser."""

from __future__ import annotations

import base64
from pathlib import Path

import networkx
import numpy as np
import pytest
from fabriloom import Scenario, report, run, topology
from fabriloom.report.drawing.large import MOST_LINKS, is_large, parts_of
from page.browser import PROGRAM, browser

GRAPHS = {
    "torus": lambda: topology.build("torus", shape=[30, 30], terminals_per_switch=1),
    "fat tree": lambda: topology.build("fat_tree", arity=8, levels=4),
    "own": lambda: topology.from_networkx(networkx.random_regular_graph(3, 900, seed=1), 2),
    "star": lambda: topology.from_networkx(networkx.star_graph(700), 1),
    "rings": lambda: topology.build("sci-torus", shape=[30, 30]),
}


def unpacked(text: str, kind: type) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind).reshape(-1, 2)


@pytest.mark.parametrize("name", GRAPHS)
def test_every_part_has_a_place_of_its_own(name: str) -> None:
    graph = GRAPHS[name]()
    assert is_large(graph)
    parts = parts_of(graph)
    places, ends = unpacked(parts["places"], np.float32), unpacked(parts["ends"], np.uint32)
    assert np.isfinite(places).all()
    assert len(ends) == graph.links <= MOST_LINKS
    assert ends.max() < len(places)
    assert len(np.unique(places.round(1), axis=0)) > 0.98 * len(places)
    if graph.rings is None:
        assert ends[:, 0].tolist() == list(graph.link_source)
        assert parts["names"] == list(graph.switch_names)


def test_an_own_graph_is_laid_out_by_its_distances() -> None:
    """A long chain of cliques is a line: the further along the chain, the further in the picture."""
    chain = networkx.Graph()
    for part in range(70):
        chain.add_edges_from((f"{part}.{a}", f"{part}.{b}") for a in range(10) for b in range(a))
        if part:
            chain.add_edge(f"{part - 1}.0", f"{part}.1")
    graph = topology.from_networkx(chain, 1)
    places = unpacked(parts_of(graph)["places"], np.float32)[: graph.switches]
    order = np.array([int(name.partition(".")[0]) for name in graph.switch_names])
    ends = places[order == 69].mean(axis=0) - places[order == 0].mean(axis=0)
    along = [float(places[order == part].mean(axis=0) @ ends) for part in range(0, 70, 5)]
    assert along == sorted(along)


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium here: reports are not looked at in a browser")
def test_a_report_draws_it_and_says_the_numbers_of_a_link(tmp_path: Path) -> None:
    scenario = Scenario.from_dict(
        {"topology": GRAPHS["torus"](), "traffic": {"load": 0.1}, "run": {"duration": "60 us"}}
    )
    page = tmp_path / "report.html"
    page.write_text(report.for_run(run(scenario)), encoding="utf-8")
    with browser() as running:
        tab = running.tab()
        tab.open(page.as_uri(), "document.documentElement?.dataset.charts")
        tab.js("document.querySelector('.large').focus()")
        tab.key("ArrowDown")
        tab.until("/utilisation/.test(document.querySelector('.fabric .tip').innerText)")
        tab.key("Enter")
        assert ">" in tab.text(".numbers output b")
        inked = (
            "(() => { const gl = document.querySelector('.large').getContext('webgl'), [w, h] ="
            " [gl.drawingBufferWidth, gl.drawingBufferHeight], data = new Uint8Array(4 * w * h);"
            " gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, data); let n = 0;"
            " for (let at = 0; at < data.length; at += 4) n += data[at] < 250; return n / (w * h); })()"
        )
        tab.until(f"{inked} > 0.05")
        assert not tab.complaints
