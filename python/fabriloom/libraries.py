"""Large libraries, each imported when it is first used: a short command waits for none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl
else:
    from .later import Later

    pl = Later("polars")

__all__ = ["pl"]
