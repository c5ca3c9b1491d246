"""How many printed numbers of a paper were met, and how: counted by number, however many lines it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Line = Mapping[str, Any]
"""One line of a reproduction, see ``experiments.rows.row``."""


@dataclass(frozen=True)
class Tally:
    """Numbers of each sort. ``arithmetic + calibrated + predicted`` is ``within + outside``; with
    ``not_scored`` these make ``printed``. ``predicted_within`` are those of ``predicted`` that agree.
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
    """The printed number of a line: its id without the variant."""
    return ".".join(str(line["id"]).split(".")[:2])


def by_number(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """The lines of each printed number, in the order of their first."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(number_of(line), []).append(line)
    return found


def sort_of(lines: Sequence[Line]) -> str:
    """What the lines of one number make it.

    A number that any parameter was set by is calibrated, whatever else follows from the model; and one that a
    simulation predicts is predicted, although something else follows from it by arithmetic.
    """
    kinds = {line["kind"] for line in lines if line.get("tolerance") is not None}
    return next((kind for kind in ("calibrated", "predicted", "arithmetic") if kind in kinds), "not scored")


def is_met(lines: Sequence[Line]) -> bool:
    """Whether every scored line of one number agrees; one that could not be measured does not."""
    return all(line.get("within") for line in lines if line.get("tolerance") is not None)


def tally(lines: Sequence[Line]) -> Tally:
    """Count the numbers of a paper."""
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
"""What a table of tallies has."""
TOTAL = "all papers"


def counts(papers: Mapping[str, Sequence[Line]]) -> list[tuple[str, list[int]]]:
    """The rows of that table: one per paper, and of several their sum."""
    rows = [(name, list(vars(tally(lines)).values())) for name, lines in papers.items()]
    if len(rows) > 1:
        rows.append((TOTAL, [sum(column) for column in zip(*(values for _, values in rows), strict=True)]))
    return rows


def said(total: Tally) -> str:
    """How much agrees, in a sentence: the same on the page, in the terminal and in the documentation."""
    scored = total.within + total.outside
    return (
        f"{total.within} of {scored} scored numbers agree; of those that a simulation predicts, with nothing "
        f"set by them, {total.predicted_within} of {total.predicted}"
    )


def reasons(lines: Sequence[Line]) -> dict[str, list[str]]:
    """Why numbers are not scored: reason to what they are, the most frequent first."""
    found: dict[str, list[str]] = {}
    for group in by_number(lines).values():
        if sort_of(group) == "not scored":
            found.setdefault(str(group[0].get("reason") or "no reason is given"), []).append(_name(group[0]))
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def _name(line: Line) -> str:
    """What a number is, without the variant that stands in brackets behind it."""
    quantity, variant = str(line["quantity"]), str(line["id"]).split(".")[2:]
    return quantity.rsplit(" (", 1)[0] if variant else quantity
