"""The triangle of a deformable surface that a sample may touch: nearest of those that pass the rules.

    facing   the skin at the sample and the direction it is pushed in look towards each other;
    inside   a sample deeper than a tenth of the reach is inside the body it touches (signed crossings of a
             ray tell), so that nothing is touched through another wall.

For a sample on the same body, also (lengths at rest, but for the distance):

    apart    the distance is less than half the way along the skin, so that neighbours and open corners are
             no contact;
    thick    a sample that lay behind the triangle (the other side of a wall) is deeper than it by a tenth of
             their distance at most, so that a wall does not touch itself through its own material.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.contact.triangle import FACE, box_square, closest, pseudo_normal

FACING = 0.25  # cosine: surfaces within 75° of face to face can touch
SIDEWAYS = 0.2  # triangles that look this much the sample's way are not even measured
SHALLOW = 0.1
APART = 0.5
THICK = 0.1


@njit(error_model="numpy")
def _measured(x, y, z, X, i, j, k, fx, fy, fz):
    """Distance from p to a triangle, the closest point's weights, its feature, and the distance along f."""
    a, b, c, feature = closest(x, y, z, X, i, j, k)
    u = x - a * X[i, 0] - b * X[j, 0] - c * X[k, 0]
    v = y - a * X[i, 1] - b * X[j, 1] - c * X[k, 1]
    w = z - a * X[i, 2] - b * X[j, 2] - c * X[k, 2]
    return np.sqrt(u * u + v * v + w * w), a, b, c, feature, abs(u * fx + v * fy + w * fz)


@njit(error_model="numpy")
def _gradient(x, y, z, X, T, N, across, fan_ptr, fan, t, a, b, c, feature, m):
    """Side of p (1 outside, −1 inside) and the gradient of the signed distance there, into m (3,)."""
    i, j, k = T[t, 0], T[t, 1], T[t, 2]
    u = x - a * X[i, 0] - b * X[j, 0] - c * X[k, 0]
    v = y - a * X[i, 1] - b * X[j, 1] - c * X[k, 1]
    w = z - a * X[i, 2] - b * X[j, 2] - c * X[k, 2]
    pseudo_normal(X, T, N, across, fan_ptr, fan, t, feature, m)
    side = 1.0 if u * m[0] + v * m[1] + w * m[2] >= 0.0 else -1.0
    length = side * np.sqrt(u * u + v * v + w * w)
    if feature == FACE or abs(length) <= 1e-12 * (abs(x) + abs(y) + abs(z)):
        u, v, w = m[0], m[1], m[2]  # on an edge or a corner its own normal stays
        length = np.sqrt(u * u + v * v + w * w)
    m[0], m[1], m[2] = u / length, v / length, w / length
    return side


@njit(error_model="numpy")
def _looks_away(bounds, n, x, y, z):
    """Whether every normal in node n of a tree has a product above SIDEWAYS with the sample's."""
    low = min(bounds[n, 6] * x, bounds[n, 9] * x) + min(bounds[n, 7] * y, bounds[n, 10] * y)
    return low + min(bounds[n, 8] * z, bounds[n, 11] * z) > SIDEWAYS


@njit(error_model="numpy")
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


@njit(error_model="numpy")
def _rest_height(x, y, z, X0, i, j, k):
    """Distance at rest from (x, y, z) to a triangle, negative behind its plane."""
    a, b, c, _ = closest(x, y, z, X0, i, j, k)
    u = x - a * X0[i, 0] - b * X0[j, 0] - c * X0[k, 0]
    v = y - a * X0[i, 1] - b * X0[j, 1] - c * X0[k, 1]
    w = z - a * X0[i, 2] - b * X0[j, 2] - c * X0[k, 2]
    e0, e1, e2 = X0[j, 0] - X0[i, 0], X0[j, 1] - X0[i, 1], X0[j, 2] - X0[i, 2]
    f0, f1, f2 = X0[k, 0] - X0[i, 0], X0[k, 1] - X0[i, 1], X0[k, 2] - X0[i, 2]
    side = u * (e1 * f2 - e2 * f1) + v * (e2 * f0 - e0 * f2) + w * (e0 * f1 - e1 * f0)
    return np.copysign(np.sqrt(u * u + v * v + w * w), side)


@njit(error_model="numpy")
def _apart(s, distance, rest, support_ptr, support, X0, T, t, ptr, node, length, limit):
    """Whether sample s and triangle t of the same body are far apart enough along the skin to touch."""
    i, j, k = T[t, 0], T[t, 1], T[t, 2]
    way = limit
    for e in range(support_ptr[s], support_ptr[s + 1]):
        v = support[e]
        if v in (i, j, k):
            return False
        for corner in (i, j, k):
            way = min(way, _way(v, corner, ptr, node, length, limit))
    if distance < APART * way:
        return True
    return distance < APART * abs(_rest_height(rest[s, 0], rest[s, 1], rest[s, 2], X0, i, j, k))


@njit(error_model="numpy")
def _through_wall(s, gap, rest, X0, T, t):
    """Whether sample s seems to be behind triangle t of the same body because it always was."""
    height = _rest_height(rest[s, 0], rest[s, 1], rest[s, 2], X0, T[t, 0], T[t, 1], T[t, 2])
    return height < 0.0 and gap < THICK * height


