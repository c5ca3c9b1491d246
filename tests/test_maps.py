"""The maps in the engine's ``mod.rs`` files: every file has its line, and every name in them exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "crates" / "engine" / "src"
TWIN = ROOT / "crates" / "twin" / "src"
MAPPED = [
    "cut_through",
    "kernel",
    "lanes",
    "links",
    "measure",
    "results",
    "ring",
    "run",
    "switched",
    "terminal",
    "terminal/program",
]

TOKEN = re.compile(r"\[?`([^`]+)`\]?")
WORD = re.compile(r"[A-Za-z_]\w*(?:\(\))?")
COMMENT = re.compile(r"//[^\n]*")
BY = re.compile(r"((?:`[^`]+`(?:, | and )?)+) by ((?:\[`[^`]+`\](?:, | and )?)+)")
"""Who calls which verbs: ``verb, verb by [file] and [file]``."""
BESIDE = re.compile(r"\[`[^`]+`\]")
ITEM = r"\b(?:fn|struct|enum|trait)\s+{0}\b"
FIELD = r"^\s*(?:pub(?:\([\w: ]+\))?\s+)?{0}\s*:[^:]"
VARIANT_OR_CONSTANT = r"^\s+{0}\b\s*(?:[,({{]|=|$)|\b(?:type|const|static)\s+{0}\b"


def header(folder: str) -> list[str]:
    """The lines of the map of a folder."""
    lines = (ENGINE / folder / "mod.rs").read_text(encoding="utf-8").split("\n")
    return [line[3:].strip() for line in lines if line.startswith("//!")]


def files_of(folder: str) -> list[Path]:
    """The files that the map of a folder has to name; folders with a map of their own name theirs."""
    found = []
    for path in sorted((ENGINE / folder).rglob("*.rs")):
        inner = path.parent.relative_to(ENGINE).as_posix()
        if (
            path.stem not in {"mod", "tests"}
            and "tests" not in path.parts
            and (inner == folder or inner not in MAPPED)
        ):
            found.append(path)
    return found


def tables(lines: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The heading and the cells of every row of every table."""
    heading: list[str] = []
    for line in lines:
        if not line.startswith("|"):
            heading = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not heading:
            heading = cells
        elif set(line) - set("|-"):
            yield heading, cells


def module(folder: str, name: str) -> list[Path]:
    """The files of a module: of this folder, or with its folder, and with the files below it."""
    parts = name.removesuffix(".rs").split("::")
    for base in (ENGINE / folder, ENGINE):
        path = base.joinpath(*parts)
        inner = sorted(path.rglob("*.rs")) if path.is_dir() else []
        if path.with_suffix(".rs").is_file() or (path / "mod.rs").is_file():
            own = path.with_suffix(".rs")
            return [*([own] if own.is_file() else []), *inner]
    return [path for path in (ENGINE / folder).rglob(f"{parts[-1]}.rs") if len(parts) == 1]


def twin_file(folder: str, name: str) -> list[Path]:
    """The file of the twin with this name, for the kind of network of this folder."""
    path = (TWIN / "ring" if folder == "ring" else TWIN) / name
    return [path] if path.is_file() else []


def defines(paths: list[Path], name: str, *kinds: str) -> bool:
    """Whether one of these files defines a name, or the last part of ``Type::name``."""
    last = name.removesuffix("()").split("::")[-1]
    known = kinds if last.islower() else (*kinds, VARIANT_OR_CONSTANT)
    pattern = re.compile("|".join((ITEM, *known)).format(re.escape(last)), re.MULTILINE)
    return any(pattern.search(COMMENT.sub("", path.read_text(encoding="utf-8"))) for path in paths)


def is_name(text: str) -> bool:
    """Whether this is a name of the program, not a formula or a path."""
    return all(WORD.fullmatch(part) for part in text.split("::"))


def wrong_in_places(folder: str, cell: str, twin: bool) -> list[str]:
    """Names in a cell that are not in the files given before them: ``file: name, name; file: name``."""
    wrong, paths = [], None
    for token in TOKEN.finditer(cell):
        name, whole = token.group(1), token.group()
        found = twin_file(folder, name) if twin else []
        if not twin and (
            name.endswith(".rs") or whole.startswith("[") or cell[token.end() :].startswith(": ")
        ):
            found = module(folder, name)
        if found:
            paths = found
        elif name.endswith(".rs") or paths is None or not defines(paths, name):
            wrong.append(name)
    return wrong


