"""RigidBody: a body that does not deform."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.arrays import read_only
from pliant.bodies.body import Linearised
from pliant.bodies.coordinates import number
from pliant.bodies.mass_properties import MassProperties
from pliant.bodies.numbered import Numbered
from pliant.bodies.overstress import Overstress
from pliant.bodies.projection import move_regions
from pliant.bodies.region_mass import RegionMass
from pliant.bodies.rigid import Joint, Rigid
from pliant.bodies.supports import rank_of_supports
from pliant.errors import InputError
from pliant.mesh import Mesh, Sheet
from pliant.mesh.motion import moved_rigidly
from pliant.points import Points

REGION = "body"  # the name of the one rigid region that the whole body is


class RigidBody(Numbered):
    """A body that moves as one: six coordinates, or those that its joint leaves.

    mesh: its shape, for contact, pictures and mass: a closed `Sheet` of triangles, or a volume mesh.
    density: ρ [kg/m³], from which mass, centre and inertia follow; or mass: [kg], in the same shape unless
    centre: the centre of mass (3,) [m] and inertia: (3, 3), or three moments [kg·m²], about the centre of
    mass in the axes of space at rest, say otherwise.
    joint: Hinge, Prismatic or Ball, to the world; None: it is free. fixed: it never moves.
    It turns about its joint, or about its centre of mass: point a of it is at x = t + R a.
    """

    node_fields = ("stress", "strain")

    def __init__(
        self,
        mesh: Mesh | Sheet,
        *,
        density: float | None = None,
        mass: float | None = None,
        centre: Any = None,
        inertia: Any = None,
        joint: Joint | None = None,
        fixed: bool = False,
    ) -> None:
        if not isinstance(mesh, (Mesh, Sheet)):
            hint = "pl.mesh.sphere_sheet(0.01), pl.mesh.box(…) or pl.mesh.read_sheet(file) make one."
            got = type(mesh).__name__
            raise InputError("mesh of a RigidBody", expected="a Mesh or a closed Sheet", got=got, hint=hint)
        if joint is not None and not isinstance(joint, Joint):
            got = type(joint).__name__
            raise InputError("joint of a RigidBody", expected="Hinge, Prismatic or Ball", got=got)
        if fixed and joint is not None:
            raise InputError("RigidBody", expected="a joint or fixed=True", got="both")
        self.mesh = self.input_mesh = mesh
        self.properties = MassProperties.of(mesh.surface, density, mass, centre, inertia)
        hinged = joint is not None and joint.origin() is not None
        origin = None if hinged else self.properties.centre.tolist()
        nodes = np.arange(len(mesh.nodes))
        whole = Rigid(nodes, name=REGION, centre=origin, joint=_Fixed() if fixed else joint)
        self.coordinates = number(mesh, mesh, np.zeros((len(nodes), 3), bool), [whole])  # pyright: ignore
        self._share_coordinates()
        self.assembly = _Motion(self)

    def __repr__(self) -> str:
        motions = int(np.asarray(self.free).sum())
        return f"RigidBody({len(self.mesh.nodes)} nodes, {self.total_mass:.3g} kg, {motions} free motions)"

    # Coordinates

    @property
    def element(self) -> str:
        """The kind of its elements, in a word."""
        return "rigid"

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.properties.mass

    def pose(self, q: np.ndarray, region: str = REGION) -> tuple[np.ndarray, np.ndarray]:
        """Rotation from rest (3, 3), and where the point is (3,) [m] that it turns about."""
        return super().pose(q, region)

    def placed(self, *, rotation: Any = None, translation: Any = None) -> np.ndarray:
        """q of the body moved rigidly from rest, x = R X + t; a joint or fixed=True does not hold it back."""
        c, q = self.coordinates, np.array(self.q0)
        turn = moved_rigidly(np.eye(3), rotation, None).T
        q[: c.pose] = moved_rigidly(c.rest, rotation, translation).ravel()
        q[c.pose : c.pose + 3] = moved_rigidly(c.region_centre, rotation, translation)[0]
        q[c.pose + 3 :] = (turn @ c.region_frame[0]).ravel()
        return q

    def rigid_modes(self) -> int:
        """How many of its motions no joint prevents."""
        return 6 - rank_of_supports(np.eye(6)[~np.asarray(self.free)])

    def deformation_gradient(self, q: np.ndarray) -> np.ndarray:
        """F (cells, 1, 3, 3) of its mesh: the rotation from rest everywhere."""
        return np.broadcast_to(self.pose(q)[0], (len(self.mesh.cells), 1, 3, 3))

    def strain(self, q: np.ndarray, measure: str = "green", *, at: str = "nodes") -> np.ndarray:
        """Strain (k, 3, 3) at the nodes: none."""
        return np.zeros((len(self.mesh.nodes), 3, 3))

    def stress(
        self, q: np.ndarray, measure: str = "von_mises", *, at: str = "nodes", z: np.ndarray | None = None
    ) -> np.ndarray:
        """von Mises stress (k,) [Pa] at the nodes: zero, as nothing is known of what it carries inside."""
        return np.zeros(len(self.mesh.nodes))

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
        """Energy −g·m(x_c − x_c at rest) [J], its r (6,) [N, N·m], and K (3, 3, 3): zero but for the weight.

        Where the body turns about another point than its centre of mass, at an arm b,
        K_ωω = m (Rᵀg·b I − ½(Rᵀg bᵀ + b gᵀR)). clamp=True leaves that out.
        """
        return self.assembly.linearise(q, np.asarray(gravity, float), tangent=tangent, clamp=clamp)

    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (3, 3, 3): m, the first moment, and the inertia about what it turns about."""
        return self.assembly.mass(self.q0 if q is None else q)

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (6,) of M v̇ + c = r: ω × Jω, and what swings a centre of mass off the turning point."""
        return self.assembly.gyroscopic(q, v)

    def momentum(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Momentum (3,) [kg·m/s] and angular momentum about the origin of space (3,) [kg·m²/s]."""
        c = self.coordinates
        R = q[c.pose + 3 :].reshape(3, 3)
        p = self.pattern.to_csr(self.mass(q)) @ np.where(self.free, v, 0.0)
        linear = c.region_frame[0] @ p[:3]
        return linear, R @ p[3:] + np.cross(q[c.pose : c.pose + 3], linear)

    # Material points

    def points(self, where: Any, *, outside: str = "error") -> Points:
        """Material points at rest positions (P, 3) [m], also off it: `outside` makes no difference here."""
        x = np.atleast_2d(np.asarray(where, float))
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError("points of a RigidBody", expected="finite positions (P, 3) [m]", got=repr(where))
        frame = self.coordinates.frame_nodes(0)
        share = (x - self.coordinates.region_centre[0]) @ self.region_frame[0]
        share /= self.coordinates.node_arm[frame[1], 0]
        weight = np.column_stack([1.0 - share.sum(axis=1), share])
        return Points(self, x, 4 * np.arange(len(x) + 1), np.tile(frame, len(x)), weight.ravel())

    def region_points(self, region: str = REGION) -> Points:
        """Its frame: what it turns about, and the tips of its three axes."""
        frame = self.coordinates.frame_nodes(self.coordinates.region(region))
        return Points(self, self.coordinates.rest[frame], np.arange(5), frame, np.ones(4))

    def attached_points(self, region: str, where: Any) -> Points:
        """As `points`: all of it moves with its one region."""
        self.coordinates.region(region)
        return self.points(where)


