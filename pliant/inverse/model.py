"""The mechanics behind the inverse model: from a pose and a goal to a move, and how good it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from pliant.contact import Contacts, Detector
from pliant.core.chambers import settled
from pliant.core.rows import units
from pliant.core.scene import Scene
from pliant.core.situation import Situation, Viscous
from pliant.core.sliding import GENTLY, slid
from pliant.core.step import step, with_more_rows
from pliant.core.tangent import CLAMPED, EXACT, FLAT, INDEFINITE, SHIFTED
from pliant.core.view import View
from pliant.inverse.condensed import Aim, Efforts, InverseRows, locked_motion, solve
from pliant.inverse.pose import Move, Pose
from pliant.inverse.roles import Roles, compile_roles, supported
from pliant.inverse.settings import Settings
from pliant.laws import Known, Law
from pliant.newton import Iterate, Problem, Tolerance
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.static import relaxed, resting
from pliant.static.creep import Strides, creep
from pliant.static.loads import Loads
from pliant.static.memory import Passing
from pliant.static.stability import buckles
from pliant.timing import Stopwatch

STILL = 0.01  # of the alarm distance: contacts may close by it, however still the effectors are
PIVOTS = 500  # of the solver, that cost no more than a linearisation of a small robot
LADDER = (EXACT, FLAT, INDEFINITE, CLAMPED, SHIFTED)
AT_EFFORT_LIMIT = 1e-6  # of a bound, or of one unit where that is more: an effort so near is at it
AT_DISPLACEMENT_LIMIT = 1e-5  # of the length: a displacement so near a bound is at it


@dataclass
class Work:
    """What a step has cost: linearisations, for whatever purpose, and pivots of the solver; and times."""

    linearisations: int = 0
    pivots: int = 0
    watch: Stopwatch = field(default_factory=Stopwatch)

    @property
    def whole(self) -> int:
        """All of it in linearisations, rounded up."""
        return self.linearisations + math.ceil(self.pivots / PIVOTS)

    def clear(self) -> None:
        """Begin anew."""
        self.linearisations = self.pivots = 0
        self.watch.clear()


class Model:
    """A robot among obstacles, with the roles of its rows."""

    def __init__(
        self,
        robot: Robot,
        detector: Detector,
        laws: Mapping[str, Law],
        settings: Settings,
        state: State | None,
        damping: Any = None,
        dt: float | None = None,
    ) -> None:
        self.damping, self.dt, self.passing = damping, dt, None
        self.robot, self.detector, self.settings, self.laws = robot, detector, settings, dict(laws)
        self.roles: Roles = compile_roles(robot, laws)
        self.spent = Work()
        self.gravity = robot.gravity
        support = supported(robot, self.roles, touching=bool(detector.opponents))
        self.scene = Scene(robot, detector, support)
        start = state or self._resting()
        self.internal = start.internal
        self.roles = self.roles.filled(robot, self.internal)
        self.begun = start
        Passing.begun(robot, damping, dt, start)  # raises if these make no sense
        self.start = self.pose(start.q, np.array(start.effort))

    def with_laws(self, laws: Mapping[str, Law], pose: Pose) -> Model:
        """The same model with other laws for some rows."""
        given = self.robot, self.detector, {**self.laws, **laws}, self.settings, self.state(pose)
        return Model(*given, self.damping, self.dt)

    @property
    def work(self) -> Stopwatch:
        """Times of the stages of a step."""
        return self.spent.watch

    @property
    def left(self) -> int:
        """Linearisations that the budget of this step still has."""
        return self.settings.budget - self.spent.whole

    def state(self, pose: Pose) -> State:
        """A pose as a state of the robot, with what its materials remember after the time of this step."""
        state = State(pose.q, np.zeros(self.robot.ndof), pose.lam, pose.internal, self.gravity)
        if self.passing is None:
            return state
        t = self.passing.start.t + self.passing.dt
        return state.with_(memory=self.passing.memory(1.0, pose.q, pose.internal), t=t)

    def at(self, passing: Passing | None) -> Model:
        """The same model while this time passes."""
        other = copy(self)
        other.passing = passing
        return other

    def later(self, passing: Passing | None, pose: Pose) -> Model:
        """The same model while dt passes, after a pose that `passing` led to; None: at the beginning."""
        start = self.begun if passing is None else self.at(passing).state(pose)
        return self.at(Passing.begun(self.robot, self.damping, self.dt, start))

    @property
    def viscous(self) -> Viscous:
        """What materials add to their stress after the time of this step."""
        return None if self.passing is None else self.passing.overstress(1.0)

    def pose(
        self,
        q: np.ndarray,
        lam: np.ndarray,
        before: tuple[Contacts, np.ndarray] | None = None,
        moved: float = 0.0,
        predicted: np.ndarray | None = None,
        reach: float = 0.0,
        internal: np.ndarray | None = None,
    ) -> Pose:
        """The pose at q with efforts λ, internal variables (by default those of the start), and the forces of
        contacts known before.

        `moved` [m] widens the search for new contacts; it goes as far as `reach` [m] in any case.
        `predicted`: what the motion to q was to bring, see `Robot.predict`.
        """
        contacts, force = (None, np.zeros(0)) if before is None else before
        z = self.internal if internal is None else internal
        known, search = (q, lam, z, self.gravity, contacts, force), self.scene.search(moved)
        search = max(search, reach)
        at = Situation(*known, predicted=predicted, search=search, viscous=self.viscous)
        view = self.scene.look(at, self.work)
        if view is None:
            bundle, contacts = self.robot.bundle, self.detector.detect(q)
            delta, version = bundle.delta(bundle.positions(q)), self.detector.version
            none = np.zeros(contacts.scalars)
            return Pose(q, lam, contacts, none, None, delta, version, self.detector, z)
        return self._pose(view)

    def _pose(self, view: View) -> Pose:
        contacts, own = view.contacts, view.own
        assert contacts is not None
        version = self.detector.version
        known = view.q, view.lam[:own], contacts, view.force, view, view.delta[:own]
        return Pose(*known, version, self.detector, view.at.internal)

    def refreshed(self, pose: Pose) -> Pose:
        """The same pose among obstacles that may have moved."""
        return pose if pose.version == self.detector.version else self.searched(pose, None)

    def searched(self, pose: Pose, reach: float | None) -> Pose:
        """The same pose with the contacts that are found there now, as far as `reach` [m]."""
        if pose.view is None:
            return self.pose(pose.q, pose.lam, (pose.contacts, pose.force), internal=pose.internal)
        at = replace(pose.view.at, contacts=pose.contacts, force=pose.force, search=reach)
        return self._pose(self.scene.touched(pose.view.bare(), at, self.work))

    def arrived(self, pose: Pose, before: np.ndarray, *, been: bool) -> Pose:
        """The same pose with what materials that soften have been through `before`, and, if the robot has
        `been` there, in it.
        """
        z = self.robot.arrived(pose.q if been else None, pose.internal, before)
        if np.array_equal(z, pose.internal):
            return pose
        return self.pose(pose.q, pose.lam, (pose.contacts, pose.force), internal=z)

    def effector_delta(self, pose: Pose) -> np.ndarray:
        """δ of the effectors (ne,)."""
        return pose.delta[self.roles.effectors]

    @cached_property
    def units(self) -> np.ndarray:
        """δ of each effector row per metre of motion, see `pliant.core.rows.units`."""
        return units(self.robot)[self.roles.effectors]

    @cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the actuators (na, 4), and how near is at them (na, 4); −1: never.

        Columns are least and most λ, least and most δ.
        """
        roles, never = self.roles, -1.0
        bounds = np.column_stack([*roles.effort, *roles.displacement])
        near = np.where(np.isfinite(bounds), AT_EFFORT_LIMIT * np.maximum(1.0, np.abs(bounds)), never)
        near[:, 2:] = np.where(near[:, 2:] > 0.0, AT_DISPLACEMENT_LIMIT * self.robot.length, never)
        near[roles.one_sided, 0] = never  # slack is no limit
        return bounds, near

    def distance(self, a: np.ndarray, b: np.ndarray | float) -> float:
        """The distance [m] between two values of the effectors' δ (ne,).

        Rows in other units count by what moves the body that far.
        """
        apart = (a - b) / self.units
        return math.sqrt(apart @ apart)

    def clipped(self, error: np.ndarray, longest: float) -> np.ndarray:
        """The same δ of the effectors (ne,), or in its direction, no longer than `longest` [m]."""
        size = self.distance(error, 0.0)
        return error if size <= longest else error * (longest / size)

    # From a pose to a move.

    def move(self, pose: Pose, before: Pose, aim: Aim) -> Move | None:
        """One linearisation at `pose`; None if no tangent is of use.

        `before` is the pose at the beginning of the step.
        """
        self.spent.linearisations += 1
        if pose.view is None:
            return None
        robot, previous = self.robot, before.lam[self.roles.actuators]
        roles = self.roles.at(robot, pose.lam, pose.delta, pose.internal)
        view = pose.view if pose is before else _with_slip_from(pose.view, before.q)
        choose = partial(solve, aim=aim, previous=previous, settings=self.settings)
        motion = self.distance(aim.goal, view.delta[roles.effectors])
        rows = InverseRows.of(roles, view, motion, STILL * self.detector.alarm, aim.idle)
        taken = step(self.scene, view, rows, partial(choose, rows=rows), LADDER, self.work)
        while taken is not None and (more := rows.with_closed(taken.dq)) is not None:
            rows = more
            taken = with_more_rows(self.scene, taken, rows, partial(choose, rows=rows), self.work)
        if taken is None or not np.isfinite(taken.dq).all():
            return None
        own, dq, lam, contacts, efforts = view.own, taken.dq, taken.lam, view.contacts, taken.solution
        assert contacts is not None and isinstance(efforts, Efforts)
        self.spent.pivots += efforts.certificate.iterations
        q, known, predicted = robot.retract(pose.q, dq), (contacts, lam[own:]), robot.predict(pose.q, dq)
        tension, z = slid(robot, before.internal, pose.internal, lam[:own], before.q, q, GENTLY)
        moved = self.pose(q, tension, known, robot.farthest(dq), predicted, aim.reach, z)
        if moved.view is None:
            return None
        if robot.bundle.lined:
            z = settled(robot, self.roles.conditions, z, moved.lam, moved.delta)
            view = replace(moved.view, at=replace(moved.view.at, internal=z))
            moved = replace(moved, internal=z, view=view)
        effectors = view.delta[roles.effectors] + view.H.take(roles.effectors).dot(dq)
        return Move(moved, efforts, taken.condensed, effectors)

    def decrement(self, move: Move) -> float:
        """How far the state reached is from equilibrium [m], by the factor at hand.

        With constant efforts, and where that is more than will do, with locked drives.
        """
        view, condensed = move.pose.view, move.condensed
        assert view is not None
        dq = self.work.timed("recover", condensed.factor.solve, view.residual())
        far = self.robot.farthest(dq)
        if far <= self.settings.decrement * self.robot.length:
            return far
        locked = self.work.timed("recover", locked_motion, condensed, self.roles, move.efforts, dq)
        return self.robot.farthest(locked)

    # Equilibria.

    def commands(self, lam: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """The command to each drive (na,), from λ and δ of all rows (m,), see `Roles.commands`."""
        return self.roles.commands(lam, delta, self.settings.slack * self.robot.length)

    def equilibrium(
        self, command: np.ndarray, start: State, tolerance: Tolerance, *, stiff: bool | None = True
    ) -> Result:
        """The equilibrium with commands (na,) imposed on all drives, sought from a state nearby.

        See `relaxed`, which never raises: its certificate says whether it was found.
        """
        given = self._locked(command), start, self.detector, tolerance
        result = relaxed(self.robot, *given, stiff=stiff, passing=self.passing)
        self.spent.linearisations += max(1, result.certificate.iterations)
        return result

    def _locked(self, command: np.ndarray) -> dict[str, Law]:
        """The laws with commands (na,) imposed on all drives."""
        imposed = np.zeros(self.robot.bundle.rows)
        imposed[self.roles.actuators] = command
        still = {n: Known(displacement=imposed[self.robot.named(n)]) for n in dict.fromkeys(self.roles.names)}
        return {**self.laws, **still}

    def _yielding(self, pose: Pose) -> dict[str, Law]:
        """The laws with all drives at the efforts of a pose; those that support the robot do not move."""
        laws: dict[str, Law] = {}
        for name in dict.fromkeys(self.roles.names):
            span = self.robot.named(name)
            supports = np.isin(np.arange(span.start, span.stop), self.scene.support.rows).any()
            laws[name] = Known(displacement=pose.delta[span]) if supports else Known(effort=pose.lam[span])
        return {**self.laws, **laws}

    def crept(
        self, command: np.ndarray | None, pose: Pose, iterations: int, strides: Strides, *, stiff: bool
    ) -> tuple[Pose, float, int]:
        """Where the robot creeps from a pose with commands (na,) imposed on all drives, see `creep`.

        Without commands the drives yield: they keep their efforts. With the pose come how far [m] it is from
        equilibrium, and how many iterations it took. stiff: whether K has the contact stiffness.
        """
        laws = self._yielding(pose) if command is None else self._locked(command)
        problem, here = self._statics(laws, pose)
        now = creep(replace(problem, stiff=stiff), here, iterations, strides, self.work)
        self.spent.linearisations += max(1, now.iterations)
        known = None if now.contacts is None else (now.contacts, now.force)
        crept = self.pose(now.q, now.lam, known, internal=problem.z)
        return crept, now.decrement, now.iterations

    def buckles(self, pose: Pose) -> bool:
        """Whether the robot buckles at a pose: with all drives locked, and what pushes there in touch."""
        self.spent.linearisations += 1
        problem, here = self._statics(self._locked(self.commands(pose.lam, pose.delta)), pose)
        return buckles(problem, here, self.work)

    def _statics(self, laws: Mapping[str, Law], pose: Pose) -> tuple[Problem, Iterate]:
        """The problem of statics under these laws, and a pose as its first guess."""
        loads = Loads(self.robot, laws, self.state(pose), self.detector, passing=self.passing)
        here = Iterate(pose.q, pose.lam, pose.contacts, pose.force)
        return loads.at(1.0, here, pose.internal), here

    def pose_of(self, result: Result) -> Pose:
        """The pose of a state that statics found, with its contacts and their forces."""
        force = np.concatenate([result.contact_force, result.friction_force.ravel()])
        known = None if result.contacts is None else (result.contacts, force)
        return self.pose(result.q, np.array(result.state.effort), known, internal=result.state.internal)

    def motion(self, a: Pose, b: Pose) -> float:
        """How far [m] a node moves at most from one pose to another."""
        return farthest_node(self.robot.positions(a.q), self.robot.positions(b.q))

    def _resting(self) -> State:
        """The equilibrium with all actuators at zero effort.

        Those that support the robot stay where they are, within their limits.
        """
        roles, bundle = self.roles, self.robot.bundle
        delta = bundle.delta(bundle.positions(self.robot.rest.q))
        delta[roles.actuators] = np.clip(delta[roles.actuators], *roles.displacement)
        laws: dict[str, Law] = {name: Known(effort=0.0) for name in dict.fromkeys(roles.names)}
        for name, span in self.robot.spans.items():
            if name in laws and np.isin(np.arange(span.start, span.stop), self.scene.support.rows).any():
                laws[name] = Known(displacement=delta[span])
        return resting(self.robot, {**self.laws, **laws}, detector=self.detector)


def farthest_node(a: np.ndarray, b: np.ndarray) -> float:
    """How far [m] a node moves at most between two sets of positions (k, 3)."""
    return math.sqrt(float(((a - b) ** 2).sum(axis=1).max(initial=0.0)))


def _with_slip_from(view: View, start: np.ndarray) -> View:
    """The view with slip counted from the coordinates `start`."""
    contacts = view.contacts
    if contacts is None or not contacts.frictional:
        return view
    slip = contacts.slip(view.q, start).ravel()
    return replace(view, delta=np.concatenate([view.delta[: -len(slip)], slip]))
