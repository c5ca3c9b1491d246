"""A browser driven over the DevTools protocol: the Chromium of the machine, nothing downloaded."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_S = 90.0
SLOWED = float(os.environ.get("FABRILOOM_BROWSER_SLOWED", "1"))
"""How many times as slow as this machine the page runs: what holds on a slow one is tried with 6."""


class Tab:
    """One page."""

    def __init__(self, socket: ClientConnection, session: str, target: str) -> None:
        self._socket, self._session, self._number = socket, session, 0
        self.target = target
        self.complaints: list[str] = []
        """What the console said that is no plain message."""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol, and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, "sessionId": self._session}
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if answer.get("id") == self._number and answer.get("sessionId") == self._session:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(event["params"]["exceptionDetails"])[:500])
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.complaints.append(event["params"]["entry"]["text"])

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, f"{expression}: {found['exceptionDetails']}"
        return found["result"].get("value")

    def open(self, address: str, ready: str = "document.documentElement?.dataset.ready === 'yes'") -> None:
        """Go to an address and wait until our script has begun."""
        self.call("Page.navigate", url=address)
        self.until(ready)

    def until(self, expression: str, patience_s: float = PATIENCE_S) -> None:
        """Wait until an expression is true."""
        began = time.monotonic()
        while time.monotonic() - began < patience_s:
            if self.js(f"!!({expression})"):
                return
            time.sleep(0.05)
        raise AssertionError(
            f"never came true: {expression}; the console says: {self.complaints};"
            f" the page says: {self.js('document.body.innerText')[:1500]}"
        )

    def click(self, selector: str) -> None:
        """Press a button as a hand does: where it is, once it can be pressed."""
        found = f"document.querySelector({selector!r})"
        self.until(f"{found} && !{found}.disabled && {found}.checkVisibility()")
        place = self.js(
            f"(() => {{ const e = {found}; e.scrollIntoView({{block: 'center'}});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        self.press(*place)

    def press(self, x: float, y: float) -> None:
        """Click at a place of the window, which comes to the front: one behind another hears of no clicks."""
        self.call("Page.bringToFront")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def point(self, x: float, y: float) -> None:
        """Move the pointer to a place of the window."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, key: str) -> None:
        """Press a key that has a name."""
        more = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **_code(key), **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, **_code(key))

    def text(self, selector: str) -> str:
        """What stands in an element."""
        return str(self.js(f"document.querySelector({selector!r})?.innerText ?? ''"))

    def size(self, wide: int, high: int) -> None:
        """Another size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=False
        )

    def dark(self, dark: bool) -> None:
        """Dark or light."""
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def picture(self, path: Path, whole: bool = False) -> None:
        """A picture of what is to be seen."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


def _code(key: str) -> dict[str, int]:
    """The number that the browser itself goes by for keys such as Tab."""
    codes = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36}
    codes |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
    return {"windowsVirtualKeyCode": codes[key]}


class Browser:
    """A running browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._number = socket, 1_000_000

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if answer.get("id") == self._number:
                return answer["result"]

    def tab(self) -> Tab:
        """A new, empty tab with a storage of its own."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self._socket, session, target)
        for domain in ("Page", "Runtime", "Log"):
            tab.call(f"{domain}.enable")
        tab.size(1280, 900)
        if SLOWED > 1:
            tab.call("Emulation.setCPUThrottlingRate", rate=SLOWED)
        return tab

    def close(self, tab: Tab) -> None:
        """Close a tab as a hand does."""
        self._call("Target.closeTarget", targetId=tab.target)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser without a window, with a profile of its own."""
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(prefix="fabriloom-browser-", ignore_cleanup_errors=True) as profile:
        command = [
            PROGRAM,
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"),
            *("--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={profile}"),
            # A tab behind another one must be as quick as that.
            *("--disable-renderer-backgrounding", "--disable-background-timer-throttling"),
            "--disable-backgrounding-occluded-windows",
            "about:blank",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            address = _address(Path(profile) / "DevToolsActivePort", process)
            with connect(address, max_size=None) as socket:
                yield Browser(socket)
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(file: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the browser listens: it writes that down when it is ready."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_S and process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            port, path = file.read_text().split()
            return f"ws://127.0.0.1:{port}{path}"
        time.sleep(0.05)
    raise AssertionError("the browser did not start")
