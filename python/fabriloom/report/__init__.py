"""Reports: one self-contained HTML file of a run, a curve, a comparison, a check or a reproduced
paper.

A report opens from disk without a network, in light and dark, and prints. Markup in names from files is
escaped.
"""

from .comparison import for_comparison
from .design import for_design
from .others import Reproduced, for_check, for_fit, for_reproduction
from .pages import for_curve, for_run, for_saturation
from .search import for_search
from .seeds import for_seeds

__all__ = ["Reproduced", "for_check", "for_comparison", "for_curve", "for_design", "for_fit"]
__all__ += ["for_reproduction", "for_run", "for_saturation", "for_search", "for_seeds"]
