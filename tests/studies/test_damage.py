"""Whatever becomes of a file of a study folder, no other point is lost and no answer is wrong.

On which files a stored result depends: a change of one of them, and none is served again.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from fabriloom.cli import exits
from fabriloom.studies import store
from fabriloom.studies.store import PACKAGE, sources, valid

from .small import command, text

SMALL = text("20 us", 1)
OTHER = SMALL.replace('"Small"', '"Other"').replace("from = 0.1", "from = 0.15")
SEARCH = (
    SMALL.split("[sweep]")[0].replace('"Small"', '"Search"')
    + """
[study.search]
maximise = "accepted_mbytes_per_s"
trials = 6
batch = 2
[study.search.over]
"traffic.load" = { from = 0.1, to = 0.9 }
"""
)
DAMAGES: dict[str, Callable[[bytes, random.Random], bytes | None]] = {
    "gone": lambda content, dice: None,
    "empty": lambda content, dice: b"",
    "cut": lambda content, dice: content[: len(content) // 2],
    "garbage": lambda content, dice: dice.randbytes(len(content)),
    "longer": lambda content, dice: content + b"}\0PK",
    "flipped": lambda content, dice: _flipped(content, dice.randrange(8 * len(content))),
    "flipped again": lambda content, dice: _flipped(content, dice.randrange(8 * len(content))),
    "flipped in the head": lambda content, dice: _flipped(
        content, dice.randrange(8 * min(100, len(content)))
    ),
}
COMMANDS = ("status", "status --json", "show", "show --json", "export", "pack", "clean", "resume", "run")


def _flipped(content: bytes, bit: int) -> bytes:
    at = bit // 8
    return content[:at] + bytes([content[at] ^ 1 << bit % 8]) + content[at + 1 :]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three studies, one of them a search, and points in files and in segments."""
    pytest.importorskip("optuna", reason="make setup-search")
    top = tmp_path_factory.mktemp("whole")
    for name, content in (("small", SMALL), ("other", OTHER), ("search", SEARCH)):
        (top / f"{name}.toml").write_text(content, encoding="utf-8")
    for name in ("small", "other", "search"):
        assert command("run", top / f"{name}.toml", "--out", top / "study").exit_code == exits.OK
        if name == "small":
            assert command("pack", top / "study").exit_code == exits.OK
    return top / "study"


def points(place: Path) -> set[str]:
    """The names of all points of a folder that can be read."""
    found = {path.name: path.read_bytes() for path in (place / "points").glob("*.json")}
    for path in (place / "segments").glob("*.zip"):
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                found[name] = packed.read(name)
    return {name for name, content in found.items() if valid(name, content.decode(errors="replace"))}


def answer(place: Path, words: str) -> tuple[int, str, bytes]:
    """The exit code of a command, what it printed, and what it wrote."""
    table = place.parent / "table.csv"
    table.unlink(missing_ok=True)
    name, *options = words.split()
    more = {
        "run": [place.parent / "small.toml", "--out", place],
        "export": [place, table, "--study", "Small"],
    }
    done = command(name, *more.get(name, [place]), *options)
    assert "Traceback" not in done.stderr
    return done.exit_code, done.stdout, table.read_bytes() if table.exists() else b""


@cache
def undamaged(whole: Path, top: Path, words: str) -> tuple[int, str, bytes]:
    """The answer of a copy that is as it should be."""
    shutil.rmtree(top, ignore_errors=True)
    shutil.copytree(whole.parent, top)
    return answer(top / whole.name, words)


def files(place: Path) -> list[str]:
    """All files that a folder consists of; reports are answers."""
    found = (path.relative_to(place) for path in sorted(place.rglob("*")) if path.is_file())
    return [str(path) for path in found if path.parts[0] not in ("reports", ".lock")]


def check(whole: Path, top: Path, name: str, damage: str, words: str, dice: random.Random) -> None:
    """Run a command in a copy of which one file is damaged, then mend the copy."""
    place = top / whole.name
    expected = undamaged(whole, top, words)
    shutil.rmtree(top, ignore_errors=True)
    shutil.copytree(whole.parent, top)
    changed = DAMAGES[damage]((place / name).read_bytes(), dice)
    (place / name).unlink()
    if changed is not None:
        (place / name).write_bytes(changed)
    code, *told = answer(place, words)
    context = f"{words} with {name} {damage}: {code} {told[0]}"
    assert (code, *told) == expected or code == exits.MISTAKE, context
    if code == exits.MISTAKE:
        assert not told[1], context
    if name.startswith("studies"):
        study = Path(name).stem.lower()
        assert command("run", top / f"{study}.toml", "--out", place).exit_code == exits.OK, context
    done = command("resume", place, "--json")
    assert done.exit_code == exits.OK, f"{context}: {done.stderr}"
    assert points(place) == points(whole), context
    assert answer(place, "show --json") == undamaged(whole, top, "show --json"), context


