"""Printed numbers are entered twice: in ``published/*.toml``, and again, read anew, in ``check.csv``.

The copy of the reproduction that is kept with the sources, compared with what the quick runs give.

What the hosts of the ATLAS note do with a message, and runs that are measured by their marks.
"""

from __future__ import annotations

import csv
import math
import os
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path
from typing import Any

import fabriloom_papers
import pytest
from fabriloom.output import Pieces
from fabriloom.report.tally import number_of, tally
from fabriloom_papers import evidence, page, published
from fabriloom_papers.atlas_sci import bx, hosts, tables
from fabriloom_papers.lab import Findings, Lab, between_us, lasted_us


def second_entry(paper: str) -> dict[str, dict[str, str]]:
    """What ``check.csv`` has of a paper, by id: ``value``, ``unit`` and ``words``, which hold the number."""
    lines = resources.files("fabriloom_papers.published").joinpath("check.csv").read_text(encoding="utf-8")
    return {line["id"]: line for line in csv.DictReader(lines.splitlines()) if line["paper"] == paper}


@pytest.mark.parametrize("paper", published.papers())
def test_both_entries_agree(paper: str) -> None:
    first, second = published.numbers(paper), second_entry(paper)
    differ = [
        f"{key}: {first[key]['value']} {first[key]['unit']} from “{first[key]['text']}”, but "
        f"{line['value']} {line['unit']} from “{line['words']}”"
        for key, line in second.items()
        if key in first
        and (float(line["value"]) != float(first[key]["value"]) or line["unit"] != first[key]["unit"])
    ]
    assert not differ, "\n".join(differ)


@pytest.mark.parametrize("paper", published.papers())
def test_every_number_is_entered_twice(paper: str) -> None:
    """Numbers that are not printed but follow from printed ones have no words to be read again."""
    printed = {key for key, number in published.numbers(paper).items() if not number.get("derived")}
    assert set(second_entry(paper)) == printed


@pytest.mark.parametrize("paper", published.papers())
def test_ids_can_stand_in_the_id_of_a_row(paper: str) -> None:
    """A row's id is paper, number and variant with dots between."""
    numbers = published.load(paper)["numbers"]
    assert len({number["id"] for number in numbers}) == len(numbers)
    assert not [number["id"] for number in numbers if "." in number["id"]]


@pytest.mark.parametrize("paper", published.papers())
def test_every_number_says_where_it_is_printed(paper: str) -> None:
    for key, number in published.numbers(paper).items():
        assert number["where"], key
        assert number.get("text") or (number.get("derived") and number.get("remark")), key


ATLAS = published.numbers("atlas-sci")
TABLES = {table["id"]: table for table in published.load("atlas-sci")["tables"]}


def printed(table: str, row: str) -> list[float]:
    """The cells of a row that are there."""
    return [float(value) for value in TABLES[table]["rows"][row] if not math.isnan(value)]


def test_a_cell_is_a_number() -> None:
    assert ATLAS["table-1/64/4-streams/8-byte"] == {
        "paper": "atlas-sci",
        "id": "table-1/64/4-streams/8-byte",
        "where": "table 1",
        "quantity": "bandwidth, LX and D310, no write-gathering, no write-combining, "
        "64 B, 4 streams, 8 byte stores",
        "unit": "MB/s",
        "value": 50,
        "text": "64: 4.7 14 7.6 27 7.9 50 7.9 63",
        "row": "64",
        "column": "4-streams/8-byte",
    }
    assert ATLAS["table-15/total/GI"]["value"] == 148


def test_a_cell_that_is_not_printed_is_no_number() -> None:
    assert "table-2/16/8-streams/4-byte" in ATLAS
    assert "table-2/16/8-streams/8-byte" not in ATLAS
    assert "table-15/from-E/GI" not in ATLAS
    cells = sum(len(printed(name, row)) for name, table in TABLES.items() for row in table["rows"])
    assert len(ATLAS) == cells + sum("row" not in number for number in ATLAS.values()) == 904


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_what_is_told_of_cells_is_told_of_cells_that_are_there(table: dict[str, Any]) -> None:
    for key in {**table.get("damaged", {}), **table.get("remarks", {})}:
        row, _, column = key.partition("/")
        assert row in table["rows"]
        assert column in ("", *table["columns"])


