"""What the papers say of faults: groups of links as fault tolerance, and how rare errors were.

The runs have a stated margin; the rest is exact.
"""

from __future__ import annotations

import math

import pytest
from fabriloom import Scenario
from fabriloom.compile import compile
from fabriloom.faults import drawn, mtbf_of_bits_ps
from fabriloom.studies.failures import look
from fabriloom.topology.banyan import VARIANTS
from support import simulate

CABLES = 4


def through_a_group(failed: int) -> float:
    """MB/s from eight terminals to eight others over a group of four cables, of which some have failed."""
    mirror = {"kind": "map", "map": list(reversed(range(16)))}
    faults = [{"cable": f"s(0,0)>s(0,1)#{number}", "at": "0 us"} for number in range(failed)]
    found = simulate(
        {
            "topology": {
                "kind": "grid",
                "shape": [1, 2],
                "terminals_per_switch": 8,
                "links_per_edge": CABLES,
            },
            "technology": {"preset": "ds-link-c104"},
            "traffic": {"pattern": mirror, "length": "64 B", "arrivals": "backlog"},
            "fault": faults,
            "run": {"duration": "1 ms", "warmup": "200 us", "precision": 0.0},
        }
    )
    return float(found.summary["accepted_mbytes_per_s"])


def test_a_group_of_links_carries_what_is_left_of_it() -> None:
    """GPMIMD and Macrame: the C104 takes any free link of a group, so of n links n - k carry (n - k)/n.

    Every terminal always has a packet for the other switch, and packets of 64 B keep a link full: within 1 %.
    """
    whole = through_a_group(0)
    for failed in (1, 2, 3):
        left = (CABLES - failed) / CABLES
        assert through_a_group(failed) / whole == pytest.approx(left, rel=0.01), failed


def test_two_hundred_hours_without_an_error() -> None:
    """Macrame, section 9: 1344 links of 100 Mbit/s ran 200 hours without an error, a rate below 9.6e-18.

    The printed rate is one error in all bits that were sent in that time. At that rate there is none with a
    probability of 0.39; with 95 % confidence the rate is below three times as much.
    """
    bits = 1344 * 1e8 * 200 * 3600
    assert 1 / bits == pytest.approx(9.6e-18, rel=0.08)
    assert math.exp(-bits * 9.6e-18) == pytest.approx(0.39, abs=0.01)
    assert -math.log(0.05) / bits == pytest.approx(3.1e-17, rel=0.01)
    # In 400 such periods, drawn as runs draw them: 158 +- 10 are quiet, and 45 more or fewer by chance once
    # in 150,000.
    period_ps = int(200 * 3600 * 1e12)
    mtbf_ps = mtbf_of_bits_ps(9.6e-18, 1344 * 1e8)
    quiet = sum(not list(drawn(str(seed), period_ps, mtbf_ps, 0.0)) for seed in range(400))
    assert abs(quiet - 158) < 45


def cut_off_pairs(**topology: object) -> list[int]:
    """Per cable or link between switches the pairs of terminals that its failure cuts off."""
    compiled = compile(Scenario.from_dict({"topology": topology}))
    between = {compiled.graph.link_names[link] for link in compiled.graph.switch_links}
    rows = look(compiled, "cables")["failures"]
    return [row["cut_off_pairs"] for row in rows if row["name"] in between]


@pytest.mark.parametrize("variant", VARIANTS)
def test_banyans_have_no_fault_tolerance(variant: str) -> None:
    """SCINET, section on multistage networks: Banyans "do not have redundancy and therefore also no fault
    tolerance".

    Each link between stages is the only way of its pairs: behind stage s of 16 terminals 2^s come before it
    and 2^(4 - s) behind it, 16 pairs, some of one terminal with itself. A folded Clos loses none.
    """
    pairs = cut_off_pairs(kind="banyan", terminals=16, variant=variant)
    assert len(pairs) == 3 * 16
    assert all(8 <= count <= 16 for count in pairs)
    assert set(cut_off_pairs(kind="clos", terminals=16, terminals_per_switch=4)) == {0}
