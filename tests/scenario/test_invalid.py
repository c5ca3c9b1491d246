"""Every wrong file of ``tests/cases/invalid`` gives exactly the message that stands at its head.

Whatever the bytes, loading gives a scenario or a ScenarioError.

Extreme values of every number of a scenario: each is refused by a message, or runs.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from expects import assert_told, expected, names_in, unpack, unpacked
from fabriloom import _native, simulate
from fabriloom.compile import compile
from fabriloom.scenario import Scenario, ScenarioError, load
from fabriloom.scenario.translate import keys_at
from fabriloom.studies import inspection
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


Place = tuple[str, ...]
GRID = {"kind": "grid", "shape": [2, 2], "terminals_per_switch": 1}
RING = {"kind": "sci-ring", "terminals": 3}
RUN = {"duration": "20 us"}
PING = {"kind": "ping-pong", "pairs": 1, "size": "100 B", "rounds": 3}
BASES: dict[str, dict[str, Any]] = {
    "ds-link": {"topology": GRID, "run": RUN, "technology": {"preset": "ds-link-c104"}},
    "spacewire": {"topology": GRID, "run": RUN, "technology": {"preset": "spacewire-200"}},
    "generic": {"topology": GRID, "run": RUN, "technology": {"preset": "generic"}},
    "ring": {"topology": RING, "run": RUN, "technology": {"preset": "sci-lc2"}},
    "switch": {
        "topology": {"kind": "sci-switch", "ports": 3},
        "run": RUN,
        "technology": {"preset": "scinet"},
    },
    "messages": {"topology": GRID, "program": PING, "protocol": {"preset": "t9000"}},
    "messages on a ring": {"topology": RING, "program": PING, "protocol": {"preset": "pio"}},
}
TIMES = ("0 ns", "1 ps", "7 ps", "1 s", "999999 s", "4611686 s")
SIZES = ("0 B", "1 B", "3 B", "2 MB", "2 GB", "1000 GB", "4000000 GB")
RATES = ("1 bit/s", "7 bit/s", "10 Tbit/s", "999 Tbit/s", "4000000 Tbit/s", "1000000 TB/s")
CABLES = ("0 m", "1 mm", "3.3 m", "1000 km", "1000000000000 m", "0 ps/m", "1 ps/m", "4000000000 us/m")
NUMBERS = (0, 1, 3, 1000, 4096, 65535, 2**20, 2**31, 2**62, 1e-300, 1e-12, 1e-6, 0.999999, 1.0, 1e15, 1e300)
EXTREMES = (*TIMES, *SIZES, *RATES, *CABLES, *NUMBERS)
OTHERS: tuple[Place, ...] = (
    ("traffic", "arrivals", "wait", "wait"),
    ("traffic", "arrivals", "random-wait", "wait"),
    ("traffic", "arrivals", "on-off", "burst_packets"),
    ("traffic", "arrivals", "on-off", "on_load"),
    ("program", "size"),
    ("program", "rounds"),
    *(
        ("technology", table, name)
        for table, names in {
            "retry": ("delay",),
            "bus": ("rate", "width", "setup", "encapsulation"),
            "memory": ("access", "block"),
        }.items()
        for name in names
    ),
)


def places(base: dict[str, Any]) -> Iterator[Place]:
    """Every setting of the sections that hold numbers."""
    for section in ("technology", "run", "protocol" if "program" in base else "traffic"):
        for key in keys_at((section,), {**base, section: base.get(section, {})}):
            if key not in ("preset", "kind", "path"):
                yield section, key
    ring = base["topology"]["kind"].startswith("sci")
    wanted = {"program"} if "program" in base else {"traffic"}
    yield from (path for path in OTHERS if path[0] in wanted or (path[0] == "technology" and ring))


def changed(base: dict[str, Any], path: Place, value: Any) -> dict[str, Any]:
    """The scenario with one other value; of four steps the third is the kind of the table."""
    section = dict(base.get(path[0], {}))
    if len(path) == 4:
        section[path[1]] = {"kind": path[2], path[3]: value}
    elif len(path) == 3:
        section[path[1]] = {path[2]: value}
    else:
        section[path[1]] = value
    return {**base, path[0]: section}


def shortly(compiled: Any, options: dict[str, Any], progress: Any) -> dict[str, Any]:
    """A run of a few events."""
    simulation = _native.Simulation(compiled.arrays, **options)
    simulation.advance(2000)
    return simulation.result()


@pytest.mark.parametrize("name", BASES)
def test_extreme_values_are_refused_or_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "_simulate", shortly)
    cases = [(path, value) for path in places(BASES[name]) for value in EXTREMES]
    refused = 0
    for path, value in random.Random(1).sample(cases, min(len(cases), 400)):
        try:
            scenario = Scenario.from_dict(changed(BASES[name], path, value))
            inspection.inspect(scenario)
            assert simulate.run(scenario).summary
        except ScenarioError:
            refused += 1
        except Exception as error:
            pytest.fail(f"{'.'.join(path)} = {value!r}: {type(error).__name__}: {error}")
    assert refused < len(cases)


@pytest.mark.parametrize(
    ("section", "setting", "value", "message"),
    [
        ("technology", "link_rate", "10 Tbit/s", "at this rate 4 bits last less than 10 ps"),
        (
            "technology",
            "input_buffer",
            "2 MB",
            "input_buffer has 2,000,000 characters, the most is 1,048,576",
        ),
        ("technology", "cable_delay", "4000000 us/m", "is too long beside the other times"),
        ("traffic", "load", 1e-12, "there would be no packet in any run"),
    ],
)
def test_what_is_legal_is_said(section: str, setting: str, value: Any, message: str) -> None:
    """And why, before the run, as everything else."""
    with pytest.raises(ScenarioError) as caught:
        simulate.run(Scenario.from_dict({"topology": GRID, section: {setting: value}}))
    assert message in caught.value.message
    assert caught.value.hint
    assert (caught.value.path or ())[:1] == (section,)
