"""What shells, membranes and nets have in common as bodies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.groups import read_only
from pliant.bodies.shells.strings import Strings
from pliant.bodies.supports import as_selection, checked_indices, moved_rigidly
from pliant.errors import InputError, is_number
from pliant.mesh.sheets import Sheet
from pliant.points import Points


class Equations(Protocol):
    """From q to energy, residual and tangent; see `pliant.bodies.assembly`."""

    coordinates: Coordinates
    pattern: Pattern

    def linearise(
        self, q: np.ndarray, z: np.ndarray, external: np.ndarray, *, tangent: bool, clamp: bool
    ) -> tuple[float, np.ndarray | None, np.ndarray | None]: ...
    def node_forces(self, q: np.ndarray, z: np.ndarray) -> np.ndarray: ...
    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray: ...
    def carry(self, q: np.ndarray, forces: np.ndarray) -> np.ndarray: ...


class ThinBody:
    """A body without volume elements: coordinates, forces, supports and points at nodes.

    A subclass makes `mesh`, `assembly`, `fixed` (k, 3) and `node_mass` (k,) [kg], or None if nothing says what
    it weighs, and calls `_share_coordinates`.
    """

    variational = True
    mesh: Any
    assembly: Any
    fixed: np.ndarray
    _node_mass: np.ndarray | None

    def _share_coordinates(self) -> None:
        """What points and solvers ask of the numbering, see `Coordinates`."""
        c = self.coordinates = self.assembly.coordinates
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
        """q ⊕ dq: nodes move, rotations compose; locked coordinates stay."""
        return self.assembly.retract(q, dq)

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Nodes (k, 3) [m], a view of q."""
        return q[: 3 * len(self.mesh.nodes)].reshape(-1, 3)

    def pose(self, q: np.ndarray, region: str) -> tuple[np.ndarray, np.ndarray]:
        """Rotation from rest (3, 3) and centre (3,) [m] of a rigid region."""
        r = self.coordinates.region(region)
        pose = q[self.coordinates.pose + 12 * r :][:12]
        return pose[3:].reshape(3, 3) @ self.region_frame[r].T, pose[:3].copy()

    # Forces

    def linearise(
        self,
        q: np.ndarray,
        gravity: Any,
        z: np.ndarray | None = None,
        *,
        tangent: bool = True,
        clamp: bool = False,
    ) -> tuple[float, np.ndarray | None, np.ndarray | None]:
        """Energy [J], r = f_ext − f_int (ndof,) [N, N·m] and K = −∂r/∂dq (nb, 3, 3).

        (inf, None, None) if q is inadmissible. The energy is elastic, less the work of gravity (3,) [m/s²]
        since rest. clamp=True leaves out the terms of K that can make it indefinite; r stays exact.
        """
        external = self.weight(gravity).ravel()
        energy, r, K = self.assembly.linearise(q, self.z0, external, tangent=tangent, clamp=clamp)
        return energy - float(external @ (q[: len(external)] - self.q0[: len(external)])), r, K

    def energy(self, q: np.ndarray, z: np.ndarray | None = None) -> float:
        """Elastic energy [J]."""
        return self.linearise(q, np.zeros(3), tangent=False)[0]

    def weight(self, gravity: Any) -> np.ndarray:
        """Forces of gravity (3,) [m/s²] on the nodes (n, 3) [N]; their first k are the mesh's."""
        gravity = np.asarray(gravity, float)
        load = np.zeros((len(self.coordinates.rest), 3))
        if gravity.any():
            load[: len(self.mesh.nodes)] = self.node_mass[:, None] * gravity
        return load

    def reactions(
        self, q: np.ndarray, gravity: Any = (0.0, 0.0, 0.0), z: np.ndarray | None = None
    ) -> np.ndarray:
        """Forces (k, 3) [N] of the supports on the nodes; zero at free nodes in equilibrium."""
        internal = self.assembly.node_forces(q, self.z0).reshape(-1, 3)
        return (internal - self.weight(gravity))[: len(self.mesh.nodes)]

    @property
    def node_mass(self) -> np.ndarray:
        """Mass (k,) [kg] of each node."""
        if self._node_mass is None:
            raise InputError("body", expected="density=…", got="none", hint="density=0 is weightless.")
        return self._node_mass

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return float(self.node_mass.sum())

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N] of M v̇ + c = r: what turning rigid regions pull; None where nothing turns."""
        c, k = self.coordinates, len(self.mesh.nodes)
        mine = np.flatnonzero(c.node_region[:k] >= 0)
        region = c.node_region[mine]
        spin = v[3 * c.region_block[region, None] + 3 + np.arange(3)]
        if not spin.any():
            return None
        R = q[c.pose : c.pose + 12 * len(c.region_block)].reshape(-1, 12)[region, 3:].reshape(-1, 3, 3)
        inward = np.cross(spin, np.cross(spin, c.node_arm[mine]))
        force = np.zeros((len(c.rest), 3))
        force[mine] = self.node_mass[mine, None] * np.einsum("nij,nj->ni", R, inward)
        return self.assembly.carry(q, force.ravel())

    def update_internal(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Nothing to update."""
        return z

    def volume_error(self, q: np.ndarray) -> np.ndarray:
        """Of cells that keep a pressure: none."""
        return np.zeros(0)

    # Material points

    def node_points(self, nodes: Any) -> Points:
        """Nodes as material points: mask, indices or a function of the nodes."""
        chosen = self._selected("nodes", nodes)
        return Points(self, self.mesh.nodes[chosen], np.arange(len(chosen) + 1), chosen, np.ones(len(chosen)))

    def region_points(self, name: str) -> Points:
        """The frame of a rigid region, four points: its centre and the tips of its three axes."""
        frame = self.coordinates.frame_nodes(self.coordinates.region(name))
        return Points(
            self, self.coordinates.rest[frame], np.arange(len(frame) + 1), frame, np.ones(len(frame))
        )

    def move_supports(
        self, q: np.ndarray, *, rotation: Any = None, translation: Any = None, nodes: Any = None
    ) -> np.ndarray:
        """q with the fixed nodes at x = R X + t, X their rest positions; `nodes` picks some of them.

        `rotation` is a (3, 3) matrix or a scipy Rotation, `translation` (3,) [m]. Nodes held in some directions
        move in those.
        """
        chosen = self.fixed.copy()
        if nodes is not None:
            chosen &= np.isin(np.arange(len(chosen)), self._selected("nodes", nodes))[:, None]
        q = q.copy()
        np.copyto(self.positions(q), moved_rigidly(self.mesh.nodes, rotation, translation), where=chosen)
        return q

    def _selected(self, what: str, nodes: Any) -> np.ndarray:
        """Node indices of a mask, indices or a function of the nodes."""
        chosen = as_selection(what, nodes(self.mesh.nodes) if callable(nodes) else nodes)
        k = len(self.mesh.nodes)
        if chosen.dtype != bool:
            return checked_indices(what, chosen, k)
        if chosen.shape != (k,):
            raise InputError(what, expected=f"a mask of shape ({k},)", got=chosen.shape)
        return np.flatnonzero(chosen)


