"""Technology: what links and switches are made of, as presets with a source for every number."""

from fabriloom.technology.model import Technology, TechnologyError
from fabriloom.technology.presets import Entry, Preset, presets, technology

__all__ = ["Entry", "Preset", "Technology", "TechnologyError", "presets", "technology"]
