"""A path from a problem without contact to the given one: Lemke's method with cones.

    w = W x + q + z (e + ϑ (x − x₀)),      z from large to 0

For large z all contacts are open. As z falls, contacts close, slip and stick one after another; between two
such events the modes stay and x(z) is smooth: it is followed by predictor and corrector. Where the path turns
back, z grows for a while: the sign of the determinant tells the direction. For ϑ > 0 and W ≥ 0 the path is
bounded and cannot end before z = 0, for at large z there is one solution only; e has no symmetries, so that
no two events meet. What is left at z = 0 is a solution, or efforts grow beyond all bounds because there is
none.

A path may also begin at efforts that solve a problem nearby: e is then what is wrong with their gaps, and z
falls from 1.

A round is one Gauss elimination: it corrects the point y that lies ahead of x, or finds the direction to go
on from x where modes have changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_kernel, work_part
from pliant.solvers.friction.cone import change, error, margins, slip_directions
from pliant.solvers.friction.events import event_met, modes_kept, negligible, next_event
from pliant.solvers.friction.lift import lift_open, lift_right
from pliant.solvers.friction.mode_equations import (
    Equations,
    gaps,
    gaps_on_bounds,
    new_equations,
    put_on_bounds,
    solve_modes,
)
from pliant.solvers.friction.scaled import Scaled
from pliant.solvers.solution import Reals
from pliant.solvers.vectors import copy

CORRECT, TURN, STOPPED = 0, 1, 2  # phases of a path
SOFTNESS = 1e-2  # ϑ, in units of the lift
END = 1e-11  # share of the lift at the start that counts as zero
LEAST_LEFT = 0.1  # share of z that a step leaves at least, unless it goes to the end
SHARPEST = 0.7  # cosine of the largest turn of the path in one step
CONVERGED = 1e-10  # error of the equations
MOST_CORRECTIONS = 8  # of one point
MOST_REDUCTIONS = 30  # of one step
REDUCTION = 0.3  # of a step that leads nowhere …
STRONGEST = 0.25  # … and the strongest of a step that goes too far

STATE = np.dtype(
    [
        ("z", float),  # at x …
        ("y_z", float),  # … at y …
        ("first_z", float),  # … and at the start
        ("dz", float),  # along the path
        ("soft", float),  # ϑ
        ("extent", float),  # size of the data
        ("step", float),  # length of the step
        ("row", int),  # whose mode changes at its end, −1 for none …
        ("side", int),  # … and beyond which margin
        ("corrections", int),  # of y
        ("reductions", int),  # of the step
        ("last", int),  # whether the step leads to z = 0 …
        ("tried", int),  # … and whether that was tried
        ("phase", int),
    ]
)


class Path(NamedTuple):
    """A path and where it has got to."""

    x: Reals  # (m,) a point on the path …
    gap: Reals  # (m,) … its gaps …
    dx: Reals  # (m,) … the direction of the path there …
    dgap: Reals  # (m,) … and how gaps change along it
    y: Reals  # (m,) the point ahead of x …
    y_gap: Reals  # (m,) … and its gaps
    lift: Reals  # (m,) e
    begin: Reals  # (m,) x₀
    rise: Reals  # (m,) scratch
    right: Reals  # (2, m) right sides of the equations: of a point, of its derivative by z …
    answer: Reals  # (2, m) … and their solutions
    margin: Reals  # (2, p + n) margins of the modes at x, see `cone` …
    y_margin: Reals  # (2, p + n) … and at y
    mode: np.ndarray  # (p + n,)
    slip: Reals  # (n, 3)
    state: np.ndarray  # (1,) of STATE
    equations: Equations

    @property
    def stopped(self) -> bool:
        """Whether it has ended, at z = 0 or lost before."""
        return bool(self.state["phase"][0] == STOPPED)


def begin(s: Scaled, x: Reals, seed: int | None = None) -> Path:
    """A path from x.

    With a seed, which makes e, contact efforts are zero and plain efforts solve the problem without contacts;
    else x (m,) are any efforts within bounds and cones.
    """
    m, n = len(s.q), len(s.mu)
    rows = len(s.lo) + n
    path = Path(
        *np.zeros((9, m)),
        right=np.zeros((2, m)),
        answer=np.zeros((2, m)),
        margin=np.zeros((2, rows)),
        y_margin=np.zeros((2, rows)),
        mode=np.zeros(rows, np.int64),
        slip=np.zeros((n, 3)),
        state=np.zeros(1, STATE),
        equations=new_equations(m, 2),
    )
    path.x[:] = path.begin[:] = x
    _lift(s, path, -1 if seed is None else seed)
    return path


@work_kernel
def _lift(s, path, seed):
    """Modes, lift and gaps at the start."""
    state, gap = path.state[0], path.gap
    gaps(s.W, s.q, path.x, gap)
    z = lift_open(s, path, seed) if seed >= 0 else lift_right(s, path)
    extent = z
    for i in range(len(gap)):
        gap[i] += z * path.lift[i]
        extent = max(extent, abs(gap[i]))
    slip_directions(s.mu, len(s.lo), path.x, gap, path.mode, path.slip)
    state.z = state.first_z = z
    state.soft = SOFTNESS / z
    state.extent = extent
    state.phase = TURN if z > 0.0 else STOPPED


@work_kernel
def advance(s, path, rounds):
    """Follow the path for some rounds, unless it stops before; returns their number."""
    state, count = path.state[0], 0
    while count < rounds and state.phase != STOPPED:
        count += 1
        turning = state.phase == TURN
        z, point = (state.z, path.x) if turning else (state.y_z, path.y)
        gaps_on_bounds(s.W, s.q, s.lo, s.hi, path.mode, path.right[0])
        for i in range(len(point)):  # w, linear about the point and z
            path.right[0, i] -= z * state.soft * point[i]
            path.right[1, i] = path.lift[i] + state.soft * (point[i] - path.begin[i])
        shift = z * state.soft
        sign = solve_modes(
            s.W, s.mu, len(s.lo), path.mode, path.slip, shift, path.right, path.answer, path.equations
        )
        put_on_bounds(s.lo, s.hi, path.mode, path.answer[0])
        if turning or _correct(s, path, sign):
            _depart(s, path, sign)
    return count


@work_part
def _depart(s, path, sign):
    """The direction to go on from x, and y on it: at the next event, or at the end."""
    state, slope, length = path.state[0], path.answer[1], 1.0
    for i in range(len(slope)):
        length += slope[i] ** 2
    state.dz = -sign / np.sqrt(length)
    copy(path.dx, state.dz, slope, len(slope))
    margins(s.mu, s.lo, s.hi, path.x, path.gap, path.mode, path.slip, path.margin)
    next_event(s, path)
    z, dz = state.z, state.dz
    last = dz < 0.0 and z + state.step * dz <= 0.0 and state.tried == 0  # nothing happens before the end
    state.last = 1 if last else 0
    state.reductions = 0
    state.step = -z / dz if last else min(state.step, (1.0 - LEAST_LEFT) * z / -dz if dz < 0.0 else z / dz)
    state.phase = CORRECT if z > END * state.first_z and dz != 0.0 else STOPPED
    _predict(s, path)


@work_inner
def _predict(s, path):
    """y at a step from x."""
    state = path.state[0]
    state.y_z = 0.0 if state.last == 1 else state.z + state.step * state.dz
    state.corrections = 0
    for i in range(len(path.x)):
        path.y[i] = path.x[i] + state.step * path.dx[i]
    _evaluate(s, path)


@work_inner
def _evaluate(s, path):
    """Gaps and slip directions at y."""
    state = path.state[0]
    gaps(s.W, s.q, path.y, path.y_gap)
    for i in range(len(path.y)):
        path.y_gap[i] += state.y_z * (path.lift[i] + state.soft * (path.y[i] - path.begin[i]))
    slip_directions(s.mu, len(s.lo), path.y, path.y_gap, path.mode, path.slip)


@work_part
def _correct(s, path, sign):
    """y ← the answer of the elimination, on the plane across dx or at z = 0; whether to depart from there.

    Where that is on the path, it becomes x; if modes change there, another elimination is needed first. Where
    it leads nowhere, the step is reduced.
    """
    state, point, slope, p = path.state[0], path.answer[0], path.answer[1], len(s.lo)
    z, dz, h, size = state.z, state.dz, state.step, state.extent
    above, below, length = dz * (z + h * dz), dz, 1.0
    for i in range(len(point)):
        above += path.dx[i] * (path.x[i] + h * path.dx[i] - point[i])
        below += path.dx[i] * slope[i]
        length += slope[i] ** 2
    state.y_z = 0.0 if state.last == 1 else above / below
    for i in range(len(point)):
        path.y[i] = point[i] + state.y_z * slope[i]
        size = max(size, abs(path.y[i]))
    share, again, departs = REDUCTION, False, False
    if size < np.inf:
        state.corrections += 1
        _evaluate(s, path)
        wrong = error(s.mu, p, path.y, path.y_gap, path.mode, path.slip)
        if not wrong <= negligible(CONVERGED, size, state.y_z):
            again = state.corrections < MOST_CORRECTIONS
        elif -sign * below >= SHARPEST * np.sqrt(length):
            margins(s.mu, s.lo, s.hi, path.y, path.y_gap, path.mode, path.slip, path.y_margin)
            share = modes_kept(path, size)
    if not again:
        beyond = share == 1.0 and state.y_z < 0.0
        if beyond or share < 1.0:
            _reduce(state, z / (z - state.y_z) if beyond else share, beyond)
            _predict(s, path)
        else:
            departs = _accept(s, path, size)
    return departs


@work_part
def _reduce(state, share, beyond):
    """A shorter step; to z = 0 if the last one led beyond it."""
    state.step *= max(share, STRONGEST)
    state.reductions += 1
    if state.last == 1:  # going to the end has failed: approach it
        state.last = 0
        state.tried = 1
        state.step = min(state.step, (1.0 - LEAST_LEFT) * state.z / -state.dz)
    elif beyond and state.tried == 0:
        state.last = 1
    if state.reductions > MOST_REDUCTIONS:
        state.phase = STOPPED


@work_part
def _accept(s, path, size):
    """x ← y, and the mode that ends there changes; whether none did."""
    state = path.state[0]
    copy(path.x, 1.0, path.y, len(path.x))
    copy(path.gap, 1.0, path.y_gap, len(path.x))
    state.z = state.y_z
    event_met(path, size)
    if state.row >= 0:
        change(path.mode, state.row, state.side, len(s.lo))
        slip_directions(s.mu, len(s.lo), path.x, path.gap, path.mode, path.slip)
        state.phase = TURN
        state.tried = 0
    return state.row < 0
