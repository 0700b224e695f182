"""The place on a sheet that a sample may touch: half a thickness off the middle surface, on its side.

A sample of a skin touches the side it looks at, also when it is past the middle surface by up to a tenth of
the reach; one that looks nowhere (a ball on a rod or on another sheet), or that meets the rim, the side where
it is.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import in_place, in_place_kernel
from pliant.contact.detect.rules import FACING, SHALLOW, next_leaf
from pliant.contact.geometry.triangle import EDGE, FACE, VERTEX, closest, offset, pseudo_normal


@in_place
def _on_rim(T, across, rim, t, feature):
    """Whether a feature of triangle t lies on the rim of the sheet."""
    if feature == FACE:
        return False
    if feature < VERTEX:
        return across[t, feature - EDGE] < 0
    return rim[T[t, feature - VERTEX]]


@in_place_kernel
def nearest_on_sheet(
    which, p, facing, radius,  # samples
    X, T, allowed, N, across, fan_ptr, fan, rim, links, bounds,  # sheet
    reach, gap, normal, triangle, weights,
):  # fmt: skip
    """Signed distance of samples `which` to the middle surface, gradient, triangle and weights; within reach.

    rim (k,) marks the nodes on the edge of the sheet; the rest as for `nearest_facing`.
    """
    for a in range(len(which)):
        s = which[a]
        x, y, z = p[s, 0], p[s, 1], p[s, 2]
        fx, fy, fz = facing[s, 0], facing[s, 1], facing[s, 2]
        faces = fx != 0.0 or fy != 0.0 or fz != 0.0
        best, tiny = reach + radius[s], 1e-9 * reach
        n = next_leaf(0, x, y, z, best * best, 0.0, 0.0, 0.0, bounds, links)
        while n < len(links):
            for t in range(links[n, 1], links[n, 2]):
                i, j, k = T[t, 0], T[t, 1], T[t, 2]
                if not allowed[t] or (N[t, 0] == 0.0 and N[t, 1] == 0.0 and N[t, 2] == 0.0):
                    continue
                w0, w1, w2, feature = closest(x, y, z, X, i, j, k)
                u, v, w = offset(x, y, z, X, i, j, k, w0, w1, w2)
                d = np.sqrt(u * u + v * v + w * w)
                if d >= best:
                    continue
                mx, my, mz = pseudo_normal(X, T, N, across, fan_ptr, fan, t, feature)
                length = np.sqrt(mx * mx + my * my + mz * mz)
                height = (u * mx + v * my + w * mz) / length
                looks = (fx * mx + fy * my + fz * mz) / length
                front = 1.0 if height >= 0.0 else -1.0  # the side of the sheet that is touched
                if abs(looks) >= FACING and not _on_rim(T, across, rim, t, feature):
                    front = 1.0 if looks < 0.0 else -1.0
                side = 1.0 if front * height >= 0.0 else -1.0
                if side < 0.0 and d > SHALLOW * reach:
                    continue
                if feature == FACE or d <= tiny:
                    u, v, w = front * mx / length, front * my / length, front * mz / length
                else:
                    u, v, w = side * u / d, side * v / d, side * w / d
                if faces and u * fx + v * fy + w * fz > -FACING:
                    continue
                best, gap[s], triangle[s] = d, side * d, t
                normal[s, 0], normal[s, 1], normal[s, 2] = u, v, w
                weights[s, 0], weights[s, 1], weights[s, 2] = w0, w1, w2
            n = next_leaf(n + 1, x, y, z, best * best, 0.0, 0.0, 0.0, bounds, links)
