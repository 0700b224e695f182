"""From elements to the equations of a beam: energy, residual and tangent in the coordinates dq."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.arrays import read_only, read_only_view
from pliant.bodies.beams.assembly_kernel import assemble, predict
from pliant.bodies.beams.attachment import Weights
from pliant.bodies.beams.element import strains
from pliant.bodies.beams.inertia import Inertia, add_gyroscopic, add_mass, add_weight
from pliant.bodies.beams.numbering import Numbering
from pliant.bodies.blocks import kernel
from pliant.bodies.body import Linearised
from pliant.bodies.overstress import Overstress
from pliant.bodies.projection import move_regions
from pliant.bodies.scatter import pattern_of


class Ends(NamedTuple):
    """What carries the ends of elements: regions (ne, 2), with arms (ne, 2, 3) in the regions' axes.

    `turn` D (ne, 2, 3, 3) are the section axes in those of the regions, as columns.
    """

    region: np.ndarray
    arm: np.ndarray
    turn: np.ndarray

    @classmethod
    def of(cls, numbering: Numbering) -> Ends:
        """Those of all elements of the lines."""
        lines, c = numbering.lines, numbering.coordinates
        region = numbering.node_region[lines.elements]
        turn = np.einsum("ekji,ekjl->ekil", c.region_frame[region], lines.frames)
        return cls(*read_only(region, numbering.node_arm[lines.elements], turn))

    def strains(self, q: np.ndarray, pose: int) -> tuple[np.ndarray, float]:
        """(u, θ) (ne, 6) [m, rad] of every element, and the largest |θ|."""
        out = np.empty((len(self.region), 6))
        return out, strains(read_only_view(q), pose, *self, out)

    def take(self, which: np.ndarray) -> Ends:
        """The ends of some elements."""
        return Ends(*read_only(*(part[which] for part in self)))


class Assembly:
    """Elements on one pattern, with locked coordinates taken out; elements within one region are rigid.

    C (ne, 6) are stiffnesses of the strains (u, θ), [N/m] and [N·m]; rest (ne, 6) the strains without load.
    `skin` says of which frame nodes the nodes of the carried mesh are sums.
    """

    def __init__(
        self,
        numbering: Numbering,
        ends: Ends,
        C: np.ndarray,
        rest: np.ndarray,
        inertia: Inertia,
        skin: Weights,
    ) -> None:
        c = self.coordinates = numbering.coordinates
        self.pattern = pattern_of(numbering.frames[ends.region, 0], c)
        self.skin = read_only(skin.ptr, skin.index, skin.weight)
        soft = self.soft = np.flatnonzero(ends.region[:, 0] != ends.region[:, 1])
        (self._frame,) = read_only(c.region_frame)
        stiffness = read_only(C[soft], rest[soft])
        self._placed, self._stiffness = (c.pose, self._frame, *ends.take(soft)), stiffness
        self.predicted_size = 6 * len(soft)
        self._forces_at_q, self._no_forces = read_only(np.zeros(0), np.zeros(self.predicted_size))
        slots = _slots(ends.region, self.pattern)
        self._slots, self._all_slots = read_only(slots[soft], slots)
        self._regions = (self._frame, *read_only(c.node_region, c.node_arm, c.rigid_nodes))
        self._start, self._rotations = read_only(c.q0[c.pose :], self.pattern.diagonal[1::2])
        self._inertia, self._ends = inertia, ends
        self._find_locked()

    def linearise(
        self,
        q: np.ndarray,
        gravity: np.ndarray,
        *,
        tangent: bool,
        clamp: bool,
        predicted: np.ndarray | None,
        viscous: Overstress | None = None,
    ) -> Linearised:
        """Energy [J], r (ndof,) and K (nb, 3, 3); the energy is less the work of gravity since rest.

        Clamped, K has no geometric part, neither of section forces nor of weights.
        """
        K = np.zeros(9 * len(self.pattern.rows) if tangent else 0)
        g = np.zeros(len(self.coordinates.free))
        forces = self._no_forces if clamp else self._forces_at_q
        if predicted is not None and not clamp:
            felt = predicted if viscous is None else viscous.scale * predicted + viscous.stress
            forces = read_only_view(felt)
        energy = self._gradient(q, gravity, K, g, forces, heavy=tangent and not clamp, viscous=viscous)
        if not energy < math.inf:
            return math.inf, None, None
        lock(self._locked, self._closed, self._diagonal, K, g)
        return energy, g, K.reshape(-1, 3, 3) if tangent else None

    def gradient(self, q: np.ndarray, gravity: np.ndarray) -> np.ndarray:
        """∂E/∂dq (ndof,), of locked coordinates too: what supports take."""
        g = np.zeros(len(self.coordinates.free))
        self._gradient(q, gravity, np.zeros(0), g, self._forces_at_q, heavy=False)
        return g

    def _gradient(
        self,
        q: np.ndarray,
        gravity: np.ndarray,
        K: np.ndarray,
        g: np.ndarray,
        forces: np.ndarray,
        *,
        heavy: bool,
        viscous: Overstress | None = None,
    ) -> float:
        """The energy [J]; ∂E/∂dq is added to g, and the stiffness to K, unless that is empty.

        The geometric stiffness is that of `forces` and, if `heavy`, of the weights.
        """
        q = read_only_view(q)
        law = self._stiffness if viscous is None else self._viscous(viscous)
        energy = assemble(q, *self._placed, *law, self._slots, K, g, len(K) > 0, forces)
        if gravity.any():
            energy += add_weight(
                q, self.coordinates.pose, self._start, self._frame, *self._weights,
                read_only_view(gravity), self._rotations, K, g, heavy,
            )  # fmt: skip
        return energy

    def _viscous(self, viscous: Overstress) -> list[np.ndarray]:
        """C and rest strains (ne, 6) of section forces scale C (ε − ε₀) + Z: Z moves the strains at rest."""
        C, rest = self._stiffness
        stiff, Z = viscous.scale * C, viscous.stress.reshape(C.shape)
        return read_only(stiff, rest - np.divide(Z, stiff, out=np.zeros_like(Z), where=stiff > 0.0))

    def section_forces(self, q: np.ndarray) -> np.ndarray:
        """C (ε − ε₀) (6 ne,) [N, N·m] of elements that are not rigid."""
        C, rest = self._stiffness
        return (C * (self._ends.take(self.soft).strains(q, self.coordinates.pose)[0] - rest)).ravel()

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq; locked coordinates stay."""
        q = q.copy()
        self._move(q, self._change(dq))
        return q

    def predict(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """Section forces (6 ne,) [N, N·m] of elements that are not rigid, at q ⊕ dq to first order in dq."""
        out = np.empty(self.predicted_size)
        predict(read_only_view(q), *self._placed, *self._stiffness, self._change(dq), out)
        return out

    def turned(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """As `retract`, but only of the poses of regions: the carried mesh stays as it is."""
        q = q.copy()
        move_regions(q, self.coordinates.pose, *self._regions, self._change(dq))
        return q

    def _change(self, dq: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.where(self.coordinates.free, dq, 0.0))

    def follow(self, q: np.ndarray) -> None:
        """Bring frame nodes and mesh to where the poses in q are, in place."""
        self._move(q, np.zeros(len(self.coordinates.free)))

    def _move(self, q: np.ndarray, change: np.ndarray) -> None:
        move_regions(q, self.coordinates.pose, *self._regions, change)
        carry(*self.skin, q)

    def mass(self, q: np.ndarray) -> np.ndarray:
        """M on the pattern (nb, 3, 3); locked coordinates have their own on the diagonal."""
        M, nothing = np.zeros(9 * len(self.pattern.rows)), np.zeros(len(self.coordinates.free))
        frame, ends = self._frame, self._ends.region
        integrals = self._inertia.integrals
        add_mass(read_only_view(q), self.coordinates.pose, frame, ends, *integrals, self._all_slots, M)
        lock(self._locked, self._closed, self._diagonal, M, nothing)
        return M.reshape(-1, 3, 3)

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) of M v̇ + c = r, zero where locked; None where nothing turns."""
        v = np.where(self.coordinates.free, v, 0.0)
        if not v.reshape(-1, 6)[:, 3:].any():
            return None
        c, (_, first, second) = np.zeros(len(v)), self._inertia.integrals
        pose, frame, ends = self.coordinates.pose, self._frame, self._ends.region
        add_gyroscopic(read_only_view(q), pose, frame, ends, first, second, v, c)
        c[self._locked] = 0.0
        return c

    @cached_property
    def _weights(self) -> list[np.ndarray]:
        """Mass and first moment of the regions."""
        return read_only(*self._inertia.moments(len(self._frame)))

    def _find_locked(self) -> None:
        """Locked coordinates, entries of K (flat) in their rows and columns, and their diagonal entries."""
        free, pattern = self.coordinates.free.reshape(-1, 3), self.pattern
        open_entry = free[pattern.rows][:, :, None] & free[pattern.cols][:, None, :]
        diagonal = (9 * pattern.diagonal[:, None] + 4 * np.arange(3)).ravel()
        locked = self.coordinates.locked
        closed = np.setdiff1d(np.flatnonzero(~open_entry), diagonal[locked])
        self._locked, self._closed, self._diagonal = read_only(locked, closed, diagonal[locked])


def _slots(region: np.ndarray, pattern: Pattern) -> np.ndarray:
    """(ne, 4, 4): 2·block + (1 if transposed) of the pairs among (τ₁, ω₁, τ₂, ω₂)."""
    blocks = (2 * region[:, :, None] + np.arange(2)).reshape(-1, 4)
    k, flipped = pattern.find(blocks[:, :, None], blocks[:, None, :])
    return 2 * k + flipped


@kernel
def lock(locked, closed, diagonal, K, g):
    """r = −g in place, zero where locked; K (flat, maybe empty) keeps only a positive diagonal there."""
    for i in range(len(g)):
        g[i] = -g[i]
    for i in locked:
        g[i] = 0.0
    if len(K):
        for k in closed:
            K[k] = 0.0
        for k in diagonal:
            K[k] = abs(K[k]) if K[k] != 0.0 else 1.0


@kernel
def carry(ptr, index, weight, q):
    """Nodes of the carried mesh, in place: x_n = Σ weight · x[index] over ptr[n]:ptr[n+1]."""
    for n in range(len(ptr) - 1):
        x = y = z = 0.0
        for k in range(ptr[n], ptr[n + 1]):
            i, w = 3 * index[k], weight[k]
            x += w * q[i]
            y += w * q[i + 1]
            z += w * q[i + 2]
        q[3 * n], q[3 * n + 1], q[3 * n + 2] = x, y, z
