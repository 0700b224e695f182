"""Curvature along a line of points, as a bend sensor reads it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.interactions import checks
from pliant.interactions.angles import (
    ALIGNED,
    about_axis,
    about_axis_gradient,
    about_axis_hessian,
    add_symmetric,
    between,
    between_gradient,
    between_hessian,
    cross,
    dot,
    mix,
)
from pliant.interactions.interaction import Interaction
from pliant.interactions.polyline import neighbour_pairs
from pliant.points import Points

ALONG = 1e-9  # sin of the angle between a segment and the normal, below which the sign of a turn is lost
STRAIGHT = 1e-6  # [rad] of turn at rest, below which it has no derivative


class Curvature(Interaction):
    """δₖ = φₖ / hₖ [1/m] at each inner point: turning angle over the mean rest length of its two segments.

    With a `normal` (3,) fixed in space, φ is signed: the turn as seen along the normal, smooth when
    straight. Without, φ in [0, π] is the turn in space; it has no derivative when straight (taken as zero;
    refused at rest). λ is a bending moment times h [N·m²].
    """

    unit, effort_unit = "1/m", "N·m²"

    def __init__(self, points: Points | Sequence[Points], *, normal: ArrayLike | None = None) -> None:
        super().__init__(points)
        checks.at_least("points of a Curvature", self.point_count, 3)
        names = [f"point {i}" for i in range(self.point_count)]
        length = checks.segments("Curvature", self.rest, names)
        self._scale = 2.0 / (length[1:] + length[:-1])
        self._planar = normal is not None
        self._normal = (
            checks.unit_vector("normal of a Curvature", normal) if normal is not None else np.zeros(3)
        )
        self._check_rest()

    def _check_rest(self) -> None:
        tangent = np.diff(self.rest, axis=0)
        if self._planar:
            across = np.linalg.norm(np.cross(tangent, self._normal), axis=1)
            along = across < ALONG * np.linalg.norm(tangent, axis=1)
            if along.any():
                k = int(along.argmax())
                raise InputError(
                    "normal of a Curvature", expected="across the line", got=f"along segment {k}"
                )
            return
        straight = self.value(self.rest) / self._scale < STRAIGHT
        if straight.any():
            raise InputError(
                "Curvature",
                expected="a line that turns at every inner point, or a normal",
                got=f"straight at point {int(straight.argmax()) + 1}",
                hint="Give normal=, the axis about which it bends: curvature is then signed and smooth.",
            )

    @property
    def size(self) -> int:
        return self.point_count - 2

    def value(self, p: np.ndarray) -> np.ndarray:
        return _value(p, self._scale, self._planar, self._normal)

    def stencil(self) -> tuple[np.ndarray, np.ndarray]:
        return 3 * np.arange(self.size + 1), (np.arange(self.size)[:, None] + np.arange(3)).ravel()

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return _gradient(p, self._scale, self._planar, self._normal)

    def pairs(self) -> np.ndarray:
        return neighbour_pairs(self.point_count, 2)

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return _hessian(p, lam * self._scale, self._planar, self._normal)


@njit(cache=True, error_model="numpy")
def _segments(p, k):
    """The segments before and after inner point k + 1."""
    return mix(1.0, p[k + 1], -1.0, p[k]), mix(1.0, p[k + 2], -1.0, p[k + 1])


@njit(cache=True, error_model="numpy")
def _value(p, scale, planar, normal):
    delta = np.empty(len(scale))
    for k in range(len(scale)):
        e, f = _segments(p, k)
        delta[k] = scale[k] * (about_axis(e, f, normal) if planar else between(e, f))
    return delta


@njit(cache=True, error_model="numpy")
def _gradient(p, scale, planar, normal):
    g = np.empty((3 * len(scale), 3))
    for k in range(len(scale)):
        e, f = _segments(p, k)
        if planar:
            de, df, sign = about_axis_gradient(e, normal), about_axis_gradient(f, normal), -1.0
        else:
            de, df, sign = between_gradient(e, f), between_gradient(f, e), 1.0
        for d in range(3):
            before, after = scale[k] * sign * de[d], scale[k] * df[d]
            g[3 * k, d], g[3 * k + 1, d], g[3 * k + 2, d] = -before, before - after, after
    return g


@njit(cache=True, error_model="numpy")
def _mixed(e, f):
    """∂²φ/∂f∂e = −b bᵀ/(sin φ |e||f|), b the unit binormal: leaving the plane is the only way they couple."""
    out, c = np.zeros((3, 3)), cross(e, f)
    area = np.sqrt(dot(c, c))  # |e||f| sin φ
    if area > ALIGNED * np.sqrt(dot(e, e) * dot(f, f)):
        add_symmetric(out, -0.5 / area**3, c, c)
    return out


@njit(cache=True, error_model="numpy")
def _hessian(p, lam, planar, normal):
    P = len(p)
    blocks, none = np.zeros((3 * P - 3, 3, 3)), np.zeros((3, 3))
    for k in range(P - 2):
        e, f = _segments(p, k)
        if planar:
            ee, ff, fe, sign = about_axis_hessian(e, normal), about_axis_hessian(f, normal), none, -1.0
        else:
            ee, ff, fe, sign = between_hessian(e, f), between_hessian(f, e), _mixed(e, f), 1.0
        for i in range(3):
            for j in range(3):
                before, after, both = lam[k] * sign * ee[i, j], lam[k] * ff[i, j], lam[k] * fe[i, j]
                blocks[k, i, j] += before
                blocks[k + 1, i, j] += before + after - 2.0 * both
                blocks[k + 2, i, j] += after
                blocks[P + k, i, j] += both - before
                blocks[P + k + 1, i, j] += both - after
                blocks[2 * P - 1 + k, i, j] -= both
    return blocks
