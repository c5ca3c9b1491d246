"""Requirements on messages of programs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from .common import CROSSBAR, RING, operations, results

SENDS = operations(
    t0=["send 1 100 B tag 1", "send 1 1 kB tag 2", "flush", "send 2 100 B"],
    t1=["receive 0 tag 1", "receive 0 tag 2"],
    t2=["receive any"],
)


def asked(program: dict[str, Any], *rows: dict[str, Any], **sections: Any) -> Any:
    return results(program, **{"protocol": {"requirements": list(rows)}, **sections})


@pytest.mark.parametrize("topology", [CROSSBAR, RING], ids=["links", "rings"])
def test_the_longest_of_those_that_are_chosen_counts(topology: dict[str, Any]) -> None:
    chosen = [{"source": 0, "tag": 1}, {"target": 1}, {"target": 2, "name": "last"}, {}]
    rows = [{**one, "within": "30 us"} for one in chosen]
    found = asked(SENDS, *rows, topology=topology, output={"messages": True})
    table, messages, name = found.requirements, found.messages, found.graph.terminal_names
    assert table["flow"].to_list() == [f"{name[0]}:any tag 1", f"any:{name[1]}", "last", "any:any"]
    assert table["packets"].to_list() == [1, 2, 1, 3]
    expected = [
        messages.filter(which)["latency_ns"].max()
        for which in (pl.col("tag") == 1, *(pl.col("target") == name[one] for one in (1, 2)), pl.lit(True))
    ]
    assert table["total_latency_ns_max"].to_list() == expected
    assert table["verdict"].to_list() == ["met" if one <= 30_000 else "missed" for one in expected]
    assert found.summary["requirements"]["count"] == 4


def test_a_message_that_never_arrives_is_late() -> None:
    program = operations(
        t0=["send 1 1 kB", "flush"],
        t1=["receive 2", "receive 0", "send 2 8 B"],
        t2=["receive 1", "send 1 8 B"],
    )
    requirement = {"source": 0, "within": "1 s"}
    found = results(program, protocol={"eager_limit": "100 B", "requirements": [requirement]})
    assert found.summary["end"]["reason"] == "deadlocked"
    row = found.requirements.row(0, named=True)
    assert (row["verdict"], row["lost_packets"], row["margin"]) == ("missed", 1, None)


def test_flows_and_messages_share_a_table() -> None:
    flows = [{"source": 3, "target": 4, "length": "64 B", "rate": "1 MB/s", "requirement": "1 ms"}]
    traffic = {"pattern": {"kind": "flows", "flows": flows}}
    found = asked(SENDS, {"tag": 2, "within": "1 ns"}, traffic=traffic)
    assert found.requirements["verdict"].to_list() == ["met", "missed"]
