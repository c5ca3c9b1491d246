"""Section 3.1, figure 3: fixed and random pairs of 21 sources and 21 destinations."""

from __future__ import annotations

from typing import Any

from ..lab import Effort, Findings, Lab, Measured, Scenario
from ..published import numbers
from ..rows import near, predicted, series
from . import networks, settings

SIZES_BYTES = (16, 32, 64, 128, 256, 512, 1024, 4096)
QUICK_SIZES_BYTES = (64,)
KINDS = {"fixed-pairs": "a", "random-pairs": "b"}


def asymptote_bytes(effort: Effort) -> int:
    """Return the message size read as "asymptotic"; quick runs have enough of shorter messages."""
    return 4096 if not effort.quick else 1024


def run(effort: Effort, kind: str, links: int, size_bytes: int) -> Scenario:
    program: dict[str, Any] = {"kind": kind, "size": f"{size_bytes} B", "rounds": 0} | networks.ends(
        networks.PAIRS
    )
    if kind == "random-pairs":
        program["messages"] = 2000
    return networks.scenario(
        f"{kind}, {size_bytes} B",
        program,
        links=links,
        protocol=settings.FIXED_PAIRS if kind == "fixed-pairs" else settings.RANDOM_PAIRS,
        **networks.run_times(effort, size_bytes),
    )


def _curve(effort: Effort, kind: str, links: int) -> dict[int, Scenario]:
    sizes = effort.choose(SIZES_BYTES, (*QUICK_SIZES_BYTES, asymptote_bytes(effort)))
    return {size: run(effort, kind, links, size) for size in sizes}


def scenarios(effort: Effort) -> list[Scenario]:
    """Return the runs of both patterns, every number of links and every size."""
    return [run for kind in KINDS for links in networks.LINKS for run in _curve(effort, kind, links).values()]


def findings(lab: Lab) -> Findings:
    """Compare the four numbers of the section; one series per pattern and number of links."""
    found = Findings()
    asymptote: dict[tuple[str, int], Measured] = {}
    for kind, part in KINDS.items():
        for links in networks.LINKS:
            curve = _curve(lab.effort, kind, links)
            measured = lab.measure(curve.values())
            asymptote[kind, links] = measured[-1]
            found.series.append(_series(part, kind, links, list(curve), measured))
    found.rows = [
        _fixed(asymptote["fixed-pairs", 12]),
        _of_theory({links: asymptote["fixed-pairs", links] for links in networks.LINKS}),
        *(_random(links, asymptote["random-pairs", links]) for links in (6, 12)),
    ]
    return found


def _series(part: str, kind: str, links: int, sizes: list[int], measured: list[Measured]) -> dict[str, Any]:
    theory = networks.theory_mbytes_per_s(links)
    printed = {
        ("a", 12): (108.0, "fixed-12"),
        ("b", 6): (0.61 * theory, "random-6"),
        ("b", 12): (0.38 * theory, "random-12"),
    }.get((part, links))
    return series(
        f"3{part}",
        f"{'Fixed' if part == 'a' else 'Random'} pairs of 21 sources and 21 destinations",
        f"{links} links",
        x=sizes,
        y=[one.accepted_mbytes_per_s for one in measured],
        ci95=[one.accepted_mbytes_per_s_ci95 for one in measured],
        x_quantity="length of a message (B)",
        y_quantity="bandwidth of the network, one way (MB/s)",
        published=[(sizes[-1], *printed)] if printed else [],
        log="x",
    )


def _fixed(one: Measured) -> dict[str, Any]:
    printed = numbers("gpmimd")["fixed-12"]
    return predicted(printed, tolerance=near(printed, 0.03), **one.accepted())


def _of_theory(by_links: dict[int, Measured]) -> dict[str, Any]:
    """Compare the number of links that deviates most; if none does, the bandwidth is linear in the links."""
    printed = numbers("gpmimd")["fixed-of-theory"]
    short = [
        100 * (1 - one.accepted_mbytes_per_s / networks.theory_mbytes_per_s(links))
        for links, one in by_links.items()
    ]
    return predicted(printed, max(short, key=abs), (-3.0, 3.0))


def _random(links: int, one: Measured) -> dict[str, Any]:
    printed = numbers("gpmimd")[f"random-{links}"]
    scale, value = 100 / networks.theory_mbytes_per_s(links), float(printed["value"])
    return predicted(printed, tolerance=(value - 4.0, value + 4.0), **one.accepted(scale))
