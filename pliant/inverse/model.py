"""The mechanics behind the inverse model: from a pose and a goal to a move, and how good the pose reached is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from pliant.contact import Contacts, Detector
from pliant.core.rows import units
from pliant.core.scene import Scene
from pliant.core.situation import Situation
from pliant.core.step import step
from pliant.core.tangent import CLAMPED, EXACT, FLAT, INDEFINITE, SHIFTED, Condensed
from pliant.core.view import View
from pliant.inverse.condensed import Aim, Efforts, InverseRows, locked_motion, solve
from pliant.inverse.lost import supported
from pliant.inverse.roles import Roles, compile_roles
from pliant.inverse.settings import Settings
from pliant.laws import Known, Law
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static import relaxed, resting
from pliant.timing import Stopwatch

LADDER = (EXACT, FLAT, INDEFINITE, CLAMPED, SHIFTED)


@dataclass(frozen=True)
class Pose:
    """Where the controller stands: coordinates, efforts of all rows, contacts there with their forces [N] (n normal ones, with
    friction 3n: then along two tangents each), and the scene as seen from there (None if cells are inside out)."""

    q: np.ndarray
    lam: np.ndarray
    contacts: Contacts
    force: np.ndarray
    view: View | None
    delta: np.ndarray  # of all rows
    version: int  # of the obstacles

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
    condensed: Condensed
    predicted: np.ndarray  # δ of the effectors where the linear model expected them

    @property
    def shift(self) -> float:
        """By how much K was raised."""
        return self.condensed.shift

    @property
    def stable(self) -> bool:
        """Whether the robot was stable where the move began, its drives locked."""
        return self.condensed.treatment in (EXACT, FLAT, INDEFINITE)


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
        self.work = Stopwatch()
        self.gravity = robot.gravity
        held = supported(robot, self.roles, touching=bool(detector.opponents))
        self.scene = Scene(robot, detector, held)
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
        """The pose at q with efforts λ and the forces of contacts known before; `moved` [m] widens the search for new ones.
        `predicted`: what the motion to q was to bring, see `Robot.predict`."""
        contacts, force = (None, np.zeros(0)) if before is None else before
        known, search = (q, lam, self.internal, self.gravity, contacts, force), self.scene.search(moved)
        at = Situation(*known, predicted=predicted, search=search)
        view = self.scene.look(at, self.work)
        if view is None:
            bundle, found = self.robot.bundle, self.detector.detect(q)
            none = np.zeros(found.scalars)
            return Pose(q, lam, found, none, None, bundle.delta(bundle.positions(q)), self.detector.version)
        return self._pose(view)

    def _pose(self, view: View) -> Pose:
        contacts, own = view.contacts, view.own
        assert contacts is not None
        version = self.detector.version
        return Pose(view.q, view.lam[:own], contacts, view.force, view, view.delta[:own], version)

    def again(self, pose: Pose) -> Pose:
        """The same pose among obstacles that may have moved."""
        if pose.version == self.detector.version:
            return pose
        if pose.view is None:
            return self.pose(pose.q, pose.lam, (pose.contacts, pose.force))
        at = replace(pose.view.at, contacts=pose.contacts, force=pose.force, search=None)
        return self._pose(self.scene.touched(pose.view.bare(), at, self.work))

    def aims(self, pose: Pose) -> np.ndarray:
        """δ of the effectors."""
        return pose.delta[self.roles.effectors]

    @cached_property
    def units(self) -> np.ndarray:
        """δ of each effector row per metre of motion, see `pliant.core.rows.units`."""
        return units(self.robot)[self.roles.effectors]

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
        """One linearisation at `pose`: with the exact tangent, or the nearest one that is of use; None if none is.

        `before` is the pose at the beginning of the step.
        """
        if pose.view is None:
            return None
        robot, roles = self.robot, self.roles
        view = pose.view if pose is before else slipping(pose.view, before.q)
        rows = InverseRows(roles, view)
        choose = partial(
            solve, rows=rows, aim=aim, previous=before.lam[roles.actuators], settings=self.settings
        )
        found = step(self.scene, view, rows, choose, LADDER, self.work)
        if found is None or not np.isfinite(found.dq).all():
            return None
        own, dq, contacts, efforts = view.own, found.dq, view.contacts, found.solution
        assert contacts is not None and isinstance(efforts, Efforts)
        ahead = robot.retract(pose.q, dq), found.lam[:own], (contacts, found.lam[own:]), robot.farthest(dq)
        moved = self.pose(*ahead, robot.predict(pose.q, dq))
        if moved.view is None:
            return None
        predicted = view.delta[roles.effectors] + view.H.take(roles.effectors).dot(dq)
        return Move(moved, efforts, found.condensed, predicted)

    def decrement(self, move: Move) -> float:
        """How far the state reached is from equilibrium [m], by the factor at hand: with its efforts held, and where that is more
        than will do, with its drives locked."""
        view, condensed = move.pose.view, move.condensed
        assert view is not None
        dq = self.work.timed("recover", condensed.factor.solve, view.residual())
        far = self.robot.farthest(dq)
        if far <= self.settings.decrement * self.robot.length:
            return far
        locked = self.work.timed("recover", locked_motion, condensed, self.roles, move.efforts, dq)
        return self.robot.farthest(locked)

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
        return relaxed(self.robot, laws, begin, self.detector, tolerance, stiff=curved)

    def _resting(self) -> State:
        """Equilibrium with all actuators at zero effort, but where they hold the robot: those stay, within their limits."""
        roles, bundle = self.roles, self.robot.bundle
        delta = bundle.delta(bundle.positions(self.robot.rest.q))
        delta[roles.actuators] = np.clip(delta[roles.actuators], *roles.displacement)
        off: dict[str, Law] = {name: Known(effort=0.0) for name in dict.fromkeys(roles.names)}
        for name, span in self.robot.spans.items():
            if name in off and np.isin(np.arange(span.start, span.stop), self.scene.support.rows).any():
                off[name] = Known(displacement=delta[span])
        return resting(self.robot, {**self.laws, **off}, detector=self.detector)


def slipping(view: View, start: np.ndarray) -> View:
    """The view with slip counted from the coordinates `start`."""
    contacts = view.contacts
    if contacts is None or not contacts.frictional:
        return view
    slip = contacts.slip(view.q, start).ravel()
    return replace(view, delta=np.concatenate([view.delta[: -len(slip)], slip]))
