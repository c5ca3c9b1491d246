"""Which fabric? A ranked list of networks that meet requirements, see ``docs/guides/design.md``."""

from .answer import design
from .load import load
from .result import Design
from .schema import Requirements

__all__ = ["Design", "Requirements", "design", "load"]
