"""Signed distance to a closed triangle mesh: a search in a tree of boxes, helped by a coarse grid."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place
from pliant.contact.geometry.triangle import EDGE, FACE, VERTEX, box_square, closest


@in_place
def _square(x, y, z, X, T, t):
    """Squared distance from p to triangle t, the closest point's weights and its feature."""
    i, j, k = T[t, 0], T[t, 1], T[t, 2]
    a, b, c, feature = closest(x, y, z, X, i, j, k)
    u = a * X[i, 0] + b * X[j, 0] + c * X[k, 0] - x
    v = a * X[i, 1] + b * X[j, 1] + c * X[k, 1] - y
    w = a * X[i, 2] + b * X[j, 2] + c * X[k, 2] - z
    return u * u + v * v + w * w, a, b, c, feature


@in_place
def _triangle_near(x, y, z, links, bounds):
    """A triangle near p: always down into the nearer box."""
    n = 0
    while links[n, 1] == links[n, 2]:
        left, right = n + 1, links[n + 1, 0]
        n = left if box_square(x, y, z, bounds, left) <= box_square(x, y, z, bounds, right) else right
    return links[n, 1]


@in_place
def _nearest(x, y, z, X, T, links, bounds, t):
    """Nearest triangle to p, starting from the guess t; the closest point's weights and its feature."""
    best, w0, w1, w2, feature = _square(x, y, z, X, T, t)
    n = 0
    while n < len(links):
        if box_square(x, y, z, bounds, n) >= best:
            n = links[n, 0]
            continue
        for o in range(links[n, 1], links[n, 2]):
            square, a, b, c, f = _square(x, y, z, X, T, o)
            if square < best:
                best, t, w0, w1, w2, feature = square, o, a, b, c, f
        n += 1
    return t, w0, w1, w2, feature


@in_place
def _bound(x, y, z, corner, step, values, triangles, bounds):
    """A lower bound of the gap (−inf if none is known) and a triangle to start from (−1 if none is known).

    The gap at p differs from that at a cell's middle by at most their distance.
    """
    i = int(np.floor((x - corner[0]) / step))
    j = int(np.floor((y - corner[1]) / step))
    k = int(np.floor((z - corner[2]) / step))
    nx, ny, nz = values.shape
    if i < 0 or j < 0 or k < 0 or i >= nx or j >= ny or k >= nz:
        square = box_square(x, y, z, bounds, 0)
        return (np.sqrt(square) if square > 0.0 else -np.inf), -1
    u = x - corner[0] - step * (i + 0.5)
    v = y - corner[1] - step * (j + 0.5)
    w = z - corner[2] - step * (k + 0.5)
    return values[i, j, k] - np.sqrt(u * u + v * v + w * w), triangles[i, j, k]


@in_place
def _signed(x, y, z, X, T, t, w0, w1, w2, feature, faces, edges, corners):
    """Signed distance to the closest point and its gradient."""
    i, j, k = T[t, 0], T[t, 1], T[t, 2]
    vx = x - w0 * X[i, 0] - w1 * X[j, 0] - w2 * X[k, 0]
    vy = y - w0 * X[i, 1] - w1 * X[j, 1] - w2 * X[k, 1]
    vz = z - w0 * X[i, 2] - w1 * X[j, 2] - w2 * X[k, 2]
    if feature == FACE:
        mx, my, mz = faces[t, 0], faces[t, 1], faces[t, 2]
        return vx * mx + vy * my + vz * mz, mx, my, mz
    if feature < VERTEX:
        e = feature - EDGE
        mx, my, mz = edges[t, e, 0], edges[t, e, 1], edges[t, e, 2]
    else:
        c = T[t, feature - VERTEX]
        mx, my, mz = corners[c, 0], corners[c, 1], corners[c, 2]
    d = np.sqrt(vx * vx + vy * vy + vz * vz)
    if d <= 1e-12 * (abs(x) + abs(y) + abs(z)):  # on an edge or a corner its own normal stays
        return 0.0, mx, my, mz
    if vx * mx + vy * my + vz * mz < 0.0:
        d = -d
    return d, vx / d, vy / d, vz / d


@njit(cache=True, error_model="numpy")
def solid_distance(p, R, origin, reach, X, T, faces, edges, corners, links, bounds, low, step, values, near):
    """Gap (P,), gradient (P, 3) and nearest triangle (P,); beyond reach a lower bound and triangle −1."""
    gap, normal, triangle = np.empty(len(p)), np.empty((len(p), 3)), np.empty(len(p), np.int64)
    for i in range(len(p)):
        u, v, w = p[i, 0] - origin[0], p[i, 1] - origin[1], p[i, 2] - origin[2]
        x = R[0, 0] * u + R[1, 0] * v + R[2, 0] * w
        y = R[0, 1] * u + R[1, 1] * v + R[2, 1] * w
        z = R[0, 2] * u + R[1, 2] * v + R[2, 2] * w
        gap[i], t = _bound(x, y, z, low, step, values, near, bounds)
        if gap[i] > reach:
            triangle[i], normal[i, 0], normal[i, 1], normal[i, 2] = -1, 1.0, 0.0, 0.0
            continue
        if t < 0:
            t = _triangle_near(x, y, z, links, bounds)
        t, a, b, c, feature = _nearest(x, y, z, X, T, links, bounds, t)
        gap[i], u, v, w = _signed(x, y, z, X, T, t, a, b, c, feature, faces, edges, corners)
        triangle[i] = t
        for k in range(3):
            normal[i, k] = R[k, 0] * u + R[k, 1] * v + R[k, 2] * w
    return gap, normal, triangle
