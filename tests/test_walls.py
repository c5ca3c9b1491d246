"""The walls of the house: who may know whom, in Python and in Rust.

A wall that is only written down is crossed in the first busy week; ARCHITECTURE.md says why each one stands.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "fabriloom"
PAPERS = ROOT / "papers" / "fabriloom_papers"
CRATES = ROOT / "crates"

DESCRIBING = {
    "units",
    "process",
    "reading",
    "arguments",
    "codes",
    "_native",
    "topology",
    "routing",
    "traffic",
    "programs",
    "technology",
    "faults",
}
RUNNING = DESCRIBING | {"scenario", "compile", "bounds", "results", "simulate"}

MAY_IMPORT: dict[str, set[str]] = {
    "units": set(),
    "codes": {"_native"},
    "process": set(),
    "output": {"process"},
    "reading": {"units", "process"},
    "arguments": {"reading"},
    "topology": {"units", "reading", "_native", "output"},
    "routing": {"units", "reading", "_native", "topology", "process"},
    "traffic": {"units", "reading", "codes", "_native", "process"},
    "programs": {"units", "reading", "codes", "_native", "traffic"},
    "technology": {"units", "reading", "_native", "process"},
    "faults": {"units", "topology"},
    "scenario": DESCRIBING | {"process"},
    "compile": DESCRIBING | {"scenario"},
    "results": DESCRIBING | {"scenario", "compile", "output"},
    "simulate": DESCRIBING | {"scenario", "compile", "bounds", "results"},
    "bounds": DESCRIBING | {"scenario", "compile", "results"},
    "studies": RUNNING | {"output", "pictures"},
    "imports": {"units", "reading", "topology"},
    "design": RUNNING | {"studies"},
    "report": {"units", "topology", "results", "process"},
    "fit": RUNNING,
    "measure": RUNNING | {"studies", "process", "output"},
    "page": RUNNING | {"studies", "report", "process", "output"},
    "cli": RUNNING
    | {"bounds", "studies", "report", "page", "fit", "measure"}
    | {"output", "design", "process", "imports"},
    "pictures": RUNNING | {"report", "output"},
    "__init__": RUNNING | {"bounds", "studies", "pictures", "page"},
    "__main__": {"cli"},
}
"""Per room of the package: the rooms it may import. What is not listed is a wall."""

RUST_MAY_USE: dict[str, set[str]] = {
    "kernel": set(),
    "fabric": {"kernel"},
    "measure": {"kernel", "fabric"},
    "links": {"kernel", "fabric", "measure"},
    "switched": {"kernel", "fabric", "measure", "terminal", "links"},
    "cut_through": {"kernel", "fabric", "measure", "links", "terminal", "switched"},
    "lanes": {"kernel", "fabric", "measure", "terminal", "links"},
    "ring": {"kernel", "fabric", "measure", "terminal"},
    "terminal": {"kernel", "fabric", "measure"},
    "run": {"kernel", "fabric", "measure", "links", "switched", "cut_through", "lanes", "ring", "terminal"},
    "results": {"kernel", "measure", "ring", "terminal", "run"},
}
"""Per room of the engine: the rooms below it."""

CRATE_MAY_DEPEND: dict[str, set[str]] = {
    "engine": set(),
    "routes": set(),
    "twin": {"fabriloom-engine"},
    "python": {"fabriloom-engine", "fabriloom-routes", "fabriloom-twin"},
    "web": {"fabriloom-engine"},
}
"""Per crate: the crates of ours that it may depend on."""

TWIN_MAY_USE = {"fabric", "kernel", "terminal"}
"""What the twin shares with the engine: the arrays, the random streams and the sources, never the model."""

IMPURE = re.compile(
    r"\bstd::(?:fs|io|net|env|process|thread)\b|\bInstant\b|\bSystemTime\b|\bstatic\s+mut\b|\bOnceLock\b"
    r"|\bLazyLock\b|\bthread_local!|\be?print(?:ln)?!|\bpyo3\b"
)
"""What the engine, its twin and the route crate never touch: files, clocks, threads, globals, output."""


def room_of(path: Path) -> str:
    """The room a Python file of the package belongs to: its top-level module."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def is_type_checking(node: ast.AST) -> bool:
    """True for ``if TYPE_CHECKING:``, whose imports are annotations and never run."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below ``node`` that can run."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            for other in child.orelse if isinstance(child, ast.If) else []:
                yield from running_nodes(other)
            continue
        yield child
        yield from running_nodes(child)


def imported_rooms(path: Path) -> Iterator[tuple[str, int]]:
    """Rooms of the package that a file imports, each with its line; lazy imports inside functions count."""
    package = ["fabriloom", *path.relative_to(PACKAGE).parent.parts]
    for node in running_nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "fabriloom" and len(parts) > 1:
                yield parts[1], node.lineno


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, which takes longer to make than to walk."""
    return ast.parse(path.read_text(encoding="utf-8"))


