"""What a paper prints about a network, with tolerances, beside a curve of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fabriloom import Scenario
from fabriloom.experiments.beside import Beside
from fabriloom.published import numbers


def point(load: float, accepted: float, latency_us: float) -> Any:
    latency = {"mean": 1000 * latency_us, "mean_ci95": 10.0}
    rates = {f"{what}_mbytes_per_s": accepted for what in ("offered", "accepted")}
    summary = {**rates, "accepted_mbytes_per_s_ci95": 1.0, "latency_ns": latency}
    return SimpleNamespace(settings={"traffic.load": load}, summary=summary)


def test_rows_have_their_kind_and_tolerance() -> None:
    curve: Any = SimpleNamespace(
        points=[point(0.1, 238, 11.2), point(0.5, 1100, 30.0), point(0.6, 1340, 60.0)]
    )
    rows = Beside(numbers("macrame")).rows(curve)
    assert [(row["kind"], row["within"]) for row in rows] == [
        ("predicted", True),
        ("reported", None),
        ("predicted", False),
        ("reported", None),
        ("calibrated", True),
    ]
    assert all(row["tolerance"] for row in rows if row["kind"] != "reported")
    assert rows[-1]["parameter"]


def test_another_network_has_none() -> None:
    assert Beside.of(Scenario.from_dict({"topology": {"kind": "crossbar", "terminals": 4}})) is None
