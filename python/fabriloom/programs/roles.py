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
        """Return one terminal."""
        return self.terminals.one(key, parameter)

    def several(self, given: Any, parameter: str, default: Ints) -> Ints:
        """Return the terminals of a list, each once, or the first ones: ``default``."""
        if isinstance(given, str):
            return default
        if isinstance(given, int):
            self._enough(given, parameter)
            return np.arange(given)
        return self._listed(given, parameter)[0]

    def sources(self, given: Any) -> Ints:
        """Return the terminals that ``sources`` names."""
        able = senders_of(self.network)
        if given == "auto":
            return able if has_roles(self.network) else np.arange((self.count + 1) // 2)
        if given == "all":
            return able
        if isinstance(given, int):
            self._enough(given, "sources", len(able))
            return able[:given]
        return self._able(given, able, "sources", "only receives, it cannot send")

    def targets(self, given: Any) -> Ints:
        """Return the terminals that ``targets`` names."""
        able = receivers_of(self.network)
        if given == "auto":
            return able if has_roles(self.network) else np.arange((self.count + 1) // 2, self.count)
        if given == "all":
            return able
        if isinstance(given, int):
            self._enough(given, "targets", len(able))
            return able[len(able) - given :]
        return self._able(given, able, "targets", "only sends, it cannot receive")

    def both(self, settings: Settings, apart: bool = True) -> tuple[Ints, Ints]:
        """Return sources and targets; ``apart``: no terminal may be both."""
        sources, targets = self.sources(settings["sources"]), self.targets(settings["targets"])
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

    def _able(self, given: list[int | str], able: Ints, parameter: str, what: str) -> Ints:
        found, places = self._listed(given, parameter)
        wrong = np.flatnonzero(~np.isin(found, able))
        if len(wrong):
            message = f'"{self.terminals.names[int(found[wrong[0]])]}" {what}'
            raise ProgramError(message, places[wrong[0]], "name another one")
        return found

    def _enough(self, needed: int, parameter: str, there: int | None = None) -> None:
        if needed > (self.count if there is None else there):
            raise self._too_many(needed, parameter, there)

    def _too_many(self, needed: int, parameter: str, there: int | None = None) -> ProgramError:
        message = f"the program is for {needed} terminals, the network has {self.count}"
        if there is not None and there < self.count:
            message += f", {there} of them {'senders' if parameter == 'sources' else 'receivers'}"
        return ProgramError(message, parameter, "reduce the number, or add terminals")
