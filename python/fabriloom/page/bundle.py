"""The modules of the page as one script: a browser loads no modules from a file on a disk."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|function|async function) ([$\w]+))", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def source_of(module: str, beside: Path | None = None) -> str:
    """Return the text of a module of the page, or of one that lies in another folder."""
    if beside is not None and (own := beside / f"{module}.js").is_file():
        return own.read_text(encoding="utf-8")
    return resources.files("fabriloom.page").joinpath("static", f"{module}.js").read_text(encoding="utf-8")


@cache
def bundled(entry: str, beside: Path | None = None) -> str:
    """Return a module and all that it imports, as one script: each module is a function that runs once.

    ``beside``: a folder with further modules.

    Raises ValueError for a form of import or export that the modules of the page do not use, and for a circle
    of imports, in which no order is right.
    """
    found: dict[str, str] = {}

    def add(module: str, above: tuple[str, ...]) -> None:
        if module in above:
            raise ValueError(f"{module}.js imports itself, by {' and '.join(above)}")
        if module in found:
            return
        text = source_of(module, beside)
        for needed in _IMPORT.finditer(text):
            add(needed[2], (*above, module))
        found[module] = _wrapped(module, text)

    add(entry, ())
    return '"use strict";\n' + "\n".join(found.values())


def _wrapped(module: str, text: str) -> str:
    """Return a module as a function whose result is what it exports."""
    exported = [name[1] for name in _EXPORT.finditer(text)]
    text = _EXPORT.sub("", _IMPORT.sub(r"const \1 = of_\2;", text))
    if left := _LEFT.search(text):
        raise ValueError(f"{module}.js: {left[0]}")
    return f"const of_{module} = (() => {{\n{text.rstrip()}\nreturn {{ {', '.join(exported)} }};\n}})();"
