"""Operations on vectors of `count` numbers, shared by the compiled solvers."""

from __future__ import annotations

from pliant.solvers.native import INTEGER, NOTHING, REAL, REALS, native


@native(NOTHING, REALS, REAL, REALS, INTEGER)
def add(y, factor, x, count):
    """y ← y + factor x."""
    for i in range(count):
        y[i] += factor * x[i]


@native(NOTHING, REALS, REAL, REALS, INTEGER)
def copy(y, factor, x, count):
    """y ← factor x."""
    for i in range(count):
        y[i] = factor * x[i]


@native(NOTHING, REALS, REAL, INTEGER)
def fill(y, value, count):
    """y ← value."""
    for i in range(count):
        y[i] = value


@native(REAL, REALS, REALS, INTEGER)
def dot(y, x, count):
    """y · x."""
    total = 0.0
    for i in range(count):
        total += y[i] * x[i]
    return total


@native(REAL, REALS, INTEGER)
def largest(x, count):
    """max |x|."""
    most = 0.0
    for i in range(count):
        most = max(most, abs(x[i]))
    return most
