"""Fine lattices: places on facets: coarse ones, finer ones around any of them, the finest between two."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.arrays import frozen
from pliant.contact.detect.quadrature import Reference, reference_at
from pliant.mesh import Surface

PIECES = 64  # that edges of triangles are cut into …
COARSE, FINE = 16, 4  # … and every so manieth place is a coarse one, or a finer one
NO_AREA = 1e-300  # [m²]


class Places(NamedTuple):
    """The places of a lattice as kernels read them.

    Nodes at `rest` (k, 3); triangles (t, 3), the nodes (t, nn) of their facets and which part of it they are;
    at each place shape functions (K, P, nn) and weights (P, 3) of the corners, whether it is a coarse one,
    and other places, −1 where there are fewer: finer ones `around` (P, ·) it, the next of these `beside`
    (P, ·) it, and the finest `close` (P, ·) to it. The coarse ones (c,) are looked at first.
    """

    rest: np.ndarray
    triangles: np.ndarray
    nodes: np.ndarray
    part: np.ndarray
    shape: np.ndarray
    weights: np.ndarray
    is_coarse: np.ndarray
    around: np.ndarray
    beside: np.ndarray
    close: np.ndarray
    coarse: np.ndarray


def fine_lattice(surface: Surface) -> Places:
    """P places on each triangle of a surface, numbered triangle by triangle."""
    r, coarse, around, beside, close = _places(surface.kind)
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
        frozen(beside, int),
        frozen(close, int),
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
def _places(kind: str) -> tuple[Reference, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Reference values at all places, the coarse ones, and those around, beside and close to each."""
    steps = np.array([(i, j) for i in range(PIECES + 1) for j in range(PIECES + 1 - i)])
    weights = np.column_stack([PIECES - steps.sum(axis=1), steps]) / PIECES
    coarse = np.flatnonzero((steps % COARSE == 0).all(axis=1))
    around, beside, close = _near(steps, COARSE, FINE), _near(steps, 2 * FINE, FINE), _near(steps, FINE, 1)
    r = reference_at(kind, weights, np.full(len(steps), 1.0 / len(steps)))
    return r, coarse, around, beside, close


def _near(steps: np.ndarray, within: int, apart: int) -> np.ndarray:
    """Numbers (P, ·) of the places within some steps of each, so many steps `apart`; −1: off the triangle."""
    each = range(apart - within, within, apart)
    shifts = np.array([(i, j) for i in each for j in each if abs(i + j) < within and (i or j)])
    i, j = np.moveaxis(steps[:, None] + shifts, 2, 0)
    inside = (i >= 0) & (j >= 0) & (i + j <= PIECES)
    number = i * (PIECES + 1) - i * (i - 1) // 2 + j  # of the place (i, j): the first ones are longest
    return np.where(inside, number, -1)
