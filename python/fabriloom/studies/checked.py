"""Everything that a check found, for its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile import Compiled
from ..compile.deadlock import DEADLOCKS
from ..results.summary import Provenance
from ..topology import Graph
from . import failures, inspection


@dataclass(frozen=True)
class Checked:
    """What is known of a network before it runs."""

    provenance: Provenance
    graph: Graph
    found: dict[str, Any]
    """See :func:`.inspection.inspect`."""
    lines: list[tuple[str, str]]
    warnings: list[str]
    """Without that of a deadlock, which is the verdict."""
    used: NDArray[np.float64]
    """Utilisation of each link, in the order of the graph."""
    when: str
    """For what traffic, in words."""
    failed: dict[str, Any] | None
    """See :func:`.failures.look`."""

    @classmethod
    def of(cls, compiled: Compiled, found: dict[str, Any], failed: dict[str, Any] | None) -> Checked:
        """Add to what was found what its report shows; ``failed``: single failures, if they were tried."""
        warnings = [one for one in found["warnings"] if not one.startswith(DEADLOCKS)]
        used, when = inspection.use_of_links(compiled)
        origin, lines = Provenance.of(compiled.scenario, "none"), inspection.lines(found)
        return cls(origin, compiled.graph, found, lines, warnings, used, when, failed)

    def failure_table(self) -> tuple[str, tuple[str, ...], list[list[str]]]:
        """Return the single failures as a sentence, a head and rows, the worst first."""
        assert self.failed is not None
        return failures.verdict(self.failed), failures.HEAD, failures.table(self.failed)
