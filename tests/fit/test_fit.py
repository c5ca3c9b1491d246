"""Parameters that are known come back, and programs that were not fitted are told in advance."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.test_cli import command
from fabriloom import Scenario, curve, load, run
from fabriloom.cli import exits
from fabriloom.fit import FitError, fit, samples, work
from fabriloom.output import Plain
from fabriloom.results.files import put_text

SIZES = [1, 16, 128, 512, 2048, 4096, 8192, 16384, 65536, 262144]
JUMP = 8192
"""From this size on the drawn machines send in another way."""
HOST = ("send_time", "receive_time", "packet_time")
MEASURED = {"mpi": "an MPI", "transport": "shared memory", "ranks": 2, "cores": 2, "crowded": False}
"""What a measurement tells of itself, as far as a fit reads it; what lacks one of these is refused."""


@pytest.mark.parametrize(
    ("value", "text"),
    [(13710.3, "13,710"), (-970.34, "-970.3"), (0.25, "0.25"), (-1547.2, "-1,547"), (2e8, "200,000,000")],
)
def test_numbers_have_no_exponents(value: float, text: str) -> None:
    assert work.figures_text(value) == text


def machine(dice: random.Random) -> dict[str, Any]:
    """A crossbar with hosts whose times are two lines in the size of a message."""

    def line(base: int, slope: float) -> list[str]:
        return [f"{round(base + slope * size)} ns" for size in ends]

    flit, cycle = dice.choice([(40, 10), (16, 8), (64, 10), (8, 16)])
    byte_ns = cycle / flit
    rows = []
    for ends in ((1, JUMP - 1), (JUMP, SIZES[-1])):
        # What a byte costs is seen either in half a round or in a train: elsewhere it could not be found.
        fill, apart = dice.choice([(0.0, 1.0), (0.5, 1.0), (0.0, 1.2)])
        send, receive = dice.randrange(200, 900), dice.randrange(200, 900)
        columns = {
            "send_time": line(send, 0.0 if ends[0] > 1 else 0.1),
            "receive_time": line(receive, 0.0),
            "packet_time": line(dice.randrange(0, 150), fill * byte_ns),
            "send_gap_time": line(dice.randrange(1000, 2500), apart * byte_ns),
        }
        for number, size in enumerate(ends):
            rows.append(
                {"message": f"{size} B", **{name: column[number] for name, column in columns.items()}}
            )
    technology = {"preset": "generic", "cycle": f"{cycle} ns", "flit": f"{flit} B", "router_cycles": 0}
    host, gap = (sum(int(rows[0][name].split()[0]) for name in names) for names in (HOST, ["send_gap_time"]))
    # Where a message came back before the next one may be sent, rounds would tell nothing of the latency.
    least = (gap / 2 - host) / (2 * cycle)
    technology |= {"link_cycles": max(dice.randrange(20, 80), round(least) + 5), "next_head_cycles": 0}
    technology |= {"input_buffer_flits": 400, "output_buffer_flits": 16}
    return {"technology": technology, "protocol": {"packet": "16777216 B", "by_size": rows}}


def at(known: dict[str, Any], column: str, size: int) -> float:
    """A time of a machine, in nanoseconds."""
    rows = known["protocol"]["by_size"]
    sizes = [int(row["message"].split()[0]) for row in rows]
    return float(np.interp(size, sizes, [int(row[column].split()[0]) for row in rows]))


def written(folder: Path, known: dict[str, Any], program: dict[str, Any], **more: Any) -> Path:
    """A program simulated on a machine, as ``--out`` writes it."""
    limits = {"duration": "100 s"}
    of = Scenario.from_dict(
        {"topology": {"kind": "crossbar", "terminals": 4}, **known, "program": program, "run": limits, **more}
    )
    results: Any = curve(of) if more else run(of)
    files = Plain(folder)
    folder.mkdir()
    put_text(files, "summary.json", results.to_json())
    put_text(files, "scenario.resolved.json", json.dumps(of.resolve()))
    return folder


def calibrated(folder: Path, known: dict[str, Any]) -> Path:
    program = {"kind": "logp", "size": "1 B", "rounds": 4, "train": 8, "pause": "1 ms"}
    return written(folder, known, program, sweep={"program.size": [f"{size} B" for size in SIZES]})


@pytest.mark.seeds
def test_parameters_that_are_known_come_back(seeds: Any, tmp_path: Path) -> None:
    """Lines with whole nanoseconds: each time within 1 %, or 4 ns; no chance, so no false alarm."""
    for seed in seeds(4):
        known = machine(random.Random(seed))
        found = fit([calibrated(tmp_path / f"{seed}", known)])
        byte_ns = int(known["technology"]["cycle"].split()[0]) / int(known["technology"]["flit"].split()[0])
        assert found.model.byte_ns == pytest.approx(byte_ns, rel=0.02), seed
        assert not found.model.receiver_limits
        for row in found.model.rows:
            if row.size in (JUMP - 1, *range(4097, JUMP - 1)):
                continue  # where the jump is between two sizes is not known
            send, gap = (at(known, name, row.size) for name in ("send_time", "send_gap_time"))
            assert row.send == pytest.approx(send, abs=4.0, rel=0.01), (seed, row)
            # What is left of half a round, whose line is known within 0.2 %, is shared between these two.
            left = 0.004 * found.model.curves["half_round"].at(row.size)
            assert row.receive == pytest.approx(at(known, "receive_time", row.size), abs=8 + left), (
                seed,
                row,
            )
            assert row.gap == pytest.approx(gap, abs=4.0, rel=0.01), (seed, row)
        jumps = [jump for one in found.model.curves.values() for jump in one.jumps()]
        assert {(low, high) for low, high, _ in jumps} <= {(4096.0, 8192.0)}, seed


PREDICTED: dict[str, dict[str, Any]] = {
    "funnel-in": {"kind": "funnel-in", "size": "2 kB", "rounds": 10},
    "all-to-all": {"kind": "all-to-all", "size": "20 kB", "rounds": 6},
    "random-pairs": {"kind": "random-pairs", "size": "700 B", "messages": 30},
    "level-3": {"kind": "level-3", "fragment": "30 kB", "events": 12},
    "barrel-shifter": {"kind": "barrel-shifter", "fragment": "1 kB", "events": 12, "slot": "5 us"},
}


def test_other_programs_are_told_in_advance(tmp_path: Path) -> None:
    known = machine(random.Random(7))
    folders = [written(tmp_path / name, known, program) for name, program in PREDICTED.items()]
    found = fit([calibrated(tmp_path / "logp", known), *folders])
    times = [one for one in found.predictions if one.quantity == "time of the whole program"]
    assert [one.program for one in times] == list(PREDICTED)
    for one in times:
        assert abs(one.deviation) < 0.03, one


def test_the_preset_is_used_by_a_scenario(tmp_path: Path) -> None:
    known = machine(random.Random(3))
    folder = calibrated(tmp_path / "logp", known)
    assert command("fit", str(folder), "--out", str(tmp_path / "fit")).exit_code == exits.OK
    text = """