def test_damage_is_told_of_a_cell_or_of_its_whole_row() -> None:
    damaged = [key for key, number in ATLAS.items() if "damaged" in number]
    assert len(damaged) == 23
    assert "table-6/4096/1-stream/8-byte" in damaged
    assert len([key for key in damaged if key.startswith("table-5/1024/")]) == 8
    assert "remark" in ATLAS["table-9/16/400-MHz/4-byte"]
    assert "remark" not in ATLAS["table-9/16/300-MHz/4-byte"]


@pytest.mark.parametrize("table", ["table-15", "table-16"])
def test_the_loads_of_a_port_add_up_as_printed(table: str) -> None:
    *parts, total = TABLES[table]["rows"].values()
    for column in zip(total, *parts, strict=True):
        assert column[0] == sum(part for part in column[1:] if not math.isnan(part))


def test_the_rows_that_the_damage_copied() -> None:
    """Which is how it is known to be damage."""
    for row in ("1024", "4096"):
        assert printed("table-5", row) == printed("table-6", row)
        assert row in TABLES["table-5"]["damaged"]


def test_direct_connections_are_printed_in_two_tables() -> None:
    for row in TABLES["table-10"]["rows"]:
        assert ATLAS[f"table-13/{row}/direct"]["value"] == ATLAS[f"table-10/{row}/450-MHz/8-byte"]["value"]


COPY = Path(__file__).resolve().parents[2] / "docs" / "reproduction" / "numbers.csv"
PAGES = COPY.parents[1] / "generated"
Table = dict[str, dict[str, str]]


def table(text: str) -> Table:
    """Lines by their ids."""
    lines = list(csv.DictReader(text.splitlines()))
    found = {line["id"]: line for line in lines}
    assert len(found) == len(lines)
    return found


@pytest.fixture(scope="module")
def quick(finished: Pieces) -> dict[str, list[evidence.Line]]:
    """The lines of every paper from the quick runs."""
    found = fabriloom_papers.studies(fabriloom_papers.names(), quick=True, keep=finished)
    return {paper: evidence.lines_of(paper, one, quick=True) for paper, one in found.items()}


def test_the_copy_is_what_the_quick_runs_give(quick: dict[str, list[evidence.Line]]) -> None:
    """Write it again as ``experiments/evidence.py`` says, after a change that is meant."""
    copied = table(COPY.read_text(encoding="utf-8"))
    now = table(evidence.table_of([line for group in quick.values() for line in group]))
    assert list(copied) == list(now)
    for key, line in now.items():
        ours, before = line.pop("ours"), copied[key].pop("ours")
        assert line == copied[key]
        assert bool(ours) == bool(before), key
        if ours:
            assert float(ours) == pytest.approx(float(before), rel=1e-4), key


def test_every_paper_is_reproduced() -> None:
    assert set(fabriloom_papers.names()) == set(published.papers())


@pytest.mark.parametrize("paper", published.papers())
def test_every_printed_number_has_a_line_or_a_reason(
    paper: str, quick: dict[str, list[evidence.Line]]
) -> None:
    covered = {number_of(line) for line in quick[paper]}
    assert covered == {f"{paper}.{number}" for number in published.numbers(paper)}
    for line in quick[paper]:
        assert line["tolerance"] is not None or line["reason"], line["id"]


def kept(paper: str) -> list[evidence.Line]:
    """The lines of the full runs, from the table that is kept."""
    return page.lines_of(paper, (PAGES / f"{paper}.csv").read_text(encoding="utf-8"))


def test_every_disagreement_is_told(quick: dict[str, list[evidence.Line]]) -> None:
    full = [line for paper in quick for line in kept(paper)]
    outside = {line["id"] for lines in (full, *quick.values()) for line in lines if line["within"] is False}
    told = {f"{paper}.{number}" for paper in quick for number in page.explained(paper)}
    assert {number_of({"id": key}) for key in outside} <= told
    assert told <= {f"{paper}.{number}" for paper in quick for number in published.numbers(paper)}


@pytest.mark.parametrize("paper", published.papers())
def test_the_site_adds_what_the_tables_of_a_paper_say(paper: str) -> None:
    text = page.added(PAGES, paper)
    assert page.summary(kept(paper)) in text
    assert page.outside(kept(paper)) in text
    assert page.remarks_of(paper) in text
    depends, numbers = text.split("changed at a time.\n\n")[1].split("### Every number")
    assert depends.count("\n| ") > 2
    assert numbers.count("\n| ") == len(kept(paper)) + 2


