"""What bodies with nodes and rigid regions share: the numbering of their coordinates, and points at nodes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.arrays import read_only
from pliant.bodies.body import Body
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.support_motion import SupportMotion, rotation_vectors, support_motion
from pliant.bodies.supports import as_selection, checked_indices
from pliant.errors import InputError
from pliant.points import Points


class Numbered(Body):
    """A body on `Coordinates`, without internal variables unless it says otherwise.

    A subclass makes `mesh`, which has nodes (k, 3) [m], `coordinates` and `assembly`, calls
    `_share_coordinates`, and has `linearise`.
    """

    assembly: Any
    coordinates: Coordinates

    def _share_coordinates(self) -> None:
        """What points and solvers ask of the numbering, see `Coordinates`."""
        c = self.coordinates
        self.node_block, self.node_region, self.node_arm = c.node_block, c.node_region, c.node_arm
        self.region_block, self.region_frame = c.region_block, c.region_frame
        self.free, self.block_position = c.free, c.block_position

    # Coordinates

    @property
    def q0(self) -> np.ndarray:
        """Coordinates at rest."""
        return self.coordinates.q0

    @cached_property
    def z0(self) -> np.ndarray:
        """Internal variables: none."""
        return read_only(np.zeros(0))[0]

    @property
    def ndof(self) -> int:
        """Size of dq."""
        return len(self.free)

    @property
    def pattern(self) -> Pattern:
        """Sparsity of K."""
        return self.assembly.pattern

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq: nodes move by dq, rotations R ← R exp([dω]ₓ) compose; locked coordinates stay."""
        return self.assembly.retract(q, dq)

    def difference(self, q: np.ndarray, to: np.ndarray) -> np.ndarray:
        """dq (ndof,) with q ⊕ dq = `to`: of rotations R to R', the vector of RᵀR'."""
        c, dq, own = self.coordinates, np.zeros(self.ndof), self.node_block >= 0
        dq.reshape(-1, 3)[self.node_block[own]] = (to - q)[c.moving].reshape(-1, 3)
        if len(c.region_block):
            here, there = (x[c.pose :].reshape(-1, 12) for x in (q, to))
            R, T = (x[:, 3:].reshape(-1, 3, 3) for x in (here, there))
            turns = 3 * c.region_block[:, None] + np.arange(3)
            dq[turns] = np.einsum("nji,nj->ni", c.region_frame, there[:, :3] - here[:, :3])
            dq[turns + 3] = rotation_vectors(np.einsum("nji,njk->nik", R, T))
        return np.where(self.free, dq, 0.0)

    def support_motion(self, q: np.ndarray) -> SupportMotion | None:
        """How its supports came to where q has them."""
        return support_motion(self, q)

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Nodes of the mesh (k, 3) [m], a view of q."""
        return q[: 3 * len(self.mesh.nodes)].reshape(-1, 3)

    def pose(self, q: np.ndarray, region: str) -> tuple[np.ndarray, np.ndarray]:
        """Rotation from rest (3, 3) and centre (3,) [m] of a rigid region."""
        r = self.coordinates.region(region)
        pose = q[self.coordinates.pose + 12 * r :][:12]
        return pose[3:].reshape(3, 3) @ self.region_frame[r].T, pose[:3].copy()

    # Forces

    def energy(self, q: np.ndarray, z: np.ndarray | None = None) -> float:
        """Elastic energy [J]."""
        return self.linearise(q, np.zeros(3), z, tangent=False)[0]

    # Material points

    def node_points(self, nodes: Any) -> Points:
        """Nodes as material points: mask, indices or a function of the nodes."""
        chosen = self._selected("nodes", nodes)
        return Points(self, self.mesh.nodes[chosen], np.arange(len(chosen) + 1), chosen, np.ones(len(chosen)))

    def _selected(self, what: str, nodes: Any) -> np.ndarray:
        """Node indices of a mask, indices or a function of the nodes."""
        chosen = as_selection(what, nodes(self.mesh.nodes) if callable(nodes) else nodes)
        k = len(self.mesh.nodes)
        if chosen.dtype != bool:
            return checked_indices(what, chosen, k)
        if chosen.shape != (k,):
            raise InputError(what, expected=f"a mask of shape ({k},)", got=chosen.shape)
        return np.flatnonzero(chosen)
