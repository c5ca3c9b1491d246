"""On which files a stored result depends: a change of one of them, and none is served again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fabriloom.studies import store
from fabriloom.studies.sources import PACKAGE, sources

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
