"""The rows of a robot sorted by what they are in an inverse problem: laws compiled once to arrays.

And which of them support a robot whose bodies are not fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.conditions import Conditions
from pliant.core.chambers import Chamber, Closed, chambers, opened
from pliant.core.support import Support
from pliant.errors import InputError, SingularError
from pliant.laws import Choice, Known, Law
from pliant.robot import Robot, behind


@dataclass(frozen=True)
class Roles:
    """Scalar rows by role. Index arrays are into all rows (m,); rows without a role carry a given effort."""

    effectors: np.ndarray  # indices (ne,)
    actuators: np.ndarray  # indices (na,)
    equal: np.ndarray  # indices of rows with an unbounded effort and an imposed δ (or a spring)
    pushing: np.ndarray  # indices of rows with a one-sided effort, which behave like contacts
    conditions: Conditions  # of all rows
    effort: tuple[np.ndarray, np.ndarray]  # least and most λ (na,) of the actuators
    displacement: tuple[np.ndarray, np.ndarray]  # least and most δ (na,) of the actuators
    speed: np.ndarray  # largest rate of δ (na,) of the actuators
    weight: np.ndarray  # (ne,) of the effectors
    target: np.ndarray  # (ne,) of the effectors; NaN: stay where it is
    one_sided: np.ndarray  # (na,) bool: can only pull or push, such as a cable
    names: tuple[str, ...]  # of the actuator rows
    compliance: np.ndarray  # (na,) [m/N] of what stands between drives and actuators
    slack: np.ndarray  # (na,) [m] that drives go before their actuators act
    backlash: np.ndarray  # (na,) of the drives
    syringes: tuple[tuple[int, Chamber, float], ...] = ()  # among the actuators: which, and their content

    @cached_property
    def condensed(self) -> np.ndarray:
        """The rows of the inverse problem, in its order: effectors, actuators, equalities, one-sided rows."""
        return np.concatenate([self.effectors, self.actuators, self.equal, self.pushing])

    def commands(self, effort: np.ndarray, delta: np.ndarray, slack: float) -> np.ndarray:
        """The command to each drive (na,), from λ and δ of all rows (m,).

        δ of a taut actuator, and by how much its tendon is longer; a slack one is let out by `slack` [m] more
        than it needs. The stroke [m³] of a syringe. A drive with play is ahead of what it pushes.
        """
        tension = effort[self.actuators]
        lost = self.slack + self.compliance * tension + 0.5 * self.backlash * np.sign(tension)
        for k, chamber, content in self.syringes:
            volume = chamber.volume(delta, 0.0)
            lost[k] = chamber.line.pushed(float(tension[k]), volume, content) - delta[chamber.row]
        return delta[self.actuators] + lost - np.where(self.one_sided & (tension <= 0.0), slack, 0.0)

    def filled(self, robot: Robot, z: np.ndarray) -> Roles:
        """With what syringes among the actuators contain, by internal variables z."""
        place = {int(row): k for k, row in enumerate(self.actuators)}
        own = [c for c in chambers(robot) if c.line.syringe and c.row in place]
        return replace(self, syringes=tuple((place[c.row], c, c.charge(z).content) for c in own))

    def at(self, robot: Robot, lam: np.ndarray, delta: np.ndarray, z: np.ndarray) -> Roles:
        """With the springs that closed chambers are at δ (m,)."""
        closed = Closed.of(robot, self.conditions, lam, delta, z) if robot.bundle.lined else None
        if closed is None:
            return self
        laws = closed.at(1.0, self.conditions.imposed).laws(self.conditions, delta)
        return replace(self, conditions=laws)


def compile_roles(robot: Robot, laws: Mapping[str, Law] | None = None) -> Roles:
    """Roles of all rows, after the laws given instead of the robot's own."""
    laws = robot.chosen_laws(laws)
    choices: list[Choice] = []
    for name, row in robot.rows.items():
        action = row.interaction
        choice = laws[name].inverse(action.size, action.effort_range, name)
        choices.append(replace(choice, forward=behind(name, action, choice.forward)))
    rows = {name: np.arange(robot.bundle.rows)[span] for name, span in robot.spans.items()}
    conditions = opened(robot, robot.conditions([c.forward for c in choices]))
    of = lambda role: [(n, c) for n, c in zip(robot.rows, choices, strict=True) if c.role == role]
    acting, aiming = of("actuator"), of("effector")
    solved = conditions.solved
    unbounded = np.isinf(conditions.low[solved]) & np.isinf(conditions.high[solved])
    join = lambda parts, dtype=float: np.concatenate([np.zeros(0, dtype), *parts])
    spread = lambda group, value: join(np.full(len(rows[n]), value(c), float) for n, c in group)
    targets = [np.full(len(rows[n]), np.nan) if c.target is None else c.target for n, c in aiming]
    low, high = spread(acting, lambda c: c.effort[0]), spread(acting, lambda c: c.effort[1])
    return Roles(
        effectors=join((rows[n] for n, _ in aiming), int),
        actuators=join((rows[n] for n, _ in acting), int),
        equal=solved[unbounded],
        pushing=solved[~unbounded],
        conditions=conditions,
        effort=(low, high),
        displacement=(
            spread(acting, lambda c: c.displacement[0]),
            spread(acting, lambda c: c.displacement[1]),
        ),
        speed=spread(acting, lambda c: c.speed),
        weight=spread(aiming, lambda c: c.weight),
        target=join(targets),
        one_sided=join(
            (np.full(len(rows[n]), robot.rows[n].interaction.effort_range[0] == 0.0) for n, _ in acting), bool
        ),
        names=tuple(n for n, _ in acting for _ in rows[n]),
        compliance=robot.compliance[join((rows[n] for n, _ in acting), int)],
        slack=robot.slack[join((rows[n] for n, _ in acting), int)],
        backlash=spread([(n, robot.rows[n].interaction) for n, _ in acting], lambda a: a.backlash),
    )


def supported(robot: Robot, roles: Roles, *, touching: bool = False) -> Support:
    """Which rows support the robot, if its bodies are not fixed.

    These are imposed displacements, and only where they do not, actuators that push and pull as well: what an
    actuator lends to K is no part of its effort, and the efforts' cost should be that of efforts. Raises
    SingularError where these do not support it either, unless it may lie on what it touches.
    """
    able = roles.conditions.supporting.copy()
    try:
        return Support.of(robot, able)
    except SingularError:
        pass
    able[roles.actuators[~roles.one_sided]] = True
    return Support.of(robot, able, touching=touching)


def lost_law(robot: Robot, name: str, laws: Mapping[str, Law], here: np.ndarray) -> Law:
    """The law of an actuator from when it breaks on: no effort.

    One that alone supports the robot locks at its δ, `here` (m,): without it there would be no equilibrium to
    go to.
    """
    role = robot.rows[name].law.role
    if role != "actuator":
        raise InputError(f"losing {name!r}", expected="an actuator", got=f"a row that is {role}")
    broken = Known(effort=0.0)
    try:
        supported(robot, compile_roles(robot, {**laws, name: broken}))
    except SingularError:
        return Known(displacement=here)
    return broken
