"""The packets of each flow of sources, from the beginning of the run to its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .rows import Floats, Ints, Names, Rows
from .tables import per

COLUMNS = ("name", "source", "target", "bytes", "count", "stop_ticks")
"""What a scenario says of each flow; the engine says the rest."""


def is_transient(arrays: Mapping[str, Any]) -> bool:
    """Whether traffic begins or ends within the run, so that it is never steady."""
    if len(arrays["flow_target"]):
        begins, ends = arrays["flow_begin_grains"] > 0, arrays["flow_end_grains"] >= 0
        return bool(np.any(begins | ends | (arrays["flow_count"] > 0)))
    return len(arrays["list_repeat"]) > 0 and not np.any(arrays["list_repeat"])


class CompletionRows(Rows):
    """Flows, in the order of their sources."""

    def own(self, name: str) -> Ints:
        """Return one number of each."""
        found = self.native.get(f"carried_{name}", ())
        return np.asarray(found, np.int64) if len(found) else np.zeros(len(self.names), np.int64)

    @property
    def names(self) -> Names:
        """What they are called."""
        return self.end("name")

    def end(self, name: str) -> Names:
        """Return a name of each: of its ends, or its own."""
        return np.asarray(self.native.get(f"carried_{name}", ()), object)

    @property
    def under_way(self) -> Ints:
        """Packets that wait or travel at the end."""
        gone = sum(self.own(name) for name in ("delivered", "refused", "lost"))
        return self.own("made") - gone

    @property
    def size(self) -> Ints:
        """Bytes delivered."""
        return self.own("delivered") * self.own("bytes")

    @property
    def first_ns(self) -> Floats:
        """When the first packet was created."""
        return np.where(self.own("made") > 0, self.own("first_ticks") * self.tick_ns, np.nan)

    @property
    def last_ns(self) -> Floats:
        """When the last packet was delivered."""
        return np.where(self.own("delivered") > 0, self.own("last_ticks") * self.tick_ns, np.nan)

    @property
    def completion_ns(self) -> Floats:
        """From the first created to the last delivered, if the flow has ended and all have arrived."""
        now, stop, count = int(self.native["end_time_ticks"]), self.own("stop_ticks"), self.own("count")
        over = (stop >= 0) & (stop <= now) | (count > 0) & (self.own("made") >= count)
        whole = over & (self.own("delivered") == self.own("made")) & (self.own("made") > 0)
        return np.where(whole, self.last_ns - self.first_ns, np.nan)

    @property
    def mbytes_per_s(self) -> Floats:
        """Bytes over the time from the first created to the last delivered."""
        return per(self.size * 1e3, self.last_ns - self.first_ns)
