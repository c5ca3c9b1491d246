"""The files of the package on which a stored result depends, found by following imports.

Who is imported counts with the whole of its room, data and engine included. Of this room, which holds also
what only looks at results, single files count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
_ROOM = "studies"
_ROOTS = ("simulate.py", f"{_ROOM}/points.py")
"""What runs a scenario, and what is stored of the run."""
_IMPORT = re.compile(r"^[ \t]*from (fabriloom\b|(?=\.))(\.*)([\w.]*) import (\([^)]*\)|[^\n]*)", re.M)
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n)+", re.M)
"""Imports that are not made when the program runs."""


def sources(package: Path = PACKAGE) -> list[str]:
    """Return the files on which a stored result depends, by their names in the package."""
    found: set[str] = set()
    waiting, rooms = list(_ROOTS), {_ROOM}
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for module in _imported(package / name, Path(name).parent.parts) if name.endswith(".py") else ():
            if module[0] == _ROOM:
                waiting += _file_of(package, module)
            elif module[0] not in rooms:
                rooms.add(module[0])
                waiting += _room(package, module[0])
    return sorted(found)


def _imported(file: Path, here: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield what a file imports, as steps from the package; the last may be a name in a module."""
    text = _TYPES.sub("", file.read_text(encoding="utf-8"))
    for absolute, dots, module, names in _IMPORT.findall(text):
        above = () if absolute else here[: len(here) - len(dots) + 1]
        steps = (*above, *(step for step in module.split(".") if step))
        yield from ((*steps, name) for name in re.findall(r"\w+", names))


def _file_of(package: Path, module: tuple[str, ...]) -> list[str]:
    files = (Path(*steps).with_suffix(".py") for steps in (module, module[:-1]))
    return [file.as_posix() for file in files if (package / file).is_file()][:1]


def _room(package: Path, name: str) -> list[str]:
    paths = [*package.glob(f"{name}.*"), *(package / name).rglob("*")]
    files = (path for path in paths if path.is_file() and path.suffix != ".pyc")
    return [path.relative_to(package).as_posix() for path in files]
