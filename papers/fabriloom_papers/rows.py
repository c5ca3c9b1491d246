"""The two forms of results of experiments: a row per number, a series per curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .published import Number

Limits = tuple[float, float]
KINDS = ("arithmetic", "calibrated", "predicted", "reported")


def near(number: Number, part: float) -> Limits:
    """Return the limits of a printed value plus or minus a fraction of it."""
    value = float(number["value"])
    return value - abs(value) * part, value + abs(value) * part


def row(
    number: Number,
    ours: float | None,
    *,
    kind: str,
    ci95: float | None = None,
    tolerance: Limits | None = None,
    variant: str = "",
    note: str = "",
) -> dict[str, Any]:
    """Return one printed number with ours.

    Args:
        number: entry of ``published``.
        ours: our value in the same unit, None if there is none.
        kind: ``arithmetic``, ``calibrated``, ``predicted`` or ``reported``.
        ci95: half-width of the 95 % confidence interval of ours, same unit; None if exact or unknown.
        tolerance: lowest and highest value that agrees, in the same unit; None if the row is not scored.
        variant: how this row differs, if one printed number has several rows.
        note: for calibrated rows, the parameter that this number set; for reported rows, why it is not
            scored.

    Returns:
        ``id, paper, where, quantity, unit, published, ours, ci95, deviation, kind, tolerance, within`` and
        ``parameter``, ``reason``. ``deviation`` is (ours - published) / published; None if published is 0.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is none of {KINDS}")
    if (kind == "reported") == (tolerance is not None) or (kind in ("calibrated", "reported") and not note):
        raise ValueError(f"{number['id']}: a {kind} row lacks its tolerance or its note, or has one too many")
    published, paper = float(number["value"]), number["paper"]
    known = ours is not None and math.isfinite(ours)
    within = (
        bool(known and tolerance[0] <= ours <= tolerance[1])
        if tolerance is not None and ours is not None
        else None
    )
    return {
        "id": f"{paper}.{number['id']}" + (f".{variant.replace(' ', '-')}" if variant else ""),
        "paper": paper,
        "where": number["where"],
        "quantity": number["quantity"] + (f" ({variant})" if variant else ""),
        "unit": number["unit"],
        "published": published,
        "ours": ours if known else None,
        "ci95": ci95 if ci95 is not None and math.isfinite(ci95) else None,
        "deviation": (ours - published) / published if known and ours is not None and published else None,
        "kind": kind,
        "tolerance": list(tolerance) if tolerance is not None else None,
        "within": within,
        "parameter": note if kind == "calibrated" else None,
        "reason": note if kind == "reported" else None,
    }


def predicted(number: Number, ours: float | None, tolerance: Limits, **more: Any) -> dict[str, Any]:
    """Return the row of a number that follows from the model alone."""
    return row(number, ours, kind="predicted", tolerance=tolerance, **more)


def arithmetic(number: Number, ours: float | None, tolerance: Limits, **more: Any) -> dict[str, Any]:
    """Return the row of a number that follows from rates and wiring."""
    return row(number, ours, kind="arithmetic", tolerance=tolerance, **more)


def calibrated(
    number: Number, ours: float | None, tolerance: Limits, note: str, **more: Any
) -> dict[str, Any]:
    """Return the row of a number that set the parameter that ``note`` names."""
    return row(number, ours, kind="calibrated", tolerance=tolerance, note=note, **more)


def reported(number: Number, ours: float | None, note: str, **more: Any) -> dict[str, Any]:
    """Return the row of a number that is not scored, because of ``note``."""
    return row(number, ours, kind="reported", note=note, **more)


INPUT = "an input of the model"


def inputs(printed: dict[str, Number], values: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the rows of what the model was given."""
    return [reported(printed[key], value, INPUT) for key, value in values.items()]


def noted(printed: dict[str, Number], values: Mapping[str, tuple[Any, str]]) -> list[dict[str, Any]]:
    """Return rows that are not scored, each with our value and the reason."""
    return [reported(printed[key], ours, note) for key, (ours, note) in values.items()]


def exact(printed: dict[str, Number], values: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the rows of counts and sums, which have to be what is printed."""
    return [arithmetic(printed[key], float(value), near(printed[key], 0.0)) for key, value in values.items()]


def predictions(
    printed: dict[str, Number], values: Mapping[str, tuple[Any, float | Limits]], **more: Any
) -> list[dict[str, Any]]:
    """Return predicted rows, each with limits, or with the part by which ours may differ."""
    return [
        predicted(printed[key], ours, part if isinstance(part, tuple) else near(printed[key], part), **more)
        for key, (ours, part) in values.items()
    ]


def series(
    figure: str,
    title: str,
    label: str,
    *,
    x: Sequence[float],
    y: Sequence[float],
    x_quantity: str,
    y_quantity: str,
    ci95: Sequence[float] | None = None,
    published: Sequence[tuple[float, float, str]] = (),
    log: str = "",
) -> dict[str, Any]:
    """Return one curve of a figure.

    Args:
        figure: number of the published figure.
        title: its title.
        label: name of this curve.
        x, y: points, in order; quantities with their units are in ``x_quantity`` and ``y_quantity``.
        ci95: half-widths of ``y``, or None.
        published: values that the paper's text states, as (x, y, id of the number).
        log: axes that are logarithmic: "", "x", "y" or "xy".
    """
    return {
        "figure": figure,
        "title": title,
        "label": label,
        "x_quantity": x_quantity,
        "y_quantity": y_quantity,
        "x": [float(value) for value in x],
        "y": [float(value) for value in y],
        "ci": [float(value) for value in ci95] if ci95 is not None else None,
        "published": [{"x": float(px), "y": float(py), "id": number} for px, py, number in published],
        "log": log,
    }
