"""Tables 11, 12, 15 and 16: throughput into and out of a node and a switch port."""

from __future__ import annotations

from statistics import fmean, median
from typing import Any

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import Number, numbers
from ..rows import calibrated, near, predicted
from . import bx, hosts

NEAR = 0.10
PLACES_OF_PORT = "port_requests_out"
MESSAGE_BYTES = 4096
"""Message length of the send-receive program: the longest of the tables, since the paper does not print
it."""
PORT = {"kind": "sci-switch-16", "terminals_per_ring": 4}
PLACES = {
    **{name: f"t{number}" for number, name in enumerate("ABCD")},
    "E": "t4",
    "F": "t8",
    "G": "t12",
    "H": "t13",
    "I": "t16",
}
"""Nodes of figure 3 on the switch of 16 ports: A to D on the port under test, I on another module. Terminals
without a program are on the rings of E, F, G, H and I."""
SENDERS = 6
"""Senders to one node in Table 12. The paper does not say which nodes: here those of figure 3, each with the
six that follow it in the alphabet."""
STARVED = 1 / 3
"""A sender starves if it gets less than this fraction of the average."""
AT_ONCE = 8
"""Number of messages that a sender without checks keeps under way: more than its buffers hold."""
Flow = tuple[str, str]


def checked(targets: list[str]) -> list[str]:
    """Return a transfer to each target, and a check that waits until all are answered."""
    return ["repeat for ever", *(f"send {to} {MESSAGE_BYTES} B" for to in targets), "flush", "end"]


def unchecked(targets: list[str]) -> list[str]:
    """Return the same without waiting: other processes store while one waits for a check."""
    return ["repeat for ever", *(f"send {to} {MESSAGE_BYTES} B" for to in targets), "end"]


def busy(name: str, topology: dict[str, Any], programs: dict[str, list[str]], effort: Effort) -> Scenario:
    """Return a run of programs that never end."""
    protocol = bx.protocol() | {"messages_at_once": AT_ONCE}
    written = hosts.scenario(
        name, programs, protocol=protocol, technology={"preset": bx.PRESET}, topology=topology
    )
    counted, before = effort.time_ms(hosts.BUSY_MS, 1), effort.time_ms(1, 0.5)
    written["run"] |= {"duration": f"{before + counted:g} ms", "warmup": f"{before:g} ms"}
    written["output"] |= {"flows": True}
    return written


def flows(name: str, pairs: list[Flow], effort: Effort) -> Scenario:
    """Return senders and receivers, named as in figure 3."""
    programs = {PLACES[source]: checked([PLACES[target]]) for source, target in pairs}
    return busy(name, PORT, programs, effort)


def into(senders: str) -> list[Flow]:
    """Return the flows of Table 15: senders to the same number of A to D."""
    return list(zip(senders, "ABCD", strict=False))


def out_of(receivers: str) -> list[Flow]:
    """Return the flows of Table 16: A to D to four receivers."""
    return list(zip("ABCD", receivers, strict=True))


INTO, OUT_OF = ("E", "EF", "EFG", "EFGI", "FGI", "GI"), ("EFGH", "EFGI")


def _cards(effort: Effort) -> dict[str, Scenario]:
    """Return the runs of one sender, alone with and without checks, and to four nodes."""
    one, others = PLACES["E"], [PLACES[name] for name in "ABCD"]
    done = {
        "sender-output-unchecked": unchecked(others[:1]),
        "sender-output": checked(others[:1]),
        "node-output": unchecked(others),
    }
    return {key: busy(key.replace("-", " "), PORT, {one: lines}, effort) for key, lines in done.items()}


def _into_nodes(effort: Effort) -> list[Scenario]:
    """Return a run for each node of figure 3, to which six others send."""
    names = [*PLACES]
    found = []
    for at, target in enumerate(names):
        senders = [names[(at + 1 + number) % len(names)] for number in range(SENDERS)]
        programs = {PLACES[source]: checked([PLACES[target]]) for source in senders}
        found.append(busy(f"into {target} from {''.join(senders)}", PORT, programs, effort))
    return found


def _ports(effort: Effort) -> dict[str, Scenario]:
    found = {
        f"table-15/{senders}": flows(f"into the port from {senders}", into(senders), effort)
        for senders in INTO
    }
    for receivers in OUT_OF:
        found[f"table-16/{receivers}"] = flows(f"out of the port to {receivers}", out_of(receivers), effort)
    return found


def scenarios(effort: Effort) -> list[Scenario]:
    """Return all runs."""
    return [*_cards(effort).values(), *_into_nodes(effort), *_ports(effort).values()]


def findings(lab: Lab) -> Findings:
    """Return one row per cell, and the statements of section 3.4."""
    printed = numbers("atlas-sci")
    cards, ports = _cards(lab.effort), _ports(lab.effort)
    measured = dict(zip([*cards, *ports], lab.measure([*cards.values(), *ports.values()]), strict=True))
    rows = [_predicted(printed[key], rate(measured[key])) for key in cards]
    rows += _input(printed, lab.measure(_into_nodes(lab.effort)))
    for senders in INTO:
        rows += _table(printed, "table-15", "from", senders, into(senders), measured[f"table-15/{senders}"])
    for receivers in OUT_OF:
        found = measured[f"table-16/{receivers}"]
        rows += _table(printed, "table-16", "to", receivers, out_of(receivers), found)
    return Findings(rows=rows)


def rate(found: Measured) -> float:
    """Return the accepted throughput in the paper's MB/s."""
    return found.accepted_mbytes_per_s * 1e6 / hosts.MB


def _input(printed: dict[str, Number], found: list[Measured]) -> list[dict[str, Any]]:
    """Compare what a node takes in, and how many of its senders starve: the mean and the median of all."""
    starved = [_starved(list(one.source_mbytes_per_s.values())) for one in found]
    return [
        _predicted(printed["node-input"], fmean(map(rate, found))),
        _predicted(printed["node-input-starving"], float(median(starved)), 0.0),
    ]


def _starved(rates: list[float]) -> int:
    return sum(one < STARVED * fmean(rates) for one in rates)


def _table(
    printed: dict[str, Number], table: str, word: str, column: str, pairs: list[Flow], found: Measured
) -> list[dict[str, Any]]:
    """Compare a column: the flows, named by their outer node, and their sum."""
    by_source = {int(key): value * 1e6 / hosts.MB for key, value in found.source_mbytes_per_s.items()}
    rows = []
    for source, target in pairs:
        outer = source if word == "from" else target
        ours = by_source.get(int(PLACES[source][1:]), 0.0)
        rows.append(_told(printed, f"{table}/{word}-{outer}/{column}", ours))
    rows.append(_told(printed, f"{table}/total/{column}", rate(found)))
    return rows


def _told(printed: dict[str, Number], key: str, ours: float) -> dict[str, Any]:
    """Compare a cell of Table 15 or 16; one column of them was used to count the buffers of a port."""
    number = printed[key]
    if not (key.startswith("table-15") and key.endswith("/EFG")):
        return _predicted(number, ours)
    return calibrated(number, ours, near(number, NEAR), PLACES_OF_PORT)


def _predicted(number: Number, ours: float, part: float = NEAR) -> dict[str, Any]:
    return predicted(number, ours, near(number, part))
