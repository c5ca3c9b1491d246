"""What users turn on costs little where it has nothing to do: counted in machine instructions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benches" / "features.py"


@pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind counts instructions, and is not installed"
)
def test_features_that_are_nearly_free_stay_so() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--quick"], capture_output=True, text=True, check=False)
    assert "factor" in done.stdout, done.stderr
    assert done.returncode == 0, done.stdout
