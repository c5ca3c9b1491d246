"""What the papers print, as data with provenance: one file per paper.

Read by experiments, reports and tests only; no model may import it.

A file lists ``numbers`` one by one, and may have ``tables``, whose cells become numbers too, with ids
``table/row/column``; ``atlas-sci.toml`` tells what the keys of a table are.
"""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any

Number = dict[str, Any]
"""One printed number: ``paper``, ``id``, ``where``, ``quantity``, ``unit``, ``value``, ``text``, ``remark``.

That of a cell has ``row`` and ``column`` too, and ``damaged``, a reason, if the copy read has it wrong.
"""


def papers() -> list[str]:
    """Return the names of the papers whose numbers are here, such as ``macrame``."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def load(name: str) -> dict[str, Any]:
    """Return the file of one paper. Raises KeyError.

    Keys: ``paper`` (about the source), ``figures``, and ``numbers``, including the cells of its ``tables``.
    """
    if name not in papers():
        raise KeyError(f"no published numbers of {name!r}; choose from: {', '.join(papers())}")
    paper = tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    for table in paper.get("tables", ()):
        paper["numbers"] += _cells(table)
    for number in paper["numbers"]:
        number["paper"] = name
    return paper


def measured(name: str) -> list[dict[str, float]]:
    """Return a published set of measurements, row by row; the first lines of its file give the source."""
    file = resources.files(__name__).joinpath("measured", f"{name}.csv")
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]


def numbers(name: str) -> dict[str, Number]:
    """Return the printed numbers of one paper, by id. Raises KeyError."""
    return {number["id"]: number for number in load(name)["numbers"]}


def _cells(table: dict[str, Any]) -> Iterator[Number]:
    """Return one number for every cell of a printed table."""
    for row, values in table["rows"].items():
        printed = " ".join("-" if math.isnan(value) else str(value) for value in values)
        for column, value in zip(table["columns"], values, strict=True):
            if math.isnan(value):
                continue
            words = {"row": row.replace("-", " "), "column": column.replace("/", ", ").replace("-", " ")}
            number = {
                "id": f"{table['id']}/{row}/{column}",
                "where": table["where"],
                "quantity": table["quantity"].format(**words),
                "unit": table["unit"],
                "value": value,
                "text": f"{words['row']}: {printed}",
                "row": row,
                "column": column,
            }
            for key, told in (("damaged", "damaged"), ("remark", "remarks")):
                reasons = table.get(told, {})
                if reason := reasons.get(f"{row}/{column}", reasons.get(row)):
                    number[key] = reason
            yield number
