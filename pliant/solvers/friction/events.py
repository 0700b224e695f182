"""Where a path of `path` changes its modes: what comes next, what has been passed, what has been met."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import work_inner, work_part
from pliant.solvers.friction.cone import INSIDE, LOW, OPEN, STICK, leaves_cone
from pliant.solvers.friction.mode_equations import gaps

LARGEST_TURN = 0.3  # of a slip direction in one step [rad]
KEPT = 1e-9  # margins above minus this, relative to the data, count as kept …
MET = 1e-8  # … and those below this as zero …
RESOLVED = 1e6  # … or relative to this times z, if that is less: at the end gaps are of size z
ROUNDING = 1e-14  # relative to the data


@work_part
def next_event(s, path):
    """step ← how far to go along dx; row and side ← what changes there.

    This is the first event, by linear prediction, or where a slip direction has turned enough.
    """
    state, mu, mode, slip, p = path.state[0], s.mu, path.mode, path.slip, len(s.lo)
    n, h, turn, row, side = len(mu), np.inf, 0.0, np.int64(-1), np.int64(0)
    x, w, dx, dw, rise = path.x, path.gap, path.dx, path.dgap, path.rise
    for i in range(len(x)):
        rise[i] = state.dz * (path.lift[i] + state.soft * (x[i] - path.begin[i]))
        rise[i] += state.z * state.soft * dx[i]
    gaps(s.W, rise, dx, dw)
    for i in range(p + n):
        rate, other, sticks = dw[i], 0.0, False
        if i < p and mode[i] != LOW:
            rate, other = (dx[i], -dx[i]) if mode[i] == INSIDE else (-dw[i], 0.0)
        elif i >= p and mode[i] != OPEN:
            c, t = i - p, p + n + 2 * (i - p)
            if mode[i] == STICK:
                sticks = True
                there = leaves_cone(mu[c], x[i], x[t], x[t + 1], dx[i], dx[t], dx[t + 1])
                if there < h:
                    h, row, side = there, np.int64(i), np.int64(0)
            else:
                one, two, rate = slip[c, 0], slip[c, 1], dx[i]
                if mu[c] > 0.0:
                    other = -(one * dw[t] + two * dw[t + 1])
                    size = np.hypot(x[t] - w[t], x[t + 1] - w[t + 1])
                    sideways = one * (dx[t + 1] - dw[t + 1]) - two * (dx[t] - dw[t])
                    turn = max(turn, abs(sideways) / size if size > 0.0 else 0.0)
        if not sticks:
            if rate < 0.0 and max(path.margin[0, i], 0.0) < h * -rate:
                h, row, side = max(path.margin[0, i], 0.0) / -rate, np.int64(i), np.int64(0)
            if other < 0.0 and max(path.margin[1, i], 0.0) < h * -other:
                h, row, side = max(path.margin[1, i], 0.0) / -other, np.int64(i), np.int64(1)
    state.step = min(h, LARGEST_TURN / turn) if turn > 0.0 else h
    state.row = row
    state.side = side


@work_part
def modes_kept(path, extent):
    """1 if all modes hold at y, else the share of the step at which the first of them ends."""
    wrong, share = -negligible(KEPT, extent, path.state[0].y_z), 1.0
    for k in range(2):
        for i in range(path.margin.shape[1]):
            there, here = path.y_margin[k, i], max(path.margin[k, i], 0.0)
            if there < wrong:
                share = min(share, here / (here - there))
    return share


@work_part
def event_met(path, extent):
    """row and side ← the margin that is zero at y, the expected one or another; row −1 if none is."""
    state = path.state[0]
    least, row, side = negligible(MET, extent, state.y_z), state.row, state.side
    if row < 0 or path.y_margin[side, row] > least:
        row = np.int64(-1)
        for k in range(2):
            for i in range(path.margin.shape[1]):
                there = path.y_margin[k, i]
                if there <= least and there < path.margin[k, i]:
                    least, row, side = there, np.int64(i), np.int64(k)
    state.row = row
    state.side = side


@work_inner
def negligible(share, extent, z):
    """An error that may be overlooked."""
    return max(share * min(extent, RESOLVED * z), ROUNDING * extent)
