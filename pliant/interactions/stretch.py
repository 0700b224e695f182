"""Elongation of the segments of a polyline: a stretch sensor, or the springs of a cable's sheath."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from pliant.interactions import checks
from pliant.interactions.interaction import Interaction
from pliant.interactions.polyline import add_stiffness, neighbour_pairs, unit
from pliant.points import Points


class Stretch(Interaction):
    """δₖ = |p_{k+1} − p_k| − its length at rest [m], one row per segment; λₖ is an axial force [N].

    Positive forces push apart. A cable's sheath is a Stretch along the cable's points with an `Elastic` law:
    λ = −k δ.
    """

    def __init__(self, points: Points | Sequence[Points]) -> None:
        super().__init__(points)
        checks.at_least("points of a Stretch", self.point_count, 2)
        names = [f"point {i}" for i in range(self.point_count)]
        self.rest_length = checks.segments("Stretch", self.rest, names)

    @property
    def size(self) -> int:
        return self.point_count - 1

    def value(self, p: np.ndarray) -> np.ndarray:
        return _value(p, self.rest_length)

    def stencil(self) -> tuple[np.ndarray, np.ndarray]:
        first = np.arange(self.size)
        return 2 * np.arange(self.size + 1), np.column_stack([first, first + 1]).ravel()

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return _gradient(p)

    def pairs(self) -> np.ndarray:
        return neighbour_pairs(self.point_count, 1)

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return _hessian(p, lam)


@njit(cache=True, error_model="numpy")
def _value(p, rest_length):
    delta = np.empty(len(p) - 1)
    for k in range(len(p) - 1):
        a, b = p[k], p[k + 1]
        delta[k] = unit(a[0], a[1], a[2], b[0], b[1], b[2])[0] - rest_length[k]
    return delta


@njit(cache=True, error_model="numpy")
def _gradient(p):
    g = np.empty((2 * (len(p) - 1), 3))
    for k in range(len(p) - 1):
        a, b = p[k], p[k + 1]
        _, ux, uy, uz = unit(a[0], a[1], a[2], b[0], b[1], b[2])
        g[2 * k + 1, 0], g[2 * k + 1, 1], g[2 * k + 1, 2] = ux, uy, uz
        g[2 * k, 0], g[2 * k, 1], g[2 * k, 2] = -ux, -uy, -uz
    return g


@njit(cache=True, error_model="numpy")
def _hessian(p, lam):
    P = len(p)
    blocks = np.zeros((2 * P - 1, 3, 3))
    for k in range(P - 1):
        a, b = p[k], p[k + 1]
        length, ux, uy, uz = unit(a[0], a[1], a[2], b[0], b[1], b[2])
        s = lam[k] / length if length > 0.0 else 0.0
        add_stiffness(blocks[k], s, ux, uy, uz)
        add_stiffness(blocks[k + 1], s, ux, uy, uz)
        add_stiffness(blocks[P + k], -s, ux, uy, uz)
    return blocks
