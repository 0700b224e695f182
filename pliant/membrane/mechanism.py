"""A mechanism: planar rigid bodies on joints, with motors, springs, hinges, cables and membranes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats, unknown_name
from pliant.membrane.bodies import At, Motor, Pin, PlanarBody, Spring
from pliant.membrane.cable import Cable, Membrane
from pliant.membrane.compilation import (
    check_apart,
    check_crossing,
    joints_of,
    links_of,
    memory_of,
    ordered,
    paths_of,
    tree_of,
)
from pliant.membrane.evaluation import bias_of, check_status, evaluate, path_of
from pliant.membrane.joints import WORLD
from pliant.membrane.kernels import run as kernel
from pliant.membrane.model import CABLE, Drive, Memory, Model, Work, workspace
from pliant.membrane.shapes import rotation
from pliant.membrane.wrapping import TautPath

SLACKNESS = 1e-9  # of the longest cable: one closer to its length than this is taut
SHORTENED = 1e-12  # of the length at rest: how much shorter a cable may be given
NO_INERTIA = 1e-14  # of the largest entry of M: an eigenvalue as small as this is none
SMALLEST_SIZE = 1e-3  # [m], of a mechanism without cables and extent


class Mechanism:
    """Planar rigid bodies with coordinates q (n,): the joints' own, in the order of `coordinates`.

        arm = PlanarBody("arm", Revolute(), mass=1.0, inertia=0.1, centre=(0.5, 0.0))
        mech = Mechanism([arm], gravity=(0.0, -9.81))

    It has the surface of a body (q0, ndof, mass, forces, positions, retract) in the plane, where q and its
    change dq have the same size. Loops are closed by `pins`. Two membranes that cross at rest are refused.
    """

    def __init__(
        self,
        bodies: Sequence[PlanarBody],
        *,
        cables: Sequence[Cable | Membrane] = (),
        springs: Sequence[Spring] = (),
        motors: Sequence[Motor] = (),
        pins: Sequence[Pin] = (),
        gravity: Any = (0.0, 0.0),
        name: str = "mechanism",
    ) -> None:
        self.name, self.bodies, self.cables = name, tuple(ordered(bodies)), tuple(cables)
        if not self.bodies:
            raise InputError("bodies", expected="one or more", got="none")
        names = [cable.name for cable in self.cables]
        if len(set(names)) < len(names):
            raise InputError("cables", expected="a name of its own for each", got=names)
        self.number = {body.name: k for k, body in enumerate(self.bodies)} | {WORLD: len(self.bodies)}
        self.motors, self.gravity = tuple(motors), _vector("gravity", gravity, 2)
        tree = tree_of(self.bodies, self.number)
        joints = joints_of(self.bodies, tree, self.motors)
        self.q0 = joints.rest.copy()
        self.q0.setflags(write=False)
        none, (no_paths, state) = links_of((), self.number, None), paths_of((), self.bodies, self.number, 0)
        # Enough to know where points are, which rest lengths need.
        self.model = Model(tree, joints, none, none, no_paths, self.gravity)
        self.memory = memory_of(no_paths, state)
        hinges = links_of(pins, self.number, self._distance)
        links = links_of(springs, self.number, self._distance)
        paths, state = paths_of(self.cables, self.bodies, self.number, len(pins))
        self.model = Model(tree, joints, links, hinges, paths, self.gravity)
        self._set_rest_lengths(state)
        self.memory = memory_of(paths, state)
        self._check()

    @property
    def ndof(self) -> int:
        """Number of coordinates."""
        return len(self.q0)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates: "body angle", "body slide", "body x" …"""
        return tuple(f"{body.name} {c}" for body in self.bodies for c in body.joint.coordinates)

    def coordinate(self, name: str) -> int:
        """The index of a coordinate by its name, or by the name of a body that has one alone."""
        names = self.coordinates
        if name in names:
            return names.index(name)
        own = [k for k, n in enumerate(names) if n.rpartition(" ")[0] == name]
        if len(own) == 1:
            return own[0]
        raise unknown_name("coordinate", name, names)

    @cached_property
    def size(self) -> float:
        """The longest cable at rest, else the extent of the bodies [m]."""
        if len(self.model.paths.kind):
            return float(np.max(self.length(self.q0)))
        reach = float(np.ptp(self.poses(self.q0)[:, :2], axis=0).max(initial=0.0))
        return max(reach, *(float(np.abs(b.centre).max()) for b in self.bodies), SMALLEST_SIZE)

    # Kinematics

    def poses(self, q: Any) -> np.ndarray:
        """(x, y, θ) of every body in the world, (b, 3)."""
        return self.evaluate(q).pose[:-1, :3].copy()

    def positions(self, q: Any) -> np.ndarray:
        """Origins of the bodies (b, 3) [m], z = 0."""
        pose = self.poses(q)
        return np.column_stack([pose[:, :2], np.zeros(len(pose))])

    def place(self, q: Any, at: At) -> np.ndarray:
        """A point of a body in the world, (2,) [m]."""
        if at.body not in self.number:
            raise unknown_name("body", at.body, self.number)
        pose = self.evaluate(q).pose[self.number[at.body]]
        return pose[:2] + rotation(float(pose[2])) @ np.asarray(at.point, float)

    def retract(self, q: Any, dq: Any) -> np.ndarray:
        """q + dq: planar rotations add."""
        return np.asarray(q, float) + np.asarray(dq, float)

    # Mechanics

    def mass(self, q: Any = None) -> np.ndarray:
        """M (n, n), [kg], [kg·m] or [kg·m²]."""
        return self.evaluate(self.q0 if q is None else q).M.copy()

    def forces(self, q: Any, v: Any = None, drive: Drive | None = None) -> np.ndarray:
        """Applied forces Q (n,): weight, springs, motors, membranes; without cables and inertia."""
        return self.evaluate(q, v, drive).applied.copy()

    def gyroscopic(self, q: Any, v: Any) -> np.ndarray:
        """c(q, v) (n,) of M v̇ + c = Q."""
        return self.evaluate(q, v).inertial.copy()

    def tangent(self, q: Any, v: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """K = −∂Q/∂q and C = −∂Q/∂v (n, n); K without the turning of levers by the joints' own motion."""
        work = self.evaluate(q, v, tangent=True)
        return work.K.copy(), work.C.copy()

    def length(self, q: Any) -> np.ndarray:
        """Lengths of the cables and membranes [m], in their order."""
        return self.evaluate(q).length.copy()

    def tension(self, q: Any, v: Any = None) -> np.ndarray:
        """Tensions of the membranes [N], NaN for cables: theirs follow from the motion."""
        return np.where(self.model.paths.kind == CABLE, np.nan, self.evaluate(q, v).tension)

    def energy(self, q: Any, v: Any = None, drive: Drive | None = None) -> tuple[float, float, float]:
        """Energies [J]: kinetic; potential of weight, springs and membranes; of the motors' springs."""
        kinetic, potential, motors = self.evaluate(q, v, drive).total
        return float(kinetic), float(potential), float(motors)

    def cable_rows(self, q: Any, v: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """φ = L − length (c,), J = ∂φ/∂q (c, n) and J̇v (c,) of pins and inextensible cables."""
        work = self.evaluate(q, v)
        return work.value.copy(), work.rows.copy(), bias_of(self.model, work, self._pair(q, v)[1])

    def acceleration(
        self, q: Any, v: Any = None, drive: Drive | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """v̇ (n,) of M v̇ + c = Q + Jᵀλ with φ̈ = 0, and λ (c,) of pins and cables, a tension negative."""
        q, v = self._pair(q, v)
        work = self.evaluate(q, v, drive)
        free = np.linalg.solve(work.M, work.applied - work.inertial)
        J, bias, pins = work.rows, bias_of(self.model, work, v), 2 * len(self.model.pins.body)
        taut = (work.value > -self.slackness) & (J @ v > -self.slackness)
        active = taut | (np.arange(len(J)) < pins)
        while True:
            own = J[active]
            Y = np.linalg.solve(work.M, own.T)
            efforts = np.zeros(len(J))
            efforts[active] = np.linalg.lstsq(own @ Y, -bias[active] - own @ free, rcond=None)[0]
            pushing = np.flatnonzero(efforts[pins:] > 0.0) + pins
            if not len(pushing):
                return free + Y @ efforts[active], efforts
            active[pushing[np.argmax(efforts[pushing])]] = False

    def drive(
        self,
        targets: Mapping[str, float] | None = None,
        *,
        rates: Mapping[str, float] | None = None,
        efforts: Mapping[str, float] | None = None,
        wrenches: Mapping[str, Any] | None = None,
    ) -> Drive:
        """What acts from outside, by name.

        targets and rates of motors, efforts on coordinates, wrenches (F_x, F_y, torque) on bodies.
        """
        out = Drive(
            self.q0.copy(),
            np.zeros(self.ndof),
            np.zeros(self.ndof),
            np.zeros((len(self.bodies) + 1, 3)),
        )
        for array, given in zip(out, (targets, rates, efforts), strict=False):
            for name, value in (given or {}).items():
                array[self.coordinate(name)] = value
        for name, wrench in (wrenches or {}).items():
            if name not in self.number:
                raise unknown_name("body", name, self.number)
            out.wrench[self.number[name]] = _vector(f"wrench on {name!r}", wrench, 3)
        return out

    def path(self, q: Any, cable: str | int, memory: Memory | None = None) -> TautPath:
        """The taut path of a cable, with its contacts."""
        memory = self.memory if memory is None else memory
        return path_of(self.model, memory, self.evaluate(q, memory=memory), self._cable(cable))

    def evaluate(
        self,
        q: Any,
        v: Any = None,
        drive: Drive | None = None,
        *,
        memory: Memory | None = None,
        tangent: bool = False,
    ) -> Work:
        """All arrays of `model.Work` at (q, v)."""
        q, v = self._pair(q, v)
        work = workspace(self.model)
        drive = self.drive() if drive is None else drive
        memory = self.memory if memory is None else memory
        evaluate(self.model, memory, drive, q, v, work, tangent=tangent)
        if not np.isfinite(work.total[1]):
            check_status(self.name, kernel.NOT_A_NUMBER)
        return work

    @property
    def slackness(self) -> float:
        """How much shorter than its length a cable may be and still count as taut [m]."""
        return SLACKNESS * self.size

    # Building

    def _pair(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        q = _vector("q", q, self.ndof)
        return q, np.zeros(self.ndof) if v is None else _vector("v", v, self.ndof)

    def _cable(self, cable: str | int) -> int:
        names = [c.name for c in self.cables]
        if isinstance(cable, str) and cable not in names:
            raise unknown_name("cable", cable, names)
        return names.index(cable) if isinstance(cable, str) else cable

    def _distance(self, start: At, end: At) -> float:
        """Between two points at rest [m]."""
        return float(np.linalg.norm(self.place(self.q0, end) - self.place(self.q0, start)))

    def _set_rest_lengths(self, state: np.ndarray) -> None:
        """Lengths that follow from the posture at rest: of cables as they run, of membranes less preload."""
        paths = self.model.paths
        unknown = np.isnan(paths.rest)
        paths.rest[unknown] = 1.0
        self.memory = memory_of(paths, state)
        touched = self.evaluate(self.q0).length.copy()
        for k, cable in enumerate(self.cables):
            if isinstance(cable, Membrane):
                if unknown[k]:
                    paths.rest[k] = self._untouched(cable) - cable.preload
                self._check_band(cable, float(paths.rest[k]))
            elif unknown[k]:
                paths.rest[k] = touched[k]
            elif paths.rest[k] < touched[k] * (1.0 - SHORTENED):
                raise InputError(
                    f"length of {cable.name!r}",
                    expected=f"{touched[k]:g} m or more, the way it runs at rest",
                    got=f"{paths.rest[k]:g} m",
                )

    def _untouched(self, cable: Membrane) -> float:
        """Length through its points alone, at rest [m]."""
        points = [self.place(self.q0, item) for item in cable.path if isinstance(item, At)]
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    @staticmethod
    def _check_band(cable: Membrane, rest: float) -> None:
        """Refuse a band with friction that has no rest length to stretch; without, any preload will do."""
        if cable.friction > 0.0 and rest <= 0.0:
            raise InputError(
                f"preload of {cable.name!r}",
                expected="a rest length > 0 left (friction makes it a band)",
                got=f"{rest:g} m",
            )

    def _check(self) -> None:
        M = self.mass()
        if self.ndof and np.linalg.eigvalsh(M).min() <= NO_INERTIA * np.abs(M).max():
            raise InputError(
                "masses",
                expected="inertia in every coordinate",
                got=f"none in {self.coordinates[int(np.argmin(np.diag(M)))]!r}",
                hint="Give the bodies that move a mass, and an inertia where they turn.",
            )
        paths = [self.path(self.q0, k) for k in range(len(self.cables))]
        for cable, path in zip(self.cables, paths, strict=True):
            check_apart(cable.name, path)
        check_crossing(self.cables, paths)


def _vector(what: str, value: Any, size: int) -> np.ndarray:
    out = as_floats(what, value, f"{size} numbers")
    if out.shape != (size,) or not np.isfinite(out).all():
        raise InputError(what, expected=f"{size} finite numbers", got=f"{value!r}")
    return out
