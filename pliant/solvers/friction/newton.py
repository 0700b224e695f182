"""Newton's method on contact modes: solve the equations of the modes, see which modes follow, repeat.

This is the semismooth Newton method for the equations of Alart and Curnier, with a line search on their
residual. Near a solution it takes a few steps, whatever changes; far from one it may get stuck, which ends
it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_kernel, work_part
from pliant.solvers.friction.cone import classify, largest_residual, project
from pliant.solvers.friction.mode_equations import (
    Equations,
    gaps,
    gaps_on_bounds,
    new_equations,
    put_on_bounds,
    solve_modes,
    unknowns,
)
from pliant.solvers.friction.scaled import Scaled
from pliant.solvers.solution import Reals
from pliant.solvers.vectors import copy

PROXIMAL = 1e-10  # proximal term: dependent rows share the step that they leave open
ENOUGH = 0.9  # of the residual: what is left where a line search ends …
CONVERGES = 0.7  # … and what a step must leave at most, or it tries patience
MOST_STEPS = 30
GROWTH, MORE = 2, 30  # times and plus the unknowns of the step before: with more a step is hopeless
SHORTEST = 0.02  # step length of a line search


class Iterate(NamedTuple):
    """The iterates of Newton's method."""

    x: Reals  # (m,) efforts …
    gap: Reals  # (m,) … and their gaps
    old: Reals  # (m,) efforts before the step
    full: Reals  # (m,) efforts after a full step, projected
    right: Reals  # (1, m) right side of the equations
    new: Reals  # (1, m) their solution
    mode: np.ndarray  # (p + n,) see `cone`
    slip: Reals  # (n, 3)
    equations: Equations


def newton(s: Scaled, x: Reals, tol: float, patience: int) -> tuple[float, int]:
    """Improve x (m,) in place; returns (residual relative to the data, steps).

    `patience` is the number of steps that may lower the residual by little; with 0 there are no steps.
    """
    m, p, n = len(s.q), len(s.lo), len(s.mu)
    work = Iterate(
        *np.zeros((4, m)),
        right=np.zeros((1, m)),
        new=np.zeros((1, m)),
        mode=np.zeros(p + n, np.int64),
        slip=np.zeros((n, 3)),
        equations=new_equations(m, 1),
    )
    bounds = np.minimum(np.abs(s.lo), np.abs(s.hi))
    size = max(np.abs(s.q).max(initial=0.0), bounds.max(initial=0.0)) or 1.0
    return _newton(s, work, x, size, tol, patience)


@work_kernel
def _newton(s, work, x, size, tol, patience):
    m, p, mode = len(x), len(s.lo), work.mode
    copy(work.x, 1.0, x, m)
    best = last = _settle(s, work) / size
    copy(x, 1.0, work.x, m)
    steps, most = 0, 0
    while best > tol and patience > 0 and steps < MOST_STEPS:
        classify(s.mu, s.lo, s.hi, work.x, work.gap, mode, work.slip)
        count = unknowns(mode, p)
        if steps > 0 and count > most:
            break
        most = max(most, GROWTH * count + MORE)
        gaps_on_bounds(s.W, s.q, s.lo, s.hi, mode, work.right[0])
        for i in range(m):
            work.old[i] = work.x[i]
            work.right[0, i] -= PROXIMAL * work.x[i]
        solve_modes(s.W, s.mu, p, mode, work.slip, PROXIMAL, work.right, work.new, work.equations)
        put_on_bounds(s.lo, s.hi, mode, work.new[0])
        residual = _line_search(s, work, last * size) / size
        steps += 1
        if not residual < np.inf:
            break
        if residual > CONVERGES * last:
            patience -= 1
        if residual < best:
            best = residual
            copy(x, 1.0, work.x, m)
        last = residual
    return best, steps


@work_part
def _line_search(s, work, last):
    """x ← the best point of a line search from old to new, halving the step; returns its residual."""
    m = len(work.x)
    copy(work.x, 1.0, work.new[0], m)
    best, step, chosen = _settle(s, work), 1.0, 1.0
    copy(work.full, 1.0, work.x, m)
    residual = best
    while not residual < ENOUGH * last and step > SHORTEST:
        step *= 0.5
        _between(work, step)
        residual = _settle(s, work)
        if not best <= residual:
            best, chosen = residual, step
    if chosen != step:
        _between(work, chosen)
        best = _settle(s, work)
    return best


@work_inner
def _between(work, step):
    for i in range(len(work.x)):
        work.x[i] = work.old[i] + step * (work.full[i] - work.old[i])


@work_inner
def _settle(s, work):
    """Project x, fill its gaps, and return its residual."""
    project(s.mu, s.lo, s.hi, work.x)
    gaps(s.W, s.q, work.x, work.gap)
    return largest_residual(s.mu, s.lo, s.hi, work.x, work.gap)
