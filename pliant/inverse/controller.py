"""The inverse model: efforts that bring effectors to their targets, using contacts on the way.

Each step linearises the robot where it stands, condenses it to its effectors (e), actuators (a) and contacts (c), and solves

    min ‖δ_e⁺ − goal‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. bounds on λ_a and δ_a⁺,   0 ≤ λ_c ⊥ δ_c⁺ ≥ 0

then moves there. The goal is the target, or a point on the way to it when it is far: the *task step* is limited, never dq,
so that efforts and motion stay consistent. How far the state is from equilibrium (the Newton decrement) is measured, not
assumed; another linearisation follows when it asks for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from pliant.algebra import Factor, NotPositiveDefinite
from pliant.contact import Contacts, Obstacle
from pliant.errors import ConvergenceError, InputError
from pliant.hold import Hold, hold, nothing
from pliant.inverse.condensed import condense, recover, solve
from pliant.inverse.outcome import InverseCertificate, Outcome
from pliant.inverse.roles import compile_roles
from pliant.inverse.settings import Settings
from pliant.laws import Known, Law, as_vector
from pliant.robot import Robot
from pliant.state import State
from pliant.static import static
from pliant.step import Linear, Workspace, factorise, factorise_shifted, linearise


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
    solution: Any
    factor: Factor
    shift: float


class Inverse:
    """Inverse model of a robot among obstacles.

        ctl = pl.Inverse(robot, obstacles=[pl.Sphere((0.05, 0, 0.1), 0.02)])
        out = ctl.step(targets={"tip": [x, y, z]})

    Rows with a `Bounded` law are chosen, rows with a `Target` are effectors; all others stay as their law says. `laws` replaces
    laws of the robot, `state` is where to start (default: the equilibrium with all actuators at zero effort). `obstacles` come
    on top of the robot's surroundings; they may be added, moved and removed between steps through `detector`.
    """

    def __init__(
        self,
        robot: Robot,
        obstacles: Iterable[Obstacle] = (),
        *,
        laws: Mapping[str, Law] | None = None,
        state: State | None = None,
        settings: Settings = Settings(),  # noqa: B008  (frozen)
    ) -> None:
        self.robot, self.settings = robot, settings
        self.roles = compile_roles(robot, laws)
        obstacles = tuple(obstacles)
        self.detector = robot.surroundings.detector(robot, obstacles)
        self.hold = self._held()
        start = state or self._resting(laws, obstacles)
        self.internal, self.gravity = start.internal, robot.gravity
        self.pose = Pose(start.q, np.array(start.effort), None, np.zeros(0))
        self.work = Workspace()
        self.pace = 1.0  # share of the task step that worked last
        self.reference = self._delta(self.pose.q)  # δ that speed limits count from
        self.target = np.where(
            np.isnan(self.roles.target), self.reference[self.roles.effectors], self.roles.target
        )

    def step(self, targets: Mapping[str, Any] | None = None) -> Outcome:
        """One step towards the targets; those not named keep theirs. Never raises because a target is out of reach."""
        begin = perf_counter()
        self.work.timings.update(dict.fromkeys(self.work.timings, 0.0))
        self._aim(targets)
        before, halving = self.pose, 0
        for halving in range(self.settings.halvings + 1):  # noqa: B007  (counted for the certificate)
            task = self.pace * self.settings.task_step * self.robot.length
            move, decrement, count, goal = self._attempt(before, task)
            depth = self._penetration(move.pose) if move else np.inf
            if move and self._acceptable(before, depth, decrement):
                break
            self.pace *= 0.5
        else:
            halving += 1
        self.pace = min(1.0, self.pace * (1.5 if halving == 0 else 1.0))
        if move is None:  # nothing admissible was found: stay, and say so
            certificate = InverseCertificate(
                "stuck", decrement, self._penetration(before), 0, halving, 0.0, (), False
            )
            return self._outcome(before, certificate, begin)
        self.pose = move.pose
        certificate = self._certify(move, decrement, depth, count, halving, goal)
        outcome = self._outcome(move.pose, certificate, begin)
        self.reference = self._delta(move.pose.q)
        return outcome

    def _acceptable(self, before: Pose, depth: float, decrement: float) -> bool:
        """Not deeper than allowed (or coming out fast enough), and near enough to equilibrium for the next step to mend."""
        allowed = max(self.settings.penetration * self.robot.length, 0.7 * self._penetration(before))
        return depth <= allowed and decrement <= self.settings.worst_decrement * self.robot.length

    # The step, from top to bottom.

    def _attempt(self, before: Pose, task: float) -> tuple[Move | None, float, int, np.ndarray]:
        """Linearise and move until the decrement is small; the goal stays the same."""
        here = self._delta(before.q)[self.roles.effectors]
        goal = here + self._clipped(self.target - here, task)
        pose, move, decrement, count = before, None, np.inf, 0
        while count < self.settings.linearisations:
            tried = self._move(pose, before, goal)
            if tried is None:
                break
            move, pose, count = tried, tried.pose, count + 1
            decrement = self._decrement(move)
            if decrement <= self.settings.decrement * self.robot.length:
                break
        return move, decrement, count, goal

    def _move(self, pose: Pose, before: Pose, goal: np.ndarray) -> Move | None:
        work, robot = self.work, self.robot
        linear = work.timed("linearise", self._linearise, pose)
        if linear is None:
            return None
        contacts = work.timed("detect", self._detect, pose)
        factor, linear, shift = work.timed("factorise", self._factorise, linear, pose)
        roles, acting = self.roles, self.roles.actuators
        condensed = work.timed("condense", condense, factor, linear, roles, contacts, pose.q)
        bounds, touching = self._displacement_bounds(before), bool(pose.force.any())
        previous, begin = before.lam[acting], pose.lam[acting]
        efforts = work.timed(
            "solve", solve, condensed, roles, goal, bounds, previous, begin, touching, self.settings
        )
        dq = work.timed("recover", recover, factor, condensed, roles, efforts)
        if not np.isfinite(dq).all():
            return None
        longest = float(np.abs(robot.reach * dq).max(initial=0.0))
        lam = self.hold.efforts(efforts.lam, linear.H, dq)
        moved = Pose(robot.retract(pose.q, dq), lam, contacts, efforts.force, longest)
        return Move(moved, efforts.solution, factor, shift)

    def _linearise(self, pose: Pose, *, clamp: bool = False) -> Linear | None:
        linear = linearise(self.robot, pose.q, pose.lam, self.internal, self.gravity, clamp=clamp)
        if linear is not None and linear.K is not None:
            self.hold.stiffen(linear.K, linear.H)
        return linear

    def _detect(self, pose: Pose) -> Contacts:
        return self.detector.detect(pose.q, self.detector.reach(pose.moved))

    def _factorise(self, linear: Linear, pose: Pose) -> tuple[Factor, Linear, float]:
        """The exact tangent; where it is not positive definite the clamped one, then a shifted one."""
        assert linear.K is not None
        try:
            return factorise(self.robot, linear.K, self.work), linear, 0.0
        except NotPositiveDefinite:
            clamped = self._linearise(pose, clamp=True)
        assert clamped is not None and clamped.K is not None
        try:
            return factorise(self.robot, clamped.K, self.work), clamped, 1e-12
        except NotPositiveDefinite:
            factor, shift = factorise_shifted(self.robot, clamped.K, self.work)
            return factor, clamped, shift

    def _decrement(self, move: Move) -> float:
        """max|K⁻¹(r + Hᵀλ + H_cᵀλ_c)| at the state reached, with the factor at hand [m]."""
        pose = move.pose
        linear = self.work.timed(
            "linearise", linearise, self.robot, pose.q, pose.lam, self.internal, self.gravity, tangent=False
        )
        if linear is None:
            return float("inf")
        r = linear.residual(pose.lam)
        if pose.contacts is not None and pose.force.any():
            r = r + pose.contacts.rows(pose.q).transpose_dot(pose.force)
        return float(np.abs(self.work.timed("recover", move.factor.solve, r)).max(initial=0.0))

    # Targets, limits, words.

    def _aim(self, targets: Mapping[str, Any] | None) -> None:
        for name, value in dict(targets or {}).items():
            span = self.robot.named(name)
            mine = (self.roles.effectors >= span.start) & (self.roles.effectors < span.stop)
            if not mine.any():
                raise InputError(f"target {name!r}", expected="a row with a Target law", got="another law")
            self.target[mine] = as_vector(value, int(mine.sum()), f"target of {name!r}")

    def _clipped(self, error: np.ndarray, task: float) -> np.ndarray:
        """The error, no longer than the task step [m]; rows in other units count by what moves the body that far."""
        size = float(np.linalg.norm(error / self._units))
        return error if size <= task else error * (task / size)

    @cached_property
    def _units(self) -> np.ndarray:
        """δ of each effector row per metre of motion: 1 for positions, an area for volumes, 1/lever for angles."""
        robot, rows = self.robot, self.roles.effectors
        rest = linearise(
            robot, robot.rest.q, robot.rest.effort, robot.rest.internal, self.gravity, tangent=False
        )
        assert rest is not None
        sizes = [row.interaction.size for row in robot.rows.values()]
        metres = np.repeat([row.interaction.unit == "m" for row in robot.rows.values()], sizes)[rows]
        return np.where(metres, 1.0, np.maximum(rest.H.norms()[rows], 1e-300))

    def _displacement_bounds(self, before: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Limits of δ_a⁺: the law's, and how far a taut actuator may move in one period."""
        roles, reach = self.roles, self.roles.speed / self.settings.rate
        here, taut = self.reference[roles.actuators], ~roles.one_sided | (before.lam[roles.actuators] > 0)
        low = np.where(
            taut & np.isfinite(reach) & ~roles.one_sided,
            np.maximum(roles.displacement[0], here - reach),
            roles.displacement[0],
        )
        high = np.where(
            taut & np.isfinite(reach), np.minimum(roles.displacement[1], here + reach), roles.displacement[1]
        )
        return np.minimum(low, high), high

    def _delta(self, q: np.ndarray) -> np.ndarray:
        return self.robot.bundle.delta(self.robot.bundle.positions(q))

    def _held(self) -> Hold:
        """Which rows hold the robot, if its supports do not: imposed displacements, and actuators that push and pull."""
        robot, roles = self.robot, self.roles
        if not robot.rigid_modes():
            return nothing(robot)
        able = roles.conditions.holding.copy()
        able[roles.actuators[~roles.one_sided]] = True
        rest = linearise(robot, robot.rest.q, robot.rest.effort, robot.rest.internal, robot.gravity)
        assert rest is not None and rest.K is not None
        return hold(robot, able, rest.K, rest.H)

    def _resting(self, laws: Mapping[str, Law] | None, obstacles: Sequence[Obstacle]) -> State:
        """Equilibrium with all actuators at zero effort, but where they hold the robot: those stay, within their limits."""
        roles, delta = self.roles, self._delta(self.robot.rest.q)
        delta[roles.actuators] = np.clip(delta[roles.actuators], *roles.displacement)
        off: dict[str, Law] = {name: Known(effort=0.0) for name in dict.fromkeys(roles.names)}
        for name, span in self.robot.spans.items():
            if name in off and np.isin(np.arange(span.start, span.stop), self.hold.rows).any():
                off[name] = Known(displacement=delta[span])
        try:
            return static(self.robot, {**(laws or {}), **off}, obstacles=obstacles).state
        except ConvergenceError as error:  # the loop goes on from the best state there is
            return error.result.state

    def _penetration(self, pose: Pose) -> float:
        """Depth of the deepest collision sample at a pose [m]."""
        gap = self.detector.detect(pose.q).gap
        return float(max(0.0, -gap.min(initial=0.0)))

    def _certify(
        self, move: Move, decrement: float, depth: float, count: int, halvings: int, goal: np.ndarray
    ):
        limits = self._active_limits(move.pose)
        error = self.target - self._delta(move.pose.q)[self.roles.effectors]
        far = float(np.linalg.norm(error / self._units))
        status = "reached" if far < 1e-3 * self.robot.length else "moving"
        here = float(np.linalg.norm((goal - self._delta(move.pose.q)[self.roles.effectors]) / self._units))
        if status == "moving" and here > 0.5 * self.settings.task_step * self.robot.length:
            status = "at its limits" if limits else "out of reach"
        certificate = InverseCertificate(status, decrement, depth, count, halvings, move.shift, limits, True)
        return replace(certificate, solver=move.solution.certificate)

    def _active_limits(self, pose: Pose) -> tuple[str, ...]:
        """Which actuator stands at which limit, in words."""
        roles, lam, delta = (
            self.roles,
            pose.lam[self.roles.actuators],
            self._delta(pose.q)[self.roles.actuators],
        )
        out = []
        for k, name in enumerate(roles.names):
            near = lambda x, bound: np.isfinite(bound) and abs(x - bound) <= 1e-6 * max(1.0, abs(bound))
            if near(lam[k], roles.effort[1][k]):
                out.append(f"{name}: largest effort")
            if near(lam[k], roles.effort[0][k]) and not roles.one_sided[k]:
                out.append(f"{name}: smallest effort")
            for bound, word in zip(roles.displacement, ("smallest", "largest"), strict=True):
                if np.isfinite(bound[k]) and abs(delta[k] - bound[k]) <= 1e-5 * self.robot.length:
                    out.append(f"{name}: {word} displacement")
        return tuple(out)

    def _outcome(self, pose: Pose, certificate: InverseCertificate, begin: float) -> Outcome:
        robot, roles, delta = self.robot, self.roles, self._delta(pose.q)
        error = np.zeros(robot.bundle.rows)
        error[roles.effectors] = self.target - delta[roles.effectors]
        command = delta.copy()
        slack = roles.one_sided & (pose.lam[roles.actuators] <= 0)
        command[roles.actuators[slack]] -= self.settings.slack * robot.length
        chosen = lambda values, role: {
            n: v for n, v in robot.split(values).items() if robot.rows[n].law.role == role
        }
        state = State(pose.q, np.zeros(robot.ndof), pose.lam, self.internal, self.gravity)
        return Outcome(
            robot,
            state,
            robot.split(pose.lam),
            robot.split(delta),
            chosen(error, "effector"),
            chosen(command, "actuator"),
            pose.contacts,
            pose.force,
            certificate,
            {**self.work.timings, "total": perf_counter() - begin},
        )
