"""A cavity under pressure, filled with gas or liquid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.interactions import checks
from pliant.interactions.interaction import Interaction
from pliant.interactions.surfaces import HasNodes, on_nodes, rim_edges, rim_loops
from pliant.interactions.volume import Volume
from pliant.pneumatics.line import REMEMBERED, Line
from pliant.points import Points

_NO_WEIGHT = np.zeros(3)  # h of ∫ (c + h·x) dV, for the volume alone
LEAST_VOLUME = 1e-9  # of the cube of the extent: less is none


class Cavity(Interaction):
    """δ = V(q) − V₀ [m³] inside a closed surface, by the divergence theorem; λ is the pressure [Pa].

    `triangles` (t, 3) index the points; they are turned over if they enclose a negative volume, so that
    positive pressure inflates. An open surface needs cap="flat": each rim is closed by a fan to the mean of
    its points, and the pressure on the fan acts on the rim. A rim fixed in space is closed like that by
    itself: how does not matter, H is the same.

    `form`: triples of points and weights that give the volume of curved facets exactly (see
    `Surface.volume_form`); the triangles then only say which points are connected. `Cavity.on` passes it.

    A liquid of density ρ = `liquid_density` [kg/m³] weighs on the wall, ρ V g in all: its load is the
    gradient of ρ ∫ g·(x − level) dV. λ is then the pressure at the height of `level` (3,), by default the
    centre of the cavity at rest.

    line: what a chamber with gas or liquid of its own is filled through, see `pliant.pneumatics`. Without one
    its pressure or volume is what a law says, at once.
    """

    unit, effort_unit = "m³", "Pa"

    def __init__(
        self,
        points: Points | Sequence[Points],
        triangles: ArrayLike,
        *,
        cap: Literal["flat"] | None = None,
        liquid_density: float = 0.0,
        level: ArrayLike | None = None,
        form: tuple[np.ndarray, np.ndarray] | None = None,
        line: Line | None = None,
    ) -> None:
        super().__init__(points)
        corners = checks.triangles("triangles of a Cavity", triangles, self.point_count)
        if cap not in (None, "flat"):
            raise InputError("cap of a Cavity", expected="None or 'flat'", got=repr(cap))
        if not (np.isfinite(liquid_density) and liquid_density >= 0):
            raise InputError(
                "liquid_density of a Cavity", expected="a number ≥ 0 [kg/m³]", got=liquid_density
            )
        self.cap, self.liquid_density = cap, float(liquid_density)
        weighted, rims = self.liquid_density > 0, self._rims(corners)
        if weighted or rims:  # the weight is no trilinear form, and a flat cap ends at straight edges
            form = None
        self._volume = Volume(self.point_count, corners, rims, weighted=weighted, form=form)
        self._origin = self.rest.mean(axis=0)  # near the surface: less cancellation
        self.rest_volume = self._rest_volume()
        if not (line is None or isinstance(line, Line)):
            raise InputError("line of a Cavity", expected="a Line, or None", got=repr(line))
        self.line, self.internal = line, 0 if line is None else REMEMBERED
        self.level = self._centre() if level is None else checks.position("level of a Cavity", level)

    @classmethod
    def on(cls, body: HasNodes, surface: Any, **options: Any) -> Cavity:
        """Inside a surface of the body's own mesh: a mesh surface, or triangles (t, 3) of its nodes.

        Curved facets of a closed mesh surface are integrated exactly, unless the cavity contains a liquid.
        """
        form = getattr(surface, "volume_form", None)
        if form is not None:
            form = np.searchsorted(np.unique(surface.triangles), form[0]), form[1]
        return cls(*on_nodes(body, surface), form=form, **options)

    def _rims(self, corners: np.ndarray) -> list[np.ndarray]:
        """Loops of edges to close with a fan."""
        edges = rim_edges(corners)
        if not len(edges):
            return []
        movable = np.concatenate([_movable(part) for part in self.points])
        if self.cap is None and movable[edges].any():
            raise InputError(
                "open cavity",
                expected="a closed surface, or a rim fixed in space",
                got=f"{len(edges)} open edges",
                hint='Add the missing triangles, or close it with cap="flat".',
            )
        return rim_loops(edges)

    def _rest_volume(self) -> float:
        """V₀ [m³]; turns the surface over if it is inside out."""
        volume = self._volume.integral(self.rest, self._origin, 1.0, _NO_WEIGHT)
        if abs(volume) <= LEAST_VOLUME * np.ptp(self.rest, axis=0).max() ** 3:
            raise InputError("volume of a Cavity", expected="some volume at rest", got=f"{volume:g} m³")
        if volume < 0:
            self._volume = self._volume.turned()
        return abs(volume)

    def _centre(self) -> np.ndarray:
        moment = [self._volume.integral(self.rest, self._origin, 0.0, axis) for axis in np.eye(3)]
        return self._origin + np.array(moment) / self.rest_volume

    @property
    def remembered(self) -> np.ndarray:
        if self.line is None:
            return super().remembered
        return np.array(self.line.charge(0.0, self.rest_volume + self.line.dead))

    @property
    def triangles(self) -> np.ndarray:
        """The given triangles as used, outward, (t, 3); without caps."""
        return self._volume.given

    def value(self, p: np.ndarray) -> np.ndarray:
        return np.array([self._volume.integral(p, self._origin, 1.0, _NO_WEIGHT) - self.rest_volume])

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return self._volume.gradient(p, self._origin, 1.0, _NO_WEIGHT)

    def pairs(self) -> np.ndarray:
        return self._volume.pairs

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return self._volume.hessian(p, self._origin, lam[0], _NO_WEIGHT)

    def load(self, p: np.ndarray, gravity: np.ndarray) -> np.ndarray | None:
        if not self.liquid_density:
            return None
        return self._volume.gradient(p, self.level, 0.0, self.liquid_density * np.asarray(gravity, float))

    def load_hessian(self, p: np.ndarray, gravity: np.ndarray) -> np.ndarray:
        return self._volume.hessian(p, self.level, 0.0, self.liquid_density * np.asarray(gravity, float))


def _movable(points: Points) -> np.ndarray:
    """Which points any coordinate of the body moves, (P,)."""
    moved = np.any(np.reshape(points.owner.free, (-1, 3)), axis=1)[points.block]
    return np.bincount(points.entry_point[moved], minlength=len(points)) > 0
