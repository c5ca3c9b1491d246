"""Large libraries, each imported when it is first used: a short command waits for none of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
else:
    from .later import Later

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
        message = f"{what} need {library}, which is not installed: pip install 'fabriloom[{extra}]'"
        raise MissingLibrary(message) from error
