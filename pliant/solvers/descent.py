"""Descent over the actuator efforts x: a Newton step per piece, across contact borders while the cost falls.

Inside a piece this is a primal active-set method for a quadratic program. At a border the contact changes sides if
the cost keeps falling beyond it; otherwise the border is held like a limit. Where nothing on this side of the held
borders helps, the multipliers of the complementarity problem (ν of gaps, κ of contact efforts) tell whether the
other side does: x is a local minimum when both are non-negative at every held border (strong stationarity).
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.cholesky_update import solve
from pliant.solvers.pieces import cross, inner, respond
from pliant.solvers.working_set import drop, gradient, hessian, hold, newton_step

STILL = 1e-13  # a slope below this share of its terms is rounding
WRONG = 1e-9  # and so is a multiplier of the wrong sign
CROSSINGS = 3  # of one border without progress; then it is held

MINIMUM, UNFINISHED = 0, 1
NOTHING, BOUND, ROW = 0, 1, 2


@inner
def descend(rows, piece, goal, work, limit, trail):
    """Move the piece to a local minimum of the goal. `trail` records contact i joining (i + 1) or quitting (−i − 1).

    Returns (status, iterations).
    """
    nc = len(rows.C)
    crossings, stuck = np.zeros(nc, np.int64), 0
    _begin(rows, piece, goal, work)
    fresh, reach = True, 1.0
    for iteration in range(1, limit + 1):
        if fresh:
            newton_step(piece, work)
            reach = 1.0
        falling, length = _fall(work)
        done = falling <= STILL * work.size[0] * length
        if not done:
            kind, index, step = _first_block(rows, piece, work, goal, reach)
            _advance(piece, work, step)
            if step * length > 1e-12 * _extent(piece):
                stuck = 0
                for i in range(nc):
                    crossings[i] = 0
            else:
                stuck += 1
            done = kind == NOTHING and fresh  # the multipliers of a full step hold at its end
            fresh = True
            if kind == BOUND:
                _sit(rows, piece, work, index)
            elif kind == ROW and index >= nc:
                _stop_at_limit(rows, piece, work, index)
            elif kind == ROW:
                crossings[index] += 1
                reach = _meet(rows, piece, goal, work, index, falling, crossings[index] <= CROSSINGS, trail)
                fresh = reach < 0.0
            gradient(piece, goal, work)
        if done and not _release(rows, piece, goal, work, trail):
            return MINIMUM, iteration
        if done:
            stuck += 1
            fresh = True
        if stuck > 4 * len(piece.x) + 20:
            return UNFINISHED, iteration
    return UNFINISHED, limit


@inner
def _begin(rows, piece, goal, work):
    """Quadratic model at the point; hold the effort bounds that the gradient pushes against."""
    for n in range(work.count[0]):
        work.held[work.row[n]] = False
    work.count[0] = 0
    hessian(piece, goal, work)
    gradient(piece, goal, work)
    for j in range(len(piece.x)):
        work.side[j] = 0
        if rows.lo[j] == rows.hi[j] or (piece.x[j] <= rows.lo[j] and work.g[j] > 0.0):
            work.side[j] = -1
        elif piece.x[j] >= rows.hi[j] and work.g[j] < 0.0:
            work.side[j] = 1


@inner
def _fall(work):
    """(−gᵀd, largest |d|)."""
    falling, length = 0.0, 0.0
    for j in range(len(work.d)):
        falling -= work.g[j] * work.d[j]
        length = max(length, abs(work.d[j]))
    return falling, length


@inner
def _extent(piece):
    largest = 1e-300
    for j in range(len(piece.x)):
        largest = max(largest, abs(piece.x[j]))
    return largest


@inner
def _first_block(rows, piece, work, goal, reach):
    """What the way along d meets first, its index and the step there; fills the slopes."""
    x, d, value, slope = piece.x, work.d, piece.value, work.slope
    nc, na, m = len(rows.C), len(x), len(value)
    length = 0.0
    for r in range(m):
        slope[r] = 0.0
    for j in range(na):
        if d[j] != 0.0:
            length = max(length, abs(d[j]))
            row, change = piece.S[j], d[j]
            for r in range(m):
                slope[r] += change * row[r]
    kind, index, step = NOTHING, -1, reach
    still = 1e-12 * length
    for i in range(nc):
        if slope[i] < -still and value[i] < -step * slope[i] and not work.held[i]:
            kind, index, step = ROW, i, max(value[i], 0.0) / -slope[i]
    for j in range(na):
        room = rows.lo[j] - x[j] if d[j] < 0.0 else rows.hi[j] - x[j]
        if abs(room) < step * abs(d[j]) or room * d[j] < 0.0:
            kind, index, step = BOUND, j, max(room / d[j], 0.0)
        r = m - na + j
        if abs(slope[r]) > still and not work.held[r]:
            room = rows.dlo[j] - value[r] if slope[r] < 0.0 else rows.dhi[j] - value[r]
            if room * slope[r] < step * slope[r] * slope[r] and not _wanted(goal, r):
                kind, index, step = ROW, r, max(room / slope[r], 0.0)
    return kind, index, step


@inner
def _wanted(goal, row):
    """Whether a row is part of the goal: it is violated and to be repaired, so its bounds do not stop anything."""
    for r in goal.rows:
        if r == row:
            return True
    return False


@inner
def _advance(piece, work, step):
    x, d, value, slope = piece.x, work.d, piece.value, work.slope
    for j in range(len(x)):
        x[j] += step * d[j]
    for r in range(len(value)):
        value[r] += step * slope[r]


@inner
def _sit(rows, piece, work, j):
    """Effort j sits on the bound it has met."""
    high = work.d[j] > 0.0
    piece.x[j] = rows.hi[j] if high else rows.lo[j]
    work.side[j] = 1 if high else -1


@inner
def _stop_at_limit(rows, piece, work, row):
    """Hold a displacement at the bound it has met."""
    j = row - (len(piece.value) - len(piece.x))
    low = work.slope[row] < 0.0
    hold(work, row, rows.dlo[j] if low else rows.dhi[j], 1.0 if low else -1.0)


@inner
def _meet(rows, piece, goal, work, i, falling, may_cross, trail):
    """At the border of contact i: cross it if the cost falls beyond, else hold it.

    Returns how far to go on along d, or −1 if a new step is needed.
    """
    piece.value[i] = 0.0
    pivot = respond(rows, piece, i) if may_cross else 0.0
    if pivot > 0.0:
        if work.count[0] == 0:
            # beyond the border g changes by 2 c (u·residual), c = −S_i / pivot: no need to go there to know the slope
            beyond = -falling - 2.0 * work.slope[i] / pivot * _pull(piece, goal)
            if beyond < -1e-10 * falling:
                _change_sides(rows, piece, goal, work, i, pivot, trail)
                curvature = 0.0
                for j in range(len(piece.x)):
                    for k in range(len(piece.x)):
                        curvature += work.d[j] * work.H[j, k] * work.d[k]
                return -beyond / curvature if curvature > 0.0 else np.inf
        else:
            # held rows bend at the border: look at the step on the other side
            _change_sides(rows, piece, goal, work, i, pivot, trail)
            gradient(piece, goal, work)
            newton_step(piece, work)
            inward = 0.0
            for j in range(len(piece.x)):
                inward += piece.S[j, i] * work.d[j]
            slope, length = _fall(work)
            if inward > 0.0 and slope > STILL * work.size[0] * length:
                return 1.0
            _change_sides(rows, piece, goal, work, i, respond(rows, piece, i), trail)
    hold(work, i, 0.0, 1.0)
    return -1.0


@inner
def _pull(piece, goal):
    """u·(value − target) over the goal's rows."""
    total = 0.0
    for n in range(len(goal.rows)):
        total += piece.u[goal.rows[n]] * (piece.value[goal.rows[n]] - goal.target[n])
    return total


