"""What a program carries at most, before it runs and up to which rate of events."""

from __future__ import annotations

from typing import Any

import pytest
from fabriloom.programs import check
from fabriloom.studies import curve
from fabriloom.studies.inspection import inspect

from .common import operations, results, scenario


@pytest.mark.parametrize("preset", ["infiniband-4x-edr", "ethernet-100g", "ds-link-c104"])
def test_the_bound_counts_the_packets_into_which_messages_are_cut(preset: str) -> None:
    """8000 B are packets of 2048 B and one of 1856 B, none of them padded, though 2000 B would be."""
    program = {"kind": "level-3", "sources": [0], "targets": [1], "fragment": "8 kB", "events": 200}
    sections: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 2},
        "technology": {"preset": preset},
    }
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
    assert 0.99 * bound < carried < bound


def test_the_bound_counts_long_messages_as_long() -> None:
    """Ten messages of a flit take a third of the time of one of 32 flits, which is full first."""
    program = operations(
        t0=["repeat 200", "send 1 2048 B", "end"],
        t1=["repeat 200", "receive 0", "end"],
        t2=["repeat 2000", "send 3 8 B", "end"],
        t3=["repeat 2000", "receive 2", "end"],
    )
    sections: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "infiniband-4x-edr"},
    }
    found = inspect(scenario(program, **sections))["channel_load"]
    assert found["busiest_link"] == "t.0>s"
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx((2048 + 80) / (32 * 5.12e-3))
    carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
    assert 0.98 < carried / found["accepted_mbytes_per_s_bound"] < 1


@pytest.mark.parametrize(("short", "carried"), [(4000, 8889), (16_000, 8000)])
def test_the_hand_over_is_counted_for_the_packets_of_each_terminal(short: int, carried: float) -> None:
    """A cycle between two packets costs those of 8 flits a ninth, those of one flit a half."""
    program = operations(
        t0=["repeat 2000", "send 1 64 B", "end"],
        t1=["repeat 2000", "receive 0", "end"],
        t2=[f"repeat {short}", "send 3 8 B", "end"],
        t3=[f"repeat {short}", "receive 2", "end"],
    )
    sections: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "generic"},
    }
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx(carried, abs=0.5)
    assert 0.999 < results(program, **sections).summary["messages"]["mbytes_per_s"] / bound < 1


def test_the_load_of_a_bound_is_that_of_the_fullest_terminal() -> None:
    """2000 B are frames of 1538 B and 538 B, so t.1 sends all the time when the link to t.0 is full."""
    program = operations(t0=["send 1 64 B", "receive 1"], t1=["receive 0", "send 0 2000 B"])
    sections: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 2},
        "technology": {"preset": "ethernet-100g"},
    }
    found = inspect(scenario(program, **sections))["channel_load"]
    assert found["accepted_mbytes_per_s_bound"] == pytest.approx(12_500 * 2064 / (1538 + 538))
    assert found["load_bound"] == pytest.approx(1)
    assert found["shared_load_bound"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("protocol", "apiece_us", "busiest"),
    [
        ({"receive_time": "10 us"}, 10, "s>t.1"),
        ({"bus_packet_time": "8 us"}, 8, "t.0>s"),
        ({"preset": "virtual-link", "packet": "1 kB", "receive_gap_time": "30 us"}, 30, "s>t.1"),
        ({"by_size": [{"message": "500 B", "packet_time": "1 us", "receive_time": "4 us"},
                      {"message": "1500 B", "packet_time": "5 us", "receive_time": "8 us"}]}, 6, "s>t.1"),
    ],
)  # fmt: skip
def test_a_host_that_takes_messages_slowly_is_the_bound(
    protocol: dict[str, Any], apiece_us: float, busiest: str
) -> None:
    filled = [{"send_time": "0 s", "send_gap_time": "0 s", **row} for row in protocol.get("by_size", [])]
    protocol = {"preset": "raw", "packet": "1 kB", **protocol} | ({"by_size": filled} if filled else {})
    program = {"kind": "fixed-pairs", "sources": [0], "targets": [1], "size": "1000 B", "rounds": 200}
    sections = {"technology": {"preset": "infiniband-4x-edr"}, "protocol": protocol}
    bound = inspect(scenario(program, **sections))["channel_load"]
    assert bound["busiest_link"] == busiest
    assert bound["accepted_mbytes_per_s_bound"] == pytest.approx(1000 / apiece_us, rel=0.006)
    carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
    assert 0.99 < carried / bound["accepted_mbytes_per_s_bound"] <= 1


