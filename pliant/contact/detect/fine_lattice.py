"""Fine lattices: places on the facets of a surface, coarse ones first and finer ones around any of them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.arrays import frozen
from pliant.contact.detect.quadrature import Reference, reference_at
from pliant.mesh import Surface

PIECES = 16  # that edges of triangles are cut into …
COARSE = 4  # … and every so manieth place is a coarse one
NO_AREA = 1e-300  # [m²]


class Places(NamedTuple):
    """The places of a lattice as kernels read them.

    Nodes at `rest` (k, 3); triangles (t, 3), the nodes (t, nn) of their facets and which part of it they are;
    at each place shape functions (K, P, nn) and weights (P, 3) of the corners, whether it is a coarse one and
    which places are `around` (P, ·) it, −1 where there are fewer; the coarse ones (c,) are looked at first.
    """

    rest: np.ndarray
    triangles: np.ndarray
    nodes: np.ndarray
    part: np.ndarray
    shape: np.ndarray
    weights: np.ndarray
    is_coarse: np.ndarray
    around: np.ndarray
    coarse: np.ndarray


def fine_lattice(surface: Surface) -> Places:
    """P places on each triangle of a surface, numbered triangle by triangle."""
    r, coarse, around = _places(surface.kind)
    triangles = frozen(surface.triangles, int)
    return Places(
        frozen(surface.nodes),
        triangles,
        frozen(surface.facets[surface.facet_of_triangle], int),
        frozen(np.arange(len(triangles)) % len(r.shape), int),
        r.shape,
        r.weights,
        frozen(np.isin(np.arange(len(r.share)), coarse), bool),
        frozen(around, int),
        frozen(coarse, int),
    )


@njit(error_model="numpy")
def at_numbers(X, X0, triangles, nodes, part, N, number):
    """Of places (n,): positions (n, 3) [m], unit normals (n, 3), positions at rest, nodes (n · nn,)."""
    n, P, nn = len(number), N.shape[1], N.shape[2]
    p, across, rest = np.zeros((n, 3)), np.empty((n, 3)), np.zeros((n, 3))
    support = np.empty(n * nn, np.int64)
    for k in range(n):
        t, g = number[k] // P, number[k] % P
        for a in range(nn):
            m, w = nodes[t, a], N[part[t], g, a]
            support[k * nn + a] = m
            for c in range(3):
                p[k, c] += w * X[m, c]
                rest[k, c] += w * X0[m, c]
        i, j, o = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
        vx, vy, vz = X[o, 0] - X[i, 0], X[o, 1] - X[i, 1], X[o, 2] - X[i, 2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = max(np.sqrt(x * x + y * y + z * z), NO_AREA)
        across[k, 0], across[k, 1], across[k, 2] = x / length, y / length, z / length
    return p, across, rest, support


@cache
def _places(kind: str) -> tuple[Reference, np.ndarray, np.ndarray]:
    """Reference values at all places, the coarse ones, and those around each."""
    steps = np.array([(i, j) for i in range(PIECES + 1) for j in range(PIECES + 1 - i)])
    number = {place: k for k, place in enumerate(map(tuple, steps.tolist()))}
    weights = np.column_stack([PIECES - steps.sum(axis=1), steps]) / PIECES
    coarse = np.flatnonzero((steps % COARSE == 0).all(axis=1))
    shifts = [
        (i, j) for i in range(1 - COARSE, COARSE) for j in range(1 - COARSE, COARSE) if abs(i + j) < COARSE
    ]
    around = [[number.get((i + a, j + b), -1) for a, b in shifts] for i, j in steps.tolist()]
    return reference_at(kind, weights, np.full(len(steps), 1.0 / len(steps))), coarse, np.array(around)
