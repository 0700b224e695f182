"""Gaps of contacts whose triangles are known beforehand: no search, a few candidates each."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.contact.rules import FACING
from pliant.contact.triangle import FACE, closest


@njit(cache=True, error_model="numpy")
def measure(p, before, sample, radius, ptr, corner, reach, least, gap, normal, corners, weights):
    """Fill gap (n,), normal (n, 3), corners and weights (n, 3) of contacts nearer than `reach`; gap = inf for the others.

    Contact i is that of point sample[i] of p (P, 3) with the nearest of triangles corner[ptr[i]:ptr[i+1]] (points of p). Where
    that is nearest at its rim, the way there must not lie in its plane: such triangles do not face the sample.
    least (n,) [m]: what the distances were at least when points were `before` (P, 3); both are brought up to date. Most contacts
    are far, and need no look while nothing moved far enough.
    """
    moved = 0.0
    for i in range(len(p)):
        x, y, z = p[i, 0] - before[i, 0], p[i, 1] - before[i, 1], p[i, 2] - before[i, 2]
        moved = max(moved, x * x + y * y + z * z)
        before[i, 0], before[i, 1], before[i, 2] = p[i, 0], p[i, 1], p[i, 2]
    nearer = 2.0 * np.sqrt(moved) * (1.0 + 1e-9)  # both sides move
    for i in range(len(sample)):
        gap[i], best = np.inf, reach + radius[sample[i]]
        least[i] -= nearer
        if not least[i] > best:
            least[i] = _measure_one(
                i, p, sample[i], radius, ptr, corner, best, 1e-9 * reach, gap, normal, corners, weights
            )


@njit(error_model="numpy")
def _measure_one(i, p, s, radius, ptr, corner, best, tiny, gap, normal, corners, weights):
    """One contact; returns what its distance is at least."""
    x, y, z, least = p[s, 0], p[s, 1], p[s, 2], np.inf
    for t in range(ptr[i], ptr[i + 1]):
        j, k, m = corner[t, 0], corner[t, 1], corner[t, 2]
        ux, uy, uz = p[k, 0] - p[j, 0], p[k, 1] - p[j, 1], p[k, 2] - p[j, 2]
        vx, vy, vz = p[m, 0] - p[j, 0], p[m, 1] - p[j, 1], p[m, 2] - p[j, 2]
        wx, wy, wz = x - p[j, 0], y - p[j, 1], z - p[j, 2]
        longest = max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz)
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = np.sqrt(nx * nx + ny * ny + nz * nz)
        if length == 0.0:
            least = 0.0  # may gain an area
            continue
        nx, ny, nz = nx / length, ny / length, nz / length
        height = nx * wx + ny * wy + nz * wz
        beside = np.sqrt(wx * wx + wy * wy + wz * wz) - np.sqrt(longest)
        far = max(abs(height), beside)
        if far >= best:
            least = min(least, far)
            continue
        a, b, c, feature = closest(x, y, z, p, j, k, m)
        dx = x - a * p[j, 0] - b * p[k, 0] - c * p[m, 0]
        dy = y - a * p[j, 1] - b * p[k, 1] - c * p[m, 1]
        dz = z - a * p[j, 2] - b * p[k, 2] - c * p[m, 2]
        d = np.sqrt(dx * dx + dy * dy + dz * dz)
        least = min(least, d)
        if d >= best or (feature != FACE and abs(height) < FACING * d):
            continue
        best = d
        gap[i] = np.copysign(d, height) - radius[s]
        if feature != FACE and d > tiny:
            turn = np.copysign(1.0 / d, height)
            nx, ny, nz = dx * turn, dy * turn, dz * turn
        normal[i, 0], normal[i, 1], normal[i, 2] = nx, ny, nz
        corners[i, 0], corners[i, 1], corners[i, 2] = j, k, m
        weights[i, 0], weights[i, 1], weights[i, 2] = a, b, c
    return least


@njit(cache=True, error_model="numpy")
def gathered(live, soft, sample, opponent, margin, gap, normal, corners, weights, p, samples):
    """The contacts `live` (n,), of which those below `soft` are with triangles: index, sample, opponent, gap, normal, position,
    margin, and the stencil's ptr, point and weight."""
    n, nnz = len(live), 0
    for k in range(n):
        nnz += 4 if live[k] < soft else 1
    index, who, whom = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    gaps, off, normals, position = np.empty(n), np.empty(n), np.empty((n, 3)), np.empty((n, 3))
    ptr, point, weight = np.zeros(n + 1, np.int64), np.empty(nnz, np.int64), np.empty(nnz)
    e = 0
    for k in range(n):
        i, s = live[k], sample[live[k]]
        index[k], who[k], whom[k] = opponent[i] * samples + s, s, opponent[i]
        gaps[k], off[k] = gap[i], margin[i]
        point[e], weight[e] = s, 1.0
        e += 1
        for c in range(3):
            normals[k, c], position[k, c] = normal[i, c], p[s, c]
            if i < soft:
                point[e], weight[e] = corners[i, c], -weights[i, c]
                e += 1
        ptr[k + 1] = e
    return index, who, whom, gaps, normals, position, off, ptr, point, weight
