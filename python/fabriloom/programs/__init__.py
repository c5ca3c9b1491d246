"""Programs: the operations of each terminal, in order, as columns for the engine."""

from fabriloom.programs.build import build
from fabriloom.programs.errors import ProgramError
from fabriloom.programs.table import Events, Programs

__all__ = ["Events", "ProgramError", "Programs", "build"]
