"""Skin: the boundary of a deformable body as something to touch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.contact.checks import frozen, frozen_view
from pliant.contact.samples import facet_mask
from pliant.contact.topology import Adjacency
from pliant.contact.tree import Tree, refit
from pliant.contact.triangle import unit_normals
from pliant.contact.ways import Ways
from pliant.mesh import Surface


class Posture(NamedTuple):
    """A skin at some q: nodes X (k, 3), unit normals (t, 3), boxes (m, 6) round triangles and round normals."""

    X: np.ndarray
    normals: np.ndarray
    boxes: np.ndarray
    cones: np.ndarray


class Skin:
    """All boundary triangles of one body: a tree over them, who is next to whom, and ways along it.

    `reach` [m] is how near two parts of the body come before ways between them matter; 0 if it cannot touch itself.
    """

    def __init__(self, body: Any, reach: float, *, leaf: int = 4) -> None:
        self.body, self.surface = body, body.mesh.surface
        self.rest, self.triangles = frozen(body.mesh.nodes), frozen(self.surface.triangles, int)
        self.rest_normals = frozen(unit_normals(self.rest, self.triangles))
        self.adjacency = Adjacency.of(self.triangles, len(self.rest))
        self.tree = Tree.of(self.rest, self.triangles, leaf=leaf)
        self.ways = Ways.on(self.rest, [self.triangles], 2.0 * reach) if reach > 0 else Ways.none()

    def allowed(self, patch: Surface) -> np.ndarray:
        """Mask (t,) of the triangles of a part of the boundary."""
        return frozen(facet_mask(self.surface, patch)[self.surface.facet_of_triangle], bool)

    def posture(self, q: np.ndarray) -> Posture:
        """Where it is; q are the body's own coordinates."""
        X, tree = frozen_view(self.body.positions(q)), self.tree
        normals = unit_normals(X, self.triangles)
        boxes, cones = np.empty((len(tree.skip), 6)), np.empty((len(tree.skip), 6))
        refit(X, self.triangles, normals, tree.skip, tree.start, tree.stop, tree.order, boxes, cones)
        return Posture(X, normals, boxes, cones)
