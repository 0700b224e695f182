"""Descent over the actuator efforts: a Newton step per piece, across contact borders while the cost falls.

Inside a piece this is a primal active-set method for a quadratic program. At a border the contact changes sides if
the cost keeps falling beyond it; otherwise the border is held like a limit. Where nothing on this side of the held
borders helps, the multipliers of the complementarity problem (ν of gaps, κ of contact efforts) tell whether the
other side does: the point is a local minimum when both are non-negative at every held border (strong stationarity).
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.cholesky_update import solve
from pliant.solvers.newton import (
    DHI,
    DLO,
    ETA,
    HI,
    LEVEL,
    LO,
    MU,
    SIGN,
    D,
    G,
    X,
    gradient,
    hessian,
    newton_step,
)
from pliant.solvers.pieces import RESPONSE, SLOPE, VALUE, cross, inner, respond

STILL = 1e-13  # a slope below this share of its terms is rounding
WRONG = 1e-9  # and so is a multiplier of the wrong sign
RESOLVED = 1e-3  # share of the initial residuals below which their rounding sets these scales
CROSSINGS = 3  # of one border without progress; then it is held

MINIMUM, UNFINISHED = 0, 1
NOTHING, BOUND, LIMIT, BORDER = 0, 1, 2, 3  # what stops a step
MET, BACK, BEYOND = 0, 1, 2  # why a border is dealt with
LET_GO, STAY = -1, -2  # outcome of a look at the multipliers, beside a border to cross
STRAIGHT, ANEW, ON_TRIAL = 0, 1, 2  # how to go on at a border


@inner
def descend(C, O, T, L, members, place, A, side, H, row, held, B, R, wanted, target, Q, duals, trail, limit):
    """Move to a local minimum of the cost; returns (status, iterations, size of the gradient's terms).

    `duals` (2, nc) become ν and κ. `trail` records the contacts that join (i + 1) or quit (−i − 1); its first entry
    is its length.
    """
    nc = len(place)
    tally = np.zeros(
        nc + 1, np.int64
    )  # crossings of each border without progress, and steps without progress
    size, trial, fresh, bent = 0.0, -1, True, True
    row[len(row) - 1] = 0
    floor = 0.0
    for n in range(len(wanted)):
        floor = max(floor, RESOLVED * abs(O[len(side), wanted[n]]), RESOLVED * abs(target[n]))
    for iteration in range(1, limit + 1):
        if bent:
            hessian(T, wanted, Q, H)
        size = gradient(T, wanted, target, Q, A, floor)
        if iteration == 1:
            _sit_down(A, side)
        if fresh:
            newton_step(T, A, side, H, row, held, B, R)
        falling, reach, length = _line(A, H, fresh)
        kind, border, why, bent = NOTHING, -1, MET, False
        moving = falling > STILL * size * length
        if trial >= 0 and not (moving and _inward(T, A, trial)):
            kind, border, why = BORDER, trial, BACK
        elif moving:
            kind, border, step = _walk(T, A, side, place, row, held, wanted, reach, tally)
            falling *= 1.0 - step / reach
        if kind == NOTHING and (fresh or not moving):  # here the multipliers are those of this point
            border = _release(C, T, L, members, place, A, side, row, held, wanted, target, duals, size)
            if border == STAY:
                return MINIMUM, iteration, size
            kind, why = BORDER if border >= 0 else NOTHING, BEYOND
            tally[nc] += 1
        trial, fresh = -1, True
        if kind == BORDER:
            may = why != MET or tally[border] <= CROSSINGS
            how, bent = _turn(
                C, O, T, L, members, place, row, held, wanted, target, border, why, falling, may, trail
            )
            fresh = how != STRAIGHT
            if how == ON_TRIAL:
                trial = border
        if tally[nc] > 4 * len(side) + 20:
            return UNFINISHED, iteration, size
    return UNFINISHED, limit, size


@inner
def _sit_down(A, side):
    """Hold the effort bounds that the gradient pushes against."""
    for j in range(len(side)):
        side[j] = 0
        if A[LO, j] == A[HI, j] or (A[X, j] <= A[LO, j] and A[G, j] > 0.0):
            side[j] = -1
        elif A[X, j] >= A[HI, j] and A[G, j] < 0.0:
            side[j] = 1


@inner
def _line(A, H, fresh):
    """Along d: how fast the cost falls, the step to its minimum, the largest |d_j|."""
    g, d = A[G], A[D]
    falling, length, curvature = 0.0, 0.0, 0.0
    for i in range(len(H)):
        falling -= g[i] * d[i]
        length = max(length, abs(d[i]))
        if not fresh:
            row = H[i]
            for j in range(len(H)):
                curvature += d[i] * row[j] * d[j]
    reach = 1.0
    if not fresh:
        reach = falling / curvature if curvature > 0.0 else np.inf
    return falling, reach, length


@inner
def _inward(T, A, i):
    """Whether d leads into the piece where the value of contact i grows."""
    total = 0.0
    for j in range(A.shape[1]):
        total += T[j, i] * A[D, j]
    return total > 0.0


@inner
def _walk(T, A, side, place, row, held, wanted, reach, tally):
    """Go along d until something stops it, and hold that if it is a limit; returns (kind, index, step)."""
    na, nc, m = len(side), len(place), T.shape[1]
    value, slope = T[na + VALUE], T[na + SLOPE]
    kind, index, step = _first_block(T, A, place, row, wanted, reach)
    length, extent = 0.0, 1e-300
    for j in range(na):
        length, extent = max(length, abs(A[D, j])), max(extent, abs(A[X, j]))
        A[X, j] += step * A[D, j]
    for r in range(m):
        value[r] += step * slope[r]
    tally[nc] += 1
    if step * length > 1e-12 * extent:
        for i in range(nc + 1):
            tally[i] = 0
    if kind == BOUND:
        side[index] = 1 if A[D, index] > 0.0 else -1
        A[X, index] = A[HI, index] if A[D, index] > 0.0 else A[LO, index]
    elif kind == LIMIT:
        low, j = slope[index] < 0.0, index - (m - na)
        hold(row, held, index, A[DLO, j] if low else A[DHI, j], 1.0 if low else -1.0)
    elif kind == BORDER:
        value[index] = 0.0
        tally[index] += 1
    return kind, index, step


@inner
def _first_block(T, A, place, row, wanted, reach):
    """What stops the way along d first, its index and the step there; fills the slopes."""
    na, nc, m = A.shape[1], len(place), T.shape[1]
    value, slope = T[na + VALUE], T[na + SLOPE]
    for r in range(m):
        slope[r] = 0.0
    length = 0.0
    for j in range(na):
        sensitivity, change = T[j], A[D, j]
        length = max(length, abs(change))
        if change != 0.0:
            for r in range(m):
                slope[r] += change * sensitivity[r]
    kind, index, step, still = NOTHING, -1, reach, 1e-12 * length
    for i in range(nc):
        if slope[i] < -still and value[i] < -step * slope[i] and not _among(row, row[len(row) - 1], i):
            kind, index, step = BORDER, i, max(value[i], 0.0) / -slope[i]
    for j in range(na):
        change = A[D, j]
        room = (A[LO, j] if change < 0.0 else A[HI, j]) - A[X, j]
        if change != 0.0 and room / change < step:
            kind, index, step = BOUND, j, max(room / change, 0.0)
        r = m - na + j
        change = slope[r]
        room = (A[DLO, j] if change < 0.0 else A[DHI, j]) - value[r]
        if abs(change) > still and room / change < step and not _among(row, row[len(row) - 1], r):
            # a violated limit is wanted, to be repaired: it does not stop anything
            if not _among(wanted, len(wanted), r):
                kind, index, step = LIMIT, r, max(room / change, 0.0)
    return kind, index, step


@inner
def _among(indices, count, index):
    for n in range(count):
        if indices[n] == index:
            return True
    return False


@inner
def hold(row, held, index, level, sign):
    """Hold a row, if there is room."""
    most = len(row) - 1
    n = row[most]
    if n < most:
        row[n], held[LEVEL, n], held[SIGN, n], held[MU, n] = index, level, sign, 0.0
        row[most] = n + 1


@inner
def _turn(C, O, T, L, members, place, row, held, wanted, target, i, why, falling, may, trail):
    """At the border of contact i: change sides or hold it; returns how to go on and whether sides were changed."""
    na, count = len(O) - 1, row[len(row) - 1]
    pivot = respond(C, T, L, members, place, i) if may else 0.0
    if pivot > 0.0 and why == MET and count == 0:
        # beyond the border g changes by 2 c (u·residual) with c = −S_i / pivot: no need to cross to know the slope
        pull = 0.0
        for n in range(len(wanted)):
            pull += T[na + RESPONSE, wanted[n]] * (T[na + VALUE, wanted[n]] - target[n])
        if not -falling - 2.0 * T[na + SLOPE, i] / pivot * pull < -1e-10 * falling:
            pivot = 0.0
    if pivot > 0.0:
        cross(C, O, T, L, members, place, i, pivot)
        n = trail[0] + 1
        if n < len(trail):
            trail[n] = i + 1 if place[i] >= 0 else -i - 1
            trail[0] = n
    if pivot == 0.0 or why == BACK:
        hold(row, held, i, 0.0, 1.0)
        return ANEW, pivot > 0.0
    if why == MET:
        # held rows bend at the border, so only the next step shows whether crossing it was right
        return (STRAIGHT if count == 0 else ON_TRIAL), True
    return ANEW, True


@inner
def _release(C, T, L, members, place, A, side, row, held, wanted, target, duals, size):
    """Let go of the bound or row whose multiplier is most wrong, or name the border beyond which the cost falls."""
    nc, count = len(place), row[len(row) - 1]
    worst, bound, position, borders = -WRONG * size, -1, -1, False
    for j in range(len(side)):
        if side[j] != 0 and A[LO, j] < A[HI, j] and -side[j] * A[ETA, j] < worst:
            worst, bound = -side[j] * A[ETA, j], j
    for n in range(count):
        borders |= row[n] < nc
        force = held[SIGN, n] * held[MU, n] * _norm(T, row[n])
        if force < worst:
            worst, bound, position = force, -1, n
    border = LET_GO
    if bound >= 0:
        side[bound] = 0
    elif position < 0:
        border = STAY
        if borders:
            contact_multipliers(C, T, L, members, place, row, held, wanted, target, duals)
            for n in range(count):
                if row[n] < nc:
                    force = (duals[0, row[n]] if place[row[n]] >= 0 else duals[1, row[n]]) * _norm(T, row[n])
                    if force < worst:
                        worst, position, border = force, n, row[n]
    if position >= 0:
        for n in range(position, count - 1):
            row[n], held[LEVEL, n], held[SIGN, n] = row[n + 1], held[LEVEL, n + 1], held[SIGN, n + 1]
        row[len(row) - 1] = count - 1
    return border


@inner
def _norm(T, row):
    largest = 0.0
    for j in range(len(T) - 4):
        largest = max(largest, abs(T[j, row]))
    return largest


@inner
def contact_multipliers(C, T, L, members, place, row, held, wanted, target, duals):
    """ν of the gaps and κ of the contact efforts, from the multipliers of the held rows.

    ∂cost/∂λ_c = W_acᵀμ + W_cc ν + κ, with ν zero at open contacts and κ at pushing ones, but for held borders.
    """
    na, nc = len(T) - 4, len(place)
    price, z, nu, kappa = T[na + RESPONSE], L[nc], duals[0], duals[1]
    for r in range(len(price)):
        price[r] = 0.0
    for n in range(len(wanted)):
        price[wanted[n]] = 2.0 * (T[na + VALUE, wanted[n]] - target[n])
    for i in range(nc):
        nu[i] = kappa[i] = 0.0
    for n in range(row[len(row) - 1]):
        i = row[n]
        if i < nc and place[i] >= 0:
            kappa[i] = held[MU, n]
        else:
            price[i] -= held[MU, n]
            if i < nc:
                nu[i] = held[MU, n]
    for i in range(nc):
        weights, total = C[i], 0.0
        for r in range(len(price)):
            total += weights[r] * price[r]
        if place[i] >= 0:
            z[place[i]] = total - kappa[i]
        else:
            kappa[i] = total
    solve(L, members[nc], z)
    for a in range(members[nc]):
        nu[members[a]] = z[a]
        weights = C[members[a]]
        for i in range(nc):
            if place[i] < 0:
                kappa[i] -= weights[i] * z[a]
