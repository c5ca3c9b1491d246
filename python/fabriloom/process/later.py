"""What is imported when it is first used, so that a short command waits for little."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names(package: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, whose ``globals()`` are given.

    ``homes``: the module of each name, such as ``{"Graph": ".graph"}``; ``{"topology": ".topology"}`` is the
    module itself.
    """

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        home = import_module(homes[name], package["__name__"])
        package[name] = home if homes[name] == f".{name}" else getattr(home, name)
        return package[name]

    return found


class Later:
    """A module that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
