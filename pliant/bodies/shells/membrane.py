"""Membrane: a sheet that stretches but does not resist bending."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.arrays import read_only, read_only_view
from pliant.bodies.blocks import kernel
from pliant.bodies.rigid import Rigid
from pliant.bodies.scatter import lower_pairs, ordered_cells
from pliant.bodies.shells import attachment, fields
from pliant.bodies.shells.element import (
    add_geometric,
    add_tension,
    carry_plane,
    deform,
    frame_rows,
    plane_gradient,
)
from pliant.bodies.shells.law import checked_law, make_law
from pliant.bodies.shells.nodal import NodalBody, as_strings
from pliant.bodies.shells.strings import Strings
from pliant.bodies.shells.thin import checked_number, checked_sheet, per_cell, sheet_density, sheet_mass
from pliant.bodies.shells.triangle import Triangles
from pliant.errors import InputError
from pliant.materials.material import Material
from pliant.mesh.sheets import Sheet
from pliant.points import Points

_NO_ROTATIONS = read_only(np.zeros((0, 3, 3)))[0]
_NO_TURNS = np.zeros((0, 3, 3))


class MembraneGroup:
    """Triangles of one material, ready for assembly: a group of cells like those of a solid."""

    internal = 0

    def __init__(
        self,
        triangles: Triangles,
        material: Material,
        thickness: np.ndarray,
        chosen: np.ndarray,
        rank: np.ndarray,
    ) -> None:
        cells, order, first = ordered_cells(triangles.cells[chosen], rank)
        gradient = np.take_along_axis(triangles.gradient[chosen], order[:, :, None], axis=1)
        self.pairs, self.chosen, self.memory = lower_pairs(cells), chosen, 3 * len(chosen)
        self.law = make_law(material, triangles.frame[chosen], triangles.area[chosen] * thickness[chosen])
        self._cells, self._gradient, self._frame, self._first = read_only(
            cells, gradient, triangles.frame[chosen], first
        )

    def bind(self, slots: np.ndarray) -> None:
        """Slots (ne, 6) in K of the corner pairs."""
        (self._slots,) = read_only(slots)

    def posture(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Frames T (ne, 3, 3), stretches U (ne, 3) and strains (ne, 3); None if a triangle has collapsed."""
        n = len(self._cells)
        x = read_only_view(q[: 3 * (len(q) // 3)].reshape(-1, 3))
        T, U = np.empty((n, 3, 3)), np.empty((n, 3))
        if not deform(x, _NO_ROTATIONS, self._cells, self._gradient, self._frame, T, U, _NO_TURNS):
            return None
        eps = np.column_stack([U[:, 0] - 1.0, U[:, 1] - 1.0, 2.0 * U[:, 2]])
        return read_only_view(T), read_only_view(U), eps

    def assemble(self, q, z, K, f, tangent, clamp, viscous=None) -> float:
        """The energy [J], inf if a triangle has collapsed; adds to f (3n,) and, if tangent, to K (flat)."""
        posture = self.posture(q)
        if posture is None:
            return math.inf
        T, U, eps = posture
        energy, N, C = self.law.respond(eps, tangent=tangent)
        if not energy < math.inf:
            return math.inf
        C = np.empty((0, 3, 3)) if C is None else C
        if viscous is not None:
            N, C = viscous.scale * N + viscous.stress.reshape(-1, 3), viscous.scale * C
        C = read_only_view(C)
        cells = self._cells, self._gradient
        add_membrane(*cells, T, U, N, C, self._first, self._slots, K, f, tangent, clamp)
        return energy

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The elastic forces N (3 ne,) in the plane of the triangles; zero where one has collapsed."""
        posture = self.posture(q)
        if posture is None:
            return np.zeros(self.memory)
        return self.law.respond(posture[2], tangent=False)[1].ravel()


class Membrane(NodalBody):
    """A sheet without bending stiffness, three coordinates per node: for skins, balloons and drums.

    Options as those of `Shell`, but fixed (k, 3) as for a Solid, and all materials at any stretch. A membrane
    that is not taut has no stiffness out of its plane: give it some prestretch, or load it before asking for
    its compliance.
    """

    two_sided = True

    def __init__(
        self,
        sheet: Sheet,
        material: Material | Mapping[int, Material],
        thickness: float | Mapping[int, float] | np.ndarray,
        *,
        density: float | Mapping[int, float] | None = None,
        fixed: Any = None,
        rigid: Sequence[Rigid] | Rigid = (),
        strings: Sequence[Strings] | Strings = (),
        prestretch: float = 1.0,
    ) -> None:
        self.mesh = checked_sheet(sheet)
        self.material = material
        self.thickness = per_cell("thickness", thickness, sheet.regions, "m")
        self.triangles = Triangles.of(sheet, checked_number("prestretch", prestretch, ""))
        laws, bound = checked_law(material, sheet), as_strings(strings, sheet.nodes)
        coordinates = self._number(fixed, rigid)
        self.groups = [
            MembraneGroup(
                self.triangles, law, self.thickness, np.flatnonzero(sheet.regions == r), coordinates.rank
            )
            for r, law in laws.items()
        ]
        self._assemble(coordinates, self.groups, bound)
        self.density = sheet_density(sheet, density)
        self._node_mass = sheet_mass(sheet, self.thickness, self.density, bound)

    def __repr__(self) -> str:
        sizes = f"{len(self.mesh.nodes)} nodes, {len(self.mesh.cells)} triangles, {self.ndof} coordinates"
        return f"Membrane({sizes}, {1e3 * self.thickness.mean():.3g} mm thick)"

    @property
    def volume(self) -> float:
        """Volume of the material at rest [m³]."""
        return float(self.mesh.areas @ self.thickness)

    def stress(
        self, q: np.ndarray, measure: str = "cauchy", *, at: str = "cells", z: np.ndarray | None = None
    ) -> np.ndarray:
        """Stress [Pa] (ne, 3, 3) in triangles or (k, 3, 3) at nodes; "von_mises" has one number each."""
        values = None
        for group in self.groups:
            posture = group.posture(q)
            if posture is None:
                raise InputError("q", expected="triangles that have not collapsed", got="a collapsed one")
            T, U, eps = posture
            part = fields.measured(group.law.stress(eps), U, T, group.law.across(eps), measure)
            values = np.zeros((len(self.mesh.cells), *part.shape[1:])) if values is None else values
            values[group.chosen] = part
        assert values is not None
        return fields.placed(self.mesh, values, at)

    def points(self, where: Any, *, outside: str = "error", tolerance: float | None = None) -> Points:
        """Material points at rest positions (P, 3) [m] on the sheet.

        outside: "error" for points more than `tolerance` [m] (1e-6 of the size) off it, or "nearest" for the
        nearest point of the sheet.
        """
        return attachment.on_membrane(self, where, outside=outside, tolerance=tolerance)

    def half_thickness(self, points: Points) -> np.ndarray:
        """How far (P,) [m] the sheet reaches on either side of points on it, for contact."""
        return attachment.half_thickness(self, points)


@kernel
def add_membrane(cells, gradient, T, U, N, C, first, slots, K, f, tangent, clamp):
    """Add ∂E/∂x to f (3n,) [N] and, if tangent, blocks to K (flat): a shell without rotations, see `element`.

    slots (ne, 6) are those of the corner pairs (a, b ≤ a); corners before first[e] are fixed.
    """
    tau, P, H, S = np.zeros(3), np.empty((3, 2)), np.empty((6, 6)), np.zeros((6, 6))
    work, xx = np.empty((2, 2, 3, 3)), np.empty((3, 3, 3, 3))
    for e in range(len(cells)):
        c = plane_gradient(U[e], N[e], tau, P)
        for a in range(3):
            n = 3 * cells[e, a]
            for i in range(3):
                for s in range(2):
                    g = gradient[e, a, s]
                    f[n + i] += g * (T[e, i, 0] * P[0, s] + T[e, i, 1] * P[1, s] + T[e, i, 2] * P[2, s])
        if not tangent:
            continue
        for i in range(3):
            for j in range(3):
                H[i, j], H[i, 3 + j], H[3 + i, 3 + j] = C[e, i, j], 0.0, 0.0
        if clamp:
            add_tension(U[e], N[e], H)
        else:
            add_geometric(U[e], N[e], tau, c, P, H)
        frame_rows(U[e], S)
        carry_plane(e, S, H, T, gradient, work, xx)
        for a in range(first[e], 3):
            for b in range(first[e], a + 1):
                k = 9 * slots[e, (a * (a + 1)) // 2 + b]
                for i in range(3):
                    for j in range(3):
                        K[k + 3 * i + j] += xx[a, b, i, j]
