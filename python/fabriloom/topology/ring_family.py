"""Parameters that several families of rings have."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

Buses = Annotated[int, Field(ge=1, le=4, description="Equal buses of every switch")]
Ports = Annotated[int, Field(ge=2, le=8, description="Ports of the switch")]
Controllers = Annotated[
    Literal["shared", "own"],
    Field(
        description="shared: a port is one station, at all buses of its switch; own: a port is a link "
        "controller for every bus, in a row on its ring"
    ),
]
