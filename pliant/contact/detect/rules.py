"""Which triangles of a deformable surface a sample may touch.

    facing   the skin at the sample and the direction it is pushed in look towards each other;
    inside   where a sample is deeper than a tenth of the reach, two bodies overlap (signed crossings of a ray
             tell), so that nothing is touched through another wall.

For a sample on the same body, also (lengths at rest, but for the distance):

    apart    the distance is less than half the way along the skin, so that neighbours and open corners are
             no contact;
    thick    a sample that lay behind the triangle (the other side of a wall) is deeper than it by a tenth of
             their distance at most, so that a wall does not touch itself through its own material.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import in_place
from pliant.contact.geometry.triangle import box_square, closest, offset

FACING = 0.25  # cosine: surfaces within 75° of face to face can touch
SIDEWAYS = 0.2  # triangles that look this much the sample's way are not even measured
SHALLOW = 0.1  # of the search distance: samples that are less deep need no test of being inside
APART = 0.5  # of the way along the skin, below which a distance is a contact of a body with itself
THICK = 0.1  # of the distance at rest, by which a sample behind a wall may be deeper


@in_place
def looks_away(bounds, n, x, y, z):
    """Whether every normal in node n of a tree has a product above SIDEWAYS with the sample's."""
    low = min(bounds[n, 6] * x, bounds[n, 9] * x) + min(bounds[n, 7] * y, bounds[n, 10] * y)
    return low + min(bounds[n, 8] * z, bounds[n, 11] * z) > SIDEWAYS


@in_place
def next_leaf(n, x, y, z, square, fx, fy, fz, bounds, links):
    """The first node of a tree from n on with triangles that may count; as many as there are nodes if none.

    Its box is nearer to the point than the root of `square`, and not all of its triangles look the way of f,
    which is zero where that does not matter.
    """
    while n < len(links):
        if box_square(x, y, z, bounds, n) >= square or looks_away(bounds, n, fx, fy, fz):
            n = links[n, 0]
        elif links[n, 1] < links[n, 2]:
            return n
        else:
            n += 1
    return n


@in_place
def _way(v, corner, ptr, node, length, limit):
    """Way along the skin between two nodes; `limit` if it is longer."""
    low, high = ptr[v], ptr[v + 1]
    while low < high:
        middle = (low + high) // 2
        if node[middle] < corner:
            low = middle + 1
        else:
            high = middle
    return length[low] if low < ptr[v + 1] and node[low] == corner else limit


@in_place
def _rest_height(x, y, z, X0, i, j, k):
    """Distance at rest from (x, y, z) to a triangle, negative behind its plane."""
    a, b, c, _ = closest(x, y, z, X0, i, j, k)
    u, v, w = offset(x, y, z, X0, i, j, k, a, b, c)
    e0, e1, e2 = X0[j, 0] - X0[i, 0], X0[j, 1] - X0[i, 1], X0[j, 2] - X0[i, 2]
    f0, f1, f2 = X0[k, 0] - X0[i, 0], X0[k, 1] - X0[i, 1], X0[k, 2] - X0[i, 2]
    side = u * (e1 * f2 - e2 * f1) + v * (e2 * f0 - e0 * f2) + w * (e0 * f1 - e1 * f0)
    return np.copysign(np.sqrt(u * u + v * v + w * w), side)


@in_place
def hangs_on(nodes, i, j, k):
    """Whether any of some nodes is a corner of triangle i j k."""
    for node in nodes:  # noqa: SIM110  (compiled)
        if node in (i, j, k):
            return True
    return False


@in_place
def apart(s, distance, rest, support_ptr, support, X0, T, t, ptr, node, length, limit):
    """Whether sample s and triangle t of the same body are far apart enough along the skin to touch."""
    i, j, k = T[t, 0], T[t, 1], T[t, 2]
    if hangs_on(support[support_ptr[s] : support_ptr[s + 1]], i, j, k):
        return False
    if distance < APART * abs(_rest_height(rest[s, 0], rest[s, 1], rest[s, 2], X0, i, j, k)):
        return True
    if distance >= APART * limit:  # ways are no longer than that
        return False
    for e in range(support_ptr[s], support_ptr[s + 1]):
        for corner in (i, j, k):
            if distance >= APART * _way(support[e], corner, ptr, node, length, limit):
                return False
    return True


