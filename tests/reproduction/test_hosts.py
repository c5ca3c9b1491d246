"""What the hosts of the ATLAS note do with a message, and runs that are measured by their marks."""

from __future__ import annotations

from pathlib import Path

import pytest
from fabriloom.experiments.atlas_sci import bx, hosts, tables
from fabriloom.experiments.lab import Lab
from fabriloom.experiments.moments import between_us, lasted_us
from fabriloom.output import Pieces


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
