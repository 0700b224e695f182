"""Narrow phase over known candidate pairs: each sample against a few triangles of its own."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.contact.detect.rules import FACING
from pliant.contact.geometry.triangle import FACE, closest

ON_TRIANGLE = 1e-9  # of the search distance: a sample nearer than that has the triangle's normal


@njit(cache=True, error_model="numpy")
def nearest_candidate(p, sample, radius, ptr, corner, reach):
    """The nearest triangle that faces each sample (n,), of its candidates corner[ptr[i]:ptr[i+1]] (·, 3).

    Returns gaps (n,), inf where there is none below `reach`; normals (n, 3); triangles (n,), which are rows
    of `corner`; and barycentric weights (n, 3) of their corners.

    Where a triangle is nearest at its rim, the way there must not lie in its plane: such ones do not face the
    sample.
    """
    n = len(sample)
    gap, normal, triangle, weights = np.full(n, np.inf), np.zeros((n, 3)), np.full(n, -1), np.zeros((n, 3))
    for i in range(n):
        s = sample[i]
        x, y, z = p[s, 0], p[s, 1], p[s, 2]
        limit = reach + radius[i]
        best, tiny = limit, ON_TRIANGLE * limit
        for t in range(ptr[i], ptr[i + 1]):
            j, k, m = corner[t, 0], corner[t, 1], corner[t, 2]
            ux, uy, uz = p[k, 0] - p[j, 0], p[k, 1] - p[j, 1], p[k, 2] - p[j, 2]
            vx, vy, vz = p[m, 0] - p[j, 0], p[m, 1] - p[j, 1], p[m, 2] - p[j, 2]
            wx, wy, wz = x - p[j, 0], y - p[j, 1], z - p[j, 2]
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            square, height = nx * nx + ny * ny + nz * nz, nx * wx + ny * wy + nz * wz
            if height * height >= best * best * square:  # too far from its plane, or a triangle without area
                continue
            a, b, c, feature = closest(x, y, z, p, j, k, m)
            dx = x - a * p[j, 0] - b * p[k, 0] - c * p[m, 0]
            dy = y - a * p[j, 1] - b * p[k, 1] - c * p[m, 1]
            dz = z - a * p[j, 2] - b * p[k, 2] - c * p[m, 2]
            d, length = np.sqrt(dx * dx + dy * dy + dz * dz), np.sqrt(square)
            if d >= best or (feature != FACE and abs(height) < FACING * d * length):
                continue
            best, signed = d, np.copysign(d, height)
            if feature != FACE and d > tiny:
                nx, ny, nz, length = dx, dy, dz, signed
            gap[i], triangle[i] = signed - radius[i], t
            normal[i, 0], normal[i, 1], normal[i, 2] = nx / length, ny / length, nz / length
            weights[i, 0], weights[i, 1], weights[i, 2] = a, b, c
    return gap, normal, triangle, weights
