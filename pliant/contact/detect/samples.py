"""Samples: the points of a body that contact looks at.

Vertices alone would let the facets between them cut about a²/8R into an obstacle of radius R, a their
distance. So a body is sampled at its surface nodes and at points between them, no two neighbours farther
apart than `spacing`:

    spacing = max(L/40, 3/4 of the median edge)      unless given,  L: size of the body

that is, about one point between the ends of an edge (mid nodes count), and none where the mesh is finer
than L/40. Against an obstacle of radius R they are so close that no facet cuts deeper than DEEPEST_CUT · L,
but not closer than L/80. What touches between them all the same is found by `between.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.arrays import frozen
from pliant.contact.detect.lattice import Placed, edge_length, placed_points
from pliant.errors import InputError
from pliant.inputs import positive
from pliant.mesh import Surface
from pliant.points import Points

DEEPEST_CUT = 2.5e-4  # of the robot's length: that a facet between samples may lie inside an obstacle


@dataclass(frozen=True, eq=False, repr=False)
class Samples:
    """P points of one body in a fixed order, so that each keeps its number.

    surface: the part of the body's boundary they lie on, which others may touch; None for points of a beam.
    facet[facet_ptr[i]:facet_ptr[i+1]] are the facets of the surface that point i lies on, and whose way it
    faces; none on a sheet, which has two sides. radius (P,) [m]: how far the body reaches round each point;
    zero on the skin of a solid. joined (m, 2): points of a rod's axis between which it goes on, as thick as
    the balls round them.
    """

    points: Points
    surface: Surface | None
    facet_ptr: np.ndarray
    facet: np.ndarray
    radius: np.ndarray
    spacing: float
    # On facet f of the surface lie the points on_facet[on_facet_ptr[f]:on_facet_ptr[f+1]], a sheet's too.
    on_facet_ptr: np.ndarray = field(default_factory=lambda: frozen([0], int))
    on_facet: np.ndarray = field(default_factory=lambda: frozen([], int))
    joined: np.ndarray = field(default_factory=lambda: frozen(np.zeros((0, 2)), int))

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"Samples({len(self)} points, {1e3 * self.spacing:.3g} mm apart)"

    @property
    def body(self) -> Any:
        """The body they belong to."""
        return self.points.owner

    @classmethod
    def on(
        cls, body: Any, where: Any = None, *, spacing: float | None = None, mid_nodes: bool = True
    ) -> Samples:
        """On the boundary of a body with a mesh.

        where: a function of the facet centres (f, 3) → (f,) bool that picks from the outer boundary (by
            default all of it, inner voids left out); or exactly these facets: a patch of body.mesh.surface,
            a mask or indices.
        spacing: largest distance [m] between neighbours, see the module.
        mid_nodes: False leaves out the mid nodes of quadratic facets, unless the spacing asks for them.
        """
        surface = _chosen(body, where)
        apart = (
            default_spacing(surface, body)
            if spacing is None
            else positive("spacing of samples", spacing, "m")
        )
        points, facet_ptr, facet = _joined(body, surface, placed_points(surface, apart, mid_nodes=mid_nodes))
        on = _points_of_facets(facet_ptr, facet, len(surface))
        if body.two_sided:  # balls of the sheet's thickness on its middle surface
            balls = cls.around(points, body.half_thickness(points))
            return replace(balls, surface=surface, spacing=apart, on_facet_ptr=on[0], on_facet=on[1])
        return cls(points, surface, facet_ptr, facet, frozen(np.zeros(len(points))), apart, *on)

    @classmethod
    def against(cls, body: Any, radius: float, length: float) -> Samples:
        """Of a robot's body, fine enough for obstacles of this radius [m]; `length` is the robot's [m]."""
        spacing = default_spacing(_chosen(body, None), body)
        if np.isfinite(radius):
            spacing = min(spacing, max(spacing_for(radius, length), length / 80))
        return cls.on(body, spacing=spacing)

    @classmethod
    def around(cls, points: Points, radius: Any) -> Samples:
        """Balls of `radius` [m] (one, or one each) round material points: a beam along its centreline.

        Between balls that are neighbours on the axis of a beam, the beam is as thick as they are.
        """
        radii = np.broadcast_to(np.asarray(radius, float), (len(points),))
        if not (np.isfinite(radii).all() and (radii >= 0).all()) or not len(points):
            raise InputError(
                "radius of samples", expected="numbers ≥ 0 [m], at least one point", got=repr(radius)
            )
        body: Any = points.owner
        joined = frozen(body.joined(points), int)
        ends = points.rest[joined] if len(joined) else np.stack([points.rest[:-1], points.rest[1:]], axis=1)
        steps = np.linalg.norm(np.diff(ends, axis=1)[:, 0], axis=1)
        none = frozen(np.zeros(len(points) + 1), int), frozen(np.zeros(0), int)
        spacing = float(np.median(steps)) if len(steps) else 0.0
        return cls(points, None, *none, frozen(radii), spacing, joined=joined)

    def refined(self, factor: float = 4.0) -> Samples:
        """The same surface sampled much more densely, to measure how deep it is anywhere."""
        if self.surface is None:
            return self
        spacing = min(self.spacing, edge_length(self.surface) / 2) / factor
        return Samples.on(self.body, self.surface, spacing=spacing)


def _points_of_facets(ptr: np.ndarray, facet: np.ndarray, facets: int) -> tuple[np.ndarray, np.ndarray]:
    """The points of each facet, from the facets of each point."""
    point = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    order = np.argsort(facet, kind="stable")
    return frozen(np.searchsorted(facet[order], np.arange(facets + 1)), int), frozen(point[order], int)


def spacing_for(radius: float, length: float) -> float:
    """How far apart [m] samples may be for obstacles of this radius [m]; `length` is the robot's [m]."""
    return float(np.sqrt(8.0 * radius * DEEPEST_CUT * length)) if np.isfinite(radius) else 0.0


