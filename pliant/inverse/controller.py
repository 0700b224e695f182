"""The inverse model: efforts that bring effectors to their targets, using contacts on the way.

Each step linearises the robot where it stands, condenses it to its effectors (e), actuators (a) and contacts (c), and solves

    min ‖δ_e⁺ − goal‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. bounds on λ_a and δ_a⁺,   0 ≤ λ_c ⊥ δ_c⁺ ≥ 0

then moves there. The goal is the target, or a point on the way to it when it is far: the *task step* is limited, never dq,
so that efforts and motion stay consistent. How far the state is from equilibrium is measured, not assumed; another
linearisation follows when it asks for one, and a smaller task step when those did not help.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from pliant.contact import Detector, Obstacle
from pliant.errors import InputError
from pliant.inverse.condensed import Aim
from pliant.inverse.inputs import check_robot, check_roles, check_settings, checked_targets
from pliant.inverse.limits import active_limits, displacement_bounds, effort_bounds, within_limits
from pliant.inverse.lost import lost
from pliant.inverse.model import Model, Move, Pose
from pliant.inverse.outcome import InverseCertificate, Outcome, outcome
from pliant.inverse.recovery import Recovery
from pliant.inverse.roles import compile_roles
from pliant.inverse.settings import Settings
from pliant.laws import Law, as_vector
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State

NOTHING = 1e-6  # of the length: progress that is none
FROZEN = 1e-2  # pace below which a robot that cannot come nearer rests
BIAS = 2e-2  # of the length: how far the goal may lie beyond the target
RESTS = 1e-6  # of the length: motion in a step that is none
THERE = 1e-4  # of the length: nothing left to do
CALMEST = 100.0
BACK = 4  # steps that a robot goes back when it would buckle
AFTERWARDS = 0.25  # pace after a recovery
REACHED = 1e-3  # of the length; a target that moved by more is another one
ASTRAY = 5e-2  # of the length: decrement after which another linearisation will not help
LEAP = 5e-2  # of the length: how far the target goes before another minimum is tried again


@dataclass(frozen=True)
class Attempt:
    """A move that will do: its goal, where the first linearisation expected the effectors, and how well it went."""

    move: Move
    before: Pose
    goal: np.ndarray
    predicted: np.ndarray
    decrement: float
    linearisations: int
    halvings: int
    stable: bool  # at the pose before, its drives locked


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
        check_robot(robot)
        check_settings(settings)
        check_roles(compile_roles(robot, laws))
        detector = robot.surroundings.detector(robot, obstacles)
        self.robot, self.settings = robot, settings
        self.model = Model(robot, detector, laws or {}, settings, state and robot.checked(state))
        self.pose = self.model.start
        self.pace = 1.0  # share of the task step that worked last
        self.stuck = False  # nothing admissible was found in the last step …
        self.idle: InverseCertificate | None = None  # … nor did it move: what to say until something changes
        self.decrement = np.inf  # of the last step that was taken
        self.goal = self.model.aims(self.pose)  # of the last step
        self.backed = self.recovered = False  # went back, or had to recover, for this target: once is enough
        self.tries = 0  # task steps that would not do, so far, while the robot waits
        self.recovery = Recovery(self.model)
        self.wary: np.ndarray | None = None  # the target for which another minimum was too far
        self.safe: list[Pose] = []  # poses before the last steps, all of them stable
        self.target = self.asked = self._first_target()
        self.bias = 0.0 * self.target
        self.resting = True  # whether the target stays …
        self.calm = 1.0  # … and how much more inertia that has brought

    @property
    def state(self) -> State:
        """Where the robot is."""
        return self.model.state(self.pose)

    @property
    def targets(self) -> dict[str, np.ndarray]:
        """The target of each effector."""
        rows = self.model.roles.effectors
        mine = {name: (rows >= span.start) & (rows < span.stop) for name, span in self.robot.spans.items()}
        return {name: self.target[chosen] for name, chosen in mine.items() if chosen.any()}

    @property
    def detector(self) -> Detector:
        """Finds the contacts; adds, replaces and removes obstacles."""
        return self.model.detector

    def step(self, targets: Mapping[str, Any] | None = None) -> Outcome:
        """One step towards the targets; those not named keep theirs. Never raises because a target is out of reach."""
        begin, work = perf_counter(), self.model.work
        work.clear()
        self._aim(targets)
        before = self.model.again(self.pose)
        if before is not self.pose:  # obstacles have moved: perhaps there is a way now
            self.pace, self.stuck, self.idle = max(self.pace, AFTERWARDS), False, None
            self.recovery.forget()
        if self.idle is not None:
            return self._outcome(self.idle, begin)
        if self.recovery.underway or self._lost:
            return self._outcome(self._recovered(before), begin)
        found = self._search(before)
        if found is None:
            now = self.stuck or (self._lost and self.settings.patient)
            return self._outcome(
                self._recovered(before) if now else self._waiting("searching", before), begin
            )
        if not found.stable and self.safe and not self.backed:
            return self._outcome(self._stepped_back(found), begin)
        self.pose, self.goal, self.stuck = found.move.pose, found.goal, False
        self.decrement, self.recovered = found.decrement, self.recovered and found.halvings > 0
        self.safe = [*self.safe, before][-BACK:] if found.stable else []
        self._learn_bias(found)
        if found.halvings == 0 and self.pace >= FROZEN:
            self.pace = min(1.0, self.pace * self._gain(found))
        return self._outcome(self._certify(found), begin)

    def change(self, laws: Mapping[str, Law]) -> None:
        """Other laws for some rows from now on: bounds, an imposed value. Effectors that stay ones keep their targets."""
        kept = dict(zip(self.model.roles.effectors.tolist(), self.target, strict=True))
        self.model = self.model.with_laws(laws, self.pose)
        c = self.model.roles.conditions
        self.pose = replace(self.pose, lam=np.where(c.given, c.effort, self.pose.lam))
        fresh = self._first_target()
        rows = self.model.roles.effectors.tolist()
        self.target = np.array([kept.get(row, value) for row, value in zip(rows, fresh, strict=True)])
        self.bias = 0.0 * self.target
        self.recovery, self.tries = Recovery(self.model), 0
        self._begin_anew()

    def lose(self, name: str) -> None:
        """An actuator breaks: no effort from now on. The others take over as well as they can; without others the robot goes to where it
        rests by itself. One that alone holds the robot locks where it is."""
        here = self.pose.delta[self.robot.named(name)]
        self.change({name: lost(self.robot, name, self.model.laws, here)})

    # What a step tries.

    def _search(self, before: Pose) -> Attempt | None:
        """A task step that will do, smaller from try to try, as long as the budget of linearisations lasts; None if none did yet."""
        settings, left = self.settings, self.settings.budget
        while True:
            found, spent = self._attempt(before)
            if found is not None:
                self.tries = 0
                return found
            if self._leaps(before):
                self.wary = self.target
            else:
                self.pace *= 0.5
            left -= spent
            self.tries += 1
            if self.stuck or self._lost or left < settings.linearisations:
                return None

    @property
    def _lost(self) -> bool:
        """Whether all task steps were tried."""
        return self.tries > self.settings.halvings

    def _attempt(self, before: Pose) -> tuple[Attempt | None, int]:
        """Linearise and move towards one goal until the decrement is small; None if the state reached will not do. And how many
        linearisations it took."""
        model, settings, length = self.model, self.settings, self.robot.length
        goal = self._goal(before)
        starts = self.settings.starts if self._leaps(before) else 1
        share = max(self.pace, FROZEN)
        effort, displacement = effort_bounds(model, before, share), displacement_bounds(model, before, share)
        aim = Aim(goal, effort, displacement, self._inertia(before), starts)
        pose, move, decrement, count, predicted, stable = before, None, np.inf, 0, goal, True
        while count < settings.linearisations and decrement > settings.decrement * length:
            move, count = model.move(pose, before, aim), count + 1
            if move is None:
                return None, count
            pose, decrement = move.pose, model.decrement(move)
            if decrement > ASTRAY * length:
                return None, count
            if count == 1:
                predicted, stable = move.predicted, move.stable
        if move is None or decrement > settings.worst_decrement * length:
            return None, count
        if pose.depth > max(self._allowed_depth, 0.7 * before.depth):
            return None, count  # deeper than allowed, and not coming out fast enough
        return Attempt(move, before, goal, predicted, decrement, count, self.tries, stable), count

    def _leaps(self, before: Pose) -> bool:
        """Whether efforts far from those at hand are tried: contacts make several minima, and the linear model may be no good
        where another one lies."""
        if not len(before.contacts) or self.settings.starts == 1:
            return False
        return self.wary is None or self.model.distance(self.target, self.wary) > LEAP * self.robot.length

    def _goal(self, before: Pose) -> np.ndarray:
        """The target, or a point on the way to it."""
        here, far = self.model.aims(before), self.settings.task_step * self.robot.length
        if self.pace < FROZEN:  # no way on: stay there, and do not let small biases add up to a drift
            return here + self._clipped(self.goal - here, far)
        error = self.target - here
        clipped = self._clipped(error, self.pace * far)
        return here + clipped + (self.bias if clipped is error else 0.0)

    def _inertia(self, before: Pose) -> float:
        """ρ: more in contact, where modes change, and more and more while nothing is left to do."""
        touching = bool(before.force.any())
        return self.calm * (self.settings.inertia_in_contact if touching else self.settings.inertia)

    def _clipped(self, error: np.ndarray, task: float) -> np.ndarray:
        """The error, no longer than the task step [m]; rows in other units count by what moves the body that far."""
        size = self.model.distance(error, 0.0)
        return error if size <= task else error * (task / size)

    def _gain(self, found: Attempt) -> float:
        """What to change the pace by: less where the effectors did not come nearer as the linear model had said."""
        away = lambda delta: self.model.distance(self.target, delta)
        here = away(self.model.aims(found.before))
        hoped = here - away(found.predicted)
        if hoped < NOTHING * self.robot.length:
            return 1.0
        came = here - away(self.model.aims(found.move.pose))
        return 0.5 if came < 0.25 * hoped else 1.5 if came > 0.75 * hoped else 1.0

    def _learn_bias(self, found: Attempt) -> None:
        """How far ε holds the effectors back: by so much the goal lies beyond a target that is near (its multiplier)."""
        distance, length = self.model.distance, self.robot.length
        miss = self.target - self.model.aims(found.move.pose)
        far = distance(miss, 0.0)
        aimed = distance(found.goal, self.target + self.bias) < NOTHING * length
        if far > BIAS * length:
            self.bias = 0.0 * miss
        elif aimed:
            self.bias = self._clipped(self.bias + 0.5 * miss, BIAS * length)
        there = far < THERE * length
        self.calm = min(1.25 * self.calm, CALMEST) if there and self.resting else max(0.25 * self.calm, 1.0)

    def _waiting(self, status: str, before: Pose) -> InverseCertificate:
        """The robot stays where it is while a way on is sought."""
        self.pose = before
        limits = active_limits(self.model, before)
        return InverseCertificate(status, self.decrement, before.depth, 0, self.tries, 0.0, limits, False)

    def _recovered(self, before: Pose) -> InverseCertificate:
        """Where no step will do: the equilibrium with all drives locked, or if that is not found either, a step to it.

        One that is stuck gets no such effort again before its target or an obstacle moves; one that cannot even be brought nearer
        to equilibrium stays where it is.
        """
        self.tries = 0
        if self.stuck:
            found = self.recovery.once(before)
        else:
            found = self.recovery.advance(before, max(1, self.settings.budget * 2 // 3))
        if found is None:
            return self._waiting("recovering", before)
        self.stuck = not found.certificate.converged
        return self._rested(before, found)

    def _rested(self, before: Pose, found: Result) -> InverseCertificate:
        """Take the equilibrium that was found, or a state that is near one, or stay."""
        decrement = found.certificate.decrement
        force = np.concatenate([found.contact_force, found.friction_force.ravel()])
        known = None if found.contacts is None else (found.contacts, force)
        there = self.model.pose(found.q, np.array(found.state.effort), known)
        worst = self.settings.worst_decrement * self.robot.length
        taken = not self.stuck or (
            decrement <= worst and there.depth <= max(self._allowed_depth, before.depth)
        )
        rests = not taken or (self.recovered and self.pace < FROZEN)  # no step at all leads on
        if taken:
            self.pose, self.safe, self.decrement = there, [], decrement
            self.pace = self.pace if self.stuck or self.recovered else AFTERWARDS
            self.recovered = True
        else:
            self.pose = before
        limits = active_limits(self.model, self.pose)
        sound = (
            self.pose.depth <= self._allowed_depth
            and self.decrement <= worst
            and within_limits(self.model, self.pose)
        )
        status = "stuck" if self.stuck else "recovered"
        status = self._unreached(limits) if rests and sound else status
        certificate = InverseCertificate(
            status, self.decrement, self.pose.depth, 0, self.settings.halvings, 0.0, limits, taken
        )
        self.idle = certificate if rests else None
        return certificate

    @property
    def _allowed_depth(self) -> float:
        return self.settings.penetration * self.robot.length

    def _stepped_back(self, found: Attempt) -> InverseCertificate:
        """One step more and the robot would buckle, drives locked or not: back to a pose that was stable, and rest."""
        self.pose, self.safe, self.backed = self.model.again(self.safe[0]), [], True
        self.goal, self.pace = self.model.aims(self.pose), 0.5 * FROZEN
        certificate = self._certify(replace(found, move=replace(found.move, pose=self.pose)))
        return replace(certificate, status="about to buckle")

    # Targets, limits, words.

    def _first_target(self) -> np.ndarray:
        """Targets of the laws; where they give none, stay."""
        given = self.model.roles.target
        return np.where(np.isnan(given), self.model.aims(self.pose), given)

    def _aim(self, targets: Mapping[str, Any] | None) -> None:
        effectors, self.resting = self.model.roles.effectors, True
        for name, value in checked_targets(targets).items():
            span = self.robot.named(name)
            mine = (effectors >= span.start) & (effectors < span.stop)
            if not mine.any():
                raise InputError(f"target {name!r}", expected="a row with a Target law", got="another law")
            target = self.target.copy()
            target[mine] = as_vector(value, int(mine.sum()), f"target of {name!r}")
            moved = self.model.distance(target, self.target)
            if moved > (REACHED if self.settings.patient else self.settings.task_step) * self.robot.length:
                self._begin_anew()
            self.resting = self.resting and moved < NOTHING * self.robot.length
            self.target = target
        if self.model.distance(self.target, self.asked) > REACHED * self.robot.length:
            # It has crept there, or is followed at the pace that works.
            self._begin_anew(self.pace if self.tries else max(self.pace, AFTERWARDS))

    def _begin_anew(self, pace: float = 1.0) -> None:
        """For another target, or with other laws: whatever did not work may work now."""
        self.asked, self.pace = self.target, pace
        self.stuck, self.backed, self.recovered, self.idle = False, False, False, None

    def _certify(self, found: Attempt) -> InverseCertificate:
        length, here = self.robot.length, self.model.aims(found.move.pose)
        limits = active_limits(self.model, found.move.pose)
        status = "reached" if self.model.distance(self.target, here) < REACHED * length else "moving"
        behind = self.model.distance(found.goal, here) > 0.5 * self.settings.task_step * length
        rests = self.model.distance(self.model.aims(found.before), here) < RESTS * length
        if status == "moving" and (behind or rests or self.pace < FROZEN):
            status = self._unreached(limits)
        return InverseCertificate(
            status,
            found.decrement,
            found.move.pose.depth,
            found.linearisations,
            found.halvings,
            found.move.shift,
            limits,
            True,
            found.move.efforts.solution.certificate,
        )

    def _unreached(self, limits: tuple[str, ...]) -> str:
        if not within_limits(self.model, self.pose):
            return "stuck"  # outside its limits, and no way in
        return "at its limits" if limits else "out of reach"

    def _outcome(self, certificate: InverseCertificate, begin: float) -> Outcome:
        timings = {**self.model.work.timings, "total": perf_counter() - begin}
        return outcome(self.model, self.pose, self.target, certificate, timings)
