"""Descent over the actuator efforts: a Newton step per piece, across contact borders while the cost falls.

Inside a piece this is a primal active-set method for a quadratic program. At a border the contact changes sides if
the cost keeps falling beyond it; otherwise the border is held like a limit. Where nothing on this side of the held
borders helps, the multipliers of the complementarity problem (ν of gaps, κ of contact efforts) tell whether the
other side does: the point is a local minimum when both are non-negative at every held border (strong stationarity).
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.multipliers import STAY, contact_multipliers, release
from pliant.solvers.newton import (
    DHI,
    DLO,
    HESSIAN,
    HI,
    LEFT,
    LEVEL,
    LO,
    MU,
    RIGHT,
    ROW,
    SIDE,
    SIGN,
    WANTED,
    D,
    G,
    X,
    gradient,
    hessian,
    newton_step,
)
from pliant.solvers.pieces import (
    FIXED,
    PLACE,
    RESPONSE,
    SLOPE,
    TALLY,
    TARGET,
    VALUE,
    cross,
    inner,
    respond,
)

STILL = 1e-13  # a slope below this share of its terms is rounding …
WRONG = 1e-9  # … and so is a multiplier of the wrong sign …
RESOLVED = 1e-3  # … where residuals count at least as this share of what they were at first
CROSSINGS = 3  # of one border without progress; then it is held

MINIMUM, UNFINISHED = 0, 1
NOTHING, BOUND, LIMIT, BORDER = 0, 1, 2, 3  # what stops a step
MET, BACK, BEYOND = 0, 1, 2  # why a border is dealt with


@inner
def descend(M, L, I, A, Q, K, F, trail, limit):
    """Move to a local minimum of the cost; returns (status, iterations).

    `trail` records the contacts that join (i + 1) or quit (−i − 1); its first entry is its length.
    """
    na, nc, last = A.shape[1], L.shape[1], K.shape[1] - 1
    size, floor, trial = 0.0, 0.0, -1
    fresh, bent = True, True
    K[ROW, last] = 0
    for i in range(nc + 1):
        I[TALLY, i] = 0
    for n in range(K[WANTED, last]):
        r = K[WANTED, n]
        floor = max(floor, RESOLVED * abs(M[2 * na + FIXED, r]), RESOLVED * abs(M[na + TARGET, r]))
    for iteration in range(1, limit + 1):
        size = gradient(M, A, Q, K, floor)
        if bent:
            hessian(M, A, Q, K)
        if iteration == 1:
            _sit_down(A, K)
        if fresh:
            newton_step(M, A, K, F)
        falling, length = 0.0, 0.0
        curvature, inward = 0.0, 0.0
        for i in range(na):
            falling -= A[G, i] * A[D, i]
            length = max(length, abs(A[D, i]))
            inward += M[i, max(trial, 0)] * A[D, i]
            for j in range(na):
                curvature += A[D, i] * A[HESSIAN + i, j] * A[D, j]
        reach = 1.0 if fresh else falling / max(curvature, 1e-300)
        moving = falling > STILL * size * length
        kind, border, why = NOTHING, np.int64(-1), MET
        if trial >= 0 and not (moving and inward > 0.0):
            kind, border, why = BORDER, trial, BACK
        elif moving:
            kind, border, step = _walk(M, A, K, F, I, reach)
            falling *= 1.0 - step / reach
        if kind == NOTHING and (fresh or not moving):  # here the multipliers are those of this point
            if K[ROW, last] > 0:
                contact_multipliers(M, L, I, K, F)
            border = release(M, L, I, A, K, F, WRONG * size, I[TALLY, nc] > 2 * na + 4)
            if border == STAY:
                return MINIMUM, iteration
            kind, why = BORDER if border >= 0 else NOTHING, BEYOND
            I[TALLY, nc] += 1
        trial, fresh, bent = np.int64(-1), True, kind == BORDER
        if kind == BORDER:
            pivot, alone = 0.0, K[ROW, last] == 0
            if why != MET or I[TALLY, border] <= CROSSINGS:
                pivot = respond(M, L, I, border)
            if why == MET and alone and not _falls_beyond(M, K, na, border, pivot, falling):
                pivot = 0.0
            if pivot > 0.0:
                cross(M, L, I, border, pivot)
                if trail[0] + 1 < len(trail):
                    trail[0] += 1
                    trail[trail[0]] = border + 1 if I[PLACE, border] >= 0 else -border - 1
            if pivot == 0.0 or why == BACK:
                _hold(K, F, border, 0.0, 1.0)
            elif why == MET:
                # held rows bend at the border, so only the next step shows whether crossing it was right
                fresh, trial = not alone, trial if alone else border
        if I[TALLY, nc] > 10 * na + 40:
            return UNFINISHED, iteration
    return UNFINISHED, limit


@inner
def _falls_beyond(M, K, na, i, pivot, falling):
    """Whether the cost still falls along d beyond the border of contact i.

    There g changes by 2 c (u·residual) with c = −S_i / pivot: no need to cross to know.
    """
    pull = 0.0
    for n in range(K[WANTED, K.shape[1] - 1]):
        r = K[WANTED, n]
        pull += M[na + RESPONSE, r] * (M[na + VALUE, r] - M[na + TARGET, r])
    return pivot > 0.0 and falling + 2.0 * M[na + SLOPE, i] / pivot * pull > 1e-10 * falling


@inner
def _sit_down(A, K):
    """Hold the effort bounds that the gradient pushes against."""
    for j in range(A.shape[1]):
        K[SIDE, j] = 0
        if A[LO, j] == A[HI, j] or (A[X, j] <= A[LO, j] and A[G, j] > 0.0):
            K[SIDE, j] = -1
        elif A[X, j] >= A[HI, j] and A[G, j] < 0.0:
            K[SIDE, j] = 1


@inner
def _walk(M, A, K, F, I, reach):
    """Go along d until something stops it, and hold that if it is a limit; returns (kind, index, step)."""
    na, nc, m = A.shape[1], I.shape[1] - 1, M.shape[1]
    value, slope, x = M[na + VALUE], M[na + SLOPE], A[X]
    d, tally = A[D], I[TALLY]
    length, extent = 0.0, 1e-300
    for r in range(m):
        slope[r] = 0.0
    for j in range(na):
        row, change = M[j], d[j]
        length, extent = max(length, abs(change)), max(extent, abs(x[j]), A[RIGHT, j] - A[LEFT, j])
        for r in range(m):
            slope[r] += change * row[r]
    kind, index = NOTHING, np.int64(-1)
    step, still = reach, 1e-12 * length
    for i in range(nc):
        if slope[i] < -still and max(value[i], 0.0) < -step * slope[i] and not _among(K[ROW], i):
            kind, index, step = BORDER, i, max(value[i], 0.0) / -slope[i]
    for j in range(na):
        r = m - na + j
        room = (A[LO, j] if d[j] < 0.0 else A[HI, j]) - x[j]
        if d[j] != 0.0 and max(room / d[j], 0.0) < step:
            kind, index, step = BOUND, j, max(room / d[j], 0.0)
        room = (A[DLO, j] if slope[r] < 0.0 else A[DHI, j]) - value[r]
        if (
            abs(slope[r]) > still
            and max(room / slope[r], 0.0) < step
            and not (_among(K[ROW], r) or _among(K[WANTED], r))
        ):
            kind, index, step = (
                LIMIT,
                r,
                max(room / slope[r], 0.0),
            )  # unless wanted: a violated limit stops nothing
    for j in range(na):
        x[j] += step * d[j]
    for r in range(m):
        value[r] += step * slope[r]
    tally[nc] += 1
    if step * length > 1e-12 * extent:
        for i in range(nc + 1):
            tally[i] = 0
    if kind == BOUND:
        K[SIDE, index] = 1 if d[index] > 0.0 else -1
        x[index] = A[HI, index] if d[index] > 0.0 else A[LO, index]
    elif kind == LIMIT:
        j = index - (m - na)
        if slope[index] < 0.0:
            _hold(K, F, index, A[DLO, j], 1.0)
        else:
            _hold(K, F, index, A[DHI, j], -1.0)
    elif kind == BORDER:
        value[index] = 0.0
        tally[index] += 1
    return kind, index, step


@inner
def _among(listed, index):
    found = False
    for n in range(listed[len(listed) - 1]):
        found |= listed[n] == index
    return found


@inner
def _hold(K, F, index, level, sign):
    """Hold a row, if there is room."""
    last = K.shape[1] - 1
    n = K[ROW, last]
    if n < F.shape[1]:
        K[ROW, n], F[LEVEL, n] = index, level
        F[SIGN, n], F[MU, n] = sign, 0.0
        K[ROW, last] = n + 1
