"""Where a path of `friction_path` begins: the lift e that turns the problem into one with a known solution."""

from __future__ import annotations

import numpy as np

from pliant.solvers.cone import HIGH, INSIDE, LOW, OPEN, SLIP, STICK, aim
from pliant.solvers.friction_events import EXTENT, FIRST, GAP, LIFT, PHASE, SOFT, X, Z
from pliant.solvers.friction_piece import gaps, kernel
from pliant.solvers.pieces import inner

CORRECT, TURN, STOPPED = 0.0, 1.0, 2.0  # phases of a path
SOFTNESS = 1e-2  # ϑ, in units of the lift
INTERIOR = 1e-12  # share of the cone that counts as its border


@kernel
def lift(W, q, mu, lo, hi, seed, V, G, mode, slip, S):
    """Modes, lift and gaps at the start."""
    p, x = len(lo), V[X]
    gaps(W, q, x, V[GAP])
    for i in range(p):
        mode[i] = LOW if x[i] == lo[i] else HIGH if x[i] == hi[i] else INSIDE
    z = _open(mu, p, V, mode, seed) if seed >= 0 else _right(mu, p, V, mode)
    extent = z
    for i in range(len(q)):
        V[GAP, i] += z * V[LIFT, i]
        extent = max(extent, abs(V[GAP, i]))
    aim(mu, p, x, V[GAP], mode, slip)
    S[Z], S[FIRST], S[SOFT], S[EXTENT] = z, z, SOFTNESS / z, extent
    S[PHASE] = TURN if z > 0.0 else STOPPED


@inner
def _open(mu, p, V, mode, seed):
    """LIFT ← what opens contacts, different for each; returns how much of it opens all of them."""
    n, z = len(mu), 0.0
    for i in range(p):
        spread = 0.1 * _spread(i, seed, 0.2360679775)
        V[LIFT, i] = spread if mode[i] == LOW else -spread if mode[i] == HIGH else 0.0
    for c in range(n):
        t, most = p + n + 2 * c, max(1.0, mu[c])
        V[LIFT, p + c] = 1.0 + _spread(c, seed, 0.6180339887)
        V[LIFT, t] = (_spread(c, seed, 0.7548776662) - 0.5) / most
        V[LIFT, t + 1] = (_spread(c, seed, 0.5698402910) - 0.5) / most
        z = max(z, -V[GAP, p + c] / V[LIFT, p + c])
    return z


@inner
def _right(mu, p, V, mode):
    """LIFT ← what the gaps lack for the efforts to be a solution, and modes of contacts as efforts tell them."""
    n, x, w, e = len(mu), V[X], V[GAP], V[LIFT]
    for i in range(p):
        e[i] = -w[i] if mode[i] == INSIDE else max(-w[i], 0.0) if mode[i] == LOW else min(-w[i], 0.0)
    for c in range(n):
        i, t = p + c, p + n + 2 * c
        size = np.hypot(x[t], x[t + 1])
        mode[i] = OPEN if x[i] <= 0.0 else STICK if size < (1.0 - INTERIOR) * mu[c] * x[i] else SLIP
        if mode[i] == OPEN:
            e[i] = max(-w[i], 0.0)
            continue
        e[i], e[t], e[t + 1] = -w[i], -w[t], -w[t + 1]
        if mode[i] == SLIP and size > 0.0:
            speed = max(-(x[t] * w[t] + x[t + 1] * w[t + 1]) / size**2, 0.0)
            e[t], e[t + 1] = e[t] - speed * x[t], e[t + 1] - speed * x[t + 1]
        elif mode[i] == SLIP:
            e[t] = e[t + 1] = 0.0  # without friction it slips anyhow
    return 1.0


@inner
def _spread(i, seed, irrational):
    """A number in [0, 1) that differs from row to row."""
    return ((i + 1.5 + 0.31 * seed) * irrational) % 1.0
