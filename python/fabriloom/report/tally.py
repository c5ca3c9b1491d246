"""How many printed numbers of a paper agree, and of which kind; each number counts once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Line = Mapping[str, Any]
"""One line of a reproduction, see ``rows.row`` of the papers."""


@dataclass(frozen=True)
class Tally:
    """Counts by kind. ``arithmetic + calibrated + predicted`` equals ``within + outside``.

    Together with ``not_scored`` they make ``printed``. ``predicted_within`` counts the predicted numbers that
    agree.
    """

    printed: int
    arithmetic: int
    calibrated: int
    predicted: int
    predicted_within: int
    within: int
    outside: int
    not_scored: int


def number_of(line: Line) -> str:
    """Return the id of a line's printed number, without the variant."""
    return ".".join(str(line["id"]).split(".")[:2])


def by_number(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Return the lines of each printed number, in order of first occurrence."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(number_of(line), []).append(line)
    return found


def sort_of(lines: Sequence[Line]) -> str:
    """Return the kind of a number, from its lines.

    A number that set any parameter is calibrated, even if other lines are predicted. A number that a
    simulation predicts is predicted, even if another line is arithmetic.
    """
    kinds = {line["kind"] for line in lines if line.get("tolerance") is not None}
    return next((kind for kind in ("calibrated", "predicted", "arithmetic") if kind in kinds), "not scored")


def is_met(lines: Sequence[Line]) -> bool:
    """Return whether every scored line of a number agrees; a line that could not be measured does not."""
    return all(line.get("within") for line in lines if line.get("tolerance") is not None)


def tally(lines: Sequence[Line]) -> Tally:
    groups = list(by_number(lines).values())
    sorts = [sort_of(group) for group in groups]
    scored = [group for group, sort in zip(groups, sorts, strict=True) if sort != "not scored"]
    within = sum(map(is_met, scored))
    return Tally(
        printed=len(groups),
        arithmetic=sorts.count("arithmetic"),
        calibrated=sorts.count("calibrated"),
        predicted=sorts.count("predicted"),
        predicted_within=sum(
            is_met(group) for group, sort in zip(groups, sorts, strict=True) if sort == "predicted"
        ),
        within=within,
        outside=len(scored) - within,
        not_scored=sorts.count("not scored"),
    )


HEAD = (
    "Paper", "Printed", "Arithmetic", "Calibrated", "Predicted", "Predicted within",
    "Within", "Outside", "Not scored",
)  # fmt: skip
"""The columns of a table of tallies."""
TOTAL = "all papers"


def counts(papers: Mapping[str, Sequence[Line]]) -> list[tuple[str, list[int]]]:
    """Return the rows of that table: one per paper, and the sum of several."""
    rows = [(name, list(vars(tally(lines)).values())) for name, lines in papers.items()]
    if len(rows) > 1:
        rows.append((TOTAL, [sum(column) for column in zip(*(values for _, values in rows), strict=True)]))
    return rows


def said(total: Tally) -> str:
    """Return the agreement as a sentence, the same on the page, in the terminal and in the documentation."""
    scored = total.within + total.outside
    return (
        f"{total.within} of {scored} scored numbers agree; of those that a simulation predicts, with nothing "
        f"set by them, {total.predicted_within} of {total.predicted}"
    )


def reasons(lines: Sequence[Line]) -> dict[str, list[str]]:
    """Return why numbers are not scored: reason to descriptions, most frequent first."""
    found: dict[str, list[str]] = {}
    for group in by_number(lines).values():
        if sort_of(group) == "not scored":
            found.setdefault(str(group[0].get("reason") or "no reason is given"), []).append(_name(group[0]))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _name(line: Line) -> str:
    """Return the description of a number, without the variant in brackets."""
    quantity, variant = str(line["quantity"]), str(line["id"]).split(".")[2:]
    return quantity.rsplit(" (", 1)[0] if variant else quantity
