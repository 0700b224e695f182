"""Beam: a body of rods, bent, twisted, stretched and sheared by any amount."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.arrays import read_only
from pliant.bodies import fields as solid_fields
from pliant.bodies.beams import attachment, fields, places, skin
from pliant.bodies.beams.assembly import Assembly, Ends
from pliant.bodies.beams.inertia import Inertia
from pliant.bodies.beams.numbering import number
from pliant.bodies.beams.properties import Profile, element_inertia, element_stiffness, rest_strains
from pliant.bodies.body import Linearised
from pliant.bodies.numbered import Numbered
from pliant.bodies.overstress import Overstress
from pliant.bodies.region_mass import RegionMasses
from pliant.bodies.rigid import Rigid
from pliant.bodies.support_motion import carried_regions
from pliant.bodies.supports import as_selection, checked_indices
from pliant.errors import InputError
from pliant.mesh import Mesh, Surface
from pliant.mesh.lines import Lines
from pliant.mesh.motion import moved_rigidly
from pliant.points import Points

MODELS = ("reissner", "kirchhoff")


class Beam(Numbered):
    """Geometrically exact rods (Simo–Reissner): six coordinates per node, any rotation.

    lines: where the rods are, see `pliant.mesh.lines`; they may be curved, meet in nodes and form trees.
    section: `Circle`, `Rectangle` or `Stiffness`; or a sequence, one for each element; or a function of the
    arc length [m]; or a dictionary of these by branch. material: isotropic, such as Hooke.
    density: ρ [kg/m³]; `density` (ne,) is that of the elements, None if nothing was given.
    fixed: nodes that are clamped: indices, a mask (k,) or a function of the nodes; a mask (k, 3) fixes
    displacements only, a mask (k, 6) any of displacements and rotations.
    rigid: nodes that move as one, or on a joint: Rigid([0], name="base", joint=Prismatic((0, 0, 1))).
    model: "reissner" shears, "kirchhoff" does not; both stretch.
    mesh: a mesh that the rods carry, for contact and pictures; by default bars round them with `detail` nodes
    (around, along each element), whose first nodes are those of the lines.
    carriers (n,): the elements that carry its nodes; by default the nearest.
    """

    node_fields = ("stress",)

    def __init__(
        self,
        lines: Lines,
        section: Any,
        material: Any = None,
        *,
        density: float | None = None,
        fixed: Any = None,
        rigid: Sequence[Rigid] | Rigid = (),
        model: str = "reissner",
        mesh: Mesh | None = None,
        carriers: Any = None,
        detail: tuple[int, int] = (8, 2),
    ) -> None:
        if not isinstance(lines, Lines):
            hint = "pliant.mesh.lines.line(start, end) makes a straight rod, curve(path) a curved one."
            raise InputError("lines", expected="Lines", got=type(lines).__name__, hint=hint)
        if model not in MODELS:
            raise InputError("model", expected="'reissner' or 'kirchhoff'", got=repr(model))
        self.lines, self.material, self.model = lines, material, model
        self.profile = Profile(section, lines)
        self.sections = tuple(self.profile.middles())
        self.rest_strain, L = rest_strains(lines)
        self.mesh, self.places = skin.carried(lines, L, mesh, carriers, self.profile.at, detail)
        regions = (rigid,) if isinstance(rigid, Rigid) else tuple(rigid)
        self.numbering = number(lines, self.mesh.nodes, fixed, regions)
        self.coordinates = self.numbering.coordinates
        ends = self.ends = Ends.of(self.numbering)
        C = element_stiffness(self.sections, material, L, shear=model == "reissner")
        self.element_lengths, self.element_stiffness = L, C
        self._inertia = Inertia(*ends, L, element_inertia(self.sections, density))
        self.density = None if density is None else read_only(np.full(len(L), float(density)))[0]
        weights = attachment.weights(self.numbering, L, ends.turn, self.places)
        self.assembly = Assembly(self.numbering, ends, C, self.rest_strain, self._inertia, weights)
        self.region_masses = RegionMasses(regions, self.coordinates, self.assembly.pattern)
        self.carriers = tuple(self.assembly.skin)
        self._share_coordinates()

    def __repr__(self) -> str:
        sizes = f"{len(self.lines.nodes)} nodes, {len(self.lines.elements)} elements, {self.ndof} coordinates"
        return f"Beam({self.model}, {sizes})"

    # Coordinates

    @property
    def element(self) -> str:
        """The kind of its elements, in a word; the cells of the mesh that it carries are something else."""
        return "beam"

    @property
    def surface(self) -> Surface:
        """The skin of the carried mesh."""
        return self.mesh.surface

    def pose(self, q: np.ndarray, region: str | int) -> tuple[np.ndarray, np.ndarray]:
        """Rotation from rest (3, 3) and centre (3,) [m] of a node, or of a rigid region by name."""
        r = self.numbering.region(region)
        pose = self._poses(q)[r]
        return pose[3:].reshape(3, 3) @ self.region_frame[r].T, pose[:3].copy()

    def turned(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq of the poses of regions only: the carried mesh stays as it is."""
        return self.assembly.turned(q, dq)

    def _poses(self, q: np.ndarray) -> np.ndarray:
        """t and R (m, 12) of the regions, a view of q."""
        return q[self.coordinates.pose :].reshape(-1, 12)

    def move_supports(
        self, q: np.ndarray, *, rotation: Any = None, translation: Any = None, nodes: Any = None
    ) -> np.ndarray:
        """q with the supports at x = R X + t and turned by R from rest; `nodes` picks some of them.

        Supports are clamped and pinned nodes, and regions on a hinge or a ball, whose axes turn along.
        """
        chosen = np.ones(len(self.region_block), bool)
        if nodes is not None:
            picked = checked_indices("nodes", as_selection("nodes", nodes), len(self.lines.nodes))
            chosen = np.isin(np.arange(len(chosen)), self.numbering.node_region[picked])
        moved = carried_regions(self, chosen)
        turned = moved & (~self.free.reshape(-1, 6)[:, 3:]).any(axis=1)
        c, q = self.coordinates, q.copy()
        centre = moved_rigidly(c.region_centre, rotation, translation)
        turn = moved_rigidly(np.eye(3), rotation, None).T
        poses = self._poses(q)
        poses[moved, :3] = centre[moved]
        poses[turned, 3:] = (turn @ c.region_frame[turned]).reshape(-1, 9)
        self.assembly.follow(q)
        return q

    def rigid_modes(self) -> int:
        """Rigid motions that supports and joints leave free; zero for a body that statics can solve alone."""
        return self.numbering.rigid_modes()

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

        (inf, None, None) if the ends of an element are turned by more than 3 rad to each other. clamp=True
        leaves the geometric stiffness out of K; otherwise it is that of the section forces `predicted`, or of
        those at q. r stays exact. `viscous`: what the section forces are besides, see `Overstress`.
        """
        gravity = np.asarray(gravity, float)
        given = {"tangent": tangent, "clamp": clamp, "predicted": predicted, "viscous": viscous}
        found = self.assembly.linearise(q, gravity, **given)
        return self.region_masses.loaded(found, q, gravity, clamp=clamp)

    def stress_memory(self, q: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
        """The elastic section forces (6 ne,) [N, N·m] of elements that are not rigid."""
        return self.assembly.section_forces(q)

    @property
    def predicted_size(self) -> int:
        """Six section forces for each element that is not rigid."""
        return self.assembly.predicted_size

    def predict(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """Section forces C (ε + ∂ε/∂dq dq − ε₀) [N, N·m] at q ⊕ dq, to first order; see `Body.predict`."""
        return self.assembly.predict(q, dq)

    def reactions(self, q: np.ndarray, gravity: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Force [N] and couple [N·m] (m, 6) of the supports on each region, in the axes of space.

        They are zero on free regions in equilibrium.
        """
        gravity = np.asarray(gravity, float)
        g = self.assembly.gradient(q, gravity).reshape(-1, 6)
        for part in self.region_masses.every:
            g.reshape(-1)[part.span] -= part.weight(q, gravity)[1]
        R = self._poses(q)[:, 3:].reshape(-1, 3, 3)
        return np.hstack(
            [np.einsum("rij,rj->ri", self.region_frame, g[:, :3]), np.einsum("rij,rj->ri", R, g[:, 3:])]
        )

    def elastic_stiffness(self, q: np.ndarray) -> np.ndarray:
        """K on the pattern (nb, 3, 3) without its geometric part: never negative.

        Damping may be proportional to it. Compressed rods have a negative geometric stiffness; damping in
        proportion to that would feed energy.
        """
        K = self.linearise(q, np.zeros(3), clamp=True)[2]
        return np.zeros((len(self.pattern.rows), 3, 3)) if K is None else K

    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (nb, 3, 3): consistent, with the inertia of the sections; at rest without q."""
        q = self.q0 if q is None else q
        return self.region_masses.with_inertia(self.assembly.mass(q), q)

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (ndof,) [N, N·m] of M v̇ + c = r: what turning sections pull; None where nothing turns."""
        return self.region_masses.with_gyroscopic(self.assembly.gyroscopic(q, v), q, v)

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self._inertia.total + self.region_masses.total

    # Outputs

    def strain(self, q: np.ndarray) -> np.ndarray:
        """Strains (ne, 6), less those at rest: stretch, two shears, twist [1/m], two curvatures [1/m]."""
        return fields.strain(self, q)

    def section_forces(self, q: np.ndarray) -> np.ndarray:
        """(ne, 6) in the section's axes: tension, two shear forces [N], torque, two bending moments [N·m]."""
        return fields.section_forces(self, q)

    def stress(
        self, q: np.ndarray, measure: str = "von_mises", *, at: str = "nodes", z: np.ndarray | None = None
    ) -> np.ndarray:
        """von Mises stress (n,) [Pa] of beam theory at the nodes of the mesh; 0 for given stiffnesses."""
        return fields.stress(self, q, measure, at)

    def deformation_gradient(self, q: np.ndarray) -> np.ndarray:
        """F (ncells, nq, 3, 3) of the carried mesh, at the quadrature points of its cells."""
        return solid_fields.deformation_gradient(self.mesh, self.positions(q))

    # Material points

    def points(self, where: Any, *, outside: str = "error", branch: int | None = None) -> Points:
        """Material points at rest positions (P, 3) [m], each on the section of the nearest point of the axis.

        Sections extend without limit: `outside`, which other bodies need, makes no difference here.
        """
        return self._attach(*places.near(self.lines, self.element_lengths, where, branch))

    def at(self, arc: Any, *, branch: int = 0, offset: Any = (0.0, 0.0)) -> Points:
        """Points at arc lengths (P,) [m] of a branch, `offset` (2,) or (P, 2) [m] along y and z across it."""
        where = places.along(self.lines, arc, branch, offset)
        return self._attach(places.rest_position(self.lines, self.element_lengths, where), where)

    def region_points(self, region: str | int) -> Points:
        """The frame of a node, or of a rigid region by name: its centre and the tips of its three axes."""
        nodes = self.numbering.frames[self.numbering.region(region)]
        return Points(self, self.coordinates.rest[nodes], np.arange(5), nodes, np.ones(4))

    def attached_points(self, region: str | int, where: Any) -> Points:
        """Points at rest positions (P, 3) [m] that move with a node, or with a rigid region by name."""
        return attachment.on_region(self, self.numbering, self.numbering.region(region), where)

    def centreline(
        self, spacing: float | None = None, *, branch: int | None = None
    ) -> tuple[Points, np.ndarray]:
        """Points along the rods no farther apart than `spacing` [m], and the radius (P,) [m] of the rods.

        By default these are the nodes and the middles between them. `Samples.around(*beam.centreline())` are
        contact samples of a rod.
        """
        where = places.centreline(self.lines, self.element_lengths, spacing, branch)
        reach = [self.profile.at(int(e), float(s)).reach for e, s in zip(where.element, where.share)]
        rest = places.rest_position(self.lines, self.element_lengths, where)
        return self._attach(rest, where), np.array(reach)

    def joined(self, points: Points) -> np.ndarray:
        """Pairs (m, 2) of points that are neighbours on the axis of a branch, by number."""
        return places.neighbours(self.lines, self.element_lengths, points.rest)

    def _attach(self, rest: np.ndarray, where: places.Places) -> Points:
        sums = attachment.weights(self.numbering, self.element_lengths, self.ends.turn, where)
        return Points(self, rest, sums.ptr, sums.index, sums.weight)