@pytest.mark.parametrize("acknowledge_from", ["end", "head"])
@pytest.mark.parametrize(
    "windows",
    [
        {"packets_per_channel": 1},
        {"packets_per_channel": 2, "resume_time": "2 us"},
        {"packets_at_once": 3, "ack_time": "5 us"},
        {"messages_at_once": 1, "send_time": "1 us"},
        {"packets_per_channel": 1, "packet_time": "1 us", "byte_time": "10 ns"},
        {"packets_at_once": 1, "bus_packet_time": "300 ns", "bus_byte_time": "5 ns"},
    ],
)
def test_the_windows_of_a_protocol_are_the_bound(windows: dict[str, Any], acknowledge_from: str) -> None:
    """A place is free when the acknowledgement of its packet is back, a slot when that of the last is."""
    program = {"kind": "fixed-pairs", "size": "200 B", "rounds": 200}
    protocol = {"preset": "raw", "packet": "64 B", "acknowledge": "packet", **windows}
    protocol |= {"acknowledge_from": acknowledge_from}
    for preset in ("ethernet-10g", "infiniband-4x-edr"):
        technology = {"preset": preset, "cable_length": "100 m"}
        found = inspect(scenario(program, technology=technology, protocol=protocol))
        assert found["link"]["limited_by"] == "window"
        carried = results(program, technology=technology, protocol=protocol).summary["messages"]
        bound = found["channel_load"]["accepted_mbytes_per_s_bound"]
        # An acknowledgement from the head counts as one that waits for no bus.
        least = 0.8 if "bus_packet_time" in windows and acknowledge_from == "head" else 0.94
        assert least < carried["mbytes_per_s"] / bound <= 1.001, preset


@pytest.mark.parametrize("windows", [{"packets_at_once": 2}, {"packets_per_channel": 1}])
def test_each_port_has_windows_of_its_own(windows: dict[str, Any]) -> None:
    """Two ports carry twice what the windows of one let pass, not all of both links."""
    program = {"kind": "level-3", "sources": [0], "targets": [1], "fragment": "1024 B", "events": 300}
    protocol = {"preset": "raw", "packet": "256 B", "acknowledge": "packet", **windows}
    technology = {"preset": "infiniband-4x-edr", "cable_length": "100 m"}
    topology = {"kind": "crossbar", "terminals": 4, "replicate": 2}
    sections = {"technology": technology, "protocol": protocol, "topology": topology}
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
    assert 0.99 < carried / bound <= 1.001


@pytest.mark.parametrize(
    ("size", "protocol", "least"),
    [
        ("200 B", {"packet": "256 B"}, 0.96),
        ("1000 B", {"packet": "64 B"}, 0.95),
        ("200 B", {"packet": "256 B", "receive_time": "1 us"}, 0.96),
        ("200 B", {"packet": "256 B", "messages_at_once": 1, "acknowledge": "packet"}, 0.96),
    ],
)
def test_announced_messages_wait_for_their_receive(size: str, protocol: dict[str, Any], least: float) -> None:
    """An answer and a message one after the other, though announcements come beforehand."""
    program = {"kind": "fixed-pairs", "size": size, "rounds": 200}
    sections = {"protocol": {"preset": "raw", "eager_limit": "100 B", **protocol}}
    sections |= {"technology": {"preset": "ethernet-10g", "cable_length": "100 m"}}
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
    assert least < carried / bound <= 1


def test_of_many_pairs_the_windows_of_some_terminals_are_the_bound() -> None:
    """72 terminals send to 71 others each: more pairs than are looked at."""
    program = {"kind": "all-to-all", "size": "200 B", "rounds": 1}
    network = {"topology": {"kind": "crossbar", "terminals": 72}, "technology": {"preset": "ethernet-10g"}}
    windows = {"preset": "raw", "packet": "256 B", "acknowledge": "packet", "packets_at_once": 1}
    bounds = [
        inspect(scenario(program, **network, protocol=one))["channel_load"]["accepted_mbytes_per_s_bound"]
        for one in ({"preset": "raw", "packet": "256 B"}, windows)
    ]
    carried = results(program, **network, protocol=windows).summary["messages"]["mbytes_per_s"]
    assert carried <= bounds[1] < bounds[0] / 2


