"""Limits of the page, which protect the machine from mistakes. The command has no such limits."""

from __future__ import annotations

from ..topology import Graph

BODY_BYTES = 4_000_000
"""Largest request: a scenario with the files that it names."""
CONNECTIONS = 128
"""Most open connections; a newer one replaces the one that has waited longest without a request."""
REQUEST_S = 10.0
"""A request must be complete within this time."""
LOG_MESSAGES, LOG_S = 20, 60.0
"""Most messages of the server's libraries that are shown in this many seconds."""
TERMINALS = 16_384
LINKS = 120_000
RUN_S = 120.0
"""A run that takes longer is ended, with partial results."""
STUDY_S = 900.0
"""A saturation curve that takes longer is ended, with its finished points."""
LOOK_S = 30.0
"""Time limit to read, build and draw a scenario."""
LOOKING = 2
"""Scenarios that are examined in parallel, one process each."""
LOOKS_WAITING = 16
"""Most waiting scenarios, the newest first; older ones are refused."""
STOP_S = 3.0
"""Time for a cancelled run to return partial results; then its process is killed."""
MEMORY_BYTES = 4 << 30
"""Address space of a worker."""
SESSIONS = 32
"""Most tabs; a new one replaces the idle one unused for longest."""
RUNNING = 2
"""Most parallel runs, over all tabs."""
LISTENERS = 8
"""Most streams of one session: a duplicated tab shares the session."""
DRAWN_LINKS = 120_000
"""Most links of a fabric that is drawn and coloured."""
TOLD_LINKS = 4096
"""Most links of a fabric whose links show all quantities of a report."""


class Refusal(Exception):
    """A request above a limit of the page; the text is the message."""


def check_size(graph: Graph) -> None:
    """Raise Refusal for a network that is too large for the page."""
    for count, most, what in ((graph.terminals, TERMINALS, "terminals"), (graph.links, LINKS, "links")):
        if count > most:
            raise Refusal(
                f"This network has {count:,} {what}; the page accepts up to {most:,}. "
                "Run it with `fabriloom run`, which has no such limit."
            )
