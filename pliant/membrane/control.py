"""Moving the object in the hand: an outer loop from its error to joint positions, by the Jacobian at rest.

    θ̇ = J⁺ [ k_p (b_des − b) + k_i ∫(b_des − b) dt + k_d (ḃ_des − ḃ) ],     J = db/dθ at rest

added to the joints of a planned grasp, from which the correction departs no further than the error asks for.
The joints follow with the lag of the inner loop, so errors are taken from the reference as that loop would
follow it. The thesis's law (4.4) is this with k_i = 0, ḃ_des = 0, without a plan, and with J⁺ where it prints
J, whose shape does not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import ConvergenceError, InputError
from pliant.membrane.equilibrium import HELD
from pliant.membrane.grasp import Plan, grasp, transfer
from pliant.membrane.hand import Hand, Held
from pliant.membrane.moving_hand import Moving
from pliant.membrane.plant import STIFFNESS, Plant, Reading, joint_inertia, joint_loads
from pliant.membrane.posture import Grip
from pliant.membrane.reach import Reach
from pliant.membrane.rehearsal import NEAR, SETTLING, check_friction, rehearsed

PERIOD = 0.053  # [s], of the outer loop in the thesis
SMALLEST_SINGULAR = 1e-3  # of the largest singular value of J: smaller ones are not inverted
SMOOTH_SLOPE = 1.875  # largest slope of the smooth way from 0 to 1
RETURN_RATE = 2.0  # [1/s], at which all corrections vanish while the model holds nothing
LEAK_RATE = 1.0  # [1/s], at which corrections vanish that do not move the object
LOST_SHARE = 0.01  # of the motion asked for: what limits may take off it before the integral stands still
PLAN_INTERVAL = 1e-4  # [s] over which the speed of a plan is measured
TARGET_INTERVAL = 1e-6  # [s], the same of a target
TIME_ROUNDING = 1e-9  # [s]
CORRECTION_PARTS = 9  # grasps of a plan that corrects what friction left
SHORTEST_CORRECTION = 0.3  # [s]
MOST_TRIES = 8  # such plans for one target
TINY = 1e-300


@dataclass(frozen=True)
class Gains:
    """Gains of the outer loop: proportional [1/s], derivative [–], integral [1/s²].

    transpose: Jᵀ, scaled to the size of J⁺, in place of J⁺.
    """

    proportional: float
    derivative: float = 0.0
    integral: float = 0.0
    transpose: bool = False

    def __post_init__(self) -> None:
        for what in ("proportional", "derivative", "integral"):
            if not getattr(self, what) >= 0.0:
                raise InputError(f"{what} gain", expected="a number ≥ 0", got=getattr(self, what))


THESIS = Gains(0.1, 0.58)
PID = Gains(2.0, 0.2, 1.0)


class Outer:
    """The outer loop: joint positions for the inner one, every `period` [s].

    hand: the controller's model. `aim` sets a target; without a plan (`planned=False`) the joints begin where
    they are and only the error moves them, as in the thesis. speed [sizes/s] of the object along a plan;
    inner [1/s²]: stiffness of the inner loop, for its lag; compliance (3f,) [rad/(N·m), m/N, rad/(N·m)]: how
    far the joints give way under it, by which commands of a plan are advanced; by default that of fingers
    with `joint_inertia`. friction: between skins and object; plans are rehearsed on a model in motion that
    has it, and where the object comes to rest off its goal a further one is made, without gains.
    """

    def __init__(
        self,
        hand: Hand,
        gains: Gains = PID,
        *,
        period: float = PERIOD,
        planned: bool = True,
        speed: float = 0.25,
        inner: float = STIFFNESS,
        compliance: Any = None,
        grip: Grip | None = None,
        reach: Reach | None = None,
        friction: float = 0.0,
    ) -> None:
        if not period > 0.0 or not speed > 0.0:
            raise InputError("period, speed", expected="positive numbers", got=(period, speed))
        self.hand, self.gains, self.period, self.planned = hand, gains, float(period), planned
        self.speed, self.inner = speed * hand.size, float(inner)  # [m/s], [1/s²]
        self.grip, self.reach = grip or Grip.of(hand), reach
        given = 1.0 / (self.inner * joint_inertia(hand)) if compliance is None else compliance
        self.compliance = np.broadcast_to(np.asarray(given, float), hand.lower.shape)
        self.friction = check_friction(friction)
        self._tries = 0
        self._twin: Moving | None = None  # the model in motion, whose skins remember how they slipped
        self._base = self._correction = np.zeros(len(hand.lower))
        self._sum = np.zeros(2)
        self._plan: Plan | None = None
        self._goal, self._began = np.zeros(2), 0.0
        self._lead, self._share, self._duration = np.zeros((1, len(hand.lower))), np.zeros(1), 0.0
        self._filtered: tuple[np.ndarray, np.ndarray] | None = None

    def aim(self, reading: Reading, target: Any, *, joints: Any = None) -> Plan | None:
        """Set a target (2,) that stays.

        UnreachableError if the hand cannot hold the object there, or cannot take it there. Without a plan
        nothing is checked. The object travels along the plan with a smooth start and end. The joints begin
        where they are, or at `joints` (3f,), as those of a first grasp.
        """
        place = np.asarray(target, float)
        if place.shape != (2,) or not np.isfinite(place).all():
            raise InputError("target", expected="a finite place (2,) [m]", got=f"{target!r}")
        self._goal, self._filtered, self._plan = place, None, None
        self._sum, self._correction = np.zeros(2), np.zeros_like(self._base)
        begin = reading.joints if joints is None else self.hand.joints(joints)
        self._began, self._base = reading.time, np.clip(begin, self.hand.lower, self.hand.upper)
        if not self.planned:
            return None
        goal = grasp(self.hand, place, start=self._base, grip=self.grip, reach=self.reach)
        self._plan = transfer(self.hand, self._base, reading.pose, goal, grip=self.grip, reach=self.reach)
        loads = [joint_loads(self.hand.rest(q, p)) for q, p in zip(self._plan.joints, self._plan.poses)]
        self._lead = -self.compliance * np.array(loads)
        steps = np.hypot(*np.diff(self._plan.poses[:, :2], axis=0).T)
        self._share = np.r_[0.0, np.cumsum(steps)] / max(float(steps.sum()), TINY)
        self._duration = SMOOTH_SLOPE * float(steps.sum()) / self.speed
        if self.friction:
            if self._twin is None:
                self._twin = Moving(self.hand, reading.joints, reading.pose, friction=self.friction)
            self._plan, self._tries = self._rehearsed(self._twin, self._plan), 0
        return self._plan

    def _rehearsed(self, twin: Moving, plan: Plan) -> Plan:
        """The plan corrected for friction, from what the skins remember of the motion so far."""
        carry = lambda joints, t: self._plan_at(joints, t) + self._plan_at(self._lead, t)
        return rehearsed(twin, plan, self._share, self._duration * _when(self._share), carry)

    def _again(self, twin: Moving, plan: Plan, reading: Reading) -> Plan:
        """From where the object has come to rest, the rest of the way: as far on as the model gets it."""
        here, missing = twin.read().pose, self._goal - reading.pose[:2]
        share = np.linspace(0.0, 1.0, CORRECTION_PARTS)
        poses = here + np.outer(share, [*missing, 0.0])
        repeated = lambda values: np.repeat(values[-1:], len(share), axis=0)
        self._lead, self._share, self._began = repeated(self._lead), share, reading.time
        self._duration = max(SMOOTH_SLOPE * float(np.hypot(*missing)) / self.speed, SHORTEST_CORRECTION)
        again = Plan(poses, repeated(plan.joints), repeated(plan.grip), repeated(plan.tension))
        return self._rehearsed(twin, again)

    def reference(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(place (2,), velocity (2,), joints (3f,)) of the plan at a time."""
        if self._plan is None:
            return self._goal, np.zeros(2), self._base
        t, poses, joints = time - self._began, self._plan.poses, self._plan.joints
        if self._twin is not None and t >= self._duration:  # wherever the model is
            return self._goal, np.zeros(2), joints[-1]
        here, soon = (self._plan_at(poses, when)[:2] for when in (t, t + PLAN_INTERVAL))
        return here, (soon - here) / PLAN_INTERVAL, self._plan_at(joints, t)

    def _plan_at(self, values: np.ndarray, t: float) -> np.ndarray:
        """A column of values along the plan, `t` [s] after its begin."""
        share = _smooth(min(t / self._duration, 1.0)) if self._duration > 0.0 else 1.0
        return np.array([np.interp(share, self._share, column) for column in values.T])

    def step(self, reading: Reading, target: Any = None, velocity: Any = (0.0, 0.0)) -> np.ndarray:
        """The next command (3f,); `target` (2,) and its velocity replace the reference for this step."""
        command = self._next(reading, target, velocity)
        if self._twin is not None:
            try:
                self._twin.advance(command, self.period)
            except ConvergenceError:  # it has lost the object: steer by the error alone
                self._twin = None
        return command

    def _next(self, reading: Reading, target: Any, velocity: Any) -> np.ndarray:
        """The same, before the model in motion hears of it."""
        if self._twin is not None and self._plan is not None and target is None:
            return self._by_rehearsal(self._twin, self._plan, reading)
        place, rate, joints = self.reference(reading.time)
        if target is not None:
            place, rate = np.asarray(target, float), np.asarray(velocity, float)
        place, rate = self._followed(place, rate) if self.planned else (place, np.zeros(2))
        error = place - reading.pose[:2]
        held = self._model(reading)
        if held is None:  # nothing to steer with: close on the object, and with a plan come back to it
            if self.planned:
                self._correction = self._correction * max(0.0, 1.0 - RETURN_RATE * self.period)
            return self._command(joints + self._correction, reading.time)
        v = (
            self.gains.proportional * error
            + self.gains.integral * self._sum
            + self.gains.derivative * (rate - reading.velocity[:2])
        )
        J = held.jacobian[:2]
        wanted = joints + self._correction + self.period * (self._inverse(J, v, joints) - self._idle(J))
        within = np.clip(wanted, self.hand.lower, self.hand.upper)
        self._correction = within - joints
        lost = np.abs(J @ (within - wanted)).max() > LOST_SHARE * self.period * np.abs(v).max()
        if not lost or error @ self._sum < 0.0:  # no winding up at a limit
            self._sum = self._sum + self.period * error
        return self._command(within, reading.time)

    def _by_rehearsal(self, twin: Moving, plan: Plan, reading: Reading) -> np.ndarray:
        """The plan as it was rehearsed; at its end, if the object is not at its goal, a further one.

        An integral of the error would build up while the skins stick, and go too far when they slip.
        """
        rested = reading.time - self._began > self._duration + SETTLING
        off = float(np.hypot(*(self._goal - reading.pose[:2]))) > NEAR * self.hand.size
        if rested and off and self._tries < MOST_TRIES:
            self._plan = plan = self._again(twin, plan, reading)
            self._tries += 1
        return self._command(self._plan_at(plan.joints, reading.time - self._began), reading.time)

    def _command(self, joints: np.ndarray, time: float) -> np.ndarray:
        """Joints within their limits, advanced by what they give way under the load of the plan."""
        within = np.clip(joints, self.hand.lower, self.hand.upper)
        return within if self._plan is None else within + self._plan_at(self._lead, time - self._began)

    def _followed(self, place: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The reference as the critically damped inner loop follows it, one period further with each call."""
        if self._filtered is None:
            self._filtered = (place.copy(), np.zeros(2))
        at, speed = self._filtered
        h, s = self.period, self.inner
        faster = (speed + h * s * (place + h * rate - at)) / (1.0 + 2.0 * np.sqrt(s) * h + s * h * h)
        self._filtered = (at + h * faster, faster)
        return at, speed

    def _idle(self, J: np.ndarray) -> np.ndarray:
        """Part of the correction that does not move the object, at the rate at which it vanishes.

        None without a plan.
        """
        if not self.planned:
            return np.zeros_like(self._correction)
        scale = self.hand.upper - self.hand.lower
        A, c = J * scale, self._correction / np.where(scale > 0.0, scale, 1.0)
        return LEAK_RATE * scale * (c - np.linalg.pinv(A, rcond=SMALLEST_SINGULAR) @ (A @ c))

    def _model(self, reading: Reading) -> Held | None:
        """The model at rest with the measured joints, else with those of the plan.

        None where neither holds the object.
        """
        places = [(reading.joints, reading.pose)]
        # Friction, or an end that touches the object, may keep it where the model would not.
        if self._plan is not None:
            t = reading.time - self._began
            places.append((self._plan_at(self._plan.joints, t), self._plan_at(self._plan.poses, t)))
        for joints, pose in places:
            try:
                held = self.hand.rest(joints, pose)
            except InputError:
                continue
            if held.status == HELD and held.rest.touching.all():
                return held
        return None

    def _inverse(self, J: np.ndarray, v: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """θ̇ (3f,) with Jθ̇ = v of least size, joints measured by their range.

        Joints at a limit that would pass it stay out.
        """
        scale, now = self.hand.upper - self.hand.lower, joints + self._correction
        use = scale > 0.0
        for _ in range(len(scale)):
            A = J * np.where(use, scale, 0.0)
            if self.gains.transpose:
                rate = scale * (A.T @ v) / np.linalg.norm(A, 2) ** 2
            else:
                rate = scale * (np.linalg.pinv(A, rcond=SMALLEST_SINGULAR) @ v)
            then = now + self.period * rate
            at_limit = use & ((then > self.hand.upper) | (then < self.hand.lower)) & (np.abs(rate) > 0.0)
            if not at_limit.any() or use.sum() - at_limit.sum() < 2:
                return rate
            use = use & ~at_limit
        return rate


@dataclass(frozen=True, eq=False)
class Track:
    """n readings of a run: time (n,) [s], target and place (n, 2) [m], joints and command (n, 3f)."""

    time: np.ndarray
    target: np.ndarray
    place: np.ndarray
    joints: np.ndarray
    command: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """(n,) distance from the target [m]."""
        return np.hypot(*(self.place - self.target).T)

    def settled(self, last: float = 1.0) -> float:
        """Largest error over the last seconds [m]."""
        return float(self.error[self.time >= self.time[-1] - last].max())


def follow(
    plant: Plant, outer: Outer, duration: float, *, target: Callable[[float], Any] | None = None
) -> Track:
    """Run the loop for `duration` [s].

    `target(t)` (2,), t from the start of this run, replaces what the loop was aimed at.
    """
    reading, rows = plant.read(), []
    begin = reading.time
    while reading.time < begin + duration - TIME_ROUNDING:
        t = reading.time - begin
        if target is None:
            command, wanted = outer.step(reading), outer.reference(reading.time)[0]
        else:
            wanted, soon = np.asarray(target(t), float), np.asarray(target(t + TARGET_INTERVAL), float)
            command = outer.step(reading, wanted, (soon - wanted) / TARGET_INTERVAL)
        rows.append((reading.time, wanted, reading.pose[:2], reading.joints, command))
        reading = plant.advance(command, outer.period)
    return Track(*(np.array(column) for column in zip(*rows)))


def _smooth(s: Any) -> Any:
    """0 … 1 with zero speed and acceleration at both ends; its largest slope is SMOOTH_SLOPE."""
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def _when(share: np.ndarray) -> np.ndarray:
    """The s (n,) at which `_smooth` is a share (n,)."""
    s = np.linspace(0.0, 1.0, 1001)
    return np.interp(share, _smooth(s), s)
