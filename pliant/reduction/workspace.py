"""Plans of postures that a robot takes in use: a few actuators at a time, none against another."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pliant.compliance import Compliance, compliance
from pliant.errors import ConvergenceError, InputError, SingularError
from pliant.laws import Known
from pliant.reduction.plans import Plan
from pliant.robot import Robot
from pliant.stage import RowFacts
from pliant.static import Budget, static

ANTAGONISTIC = -0.02  # correlation of two actuators in W below which they work against each other
PARTS = (1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1.0)  # of a reach, tried one after the other
SMALLEST = 1 / 100  # of a reach
PATIENCE = Budget(iterations=40, seconds=3600.0)  # of one: steps take about ten; no clock decides
LEAST_SHARE = 0.3  # of an actuator's reach: the smallest that is drawn


@dataclass(frozen=True)
class Reach:
    """How an actuator is driven ("effort" or "displacement"), its command at rest, and its largest.

    `least`: its largest the other way, if it is driven there too.
    """

    drive: str
    rest: float
    most: float
    least: float | None = None


def reaches(robot: Robot, laws: Mapping[str, Known]) -> dict[str, Reach]:
    """The reach of every scalar actuator: the largest command of its kind in a demonstration.

    Kinds that the demonstration leaves out go to half of their limits. At rest, what can only pull is paid
    out.
    """
    most: dict[tuple[type, str], float] = {}
    for name, law in laws.items():
        drive = "displacement" if law.displacement is not None else "effort"
        value = float(np.max(np.abs(np.asarray(getattr(law, drive), float))))
        key = type(robot.rows[name].interaction), drive
        most[key] = max(most.get(key, 0.0), value)
    return {name: _reach(robot, name, most) for name in robot.by_role("actuator")}


def limit_reaches(robot: Robot) -> dict[str, Reach]:
    """The reach of every scalar actuator, from the limits of its own row.

    It is driven by displacement where that has limits, as far as these go, or as far as its largest effort
    takes it, whichever is less; otherwise by effort. What can only pull is paid out at rest. Where actuators
    hold the robot, as motors an arm on hinges, efforts alone take it nowhere.
    """
    W, out = _compliance(robot), {}
    for name in robot.by_role("actuator"):
        facts = RowFacts.of(robot, name)
        _check_scalar(name, facts)
        low, high = facts.limits(facts.drive)
        if not np.isfinite((low, high)).all() or low == high:
            hint = "Give the row a finite limit: effort = [0, 20], or displacement."
            raise InputError(f"limits of {name!r}", expected="a finite range", got=(low, high), hint=hint)
        pulls = robot.rows[name].interaction.effort_range[0] >= 0
        if facts.drive == "effort":
            out[name] = Reach("effort", 0.0, high, low if low < 0 else None)
            continue
        most, least = high, low
        if W is not None:
            softness = float(W.block(name, name)[0, 0])
            weakest, strongest = (_taken(robot, name, effort, softness) for effort in facts.effort)
            most, least = min(high, strongest), max(low, weakest)
        rest = max(low, -most) if pulls else 0.0
        out[name] = Reach("displacement", rest, most, least if least < 0 and not pulls else None)
    return out


def _taken(robot: Robot, name: str, effort: float, softness: float) -> float:
    """δ to which an effort takes a row with all others idle; where that is not found, as W at rest says."""
    if effort == 0.0 or not np.isfinite(effort):
        return softness * effort
    idle = {other: Known(effort=0.0) for other in robot.by_role("actuator")}
    try:
        found = static(robot, {**idle, name: Known(effort=effort)}, budget=PATIENCE)
    except (ConvergenceError, SingularError):  # none there, or an actuator alone holds it
        return softness * effort
    return float(found.displacement[name][0])


def _compliance(robot: Robot) -> Compliance | None:
    """W at rest; None where nothing but actuators holds the robot."""
    try:
        return compliance(robot)
    except SingularError:
        return None


def attainable(robot: Robot, reach: Mapping[str, Reach]) -> dict[str, Reach]:
    """The same reaches, each cut to where its actuator alone still has an equilibrium, as found in parts.

    Limits are often guesses: a slender body buckles long before a cable is at its largest tension.
    """
    idle = {name: Known(**{of.drive: of.rest}) for name, of in reach.items()}

    def furthest(name: str, end: float) -> float:
        of, state, share = reach[name], None, 0.0
        for part in PARTS:
            value = of.rest + part * (end - of.rest)
            try:
                state = static(
                    robot, {**idle, name: Known(**{of.drive: value})}, state=state, budget=PATIENCE
                ).state
                share = part
            except ConvergenceError:
                break
        smaller = PARTS[0] / 2
        while not share and smaller > SMALLEST:
            value = of.rest + smaller * (end - of.rest)
            with suppress(ConvergenceError):
                static(robot, {**idle, name: Known(**{of.drive: value})}, budget=PATIENCE)
                share = smaller
            smaller /= 2
        return of.rest + share * (end - of.rest)

    out = {}
    for name, of in reach.items():
        least = None if of.least is None else furthest(name, of.least)
        out[name] = replace(of, most=furthest(name, of.most), least=least)
    return out


def toward_limits(robot: Robot, reach: Mapping[str, Reach], *, steps: int, seed: int = 0) -> Plan:
    """Each actuator alone to either end of its reach, then a few at a time within, see `few`."""
    names, together = list(reach), min(3, len(reach))
    first = few(robot, reach, postures=together * len(names), steps=steps, seed=seed)
    idle = np.array([reach[name].rest for name in names])
    ramp = np.arange(1, steps + 1)[:, None] / steps
    others = []
    for k, name in enumerate(names):
        least = reach[name].least
        ends = [] if least is None else [np.where(np.arange(len(names)) == k, least, idle)]
        others += [ramp * end for end in ends]
    if idle.any():
        others.append(ramp[-1:] * idle)  # all paid out
    return Plan(first.actuators, first.drives, (*first.trajectories, *others), "towards the limits")


def _check_scalar(name: str, facts: RowFacts) -> None:
    if facts.size != 1:
        raise InputError(f"actuator {name!r}", expected="one with a single row", got=f"{facts.size} rows")


def _reach(robot: Robot, name: str, most: Mapping[tuple[type, str], float]) -> Reach:
    facts, kind = RowFacts.of(robot, name), type(robot.rows[name].interaction)
    _check_scalar(name, facts)
    drive = next((d for k, d in most if k is kind), facts.drive)
    low, high = facts.limits(drive)
    top = most.get((kind, drive), 0.5 * high)
    if not np.isfinite(top) or top <= 0:
        hint = "Give its reach, or a Bounded law with finite limits."
        raise InputError(f"reach of {name!r}", expected="a finite range", got=(low, high), hint=hint)
    pulls = drive == "displacement" and robot.rows[name].interaction.effort_range[0] >= 0
    return Reach(drive, max(low, -top) if pulls and np.isfinite(low) else -top if pulls else 0.0, top)


def few(
    robot: Robot,
    reach: Mapping[str, Reach],
    *,
    postures: int,
    steps: int = 3,
    together: int = 3,
    seed: int = 0,
    ends: bool = True,
) -> Plan:
    """Postures with one to `together` actuators at random shares of their reach, the others at rest.

    With `ends` one of them goes all the way, so that nothing lies beyond. Actuators that work against each
    other (W_ij far below zero at rest) are not pulled at the same time: squeezed between them a soft robot
    buckles, which is seldom what it is meant for.
    """
    if postures < 1 or steps < 1 or together < 1:
        raise InputError(
            "plan", expected="at least one posture, step and actuator", got=(postures, steps, together)
        )
    names = tuple(reach)
    if not names:
        raise InputError("plan", expected="a robot with actuators", got="none")
    compatible = _compatible(robot, names)
    rng = np.random.default_rng(seed)
    rest, most = (np.array([getattr(reach[n], which) for n in names]) for which in ("rest", "most"))
    targets = []
    for number in range(postures):
        chosen = [number % len(names)]  # each in turn
        wanted = 1 + number // len(names) % together
        for other in rng.permutation(len(names)).tolist():
            if len(chosen) < wanted and other not in chosen and compatible[other, chosen].all():
                chosen.append(other)
        target = rest.copy()
        share = rng.uniform(LEAST_SHARE, 1.0, len(chosen))
        share[0] = 1.0 if ends else share[0]
        target[chosen] = most[chosen] * share
        for place, part in list(zip(chosen, share, strict=True))[1 if ends else 0 :]:
            least = reach[names[place]].least
            if least is not None and rng.random() < 0.5:  # the other way
                target[place] = least * part
        targets.append(target)
    ramp = np.arange(1, steps + 1)[:, None] / steps
    drives = tuple(reach[n].drive for n in names)
    return Plan(names, drives, tuple(ramp * target for target in targets), "a few at a time")


def _compatible(robot: Robot, names: tuple[str, ...]) -> np.ndarray:
    """(a, a) bool: which actuators do not work against each other at rest.

    All are compatible where only its rows support the robot.
    """
    if robot.rigid_modes():
        return np.ones((len(names), len(names)), bool)
    rows = [robot.named(n).start for n in names]
    W = compliance(robot).matrix[np.ix_(rows, rows)]
    size = np.sqrt(np.diagonal(W))
    return W / np.outer(size, size) > ANTAGONISTIC
