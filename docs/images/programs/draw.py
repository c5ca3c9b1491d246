"""Draws the pictures of ready programs: runs, a line per terminal, an arrow per message.

    .venv/bin/python docs/images/programs/draw.py

An arrow begins when its message is made and ends when it has been received; its colour is that of its event,
grey if it is of none, or that of its sender where there are no events.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from fabriloom import Results, Scenario, run

HERE = Path(__file__).resolve().parent
COLOURS = ("#0b6478", "#c8642d", "#6f4aa8", "#3f8f4f", "#b03a5b", "#8a7a1f")
INK, PALE, PAPER = "#1b2126", "#c9cdd0", "#fcfbf8"
WIDTH, LEFT, RIGHT, STEP, TOP, TITLE = 760, 96, 24, 34, 26, 22

HOST = {"send_time": "2 us", "receive_time": "1 us"}
PROGRAMS: dict[str, dict[str, Any]] = {
    "ping-pong": {"terminals": 4, "program": {"kind": "ping-pong", "size": "64 B", "rounds": 4, "pairs": 2}},
    "out-farming": {"terminals": 5, "program": {"kind": "out-farming", "size": "64 B", "rounds": 2}},
    "funnel-in": {"terminals": 5, "program": {"kind": "funnel-in", "size": "64 B", "rounds": 2}},
    "all-to-all": {
        "terminals": 4,
        "program": [
            {"kind": "all-to-all", "size": "64 B", "rounds": 1, "order": order}
            for order in ("random", "rotating", "same")
        ],
    },
    "pairs": {
        "terminals": 6,
        "program": [
            {"kind": "fixed-pairs", "size": "64 B", "rounds": 4},
            {"kind": "random-pairs", "size": "64 B", "messages": 5},
        ],
    },
    "rmap": {
        "terminals": 4,
        "program": {
            "kind": "rmap",
            "command": "read",
            "data": "64 B",
            "rounds": 2,
            "target_time": "2 us",
            "outstanding": 2,
        },
    },
    "level-2": {
        "terminals": 8,
        "program": {"kind": "level-2", "block": "64 B", "events": 5, "rate": "60 kHz", "blocks_per_event": 2},
    },
    "level-3": {
        "terminals": 7,
        "program": {"kind": "level-3", "fragment": "64 B", "events": 5, "rate": "40 kHz"},
    },
    "pull-level-3": {
        "terminals": 7,
        "program": {"kind": "pull-level-3", "fragment": "64 B", "events": 5, "requests_at_once": 2},
    },
    "barrel-shifter": {
        "terminals": 8,
        "program": {"kind": "barrel-shifter", "fragment": "64 B", "events": 6, "slot": "14 us"},
    },
    "credit": {"terminals": 7, "program": {"kind": "credit", "fragment": "64 B", "events": 5, "sources": 3}},
    "operations": {
        "terminals": 3,
        "program": {
            "kind": "operations",
            "terminals": [
                {
                    "terminal": 0,
                    "do": ["repeat for ever", "receive any", "send sender 500 B tag same", "end"],
                },
                {
                    "terminal": [1, 2],
                    "do": ["repeat 2", "send t.0 16 B tag 1", "receive t.0", "compute 20 us", "end"],
                },
            ],
        },
    },
}


def arrow(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    """A line with a head at its end."""
    length = max(1e-6, ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5)
    ahead_x, ahead_y = (to_x - x) / length, (to_y - y) / length
    back_x, back_y = to_x - 7 * ahead_x, to_y - 7 * ahead_y
    head = " ".join(
        f"{px:.1f},{py:.1f}"
        for px, py in (
            (to_x, to_y),
            (back_x - 2.8 * ahead_y, back_y + 2.8 * ahead_x),
            (back_x + 2.8 * ahead_y, back_y - 2.8 * ahead_x),
        )
    )
    return (
        f'<path d="M{x:.1f} {y:.1f}L{back_x:.1f} {back_y:.1f}" stroke="{colour}" stroke-width="1.5"/>'
        f'<polygon points="{head}" fill="{colour}"/>'
    )


def picture(name: str, terminals: int, program: dict[str, Any] | list[dict[str, Any]]) -> str:
    """A run of the program as SVG; of several programs one below the other, over the same time."""
    programs = program if isinstance(program, list) else [program]
    runs = [simulated(one, terminals) for one in programs]
    last_ns = max(one["received_ns"] for found in runs for one in found.messages.to_dicts())
    panel = STEP * terminals + (TITLE if len(runs) > 1 else 0)
    height = TOP + panel * len(runs) + 18
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="12" role="img">',
        f"<title>{escape(name)}: messages between terminals over time</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="{PAPER}"/>',
    ]
    for number, (one, found) in enumerate(zip(programs, runs, strict=True)):
        top = TOP + panel * number
        if len(runs) > 1:
            title = escape(one.get("order", one["kind"]))
            parts.append(f'<text x="{LEFT}" y="{top - 6}" fill="{INK}" font-weight="bold">{title}</text>')
            top += TITLE
        parts += drawn(found, top, (WIDTH - LEFT - RIGHT) / last_ns)
    end = f"{last_ns / 1000:.0f} µs"
    small = f'y="{height - 6}" fill="#6b7278" font-size="10"'
    parts.append(f'<text x="{LEFT}" {small}>0</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" {small} text-anchor="end">{end}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def simulated(program: dict[str, Any], terminals: int) -> Results:
    """A run of the program on one switch."""
    return run(
        Scenario.from_dict(
            {
                "topology": {"kind": "crossbar", "terminals": terminals},
                "protocol": {"preset": "spacewire", **HOST} if program["kind"] == "rmap" else HOST,
                "program": program,
                "output": {"messages": True},
            }
        )
    )


def drawn(found: Results, top: float, scale: float) -> list[str]:
    """The lines and arrows of a run, the first terminal at ``top``, a nanosecond ``scale`` wide."""
    messages, names = found.messages.to_dicts(), found.graph.terminal_names
    events = found.summary["events"]["count"]
    place = {terminal: top + STEP * number for number, terminal in enumerate(names)}
    parts = list[str]()
    for terminal, y in place.items():
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{PALE}"/>')
        role = _role(terminal, messages)
        parts.append(f'<text x="12" y="{y + 4}" fill="{INK}">{escape(terminal)}</text>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4}" fill="#6b7278" text-anchor="end" font-size="9">{role}</text>'
        )
    for one in messages:
        number = one["event"] if events else names.index(one["source"])
        colour = "#9aa1a6" if number is None else COLOURS[number % len(COLOURS)]
        begin, end = LEFT + one["made_ns"] * scale, LEFT + one["received_ns"] * scale
        parts.append(arrow(begin, place[one["source"]], end, place[one["target"]], colour))
    return parts


def _role(terminal: str, messages: list[dict[str, Any]]) -> str:
    sends = any(one["source"] == terminal for one in messages)
    takes = any(one["target"] == terminal for one in messages)
    return {(True, False): "sends", (False, True): "receives"}.get((sends, takes), "both" if sends else "")


if __name__ == "__main__":
    for title, settings in PROGRAMS.items():
        (HERE / f"{title}.svg").write_text(picture(title, **settings), encoding="utf-8")