[topology]
kind = "crossbar"
terminals = 6
[technology]
preset_file = "fit/fitted.toml"
[protocol]
preset_file = "fit/fitted.toml"
messages_at_once = 2
[program]
kind = "ping-pong"
size = "500 B"
rounds = 10
"""
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    scenario = load(tmp_path / "own.toml")
    resolved = scenario.resolve()
    assert "preset_file" not in json.dumps(resolved)
    assert resolved["protocol"]["messages_at_once"] == 2
    assert Scenario.from_dict(resolved).sha256 == scenario.sha256
    ours = run(scenario).summary["rounds"]["ns_mean"]
    theirs = run(Scenario.from_dict({**resolved, **known})).summary["rounds"]["ns_mean"]
    assert ours == pytest.approx(theirs, rel=0.01)
    page = (tmp_path / "fit" / "report.html").read_text(encoding="utf-8")
    assert "Times by size" in page


def test_results_stand_beside_scenarios(tmp_path: Path) -> None:
    known = machine(random.Random(5))
    program = {"kind": "ping-pong", "size": "1 kB", "rounds": 5}
    folder = written(tmp_path / "there", known, program)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    summary["measured"] = MEASURED | {"noise": 0.1}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    own = {"topology": {"kind": "crossbar", "terminals": 4}, **known, "program": program}
    (tmp_path / "own.json").write_text(json.dumps(own), encoding="utf-8")
    out = tmp_path / "out"
    done = command("compare", tmp_path / "own.json", folder, "--out", out, "--json")
    assert done.exit_code == exits.OK
    points = json.loads(done.stdout)["points"]
    assert [point["settings"]["scenario"] for point in points] == ["own", "there, measured"]
    assert points[0]["rounds"] == points[1]["rounds"]
    assert (out / "report.html").is_file()
    wrong = command("compare", tmp_path / "own.json", tmp_path)
    assert wrong.exit_code == exits.MISTAKE
    assert "summary.json: cannot be read" in wrong.stderr


def test_lines_go_as_far_as_the_noise_lets_them() -> None:
    sizes = np.array([1.0, 10, 100, 1000, 2000, 4000, 8000])
    straight = 100 + 0.5 * sizes
    one = samples.fit(sizes, straight, np.full(7, 1.0))
    assert [(line.base, line.slope) for line in one.lines] == [(pytest.approx(100), pytest.approx(0.5))]
    bent = np.where(sizes < 2000, straight, straight - 600)
    two = samples.fit(sizes, bent, np.full(7, 1.0))
    assert [line.points for line in two.lines] == [4, 3]
    assert two.jumps() == [(1000.0, 2000.0, pytest.approx(-600, abs=2))]
    table = samples.fit(sizes, np.array([5.0, 900, 3, 700, 1, 950, 4]), np.full(7, 0.1))
    assert all(line.is_table for line in table.lines)
    assert table.at(1000.0) == pytest.approx(700, abs=0.2)


def refused(*paths: Path) -> str:
    with pytest.raises(FitError) as caught:
        fit(list(paths))
    return str(caught.value)


def test_what_cannot_be_fitted_is_told(tmp_path: Path) -> None:
    known = machine(random.Random(1))
    other = written(tmp_path / "funnel", known, PREDICTED["funnel-in"])
    assert "only what is to be predicted" in refused(other)
    (other / "summary.json").write_text("{", encoding="utf-8")
    assert refused(other).splitlines()[0].endswith("summary.json: not JSON, or cut short")
    assert "cannot be read" in refused(tmp_path / "none")
    folder = calibrated(tmp_path / "logp", known)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    summary["points"][0]["measured"] = MEASURED | {"ranks": 8, "crowded": True}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    assert "8 processes shared 2 cores" in refused(folder)
