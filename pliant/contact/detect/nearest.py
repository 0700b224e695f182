"""The triangle of a deformable surface that a sample may touch: the nearest of those that pass the rules."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place, in_place_kernel
from pliant.contact.detect.rules import (
    FACING,
    SIDEWAYS,
    apart,
    beyond,
    crossings,
    next_leaf,
    rises,
    surely_through_wall,
    through_wall,
)
from pliant.contact.geometry.triangle import FACE, closest, offset, pseudo_normal

TIE = 1e-11  # relative: of triangles that are as near, those at an edge say, the one that faces best counts


@in_place
def _measured(x, y, z, X, i, j, k, fx, fy, fz):
    """Distance from p to a triangle, the closest point's weights, its feature, and the distance along f."""
    a, b, c, feature = closest(x, y, z, X, i, j, k)
    u, v, w = offset(x, y, z, X, i, j, k, a, b, c)
    return np.sqrt(u * u + v * v + w * w), a, b, c, feature, abs(u * fx + v * fy + w * fz)


@in_place
def _gradient(x, y, z, X, T, N, across, fan_ptr, fan, t, a, b, c, feature):
    """Side of p (1 outside, −1 inside) and the gradient of the signed distance there."""
    u, v, w = offset(x, y, z, X, T[t, 0], T[t, 1], T[t, 2], a, b, c)
    mx, my, mz = pseudo_normal(X, T, N, across, fan_ptr, fan, t, feature)
    side = 1.0 if u * mx + v * my + w * mz >= 0.0 else -1.0
    length = side * np.sqrt(u * u + v * v + w * w)
    if feature == FACE or abs(length) <= 1e-12 * (abs(x) + abs(y) + abs(z)):
        u, v, w = mx, my, mz  # on an edge or a corner its own normal stays
        length = np.sqrt(u * u + v * v + w * w)
    return side, u / length, v / length, w / length


@in_place_kernel
def nearest_facing(
    which, own, p, facing, radius, rest, support_ptr, support,  # samples
    X, X0, T, allowed, N, N0, across, fan_ptr, fan, links, bounds, all_links, all_bounds,  # surface
    ways_ptr, ways_node, ways_length, limit, closed, reach, shallow,
    gap, normal, triangle, weights,
):  # fmt: skip
    """Signed distance of samples `which` to the surface, gradient, triangle and weights; within reach.

    `own` (len(which),) marks samples of the same body; `allowed` (t,) the triangles that may be touched;
    facing (S, 3) is the normal at each sample, zero if it has none. The tree of links and bounds may be
    without nodes that hold no allowed triangles; that of all_links and all_bounds has all. Where the
    surface is not `closed` but a patch, nobody can tell whether a sample is truly inside; otherwise those
    deeper than `shallow` must be. Other samples keep what the outputs hold.

    The triangle that the sample before has found is tried first: neighbours touch the same, and what is
    farther need not be looked at.
    """
    last = -1
    for a in range(len(which)):
        s, n = which[a], 0 if last < 0 else -1
        x, y, z = p[s, 0], p[s, 1], p[s, 2]
        fx, fy, fz = facing[s, 0], facing[s, 1], facing[s, 2]
        faces = fx != 0.0 or fy != 0.0 or fz != 0.0
        best, tiny, near, look = reach + radius[s], 1e-9 * reach, np.inf, 0.0
        while n < len(links):
            start, stop = last, last + 1
            if n >= 0:
                n = next_leaf(n, x, y, z, best * best, fx, fy, fz, bounds, links)
                if n == len(links):
                    break
                start, stop = links[n, 1], links[n, 2]
            for t in range(start, stop):
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
                if beyond(x, y, z, X, i, j, k, best):
                    continue
                if height > 0.0 and faces and not rises(x, y, z, fx, fy, fz, X, i, j, k):
                    continue
                if height < 0.0 and own[a] and surely_through_wall(s, height, rest, X0, N0, i, t):
                    continue
                d, w0, w1, w2, feature, along = _measured(x, y, z, X, i, j, k, fx, fy, fz)
                if d >= best or (faces and feature != FACE and d > tiny and along < FACING * d):
                    continue
                if d > near and nx * fx + ny * fy + nz * fz >= look:
                    continue
                if own[a] and not apart(
                    s, d, rest, support_ptr, support, X0, T, t, ways_ptr, ways_node, ways_length, limit
                ):
                    continue
                side, mx, my, mz = _gradient(x, y, z, X, T, N, across, fan_ptr, fan, t, w0, w1, w2, feature)
                g = d * side
                if faces and mx * fx + my * fy + mz * fz > -FACING:
                    continue
                if own[a] and g < 0.0 and through_wall(s, g, rest, X0, T, t):
                    continue
                # At an edge the sign holds if nothing is nearer; the face beside it may have been ruled out.
                if closed and (-g > shallow or (feature != FACE and -g > tiny)):
                    into = 0.5 * d if own[a] else 0.1 * d  # its own body, where both should be
                    u, v, w = (-fx, -fy, -fz) if faces else (mx, my, mz)
                    inside = crossings(x + into * u, y + into * v, z + into * w, X, T, all_links, all_bounds)
                    if inside < (2 if own[a] else 1):
                        continue
                best, near, gap[s], triangle[s] = (1.0 + TIE) * d, (1.0 - TIE) * d, g, t
                look = nx * fx + ny * fy + nz * fz
                normal[s, 0], normal[s, 1], normal[s, 2] = mx, my, mz
                weights[s, 0], weights[s, 1], weights[s, 2] = w0, w1, w2
                last = t
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
