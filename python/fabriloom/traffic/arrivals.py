"""When packets are made: the ``source_arrival``, interval, burst and gap columns.

A load of 1 means packets back to back. For open sources (poisson, constant, together, on-off) the mean
interval is the mean time of a packet on the link divided by the load; for closed ones (wait, random-wait) the
wait after a packet has gone is that interval less the packet itself. Intervals are in grains, and packets are
made at whole ones; a wait that follows from a load is a whole number of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabriloom.traffic.errors import TrafficError
from fabriloom.traffic.kinds import (
    BACKLOG,
    CONSTANT,
    NO_QUEUE,
    ON_OFF,
    POISSON,
    RANDOM_WAIT,
    SILENT,
    TOGETHER,
    WAIT,
    Columns,
    Links,
    Network,
    Settings,
    out_links,
)

KINDS = {
    "backlog": BACKLOG,
    "constant": CONSTANT,
    "together": TOGETHER,
    "poisson": POISSON,
    "wait": WAIT,
    "random-wait": RANDOM_WAIT,
    "on-off": ON_OFF,
}
Floats = NDArray[np.float64]


def packet_grains(network: Network, technology: Links, mean_chars: float, via: bool) -> Floats:
    """Per terminal: mean grains of a packet on its link, header, payload and end of packet."""
    rates = network.attributes.get("rate_bits_per_s")
    per_terminal = np.full(network.terminals, np.nan)
    if rates is not None:
        per_terminal = np.asarray(rates, np.float64)[out_links(network)]
    found = np.empty(network.terminals)
    keys = np.nan_to_num(per_terminal, nan=-1.0)
    for rate in np.unique(keys):
        bits = None if rate < 0 else round(rate)
        found[keys == rate] = technology.mean_packet_ps(mean_chars, bits, via) / technology.grain_ps
    return found


def arrivals(
    packet: Floats, load: Floats, sending: NDArray[np.bool_], grain_ps: int, settings: Settings
) -> Columns:
    """The columns. ``packet``: grains of a packet; ``load``: per terminal, 0 for those that are silent."""
    given = settings["arrivals"]
    kind = given["kind"]
    sending = sending & (load > 0)
    share = np.where(sending, load, 1.0)
    burst = np.zeros(len(packet))
    gap = np.zeros(len(packet))
    if kind == "backlog":
        interval = np.zeros(len(packet))
    elif "wait_ps" in given and given["wait_ps"] is not None:
        interval = np.full(len(packet), given["wait_ps"] / grain_ps)
    elif kind in ("wait", "random-wait"):
        interval = packet * (1 / share - 1)
        interval = np.floor(interval) if kind == "wait" else interval
    elif kind == "on-off":
        on_load, packets = float(given["on_load"]), float(given["burst_packets"])
        if np.any(share[sending] > on_load):
            raise TrafficError(
                f"load is above the on_load of {on_load:g} within bursts",
                "load",
                "reduce load, or raise on_load",
            )
        interval = packet / on_load
        burst[:] = packets
        gap = packets * packet * (1 / share - 1 / on_load)
    else:
        interval = packet / share
    silent = ~sending
    for column in (interval, burst, gap):
        column[silent] = 0
    terminals = len(packet)
    queue = settings.get("source_queue", 0)
    places = NO_QUEUE if queue == "none" else min(int(queue), NO_QUEUE - 1)
    return {
        "source_arrival": np.where(sending, KINDS[kind], SILENT).astype(np.uint8),
        "source_interval_grains": interval,
        "source_burst": burst,
        "source_gap_grains": np.maximum(gap, 0.0),
        "source_queue": np.full(terminals, places, np.uint32),
    }
