"""The kinds of networks: what those of one kind have, for all rooms that need to know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NetworkKind:
    """The facts about a kind of network. Others ask for one of these, and never which kind it is."""

    name: str
    prefix: str
    """How the names of its families begin, if not of the usual kind."""
    cables: bool
    """Whether switches are joined by cables of two directions, and route by tables of their own."""
    buses: bool
    """Whether links form rings, and buses join those at a switch."""
    codes: bool
    """Whether links may carry time-codes, interrupts and the protocols of SpaceWire."""
    transactions: bool
    """Whether packets are requests that their target answers, and that may read."""
    streams: bool
    """Whether packets go character by character, so that one may stop on its way."""
    hears_back: bool
    """Whether flow control of one direction takes time on the other."""
    bit_errors_disconnect: bool
    """Whether a bit error takes a link down for a while; if not, it damages the packet on the link."""
    by_port_tables: str = ""
    """Why routings are not compared; empty: they are."""


LINKS = NetworkKind(
    "links",
    "",
    cables=True,
    buses=False,
    codes=True,
    transactions=False,
    streams=True,
    hears_back=True,
    bit_errors_disconnect=True,
)
"""Links, and switches with crossbars."""
RINGS = NetworkKind(
    "rings",
    "sci-",
    cables=False,
    buses=True,
    codes=False,
    transactions=True,
    streams=False,
    hears_back=False,
    bit_errors_disconnect=False,
    by_port_tables="packets of rings cross by tables of ports, and there is no other routing to compare",
)
"""Rings of stations, and switches with buses (SCI)."""


def kind_of(family: str) -> NetworkKind:
    """Return the kind of a family's networks."""
    return RINGS if family.startswith(RINGS.prefix) else LINKS
