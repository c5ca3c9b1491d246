"""The limit of a network by the counts of a run: a full wire, bus or queue, or blocking; and links alike."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..technology import host
from ..topology.graph import Graph
from . import tables
from .ends import STUCK
from .faults import verdict as of_faults
from .figures import figures, in_percent, measured

if TYPE_CHECKING:
    from .programs import ProgramRun


Ints = NDArray[np.int64]

TOGETHER = 20
"""Successive packets wait alike: about as many as in a queue that is used to two thirds are one independent
value."""
_CHANCE = 0.05


def equals(graph: Graph, link: int) -> Ints:
    """Return the links of the same kind as one, itself included: out of terminals, into them, or between
    switches, or those of all rings.
    """
    if graph.network_kind.buses:
        return np.arange(graph.links)
    inner = np.stack([np.asarray(graph.link_source), np.asarray(graph.link_target)]) < graph.switches
    return np.flatnonzero((inner == inner[:, [link]]).all(axis=0))


def alike(values: Floats, packets: Floats, most: int, among: Ints, together: float = 1.0) -> Ints:
    """Return the places ``among`` whose value the largest one does not exceed by more than chance.

    Args:
        values: sums over packets, such as the time in use, per place.
        packets: how many packets; each ``together`` of them count as one independent value.
        most: the place of the largest value.
        among: the places that it is compared with.
    """
    number = np.maximum(packets / together, 1)
    spread = np.sqrt(values[among] ** 2 / number[among] + values[most] ** 2 / number[most])
    # The largest of many exceeds the others by chance the more, the more there are.
    bound = _normal(1 - _CHANCE / max(1, len(among) - 1)) * spread
    return among[values[most] - values[among] <= np.where(among == most, 0.0, bound)]


def _normal(share: float) -> float:
    """Return the quantile of the normal distribution (Abramowitz and Stegun 26.2.23, error below 0.00045)."""
    tail = max(1 - share, 1e-12)
    t = math.sqrt(-2 * math.log(tail))
    above = 2.515517 + t * (0.802853 + t * 0.010328)
    return t - above / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))


def named(graph: Graph, links: Ints, most: int, share: Floats) -> tuple[str, str]:
    """Return the name of the link that stands out, or nothing, and the links in words."""
    if len(links) == 1:
        name = graph.link_names[most]
        return name, f"the link {name}, in use {in_percent(share[most])} of the time"
    low, high = in_percent(share[links].min()), in_percent(share[links].max())
    use = f"in use {high} of the time" if low == high else f"in use {low} to {high} of the time"
    return "", f"{_all(graph, links, most)}, {use}"


def _all(graph: Graph, links: Ints, most: int) -> str:
    every = equals(graph, most)
    if len(links) < len(every):
        return f"{len(links)} of {len(every)} {_kind(graph, most)} alike, such as {graph.link_names[most]}"
    return f"all {len(every)} {_kind(graph, most)} alike"


def _kind(graph: Graph, link: int) -> str:
    if graph.network_kind.buses:
        return "links"
    if graph.link_target[link] >= graph.switches:
        return "links into terminals"
    return "links out of terminals" if graph.link_source[link] >= graph.switches else "links between switches"


FULL = 0.95
"""A wire or bus that is in use for this share of the time is full: with random traffic its queue grows."""
RETRIED = 0.25
"""If retries use more than this share of a full ring link, the limit is the queue that rejects them."""
LOST = 0.01
"""A run that loses more than this share of its packets is past saturation."""
LOOSE = 0.1
"""A rate with a half-width above this fraction of it is not known."""
MARGIN = 0.01
"""In a search, a run that is behind by at most this share of its packets keeps up."""

Floats = NDArray[np.float64]
Limit = dict[str, Any]
"""``what`` (``link``, ``bus``, ``queue``, ``blocking`` or ``host``), its ``name``, the ``share`` of the time
in which it is in use, whether it is ``reached``, and the same as ``text``."""


def keeps_up(native: Mapping[str, Any]) -> bool | None:
    """Whether queues stayed bounded, by the engine's tests of the backlog of the sources; None if the run is
    too short to tell. Losses of more than :data:`LOST` end a run as saturated.
    """
    reason, lost = str(native["end_reason"]), int(native["measured_refused_bytes"])
    if reason in ("saturated", *STUCK) or not int(native["measured_packets"]):
        return False
    if lost > LOST * int(native["measured_offered_bytes"]):
        return False
    if reason == "drained":
        return True
    return {"grows": False, "bounded": True}.get(native.get("backlog", "unknown"))


def seems_to_keep_up(summary: Mapping[str, Any]) -> bool:
    """Whether queues more likely stayed bounded than not, for searches, which must decide.

    If no test can tell, of the packets that were offered at most 1 %, or the standard deviation of a number
    of random arrivals, may be neither lost nor accepted.
    """
    if summary["keeps_up"] is not None:
        return bool(summary["keeps_up"])
    offered, accepted = summary["offered_mbytes_per_s"], summary["accepted_mbytes_per_s"]
    if not offered:
        return True  # in so short a time there was nothing to keep up with
    packets = summary["packets"]["measured"] * (offered / accepted if accepted else 1)
    behind = 1 - (summary["refused_mbytes_per_s"] + accepted) / offered
    return bool(behind <= max(MARGIN, 1 / math.sqrt(packets)))


def limit(
    native: Mapping[str, Any], graph: Graph, of: Callable[[Mapping[str, Any], Graph, int], Limit]
) -> Limit:
    """Return the component closest to its limit, as ``of`` finds it in a window of ticks."""
    window = tables.window_ticks(native)
    if not window or not graph.links:
        return one_of("link", "", 0.0, False, "nothing: no time was measured")
    if not len(tables.column(native, "link_busy_ticks")):
        return dict.fromkeys(("what", "name", "share", "reached", "text"))  # of real machines none is seen
    return of(native, graph, window)


def one_of(what: str, name: str, share: float, reached: bool, text: str) -> Limit:
    return {"what": what, "name": name, "share": share, "reached": reached, "text": text}


def _wire(native: Mapping[str, Any], graph: Graph, busy: Floats) -> Limit:
    """Return the link in use most, and of equal ones that for which packets waited most, or all alike."""
    waits = tables.column(native, "link_wait_ticks")
    link = int(np.lexsort((-np.arange(len(busy)), waits, busy))[-1])
    packets = tables.column(native, "link_packets").astype(np.float64)
    links = alike(busy, packets, link, equals(graph, link))
    # After few packets chance explains any difference, but nobody takes less than half for the same.
    name, text = named(graph, links[2 * busy[links] >= busy[link]], link, busy)
    return one_of("link", name, float(busy[link]), bool(busy[link] >= FULL), text)


def of_links(native: Mapping[str, Any], graph: Graph, window: int) -> Limit:
    """Check wires first, then packets that wait while no wire is full."""
    busy = tables.utilisation(native, window)
    blocked = tables.blocked(native, window)
    fullest, held = int(np.argmax(busy)), int(np.argmax(blocked))
    if busy[fullest] >= FULL or busy[held] + blocked[held] < FULL:
        return _wire(native, graph, busy)
    waits, packets = (
        tables.column(native, f"link_{what}").astype(float) for what in ("wait_ticks", "packets")
    )
    most = int(np.argmax(waits))
    links = alike(waits, packets, most, equals(graph, most), TOGETHER)
    name = graph.link_names[most] if len(links) == 1 else ""
    whom = f"mostly for {name or _all(graph, links, most)}"
    if not waits[most]:
        name = graph.link_names[held]
        whom = f"mostly {name}, until a head is routed or credit comes"
    text = (
        f"blocking: waiting packets hold their links up to {in_percent(blocked[held])} of the time, {whom}; "
        f"no wire is in use more than {in_percent(busy[fullest])} of the time"
    )
    return one_of("blocking", name, float(busy[fullest]), True, text)


def of_rings(native: Mapping[str, Any], graph: Graph, window: int) -> Limit:
    """Check buses first: a full bus causes rejections, whose retries fill the links before it."""
    buses = tables.bus_utilisation(native, graph, window)
    if len(buses) and buses.max() >= FULL:
        return _bus(native, graph, buses)
    busy, rejected = tables.utilisation(native, window), tables.column(native, "link_busied")
    fullest = int(np.argmax(busy))
    retries = tables.per(tables.column(native, "link_retry_ticks"), window)
    at, delivered = int(np.argmax(rejected)), int(native["measured_packets"])
    by_retries = busy[fullest] >= FULL and retries[fullest] > RETRIED
    if by_retries or rejected[at] > max(delivered, 1):
        owner = str(tables.vertex_names(graph)[graph.link_target[at]])
        many = f"{int(rejected[at]):,} packets"
        passed = f"which {many} found full and passed"
        text = f"the receive queue of {owner}, "
        text += passed if tables.only_pass(native) else f"which rejected {many} that were sent again"
        return one_of("queue", owner, float(busy[fullest]), True, text)
    return (
        _bus(native, graph, buses) if buses.max(initial=0.0) > busy[fullest] else _wire(native, graph, busy)
    )


def with_token(found: Limit, technology: Mapping[str, Any]) -> Limit:
    """Return the same, which says of a token ring what the use of its links does not."""
    if found["what"] != "link" or not technology.get("token"):
        return found
    return {**found, "text": f"{found['text']}; a packet keeps all links of a token ring"}


def _bus(native: Mapping[str, Any], graph: Graph, buses: Floats) -> Limit:
    at, every = int(np.argmax(buses)), np.arange(len(buses))
    transfers = tables.column(native, "bus_transfers").astype(np.float64)
    several = len(alike(buses, transfers, at, every))
    name = f"the bus of {graph.switch_names[at]}"
    which = f"{name}" if several == 1 else f"the buses, {several} of {len(every)} alike, such as {name}"
    text = f"{which}, in use {in_percent(buses[at])} of the time"
    return one_of("bus", name if several == 1 else "", float(buses[at]), bool(buses[at] >= FULL), text)


def held_by(found: Limit | None) -> str:
    """Return the end of a sentence: the limit, or the component closest to its limit."""
    if not found or found["what"] is None:
        return ""
    nearest = "nearest to its limit is" if found["name"] else "nearest to their limit are"
    return f"; {'limited by' if found['reached'] else nearest} {found['text']}"


def arrivals(resolved: Mapping[str, Any]) -> str:
    """Return the kind of a scenario's arrivals, from its resolved form."""
    kind = resolved.get("traffic", {}).get("arrivals", "")
    return str(kind.get("kind", "") if isinstance(kind, Mapping) else kind)