@pytest.mark.parametrize("paper", published.papers())
def test_the_tables_of_a_paper_are_counted_alike_everywhere(paper: str) -> None:
    lines = kept(paper)
    numbers = published.numbers(paper)
    assert {number_of(line) for line in lines} == {f"{paper}.{number}" for number in numbers}
    for line in lines:
        printed = numbers[number_of(line).partition(".")[2]]
        assert (line["published"], line["where"]) == (page.figure(printed["value"]), printed["where"])
    counted = " | ".join([paper, *map(str, vars(tally(lines)).values())])
    assert f"| {counted} |" in (COPY.parent / "README.md").read_text(encoding="utf-8")


def test_a_table_says_what_its_rows_say(quick: dict[str, list[evidence.Line]]) -> None:
    for paper, rows in quick.items():
        read = page.lines_of(paper, page.table(rows))
        assert [line["id"] for line in read] == [row["id"] for row in rows]
        assert [line["within"] for line in read] == [row["within"] for row in rows]
        assert tally(read) == tally(rows)


def test_what_was_interrupted_is_said() -> None:
    lines = evidence.lines_of("sci-retry", Findings(unfinished=["delays"]))
    assert {line["reason"] for line in lines} == {evidence.INTERRUPTED}
    assert len(lines) == len(published.numbers("sci-retry"))


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent in another way")
def test_ctrl_c_keeps_what_is_there_and_the_next_time_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    command = [sys.executable, "-m", "fabriloom", "reproduce", "scinet", "--out", str(folder), "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 60
        while not list(tmp_path.glob("out.partial/runs/*.json")) and time.monotonic() < until:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "PARTIAL" in err
    assert "Arithmetic" in out
    assert evidence.INTERRUPTED in (folder / "reproduction.json").read_text(encoding="utf-8")
    assert "PARTIAL" in (folder / "reproduction.html").read_text(encoding="utf-8")
    assert list(folder.glob("runs/*.json"))
    again = subprocess.run([*command, "--quick"], capture_output=True, text=True, check=False)
    assert again.returncode == 0
    assert not (folder / "runs").exists()


def test_what_does_not_fill_a_buffer_goes_in_turn() -> None:
    assert hosts.parts(64, "t1") == ["send t1 64 B"]
    assert hosts.parts(40, "t1") == ["send t1 16 B", "flush", "send t1 16 B", "flush", "send t1 8 B"]


def test_single_stores_wait_for_all_of_a_line_but_its_last() -> None:
    done = hosts.lines(128, "t1")
    assert [done.count(one) for one in ("send t1 16 B", "flush")] == [8, 6]
    assert done[-1] == "send t1 16 B"
    assert "flush" not in hosts.lines(16, "t1")


def test_the_first_single_store_leaves_alone() -> None:
    assert [one for one in hosts.lines(16, "t1", alone=True) if one.startswith("send")] == [
        "send t1 4 B",
        "send t1 12 B",
    ]


def test_more_buffers_have_more_bandwidth_until_the_bus_is_full() -> None:
    cells = [tables.Cell(4, 1024, streams, 8) for streams in (1, 2, 4, 8)]
    one, two, four, eight = (tables.value(cell, between_us(tables.scenario(cell))) for cell in cells)
    assert two == pytest.approx(2 * one, rel=0.01)
    assert four == pytest.approx(4 * one, rel=0.01)
    assert eight == pytest.approx(64 / 0.752 * 1e6 / hosts.MB, rel=0.01)


def test_a_module_on_the_way_takes_time() -> None:
    took = [between_us(bx.ping_pong(64, connection=one)) for one in bx.TOPOLOGIES]
    assert took == sorted(took)
    assert took[0] < took[1] < took[2]


def test_a_run_without_marks_is_refused() -> None:
    quiet = bx.ping_pong(64)
    quiet["program"]["terminals"][0]["do"] = ["send t1 64 B tag 1", "receive t1 tag 1"]
    assert lasted_us(quiet) > 0
    with pytest.raises(ValueError, match="0 marks"):
        between_us(quiet)


def test_equal_runs_are_made_once(tmp_path: Path) -> None:
    same = [bx.ping_pong(64) for _ in range(8)]
    counted: list[int] = []
    keep = Pieces.at(tmp_path)
    with Lab(jobs=2, keep=keep, progress=lambda _done, asked, _name: counted.append(asked)) as lab:
        took = lab.each(between_us, same)
    assert len(set(took)) == 1
    assert len(list(tmp_path.glob("*.json"))) == 1
    assert set(counted) <= {1}
