"""Cells: triangles of facets that are halved again and again where an obstacle may be nearer than known.

The gap d to an obstacle is known at the corners of a cell, with its gradients n. Between them it is nowhere
less than a bound,

    convex obstacles     max over corners i of  min over corners j of  dᵢ + nᵢ·(xⱼ − xᵢ)
    others               max over corners i of  dᵢ − max over corners j of |xⱼ − xᵢ|

less what a curved facet bulges between them. A cell whose bound is no less than what is known of it needs no
more cutting. For obstacles that are not convex, that is a lot to ask where the robot lies flat on one: there
a cell also counts as known where no corner lies above the tangent plane of another, as on a flat or a hollow
face; the two large cells on top of each other that this needs are what a narrow spike can hide between.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place
from pliant.contact.detect.facets import PIECES, ROD

SURE_AFTER = 2  # halvings before a cell of a facet by an obstacle that is not convex may count as known


@in_place
def shape_weights(code, xi, eta, out):
    """Weights of the nodes of a facet at reference coordinates, into `out`; returns how many nodes it has."""
    if code == ROD:
        out[0], out[1] = 1.0 - xi, xi
        return 2
    if code < 2:
        a, b, c = 1.0 - xi - eta, xi, eta
        if code == 0:
            out[0], out[1], out[2] = a, b, c
            return 3
        out[0], out[1], out[2] = a * (2.0 * a - 1.0), b * (2.0 * b - 1.0), c * (2.0 * c - 1.0)
        out[3], out[4], out[5] = 4.0 * a * b, 4.0 * b * c, 4.0 * c * a
        return 6
    l, r, d, u = 1.0 - xi, 1.0 + xi, 1.0 - eta, 1.0 + eta
    out[0], out[1], out[2], out[3] = 0.25 * l * d, 0.25 * r * d, 0.25 * r * u, 0.25 * l * u
    if code == 2:
        return 4
    out[0] *= -xi - eta - 1.0
    out[1] *= xi - eta - 1.0
    out[2] *= xi + eta - 1.0
    out[3] *= -xi + eta - 1.0
    out[4], out[5] = 0.5 * l * r * d, 0.5 * r * d * u
    out[6], out[7] = 0.5 * l * r * u, 0.5 * l * d * u
    return 8


@in_place
def reference(xi, t, i, j):
    """Reference coordinates of place (i, j) on triangle t."""
    b, c = i / PIECES, j / PIECES
    a = 1.0 - b - c
    return (
        a * xi[t, 0, 0] + b * xi[t, 1, 0] + c * xi[t, 2, 0],
        a * xi[t, 0, 1] + b * xi[t, 1, 1] + c * xi[t, 2, 1],
    )


@in_place
def _bulge(code, node, first, p):
    """How far [m] a facet lies off the flat triangles through its corners, at most."""
    far = 0.0
    if code == 0 or code == ROD:
        return far
    if code >= 2:
        for k in range(3):
            e = p[node[first], k] + p[node[first + 2], k] - p[node[first + 1], k] - p[node[first + 3], k]
            far += e * e
        far = 0.25 * np.sqrt(far)
    if code == 2:
        return far
    corners, largest = (3 if code == 1 else 4), 0.0
    for e in range(corners):
        square = 0.0
        for k in range(3):
            a, b = p[node[first + e], k], p[node[first + (e + 1) % corners], k]
            off = p[node[first + corners + e], k] - 0.5 * (a + b)
            square += off * off
        largest = max(largest, square)
    return far + 2.0 * np.sqrt(largest)


@in_place
def _bound(x, gap, normal, convex):
    """The bound of the module for one cell, and the least of its corners' gaps."""
    bound, least = -np.inf, np.inf
    for i in range(3):
        least = min(least, gap[i])
        low = gap[i]
        for j in range(3):
            if j == i:
                continue
            u, v, w = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            if convex:
                low = min(low, gap[i] + normal[i, 0] * u + normal[i, 1] * v + normal[i, 2] * w)
            else:
                low = min(low, gap[i] - np.sqrt(u * u + v * v + w * w))
        bound = max(bound, low)
    return bound, least


@in_place
def _hollow(x, gap, normal, tolerance):
    """Whether no corner lies above the tangent plane of another: flat or hollow, as far as that shows."""
    for i in range(3):
        for j in range(3):
            u, v, w = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            if gap[j] > gap[i] + normal[i, 0] * u + normal[i, 1] * v + normal[i, 2] * w + tolerance:
                return False
    return True