@inner
def _change_sides(rows, piece, goal, work, i, pivot, trail):
    """Contact i changes sides; the trail has its length in front and forgets what does not fit."""
    cross(rows, piece, i, pivot)
    hessian(piece, goal, work)
    n = trail[0] + 1
    if n < len(trail):
        trail[n] = i + 1 if piece.place[i] >= 0 else -i - 1
        trail[0] = n


@inner
def _release(rows, piece, goal, work, trail):
    """Let go of the bound, row or border whose multiplier is most wrong. False if none is: a local minimum."""
    least = WRONG * work.size[0]
    worst, bound, position = -least, -1, -1
    for j in range(len(piece.x)):
        if work.side[j] != 0 and rows.lo[j] < rows.hi[j] and -work.side[j] * work.eta[j] < worst:
            worst, bound = -work.side[j] * work.eta[j], j
    for n in range(work.count[0]):
        force = work.sign[n] * work.mu[n] * _norm(piece, work.row[n])
        if force < worst:
            worst, bound, position = force, -1, n
    if bound >= 0:
        work.side[bound] = 0
    elif position >= 0:
        drop(work, position)
    else:
        return _go_beyond(rows, piece, goal, work, trail)
    return True


@inner
def _norm(piece, row):
    largest = 0.0
    for j in range(len(piece.x)):
        largest = max(largest, abs(piece.S[j, row]))
    return largest


