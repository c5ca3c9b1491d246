"""Sensitivity of the results: one assumption changed at a time."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Measured, Scenario, one_at_a_time
from . import level2, level3, networks, pairs, settings

Case = dict[str, dict[str, Any]]

CASES: dict[str, Case] = {
    "as reproduced": {},
    "one message sent, one virtual link, one message received": {"protocol": settings.setting(1, 1, 1)},
    "one, three, one": {"protocol": settings.setting(1, 3, 1)},
    "one, two, one": {"protocol": settings.setting(1, 2, 1)},
    "two, one, one": {"protocol": settings.setting(2, 1, 1)},
    "two, one, two": {"protocol": settings.setting(2, 1, 2)},
    "two, two, one": {"protocol": settings.setting(2, 2, 1)},
    "two, two, two": {"protocol": settings.setting(2, 2, 2)},
    "two, two, any": {"protocol": settings.setting(2, 2, 0)},
    "acknowledged when the end of a packet is there": {"protocol": {"acknowledge_from": "end"}},
    "the same, a node occupied for 4.57 us with every packet": {"protocol": settings.PIPELINED},
    "the same, and one, two, one": {"protocol": settings.PIPELINED | settings.setting(1, 2, 1)},
    "no time of the host for a message": {"protocol": {"send_time": "0 us", "receive_time": "0 us"}},
    "all four links of a board to one switch card": {"topology": {"centre_switches": 1, "links_per_pair": 4}},
    "sources and destinations numbered board after board": {"program": {"by_board": True}},
    "any free link of a group, at random": {"technology": {"group_choice": "random"}},
    "heads served round robin": {"technology": {"arbiter": "round-robin"}},
    "flow-control characters paid for in full": {"technology": {"flow_control": "average"}},
    "buffers 32 + 32": {"technology": {"input_buffer": "32 B", "output_buffer": "32 B"}},
    "100 ns more through a switch": {"technology": {"forward_latency": "100 ns"}},
}
"""Description of each change, and its settings. Three numbers are: messages that a source has under way,
virtual links between two T9000s, messages that a destination receives at a time."""

HEADER = (
    "changed",
    "fixed pairs (MB/s)",
    "random pairs, 6 links (%)",
    "random pairs, 12 links (%)",
    "level 2 at random (%)",
    "level 2 in turn (%)",
    "0.2 KB (kHz)",
    "1.2 KB (kHz)",
    "level 3 (MB/s)",
)


def _runs(effort: Effort) -> list[Scenario]:
    """Return one run for every column."""
    size, small = level2.SIZES_BYTES[-1], level2.SIZES_BYTES[0]
    return [
        pairs.run(effort, "fixed-pairs", 12, pairs.asymptote_bytes(effort)),
        *(pairs.run(effort, "random-pairs", links, pairs.asymptote_bytes(effort)) for links in (6, 12)),
        *(level2.run(effort, size, 1.2 * level2.most_khz(size), choice=choice) for choice in level2.CHOICES),
        *(
            level2.run(effort, bytes_, 1.2 * level2.most_khz(bytes_), sources_per_block=2)
            for bytes_ in (small, size)
        ),
        level3.run(effort, level3.SIZES_BYTES[0]),
    ]


def _changed(scenario: Scenario, case: Case) -> Scenario:
    changed = {section: scenario[section] | case[section] for section in case if section != "program"}
    if "topology" in changed and scenario["topology"] != networks.machine():
        del changed["topology"]  # the full network is the one that changes
    if "program" in case:
        counts = len(scenario["program"]["sources"]), len(scenario["program"]["targets"])
        changed["program"] = scenario["program"] | networks.ends(counts, by_board=True)
    return scenario | changed


def table(jobs: int = 2) -> list[list[str]]:
    """Return one line per case, from runs as short as the quick ones."""
    runs = _runs(Effort(quick=True))
    return one_at_a_time(CASES, lambda case: [_changed(one, case) for one in runs], _columns, jobs)


def _columns(measured: list[Measured]) -> list[str]:
    rate = [one.accepted_mbytes_per_s for one in measured]
    six, twelve = (100 / networks.theory_mbytes_per_s(links) for links in (6, 12))
    numbers = [rate[0], rate[1] * six, rate[2] * twelve, rate[3] * twelve, rate[4] * twelve]
    numbers += [one.events_per_s / 1000 for one in measured[5:7]]
    return [f"{value:.1f}" for value in [*numbers, rate[7]]]
