"""From the triangles of a shell to its equations: energy, residual and tangent in the coordinates dq."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.arrays import read_only, read_only_view
from pliant.bodies.body import Linearised
from pliant.bodies.overstress import Overstress
from pliant.bodies.projection import add_second_derivatives, move_regions, project_forces
from pliant.bodies.shells.element import deform
from pliant.bodies.shells.law import Law
from pliant.bodies.shells.numbering import Numbering
from pliant.bodies.shells.shell_kernel import add_change, add_shell, strains
from pliant.bodies.shells.spreading import Spreading
from pliant.bodies.shells.strings import StringGroup
from pliant.bodies.shells.triangle import Triangles

_TYPES = ((0, 0), (0, 1), (1, 0), (1, 1))  # position or rotation of the two corners of a pair


@dataclass(frozen=True, eq=False)
class Stiffnesses:
    """Laws, each with its triangles, and L (ne, 3, 3) and D (ne, 3, 3, 3, 3) of `shell_kernel`."""

    laws: list[tuple[Law, np.ndarray]]
    L: np.ndarray
    D: np.ndarray


@dataclass(frozen=True, eq=False)
class Posture:
    """Triangles at some q: frames T (ne, 3, 3), stretches U (ne, 3), strains (ne, 3), turns φ of the corners.

    φ is (ne, 3, 3), `energy` [J] that of the turns.
    """

    T: np.ndarray
    U: np.ndarray
    phi: np.ndarray
    eps: np.ndarray
    energy: float


class ShellAssembly:
    """Triangles and strings on one pattern, with rigid regions projected and locked coordinates taken out."""

    def __init__(
        self, numbering: Numbering, triangles: Triangles, stiffnesses: Stiffnesses, strings: list[StringGroup]
    ) -> None:
        self.numbering, self.coordinates, self.strings = numbering, numbering.coordinates, strings
        self.laws = stiffnesses.laws
        # Corners in ascending order: blocks of pairs (a, b ≤ a) then always stand in the lower half of K.
        order = np.argsort(triangles.cells, axis=1)
        corner = lambda array: np.take_along_axis(array, order[:, :, None], axis=1)
        every = np.arange(len(triangles))[:, None, None]
        self.cells, self.gradient, self.frame, self.L, self.D = read_only(
            np.take_along_axis(triangles.cells, order, axis=1),
            corner(triangles.gradient),
            triangles.frame,
            np.take_along_axis(stiffnesses.L, order[:, None, :], axis=2),
            stiffnesses.D[every, order[:, :, None], order[:, None, :]],
        )
        self._lay_out()
        self._region, self._arm, self._frames = read_only(
            numbering.region, numbering.arm, self.coordinates.region_frame
        )
        (self._every,) = read_only(np.arange(len(self._region)))
        (self._shared,) = read_only(np.flatnonzero(numbering.shared))
        self.predicted_size = 12 * len(self.cells)
        (self._rotations,) = read_only(self.pattern.diagonal[self.coordinates.region_block + 1])

    def _lay_out(self) -> None:
        """Make the pattern, the slots of all pairs (behind it for rigid regions), and the locked entries."""
        a, b = np.tril_indices(3)
        rows, cols = self.cells[:, a], self.cells[:, b]
        pairs = [(2 * rows + s, 2 * cols + t) for s, t in _TYPES]
        i, j = (np.stack(side, axis=2) for side in zip(*pairs))
        j = np.where(i >= j, j, -1)  # the lower half of a corner with itself
        strings = [(2 * string.pairs[0], 2 * string.pairs[1]) for string in self.strings]
        self.spreading = Spreading(self.numbering, [(i, j), *strings])
        self.pattern: Pattern = self.spreading.pattern
        (self._slots,) = read_only(self.spreading.slots[0])
        for string, slots in zip(self.strings, self.spreading.slots[1:]):
            string.bind(slots)
        free = self.coordinates.free.reshape(-1, 3)
        self._locked = self.coordinates.locked
        self._closed = np.flatnonzero(
            ~(free[self.pattern.rows][:, :, None] & free[self.pattern.cols][:, None, :])
        )
        self._diagonal = (9 * self.pattern.diagonal[:, None] + 4 * np.arange(3)).ravel()

    def posture(self, q: np.ndarray) -> Posture | None:
        """How the triangles are deformed; None if one has collapsed or a corner turned too far against it."""
        n = len(self.cells)
        T, U, phi, eps = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3, 3)), np.empty((n, 3))
        x = read_only_view(q[: 3 * len(self.numbering.sheet.nodes)].reshape(-1, 3))
        R = read_only_view(self.rotations(q))
        if not deform(x, R, self.cells, self.gradient, self.frame, T, U, phi):
            return None
        T, U, phi = read_only_view(T), read_only_view(U), read_only_view(phi)
        return Posture(T, U, phi, eps, strains(U, phi, self.L, self.D, eps))

    def rotations(self, q: np.ndarray) -> np.ndarray:
        """Rotations (k, 3, 3) of the nodes from rest."""
        R = q[self.coordinates.pose :].reshape(-1, 12)[:, 3:].reshape(-1, 3, 3)
        R = R @ np.swapaxes(self.coordinates.region_frame, 1, 2) if len(self._shared) else R
        return np.ascontiguousarray(R[self._region[: len(self.numbering.sheet.nodes)]])

    def linearise(
        self,
        q: np.ndarray,
        z: np.ndarray,
        external: np.ndarray,
        *,
        tangent: bool,
        clamp: bool,
        predicted: np.ndarray | None = None,
        viscous: Overstress | None = None,
    ) -> Linearised:
        """Elastic energy [J], r (ndof,) and K (nb, 3, 3), for forces `external` (3n,) [N] on the nodes."""
        q = read_only_view(q)  # frozen or not, the kernels see one type and compile once
        K = np.zeros(9 * self.spreading.blocks if tangent else 0)
        energy, f, couple = self._forces(q, z, K, tangent, clamp, predicted, viscous)
        if not energy < math.inf:
            return math.inf, None, None
        f -= external
        r = self._residual(q, f, couple)
        if not tangent:
            return energy, r, None
        if len(self._shared):
            self.spreading.project(q, K)
            if not clamp:
                pose = self.coordinates.pose
                add_second_derivatives(q, pose, self._region, self._arm, self._shared, self._rotations, f, K)
        blocks = K[: 9 * len(self.pattern.rows)]
        self.lock(blocks)
        return energy, r, blocks.reshape(-1, 3, 3)

    def _forces(
        self,
        q: np.ndarray,
        z: np.ndarray,
        K: np.ndarray,
        tangent: bool,
        clamp: bool,
        predicted: np.ndarray | None = None,
        viscous: Overstress | None = None,
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy [J], its gradient by the positions (3n,) [N] and rotations (k, 3) [N·m] of the nodes."""
        f, couple = np.zeros(self.coordinates.pose), np.zeros((len(self.numbering.sheet.nodes), 3))
        at = self.posture(q)
        if at is None:
            return math.inf, f, couple
        ne = len(self.cells)
        N, C = np.empty((ne, 3)), np.empty((ne if tangent else 0, 3, 3))
        energy = at.energy
        for law, chosen in self.laws:
            part, N[chosen], moduli = law.respond(at.eps[chosen], tangent=tangent)
            energy += part
            if moduli is not None:
                C[chosen] = moduli
        if not energy < math.inf:
            return math.inf, f, couple
        D, felt, more = self.D, at.phi, 0.0
        if viscous is not None:  # turns are remembered in place of the couples D φ
            Z, scale = viscous.stress.reshape(ne, 12), viscous.scale
            more = Z[:, 3:].reshape(ne, 3, 3) / scale
            N, C = scale * N + Z[:, :3], scale * C
            D, felt = read_only(scale * D, at.phi + more)
        geometric = (N, felt)
        if predicted is not None and tangent:
            strain = predicted.reshape(ne, 12)
            change = np.einsum("eij,ej->ei", C, strain[:, :3] - at.eps)
            geometric = N + change, read_only(strain[:, 3:].reshape(ne, 3, 3) + more)[0]
        triangles = self.cells, self.gradient, self.frame, self.L, D
        deformed = at.T, at.U, at.phi, felt, N, C, geometric
        add_shell(*triangles, *deformed, self._slots, K, f, couple, tangent, clamp)
        for string in self.strings:
            energy += string.assemble(q, z, K, f, tangent, clamp)
        return energy, f, couple

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Forces N in the plane and turns of the corners (12 ne,); zero where q is inadmissible."""
        at, out = self.posture(q), np.zeros((len(self.cells), 12))
        if at is not None:
            out[:, 3:] = at.phi.reshape(-1, 9)
            for law, chosen in self.laws:
                out[chosen, :3] = law.respond(at.eps[chosen], tangent=False)[1]
        return out.ravel()

    def node_forces(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Internal forces on all nodes (3n,) [N], fixed ones too."""
        return self._forces(q, z, np.zeros(0), False, False)[1]

    def node_couples(self, q: np.ndarray) -> np.ndarray:
        """Internal couples on the nodes of the sheet (k, 3) [N·m], in axes that turn with the node."""
        return self._forces(q, np.zeros(0), np.zeros(0), False, False)[2]

    def carry(self, q: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Jᵀ forces (ndof,): what forces (3n,) on the nodes are in the coordinates dq."""
        return -self._residual(read_only_view(q), forces, np.zeros((len(self.numbering.sheet.nodes), 3)))

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq; locked coordinates stay."""
        q, dq = q.copy(), self._change(dq)
        move_regions(q, self.coordinates.pose, self._frames, self._region, self._arm, self._every, dq)
        return q

    def predict(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """Strains and turns of the corners (12 ne,) at q ⊕ dq, to first order; zeros if q is inadmissible."""
        out, at = np.zeros((len(self.cells), 12)), self.posture(q)
        if at is not None:
            out[:, :3], out[:, 3:] = at.eps, at.phi.reshape(-1, 9)
            change = self._node_changes(q, self._change(dq))
            add_change(at.T, at.U, at.phi, self.L, self.gradient, self.frame, self.cells, *change, out)
        return out.ravel()

    def _change(self, dq: np.ndarray) -> np.ndarray:
        return np.where(self.coordinates.free, dq, 0.0) if len(self._locked) else np.ascontiguousarray(dq)

    def _node_changes(self, q: np.ndarray, dq: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First-order motion (k, 3) [m] and rotation (k, 3) [rad], in the nodes' own axes, of the nodes."""
        k = len(self.numbering.sheet.nodes)
        region = self._region[:k]
        by_region = dq.reshape(-1, 6)
        motion, turn = by_region[region, :3], by_region[region, 3:]
        if len(self._shared):
            Q = self._frames[region]
            R = q[self.coordinates.pose :].reshape(-1, 12)[region, 3:].reshape(-1, 3, 3)
            swing = np.einsum("nij,nj->ni", R, np.cross(turn, self._arm[:k]))
            motion = np.einsum("nij,nj->ni", Q, motion) + swing
            turn = np.einsum("nij,nj->ni", Q, turn)
        return np.ascontiguousarray(motion), np.ascontiguousarray(turn)

    def _residual(self, q: np.ndarray, f: np.ndarray, couple: np.ndarray) -> np.ndarray:
        """r (ndof,) = −Jᵀ(f, couple), zero where locked."""
        r = np.zeros(len(self.coordinates.free))
        k = len(self.numbering.sheet.nodes)
        alone = ~self.numbering.shared
        by_region = r.reshape(-1, 6)
        own = self._region[:k][alone]
        by_region[own, :3], by_region[own, 3:] = f[: 3 * k].reshape(-1, 3)[alone], couple[alone]
        if len(self._shared):
            project_forces(
                q, self.coordinates.pose, self._frames, self._region, self._arm, self._shared, f, r
            )
            turned = np.einsum("nji,nj->ni", self._frames[self._region[self._shared]], couple[self._shared])
            np.add.at(by_region[:, 3:], self._region[self._shared], turned)
        r[self._locked] = 0.0
        return np.negative(r, out=r)

    def lock(self, blocks: np.ndarray) -> None:
        """Take locked coordinates out of K (flat), with a positive diagonal left."""
        if len(self._locked):
            open_diagonal = np.abs(blocks[self._diagonal[self.coordinates.free]])
            blocks[self._closed] = 0.0
            blocks[self._diagonal[self._locked]] = open_diagonal.mean() if open_diagonal.any() else 1.0