@njit(error_model="numpy")
def _surely_through_wall(s, height, rest, X0, N0, i, t):
    """The same, told by the triangle's plane alone: a corner is no nearer than the closest point."""
    u, v, w = rest[s, 0] - X0[i, 0], rest[s, 1] - X0[i, 1], rest[s, 2] - X0[i, 2]
    behind = u * N0[t, 0] + v * N0[t, 1] + w * N0[t, 2] < 0.0
    return behind and height * height > THICK * THICK * (u * u + v * v + w * w)


@njit(error_model="numpy")
def _rises(x, y, z, fx, fy, fz, X, i, j, k):
    """Whether a triangle reaches above the plane of the skin at a sample; else they cannot face each other."""
    base = fx * x + fy * y + fz * z
    return (
        fx * X[i, 0] + fy * X[i, 1] + fz * X[i, 2] > base
        or fx * X[j, 0] + fy * X[j, 1] + fz * X[j, 2] > base
        or fx * X[k, 0] + fy * X[k, 1] + fz * X[k, 2] > base
    )


@njit(error_model="numpy")
def _crossings(x, y, z, X, T, links, bounds):
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


@njit(cache=True, error_model="numpy")
def nearest_facing(
    which, own, p, facing, radius, rest, support_ptr, support,  # samples
    X, X0, T, allowed, N, N0, across, fan_ptr, fan, links, bounds,  # surface
    ways_ptr, ways_node, ways_length, limit, reach,
    gap, normal, triangle, weights,
):  # fmt: skip
    """For samples `which` the signed distance to the surface, gradient, triangle and weights; within reach
    only.

    `own` (len(which),) marks samples of the same body; `allowed` (t,) the triangles that may be touched;
    facing (S, 3) is the normal at each sample, zero if it has none. Other samples keep what the outputs hold.
    """
    m = np.empty(3)
    for a in range(len(which)):
        s, n = which[a], 0
        x, y, z = p[s, 0], p[s, 1], p[s, 2]
        fx, fy, fz = facing[s, 0], facing[s, 1], facing[s, 2]
        faces = fx != 0.0 or fy != 0.0 or fz != 0.0
        best, tiny = reach + radius[s], 1e-9 * reach
        while n < len(links):
            if box_square(x, y, z, bounds, n) >= best * best or (
                faces and _looks_away(bounds, n, fx, fy, fz)
            ):
                n = links[n, 0]
                continue
            for t in range(links[n, 1], links[n, 2]):
                i, j, k = T[t, 0], T[t, 1], T[t, 2]
                nx, ny, nz = N[t, 0], N[t, 1], N[t, 2]
                height = nx * (x - X[i, 0]) + ny * (y - X[i, 1]) + nz * (z - X[i, 2])
                if (
                    not allowed[t]
                    or abs(height) >= best
                    or (faces and nx * fx + ny * fy + nz * fz > SIDEWAYS)
                ):
                    continue
                if nx == 0.0 and ny == 0.0 and nz == 0.0:  # without area
                    continue
                if height > 0.0 and faces and not _rises(x, y, z, fx, fy, fz, X, i, j, k):
                    continue
                if height < 0.0 and own[a] and _surely_through_wall(s, height, rest, X0, N0, i, t):
                    continue
                d, w0, w1, w2, feature, along = _measured(x, y, z, X, i, j, k, fx, fy, fz)
                if d >= best or (faces and feature != FACE and d > tiny and along < FACING * d):
                    continue
                if own[a] and not _apart(
                    s, d, rest, support_ptr, support, X0, T, t, ways_ptr, ways_node, ways_length, limit
                ):
                    continue
                g = d * _gradient(x, y, z, X, T, N, across, fan_ptr, fan, t, w0, w1, w2, feature, m)
                if faces and m[0] * fx + m[1] * fy + m[2] * fz > -FACING:
                    continue
                if own[a] and g < 0.0 and _through_wall(s, g, rest, X0, T, t):
                    continue
                if -g > SHALLOW * reach:
                    out = 0.5 * d if own[a] else 0.0  # off its own skin, still inside what it touches
                    inside = _crossings(x + out * fx, y + out * fy, z + out * fz, X, T, links, bounds)
                    if inside < 1:
                        continue
                best, gap[s], triangle[s] = d, g, t
                normal[s, 0], normal[s, 1], normal[s, 2] = m[0], m[1], m[2]
                weights[s, 0], weights[s, 1], weights[s, 2] = w0, w1, w2
            n += 1


@njit(cache=True, error_model="numpy")
def facet_normals_at(X, T, per_facet, facet_ptr, facet):
    """Unit normal (S, 3) of the facets that each sample lies on, weighted by area; zero for samples on none.

    Triangles per_facet·f … per_facet·(f + 1) − 1 make up facet f.
    """
    count = len(T) // per_facet
    A, out = np.zeros((count, 3)), np.zeros((len(facet_ptr) - 1, 3))
    for t in range(len(T)):
        i, j, k, f = T[t, 0], T[t, 1], T[t, 2], t // per_facet
        ux, uy, uz = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
        vx, vy, vz = X[k, 0] - X[i, 0], X[k, 1] - X[i, 1], X[k, 2] - X[i, 2]
        A[f, 0] += uy * vz - uz * vy
        A[f, 1] += uz * vx - ux * vz
        A[f, 2] += ux * vy - uy * vx
    for s in range(len(out)):
        x, y, z = 0.0, 0.0, 0.0
        for e in range(facet_ptr[s], facet_ptr[s + 1]):
            x, y, z = x + A[facet[e], 0], y + A[facet[e], 1], z + A[facet[e], 2]
        length = np.sqrt(x * x + y * y + z * z)
        if length > 0.0:
            out[s, 0], out[s, 1], out[s, 2] = x / length, y / length, z / length
    return out
