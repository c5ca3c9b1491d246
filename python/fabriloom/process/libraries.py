"""Large libraries, each imported when it is first used: a short command waits for none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any


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


if TYPE_CHECKING:
    import polars as pl
else:
    pl = Later("polars")

__all__ = ["MissingLibrary", "of_extra", "pl"]


class MissingLibrary(ImportError):
    """A library that only some uses need is not installed; the text says what installs it."""


def of_extra(library: str, extra: str, what: str) -> Any:
    """Return a library that an extra of the package installs. ``what`` needs it, in words.

    Raises:
        MissingLibrary: it is not installed.
    """
    try:
        return import_module(library)
    except ImportError as error:
        package = library.partition(".")[0].replace("_", "-")
        message = f"{what} need {package}, which is not installed: pip install 'fabriloom[{extra}]'"
        raise MissingLibrary(message) from error
