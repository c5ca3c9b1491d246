"""Section 3: measurements between two T9000s, the only numbers that set parameters."""

from __future__ import annotations

from typing import Any

from fabriloom.technology import technology

from ..lab import Effort, Findings, Lab, Scenario
from ..published import numbers
from ..rows import calibrated, near, reported
from . import networks, settings

WORD_BYTES = 4
"""Message size of the latency measurement: a word of the T9000. A byte takes 0.3 us less."""
TIMES = "send_time and receive_time of the protocol, alike"
LOOP = "ack_time and resume_time of the protocol, alike"
OTHERS = "shown beside the number: the two readings of it are weighed on the page"
_PAIR = ["t(0).0", "t(0).1"]
"""Two T9000s of a board with one C104 between them: through three, one virtual link could not carry 7.0
MB/s."""


def _ping_pong(effort: Effort) -> Scenario:
    program = {"kind": "ping-pong", "size": f"{WORD_BYTES} B", "pairs": [_PAIR], "rounds": 1000}
    times: dict[str, Any] = {"warmup_ms": 0.1, "measure_ms": effort.time_ms(2.0, 0.5)}
    return networks.scenario("ping-pong", program, protocol=settings.TWO_NODES, **times)


def _stream(effort: Effort, virtual_links: int = 1, **changed: Any) -> Scenario:
    protocol = settings.setting(1, virtual_links, 1) | changed
    ends = {"sources": _PAIR[:1], "targets": _PAIR[1:]}
    program = {"kind": "fixed-pairs", "size": "65536 B", "rounds": 0} | ends
    times: dict[str, Any] = {"warmup_ms": 0.1, "measure_ms": effort.time_ms(40.0, 10.0)}
    return networks.scenario("stream", program, protocol=protocol, **times)


def _others(effort: Effort) -> dict[str, Scenario]:
    """Return streams that are not scored: two virtual links, and both numbers by the other reading."""
    other = "acknowledged from the end, a node occupied for 4.57 us"
    return {
        "two virtual links": _stream(effort, 2),
        f"one virtual link, {other}": _stream(effort, 1, **settings.PIPELINED),
        f"two virtual links, {other}": _stream(effort, 2, **settings.PIPELINED),
    }


def scenarios(effort: Effort) -> list[Scenario]:
    """Return a message to and fro, and long messages one way."""
    return [_ping_pong(effort), _stream(effort), *_others(effort).values()]


def findings(lab: Lab) -> Findings:
    """Compare latency and bandwidth, and the time through the one switch.

    Messages do not overlap, so the number received in a time gives the time of one.
    """
    ping_pong, stream, *others = lab.measure(scenarios(lab.effort))
    values = {
        "message-latency": (WORD_BYTES / ping_pong.accepted_mbytes_per_s, TIMES),
        "link-payload-measured": (stream.accepted_mbytes_per_s, LOOP),
        "switch-latency": (_switch_us(), "forward_latency of the preset t9000-c104"),
    }
    printed = numbers("gpmimd")
    rows = [
        calibrated(printed[key], ours, near(printed[key], 0.01), parameter)
        for key, (ours, parameter) in values.items()
    ]
    for variant, one in zip(_others(lab.effort), others, strict=True):
        number, value = printed["link-payload-measured"], one.accepted_mbytes_per_s
        rows.append(reported(number, value, OTHERS, variant=variant))
    return Findings(rows=rows)


def _switch_us() -> float:
    """Return the time from head in to head out: header on the wire, decoding, path to the output."""
    tech = technology(networks.PRESET, {"flow_control": "ignored"})
    header_ps = tech.header_chars * tech.character_ps()
    return (header_ps + tech.decode_latency_ps + tech.forward_latency_ps) / 1e6
