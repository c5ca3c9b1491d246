"""Reports: one self-contained HTML file of a run, a curve, a saturation, a comparison or a reproduced paper.

A report opens from disk without a network, in light and dark, and prints. Markup in names from files is
escaped.
"""

from .comparison import for_comparison
from .fitted import for_fit
from .pages import for_curve, for_run, for_saturation
from .reproduction import Reproduced, for_reproduction
from .seeds import for_seeds

__all__ = [
    "Reproduced",
    "for_comparison",
    "for_curve",
    "for_fit",
    "for_reproduction",
    "for_run",
    "for_saturation",
    "for_seeds",
]
