"""Skin: the boundary of a deformable body as something to touch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import frozen, frozen_view
from pliant.contact.detect.samples import facet_mask
from pliant.contact.detect.search_distance import ALARM
from pliant.contact.geometry.adjacency import Adjacency
from pliant.contact.geometry.geodesics import Geodesics
from pliant.contact.geometry.tree import fit_tree, lay_out_tree
from pliant.contact.geometry.triangle import unit_normals
from pliant.mesh import Surface


class Posture(NamedTuple):
    """A skin at some q: nodes X (k, 3), unit normals (t, 3), bounds (m, 12) of the nodes of its tree."""

    X: np.ndarray
    normals: np.ndarray
    bounds: np.ndarray


class Skin:
    """Boundary triangles of one body: a tree over them, who is next to whom, and ways along it.

    `reach` [m] is how near two parts of the body come before ways between them matter; 0 if it cannot touch
    itself. With a `patch` the tree holds just its triangles; those around it stand behind them, for normals
    at its rim.
    """

    def __init__(self, body: Any, reach: float, *, patch: Surface | None = None, leaf: int = 4) -> None:
        self.body, self.surface, self.rest = body, body.mesh.surface, frozen(body.mesh.nodes)
        mine, around = self._chosen(patch)
        self.links, order = lay_out_tree(self.rest, self.surface.triangles[mine], leaf=leaf)
        self.order = np.concatenate([mine[order], around])
        self.triangles = frozen(self.surface.triangles[self.order], int)
        self.rest_normals = frozen(unit_normals(self.rest, self.triangles))
        self.adjacency = Adjacency.of(self.triangles, len(self.rest))
        self.geodesics = (
            Geodesics.on(self.rest, self.triangles, 2.0 * reach) if reach > 0 else Geodesics.none()
        )
        self.half_thickness: np.ndarray | None = None  # (k,) [m] of a sheet at its nodes
        if body.two_sided:
            self.half_thickness = body.half_thickness(body.node_points(np.arange(len(self.rest))))

    def _chosen(self, patch: Surface | None) -> tuple[np.ndarray, np.ndarray]:
        """Triangles of the tree, and those that share a node with them."""
        triangles = self.surface.triangles
        if patch is None:
            return np.arange(len(triangles)), np.zeros(0, np.int64)
        inside = facet_mask(self.surface, patch)[self.surface.facet_of_triangle]
        at_patch = np.isin(triangles, triangles[inside]).any(axis=1)
        return np.flatnonzero(inside), np.flatnonzero(at_patch & ~inside)

    @cached_property
    def rim(self) -> np.ndarray:
        """Which nodes (k,) lie on an edge of one triangle only."""
        t, e = np.nonzero(self.adjacency.across < 0)
        mask = np.zeros(len(self.rest), bool)
        mask[self.triangles[t, e]] = mask[self.triangles[t, (e + 1) % 3]] = True
        return frozen(mask, bool)

    def allowed(self, patch: Surface) -> np.ndarray:
        """Mask (t,) of the triangles of a part of the boundary."""
        return frozen(facet_mask(self.surface, patch)[self.surface.facet_of_triangle[self.order]], bool)

    def posture(self, q: np.ndarray) -> Posture:
        """Where it is; q are the body's own coordinates."""
        X = frozen_view(self.body.positions(q))
        normals = unit_normals(X, self.triangles)
        return Posture(X, normals, fit_tree(X, self.triangles, normals, self.links))


def skins_of(robot: Any, soft: Sequence[Any], alarm: float) -> dict[int, Skin]:
    """Skins of the bodies that others, or parts of themselves, may touch, by body number."""
    own = {o.body for o in soft if o.touches_itself}
    far = max(alarm, ALARM * robot.length)  # ways along the skin, also for a small alarm distance
    return {b: Skin(robot.bodies[b], far if b in own else 0.0) for b in sorted({o.body for o in soft})}
