"""Where a path of `friction_path` changes its modes: what comes next, what has been passed, what has been met.

V holds one vector (m,) per row, S the numbers of the path, G (4, p + n) the margins of the modes at X and at Y.
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.cone import INSIDE, LOW, OPEN, STICK, leaves_cone
from pliant.solvers.friction_piece import gaps
from pliant.solvers.pieces import inner

X, GAP, DX, DGAP, Y, YGAP, RIGHT, RISE, POINT, SLOPE, LIFT, BEGIN, VECTORS = range(13)
HERE, THERE = 0, 2  # rows of G
# z at X, at Y and at the start, dz along the path, ϑ, size of the data, length of the step, the row and side that it
# leads to, corrections of Y, reductions of the step, whether it leads to z = 0, whether that was tried
Z, YZ, FIRST, DZ, SOFT, EXTENT, STEP, ROW, AT, COUNT, SHRUNK, LAST, TRIED, PHASE, NUMBERS = range(15)

ROTATION = 0.3  # largest turn of a slip direction in one step [rad]
KEPT, MET = 1e-9, 1e-8  # margins that count as kept and as zero, relative to the data …
RESOLVED = 1e6  # … or to this times z, if that is less: at the end the path turns within gaps of size z
ROUNDING = 1e-14


@inner
def reach(W, mu, p, V, G, mode, slip, S):
    """STEP ← how far to go along DX: to the first event, by linear prediction, or until a slip direction has turned
    enough; ROW and AT ← what changes there.
    """
    n, h, turn, row, side, soft = len(mu), np.inf, 0.0, -1, 0, S[SOFT]
    x, w, dx, dw = V[X], V[GAP], V[DX], V[DGAP]
    for i in range(len(x)):
        V[RISE, i] = S[DZ] * (V[LIFT, i] + soft * (x[i] - V[BEGIN, i])) + S[Z] * soft * dx[i]
    gaps(W, V[RISE], dx, dw)
    for i in range(p + n):
        rate, other = dw[i], 0.0
        if i < p and mode[i] != LOW:
            rate, other = (dx[i], -dx[i]) if mode[i] == INSIDE else (-dw[i], 0.0)
        elif i >= p and mode[i] != OPEN:
            c, t = i - p, p + n + 2 * (i - p)
            if mode[i] == STICK:
                there = leaves_cone(mu[c], x[i], x[t], x[t + 1], dx[i], dx[t], dx[t + 1])
                if there < h:
                    h, row, side = there, i, 0
                continue
            one, two, rate = slip[c, 0], slip[c, 1], dx[i]
            if mu[c] > 0.0:
                other = -(one * dw[t] + two * dw[t + 1])
                size = np.hypot(x[t] - w[t], x[t + 1] - w[t + 1])
                sideways = one * (dx[t + 1] - dw[t + 1]) - two * (dx[t] - dw[t])
                turn = max(turn, abs(sideways) / size if size > 0.0 else 0.0)
        if rate < 0.0 and max(G[HERE, i], 0.0) < h * -rate:
            h, row, side = max(G[HERE, i], 0.0) / -rate, i, 0
        if other < 0.0 and max(G[HERE + 1, i], 0.0) < h * -other:
            h, row, side = max(G[HERE + 1, i], 0.0) / -other, i, 1
    S[STEP], S[ROW], S[AT] = (min(h, ROTATION / turn) if turn > 0.0 else h), row, side


@inner
def kept(G, extent, z):
    """1 if all modes hold at Y, else the share of the step at which the first of them ends."""
    wrong, share = -allowed(KEPT, extent, z), 1.0
    for k in range(2):
        for i in range(G.shape[1]):
            there, here = G[THERE + k, i], max(G[HERE + k, i], 0.0)
            if there < wrong:
                share = min(share, here / (here - there))
    return share


@inner
def met(G, extent, S):
    """ROW and AT ← the margin that has fallen to zero at Y, the expected one or another; ROW −1 if none has."""
    least, row, side = allowed(MET, extent, S[YZ]), np.int64(S[ROW]), np.int64(S[AT])
    if row >= 0 and G[THERE + side, row] <= least:
        return
    S[ROW] = -1.0
    for k in range(2):
        for i in range(G.shape[1]):
            there = G[THERE + k, i]
            if there <= least and there < G[HERE + k, i]:
                least, S[ROW], S[AT] = there, i, k


@inner
def allowed(share, extent, z):
    """An error that may be overlooked."""
    return max(share * min(extent, RESOLVED * z), ROUNDING * extent)
