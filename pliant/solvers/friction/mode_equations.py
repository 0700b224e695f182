"""The linear equations of fixed contact modes: one system for Newton steps, paths and sensitivities.

With w = W x + v + shift·x, rows inside their bounds and contacts that stick ask w = 0. A contact that slips
along d asks w_N = 0 and s w_t + (1 − s) x_t = 0 (see `cone`) and has two unknowns x_N and τ: x_T = μ x_N d +
τ t. All other efforts are zero here; callers add the values of rows on their bounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_part
from pliant.solvers.friction.cone import HIGH, INSIDE, LOW, OPEN, STICK
from pliant.solvers.vectors import copy


class Equations(NamedTuple):
    """Space for the equations of any modes of m rows, with r right sides."""

    place: np.ndarray  # (m, 3) rows that an unknown, and its equation, combine …
    column: np.ndarray  # (m, 3) … with which weights in the unknown …
    weight: np.ndarray  # (m, 3) … and in the equation
    A: np.ndarray  # (m, m + r) the system, right sides behind it


def new_equations(m: int, r: int) -> Equations:
    """Space to solve in."""
    return Equations(np.empty((m, 3), np.int64), np.empty((m, 3)), np.empty((m, 3)), np.empty((m, m + r)))


@work_inner
def gaps(W, q, x, w):
    """w ← W x + q."""
    copy(w, 1.0, q, len(q))
    for j in range(len(q)):
        if x[j] != 0.0:
            row, value = W[j], x[j]
            for i in range(len(q)):
                w[i] += value * row[i]


@work_inner
def gaps_on_bounds(W, q, lo, hi, mode, w):
    """w ← q + W x of the plain rows on their bounds."""
    copy(w, 1.0, q, len(q))
    for j in range(len(lo)):
        value = lo[j] if mode[j] == LOW else hi[j] if mode[j] == HIGH else 0.0
        if value != 0.0:
            row = W[j]
            for i in range(len(q)):
                w[i] += value * row[i]


@work_inner
def put_on_bounds(lo, hi, mode, x):
    """Plain rows on their bounds get their values."""
    for j in range(len(lo)):
        if mode[j] == LOW:
            x[j] = lo[j]
        elif mode[j] == HIGH:
            x[j] = hi[j]


@work_inner
def unknowns(mode, p):
    """How many there are."""
    count = 0
    for i in range(len(mode)):
        if i < p:
            count += 1 if mode[i] == INSIDE else 0
        elif mode[i] != OPEN:
            count += 3 if mode[i] == STICK else 2
    return count


@work_inner
def solve_modes(W, mu, p, mode, slip, shift, right, out, equations):
    """out (r, m) ← x for all right sides v (r, m); returns the sign of the determinant, 0 if singular."""
    place, column, weight, A = equations
    count, r = unknowns(mode, p), len(right)
    _describe(mu, p, mode, slip, count, place, column, weight)
    for a in range(count):
        line, own = A[a], 0.0
        for b in range(count + r):
            line[b] = 0.0
        for e in range(3):
            by, row = weight[a, e], W[place[a, e]]
            if by != 0.0:
                own += by * column[a, e]
                for b in range(count):
                    value = column[b, 0] * row[place[b, 0]]
                    if place[b, 1] != place[b, 0]:
                        value += column[b, 1] * row[place[b, 1]] + column[b, 2] * row[place[b, 2]]
                    line[b] += by * value
                for k in range(r):
                    line[count + k] -= by * right[k, place[a, e]]
        line[a] += own * shift
        if column[a, 0] == 0.0:
            line[a] += 1.0 - own  # the unknown τ
    sign = _eliminate(A, count, r)
    for k in range(r):
        for i in range(len(W)):
            out[k, i] = 0.0
        for a in range(count):
            for e in range(3):
                out[k, place[a, e]] += column[a, e] * A[a, count + k]
    return sign


@work_part
def _describe(mu, p, mode, slip, count, place, column, weight):
    """Unknowns and equations as combinations of rows, see the module."""
    n, a = len(mu), 0
    for b in range(count):
        for e in range(3):
            column[b, e] = 0.0
            weight[b, e] = 0.0
    for i in range(p + n):
        t = p + n + 2 * (i - p)
        if (i < p and mode[i] == INSIDE) or (i >= p and mode[i] == STICK):
            for e in range(1 if i < p else 3):
                for f in range(3):
                    place[a, f] = i if e == 0 else t + e - 1
                column[a, 0] = weight[a, 0] = 1.0
                a += 1
        elif i >= p and mode[i] != OPEN:
            one, two, share = slip[i - p, 0], slip[i - p, 1], slip[i - p, 2]
            for b in range(a, a + 2):
                place[b, 0], place[b, 1], place[b, 2] = i, t, t + 1
            column[a, 0], column[a, 1], column[a, 2] = 1.0, mu[i - p] * one, mu[i - p] * two
            weight[a, 0] = 1.0
            column[a + 1, 1], column[a + 1, 2] = -two, one
            weight[a + 1, 1], weight[a + 1, 2] = -two * share, one * share
            a += 2


@work_part
def _eliminate(A, count, r):
    """Gauss with partial pivoting, four columns at a time: right sides behind them become solutions."""
    width, sign = count + r, 1
    for first in range(0, count, 4):
        stop = min(first + 4, count)
        for k in range(first, stop):
            best = k
            for i in range(k + 1, count):
                best = i if abs(A[i, k]) > abs(A[best, k]) else best
            if best != k:
                sign = -sign
                for j in range(width):
                    A[k, j], A[best, j] = A[best, j], A[k, j]
            sign = -sign if A[k, k] < 0.0 else sign if A[k, k] > 0.0 else 0
            for i in range(k + 1, count):
                A[i, k] /= A[k, k]
                for j in range(k + 1, stop):
                    A[i, j] -= A[i, k] * A[k, j]
        for k in range(first, stop):
            for i in range(k + 1, stop):
                for j in range(stop, width):
                    A[i, j] -= A[i, k] * A[k, j]
        if stop < count:
            one, two, three, four = A[first], A[first + 1], A[first + 2], A[first + 3]
            for i in range(stop, count):
                row = A[i]
                a, b, c, d = row[first], row[first + 1], row[first + 2], row[first + 3]
                for j in range(stop, width):
                    row[j] -= a * one[j] + b * two[j] + c * three[j] + d * four[j]
    for k in range(count - 1, -1, -1):
        pivot = A[k]
        for j in range(count, width):
            total = pivot[j]
            for i in range(k + 1, count):
                total -= pivot[i] * A[i, j]
            pivot[j] = total / pivot[k]
    return sign
