"""What shells, membranes and nets have in common as bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.bodies.body import Linearised
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.mass import DENSEST
from pliant.bodies.numbered import Numbered
from pliant.bodies.overstress import Overstress
from pliant.bodies.region_mass import RegionMasses
from pliant.bodies.shells.strings import Strings
from pliant.bodies.support_motion import refuse_joints
from pliant.errors import InputError, is_number
from pliant.mesh.motion import moved_rigidly
from pliant.mesh.sheets import Sheet
from pliant.points import Points


class Equations(Protocol):
    """From q to energy, residual and tangent; see `pliant.bodies.assembly`."""

    coordinates: Coordinates
    pattern: Pattern

    def linearise(
        self, q: np.ndarray, z: np.ndarray, external: np.ndarray, *, tangent: bool, clamp: bool, **given: Any
    ) -> Linearised: ...
    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray: ...
    def node_forces(self, q: np.ndarray, z: np.ndarray) -> np.ndarray: ...
    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray: ...
    def carry(self, q: np.ndarray, forces: np.ndarray) -> np.ndarray: ...


class ThinBody(Numbered):
    """A body without volume elements: coordinates, forces, supports and points at nodes.

    A subclass also makes `fixed` (k, 3), `density` (ne,) [kg/m³] and `_node_mass` (k,) [kg], None if nothing
    says what it weighs.
    """

    node_fields = ("stress",)
    fixed: np.ndarray
    density: np.ndarray | None = None
    region_masses: RegionMasses
    _node_mass: np.ndarray | None

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
        """Energy [J], r = f_ext − f_int (ndof,) [N, N·m] and K = −∂r/∂dq (nb, 3, 3).

        (inf, None, None) if q is inadmissible. The energy is elastic, less the work of gravity (3,) [m/s²]
        since rest. clamp=True leaves out the terms of K that can make it indefinite; otherwise the geometric
        stiffness is that of the strains `predicted`, or of those at q. r stays exact. `viscous`: what the
        stress is besides, see `Overstress`.
        """
        external = self.weight(gravity).ravel()
        given = {"tangent": tangent, "clamp": clamp, "viscous": viscous}
        if self.predicted_size:
            given["predicted"] = predicted
        energy, r, K = self.assembly.linearise(q, self.z0, external, **given)
        found = energy - float(external @ (q[: len(external)] - self.q0[: len(external)])), r, K
        return self.region_masses.loaded(found, q, gravity, clamp=clamp)

    def stress_memory(self, q: np.ndarray, z: np.ndarray | None = None) -> np.ndarray | None:
        """The elastic stress as a viscous material remembers it; None if there are only strings."""
        memory = self.assembly.stress_memory(q, self.z0)
        return memory if len(memory) else None

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
        return float(self.node_mass.sum()) + self.region_masses.total

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N] of M v̇ + c = r: what turning rigid regions pull; None where nothing turns."""
        c, k = self.coordinates, len(self.mesh.nodes)
        rigid = np.flatnonzero(c.node_region[:k] >= 0)
        region = c.node_region[rigid]
        spin = v[3 * c.region_block[region, None] + 3 + np.arange(3)]
        if not spin.any():
            return self.region_masses.with_gyroscopic(None, q, v)
        R = q[c.pose : c.pose + 12 * len(c.region_block)].reshape(-1, 12)[region, 3:].reshape(-1, 3, 3)
        inward = np.cross(spin, np.cross(spin, c.node_arm[rigid]))
        force = np.zeros((len(c.rest), 3))
        force[rigid] = self.node_mass[rigid, None] * np.einsum("nij,nj->ni", R, inward)
        return self.region_masses.with_gyroscopic(self.assembly.carry(q, force.ravel()), q, v)

    # Material points

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

        `rotation` is a (3, 3) matrix or a scipy Rotation, `translation` (3,) [m]. Nodes that are fixed in
        some directions move in those.
        """
        chosen, picked = self.fixed.copy(), None
        if nodes is not None:
            picked = np.isin(np.arange(len(chosen)), self._selected("nodes", nodes))
            chosen &= picked[:, None]
        refuse_joints(self, picked)
        q = q.copy()
        np.copyto(self.positions(q), moved_rigidly(self.mesh.nodes, rotation, translation), where=chosen)
        return q


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


def sheet_density(sheet: Sheet, density: Any) -> np.ndarray | None:
    """ρ (ne,) [kg/m³] of the triangles; None if nothing is given."""
    if density is None:
        return None
    of_cells = per_cell("density", density, sheet.regions, "kg/m³", zero=True)
    if of_cells.max(initial=0.0) > DENSEST:
        raise InputError("density", expected=f"a number from 0 to {DENSEST:g} [kg/m³]", got=density)
    return of_cells


def sheet_mass(
    sheet: Sheet, thickness: np.ndarray, density: np.ndarray | None, strings: Sequence[Strings]
) -> np.ndarray | None:
    """Mass (k,) [kg] of the nodes: a third of each triangle, half of each string; None without density."""
    weighing = [s for s in strings if s.density > 0]
    if density is None and not weighing:
        return None
    masses = np.zeros(len(sheet.nodes))
    if density is not None:
        third = density * thickness * sheet.areas / 3.0
        np.add.at(masses, sheet.cells, third[:, None])
    for part in weighing:
        masses += part.node_mass(sheet.nodes)
    return masses
