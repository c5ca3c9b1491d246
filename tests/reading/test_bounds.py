"""Files that are small and would take minutes or gigabytes are refused at once."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
from fabriloom.scenario import ScenarioError, load

GRID = '[topology]\nkind = "grid"\nshape = [4, 4]\n'
CASES = {
    "wrong-keys.yaml": "topology: {kind: grid, shape: [4, 4]}\n" + "".join(f"k{i}: 1\n" for i in range(2000)),
    "wrong-keys.json": '{"topology": 1,' + ",".join(f'"k{i}": 1' for i in range(20_000)) + "}",
    "wrong-keys.toml": GRID + "".join(f"k{i} = 1\n" for i in range(5000)),
    "brackets.yaml": "topology: " + "[" * 100_000 + "\n",
    "brackets.json": "[" * 100_000,
    "brackets.toml": "x = " + "[" * 100_000,
    "steps.toml": GRID + "a." * 20_000 + "b = 1\n",
    "many-steps.toml": GRID + "".join(f"k{i}" + ".a" * 70 + " = 1\n" for i in range(3000)),
    "swept-steps.toml": GRID + '[sweep]\n"' + "a." * 20_000 + '" = [1, 2, 3]\n',
    "swept-list.toml": GRID
    + "[traffic.pattern]\nkind = 'permutation'\nmap = ["
    + "1, " * 20_000
    + '1]\n[sweep]\n"traffic.load" = ['
    + "0.5, " * 9999
    + "0.5]\n",
}


@pytest.mark.parametrize("name", CASES)
def test_refused_quickly(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(CASES[name], encoding="utf-8")
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(ScenarioError):
        load(file)
    took_s = time.process_time() - began
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took_s < 20  # under a second on a quiet machine, some times that while memory is traced
    assert peak_bytes < 200e6


def test_counted_mistakes(tmp_path: Path) -> None:
    """All mistakes are counted, although only some are looked up."""
    file = tmp_path / "wrong.toml"
    file.write_text(CASES["wrong-keys.toml"], encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load(file)
    assert str(caught.value).endswith("and 4997 more mistakes")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ScenarioError, match="a pipe or a device"):
        load(tmp_path / "pipe.toml")
