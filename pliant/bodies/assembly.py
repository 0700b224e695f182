"""From cells to the equations of a body: energy, residual and tangent in the coordinates dq."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.arrays import read_only, read_only_view
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.fibres.fibres import FibreGroup
from pliant.bodies.groups import Generic, Group
from pliant.bodies.overstress import Overstress
from pliant.bodies.projection import add_second_derivatives, move_regions, project_blocks, project_forces
from pliant.bodies.scatter import Plan, plan


class Assembly:
    """Groups of cells on one pattern, with rigid regions projected and locked coordinates taken out.

    `fibres` are threads between them, which have no cells, stress or memory.
    """

    def __init__(
        self,
        groups: list[Group],
        coordinates: Coordinates,
        pattern: Pattern,
        fibres: Sequence[FibreGroup] = (),
    ) -> None:
        self.groups, self.coordinates, self.pattern, self.fibres = groups, coordinates, pattern, fibres
        counts = np.cumsum([group.internal for group in groups], dtype=int)
        self.internal_spans = [slice(int(end) - g.internal, int(end)) for end, g in zip(counts, groups)]
        self.internal = int(counts[-1]) if groups else 0
        remembered = np.cumsum([group.memory for group in groups], dtype=int)
        self._memory_spans = [slice(int(end) - g.memory, int(end)) for end, g in zip(remembered, groups)]
        parts = [*groups, *fibres]
        ends = np.cumsum([part.pairs[0].size for part in parts], dtype=int)[:-1]
        empty = np.zeros(0, np.int64)
        i, j = (np.concatenate([empty, *(part.pairs[side].ravel() for part in parts)]) for side in (0, 1))
        self.plan = plan(i, j, coordinates, pattern)
        for part, slots in zip(parts, np.split(self.plan.slots, ends)):
            part.bind(slots.reshape(part.pairs[0].shape))
        c = coordinates
        self._moving, self._own = c.moving, len(c.moving)
        self._rigid_nodes, self._region, self._arm, self._frame = read_only(
            c.rigid_nodes, c.node_region, c.node_arm, c.region_frame
        )
        (self._rotations,) = read_only(pattern.diagonal[c.region_block + 1])
        self._extra, self._target = read_only(self.plan.extra, self.plan.target)
        self._find_locked()

    def linearise(
        self,
        q: np.ndarray,
        z: np.ndarray,
        external: np.ndarray,
        *,
        tangent: bool,
        clamp: bool,
        viscous: Overstress | None = None,
    ) -> tuple[float, np.ndarray | None, np.ndarray | None]:
        """Elastic energy [J], r (ndof,) and K (nb, 3, 3), for forces `external` (3n,) [N] on the nodes."""
        q = read_only_view(q)  # frozen or not, the kernels see one type and compile once
        K = np.zeros(9 * self.plan.blocks if tangent else 0)
        g = np.zeros(self.coordinates.pose)
        energy = 0.0
        for group, span, remembered in zip(self.groups, self.internal_spans, self._memory_spans):
            own = None if viscous is None else Overstress(viscous.scale, viscous.stress[remembered])
            energy += group.assemble(q, z[span], K, g, tangent, clamp, own)
        for fibre in self.fibres:
            energy += fibre.assemble(q, K, g, tangent, clamp)
        if not energy < math.inf:
            return math.inf, None, None
        g -= external
        r = self._residual(q, g)
        if not tangent:
            return energy, r, None
        if len(self._rigid_nodes):
            pose = self.coordinates.pose  # K_q = JᵀKJ + g·∂²x/∂dq²
            self._project(q, self._extra, self._target, K)
            add_second_derivatives(q, pose, self._region, self._arm, self._rigid_nodes, self._rotations, g, K)
        blocks = K[: 9 * self.plan.direct]
        self._lock(blocks)
        return energy, r, blocks.reshape(-1, 3, 3)

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The elastic stress of all cells as a viscous material remembers it, (m,) [Pa]; see `overstress`."""
        parts = zip(self.groups, self.internal_spans)
        return np.concatenate([np.zeros(0), *(group.stress_memory(q, z[span]) for group, span in parts)])

    def node_forces(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Internal forces on all nodes (3n,) [N], fixed ones too."""
        q = read_only_view(q)
        g = np.zeros(self.coordinates.pose)
        for group, span in zip(self.groups, self.internal_spans):
            group.assemble(q, z[span], np.zeros(0), g, False, False)
        for fibre in self.fibres:
            fibre.assemble(q, np.zeros(0), g, False, False)
        return g

    def update_internal(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Pressures after the update p ← p + κ(ϑ̄ − 1)."""
        z = z.copy()
        for group, span in self._incompressible():
            z[span][: group.pressures] += group.material.penalty * (group.dilatation(q) - 1.0)
        return z

    @cached_property
    def largest(self) -> np.ndarray:
        """Which internal variables are largest energies, (internal,)."""
        out = np.zeros(self.internal, bool)
        for group, span in zip(self.groups, self.internal_spans):
            out[span.start + group.pressures : span.stop] = True
        return out

    def arrived(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Internal variables with what cells that soften have seen at q."""
        z = z.copy()
        for group, span in zip(self.groups, self.internal_spans):
            if isinstance(group, Generic):
                z[span] = group.arrived(q, z[span])
        return z

    def volume_error(self, q: np.ndarray) -> np.ndarray:
        """ϑ̄ − 1 of the cells that have a pressure."""
        errors = (group.dilatation(q) - 1.0 for group, _ in self._incompressible())
        return np.concatenate([np.zeros(0), *errors])

    def _incompressible(self) -> list[tuple[Generic, slice]]:
        pairs = zip(self.groups, self.internal_spans)
        return [(group, span) for group, span in pairs if isinstance(group, Generic) and group.pressures]

    def project(self, q: np.ndarray, chosen: Plan, K: np.ndarray) -> np.ndarray:
        """Node blocks K (blocks, 3, 3) of another plan, such as the mass, on the pattern (nb, 3, 3)."""
        flat = np.array(K, float).ravel()  # a copy: projection adds to it
        if len(self._rigid_nodes):
            extra, target = read_only(chosen.extra, chosen.target)
            self._project(read_only_view(q), extra, target, flat)
        blocks = flat[: 9 * chosen.direct].copy()
        self._lock(blocks)
        return blocks.reshape(-1, 3, 3)

    def carry(self, q: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Jᵀ forces (ndof,): what forces (3n,) on the nodes are in the coordinates dq."""
        return -self._residual(read_only_view(q), forces)

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq; locked coordinates stay."""
        if len(self._locked):
            dq = np.where(self.coordinates.free, dq, 0.0)
        q = q.copy()
        q[self._moving] += dq[: self._own]
        if len(self._rigid_nodes):
            change = np.ascontiguousarray(dq[self._own :])
            move_regions(
                q, self.coordinates.pose, self._frame, self._region, self._arm, self._rigid_nodes, change
            )
        return q

    def _project(self, q: np.ndarray, extra: np.ndarray, target: np.ndarray, K: np.ndarray) -> None:
        pose, direct = self.coordinates.pose, self.plan.direct
        project_blocks(q, pose, self._frame, self._region, self._arm, extra, target, direct, K)

    def _residual(self, q: np.ndarray, g: np.ndarray) -> np.ndarray:
        """r (ndof,) = −Jᵀg of the gradient g (3n,) of the energy, zero where locked."""
        r = np.empty(len(self.coordinates.free))
        np.negative(g[self._moving], out=r[: self._own])
        if len(self._rigid_nodes):
            force = np.zeros(len(r) - self._own)
            project_forces(
                q, self.coordinates.pose, self._frame, self._region, self._arm, self._rigid_nodes, g, force
            )
            r[self._own :] = -force
        r[self._locked] = 0.0
        return r

    def _find_locked(self) -> None:
        """Entries of K (flat) in the rows and columns of locked coordinates, and their diagonal entries."""
        free, pattern = self.coordinates.free.reshape(-1, 3), self.pattern
        self._locked = self.coordinates.locked
        open_entry = free[pattern.rows][:, :, None] & free[pattern.cols][:, None, :]
        self._closed = np.flatnonzero(~open_entry)
        self._diagonal = (9 * pattern.diagonal[:, None] + 4 * np.arange(3)).ravel()

    def _lock(self, blocks: np.ndarray) -> None:
        if len(self._locked):
            open_diagonal = np.abs(blocks[self._diagonal[self.coordinates.free]])
            blocks[self._closed] = 0.0
            blocks[self._diagonal[self._locked]] = open_diagonal.mean() if open_diagonal.any() else 1.0
