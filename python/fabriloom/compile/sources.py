"""What terminals send: packets of sources, the messages of programs, or both."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import traffic
from ..scenario import Scenario
from ..scenario.errors import Path
from ..technology.model import Ps
from ..traffic import TrafficError
from .columns import Arrays, refuse_beside
from .networks import Routes
from .several import parallel
from .times import MOST_WAIT_TICKS, Durations

if TYPE_CHECKING:
    from .programs import Messages

_NOT_OF_ENGINE = ("list_wait_ps", "flow_name", "flow_requirement_ps")
"""Columns of sources that the engine does not get."""

_LEFT = 0.001
"""Part of its packets that a shaper may hold back without a warning."""


class Packets:
    """Terminals that are sources of packets."""

    programs: None = None
    required: tuple[()] = ()

    def __init__(self, scenario: Scenario, routes: Routes) -> None:
        self.scenario, self.routes = scenario, routes
        try:
            self.given: Arrays = traffic.build(
                routes.graph.face,
                routes.technology,
                scenario.parameters("traffic"),
                seed=scenario.seed,
                via=routes.headed,
                ports=parallel(routes, scenario.port_choice),
                distributions=routes.distributions,
                others_ps=self._others_ps,
            )
            """The columns of the engine, with waits in ps, and with names and requirements of flows."""
        except TrafficError as error:
            raise scenario.located(error, "traffic") from error
        self._waits_ps = self.given.get("list_wait_ps", np.empty(0, np.int64))

    def _others_ps(self, mean_bytes: float) -> NDArray[np.float64]:
        """Return the mean time of packets on the first link of each terminal of another technology."""
        graph, network = self.routes.graph, self.routes.network
        first = np.arange(graph.ports) if graph.several is None else graph.several.starts[:-1]
        return network.packets_ps(mean_bytes)[graph.terminal_out_links[first]]

    @cached_property
    def durations(self) -> list[Durations]:
        """The waits of sources."""
        arrivals = self.scenario.traffic.arrivals
        own = [Durations.of("a wait of the list", ("traffic", "pattern"), self._waits_ps, MOST_WAIT_TICKS)]
        if arrivals.kind == "wait" and arrivals.wait_ps is not None:
            path = ("traffic", "arrivals", "wait")
            own.append(Durations.of("a wait", path, arrivals.wait_ps, MOST_WAIT_TICKS))
        return own

    def columns(self, tick_ps: Ps) -> Arrays:
        """Return the columns of sources."""
        columns = {name: column for name, column in self.given.items() if name not in _NOT_OF_ENGINE}
        return {**columns, "list_wait_ticks": (self._waits_ps // tick_ps).astype(np.uint64)}

    def warnings(self) -> list[str]:
        """Return a warning for flows of which their shapers hold back ever more."""
        given = self.given
        if not len(given.get("flow_cost_grains", ())):
            return []
        made, passed = given["flow_packets"] / given["flow_interval_grains"], traffic.passed(given)
        endless = (given["flow_count"] == 0) & (given["flow_end_grains"] < 0)
        held = np.flatnonzero(endless & (passed < made * (1 - _LEFT)))
        if not len(held):
            return []
        first, others = int(held[0]), f" and {len(held) - 1} more" if len(held) > 1 else ""
        share = f"{100 * float(passed[first] / made[first]):.3g} %"
        text = f"{given['flow_name'][first]}{others}: the shaper lets {share} of the packets pass"
        return [f"flow {text}, so ever more wait for tokens; raise shaper_rate, or lower the rate"]

    def demand(self, arrays: Arrays) -> traffic.Demand:
        """Return what each terminal sends to each."""
        return traffic.demand(arrays)

    def mean_packet(self, arrays: Arrays) -> tuple[float, float]:
        """Return the mean payload of a packet in bytes and in characters."""
        return traffic.mean_length(arrays)

    def lengths(self, arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """Return the payloads of packets in bytes, and which part of all packets has each."""
        return traffic.lengths(arrays)

    def failed(self, error: RuntimeError) -> Exception:
        """Return an engine error; none of them is a mistake of the user."""
        return RuntimeError(error.args[0])


def sources_of(scenario: Scenario, routes: Routes) -> Packets | Messages:
    """Return what the terminals of a scenario send. Raises ScenarioError."""
    _check_distributions(scenario)
    if scenario.program is None:
        return Packets(scenario, routes)
    from .programs import Messages

    return Messages(scenario, routes, Packets(scenario, routes) if scenario.has_traffic else None)


def _check_distributions(scenario: Scenario) -> None:
    """Refuse features that distributions do not support, and distributions that nothing is sent to."""
    if not getattr(scenario.routing, "distribution", None):
        return
    others: dict[str, tuple[Path, bool]] = {
        "faults": (("fault",), bool(scenario.fault)),
        "programs": (("program",), scenario.program is not None),
    }
    refuse_beside(scenario, "packet distribution", others)
    if scenario.traffic.pattern.kind != "flows":
        message = "nothing is sent to a distribution: only flows name one as their target"
        hint = 'write pattern = { kind = "flows", flows = [...] }'
        raise scenario.error(message, ("routing", "distribution"), hint, key=True)
