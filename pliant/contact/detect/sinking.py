"""Where points of two surfaces may sink in between rows: the compiled loops of `refining.py`."""

from __future__ import annotations

import numpy as np
from numba import njit

BEYOND = 0.25  # of the range of gaps on a facet: how much nearer its corners may be than its points
BETWEEN = 0.25  # of the range of gaps at coarse places of a triangle: how much nearer places between may be


@njit(cache=True, error_model="numpy")
def least_gaps(opponent, sample, gap, touches, samples, reach):
    """What `_gaps` says, of contacts with opponents that the side `touches` (k,)."""
    least = np.full(samples + 1, reach)
    for i in range(len(gap)):
        if opponent[i] < len(touches) and touches[opponent[i]] and sample[i] < samples:
            least[sample[i]] = min(least[sample[i]], gap[i])
    least[samples] = np.nan
    return least


@njit(cache=True, error_model="numpy")
def near_triangles(which, gap, triangles, per, near):
    """Triangles (t,) that may be nearer than `near` [m]. Of `per` points on each, `which` met something."""
    low, high = np.full(triangles, np.inf), np.full(triangles, -np.inf)
    for s in which:
        t = s // per
        low[t], high[t] = min(low[t], gap[s]), max(high[t], gap[s])
    return low - BEYOND * (high - low) < near


@njit(cache=True, error_model="numpy")
def finer_places(which, number, gap, near, sinking, around, is_coarse):
    """Numbers (m,) of places around the nearest of each triangle that are no coarse ones.

    Places are those of `number` (ascending) in `which`, with gaps; only where the nearest is nearer than
    `near` [m], and places between it and the next may be nearer than `sinking` [m].
    """
    P, most = around.shape
    out, count, k = np.empty((len(which) + 1) * most, np.int64), 0, 0
    while k < len(which):
        t, nearest, farthest = number[which[k]] // P, which[k], gap[which[k]]
        while k < len(which) and number[which[k]] // P == t:
            farthest = max(farthest, gap[which[k]])
            if gap[which[k]] < gap[nearest]:
                nearest = which[k]
            k += 1
        if gap[nearest] < near and gap[nearest] - BETWEEN * (farthest - gap[nearest]) < sinking:
            for g in around[number[nearest] % P]:
                if g >= 0 and not is_coarse[g]:
                    out[count] = t * P + g
                    count += 1
    return out[:count].copy()


@njit(error_model="numpy")
def _between(corners, weights, value):
    """Σ weight · value over three corners with a weight; `corners` are places in `value`, −1 its last."""
    total = 0.0
    for a in range(3):
        if weights[a] > 1e-9:
            total += weights[a] * value[corners[a]]
    return total


@njit(cache=True, error_model="numpy")
def kept_at(
    which, number, triangles, places, slave,  # points of a lattice, on the slave or on the master
    skin, met, weights,  # triangles that they met
    means, sample, of_slave, own_sample, of_own, home,
):  # fmt: skip
    """What `Refining._kept` says: gaps (n,) [m] and bases (n,)."""
    n, P = len(which), len(places)
    kept, base = np.empty(n), np.empty(n, np.int64)
    corners, samples, w = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3)
    for i in range(n):
        s = which[i]
        t, g = number[s] // P, number[s] % P
        for a in range(3):
            corners[a] = triangles[t, a] if slave else skin[met[s], a]
            w[a] = places[g, a] if slave else weights[s, a]
            samples[a] = sample[corners[a]]
        kept[i] = np.fmin(_between(corners, w, means), _between(samples, w, of_slave))
        largest = 0
        for a in range(1, 3):
            if w[a] > w[largest]:
                largest = a
        base[i] = home[corners[largest], 0]
        if not slave:
            for a in range(3):
                samples[a] = own_sample[triangles[t, a]]
            kept[i] = np.fmin(kept[i], _between(samples, places[g], of_own))
    return kept, base
