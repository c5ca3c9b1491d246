"""Searches: the same trials for any number of jobs and after anything, limits, and wrong files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import Scenario, simulate
from fabriloom.cli import exits
from fabriloom.scenario.sections.study import Sought
from fabriloom.studies import cluster, study
from fabriloom.studies import search as searching
from fabriloom.studies.folder import Folder
from fabriloom.studies.search import Axis
from fabriloom.studies.store import program

from .small import command

pytest.importorskip("optuna", reason="make setup-search")

SMALL = """
name = "Small"
[topology]
kind = "crossbar"
terminals = 4
[technology]
preset = "spacewire-200"
header = "17 B"
[traffic]
rate = "5 Mbit/s"
[run]
duration = "200 us"
warmup = "10 us"
precision = 0.0
[study.search]
minimise = "technology.link_rate"
trials = 14
batch = 3
[study.search.over]
"technology.link_rate" = { from = "5 Mbit/s", to = "60 Mbit/s", step = "0.5 Mbit/s" }
"traffic.length" = { from = "4 B", to = "128 B", scale = "log" }
[study.search.limits]
total_latency_ns_p99 = { at_most = 30_000 }
"""


def small(**changed: Any) -> Scenario:
    """The search of ``SMALL``, with some settings changed."""
    import tomllib

    return Scenario.from_dict(tomllib.loads(SMALL)).with_settings(changed)


def stored(place: Path) -> dict[str, bytes]:
    """All points of a folder."""
    return {path.name: path.read_bytes() for path in (place / "points").glob("*.json")}


def test_jobs_and_interruptions_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = study(small(), tmp_path / "one", jobs=1)
    assert here.search is not None
    assert [one.number for one in here.search.trials] == list(range(1, 15))
    there = study(small(), tmp_path / "three", jobs=3)
    assert there.summary == here.summary
    original, runs = simulate.run, []

    def stopped(scenario: Scenario, **options: Any) -> Any:
        if len(runs) in (3, 9):
            runs.append(None)
            raise KeyboardInterrupt
        runs.append(scenario)
        return original(scenario, **options)

    monkeypatch.setattr(simulate, "run", stopped)
    ends = [study(small(), tmp_path / "often", jobs=1).why for _ in range(3)]
    assert ends == ["interrupted", "interrupted", ""]
    assert len(runs) == len(stored(tmp_path / "one")) + 2, "no point is run twice"
    assert stored(tmp_path / "often") == stored(tmp_path / "three") == stored(tmp_path / "one")
    (tmp_path / "often" / "trials" / "Small.json").write_text("{", encoding="utf-8")
    again = study(small(), tmp_path / "often")
    assert (again.summary, len(runs)) == (here.summary, len(stored(tmp_path / "one")) + 2)


def test_more_trials_go_on_from_those_before(tmp_path: Path) -> None:
    first = study(small(**{"study.search.trials": 9}), tmp_path / "s")
    more = study(small(), tmp_path / "s")
    assert more.table.head(9).equals(first.table)
    assert more.search is not None
    assert first.search is not None
    assert more.search.ranked[0].order <= first.search.ranked[0].order


def test_the_best_keeps_the_limits_and_is_the_least() -> None:
    whole = study(small())
    found = whole.search
    assert found is not None
    best = found.best
    assert best is not None
    kept = [one for one in found.trials if (one.values["total_latency_ns_p99"] or 0) <= 30_000]
    assert 0 < len(kept) < 14
    assert best.values["technology.link_rate"] == min(one.values["technology.link_rate"] or 0 for one in kept)
    assert best.number > found.spread, "results lead further than spreading does"
    assert found.table["verdict"].to_list().count("best") == 1
    refused = found.table.filter(found.table["verdict"] == "refused")
    assert refused["why"].str.contains("at most 30000 is allowed").all()
    titles = [picture.title for picture in fabriloom.charts(whole)]
    over_both = "The least technology.link_rate over both fields"
    assert titles == ["Trial by trial", over_both, "Over traffic.length"]


def test_a_trial_is_the_mean_of_its_replications() -> None:
    changed = {"study.search.trials": 2, "study.replications": 3, "study.search.minimise": None}
    wanted = {"study.search.maximise": "accepted_mbytes_per_s", "study.search.limits": {}}
    found = study(small(**changed, **wanted))
    assert found.search is not None
    one = found.search.trials[1]
    assert one.values["accepted_mbytes_per_s"] == pytest.approx(
        found.table["accepted_mbytes_per_s"][3:].mean()
    )
    assert found.search.ranked[0].values["accepted_mbytes_per_s"] == max(
        one.values["accepted_mbytes_per_s"] or 0 for one in found.search.trials
    )


def test_a_miss_within_the_noise_is_called_one() -> None:
    changed = {"study.search.trials": 1, "study.replications": 3}
    for part, by_chance in ((0.9999, True), (0.1, False)):
        limits = {"latency_ns_mean": {"at_most": 1e9}}
        first = study(small(**changed, **{"study.search.limits": limits}))
        assert first.search is not None
        limits["latency_ns_mean"]["at_most"] = (first.search.trials[0].values["latency_ns_mean"] or 0) * part
        found = study(small(**changed, **{"study.search.limits": limits}))
        assert found.search is not None
        assert found.search.trials[0].why.endswith(", perhaps by chance") == by_chance


def test_what_cannot_be_run_is_behind_all_others(tmp_path: Path) -> None:
    """Each end of both ranges is legal, the two together are not."""
    over = {"traffic.load": {"from": 0.1, "to": 0.8}, "traffic.arrivals.on_load": {"from": 0.2, "to": 0.9}}
    traffic = {"load": 0.1, "arrivals": {"kind": "on-off", "on_load": 0.9, "burst_packets": 4}}
    search = {"maximise": "accepted_mbytes_per_s", "trials": 10, "over": over}
    found = study(small(**{"traffic": traffic, "study.search": search}), tmp_path / "s")
    assert found.search is not None
    assert found.failed
    last = [one.why.partition(", 0.")[0] for one in found.search.ranked[-len(found.failed) :]]
    assert all(why.startswith("it cannot be run: ") and "traffic.load of 0." in why for why in last)
    assert found.search.best is not None


@pytest.mark.parametrize(
    ("range_", "number", "written", "asked"),
    [
        ({"from": "8 B", "to": "64 B"}, 8.6, "9 B", 1),
        ({"from": "8 B", "to": "64 B", "scale": "log"}, 65.0, "64 B", 64),
        ({"from": "2 us", "to": "3 us", "step": "0.25 us"}, 2.6, "2.5 us", 2),
        ({"from": "10 B", "to": "95 B", "step": "10 B"}, 95.0, "90 B", 8),
        ({"from": 0.1, "to": 0.9}, 0.12345678, 0.123457, 0.123457),
        ({"from": "0.5 us", "to": "40.5 us", "scale": "log"}, 60.0, "40.5 us", 40.5),
    ],
)
def test_fields_as_numbers(range_: dict[str, Any], number: float, written: Any, asked: float) -> None:
    axis = Axis(Sought.model_validate(range_))
    assert (axis.setting(number), axis.asked(written), axis.answered(asked)) == (written, asked, written)


def test_what_is_wrong_is_said_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "small.toml"
    for old, new, told in (
        ("total_latency_ns_p99 =", "total_latency_ns_p98 =", "did you mean total_latency_ns_p99?"),
        ('"technology.link_rate"\n', '"end_reason"\n', "end_reason is no number of a run of this scenario"),
        ('"technology.link_rate"\n', '"requirements_missed"\n', "there are offered_mbytes_per_s"),
    ):
        file.write_text(SMALL.replace(old, new, 1), encoding="utf-8")
        done = command("run", file, "--out", tmp_path / "s")
        assert (done.exit_code, told in done.stderr) == (exits.MISTAKE, True), done.stderr
        assert "^" in done.stderr
    file.write_text(SMALL, encoding="utf-8")
    done = command("run", file, "--out", tmp_path / "s", "--emit", "slurm")
    assert (done.exit_code, "use --on slurm" in done.stderr) == (exits.MISTAKE, True)

    def missing(_: str) -> Any:
        raise ImportError

    monkeypatch.setattr(searching, "import_module", missing)
    for words in (("run", file, "--out", tmp_path / "s"), ("resume", tmp_path / "s")):
        done = command(*words)
        assert (done.exit_code, done.stderr.count("\n")) == (exits.MISTAKE, 1), done.stderr
        assert "`make setup-search` installs it, or `pip install fabriloom[search]`" in done.stderr
    assert not stored(tmp_path / "s")


def test_the_command_tells_the_best_and_writes_a_report(tmp_path: Path) -> None:
    file, place = tmp_path / "small.toml", tmp_path / "s"
    file.write_text(SMALL, encoding="utf-8")
    done = command("run", file, "--out", place)
    assert done.exit_code == exits.OK, done.stderr
    best = study(small()).search
    assert best is not None
    assert f"{best.verdict}." in done.stdout
    page = (place / "reports" / "Small.html").read_text(encoding="utf-8")
    assert best.verdict in page
    assert "The scenario of the best trial" in page
    assert "14" in command("status", place).stdout
    assert command("export", place, tmp_path / "t.csv", "--trials").exit_code == exits.OK
    assert (tmp_path / "t.csv").read_text().startswith("trial,technology.link_rate,traffic.length,")


def test_a_worker_of_a_cluster_runs_the_same_trials(tmp_path: Path) -> None:
    here = study(small(**{"study.search.trials": 3}), tmp_path / "here")
    with Folder(tmp_path / "there", take=True, make=True) as folder:
        asked = folder.ask(small(**{"study.search.trials": 3}))
        tried = json.loads((tmp_path / "here" / "trials" / "Small.json").read_text())["tried"]
        words = json.dumps(asked.scenario.raw), str(tmp_path), json.dumps(tried)
        _, done = cluster.work(str(tmp_path / "there"), program(), *words, [0, 1, 2])
    assert [one.error for one in done] == ["", "", ""]
    assert stored(tmp_path / "there") == stored(tmp_path / "here")
    assert here.search is not None
