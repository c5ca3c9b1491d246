"""Programs: the operations of each terminal, in order, as columns for the engine."""

from fabriloom.programs.build import build
from fabriloom.programs.table import Events, ProgramError, Programs

__all__ = ["Events", "ProgramError", "Programs", "build"]
