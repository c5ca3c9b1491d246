"""Studies of many runs: latency against throughput, sweeps over any setting, saturation."""

from .asked import StudyError
from .comparison import Comparison, compare, variants
from .curves import Curve, curve
from .inspection import check
from .points import Point
from .run_all import Study, study
from .saturation import Saturation, saturate
from .seeds import Repetition, repeat

__all__ = [
    "Comparison",
    "Curve",
    "Point",
    "Repetition",
    "Saturation",
    "Study",
    "StudyError",
    "check",
    "compare",
    "curve",
    "repeat",
    "saturate",
    "study",
    "variants",
]