WAITS = ("wait", "random-wait")
"""Closed-loop sources, which offer less if the network accepts less."""

HURT = ("links", "cut", "discarded", "timed_out")
"""Counts of faults: a run in which all are 0 is as one without faults."""


def verdict(summary: Mapping[str, Any], resolved: Mapping[str, Any]) -> str:
    reason, held = summary["end"]["reason"], held_by(summary.get("limit"))
    if reason == "stopped":
        return str(summary["end"]["message"]).removesuffix(".")
    if reason in STUCK:
        return f"It {reason}: in the end nothing is delivered, so its throughput means little"
    offered, accepted = summary["offered_mbytes_per_s"], summary["accepted_mbytes_per_s"]
    if not accepted:
        return "Nothing was delivered in the measuring window"
    rate = f"{figures(accepted)} MB/s"
    if "messages" not in summary and any(summary.get("faults", {}).get(name) for name in HURT):
        return of_faults(summary)
    if reason == "incomplete" and "messages" in summary:
        return _incomplete(summary, "traffic" in resolved)
    if "messages" in summary:
        return f"{_events(summary['events'], summary['messages'], summary['keeps_up'])}{held}"
    if arrivals(resolved) == "backlog":
        return f"Accepts {rate} when every source always has a packet waiting{held}"
    if arrivals(resolved) in WAITS:
        return f"Accepts {rate} from sources that wait for the network{held}"
    if summary["keeps_up"]:
        return f"Carries all that is offered, {rate}{held}"
    if summary["keeps_up"] is None:
        short = "the run is too short to tell whether queues stay bounded"
        if accepted > offered:
            return f"Accepts {rate}, more than the {figures(offered)} MB/s offered meanwhile: {short}{held}"
        return f"Accepts {rate} of the {figures(offered)} MB/s offered; {short}{held}"
    return f"Past saturation: accepts {figures(accepted)} of the {figures(offered)} MB/s offered{held}"


