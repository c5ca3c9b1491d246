"""Random failures and repairs of one component."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

_PS_PER_S = 10**12


def drawn(
    seed: str, until_ps: int, mtbf_ps: float, mttr_ps: float | None, lasts_ps: float | Fraction = 0
) -> Iterator[tuple[int, int | None]]:
    """Draw times of failure and repair in ps (None: never repaired) up to ``until_ps``; the seed decides.

    The time to the next failure counts from the moment the component runs again, ``lasts_ps`` after its
    repair. ``mttr_ps`` = 0: repaired at once.
    """
    random, now_ps = Random(seed), 0.0
    while True:
        now_ps += random.expovariate(1 / mtbf_ps)
        if now_ps >= until_ps:
            return
        at_ps = int(now_ps)
        if mttr_ps is None:
            yield at_ps, None
            return
        if mttr_ps > 0:
            now_ps += random.expovariate(1 / mttr_ps)
        yield at_ps, max(at_ps, int(now_ps))
        now_ps += lasts_ps


def mtbf_of_bits_ps(bit_error_rate: float, rate_bits_per_s: float) -> float:
    """Return the mean time between bit errors, in ps, of a link that sends without a pause."""
    return _PS_PER_S / (bit_error_rate * rate_bits_per_s)
