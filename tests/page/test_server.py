"""The server of the laboratory: who may use it, what it refuses, and that it survives its workers."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fabriloom import load
from fabriloom.page import limits, shelf
from fabriloom.page.choices import chosen, controls
from fabriloom.page.limits import Refusal
from fabriloom.page.live import describe
from fabriloom.page.server import _SCRIPTS, application
from fabriloom.scenario import ScenarioError, json_schema
from fabriloom.scenario.load import FILE_KEYS

from .laboratory import at, served

PATIENCE_S = 90.0
SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
APP = application()
SMALL = """
name = "Small"
[topology]
kind = "crossbar"
terminals = 4
[run]
duration = "1 ms"
precision = 0.0
"""
LARGE = '[topology]\nkind = "grid"\nshape = [100, 100]\nterminals_per_switch = 2\n'
LONG = SMALL.replace("1 ms", "100 s").replace("terminals = 4", "terminals = 30")


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """The server on a free port, in a thread."""
    with served(APP) as port:
        yield port


def ask(
    port: int, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, str], Any]:
    """One request as our page makes it, or with other headers; a header of "" is left out."""
    sent = {"host": f"127.0.0.1:{port}", "origin": f"http://127.0.0.1:{port}"}
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    if method == "POST":
        sent |= {"content-type": "application/json", "content-length": str(len(data or b""))}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, at(port, path), skip_host=True, skip_accept_encoding=True)
    for name, value in sent.items():
        if value:
            connection.putheader(name, value)
    connection.endheaders(data)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    kept = {name.lower(): value for name, value in answer.getheaders()}
    return answer.status, kept, json.loads(content) if "json" in kept.get("content-type", "") else content


class Listener:
    """The events of a session."""

    def __init__(self, port: int, session: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.connection.request("GET", at(port, f"/api/events?session={session}"))
        self.answer = self.connection.getresponse()

    def until(self, kind: str) -> dict[str, Any]:
        """The next message of a kind."""
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE_S:
            line = self.answer.readline()
            assert line, "the stream ended"
            if line.startswith(b"data: "):
                message = json.loads(line[6:])
                if message["type"] == kind:
                    return message
        raise AssertionError(f"no message of type {kind} came")

    def close(self) -> None:
        self.connection.close()


@contextlib.contextmanager
def session(port: int) -> Iterator[tuple[str, Listener]]:
    name = ask(port, "POST", "/api/session", {})[2]["session"]
    listener = Listener(port, name)
    try:
        yield name, listener
    finally:
        ask(port, "POST", "/api/cancel", {"session": name})
        listener.close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example:80"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"host": "127.0.0.1:80, evil.example"}, 421),
        ({"host": "localhost:80@evil.example"}, 421),
        ({"host": "evil.example:80@localhost:80"}, 421),
        ({"host": "localhost:"}, 421),
        ({"host": "[::1]:8x"}, 421),
        ({"host": ""}, 400),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
        ({"transfer_encoding": "chunked", "content_length": ""}, 411),
        ({"sec_fetch_site": "cross-site", "origin": ""}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": ""}, 415),
        ({"content_length": "999999999"}, 413),
    ],
)
def test_only_our_own_page_is_served(server: int, headers: dict[str, str], status: int) -> None:
    # A server that has closed the connection of a request without Host answers what comes later by a reset.
    body = None if status == 400 else b"{}"
    found, _, answer = ask(server, "POST", "/api/session", body, **headers)
    assert found == status
    assert status == 400 or answer["error"]


@pytest.mark.parametrize("start", ["", "/", "/wrong", "/" + "x" * 24, "//", "/%2e%2e"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/api/shelf"), ("POST", "/api/session")])
def test_nothing_is_served_without_the_key(server: int, start: str, method: str, path: str) -> None:
    """Another program on this machine can send every header that a browser does."""
    before = len(APP.state.sessions._open)
    connection = http.client.HTTPConnection("127.0.0.1", server, timeout=30)
    headers = {"origin": f"http://127.0.0.1:{server}", "content-type": "application/json"}
    connection.request(method, start + path, b"{}" if method == "POST" else None, headers)
    answer = connection.getresponse()
    assert (answer.status, b"contains a key" in answer.read()) == (403, True)
    assert len(APP.state.sessions._open) == before


def test_a_key_is_of_one_server() -> None:
    keys = {application().state.key for _ in range(8)}
    assert len(keys) == 8
    assert min(map(len, keys)) >= 24


def test_the_name_of_this_machine_is_good_too(server: int) -> None:
    name = f"localhost:{server}"
    assert ask(server, "GET", "/api/shelf", host=name, origin=f"http://{name}")[0] == 200
    assert ask(server, "GET", "/api/shelf", host=name, origin=f"http://127.0.0.1:{server}")[0] == 403
    for plain in ("localhost", "127.0.0.1"):  # what a browser says of port 80
        assert ask(server, "GET", "/api/shelf", host=plain, origin=f"http://{plain}")[0] == 200


def test_pages_can_fetch_nothing_from_elsewhere(server: int) -> None:
    total = 0
    scripts = tuple(f"{name}.js" for name in (*_SCRIPTS, "reach", "charts.min"))
    for path in ("/", *(f"/page/{name}" for name in (*scripts, "page.css", "style.css"))):
        status, headers, content = ask(server, "GET", path)
        total += len(content)
        assert status == 200
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert b"https://" not in content.replace(b"https://echarts.apache.org", b"") or "charts.min" in path
    assert total < 1_500_000


@pytest.mark.parametrize(
    "name", ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "server.py", "shelf.toml"]
)
def test_no_other_file_is_given_out(server: int, name: str) -> None:
    assert ask(server, "GET", f"/page/{name}")[0] == 404


FIRST = {"file": "a.toml", "text": SMALL}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 50_000, "not JSON"),
        (b'{"first": ' + b"1" * 5000 + b"}", "not JSON"),
        (b"[]", "not a table"),
        (b'{"first": {"file": "a.toml", "text": "\\ud800"}}', "A character in this request is incomplete"),
        ({"first": 3}, "no scenario"),
        ({"first": {}}, "no scenario"),
        ({"first": {"file": "a.toml"}}, "no scenario"),
        ({"first": {"shelf": ["x"]}}, "are texts"),
        ({"first": {"file": 1, "text": SMALL}}, "are texts"),
        ({"first": {"file": "a.toml", "text": {}}}, "are texts"),
        ({"first": FIRST, "beside": 1}, "no scenario"),
        ({"first": {**FIRST, "settings": [1]}}, "a table of paths"),
        ({"first": {**FIRST, "settings": "x"}}, "a table of paths"),
        ({"first": {**FIRST, "settings": {"technology.lanes": [[[[[1]]]]]}}}, "a table of paths"),
        (b'{"first": {"text": "", "settings": {"traffic.load": 1e999}}}', "a table of paths"),
        (b'{"first": {"text": "", "settings": {"traffic.load": NaN}}}', "a table of paths"),
        ({"first": {**FIRST, "settings": {"": 1}}}, "words with dots"),
        ({"first": {**FIRST, "settings": {"traffic..load": 1}}}, "words with dots"),
    ],
)
def test_nonsense_is_answered(server: int, body: Any, words: str) -> None:
    status, _, answer = ask(server, "POST", "/api/look", body)
    assert (status, words in answer["error"]) == (400, True), answer


@pytest.mark.parametrize(
    "settings",
    [
        {"topology": 3},
        {"topology": None},
        {"topology.kind.x.y": 1},
        {"topology.kind": None},
        {"seed.x": 1},
        {"name": 10**400},
        {"variants.x": "y"},
        {"run.duration": True},
        {"traffic.load": -1e308},
        {"routing.path": "x"},
        {"technology.preset_file": "x"},
        {"x" * 1000: 1},
        {".".join("x" * 3000): 1},
    ],
)
def test_settings_that_mean_nothing_are_a_mistake_and_no_fault(server: int, settings: dict[str, Any]) -> None:
    answer = ask(server, "POST", "/api/look", {"first": {**FIRST, "settings": settings}})[2]
    assert answer["type"] == "error" or answer["type"] == "look", answer
    assert not answer.get("text", "").startswith("fault: ")


def look(port: int, text: str, name: str = "mine.toml") -> dict[str, Any]:
    return ask(port, "POST", "/api/look", {"first": {"file": name, "text": text}})[2]


def test_a_mistake_is_shown_as_the_command_shows_it(server: int) -> None:
    text = look(server, SMALL.replace("crossbar", "crosbar"))["text"]
    assert text.startswith('error: mine.toml:4:8: unknown kind "crosbar"')
    assert "^^^^^^^^^" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[topology]\nkind = \"file\"\npath = \"/etc/passwd\"\n", "does not have this file"),
        (SMALL + "[traffic]\npattern = {kind = \"matrix\", path = \"x.csv\"}\n", "does not have this file"),
        (SMALL + "[technology]\npreset_file = \"/etc/passwd\"\n", "does not have this file"),
        (SMALL + "[routing]\nkind = \"table\"\npath = \"x.csv\"\n", "does not have this file"),
        (SMALL.replace("terminals = 4", "terminals = 20"), ""),
        (LARGE, "20,000 terminals"),
    ],
)  # fmt: skip
def test_what_the_page_does_not_take_is_said(server: int, text: str, words: str) -> None:
    answer = look(server, text)
    assert words in answer.get("text", "") if words else answer["type"] == "look"


def test_every_field_that_names_a_file_is_known() -> None:
    """The page refuses files by these names, in uploaded scenarios and in settings."""
    found: set[str] = set()

    def walk(value: Any, name: str = "") -> None:
        if isinstance(value, dict):
            if value.get("maxLength") == 4096:
                found.add(name)
            for key, inner in value.items():
                walk(inner, name if key in ("anyOf", "oneOf", "allOf") else key)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, name)

    walk(json_schema())
    assert found == set(FILE_KEYS)


@pytest.mark.parametrize(
    "settings",
    [
        {"traffic.pattern.path": "/etc/passwd"},
        {"topology": {"path": "x"}},
        {"traffic.pattern.flows": [{"path": "x"}]},
    ],
)
def test_settings_name_no_files_either(settings: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        chosen({"file": "a.toml", "text": SMALL, "settings": settings})


@pytest.mark.parametrize("entry", shelf.listed(), ids=lambda entry: entry["name"])
def test_the_shelf_can_be_used(entry: dict[str, Any]) -> None:
    """Every entry says what to look for, has controls that work, a second fabric, and can be saved."""
    assert len(entry["look"]) > 150
    first = chosen({"shelf": entry["name"]})
    second = chosen({"shelf": entry["name"], "settings": entry["beside"]}, first)
    assert second.scenario.sha256 != first.scenario.sha256
    saved = tomllib.loads(describe(first)["text"])
    assert saved == first.written
    for control in controls(first.scenario):
        settings = control["options"][-1]["settings"]
        assert chosen({"shelf": entry["name"], "settings": settings}).scenario.resolve()


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_scenario_of_the_folder_can_be_dropped_on_the_page(path: Path) -> None:
    """All but those that name other files are looked at; programs and rings have controls of their own."""
    spec = {"file": path.name, "text": path.read_text(encoding="utf-8")}
    if "path =" in spec["text"]:
        with pytest.raises(ScenarioError, match="does not have this file"):
            chosen(spec)
        return
    found = describe(chosen(spec))
    assert found["svg"].startswith("<svg")
    assert found["controls"]


def test_a_saved_scenario_is_the_one_that_was_shown(tmp_path: Any) -> None:
    settings = {"traffic.load": 0.35, "routing.adaptive": False, "technology.input_buffer": "64 B"}
    shown = chosen({"shelf": "teaching-adaptive.toml", "settings": settings})
    path = tmp_path / "saved.toml"
    path.write_text(describe(shown)["text"], encoding="utf-8")
    assert load(path).sha256 == shown.scenario.sha256


def test_the_second_fabric_has_the_traffic_of_the_first() -> None:
    first = chosen({"shelf": "teaching-head-of-line.toml", "settings": {"traffic.load": 0.25}})
    second = chosen({"shelf": "macrame-clos-256.toml"}, first).scenario
    assert second.traffic == first.scenario.traffic
    assert (second.topology.kind, second.seed) == ("clos", first.scenario.seed)


def test_mistakes_of_a_second_fabric_are_said() -> None:
    rings = {"shelf": "teaching-sci-starvation.toml"}
    with pytest.raises(ScenarioError):
        describe(chosen({"shelf": "macrame-clos-256.toml"}, chosen(rings)))


def test_a_run_is_told_while_it_goes_on_and_afterwards(server: int) -> None:
    with session(server) as (name, listener):
        job = {"session": name, "do": "run", "first": {"file": "a.toml", "text": SMALL}}
        assert ask(server, "POST", "/api/begin", job)[0] == 200
        end = listener.until("live")
        assert end["end"]["reason"] == "time_limit"
        assert len(end["busy"]) == 8
        assert listener.until("done")["report"]
        listener.until("idle")
        late = Listener(server, name)
        assert late.until("state")["running"] is False
        assert late.until("live")["facts"] == end["facts"]
        late.close()
        status, headers, report = ask(server, "GET", f"/api/report?session={name}")
        assert (status, report[:15]) == (200, b"<!doctype html>")
        assert "attachment" in headers["content-disposition"]


def test_a_replay_keeps_what_the_run_before_it_showed(server: int) -> None:
    with session(server) as (name, listener):
        job = {"session": name, "do": "run", "first": {"file": "a.toml", "text": SMALL}}
        ask(server, "POST", "/api/begin", job)
        measured = listener.until("done")
        listener.until("idle")
        for wrong in (-1, "1", True, 1e300):
            status, _, answer = ask(server, "POST", "/api/begin", {**job, "do": "replay", "from_ms": wrong})
            assert (status, "must be 0 ms or more" in answer["error"]) == (400, True)
        ask(server, "POST", "/api/begin", {**job, "do": "replay", "from_ms": 0.5})
        assert listener.until("replay")["from_ns"] == 5e5
        assert listener.until("done")["report"] is measured["report"] is True
        listener.until("idle")
        late = Listener(server, name)
        assert late.until("live")["end"]["reason"] == "time_limit"
        assert late.until("replay")["rows"] > 10
        late.close()


def test_one_run_a_tab_and_it_is_cancelled_at_once(server: int) -> None:
    with session(server) as (name, listener):
        job = {"session": name, "do": "run", "first": {"file": "a.toml", "text": LONG}}
        ask(server, "POST", "/api/begin", job)
        listener.until("live")
        status, _, answer = ask(server, "POST", "/api/begin", job)
        assert (status, "Cancel it first" in answer["error"]) == (409, True)
        began = time.monotonic()
        ask(server, "POST", "/api/cancel", {"session": name})
        assert listener.until("done")["why"] == "cancelled"
        assert time.monotonic() - began < 3.0
        listener.until("idle")


def test_a_killed_worker_is_said_and_replaced(server: int) -> None:
    with session(server) as (name, listener):
        job = {"session": name, "do": "run", "first": {"file": "a.toml", "text": LONG}}
        ask(server, "POST", "/api/begin", job)
        listener.until("live")
        worker = APP.state.sessions.get(name).worker
        os.kill(worker.pid, signal.SIGKILL)
        assert "SIGKILL" in listener.until("error")["text"]
        listener.until("idle")
        job["first"] = {"file": "a.toml", "text": SMALL}
        assert ask(server, "POST", "/api/begin", job)[0] == 200
        assert listener.until("done")["report"]


def test_a_run_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    from fabriloom.page import jobs

    monkeypatch.setattr(limits, "RUN_S", 0.2)
    said: list[dict[str, Any]] = []
    clock = jobs.Clock(threading.Event(), limits.RUN_S)
    scenario = chosen({"file": "a.toml", "text": LONG}).scenario
    results = jobs._watched(0, scenario, said.append, clock)
    assert results.end_reason == "interrupted"
    assert clock.why().startswith("Stopped after")
    assert said[-1]["end"]["reason"] == "interrupted"


def test_the_busiest_bus_is_said_of_rings_that_have_buses() -> None:
    from fabriloom.page import jobs

    for name, has_buses in (("sci-omega-16-ringlet", True), ("sci-ring-8", False)):
        said: list[dict[str, Any]] = []
        scenario = chosen({"shelf": f"{name}.toml", "settings": {"run.duration": "50 us"}}).scenario
        found = jobs._watched(0, scenario, said.append, jobs.Clock(threading.Event(), limits.RUN_S))
        busiest = max(found.buses["utilisation"], default=0.0)
        assert said[-1]["bus"] == pytest.approx(busiest)
        assert (busiest > 0) == has_buses


@pytest.mark.parametrize(("name", "listed"), [("teaching-adaptive", 0), ("teaching-sci-starvation", 7)])
def test_who_got_how_much_is_said_of_those_who_sent(name: str, listed: int) -> None:
    """Terminals that a permutation leaves alone are no victims; those that were starved are listed with 0."""
    from fabriloom.page import jobs

    said: list[dict[str, Any]] = []
    scenario = chosen({"shelf": f"{name}.toml", "settings": {"run.duration": "2 ms"}}).scenario
    jobs._watched(0, scenario, said.append, jobs.Clock(threading.Event(), limits.RUN_S))
    assert len(said[-1]["sources"]) == listed


def test_a_session_that_is_not_known_is_said(server: int) -> None:
    assert ask(server, "POST", "/api/begin", {"session": "x", "do": "run", "first": {}})[0] == 404
    assert ask(server, "GET", "/api/events?session=x")[0] == 204
    assert ask(server, "GET", "/api/report?session=x")[0] == 404
