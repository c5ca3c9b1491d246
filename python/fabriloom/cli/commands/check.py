"""``fabriloom check``: what is known of a scenario before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from .. import bars, exits
from ..exits import Mistake, say
from ..frame import (
    HTML,
    Call,
    ForceFile,
    check_file,
    command,
    document,
    flag,
    option,
    path_option,
    words,
    write_file,
)
from ..house import compile, deadlock, failures, inspection, report, show, units


@command("file settings seed", "json")
def check(
    call: Call,
    fault: Annotated[
        str | None,
        option(
            "--fault WHAT",
            "Try every single failure of cables, switches or all.",
            autocompletion=words("all", "cables", "switches"),
        ),
    ] = None,
    reroute: Annotated[
        str | None,
        option(
            "--reroute KIND",
            "With --fault: new tables each time, auto, shortest-path, up*/down*, minimal-layers or lash.",
            autocompletion=words("auto", "shortest-path", "up*/down*", "minimal-layers", "lash"),
        ),
    ] = None,
    bisection: Annotated[
        int,
        option(
            "--bisection N",
            "Estimate the effective bisection bandwidth from N random pairings of the terminals.",
            min=0,
            max=100_000,
        ),
    ] = 0,
    resolved: Annotated[
        bool, flag("--resolved", "Also print the scenario with every default filled in.")
    ] = False,
    out: Annotated[Path | None, path_option("--out FILE.html", "Also write a report with a picture.")] = None,
    force: ForceFile = False,
) -> int:
    """Check a scenario without running it: its parts, its throughput bounds, whether it can deadlock.

    --fault lists the effect of every single failure of a cable or a switch, the worst first.
    """
    if fault is not None:
        _known("--fault", fault, failures.KINDS)
        if resolved:
            raise Mistake("--resolved: with --fault only the failures are printed; leave one of both out")
    if reroute is not None:
        reroute = {"up*/down*": "up-star-down-star"}.get(reroute, reroute)
        _known("--reroute", reroute, failures.RULES)
        if fault is None:
            raise Mistake("--reroute: it is for tables after failures; add --fault all")
    if out is not None:
        check_file(out, force, "--out", "a report is HTML", HTML)
    compiled = compile.compile(call.scenario())
    failed = None
    if fault is not None:
        with bars.bar("Failures") as bar:
            failed = failures.look(compiled, fault, reroute, bar.share)
    found = inspection.inspect(compiled, bisection) if out is not None or failed is None else {}
    if out is not None:
        write_file(out, report.for_check(inspection.Checked.of(compiled, found, failed)))
    code = _tell(call, found, resolved) if failed is None else _tell_failures(call, failed)
    if out is not None and not call.json:
        say(f"Written to {out}")
    return code


def _tell(call: Call, found: dict[str, Any], resolved: bool) -> int:
    """Print what was found."""

    def tell() -> None:
        show.pairs(inspection.lines(found))
        if resolved:
            say("\nThe scenario with every default filled in:")
            say(document(found["resolved"]))

    call.tell(found, tell)
    for warning in found["warnings"]:
        if not warning.startswith(deadlock.DEADLOCKS):  # the answer says it
            exits.complain(f"warning: {warning}")
    return exits.OK if found["deadlock"]["free"] else exits.DEADLOCK


def _known(option: str, word: str, words: Sequence[str]) -> None:
    """Refuse unknown words of an option."""
    if word not in words:
        near = units.nearest(word, list(words))
        meant = f'did you mean "{near}"? ' if near else ""
        raise Mistake(f"{option} {word}: {meant}there are {', '.join(words)}")


def _tell_failures(call: Call, found: dict[str, Any]) -> int:
    """Print the effect of every single failure."""

    def tell() -> None:
        say(f"{failures.verdict(found)}.\n")
        show.table(failures.HEAD, failures.table(found), [False, *[True] * 5, False])
        say(
            "A pair is a sender and one of its receivers, neither of them at a switch that failed. "
            f"{failures.tables_said(found)}"
        )

    call.tell(found, tell)
    return exits.OK if found["deadlock_free"] else exits.DEADLOCK
