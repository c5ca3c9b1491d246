"""What fails: links by name, and from when to when each of them is down."""

from .outages import Outage, outages
from .places import FaultError, links_of

__all__ = ["FaultError", "Outage", "links_of", "outages"]
