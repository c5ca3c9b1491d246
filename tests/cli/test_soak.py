"""Commands interrupted at random moments, and many runs in one process: as long as one likes."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fabriloom import load, simulate

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("FABRILOOM_SOAK_SECONDS", "30"))
SMALL = """
name = "Small"
[topology]
kind = "crossbar"
terminals = 6
[traffic]
length = "32 B"
load = 0.2
[run]
duration = "20 ms"
warmup = "2 ms"
precision = 0
[output]
trace = true
[variants.longer]
"traffic.length" = "64 B"
"""
COMMANDS = (
    ["run", "FILE"],
    ["curve", "FILE", "--loads", "0.1,0.2,0.3,0.4,0.5,0.6"],
    ["compare", "FILE", "--loads", "0.1,0.3"],
    ["saturate", "FILE"],
    ["reproduce", "sci-retry", "--quick"],
)
UNSTEADY = re.compile(r'"(?:wall_s|events_per_s|packet_hops_per_s)": [0-9.e+-]+')
GROWTH_MB = 30.0


def results(out: Path) -> str:
    """What a result says, without the time that it took."""
    name = "reproduction.json" if (out / "reproduction.json").exists() else "summary.json"
    text = (out / name).read_text(encoding="utf-8")
    assert json.loads(text)
    return UNSTEADY.sub("", text)


def begun(folder: Path, words: list[str]) -> tuple[random.Random, list[str], float]:
    """Chance, a command without ``--out``, and the seconds it takes; its results are in ``whole``."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    file = str(folder / "small.toml")
    command = [sys.executable, "-m", "fabriloom", *(file if word == "FILE" else word for word in words)]
    began = time.monotonic()
    subprocess.run([*command, "--out", str(folder / "whole")], check=True, capture_output=True)
    return random.Random(seed), command, time.monotonic() - began


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_ctrl_c_at_any_moment_ends_a_command(tmp_path: Path, words: list[str]) -> None:
    """With 130 and partial results, unless only its results were left to write; it never is a fault."""
    drawn, command, took_s = begun(tmp_path, words)
    presses, out, until = 0, tmp_path / "out", time.monotonic() + SECONDS / len(COMMANDS)
    while time.monotonic() < until:
        with subprocess.Popen(
            [*command, "--out", str(out), "--force"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            time.sleep(drawn.uniform(0.05, 0.9) * took_s)
            process.send_signal(signal.SIGINT)
            said = process.communicate()[1]
        presses += 1
        assert process.returncode in (0, 130, -signal.SIGINT), said
        assert process.returncode or results(out) == results(tmp_path / "whole")
        assert "fault" not in said
        assert "Traceback" not in said or process.returncode == -signal.SIGINT  # before the command began
    print(f"{presses} presses")


def memory_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1000


def test_memory_is_constant_over_many_runs(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    scenario: Any = load(file, ["run.duration=2 ms", "run.warmup=0 ns", "traffic.load=0.9"])
    for _ in range(50):
        simulate.run(scenario).to_json()
    before, runs, until = memory_mb(), 0, time.monotonic() + SECONDS
    while time.monotonic() < until:
        simulate.run(scenario).to_json()
        runs += 1
    assert memory_mb() - before < GROWTH_MB
    print(f"{runs} runs")
