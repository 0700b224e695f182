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
    HESSIAN,
    HI,
    LEVEL,
    LO,
    MU,
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
    MEMBERS,
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
LET_GO, STAY = -1, -2  # outcome of a look at the multipliers, beside a border to cross


@inner
def descend(M, L, I, A, Q, K, F, trail, limit):
    """Move to a local minimum of the cost; returns (status, iterations, size of the gradient's terms).

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
            border = _release(M, L, I, A, K, F, WRONG * size)
            if border == STAY:
                return MINIMUM, iteration, size
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
        if I[TALLY, nc] > 4 * na + 20:
            return UNFINISHED, iteration, size
    return UNFINISHED, limit, size


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
        length, extent = max(length, abs(change)), max(extent, abs(x[j]))
        for r in range(m):
            slope[r] += change * row[r]
    kind, index = NOTHING, np.int64(-1)
    step, still = reach, 1e-12 * length
    for i in range(nc):
        if slope[i] < -still and value[i] < -step * slope[i] and not _among(K[ROW], i):
            kind, index, step = BORDER, i, max(value[i], 0.0) / -slope[i]
    for j in range(na):
        r = m - na + j
        room = (A[LO, j] if d[j] < 0.0 else A[HI, j]) - x[j]
        if d[j] != 0.0 and room / d[j] < step:
            kind, index, step = BOUND, j, max(room / d[j], 0.0)
        room = (A[DLO, j] if slope[r] < 0.0 else A[DHI, j]) - value[r]
        if (
            abs(slope[r]) > still
            and room / slope[r] < step
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
    for n in range(listed[len(listed) - 1]):  # noqa: SIM110  (compiled)
        if listed[n] == index:
            return True
    return False


@inner
def _hold(K, F, index, level, sign):
    """Hold a row, if there is room."""
    most = K.shape[1] - 1
    n = K[ROW, most]
    if n < most:
        K[ROW, n], F[LEVEL, n] = index, level
        F[SIGN, n], F[MU, n] = sign, 0.0
        K[ROW, most] = n + 1


@inner
def _release(M, L, I, A, K, F, wrong):
    """Let go of the bound or row whose multiplier is most wrong, or name the border beyond which the cost falls."""
    na, nc, last = A.shape[1], L.shape[1], K.shape[1] - 1
    worst, bound, position = -wrong, -1, -1
    border, count = np.int64(STAY), K[ROW, last]
    for j in range(na):
        force = -K[SIDE, j] * A[ETA, j]
        if force < worst and A[LO, j] < A[HI, j]:
            worst, bound, border = force, j, LET_GO
    for n in range(count):
        row, norm = K[ROW, n], 0.0
        for j in range(na):
            norm = max(norm, abs(M[j, row]))
        force = F[SIGN, n] * F[MU, n] * norm
        if force < worst:
            worst, bound = force, -1
            position, border = n, LET_GO
        if row < nc:
            force = L[nc + 1 if I[PLACE, row] >= 0 else nc + 2, row] * norm
            if force < worst:
                worst, bound = force, -1
                position, border = n, row
    if bound >= 0:
        K[SIDE, bound] = 0
    if position >= 0:
        for n in range(position, count - 1):
            K[ROW, n], F[LEVEL, n], F[SIGN, n] = K[ROW, n + 1], F[LEVEL, n + 1], F[SIGN, n + 1]
        K[ROW, last] = count - 1
    return border


@inner
def contact_multipliers(M, L, I, K, F):
    """ν of the gaps and κ of the contact efforts, from the multipliers of the held rows.

    ∂cost/∂λ_c = W_acᵀμ + W_cc ν + κ, with ν zero at open contacts and κ at pushing ones, but for held borders.
    """
    nc, m, last = L.shape[1], M.shape[1], K.shape[1] - 1
    na = (len(M) - nc - FIXED) // 2
    price, z, nu = M[na + RESPONSE], L[nc], L[nc + 1]
    kappa, C = L[nc + 2], M[len(M) - nc :]
    members, place = I[MEMBERS], I[PLACE]
    for r in range(m):
        price[r] = 0.0
    for n in range(K[WANTED, last]):
        r = K[WANTED, n]
        price[r] = 2.0 * (M[na + VALUE, r] - M[na + TARGET, r])
    for i in range(nc):
        nu[i] = kappa[i] = 0.0
    for n in range(K[ROW, last]):
        i = K[ROW, n]
        if i < nc and place[i] >= 0:
            kappa[i] = F[MU, n]
        else:
            price[i] -= F[MU, n]
            if i < nc:
                nu[i] = F[MU, n]
    for i in range(nc):
        row, total = C[i], 0.0
        for r in range(m):
            total += row[r] * price[r]
        if place[i] >= 0:
            z[place[i]] = total - kappa[i]
        else:
            kappa[i] = total
    solve(L, members[nc], z)
    for a in range(members[nc]):
        row = C[members[a]]
        nu[members[a]] = z[a]
        for i in range(nc):
            if place[i] < 0:
                kappa[i] -= row[i] * z[a]
