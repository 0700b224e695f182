"""A path from a problem without contact to the given one: Lemke's method, with cones in place of inequalities.

    w = W x + q + z (e + ϑ (x − x₀)),      z from large to 0

For large z all contacts are open. As z falls, contacts close, slip and stick one after another; between two such events
the modes stay and x(z) is smooth: it is followed by predictor and corrector. Where the path turns back, z grows for a
while: the sign of the determinant tells the direction. For ϑ > 0 and W ≥ 0 the path is bounded and cannot end before
z = 0, for at large z there is one solution only; e has no symmetries, so that no two events meet. What is left at z = 0
is a solution, or efforts grow beyond all bounds because there is none.

A path may also begin at efforts that solve a problem nearby: e is then what is wrong with their gaps, and z falls from 1.

The compiled functions share the arrays described in `friction_events`. A round is one Gauss elimination: it corrects the
point Y that lies ahead of X, or finds the way to go on from X where modes have changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.solvers.cone import aim, change, error, margins
from pliant.solvers.friction_events import (
    AT,
    BEGIN,
    COUNT,
    DX,
    DZ,
    EXTENT,
    FIRST,
    GAP,
    HERE,
    LAST,
    LIFT,
    NUMBERS,
    PHASE,
    POINT,
    RIGHT,
    RISE,
    ROW,
    SHRUNK,
    SLOPE,
    SOFT,
    STEP,
    THERE,
    TRIED,
    VECTORS,
    YGAP,
    YZ,
    X,
    Y,
    Z,
    allowed,
    kept,
    met,
    reach,
)
from pliant.solvers.friction_lift import CORRECT, STOPPED, TURN, lift
from pliant.solvers.friction_newton import copy, on_bounds, put_on_bounds
from pliant.solvers.friction_piece import gaps, kernel, solve_piece
from pliant.solvers.pieces import inner
from pliant.solvers.solution import Reals

END = 1e-11  # share of the lift at the start that counts as zero
NEXT = 0.1  # share of z that a step leaves at least, unless it goes to the end
BEND = 0.7  # cosine of the largest turn of the path in one step
CONVERGED = 1e-10  # error of the equations
CORRECTIONS, SHRINKS = 8, 30


class Path(NamedTuple):
    """The state of a path, see above."""

    V: np.ndarray
    G: np.ndarray
    mode: np.ndarray
    slip: np.ndarray
    S: np.ndarray

    @property
    def x(self) -> Reals:
        """(m,) where the path has got to."""
        return self.V[X]

    @property
    def stopped(self) -> bool:
        """Whether it has ended, at z = 0 or lost before."""
        return bool(self.S[PHASE] == STOPPED)


def begin(W: Reals, q: Reals, mu: Reals, lo: Reals, hi: Reals, x: Reals, seed: int | None = None) -> Path:
    """A path from x. With a seed, which makes e, contact efforts are zero and plain efforts solve the problem without contacts;
    else x (m,) are any efforts within bounds and cones.
    """
    rows, n = len(lo) + len(mu), len(mu)
    modes, slip = np.zeros(rows, np.int64), np.zeros((n, 3))
    path = Path(np.zeros((VECTORS, len(q))), np.zeros((4, rows)), modes, slip, np.zeros(NUMBERS))
    path.V[X] = path.V[BEGIN] = x
    lift(W, q, mu, lo, hi, -1 if seed is None else seed, *path)
    return path


@kernel
def advance(W, q, mu, lo, hi, V, G, mode, slip, S, rounds):
    """Follow the path for some rounds, unless it stops before; returns their number."""
    for count in range(rounds):
        if S[PHASE] == STOPPED:
            return count
        at, z = (X, S[Z]) if S[PHASE] == TURN else (Y, S[YZ])
        on_bounds(W, q, lo, hi, mode, V[RIGHT])
        for i in range(len(q)):  # w, linear about the point and z
            V[RIGHT, i] -= z * S[SOFT] * V[at, i]
            V[RISE, i] = V[LIFT, i] + S[SOFT] * (V[at, i] - V[BEGIN, i])
        sign = solve_piece(W, mu, len(lo), mode, slip, z * S[SOFT], V[RIGHT:POINT], V[POINT:LIFT])
        put_on_bounds(lo, hi, mode, V[POINT])
        if S[PHASE] == TURN or _correct(W, q, mu, lo, hi, V, G, mode, slip, S, sign):
            _depart(W, q, mu, lo, hi, V, G, mode, slip, S, sign)
    return rounds


@inner
def _depart(W, q, mu, lo, hi, V, G, mode, slip, S, sign):
    """The way to go on from X, and Y on it: at the next event, or at the end."""
    length = 1.0
    for i in range(len(q)):
        length += V[SLOPE, i] ** 2
    S[DZ] = -sign / np.sqrt(length)
    for i in range(len(q)):
        V[DX, i] = S[DZ] * V[SLOPE, i]
    margins(mu, lo, hi, V[X], V[GAP], mode, slip, G[HERE:])
    reach(W, mu, len(lo), V, G, mode, slip, S)
    z, dz = S[Z], S[DZ]
    last = dz < 0.0 and z + S[STEP] * dz <= 0.0 and S[TRIED] == 0.0  # nothing happens before the end
    S[LAST], S[SHRUNK] = 1.0 if last else 0.0, 0.0
    S[STEP] = -z / dz if last else min(S[STEP], (1.0 - NEXT) * z / -dz if dz < 0.0 else z / dz)
    S[PHASE] = CORRECT if z > END * S[FIRST] and dz != 0.0 else STOPPED
    _predict(W, q, mu, len(lo), V, mode, slip, S)


@inner
def _predict(W, q, mu, p, V, mode, slip, S):
    """Y at a step from X."""
    S[YZ], S[COUNT] = (0.0 if S[LAST] == 1.0 else S[Z] + S[STEP] * S[DZ]), 0.0
    for i in range(len(q)):
        V[Y, i] = V[X, i] + S[STEP] * V[DX, i]
    _look(W, q, mu, p, V, mode, slip, S)


@inner
def _look(W, q, mu, p, V, mode, slip, S):
    """YGAP and the slip directions at Y."""
    gaps(W, q, V[Y], V[YGAP])
    for i in range(len(q)):
        V[YGAP, i] += S[YZ] * (V[LIFT, i] + S[SOFT] * (V[Y, i] - V[BEGIN, i]))
    aim(mu, p, V[Y], V[YGAP], mode, slip)


@inner
def _correct(W, q, mu, lo, hi, V, G, mode, slip, S, sign):
    """Y ← the answer of the elimination, on the plane across DX or at z = 0. Where that is on the path, it becomes X; if modes
    change there, another elimination is needed, else this returns True. Where it leads nowhere, the step is shortened.
    """
    z, dz, h, size = S[Z], S[DZ], S[STEP], S[EXTENT]
    above, below, length = dz * (z + h * dz), dz, 1.0
    for i in range(len(q)):
        above += V[DX, i] * (V[X, i] + h * V[DX, i] - V[POINT, i])
        below += V[DX, i] * V[SLOPE, i]
        length += V[SLOPE, i] ** 2
    S[YZ] = 0.0 if S[LAST] == 1.0 else above / below
    for i in range(len(q)):
        V[Y, i] = V[POINT, i] + S[YZ] * V[SLOPE, i]
        size = max(size, abs(V[Y, i]))
    share = 0.3
    if size < np.inf:
        S[COUNT] += 1.0
        _look(W, q, mu, len(lo), V, mode, slip, S)
        if not error(mu, len(lo), V[Y], V[YGAP], mode, slip) <= allowed(CONVERGED, size, S[YZ]):
            if S[COUNT] < CORRECTIONS:
                return False
        elif -sign * below >= BEND * np.sqrt(length):
            margins(mu, lo, hi, V[Y], V[YGAP], mode, slip, G[THERE:])
            share = kept(G, size, S[YZ])
    beyond = share == 1.0 and S[YZ] < 0.0
    if beyond or share < 1.0:
        _shorten(S, z / (z - S[YZ]) if beyond else share, beyond)
        _predict(W, q, mu, len(lo), V, mode, slip, S)
        return False
    return _accept(mu, len(lo), V, G, mode, slip, S, size)


@inner
def _shorten(S, share, beyond):
    """A shorter step; to z = 0 if the last one led beyond it."""
    S[STEP] *= max(share, 0.25)
    S[SHRUNK] += 1.0
    if S[LAST] == 1.0:  # going to the end has failed: approach it
        S[LAST], S[TRIED], S[STEP] = 0.0, 1.0, min(S[STEP], (1.0 - NEXT) * S[Z] / -S[DZ])
    elif beyond and S[TRIED] == 0.0:
        S[LAST] = 1.0
    if S[SHRUNK] > SHRINKS:
        S[PHASE] = STOPPED


@inner
def _accept(mu, p, V, G, mode, slip, S, size):
    """X ← Y, and the mode that ends there changes; whether none did."""
    copy(V[Y], V[X])
    copy(V[YGAP], V[GAP])
    S[Z] = S[YZ]
    met(G, size, S)
    if S[ROW] < 0.0:
        return True
    change(mode, np.int64(S[ROW]), np.int64(S[AT]), p)
    aim(mu, p, V[X], V[GAP], mode, slip)
    S[PHASE], S[TRIED] = TURN, 0.0
    return False
