"""Solid: a body of volume elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pliant.arrays import read_only
from pliant.bodies import fields
from pliant.bodies.assembly import Assembly
from pliant.bodies.body import Linearised
from pliant.bodies.coordinates import FRAME_NODES, number
from pliant.bodies.fibres.fibres import FibreGroup, Fibres, as_fibres
from pliant.bodies.groups import make_groups
from pliant.bodies.inputs import checked_material, elevated
from pliant.bodies.location import LEAST_WEIGHT, checked_points, locate
from pliant.bodies.mass import Mass
from pliant.bodies.numbered import Numbered
from pliant.bodies.overstress import Overstress
from pliant.bodies.poor_elements import warn_where_poor
from pliant.bodies.region_mass import RegionMasses
from pliant.bodies.rigid import Rigid
from pliant.bodies.scatter import pattern_of
from pliant.bodies.support_layers import with_support_layers
from pliant.bodies.support_motion import refuse_joints
from pliant.bodies.supports import (
    as_selection,
    checked_indices,
    count_rigid_modes,
    select_nodes,
)
from pliant.errors import InputError
from pliant.materials.material import Material
from pliant.mesh import Mesh
from pliant.mesh.motion import moved_rigidly
from pliant.points import Points


class Solid(Numbered):
    """A deformable body of volume elements.

    mesh: tetrahedra are given mid nodes unless order=1 (`input_mesh` is what was given, `mesh` what is
    used); hexahedra of eight nodes stay so, with modes of their own that let them bend and keep their volume,
    and with thin layers behind fixed faces (see support_layers); tet10 and hex20 meshes are used as they are.
    material: one, or a dictionary from region number to material.
    density: ρ [kg/m³] or one per region; or nodal_mass (k,) [kg] on the nodes of the given mesh.
    fixed: nodes that do not move: mask (k,), mask (k, 3) of fixed components, indices, or a function of the
    nodes (k, 3).
    rigid: regions that move as one, see `Rigid`.
    mass: "consistent" or "lumped"; None takes consistent for quadratic cells and lumped for linear ones.
    split: the part of the volumetric energy that makes cells lock acts on their mean dilatation; None
    leaves out hex20, which does not lock.
    quadrature: degree to integrate exactly, None for the element's own.
    incompatible_modes: for eight-node hexahedra; False takes 2×2×2 points with the split, which bend stiffly.
    support_layers: hexahedra of a slender body that are deep at a fixed face are cut behind it from ν = 0.35,
    as the section cannot contract there; nodes and cells that were given keep their numbers. False leaves the
    mesh as it is, without a warning.
    fibres: threads that are glued to it, see `Fibres`.
    """

    node_fields = ("stress", "strain")

    def __init__(
        self,
        mesh: Mesh,
        material: Material | Mapping[int, Material],
        *,
        density: float | Mapping[int, float] | None = None,
        nodal_mass: Any = None,
        fixed: Any = None,
        order: int = 2,
        rigid: Sequence[Rigid] | Rigid = (),
        mass: str | None = None,
        split: bool | None = None,
        quadrature: int | None = None,
        incompatible_modes: bool = True,
        support_layers: bool = True,
        fibres: Sequence[Fibres] | Fibres = (),
    ) -> None:
        self.input_mesh, self.mesh = mesh, elevated(mesh, order)
        self.may_fold = self.mesh.kind == "hex20" and (quadrature is None or quadrature < 4)
        self.material = checked_material(material, self.mesh)
        self.fixed = select_nodes("fixed", fixed, mesh, self.mesh)
        self.support_layers = support_layers
        if support_layers and incompatible_modes:
            self.mesh = with_support_layers(self.mesh, self.material, self.fixed)
            self.fixed = select_nodes("fixed", self.fixed[: len(mesh.nodes)], mesh, self.mesh)
        regions = (rigid,) if isinstance(rigid, Rigid) else tuple(rigid)
        warn_where_poor(self.mesh, self.material, self.fixed, supports=support_layers)
        self.coordinates = number(self.mesh, mesh, self.fixed, regions)
        self._mass = Mass(mesh, self.mesh, density, nodal_mass, mass)
        groups = make_groups(
            self.mesh,
            self.material,
            self.coordinates,
            split=self.mesh.kind != "hex20" if split is None else split,
            incompatible_modes=incompatible_modes,
            degree=quadrature,
        )
        self.fibres = [FibreGroup(one, self.mesh, self.coordinates.rank) for one in as_fibres(fibres)]
        pattern = pattern_of(self.mesh.cells, self.coordinates, *(group.pairs for group in self.fibres))
        self.assembly = Assembly(groups, self.coordinates, pattern, self.fibres)
        self._mass.bind(self.assembly)
        self.region_masses = RegionMasses(regions, self.coordinates, pattern)
        self._load = np.zeros(len(self.coordinates.rest))
        self._load[: len(self.mesh.nodes)] = self._mass.load
        self._rest = self.coordinates.rest.ravel()
        self._share_coordinates()

    def __repr__(self) -> str:
        sizes = f"{len(self.mesh.nodes)} nodes, {len(self.mesh.cells)} cells, {self.ndof} coordinates"
        return f"Solid({self.mesh.kind}, {sizes})"

    # Coordinates

    @cached_property
    def z0(self) -> np.ndarray:
        """Internal variables at rest, material by material.

        A pressure [Pa] for each cell of an incompressible one, then the largest energy [J/m³] so far for each
        quadrature point of one that softens.
        """
        return read_only(np.zeros(self.assembly.internal))[0]

    def move_supports(
        self, q: np.ndarray, *, rotation: Any = None, translation: Any = None, nodes: Any = None
    ) -> np.ndarray:
        """q with the fixed nodes at x = R X + t, X their rest positions; `nodes` picks some of them.

        `rotation` is a (3, 3) matrix or a scipy Rotation, `translation` (3,) [m]. Rollers move in their
        fixed components.
        """
        chosen = None if nodes is None else select_nodes("nodes", nodes, self.input_mesh, self.mesh)
        refuse_joints(self, None if chosen is None else np.asarray(chosen.any(axis=1)))
        moved = moved_rigidly(self.mesh.nodes, rotation, translation)
        q = q.copy()
        np.copyto(self.positions(q), moved, where=self.fixed if chosen is None else self.fixed & chosen)
        return q

    def rigid_modes(self) -> int:
        """Rigid motions that supports and joints leave free; zero for a body that statics can solve alone."""
        return count_rigid_modes(self.mesh, self.coordinates, self.fixed)

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
        """Energy [J], r = f_ext − f_int (ndof,) [N] and K = −∂r/∂dq (nb, 3, 3).

        (inf, None, None) if q is inadmissible. The energy is elastic, less the work of gravity (3,) [m/s²]
        since rest. clamp=True limits the terms of K that can make it indefinite; r stays exact. `viscous` is
        what a viscoelastic material adds to its stress during a step in time.
        """
        external = self.weight(gravity).ravel()
        z = self.z0 if z is None else z
        energy, r, K = self.assembly.linearise(q, z, external, tangent=tangent, clamp=clamp, viscous=viscous)
        found = energy - float(external @ (q[: len(external)] - self._rest)), r, K
        return self.region_masses.loaded(found, q, gravity, clamp=clamp)

    def stress_memory(self, q: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
        """The elastic stress at q as a viscous material remembers it, (m,) [Pa]; see `Overstress`."""
        return self.assembly.stress_memory(q, self.z0 if z is None else z)

    def weight(self, gravity: Any) -> np.ndarray:
        """Forces of gravity (3,) [m/s²] on the nodes (n, 3) [N]; their first k are the mesh's."""
        gravity = np.asarray(gravity, float)
        if gravity.any():
            self._mass.check()
        return self._load[:, None] * gravity

    def reactions(
        self, q: np.ndarray, gravity: Any = (0.0, 0.0, 0.0), z: np.ndarray | None = None
    ) -> np.ndarray:
        """Forces (k, 3) [N] of the supports on the nodes of the mesh; zero at free nodes in equilibrium."""
        internal = self.assembly.node_forces(q, self.z0 if z is None else z).reshape(-1, 3)
        return (internal - self.weight(gravity))[: len(self.mesh.nodes)]

    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (nb, 3, 3) [kg], at rest unless q says how rigid regions are turned."""
        q = self.q0 if q is None else q
        return self.region_masses.with_inertia(self._mass.matrix(q), q)

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N] of M v̇ + c = r: what turning rigid regions pull; None where nothing turns."""
        return self.region_masses.with_gyroscopic(self._mass.gyroscopic(q, v), q, v)

    def node_masses(self) -> Any:
        """M of the nodes of the mesh, fixed ones too, as a sparse array (k, k) [kg], equal along all axes."""
        self._mass.check()
        return self._mass.of_nodes()

    @property
    def density(self) -> np.ndarray | None:
        """ρ (ne,) [kg/m³] of the cells; None where nodal masses say what it weighs, or nothing does."""
        return self._mass.density

    @property
    def weighs(self) -> bool:
        """Whether anything says what it weighs: a density, or nodal masses."""
        return self._mass.known

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self._mass.total + self.region_masses.total

    @property
    def node_mass(self) -> np.ndarray:
        """Mass (k,) [kg] that gravity acts on at each node; corners of quadratic cells may be negative."""
        return self._mass.load

    # Materials with internal variables

    @cached_property
    def softens(self) -> bool:
        """Whether a material remembers the largest energy it has seen, see `materials.Mullins`."""
        return any(group.internal > group.pressures for group in self.assembly.groups)

    def arrived(self, q: np.ndarray | None, z: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Internal variables with the largest energies of those so far, `before` and, if given, at q."""
        if not self.softens:
            return z
        z = np.where(self.assembly.largest, np.maximum(z, before), z)
        return z if q is None else self.assembly.arrived(q, z)

    def update_internal(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Pressures after the augmented-Lagrangian update p ← p + κ(ϑ̄ − 1)."""
        return self.assembly.update_internal(q, z)

    @property
    def penalty(self) -> float:
        """κ [Pa], the largest of the materials; zero unless one is incompressible."""
        return max((group.material.penalty for group in self.assembly.groups), default=0.0)

    def volume_error(self, q: np.ndarray) -> np.ndarray:
        """ϑ̄ − 1 of each cell of an incompressible material, in the order of z."""
        return self.assembly.volume_error(q)

    # Outputs

    def deformation_gradient(self, q: np.ndarray) -> np.ndarray:
        """F (ne, nq, 3, 3) at the quadrature points of all cells."""
        return fields.deformation_gradient(self.mesh, self.positions(q))

    def stress(
        self, q: np.ndarray, measure: str = "cauchy", *, at: str = "cells", z: np.ndarray | None = None
    ) -> np.ndarray:
        """Stress [Pa] (ne, 3, 3) in cells or (k, 3, 3) at nodes; "von_mises" has one number each.

        measure: "cauchy", "pk1", "pk2" or "von_mises". Cells within a rigid region have none.
        """
        return fields.stress(self.assembly, self.mesh, q, self.z0 if z is None else z, measure, at)

    def strain(self, q: np.ndarray, measure: str = "green", *, at: str = "cells") -> np.ndarray:
        """Strain (ne, 3, 3) in cells or (k, 3, 3) at nodes; measure "green", "small" or "hencky"."""
        return fields.strain(self.assembly, self.mesh, q, measure, at)

    def fibre_tension(self, q: np.ndarray) -> np.ndarray:
        """Tension (n,) [N] of every string of its fibres, thread after thread; zero in slack ones."""
        x = self.positions(q)
        return np.concatenate([np.zeros(0), *(group.tension(x) for group in self.fibres)])

    def fibre_paths(self, q: np.ndarray) -> list[np.ndarray]:
        """Where the points of each thread of its fibres are, (P, 3) [m]."""
        x = self.positions(q)
        return [path for group in self.fibres for path in group.paths(x)]

    # Material points

    def points(self, where: Any, *, outside: str = "error", tolerance: float | None = None) -> Points:
        """Material points at rest positions (P, 3) [m].

        outside: "error" for points more than `tolerance` [m] (1e-6 of the size) off the mesh, or "nearest",
        which extends the cell whose centre is nearest.
        """
        rest = checked_points(where)
        location = locate(self.mesh, rest, outside=outside, tolerance=tolerance)
        keep = np.abs(location.weights) > LEAST_WEIGHT  # a point on a face or an edge hangs on few nodes
        ptr = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
        return Points(self, rest, ptr, self.mesh.cells[location.cells][keep], location.weights[keep])

    def node_points(self, nodes: Any) -> Points:
        """Nodes as material points: mask, indices or a function of the nodes.

        A mask on the mesh that was given leaves the mid nodes out that it lacks.
        """
        chosen = as_selection("nodes", nodes(self.mesh.nodes) if callable(nodes) else nodes)
        k, given = len(self.mesh.nodes), len(self.input_mesh.nodes)
        if chosen.dtype != bool:
            return self._at_nodes(checked_indices("nodes", chosen, k))
        if chosen.shape not in ((k,), (given,)):
            raise InputError("nodes", expected=f"a mask of shape ({given},) or ({k},)", got=chosen.shape)
        return self._at_nodes(np.flatnonzero(chosen))

    def region_points(self, name: str) -> Points:
        """The frame of a rigid region, four points: its centre and the tips of its three axes."""
        return self._at_nodes(self.coordinates.frame_nodes(self.coordinates.region(name)))

    def attached_points(self, name: str, where: Any) -> Points:
        """Points at rest positions (P, 3) [m], inside the mesh or not, that move with a rigid region.

        They are affine in its frame nodes.
        """
        rest = checked_points(where)
        frame = self.coordinates.frame_nodes(self.coordinates.region(name))
        corners = np.vstack([self.coordinates.rest[frame].T, np.ones(FRAME_NODES)])
        weights = np.linalg.solve(corners, np.vstack([rest.T, np.ones(len(rest))])).T
        ptr = FRAME_NODES * np.arange(len(rest) + 1)
        return Points(self, rest, ptr, np.tile(frame, len(rest)), weights.ravel())

    def _at_nodes(self, nodes: np.ndarray) -> Points:
        rest, ptr = self.coordinates.rest[nodes], np.arange(len(nodes) + 1)
        return Points(self, rest, ptr, nodes, np.ones(len(nodes)))
