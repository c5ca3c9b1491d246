"""Technology: rates, buffers and delays of links, switches and rings, as presets with sources."""

from typing import TYPE_CHECKING

from fabriloom.process.libraries import names
from fabriloom.technology.errors import TechnologyError
from fabriloom.technology.model import Technology
from fabriloom.technology.presets import Preset, presets, ring_technology, technology

if TYPE_CHECKING:
    from fabriloom.technology.protocols import Interface, interface, protocol
    from fabriloom.technology.rings import RingTechnology

__all__ = ["Interface", "Preset", "RingTechnology", "Technology", "TechnologyError"]
__all__ += ["interface", "presets", "protocol", "ring_technology", "technology"]

_HOMES = dict.fromkeys(("Interface", "interface", "protocol"), ".protocols") | {"RingTechnology": ".rings"}
"""Few scenarios need these."""
__getattr__ = names(globals(), _HOMES)
