"""Build the programs of all terminals from the settings of ``[program]``."""

from __future__ import annotations

from collections.abc import Callable

from fabriloom.programs import building, credit, simple
from fabriloom.programs.check import check
from fabriloom.programs.clocks import with_clocks
from fabriloom.programs.descriptors import descriptors
from fabriloom.programs.draws import Draws
from fabriloom.programs.goal import goal
from fabriloom.programs.kinds import Settings
from fabriloom.programs.layer import control_words
from fabriloom.programs.logp import logp
from fabriloom.programs.operations import operations
from fabriloom.programs.roles import Roles
from fabriloom.programs.schedule import spacewire_d
from fabriloom.programs.spacewire import ccsds, rmap
from fabriloom.programs.table import Programs
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
    "pull-level-3": credit.pull_level_3,
    "barrel-shifter": building.barrel_shifter,
    "credit": credit.credit,
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
            SpaceWire protocols also ``header_bytes``, which the technology puts before every packet.
        protocol: the settings of ``[protocol]`` that programs depend on: ``messages_at_once``,
            ``send_time_ps``, ``channels_limit``, ``layer``, ``control_word_bytes``, ``next_address_bytes``.
        seed: seed of the random choices.

    Raises:
        TrafficError: a setting is wrong; the error names it.
        ProgramError: the text of an operation is wrong; the error gives the place in it.
    """
    programs = BUILDERS[settings["kind"]](Roles(network), settings, Draws(seed))
    if settings.get("clocks"):
        programs = with_clocks(programs, settings["clocks"], Draws(seed ^ _CLOCKS))
    check(programs, protocol)
    if protocol["layer"] == "control-word":
        return control_words(programs, protocol)
    return programs