def _incomplete(summary: Mapping[str, Any], beside: bool) -> str:
    """Summarise a run of programs of which faults lost messages, or transactions were given up; ``beside``:
    traffic was still under way."""
    packets, events, messages = summary["packets"], summary["events"], summary["messages"]
    missed = packets.get("lost", 0) if beside else packets["offered"] - packets["delivered"]
    lost = f"{missed:,} of {packets['offered']:,} packets never arrived"
    missing = messages["made"] - messages["received"]
    whole = f"{messages['received']:,} messages were received, {missing:,} not"
    if events["count"]:
        done, left = events["complete"], events["incomplete"]
        whole = f"{done:,} of {events['count']:,} events are complete, {left:,} never will be"
    late = summary["sci"]["timed_out"] if "sci" in summary else 0
    if late and not missed:
        return f"Programs wait for ever: {late:,} transactions were given up after their time-out; {whole}"
    return f"Faults left gaps: {lost} and are not sent again; {whole}"


def _grouped(number: str) -> str:
    """Return a text with commas between the thousands of its numbers of five digits and more."""
    return re.sub(r"(?<![.\d])\d{5,}", lambda found: f"{int(found[0]):,}", number)


def _events(events: Mapping[str, Any], messages: Mapping[str, Any], keeps_up: bool | None) -> str:
    achieved, attempted = events["achieved_per_s"], events["attempted_per_s"]
    if achieved is None:
        return f"Carries {figures(messages['mbytes_per_s'])} MB/s of messages"
    half = events["achieved_per_s_ci95"]
    rate = _grouped(measured(achieved, half or None))
    if attempted is None:
        unsure = half is None or half > LOOSE * achieved
        note = "; the run is too short to tell the rate" if unsure else ""
        return f"Builds {rate} events a second, as fast as it can{note}"
    offer = f"uilds {rate} of {_grouped(figures(attempted))} events a second"
    if keeps_up is None:
        return f"B{offer}; the run is too short to tell whether their latency grows"
    if keeps_up:
        return f"Keeps up: b{offer}"
    grows = in_percent(events["growth"])
    return f"Falls behind: b{offer}; from event to event the latency grows by {grows} of the interval"


