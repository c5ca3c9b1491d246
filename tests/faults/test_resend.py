"""Messages over links that fail: each is received once, however often its packets are sent and lost."""

from __future__ import annotations

from typing import Any

from fabriloom import Results, Scenario, run
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

CLOS = {"kind": "clos", "terminals": 8, "terminals_per_switch": 4, "centre_switches": 2}
VIRTUAL = {"preset": "virtual-link", "resend_after": "100 us", "resend_limit": 20}


def built(fault: list[dict[str, Any]], **protocol: Any) -> Results:
    """Events of which every fragment has to come."""
    program = {"kind": "level-3", "events": 30, "fragment": "100 B", "sources": 5, "targets": [5, 6, 7]}
    tables = {"topology": CLOS, "program": program, "protocol": VIRTUAL | protocol, "fault": fault}
    return run(Scenario.from_dict({**tables, "run": {"duration": "50 ms"}}))


@settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
@given(
    kind=st.sampled_from(["link", "cable", "switch"]),
    mtbf=st.sampled_from(["1 ms", "5 ms"]),
    mttr=st.sampled_from(["1 us", "50 us"]),
    backoff=st.sampled_from([1, 2]),
    after=st.sampled_from(["30 us", "300 us"]),
)
def test_every_event_is_complete_on_links_that_come_back(
    kind: str, mtbf: str, mttr: str, backoff: int, after: str
) -> None:
    found = built([{kind: "all", "mtbf": mtbf, "mttr": mttr}], resend_backoff=backoff, resend_after=after)
    messages, packets = found.summary["messages"], found.summary["packets"]
    assert found.summary["end"]["reason"] == "drained", found.summary["end"]
    assert messages["received"] == messages["made"] == 150
    assert (messages["lost"], messages["given_up"]) == (0, 0)
    assert found.summary["events"]["complete"] == 30
    # Four packets a message and as many acknowledgements; what is more is copies and what came of them.
    assert packets["offered"] == packets["delivered"] + packets["lost"]
    assert packets["delivered"] <= 2 * (4 * 150 + messages["duplicates"])


def test_without_sending_again_an_event_is_missed() -> None:
    fault = [{"cable": "all", "mtbf": "2 ms", "mttr": "20 us"}]
    found = built(fault, resend_after="0 ns")
    assert found.summary["messages"]["lost"] > 0
    assert found.summary["events"]["complete"] < 30


def test_what_never_comes_back_is_given_up() -> None:
    fault = [{"terminal": 7, "at": "1 us"}]
    found = built(fault, resend_limit=2)
    messages = found.summary["messages"]
    assert messages["given_up"] == messages["lost"] == 50
    assert messages["received"] == messages["made"] - 50
    assert found.summary["events"]["complete"] == 20
    # Four packets a message at most are sent three times each.
    assert messages["resent"] <= 50 * 4 * 2
