"""Reduced: a body that moves in a few shapes only.

Nodes are x = X + Φ q with modes Φ (n, 3, k), so that

    f(q) = Σₑ wₑ Φₑᵀ fₑ(Xₑ + Φₑ q),     K(q) = Σₑ wₑ Φₑᵀ Kₑ Φₑ,     M = ΦᵀMΦ,     f_gravity = Φᵀ f

over a few cells e with weights wₑ > 0 (or over all of them): what a step costs then does not depend on the
mesh. f is the gradient of the energy Σ wₑ Eₑ, whatever the weights. Fibres are all taken, with weight one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.arrays import read_only
from pliant.bodies.body import Body, Linearised
from pliant.bodies.fibres.fibres import FibreGroup
from pliant.bodies.overstress import Overstress
from pliant.bodies.reduced_inputs import checked_body, checked_cells, checked_modes
from pliant.bodies.sampling import cell_numbers, sample
from pliant.bodies.solid import Solid
from pliant.points import Points


class Reduced(Body):
    """A Solid in k modes. Its coordinates q are amplitudes [m]: mode j moves the fastest node by q_j.

    modes (n, 3, k): motions of the n nodes of `body`, those of the frames of rigid regions included, zero at
    fixed ones. They are scaled here. Rigid regions stay rigid only as far as the modes say.
    cells (m,), weights (m,) > 0: the cells whose energy represents all, see `pliant.reduction.ecsw`; all of
    them by default.

    dq has as many blocks of three as k needs; the numbers that are left over are locked.
    """

    node_fields = ("stress", "strain")
    modes: np.ndarray  # Φ (n, 3, ndof)

    def __init__(self, body: Solid, modes: Any, *, cells: Any = None, weights: Any = None) -> None:
        self.full = checked_body(body)
        shapes = checked_modes(modes, body)
        self.count = shapes.shape[2]  # k
        size = -(-self.count // 3)
        padded = np.zeros((*shapes.shape[:2], 3 * size))
        self.scale = 1.0 / np.linalg.norm(shapes, axis=1).max(axis=0)  # (k,) given modes × scale are used
        padded[:, :, : self.count] = shapes * self.scale
        self.modes, self.q0, self.z0 = read_only(padded, np.zeros(3 * size), np.zeros(0))
        (self.free,) = read_only(np.arange(3 * size) < self.count)
        self._rest = body.coordinates.rest
        self._sample(cells, weights)
        i, j = np.tril_indices(size)
        self.pattern = Pattern.from_pairs(size, i, j)
        self.block_position = np.zeros((size, 3)) + np.arange(size)[:, None]
        # As a body without nodes or regions of its own: see `Points`.
        self.node_block = self.node_region = np.full(len(self._rest), -1, np.int64)
        self.node_arm, self.region_block = np.zeros((len(self._rest), 3)), np.zeros(0, np.int64)
        self.region_frame = np.zeros((0, 3, 3))

    def __repr__(self) -> str:
        every = len(cell_numbers(self.full.assembly.groups))
        return f"Reduced({self.full!r}, {self.count} modes, {len(self.cells)} of {every} cells)"

    def _sample(self, cells: Any, weights: Any) -> None:
        every = cell_numbers(self.full.assembly.groups)
        chosen, w = checked_cells(cells, weights, every)
        sampled = sample(self.full.assembly, self._rest, chosen, w)
        self._sampled = sampled
        of_cell = np.zeros(int(every.max()) + 1)
        of_cell[chosen] = w
        self.cells, self.weights = read_only(sampled.cells, of_cell[sampled.cells])
        m, nn = sampled.nodes.shape
        self._shapes = np.ascontiguousarray(self.modes[sampled.nodes].reshape(m, 3 * nn, -1))
        self._flat = self._shapes.reshape(3 * m * nn, -1)
        self._x0 = np.ascontiguousarray(self._rest[sampled.nodes].ravel())
        (self._nothing,) = read_only(np.zeros(len(self._x0)))
        self._fibres = [(group, *self._strings(group)) for group in self.full.fibres]

    def _strings(self, group: FibreGroup) -> tuple[np.ndarray, np.ndarray]:
        """Strings of fibres (n, 3) [m] at rest, and what the modes do to them, (3n, ndof)."""
        moved = group.strings(self.modes)
        return group.strings(self._rest), np.ascontiguousarray(moved.reshape(-1, moved.shape[2]))

    # Coordinates

    @property
    def ndof(self) -> int:
        """Size of dq: k, up to a multiple of three."""
        return len(self.q0)

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q + dq; left-over coordinates stay."""
        return q + np.where(self.free, dq, 0.0)

    def difference(self, q: np.ndarray, to: np.ndarray) -> np.ndarray:
        """dq with q ⊕ dq = `to`."""
        return np.where(self.free, to - q, 0.0)

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Nodes of the mesh (k, 3) [m]: the only thing here that costs as much as the mesh is large."""
        k = len(self.full.mesh.nodes)
        return self._rest[:k] + self.modes[:k] @ q

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Coordinates of the full body for amplitudes q; rigid regions have the best-fitting rotation."""
        c, full = self.full.coordinates, np.array(self.full.q0)
        x = self._rest + self.modes @ q
        full[: x.size] = x.ravel()
        for r in range(len(c.region_names)):
            centre, *tips = x[c.frame_nodes(r)]
            u, _, vt = np.linalg.svd(np.array(tips).T - centre[:, None])
            pose = full[c.pose + 12 * r :][:12]
            pose[:3], pose[3:] = centre, (u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt).ravel()
        return full

    def project(self, q: np.ndarray) -> np.ndarray:
        """The amplitudes (ndof,) nearest to coordinates of the full body."""
        x = (q[: self._rest.size] - self._rest.ravel()) @ self.modes.reshape(-1, self.ndof)[:, : self.count]
        out = np.zeros(self.ndof)
        out[: self.count] = np.linalg.solve(self._gram, x)
        return out

    @cached_property
    def _gram(self) -> np.ndarray:
        flat = self.modes.reshape(-1, self.ndof)[:, : self.count]
        return flat.T @ flat

    def rigid_modes(self) -> int:
        """How many rigid motions no support prevents: those of the full body, which modes nearly contain."""
        return min(self.full.rigid_modes(), self.count)

    # Forces

    def linearise(
        self,
        q: np.ndarray,
        gravity: Any,
        z: np.ndarray | None = None,
        *,
        tangent: bool = True,
        clamp: bool = False,
        predicted: np.ndarray | None = None,
        viscous: Overstress | None = None,
    ) -> Linearised:
        """Energy [J], r (ndof,) [N] and K (nb, 3, 3); see `Solid.linearise`."""
        x = self._x0 + self._flat @ q
        energy, r_cells, K_cells = self._sampled.assembly.linearise(
            x, self.z0, self._nothing, tangent=tangent, clamp=clamp, viscous=viscous
        )
        if r_cells is None:
            return energy, None, None
        r = r_cells @ self._flat
        K = None if K_cells is None else self._reduced(self._sampled.stiffness(K_cells))
        for group, rest, modes in self._fibres:
            own, force, stiffness = group.pull(rest + (modes @ q).reshape(-1, 3), clamp)
            if not own < np.inf:
                return own, None, None
            energy, r = energy + own, r - force.ravel() @ modes
            if K is not None:
                K += modes.T @ (stiffness @ modes.reshape(len(force), 3, -1)).reshape(modes.shape)
        if np.any(gravity):
            weight = np.asarray(gravity, float) @ self._load
            r += weight
            energy -= float(weight @ q)
        return energy, r, None if K is None else self._on_pattern(K)

    def _reduced(self, K: np.ndarray) -> np.ndarray:
        """Σ Φₑᵀ Kₑ Φₑ (ndof, ndof)."""
        return self._flat.T @ (K @ self._shapes).reshape(self._flat.shape)

    def _on_pattern(self, A: np.ndarray) -> np.ndarray:
        """A matrix (ndof, ndof) in blocks, with something on the diagonal of what is locked."""
        locked = np.arange(self.count, self.ndof)
        A[locked, locked] = np.abs(np.diagonal(A)[: self.count]).mean()
        size = self.pattern.size
        blocks = A.reshape(size, 3, size, 3).transpose(0, 2, 1, 3)
        return blocks[self.pattern.rows, self.pattern.cols]

    @cached_property
    def _load(self) -> np.ndarray:
        """(3, ndof) [kg] what gravity along each axis does to each amplitude."""
        mass = self.full.weight((1.0, 0.0, 0.0))[:, 0]
        return np.einsum("n,nik->ik", mass, self.modes)

    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """ΦᵀMΦ on the pattern (nb, 3, 3) [kg]."""
        return self._mass

    @cached_property
    def _mass(self) -> np.ndarray:
        M, k = self.full.node_masses(), len(self.full.mesh.nodes)
        total = sum(self.modes[:k, i].T @ (M @ self.modes[:k, i]) for i in range(3))
        return read_only(self._on_pattern(np.asarray(total)))[0]

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """None: M is constant."""
        return None

    def stress_memory(self, q: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
        """The elastic stress of the sampled cells as a viscous material remembers it; see `Overstress`."""
        return self._sampled.assembly.stress_memory(self._x0 + self._flat @ q, self.z0)

    # From the full body

    @property
    def mesh(self) -> Any:
        """The mesh of the full body."""
        return self.full.mesh

    @property
    def input_mesh(self) -> Any:
        """The mesh that the full body was made of."""
        return self.full.input_mesh

    @property
    def material(self) -> Any:
        """The material of the full body."""
        return self.full.material

    @property
    def density(self) -> np.ndarray | None:
        """ρ (ne,) [kg/m³] of the cells of the full body."""
        return self.full.density

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.full.total_mass

    @property
    def node_mass(self) -> np.ndarray:
        """Mass (k,) [kg] that gravity acts on at each node."""
        return self.full.node_mass

    def energy(self, q: np.ndarray, z: np.ndarray | None = None) -> float:
        """Elastic energy [J] of the sampled cells and of all fibres."""
        return self.linearise(q, np.zeros(3), tangent=False)[0]

    def stress(
        self, q: np.ndarray, measure: str = "cauchy", *, at: str = "cells", z: Any = None
    ) -> np.ndarray:
        """Stress [Pa] of all cells; see `Solid.stress`."""
        return self.full.stress(self.expand(q), measure, at=at)

    def strain(self, q: np.ndarray, measure: str = "green", *, at: str = "cells") -> np.ndarray:
        """Strain of all cells; see `Solid.strain`."""
        return self.full.strain(self.expand(q), measure, at=at)

    def fibre_tension(self, q: np.ndarray) -> np.ndarray:
        """Tension (n,) [N] of every string of its fibres; see `Solid.fibre_tension`."""
        return self.full.fibre_tension(self.expand(q))

    def fibre_paths(self, q: np.ndarray) -> list[np.ndarray]:
        """Where the points of each thread of its fibres are; see `Solid.fibre_paths`."""
        return self.full.fibre_paths(self.expand(q))

    # Material points

    def points(self, where: Any, **options: Any) -> Points:
        """Material points at rest positions (P, 3) [m]; see `Solid.points`."""
        return self.full.points(where, **options).on(self)

    def node_points(self, nodes: Any) -> Points:
        """Nodes as material points."""
        return self.full.node_points(nodes).on(self)

    def region_points(self, name: str) -> Points:
        """The frame of a rigid region of the full body."""
        return self.full.region_points(name).on(self)

    def attached_points(self, name: str, where: Any) -> Points:
        """Points that move with a rigid region of the full body."""
        return self.full.attached_points(name, where).on(self)
