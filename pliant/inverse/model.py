"""The mechanics behind the inverse model: from a pose and a goal to a move, and how good the pose reached is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.algebra import Factor, NotPositiveDefinite
from pliant.contact import Contacts, Detector
from pliant.errors import ConvergenceError
from pliant.inverse.condensed import Aim, Condensed, Efforts, condense, held, recover, solve
from pliant.inverse.lost import held_by
from pliant.inverse.roles import Roles, compile_roles
from pliant.inverse.settings import Settings
from pliant.laws import Known, Law
from pliant.newton import FARTHEST, Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static import relaxed, static
from pliant.step import Linear, Workspace, factorise, factorise_shifted, linearise

CLAMPED = 1e-12  # said as the shift of a tangent that was clamped, not shifted


@dataclass(frozen=True)
class Pose:
    """Where the controller stands: coordinates, efforts of all rows, contacts there with their forces [N] (n normal ones, with
    friction 3n: then along two tangents each), and the robot linearised there (None if cells are inside out)."""

    q: np.ndarray
    lam: np.ndarray
    contacts: Contacts
    force: np.ndarray
    linear: Linear | None
    delta: np.ndarray  # of all rows
    version: int  # of the obstacles
    predicted: np.ndarray | None = (
        None  # what the motion to q was to bring to slender bodies, see `Robot.predict`
    )

    @property
    def normal(self) -> np.ndarray:
        """Normal forces of the contacts (n,) [N]."""
        return self.force[: len(self.contacts)]

    @property
    def tangential(self) -> np.ndarray:
        """Friction along the contacts' tangents (n, 2) [N]."""
        n = len(self.contacts)
        return self.force[n:].reshape(n, 2) if len(self.force) > n else np.zeros((n, 2))

    @cached_property
    def depth(self) -> float:
        """Of the deepest collision sample [m]."""
        return float(max(0.0, -self.contacts.gap.min(initial=0.0)))


@dataclass(frozen=True)
class Move:
    """What one linearisation led to."""

    pose: Pose
    efforts: Efforts
    factor: Factor
    condensed: Condensed
    shift: float
    predicted: np.ndarray  # δ of the effectors where the linear model expected them


