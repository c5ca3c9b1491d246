"""The laboratory as its tests look at it: its server, scenarios for it, what a hand and an eye do there."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fabriloom.page.server import configured

from .browser import Tab

SMALL = """name = "Mine"
[topology]
kind = "crossbar"
terminals = 5
[traffic]
load = 0.3
[run]
duration = "2 ms"
precision = 0.0
"""
LONG = SMALL.replace('"2 ms"', '"200 s"').replace("= 5", "= 30")
BRIDGE = """[topology]
kind = "sci-bridge"
terminals = 3
[traffic]
load = 0.1
[run]
duration = "100 us"
precision = 0.0
"""
DONE = "document.querySelector('#status').textContent === 'Done.'"
QUIET = (
    "document.querySelector('#status').textContent === '' && !document.querySelector('#run').disabled"
    " && !document.querySelector('#player').hidden"
)
"""Its packets have come as well."""
VIEW = "laboratory.player.views()[0]"


def go(tab: Tab, button: str = "run") -> None:
    """Press a button that runs something, and wait until it is done."""
    tab.click(f"#{button}")
    tab.until(DONE)


def slide(tab: Tab, value: int, where: str = "#traffic") -> None:
    """Move the first slider of a place."""
    tab.js(
        f"(() => {{ const s = document.querySelector('{where} input'); s.value = {value};"
        " s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def show(tab: Tab, what: str) -> None:
    """Show packets or the use of links."""
    tab.click(f"#view label:has([value={what}])")
    tab.until(f"document.body.dataset.view === {what!r}")


def coloured(tab: Tab, *rgb: int) -> int:
    """Pixels of the canvas that have a colour."""
    red, green, blue = rgb
    return int(
        tab.js(
            f"(() => {{ const c = {VIEW}.canvas, of = c.getContext('2d');"
            " const d = of.getImageData(0, 0, c.width, c.height).data; let n = 0;"
            f" for (let at = 0; at < d.length; at += 4)"
            f" n += d[at] === {red} && d[at + 1] === {green} && d[at + 2] === {blue}; return n; }})()"
        )
    )


def dropping(files: dict[str, str]) -> str:
    """What drops files on the page, as an expression of it."""
    return (
        "(() => { const data = new DataTransfer();"
        f" for (const [name, text] of Object.entries({json.dumps(files)}))"
        " data.items.add(new File([text], name));"
        " dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true})); })()"
    )


def drop(tab: Tab, name: str, text: str, **others: str) -> None:
    """Drop files on the page, and wait until it reads them: until then it shows what it did before."""
    turn = tab.js("laboratory.state.turn")
    tab.js(dropping({name: text, **others}))
    tab.until(f"laboratory.state.turn > {turn}")


def drop_once_running(tab: Tab, name: str, text: str) -> None:
    """Drop a file in the moment in which the page hears that something runs: it may be over when we ask."""
    tab.js(
        "Object.defineProperty(laboratory.state, 'running', {configurable: true, get: () => false,"
        " set: value => { if (!value) return;"
        " Object.defineProperty(laboratory.state, 'running', {value, writable: true});"
        f" {dropping({name: text})}; }}}})"
    )


KEYS: dict[int, str] = {}
"""By the port of a server the key of its address."""


def at(port: int, path: str) -> str:
    """A path of the server at a port, with its key."""
    return f"/{KEYS[port]}{path}"


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The application on a free port, in a thread: the port."""
    running = uvicorn.Server(configured(app, port=0))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    port = running.servers[0].sockets[0].getsockname()[1]
    KEYS[port] = app.state.key
    yield port
    running.should_exit = True
    thread.join()
