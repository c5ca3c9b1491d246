"""What can be said about a scenario before it runs: its parts, its bounds, its zero-load latency,
deadlock."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import routing
from ..compile import Compiled, LinkParts, RingParts, compile
from ..compile.columns import parallel
from ..compile.programs import mean_packet_bytes
from ..programs import Programs
from ..results.figures import figures
from ..topology import Graph, measure
from . import demanded, effective_bisection, plane_loads, ring_inspection
from .zero_load import zero_load_latency

if TYPE_CHECKING:
    from ..scenario.schema import Scenario

MOST_TERMINALS_FOR_CUT = 4096
"""Above this only families whose narrowest cut is known by heart are cut."""


def mean_length_bytes(compiled: Compiled) -> float:
    """Mean payload of a packet, over the sources that send and by their tables or lists."""
    arrays, tech = compiled.arrays, compiled.technology
    if compiled.programs is not None:
        return mean_packet_bytes(compiled.programs, arrays)
    if len(arrays["flow_length"]):
        packets = arrays["flow_packets"] / arrays["flow_interval_grains"]
        characters = float(np.average(arrays["flow_length"], weights=packets))
    elif len(arrays["list_length"]):
        characters = float(np.mean(arrays["list_length"]))
    elif len(arrays["length_values"]):
        share = np.diff(arrays["length_cumulative"], prepend=0.0)
        characters = float(share @ arrays["length_values"])
    else:
        sending = arrays["source_arrival"] > 0
        both = (arrays["length_min"][sending].astype(np.float64) + arrays["length_max"][sending]) / 2
        characters = float(both.mean()) if sending.any() else 0.0
    return (characters + (1 if tech.end_carries_data else 0)) * tech.character_bytes


def inspect(scenario: Scenario, pairings: int = 0) -> dict[str, Any]:
    """Everything that ``fabriloom check`` tells, ready for JSON. Raises ScenarioError.

    ``pairings``: random pairings of the terminals over which the effective bisection bandwidth is counted.
    """
    compiled = compile(scenario)
    length_bytes = mean_length_bytes(compiled)
    if isinstance(compiled.parts, RingParts):
        network = ring_inspection.network(compiled, compiled.parts, length_bytes)
    else:
        network = _network(compiled, compiled.parts, length_bytes)
    cycle = compiled.cycle_names()
    return {
        "name": scenario.name,
        "scenario_sha256": scenario.sha256,
        **network,
        **({} if compiled.programs is None else {"program": _program(compiled.programs)}),
        **({} if (asked := demanded.demanded(compiled)) is None else {"demanded": asked}),
        **(
            {"effective_bisection": effective_bisection.counted(compiled, pairings, scenario.seed)}
            if pairings
            else {}
        ),
        "zero_load_latency_ns": zero_load_latency(compiled),
        "deadlock": {"free": not cycle, "cycle": cycle},
        "warnings": list(compiled.warnings),
        "resolved": scenario.resolve(),
    }


def _program(programs: Programs) -> dict[str, Any]:
    """How much a program does; messages whose target is not known before the run are counted, too."""
    counted = programs.counted()
    return {
        "terminals": int(np.count_nonzero(np.diff(programs.start))),
        "operations": programs.rows,
        "events": len(programs.events.due_ps),
        "attempted_per_s": programs.events.rate_per_s,
        **counted,
    }


def _program_lines(program: dict[str, Any]) -> list[tuple[str, str]]:
    messages, size = program["messages"], program["message_bytes"]
    sent = (
        "messages for ever" if messages is None else f"{messages:,} messages of {figures(size / messages)} B"
    )
    events = f", {program['events']:,} events" if program["events"] else ""
    many = program["channels_most"]
    channels = f"; a terminal sends to {many:,} others at most" if many else ""
    return [("program", f"{program['terminals']:,} terminals, {sent} on average{events}{channels}")]


def full_first(compiled: Compiled) -> dict[str, Any]:
    """The link, bus or memory that is full first, by the proportions of the traffic."""
    length_bytes = mean_length_bytes(compiled)
    if isinstance(compiled.parts, RingParts):
        return ring_inspection.bound(compiled, compiled.parts, length_bytes)
    return channel_load(compiled.parts, _loads(compiled, compiled.parts), length_bytes)


def load_bound(scenario: Scenario) -> tuple[float, int]:
    """The offered load at which a link, bus or memory is full, at most 1: of more, not all can be accepted.
    Of rates the scale at which it is. And how many terminals send. Raises ScenarioError.
    """
    compiled = compile(scenario)
    asked = demanded.demanded(compiled)
    found = full_first(compiled) if asked is None else {"load_bound": asked["scale_bound"]}
    bound = 1.0 if found["load_bound"] is None else float(found["load_bound"])
    return bound, int(np.count_nonzero(compiled.arrays["source_arrival"]))


def _loads(compiled: Compiled, parts: LinkParts) -> np.ndarray:
    """Packets per link for one of the busiest source, or one by each of its ports."""
    demand, choice = compiled.demand(), compiled.scenario.port_choice
    ports = int(parallel(parts.graph, choice).max())
    spread = plane_loads.spread_loads(parts, demand.spread.pairs) if demand.spread else 0.0
    return ports * plane_loads.loads(parts, choice, demand.pairs, demand.even) + spread


def _network(compiled: Compiled, parts: LinkParts, length_bytes: float) -> dict[str, Any]:
    """What is known of networks of links."""
    loads, payload = _loads(compiled, parts), _payload_mbytes_per_s(parts, length_bytes)
    return {
        "network": _counted(parts, loads),
        "link": {
            "payload_mbytes_per_s": payload,
            "mean_packet_bytes": length_bytes,
            "endless_packet_mbytes_per_s": parts.technology.data_bytes_per_s() / 1e6,
        },
        "bisection": _bisection(parts.graph, payload),
        "channel_load": channel_load(parts, loads, length_bytes),
        **_planes(parts, loads, length_bytes),
    }


def _planes(parts: LinkParts, loads: np.ndarray, length_bytes: float) -> dict[str, Any]:
    """Each plane and the throughput at which a link of it would be full; nothing of a single network."""
    if parts.graph.several is None:
        return {}
    found = []
    for plane in parts.graph.planes:
        own = np.zeros_like(loads)
        own[plane.links] = loads[plane.links]
        found.append({"plane": plane.name, **channel_load(parts, own, length_bytes)})
    return {"planes": found}


def _payload_mbytes_per_s(parts: LinkParts, length_bytes: float) -> float:
    """Payload of packets of this length that a link carries on a cable that is busy both ways."""
    return parts.technology.payload_bytes_per_s(max(1, round(length_bytes))) / 1e6


def _counted(parts: LinkParts, loads: np.ndarray) -> dict[str, Any]:
    """Switches, terminals, cables, ports, distances."""
    counted = measure.counts(parts.graph)
    several = {"ports": parts.graph.ports, "planes": len(parts.graph.planes)} if parts.graph.several else {}
    return {
        "family": parts.graph.family,
        "switches": counted.switches,
        "terminals": counted.terminals,
        **several,
        "links": counted.links,
        "cables": counted.cables,
        "terminal_cables": counted.terminal_cables,
        "switch_cables": counted.switch_cables,
        "ports_used_min": counted.ports_used_min,
        "ports_used_max": counted.ports_used_max,
        "mean_links_on_the_way": routing.mean_way(parts.graph, loads),
    }


def _bisection(graph: Graph, per_link_mbytes_per_s: float) -> dict[str, Any]:
    """The narrowest known cut into halves, as links and as payload rate, both directions together."""
    if graph.terminals > MOST_TERMINALS_FOR_CUT and graph.family in ("file", "networkx", "graph", ""):
        return {"links": None, "mbytes_per_s": None, "exact": False, "method": "not searched: too large"}
    if len({id(plane.graph) for plane in graph.planes}) > 1:
        method = "not searched: the terminals join different networks"
        return {"links": None, "mbytes_per_s": None, "exact": False, "method": method}
    cut = measure.bisection(graph.planes[0].graph)
    # The narrowest cut of one plane cuts the others, which are like it, in the same halves.
    links = cut.links * len(graph.planes)
    rate = links * per_link_mbytes_per_s
    return {"links": links, "mbytes_per_s": rate, "exact": cut.exact, "method": cut.method}


def channel_load(parts: LinkParts, loads: np.ndarray, length_bytes: float) -> dict[str, Any]:
    """The busiest link under the scenario's traffic, and the throughput at which it would be full.

    Loads are relative: the busiest source sends one packet per unit of time.
    """
    graph = parts.graph
    rates = graph.attributes.get("rate_bits_per_s")
    usual = parts.technology.link_rate_bits_per_s
    speed = np.ones(graph.links)
    if rates is not None:
        speed = np.where(np.isnan(rates), 1.0, np.asarray(rates) / usual)
    relative = loads / speed
    full = _full_at(parts, relative, length_bytes)
    busiest = int(np.argmin(full))
    most = float(full[busiest])
    if not np.isfinite(most):
        return {"busiest_link": None, "load": 0.0, "load_bound": None, "accepted_mbytes_per_s_bound": None}
    sent = float(loads[graph.link_source >= graph.switches].sum())
    return {
        "busiest_link": graph.link_names[busiest],
        "load": float(relative[busiest]),
        "load_bound": min(1.0, most),
        "accepted_mbytes_per_s_bound": sent * most * _payload_mbytes_per_s(parts, length_bytes),
    }


def _full_at(parts: LinkParts, relative: np.ndarray, length_bytes: float) -> np.ndarray:
    """Per link the load at which it is full; infinite for one without any.

    ``relative`` is of packets that pay the full share of flow control. Where that is matched they pay as much
    of it, ``s`` at most, as the opposite direction is busy, which has ``r`` for ``a`` here: at load ``x``,
    ``x a (1 - s + s x r) = 1``.
    """
    tech, reverse = parts.technology, np.asarray(parts.graph.link_reverse)
    length = max(1, round(length_bytes))
    alone = tech.beside(Fraction(0)) if tech.flow_control == "matched" else tech
    share = 1 - alone.packet_ps(length) / tech.packet_ps(length)
    beside = np.where(reverse < 0, 0.0, relative[reverse])
    found = np.full(len(relative), np.inf)
    used = relative > 0
    own, beside = relative[used], beside[used]
    bare, paid = (1 - share) * own, share * own * beside
    # The positive root, written so that it holds for an idle opposite direction, too.
    root = 2 / (bare + np.sqrt(bare * bare + 4 * paid))
    # An opposite direction that is full cannot be more than that.
    found[used] = np.where(root * beside > 1, 1 / own, root)
    return found


def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same as lines for reading: (what, value)."""
    of_rings = "rings" in found["network"]
    return [
        ("scenario", f"{found['name'] or 'without a name'} ({found['scenario_sha256'][:12]})"),
        *(ring_inspection.lines(found) if of_rings else _network_lines(found)),
        *(_program_lines(found["program"]) if "program" in found else []),
        *_bounds_of(found),
        *([effective_bisection.line(found)] if "effective_bisection" in found else []),
        *_latency_lines(found["zero_load_latency_ns"]),
        ("deadlock", _deadlock_text(found["deadlock"])),
    ]


