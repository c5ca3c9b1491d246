"""The wheel of `make dist` in an empty environment, without cargo, compiler or repository, as users have it.

Not part of `make test`: see `make test-dist`.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import tarfile
import tempfile
import tomllib
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

pytestmark = pytest.mark.installed

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
BLOCK = re.compile(r"<!-- (?P<mark>file: \S+|run) -->\n```\w*\n(?P<body>.*?)^```", re.M | re.S)
SIZES = """
import json
from importlib.metadata import distributions
sizes = {}
for one in distributions():
    files = [file.locate() for file in one.files or ()]
    sizes[one.name.lower().replace("_", "-")] = sum(file.stat().st_size for file in files if file.is_file())
print(json.dumps(sizes))
"""
TOLERANCE = 0.25
"""Of a size on the page: other machines get other builds of the libraries."""


def only(pattern: str) -> Path:
    found = list(DIST.glob(pattern))
    assert len(found) == 1, f"{DIST}: {found}; call make test-dist"
    return found[0]


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (one for one in files.namelist() if one.endswith(".dist-info/METADATA"))
        return message_from_bytes(files.read(name))


class Installed:
    """An environment in which the wheel is installed, and no program but its own is found."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.bin = folder / "bin"
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "CARGO", "RUST", "VIRTUAL_ENV"))
        } | {"PATH": str(self.bin)}
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        constraints = ["--constraint", str(ROOT / "requirements.txt")]
        self.run(folder, str(self.bin / "python"), *pip, *constraints, str(only("fabriloom-*.whl")))

    def run(self, folder: Path, *command: str) -> str:
        """What a program prints; it must end with 0."""
        program = [str(self.bin / command[0]), *command[1:]]
        done = subprocess.run(
            program, cwd=folder, env=self.environment, capture_output=True, text=True, timeout=500
        )
        assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def follow(self, folder: Path, page: Path, most: int = 100) -> list[str]:
        """Do what a page says: write its files and run its commands, the first ``most`` of its blocks."""
        said = []
        for block in [*BLOCK.finditer(page.read_text(encoding="utf-8"))][:most]:
            if block["mark"].startswith("file: "):
                (folder / block["mark"].removeprefix("file: ")).write_text(block["body"], encoding="utf-8")
                continue
            for line in block["body"].splitlines():
                if command := shlex.split(line, comments=True):
                    said.append(self.run(folder, *command))
        return said


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("environment"))


def test_it_is_the_package_and_not_the_repository(installed: Installed, tmp_path: Path) -> None:
    asked = "import fabriloom, shutil; print(fabriloom.__file__, shutil.which('cargo'), shutil.which('cc'))"
    place, *programs = installed.run(tmp_path, "python", "-c", asked).split()
    assert Path(place).is_relative_to(installed.bin.parent)
    assert programs == ["None", "None"]


def test_the_network_of_the_readme_runs(installed: Installed, tmp_path: Path) -> None:
    checked, ran, saturated = installed.follow(tmp_path, ROOT / "README.md", most=2)
    assert "deadlock" in checked
    assert "MB/s" in ran
    assert "MB/s" in saturated
    assert (tmp_path / "result" / "report.html").stat().st_size > 100_000
    installed.run(tmp_path, "fabriloom", "replay", "my-network.toml", "--out", "replay.html")
    assert (tmp_path / "replay.html").stat().st_size > 100_000


def test_a_design_is_found(installed: Installed, tmp_path: Path) -> None:
    (said,) = installed.follow(tmp_path, ROOT / "docs" / "guides" / "design.md", most=2)
    assert "CHF" in said
    assert (tmp_path / "answer" / "report.html").exists()


