"""What a page needs to run a scenario as ``fabriloom.simulate`` does: where short runs measure the flow
control first, and where a cable fails by hand.

The tick of the native engine follows from the load of the opposite directions, which the short runs find. So
there is a set of columns for each tick that can be, and a page takes the coarsest that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from fabriloom import Scenario, _native
from fabriloom.compile import Compiled, compile
from fabriloom.compile.times import common_ps, times_of
from fabriloom.page.recording import around
from fabriloom.reading import UserError
from fabriloom.simulate import options_of, pilot_options

TENTHS = range(11)
"""The loads of opposite directions, in steps of a tenth."""
BY_LOAD = ("link_character_ticks", "link_end_ticks", "link_arrival_ticks")
"""The columns that depend on them."""
_ONLY_THERE = "here more follows from a fault than a link that is down: only `fabriloom page` computes that"
Store = Callable[[Iterable[bytes]], list[int]]
"""Keeps columns and returns their numbers."""
Column = Callable[[str, Any], bytes]


def fabrics(
    compiled: Compiled,
    packed: Callable[[Compiled], list[bytes]],
    option: Column,
    column: Column,
    add: Store,
) -> Iterator[dict[str, Any]]:
    """Yield the sets of columns of a scenario, with the coarsest tick first.

    ``columns``: their numbers; ``grain_ps`` and ``disconnect``: the step to which a fault is rounded, and
    ticks until its link is known to be down; ``buffer_ns``: the time to fill a buffer. Where short runs
    measure the flow control also ``tables``, the columns that depend on the load, one set for each tenth;
    ``factors``, by which they are multiplied, 0 where this tick is too coarse; and ``pilot``, the options of
    a short run.
    """
    if compiled.technology.flow_control != "matched":
        yield {"columns": add(packed(compiled)), **_told(compiled)}
        return
    ticks, tables = [], []
    for tenths in TENTHS:
        times = times_of(compiled.sources, np.full(compiled.graph.links, tenths, np.int64))
        ticks.append(times.tick_ps)
        network = times.routes.network.columns(times.beside, times.tick_ps)
        tables.append(add(column(name, network[name]) for name in BY_LOAD))
    for tick in sorted(_closed(ticks), reverse=True):
        fits = [tenths for tenths in TENTHS if ticks[tenths] % tick == 0]
        one = compiled.beside(np.resize(np.array(fits, np.int64), compiled.graph.links))
        if one.times.tick_ps != tick:
            continue  # so few links never need it
        yield {
            "columns": add(part for part in packed(one) if part[16 : 16 + part[0]].decode() not in BY_LOAD),
            "tables": tables,
            "factors": [int(own // tick) if own % tick == 0 else 0 for own in ticks],
            "pilot": add(option(name, value) for name, value in pilot_options(one).items()),
            **_told(one),
        }


def _told(compiled: Compiled) -> dict[str, Any]:
    tick, technology = compiled.times.tick_ps, compiled.technology
    return {
        "grain_ps": float(technology.grain_ps),
        "disconnect": int(max(1, -(-technology.disconnect_ps // tick))),
        **around(compiled),
    }


def _closed(ticks: Iterable[Any]) -> set[Any]:
    """Return the ticks, and those that divide several of them."""
    found: set[Any] = set()
    for tick in ticks:
        found |= {tick, *(common_ps(tick, other) for other in found)}
    return found


def failing(compiled: Compiled, with_settings: Callable[[dict[str, Any]], Scenario]) -> dict[str, Any]:
    """Return what a page needs so that cables fail by hand: ``refusal``, why none can, or empty; and by
    ``calm`` and ``faulty`` the options of runs without faults and with some, where they differ: such a run is
    never steady.
    """
    own = compiled.scenario.raw.get("fault", [])
    cable = {"cable": compiled.graph.link_names[0], "at": "1 us"}
    try:
        calm, faulty = (compile(with_settings({"fault": faults})) for faults in (None, [*own, cable]))
    except UserError as error:
        return {"refusal": "; ".join(map(str.strip, str(error).splitlines()))}
    names = {name for name, _ in (*_native.scalars(), *_native.columns()) if not name.startswith("fault_")}
    if not all(np.array_equal(calm.arrays[name], faulty.arrays[name]) for name in names):
        return {"refusal": _ONLY_THERE}
    options = options_of(calm), options_of(faulty)
    differ = [name for name in options[0] if options[0][name] != options[1][name]]
    return {
        "refusal": "",
        **{
            state: {name: of[name] for name in differ}
            for state, of in zip(("calm", "faulty"), options, strict=True)
        },
    }
