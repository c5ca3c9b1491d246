"""Buffers and lanes that a graph file gives to single links, and the rules by which lanes share one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..routing import NONE, RouteTable, RoutingError
from ..routing.table import OWN
from ..scenario import Scenario
from ..scenario.errors import Path
from ..technology import Technology, TechnologyError
from ..technology.lanes import LIMIT_BYTES, NO_LIMIT, WEIGHT_BYTES
from ..technology.model import Ps
from ..technology.presets import in_words
from ..topology import Graph
from ..topology.graph import Ints
from ..topology.raw import CABLE, CABLES
from .columns import Arrays, refuse_beside, u32

_WORD = 4
"""Bytes of a word, which is as many characters."""


def buffers_of(scenario: Scenario, graph: Graph, tech: Technology, cable: Technology | None) -> Ints:
    """Return the input buffer of each link, in characters. Raises ScenarioError for one that is too small."""
    found = np.full(graph.links, tech.input_buffer_chars, np.int64)
    if cable is not None:
        found[~graph.usual_links] = cable.input_buffer_chars
    given = {"buffer_chars": 1, "buffer_bytes": tech.character_bytes}
    for name, per_char in given.items():
        values = graph.attributes.get(name, np.zeros(0))
        rows = np.flatnonzero(~np.isnan(values))
        odd = rows[values[rows] % per_char != 0]
        if len(odd):
            message = f"the buffer of {graph.link_names[odd[0]]} is {values[odd[0]]:g} B"
            hint = f"give it whole flits of {per_char} B"
            raise scenario.error(f"{message}, no whole number of flits", ("topology",), hint)
        found[rows] = values[rows].astype(np.int64) // per_char
    if not given.keys() & graph.attributes.keys():
        return found
    other = ~graph.usual_links
    for here, kind in ((~other, tech), (other, cable)):
        for chars in np.unique(found[here]).tolist():
            try:
                replace(kind or tech, input_buffer_chars=chars)
            except TechnologyError as error:
                name = graph.link_names[int(np.argmax(here & (found == chars)))]
                raise scenario.error(f"{name}: {error.message}", ("topology",), error.hint) from error
    return found


def cable_of(scenario: Scenario, graph: Graph, tech: Technology) -> Technology | None:
    """Return the technology of the cables that the graph gives another one, None if there are none: links of
    characters, between terminals and switches of SpaceFibre. Raises ScenarioError.
    """
    given = graph.attributes.get(CABLE)
    if given is None:
        return None
    rows = np.flatnonzero(~np.isnan(given)).tolist()
    name, preset = graph.link_names[rows[0]], CABLES[int(given[rows[0]])]
    if not tech.lane_rules.frame_chars or tech.character_bytes != _WORD:
        message = f"{name} is a cable of {preset} in a network of {scenario.technology.preset}"
        hint = (
            'such cables are of networks of SpaceFibre: write technology.preset = "spacefibre-2g5", or leave '
        )
        raise scenario.error(message, ("topology",), f"{hint}the technology of the cable out")
    for link in rows:
        ends = int(graph.link_source[link]), int(graph.link_target[link])
        if sum(end < graph.switches for end in ends) != 1:
            message = f"{graph.link_names[link]} joins no terminal with a switch, and is a cable of {preset}"
            hint = "between routers SpaceFibre is simulated: leave the technology of this cable out"
            raise scenario.error(message, ("topology",), hint)
    _check_beside(scenario, tech, f"a cable of {preset}")
    return in_words(preset, tech)


def _check_beside(scenario: Scenario, tech: Technology, what: str) -> None:
    """Raise ScenarioError for what is not defined beside such cables."""
    others: dict[str, tuple[Path, bool]] = {
        "packet distribution": (
            ("routing", "distribution"),
            bool(getattr(scenario.routing, "distribution", None)),
        ),
        "time-slots": (("technology", "lane_slots"), bool(tech.lane_rules.slots)),
    }
    refuse_beside(scenario, what, others)


def with_most_lanes(scenario: Scenario, graph: Graph, tech: Technology) -> Technology:
    """Return the technology with as many lanes as the link that has most. Raises ScenarioError."""
    given = graph.attributes.get("lanes", np.zeros(0))
    if np.isnan(given).all():
        return tech
    if not tech.in_flits:
        message = f"links of {scenario.technology.preset} have one lane, so the file can give them no other"
        raise scenario.error(message, ("topology",), "leave the lanes out, or choose generic")
    return replace(tech, lanes=max(tech.lanes, int(np.nanmax(given))))


def lanes_of(graph: Graph, usual: int, most: int) -> Ints | None:
    """Return the lanes of each link, None if all have ``most``; those of terminals always have, or one if
    they are of another technology.
    """
    given, cable = (graph.attributes.get(name) for name in ("lanes", CABLE))
    if given is None and cable is None:
        return None
    given = np.full(graph.links, np.nan) if given is None else given
    found = np.where(np.isnan(given), usual, given).astype(np.int64)
    found[(graph.link_source >= graph.switches) | (graph.link_target >= graph.switches)] = most
    return found if cable is None else np.where(np.isnan(cable), found, 1)


def narrowed(table: RouteTable, graph: Graph, lanes: Ints | None, most: int) -> RouteTable:
    """Return the table without lanes that its links lack. Raises RoutingError for a group with none left."""
    if lanes is None:
        return table
    entries = np.asarray(table.group_links, np.int64)
    kept = entries % most < lanes[entries // most]
    if CABLE in graph.attributes:  # the first lane of such a cable stands for all
        of_cable = ~graph.usual_links[entries // most]
        entries = np.where(of_cable, entries - entries % most, entries)
        groups = np.repeat(np.arange(table.groups), np.diff(table.group_start.astype(np.int64)))
        first = np.unique(groups * (graph.links * most) + entries, return_index=True)[1]
        kept = (kept | of_cable) & np.isin(np.arange(len(entries)), first)
    counts = np.add.reduceat(kept, table.group_start[:-1].astype(np.int64)) if len(entries) else np.zeros(0)
    if (counts == 0).any():
        link = int(entries[int(table.group_start[int(np.argmin(counts))])]) // most
        message = f"{graph.link_names[link]} has {lanes[link]} of {most} lanes, and packets need others"
        raise RoutingError(message, "lane_choice")
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
    return replace(table, group_start=start, group_links=u32(entries[kept]))


def merged(table: RouteTable, graph: Graph) -> RouteTable:
    """Return the table in which packets of all classes wait in one group for the cables of one lane."""
    if CABLE not in graph.attributes:
        return table
    known: dict[tuple[int, ...], int] = {}
    places = [known.setdefault(tuple(table.group(at).tolist()), len(known)) for at in range(table.groups)]
    kept = np.unique(places, return_index=True)[1]

    def renamed(entries: NDArray[np.uint32]) -> NDArray[np.uint32]:
        group = np.asarray([*places, 0], np.int64)[np.minimum(entries >> 1, len(places))]
        return np.where(entries >= OWN, entries, 2 * group + (entries & 1)).astype(np.uint32)

    return replace(
        table,
        group_switch=table.group_switch[kept],
        group_start=u32(np.cumsum([0, *(len(links) for links in known)])),
        group_links=u32([lane for links in known for lane in links]),
        rows=renamed(table.rows),
        shared=table.shared and replace(table.shared, exit=renamed(table.shared.exit)),
    )


# Frames, priorities, reservations and tables of lanes: their columns, and what is said of them.


def lane_rules(tech: Technology, tick: Ps) -> Arrays:
    """Return the columns of lanes that do more than take turns; none for others."""
    rules, found = tech.lane_rules, dict[str, Any]()
    if rules.frame_chars:
        found["lane_frame_chars"] = rules.frame_chars
    if rules.priority:
        found["lane_priority"] = np.array(rules.priority, np.uint8)
    if rules.reserved:
        found["lane_share_millionths"] = u32(rules.reserved_millionths)
        found["lane_credit_limit_ticks"] = rules.credit_limit_chars * tech.character_ps() // tick
    if rules.slots:
        found["lane_slots"] = np.array(rules.slot_bits, np.uint64)
        found["lane_slot_ticks"] = rules.slot_chars * rules.physical * tech.character_ps() // tick
    if tech.lane_arbiter == "weighted":
        high, low = rules.tables
        lane, weight = zip(*high, *low, strict=True)
        limit = rules.high_limit * LIMIT_BYTES // tech.character_bytes
        found["lane_table_lane"] = u32(lane)
        found["lane_table_chars"] = u32(weight) * np.uint32(WEIGHT_BYTES // tech.character_bytes)
        found["lane_table_high"] = len(high)
        found["lane_high_limit_chars"] = NONE if rules.high_limit == NO_LIMIT else limit
    return found


def promised(tech: Technology) -> list[str]:
    """Return a warning if more is reserved than a wire has."""
    total = sum(tech.lane_rules.reserved_millionths)
    if total <= 10**6:
        return []
    return [
        f"lane_reserved promises {total / 1e4:g} % of a link to its lanes: when all of them send, some get "
        "less than is reserved for them; reserve 100 % at most"
    ]


def coded(tech: Technology, graph: Graph) -> list[str]:
    """Return a warning if the rate of a cable of frames is that on the wire: rates count data."""
    usual, rates = Fraction(tech.link_rate_bits_per_s), graph.attributes.get("rate_bits_per_s")
    if rates is None or not tech.lane_rules.frame_chars:
        return []
    wire = float(usual * 10 / 8)
    found = np.flatnonzero(np.isclose(rates, wire))
    if not len(found):
        return []
    of_wire, of_data = units.format_rate_bits_per_s(round(wire)), units.format_rate_bits_per_s(usual)
    return [
        f"{graph.link_names[found[0]]} has {of_wire} of data: rates of cables are without the coding, and a "
        f"lane of {of_wire} coded 8b10b carries {of_data}; write that, or no rate"
    ]


def slots_by_chance(tech: Technology, arrays: Arrays) -> list[str]:
    """Return a warning if packets may take lanes of a link that have other time-slots."""
    slots = np.array(tech.lane_rules.slot_bits, np.uint64)
    start, entries = arrays["group_start"][:-1].astype(np.int64), arrays["group_links"]
    if not len(slots) or not len(entries):
        return []
    given = slots[entries % arrays["lanes"]]
    if (np.minimum.reduceat(given, start) == np.maximum.reduceat(given, start)).all():
        return []
    return [
        "packets may take lanes with different time-slots: one waits for the slot of the lane that it has "
        "taken, and others wait behind it; give each lane its traffic in [[routing.traffic_class]]"
    ]
