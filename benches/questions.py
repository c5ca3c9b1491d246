"""Runs the studies of ``scenarios/questions``; their tables and figures go to the page of open questions.

``python benches/questions.py [NAME…]``. Finished points stay in ``out/questions``; a change of one study runs
what is new in it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import fabriloom
import polars as pl
from common import Rows, put
from fabriloom.compile import LinkRoutes, compile
from fabriloom.report.page import Axis, Chart, Series
from fabriloom.report.plot import drawn
from fabriloom.results.figures import figures, in_percent
from fabriloom.studies import failures
from fabriloom.studies.comparison import variants
from fabriloom.studies.links import bisection as effective_bisection
from fabriloom.technology import technology

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "background" / "open-questions.md"
IMAGES = ROOT / "docs" / "images" / "questions"
STUDIES = ROOT / "scenarios" / "questions"
NAMES = sorted(path.stem for path in STUDIES.glob("*.toml"))
PAIRINGS = 1000


def table_of(name: str) -> pl.DataFrame:
    """All points of a study, run if they are not there; means over seeds where there are several."""
    scenario = fabriloom.load(STUDIES / f"{name}.toml")
    found = fabriloom.study(scenario, ROOT / "out" / "questions", jobs=2)
    return found.table


def by(table: pl.DataFrame, keys: list[str], value: str) -> pl.DataFrame:
    """Mean and standard deviation of a column for each combination of others, in their order."""
    return table.group_by(keys, maintain_order=True).agg(
        pl.col(value).mean().alias("mean"), pl.col(value).std().alias("spread"), pl.len().alias("runs")
    )


def topologies(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """Saturation a node by topology and size."""
    rows: Rows = [["topology", "nodes", "MB/s a node", "share of a link", "latency us"]]
    lines: dict[str, list[list[Any]]] = {}
    means = by(table, ["scenario"], "accepted_mbytes_per_s")
    late = by(table, ["scenario"], "latency_ns_mean")
    for row, other in zip(means.iter_rows(named=True), late.iter_rows(named=True), strict=True):
        family, nodes = row["scenario"].split()
        each = row["mean"] / int(nodes)
        rows.append([family, nodes, figures(each, 3), share(each, 64), figures(other["mean"] / 1e3, 3)])
        lines.setdefault(family.rstrip("5"), []).append([int(nodes), each, None, None, ""])
    series = [Series(family, sorted(points)) for family, points in lines.items()]
    axes = Axis("nodes", log=True), Axis("MB/s a node, infinite backlog")
    return rows, [Chart("Throughput a node", *axes, series)]


def share(rate: float, length_bytes: int) -> str:
    """A payload rate as a share of what a DS-Link carries that is busy both ways."""
    return f"{100 * rate / link_mbytes_per_s(length_bytes):.1f} %"


def link_mbytes_per_s(length_bytes: int) -> float:
    """That rate for packets of a length."""
    return technology("ds-link-c104").payload_bytes_per_s(length_bytes) / 1e6


def universal(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """Throughput a node without and with universal routing."""
    rows: Rows = [["network", "traffic", "MB/s a node", "universal", "ended, universal"]]
    keys = table.select("scenario", "traffic.pattern").unique(maintain_order=True)
    for network, pattern in keys.iter_rows():
        some = table.filter((pl.col("scenario") == network) & (pl.col("traffic.pattern") == pattern))
        plain, random = (
            some.filter(pl.col("routing.universal") == flag).row(0, named=True) for flag in (False, True)
        )
        each = [figures((one["accepted_mbytes_per_s"] or 0.0) / 256, 3) for one in (plain, random)]
        rows.append([network, pattern, *each, str(random["end_reason"]).replace("_", " ")])
    return rows, []


def packet_size(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """Throughput of full networks and latency of one at load 0.3, against the length of packets."""
    rows: Rows = [["packet", "Clos MB/s a node", "grid MB/s a node", "Clos at load 0.3: mean us", "99 % us"]]
    lines: dict[str, list[list[Any]]] = {"Clos": [], "grid": []}
    for length in table["traffic.length"].unique(maintain_order=True).to_list():
        some = {row["scenario"]: row for row in table.filter(pl.col("traffic.length") == length).to_dicts()}
        each = [some[f"{name}, full"]["accepted_mbytes_per_s"] / 256 for name in ("clos", "grid")]
        light = some["clos, load 0.3"]
        late = [figures(light[f"latency_ns_{name}"] / 1e3, 3) for name in ("mean", "p99")]
        rows.append([length, *(figures(one, 3) for one in each), *late])
        for name, one in zip(lines, each, strict=True):
            lines[name].append([int(length.split()[0]), one, None, None, ""])
    axes = Axis("payload of a packet (B)", log=True), Axis("MB/s a node, infinite backlog")
    return rows, [Chart("Throughput against packet length", *axes, [Series(n, p) for n, p in lines.items()])]


def many_or_large(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """What networks of equal cost carry when full, and their latency at load 0.3, by how ports are chosen."""
    rows: Rows = [["networks", "port of a packet", "most: MB/s", "at load 0.3: mean us", "99 % us"]]
    found = {(row["scenario"], row["ports.choice"]): row for row in table.to_dicts()}
    for name, shown in (("four", "4 x 64"), ("two", "2 x 128"), ("one", "1 x 256")):
        for choice in table["ports.choice"].unique(maintain_order=True).to_list():
            full, light = found[f"{name}, full", choice], found[f"{name}, load 0.3", choice]
            settled = light["end_reason"] != "saturated"
            late = [light[f"latency_ns_{kind}"] / 1e3 for kind in ("mean", "p99")]
            cells = [figures(one, 3) for one in late] if settled else ["saturated", "saturated"]
            rows.append([shown, choice, figures(full["accepted_mbytes_per_s"], 4), *cells])
    return rows, []


def scinet_locality(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """What three networks carry when full, and their latency when hardly loaded, against locality."""
    networks = table["scenario"].unique(maintain_order=True).to_list()
    rows: Rows = [["local", *(f"{n}: MB/s" for n in networks), *(f"{n}: ns" for n in networks)]]
    lines: dict[str, list[list[Any]]] = {name: [] for name in networks}
    for part in sorted(table["traffic.pattern.share"].unique().to_list()):
        some = table.filter(pl.col("traffic.pattern.share") == part)
        full = {r["scenario"]: r for r in some.filter(pl.col("traffic.load") == 1.0).to_dicts()}
        light = {r["scenario"]: r for r in some.filter(pl.col("traffic.load") < 1.0).to_dicts()}
        rates = [full[name]["accepted_mbytes_per_s"] for name in networks]
        late = [figures(light[name]["latency_ns_mean"], 4) for name in networks]
        rows.append([f"{100 * part:.0f} %", *(figures(rate, 4) for rate in rates), *late])
        for name, rate in zip(networks, rates, strict=True):
            lines[name].append([100 * part, rate, None, None, ""])
    axes = Axis("local packets (%)"), Axis("MB/s accepted, every sender full")
    return rows, [Chart("Throughput against locality", *axes, [Series(n, p) for n, p in lines.items()])]


def scinet_size(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """Latency against the number of pairs."""
    rows: Rows = [["network", "pairs", "all local: mean ns", "longest", "none local: mean ns", "longest"]]
    for name in table["scenario"].unique(maintain_order=True).to_list():
        for size in sorted(table["topology.terminals"].unique().to_list()):
            cells = []
            for part in (1.0, 0.0):
                one = table.filter(
                    (pl.col("scenario") == name)
                    & (pl.col("topology.terminals") == size)
                    & (pl.col("traffic.pattern.share") == part)
                ).row(0, named=True)
                cells += [figures(one["latency_ns_mean"]), figures(one["latency_ns_max"])]
            rows.append([name, size, *cells])
    return rows, []


def atlas_rings(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """What a ring carries, and how long it takes."""
    rows: Rows = [["nodes", "full: MB/s", "MB/s a node", "load 0.02: mean ns", "longest ns"]]
    for size in sorted(table["topology.terminals"].unique().to_list()):
        some = {r["scenario"]: r for r in table.filter(pl.col("topology.terminals") == size).to_dicts()}
        full, light = some["full"]["accepted_mbytes_per_s"], some["load 0.02"]
        late = [figures(light[f"latency_ns_{name}"]) for name in ("mean", "max")]
        rows.append([size, figures(full), figures(full / size, 3), *late])
    return rows, []


def atlas_300(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """Latency and losses against the load."""
    rows: Rows = [["network", "MB/s a source", "accepted MB/s", "refused MB/s", "mean us", "99 % us"]]
    for row in table.iter_rows(named=True):
        cells = [row["offered_mbytes_per_s"] / 320, row["accepted_mbytes_per_s"], row["refused_mbytes_per_s"]]
        late = [(row[f"total_latency_ns_{name}"] or 0.0) / 1e3 for name in ("mean", "p99")]
        rows.append([row["scenario"], *(figures(one, 3) for one in [*cells, *late])])
    return rows, []


def effective(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """Simulated beside counted, by table and size."""
    shown: dict[str, list[Any]] = {}
    tables = variants(fabriloom.load(STUDIES / "effective-bisection.toml"))
    lines: dict[str, list[list[Any]]] = {}
    for row in by(table, ["scenario", "topology.terminals"], "accepted_mbytes_per_s").iter_rows(named=True):
        name, size = row["scenario"], row["topology.terminals"]
        changed = {"topology.terminals": size, "traffic.pattern.seed": 1}
        compiled = compile(tables[name].alone().with_settings(changed))
        assert isinstance(compiled.routes, LinkRoutes)
        found = effective_bisection.counted(compiled.routes, PAIRINGS, 1)
        assert found is not None
        full = size * compiled.technology.payload_bytes_per_s(256) / 1e6
        rate, spread = row["mean"] / full, row["spread"] / full
        cell = f"{100 * found['mean_share']:.1f}; {100 * rate:.1f} ± {100 * spread:.1f}"
        shown.setdefault(name, [name]).append(cell)
        if "by output" not in name:
            lines.setdefault(f"{name}, counted", []).append([size, 100 * found["mean_share"], None, None, ""])
        lines.setdefault(f"{name}, simulated", []).append([size, 100 * rate, None, None, ""])
    series = [Series(n, p, "dashed" if "counted" in n else "line") for n, p in lines.items()]
    axes = Axis("terminals", log=True), Axis("share of a link (%)")
    sizes = table["topology.terminals"].unique(maintain_order=True)
    rows: Rows = [["routing, %", *(f"{size} terminals" for size in sizes)], *shown.values()]
    return rows, [Chart("Effective bisection bandwidth", *axes, series)]


def faults(table: pl.DataFrame) -> tuple[Rows, list[Chart]]:
    """What each failure costs, and how many of its kind would cut nodes off."""
    rows: Rows = [["network", "failure", "lost", "MB/s", "99 % us", "of all such failures cut nodes off"]]
    study = fabriloom.load(STUDIES / "faults.toml")
    cut = {name: _cut_off(one) for name, one in variants(study).items() if "nothing" in name}
    for row in table.iter_rows(named=True):
        network, failure = row["scenario"].split(": ")
        made = row["offered_mbytes_per_s"] * 1e6 * 1e-3 / 64
        since = made if failure == "bit errors" else 0.8 * made  # of 1 ms, from 200 us on
        late = figures(row["total_latency_ns_p99"] / 1e3, 3)
        gone = in_percent(row["packets_lost"] / since, 2)
        of_kind = cut[f"{network}: nothing"].get(failure, "")
        rows.append([network, failure, gone, figures(row["accepted_mbytes_per_s"], 3), late, of_kind])
    return rows, []


def _cut_off(scenario: fabriloom.Scenario) -> dict[str, str]:
    """By kind of failure: how many single ones cut nodes off, and how many there are."""
    counts: dict[str, list[bool]] = {}
    for failure in failures.look(compile(scenario))["failures"]:
        of_node = re.match(r"(p\d/)?t\(", failure["name"])
        kind = "a switch" if failure["kind"] == "switch" else "a node's cable" if of_node else "a cable"
        counts.setdefault(kind, []).append(failure["cut_off_pairs"] > 0)
    return {kind: f"{sum(cut)} of {len(cut)}" for kind, cut in counts.items()}


SHOWN = {
    "topologies": topologies,
    "universal": universal,
    "many-or-large": many_or_large,
    "packet-size": packet_size,
    "scinet-locality": scinet_locality,
    "scinet-size": scinet_size,
    "atlas-rings": atlas_rings,
    "atlas-300": atlas_300,
    "effective-bisection": effective,
    "faults": faults,
}


def write(name: str) -> None:
    """Run a study, and put its table between its marks on the page and its figures beside it."""
    rows, charts = SHOWN[name](table_of(name))
    put(PAGE, f"study: {name}", [rows])
    IMAGES.mkdir(exist_ok=True)
    for chart in charts:
        (IMAGES / f"{name}.svg").write_bytes(drawn(chart, "svg"))


if __name__ == "__main__":
    for one in sys.argv[1:] or NAMES:
        print(one, flush=True)
        write(one)
