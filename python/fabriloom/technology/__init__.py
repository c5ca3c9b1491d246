"""Technology: rates, buffers and delays of links, switches and rings, as presets with sources."""

from fabriloom.technology.interfaces import Interface, interface, interface_settings, interfaces
from fabriloom.technology.model import Technology, TechnologyError
from fabriloom.technology.presets import Entry, Preset, presets, ring_technology, technology
from fabriloom.technology.protocols import Protocol, protocol, protocol_settings, protocols
from fabriloom.technology.rings import RingTechnology

__all__ = [
    "Entry",
    "Interface",
    "Preset",
    "Protocol",
    "RingTechnology",
    "Technology",
    "TechnologyError",
    "interface",
    "interface_settings",
    "interfaces",
    "presets",
    "protocol",
    "protocol_settings",
    "protocols",
    "ring_technology",
    "technology",
]
