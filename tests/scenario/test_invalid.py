"""Every wrong file of ``tests/cases/invalid`` gives exactly the message that stands at its head."""

from __future__ import annotations

from pathlib import Path

import pytest
from expects import assert_told, expected, names_in, unpack
from fabriloom.compile import compile
from fabriloom.scenario import ScenarioError, load

FOLDER = Path(__file__).resolve().parent.parent / "cases" / "invalid"
SUFFIXES = {".toml", ".yaml", ".json", ".ini"}
NAMES = [*names_in(FOLDER), "not-utf8.toml"]
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
