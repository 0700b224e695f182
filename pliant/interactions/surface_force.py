"""A push on a patch that stays normal to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.interactions import checks
from pliant.interactions.angles import cross, mix
from pliant.interactions.interaction import Interaction
from pliant.interactions.surfaces import HasNodes, on_nodes, triangle_pairs
from pliant.points import Points

NO_AREA = 1e-12  # of the largest triangle's: less is none


class SurfaceForce(Interaction):
    """δ = Σ wₜ nₜ·uₜ, the mean normal displacement of a patch [m]; λ is its normal force [N], + outward.

    Each triangle carries its share wₜ = Aₜ/ΣA of the rest area along its present unit normal nₜ, a third per
    corner; uₜ is the mean displacement of its corners. The force follows the surface and has no potential:
    H = Σ wₜ nₜ/3 is the derivative of δ at rest only, and the Hessian is the symmetric part of ∂(Hᵀλ)/∂p.
    """

    integrable = False

    def __init__(self, points: Points | Sequence[Points], triangles: ArrayLike) -> None:
        super().__init__(points)
        self.triangles = checks.triangles("triangles of a SurfaceForce", triangles, self.point_count)
        a, b, c = (self.rest[self.triangles[:, k]] for k in range(3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        flat = np.flatnonzero(area <= NO_AREA * area.max())
        if len(flat):
            raise InputError(
                "SurfaceForce", expected="triangles with area", got=f"none in triangle {flat[0]}"
            )
        self.rest_area = float(area.sum())
        self._share = area / self.rest_area
        self._pairs, self._slots = triangle_pairs(self.triangles, diagonal=True)

    @classmethod
    def on(cls, body: HasNodes, surface: Any) -> SurfaceForce:
        """On a surface of the body's own mesh: a mesh surface, or triangles (t, 3) of its nodes."""
        return cls(*on_nodes(body, surface))

    def value(self, p: np.ndarray) -> np.ndarray:
        return np.array([np.vdot(self.gradient(p), p - self.rest)])

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return _gradient(p, self.triangles, self._share)

    def pairs(self) -> np.ndarray:
        return self._pairs

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return _hessian(p, self.triangles, self._share, self._slots, len(self._pairs), lam[0])


@njit(cache=True, error_model="numpy")
def _normal(a, b, c, n):
    """n = unit normal; returns twice the area."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    n[0], n[1], n[2] = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    for d in range(3):
        n[d] = n[d] / length if length > 0.0 else 0.0
    return length


@njit(cache=True, error_model="numpy")
def _gradient(p, triangles, share):
    g, n = np.zeros(p.shape), np.empty(3)
    for t in range(len(triangles)):
        i, j, k = triangles[t]
        _normal(p[i], p[j], p[k], n)
        for d in range(3):
            f = share[t] * n[d] / 3.0
            g[i, d] += f
            g[j, d] += f
            g[k, d] += f
    return g


@njit(cache=True, error_model="numpy")
def _hessian(p, triangles, share, slots, npair, lam):
    """½(Q_l + Q_kᵀ) per corner pair (k, l), Q_l = ∂(λ w n/3)/∂x_l = λ w/3 (I − n nᵀ)[e_l]ₓ/(2A).

    e_l is the edge opposite corner l.
    """
    blocks, n, Q = np.zeros((npair, 3, 3)), np.empty(3), np.empty((3, 3, 3))
    for t in range(len(triangles)):
        i, j, k = triangles[t]
        double = _normal(p[i], p[j], p[k], n)
        if double == 0.0:
            continue
        scale = lam * share[t] / (3.0 * double)
        for l in range(3):
            e = mix(1.0, p[triangles[t, (l + 2) % 3]], -1.0, p[triangles[t, (l + 1) % 3]])
            m = cross(n, e)  # nᵀ[e]ₓ = mᵀ
            Q[l, 0, 0], Q[l, 0, 1], Q[l, 0, 2] = 0.0, -e[2], e[1]
            Q[l, 1, 0], Q[l, 1, 1], Q[l, 1, 2] = e[2], 0.0, -e[0]
            Q[l, 2, 0], Q[l, 2, 1], Q[l, 2, 2] = -e[1], e[0], 0.0
            for a in range(3):
                for b in range(3):
                    Q[l, a, b] = scale * (Q[l, a, b] - n[a] * m[b])
        for a in range(3):
            for b in range(3):
                s = slots[t, a, b]
                if s >= 0:
                    for c in range(3):
                        for d in range(3):
                            blocks[s, c, d] += 0.5 * (Q[b, c, d] + Q[a, d, c])
    return blocks
