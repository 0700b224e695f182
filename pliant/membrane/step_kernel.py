"""The stages of a time step of a mechanism, compiled: implicit midpoint, cables and hinges on the velocities, then back onto them.

    M(q_m)(v₁ − v₀) = h (Q(q_m, v_m) − c(q_m, v_m) + J(q_m)ᵀλ),   q₁ = q₀ + h v_m,   J(q₁) v₁ = 0,   x_m = (x₀ + x₁)/2

for the hinges and for the cables that pull (λ < 0 in the sign of the rows, which grow with length). What the velocities leave of the
constraints' values, of third order in h, is projected away in the metric of M; so is the rest of their rates.

No stage evaluates forces itself: `run_kernel` does, at the one place that is compiled for it, and hands the arrays on.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane.small import add, copy, dot, factor, fill, solve


@inner
def impulses(A, order, left, right, active, wanted, lam, dv):
    """λ (c,) of the active constraints with left·A⁻¹·rightᵀ λ = wanted, and dv += A⁻¹rightᵀλ; repeated rows get no effort."""
    c, n = right.shape
    Y = np.zeros((c, n))
    S = np.zeros((c, c))
    swaps = np.zeros(c, np.int64)
    top = 0.0
    for k in range(c):
        if active[k]:
            solve(A, order, right[k], Y[k])
    for i in range(c):
        for k in range(c):
            S[i, k] = dot(left[i], Y[k]) if active[i] and active[k] else 0.0
        top = max(top, abs(S[i, i]))
    for i in range(c):
        S[i, i] += 1e-14 * top + 1e-300 if active[i] else 1.0
        if not active[i]:
            wanted[i] = 0.0
    factor(S, swaps)
    solve(S, swaps, wanted, lam)
    for k in range(c):
        if active[k]:
            add(dv, lam[k], Y[k])


@inner
def likely_taut(rows, value, v, h, pins, slackness, active, was):
    """Active: hinges, taut cables, and those that the present velocity makes taut within the step. was: those taut now."""
    for k in range(len(value)):
        active[k] = k < pins or value[k] + h * dot(rows[k], v) > -slackness
        was[k] = k < pins or value[k] > -slackness


@inner
def any_of(active):
    """Whether one is true."""
    found = False
    for k in range(len(active)):
        found = found or active[k]
    return found


@inner
def aim(q, v, v1, h, share, at_q, at_v):
    """Where to evaluate: the middle of the step (share ½) or its end (share 1)."""
    for k in range(len(q)):
        at_q[k] = q[k] + 0.5 * share * h * (v[k] + v1[k])
        at_v[k] = 0.5 * (v[k] + v1[k]) if share < 1.0 else v1[k]


@inner
def newton(M, K, C, applied, inertial, v, v1, h, fresh, A, order, R, dv):
    """dv = A⁻¹ (h (Q − c) − M (v₁ − v)) with A = M + h/2 C + h²/4 K, renewed if `fresh`; returns whether A is regular."""
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
def hold(A, order, middle, rows, active, v1, h, gap, efforts, dv):
    """Impulses along the rows of the middle that stop the rates at the end: dv takes them up, efforts (c,) are their means."""
    for k in range(len(gap)):
        gap[k] = -dot(rows[k], v1) - dot(rows[k], dv)
    impulses(A, order, rows, middle, active, gap, efforts, dv)
    for k in range(len(gap)):
        efforts[k] /= h


@inner
def change(v1, dv, h):
    """v₁ += dv; returns the size of the change relative to the velocities, NaN where there is no number."""
    size, moved = 0.0, 0.0
    for i in range(len(v1)):
        v1[i] += dv[i]
        size, moved = max(size, abs(v1[i])), max(moved, abs(dv[i]))
        if not np.isfinite(v1[i]):
            return np.nan
    return moved / (size + h)


@inner
def drop(efforts, active, pins):
    """Take out the cable that would have to push the most; returns whether there was one."""
    worst, at = 0.0, -1
    for k in range(pins, len(active)):
        if active[k] and efforts[k] > worst:
            worst, at = efforts[k], k
    if at >= 0:
        active[at] = False
    return at >= 0


@inner
def catch(rows, value, v1, active, pins, slackness):
    """Take in the cables that got too long and still lengthen; returns whether there were any."""
    caught = False
    for k in range(pins, len(active)):
        if not active[k] and value[k] > slackness and dot(rows[k], v1) > 0.0:
            active[k] = True
            caught = True
    return caught


@inner
def project(M, rows, value, q1, v1, active, was, efforts, pins, final, bind, A, order, gap, lam):
    """Back onto the constraints that bind, in the metric of M: their values, or their rates once the values are right or it is the
    `final` turn; returns whether that was the end of it."""
    worst, c = 0.0, len(active)
    for k in range(c):  # a cable binds where it is too long, or was taut and pulls
        bind[k] = k < pins or value[k] > 0.0 or (active[k] and was[k] and efforts[k] < 0.0)
        gap[k] = -value[k]
        worst = max(worst, abs(value[k])) if bind[k] else worst
    if not any_of(bind):
        return True
    for i in range(len(q1)):
        copy(M[i], A[i])
    factor(A, order)
    fill(lam, 0.0)
    if worst >= 1e-13 and not final:
        impulses(A, order, rows, rows, bind, gap, lam, q1)
        return False
    for k in range(c):  # one that is already getting shorter is free to go slack
        rate = dot(rows[k], v1)
        bind[k] = bind[k] and (active[k] or rate >= 0.0)
        gap[k] = -rate
    impulses(A, order, rows, rows, bind, gap, lam, v1)
    return True
