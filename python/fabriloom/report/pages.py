"""The contents of the reports of a run, a curve and a saturation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..results import ends, faults
from ..results.figures import settings_text, value_text
from ..results.shown import of_programs
from . import heat_map
from .fabric import fabric
from .page import Page, Text, json_text, micro, number, plus_minus, render
from .sections import flows as flow_sections
from .sections import links as link_sections
from .sections import programs as program_sections
from .sections import requirements as requirement_sections
from .sections import shared as sections

if TYPE_CHECKING:
    from ..results import Provenance, Results
    from ..studies import Curve, Saturation


def again(command: str, options: str = "") -> tuple[str, str]:
    """Return how to repeat a result from what the report contains."""
    how = f"fabriloom {command} scenario.json {options}".rstrip()
    return (
        "To run it again",
        f"copy the scenario with every default filled in, above, into a file scenario.json, and with this "
        f"version of Fabriloom: {how}",
    )


def provenance_of(provenance: Provenance, more: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Return the origin of a result, for the foot of its page."""
    return [
        ("Scenario", provenance.name),
        *([("File", provenance.source_name)] if provenance.source_name else []),
        ("SHA-256 of the scenario", provenance.scenario_sha256),
        ("Seed", str(provenance.seed)),
        ("Fabriloom", provenance.version),
        *more,
    ]


def scenario_texts(provenance: Provenance) -> list[Text]:
    """Return the scenario as written, and as resolved with all defaults."""
    texts = []
    if provenance.source_text:
        texts.append(Text("The scenario", provenance.source_text))
    if provenance.resolved:
        texts.append(json_text("The scenario with every default filled in", provenance.resolved))
    return texts


