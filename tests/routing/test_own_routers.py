"""Routing tables as routers take them: what is exported is read, and what is said of wrong rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fabriloom import load
from fabriloom.compile import compile
from fabriloom.routing import RoutingError, routers
from fabriloom.routing.own_table import own_table

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
ONBOARD = compile(load(SCENARIOS / "spacewire-onboard.toml"))


def exported() -> str:
    """The tables of the routers on board."""
    return routers.as_csv(routers.routers(ONBOARD.graph, ONBOARD.routes.table))


def read(folder: Path, text: str, adaptive: bool = True) -> list[routers.Router]:
    path = folder / "routing.csv"
    path.write_text(text, encoding="utf-8")
    return routers.routers(ONBOARD.graph, own_table(ONBOARD.graph, path, adaptive))


def test_what_is_exported_is_read(tmp_path: Path) -> None:
    text = exported()
    assert routers.as_csv(read(tmp_path, text)) == text
    semicolons = text.replace(",", ";")
    assert routers.as_csv(read(tmp_path, semicolons)) == text
    short = "\n".join(",".join(line.split(",")[:2] + line.split(",")[3:]) for line in text.splitlines())
    assert routers.as_csv(read(tmp_path, short)) == text, "names of terminals are not needed"


def test_a_run_with_the_exported_tables_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "routing.csv"
    path.write_text(exported(), encoding="utf-8")
    routing = (
        f"routing={{kind='table', path='{path}', adaptive={str(ONBOARD.scenario.routing.adaptive).lower()}}}"
    )
    again = compile(load(SCENARIOS / "spacewire-onboard.toml", [routing]))
    graph, table, own = ONBOARD.graph, ONBOARD.routes.table, again.routes.table
    for switch in range(graph.switches):
        for terminal in range(graph.terminals):
            groups = [
                one.group(int(one.route[switch, one.terminal_class[terminal]]) >> 1) for one in (table, own)
            ]
            assert np.array_equal(*groups)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("nowhere,32,1", 'there is no router "nowhere"'),
        ("{router},31,1", "no terminal has the logical address 31"),
        ("{router},200,1", "no terminal has the logical address 200; there are "),
        ("{router},{address},0", "{router} has no cable at port 0; it has 1, 2"),
        ("{router},{address},31", "{router} has no cable at port 31; it has 1"),
        ("{router},{address},", "no port is given"),
        ("{router},{address},1", "this destination was given in line 2 already"),
    ],
)
def test_wrong_rows_are_refused(row: str, words: str, tmp_path: Path) -> None:
    lines = exported().splitlines()
    router, address, _, ports = lines[1].split(",")
    known = {"router": router, "address": address}
    first = f"{router},{address},{ports}"
    text = "\n".join(["router,logical_address,ports", first, row.format(**known)])
    with pytest.raises(RoutingError) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith("line 3: ")
    assert words.format(**known) in str(refused.value)


@pytest.mark.parametrize(
    ("head", "cell", "words"),
    [
        ("terminal", "somebody", "not of somebody"),
        ("priority", "high", "routing.high_priority"),
        ("take", "all", "[[routing.distribution]]"),
    ],
)
def test_other_columns_mean_what_they_say(head: str, cell: str, words: str, tmp_path: Path) -> None:
    router, address, _, ports = exported().splitlines()[1].split(",")
    text = f"router,logical_address,ports,{head}\n{router},{address},{ports},{cell}\n"
    with pytest.raises(RoutingError) as refused:
        read(tmp_path, text)
    assert words in str(refused.value)


def test_an_address_that_runs_in_a_loop_is_shown_at_its_rows(tmp_path: Path) -> None:
    """Two routers that send an address to each other."""
    graph = ONBOARD.graph
    port, lines = routers.ports(graph), exported().splitlines()
    between = next(
        link
        for link in range(graph.links)
        if graph.link_source[link] < graph.switches and graph.link_target[link] < graph.switches
    )
    back = int(graph.link_reverse[between])
    ends = {int(graph.link_source[link]): port[link] for link in (between, back)}
    address = lines[1].split(",")[1]
    changed = []
    for line in lines:
        cells = line.split(",")
        at = graph.switch_names.index(cells[0]) if cells[0] in graph.switch_names else -1
        changed.append(",".join([*cells[:3], str(ends[at])]) if at in ends and cells[1] == address else line)
    with pytest.raises(RoutingError, match=r"line \d+: packets for .* run in a loop"):
        read(tmp_path, "\n".join(changed))
