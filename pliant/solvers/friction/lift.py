"""Where a path of `path` begins: the lift e that turns the problem into one with a known solution."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import work_inner, work_part
from pliant.solvers.friction.cone import HIGH, INSIDE, LOW, OPEN, SLIP, STICK

INTERIOR = 1e-12  # share of the cone that counts as its border
PLAIN_LIFT = 0.1  # largest lift of a plain row, in units of that of a contact
# irrational numbers whose multiples spread evenly: for plain rows, normals and the two tangents
SPREAD_PLAIN, SPREAD_NORMAL, SPREAD_TANGENT = 0.2360679775, 0.6180339887, (0.7548776662, 0.5698402910)


@work_part
def lift_open(s, path, seed):
    """lift ← what opens contacts, different for each; returns how much of it opens them all."""
    mu, mode, lift, p, n, z = s.mu, path.mode, path.lift, len(s.lo), len(s.mu), 0.0
    _plain_modes(s, path)
    for i in range(p):
        spread = PLAIN_LIFT * _spread(i, seed, SPREAD_PLAIN)
        lift[i] = spread if mode[i] == LOW else -spread if mode[i] == HIGH else 0.0
    for c in range(n):
        t, most = p + n + 2 * c, max(1.0, mu[c])
        lift[p + c] = 1.0 + _spread(c, seed, SPREAD_NORMAL)
        lift[t] = (_spread(c, seed, SPREAD_TANGENT[0]) - 0.5) / most
        lift[t + 1] = (_spread(c, seed, SPREAD_TANGENT[1]) - 0.5) / most
        z = max(z, -path.gap[p + c] / lift[p + c])
    return z


@work_part
def lift_right(s, path):
    """lift ← what gaps lack for the efforts to be a solution, and modes as efforts tell them; returns 1."""
    x, w, e, mode, p, n = path.x, path.gap, path.lift, path.mode, len(s.lo), len(s.mu)
    _plain_modes(s, path)
    for i in range(p):
        e[i] = -w[i] if mode[i] == INSIDE else max(-w[i], 0.0) if mode[i] == LOW else min(-w[i], 0.0)
    for c in range(n):
        i, t = p + c, p + n + 2 * c
        size = np.hypot(x[t], x[t + 1])
        mode[i] = OPEN if x[i] <= 0.0 else STICK if size < (1.0 - INTERIOR) * s.mu[c] * x[i] else SLIP
        if mode[i] == OPEN:
            e[i] = max(-w[i], 0.0)
        else:
            e[i], e[t], e[t + 1] = -w[i], -w[t], -w[t + 1]
            if mode[i] == SLIP and size > 0.0:
                speed = max(-(x[t] * w[t] + x[t + 1] * w[t + 1]) / size**2, 0.0)
                e[t], e[t + 1] = e[t] - speed * x[t], e[t + 1] - speed * x[t + 1]
            elif mode[i] == SLIP:
                e[t] = e[t + 1] = 0.0  # without friction it slips anyhow
    return 1.0


@work_inner
def _plain_modes(s, path):
    for i in range(len(s.lo)):
        path.mode[i] = LOW if path.x[i] == s.lo[i] else HIGH if path.x[i] == s.hi[i] else INSIDE


@work_inner
def _spread(i, seed, irrational):
    """A number in [0, 1) that differs from row to row."""
    return ((i + 1.5 + 0.31 * seed) * irrational) % 1.0
