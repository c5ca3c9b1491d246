"""Programs over a real MPI: what is delivered, how it ends, what is refused. Times are not looked at."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabriloom import Results, Scenario, load, run
from fabriloom.measure import MeasureError, Settings, launch, measure, records
from fabriloom.measure.plan import Plan, plan
from fabriloom.output import Pieces
from fabriloom.report import for_run
from fabriloom.results import columns
from programs.common import READY, operations, programs, scenario

MPI = pytest.mark.skipif(
    not (Path(sys.executable).parent / "mpiexec").is_file() or importlib.util.find_spec("mpi4py") is None,
    reason="no MPI is installed here (make setup-measure)",
)
PYTHON = [sys.executable, "-P", "-m", "fabriloom.measure.runner"]
QUICK = Settings(warm_ups=0, rounds=1, oversubscribe=True, patience_s=30)
FEW = {"kind": "crossbar", "terminals": 2}
SIZES = {"topology": FEW, "program": {"kind": "ping-pong", "size": "8 B", "rounds": 3}}
SIZES["sweep"] = {"program.size": ["1 B", "64 B", "100 kB"]}
SUPERVISED = {"level-2, supervised", "credit"}
SEVERAL = {"level-2", "level-2, attempted", "level-3, some"}


@pytest.fixture(scope="module", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The runner in C, compiled for the first measurement and taken for all."""
    folder = tmp_path_factory.mktemp("runner")
    once = cache(partial(launch.compiled, folder=folder))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launch, "compiled", lambda mpicc, _: once(mpicc))
        yield


def planned(program: dict[str, Any], repeats: int = 1, patience_s: int = 9) -> Plan:
    """The plan of a program for two terminals."""
    protocol = {"messages_at_once": 0, "programmed": False}
    return plan(programs(program, FEW), protocol, warm_ups=0, repeats=repeats, patience_s=patience_s)


def small(name: str) -> Scenario:
    """A ready program for as few terminals as it can do with."""
    program = dict(READY[name])
    if name in SUPERVISED:
        program["sources"] = 1
    if name == "ping-pong":
        program["pairs"] = 1
    terminals = 3 if name in SUPERVISED else 4 if name in SEVERAL else 2
    return scenario(program, {"kind": "crossbar", "terminals": terminals})


def measured(of: Scenario, **more: Any) -> Results:
    found = measure(of, Settings(**{**QUICK.__dict__, **more})).run
    assert found is not None
    return found


@MPI
@pytest.mark.parametrize(
    ("name", "runner"),
    [
        *((name, "c") for name in READY),
        *((name, "python") for name in ("ping-pong", "credit", "pull-level-3")),
    ],
)
def test_every_ready_program_delivers_what_its_simulation_does(name: str, runner: str) -> None:
    found, ours = measured(small(name), runner=runner), run(small(name))
    for what in ("bytes_sent", "bytes_received"):
        assert found.hosts[what].to_list() == ours.hosts[what].to_list()
    for table in (found, ours):
        assert table.summary["end"]["reason"] == "drained"
    same = ("made", "sent", "received", "under_way", "lost", "repeated", "measured")
    assert [found.summary["messages"][key] for key in same] == [ours.summary["messages"][key] for key in same]
    assert found.summary["events"]["complete"] == ours.summary["events"]["complete"]
    assert len(found.marks) == len(ours.marks)
    assert found.messages["latency_ns"].min() > 0
    assert found.summary["measured"]["runner"] == runner


@MPI
def test_keys_and_tables_are_those_of_a_simulation() -> None:
    found, ours = measured(small("level-3")), run(small("level-3"))
    keys = columns.flatten(found.summary)
    assert sorted(keys) == sorted([*columns.flatten(ours.summary), *columns.MEASURED.names])
    assert found.events.columns == ours.events.columns
    assert found.hosts.columns == ours.hosts.columns
    assert found.hosts["receiving_ns"].null_count() == 2
    assert "How it was measured" in for_run(found)
    assert "drained" in repr(found)
    assert "through the memory of one machine" in found._repr_html_()


@MPI
def test_a_server_ends_when_all_is_at_rest_and_what_nobody_takes_is_counted() -> None:
    serve = ["repeat for ever", "receive any", "send sender 500 B tag same", "end"]
    ask = ["repeat 5", "send t.0 16 B tag 3", "receive t.0 tag 3", "end", "send t.2 70 kB"]
    found = measured(scenario(operations(t0=serve, t1=ask), {"kind": "crossbar", "terminals": 3}))
    assert found.hosts["bytes_received"].to_list() == [80, 2500, 70_000]


@MPI
def test_slots_block_and_flush_waits() -> None:
    send = ["repeat 20", "send t.1 300 kB", "end", "mark 1", "flush", "mark 2"]
    protocol = {"messages_at_once": 1}
    found = measured(
        scenario(operations(t0=send, t1=["repeat 20", "receive any", "end"]), FEW, protocol=protocol)
    )
    assert found.messages["sent_ns"].null_count() == 0
    ends, begins = found.messages["sent_ns"][:-1], found.messages["made_ns"][1:]
    assert (begins >= ends).all()
    (span,) = found.summary["spans"]
    assert (span["from"], span["to"], span["count"]) == (1, 2, 1)