class Model:
    """A robot among obstacles, with the roles of its rows."""

    def __init__(
        self,
        robot: Robot,
        detector: Detector,
        laws: Mapping[str, Law],
        settings: Settings,
        state: State | None,
    ) -> None:
        self.robot, self.detector, self.settings, self.laws = robot, detector, settings, dict(laws)
        self.roles: Roles = compile_roles(robot, laws)
        self.work = Workspace()
        self.gravity = robot.gravity
        self.hold = held_by(robot, self.roles)
        start = state or self._resting()
        self.internal = start.internal
        self.start = self.pose(start.q, np.array(start.effort))

    def with_laws(self, laws: Mapping[str, Law], pose: Pose) -> Model:
        """The same model with other laws for some rows."""
        return Model(self.robot, self.detector, {**self.laws, **laws}, self.settings, self.state(pose))

    def state(self, pose: Pose) -> State:
        """A pose as a state of the robot."""
        return State(pose.q, np.zeros(self.robot.ndof), pose.lam, self.internal, self.gravity)

    def pose(
        self,
        q: np.ndarray,
        lam: np.ndarray,
        before: tuple[Contacts, np.ndarray] | None = None,
        moved: float = 0.0,
        predicted: np.ndarray | None = None,
    ) -> Pose:
        """The pose at q with efforts λ and the forces of contacts known before; `moved` [m] widens the search for new ones."""
        linear = self.work.timed("linearise", self._linearise, q, lam, predicted)
        reach = min(self.detector.reach(moved), FARTHEST * self.detector.alarm)  # a bad step may go anywhere
        contacts = self.work.timed("detect", self._touching, q, before, reach)
        force = _carried(contacts, before)
        if linear is not None and linear.K is not None:
            K, turning = self.work.timed(
                "linearise", self.detector.bent, linear.K, contacts, force[: len(contacts)], q
            )
            linear = replace(linear, K=K, flat=linear.K, turning=turning)
        delta = self.robot.bundle.delta(self.robot.bundle.positions(q)) if linear is None else linear.delta
        return Pose(q, lam, contacts, force, linear, delta, self.detector.version, predicted)

    def _touching(self, q: np.ndarray, before: tuple[Contacts, np.ndarray] | None, reach: float) -> Contacts:
        if before is None:
            return self.detector.detect(q, reach)
        contacts, force = before
        return self.detector.redetect(q, contacts, force[: len(contacts)], reach)

    def again(self, pose: Pose) -> Pose:
        """The same pose among obstacles that may have moved."""
        if pose.version == self.detector.version:
            return pose
        contacts = self.work.timed("detect", self.detector.detect, pose.q)
        force = _carried(contacts, (pose.contacts, pose.force))
        return replace(pose, contacts=contacts, force=force, version=self.detector.version)

    def aims(self, pose: Pose) -> np.ndarray:
        """δ of the effectors."""
        return pose.delta[self.roles.effectors]

    @cached_property
    def units(self) -> np.ndarray:
        """δ of each effector row per metre of motion: 1 for positions, an area for volumes, 1/lever for angles."""
        robot, rows = self.robot, self.roles.effectors
        sizes = [row.interaction.size for row in robot.rows.values()]
        metres = np.repeat([row.interaction.unit == "m" for row in robot.rows.values()], sizes)[rows]
        return np.where(metres, 1.0, np.maximum(self._at_rest(tangent=False).H.norms()[rows], 1e-300))

    @cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the actuators (na, 4): least and most effort, least and most δ; and how near is at them (−1: never)."""
        roles = self.roles
        bounds = np.column_stack([*roles.effort, *roles.displacement])
        near = np.where(np.isfinite(bounds), 1e-6 * np.maximum(1.0, np.abs(bounds)), -1.0)
        near[:, 2:] = np.where(near[:, 2:] > 0.0, 1e-5 * self.robot.length, -1.0)
        near[roles.one_sided, 0] = -1.0  # slack is no limit
        return bounds, near

    def distance(self, a: np.ndarray, b: np.ndarray | float) -> float:
        """Between two values of the effectors' δ [m]."""
        apart = (a - b) / self.units
        return math.sqrt(apart @ apart)

    # From a pose to a move.

    def move(self, pose: Pose, before: Pose, aim: Aim) -> Move | None:
        """One linearisation at `pose`: with the exact tangent, or the nearest one that is of use.

        `before` is the pose at the beginning of the step.
        """
        linear = pose.linear
        tangents: tuple[Callable, ...] = (
            self._exact,
            self._flat,
            self._indefinite,
            self._clamped,
            self._shifted,
        )
        for tangent in tangents if linear is not None else ():
            try:
                factor, linear, shift = self.work.timed("factorise", tangent, linear, pose)
                return self._solved(pose, before, aim, linear, factor, shift)
            except NotPositiveDefinite:
                continue
        return None

    def _solved(self, pose, before, aim, linear, factor, shift) -> Move | None:
        work, robot, roles, acting = self.work, self.robot, self.roles, self.roles.actuators
        condensed = work.timed("condense", condense, factor, linear, roles, pose.contacts, pose.q, before.q)
        previous, begin = before.lam[acting], pose.lam[acting]
        efforts = work.timed("solve", solve, condensed, roles, aim, previous, begin, self.settings)
        dq = work.timed("recover", recover, condensed, roles, efforts)
        if not np.isfinite(dq).all():
            return None
        longest = self._longest(dq)
        lam = self.hold.efforts(efforts.lam, linear.H, dq)
        ahead = robot.retract(pose.q, dq), lam, (pose.contacts, efforts.force), longest
        moved = self.pose(*ahead, robot.predict(pose.q, dq))
        if moved.linear is None:
            return None
        predicted = linear.delta[roles.effectors] + linear.H.take(roles.effectors).dot(dq)
        return Move(moved, efforts, factor, condensed, shift, predicted)

    def decrement(self, move: Move) -> float:
        """How far the state reached is from equilibrium [m], by the factor at hand: with its efforts held, and where that is more
        than will do, with its drives held."""
        pose = move.pose
        assert pose.linear is not None
        r = pose.linear.residual(pose.lam)
        if pose.force.any():
            r = r + pose.contacts.rows(pose.q).transpose_dot(pose.normal)
        if pose.tangential.any():
            r = r + pose.contacts.tangent_rows(pose.q).transpose_dot(pose.tangential.ravel())
        dq = self.work.timed("recover", move.factor.solve, r)
        far = self._longest(dq)
        if far <= self.settings.decrement * self.robot.length:
            return far
        return self._longest(self.work.timed("recover", held, move.condensed, self.roles, move.efforts, dq))

    def _longest(self, dq: np.ndarray) -> float:
        """How far a motion dq takes the point that moves most [m]."""
        return self.robot.farthest(dq)

    # Tangents, from the best to the last resort.

    def _exact(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        return factorise(self.robot, _tangent(linear), self.work, turning=linear.turning), linear, 0.0

    def _flat(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        """As if what is touched were flat, where the robot would slip off it."""
        if linear.flat is None or (linear.flat is linear.K and linear.turning is None):
            raise NotPositiveDefinite(-1)
        return factorise(self.robot, linear.flat, self.work), linear, 0.0

    def _indefinite(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        """Past a limit point, where the drives may hold what the efforts alone would not."""
        factor = factorise(self.robot, _tangent(linear), self.work, turning=linear.turning, indefinite=True)
        return factor, linear, 0.0

    def _clamped(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        clamped = self._linearise(pose.q, pose.lam, pose.predicted, clamp=True) or linear
        return factorise(self.robot, _tangent(clamped), self.work), clamped, CLAMPED

    def _shifted(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        factor, shift = factorise_shifted(self.robot, _tangent(linear), self.work)
        return factor, linear, shift

    def _linearise(
        self, q: np.ndarray, lam: np.ndarray, predicted: np.ndarray | None, *, clamp: bool = False
    ) -> Linear | None:
        linear = linearise(self.robot, q, lam, self.internal, self.gravity, clamp=clamp, predicted=predicted)
        if linear is not None and linear.K is not None:
            self.hold.stiffen(linear.K, linear.H)
        return linear

    # Equilibria.

    def locked(
        self, pose: Pose, tolerance: Tolerance, start: State | None = None, *, curved: bool = True
    ) -> Result:
        """The equilibrium near a pose with all drives where they are, from the pose or a state on the way there; see `relaxed`."""
        still = {
            n: Known(displacement=pose.delta[self.robot.named(n)]) for n in dict.fromkeys(self.roles.names)
        }
        begin = self.state(pose) if start is None else start
        laws = {**self.laws, **still}
        return relaxed(self.robot, laws, begin, self.detector, tolerance, curved=curved)

    def _resting(self) -> State:
        """Equilibrium with all actuators at zero effort, but where they hold the robot: those stay, within their limits."""
        roles, delta = self.roles, self._at_rest(tangent=False).delta.copy()
        delta[roles.actuators] = np.clip(delta[roles.actuators], *roles.displacement)
        off: dict[str, Law] = {name: Known(effort=0.0) for name in dict.fromkeys(roles.names)}
        for name, span in self.robot.spans.items():
            if name in off and np.isin(np.arange(span.start, span.stop), self.hold.rows).any():
                off[name] = Known(displacement=delta[span])
        try:
            return static(self.robot, {**self.laws, **off}, detector=self.detector).state
        except ConvergenceError as error:  # the loop goes on from the best state there is
            return error.result.state

    def _at_rest(self, *, tangent: bool = True) -> Linear:
        rest = self.robot.rest
        linear = linearise(self.robot, rest.q, rest.effort, rest.internal, self.gravity, tangent=tangent)
        assert linear is not None
        return linear


def _tangent(linear: Linear) -> np.ndarray:
    assert linear.K is not None
    return linear.K


def _carried(contacts: Contacts, before: tuple[Contacts, np.ndarray] | None) -> np.ndarray:
    """Forces of contacts known before, for these."""
    rows = contacts.scalars
    return np.zeros(rows) if before is None else contacts.carried_forces(*before, rows)
