"""Every wrong file of ``tests/cases/invalid`` gives exactly the message that stands at its head.

Whatever the bytes, loading gives a scenario or a ScenarioError.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from expects import assert_told, expected, names_in, unpack, unpacked
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError, load
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FOLDER = Path(__file__).resolve().parent.parent / "cases" / "invalid"
SUFFIXES = {".toml", ".yaml", ".json", ".ini"}
NAMES = names_in(FOLDER)
CASES = sorted(
    name
    for name in NAMES
    if Path(name).suffix in SUFFIXES
    and (name.endswith(".toml") or str(Path(name).with_suffix(".toml")) not in NAMES)
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files in one folder."""
    return unpack(FOLDER, tmp_path_factory.mktemp("invalid"))


def message_of(name: str | Path) -> str:
    """What a user reads who runs this file."""
    with pytest.raises(ScenarioError) as caught:
        compile(load(name))
    return f"{caught.value}\n"


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    assert_told(Path(name), message_of, FOLDER)


def test_every_wrong_file_has_its_message(files: Path) -> None:
    assert [name for name in CASES if not expected(files / name)] == []
    assert {path.stem for path in files.glob("*.expected")} <= {Path(name).stem for name in CASES}
    assert len(CASES) == len({Path(name).stem for name in CASES}), "two wrong files share a name"


def test_missing_file_offers_the_nearest(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    assert message_of("unknown-keys.toml").splitlines() == [
        "unknown-keys.toml: no such file",
        "  did you mean unknown-key.toml?",
    ]


def test_folder_for_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").mkdir()
    assert message_of("grid.toml").startswith("grid.toml: this is a folder")
    Path("grid").mkdir()
    assert message_of("grid").startswith("grid: this is a folder")


def test_a_long_row_of_brackets_is_left_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Parsed to its end, this would take longer than anybody waits."""
    monkeypatch.chdir(tmp_path)
    Path("deep.yaml").write_text("a: " + "[" * 100_000, encoding="utf-8")
    assert message_of("deep.yaml").startswith("deep.yaml: nested too deeply")


def test_large_file_is_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("large.toml").open("wb") as file:
        file.truncate(9 * 2**20)
    assert message_of("large.toml").startswith("large.toml: the file is larger than 8 MB")


ROOT = Path(__file__).resolve().parent.parent
VALID = unpacked("valid")
TEXTS = sorted(VALID.glob("*.toml")) + sorted((ROOT.parent / "scenarios").glob("*.toml"))
KINDS = (".toml", ".yaml", ".json")
QUICK = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def outcome(make: Callable[[], Scenario]) -> str:
    """The checksum of a scenario, or the message that refuses it."""
    try:
        return make().sha256
    except ScenarioError as error:
        return str(error)


def attempt(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"scenario{suffix}"
        path.write_bytes(content)
        assert outcome(lambda: load(path))


@QUICK
@given(st.binary(max_size=200), st.sampled_from(KINDS))
def test_random_bytes(content: bytes, suffix: str) -> None:
    attempt(content, suffix)


@QUICK
@given(st.text(alphabet="[]{}=\"'\n\t :,.#-_+*&!|>?%@`abeinty012e9", max_size=120), st.sampled_from(KINDS))
def test_random_syntax(text: str, suffix: str) -> None:
    attempt(text.encode(), suffix)


@pytest.mark.parametrize("seed", range(60))
def test_mutated_scenarios(seed: int) -> None:
    """Characters of good scenarios removed, doubled, exchanged and replaced."""
    dice = random.Random(seed)
    text = list(dice.choice(TEXTS).read_text(encoding="utf-8"))
    for _ in range(dice.randint(1, 12)):
        at = dice.randrange(len(text))
        text[at] = dice.choice(["", text[at] * 2, dice.choice(text), dice.choice('"[]{}=-9.\n\0\u00e9')])
    attempt("".join(text).encode(), ".toml")


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(["64 B", "2 us", "uniform", "grid", "auto", "generic", "all", "-1 B", "1e400 s"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["kind", "path", "value", "by", "map", "load", "x"]), inner, max_size=3
        ),
    ),
    max_leaves=8,
)
FULL: dict[str, Any] = json.loads((VALID / "everything.resolved.json").read_text(encoding="utf-8"))
PATHS = [(section, key) for section, table in FULL.items() if isinstance(table, dict) for key in table]


@QUICK
@given(st.lists(st.tuples(st.sampled_from(PATHS), VALUES), min_size=1, max_size=3))
def test_any_value_anywhere(changes: list[tuple[tuple[str, str], Any]]) -> None:
    data = json.loads(json.dumps(FULL))
    for (section, key), value in changes:
        data[section][key] = value
    assert outcome(lambda: Scenario.from_dict(data, VALID))


@QUICK
@given(st.sampled_from(PATHS), st.text(max_size=20))
def test_any_override(path: tuple[str, str], value: str) -> None:
    file = VALID / "formats-toml.toml"
    assert outcome(lambda: load(file, [f"{'.'.join(path)}={value}"]))
