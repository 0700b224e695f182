"""What holds a thing: the forces on it, how near they are to slipping, and what would pull it out.

A grasp is a robot at rest, or at the end of a step in time, in which something pushes on a thing. What it
resists is asked of the robot linearised there, with contacts that open, stick and slip by Coulomb's law in
its round cone, and with drives that do what their laws say, see `disturbed.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from pliant.bodies import RigidBody
from pliant.bodies.rigid_motions import pole, rigid_motions
from pliant.errors import ConvergenceError, InputError, as_floats
from pliant.laws import Law
from pliant.result import Result
from pliant.robot import Robot
from pliant.things.disturbed import Disturbed

ONE_SIDE = np.cos(np.radians(30.0))  # of normals: contacts of one pad
SLIPPING = 1e-6  # of the friction there is: a margin below it is none
SETTLING = 1e-3  # of the thing's half size: pads settle by slips up to there
TURNED = 0.003  # [rad]: of a pad's mean normal, which makes so much of the squeeze
SLIPPED = 0.1  # of the thing's half size: what slips farther touches elsewhere
LIMIT_ACCURACY = 5e-4  # relative, of the disturbance at which a thing slips
ENDLESS = 1e4  # times what holds the thing: a disturbance that is resisted up to there has no limit


@dataclass(frozen=True, eq=False)
class Response:
    """What a disturbance does: force (3,) [N] and torque (3,) [N·m] about the thing's centre of mass.

    holds: whether contacts within their cones balance it. moved (6,): where the thing goes, [m], and how it
    turns [rad]; where it slips, as far as was looked. effort: λ of all rows of the robot.
    """

    force: np.ndarray
    torque: np.ndarray
    holds: bool
    moved: np.ndarray
    effort: np.ndarray


@dataclass(frozen=True, eq=False)
class Limit:
    """The largest disturbance along a direction before a thing slips: `size` times it, maybe inf."""

    size: float
    force: np.ndarray
    torque: np.ndarray


class Grasp:
    """The n contacts that push on a thing, and what is asked of them.

    position (n, 3) [m]; normal (n, 3), into the thing; force (n, 3) [N] on the thing; push (n,) [N], its
    normal part; friction (n,), the coefficients.
    """

    def __init__(self, result: Result, thing: Any, laws: Mapping[str, Law] | None) -> None:
        self.robot, self.result, self.thing = result.robot, result, thing
        self._laws, self._number = laws, _number(result.robot, thing)
        self._spans = self.robot.q_spans[self._number], self.robot.dq_spans[self._number]
        contacts, n = result.contacts, len(result.contact_force)
        which = np.flatnonzero(result.contact_force > 0.0) if n else np.zeros(0, int)
        wrenches = np.array([self._of_contact(int(k)) for k in which]).reshape(-1, 6)
        on = np.linalg.norm(wrenches, axis=1) > 0.0
        self.force = wrenches[on, :3]
        self.normal = _unit(np.array([self._of_contact(int(k), sliding=False)[:3] for k in which[on]]))
        self.push = result.contact_force[which[on]]
        self.position = np.zeros((0, 3)) if contacts is None else contacts.position[which[on]]
        self.friction = np.zeros(0) if contacts is None else contacts.friction[which[on]]
        self._wrench = wrenches[on].sum(axis=0)

    def __repr__(self) -> str:
        state = "slips" if self.slips else f"holds, {100 * self.margin:.0f} % of its friction is left"
        return f"Grasp({len(self.push)} contacts, {self.squeeze:.3g} N, {state})"

    # As it is

    @property
    def centre(self) -> np.ndarray:
        """The thing's centre of mass (3,) [m]."""
        return _centre(self.thing, self.result.q[self._spans[0]])

    @property
    def squeeze(self) -> float:
        """Σ λ_N [N] of the contacts on the thing."""
        return float(self.push.sum())

    @property
    def used(self) -> np.ndarray:
        """‖λ_T‖ / μ λ_N (n,) of each contact: 1 where it slips, or is about to.

        Where soft pads are pressed they bulge, and some of their points slip while the pad as a whole holds.
        """
        limit = self.friction * self.push
        return np.linalg.norm(self._along, axis=1) / np.where(limit > 0.0, limit, np.inf)

    @property
    def margin(self) -> float:
        """1 − Σ_pads ‖Σ λ_T‖ / Σ μ λ_N: how much of the friction is left, 0 where all of the thing slips.

        A pad is what pushes from one side: contacts whose normals are within 30°.
        """
        total = float(self.friction @ self.push)
        used = sum(float(np.linalg.norm(self._along[pad].sum(axis=0))) for pad in self._pads)
        return max(0.0, 1.0 - used / total) if total > 0.0 else 0.0

    @property
    def slips(self) -> bool:
        """Whether all contacts are at their limits, or nothing holds it."""
        return self.margin < SLIPPING

    @property
    def wrench(self) -> np.ndarray:
        """Σ force (3,) [N] and torque (3,) [N·m] of the contacts on the thing, about its centre of mass."""
        return self._wrench

    @property
    def weight(self) -> np.ndarray:
        """The thing's weight (3,) [N]."""
        return float(self.thing.total_mass) * self.robot.gravity

    # Disturbed

    def response(self, force: Any = (0, 0, 0), torque: Any = (0, 0, 0)) -> Response:
        """What a force (3,) [N] at the centre of mass and a torque (3,) [N·m] do to the thing."""
        return self._disturbed(_vector("force", force), _vector("torque", torque))

    def limit(self, force: Any = (0, 0, 0), torque: Any = (0, 0, 0)) -> Limit:
        """How many times this force and torque the grasp resists before the thing slips.

        The weight is there besides; a grasp that does not even bear it resists 0 of everything.
        """
        f, t = _vector("force", force), _vector("torque", torque)
        size = float(np.linalg.norm(f) + np.linalg.norm(t) / self._reach)
        if size == 0.0:
            raise InputError("disturbance", expected="a force or a torque other than zero", got="none")
        holds = lambda s: self._disturbed(s * f, s * t).holds
        scale = max(self.squeeze, float(np.linalg.norm(self.weight))) / size
        low, high = 0.0, 0.1 * scale
        if not holds(0.0):
            return Limit(0.0, 0.0 * f, 0.0 * t)
        while holds(high):
            low, high = high, 4.0 * high
            if high > ENDLESS * scale:
                return Limit(np.inf, f, t)
        while high - low > LIMIT_ACCURACY * high:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if holds(middle) else (low, middle)
        return Limit(low, low * f, low * t)

    def weakest(self, directions: Sequence[Any] | np.ndarray | None = None) -> Limit:
        """The least force [N] that makes the thing slip, of directions (k, 3), by default 26 round about."""
        along = _ROUND if directions is None else np.atleast_2d(np.asarray(directions, float))
        unit = along / np.linalg.norm(along, axis=1, keepdims=True)
        return min((self.limit(force=d) for d in unit), key=lambda found: found.size)

    def compliance(self) -> np.ndarray:
        """∂ moved / ∂(force, torque), (6, 6): how far the thing gives way in the hand while nothing slips."""
        small = 1e-4 * max(self.squeeze, 1e-9)
        columns = []
        for k in range(6):
            unit = np.zeros(6)
            unit[k] = small * (1.0 if k < 3 else self._reach)
            moved = [self._disturbed(s * unit[:3], s * unit[3:]) for s in (1.0, -1.0)]
            if not all(m.holds for m in moved):
                raise ConvergenceError("The thing slips: it has no compliance in the hand.", self.result)
            columns.append((moved[0].moved - moved[1].moved) / (2.0 * unit[k]))
        return np.column_stack(columns)

    # Inside

    @cached_property
    def _along(self) -> np.ndarray:
        """λ_T (n, 3) [N] of each contact on the thing."""
        return self.force - self.push[:, None] * self.normal

    @cached_property
    def _pads(self) -> list[np.ndarray]:
        """Contacts that push from one side, as masks (n,)."""
        return _pads(self.normal, self.push)

    @cached_property
    def _reach(self) -> float:
        return 0.5 * float(np.ptp(self.thing.mesh.nodes, axis=0).max())

    @cached_property
    def _motions(self) -> np.ndarray:
        """(dim dq of the thing, 6): its rigid motions, turns about its centre of mass."""
        q = self.result.q[self._spans[0]]
        B, (about, size) = rigid_motions(self.thing, q), pole(self.thing, q)
        B[:, 3:] *= size
        B[:, 3:] += B[:, :3] @ _cross(about - self.centre).T
        return B

    def _of_contact(self, k: int, *, sliding: bool = True) -> np.ndarray:
        """Force and torque (6,) of one contact on the thing, with its friction or without."""
        result = self.result
        assert result.contacts is not None
        one = result.contacts.take(np.array([k]))
        force = np.array([result.contact_force[k]])
        if one.frictional and sliding:
            force = np.append(force, result.friction_force[k])
        return self._motions.T @ one.push(result.q, force)[self._spans[1]]

    @cached_property
    def _model(self) -> Disturbed:
        return Disturbed.of(self.robot, self.result, self._laws, self._spans[1])

    def _disturbed(self, force: np.ndarray, torque: np.ndarray) -> Response:
        model, span = self._model, self._spans[1]
        balanced, dq, effort = model.settle(self._load(force, torque), self._load(self.weight, 0.0 * force))
        holds = balanced and not self._slipped(model.slip(dq, effort), effort)
        return Response(force, torque, holds, self._mean @ dq[span], effort)

    def _load(self, force: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """A force and a torque on the thing as a load (ndof,) on the robot."""
        load = np.zeros(self.robot.ndof)
        load[self._spans[1]] = self._spread @ np.concatenate([force, torque])
        return load

    def _slipped(self, slip: np.ndarray, effort: np.ndarray) -> bool:
        """Whether contacts slip so far that what holds the thing then is not what was linearised.

        Normals stay as they were, and pushes wander over them: a ball that slips by s seems to be held where
        the normals are s/R off, and to bear 10 % more where that is a twentieth. So it has slipped as soon as
        all contacts slip and the mean normal of a pad is off; or where one of them is far from where it was.
        """
        slip = slip[self._normals.any(axis=1) & np.isfinite(slip)]
        if not len(slip) or slip.max() > SLIPPED * self._reach:
            return len(slip) > 0
        return bool(slip.min() > SETTLING * self._reach and self._turned(effort) > TURNED)

    def _turned(self, effort: np.ndarray) -> float:
        """By how much [rad] the mean normal of a pad is off where contacts push with λ of all rows."""
        pushes = self._pushes(effort)
        if not self._sides:
            return np.inf
        means = _unit(
            np.array([self._pushes(self._model.found.view.lam)[pad].sum(axis=0) for pad in self._sides])
        )
        nearest, angle = (self._normals @ means.T).argmax(axis=1), 0.0
        for k, mean in enumerate(means):
            now = pushes[nearest == k].sum(axis=0)
            if now.any():
                angle = max(angle, float(np.arccos(min(1.0, _unit(now)[0] @ mean))))
        return angle

    def _pushes(self, effort: np.ndarray) -> np.ndarray:
        """Pushes (contacts, 3) [N] on the thing where all rows have an effort."""
        own = self._model.found.view.own
        return effort[own : own + len(self._normals), None] * self._normals

    @cached_property
    def _normals(self) -> np.ndarray:
        """Normals (contacts, 3) into the thing of all that may touch, zero of those that touch others."""
        return self._model.normals() @ self._motions[:, :3]

    @cached_property
    def _sides(self) -> list[np.ndarray]:
        """As `_pads`, as masks of all contacts that may touch."""
        push = np.linalg.norm(self._pushes(self._model.found.view.lam), axis=1)
        return _pads(self._normals, push)

    @cached_property
    def _spread(self) -> np.ndarray:
        """M B (Bᵀ M B)⁻¹: force and torque (6,) as a load on the thing, spread as its mass is."""
        q = self.result.q[self._spans[0]]
        MB = self.thing.pattern.to_csr(self.thing.mass(q)) @ self._motions
        return MB @ np.linalg.inv(self._motions.T @ MB)

    @property
    def _mean(self) -> np.ndarray:
        """(Bᵀ M B)⁻¹ Bᵀ M: the mean motion of the thing."""
        return self._spread.T


def grasp(result: Result, thing: Any, laws: Mapping[str, Law] | None = None) -> Grasp:
    """What holds a thing of a robot that `static` or a step in time has left in some place.

    laws: what drives do while the thing is disturbed, as they were given to the solve: those with an effort
    keep it, those with a displacement stay where they are.
    """
    if not isinstance(result, Result):
        hint = "pl.static(robot, laws) or simulation.step(laws) gives one."
        raise InputError("grasp", expected="a Result", got=type(result).__name__, hint=hint)
    return Grasp(result, thing, laws)


def _pads(normal: np.ndarray, push: np.ndarray) -> list[np.ndarray]:
    """Contacts that push from one side, as masks (n,), the strongest first."""
    left, pads = push > 0.0, []
    while left.any():
        strongest = np.flatnonzero(left)[np.argmax(push[left])]
        pad = left & (normal @ normal[strongest] > ONE_SIDE)
        pads.append(pad)
        left &= ~pad
    return pads


def _number(robot: Robot, thing: Any) -> int:
    for n, body in enumerate(robot.bodies):
        if body is thing:
            return n
    names = [body.name or f"body {n}" for n, body in enumerate(robot.bodies)]
    raise InputError("thing", expected=f"a body of {robot.name!r}, one of {names}", got=repr(thing))


def _centre(thing: Any, q: np.ndarray) -> np.ndarray:
    """The centre of mass (3,) [m]."""
    if isinstance(thing, RigidBody):
        return thing.points([thing.properties.centre]).position(q)[0]
    x = thing.positions(q)
    return x.mean(axis=0) if thing.node_mass is None else np.average(x, axis=0, weights=thing.node_mass)


def _vector(name: str, value: Any) -> np.ndarray:
    vector = as_floats(name, value, "three finite numbers")
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(name, expected="three finite numbers", got=repr(value))
    return vector


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors = vectors.reshape(-1, 3)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _cross(a: np.ndarray) -> np.ndarray:
    """a × as a matrix."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


# Directions (26, 3): faces, edges and corners of a cube.
_ROUND = np.array([d for d in product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
