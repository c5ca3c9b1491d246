"""Check, before a run, that the entries of a SpaceWire-D schedule do not share links, and that RMAP commands
have room for the way of their replies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..routing import NONE, RouteTable
from ..scenario import Scenario
from ..topology import Graph
from ..traffic.names import Terminals

if TYPE_CHECKING:
    from ..programs import Programs
    from .addresses import Addresses


def check_schedule(scenario: Scenario, graph: Graph, table: RouteTable, programs: Programs | None) -> None:
    """Raise ScenarioError if two initiators may use one link in the same slot."""
    program = scenario.program
    if programs is None or program is None or program.kind != "spacewire-d":
        return
    if graph.several is not None:
        message = (
            "a schedule of slots is for terminals with one port: with several, packets may change their way"
        )
        raise scenario.error(message, ("program", "kind"), "describe one plane of the network")
    terminals = Terminals(graph.terminal_names)
    used: dict[tuple[int, int], int] = {}
    """By slot and link: the first entry that uses the link."""
    known: dict[tuple[int, int], set[int]] = {}
    for place, entry in enumerate(program.schedule):
        there = terminals.one(entry.initiator, "initiator"), terminals.one(entry.target, "target")
        back = there[1], there[0]
        for ends in (there, back):
            if ends not in known:
                known[ends] = _links(graph, table, *ends)
        for link in sorted(known[there] | known[back]):
            first = used.setdefault((entry.slot, link), place)
            if program.schedule[first].initiator != entry.initiator:
                other = program.schedule[first]
                message = (
                    f"slot {entry.slot}: {entry.initiator} and {other.initiator} (entry {first + 1}) both "
                    f"use the link {graph.link_names[link]}"
                )
                path = ("program", "schedule", place)
                raise scenario.error(message, path, "move one of them to another slot")


def check_reply_addresses(
    scenario: Scenario, graph: Graph, addresses: Addresses, programs: Programs | None
) -> None:
    """Raise ScenarioError if commands do not tell their targets the whole way of the reply."""
    given = getattr(scenario.program, "reply_address_bytes", None)
    is_answered = getattr(scenario.program, "acknowledged", True)
    if programs is None or given is None or not is_answered or graph.several is not None:
        return
    source, target, _, _ = programs.demand
    longest = int(addresses.of(source, target).max(initial=0))
    least = min(-(-longest // 4) * 4, 12)
    if given < least:
        message = f"addresses have up to {longest} B, and a command carries that of its reply"
        hint = f"write reply_address_bytes = {least}"
        raise scenario.error(message, ("program", "reply_address_bytes"), hint, key=True)


def _links(graph: Graph, table: RouteTable, source: int, target: int) -> set[int]:
    """Return all links that packets from one terminal to another may take."""
    todo = [int(graph.terminal_out_links[source])]
    found = set(todo)
    column = int(table.classes_between(np.array(source), np.array(target)))
    while todo:
        switch = int(graph.link_target[todo.pop()])
        if switch >= graph.switches:
            continue
        entry = int(table.route[switch, column])
        for link in table.group(entry >> 1).tolist() if entry != NONE else []:
            if link not in found:
                found.add(link)
                todo.append(link)
    return found
