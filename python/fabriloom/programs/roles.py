"""Choose the terminals that send and those that receive."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabriloom.programs.kinds import Ints, Settings
from fabriloom.programs.table import ProgramError
from fabriloom.traffic.kinds import Network
from fabriloom.traffic.names import Terminals, repeated
from fabriloom.traffic.receivers import has_roles, receivers_of, senders_of


class Roles:
    """The terminals of a network as sources and targets."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.terminals = Terminals(network.terminal_names)
        self.count = network.terminals

    def one(self, key: object, parameter: str) -> int:
        return self.terminals.one(key, parameter)

    def several(self, given: Any, parameter: str, default: Ints) -> Ints:
        """Return the terminals of a list, each once, or the first ones: ``default``."""
        if isinstance(given, str):
            return default
        if isinstance(given, int):
            self._enough(given, parameter)
            return np.arange(given)
        return self._listed(given, parameter)[0]

    def named(self, settings: Settings, end: str) -> Ints:
        """Return the terminals that ``end`` names: ``sources`` or ``targets``."""
        given, send = settings[end], end == "sources"
        able = senders_of(self.network) if send else receivers_of(self.network)
        if given == "auto" and not has_roles(self.network):
            half = (self.count + 1) // 2
            return np.arange(half) if send else np.arange(half, self.count)
        if given in ("auto", "all"):
            return able
        if isinstance(given, int):
            self._enough(given, end, len(able))
            return able[:given] if send else able[len(able) - given :]
        found, places = self._listed(given, end)
        wrong = np.flatnonzero(~np.isin(found, able))
        if len(wrong):
            what = "only receives, it cannot send" if send else "only sends, it cannot receive"
            message = f'"{self.terminals.names[int(found[wrong[0]])]}" {what}'
            raise ProgramError(message, places[wrong[0]], "name another one")
        return found

    def both(self, settings: Settings, apart: bool = True) -> tuple[Ints, Ints]:
        """Return sources and targets; ``apart``: no terminal may be both."""
        sources, targets = self.named(settings, "sources"), self.named(settings, "targets")
        for name, found in (("sources", sources), ("targets", targets)):
            if not len(found):
                raise ProgramError(f"there are no {name}", name, "add terminals, or name some")
        shared = np.intersect1d(sources, targets)
        if apart and len(shared):
            needed = len(sources) + len(targets)
            counted = isinstance(settings["sources"], int) and isinstance(settings["targets"], int)
            if counted and needed > self.count:
                raise self._too_many(needed, "sources")
            name = self.terminals.names[int(shared[0])]
            message = f'"{name}" is a source and a target; a program does one thing after the other'
            raise ProgramError(message, "targets", "give sources and targets that differ")
        return sources, targets

    def _listed(self, given: list[int | str], parameter: str) -> tuple[Ints, list[str]]:
        found, places = self.terminals.many(given, parameter)
        again = repeated(found)
        if again is not None:
            message = f'"{self.terminals.names[int(found[again])]}" is named twice'
            raise ProgramError(message, places[again], "name each terminal once")
        return found, places

    def _enough(self, needed: int, parameter: str, there: int | None = None) -> None:
        if needed > (self.count if there is None else there):
            raise self._too_many(needed, parameter, there)

    def _too_many(self, needed: int, parameter: str, there: int | None = None) -> ProgramError:
        message = f"the program is for {needed} terminals, the network has {self.count}"
        if there is not None and there < self.count:
            message += f", {there} of them {'senders' if parameter == 'sources' else 'receivers'}"
        return ProgramError(message, parameter, "reduce the number, or add terminals")