@pytest.mark.parametrize("time", ["byte_time", "bus_byte_time"])
@pytest.mark.parametrize("bytes_", [1000, 1_073_742, 2**31 - 1])
def test_a_message_of_any_length_is_as_slow_as_its_bytes(bytes_: int, time: str) -> None:
    """2 ns a byte are 500 MB/s; 2^31 ps are 1,073,742 times as long."""
    program = {"kind": "fixed-pairs", "size": f"{bytes_} B", "rounds": 5, "sources": [0], "targets": [1]}
    sections: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "ethernet-10g"},
        "protocol": {"preset": "raw", "packet": "1460 B", time: "2 ns"},
    }
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx(500, rel=1e-3)


@pytest.mark.parametrize("preset", ["pio-lx-d310", "dma"])
def test_the_host_is_the_bound_on_a_ring(preset: str) -> None:
    """Its processor's stores, or its PCI bus: both are slower than a link of SCI."""
    program = {"kind": "fixed-pairs", "size": "64 kB", "rounds": 20}
    sections = {"topology": {"kind": "sci-ring", "terminals": 4}, "protocol": {"preset": preset}}
    bound = inspect(scenario(program, technology={"preset": "scinet"}, **sections))["channel_load"]
    assert bound["busiest_link"] == "the host of t0"
    carried = results(program, technology={"preset": "scinet"}, **sections).summary["messages"]
    assert 0.99 < carried["mbytes_per_s"] / bound["accepted_mbytes_per_s_bound"] <= 1


def test_a_short_message_on_a_ring_is_a_short_packet() -> None:
    """16 B of payload take 20 symbols of 4 ns with the idle ones after them, and 80 B are 64 and 16."""
    ring, protocol = {"kind": "sci-ring", "terminals": 4}, {"preset": "raw", "transaction": "dmove"}
    technology = {"preset": "sci-lc2", "in_flight": 64, "requests_out": 64}
    sections = {"topology": ring, "technology": technology, "protocol": protocol}
    for size, symbols in ((8, 20), (64, 44), (80, 20 + 44)):
        program = {"kind": "fixed-pairs", "sources": [0], "targets": [1], "size": f"{size} B", "rounds": 500}
        found = inspect(scenario(program, **sections))
        bound = found["channel_load"]["accepted_mbytes_per_s_bound"]
        assert bound == pytest.approx(size * 1000 / (4 * symbols))
        # The packet, a cable of 10 ns, the decoder, the way to the user, a block in its memory.
        assert found["zero_load_latency_ns"]["min"] == 4 * (20 if size < 16 else 44) + 10 + 20 + 106 + 40
        carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
        assert 0.8 < carried / bound <= 1


@pytest.mark.parametrize("kind", ["crossbar", "sci-ring"])
@pytest.mark.parametrize("choice", ["round-robin", "nominal"])
def test_the_gaps_of_several_ports_pass_at_the_same_time(kind: str, choice: str) -> None:
    """64 B every 10 us by each port in use; a host is busy with them all the time, and not longer."""
    program = {"kind": "fixed-pairs", "sources": [0], "targets": [1], "size": "64 B", "rounds": 200}
    protocol = {"preset": "raw", "send_gap_time": "10 us"}
    topology = {"kind": kind, "terminals": 3, "replicate": 2}
    sections = {"topology": topology, "ports": {"choice": choice}, "protocol": protocol}
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx(12.8 if choice == "round-robin" else 6.4, rel=0.02)
    summary = results(program, **sections).summary
    assert 0.99 < summary["messages"]["mbytes_per_s"] / bound <= 1
    assert summary["limit"]["what"] == "host"
    assert 0.99 < summary["limit"]["share"] < 1


@pytest.mark.parametrize(
    "topology", [{"kind": "crossbar", "terminals": 4}, {"kind": "sci-ring", "terminals": 4}]
)
def test_the_token_bucket_of_a_channel_is_the_bound(topology: dict[str, Any]) -> None:
    """Two channels of 20 MB/s, which begin with the tokens of a packet."""
    program = {"kind": "fixed-pairs", "size": "10240 B", "rounds": 100}
    protocol = {"preset": "raw", "packet": "64 B", "shaper_rate": "20 MB/s"}
    sections = {"topology": topology, "protocol": protocol}
    sections["technology"] = {"preset": "scinet" if topology["kind"] == "sci-ring" else "ethernet-10g"}
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    assert bound == pytest.approx(40, rel=1e-3)
    run = results(program, **sections)
    assert 0.99 < run.summary["messages"]["mbytes_per_s"] / bound <= 1.0001
    assert run.summary["limit"]["what"] == "host"