def _network_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    network, link = found["network"], found["link"]
    low, high = network["ports_used_min"], network["ports_used_max"]
    return [
        (
            "network",
            f"{network['family']}: {_several(network['terminals'], 'terminal')}, "
            f"{_several(network['switches'], 'switch', 'es')}",
        ),
        *_plane_lines(found),
        (
            "cables",
            f"{network['cables']:,}: {network['terminal_cables']:,} to terminals, "
            f"{network['switch_cables']:,} between switches",
        ),
        *(
            [("ports", f"{high if low == high else f'{low} to {high}'} of each switch are used")]
            if high
            else []
        ),
        ("path", f"{network['mean_links_on_the_way']:.2f} links on average in this traffic"),
        (
            "one link",
            f"{figures(link['payload_mbytes_per_s'])} MB/s of payload in packets of "
            f"{link['mean_packet_bytes']:g} B, "
            f"{figures(link['endless_packet_mbytes_per_s'])} MB/s in an endless one",
        ),
        ("bisection", _bisection_text(found["bisection"])),
    ]


def _plane_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The ports of terminals that have several, and what each plane can carry."""
    network = found["network"]
    if "planes" not in found:
        return []
    bounds = [
        f"{plane['plane']} at most {figures(plane['accepted_mbytes_per_s_bound'])} MB/s"
        for plane in found["planes"]
        if plane["busiest_link"] is not None
    ]
    return [
        ("terminals", f"{_several(network['ports'], 'port')} in {_several(network['planes'], 'plane')}"),
        ("planes", "; ".join(bounds)),
    ]


def _several(count: int, what: str, plural: str = "s") -> str:
    return f"{count:,} {what}{'' if count == 1 else plural}"


def _bisection_text(cut: dict[str, Any]) -> str:
    if cut["links"] is None:
        return cut["method"]
    sure = "" if cut["exact"] else "at most "
    why = f" ({cut['method']})" if cut["method"] else ""
    return f"{sure}{cut['links']} links, {figures(cut['mbytes_per_s'])} MB/s both directions together{why}"


def _bounds_of(found: dict[str, Any]) -> list[tuple[str, str]]:
    if "demanded" in found:
        return demanded.lines(found["demanded"])
    return _bound_lines(found["channel_load"], "program" in found)


def _bound_lines(load: dict[str, Any], of_program: bool) -> list[tuple[str, str]]:
    """The bound. It holds of traffic in its proportions, which a program keeps; sources keep them only up to
    the load at which something is full, and then what goes elsewhere can be more.
    """
    if load["busiest_link"] is None:
        return []
    kept = of_program or load["load_bound"] == 1.0
    rate = figures(load["accepted_mbytes_per_s_bound"])
    most = f"at most {rate} MB/s{'' if kept else ' in these proportions'}"
    return [
        (
            "throughput",
            f"{most}, at load {figures(load['load_bound'], 3)}: {load['busiest_link']} is full first",
        )
    ]


def _latency_lines(latency: dict[str, Any]) -> list[tuple[str, str]]:
    if not latency["pairs"]:
        return []
    low, mean, high = (latency[key] / 1e3 for key in ("min", "mean", "max"))
    about = f"{latency['pairs']:,} pairs, packets of {latency['length_bytes']:g} B"
    return [
        ("zero-load latency", f"{figures(low)} to {figures(high)} µs, mean {figures(mean)} µs over {about}")
    ]


def _deadlock_text(deadlock: dict[str, Any]) -> str:
    if deadlock["free"]:
        return "cannot happen: the channel dependency graph has no cycle"
    return "can happen; a cycle: " + " -> ".join([*deadlock["cycle"], deadlock["cycle"][0]])
