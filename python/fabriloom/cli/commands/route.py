"""``fabriloom route``: can a routing deadlock, with a proof or the cycle, and what would others cost?"""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated, Any

from .. import bars, check_certificate, exits
from ..exits import Mistake, say
from ..frame import Call, ForceFile, check_file, command, path_option, write_file
from ..house import Scenario, compile, reading, route_choices, show

MOST_BYTES = 256 * 2**20
"""Largest certificate that is read."""


@command("file settings", "jobs json")
def route(
    call: Call,
    certificate: Annotated[
        Path | None,
        path_option("--certificate FILE.json", "Write the proof that the routing cannot deadlock."),
    ] = None,
    check: Annotated[
        Path | None, path_option("--check FILE.json", "Check a proof against this network.")
    ] = None,
    force: ForceFile = False,
) -> int:
    """Say whether a routing can deadlock, with a proof or the cycle, and what other routings would cost."""
    scenario = call.scenario()
    if certificate is not None:
        check_file(certificate, force, "--certificate")
    if check is not None:
        return _checked(scenario, check)

    def first(present: dict[str, Any]) -> None:
        if not call.json:
            say(f"{route_choices.verdict(present)}.")
            sys.stdout.flush()

    with bars.bar("Other routings") as bar:
        found = route_choices.look(scenario, call.jobs, first, bar.share)

    def tell() -> None:
        after = found["after_fault"]
        for one in (
            route_choices.smallest_change(found),
            f"With the tables after faults a deadlock {after}" if after else "",
        ):
            if one:
                say(f"{one}.")
        show.table(route_choices.HEAD, route_choices.table(found), [False, True, False, True, True, False])
        say(route_choices.lanes_said(found))

    call.tell(found, tell)
    if certificate is not None:
        _write(scenario, certificate, quiet=call.json)
    return exits.OK if found["free"] else exits.DEADLOCK


def _write(scenario: Scenario, file: Path, quiet: bool) -> None:
    write_file(file, jsonlib.dumps(_certificate(scenario), ensure_ascii=False) + "\n")
    if not quiet:
        checker = Path(check_certificate.__file__)
        say(f"Written to {file}; anyone can check it: python {checker} {file}")


def _certificate(scenario: Scenario) -> dict[str, Any]:
    compiled = compile.compile(scenario)
    parts = route_choices.proofs(compiled)
    if parts is None:
        raise Mistake("--certificate: this routing can deadlock, so there is no proof; see its cycle above")
    more = route_choices.proofs_in_turn(compiled)
    if more is None:
        raise Mistake("--certificate: with the tables after faults any traffic could deadlock: no proof")
    return {"certificate": "every packet takes channels in this order", "parts": [*parts, *more]}


def _checked(scenario: Scenario, file: Path) -> int:
    """Check a certificate against the network and the routes of a scenario."""
    try:
        content = reading.content(file, MOST_BYTES, "256 MB", "write it again")
        given = reading.json_data(reading.text_of(content, str(file)), str(file))
    except reading.ReadError as error:
        raise Mistake(str(error)) from error
    own = _certificate(scenario)["parts"]
    parts = given.get("parts") if isinstance(given, dict) else None
    routes = [{**part, "order": None} for part in own]
    if (
        not isinstance(parts, list)
        or [{**part, "order": None} for part in parts if isinstance(part, dict)] != routes
    ):
        raise Mistake(f"{file}: this is not a certificate of the routes of this scenario")
    try:
        faults = [found for found in map(check_certificate.fault, parts) if found]
    except (KeyError, TypeError, ValueError, IndexError):
        faults = ["its order is not a list of pairs of link and lane"]
    if faults:
        raise Mistake(f"{file}: this certificate proves nothing: {faults[0]}")
    say(f"proved: order of {sum(len(part['order']) for part in parts):,} channels")
    return exits.OK
