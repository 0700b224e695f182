"""Closest points on triangles and which feature they lie on: inner loops of all searches."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place

FACE, EDGE, VERTEX = 0, 1, 4  # features: the face, EDGE + e (edge e runs from corner e to e + 1), VERTEX + v


@in_place
def closest(px, py, pz, X, i, j, k):
    """Barycentric weights of the point of triangle (i, j, k) of X (n, 3) nearest to p, and its feature.

    The seven regions of Ericson, Real-Time Collision Detection, §5.1.5.
    """
    ax, ay, az = X[i, 0], X[i, 1], X[i, 2]
    ux, uy, uz = X[j, 0] - ax, X[j, 1] - ay, X[j, 2] - az
    vx, vy, vz = X[k, 0] - ax, X[k, 1] - ay, X[k, 2] - az
    x, y, z = px - ax, py - ay, pz - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    ua, va = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
    ub, vb = ua - uu, va - uv  # the same products seen from the second corner
    uc, vc = ua - uv, va - vv  # and from the third
    if ua <= 0.0 and va <= 0.0:
        return 1.0, 0.0, 0.0, VERTEX
    if ub >= 0.0 and vb <= ub:
        return 0.0, 1.0, 0.0, VERTEX + 1
    opposite_c = ua * vb - ub * va
    if opposite_c <= 0.0 and ua >= 0.0 and ub <= 0.0:
        s = ua / (ua - ub)
        return 1.0 - s, s, 0.0, EDGE
    if vc >= 0.0 and uc <= vc:
        return 0.0, 0.0, 1.0, VERTEX + 2
    opposite_b = uc * va - ua * vc
    if opposite_b <= 0.0 and va >= 0.0 and vc <= 0.0:
        s = va / (va - vc)
        return 1.0 - s, 0.0, s, EDGE + 2
    opposite_a = ub * vc - uc * vb
    if opposite_a <= 0.0 and vb - ub >= 0.0 and uc - vc >= 0.0:
        s = (vb - ub) / ((vb - ub) + (uc - vc))
        return 0.0, 1.0 - s, s, EDGE + 1
    total = opposite_a + opposite_b + opposite_c
    return opposite_a / total, opposite_b / total, opposite_c / total, FACE


@in_place
def offset(x, y, z, X, i, j, k, a, b, c):
    """From the place with weights a, b, c on triangle (i, j, k) of X (n, 3) to a point."""
    u = x - a * X[i, 0] - b * X[j, 0] - c * X[k, 0]
    v = y - a * X[i, 1] - b * X[j, 1] - c * X[k, 1]
    w = z - a * X[i, 2] - b * X[j, 2] - c * X[k, 2]
    return u, v, w


@in_place
def box_square(px, py, pz, bounds, n):
    """Squared distance from p to the box of node n of a tree."""
    x = max(bounds[n, 0] - px, 0.0, px - bounds[n, 3])
    y = max(bounds[n, 1] - py, 0.0, py - bounds[n, 4])
    z = max(bounds[n, 2] - pz, 0.0, pz - bounds[n, 5])
    return x * x + y * y + z * z


@njit(cache=True, error_model="numpy")
def unit_normals(X, triangles):
    """Unit normals (t, 3); zero for triangles without area."""
    out = np.zeros((len(triangles), 3))
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
        vx, vy, vz = X[k, 0] - X[i, 0], X[k, 1] - X[i, 1], X[k, 2] - X[i, 2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = np.sqrt(x * x + y * y + z * z)
        if length > 0.0:
            out[t, 0], out[t, 1], out[t, 2] = x / length, y / length, z / length
    return out


@in_place
def corner_angle(X, triangle, corner):
    """Angle [rad] of a triangle (3,) at one of its corners."""
    a, b, c = triangle[corner], triangle[(corner + 1) % 3], triangle[(corner + 2) % 3]
    uu, uv, vv = 0.0, 0.0, 0.0
    for d in range(3):
        u, v = X[b, d] - X[a, d], X[c, d] - X[a, d]
        uu += u * u
        uv += u * v
        vv += v * v
    if uu == 0.0 or vv == 0.0:
        return 0.0
    return np.arccos(min(max(uv / np.sqrt(uu * vv), -1.0), 1.0))


@in_place
def pseudo_normal(X, triangles, normals, across, fan_ptr, fan, t, feature):
    """A normal at a feature of triangle t that tells outside from inside, not unit.

    Faces count by their angle at the feature (Bærentzen and Aanæs, IEEE TVCG 11, 2005).
    across (t, 3) is the triangle on the other side of each edge, −1 on a rim; fan[fan_ptr[v]:fan_ptr[v+1]]
    are the triangles round corner v.
    """
    x, y, z = normals[t, 0], normals[t, 1], normals[t, 2]
    if feature == FACE:
        return x, y, z
    if feature < VERTEX:
        o = across[t, feature - EDGE]
        return (x + normals[o, 0], y + normals[o, 1], z + normals[o, 2]) if o >= 0 else (x, y, z)
    x, y, z, v = 0.0, 0.0, 0.0, triangles[t, feature - VERTEX]
    for s in range(fan_ptr[v], fan_ptr[v + 1]):
        o = fan[s]
        for corner in range(3):
            if triangles[o, corner] == v:
                angle = corner_angle(X, triangles[o], corner)
                x, y, z = x + angle * normals[o, 0], y + angle * normals[o, 1], z + angle * normals[o, 2]
    return x, y, z