@inner
def _go_beyond(rows, piece, goal, work, trail):
    """Cross the held border behind which the cost falls most. False if there is none."""
    nc = len(rows.C)
    borders = False
    for n in range(work.count[0]):
        borders |= work.row[n] < nc
    if not borders:
        return False
    nu, kappa = np.empty(nc), np.empty(nc)
    contact_multipliers(rows, piece, goal, work, nu, kappa)
    worst, chosen, pivot = -WRONG * work.size[0], -1, 0.0
    for n in range(work.count[0]):
        i = work.row[n]
        if i < nc:
            force = nu[i] if piece.place[i] >= 0 else kappa[i]
            if force < 0.0:
                pivot = respond(rows, piece, i)
                if pivot > 0.0 and force / pivot * _norm(piece, i) < worst:
                    worst, chosen = force / pivot * _norm(piece, i), n
    if chosen < 0:
        return False
    i = work.row[chosen]
    drop(work, chosen)
    _change_sides(rows, piece, goal, work, i, respond(rows, piece, i), trail)
    gradient(piece, goal, work)
    return True


@inner
def contact_multipliers(rows, piece, goal, work, nu, kappa):
    """ν (nc,) of the gaps and κ (nc,) of the contact efforts, from the multipliers of the held rows.

    ∂cost/∂λ_c = W_ac ᵀμ + W_cc ν + κ, with ν zero at open contacts and κ at pushing ones, but for held borders.
    """
    nc, members, k, z = len(rows.C), piece.members, piece.count[0], piece.z
    price = np.zeros(len(piece.value))
    for n in range(len(goal.rows)):
        price[goal.rows[n]] = 2.0 * (piece.value[goal.rows[n]] - goal.target[n])
    for i in range(nc):
        nu[i] = kappa[i] = 0.0
    for n in range(work.count[0]):
        row = work.row[n]
        if row < nc and piece.place[row] >= 0:
            kappa[row] = work.mu[n]
        else:
            price[row] -= work.mu[n]
            if row < nc:
                nu[row] = work.mu[n]
    for i in range(nc):
        total = 0.0
        for r in range(len(price)):
            total += rows.C[i, r] * price[r]
        if piece.place[i] >= 0:
            z[piece.place[i]] = total - kappa[i]
        else:
            kappa[i] = total
    solve(piece.L, k, z)
    for a in range(k):
        nu[members[a]] = z[a]
        for i in range(nc):
            if piece.place[i] < 0:
                kappa[i] -= rows.C[members[a], i] * z[a]
