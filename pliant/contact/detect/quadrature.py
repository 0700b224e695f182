"""Quadrature: points on the facets of a surface, at which gaps to another surface are measured and added up.

Each facet is cut into straight triangles through all of its nodes; on each triangle lie G points with
barycentric weights b and shares w of its area. A point is Σ N_a x_a of the nodes of its facet, with the
facet's own shape functions N; b are the hat functions of the triangle's corners, which are never negative and
add up to one.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place
from pliant.arrays import frozen
from pliant.contact.detect.rules import next_leaf
from pliant.mesh import Surface
from pliant.mesh.elements import ELEMENTS, SUBTRIANGLES, shape

# Of twelve points, degree 6 (Dunavant, Int. J. Numer. Meth. Eng. 21, 1985): barycentric weights and shares.
_TWICE = ((0.249286745170910, 0.116786275726379), (0.063089014491502, 0.050844906370207))
_ONCE = (0.053145049844817, 0.310352451033784, 0.082851075618374)


class Reference(NamedTuple):
    """A kind of facets: shape functions and reference coordinates at the points of its triangles.

    shape (K, G, nn), of K triangles; weights (G, 3) and share (G,) on a triangle; corner (K, 3, 2) the
    reference coordinates of their corners; exponents (nn, 2) and coefficients (nn, nn) of its polynomials.
    """

    shape: np.ndarray
    weights: np.ndarray
    share: np.ndarray
    corner: np.ndarray
    exponents: np.ndarray
    coefficients: np.ndarray


@cache
def reference(kind: str) -> Reference:
    """Of tri3, tri6, quad4 or quad8."""
    return reference_at(kind, *_points())


def reference_at(kind: str, weights: np.ndarray, share: np.ndarray) -> Reference:
    """With points at weights (G, 3) of its triangles, and their shares (G,) of the area."""
    element = ELEMENTS[kind]
    corner = element.nodes[SUBTRIANGLES[kind]]
    places = np.einsum("ga,kai->kgi", weights, corner)
    N = shape(kind, places.reshape(-1, 2)).reshape(*places.shape[:2], -1)
    return Reference(
        frozen(N),
        frozen(weights),
        frozen(share),
        frozen(corner),
        frozen(element.exponents, int),
        frozen(element.coefficients),
    )


def _points() -> tuple[np.ndarray, np.ndarray]:
    weights, share = [], []
    for a, s in _TWICE:
        weights += [np.roll((1.0 - 2.0 * a, a, a), k) for k in range(3)]
        share += [s] * 3
    a, b, s = _ONCE
    weights += [np.roll(w, k) for w in ((1.0 - a - b, a, b), (1.0 - a - b, b, a)) for k in range(3)]
    share += [s] * 6
    return np.array(weights), np.array(share) / np.sum(share)


class Grid(NamedTuple):
    """Points of a surface, G on each of its triangles (t, 3), in the order of the triangles.

    nodes (t, nn): of the facet of each triangle; part (t,): which triangle of its facet it is; shape
    (K, G, nn) as in `Reference`. rest (t·G, 3): where the points are at rest; they hang on nodes
    support[support_ptr[i]:support_ptr[i+1]].
    """

    triangles: np.ndarray
    nodes: np.ndarray
    part: np.ndarray
    shape: np.ndarray
    rest: np.ndarray
    support_ptr: np.ndarray
    support: np.ndarray


class Quadrature:
    """Points of a surface as a `grid`; area (t,) [m²] of its triangles at rest.

    It is that at rest so that a row's shares stay as they are when the body deforms.
    """

    def __init__(self, surface: Surface) -> None:
        self.reference = r = reference(surface.kind)
        nodes = frozen(surface.facets[surface.facet_of_triangle], int)
        part = frozen(np.arange(len(nodes)) % len(r.shape), int)
        rest = np.einsum("tgn,tni->tgi", r.shape[part], surface.nodes[nodes])
        per, nn = len(r.share), nodes.shape[1]
        self.area = frozen(surface.areas)
        self.grid = Grid(
            frozen(surface.triangles, int),
            nodes,
            part,
            r.shape,
            frozen(rest.reshape(-1, 3)),
            frozen(nn * np.arange(per * len(nodes) + 1), int),
            frozen(np.repeat(nodes, per, axis=0).ravel(), int),
        )


@in_place
def facet_is_near(X, i, j, k, nodes, bounds, links, reach):
    """Whether a box of the tree is within reach of the ball round triangle i j k with its facet's nodes."""
    x = (X[i, 0] + X[j, 0] + X[k, 0]) / 3.0
    y = (X[i, 1] + X[j, 1] + X[k, 1]) / 3.0
    z = (X[i, 2] + X[j, 2] + X[k, 2]) / 3.0
    square = 0.0
    for m in nodes:
        u, v, w = X[m, 0] - x, X[m, 1] - y, X[m, 2] - z
        square = max(square, u * u + v * v + w * w)
    far = reach + np.sqrt(square)
    return next_leaf(0, x, y, z, far * far, 0.0, 0.0, 0.0, bounds, links) < len(links)


@njit(error_model="numpy")
def placed(X, triangles, nodes, part, N, bounds, links, reach):
    """Points near a tree: which they are (n,), positions (t·G, 3) [m] and unit normals (t·G, 3) of all.

    Positions and normals are filled in for those points only.
    """
    T, G, nn = len(triangles), N.shape[1], N.shape[2]
    which, p, facing = np.empty(T * G, np.int64), np.empty((T * G, 3)), np.empty((T * G, 3))
    count = 0
    for t in range(T):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if not facet_is_near(X, i, j, k, nodes[t], bounds, links, reach):
            continue
        ux, uy, uz = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
        vx, vy, vz = X[k, 0] - X[i, 0], X[k, 1] - X[i, 1], X[k, 2] - X[i, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = np.sqrt(nx * nx + ny * ny + nz * nz)
        if length == 0.0:
            continue
        for g in range(G):
            s = t * G + g
            which[count] = s
            count += 1
            for c in range(3):
                p[s, c] = 0.0
                for a in range(nn):
                    p[s, c] += N[part[t], g, a] * X[nodes[t, a], c]
            facing[s, 0], facing[s, 1], facing[s, 2] = nx / length, ny / length, nz / length
    return which[:count].copy(), p, facing
