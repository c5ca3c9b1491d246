"""Section 4: eleven pairs of PCs through the switch of 16 ports, and the maximum throughput of its parts."""

from __future__ import annotations

from random import Random
from statistics import fmean
from typing import Any

from fabriloom.technology import ring_technology
from fabriloom.topology.sci_switch import USER_BITS_PER_S

from ..lab import Effort, Findings, Lab, Scenario
from ..published import Number, numbers
from ..rows import calibrated, near, predicted, reported, series
from . import hosts, port

PER_RING = 2
SWITCH = {"kind": "sci-switch-16", "terminals_per_ring": PER_RING}
PAIRS = 11
PORTS = 8
"""Ports of two modules: those of the senders, or of the receivers."""
DRAWS = 8
"""The paper does not say which nodes make the pairs. Senders and receivers have random places of their half;
the result is the average over this many draws."""
NEAR = 0.10
CALIBRATED = {"usable-inside-module-one-way": "bus.setup", "ring-payload-one-way": "send_idle, echo_idle"}
"""Rows that were used to set a parameter, and its name."""
MODULE = {"kind": "sci-module", "terminals_per_ring": 4}
RAW = {"preset": "raw", "acknowledge": "response", "packets_at_once": 16, "messages_at_once": 2}
"""Data as fast as the rings accept them, without PC hosts."""


def pairs(draw: int) -> list[tuple[str, str]]:
    """Return the senders of one half of the switch, and the receivers of the other."""
    random, half = Random(draw), PORTS * PER_RING
    senders, receivers = (random.sample(range(first, first + half), PAIRS) for first in (0, half))
    return [(f"t{source}", f"t{target}") for source, target in zip(senders, receivers, strict=True)]


def crossing(count: int, effort: Effort) -> list[Scenario]:
    """Return runs of pairs that send at the same time, each through three modules."""
    return [
        port.busy(
            f"{count} pairs through the switch, draw {draw}",
            SWITCH,
            {source: port.checked([target]) for source, target in pairs(draw)[:count]},
            effort,
        )
        for draw in range(DRAWS)
    ]


def raw(name: str, flows: dict[str, str], topology: dict[str, Any], effort: Effort) -> Scenario:
    """Return a run with data generators instead of PCs."""
    programs = {
        source: ["repeat for ever", f"send {target} {port.MESSAGE_BYTES} B", "end"]
        for source, target in flows.items()
    }
    written = port.busy(name, topology, programs, effort)
    return written | {"protocol": RAW, "technology": {"preset": "sci-lc2"}}


OUT = {"t0": "t4", "t1": "t8", "t2": "t12", "t3": "t5"}
"""From the ring of one port to other ports."""
ACROSS = {f"t{4 * number}": f"t{4 * (number + 2)}" for number in range(2)}
"""From two ports of a module to the other two."""


ONE_WAY = "the same number as one way: it counts requests alone"
BOTH_WAYS = "whether it counts both directions together or each is not told; ours is both together"


def _rings(effort: Effort) -> dict[str, list[Scenario]]:
    """Return runs with one to four terminals on a ring; one of these numbers reaches the maximum."""
    names = list(OUT)
    found: dict[str, list[Scenario]] = {"ring-payload-one-way": [], "ring-payload-both-ways": []}
    for count in range(1, len(names) + 1):
        out = {name: OUT[name] for name in names[:count]}
        back = {target: source for source, target in out.items()}
        found["ring-payload-one-way"].append(raw(f"{count} out of a ring", out, MODULE, effort))
        found["ring-payload-both-ways"].append(raw(f"{count} each way", out | back, MODULE, effort))
    return found