def python_files() -> list[Path]:
    """Every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def rust_code(path: Path) -> str:
    """A Rust file without its comments and without its test module."""
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    return re.split(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{", text)[0]


def rust_files(crate: str) -> list[Path]:
    """Every source file of a crate."""
    return sorted((CRATES / crate / "src").rglob("*.rs"))


def paths_used(code: str, start: str) -> set[str]:
    """First names after ``start::`` in a Rust file, braces of a ``use`` opened."""
    single = set(re.findall(rf"\b{start}::(\w+)", code))
    for braces in re.findall(rf"\b{start}::\{{(.*?)\}}\s*;", code, flags=re.DOTALL):
        flat = re.sub(r"\{[^{}]*\}", "", braces)
        single |= {part.split("::")[0].split(" as ")[0].strip() for part in flat.split(",") if part.strip()}
    return single


def test_python_rooms_import_only_what_they_may() -> None:
    rooms = {room_of(path) for path in python_files()}
    assert rooms <= set(MAY_IMPORT), "a new room needs its walls in this test and in ARCHITECTURE.md"
    walled = set(MAY_IMPORT) | {"_native"}
    crossed = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in python_files()
        for name, line in imported_rooms(path)
        if name in walled - MAY_IMPORT[room_of(path)] - {room_of(path)}
    ]
    assert not crossed, "\n".join(crossed)


def test_only_the_command_knows_of_the_papers() -> None:
    """Their numbers are in a package of their own: no model may read them, or it could be made to agree."""
    knows = {
        path.relative_to(PACKAGE).as_posix()
        for path in python_files()
        if "fabriloom_papers" in path.read_text(encoding="utf-8")
    }
    assert knows == {"cli/commands/curve.py", "cli/commands/reproduce.py"}
    told = tomllib.loads((PAPERS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert told["version"] == ours
    assert told["dependencies"] == [f"fabriloom=={ours}"]


def test_published_numbers_are_data() -> None:
    """A paper's numbers carry no code, so that nothing can compute one into agreement."""
    modules = sorted((PAPERS / "published").rglob("*.py"))
    assert [path.name for path in modules] == ["__init__.py"]
    body = ast.parse(modules[0].read_text(encoding="utf-8")).body
    assert not any(isinstance(node, ast.ClassDef | ast.For | ast.While) for node in body)


WRITES = re.compile(
    r"\bwrite_text\(|\bwrite_bytes\(|\bsavefig\(\w*(?:path|file)|\bopen\([^)]*[\"'][wax]b?\+?[\"']"
    r"|\brmtree\(|\bunlink\(|\bos\.remove\(|\bwrite_csv\(\w"
)
OWN_WRITERS = {
    "page/sessions.py": "a folder of the server's own, made by itself and removed with it",
    "results/reference.py": "a page of this repository",
    "scenario/reference.py": "pages of this repository",
}


def test_one_room_writes_files() -> None:
    """What is written for a user goes through ``output``: whole, and instead of nothing of theirs."""
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in python_files()
        if room_of(path) != "output" and WRITES.search(path.read_text(encoding="utf-8"))
    }
    assert found == set(OWN_WRITERS)


def test_only_the_command_prints() -> None:
    for path in python_files():
        if room_of(path) in {"cli", "__main__"}:
            continue
        writes = {"print", "sys.stdout.write", "sys.stderr.write"}
        for node in ast.walk(tree_of(path)):
            prints = isinstance(node, ast.Call) and ast.unparse(node.func) in writes
            assert not prints, f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)} prints"


@pytest.mark.parametrize("path", rust_files("engine"), ids=lambda p: str(p.relative_to(CRATES)))
def test_engine_rooms_use_only_those_below(path: Path) -> None:
    room = path.relative_to(CRATES / "engine" / "src").parts[0].removesuffix(".rs")
    if room == "lib":
        return
    assert room in RUST_MAY_USE, f"{room}: a new room needs its walls in this test and in ARCHITECTURE.md"
    crossed = paths_used(rust_code(path), "crate") & set(RUST_MAY_USE) - RUST_MAY_USE[room] - {room}
    assert not crossed, f"{path.relative_to(ROOT)} uses {sorted(crossed)}"


@pytest.mark.parametrize("crate", ["engine", "routes", "twin"])
def test_simulating_crates_touch_nothing_outside(crate: str) -> None:
    for path in rust_files(crate):
        found = IMPURE.search(rust_code(path))
        assert found is None, f"{path.relative_to(ROOT)} uses {found.group()}"


@pytest.mark.parametrize("crate", CRATE_MAY_DEPEND)
def test_crates_depend_only_on_those_below(crate: str) -> None:
    manifest = tomllib.loads((CRATES / crate / "Cargo.toml").read_text(encoding="utf-8"))
    ours = {name for name in manifest.get("dependencies", {}) if name.startswith("fabriloom-")}
    assert ours <= CRATE_MAY_DEPEND[crate]
    languages = {"pyo3", "numpy"} & set(manifest.get("dependencies", {}))
    assert crate == "python" or not languages


