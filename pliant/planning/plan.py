"""A plan: keyframes of effectors as commands over time, through the contacts that the way there needs.

    plan = pl.planning.plan(robot, [{"tip": a}, {"tip": b}], obstacles=[wall], speed=0.05)
    for frame in plan.play(session): ...

The inverse model says how to reach a target that is near; it does not look ahead. Here it walks along the way
to each keyframe; where it gets no further, detours are tried, which end in other contacts (`detour`). The
commands along the way then get their times from the actuators' speed (`timing`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact import Obstacle
from pliant.errors import InputError, PliantError, unknown_name
from pliant.inverse import Settings
from pliant.laws import as_vector
from pliant.planning.detour import around
from pliant.planning.timing import duration, full_speed, progress, sampled
from pliant.planning.walk import Leg, Walker
from pliant.robot import Robot
from pliant.state import State

INF = float("inf")
TOLERANCE = 2e-3  # of the robot's length: how near an effector must come to a keyframe
SAME_PERIOD = 1e-6  # [s]: by how much the period of a session may differ from that of a plan
PERIOD_ROUNDING = 1e-6  # of a period: what rounding may add to a duration
TINY = 1e-300


class PlanError(PliantError):
    """No way was found; `legs` are those that were, the last one as near as it came."""

    def __init__(self, message: str, legs: Sequence[Leg]) -> None:
        self.legs = tuple(legs)
        super().__init__(message)


@dataclass(frozen=True, eq=False)
class Plan:
    """Motion at a fixed rate.

    time (n,) [s]; targets of effectors, commands and efforts of actuators by row, (n, m); arrivals: when each
    keyframe is reached [s]; legs: how; state: of the robot at the end.
    """

    robot: Robot
    time: np.ndarray
    targets: Mapping[str, np.ndarray]
    commands: Mapping[str, np.ndarray]
    efforts: Mapping[str, np.ndarray]
    arrivals: tuple[float, ...]
    legs: tuple[Leg, ...]
    state: State

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.time[-1])

    @property
    def speeds(self) -> dict[str, float]:
        """The fastest change of each actuator's command [unit/s]."""
        dt = np.diff(self.time)[:, None]
        return {
            row: float(np.abs(np.diff(u, axis=0) / dt).max(initial=0.0)) for row, u in self.commands.items()
        }

    def play(self, session: Any) -> Iterator[Any]:
        """Frames of a session in inverse mode that is aimed along the plan; its period must be the plan's."""
        step = self.duration / max(len(self.time) - 1, 1)
        if abs(session.period - step) > SAME_PERIOD:
            raise InputError("period of the session", expected=f"the plan's, {step:g} s", got=session.period)
        for k in range(len(self.time)):
            for row, values in self.targets.items():
                session.aim(row, values[k])
            yield session.step()


@dataclass(frozen=True, eq=False)
class _Moment:
    command: Mapping[str, np.ndarray]
    effort: Mapping[str, np.ndarray]
    displacement: Mapping[str, np.ndarray]