@MPI
def test_a_sweep_goes_on_from_its_finished_points(tmp_path: Path) -> None:
    kept, told = Pieces.at(tmp_path / "points"), list[str]()
    of = Scenario.from_dict(SIZES)
    first = measure(of, QUICK, kept=kept)
    assert first.curve is not None
    sizes = [point.settings["program.size"] for point in first.curve.points]
    assert sizes == ["1 B", "64 B", "100 kB"]
    gone = sorted((tmp_path / "points").iterdir())[0]
    gone.unlink()
    second = measure(of, QUICK, kept=kept, progress=lambda done, of, what: told.append(what))
    assert second.curve is not None
    took = [
        [point.summary["simulated_ns"] for point in one.curve.points] for one in (first, second) if one.curve
    ]
    assert sum(one == other for one, other in zip(*took, strict=True)) == 2
    assert len(set(told)) == 1


@MPI
def test_an_interruption_between_two_points_keeps_the_finished_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[str] = []

    class Kept:
        def get(self, name: str) -> str | None:
            if len(put) == 2:
                raise KeyboardInterrupt
            return None

        def put(self, name: str, text: str) -> None:
            put.append(name)

    found = measure(Scenario.from_dict(SIZES), QUICK, kept=Kept())
    assert found.interrupted
    assert found.curve is not None
    assert len(found.curve.points) == 2


@MPI
def test_ctrl_c_keeps_the_finished_points(tmp_path: Path) -> None:
    many = {**SIZES, "sweep": {"program.size": [f"{size} B" for size in range(1, 60)]}}
    (tmp_path / "sizes.json").write_text(json.dumps(many), encoding="utf-8")
    options = ["--oversubscribe", "--rounds", "1", "--warm-ups", "0", "--out", "out"]
    command = [str(Path(sys.executable).parent / "fabriloom"), "measure", "sizes.json", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=tmp_path, text=True, **pipes)
    until = time.monotonic() + 300
    while not list(tmp_path.glob("out.partial/points/*")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=90)
    assert process.returncode == 130, said
    assert "The same command continues from here." in said
    assert "1 B" in printed
    assert list(tmp_path.glob("out/points/*.json"))


@MPI
def test_who_waits_is_told() -> None:
    """A program that ends when it is simulated, but not here: the first message is never sent."""
    wait = operations(t0=["wait 1 us", "send t.1 8 B"], t1=["receive any", "mark 0"])
    bad = planned(wait, patience_s=1)
    bad.columns[0][1] = 7  # the send becomes a mark
    command = launch.command(launch.mpi(), 2, PYTHON, [], Path(launch.__file__).parent, True)
    with pytest.raises(MeasureError, match=r"no progress for 1 s: t\.1 waits in its operation 1"):
        launch.run(command, bad, QUICK, ["t.0", "t.1"], lambda _: None)


@MPI
def test_processes_of_different_versions_do_not_work_together(monkeypatch: pytest.MonkeyPatch) -> None:
    two = ["-n", "1", *PYTHON, ":", "-n", "1", "env", "FABRILOOM_RUNNER_VERSION=7", *PYTHON]
    what = planned(READY["funnel-in"], repeats=1)
    with pytest.raises(MeasureError, match="the processes run different versions: that of process 1"):
        launch.run([launch.mpi().mpiexec, *two], what, QUICK, ["t.0", "t.1"], lambda _: None)


@MPI
def test_hosts_that_do_not_answer_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = [sys.executable, "-c", "import time; time.sleep(30)"]
    what = planned(READY["funnel-in"], repeats=1)
    began = time.monotonic()
    with pytest.raises(MeasureError, match="did not answer in time"):
        launch.run(
            [launch.mpi().mpiexec, "-n", "2", *slow],
            what,
            Settings(start_s=1),
            ["t.0", "t.1"],
            lambda _: None,
        )
    assert time.monotonic() - began < 20


@MPI
def test_what_the_launcher_says_is_told() -> None:
    what = planned(READY["funnel-in"])
    fails = [sys.executable, "-c", "import sys; sys.exit('ssh: connect to host node9 port 22: no route\\r')"]
    # The launcher itself can die of the pipe to its process, which is closed.
    message = r"ended with (1|-13) before .* it said: ssh: connect to host node9"
    with pytest.raises(MeasureError, match=message) as caught:
        launch.run([launch.mpi().mpiexec, "-n", "1", *fails], what, QUICK, ["t.0", "t.1"], lambda _: None)
    assert "`ssh HOST true` has to work" in str(caught.value)


def refused(of: Any, how: Settings = QUICK) -> str:
    with pytest.raises((MeasureError, ValueError)) as caught:
        measure(of if isinstance(of, Scenario) else scenario(of, FEW), how)
    return str(caught.value)