def default_spacing(surface: Surface, body: Any) -> float:
    """See the module."""
    return max(body.mesh.size / 40, 0.75 * edge_length(surface))


def _chosen(body: Any, where: Any) -> Surface:
    try:
        mesh = body.mesh
    except AttributeError:
        hint = "Give points of it a radius: Samples.around(points, radius)."
        raise InputError("body", expected="a body", got=type(body).__name__, hint=hint) from None
    if isinstance(where, Surface):
        require_own(body, where)
        surface = where
    elif where is None or callable(where):
        keep = ~voids(mesh.surface)
        if callable(where):
            keep &= np.asarray(where(mesh.surface.centres), bool)
        surface = mesh.surface.patch(keep)
    else:
        surface = mesh.surface.patch(where)
    if not len(surface):
        raise InputError(
            "samples of a body", expected="at least one facet", got="none", hint="Check `where`."
        )
    return surface


def require_own(body: Any, surface: Surface) -> None:
    """The surface must be made of the nodes of the mesh that the body uses."""
    if not np.array_equal(surface.nodes, body.mesh.nodes):
        raise InputError(
            "surface",
            expected="a patch of body.mesh.surface",
            got="the nodes of another mesh",
            hint="Quadratic bodies use body.mesh, which has mid nodes, not the mesh they were given.",
        )


def facet_mask(surface: Surface, patch: Surface) -> np.ndarray:
    """Which facets (f,) of a surface belong to a patch of it."""
    chosen = set(map(tuple, patch.facets.tolist()))
    return np.array([tuple(facet) in chosen for facet in surface.facets.tolist()], bool)


def voids(surface: Surface) -> np.ndarray:
    """Facets (f,) of closed inner surfaces, which nothing from outside can touch."""
    mask = np.zeros(len(surface), bool)
    for part in surface.components():
        if part.closed and part.volume < 0:
            mask |= facet_mask(surface, part)
    return mask


def _joined(body: Any, surface: Surface, blocks: list[Placed]) -> tuple[Points, np.ndarray, np.ndarray]:
    """One Points of all blocks, and the facets of each point."""
    counts = np.concatenate([np.full(len(b.nodes), b.nodes.shape[1]) for b in blocks])
    nodes = np.concatenate([b.nodes.ravel() for b in blocks])
    weights = np.concatenate([b.weights.ravel() for b in blocks])
    owner = np.repeat(np.arange(len(counts)), counts)
    used = np.abs(weights) > 1e-14
    ptr = np.concatenate([[0], np.cumsum(np.bincount(owner[used], minlength=len(counts)))])
    rest = np.concatenate([np.einsum("pk,pki->pi", b.weights, surface.nodes[b.nodes]) for b in blocks])
    starts = np.cumsum([0, *(len(b.nodes) for b in blocks)])
    point = np.concatenate([b.point + s for b, s in zip(blocks, starts)])
    facet = np.concatenate([b.facet for b in blocks])
    order = np.lexsort((facet, point))
    facet_ptr = np.searchsorted(point[order], np.arange(len(counts) + 1))
    points = Points(body, rest, ptr, nodes[used], weights[used])
    return points, frozen(facet_ptr, int), frozen(facet[order], int)
