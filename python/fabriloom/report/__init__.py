"""The report: one HTML file with everything inside, of a run, a curve, a saturation or a reproduced paper.

It opens from disk without a network, in light and dark, prints, and takes nothing in a file's names for
markup.
"""

from .pages import for_curve, for_run, for_saturation
from .reproduction import Reproduced, for_reproduction

__all__ = ["Reproduced", "for_curve", "for_reproduction", "for_run", "for_saturation"]
