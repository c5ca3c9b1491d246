"""``[sweep]`` and ``[study]``: the points of a study."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from fabriloom import units
from fabriloom.scenario.fields import Section, TimePs, optional, setting

OTHERS = ("sweep", "variants", "study")
"""Sections that add points to the scenario itself."""
MOST_VALUES = 10_000
_QUANTITY = re.compile(r"\s*([0-9._eE+-]+)\s*(\S*)\s*")


def amount(value: object) -> tuple[float, str, bool]:
    """Split a number, or a string of a number and a unit. Raises UnitError.

    Returns the number, the unit, and whether the number is whole."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value, "", isinstance(value, int)
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    try:
        assert found is not None
        return float(found[1]), found[2], float(found[1]).is_integer()
    except (AssertionError, ValueError):
        hint = 'write such as from = 0.1 or from = "1 us"'
        raise units.UnitError(f"{value!r} is neither a number nor a number with a unit", hint) from None


def quantity(number: float, unit: str, whole: bool) -> Any:
    """Write a number as in a scenario, with at most six significant digits."""
    rounded: float | int = round(number) if whole else float(f"{number:.6g}")
    return f"{rounded:g} {unit}" if unit and not whole else f"{rounded} {unit}" if unit else rounded


def ends(first: object, last: object, scale: str) -> tuple[float, float, str, bool]:
    """Return both ends of a range, their common unit, and whether both are whole. Raises UnitError."""
    (low, unit, whole), (high, other, also) = amount(first), amount(last)
    if unit != other:
        message = f"a range from {first!r} to {last!r} has two units"
        raise units.UnitError(message, "write both ends in the same unit")
    if low > high:
        raise units.UnitError(f"a range from {first!r} to {last!r} is empty", "write the lower end as from")
    if scale == "log" and low <= 0:
        raise units.UnitError("a logarithmic range begins above 0", "begin above 0, or leave out the scale")
    return low, high, unit, whole and also