@in_place
def _open(x, gap, normal, convex, bulge, level, beyond, tolerance):
    """Whether a cell must be cut: it may be below `beyond`, and deeper between its corners than at them."""
    bound, least = _bound(x, gap, normal, convex)
    bulge /= 1 << (2 * level)
    bound -= bulge
    if bound > beyond or bound >= least - tolerance:
        return False
    sure = not convex and level >= SURE_AFTER and bulge <= tolerance
    return not (sure and _hollow(x, gap, normal, tolerance))


@njit(error_model="numpy")
def _parts_beyond(samples, corner, p, gap, normal, known, beyond):
    """Whether each of 16 parts of a triangle lies beyond, by the tangent planes of a convex obstacle's gap.

    The plane of a sample is a lower bound; of each part the highest of them at its lowest corner counts.
    """
    n, x = 4, np.empty((3, 3))
    for i in range(n):
        for j in range(n - i):
            for up in range(2 if i + j < n - 1 else 1):  # the part at (i, j), and the one that points back
                for a in range(3):
                    u = (i + (a == 1) if up == 0 else i + (a != 1)) / n
                    v = (j + (a == 2) if up == 0 else j + (a != 0)) / n
                    for k in range(3):
                        c = p[corner[0], k]
                        x[a, k] = c + u * (p[corner[1], k] - c) + v * (p[corner[2], k] - c)
                bound = -np.inf
                for s in samples:
                    if gap[s] >= known:
                        continue
                    low = np.inf
                    for a in range(3):
                        d = gap[s]
                        for k in range(3):
                            d += normal[s, k] * (x[a, k] - p[s, k])
                        low = min(low, d)
                    bound = max(bound, low)
                    if bound > beyond:
                        break
                if bound <= beyond:
                    return False
    return True


@njit(cache=True, error_model="numpy")
def first_cells(arrays, p, gap, normal, piece, mobile, convex, reach, known, cut, far_cut):
    """The triangles that may be nearer than `reach` somewhere, and nearer than at their samples.

    That is by more than `cut` and `far_cut` of the samples' gap.

    gap (S,), less the radii, and normal (S, 3) of the samples; those above `known` [m] are bounds without a
    normal. piece (S,): see `Obstacle.concave_piece`, of an obstacle that is not convex: no facet with one for
    all of its samples is nearer than these. Returns the triangles' numbers, and of each facet (F,) the least
    gap of its samples.
    """
    code, node_ptr, node, sample_ptr, sample, facet, _, corner, _, _, _ = arrays
    least = np.full(len(code), np.inf)
    for f in range(len(code)):
        for s in range(sample_ptr[f], sample_ptr[f + 1]):
            least[f] = min(least[f], gap[sample[s]])
    found, count = np.empty(len(facet), np.int64), 0
    for t in range(len(facet)):
        f = facet[t]
        moves, size = False, 0.0
        for a in range(3):
            moves = moves or mobile[corner[t, a]]
            c, b = corner[t, a], corner[t, (a + 1) % 3]
            u, v, w = p[b, 0] - p[c, 0], p[b, 1] - p[c, 1], p[b, 2] - p[c, 2]
            size = max(size, u * u + v * v + w * w)
        if not moves or (least[f] > reach and (least[f] - reach) ** 2 > size):
            continue
        bound, hollow = -np.inf, not convex
        # A facet of four nodes lies within their hull, others within that of their corners but for a bulge.
        four = code[f] == 2
        bulge = 0.0 if four else _bulge(code[f], node, node_ptr[f], p)
        for e in range(sample_ptr[f], sample_ptr[f + 1]):
            s, low = sample[e], np.inf
            for a in range(4 if four else 3):
                c = node[node_ptr[f] + a] if four else corner[t, a]
                u, v, w = p[c, 0] - p[s, 0], p[c, 1] - p[s, 1], p[c, 2] - p[s, 2]
                if convex and gap[s] < known:
                    low = min(low, gap[s] + normal[s, 0] * u + normal[s, 1] * v + normal[s, 2] * w)
                else:
                    low = min(low, gap[s] - np.sqrt(u * u + v * v + w * w))
            bound = max(bound, low)
            hollow = hollow and 0 <= piece[s] == piece[sample[sample_ptr[f]]]
        beyond = min(reach, least[f] - cut - far_cut * max(least[f], 0.0))
        if hollow:
            bound = max(bound, least[f])
        if bound - bulge > beyond:
            continue
        if (
            convex
            and least[f] < known
            and _parts_beyond(
                sample[sample_ptr[f] : sample_ptr[f + 1]], corner[t], p, gap, normal, known, beyond + bulge
            )
        ):
            continue
        found[count] = t
        count += 1
    return found[:count].copy(), least


