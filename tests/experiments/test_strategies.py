"""Event building by strategies: the table that is kept, and the page that shows it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import fabriloom
import pytest
from fabriloom.compile import compile
from fabriloom.programs import Programs
from fabriloom.programs.kinds import SEND, UNTIL
from fabriloom_papers import event_building_strategies as here
from programs.common import programs

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLE = DOCS / "generated" / "event-building-strategies.csv"
PAGE = DOCS / "guides" / "which-event-building-strategy.md"
LEVEL_3 = {"kind": "level-3", "events": 12, "fragment": "100 B", "sources": 4, "targets": 4}


def kept() -> list[list[str]]:
    """The table that is kept."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_run_gives_the_line_that_is_kept() -> None:
    """The quickest of them."""
    case = here.Case(50, "barrel shift")
    assert here.line(case) == kept()[1 + here.CASES.index(case)]


def test_the_page_shows_the_table() -> None:
    shown = re.findall(r"^\| \d+ \|.*\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")][: len(here.COLUMNS)] for line in shown]
    assert cells == kept()[1:]


def sends(found: Programs, source: int) -> list[tuple[int, int]]:
    """The target and the event of each message of a source, in order."""
    rows = (found.kind == SEND) & (found.terminal == source)
    return list(zip(found.peer[rows].tolist(), found.tag[rows].tolist(), strict=True))


@pytest.mark.parametrize("order", ["same", "rotating", "random"])
def test_every_order_sends_the_same_fragments(order: str) -> None:
    found = programs({**LEVEL_3, "order": order})
    for source in range(4):
        assert sorted(sends(found, source)) == sorted((4 + event % 4, event) for event in range(12))
        # Groups of as many events as there are targets follow each other.
        groups = [event // 4 for _, event in sends(found, source)]
        assert groups == sorted(groups)


def test_sources_that_rotate_never_send_to_the_same_target() -> None:
    found = programs({**LEVEL_3, "order": "rotating"})
    for step in zip(*(sends(found, source) for source in range(4)), strict=True):
        assert len({target for target, _ in step}) == 4


def test_a_source_waits_until_its_next_fragment_is_due() -> None:
    """Events are due every 100 us; in rotating order source 1 begins each group with the second event."""
    found = programs({**LEVEL_3, "order": "rotating", "rate": "10 kHz"})
    rows = found.terminal == 1
    kinds, amounts = found.kind[rows].tolist(), found.amount[rows].tolist()
    waits = [amount // 10**8 for kind, amount in zip(kinds, amounts, strict=True) if kind == UNTIL]
    assert waits == [1, 2, 3, 5, 6, 7, 9, 10, 11]
    assert kinds[0] == UNTIL


@pytest.mark.parametrize("name", ["event-builder-300", "event-builder-500"])
def test_the_large_scenarios_can_run(name: str) -> None:
    """They take minutes: too long for a test."""
    scenario = fabriloom.load(DOCS.parent / "scenarios" / "large" / f"{name}.toml")
    found = compile(scenario)
    assert found.graph.terminals > 600
    assert not found.warnings