def _checked(value: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[float, float, str, bool]:
    """Check a range table and return its ends, see :func:`ends`. Raises UnitError."""
    if unknown := sorted(str(key) for key in value if key not in keys):
        nearest = units.nearest(unknown[0], keys)
        hint = f"write {nearest}" if nearest else f"choose from {', '.join(keys)}"
        raise units.UnitError(f"a range has no {unknown[0]}", hint)
    if not {"from", "to"} <= set(value):
        raise units.UnitError("a range needs both ends", "write such as { from = 0.1, to = 0.9 }")
    scale = value.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise units.UnitError(f"there is no scale {scale!r}", "there are linear and log")
    return ends(value["from"], value["to"], scale)


def _expanded(value: object) -> object:
    """Expand a range such as ``{from = 1, to = 64, step = 1}`` to a list; return anything else unchanged."""
    if not isinstance(value, Mapping):
        return value
    low, high, unit, whole = _checked(value, ("from", "to", "step", "count", "scale"))
    scale = value.get("scale", "linear")
    if "count" in value and "step" in value:
        raise units.UnitError("a range has a step or a count, not both", "leave one of them out")
    if "count" in value:
        return _counted(low, high, unit, value["count"], scale)
    return _stepped(low, high, unit, whole, value.get("step"))


def _counted(low: float, high: float, unit: str, count: object, scale: str) -> list[Any]:
    if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= MOST_VALUES:
        message = f"a range of {count:,} values" if type(count) is int else f"a range of {count!r} values"
        raise units.UnitError(message, f"count is a whole number from 2 to {MOST_VALUES:,}")
    parts = [number / (count - 1) for number in range(count)]
    numbers = [low * (high / low) ** p if scale == "log" else low + (high - low) * p for p in parts]
    return [quantity(number, unit, number.is_integer()) for number in numbers]


def _stepped(low: float, high: float, unit: str, whole: bool, given: object) -> list[Any]:
    if given is None and not whole:
        raise units.UnitError("a range of fractions needs a step or a count", "write such as count = 9")
    step, of, also = (1.0, unit, True) if given is None else amount(given)
    if of != unit or step <= 0:
        raise units.UnitError(f"a step of {given!r}", "write a step above 0 in the unit of the ends")
    count = int((high - low) / step + 1e-9) + 1
    if count > MOST_VALUES:
        message = f"a range of {count:,} values is more than {MOST_VALUES:,}"
        raise units.UnitError(message, "write a larger step, or draw some: [study.sample]")
    return [quantity(low + step * number, unit, whole and also) for number in range(count)]


_SCHEMA = {
    "anyOf": [
        {"type": "array", "items": {}, "minItems": 1, "maxItems": MOST_VALUES},
        {"type": "object", "required": ["from", "to"]},
    ]
}
Values = Annotated[
    list[Any],
    Field(min_length=1, max_length=MOST_VALUES),
    BeforeValidator(_expanded),
    WithJsonSchema(_SCHEMA),
]
"""A list of values, or a range that stands for one."""


class Between(Section):
    """A uniform distribution between two values, on a linear or a logarithmic scale."""

    low: Any = setting("The lower end, with its unit", alias="from")
    high: Any = setting("The upper end, in the same unit", alias="to")
    scale: Literal["linear", "log"] = setting("Scale on which the distribution is uniform", "linear")


def _between(value: object) -> object:
    if isinstance(value, Mapping):
        _checked(value, ("from", "to", "scale"))
    elif value == []:
        raise units.UnitError("there is nothing to draw from", "give a list of values, or from and to")
    return value


Drawn = Annotated[Between | list[Any], Field(union_mode="left_to_right"), BeforeValidator(_between)]
"""The distribution or list from which a value is drawn."""


class Sought(Between):
    """A range of one field, in which a search looks for the best value."""

    step: Any = optional("Distance between values; without one, ends without a fraction mean steps of 1")


def _sought(value: object) -> object:
    if not isinstance(value, Mapping):
        raise units.UnitError(f"{value!r} is no range", "write such as { from = 0.1, to = 0.9 }")
    low, high, unit, _ = _checked(value, ("from", "to", "scale", "step"))
    if low == high:
        raise units.UnitError("both ends of the range are equal", "leave it out: there is nothing to choose")
    if "step" not in value:
        return value
    if value.get("scale") == "log":
        raise units.UnitError("a logarithmic range has no step", "leave one of them out")
    step, of, _ = amount(value["step"])
    if of != unit or not 0 < step <= high - low:
        hint = "write a step above 0 in the unit of the ends, not longer than the range"
        raise units.UnitError(f"a step of {value['step']!r}", hint)
    return value


class Limit(Section):
    """What a column of the result must keep."""

    at_least: float | None = optional("Smallest value allowed")
    at_most: float | None = optional("Largest value allowed")


class Search(Section):
    """A search for the [best values](../guides/search.md) of one to six fields.

    It needs the extra `fabriloom[search]`.
    """

    over: Annotated[
        dict[str, Annotated[Sought, BeforeValidator(_sought)]], Field(min_length=1, max_length=6)
    ] = setting(
        "Ranges by dotted path: "
        '"traffic.length" = { from = "16 B", to = "512 B" }, with scale = "log" or a step if wanted'
    )
    minimise: str | None = optional("The column of results, or the path in over, whose least value is wanted")
    maximise: str | None = optional("The same, of which the greatest value is wanted")
    limits: Annotated[dict[str, Limit], Field(max_length=8)] = setting(
        "Limits by column, in its unit: latency_ns_p99 = { at_most = 20_000 }; also at_least", {}
    )
    trials: Annotated[int, Field(ge=1, le=1000)] = setting("Trials, each with values of all fields", 40)
    batch: Annotated[int, Field(ge=1, le=64)] = setting(
        "Trials that are chosen together and can run at once", 4
    )


class Study(Section):
    """Points in addition to the combinations of ``[sweep]``, and the number of runs of each.

    The points are all combinations of variant, sweep, row of the zip, sample and failure; each is run once
    per replication.
    """

    zipped: Annotated[dict[str, Values], Field(max_length=16)] = setting(
        "Lists of equal length by dotted path: the first values of all form a point, and so on",
        {},
        alias="zip",
    )
    sample: Annotated[dict[str, Drawn], Field(max_length=16)] = setting(
        "Distributions by dotted path: "
        '"traffic.load" = { from = 0.1, to = 0.9 }, with scale = "log" if wanted, or a list of values',
        {},
    )
    samples: Annotated[int, Field(ge=0, le=100_000)] = setting("Draws of all values of [study.sample]", 0)
    sampling: Literal["latin-hypercube", "random"] = setting(
        "latin-hypercube: one value in each part of a range, one part per sample; random: independent "
        "draws, so that samples can be added later",
        "latin-hypercube",
    )
    failures: Literal["cables", "switches", "all"] | None = optional(
        "Adds every single failure of a cable, of a switch, or of either; the column `failure` names it"
    )
    failures_at_ps: TimePs = setting("Time of these permanent failures", 0)
    replications: Annotated[int, Field(ge=1, le=10_000)] = setting(
        "Runs of every point, with the seed of the scenario and the following seeds", 1
    )
    precision: Annotated[float, Field(ge=0, lt=1)] = setting(
        "A point gets no more replications, after the third, once the 95 % half-widths over "
        "seeds of throughput and mean latency are below this fraction of their values; 0: all replications",
        0.0,
    )
    search: Search | None = optional("A search for the best values of some fields, see below")
