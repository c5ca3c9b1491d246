"""The drawn fabric: well-formed, complete, the same every time, and legible in what can be counted.

Fabrics of more than 600 switches: laid out, packed, and drawn in a browser.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest
from fabriloom import Scenario, report, run, topology
from fabriloom.report.drawing import fabric_svg
from fabriloom.report.drawing.layout import nearest_distance, switch_positions
from fabriloom.report.drawing.plan import MOST_LINKS, is_large, parts_of
from fabriloom.report.drawing.style import RAMP, ramp, scale_of
from page.browser import Browser

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
GRAPHS = {
    "crossbar": topology.crossbar(16),
    "crossbar of many": topology.crossbar(200),
    "ring": topology.ring(8, 2, 2),
    "grid": topology.grid([8, 8], 16, 4),
    "grid of four dimensions": topology.grid([2, 3, 2, 3], 2),
    "torus": topology.torus([4, 4], 4, 2),
    "hypercube": topology.hypercube(4, 2),
    "clos": topology.clos(256),
    "clos with bundles": topology.clos(64),
    "five stages": topology.clos5(1024),
    "fat tree": topology.fat_tree(4, 3),
    "omega": topology.banyan(16),
    "large omega": topology.banyan(128),
    "star": topology.star(5, 3, 2),
    "tree": topology.tree(3, 2, 2, 2),
    "petersen": topology.from_networkx(networkx.petersen_graph(), 2),
    "two switches": topology.from_networkx(networkx.path_graph(2), 3),
    "complete": topology.from_networkx(networkx.complete_graph(12), 20),
}


def values_of(graph) -> np.ndarray:
    return np.linspace(0, 0.93, graph.links)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("coloured", [True, False])
def test_every_family_is_drawn(name, coloured):
    graph = GRAPHS[name]
    values = values_of(graph) if coloured else None
    svg = fabric_svg(graph, values)
    assert svg == fabric_svg(graph, values)
    root = parsed(svg)
    left, top, wide, tall = map(float, root.attrib["viewBox"].split())
    assert wide <= 1500
    assert " id=" not in svg
    assert "<style" not in svg
    assert "nan" not in re.sub(r"<title>.*?</title>|<text.*?</text>", "", svg).lower()
    titles = [element.text or "" for element in root.iter(f"{SVG}title")]
    assert (
        sum(any(title.startswith(f"{switch},") for title in titles) for switch in graph.switch_names)
        == graph.switches
    )
    for rect in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        assert left - 0.1 <= x
        assert x + width <= left + wide + 0.1
        assert top - 0.1 <= y
        assert y + height <= top + tall + 0.1


NAMED = {
    "ring": topology.sci_ring(24),
    "bridge": topology.sci_bridge(3),
    "bridge of many": topology.sci_bridge(20),
    "switch of pairs": topology.build("sci-switch", ports=4, terminals_per_ring=3),
    "long rings": topology.build("sci-long-rings"),
    "omega": topology.build("sci-banyan", terminals=16),
    "omega of pairs": topology.build("sci-banyan", terminals=8, pairs_per_ring=2),
    "omega of long rings": topology.build("sci-banyan", terminals=16, wiring="long-ring"),
    "torus": topology.build("sci-torus", shape=[4, 4], terminals_per_switch=3),
    "torus of three dimensions": topology.build("sci-torus", shape=[3, 3, 3], terminals_per_switch=2),
    "torus of one": topology.build("sci-torus", shape=[3, 3], terminals_per_switch=1),
    "module": topology.build("sci-module"),
    **{f"16 ports, {n}": topology.build("sci-switch-16", terminals_per_ring=n) for n in (1, 2, 3, 4, 8)},
}


OUTSIDE = {
    "crossbar": topology.crossbar(16),
    "crossbar of many": topology.crossbar(40),
    "star": topology.star(5, 3, 2),
    "tree": topology.tree(3, 2, 2, 2),
    "omega": topology.banyan(16),
    "petersen": topology.from_networkx(networkx.petersen_graph(), 2),
    "two switches": topology.from_networkx(networkx.path_graph(2), 3),
    "cable": topology.cable(),
    "on board": topology.file(ROOT / "scenarios" / "spacewire-onboard.csv"),
    "own graph": topology.file(ROOT / "scenarios" / "own-graph.csv"),
}


@pytest.mark.parametrize("name", [*NAMED, *OUTSIDE])
def test_names_of_terminals_do_not_overlap(name):
    """Neither each other nor a switch nor the border; a letter is some 5.5 px wide."""
    graph = (NAMED | OUTSIDE)[name]
    root = parsed(fabric_svg(graph))
    left, _, across, _ = map(float, root.attrib["viewBox"].split())
    known = {*graph.terminal_names}
    boxes = []
    for element in root.iter(f"{SVG}text"):
        x, y, text = float(element.attrib["x"]), float(element.attrib["y"]), element.text or ""
        if text in known:
            before = {"start": 0.0, "middle": 0.5, "end": 1.0}[element.attrib.get("text-anchor", "start")]
            wide = 5.5 * len(text)
            boxes.append((text, x - before * wide, y - 7, x + (1 - before) * wide, y + 1))
    assert len(boxes) == graph.terminals * (2 if graph.family == "banyan" else 1)
    assert all(left <= box[1] and box[3] <= left + across for box in boxes)
    for rect in list(root.iter(f"{SVG}rect"))[1:]:
        x, y, wide, tall = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        if wide > 6:
            boxes.append(("a switch", x, y, x + wide, y + tall))
    for at, (one, *a) in enumerate(boxes):
        for two, *b in boxes[at + 1 :]:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart or one == two == "a switch", f"{one} is on {two}"


def test_every_link_has_a_stroke_of_its_own_with_its_value():
    graph = topology.grid([2, 2], 1, 4)
    root = parsed(fabric_svg(graph, np.arange(graph.links) / 100))
    titles = Counter(path[0].text for path in root.iter(f"{SVG}path"))
    for link in graph.switch_links:
        assert titles[f"{graph.link_names[link]}: utilisation {link:g} %"] == 1


def test_more_than_eight_parallel_links_become_one_each_way():
    root = parsed(fabric_svg(topology.grid([1, 2], 1, 5), np.full(14, 0.25)))
    titles = sorted(path[0].text or "" for path in root.iter(f"{SVG}path"))
    assert [title for title in titles if "t(" not in title] == [
        "s(0,0)>s(0,1), 5 links: utilisation 25 % on average, 25 % at most",
        "s(0,1)>s(0,0), 5 links: utilisation 25 % on average, 25 % at most",
    ]


def test_names_are_escaped():
    graph = topology.from_networkx(networkx.relabel_nodes(networkx.path_graph(3), {0: '<a&"b>', 1: "]]>"}), 1)
    texts = [element.text for element in parsed(fabric_svg(graph, values_of(graph))).iter(f"{SVG}text")]
    assert '<a&"b>' in texts


def test_values_that_are_missing_or_not_shares():
    graph = topology.clos(64)
    values = np.linspace(0, 730, graph.links)
    values[::3] = np.nan
    svg = fabric_svg(graph, values, "throughput (Mbit/s)")
    assert ">throughput (Mbit/s)</text>" in svg
    assert ">800</text>" in svg
    assert "%" not in svg
    assert "no value" in fabric_svg(graph, np.full(graph.links, np.nan))
    parsed(fabric_svg(graph, np.zeros(graph.links)))
    with pytest.raises(ValueError, match="the graph has 256 links"):
        fabric_svg(graph, values[1:])


def test_a_thousand_switches_stay_small():
    graph = topology.grid([32, 32], 16, 4)
    svg = fabric_svg(graph, values_of(graph))
    assert len(svg) < 1_500_000
    assert svg.count("<text") < 20


def test_the_colours_darken_evenly():
    def lightness(colour: str) -> float:
        channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        luminance = float(channels**2.2 @ [0.2126, 0.7152, 0.0722])
        return 116 * luminance ** (1 / 3) - 16

    steps = np.diff([lightness(ramp(share)) for share in np.linspace(0, 1, 60)])
    assert (steps < 0).all()
    assert ramp(0) == RAMP[0]
    assert ramp(1) == RAMP[-1]


@pytest.mark.parametrize(
    ("most", "top"), [(0.93, 1.0), (0.61, 0.8), (0.1, 0.1), (0.29, 0.3), (730, 800), (0, 1)]
)
def test_scales_end_at_a_round_number(most, top):
    assert scale_of(np.array([0, most]), "x").top == pytest.approx(top)


@pytest.mark.parametrize(
    "plain",
    [
        networkx.petersen_graph(),
        networkx.complete_bipartite_graph(3, 9),
        networkx.path_graph(30),
        networkx.star_graph(20),
    ],
)
def test_switches_without_places_are_laid_out_apart(plain):
    graph = topology.from_networkx(plain, 1)
    places = switch_positions(graph)
    assert np.isfinite(places).all()
    assert nearest_distance(places) == pytest.approx(1)
    assert np.ptp(places, axis=0).max() < 2 * graph.switches


def test_places_that_coincide_are_spread():
    plain = networkx.path_graph(6)
    for place in (0.0, 1e300):
        networkx.set_node_attributes(plain, place, "x")
        networkx.set_node_attributes(plain, 0.0, "y")
        places = switch_positions(topology.from_networkx(plain, 1))
        assert np.isfinite(places).all()
        assert nearest_distance(places) == pytest.approx(1)


RINGS = {
    "one ring": topology.sci_ring(8),
    "bridge": topology.sci_bridge(3),
    "switch": topology.sci_switch(8, 2),
    "long rings": topology.sci_long_rings(4, 2),
    "ringlets": topology.sci_banyan(16),
    "long rings in stages": topology.sci_banyan(16, wiring="long-ring"),
    "torus": topology.sci_torus([3, 4]),
    "module": topology.sci_module(1, 1),
    "switch of 16 ports": topology.sci_switch_16(),
    "own": topology.sci_rings([["<a&>", "s0", "b", "s1"], ["s1", "s0", "c"], ["d", "e"]], ["s0", "s1"]),
}


def test_a_switch_of_modules_fits_on_a_page():
    wide = float(parsed(fabric_svg(RINGS["switch of 16 ports"])).attrib["viewBox"].split()[2])
    assert wide < 800


@pytest.mark.parametrize("name", RINGS)
@pytest.mark.parametrize("coloured", [True, False])
def test_every_network_of_rings_is_drawn(name, coloured):
    graph = RINGS[name]
    assert graph.rings is not None
    svg = fabric_svg(graph, values_of(graph) if coloured else None)
    root = parsed(svg)
    assert "nan" not in re.sub(r"<title>.*?</title>|<text.*?</text>", "", svg).lower()
    paths = Counter((path[0].text or "").split(": ")[0] for path in root.iter(f"{SVG}path"))
    assert paths == Counter(graph.link_names)
    dots = Counter((dot[0].text or "").split(": ")[0] for dot in root.iter(f"{SVG}circle"))
    assert dots == Counter(graph.terminal_names)
    assert len(list(root.iter(f"{SVG}line"))) == int(graph.rings.bus_count.sum())
    ports = [rect for rect in root.iter(f"{SVG}rect") if rect.get("width") == "6"]
    assert len(ports) == graph.rings.ports
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert set(graph.switch_names) | set(graph.terminal_names) <= set(texts)


def test_slower_links_are_drawn_thinner() -> None:
    graph = topology.file(Path(__file__).parents[2] / "scenarios" / "spacewire-onboard.csv")
    strokes = re.findall(r'stroke-width="([\d.]+)"><title>([^<]*)', fabric_svg(graph))
    widths = {text: float(width) for width, text in strokes if "Mbit/s" in text}
    fast, slow = (
        [width for text, width in widths.items() if f", {rate} Mbit/s" in text] for rate in (200, 20)
    )
    assert fast
    assert slow
    assert max(slow) < 0.6 * min(fast)
    assert "the slower the link." in fabric_svg(graph)
    assert "Mbit/s" not in fabric_svg(topology.build("grid", shape=[2, 2]))


def test_ports_and_logical_addresses_of_a_file_are_written(tmp_path: Path) -> None:
    cables = "kind,source,target,source_port,target_port,address\nswitch,a,,,,\nswitch,b,,,,\n"
    cables += "terminal,camera,a,,3,40\nterminal,memory,b,,5,\ncable,a,b,7,9,\n"
    (tmp_path / "cables.csv").write_text(cables, encoding="utf-8")
    graph = topology.build("file", path=str(tmp_path / "cables.csv"))
    for values in (None, values_of(graph)):
        svg = fabric_svg(graph, values)
        texts = [text.text or "" for text in parsed(svg).iter(f"{SVG}text")]
        assert Counter(text for text in texts if text.isdigit() and text != "0") == Counter("3579")
        assert {"camera · 40", "memory"} <= set(texts)
        assert "from port 7 to port 9" in svg
    assert not re.search(r">[3579]</text>", fabric_svg(topology.star(5, 3, 2)))


@pytest.mark.parametrize("terminals", [4, 5, 8, 11, 14])
def test_units_of_small_networks_of_files_are_named(tmp_path: Path, terminals: int) -> None:
    """With their addresses, also where one router has many of them, and each with several cables."""
    lines = [f"terminal,unit-{unit},a,{unit + 1},{40 + unit}\n" for unit in range(terminals)]
    lines += [f"cable,unit-{unit},b,{unit + 1},{140 + unit}\n" for unit in range(terminals)]
    text = f"kind,source,target,target_port,address\n{''.join(lines)}cable,a,b,{terminals + 1},\n"
    (tmp_path / "cables.csv").write_text(text)
    [plane] = topology.file(tmp_path / "cables.csv").planes
    written = {element.text for element in parsed(fabric_svg(plane.graph)).iter(f"{SVG}text")}
    for unit in range(terminals):
        assert {f"unit-{unit}/0 · {40 + unit}", f"unit-{unit}/1 · {140 + unit}", str(unit + 1)} <= written


LARGE_GRAPHS = {
    "torus": lambda: topology.build("torus", shape=[30, 30], terminals_per_switch=1),
    "fat tree": lambda: topology.build("fat_tree", arity=8, levels=4),
    "own": lambda: topology.from_networkx(networkx.random_regular_graph(3, 900, seed=1), 2),
    "star": lambda: topology.from_networkx(networkx.star_graph(700), 1),
    "rings": lambda: topology.build("sci-torus", shape=[30, 30]),
}


def unpacked(text: str, kind: type) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind).reshape(-1, 2)


@pytest.mark.parametrize("name", LARGE_GRAPHS)
def test_every_part_has_a_place_of_its_own(name: str) -> None:
    graph = LARGE_GRAPHS[name]()
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


def test_a_report_draws_it_and_says_the_numbers_of_a_link(tmp_path: Path, chromium: Browser) -> None:
    scenario = Scenario.from_dict(
        {"topology": LARGE_GRAPHS["torus"](), "traffic": {"load": 0.1}, "run": {"duration": "60 us"}}
    )
    page = tmp_path / "report.html"
    page.write_text(report.for_run(run(scenario)), encoding="utf-8")
    tab = chromium.tab()
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
    chromium.close(tab)
