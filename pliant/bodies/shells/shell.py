"""Shell: a sheet that stretches and bends, with or without transverse shear."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.arrays import read_only
from pliant.bodies.oriented_nodes import select_fixed
from pliant.bodies.region_mass import RegionMasses
from pliant.bodies.rigid import Rigid
from pliant.bodies.shells import attachment, fields
from pliant.bodies.shells.assembly import ShellAssembly, Stiffnesses
from pliant.bodies.shells.bending import bending_stiffness
from pliant.bodies.shells.drilling import (
    drilling_factor,
    facet_rise,
    lumping_factor,
    rotation_stiffness,
    saddle_rise,
    strain_of_rotations,
)
from pliant.bodies.shells.law import checked_law, make_law, plane_moduli, shear_moduli, small_poisson
from pliant.bodies.shells.nodal import as_strings
from pliant.bodies.shells.numbering import number
from pliant.bodies.shells.shear import SHEAR_CORRECTION, shear_softness, shear_stiffness
from pliant.bodies.shells.strings import StringGroup, Strings
from pliant.bodies.shells.thin import (
    ThinBody,
    checked_number,
    checked_sheet,
    per_cell,
    sheet_density,
    sheet_mass,
)
from pliant.bodies.shells.triangle import Triangles
from pliant.bodies.shells.validity import warn_about_thickness
from pliant.errors import unknown_name
from pliant.materials.material import Material
from pliant.mesh.sheets import Sheet
from pliant.points import Points

THEORIES = ("thin", "thick")
_BENDING, _DRILLING = np.array([0, 1, 3, 4, 6, 7]), np.array([2, 5, 8])  # of the turns of three corners


class Shell(ThinBody):
    """A sheet with six coordinates per node: any rotation, moderate strain.

    sheet: its middle surface, flat or curved at rest; see `pliant.mesh.sheets`.
    material: one, or a dictionary from region to material. Hooke's law is linear in the stretch of the
    rotated triangle; other laws stretch as they should and bend with their stiffness at rest.
    thickness: h [m], one number, one per region, or one per triangle. density: ρ [kg/m³], likewise.
    fixed: nodes that are clamped: indices, a mask (k,) or a function of the nodes; a mask (k, 3) fixes
    displacements only, a mask (k, 6) any of displacements and rotations (about the axes of space at rest).
    rigid: regions that move as one, see `Rigid`.
    strings: string elements between nodes, see `Strings`.
    prestretch: how much the sheet is stretched as it lies; its stress-free shape is smaller by that factor.
    bending: scales the bending stiffness; a Membrane has none at all.
    theory: "thin" (Kirchhoff–Love: normals stay normal) or "thick" (Reissner–Mindlin: they shear, too), for
    walls thicker than a twentieth of what they span; thin sheets are the same in both. See `shear`.
    largest_strain: in the plane, up to which the triangles stay sound however thin; less (0.01 for foils) is
    more accurate on coarse meshes that are flat or gently curved, see `drilling`.
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
        bending: float = 1.0,
        theory: str = "thin",
        largest_strain: float = 0.3,
    ) -> None:
        self.mesh = self.input_mesh = checked_sheet(sheet)
        self.material = material
        self.thickness = per_cell("thickness", thickness, sheet.regions, "m")
        self.bending = checked_number("bending", bending, "")
        if theory not in THEORIES:
            raise unknown_name("theory", theory, THEORIES)
        self.theory = theory
        self.largest_strain = checked_number("largest_strain", largest_strain, "")
        self.triangles = Triangles.of(sheet, checked_number("prestretch", prestretch, ""))
        warn_about_thickness(sheet, self.triangles, self.thickness, theory)
        mask = select_fixed(fixed, sheet.nodes)
        self.fixed = mask[:, :3]
        regions = (rigid,) if isinstance(rigid, Rigid) else tuple(rigid)
        self.numbering = number(sheet, mask, regions)
        bound = as_strings(strings, sheet.nodes)
        self.strings = [StringGroup(s, sheet.nodes, np.arange(len(sheet.nodes))) for s in bound]
        self.assembly = ShellAssembly(self.numbering, self.triangles, self._stiffnesses(), self.strings)
        self.coordinates = self.assembly.coordinates
        self.region_masses = RegionMasses(regions, self.coordinates, self.assembly.pattern)
        self._share_coordinates()
        self.block_position = read_only(np.repeat(self.coordinates.region_centre, 2, axis=0))[0]
        self.density = sheet_density(sheet, density)
        self._node_mass = sheet_mass(sheet, self.thickness, self.density, bound)

    def __repr__(self) -> str:
        sizes = f"{len(self.mesh.nodes)} nodes, {len(self.mesh.cells)} triangles, {self.ndof} coordinates"
        return f"Shell({sizes}, {1e3 * self.thickness.mean():.3g} mm thick)"

    def _stiffnesses(self) -> Stiffnesses:
        triangles, h, ne = self.triangles, self.thickness, len(self.triangles)
        laws, moduli, poisson = [], np.empty((ne, 3, 3)), np.empty(ne)
        shear = np.empty((ne, 2, 2))
        for region, material in checked_law(self.material, self.mesh).items():
            chosen = np.flatnonzero(self.mesh.regions == region)
            frame = triangles.frame[chosen]
            moduli[chosen], poisson[chosen] = plane_moduli(material, frame), small_poisson(material)
            shear[chosen] = SHEAR_CORRECTION * h[chosen, None, None] * shear_moduli(material, frame)
            laws.append((make_law(material, frame, triangles.area[chosen] * h[chosen]), chosen))
        self.moduli, self.shear_rigidity = moduli, shear
        bend = self.bending * h[:, None, None] ** 3 / 12.0 * moduli
        thick = self.theory == "thick"
        self.softness = shear_softness(triangles, bend, shear) if thick else np.zeros((ne, 3))
        turning = bending_stiffness(triangles, bend, self.softness)
        if thick:
            turning += shear_stiffness(triangles, shear, self.softness)
        equivalent = h * math.sqrt(self.bending)  # thickness of a sheet with this bending stiffness
        saddle = saddle_rise(triangles, self.mesh.node_normals, equivalent)
        alpha = lumping_factor(triangles, equivalent, self.largest_strain, saddle)
        rise = facet_rise(triangles, self.mesh.node_normals, equivalent)
        drilling = rotation_stiffness(triangles, h[:, None, None] * moduli, drilling_factor(rise, poisson))
        D = np.zeros((ne, 9, 9))
        D[:, _BENDING[:, None], _BENDING] = turning
        D[:, _DRILLING[:, None], _DRILLING] = drilling
        D = D.reshape(ne, 3, 3, 3, 3).swapaxes(2, 3)  # by pairs of corners
        return Stiffnesses(laws, strain_of_rotations(triangles, alpha), D)

    def rigid_modes(self) -> int:
        """Rigid motions that supports and joints leave free; zero for a body that statics can solve alone."""
        return self.numbering.rigid_modes()

    @property
    def volume(self) -> float:
        """Volume of the material at rest [m³]."""
        return float(self.mesh.areas @ self.thickness)

    @property
    def predicted_size(self) -> int:
        """Three strains of each triangle and nine turns of its corners."""
        return self.assembly.predicted_size

    def predict(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """Strains of triangles and turns of their corners at q ⊕ dq, to first order; see `Body.predict`."""
        return self.assembly.predict(q, dq)

    def rotations(self, q: np.ndarray) -> np.ndarray:
        """Rotations (k, 3, 3) of the nodes from rest."""
        return self.assembly.rotations(q)

    def normals(self, q: np.ndarray) -> np.ndarray:
        """Normals (k, 3) of the front at the nodes: those at rest, turned with the nodes."""
        return np.einsum("nij,nj->ni", self.rotations(q), self.mesh.node_normals)

    def couples(self, q: np.ndarray) -> np.ndarray:
        """Couples (k, 3) [N·m] of the supports on the nodes, in space; zero at free nodes in equilibrium."""
        return np.einsum("nij,nj->ni", self.rotations(q), self.assembly.node_couples(q))

    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (nb, 3, 3) [kg, kg·m²]: lumped, with m h²/12 against rotation about any axis."""
        blocks = np.zeros((self.assembly.spreading.blocks, 3, 3))
        place = self.assembly.spreading.diagonal.reshape(-1, 2)
        square = np.zeros(len(self.mesh.nodes))
        np.maximum.at(square, self.mesh.cells, self.thickness[:, None] ** 2)
        blocks[place[:, 0]] += self.node_mass[:, None, None] * np.eye(3)
        blocks[place[:, 1]] += (self.node_mass * square / 12.0)[:, None, None] * np.eye(3)
        flat = blocks.ravel()
        self.assembly.spreading.project(self.q0 if q is None else q, flat)
        flat = flat[: 9 * len(self.pattern.rows)].copy()
        self.assembly.lock(flat)
        return self.region_masses.with_inertia(flat.reshape(-1, 3, 3), self.q0 if q is None else q)

    # Outputs

    def resultants(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces (ne, 3) [N/m] and moments (ne, 3) [N] per width, as (11, 22, 12) in `triangles.frame`."""
        return fields.resultants(self, q)

    def shear_forces(self, q: np.ndarray) -> np.ndarray:
        """Shear forces (ne, 2) [N/m] per width across a thick shell, as (13, 23) in `triangles.frame`."""
        return fields.shear_forces(self, q)

    def stress(
        self,
        q: np.ndarray,
        measure: str = "cauchy",
        *,
        at: str = "cells",
        side: str | None = None,
        z: np.ndarray | None = None,
    ) -> np.ndarray:
        """Stress [Pa] (ne, 3, 3) in triangles or (k, 3, 3) at nodes; "von_mises" has one number each.

        side: "front", "middle" or "back"; by default the middle for "cauchy", the worse face for "von_mises".
        Thick shells have their transverse shear in the middle, 3/2 Q/h, and none on the faces.
        """
        return fields.stress(self, q, measure, at, side)

    # Material points

    def points(self, where: Any, *, outside: str = "error", tolerance: float | None = None) -> Points:
        """Material points at rest positions (P, 3) [m], on the sheet or within its thickness.

        outside: "error" for points more than `tolerance` [m] (half the thickness, and 1e-6 of the size) off
        the sheet, or "nearest", which attaches them to the nearest triangle by a rigid arm.
        """
        return attachment.on_shell(self, where, outside=outside, tolerance=tolerance)

    def node_frame(self, node: int) -> Points:
        """The frame of a node, four points: itself and the tips of its axes; for Orientation and Motor."""
        (chosen,) = self._selected("node", node)
        frame = self.numbering.frame_nodes(self.numbering.region[chosen])
        return Points(
            self, self.coordinates.rest[frame], np.arange(len(frame) + 1), frame, np.ones(len(frame))
        )

    def half_thickness(self, points: Points) -> np.ndarray:
        """How far (P,) [m] the sheet reaches on either side of points on it, for contact."""
        return attachment.half_thickness(self, points)

    def move_supports(
        self, q: np.ndarray, *, rotation: Any = None, translation: Any = None, nodes: Any = None
    ) -> np.ndarray:
        return attachment.moved_supports(self, q, rotation, translation, nodes)

    move_supports.__doc__ = ThinBody.move_supports.__doc__