class Playback:
    """A controller for `pliant.hardware.Loop` that sends the commands of a plan, one a step."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.robot = plan, plan.robot
        self._next = -1  # the loop's first step comes before its devices are armed

    @property
    def over(self) -> bool:
        """Whether the last command was sent."""
        return self._next >= len(self.plan.time)

    def step(self) -> _Moment:
        """The next commands."""
        k = min(max(self._next, 0), len(self.plan.time) - 1)
        self._next += 1
        pick = lambda values: {row: v[k] for row, v in values.items()}
        return _Moment(pick(self.plan.commands), pick(self.plan.efforts), pick(self.plan.commands))


def plan(
    robot: Robot,
    keyframes: Sequence[Mapping[str, Any]],
    *,
    obstacles: Sequence[Obstacle] = (),
    speed: float | Mapping[str, float] | None = None,
    effector_speed: float = INF,
    ramp: float = 0.2,
    rate: float = 50.0,
    stop: bool = True,
    tolerance: float | None = None,
    attempts: int = 60,
    seed: int = 0,
    settings: Settings | None = None,
) -> Plan:
    """Plan from rest through keyframes, targets of effectors by row.

    speed: of actuators [unit/s], one or by row (default: that of their laws); effector_speed [m/s]. ramp [s]:
    how long it takes to full speed. stop: rest at each keyframe. tolerance: how near an effector must come
    (0.2 % of the length). attempts: walks that one keyframe may take before PlanError.
    """
    tolerance = TOLERANCE * robot.length if tolerance is None else tolerance
    walker = Walker(robot, obstacles, settings=settings, tolerance=tolerance)
    goals = _goals(walker, keyframes)
    speeds = _speeds(walker, speed)
    _check(effector_speed, speeds, ramp, rate)
    rng, pose, legs = np.random.default_rng(seed), walker.start(), []
    for number, goal in enumerate(goals):
        leg = around(walker, pose, goal, attempts=attempts, rng=rng)
        legs.append(leg)
        if not leg.arrived:
            far = f"{leg.error:.3g} from it after {attempts} walks at most ({leg.why})"
            raise PlanError(f"No way to keyframe {number}: the nearest ends {far}.", legs)
        pose = leg.poses[-1]
    return _timed(walker, legs, speeds, effector_speed, ramp, rate, stop)


def _goals(walker: Walker, keyframes: Sequence[Mapping[str, Any]]) -> list[np.ndarray]:
    """Keyframes as vectors; effectors that one does not name stay where the one before has them."""
    robot = walker.robot
    if not (walker.effectors and walker.actuators):
        raise InputError("robot", expected="actuators and effectors", got=f"none in {robot.name!r}")
    if not keyframes:
        raise InputError("keyframes", expected="at least one", got="none")
    now = walker.split(walker.start().effector) if len(walker.effectors) > 1 else {}
    goals = []
    for number, frame in enumerate(keyframes):
        for row, value in frame.items():
            if row not in walker.effectors:
                raise unknown_name("effector", row, walker.effectors)
            size = robot.rows[row].interaction.size
            now = {**now, row: as_vector(value, size, f"keyframe {number}, {row!r}")}
        missing = [row for row in walker.effectors if row not in now]
        if missing:
            raise InputError(f"keyframe {number}", expected=f"a target of {missing[0]!r}", got="none")
        goals.append(walker.joined(now))
    return goals


def _speeds(walker: Walker, speed: float | Mapping[str, float] | None) -> np.ndarray:
    """(a,) of all actuators; those of the laws where none is given."""
    robot = walker.robot
    for row in speed if isinstance(speed, Mapping) else ():
        if row not in walker.actuators:
            raise unknown_name("actuator", row, walker.actuators)
    out = []
    for row in walker.actuators:
        given = speed.get(row) if isinstance(speed, Mapping) else speed
        law = float(getattr(robot.rows[row].law, "speed", INF))
        out += [law if given is None else min(float(given), law)] * robot.rows[row].interaction.size
    return np.array(out)


def _check(effector_speed: float, speeds: np.ndarray, ramp: float, rate: float) -> None:
    if not (np.isfinite(speeds).any() or np.isfinite(effector_speed)):
        raise InputError(
            "speed", expected="of actuators or of effectors", got="none", hint="speed=0.05, say."
        )
    for name, value in (("speed", float(speeds.min())), ("effector_speed", effector_speed), ("rate", rate)):
        if not value > 0:
            raise InputError(name, expected="positive numbers", got=value)
    if not 0 <= ramp < INF:
        raise InputError("ramp", expected="a time ≥ 0 [s]", got=ramp)


def _timed(
    walker: Walker,
    legs: list[Leg],
    speeds: np.ndarray,
    effector_speed: float,
    ramp: float,
    rate: float,
    stop: bool,
) -> Plan:
    """Motions of the legs one after another; as one motion if it does not stop between."""
    if stop:
        parts = [list(leg.poses) for leg in legs]
    else:
        parts = [[pose for leg in legs for pose in leg.poses]]
    columns, arrivals, begin = [], [], 0
    for poses in parts:
        stack = lambda name, poses=poses: np.array([getattr(pose, name) for pose in poses])
        u, lam, x = stack("command"), stack("effort"), stack("effector")
        s = full_speed(u, speeds, x, effector_speed)
        count = max(1, int(np.ceil(duration(s[-1], ramp) * rate - PERIOD_ROUNDING)))
        slower = max(duration(s[-1], ramp) * rate / count, TINY)  # to end on a sample
        at = progress(np.arange(1, count + 1) / rate * slower, float(s[-1]), ramp)
        first = [] if columns else [np.concatenate([x[0], u[0], lam[0]])[None]]
        columns += [*first, sampled(s, np.column_stack([x, u, lam]), at)]
        begin += count
        arrivals.append(begin / rate)
    table = np.concatenate(columns)
    x, u, lam = np.split(table, np.cumsum([len(x[0]), len(u[0])]), axis=1)
    return Plan(
        walker.robot,
        np.arange(len(table)) / rate,
        _by_row(walker, walker.effectors, x),
        _by_row(walker, walker.actuators, u),
        _by_row(walker, walker.actuators, lam),
        tuple(arrivals),
        tuple(legs),
        legs[-1].poses[-1].state,
    )


def _by_row(walker: Walker, names: Sequence[str], values: np.ndarray) -> dict[str, np.ndarray]:
    sizes = [walker.robot.rows[name].interaction.size for name in names]
    return dict(zip(names, np.split(values, np.cumsum(sizes)[:-1], axis=1), strict=True))
