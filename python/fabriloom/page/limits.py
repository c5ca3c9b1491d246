"""What the page does not do, so that a slip of the hand stops no machine. The command has no such limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..topology import Graph

BODY_BYTES = 4_000_000
"""Longest request: a scenario with the files that it names."""
CONNECTIONS = 128
"""Open connections; a newer one takes the place of one that has waited longest without a request."""
REQUEST_S = 10.0
"""A request must be complete within this time."""
LOG_MESSAGES, LOG_S = 20, 60.0
"""Messages of the server's libraries that are shown in this many seconds."""
TERMINALS = 4096
LINKS = 40_000
RUN_S = 120.0
"""A run that takes longer is ended, with what it has measured."""
STUDY_S = 900.0
"""A saturation curve that takes longer is ended, with the points it has."""
LOOK_S = 30.0
"""A scenario must be read, built and drawn within this time."""
LOOKING = 2
"""Scenarios that are looked at at a time, each by a process."""
LOOKS_WAITING = 16
"""Scenarios that wait to be looked at, the newest first; older ones are refused."""
STOP_S = 1.0
"""A cancelled run has this long to hand over what it has; then its process is killed."""
MEMORY_BYTES = 4 << 30
"""Address space of a worker."""
SESSIONS = 32
"""Tabs; a new one takes the place of the one that was seen longest ago and runs nothing."""
RUNNING = 2
"""Runs at a time, over all tabs."""
LISTENERS = 8
"""Streams of one session: a tab that was duplicated has the session of the first."""
DRAWN_LINKS = 20_000
"""Links of a fabric that are drawn and coloured."""
TOLD_LINKS = 4096
"""Links of a fabric that say all that a report says of them."""


class Refusal(Exception):
    """What the page does not do; its text is the message."""


def check_size(graph: Graph) -> None:
    """Refuse a network that is too large for a page."""
    for count, most, what in ((graph.terminals, TERMINALS, "terminals"), (graph.links, LINKS, "links")):
        if count > most:
            raise Refusal(
                f"This network has {count:,} {what}; the page accepts up to {most:,}. "
                "Run it with `fabriloom run`, which has no such limit."
            )