def test_what_is_no_measurement_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(launch, "cores", lambda: 2)
    monkeypatch.setattr("fabriloom.measure.work.cores", lambda: 2)
    many = scenario(READY["funnel-in"])
    assert "8 processes on 2 cores would not be a measurement" in refused(many, Settings())
    assert "--ranks 4: the program is for 8 terminals" in refused(many, Settings(ranks=4))
    (tmp_path / "hosts").write_text("# ours\nnode1:4\nnode2 slots=2\n", encoding="utf-8")
    assert "8 processes on the 6 of --hosts" in refused(many, Settings(hosts=tmp_path / "hosts"))
    (tmp_path / "hosts").write_text("node1:4\nnode 2:4:4\n", encoding="utf-8")
    assert 'hosts:2: "node 2:4:4" is not a host' in refused(many, Settings(hosts=tmp_path / "hosts"))
    (tmp_path / "hosts").write_text("no-such-host.invalid:8\n", encoding="utf-8")
    assert 'the host "no-such-host.invalid" is not known' in refused(many, Settings(hosts=tmp_path / "hosts"))
    assert "cannot be read" in refused(many, Settings(hosts=tmp_path / "none"))


def test_programs_that_cannot_be_measured_are_refused() -> None:
    each = operations(t0=["receive 1", "send 1 8 B"], t1=["receive 0", "send 0 8 B"])
    assert "this program would wait for ever: t.0: receive t.1; t.1: receive t.0" in refused(each)
    endless = scenario({"kind": "ping-pong", "size": "8 B", "rounds": 0}, FEW, run={"duration": "1 ms"})
    assert "does not come to its end within run.duration, 1 ms" in refused(endless)
    uneven = operations(t0=["barrier", "barrier"], t1=["barrier"])
    assert '"t.1" comes to 1 barriers and "t.0" to 2' in refused(uneven)
    assert "there is no program to be measured" in refused(Scenario.from_dict({"topology": FEW}))


def test_without_an_mpi_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    message = refused(small("ping-pong"))
    assert message.startswith("there is no MPI on this machine")
    assert "fabriloom[measure]" in message


def parts(times: list[tuple[int, int]], clocks: list[tuple[int, int, int, int]]) -> list[records.Part]:
    """One message from process 0 to 1: its ends, and the clocks."""
    made = np.array([[1, 8, -1, begin, begin, begin] for begin, _ in times])
    received = np.array([[0, 8, -1, end, end] for _, end in times])
    none = np.zeros((0, 2), np.int64)
    first = records.Part(0, 0, 1_000_000, clocks[0], made, np.zeros((0, 5), np.int64), none)
    return [first, records.Part(0, 0, 1_000_000, clocks[1], np.zeros((0, 6), np.int64), received, none)]


def test_clocks_are_brought_together_or_refused() -> None:
    what = planned(READY["funnel-in"], repeats=1)
    same = (0, 0, 0, 0)
    drifting = parts([(500_000, 500_300)], [same, (10**9, 50, 10**9 + 100, 50)])
    records.check_clocks(drifting, ["a", "b"])
    found = records.messages(drifting, what)
    assert found["received"].tolist() == [500_250]
    jumped = parts([(0, 9)], [same, (10**9, 50, 10**9 + 10**6, 50)])
    with pytest.raises(MeasureError, match=r"the clocks of a and b disagree: they moved by 1000 us"):
        records.check_clocks(jumped, ["a", "b"])


def test_what_is_not_delivered_is_found() -> None:
    what = planned(READY["funnel-in"], repeats=1)
    one = parts([(0, 9)], [(0, 0, 0, 0)] * 2)
    one[1].received[0, 1] = 9
    with pytest.raises(MeasureError, match="does not deliver what it is given"):
        records.messages(one, what)


def test_rounds_are_read_from_a_stream_that_ends_anywhere() -> None:
    what = planned(READY["funnel-in"], repeats=2)
    head = np.array([1, 0, 0, 5, 0, 90, 0, 0, 0, 0], np.int64).tobytes() + np.arange(6).tobytes()
    empty = np.array([0, 0, 0, 0, 0, 90, 0, 0, 0, 0], np.int64).tobytes()
    said = np.array([4], np.int64).tobytes() + b"MPI!" + np.array([3], np.int64).tobytes() + b"a\0\0b\0\0"
    stream = said + 2 * (head + empty)
    for cut in range(len(stream) + 1):
        rounds = records.Rounds(what)
        for at in range(0, cut, 7):
            rounds.feed(stream[at : min(at + 7, cut)])
        assert rounds.finished == max(0, cut - len(said)) // len(head + empty)
    assert rounds.complete
    assert (rounds.mpi, rounds.machines) == ("MPI!", ["a", "b"])


def test_the_file_of_a_scenario_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    program = 'kind = "ping-pong"\nsize = "8 B"\nrounds = 0\n'
    text = f'[topology]\nkind = "crossbar"\nterminals = 2\n[program]\n{program}'
    Path("endless.toml").write_text(text + '[run]\nduration = "10 us"\n', encoding="utf-8")
    assert refused(load("endless.toml")).startswith("endless.toml:4:2: this program does not come to its end")
