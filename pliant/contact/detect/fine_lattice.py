"""FineLattice: places on the facets of a surface, coarse ones first and finer ones around any of them."""

from __future__ import annotations

from functools import cache

import numpy as np

from pliant.arrays import frozen
from pliant.contact.detect.quadrature import Reference, Spots, reference_at
from pliant.mesh import Surface

PIECES = 16  # that edges of triangles are cut into …
COARSE = 4  # … and every so manieth place is a coarse one
NO_AREA = 1e-300  # [m²]


class FineLattice:
    """P places on each triangle of a surface, numbered triangle by triangle.

    nodes (t, nn): of the facet of each triangle; part (t,): which triangle of its facet it is. coarse (·,):
    places that are looked at first; around (P, ·): those near a place, −1 where there are fewer.
    """

    def __init__(self, surface: Surface) -> None:
        self.reference, self.coarse, self.around = _places(surface.kind)
        self.rest, self.triangles = surface.nodes, frozen(surface.triangles, int)
        self.nodes = surface.facets[surface.facet_of_triangle]
        self.part = np.arange(len(self.triangles)) % len(self.reference.shape)

    @property
    def per(self) -> int:
        """P, how many there are on a triangle."""
        return len(self.reference.share)

    def at(self, X: np.ndarray, number: np.ndarray) -> Spots:
        """Places (n,) by number, with nodes at X (k, 3)."""
        t, nn = number // self.per, self.nodes.shape[1]
        N, nodes = self.reference.shape[self.part[t], number % self.per], self.nodes[t]
        p, rest = (np.einsum("na,nai->ni", N, x[nodes]) for x in (X, self.rest))
        a, b, c = np.moveaxis(X[self.triangles[t]], 1, 0)
        across = np.cross(b - a, c - a)
        across /= np.maximum(np.linalg.norm(across, axis=1), NO_AREA)[:, None]
        ptr = frozen(nn * np.arange(len(number) + 1), int)
        return Spots(np.arange(len(number)), p, across, frozen(rest), ptr, frozen(nodes.ravel(), int))


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
