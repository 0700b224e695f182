"""Operations on the first `count` numbers of vectors, shared by the compiled solvers."""

from __future__ import annotations

from pliant.algebra.jit import work_inner


@work_inner
def add(y, factor, x, count):
    """y ← y + factor x."""
    for i in range(count):
        y[i] += factor * x[i]


@work_inner
def copy(y, factor, x, count):
    """y ← factor x."""
    for i in range(count):
        y[i] = factor * x[i]


@work_inner
def fill(y, value, count):
    """y ← value."""
    for i in range(count):
        y[i] = value


@work_inner
def dot(y, x, count):
    """y · x."""
    total = 0.0
    for i in range(count):
        total += y[i] * x[i]
    return total


@work_inner
def largest(x, count):
    """max |x|."""
    size = 0.0
    for i in range(count):
        size = max(size, abs(x[i]))
    return size
