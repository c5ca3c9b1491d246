"""Style as a test: lengths that keep a file readable, and words that have no place in a repository."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES = 500
FUNCTION_LINES = 70

SKIPPED = {".git", ".venv", "target", "out", "build", "dist", "node_modules", "__pycache__", ".hypothesis"}
SKIPPED |= {".pytest_cache", ".ruff_cache", "vendor", "__snapshots__", ".benchmarks"}
TEXT = {
    ".py",
    ".rs",
    ".toml",
    ".md",
    ".txt",
    ".yaml",
    ".yml",
    ".json",
    ".csv",
    ".html",
    ".css",
    ".js",
    ".cfg",
    ".txtar",
}
NAMED = {"Makefile", "run", ".gitignore", ".gitattributes", ".editorconfig", "LICENSE-MIT", "LICENSE-APACHE"}

# The words are written in two pieces, or this file would find itself.
LEFT_FOR_LATER = re.compile(
    r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b"
    r"|\bunimplemented" + r"!|\btodo" + r"!\(|NotImplemented" + "Error|pragma: no " + "cover"
)
MACHINE_PATH = re.compile(
    r"(?<![\w.~>])/(?:" + "|".join(["ro" + "ot", "ho" + "me", "Us" + "ers", "wo" + "rk"]) + r")/\w"
)
SCRATCH_PATH = re.compile(r"(?<![\w.])/t" + r"mp/\w")
REGISTRY = re.compile(
    "|".join(["pypi" + r"\.org", "python" + r"hosted\.org", "crates" + r"\.io", "npm" + r"js\.(?:com|org)"])
    + "|"
    + "|".join(["static" + r"\.rust-lang", "proxy" + r"\.golang", "repo" + r"1?\.maven", "deb" + r"\.debian"])
)
ISSUE = re.compile(r"\b(?:issue|pull request|ticket|PR)s? ?#?\d+\b|(?:^|[\s(])#\d+\b", re.IGNORECASE)


def files(suffixes: set[str]) -> Iterator[Path]:
    """Every file of the repository with one of these suffixes, what is built or installed aside."""
    for folder, inner, names in os.walk(ROOT):
        inner[:] = sorted(set(inner) - SKIPPED)
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in suffixes:
                yield path


def text_files() -> Iterator[Path]:
    """Every text file of the repository, lock files aside: those are written by their tools."""
    for path in files(TEXT | {""}):
        if (
            path.name != "Cargo.lock"
            and not path.name.endswith(".min.js")
            and (path.suffix or path.name in NAMED)
        ):
            yield path


def is_test(path: Path) -> bool:
    """True for files that only test."""
    return bool({"tests", "validation"} & set(path.relative_to(ROOT).parts)) or path.name.startswith("test")


def blank(match: re.Match[str]) -> str:
    """The matched text as blanks, its lines kept."""
    return re.sub(r"[^\n]", " ", match.group())


RUST_NOISE = re.compile(
    r"//[^\n]*|/\*.*?\*/|b?r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\.[^']*|[^'\\])'", re.DOTALL
)
"""Comments, strings and characters: what may hold a brace that is none."""


def rust_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of every function with a body."""
    code = RUST_NOISE.sub(blank, text)
    for match in re.finditer(r"\bfn\s+(\w+)", code):
        opening = re.compile(r"[{;]").search(code, match.end())
        if opening is None or opening.group() == ";":
            continue
        depth, end = 1, opening.end()
        while depth and (brace := re.compile(r"[{}]").search(code, end)):
            depth += 1 if brace.group() == "{" else -1
            end = brace.end()
        first = code.count("\n", 0, match.start())
        yield match.group(1), first + 1, code.count("\n", 0, end) - first + 1


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of every function, decorators and docstring aside."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                length -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            yield node.name, node.lineno, length


def without_tests(path: Path) -> str:
    """A source file without the test module at its end."""
    return re.split(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{", path.read_text(encoding="utf-8"))[0]


def test_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in files({".py", ".rs"})
        if not is_test(path) and (lines := without_tests(path).count("\n")) > FILE_LINES
    }
    assert not long, f"over {FILE_LINES} lines: {long}"


def test_functions_are_short() -> None:
    long = []
    for path in files({".py", ".rs"}):
        functions = python_functions if path.suffix == ".py" else rust_functions
        for name, line, lines in functions(path.read_text(encoding="utf-8")):
            if lines > FUNCTION_LINES:
                long.append(f"{path.relative_to(ROOT)}:{line} {name} has {lines} lines")
    assert not long, f"over {FUNCTION_LINES} lines:\n" + "\n".join(long)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (LEFT_FOR_LATER, "finish it, or delete it"),
        (MACHINE_PATH, "no other machine has this path"),
        (SCRATCH_PATH, "no other machine has this path"),
        (REGISTRY, "a package's address is the business of the machine that installs it"),
    ],
    ids=["left-for-later", "machine-path", "scratch-path", "registry"],
)
def test_words_that_have_no_place(pattern: re.Pattern[str], why: str) -> None:
    found = []
    for path in text_files():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if match := pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match.group()}")
    assert not found, f"{why}:\n" + "\n".join(found)


def test_no_issue_numbers() -> None:
    """A number means nothing to whoever has only the files; the reason does."""
    found = []
    for path in text_files():
        if path.suffix in {".css", ".html", ".js", ".json", ".csv"}:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if match := ISSUE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match.group().strip()}")
    assert not found, "\n".join(found)


def test_requirements_are_exact() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if line and not line.startswith("#")]
        assert pins == sorted(pins, key=str.lower)
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.+!]*", pin) for pin in pins)


def test_the_rust_scanner_sees_lengths() -> None:
    source = (
        "fn a() {\n  let s = \"}\"; // }\n  if x { '{' }\n}\ntrait T { fn b(); fn c(&self) -> u8 { 1 } }\n"
    )
    assert list(rust_functions(source)) == [("a", 1, 4), ("c", 5, 1)]
