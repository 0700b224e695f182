"""Coulomb's law on scaled rows: which mode holds where, how far it is from changing, how wrong an answer is.

The rows of a problem stand in this order: p plain rows with lo ≤ x ≤ hi, n normals, 2n tangents (those of
contact c at p + n + 2c and the next). A contact with normal effort x_N, tangential efforts x_T, gap w_N and
slip w_T obeys

    0 ≤ x_N ⊥ w_N ≥ 0,    ‖x_T‖ ≤ μ x_N,    w_T = 0 inside the cone, else x_T = −μ x_N w_T / ‖w_T‖.

Rows are scaled to unit compliance, so that x and w compare and x − w is meaningful: the last two laws say
that x_T is the projection of y = x_T − w_T on the disc of radius μ x_N.

`mode` (p + n,) is LOW, INSIDE or HIGH for plain rows, OPEN, STICK or SLIP for contacts. `slip` (n, 3) holds,
for contacts that slip, the direction of the effort y/‖y‖ and the share s = μ x_N / ‖y‖ ≤ 1: with t normal to
that direction, the law along t reads s w_t + (1 − s) x_t = 0.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import work_inner

LOW, INSIDE, HIGH = 0, 1, 2
OPEN, STICK, SLIP = 0, 1, 2
ON_BORDER = 1e-14  # squared distance to the border of the cone, relative to its radius, that counts as none


@work_inner
def project(mu, lo, hi, x):
    """Plain efforts into their bounds, contact efforts into their cones."""
    p, n = len(lo), len(mu)
    for i in range(p):
        x[i] = min(max(x[i], lo[i]), hi[i])
    for c in range(n):
        t = p + n + 2 * c
        x[p + c] = max(x[p + c], 0.0)
        most, size = mu[c] * x[p + c], np.hypot(x[t], x[t + 1])
        if size > most:
            x[t], x[t + 1] = x[t] * (most / size), x[t + 1] * (most / size)


@work_inner
def classify(mu, lo, hi, x, w, mode, slip):
    """Modes and slip directions that the projections of x − w fall into."""
    p, n = len(lo), len(mu)
    for i in range(p):
        mode[i] = LOW if x[i] - w[i] <= lo[i] else HIGH if x[i] - w[i] >= hi[i] else INSIDE
    for c in range(n):
        t = p + n + 2 * c
        size = np.hypot(x[t] - w[t], x[t + 1] - w[t + 1])
        if x[p + c] - w[p + c] <= 0.0:
            mode[p + c] = OPEN
        else:
            mode[p + c] = STICK if size < mu[c] * max(x[p + c], 0.0) else SLIP
    slip_directions(mu, p, x, w, mode, slip)


@work_inner
def slip_directions(mu, p, x, w, mode, slip):
    """Directions and shares of the contacts that slip."""
    n = len(mu)
    for c in range(n):
        if mode[p + c] == SLIP:
            t = p + n + 2 * c
            one, two = x[t] - w[t], x[t + 1] - w[t + 1]
            size = np.hypot(one, two)
            if size > 0.0:
                share = mu[c] * max(x[p + c], 0.0) / size
                slip[c, 0], slip[c, 1], slip[c, 2] = one / size, two / size, min(share, 1.0)
            else:
                slip[c, 0], slip[c, 1], slip[c, 2] = 1.0, 0.0, 0.0


@work_inner
def margins(mu, lo, hi, x, w, mode, slip, g):
    """g (2, p + n): what keeps each row in its mode, ≥ 0; infinite where nothing does."""
    p, n = len(lo), len(mu)
    for i in range(p):
        g[0, i], g[1, i] = (w[i] if mode[i] == LOW else -w[i]), np.inf
        if mode[i] == INSIDE:
            g[0, i], g[1, i] = x[i] - lo[i], hi[i] - x[i]
        elif lo[i] == hi[i]:
            g[0, i] = np.inf
    for c in range(n):
        i, t = p + c, p + n + 2 * c
        g[0, i], g[1, i] = x[i], np.inf
        if mode[i] == OPEN:
            g[0, i] = w[i]
        elif mode[i] == STICK:
            g[0, i] = mu[c] * x[i] - np.hypot(x[t], x[t + 1])
        elif mu[c] > 0.0:
            g[1, i] = -(slip[c, 0] * w[t] + slip[c, 1] * w[t + 1])  # speed of slip


@work_inner
def error(mu, p, x, w, mode, slip):
    """The largest error in the equations of the modes."""
    n, worst = len(mu), 0.0
    for i in range(p + n):
        if mode[i] == STICK or (i >= p and mode[i] == SLIP):  # STICK is INSIDE for plain rows
            worst = max(worst, abs(w[i]))
        if i >= p and mode[i] != OPEN:
            t, one, two, share = p + n + 2 * (i - p), slip[i - p, 0], slip[i - p, 1], slip[i - p, 2]
            if mode[i] == STICK:
                worst = max(worst, max(abs(w[t]), abs(w[t + 1])))
            else:
                across = share * (one * w[t + 1] - two * w[t]) + (1.0 - share) * (one * x[t + 1] - two * x[t])
                along = one * x[t] + two * x[t + 1] - mu[i - p] * x[i]
                worst = max(worst, max(abs(across), abs(along)))
    return worst


@work_inner
def change(mode, i, side, p):
    """The mode of row i beyond its margin `side`."""
    if i < p:
        mode[i] = INSIDE if mode[i] != INSIDE else LOW if side == 0 else HIGH
    elif mode[i] == SLIP:
        mode[i] = OPEN if side == 0 else STICK
    else:
        mode[i] = SLIP


@work_inner
def leaves_cone(mu, x, x1, x2, d, d1, d2):
    """How far x + h d stays in the cone; infinite if it never leaves."""
    square = d1 * d1 + d2 * d2 - mu * mu * d * d
    half = x1 * d1 + x2 * d2 - mu * mu * x * d
    inside = max(mu * mu * x * x - x1 * x1 - x2 * x2, 0.0)
    h = np.inf
    if inside <= ON_BORDER * mu * mu * x * x:  # on the border: leaves now, or through the other side
        h = 0.0 if half > 0.0 else -2.0 * half / square if square > 0.0 else np.inf
    else:
        root = half * half + square * inside
        if root >= 0.0 and half + np.sqrt(root) > 0.0:
            h = inside / (half + np.sqrt(root))
    return min(h, -x / d) if d < 0.0 else h


@work_inner
def residuals(mu, lo, hi, x, w):
    """(complementarity, cone, dissipation), each the largest over the rows; see `FrictionCertificate`."""
    p, n = len(lo), len(mu)
    complementarity, cone, dissipation = 0.0, 0.0, 0.0
    for i in range(p):
        complementarity = max(complementarity, abs(x[i] - min(max(x[i] - w[i], lo[i]), hi[i])))
    for c in range(n):
        i, t = p + c, p + n + 2 * c
        complementarity = max(complementarity, abs(min(x[i], w[i])))
        radius, size = mu[c] * max(x[i], 0.0), np.hypot(x[t] - w[t], x[t + 1] - w[t + 1])
        cone = max(cone, np.hypot(x[t], x[t + 1]) - radius)
        keep = radius / size if size > radius else 1.0
        one, two = x[t] - keep * (x[t] - w[t]), x[t + 1] - keep * (x[t + 1] - w[t + 1])
        dissipation = max(dissipation, np.hypot(one, two))
    return complementarity, cone, dissipation


@work_inner
def largest_residual(mu, lo, hi, x, w):
    """The largest of the residuals."""
    complementarity, cone, dissipation = residuals(mu, lo, hi, x, w)
    return max(complementarity, max(cone, dissipation))
