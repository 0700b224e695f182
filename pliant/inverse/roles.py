"""The rows of a robot sorted by what they are in an inverse problem: laws compiled once to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.conditions import Conditions
from pliant.laws import Choice, Law
from pliant.robot import Robot

INF = float("inf")


@dataclass(frozen=True)
class Roles:
    """Scalar rows by role. Index arrays are into all rows (m,); bounds are per actuator row, weights per effector row.

    `equal` rows have an unbounded effort and an imposed δ (or a spring); `pushing` rows a one-sided effort: they behave
    like contacts. The remaining rows carry a given effort.
    """

    effectors: np.ndarray
    actuators: np.ndarray
    equal: np.ndarray
    pushing: np.ndarray
    conditions: Conditions
    effort: tuple[np.ndarray, np.ndarray]
    displacement: tuple[np.ndarray, np.ndarray]
    speed: np.ndarray
    weight: np.ndarray
    target: np.ndarray  # (effector rows,), NaN: stay where it is
    one_sided: np.ndarray  # (actuator rows,) bool: can only pull or push, such as a cable
    names: tuple[str, ...]  # of the actuator rows

    @cached_property
    def condensed(self) -> np.ndarray:
        """The rows that the inverse problem is about, in its order: effectors, actuators, equalities, one-sided rows."""
        return np.concatenate([self.effectors, self.actuators, self.equal, self.pushing])


def compile_roles(robot: Robot, laws: Mapping[str, Law] | None = None) -> Roles:
    """Roles of all rows, after the laws given instead of the robot's own."""
    laws = robot.chosen_laws(laws)
    choices: list[Choice] = []
    for name, row in robot.rows.items():
        choices.append(laws[name].inverse(row.interaction.size, row.interaction.effort_range, name))
    rows = {name: np.arange(robot.bundle.rows)[span] for name, span in robot.spans.items()}
    conditions = robot.conditions([c.forward for c in choices])
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
    )
