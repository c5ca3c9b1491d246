"""Parameters that are known come back, and programs that were not fitted are told in advance.

Files of others: what is read from them, and what is said of those that are cut short or are none.

The measured event building of an XC40: what is found in it, and the frozen numbers for more senders.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.test_cli import command
from fabriloom import Scenario, curve, load, run
from fabriloom.cli import exits
from fabriloom.fit import FitError, fit, imports, samples, work
from fabriloom.fit.model import flit_of
from fabriloom.output import Plain
from fabriloom.results.files import put_text
from fabriloom_papers import event_building
from fabriloom_papers.published import measured

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
    swept = calibrated(tmp_path / "swept", known)  # of several sizes no one verdict tells all
    told = json.loads(command("compare", tmp_path / "own.json", swept, "--json").stdout)["verdicts"]
    assert told["own"]
    assert not told["swept"]
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


def test_noise_makes_no_link_faster(tmp_path: Path) -> None:
    """2 us and 0.5 ns a byte, a gap of 0.5 us and as much a byte, each with 1 % of noise; seeds are fixed."""
    found = []
    for seed in range(20):
        dice, lines = random.Random(seed), ["bytes,half_round_us,gap_us"]
        for size in SIZES:
            times = (2 + 0.0005 * size, 0.5 + 0.0005 * size)
            lines.append(",".join([str(size), *(str(time * dice.gauss(1, 0.01)) for time in times)]))
        (tmp_path / "times.csv").write_text("\n".join(lines), encoding="utf-8")
        found.append(fit([tmp_path / "times.csv"]).model.byte_ns)
    assert np.mean(found) == pytest.approx(0.5, rel=0.007)


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


LATENCY = """# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
0                       1.60
1                       1.62
1024                    2.31
"""
BANDWIDTH = """# OSU MPI Bandwidth Test v5.9
# Size      Bandwidth (MB/s)
1                       3.20
1024                 2048.00
"""
RATE = """# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 1 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
8                      64.00        8000000.00
"""
NETGAUGE = """# Info:  (0): netgauge v2.4.6, pattern loggp
L=2.1000 s=1 o_s=0.4000 o_r=0.5000 g=1.2000 G=0.0000 (inf GiB/s) lsqu(g,G)=0.0
L=2.1000 s=1001 o_s=0.6000 o_r=0.5000 g=1.2000 G=0.0004 (2.33 GiB/s) lsqu(g,G)=0.0
"""
CSV = "bytes,half_round_us,gap_ns\n1,1.5,400\n0,1.4,\n4096,3.5,1900\n"


def values(folder: Path, text: str, name: str = "a.txt") -> dict[str, dict[int, float]]:
    (folder / name).write_text(text, encoding="utf-8")
    found = imports.read(folder / name).values
    return {key: {size: pytest.approx(one) for size, (one, _) in rows.items()} for key, rows in found.items()}


def test_what_is_read(tmp_path: Path) -> None:
    assert values(tmp_path, LATENCY) == {"half_round": {1: 1620.0, 1024: 2310.0}}
    assert values(tmp_path, BANDWIDTH) == {"gap": {1: 312.5, 1024: 500.0}}
    assert values(tmp_path, RATE) == {"gap": {8: 125.0}}
    both = f"2 nodes\n{LATENCY}\n{BANDWIDTH.replace('OSU MPI', 'OSU MPI-CUDA')}"
    assert values(tmp_path, both) == values(tmp_path, LATENCY) | values(tmp_path, BANDWIDTH)
    found = values(tmp_path, NETGAUGE)
    assert found["send"] == {1: 400.0, 1001: 600.0}
    assert found["gap"] == {1: 1200.0, 1001: 1600.0}
    assert found["half_round"] == {1: 3000.0, 1001: 3600.0}
    assert values(tmp_path, CSV, "a.csv") == {
        "half_round": {1: 1500.0, 4096: 3500.0},
        "gap": {1: 400.0, 4096: 1900.0},
    }


def told_of(folder: Path, changed: Mapping[int, tuple[float | None, float]], sizes: list[int]) -> Any:
    """A machine of half a round of 1500 ns + 0.25 ns/B and a train of 300 ns + 0.25 ns/B, some changed."""
    rows = []
    for size in sizes:
        known = (1500 + 0.25 * size, 300 + 0.25 * size)
        rows.append(",".join("" if one is None else str(one) for one in (size, *changed.get(size, known))))
    path = folder / "known.csv"
    path.write_text("\n".join(["bytes,half_round_ns,gap_ns", *rows]) + "\n", encoding="utf-8")
    found = fit([path])
    return found.model, "\n".join(found.told())


def test_what_the_measurements_do_not_tell_is_said(tmp_path: Path) -> None:
    sizes = [1, 64, 1024, 4096, 16384, 65536, 262144, 1048576]
    model, told = told_of(tmp_path, {}, sizes)
    assert (model.byte_ns, model.latency_ns) == (pytest.approx(0.25, 1e-3), pytest.approx(1500, abs=5))
    assert not re.search("G may be|rests|was|off the line|too slow", told)
    for quantity, values in (("train", (17884.0, 8342.0)), ("ping-pong", (16100.0, 16684.0))):
        model, told = told_of(tmp_path, {65536: values}, sizes)
        assert (model.byte_ns, model.latency_ns) == (pytest.approx(0.25, 1e-3), pytest.approx(1500, abs=5))
        assert re.search(f"{quantity}.*: at 65,536 B off the line of its neighbours", told)
        assert ("too slow: the network alone takes up to 1," in told) == (quantity == "ping-pong")
    model, told = told_of(tmp_path, {1048576: (263644.0, 131000.0)}, sizes)
    assert (
        "G rests on one value, time per message of a train, g + G n, at 1,048,576 B: without it, 0.25" in told
    )
    # All of a short message's gap is more than the time of its bytes; the latency is what is left.
    model, told = told_of(tmp_path, {64: (1500.0, 300.0)}, [64])
    assert model.byte_ns == pytest.approx(300 / 64)
    assert model.latency_ns == pytest.approx(1200, abs=10)
    assert "G may be less" in told
    assert "half a round of ping-pong: 1 size kept as a table" in told
    model, told = told_of(tmp_path, {64: (200.0, 1000.0)}, [64])
    assert model.byte_ns == pytest.approx(200 / 64)
    assert "too slow" not in told
    long = {size: (None, 300 + 0.25 * size) for size in sizes[4:]}
    assert "measured up to 4,096 B: from there to 1,048,576 B" in told_of(tmp_path, long, sizes)[1]
    none = {size: (None, 300 + 0.25 * size) for size in sizes}
    assert "half a round was not measured" in told_of(tmp_path, none, sizes)[1]


@pytest.mark.parametrize("byte_ns", [1e-3, 0.0037, 0.08, 1 / 3, 4.6875, 123.4])
def test_a_flit_has_the_rate_and_is_short(byte_ns: float) -> None:
    flit, cycle_ps = flit_of(1000 * byte_ns)
    assert cycle_ps / flit == pytest.approx(1000 * byte_ns, rel=1e-3 if byte_ns > 0.0039 else 1e-2)
    assert cycle_ps <= max(8000, 4000 * byte_ns)


def test_several_files_make_one_model(tmp_path: Path) -> None:
    for name, text in (("latency.txt", LATENCY), ("bw.txt", BANDWIDTH)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = fit([tmp_path / "latency.txt", tmp_path / "bw.txt"])
    assert found.model.samples.sources == ["latency.txt", "bw.txt"]
    assert [row.gap for row in found.model.rows] == pytest.approx([312.5, 500.0])
    with pytest.raises(FitError, match="nothing says how often messages can be sent"):
        fit([tmp_path / "latency.txt"])


WRONG = {
    "cut.txt": (LATENCY[:-3], 'cut.txt:6: "1024                    2.": the file is cut short here'),
    "word.txt": (
        LATENCY.replace("1.62", "nan?"),
        'word.txt:5: "1                       nan?": 2 numbers are expected',
    ),
    "unit.txt": (LATENCY.replace("(us)", "(ms)"), 'OSU prints us here, not "ms"'),
    "twice.csv": ("bytes,gap_us\n1,1\n1,9\n", "twice.csv:3: gap_us at 1 B is a second value"),
    "units.csv": ("bytes,gap_us,gap_ns\n1,1,9\n", "units.csv:2: gap_ns at 1 B is a second value"),
    "unread.csv": ("bytes,gap_us,send_usec\n1,1,1\n", 'column "send_usec"'),
    "short.txt": (LATENCY + "2048\n", 'short.txt:7: "2048": the file is cut short here'),
    "none.txt": (LATENCY[:60], "none.txt: it has no values"),
    "zero.txt": (BANDWIDTH.replace("3.20", "0.00"), "zero.txt:3: 0 is not a measured value"),
    "huge.txt": (LATENCY + "1e999 2\n", "huge.txt:7: inf is not a message size"),
    "late.txt": (LATENCY + "2048 1e999\n", "late.txt:7: inf is not a measured value"),
    "multi.txt": (LATENCY.replace("Latency Test", "Multi Latency Test"), "is of several at once"),
    "pairs.txt": (
        RATE.replace("pairs: 1", "pairs: 4"),
        "pairs.txt:1: OSU MPI Multiple Bandwidth / Message Rate Test of 4 pairs is of several at once",
    ),
    "typed.txt": (
        RATE.replace("pairs: 1", "pairs: 4").replace("# [", "# Datatype: MPI_CHAR.\n# ["),
        "typed.txt:1: OSU MPI Multiple Bandwidth / Message Rate Test of 4 pairs is of several at once",
    ),
    "types.txt": (LATENCY + LATENCY[28:].replace("CHAR", "INT"), "types.txt:10: a second latency at 1 B"),
    "all.txt": (
        LATENCY + LATENCY.replace("MPI Latency", "MPI Allreduce Latency"),
        "all.txt:7: OSU MPI Allreduce Latency Test says nothing of single messages",
    ),
    "put.txt": (LATENCY.replace("MPI Lat", "MPI_Put Lat"), "says nothing of single messages"),
    "ibcast.txt": ("# OSU MPI Allgather v7.4\n1 2\n", "says nothing of single messages"),
    "loggp.txt": ("# netgauge v2.4.6\nnothing\n", "loggp.txt: netgauge printed no LogGP parameters here"),
    "empty.csv": ("", "empty.csv: it has no values"),
    "columns.csv": ("bytes,gap\n1,2\n", 'columns.csv:1: not a table of measured values: column "gap"'),
    "cell.csv": ("bytes,gap_us\n1,two\n", 'cell.csv:2: gap_us cannot be "two"'),
    "cells.csv": ("bytes,gap_us\n1\n", "cells.csv:2: 1 cells, the header has 2"),
    "size.csv": ("bytes,gap_us\n1.5,2\n", "size.csv:2: 1.5 is not a message size"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name: str, tmp_path: Path) -> None:
    text, said = WRONG[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FitError) as caught:
        imports.read(tmp_path / name)
    message = str(caught.value)
    assert said in message.splitlines()[0]
    assert message.splitlines()[1].startswith("  = ")


def test_a_whole_round_is_not_taken_for_half_of_one(tmp_path: Path) -> None:
    (tmp_path / "rtt.csv").write_text("bytes,rtt_us\n8,3\n", encoding="utf-8")
    with pytest.raises(FitError, match="half of a round trip, so halve its times"):
        imports.read(tmp_path / "rtt.csv")


DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLE = DOCS / "generated" / "event-building-xc40.csv"
PAGE = DOCS / "background" / "event-building-xc40.md"


def test_the_gap_and_the_change_of_protocol_are_found() -> None:
    (curve,) = event_building.model().curves.values()
    first, change = curve.lines[0], curve.jumps()[-1]
    assert (first.first, first.last) == (2.0, 1024.0)
    assert first.base == pytest.approx(2352, abs=1)
    assert first.slope * 256 < 0.02 * first.base
    assert change == (4096.0, 8192.0, pytest.approx(-first.base, rel=0.01))
    assert len(measured(event_building.DATA)) == 22
    # A bend of 7 % between two protocols is no value off its line.
    assert not event_building.model().samples.odd("turn").any()


def rows() -> list[dict[str, float]]:
    """The table that is kept."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def test_the_table_has_the_numbers_of_the_model() -> None:
    """Those of 16 senders by the model's own arithmetic, all others by runs of some sizes."""
    kept = {row["bytes"]: row for row in rows()}
    assert list(kept) == [int(row["bytes"]) for row in measured(event_building.DATA)]
    for size in (2, 4096, 8192):
        (ours,) = event_building.table([size])
        assert kept[size] == pytest.approx(ours, rel=1e-3), size


def test_the_page_shows_rows_of_the_table() -> None:
    shown = re.findall(r"^\| [\d,]+ \|.*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    kept = [list(row.values()) for row in rows()]
    assert len(shown) == 6
    for line in shown:
        cells = [float(re.sub(r"[^\d.+-]", "", cell)) for cell in line.strip("|").split("|")]
        deviation = cells.pop(3)
        assert cells in kept
        assert deviation == pytest.approx(100 * (cells[2] / cells[1] - 1), abs=0.15)


def test_the_order_of_the_receivers_makes_no_difference() -> None:
    assert event_building.round_us(16, 8192, "same") == pytest.approx(
        event_building.round_us(16, 8192), rel=0.01
    )