def test_crates_whose_sources_are_not_tested_hold_no_tests() -> None:
    """Nor examples in comments where those are not run: they would pass whatever they say."""
    for manifest in CRATES.glob("*/Cargo.toml"):
        library = tomllib.loads(manifest.read_text(encoding="utf-8")).get("lib", {})
        text = "".join(path.read_text(encoding="utf-8") for path in rust_files(manifest.parent.name))
        assert library.get("test", True) or "#[test]" not in text, manifest
        fences = re.findall(r"//[/!] *```(\w*)", text)
        assert library.get("doctest", True) or len(fences) == 2 * fences.count("text"), manifest


def test_every_crate_and_room_is_walled() -> None:
    assert {path.name for path in CRATES.iterdir() if path.is_dir()} == set(CRATE_MAY_DEPEND)
    rooms = {path.name.removesuffix(".rs") for path in (CRATES / "engine" / "src").iterdir()}
    assert rooms - {"lib"} <= set(RUST_MAY_USE)


def test_the_twin_shares_no_model_with_the_engine() -> None:
    """Two engines that share their model agree about its mistakes."""
    for path in rust_files("twin"):
        used = paths_used(rust_code(path), "fabriloom_engine")
        assert used <= TWIN_MAY_USE, (
            f"{path.relative_to(ROOT)} uses {sorted(used - TWIN_MAY_USE)} of the engine"
        )


def test_the_arrays_have_the_columns_that_the_engine_knows() -> None:
    """The second contract: what Python compiles is, name by name and type by type, what Rust reads."""
    from fabriloom import _native, load
    from fabriloom.compile import compile

    arrays = compile(load(ROOT / "scenarios" / "own-graph.toml")).arrays
    sent = {name: np.dtype(column.dtype) for name, column in arrays.items() if isinstance(column, np.ndarray)}
    sizes = {"u8": "uint8", "u32": "uint32", "u64": "uint64", "f64": "float64"}
    assert sent == {name: np.dtype(sizes[kind]) for name, kind in _native.columns()}
    assert set(arrays) - set(sent) == {name for name, _ in _native.scalars()}


KINDS_OF_NETWORKS = {"links", "rings", "LINKS", "RINGS"}
CLASSES_OF_KINDS = re.compile(r"\b(?:Link|Ring)(?:Network|Routes|Inspection|Technology|Links)\b|\bRings\b")


def _asks_for_the_kind(node: ast.AST) -> bool:
    """Whether an expression tells the kinds of networks apart, by what they are instead of what they have."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        ends = {ast.unparse(side).strip("'\"").rpartition(".")[2] for side in sides}
        of_kind = any("kind" in ast.unparse(side) or ast.unparse(side).endswith(".name") for side in sides)
        return (ends == {"rings", "None"} and "." in ast.unparse(node)) or (
            of_kind and bool(ends & KINDS_OF_NETWORKS)
        )
    if isinstance(node, ast.Call):
        asked = ast.unparse(node.func)
        if asked in ("isinstance", "issubclass", "hasattr", "getattr"):
            return bool(CLASSES_OF_KINDS.search(ast.unparse(node))) or "'rings'" in ast.unparse(node)
        return asked.endswith((".startswith", ".endswith")) and "'sci" in ast.unparse(node)
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        test = ast.unparse(node.test)
        return bool(re.fullmatch(r"(?:not )?[\w.]+\.rings|.*\b(?:of_rings|is_rings?)\b.*", test))
    return False


def test_kinds_of_networks_are_asked_and_not_told_apart() -> None:
    """``topology/kinds.py`` says what a kind has; who asks which kind it is has to change for another one."""
    switches = []
    for file in python_files():
        place = file.relative_to(PACKAGE).as_posix()
        if place in TELL_KINDS_APART:
            continue
        tree = tree_of(file)
        sure = {id(node) for one in ast.walk(tree) if isinstance(one, ast.Assert) for node in ast.walk(one)}
        switches += [
            f"{place}:{getattr(node, 'lineno', 0)}"
            for node in ast.walk(tree)
            if id(node) not in sure and _asks_for_the_kind(node)
        ]
    assert switches == []


TELL_KINDS_APART = {
    "topology/graph.py": "what makes a graph one of rings",
    "topology/kinds.py": "how names of families begin",
    "topology/sci_rings.py": "settings of a family, called rings",
    "technology/presets.py": "which presets are of rings: the rooms below know no network",
    "scenario/reference.py": "tables of the presets of each",
}
"""The only files that tell kinds of networks apart, and why."""


@pytest.mark.parametrize(
    "question",
    [
        "graph.rings is None",
        "graph.rings is not None",
        "graph.kind == 'rings'",
        "graph.kind is RINGS",
        "kind.name != 'links'",
        "isinstance(found, RingNetwork)",
        "hasattr(graph, 'rings')",
        "family.startswith('sci-')",
        "1 if graph.rings else 2",
        "1 if scenario.of_rings else 2",
    ],
)
def test_the_question_is_found_however_it_is_asked(question: str) -> None:
    assert any(_asks_for_the_kind(node) for node in ast.walk(ast.parse(question)))