def test_no_damage_to_a_file_costs_a_point_or_changes_an_answer(whole: Path, tmp_path: Path) -> None:
    """Every file and every command, each with one damage of its own."""
    dice = random.Random(1)
    seen: set[str] = set()
    for name in files(whole):
        kind = name.split("/")[0]
        for words in COMMANDS if kind not in seen or kind == "studies" else ("clean",):
            check(whole, tmp_path / "copy", name, dice.choice(sorted(DAMAGES)), words, dice)
        seen.add(kind)


def test_a_segment_of_which_every_point_can_be_read_is_kept(tmp_path: Path) -> None:
    """Written again it has the same name; it was removed as damaged, and its points were computed again."""
    place = tmp_path / "study"
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert command("run", tmp_path / "small.toml", "--out", place).exit_code == exits.OK
    assert command("pack", place).exit_code == exits.OK
    (segment,) = (place / "segments").glob("*.zip")
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-22])  # without the end of its directory
    assert command("resume", place).exit_code == exits.OK
    assert segment.read_bytes() == whole
    assert not [*(place / "points").glob("*.json")]


def test_a_database_that_a_power_cut_left_half_written_is_rebuilt(tmp_path: Path) -> None:
    """Where the names of points lead to rows of others, ``clean`` left points that nobody needs."""
    place = tmp_path / "study"
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert command("run", tmp_path / "small.toml", "--out", place).exit_code == exits.OK
    before = points(place)
    key, found = "name TEXT PRIMARY KEY", ("index", "sqlite_autoindex_points_1", "points")
    for script in (
        f"""PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, '{key}', 'name TEXT') WHERE name = 'points';
            CREATE TABLE kept AS SELECT rootpage FROM sqlite_master WHERE name = '{found[1]}';
            DELETE FROM sqlite_master WHERE name = '{found[1]}';""",
        "UPDATE points SET rowid = rowid + 1000;",
        f"""PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'name TEXT', '{key}') WHERE name = 'points';
            INSERT INTO sqlite_master SELECT '{"', '".join(found)}', rootpage, NULL FROM kept;""",
        "DROP TABLE kept;",
    ):
        with closing(sqlite3.connect(place / "index.sqlite")) as database:
            database.executescript(script)
    done = command("clean", place)
    assert done.exit_code == exits.OK
    assert "index.sqlite: the index cannot be read; it is rebuilt from the points" in done.stderr
    assert points(place) == before


@pytest.mark.soak
def test_every_damage_to_every_file_before_every_command(
    whole: Path, tmp_path: Path, seeds: Callable[[int], Iterator[int]]
) -> None:
    for seed in seeds(1):
        dice = random.Random(seed)
        for name in files(whole):
            for damage in DAMAGES:
                for words in COMMANDS:
                    check(whole, tmp_path / "copy", name, damage, words, dice)


ROOMS = {name.split("/")[0].split(".")[0] for name in sources()}
LOOK_AT_RESULTS = {"cli", "design", "experiments", "fit", "page", "pictures", "published", "report"}
_RUN = """
import sys, pathlib
import fabriloom
from fabriloom import simulate
from fabriloom.studies.points import Point, point_row
package = pathlib.Path(fabriloom.__file__).parent
for path in sys.argv[1:]:
    point_row(Point.of({}, simulate.run(fabriloom.load(path, ["run.duration=300 us"]).alone())))
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None)
    if file and pathlib.Path(file).is_relative_to(package):
        print(pathlib.Path(file).relative_to(package).as_posix())
"""


def test_rooms_that_run_count_and_those_that_look_at_results_do_not() -> None:
    assert {"simulate", "_native", "faults", "bounds", "codes", "reading", "units", "studies"} <= ROOMS
    assert ROOMS.isdisjoint(LOOK_AT_RESULTS)
    assert "studies/points.py" in sources()
    assert "studies/search.py" not in sources()
    assert "technology/presets.toml" in sources()


def test_what_runs_really_import_counts() -> None:
    """Packages import much of the room when they are first used; the files of this room are single."""
    root = Path(__file__).resolve().parents[2] / "scenarios"
    files = [str(root / f"{name}.toml") for name in ("cable-fails", "ping-pong", "sci-ring-8", "own-graph")]
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *files], capture_output=True, text=True, env={**os.environ}, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = {name for name in done.stdout.split() if name not in ("__init__.py", "studies/__init__.py")}
    assert len(loaded) > 50
    single = {name for name in loaded if not name.startswith("studies/")}
    assert single <= {*sources()}, single - {*sources()}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, to be changed."""
    place = tmp_path_factory.mktemp("copy") / "fabriloom"
    shutil.copytree(
        PACKAGE, place, ignore=shutil.ignore_patterns("*.pyc", "*.so", "experiments", "published")
    )
    return place


@pytest.mark.parametrize("room", sorted(ROOMS - {"_native"}))
def test_a_change_of_any_room_makes_another_program(
    copy: Path, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PACKAGE", copy)
    monkeypatch.setattr(store, "sources", lambda: sources(copy))
    before = store.program.__wrapped__()
    path = copy / (
        "studies/points.py"
        if room == "studies"
        else next(n for n in sources(copy) if n.split("/")[0].split(".")[0] == room)
    )
    path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert store.program.__wrapped__() != before