def test_a_paper_has_the_same_numbers_as_in_the_repository(installed: Installed, tmp_path: Path) -> None:
    """Those of its quick runs, also where the model and the paper disagree; they are a wheel of their own."""
    paper = "scinet-testbeds"
    asked = [str(installed.bin / "fabriloom"), "reproduce", paper]
    without = subprocess.run(asked, env=installed.environment, capture_output=True, text=True, timeout=60)
    assert (without.returncode, without.stdout) == (2, "")
    assert "fabriloom[papers]" in without.stderr
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    installed.run(tmp_path, "python", *pip, str(only("fabriloom_papers-*.whl")))
    found = json.loads(installed.run(tmp_path, "fabriloom", "reproduce", paper, "--quick", "--json"))
    ours = {one["id"]: one["ours"] for one in found if one["ours"] is not None}
    with (ROOT / "docs" / "reproduction" / "numbers.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["id"].startswith(f"{paper}.") and row["ours"]]
    assert len(rows) > 20
    assert ours == pytest.approx({row["id"]: float(row["ours"]) for row in rows}, rel=1e-3)


@pytest.fixture
def address(installed: Installed, tmp_path: Path) -> Iterator[str]:
    command = [str(installed.bin / "fabriloom"), "page", "--port", "0", "--no-browser"]
    environment = installed.environment | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().rpartition(" ")[2].strip()
    process.terminate()
    process.wait(20)


def test_the_laboratory_opens(address: str) -> None:
    with urllib.request.urlopen(address, timeout=20) as answer:
        assert b"laboratory" in answer.read()


def test_what_it_takes_is_as_the_page_says(installed: Installed, tmp_path: Path) -> None:
    sizes = json.loads(installed.run(tmp_path, "python", "-c", SIZES))
    mega = {
        name: size / 1e6
        for name, size in sizes.items()
        if name not in ("pip", "setuptools", "fabriloom-papers")
    }
    page = (ROOT / "docs" / "guides" / "install.md").read_text(encoding="utf-8")
    sentence = re.search(r"takes (\d+) MB in all.* Polars is (\d+), numpy (\d+) and `fabriloom` (\d+)", page)
    assert sentence
    polars = mega["polars"] + mega["polars-runtime-32"]
    takes = [sum(mega.values()), polars, mega["numpy"], mega["fabriloom"]]
    assert [float(said) for said in sentence.groups()] == pytest.approx(takes, rel=TOLERANCE), mega


def test_its_metadata_say_what_it_is(tmp_path: Path) -> None:
    wheel = only("fabriloom-*.whl")
    said = metadata_of(wheel)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    assert re.findall(r"^version: (.*)$", cited, re.M) == [cargo["version"]] == [said["version"]]
    assert said["license-expression"] == cargo["license"]
    assert said["author"] == "Fabriloom developers"
    assert len(said.get_all("license-file") or []) >= 8
    assert not said.get_all("project-url")
    assert "Typing :: Typed" in (said.get_all("classifier") or [])
    assert "-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        assert {"fabriloom/py.typed", "fabriloom/page/scenarios/level-2.toml"} <= set(names)
        assert len({one.date_time for one in files.infolist()}) == 1
        made = [name for name in names if name.endswith(".so") or ".dist-info/" in name]
        content = b"".join(files.read(name) for name in made)
    for folder in (Path.home() / ".cargo", ROOT, Path(tempfile.gettempdir())):
        assert f"{folder}/".encode() not in content


def test_the_wheel_is_made_of_the_packed_sources(tmp_path: Path) -> None:
    """Nothing that Python needs is left out of the pack, and nothing of ours is in it by chance."""
    with tarfile.open(only("*.tar.gz")) as pack, zipfile.ZipFile(only("fabriloom-*.whl")) as wheel:
        packed = {name.partition("/python/")[2] for name in pack.getnames() if "/python/fabriloom/" in name}
        held = {name for name in wheel.namelist() if ".dist-info/" not in name and not name.endswith(".so")}
    assert held == packed
    tracked = subprocess.run(
        ["git", "ls-files", "python"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert packed == {line.removeprefix("python/") for line in tracked.stdout.splitlines()}
