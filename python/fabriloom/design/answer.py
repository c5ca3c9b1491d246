"""Find the networks that meet requirements: by arithmetic, on the built network, and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile import compile
from ..results.figures import figures
from ..scenario import Scenario
from ..studies.failures import failures
from ..studies.kinds import inspection_of
from ..studies.points import Advance
from ..studies.store import Out, Store
from ..topology import Graph
from .candidates import base_of, candidates, check_settings, families_of
from .load import changed
from .result import Design, Other, check_possible
from .schema import Requirements
from .sieve import Arithmetic, Looked, Miss, build
from .trials import Trials

FINALISTS = 6
"""Default number of networks to find, the cheapest first."""
MOST_BUILT = 1000
"""Most networks that are built, of those that pass the arithmetic."""
MOST_TRIED = 64
"""Most candidates that are simulated."""
BATCH = 8
"""Candidates per batch of simulations."""
FAILED = 3
"""A candidate is postponed after this many failures of its kind with at least its spare capacity."""
FROM_FRONT = 3
"""Number of more expensive candidates, with more capacity than all that met everything, also simulated."""
_GROWN_BUILT = 40

Say = Callable[[str, int, int], None]
"""Called at intervals: the present step, and how many of how many are done."""


def design(
    requirements: Requirements,
    *,
    finalists: int = FINALISTS,
    jobs: int = 2,
    out: Out = None,
    progress: Callable[[Advance], None] | None = None,
    say: Say | None = None,
) -> Design:
    """Find the cheapest networks that meet requirements.

    Args:
        requirements: the requirements, see :func:`load`.
        finalists: number of networks to find.
        jobs: number of parallel runs; the answer does not depend on it.
        out: folder in which finished runs are stored, and from which the same call continues.
        progress: called at intervals with the progress of a batch of runs.
        say: called at intervals with the present step.

    Raises:
        ScenarioError: the requirements are wrong, or no candidate meets them; the message then names the one
            or two requirements that cannot be met.

    Ctrl-C ends it early: the result holds what is known, and ``interrupted`` is set.
    """
    store, told = Store.of(out), say or (lambda *_: None)
    check_settings(requirements)
    found = _answer(requirements, finalists, jobs, store, progress, told)
    if not found.met and not found.interrupted:
        check_possible(requirements, found.looked)
    for path, values in requirements.what_if.items():
        for value in values:
            if found.interrupted:
                break
            asked = changed(requirements, path, value)
            other = _answer(asked, min(finalists, 2), jobs, store, progress, told)
            found.interrupted = found.interrupted or other.interrupted
            best = other.met[0] if other.met else None
            found.others.append(Other(path, value, best, other.nearest))
    return found


def _answer(
    requirements: Requirements,
    finalists: int,
    jobs: int,
    store: Store,
    progress: Callable[[Advance], None] | None,
    say: Say,
) -> Design:
    base = base_of(requirements)
    looked = _all(requirements, base, say)
    trials = Trials(requirements, base, store, jobs, progress)
    search = _Search(requirements, base, looked, trials, say)
    met = search.run(finalists)
    if met and not trials.interrupted:
        trials.most(met)
        trials.confirm(met)
        trials.broken(met)
    met = sorted((one for one in met if not one.misses), key=_order)
    return Design(requirements, base, looked, met, search.tried, trials)


def _order(one: Looked) -> tuple[float, float, str]:
    """Return the sort key: the cheapest first; of equals, the one with more spare capacity."""
    return one.cost, -one.bound, one.candidate.name


def _all(requirements: Requirements, base: Scenario, say: Say) -> list[Looked]:
    arithmetic, looked = Arithmetic(requirements, base), []
    for number, candidate in enumerate(candidates(requirements)):
        if number % 4096 == 0:
            say("candidates", number, 0)
        looked.append(arithmetic.look(candidate))
    if not looked:
        message = "no network of these families has this number of places"
        hint = f"looked at: {', '.join(families_of(requirements))}; a quarter of the places may be spare"
        raise requirements.error(message, ("require", "terminals"), hint)
    return looked


class _Search:
    """Builds and simulates candidates, the cheapest first, until enough meet everything.

    Runs show what share of its bound each kind of network carries. Candidates that need a larger share than
    any of their kind has reached are postponed; so are those of which several of their kind, with as much
    spare capacity, have failed.
    """

    def __init__(
        self, requirements: Requirements, base: Scenario, looked: list[Looked], trials: Trials, say: Say
    ) -> None:
        self._asked, self._base, self._trials, self._say = requirements, base, trials, say
        self._left = sorted((one for one in looked if not one.misses), key=_order)
        self._shown: dict[tuple[str, ...], float] = {}
        self._failed: dict[tuple[str, ...], list[float]] = {}
        self._grows: dict[str, bool] = {}
        self._built = 0
        self.tried = 0
        self.met: list[Looked] = []

    def run(self, finalists: int) -> list[Looked]:
        """Return the candidates that were simulated and met everything."""
        while len(self.met) < finalists and not self._trials.interrupted:
            batch = self._batch(self._likely, min(BATCH, 2 * finalists))
            if not batch:
                break
            self._try(batch)
        self._try_cheaper()
        if self.met and not self._trials.interrupted:
            best = max(one.bound for one in self.met)
            self._try(self._batch(lambda one: self._likely(one) and one.room > 1.2 * best, FROM_FRONT))
        return self.met

    def _try_cheaper(self) -> None:
        """Try cheaper postponed candidates, most spare capacity first: runs may mislead."""
        while not self._trials.interrupted:
            most = min((one.cost for one in self.met), default=float("inf"))
            rooms = sorted((one.room for one in self._left if one.cost < most), reverse=True)
            if not rooms:
                return
            least, before = rooms[:FAILED][-1], len(self.met)
            batch = self._batch(
                lambda one, most=most, least=least: one.cost < most and one.room >= least, FAILED
            )
            if not batch:
                return
            self._try(batch)
            if len(self.met) == before:
                return

    def _likely(self, one: Looked) -> bool:
        kind = one.candidate.kind
        failed = sum(room >= one.room for room in self._failed.get(kind, []))
        shown = self._shown.get(kind, 1.0)
        return failed < FAILED and shown * one.room >= self._asked.require.margin

    def _batch(self, wanted: Callable[[Looked], bool], most: int) -> list[Looked]:
        """Return the cheapest wanted candidates that pass the second sieve."""
        batch: list[Looked] = []
        most = min(most, MOST_TRIED - self.tried)
        for one in list(self._left):
            if len(batch) >= most or self._built >= MOST_BUILT:
                break
            if not wanted(one):
                continue
            if "bound" not in one.facts:
                self._say("networks built", self._built, 0)
                self._built += 1
                build(self._asked, self._base, one)
                self._check_growth(one)
            if one.misses:
                self._left.remove(one)
            elif wanted(one):
                self._left.remove(one)
                batch.append(one)
        return batch

    def _try(self, batch: list[Looked]) -> None:
        self._say("candidates simulated", self.tried, 0)
        for one in self._trials.judge(batch):
            suffers(self._asked, self._trials.scenario(one, 1.0), one)
            self.met += [] if one.misses else [one]
        self.tried += len(batch)
        margin = self._asked.require.margin
        for one in batch:
            one.facts["simulated"] = True
            short = [miss.have for miss in one.misses if miss.requirement == "require.margin"]
            kind, carries = one.candidate.kind, short[0] if short else margin
            if short:
                self._failed.setdefault(kind, []).append(one.bound)
            self._shown[kind] = max(self._shown.get(kind, 0.0), carries / one.bound)

    def _check_growth(self, one: Looked) -> None:
        """Check that the family has a member of the size to which it must grow."""
        factor, family = self._asked.require.growth, one.candidate.family
        if factor == 1 or one.misses:
            return
        if family not in self._grows:
            self._grows[family] = _grows(self._asked, family)
        if not self._grows[family]:
            text = f"no {family} for {factor} times the terminals passes the same questions"
            one.misses.append(Miss(("require", "growth"), 1.0, float(factor), text))


def _grows(requirements: Requirements, family: str) -> bool:
    factor = requirements.require.growth
    grown = changed(requirements, "require.terminals", requirements.require.terminals * factor)
    grown = changed(grown, "require.growth", 1)
    for name in ("switches", "cables", "cost"):
        if (limit := getattr(requirements.limits, name)) is not None:
            grown = changed(grown, f"limits.{name}", limit * factor)
    base = base_of(grown)
    arithmetic = Arithmetic(grown, base)
    members = [arithmetic.look(candidate) for candidate in candidates(grown, [family])]
    for one in sorted((one for one in members if not one.misses), key=_order)[:_GROWN_BUILT]:
        build(grown, base, one)
        if not one.misses:
            return True
    return False


# The share that a candidate delivers after the worst single failure, counted and simulated.
# Routing tables stay unchanged, and groups shrink to the remaining links, see ``studies.failures``; rebuilt
# tables may do better.
def suffers(requirements: Requirements, scenario: Scenario, looked: Looked) -> None:
    """Record the worst single failure, and whether too little arrives after it."""
    asked = requirements.require
    if asked.after_failure is None:
        return
    name, have, ahead = _worst(requirements, scenario)
    looked.facts |= {"after_failure": have, "worst_failure": name, "failure": ahead}
    if have < asked.after_failure:
        text = f"{figures(100 * have, 3)} % of the packets arrive after the failure of {name}, "
        text += f"{figures(100 * asked.after_failure, 3)} % are asked"
        looked.misses.append(Miss(("require", "after_failure"), have, asked.after_failure, text))


def _worst(requirements: Requirements, scenario: Scenario) -> tuple[str, float, dict[str, Any]]:
    """Return the worst failure: its name, the delivered share, and its ``[[fault]]`` table."""
    compiled = compile(scenario)
    ways = inspection_of(compiled).ways()
    found = [ways.after(*one) for one in _counted(requirements, compiled.graph)]
    if not found:
        return "its only switch", 0.0, {}
    worst = min(found, key=lambda left: (left.others_share, left.name))
    return f"{worst.kind} {worst.name}", worst.others_share, {worst.kind: worst.name, "at": "0 s"}


def _counted(requirements: Requirements, graph: Graph) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Return the failures that count: of cables between switches, of one cable of each ring, of switches."""
    asked = requirements.require
    both = not (asked.survive_links or asked.survive_switches)
    found = list(failures(graph, "all"))
    if both or asked.survive_links:
        yield from _cables(graph, [one for one in found if one[0] != "switch"])
    if (both or asked.survive_switches) and graph.switches > 1:
        yield from (one for one in found if one[0] == "switch")


def _cables(
    graph: Graph, found: list[tuple[str, str, NDArray[np.int64]]]
) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Return those of cables between switches, on rings the first of each ring: any other breaks as much."""
    seen = set[int]()
    for kind, name, dead in found:
        if graph.network_kind.cables:
            ends = np.concatenate([graph.link_source[dead], graph.link_target[dead]])
            if np.all(ends < graph.switches):
                yield kind, name, dead
            continue
        ring = int(graph.own_rings.station_ring[dead[0]])
        if ring not in seen:
            seen.add(ring)
            yield kind, name, dead
