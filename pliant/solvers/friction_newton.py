"""Newton's method on contact modes: solve the equations of the present modes, look which modes follow, repeat.

This is the semismooth Newton method for the equations of Alart and Curnier, with a line search on their residual. Near a
solution it takes a few steps, whatever changes; far from one it may get stuck, which ends it.
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.cone import HIGH, LOW, classify, largest_residual, project
from pliant.solvers.friction_piece import gaps, kernel, solve_piece, unknowns
from pliant.solvers.pieces import inner

SHIFT = 1e-10  # proximal term: dependent rows share the step that they leave open
FALL, FALLS = 0.9, 0.7  # of the residual: that ends a line search; less than that tries patience
STEPS = 30
GROWTH, MORE = 2, 30  # unknowns, beside those of the step before, that make a step hopeless and expensive
SHORTEST = 0.02  # step of a line search

X, GAP, OLD, FULL, RIGHT, NEW = range(6)


@kernel
def newton(W, q, mu, lo, hi, x, tol, patience):
    """Improve x (m,) in place, scaled rows; returns (residual relative to the data, steps).

    `patience` is the number of steps that may lower the residual by little; with 0 there are no steps.
    """
    m, p = len(q), len(lo)
    mode, slip, V = np.zeros(p + len(mu), np.int64), np.zeros((len(mu), 3)), np.zeros((6, m))
    size = 0.0
    for i in range(m):
        size = max(size, abs(q[i]))
        if i < p:
            size = max(size, min(abs(lo[i]), abs(hi[i])))
    size = size if size > 0.0 else 1.0
    copy(x, V[X])
    best = last = _settle(W, q, mu, lo, hi, V) / size
    copy(V[X], x)
    steps, most = 0, 0
    while best > tol and patience > 0 and steps < STEPS:
        classify(mu, lo, hi, V[X], V[GAP], mode, slip)
        count = unknowns(mode, p)
        if steps > 0 and count > most:
            break
        most = max(most, GROWTH * count + MORE)
        on_bounds(W, q, lo, hi, mode, V[RIGHT])
        for i in range(m):
            V[OLD, i] = V[X, i]
            V[RIGHT, i] -= SHIFT * V[X, i]
        solve_piece(W, mu, p, mode, slip, SHIFT, V[RIGHT:NEW], V[NEW:])
        put_on_bounds(lo, hi, mode, V[NEW])
        residual = _search(W, q, mu, lo, hi, V, last * size) / size
        steps += 1
        if not residual < np.inf:
            break
        if residual > FALLS * last:
            patience -= 1
        if residual < best:
            best = residual
            copy(V[X], x)
        last = residual
    return best, steps


@inner
def _search(W, q, mu, lo, hi, V, last):
    """X ← the point between OLD and NEW, halving the step until the residual falls, where it is least; the residual."""
    copy(V[NEW], V[X])
    best, step, chosen = _settle(W, q, mu, lo, hi, V), 1.0, 1.0
    copy(V[X], V[FULL])
    residual = best
    while not residual < FALL * last and step > SHORTEST:
        step *= 0.5
        _between(V, step)
        residual = _settle(W, q, mu, lo, hi, V)
        if not best <= residual:
            best, chosen = residual, step
    if chosen != step:
        _between(V, chosen)
        best = _settle(W, q, mu, lo, hi, V)
    return best


@inner
def _between(V, step):
    for i in range(V.shape[1]):
        V[X, i] = V[OLD, i] + step * (V[FULL, i] - V[OLD, i])


@inner
def _settle(W, q, mu, lo, hi, V):
    """Project X, fill its gaps, and return its residual."""
    project(mu, lo, hi, V[X])
    gaps(W, q, V[X], V[GAP])
    return largest_residual(mu, lo, hi, V[X], V[GAP])


@inner
def copy(values, out):
    """out ← values."""
    for i in range(len(values)):
        out[i] = values[i]


@inner
def on_bounds(W, q, lo, hi, mode, v):
    """v ← q + W x of the plain rows on their bounds."""
    copy(q, v)
    for j in range(len(lo)):
        value = lo[j] if mode[j] == LOW else hi[j] if mode[j] == HIGH else 0.0
        if value != 0.0:
            row = W[j]
            for i in range(len(q)):
                v[i] += value * row[i]


@inner
def put_on_bounds(lo, hi, mode, x):
    """Plain rows on their bounds get their values."""
    for j in range(len(lo)):
        if mode[j] == LOW:
            x[j] = lo[j]
        elif mode[j] == HIGH:
            x[j] = hi[j]
