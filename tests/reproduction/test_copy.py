"""The copy of the reproduction that is kept with the sources, compared with what the quick runs give."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fabriloom import experiments, published
from fabriloom.experiments import evidence, page, remarks
from fabriloom.experiments.lab import Findings
from fabriloom.output import Pieces
from fabriloom.report.tally import number_of, tally

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
    found = experiments.studies(experiments.names(), quick=True, keep=finished)
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
    assert set(experiments.names()) == set(published.papers())


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
    told = {f"{paper}.{number}" for paper in quick for number in remarks.explained(paper)}
    assert {number_of({"id": key}) for key in outside} <= told
    assert told <= {f"{paper}.{number}" for paper in quick for number in published.numbers(paper)}


@pytest.mark.parametrize("paper", published.papers())
def test_the_page_of_a_paper_is_made_of_its_table(paper: str) -> None:
    """But for what the results depend on, which other runs show."""
    text = (PAGES / f"{paper}.md").read_text(encoding="utf-8")
    before, sensitivity = text.split("changed at a time.\n\n")
    assert text == page.text(paper, kept(paper), sensitivity.rstrip("\n"))
    assert sensitivity.count("\n| ") > 2
    assert before.count("remarks.md") == 1


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