BLOCKED = 0.5
"""Senders that wait for a place for their messages for this share of the time are held up by something."""
WAITING = 0.5
"""If at least this many packets wait for the link into a receiver on average, its senders compete for it."""


def of_program(found: Limit, run: ProgramRun, resolved: Mapping[str, Any]) -> Limit:
    """Return what limits the programs; ``found``: what limits the links."""
    if found["what"] is None or not run.window_ticks:
        return found
    hosts = np.minimum(host_shares(run, resolved) * _steadily(run), 1.0)
    busiest = int(np.argmax(hosts))
    name = run.graph.terminal_names[busiest]
    host = f"the host of {name}, busy with its messages {in_percent(hosts[busiest])} of the time"
    if found["what"] == "link" and found["reached"]:
        return _wire_of_programs(found, run)
    if hosts[busiest] >= FULL:
        return one_of("host", name, float(hosts[busiest]), True, host)
    blocked = run.summary_of_hosts["blocked_share_max"] or 0.0
    receiving = run.summary_of_hosts["receiving_share_max"] or 0.0
    if found["reached"] or max(blocked / BLOCKED, receiving / FULL) < 1:
        nearer = not found["reached"] and hosts[busiest] > found["share"]
        return one_of("host", name, float(hosts[busiest]), False, host) if nearer else found
    more = f"; {host}" if hosts[busiest] >= BLOCKED else ""
    limit = _incast(found, run, resolved, more) or _window(found, run, resolved, more)
    return {**limit, "reached": not run.steady.keeps_up}


def _steadily(run: ProgramRun) -> float:
    """Return how much faster events are built in the steady part of the run than in all of the window."""
    built = int(run.measured_events.sum())
    if not built or math.isnan(run.steady.per_ns_ci95):
        return 1.0
    return max(1.0, run.steady.per_ns * run.window_ns / built)


def _wire_of_programs(found: Limit, run: ProgramRun) -> Limit:
    """Return full links; if one alone leads to a terminal, with the number of those that send to it."""
    graph = run.graph
    if not found["name"]:
        return found
    link = graph.link_names.index(found["name"])
    place = int(graph.link_target[link]) - graph.switches
    if place < 0 or graph.several is not None:
        return found
    senders = int(
        (tables.column(run.native, "message_flow_target") == place).sum()
    )  # as far as pairs are kept
    if senders < 2:
        return found
    return {**found, "text": f"{found['text']}: incast of {senders} senders"}


