"""Build the programs of all terminals from the settings of ``[program]``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabriloom.programs import building, simple
from fabriloom.programs.check import check
from fabriloom.programs.descriptors import descriptors
from fabriloom.programs.draws import Draws
from fabriloom.programs.goal import goal
from fabriloom.programs.kinds import MOST_OPERATIONS, UNTIL, Settings
from fabriloom.programs.layer import control_words
from fabriloom.programs.operations import operations
from fabriloom.programs.roles import Roles
from fabriloom.programs.simple import logp
from fabriloom.programs.spacewire import ccsds, rmap, spacewire_d
from fabriloom.programs.table import ProgramError, Programs
from fabriloom.traffic.kinds import Network

_Builder = Callable[[Roles, Settings, Draws], Programs]

_CLOCKS = 0x636C_6F63_6B73
"""Clocks have draws of their own: without any, targets and orders are the same."""

BUILDERS: dict[str, _Builder] = {
    "ping-pong": simple.ping_pong,
    "out-farming": simple.out_farming,
    "funnel-in": simple.funnel_in,
    "all-to-all": simple.all_to_all,
    "fixed-pairs": simple.fixed_pairs,
    "random-pairs": simple.random_pairs,
    "level-2": building.level_2,
    "level-3": building.level_3,
    "pull-level-3": building.pull_level_3,
    "barrel-shifter": building.barrel_shifter,
    "credit": building.credit,
    "logp": logp,
    "rmap": rmap,
    "ccsds": ccsds,
    "spacewire-d": spacewire_d,
    "goal": goal,
    "descriptors": descriptors,
    "operations": operations,
}


def build(network: Network, settings: Settings, protocol: Settings, *, seed: int = 1) -> Programs:
    """Build and check the programs of all terminals.

    Args:
        network: the graph.
        settings: ``[program]`` with whole numbers (``size_bytes``, ``slot_ps``) and complete paths; for
            SpaceWire protocols also ``header_bytes``, which the technology puts before every packet, and for
            traces ``ends_count``: whether the end of a send is more than its being handed over.
        protocol: the settings of ``[protocol]`` that programs depend on: ``messages_at_once``,
            ``send_time_ps``, ``channels_limit``, ``layer``, ``control_word_bytes``, ``next_address_bytes``.
        seed: seed of the random choices.

    Raises:
        TrafficError: a setting is wrong; the error names it.
        ProgramError: the text of an operation is wrong; the error gives the place in it.
    """
    roles = Roles(network)
    if "sources" in settings and isinstance(settings.get("events"), int):
        _check_events(roles, settings)
    programs = BUILDERS[settings["kind"]](roles, settings, Draws(seed))
    if settings.get("clocks"):
        programs = with_clocks(programs, settings["clocks"], Draws(seed ^ _CLOCKS))
    check(programs, protocol)
    if protocol["layer"] == "control-word":
        return control_words(programs, protocol)
    return programs


def _check_events(roles: Roles, settings: Settings) -> None:
    """Refuse more messages than programs may have before all of them are listed."""
    each = settings.get("sources_per_block", settings.get("sources_per_event", "all"))
    if each == "all":
        each = len(roles.named(settings, "sources"))
    messages = settings["events"] * settings.get("blocks_per_event", 1) * each
    if messages > MOST_OPERATIONS:
        message = f"these events have {messages:,} messages; the most operations are {MOST_OPERATIONS:,}"
        raise ProgramError(message, "events", "take fewer: their rate soon stays as it is")


# Clocks that drift, and starts that differ: the times of each program by the clock of its terminal.
_PS_PER_NS = 1000
_PER_MILLION = 1e-6


def with_clocks(programs: Programs, clocks: Settings, draws: Draws) -> Programs:
    """Return the programs with times by clocks of their terminals, in whole nanoseconds.

    A clock that starts ``s`` late and is fast by ``d`` shows the time ``t`` at ``s + t / (1 + d)``; a wait of
    ``t`` takes ``t / (1 + d)``. Starts are uniform up to the latest one, drifts up to the largest either way.
    """
    count = len(programs.terminal_names)
    start = (draws.unit(count) * clocks["start_ps"]).astype(np.int64) // _PS_PER_NS * _PS_PER_NS
    fast = (2 * draws.unit(count) - 1) * clocks["drift_ppm"] * _PER_MILLION
    shown = programs.amount / (1 + fast[programs.terminal])
    shown = np.rint(shown / _PS_PER_NS).astype(np.int64) * _PS_PER_NS
    late = np.where(programs.kind == UNTIL, start[programs.terminal], 0)
    # What is no whole number of nanoseconds stays exact where the clock does.
    shown = np.where(fast[programs.terminal] == 0, programs.amount, shown)
    amount = np.where(programs.timed, shown + late, programs.amount)
    return _started(replace(programs, amount=amount), start)


def _started(programs: Programs, start: np.ndarray) -> Programs:
    """Return programs that begin by waiting for the start of their clock."""
    if not start.any():
        return programs
    at = np.flatnonzero(np.diff(programs.process, prepend=-1))
    used, streams = programs.terminal[at], 0 if programs.stream is None else programs.stream[at]
    return programs.with_rows(at, used, UNTIL, amount=start[used], stream=streams)
