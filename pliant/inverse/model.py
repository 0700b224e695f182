"""The mechanics behind the inverse model: from a pose and a goal to a move, and how good the pose reached is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.algebra import Factor, NotPositiveDefinite
from pliant.contact import Contacts, Detector
from pliant.errors import ConvergenceError
from pliant.hold import Hold, hold, nothing
from pliant.inverse.condensed import Aim, Condensed, Efforts, condense, imbalance, recover, solve
from pliant.inverse.roles import Roles, compile_roles
from pliant.inverse.settings import Settings
from pliant.laws import Known, Law
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static import relaxed, static
from pliant.step import Linear, Workspace, factorise, factorise_shifted, linearise

CLAMPED = 1e-12  # said as the shift of a tangent that was clamped, not shifted


@dataclass(frozen=True)
class Pose:
    """Where the controller stands: coordinates, efforts of all rows, and the contacts with their forces [N]."""

    q: np.ndarray
    lam: np.ndarray
    contacts: Contacts | None
    force: np.ndarray
    moved: float = 0.0  # largest coordinate of the last dq [m]


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
        self.hold = self._held()
        start = state or self._resting()
        self.internal = start.internal
        self.start = Pose(start.q, np.array(start.effort), None, np.zeros(0))

    def with_laws(self, laws: Mapping[str, Law], pose: Pose) -> Model:
        """The same model with other laws for some rows."""
        return Model(self.robot, self.detector, {**self.laws, **laws}, self.settings, self.state(pose))

    def state(self, pose: Pose) -> State:
        """A pose as a state of the robot."""
        return State(pose.q, np.zeros(self.robot.ndof), pose.lam, self.internal, self.gravity)

    def delta(self, q: np.ndarray) -> np.ndarray:
        """δ of all rows, (m,)."""
        return self.robot.bundle.delta(self.robot.bundle.positions(q))

    def aims(self, q: np.ndarray) -> np.ndarray:
        """δ of the effectors."""
        return self.delta(q)[self.roles.effectors]

    @cached_property
    def units(self) -> np.ndarray:
        """δ of each effector row per metre of motion: 1 for positions, an area for volumes, 1/lever for angles."""
        robot, rows = self.robot, self.roles.effectors
        sizes = [row.interaction.size for row in robot.rows.values()]
        metres = np.repeat([row.interaction.unit == "m" for row in robot.rows.values()], sizes)[rows]
        return np.where(metres, 1.0, np.maximum(self._at_rest(tangent=False).H.norms()[rows], 1e-300))

    def distance(self, a: np.ndarray, b: np.ndarray) -> float:
        """Between two values of the effectors' δ [m]."""
        return float(np.linalg.norm((a - b) / self.units))

    def penetration(self, pose: Pose) -> float:
        """Depth of the deepest collision sample at a pose [m]."""
        return float(max(0.0, -self.detector.detect(pose.q).gap.min(initial=0.0)))

    # From a pose to a move.

    def move(self, pose: Pose, before: Pose, aim: Aim) -> Move | None:
        """One linearisation at `pose`: with the exact tangent, or the nearest one that is of use.

        `before` is the pose at the beginning of the step.
        """
        linear = self.work.timed("linearise", self._linearise, pose)
        if linear is None:
            return None
        reach = self.detector.reach(pose.moved)
        contacts = self.work.timed("detect", self.detector.detect, pose.q, reach)
        tangents: tuple[Callable, ...] = (self._exact, self._indefinite, self._clamped, self._shifted)
        for tangent in tangents:
            try:
                factor, linear, shift = self.work.timed("factorise", tangent, linear, pose)
                return self._solved(pose, before, aim, linear, contacts, factor, shift)
            except NotPositiveDefinite:
                continue
        return None

    def _solved(self, pose, before, aim, linear, contacts, factor, shift) -> Move | None:
        work, robot, roles, acting = self.work, self.robot, self.roles, self.roles.actuators
        condensed = work.timed("condense", condense, factor, linear, roles, contacts, pose.q)
        previous, begin = before.lam[acting], pose.lam[acting]
        efforts = work.timed("solve", solve, condensed, roles, aim, previous, begin, self.settings)
        dq = work.timed("recover", recover, factor, condensed, roles, efforts)
        if not np.isfinite(dq).all():
            return None
        longest = float(np.abs(robot.reach * dq).max(initial=0.0))
        lam = self.hold.efforts(efforts.lam, linear.H, dq)
        moved = Pose(robot.retract(pose.q, dq), lam, contacts, efforts.force, longest)
        predicted = linear.delta[roles.effectors] + linear.H.take(roles.effectors).dot(dq)
        return Move(moved, efforts, factor, condensed, shift, predicted)

    def decrement(self, move: Move) -> float:
        """How far the state reached is from equilibrium with all drives held [m], by the factor at hand."""
        pose = move.pose
        linear = self.work.timed("linearise", self._linearise, pose, tangent=False)
        if linear is None:
            return float("inf")
        r = linear.residual(pose.lam)
        if pose.contacts is not None and pose.force.any():
            r = r + pose.contacts.rows(pose.q).transpose_dot(pose.force)
        dq = self.work.timed("recover", imbalance, move.factor, move.condensed, self.roles, move.efforts, r)
        return float(np.abs(self.robot.reach * dq).max(initial=0.0))

    # Tangents, from the best to the last resort.

    def _exact(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        return factorise(self.robot, _tangent(linear), self.work), linear, 0.0

    def _indefinite(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        """Past a limit point, where the drives may hold what the efforts alone would not."""
        return factorise(self.robot, _tangent(linear), self.work, indefinite=True), linear, 0.0

    def _clamped(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        clamped = self._linearise(pose, clamp=True) or linear
        return factorise(self.robot, _tangent(clamped), self.work), clamped, CLAMPED

    def _shifted(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        factor, shift = factorise_shifted(self.robot, _tangent(linear), self.work)
        return factor, linear, shift

    def _linearise(self, pose: Pose, *, tangent: bool = True, clamp: bool = False) -> Linear | None:
        linear = linearise(
            self.robot, pose.q, pose.lam, self.internal, self.gravity, tangent=tangent, clamp=clamp
        )
        if linear is not None and linear.K is not None:
            self.hold.stiffen(linear.K, linear.H)
        return linear

    # Equilibria.

    def locked(self, pose: Pose, tolerance: Tolerance) -> Result:
        """The equilibrium near a pose with all drives where they are."""
        delta = self.delta(pose.q)
        still = {n: Known(displacement=delta[self.robot.named(n)]) for n in dict.fromkeys(self.roles.names)}
        return relaxed(self.robot, {**self.laws, **still}, self.state(pose), self.detector, tolerance)

    def _resting(self) -> State:
        """Equilibrium with all actuators at zero effort, but where they hold the robot: those stay, within their limits."""
        roles, delta = self.roles, self.delta(self.robot.rest.q)
        delta[roles.actuators] = np.clip(delta[roles.actuators], *roles.displacement)
        off: dict[str, Law] = {name: Known(effort=0.0) for name in dict.fromkeys(roles.names)}
        for name, span in self.robot.spans.items():
            if name in off and np.isin(np.arange(span.start, span.stop), self.hold.rows).any():
                off[name] = Known(displacement=delta[span])
        try:
            return static(self.robot, {**self.laws, **off}, detector=self.detector).state
        except ConvergenceError as error:  # the loop goes on from the best state there is
            return error.result.state

    def _held(self) -> Hold:
        """Which rows hold the robot, if its supports do not: imposed displacements, and actuators that push and pull."""
        if not self.robot.rigid_modes():
            return nothing(self.robot)
        able = self.roles.conditions.holding.copy()
        able[self.roles.actuators[~self.roles.one_sided]] = True
        rest = self._at_rest()
        return hold(self.robot, able, _tangent(rest), rest.H)

    def _at_rest(self, *, tangent: bool = True) -> Linear:
        rest = self.robot.rest
        linear = linearise(self.robot, rest.q, rest.effort, rest.internal, self.gravity, tangent=tangent)
        assert linear is not None
        return linear


def _tangent(linear: Linear) -> np.ndarray:
    assert linear.K is not None
    return linear.K
