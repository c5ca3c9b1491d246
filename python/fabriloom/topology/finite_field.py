"""Arithmetic of finite fields, for the families that are made of them.

The element of number ``a`` is the polynomial whose coefficients are the digits of ``a`` in base p.
"""

from __future__ import annotations

import numpy as np

from .graph import GraphError, Ints


class Field:
    """The field of ``order`` = p^k elements, with its sums and products as tables."""

    def __init__(self, order: int) -> None:
        """Find a primitive element, whose powers are all elements but zero."""
        self.order = order
        self.prime, degree = prime_power(order)
        self.powers = _powers(self.prime, degree)
        """The powers of the primitive element, from the 0th to the (order - 2)th."""
        digits = np.arange(order)[:, None] // self.prime ** np.arange(degree) % self.prime
        weights = self.prime ** np.arange(degree)
        self.sum: Ints = (digits[:, None, :] + digits[None, :, :]) % self.prime @ weights
        log = np.zeros(order, np.int64)
        log[self.powers] = np.arange(order - 1)
        self.product: Ints = self.powers[(log[:, None] + log[None, :]) % (order - 1)]
        self.product[0, :] = self.product[:, 0] = 0


def prime_power(order: int) -> tuple[int, int]:
    """Return p and k of a number p^k with p prime. Raises GraphError for other numbers."""
    prime = next((p for p in range(2, int(order**0.5) + 1) if order % p == 0), order)
    degree, rest = 0, order
    while rest % prime == 0:
        degree, rest = degree + 1, rest // prime
    if rest != 1:
        below = next(n for n in range(order - 1, 1, -1) if _is_power(n))
        above = next(n for n in range(order + 1, 2 * order) if _is_power(n))
        raise GraphError(
            f"order is {order}, which is no power of a prime; the nearest are {below} and {above}", "order"
        )
    return prime, degree


def _is_power(number: int) -> bool:
    prime = next((p for p in range(2, int(number**0.5) + 1) if number % p == 0), number)
    while number % prime == 0:
        number //= prime
    return number == 1


def _powers(prime: int, degree: int) -> Ints:
    """Return the powers of x modulo the first polynomial for which these are all elements but zero."""
    order = prime**degree
    top = order // prime
    for tail in range(1, order):
        # x^degree = the polynomial of this number; its constant term must not be zero.
        found, value = [], 1
        multiples = [_scaled(tail, factor, prime) for factor in range(prime)]
        while tail % prime and len(found) < order - 1:
            found.append(value)
            value = _added(value % top * prime, multiples[value // top], prime)
            if value == 1:
                break
        if len(found) == order - 1 and value == 1:
            return np.array(found, np.int64)
    raise AssertionError("every finite field has a primitive element")


def _scaled(number: int, factor: int, prime: int) -> int:
    """Multiply each digit by a factor, modulo the prime."""
    found, weight = 0, 1
    while number:
        found += number % prime * factor % prime * weight
        number, weight = number // prime, weight * prime
    return found


def _added(one: int, other: int, prime: int) -> int:
    """Add digit by digit, modulo the prime."""
    found, weight = 0, 1
    while one or other:
        found += (one % prime + other % prime) % prime * weight
        one, other, weight = one // prime, other // prime, weight * prime
    return found
