"""What other package systems are told of the package is what it says of itself; nothing is built here.

The package as it is installed without the repository: the page has its scenarios there too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from fabriloom.page import shelf

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "packaging/recipe.yaml").read_text(encoding="utf-8"))
IMAGE = (ROOT / "packaging/Containerfile").read_text(encoding="utf-8")


def spaced(requirement: str) -> str:
    """A requirement of Python in the form of conda: its name and its bounds."""
    return re.sub(r"(?<=\w)(?=[<>=])", " ", requirement, count=1)


def test_the_recipe_says_what_the_package_says() -> None:
    project, needs = PROJECT["project"], RECIPE["requirements"]
    python = f"python {project['requires-python']}"
    assert RECIPE["context"]["version"] == CARGO["version"]
    assert needs["run"] == [python, *map(spaced, project["dependencies"])]
    assert needs["host"] == [python, "pip", *map(spaced, PROJECT["build-system"]["requires"])]
    assert f"rust >={CARGO['rust-version']}" in needs["build"]
    about = RECIPE["about"]
    assert (about["summary"], about["license"]) == (project["description"], project["license"])
    assert all((ROOT / name).exists() for name in about["license_file"])
    assert (ROOT / "packaging" / RECIPE["source"]["path"] / "pyproject.toml").exists()


def test_what_the_recipe_tests_runs(tmp_path: Path) -> None:
    for line in RECIPE["tests"][1]["script"]:
        program, *words = shlex.split(line)
        done = subprocess.run([sys.executable, "-m", program, *words], cwd=tmp_path, capture_output=True)
        assert done.returncode == 0, f"{line}: {done.stderr.decode()}"


def test_the_image_is_made_of_what_is_there() -> None:
    found = re.search(r"^ARG PYTHON=(3\.\d+)$", IMAGE, re.M)
    assert found
    assert f"Programming Language :: Python :: {found[1]}" in PROJECT["project"]["classifiers"]
    copied = re.findall(r"^COPY (.*) \S+$", IMAGE, re.M)[0].split()
    assert [name for name in copied if not (ROOT / name).exists()] == ["dist/*.whl"]
    assert set(re.findall(r"--constraint (\S+)", IMAGE)) == {name for name in copied if name[0] == "r"}
    assert set(re.findall(r"whl\)\[(\w+)\]", IMAGE)) <= PROJECT["project"]["optional-dependencies"].keys()
    told = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--help"], capture_output=True, text=True
    ).stdout
    options = set(re.findall(r"--[a-z-]+", IMAGE.partition("pip install")[2].partition('"')[0]))
    assert options
    assert {one for one in options if one not in told} == set()


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