def test_one_way_links_without_flow_control_are_faster_than_a_path_of_both_ways() -> None:
    """Packets that follow each other by a router of SpaceWire, with acknowledgements alone the other way."""
    program = {"kind": "fixed-pairs", "sources": [0], "targets": [1], "size": "200 B", "rounds": 200}
    sections = {"technology": {"preset": "spacewire-200"}, "protocol": {"preset": "raw", "packet": "256 B"}}
    bound = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
    assert 0.97 < carried / bound <= 1


def test_answers_between_sends_are_counted_where_both_go_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of one terminal is a send and a receive of 5 us; of two streams neither waits for the other."""
    monkeypatch.setattr(check, "MOST_OPERATIONS", 1000)
    answers = {"terminal": 1, "do": ["repeat", "receive 0", "send 0 1000 B", "end"]}
    asks = {"terminal": 0, "do": ["repeat", "send 1 1000 B", "receive 1", "end"]}
    apart = [
        {"terminal": 0, "stream": 0, "do": ["repeat", "send 1 1000 B", "end"]},
        {"terminal": 0, "stream": 1, "do": ["repeat", "receive any", "end"]},
    ]
    protocol = {"preset": "raw", "packet": "1 kB", "send_time": "1 us", "receive_time": "5 us"}

    def bound(*lists: dict[str, Any]) -> float:
        given = scenario({"kind": "operations", "terminals": list(lists)}, protocol=protocol)
        return inspect(given.with_settings({"technology": {"preset": "infiniband-4x-edr"}}))["channel_load"][
            "accepted_mbytes_per_s_bound"
        ]

    assert bound(asks, answers) == pytest.approx(2 * 1000 / 6)
    assert bound(*apart, answers) == pytest.approx(2 * 1000 / 6), "the second terminal takes turns"
    source = {"terminal": 1, "do": ["repeat", "send 0 1000 B", "end"]}
    assert bound(*apart, source) == pytest.approx(2 * 1000 / 1)


def test_a_curve_says_up_to_which_rate_events_are_built() -> None:
    program = {"kind": "level-3", "sources": 4, "targets": [4], "fragment": "1024 B", "events": 200}
    # A builder takes 12.5 GB/s in packets without padding, 3.052 million events of 4 x 1024 B a second.
    rates = ["2.9 MHz", "1 MHz", "3.2 MHz", "4 MHz"]
    swept = scenario(program, technology={"preset": "infiniband-4x-edr"}, sweep={"program.rate": rates})
    found = curve(swept, jobs=1).verdicts[""]
    assert found.startswith("Keeps up with 2,900,000 events a second; of 3,200,000 it builds 3,0"), found
    assert (
        curve(swept.with_settings({"sweep": {"program.rate": ["1 MHz"]}}), jobs=1)
        .verdicts[""]
        .startswith("Keeps up with 1,000,000 events a second, the most that was tried")
    )


def test_the_last_packet_on_rings_is_padded_to_the_next_payload() -> None:
    """272 B are 256 and 16 B on SCI; other rings carry any payload, and programs run on them as well."""
    program = {"kind": "fixed-pairs", "size": "272 B", "rounds": 200}
    for preset in ("sci-1000", "rpr-10g"):
        sections: dict[str, Any] = {"protocol": {"preset": "raw", "packet": "256 B"}}
        sections |= {"topology": {"kind": "sci-ring", "terminals": 4}, "technology": {"preset": preset}}
        found = inspect(scenario(program, **sections))["channel_load"]
        carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
        assert 0.8 < carried / found["accepted_mbytes_per_s_bound"] <= 1, preset


@pytest.mark.parametrize(("cable", "carries"), [("1 m", 5470), ("10 m", 817.4), ("100 m", 85.99)])
def test_packets_of_a_message_take_as_long_as_others_of_their_lengths(cable: str, carries: float) -> None:
    """By hand at 100 m: twelve packets of 256 B take three round trips each, the last one of 128 B one."""
    sections: dict[str, Any] = {
        "topology": {"kind": "crossbar", "terminals": 4},
        "technology": {"preset": "generic", "cable_length": cable},
        "protocol": {"preset": "raw", "packet": "256 B", "acknowledge": "packet", "ack_time": "100 ns"},
    }
    program = {"kind": "funnel-in", "size": "3200 B", "rounds": 40}
    most = inspect(scenario(program, **sections))["channel_load"]["accepted_mbytes_per_s_bound"]
    carried = results(program, **sections).summary["messages"]["mbytes_per_s"]
    assert most == pytest.approx(carries, rel=1e-3)
    assert 0.98 * most < carried <= most