def _incast(found: Limit, run: ProgramRun, resolved: Mapping[str, Any], more: str) -> Limit | None:
    """Return the receivers whose senders compete for the links into them, if packets wait there."""
    graph = run.graph
    into = np.asarray(graph.terminal_in_links)
    waiting = tables.column(run.native, "link_wait_ticks")[into] / run.window_ticks
    if not len(waiting) or waiting.max() < WAITING:
        return None
    most = int(np.argmax(waiting))
    alike = int((waiting >= WAITING).sum()) - 1
    name = graph.port_names[most] if graph.several is not None else graph.terminal_names[most]
    others = f" and {alike} more receiver{'s' if alike > 1 else ''}" if alike else ""
    busy = float(tables.utilisation(run.native, run.window_ticks)[into[most]])
    text = (
        f"incast at {name}{others}: {figures(float(waiting[most]), 2)} packets on average wait for the link "
        f"into it, which is in use {in_percent(busy)} of the time{_held(run, resolved)}{more}"
    )
    return one_of("incast", name, busy, True, text)


def _window(found: Limit, run: ProgramRun, resolved: Mapping[str, Any], more: str) -> Limit:
    """Return the windows of the protocol: senders wait for answers while no wire is full."""
    protocol = resolved.get("protocol") or {}
    names = (
        "messages_at_once",
        "packets_per_channel",
        "packets_at_once",
        "channels_at_once",
        "receive_at_once",
    )
    given = ", ".join(f"{name} = {protocol[name]}" for name in names if protocol.get(name))
    most = run.summary_of_hosts["blocked_most"] or ""
    text = (
        f"the windows of the protocol ({given or 'none is set'}): no wire is in use more than "
        f"{in_percent(found['share'])} of the time{_held(run, resolved)}{more}"
    )
    return one_of("window", most, float(found["share"]), True, text)


def _held(run: ProgramRun, resolved: Mapping[str, Any]) -> str:
    share = run.summary_of_hosts["blocked_share_mean"] or 0.0
    places = (resolved.get("protocol") or {}).get("messages_at_once")
    if not places or share < BLOCKED:
        return ""
    return f"; senders wait {in_percent(share)} of the time for a place among messages_at_once = {places}"


_ENDS = ("source", "target")


def host_shares(run: ProgramRun, resolved: Mapping[str, Any]) -> Floats:
    """Return, per terminal, the share of the window in which its processor or bus works for messages,
    or a channel waits for tokens."""
    if not run.graph.terminals or not run.window_ns:
        return np.zeros(run.graph.terminals)
    handled, known = _handled(run), host.read(resolved.get("protocol") or {})
    apart = (resolved.get("ports") or {}).get("choice") != "nominal"
    several, streams = run.graph.several, run.programs.streams
    ports = np.bincount(np.arange(len(streams)) if several is None else several.terminal)
    busy_ps = host.busy_ps(known, handled["send"], handled["receive"], streams, ports, apart)
    source, target = (tables.column(run.native, f"message_flow_{end}").astype(np.int64) for end in _ENDS)
    sent = tables.column(run.native, "message_flow_bytes").astype(np.float64)
    busy_ps = np.maximum(busy_ps, host.shaped_ps(known, source, target, sent, ports))
    return np.minimum(busy_ps / (run.window_ns * 1000), 1.0)


def _handled(run: ProgramRun) -> dict[str, host.Handled]:
    """Return what was sent and received: terminals, and the number and the mean size of messages.

    By pair where all pairs were kept: a supervisor's messages are short, its builders' long. Otherwise with
    the mean size of what each terminal's program sends.
    """
    pairs = {
        name: tables.column(run.native, f"message_flow_{name}")
        for name in ("packets", "bytes", "source", "target")
    }
    moved = {way: tables.column(run.native, f"terminal_bytes_{way}") for way in ("sent", "received")}
    if int(pairs["bytes"].sum()) == int(moved["received"].sum()) == int(moved["sent"].sum()):
        number = pairs["packets"].astype(np.float64)
        size = pairs["bytes"] / np.maximum(number, 1)
        source, target = (pairs[end].astype(np.int64) for end in ("source", "target"))
        return {"send": (source, number, size), "receive": (target, number, size)}
    size, every = run.message_bytes, np.arange(run.graph.terminals)
    one = np.maximum(size, 1)
    return {"send": (every, moved["sent"] / one, size), "receive": (every, moved["received"] / one, size)}