def checked_number(what: str, value: Any, unit: str, *, zero: bool = False) -> float:
    """A positive finite number (or zero), or an InputError."""
    if not is_number(value) or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        kind = "a number ≥ 0" if zero else "a positive number"
        raise InputError(what, expected=f"{kind}{f' [{unit}]' if unit else ''}", got=value)
    return float(value)


def per_cell(what: str, value: Any, regions: np.ndarray, unit: str, *, zero: bool = False) -> np.ndarray:
    """One number, one per region in a dictionary, or one per triangle, as (ne,)."""
    if isinstance(value, dict):
        missing = sorted(set(np.unique(regions).tolist()) - set(value))
        if missing:
            raise InputError(what, expected=f"a value for region {missing[0]}", got=sorted(value))
        value = [value[r] for r in regions.tolist()]
    if np.ndim(value) == 0:
        return np.full(len(regions), checked_number(what, value, unit, zero=zero))
    numbers = np.array([checked_number(what, v, unit, zero=zero) for v in np.asarray(value).tolist()])
    if numbers.shape != regions.shape:
        raise InputError(
            what, expected=f"one number, or one for each of {len(regions)} triangles", got=numbers.shape
        )
    return numbers


def checked_sheet(sheet: Any) -> Sheet:
    """A Sheet, or an InputError."""
    if not isinstance(sheet, Sheet):
        hint = "pl.mesh.sheet(size) makes a flat one, pl.mesh.Sheet.of(mesh.surface) one of a boundary."
        raise InputError("sheet", expected="a Sheet", got=type(sheet).__name__, hint=hint)
    return sheet


def sheet_mass(
    sheet: Sheet, thickness: np.ndarray, density: Any, strings: Sequence[Strings]
) -> np.ndarray | None:
    """Mass (k,) [kg] of the nodes: a third of each triangle's, half of each string's; None without density."""
    weighing = [s for s in strings if s.density > 0]
    if density is None and not weighing:
        return None
    masses = np.zeros(len(sheet.nodes))
    if density is not None:
        third = (
            per_cell("density", density, sheet.regions, "kg/m³", zero=True) * thickness * sheet.areas / 3.0
        )
        np.add.at(masses, sheet.cells, third[:, None])
    for part in weighing:
        masses += part.node_mass(sheet.nodes)
    return masses