def wrong_elsewhere(folder: str, text: str) -> list[str]:
    """Names in a text that neither the folder nor the arrays define, and that are no module or page."""
    own = [path for room in (folder, "fabric") for path in sorted((ENGINE / room).rglob("*.rs"))]
    wrong = []
    for token in TOKEN.finditer(text):
        name = token.group(1)
        if "/" in name:
            known = (ROOT / name).exists()
        elif name.endswith(".rs") or ("::" in name and name[0].islower()):
            head, _, last = name.rpartition("::")
            known = bool(module(folder, name)) or (bool(head) and defines(module(folder, head), last))
        else:
            parts = name.split("::")
            known = (
                not is_name(name)
                or bool(module(folder, name))
                or all(defines(own, part, FIELD) for part in parts)
            )
        if not known:
            wrong.append(name)
    return wrong


def wrong_writers(folder: str, heading: list[str], cells: list[str]) -> list[str]:
    """Fields and verbs that a file is said to write or to call, and that do not occur in it."""
    said = []
    for verbs, files in BY.findall(cells[-1]):
        said += [(verbs, code_of(folder, name)) for name in TOKEN.findall(files)]
    if heading[-1] == "writes":
        own = ["mod"] if cells[0] == "this one" else TOKEN.findall(cells[0])
        said.append((BESIDE.sub("", cells[-1]), "".join(code_of(folder, name) for name in own)))
    wrong = []
    for names, code in said:
        for name in (token.split("::")[-1] for token in TOKEN.findall(names)):
            if code and name.islower() and not re.search(rf"\b{re.escape(name)}\b", code):
                wrong.append(name)
    return wrong


def code_of(folder: str, name: str) -> str:
    """The code of a module without its comments."""
    paths = [ENGINE / folder / "mod.rs"] if name == "mod" else module(folder, name)
    return COMMENT.sub("", "".join(path.read_text(encoding="utf-8") for path in paths))


@pytest.mark.parametrize("folder", MAPPED)
def test_every_file_of_a_folder_is_in_its_map(folder: str) -> None:
    named = {cells[0] for heading, cells in tables(header(folder)) if heading[0] == "file"}
    found = {path for cell in named for token in TOKEN.findall(cell) for path in module(folder, token)}
    assert named, f"{folder}/mod.rs has no table of files"
    assert not [path.name for path in files_of(folder) if path not in found]


@pytest.mark.parametrize("folder", MAPPED)
def test_every_name_in_a_map_exists(folder: str) -> None:
    lines = header(folder)
    wrong = wrong_elsewhere(folder, " ".join(line for line in lines if not line.startswith("|")))
    for heading, cells in tables(lines):
        wrong += wrong_writers(folder, heading, cells)
        for head, cell in zip(heading, cells, strict=True):
            if head in {"file", "here", "asked by"}:
                wrong += wrong_in_places(folder, cell, twin=False)
            elif head == "in the twin":
                wrong += wrong_in_places(folder, cell, twin=True)
            elif "page" not in head:
                wrong += wrong_elsewhere(folder, cell)
    assert not wrong, f"{folder}/mod.rs names what does not exist: {sorted(set(wrong))}"


def test_a_wrong_name_is_found() -> None:
    assert wrong_in_places("ring", "`tick.rs`: `happen`, then `begin_all`", twin=False) == ["begin_all"]
    assert wrong_in_places("ring", "`rings.rs`: `tick`; `gone.rs`: `tick`", twin=True) == ["gone.rs"]
    assert wrong_elsewhere("ring", "`Link::free_at` by `lookout.rs`, `Station::gone`") == [
        "lookout.rs",
        "Station::gone",
    ]
    assert wrong_writers("ring", ["file", "writes"], ["`bus.rs`", "`switches`; `reserved`"]) == ["reserved"]
    assert wrong_writers(
        "switched", ["file", "who"], ["[`wire`]", "`send` by [`transmit`] and [`trace`]"]
    ) == ["send"]
