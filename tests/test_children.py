"""Nothing is executed from the folder in which the program is started, whatever its files are called."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fabriloom.process import children

PACKAGE = Path(children.__file__).parent.parent
TRAPS = ("numpy", "statistics", "polars", "json", "random", "yaml", "click", "uvicorn", "hashlib")
SMALL = '[topology]\nkind = "crossbar"\nterminals = 4\n[run]\nduration = "20 us"\nwarmup = "5 us"\n'
FABRILOOM = Path(sys.executable).parent / "fabriloom"


@pytest.fixture
def trapped(tmp_path: Path) -> Iterator[Path]:
    """A folder with a scenario and modules that tell when they are imported."""
    trap = "import os\nopen(os.path.join({!r}, 'EXECUTED-' + __name__), 'w').close()\nraise SystemExit(77)\n"
    for name in TRAPS:
        (tmp_path / f"{name}.py").write_text(trap.format(str(tmp_path)), encoding="utf-8")
    (tmp_path / "fabriloom.py").write_text(trap.format(str(tmp_path)), encoding="utf-8")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    yield tmp_path
    assert not list(tmp_path.glob("EXECUTED-*"))


def started(arguments: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("path", [None, ":", ".", "TRAPPED"])
def test_a_child_imports_nothing_from_the_present_folder(trapped: Path, path: str | None) -> None:
    """Also where PYTHONPATH names it, or has an empty entry, which means it."""
    script = (
        "import sys, subprocess; from fabriloom.process import children;"
        "sys.path.insert(0, ''); child = children.command('fabriloom.units');"
        "print(*child, sep='\\n')"
    )
    command = started([sys.executable, "-P", "-c", script], PACKAGE.parent).stdout.split("\n")[:-1]
    command[command.index("fabriloom.units")] = "numpy"
    probe = command[command.index("-c") + 1].replace(".main()", "; print(sys.modules['numpy'].__file__)")
    command[command.index("-c") + 1] = probe
    environment = {} if path is None else {"PYTHONPATH": path.replace("TRAPPED", str(trapped))}
    done = started(command, trapped, **environment)
    assert (done.returncode, "site-packages" in done.stdout) == (0, True), done.stderr


def test_the_folders_of_a_child_are_complete_and_not_the_present_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), *sys.path])
    command = children.command("fabriloom.units")
    assert "-I" in command
    assert str(PACKAGE.parent) in command
    assert not {"", ".", str(tmp_path)} & set(command)
    children.leave_out_present_folder()
    assert not {"", ".", str(tmp_path)} & set(sys.path)
    assert str(PACKAGE.parent) in sys.path


def test_the_present_folder_is_left_out_where_it_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert str(PACKAGE.parent) in children.command("fabriloom.units")


@pytest.mark.parametrize("words", [["run", "small.toml"], ["curve", "small.toml", "--loads", "0.1,0.2"]])
def test_the_command_imports_nothing_from_the_present_folder(trapped: Path, words: list[str]) -> None:
    done = started([str(FABRILOOM), *words], trapped)
    assert done.returncode == 0, done.stderr
    (trapped / "fabriloom.py").unlink()  # which Python itself takes for the module that is asked for
    done = started([sys.executable, "-m", "fabriloom", *words], trapped)
    assert done.returncode == 0, done.stderr


def test_every_child_is_started_by_the_room_for_it() -> None:
    """Who starts a process in another way must do it as safely, and is named here with the reason."""
    started_here = re.compile(
        r"sys\.executable|\bPopen\b|subprocess\.(?:run|call|check)|multiprocessing|os\.exec"
    )
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if started_here.search(path.read_text(encoding="utf-8"))
    }
    # The last writes a command into a file and starts nothing.
    others = found - {"process/children.py", "studies/emit.py"}
    safe = {name for name in others if "children.command(" in (PACKAGE / name).read_text(encoding="utf-8")}
    assert others == safe
