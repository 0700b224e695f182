"""Frame: a place with axes on a part, or fixed in space, that joints bring together."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.interactions import checks
from pliant.points import Points

ORTHOGONAL = 1e-6  # of AᵀA − I: how far axes may be from orthogonal


class Frame:
    """An origin and three axes that move with a rigid region of a part: `points` (4,), origin and tips.

    part: a RigidBody, a Beam, a Solid, … region: the name of its rigid region, or the node of a beam; a
    RigidBody is one region. at: the origin (3,) [m], by default that of the region. axis: the z axis, about
    which hinges turn and along which sliders slide; or axes: all three (3, 3), as columns; by default those
    of space. All of this is said of the part at rest, as it is drawn. Without a part, see `Frame.world`.
    """

    def __init__(
        self,
        part: Any,
        region: str | int | None = None,
        *,
        at: Any = None,
        axis: Any = None,
        axes: Any = None,
    ) -> None:
        frame = _region_frame(part, region)
        corners = frame.rest
        self.axes = _axes(axis, axes)
        self.origin = corners[0] if at is None else checks.position("origin of a Frame", at)
        self.arm = float(np.linalg.norm(corners[1] - corners[0]))
        tips = np.vstack([self.origin, self.origin + self.arm * self.axes.T])
        # Affine in the four frame points of the region, whatever nodes they are made of.
        share = np.linalg.solve(np.vstack([corners.T, np.ones(4)]), np.vstack([tips.T, np.ones(4)])).T
        index, weight = np.tile(frame.node_index, 4), (share * frame.node_weight).ravel()
        self.points: Points | None = Points(frame.owner, tips, 4 * np.arange(5), index, weight)

    @classmethod
    def world(cls, at: Any, *, axis: Any = None, axes: Any = None) -> Frame:
        """A frame fixed in space, at a place (3,) [m]."""
        frame = object.__new__(cls)
        frame.origin, frame.axes = checks.position("origin of a Frame", at), _axes(axis, axes)
        frame.points, frame.arm = None, 0.0
        return frame

    def at_rest(self) -> Frame:
        """Where it is at rest, as a frame fixed in space."""
        return Frame.world(self.origin, axes=self.axes)


def _region_frame(part: Any, region: str | int | None) -> Points:
    """The frame points (4,) of a region of a part."""
    if not hasattr(part, "region_points"):
        hint = "Frame.world(at) is one that is fixed in space."
        raise InputError("part of a Frame", expected="a body", got=type(part).__name__, hint=hint)
    names = tuple(part.coordinates.region_names) if hasattr(part, "coordinates") else ()
    if region is None:
        if len(names) != 1:
            hint = "Give the body a region that moves as one: rigid=pl.Rigid(nodes, name=…)."
            got = f"{len(names)} of them" if names else "none"
            raise InputError("region of a Frame", expected="the name of a rigid region", got=got, hint=hint)
        region = names[0]
    return part.region_points(region)


def _axes(axis: Any, axes: Any) -> np.ndarray:
    """Axes (3, 3) as columns, from all three or from z alone."""
    if axis is not None and axes is not None:
        raise InputError("axes of a Frame", expected="axis= or axes=", got="both")
    if axis is not None:
        z = checks.unit_vector("axis of a Frame", axis)
        x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
        x /= np.linalg.norm(x)
        return np.column_stack([x, np.cross(z, x), z])
    if axes is None:
        return np.eye(3)
    expected = "three orthogonal unit vectors as columns (3, 3), right-handed"
    A = as_floats("axes of a Frame", axes, expected)
    if A.shape != (3, 3) or not np.allclose(A.T @ A, np.eye(3), atol=ORTHOGONAL) or np.linalg.det(A) < 0:
        raise InputError("axes of a Frame", expected=expected, got=A.tolist())
    return A