class _Fixed(Joint):
    """Nothing moves."""

    free = (False,) * 6


class _Motion:
    """Motion and inertia of the one region, with locked coordinates taken out."""

    def __init__(self, body: RigidBody) -> None:
        c = self.coordinates = body.coordinates
        self.pattern = Pattern.from_pairs(2, [0, 1, 1], [0, 0, 1])
        self._regions = (*read_only(c.region_frame, c.node_region, c.node_arm, c.rigid_nodes),)
        self._free = np.asarray(c.free)
        arm, inertia = body.properties.about(c.region_centre[0], c.region_frame[0])
        self.content = RegionMass(c, 0, body.properties.mass, arm, inertia)

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq; locked coordinates stay."""
        q = q.copy()
        change = np.ascontiguousarray(np.where(self._free, dq, 0.0))
        move_regions(q, self.coordinates.pose, *self._regions, change)
        return q

    def linearise(self, q: np.ndarray, gravity: np.ndarray, *, tangent: bool, clamp: bool) -> Linearised:
        """Energy, r and K of the weight."""
        energy, r, turn = self.content.weight(q, gravity)
        none = np.zeros((3, 3))
        K = self._locked(none, none, none if clamp else turn) if tangent else None
        return energy, np.where(self._free, r, 0.0), K

    def mass(self, q: np.ndarray) -> np.ndarray:
        """M on the pattern (3, 3, 3)."""
        return self._locked(*self.content.blocks(q))

    def gyroscopic(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c(q, v) (6,), zero where locked; None where nothing turns."""
        spin = np.where(self._free, v, 0.0)[3:]
        return np.where(self._free, self.content.gyroscopic(q, spin), 0.0) if spin.any() else None

    def _locked(self, translation: np.ndarray, coupling: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """The blocks (3, 3, 3), with a positive diagonal alone where coordinates are locked."""
        free, out = self._free.reshape(2, 3), np.stack([translation, coupling, rotation])
        for k, (i, j) in enumerate(((0, 0), (1, 0), (1, 1))):
            out[k] *= np.outer(free[i], free[j])
            if i == j:
                out[k] += np.diag(np.where(free[i], 0.0, 1.0))
        return out