@njit(cache=True, error_model="numpy")
def start_cells(arrays, p, triangles):
    """Cells (C,) of whole triangles: their places (C, 3, 2) and corners' positions (3C, 3)."""
    code, facet, corner = arrays[0], arrays[5], arrays[7]
    place, x = np.zeros((len(triangles), 3, 2), np.int64), np.empty((3 * len(triangles), 3))
    for c in range(len(triangles)):
        place[c, 1, 0] = PIECES
        place[c, 2, 0 if code[facet[triangles[c]]] == ROD else 1] = PIECES
        for a in range(3):
            for k in range(3):
                x[3 * c + a, k] = p[corner[triangles[c], a], k]
    return place, x


@njit(cache=True, error_model="numpy")
def at_places(arrays, p, radius, triangle, place):
    """Positions (n, 3) of places (n, 2) on triangles (n,), the radius (n,) there, weights of nodes (n, 8)."""
    code, node_ptr, node, _, _, facet, xi, _, _, _, _ = arrays
    x, around, weights = np.zeros((len(triangle), 3)), np.zeros(len(triangle)), np.zeros((len(triangle), 8))
    for c in range(len(triangle)):
        t = triangle[c]
        f, weight = facet[t], weights[c]
        n = shape_weights(code[f], *reference(xi, t, place[c, 0], place[c, 1]), weight)
        for e in range(n):
            q = node[node_ptr[f] + e]
            if q < len(radius):
                around[c] += weight[e] * radius[q]
            for k in range(3):
                x[c, k] += weight[e] * p[q, k]
    return x, around, weights


@njit(cache=True, error_model="numpy")
def halved(arrays, p, cells, group, x, gap, normal, best, band, tolerance, convex, level):
    """The quarters of cells that must be cut on, and their groups; `best` (groups,) takes the least gaps.

    cells: triangles (C,); places (C, 3, 2), positions (C, 3, 3), gaps (C, 3), normals (C, 3, 3) of corners.
    x, gap, normal: of the middles of sides, from each corner to the next. A quarter must be cut if it may lie
    below best + band of its group, and deeper in between than at its corners by more than `tolerance`.
    level: how often these were halved.
    """
    code, node_ptr, node, _, _, facet, _, _, _, _, _ = arrays
    triangle, place, corners, gaps, normals = cells
    for m in range(len(gap)):
        best[group[m // 3]] = min(best[group[m // 3]], gap[m])
    most = 4 * len(triangle)
    new_triangle, new_group = np.empty(most, np.int64), np.empty(most, np.int64)
    new_place, new_x = np.empty((most, 3, 2), np.int64), np.empty((most, 3, 3))
    new_gap, new_normal = np.empty((most, 3)), np.empty((most, 3, 3))
    count = 0
    for c in range(len(triangle)):
        f = facet[triangle[c]]
        bulge = _bulge(code[f], node, node_ptr[f], p)
        for quarter in range(2 if code[f] == ROD else 4):  # a rod has halves
            for a in range(3):
                if quarter == a:  # the corner itself
                    new_gap[count, a] = gaps[c, a]
                    for k in range(3):
                        new_x[count, a, k], new_normal[count, a, k] = corners[c, a, k], normals[c, a, k]
                    new_place[count, a, 0], new_place[count, a, 1] = place[c, a, 0], place[c, a, 1]
                    continue
                # In quarter b its corner b is kept; the two others are the middles that touch it.
                side = a if quarter == 3 else (quarter if a == (quarter + 1) % 3 else (quarter + 2) % 3)
                m, b = 3 * c + side, (side + 1) % 3
                new_gap[count, a] = gap[m]
                for k in range(3):
                    new_x[count, a, k], new_normal[count, a, k] = x[m, k], normal[m, k]
                for k in range(2):
                    new_place[count, a, k] = (place[c, side, k] + place[c, b, k]) // 2
            beyond, quarter_x, quarter_n = best[group[c]] + band, new_x[count], new_normal[count]
            if _open(quarter_x, new_gap[count], quarter_n, convex, bulge, level, beyond, tolerance):
                new_triangle[count], new_group[count] = triangle[c], group[c]
                count += 1
    kept = (
        new_triangle[:count].copy(),
        new_place[:count].copy(),
        new_x[:count].copy(),
        new_gap[:count].copy(),
        new_normal[:count].copy(),
    )
    return kept, new_group[:count].copy()
