"""Whatever the bytes, loading gives a scenario or a ScenarioError."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from expects import unpacked
from fabriloom.scenario import Scenario, ScenarioError, load
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
VALID = unpacked("valid")
TEXTS = sorted(VALID.glob("*.toml")) + sorted((ROOT.parent / "scenarios").glob("*.toml"))
SUFFIXES = (".toml", ".yaml", ".json")
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
@given(st.binary(max_size=200), st.sampled_from(SUFFIXES))
def test_random_bytes(content: bytes, suffix: str) -> None:
    attempt(content, suffix)


@QUICK
@given(st.text(alphabet="[]{}=\"'\n\t :,.#-_+*&!|>?%@`abeinty012e9", max_size=120), st.sampled_from(SUFFIXES))
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