@in_place
def through_wall(s, gap, rest, X0, T, t):
    """Whether sample s seems to be behind triangle t of the same body because it always was."""
    height = _rest_height(rest[s, 0], rest[s, 1], rest[s, 2], X0, T[t, 0], T[t, 1], T[t, 2])
    return height < 0.0 and gap < THICK * height


@in_place
def surely_through_wall(s, height, rest, X0, N0, i, t):
    """The same, told by the triangle's plane alone: a corner is no nearer than the closest point."""
    u, v, w = rest[s, 0] - X0[i, 0], rest[s, 1] - X0[i, 1], rest[s, 2] - X0[i, 2]
    behind = u * N0[t, 0] + v * N0[t, 1] + w * N0[t, 2] < 0.0
    return behind and height * height > THICK * THICK * (u * u + v * v + w * w)


@in_place
def beyond(x, y, z, X, i, j, k, distance):
    """Whether the box round a triangle is farther than a distance from a point."""
    u = max(min(X[i, 0], X[j, 0], X[k, 0]) - x, x - max(X[i, 0], X[j, 0], X[k, 0]), 0.0)
    v = max(min(X[i, 1], X[j, 1], X[k, 1]) - y, y - max(X[i, 1], X[j, 1], X[k, 1]), 0.0)
    w = max(min(X[i, 2], X[j, 2], X[k, 2]) - z, z - max(X[i, 2], X[j, 2], X[k, 2]), 0.0)
    return u * u + v * v + w * w > distance * distance


@in_place
def rises(x, y, z, fx, fy, fz, X, i, j, k):
    """Whether a triangle reaches above the plane of the skin at a sample; else it cannot be touched."""
    return rises_above(fx * x + fy * y + fz * z, fx, fy, fz, X, i, j, k)


@in_place
def rises_above(base, fx, fy, fz, X, i, j, k):
    """Whether a corner of a triangle is above the plane f · x = base."""
    return (
        fx * X[i, 0] + fy * X[i, 1] + fz * X[i, 2] > base
        or fx * X[j, 0] + fy * X[j, 1] + fz * X[j, 2] > base
        or fx * X[k, 0] + fy * X[k, 1] + fz * X[k, 2] > base
    )


@in_place
def crossings(x, y, z, X, T, links, bounds):
    """How often a ray from p leaves the surface less how often it enters: 1 inside a body, 0 outside."""
    u, v, w = 0.5481, 0.7714, 0.3235  # no direction that meshes favour
    count, n = 0, 0
    while n < len(links):
        # All components are positive: it is known which planes of a box come first.
        a0, a1 = (bounds[n, 0] - x) / u, (bounds[n, 3] - x) / u
        b0, b1 = (bounds[n, 1] - y) / v, (bounds[n, 4] - y) / v
        c0, c1 = (bounds[n, 2] - z) / w, (bounds[n, 5] - z) / w
        if max(a0, b0, c0, 0.0) > min(a1, b1, c1):
            n = links[n, 0]
            continue
        for o in range(links[n, 1], links[n, 2]):
            i, j, k = T[o, 0], T[o, 1], T[o, 2]
            e0, e1, e2 = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
            f0, f1, f2 = X[k, 0] - X[i, 0], X[k, 1] - X[i, 1], X[k, 2] - X[i, 2]
            h0, h1, h2 = v * f2 - w * f1, w * f0 - u * f2, u * f1 - v * f0
            det = e0 * h0 + e1 * h1 + e2 * h2
            r0, r1, r2 = x - X[i, 0], y - X[i, 1], z - X[i, 2]
            s = (r0 * h0 + r1 * h1 + r2 * h2) / det
            g0, g1, g2 = r1 * e2 - r2 * e1, r2 * e0 - r0 * e2, r0 * e1 - r1 * e0
            t = (u * g0 + v * g1 + w * g2) / det
            if s >= 0.0 and t >= 0.0 and s + t <= 1.0 and (f0 * g0 + f1 * g1 + f2 * g2) / det > 0.0:
                count += 1 if det < 0.0 else -1
        n += 1
    return count
