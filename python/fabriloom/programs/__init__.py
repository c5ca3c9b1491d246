"""Programs: what terminals do, operation by operation, as columns for the engine."""

from fabriloom.programs.build import build
from fabriloom.programs.errors import ProgramError
from fabriloom.programs.table import Events, Programs

__all__ = ["Events", "ProgramError", "Programs", "build"]
