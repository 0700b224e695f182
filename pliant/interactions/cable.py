"""A cable through material points, pulled at one end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from pliant.interactions import checks
from pliant.interactions.interaction import INF, Interaction
from pliant.interactions.polyline import add_stiffness, neighbour_pairs, unit
from pliant.points import Points

ANCHORED, ENDED = 1, 2  # bits: the cable starts, or ends, at a point fixed in space


class Cable(Interaction):
    """δ = ℓ₀ − ℓ(q), how far it is pulled in [m]; λ ≥ 0 is the tension [N], the same all along (no friction).

    ℓ = Σ |p_{k+1} − p_k| over the via points, in order. An `anchor` (3,) is a first point fixed in space, an
    `end` (3,) a last one.
    """

    effort_range = (0.0, INF)

    def __init__(
        self,
        points: Points | Sequence[Points],
        *,
        anchor: ArrayLike | None = None,
        end: ArrayLike | None = None,
    ) -> None:
        super().__init__(points)
        fixed, self._ends, self._kind = (anchor, end), np.zeros((2, 3)), 0
        names, nodes = [f"point {i}" for i in range(self.point_count)], [self.rest]
        if anchor is not None:
            self._ends[0], self._kind = checks.position("anchor of a Cable", anchor), self._kind | ANCHORED
            names, nodes = ["the anchor", *names], [self._ends[:1], *nodes]
        if end is not None:
            self._ends[1], self._kind = checks.position("end of a Cable", end), self._kind | ENDED
            names, nodes = [*names, "the end"], [*nodes, self._ends[1:]]
        checks.at_least("points of a Cable", self.point_count, 1)
        checks.at_least("points of a Cable", self.point_count + sum(f is not None for f in fixed), 2)
        self.rest_length = float(checks.segments("Cable", np.concatenate(nodes), names).sum())

    @property
    def anchor(self) -> np.ndarray | None:
        """The first point, fixed in space, (3,) [m], or None."""
        return self._ends[0].copy() if self._kind & ANCHORED else None

    @property
    def end(self) -> np.ndarray | None:
        """The last point, fixed in space, (3,) [m], or None."""
        return self._ends[1].copy() if self._kind & ENDED else None

    def value(self, p: np.ndarray) -> np.ndarray:
        return _value(p, self._ends, self._kind, self.rest_length)

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return _gradient(p, self._ends, self._kind)

    def pairs(self) -> np.ndarray:
        return neighbour_pairs(self.point_count, 1)

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Each segment adds −λ (I − u uᵀ)/ℓ to its two points' own blocks and + to the block between them."""
        return _hessian(p, self._ends, self._kind, lam[0])


@njit(cache=True, error_model="numpy")
def _value(p, ends, kind, rest_length):
    delta = np.empty(1)
    length = 0.0
    for i in range(1, len(p)):
        length += unit(p[i - 1, 0], p[i - 1, 1], p[i - 1, 2], p[i, 0], p[i, 1], p[i, 2])[0]
    for e in range(2):
        if kind & (1 << e):
            a = p[0] if e == 0 else p[len(p) - 1]
            length += unit(ends[e, 0], ends[e, 1], ends[e, 2], a[0], a[1], a[2])[0]
    delta[0] = rest_length - length
    return delta


@njit(cache=True, error_model="numpy")
def _gradient(p, ends, kind):
    g = np.zeros(p.shape)
    for i in range(1, len(p)):
        _, ux, uy, uz = unit(p[i - 1, 0], p[i - 1, 1], p[i - 1, 2], p[i, 0], p[i, 1], p[i, 2])
        g[i - 1, 0] += ux
        g[i - 1, 1] += uy
        g[i - 1, 2] += uz
        g[i, 0] -= ux
        g[i, 1] -= uy
        g[i, 2] -= uz
    for e in range(2):
        if kind & (1 << e):
            i = 0 if e == 0 else len(p) - 1
            _, ux, uy, uz = unit(ends[e, 0], ends[e, 1], ends[e, 2], p[i, 0], p[i, 1], p[i, 2])
            g[i, 0] -= ux
            g[i, 1] -= uy
            g[i, 2] -= uz
    return g


@njit(cache=True, error_model="numpy")
def _hessian(p, ends, kind, tension):
    P = len(p)
    blocks = np.zeros((2 * P - 1, 3, 3))
    for i in range(1, P):
        length, ux, uy, uz = unit(p[i - 1, 0], p[i - 1, 1], p[i - 1, 2], p[i, 0], p[i, 1], p[i, 2])
        s = tension / length if length > 0.0 else 0.0
        add_stiffness(blocks[i - 1], -s, ux, uy, uz)
        add_stiffness(blocks[i], -s, ux, uy, uz)
        add_stiffness(blocks[P + i - 1], s, ux, uy, uz)
    for e in range(2):
        if kind & (1 << e):
            i = 0 if e == 0 else P - 1
            length, ux, uy, uz = unit(ends[e, 0], ends[e, 1], ends[e, 2], p[i, 0], p[i, 1], p[i, 2])
            add_stiffness(blocks[i], -tension / length if length > 0.0 else 0.0, ux, uy, uz)
    return blocks
