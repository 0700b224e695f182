"""The stages of a time step of a mechanism, compiled: implicit midpoint, cables and hinges as constraints.

    M(q_m)(v₁ − v₀) = h (Q(q_m, v_m) − c(q_m, v_m) + J(q_m)ᵀλ)
    q₁ = q₀ + h v_m,     J(q₁) v₁ = 0,     x_m = (x₀ + x₁)/2

for the hinges and for the cables that pull (λ < 0 in the sign of the rows, which grow with length). What the
velocities leave of the constraints' values, of third order in h, is projected away in the metric of M; so is
the rest of their rates.

No stage evaluates forces itself: `run` does, at the one place that is compiled for it, and hands the arrays
on.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane.kernels.vectors import add, copy, dot, factor, fill, solve

REPEATED_ROWS = (
    1e-14  # of the largest diagonal entry: added to the constraints' matrix for rows that are equal
)
TINY = 1e-300  # the same, where that entry is zero
ON_CONSTRAINT = 1e-13  # [m]: values smaller than this are not projected any further


@inner
def impulses(A, order, left, right, active, wanted, lam, dv):
    """λ (c,) of the active constraints with left·A⁻¹·rightᵀ λ = wanted, and dv += A⁻¹rightᵀλ."""
    c, n = right.shape
    Y = np.zeros((c, n))
    S = np.zeros((c, c))
    swaps = np.zeros(c, np.int64)
    largest = 0.0
    for k in range(c):
        if active[k]:
            solve(A, order, right[k], Y[k])
    for i in range(c):
        for k in range(c):
            S[i, k] = dot(left[i], Y[k]) if active[i] and active[k] else 0.0
        largest = max(largest, abs(S[i, i]))
    for i in range(c):
        S[i, i] += REPEATED_ROWS * largest + TINY if active[i] else 1.0
        if not active[i]:
            wanted[i] = 0.0
    factor(S, swaps)
    solve(S, swaps, wanted, lam)
    for k in range(c):
        if active[k]:
            add(dv, lam[k], Y[k])


@inner
def guess_active(rows, value, v, h, pins, slackness, active, taut):
    """Flag cables that are taut now, and as active also those that the velocity makes taut in the step."""
    for k in range(len(value)):
        active[k] = k < pins or value[k] + h * dot(rows[k], v) > -slackness
        taut[k] = k < pins or value[k] > -slackness


@inner
def any_of(flags):
    """Whether one is true."""
    one = False
    for k in range(len(flags)):
        one = one or flags[k]
    return one


@inner
def state_at(q, v, v1, h, share, at_q, at_v):
    """The state in the middle of the step (share ½) or at its end (share 1), for an end velocity v₁."""
    for k in range(len(q)):
        at_q[k] = q[k] + 0.5 * share * h * (v[k] + v1[k])
        at_v[k] = 0.5 * (v[k] + v1[k]) if share < 1.0 else v1[k]


@inner
def newton(M, K, C, applied, inertial, v, v1, h, fresh, A, order, R, dv):
    """dv = A⁻¹ (h (Q − c) − M (v₁ − v)), A = M + h/2 C + h²/4 K renewed if `fresh`.

    Returns whether A is regular.
    """
    n = len(v)
    for i in range(n):
        total = h * (applied[i] - inertial[i])
        for j in range(n):
            total -= M[i, j] * (v1[j] - v[j])
            if fresh:
                A[i, j] = M[i, j] + 0.5 * h * C[i, j] + 0.25 * h * h * K[i, j]
        R[i] = total
    if fresh and not factor(A, order):
        return False
    solve(A, order, R, dv)
    return True


@inner
def constrain(A, order, middle, rows, active, v1, h, gap, efforts, dv):
    """Add the impulses along the middle's rows to dv that stop the rates at the end; efforts: their means."""
    for k in range(len(gap)):
        gap[k] = -dot(rows[k], v1) - dot(rows[k], dv)
    impulses(A, order, rows, middle, active, gap, efforts, dv)
    for k in range(len(gap)):
        efforts[k] /= h


@inner
def update(v1, dv, h):
    """v₁ += dv; returns the size of the change relative to the velocities, NaN where there is no number."""
    size, moved = 0.0, 0.0
    for i in range(len(v1)):
        v1[i] += dv[i]
        size, moved = max(size, abs(v1[i])), max(moved, abs(dv[i]))
        if not np.isfinite(v1[i]):
            return np.nan
    return moved / (size + h)


@inner
def drop_pushing(efforts, active, pins):
    """Take the cable that would have to push the most out of the active set; returns whether one did."""
    worst, at = 0.0, -1
    for k in range(pins, len(active)):
        if active[k] and efforts[k] > worst:
            worst, at = efforts[k], k
    if at >= 0:
        active[at] = False
    return at >= 0


@inner
def add_overlong(rows, value, v1, active, pins, slackness):
    """Take cables that got too long and still lengthen into the active set; returns whether any did."""
    added = False
    for k in range(pins, len(active)):
        if not active[k] and value[k] > slackness and dot(rows[k], v1) > 0.0:
            active[k] = True
            added = True
    return added


@inner
def project(M, rows, value, pins, final, s):
    """Back onto the constraints that bind, in the metric of M; returns whether that was the end of it.

    Their values are projected, or their rates once the values are right or it is the `final` turn. s: scratch
    of the step.
    """
    worst, c, binding, gap = 0.0, len(s.active), s.binding, s.gap
    for k in range(c):  # a cable binds where it is too long, or was taut and pulls
        binding[k] = k < pins or value[k] > 0.0 or (s.active[k] and s.taut[k] and s.efforts[k] < 0.0)
        gap[k] = -value[k]
        worst = max(worst, abs(value[k])) if binding[k] else worst
    if not any_of(binding):
        return True
    for i in range(len(s.q1)):
        copy(M[i], s.A[i])
    factor(s.A, s.order)
    fill(s.lam, 0.0)
    if worst >= ON_CONSTRAINT and not final:
        impulses(s.A, s.order, rows, rows, binding, gap, s.lam, s.q1)
        return False
    for k in range(c):  # one that is already getting shorter is free to go slack
        rate = dot(rows[k], s.v1)
        binding[k] = binding[k] and (s.active[k] or rate >= 0.0)
        gap[k] = -rate
    impulses(s.A, s.order, rows, rows, binding, gap, s.lam, s.v1)
    return True
