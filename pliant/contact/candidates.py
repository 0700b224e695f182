"""Gaps of contacts whose triangles are known beforehand: no search, a few candidates each."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.contact.rules import FACING
from pliant.contact.triangle import FACE, closest


@njit(cache=True, error_model="numpy")
def measure(p, before, sample, radius, ptr, corner, reach, least, last, gap, normal, corners, weights):
    """Fill gap (n,), normal (n, 3), corners and weights (n, 3) of contacts nearer than `reach`; gap = inf for the others.

    Contact i is that of point sample[i] of p (P, 3) with the nearest of triangles corner[ptr[i]:ptr[i+1]] (points of p). Where
    that is nearest at its rim, the way there must not lie in its plane: such triangles do not face the sample.
    Kept from one call to the next: least (n,) [m], what the distances were at least when points were `before` (P, 3), as most
    contacts are far and need no look while nothing moved far enough; last (n,), the triangle that was nearest.
    """
    moved = 0.0
    for i in range(len(p)):
        x, y, z = p[i, 0] - before[i, 0], p[i, 1] - before[i, 1], p[i, 2] - before[i, 2]
        moved = max(moved, x * x + y * y + z * z)
        before[i, 0], before[i, 1], before[i, 2] = p[i, 0], p[i, 1], p[i, 2]
    nearer = 2.0 * np.sqrt(moved) * (1.0 + 1e-9)  # both sides move
    for i in range(len(sample)):
        limit = reach + radius[sample[i]]
        gap[i] = np.inf
        least[i] -= nearer
        if least[i] <= limit and ptr[i] < ptr[i + 1]:
            _measure_one(
                i, p, sample[i], ptr, corner, limit, 1e-9 * reach, last, gap, normal, corners, weights
            )
            least[i] = (
                abs(gap[i]) if gap[i] < np.inf else _least(p, sample[i], ptr[i], ptr[i + 1], corner, limit)
            )
            gap[i] -= radius[sample[i]]


@njit(error_model="numpy")
def _measure_one(i, p, s, ptr, corner, limit, tiny, last, gap, normal, corners, weights):
    """Contact i, of point s; its gap is the distance, negative inside."""
    x, y, z, best, found = p[s, 0], p[s, 1], p[s, 2], limit, last[i]
    # First that triangle which was nearest: the others need not be looked at where they are farther. Then all in their order, so
    # that which of several at the same distance wins depends on nothing else.
    for n in range(ptr[i] - 1, ptr[i + 1]):
        if n == ptr[i] and gap[i] < np.inf:
            best, gap[i] = min(limit, (1.0 + 1e-9) * best + tiny), np.inf
        t = n if n >= ptr[i] else last[i]
        j, k, m = corner[t, 0], corner[t, 1], corner[t, 2]
        ux, uy, uz = p[k, 0] - p[j, 0], p[k, 1] - p[j, 1], p[k, 2] - p[j, 2]
        vx, vy, vz = p[m, 0] - p[j, 0], p[m, 1] - p[j, 1], p[m, 2] - p[j, 2]
        wx, wy, wz = x - p[j, 0], y - p[j, 1], z - p[j, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        square, height = nx * nx + ny * ny + nz * nz, nx * wx + ny * wy + nz * wz
        if height * height >= best * best * square:  # also triangles without area
            continue
        a, b, c, feature = closest(x, y, z, p, j, k, m)
        dx = x - a * p[j, 0] - b * p[k, 0] - c * p[m, 0]
        dy = y - a * p[j, 1] - b * p[k, 1] - c * p[m, 1]
        dz = z - a * p[j, 2] - b * p[k, 2] - c * p[m, 2]
        d, length = np.sqrt(dx * dx + dy * dy + dz * dz), np.sqrt(square)
        if d >= best or (feature != FACE and abs(height) < FACING * d * length):
            continue
        best, found, gap[i] = d, t, np.copysign(d, height)
        if feature != FACE and d > tiny:
            nx, ny, nz, length = dx, dy, dz, gap[i]
        normal[i, 0], normal[i, 1], normal[i, 2] = nx / length, ny / length, nz / length
        corners[i, 0], corners[i, 1], corners[i, 2] = j, k, m
        weights[i, 0], weights[i, 1], weights[i, 2] = a, b, c
    last[i] = found


@njit(error_model="numpy")
def _least(p, s, start, stop, corner, limit):
    """What the distance to triangles start … stop − 1 is at least."""
    x, y, z, least = p[s, 0], p[s, 1], p[s, 2], np.inf
    for t in range(start, stop):
        j, k, m = corner[t, 0], corner[t, 1], corner[t, 2]
        side = max(_apart(p, j, p[k, 0], p[k, 1], p[k, 2]), _apart(p, j, p[m, 0], p[m, 1], p[m, 2]))
        far = _apart(p, j, x, y, z) - side
        if far < limit:
            a, b, c, _ = closest(x, y, z, p, j, k, m)
            dx = x - a * p[j, 0] - b * p[k, 0] - c * p[m, 0]
            dy = y - a * p[j, 1] - b * p[k, 1] - c * p[m, 1]
            dz = z - a * p[j, 2] - b * p[k, 2] - c * p[m, 2]
            far = np.sqrt(dx * dx + dy * dy + dz * dz)
        least = min(least, far)
    return least


@njit(error_model="numpy")
def _apart(p, i, x, y, z):
    """Distance of point i from (x, y, z)."""
    u, v, w = p[i, 0] - x, p[i, 1] - y, p[i, 2] - z
    return np.sqrt(u * u + v * v + w * w)


@njit(cache=True, error_model="numpy")
def gathered(live, shares, soft, sample, opponent, margin, gap, normal, corners, weights, p, samples):
    """The contacts `live` (n,), of which those below `soft` are with triangles: index, sample, opponent, gap, normal, position,
    margin, and the stencil's ptr, point and weight; and the mean position (k, 3) of those that modes share."""
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
    mode_ptr, contact, share = shares
    mean = np.zeros((len(mode_ptr) - 1, 3))
    for j in range(len(mean)):
        for s in range(mode_ptr[j], mode_ptr[j + 1]):
            for c in range(3):
                mean[j, c] += share[s] * position[contact[s], c]
    return index, who, whom, gaps, normals, position, off, ptr, point, weight, mean
