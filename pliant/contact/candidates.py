"""Gaps of contacts whose triangles are known beforehand: no search, a few candidates each."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.contact.rules import FACING
from pliant.contact.triangle import FACE, closest


@njit(cache=True, error_model="numpy")
def measure(p, sample, radius, ptr, corner, reach, gap, normal, corners, weights):
    """Fill gap (n,), normal (n, 3), corners and weights (n, 3) of contacts nearer than `reach`; gap = inf for the others.

    Contact i is that of point sample[i] of p (P, 3) with the nearest of triangles corner[ptr[i]:ptr[i+1]] (points of p). Where
    that is nearest at its rim, the way there must not lie in its plane: such triangles do not face the sample.
    """
    for i in range(len(sample)):
        s = sample[i]
        x, y, z = p[s, 0], p[s, 1], p[s, 2]
        gap[i], best = np.inf, reach + radius[s]
        for t in range(ptr[i], ptr[i + 1]):
            j, k, m = corner[t, 0], corner[t, 1], corner[t, 2]
            ux, uy, uz = p[k, 0] - p[j, 0], p[k, 1] - p[j, 1], p[k, 2] - p[j, 2]
            vx, vy, vz = p[m, 0] - p[j, 0], p[m, 1] - p[j, 1], p[m, 2] - p[j, 2]
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            length = np.sqrt(nx * nx + ny * ny + nz * nz)
            if length == 0.0:
                continue
            nx, ny, nz = nx / length, ny / length, nz / length
            height = nx * (x - p[j, 0]) + ny * (y - p[j, 1]) + nz * (z - p[j, 2])
            if abs(height) >= best:
                continue
            a, b, c, feature = closest(x, y, z, p, j, k, m)
            dx = x - a * p[j, 0] - b * p[k, 0] - c * p[m, 0]
            dy = y - a * p[j, 1] - b * p[k, 1] - c * p[m, 1]
            dz = z - a * p[j, 2] - b * p[k, 2] - c * p[m, 2]
            d = np.sqrt(dx * dx + dy * dy + dz * dz)
            if d >= best or (feature != FACE and abs(height) < FACING * d):
                continue
            best = d
            gap[i] = np.copysign(d, height) - radius[s]
            if feature != FACE and d > 1e-9 * reach:
                turn = np.copysign(1.0 / d, height)
                nx, ny, nz = dx * turn, dy * turn, dz * turn
            normal[i, 0], normal[i, 1], normal[i, 2] = nx, ny, nz
            corners[i, 0], corners[i, 1], corners[i, 2] = j, k, m
            weights[i, 0], weights[i, 1], weights[i, 2] = a, b, c
