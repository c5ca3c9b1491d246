"""Every example of the documentation runs, every link leads somewhere, the table of dependencies is current.

In a page, in order and in one folder that holds a copy of ``scenarios/``:

* a ``python`` block runs; with ``>>>`` its output is compared;
* a block under ``<!-- file: NAME -->`` is written to NAME;
* a ``sh`` block under ``<!-- run -->`` is executed, under ``<!-- run, exit N -->`` it must end with N;
* a block under ``<!-- output -->`` is compared with what the commands before it printed; ``...`` stands for
  anything, and numbers may differ a little. ``FABRILOOM_EXPECT=write`` puts it into the page instead, where
  it has no ``...``.
"""

from __future__ import annotations

import doctest
import importlib
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import command

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKED = [*PAGES, *sorted(set(ROOT.glob("*.md")) - {ROOT / "README.md"})]

BLOCK = re.compile(
    r"(?:<!-- *(?P<mark>[^>]*?) *-->\n)?```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```", re.M | re.S
)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")
COMMAND = re.compile(
    r"""fabriloom (?P<words>(?:[^|'"$;&<>#*?~{`\\]|'[^']*'|"[^"$]*")*)(?:#.*)?(?:\|(?P<into>.*))?"""
)
"""A call of ``fabriloom`` in one line, with what its output is piped into."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SECONDS = 120
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?"
TOLERANCE = 0.3
"""Of the numbers in shown outputs: a page need not be written again for every change in the last digits."""


@dataclass
class Block:
    """One fenced block of a page, with the mark in front of it."""

    mark: str
    language: str
    body: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(m["mark"] or "", m["language"], m["body"], text.count("\n", 0, m.start()) + 1)
        for m in BLOCK.finditer(text)
    ]


def name_of(page: Path) -> str:
    """A page as tests and messages name it."""
    return str(page.relative_to(ROOT))


def runs(block: Block) -> bool:
    """True for a block that does something here."""
    return block.language == "python" or block.mark.startswith(("run", "file:", "output"))


def run_python(block: Block, names: dict[str, object], page: Path) -> None:
    """Run a Python block: a session with its output compared, or plain code."""
    if ">>>" not in block.body:
        exec(compile("\n" * block.line + block.body, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.body, names, page.name, str(page), block.line)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    failed = runner.run(test, out=said.append, clear_globs=False).failed
    names.update(test.globs)
    assert not failed, "".join(said)


def run_shell(block: Block, folder: Path) -> str:
    """Run a block of commands and return what it printed.

    ``fabriloom`` runs in this process: to start takes longer than most of what is shown. Other programs, and
    blocks with variables, run in a shell.
    """
    lines = block.body.replace("\\\n", "").splitlines()
    if re.search(r"\$[A-Z]", block.body) or not any(map(COMMAND.fullmatch, lines)):
        lines = [block.body]
    printed, complained = [], []
    for line in lines:
        code, out, err = 0, "", ""
        if said := COMMAND.fullmatch(line):
            here = command(*shlex.split(said["words"]))
            code, out, err = here.exit_code, here.stdout, here.stderr
        if more := said["into"] if said else line:
            done = in_shell(more, folder, out)
            code, out, err = done.returncode, done.stdout, err + done.stderr
        printed.append(out)
        complained.append(err)
    text = "".join(printed + complained)
    expected = int(block.mark.split("exit")[1]) if "exit" in block.mark else 0
    assert code == expected, f"ended with {code}:\n{text}"
    return text


def in_shell(words: str, folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a line or a block in a shell that finds ``fabriloom``."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    shell = ["bash", "-c", words]
    options: dict[str, Any] = {"cwd": folder, "env": {**os.environ, "PATH": path}, "timeout": SECONDS}
    return subprocess.run(shell, input=given, capture_output=True, text=True, **options)


def compare(block: Block, printed: str, where: str) -> None:
    """Compare a shown output with what was printed, numbers by size."""
    shown, got = (" ".join(text.split()) for text in (block.body, printed))
    parts = re.split(rf"(\.\.\.|{NUMBER})", shown)
    pattern = "".join(
        ".*?" if part == "..." else f"({NUMBER})" if re.fullmatch(NUMBER, part) else re.escape(part)
        for part in parts
    )
    match = re.fullmatch(pattern, got, flags=re.DOTALL)
    assert match, f"{where} shows:\n{block.body}\nbut it is:\n{printed}"
    numbers = [part for part in parts if re.fullmatch(NUMBER, part)]
    for mine, found in zip(numbers, match.groups(), strict=True):
        there, here = (float(number.replace(",", "")) for number in (mine, found))
        assert abs(there - here) <= TOLERANCE * abs(there), (
            f"{where} shows {mine}, but it is {found}:\n{printed}"
        )


def show_anew(page: Path, block: Block, printed: str) -> None:
    """Put what was printed into the page, unless it shows a part of it only."""
    if "..." not in block.body:
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(f"\n{block.body}```", f"\n{printed.rstrip()}\n```", 1), encoding="utf-8")


@pytest.mark.parametrize("page", [p for p in PAGES if any(map(runs, blocks_of(p)))], ids=name_of)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [block for block in blocks_of(page) if runs(block)]
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    names: dict[str, object] = {"__name__": "example"}
    printed = ""
    for block in blocks:
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.mark.startswith("file:"):
            Path(block.mark.removeprefix("file:").strip()).write_text(block.body, encoding="utf-8")
        elif block.mark.startswith("run"):
            printed = run_shell(block, tmp_path)
        elif block.mark.startswith("output") and os.environ.get("FABRILOOM_EXPECT") == "write":
            show_anew(page, block, printed)
        elif block.mark.startswith("output"):
            compare(block, printed, where)
        else:
            run_python(block, names, page)


def modules_with_examples() -> list[str]:
    """Modules of the package whose docstrings show a session."""
    package = ROOT / "python"
    shown = [path for path in sorted(package.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    return [
        ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__") for path in shown
    ]


@pytest.mark.parametrize("name", modules_with_examples())
def test_docstring_examples_run(name: str) -> None:
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
        runner.run(test, out=said.append)
    assert not runner.summarize(verbose=False).failed, "".join(said)


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    broken = [
        link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()
    ]
    assert not broken


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in LINK.findall(index.read_text(encoding="utf-8"))}
    missing = [
        str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if page not in linked | {index}
    ]
    assert not missing, f"docs/README.md does not lead to {missing}"


def test_marks_are_understood() -> None:
    """A misspelt mark would silently turn an example into decoration."""
    for page in PAGES:
        for block in blocks_of(page):
            known = re.fullmatch(r"(?:run(?:, exit \d+)?|file: \S+|output)?", block.mark)
            assert known, f"{page.relative_to(ROOT)}:{block.line}: {block.mark}"


SUPPLY = runpy.run_path(str(ROOT / "docs" / "site" / "supply.py"))


@pytest.mark.skipif(shutil.which("cargo") is None, reason="crates are listed by cargo")
def test_the_table_of_dependencies_is_current(tmp_path: Path) -> None:
    table = ROOT / "docs" / "reference" / "dependencies.csv"
    parts = [*SUPPLY["of_python"](), *SUPPLY["of_rust"]()]
    before = table.read_text(encoding="utf-8")
    assert SUPPLY["table"](parts, before) == before, f"python docs/site/supply.py {table}"
    assert ",unknown," not in before
    found = SUPPLY["bill"](parts)
    assert json.dumps(found) == json.dumps(SUPPLY["bill"](parts[::-1]))
    names = {one["name"] for one in found["components"]}
    assert {"numpy", "pydantic", "pyo3"} <= names
    assert not {"pytest", "proptest"} & names