def _raws(effort: Effort) -> dict[str, Scenario]:
    half = {f"t{2 * at}": f"t{2 * (PORTS + at)}" for at in range(PORTS)}
    ways = {
        "inside-module": (ACROSS, MODULE),
        "between-modules": (half, SWITCH),
    }
    found: dict[str, Scenario] = {}
    for name, (flows, topology) in ways.items():
        back = {target: source for source, target in flows.items()}
        found[f"usable-{name}-one-way"] = raw(f"{name}, one way", flows, topology, effort)
        found[f"usable-{name}-both-ways"] = raw(f"{name}, both ways", flows | back, topology, effort)
    return found


def _counts(effort: Effort) -> list[int]:
    return effort.choose(range(1, PAIRS + 1, 2), (1, PAIRS))


def scenarios(effort: Effort) -> list[Scenario]:
    """Return all runs."""
    crossings = [run for count in _counts(effort) for run in crossing(count, effort)]
    rings = [run for runs in _rings(effort).values() for run in runs]
    return [*crossings, *rings, *_raws(effort).values()]


def findings(lab: Lab) -> Findings:
    """Compare the statements of the text, and plot figure 6."""
    printed = numbers("atlas-sci")
    counts = _counts(lab.effort)
    achieved = [fmean(map(port.rate, lab.measure(crossing(count, lab.effort)))) for count in counts]
    rows = _pairs(printed, achieved[0], achieved[-1])
    for key, runs in _rings(lab.effort).items():
        ways = 2 if key.endswith("both-ways") else 1
        most = max(one.accepted_mbytes_per_s for one in lab.measure(runs))
        rows.append(_told(printed[key], most / ways))
    one, both = (printed[f"usable-user-port-{ways}"] for ways in ("one-way", "both-ways"))
    rows.append(_predicted(one, _link_mbytes_per_s()))
    rows.append(reported(both, _link_mbytes_per_s(), ONE_WAY))
    raws = _raws(lab.effort)
    for key, found in zip(raws, lab.measure(raws.values()), strict=True):
        ours = found.accepted_mbytes_per_s
        if key.endswith("both-ways"):
            rows.append(reported(printed[key], ours, BOTH_WAYS))
        else:
            rows.append(_told(printed[key], ours))
    return Findings(rows=rows, series=_figure(counts, achieved))


def _pairs(printed: dict[str, Number], alone: float, all_pairs: float) -> list[dict[str, Any]]:
    nominal = float(printed["theoretical-total"]["value"])
    return [
        _predicted(printed["processor-rate"], alone),
        _predicted(printed["pair-rate"], alone),
        _predicted(printed["saturation"], all_pairs),
        _predicted(printed["saturation-share"], 100 * all_pairs / nominal),
    ]


def _link_mbytes_per_s() -> float:
    """Return the payload of requests that a user port's link carries if there is nothing else on it.

    The note prints the same number for one way and for both, so it counts neither responses nor echoes; the
    bus's number inside a module counts requests alone, too.
    """
    tech = ring_technology("sci-lc2")
    request = int(tech.request_bytes(hosts.TRANSACTION_BYTES)) + tech.send_idle_bytes
    return USER_BITS_PER_S / 8e6 * hosts.TRANSACTION_BYTES / request


def _predicted(number: Number, ours: float) -> dict[str, Any]:
    return predicted(number, ours, near(number, NEAR))


def _told(number: Number, ours: float) -> dict[str, Any]:
    """Return the row of a number that may have set a parameter."""
    parameter = CALIBRATED.get(number["id"])
    if parameter is None:
        return _predicted(number, ours)
    return calibrated(number, ours, near(number, NEAR), parameter)


def _figure(counts: list[int], achieved: list[float]) -> list[dict[str, Any]]:
    title = "Offered and achieved bandwidth of pairs through the switch"
    curves = {"offered": [count * achieved[0] for count in counts], "achieved": achieved}
    return [
        series(
            "6",
            title,
            label,
            x=counts,
            y=values,
            x_quantity="pairs",
            y_quantity="throughput (MB/s)",
            published=[(PAIRS, 610, "saturation")] if label == "achieved" else (),
        )
        for label, values in curves.items()
    ]
