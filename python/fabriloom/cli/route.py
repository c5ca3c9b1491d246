"""``fabriloom route``: can a routing deadlock, with a proof or the cycle, and what would others cost?"""

from __future__ import annotations

import json as jsonlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import exits, show
from .exits import Mistake

if TYPE_CHECKING:
    from ..scenario import Scenario


MOST_BYTES = 256 * 2**20
"""Largest certificate that is read."""


def route(scenario: Scenario, certificate: Path | None, check: Path | None, force: bool, json: bool) -> int:
    """Print whether the routing can deadlock and what others cost; write its certificate, or check one."""
    from ..studies import route_choices

    if certificate is not None and os.path.lexists(certificate) and not force:
        raise Mistake(
            f"--certificate {certificate}: the file exists; name another, or add --force to replace it"
        )
    if check is not None:
        return _checked(scenario, check)
    found = route_choices.look(scenario)
    if json:
        show.line(jsonlib.dumps(found, indent=2, ensure_ascii=False))
    else:
        show.line(f"{route_choices.verdict(found)}.\n")
        show.table(route_choices.HEAD, route_choices.table(found), [False, True, False, True, True, False])
        most, one = found["lanes_enough"]
        show.line(
            f"Lanes that suffice for minimal paths: {most} for all of them, {one} for one of each pair."
        )
    if certificate is not None:
        _write(scenario, certificate, quiet=json)
    return exits.OK if found["present"]["free"] else exits.DEADLOCK


def _write(scenario: Scenario, file: Path, quiet: bool) -> None:
    from ..output import encoded
    from ..output import file as whole

    with whole(file) as out:
        out.write(encoded(jsonlib.dumps(_certificate(scenario), ensure_ascii=False) + "\n"))
    if not quiet:
        checker = Path(__file__).with_name("check_certificate.py")
        show.line(f"Written to {file}; anyone can check it: python {checker} {file}")


def _certificate(scenario: Scenario) -> dict[str, Any]:
    from ..compile import compile
    from ..studies import route_choices

    parts = route_choices.proofs(compile(scenario))
    if parts is None:
        raise Mistake("--certificate: this routing can deadlock, so there is no proof; see its cycle above")
    return {"certificate": "every packet takes channels in this order", "parts": parts}


def _checked(scenario: Scenario, file: Path) -> int:
    """Check a certificate against the network and the routes of a scenario."""
    from .. import reading
    from .check_certificate import fault

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
        faults = [found for found in map(fault, parts) if found]
    except (KeyError, TypeError, ValueError, IndexError):
        faults = ["its order is not a list of pairs of link and lane"]
    if faults:
        raise Mistake(f"{file}: this certificate proves nothing: {faults[0]}")
    show.line(f"proved: order of {sum(len(part['order']) for part in parts):,} channels")
    return exits.OK
