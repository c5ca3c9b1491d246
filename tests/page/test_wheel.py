"""The package as it is installed without the repository: the page has its scenarios there too."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from fabriloom.page import shelf

ROOT = Path(__file__).resolve().parents[2]
ASKED = """
import json, sys
from pathlib import Path
import fabriloom
from fabriloom.page import shelf
from fabriloom.page.choices import chosen
from fabriloom.page.live import describe
names = [entry["name"] for entry in shelf.listed()]
seen = [bool(describe(chosen({"shelf": name}))["svg"]) for name in names]
print(json.dumps({"from": str(Path(fabriloom.__file__).parent), "names": names, "seen": seen}))
"""


def test_every_scenario_of_the_page_is_one_of_the_folder() -> None:
    """Links to it, not copies; and none that is not offered."""
    text = (ROOT / "python/fabriloom/page/shelf.toml").read_text(encoding="utf-8")
    listed = [entry["file"] for entry in tomllib.loads(text)["entry"]]
    assert [entry["file"] for entry in shelf.entries()] == listed
    assert sorted(path.name for path in shelf.FOLDER.iterdir()) == sorted(listed)
    for path in shelf.FOLDER.iterdir():
        assert path.is_symlink()
        assert path.resolve() == ROOT / "scenarios" / path.name


@pytest.mark.skipif(
    importlib.util.find_spec("maturin") is None or shutil.which("cargo") is None,
    reason="without maturin and cargo no wheel is built",
)
def test_an_installed_package_has_them_too(tmp_path: Path) -> None:
    built = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--offline", "--quiet"]
    subprocess.run([*built, "--out", str(tmp_path)], cwd=ROOT, check=True, timeout=400)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    path = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=tmp_path, env=path, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found["from"] == str(installed / "fabriloom")
    assert found["names"] == [entry["file"] for entry in shelf.entries()]
    assert all(found["seen"])
