"""From requirements to a ranked list: what is recommended, what is refused, and that nothing is run twice."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import fabriloom
import pytest
from fabriloom import ScenarioError
from fabriloom.compile import compile
from fabriloom.design import Design, design, load
from fabriloom.design.answer import _all
from fabriloom.design.candidates import base_of
from fabriloom.design.load import changed, from_dict
from fabriloom.report.design import for_design
from fabriloom.report.page import number
from fabriloom.results.columns.studies import CANDIDATES
from fabriloom.results.figures import figures

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCENARIOS = DOCS.parent / "scenarios" / "design"
SMALL: dict[str, Any] = {
    "name": "small",
    "require": {"terminals": 16, "margin": 1.2, "latency": "60 us"},
    "traffic": {"rate": "3 MB/s", "length": "64 B"},
    "run": {"duration": "400 us"},
    "limits": {"switch_ports": 8},
    "cost": {"switch": 100, "cable": 5},
    "families": {"clos": {}, "grid": {}},
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Design, Path]:
    place = tmp_path_factory.mktemp("design")
    return design(from_dict(SMALL), finalists=2, out=place), place


def test_the_first_meets_everything_and_nothing_cheaper_does(small: tuple[Design, Path]) -> None:
    found, _ = small
    best = found.met[0]
    assert best.facts["carries"] >= 1.2
    assert best.facts["tail_ns"] + best.facts["tail_ns_ci95"] <= 60_000
    assert [one.cost for one in found.met] == sorted(one.cost for one in found.met)
    cheaper = [one for one in found.looked if one.cost < best.cost and one is not best]
    assert cheaper
    assert all(one.misses for one in cheaper if one.facts.get("simulated"))


def test_the_numbers_of_a_finalist_are_those_of_its_runs(small: tuple[Design, Path]) -> None:
    """The mean and the percentile over three seeds, and the bound of check."""
    best = small[0].met[0]
    given = best.candidate.scenario(base_of(from_dict(SMALL)), {})
    runs = [fabriloom.run(given.with_settings({"seed": given.seed + more})).summary for more in range(3)]
    for name, key in (("mean_ns", "mean"), ("tail_ns", "p99")):
        seen = [summary["total_latency_ns"][key] for summary in runs]
        assert best.facts[name] == pytest.approx(sum(seen) / 3)
    accepted = sum(summary["accepted_mbytes_per_s"] for summary in runs) / 3
    assert best.facts["accepted_mbytes_per_s"] == pytest.approx(accepted)
    assert best.bound == pytest.approx(fabriloom.check(given)["demanded"]["shared_scale_bound"])


def test_short_packets_may_be_quick_enough_for_a_percentile() -> None:
    """A packet of 2 kB takes more than 100 us at 200 Mbit/s, and four of five are far shorter."""
    lengths = {"kind": "table", "lengths": ["16 B", "2 kB"], "weights": [4, 1]}
    changed = {
        "require": {**SMALL["require"], "latency": "60 us", "percentile": 50},
        "traffic": {"rate": "3 MB/s", "length": lengths},
        "technology": {"preset": "spacewire-200"},
    }
    found = design(from_dict({**SMALL, **changed}), finalists=1)
    assert not any("least latency" in miss.text for one in found.looked for miss in one.misses)


def test_what_short_runs_cannot_tell_is_said() -> None:
    """In 20 us a terminal makes some six packets: no test of the backlog can tell, and 99 % are all."""
    asked: dict[str, Any] = {**SMALL, "families": {"sci-ring": {}, "sci-long-rings": {"ports": [4]}}}
    asked |= {"technology": {"preset": "sci-lc2"}, "traffic": {"rate": "18 MB/s", "length": "64 B"}}
    asked["run"] = {"duration": "20 us"}
    short = design(from_dict(asked), finalists=2)
    (said,) = short.unsure()
    assert said.startswith("Too short to be sure are runs of ")
    assert said in for_design(short)
    asked["require"] = {**SMALL["require"], "latency": f"{short.met[0].facts['tail_ns'] - 1:.6g} ns"}
    with pytest.raises(ScenarioError, match="us are asked, perhaps by chance: the run is too short to tell"):
        design(from_dict(asked), finalists=2)
    asked |= {"require": SMALL["require"], "run": {"duration": "2 ms"}}
    assert not design(from_dict({**asked, "families": {"sci-long-rings": {"ports": [4]}}})).unsure()


def test_every_refused_candidate_says_which_requirement_and_by_how_much(small: tuple[Design, Path]) -> None:
    found, _ = small
    table = found.table
    assert table.columns == [column.name for column in CANDIDATES.columns]
    refused = table.filter(table["status"] == "refused")
    assert len(refused)
    assert refused["breaks"].null_count() == refused["by"].null_count() == 0
    margin = refused.filter(refused["breaks"] == "require.margin")
    assert (margin["have"] < margin["need"]).all()


def test_nothing_is_run_twice_and_jobs_do_not_matter(
    small: tuple[Design, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, place = small

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a run that is kept was run again")

    monkeypatch.setattr("fabriloom.simulate.run", never)
    again = design(from_dict(SMALL), finalists=2, out=place, jobs=1)
    assert again.to_json() == found.to_json()


def test_the_report_holds_the_answer(small: tuple[Design, Path]) -> None:
    found, _ = small
    page = for_design(found)
    for text in ("Why this one", "What was refused", found.met[0].candidate.name, "What was looked at"):
        assert text in page


def test_what_if_finds_the_answer_again(small: tuple[Design, Path]) -> None:
    _, place = small
    asked = SMALL | {"what-if": {"traffic.rate": ["1 MB/s", "3 MB/s"]}}
    found = design(from_dict(asked), finalists=1, out=place)
    less, same = found.others
    assert less.best is not None
    assert same.best is not None
    assert less.best.cost <= same.best.cost
    assert same.best.candidate.name == found.met[0].candidate.name


def test_several_networks_are_simulated_together(small: tuple[Design, Path]) -> None:
    _, place = small
    asked = SMALL | {"networks": [1, 2], "families": {"crossbar": {}}, "limits": {"switch_ports": 16}}
    found = design(from_dict(asked | {"traffic": {"rate": "7 MB/s"}}), finalists=1, out=place)
    assert [one.candidate.networks for one in found.met] == [2]
    best = found.met[0]
    scenario = found.trials.scenario(best, 1.0)
    assert scenario.resolve()["topology"]["replicate"] == 2
    assert scenario.resolve()["traffic"]["scale"] == 1.0
    assert (best.facts["switches"], best.facts["cables"], best.cost) == (2, 32, 2 * 100 + 32 * 5)
    assert best.facts["accepted_mbytes_per_s"] == pytest.approx(16 * 7, rel=0.05)
    one = next(one for one in found.looked if one.candidate.networks == 1)
    assert one.misses[0].requirement == "require.margin"


def test_two_small_networks_or_one_large_of_the_same_ports(small: tuple[Design, Path]) -> None:
    """Two ports a terminal: two networks of 16 ports, or one of 32 in which each terminal has both."""
    _, place = small
    asked = SMALL | {"networks": [1, 2], "terminal_ports": [2], "ports": {"choice": "first-free"}}
    asked |= {
        "families": {"clos": {"terminals_per_switch": [4], "centre_switches": [2], "links_per_pair": [1]}}
    }
    found = design(from_dict(asked), finalists=1, out=place)
    names = {(one.candidate.networks, one.candidate.ports_each) for one in found.looked}
    assert names == {(1, 2), (2, 1)}
    large = next(one for one in found.looked if one.candidate.networks == 1 and one.facts.get("bound"))
    graph = compile(found.trials.scenario(large, 1.0)).graph
    assert (graph.terminals, graph.ports) == (large.candidate.shape.terminals // 2, 32)
    assert large.facts["switches"] == graph.switches
    assert "2 ports a terminal" in large.candidate.name
    assert {row["terminal_ports"] for row in found.table.to_dicts()} == {2}


def test_growth_and_survival_refuse_by_themselves() -> None:
    asked = SMALL | {"require": {"terminals": 16, "survive_links": 1, "survive_switches": 1, "growth": 4}}
    asked |= {"families": {"clos": {}, "tree": {}, "crossbar": {}}, "limits": {"switch_ports": 16}}
    found = design(from_dict(asked), finalists=1)
    assert found.met[0].candidate.family == "clos"
    assert found.met[0].candidate.shape.parameters["centre_switches"] >= 2
    names = {(one.candidate.family, miss.requirement) for one in found.looked for miss in one.misses}
    assert ("tree", "require.survive_switches") in names
    assert ("crossbar", "require.survive_switches") in names


def test_too_little_arrives_after_a_failure() -> None:
    """Of a tree half is cut off by its root; two centres of a Clos stand in for each other."""
    asked = SMALL | {"require": {"terminals": 16, "after_failure": 0.9}, "limits": {"switch_ports": 16}}
    found = design(from_dict(asked | {"families": {"clos": {}, "tree": {}, "crossbar": {}}}), finalists=1)
    best = found.met[0]
    assert best.candidate.family == "clos"
    assert best.facts["after_failure"] >= 0.9
    assert best.facts["delivered_after"] == pytest.approx(best.facts["after_failure"], abs=0.15)
    refused = {miss.requirement: one for one in found.looked for miss in one.misses}["require.after_failure"]
    assert refused.cost <= best.cost
    assert "of the packets arrive after the failure of" in refused.misses[0].text
    assert any("after the failure of" in sentence for sentence in found.failing())


def test_short_rings_lose_less_after_a_failure() -> None:
    """A cable stops its ring: 4 of 32 terminals of ringlets of a pair, and all that pass a long one."""
    asked = {
        "name": "16 to 16",
        "require": {"terminals": 32, "after_failure": 0.9},
        "technology": {"preset": "scinet", "timeout": "50 us"},
        "traffic": {"pattern": {"kind": "local", "share": 0.5}, "rate": "20 MB/s", "length": "64 B"},
        "run": {"duration": "100 us"},
        "limits": {"switch_ports": 8},
        "cost": {"switch": 0, "port": 1, "cable": 0},
        "families": {"sci-banyan": {"terminals": [16], "variant": ["omega"], "base": [4]}},
    }
    found = design(from_dict(asked), finalists=1)
    wiring = {one.candidate.shape.parameters["wiring"]: one for one in found.looked}
    assert wiring["ringlet"].facts["delivered_after"] == pytest.approx(
        wiring["ringlet"].facts["after_failure"], abs=0.05
    )
    assert wiring["ringlet"].facts["after_failure"] > 0.9
    assert [miss.requirement for miss in wiring["long-ring"].misses] == ["require.after_failure"]
    assert wiring["long-ring"].facts["worst_failure"].startswith("cable ")


def test_arithmetic_takes_microseconds_a_candidate() -> None:
    """The goal is 100,000 candidates a minute; the clock here is shared, so a tenth of it is asked."""
    asked = load(SCENARIOS / "macrame-random.toml", ["families={}", "limits.switches=40"])
    began = time.process_time()
    count = len(_all(asked, base_of(asked), lambda *_: None))
    assert count > 10_000
    assert count / (time.process_time() - began) > 10_000 / 60


def rows_of(mark: str) -> dict[str, list[str]]:
    """The rows of the tables below a mark of the page, by their first cell."""
    text = (DOCS / "background" / "papers-as-requirements.md").read_text(encoding="utf-8")
    part = text.split(f"<!-- design: {mark} -->")[1].split("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines() if "|" in line]
    return {one: row[1:] for row in rows for one in row[0].split("; ")}


def agrees(found: Design, mark: str) -> None:
    """What was found is what the page says of the same networks."""
    rows = rows_of(mark)
    alike = next(iter(rows)).split(", ")  # the head of the table has what all its networks have
    for one in found.met:
        name = ", ".join(part for part in one.candidate.name.split(", ") if part not in alike)
        cost, *_, carries, _late = rows[name]
        assert (cost, carries) == (number(one.cost), figures(one.facts["carries"], 3)), one.candidate.name


QUICK = ["what-if={}", "families.clos.centre_switches=[5]", "families.clos.links_per_pair=[2]"]
QUICK += ["families.grid.shape=[[4, 4]]", "families.grid.links_per_edge=[4]"]


def test_macrame_takes_the_clos_for_random_and_the_grid_for_neighbour_traffic() -> None:
    random = design(load(SCENARIOS / "macrame-random.toml", QUICK), finalists=2)
    near = design(load(SCENARIOS / "macrame-neighbours.toml", QUICK), finalists=2)
    assert [one.candidate.family for one in random.met] == ["clos"]
    grid = next(one for one in random.looked if one.candidate.family == "grid")
    assert grid.misses[0].have == pytest.approx(0.76, abs=0.02)
    assert [one.candidate.family for one in near.met] == ["grid", "clos"]
    agrees(random, "macrame-random")
    assert rows_of("macrame-random")[grid.candidate.name] == [grid.misses[0].text]
    agrees(near, "macrame-neighbours")


def test_scinet_takes_the_second_grade_until_locality_falls() -> None:
    asked = load(SCENARIOS / "scinet.toml", ["what-if={}"])
    found = design(asked, finalists=3)
    assert [one.facts["ports"] for one in found.met] == [32, 64, 128]
    assert "ringlet" in found.met[2].candidate.name
    agrees(found, "scinet")
    for share in (0.4, 0.3):
        best = design(changed(asked, "traffic.pattern.share", share), finalists=1).met[0]
        assert rows_of("scinet")[str(share)] == [best.candidate.name, number(best.cost)]


def test_gpmimd_takes_one_network_for_little_and_four_for_much() -> None:
    quick = ["what-if={}", "families.clos.links_per_pair=[2]", "run.duration=6 ms"]
    quick.append('vary={"protocol.messages_at_once"=[4]}')
    for rate, networks in (("2 kHz", 1), ("16 kHz", 4)):
        asked = load(SCENARIOS / "gpmimd-level-3.toml", [*quick, f"program.rate={rate}"])
        best = design(asked, finalists=1).met[0]
        assert best.candidate.networks == networks
        page = rows_of("gpmimd-level-3")[rate]
        assert page[0].startswith("4 x clos" if networks == 4 else "clos")