def _facts(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    latency, total, packets = summary["latency_ns"], summary["total_latency_ns"], summary["packets"]
    accepted = plus_minus(summary["accepted_mbytes_per_s"], summary["accepted_mbytes_per_s_ci95"])
    offered = number(summary["offered_mbytes_per_s"])
    return [
        (
            "Accepted before it stopped" if summary["end"]["reason"] in ends.STUCK else "Accepted",
            f"{accepted} MB/s",
            _per_terminal(summary),
        ),
        ("Offered", f"{offered} MB/s", f"{number(summary['refused_mbytes_per_s'])} MB/s refused"),
        (
            "Mean latency",
            f"{plus_minus(micro(latency['mean']), micro(latency['mean_ci95']))} µs",
            _in_cycles(summary)
            + f"from creation: {plus_minus(micro(total['mean']), micro(total['mean_ci95']))} µs",
        ),
        (
            "99 % within",
            f"{number(micro(latency['p99']))} µs",
            f"99.99 % within {number(micro(latency['p99_99']))} µs",
        ),
        (
            "Packets measured",
            number(packets["measured"]),
            f"{number(summary['measured_ns'] / 1e6)} ms, after {number(summary['warmup_ns'] / 1e6)} ms",
        ),
    ]


def _per_terminal(summary: Mapping[str, Any]) -> str:
    """Return the throughput of one terminal, in flits per cycle where there are flits."""
    if "flits" in summary:
        return f"{number(summary['flits']['accepted_per_node_cycle'])} flits/node/cycle"
    return f"{number(summary['accepted_mbytes_per_s_per_terminal'])} MB/s a terminal"


def _in_cycles(summary: Mapping[str, Any]) -> str:
    mean = summary.get("flits", {}).get("latency_cycles_mean")
    return "" if mean is None else f"{number(mean)} cycles; "


def _latency_note(summary: Mapping[str, Any]) -> str:
    latency = summary["latency_ns"]
    return f"Latency is from the {latency['from']}, to the {latency['to']}."


def _tails(results: Results) -> dict[str, dict[str, list[float]]]:
    """Return the tail of network latency and, if packets wait at their sources, of total latency."""
    tails = {"network latency": results.thinned_tail()}
    if sections.waits_long(results.summary):
        tails["total latency, from creation"] = results.thinned_tail("total")
    return tails


def _links(results: Results) -> list[Any]:
    """Return the tables of links and, for rings, of buses."""
    if not results.graph.network_kind.buses:
        return sections.busiest_links(results.links)
    return [
        *link_sections.rings(results.rings),
        *link_sections.buses(results.buses),
        *link_sections.busiest_links(results.links),
    ]


def _network(results: Results) -> list[Any]:
    """Return the sections on packets and links of a simulation."""
    moments_ns = faults.moments(results.native, results.tick_ps / 1000)
    return [
        *sections.tail(_tails(results), _latency_note(results.summary)),
        *fabric(
            results.graph,
            results.utilisation,
            table=results.links,
            limit=results.summary.get("limit"),
            cycle=results.summary["end"]["cycle"],
        ),
        *link_sections.planes(results.planes),
        *link_sections.lanes(results.lanes),
        *link_sections.congestion(results.congestion),
        *sections.batches(results.batches, moments_ns),
        *flow_sections.over_time(results.over_time, moments_ns),
        *flow_sections.codes(results),
        *link_sections.lost(results.links),
        *_links(results),
        *flow_sections.completions(results.transfers),
        *flow_sections.flows(results.flows),
    ]


def run_charts(results: Results) -> list[Any]:
    """Return the charts of the report of a run, with its other parts."""
    found = program_sections.run_sections(results)
    if results.measured is None:
        moments_ns = faults.moments(results.native, results.tick_ps / 1000)
        found += [
            *sections.tail(_tails(results), _latency_note(results.summary)),
            *sections.batches(results.batches, moments_ns),
        ]
    return found


def for_run(results: Results) -> str:
    """Return the report of one run as HTML text."""
    summary, provenance = results.summary, results.provenance
    network, engine = summary["network"], summary["engine"]
    page = Page(
        title=provenance.name or "A run",
        kind="run",
        description=provenance.description,
        verdicts={"": summary["verdict"]},
        status=(summary["end"]["reason"].replace("_", " "), summary["end"]["message"]),
        status_mark="bad" if summary["end"]["reason"] in ends.BAD else "",
        warnings=list(summary["warnings"]),
        facts=_facts(summary) if results.program is None else program_sections.facts(summary),
    )
    page.sections = [
        *sections.cycle(summary["end"]["cycle"]),
        *program_sections.run_sections(results),
        *requirement_sections.requirements(results.requirements, results.blocking, results.graph),
        *(_network(results) if results.measured is None else program_sections.measured(results.measured)),
        *scenario_texts(provenance),
    ]
    page.provenance = provenance_of(
        provenance,
        [
            ("Ended", summary["end"]["reason"]),
            (
                "Network",
                f"{number(network['terminals'])} terminals, {number(network['switches'])} switches, "
                f"{number(network['links'])} links",
            ),
            (
                "Engine",
                f"{engine['name']}: {number(engine['events'])} events, "
                f"{number(engine['packet_hops'])} packet-hops in {number(engine['wall_s'], 3)} s",
            ),
            ("Confidence", sections.confidence_text(summary["statistics"])),
            again("run"),
        ]
        if results.measured is None
        else [("Ended", summary["end"]["reason"]), again("measure")],
    )
    if results.measured is not None:
        page.kind = "measurement"
    return render(page)


def _curve_facts(points: Sequence[Any]) -> list[tuple[str, str, str]]:
    measured = [p for p in points if p.summary["accepted_mbytes_per_s"] is not None]
    if not measured:
        return []
    if of_programs(*(point.summary for point in points)):
        return program_sections.curve_facts(points)
    best = max(measured, key=lambda p: p.summary["accepted_mbytes_per_s"])
    least = min(measured, key=lambda p: p.summary["latency_ns"]["mean"] or float("inf"))
    summary = best.summary
    value = plus_minus(summary["accepted_mbytes_per_s"], summary["accepted_mbytes_per_s_ci95"])
    mean = least.summary["latency_ns"]["mean"]
    return [
        ("Largest throughput", f"{value} MB/s", f"at {settings_text(best.settings)}"),
        ("Smallest mean latency", f"{number(micro(mean))} µs", f"at {settings_text(least.settings)}"),
        ("Points", number(len(points)), ""),
    ]


def for_curve(
    curve: Curve, published: Sequence[Mapping[str, Any]] = (), rows: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return the report of a curve or sweep as HTML text.

    Args:
        published: points to show with ours: ``{accepted_mbytes_per_s, latency_us, label}``.
        rows: printed numbers and ours: ``{where, quantity, unit, published, ours, ci95, deviation}``.
    """
    provenance = curve.provenance
    missing = curve.runs - len(curve.points)
    page = Page(
        title=provenance.name or "A curve",
        kind="curve",
        description=provenance.description,
        verdicts=curve.verdicts,
        facts=_curve_facts(curve.points),
        provenance=provenance_of(
            provenance, [("Varied", ", ".join(curve.varied)), again("curve", _loads(curve.points))]
        ),
    )
    if curve.interrupted:
        page.interrupt(f"{missing} of {curve.runs} points are missing: run it again.")
    first, *others = curve_sections(curve.points, curve.varied, published) or [None]
    page.sections = [
        *([first] if first else []),
        *sections.published_rows(rows),
        *others,
        *_busiest_fabric(curve),
        *scenario_texts(provenance),
    ]
    return render(page)


def _loads(points: Sequence[Any]) -> str:
    """Return the loads of a curve as an option; a sweep is part of its scenario."""
    loads = [
        next((point.settings[path] for path in sections.LOADS if path in point.settings), None)
        for point in points
    ]
    if not loads or None in loads or len(points[0].settings) > 1:
        return ""
    return "--loads " + ",".join(f"{load:g}" for load in loads)


def _busiest_fabric(curve: Curve) -> list[Any]:
    """Return the network at the point with the highest accepted throughput."""
    measured = [p for p in curve.points if p.summary["accepted_mbytes_per_s"] is not None and p.utilisation]
    if not measured:
        return []
    best = max(measured, key=lambda p: p.summary["accepted_mbytes_per_s"])
    when = f" at {settings_text(best.settings)}"
    return fabric(curve.graph, best.utilisation, when, limit=best.summary.get("limit"))


def curve_sections(
    points: Sequence[Any], varied: Sequence[str], published: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """Return the charts and the table of the points of a study."""
    if not points:
        return []
    maps = heat_map.maps(points, varied, value_text)
    if of_programs(*(point.summary for point in points)):
        return [*maps, *program_sections.curve_sections(points, varied)]
    return [
        *maps,
        sections.latency_against_throughput(points, varied, published, _latency_note(points[0].summary)),
        *sections.accepted_against_load(points, varied),
        *sections.tails_of(points),
        sections.points_table(points, varied),
    ]


def for_saturation(saturation: Saturation) -> str:
    """Return the report of a saturation as HTML text."""
    provenance = saturation.provenance
    definition = saturation.summary["definition_text"]
    accepted = plus_minus(saturation.accepted_mbytes_per_s, saturation.accepted_mbytes_per_s_ci95)
    page = Page(
        title=provenance.name or "Saturation",
        kind="saturation",
        description=provenance.description,
        verdicts={"": saturation.verdict},
        status=(saturation.definition, f"{definition}."),
        facts=[("Saturation", f"{accepted} MB/s", f"by the definition “{saturation.definition}”")],
        provenance=provenance_of(
            provenance,
            [("Definition", definition), again("saturate", f"--definition {saturation.definition}")],
        ),
    )
    what = saturation.varied.rpartition(".")[2]
    if saturation.at_load is not None:
        page.facts.append((f"Found at {what}", number(saturation.at_load), ""))
    if saturation.sustained_load is not None:
        above = saturation.refused_load
        note = "all that was tried" if above is None else f"no longer at {number(above)}"
        page.facts.append((f"Sustained up to {what}", number(saturation.sustained_load), note))
    varied = list(saturation.points[0].settings) if saturation.points else []
    page.sections = [*curve_sections(saturation.points, varied, ()), *scenario_texts(provenance)]
    return render(page)
