"""Your own robot as an environment, from a project file.

    env = pl.learning.environment("robot.toml")
    env = gymnasium.make("Pliant/Robot-v0", project="robot.toml")

Actions are the actuators within the limits of their rows. The reduced model of the project runs if there is
one that fits, see `pliant.project.reduced`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pliant.errors import ConvergenceError, InputError, unknown_name
from pliant.laws import Known
from pliant.learning.drives import Ranged
from pliant.learning.robotic import TIME_STEP, Robotic
from pliant.project import load
from pliant.project.reduced import chosen
from pliant.reduction.workspace import limit_reaches
from pliant.robot import Robot
from pliant.static import static

DRAWS = 20  # commands that are tried for a target with an equilibrium
ARRIVED = 0.05  # of the stroke: the distance from its target at which an effector is there
WITHIN = 0.5  # of the limits: how far the commands go that targets are drawn from
LOOK_AHEAD = 0.2  # [s]: speeds are seen as what they bring in this time


class Task(Protocol):
    """What is to be done: a class with these is a task of your own."""

    def observations(self, robot: Robot, effectors: Sequence[str]) -> int:
        """How many numbers `observed` has."""
        ...

    def begin(self, env: OwnRobot) -> dict[str, Any]:
        """The numbers of a new episode, drawn from env.np_random."""
        ...

    def observed(self, env: OwnRobot) -> np.ndarray:
        """What the agent sees besides the commands, as shares of their ranges."""
        ...

    def judged(self, env: OwnRobot, before: Any) -> tuple[float, bool]:
        """The reward of the step since the state before, and whether the task is done by now."""
        ...


class OwnRobot(Robotic):
    """The robot of a project file, and a task: "reach", or one of your own.

    `robot` is what runs, `words` say which model that is; `effectors` are those in metres, `stroke` [m] how
    far the first one comes at half of each limit.
    """

    def __init__(
        self,
        project: str | Path,
        task: str | Task = "reach",
        model: str = "auto",
        time_step: float = TIME_STEP,
        render_mode: str | None = None,
    ) -> None:
        found = load(project)
        fast, self.words = chosen(found, model)
        robot = found.robot if fast is None else fast.robot
        if isinstance(task, str) and task not in TASKS:
            raise unknown_name("task", task, TASKS)
        self.doing: Task = TASKS[task]() if isinstance(task, str) else task
        drives = [
            Ranged(name, reach.drive, reach.rest if reach.least is None else reach.least, reach.most)
            for name, reach in limit_reaches(robot).items()
        ]
        self.effectors = tuple(n for n in robot.by_role("effector") if robot.rows[n].interaction.unit == "m")
        if not (drives and self.effectors):
            expected = "an actuator, and an effector in metres"
            raise InputError(f"robot of {found.source.path.name}", expected=expected, got=list(robot.rows))
        size = sum(robot.rows[name].interaction.size for name in self.effectors)
        super().__init__(
            robot,
            drives,
            2 * size + self.doing.observations(robot, self.effectors),
            render_mode,
            time_step=time_step,
        )
        self.stroke = self._stroke()

    def begin(self) -> dict[str, Any]:
        """The task's numbers."""
        return self.doing.begin(self)

    def observed(self) -> np.ndarray:
        """Effectors about their places at rest and their speeds, in strokes; and what the task shows."""
        now, speed = self.deltas(), self.rates()
        away = [now[name] - self.rest[name] for name in self.effectors]
        ahead = [LOOK_AHEAD * speed[name] for name in self.effectors]
        return np.concatenate([np.concatenate([*away, *ahead]) / self.stroke, self.doing.observed(self)])

    def judged(self, before: Any) -> tuple[float, bool]:
        """The task's."""
        return self.doing.judged(self, before)

    def goals(self) -> Mapping[str, np.ndarray]:
        """Targets of the task, by row."""
        return self.task.get("target", {})

    def drawn(self) -> dict[str, np.ndarray]:
        """Where the effectors rest under commands drawn within the limits: [m] by row."""
        for _ in range(DRAWS):
            shares = self.np_random.uniform(-WITHIN, WITHIN, len(self.drives))
            try:
                return self._at(shares)
            except ConvergenceError:
                continue
        raise ConvergenceError(
            f"No equilibrium of {self.robot.name!r} under {DRAWS} commands within its limits."
        )

    def _at(self, shares: np.ndarray) -> dict[str, np.ndarray]:
        laws: dict[str, Known] = {}
        for drive, share in zip(self.drives, shares, strict=True):
            laws |= drive.laws(float(share))
        rests = static(self.robot, laws, state=self._start)
        return {name: rests.displacement[name] for name in self.effectors}

    def _stroke(self) -> float:
        """[m] of the first effector, by one actuator after another."""
        first, ways = self.effectors[0], []
        for k in range(len(self.drives)):
            shares = self._idle.copy()
            shares[k] = WITHIN
            try:
                ways.append(float(np.linalg.norm(self._at(shares)[first] - self.rest[first])))
            except ConvergenceError:
                continue
        return max(ways, default=0.0) or 0.1 * self.robot.length


class Reach:
    """Effectors go to where commands that are drawn would bring them.

    Seen: the way to the targets, in strokes. Reward: minus the distance in strokes, each step. Done within
    5 % of the stroke.
    """

    def observations(self, robot: Robot, effectors: Sequence[str]) -> int:
        """The way has as many numbers as the effectors."""
        return sum(robot.rows[name].interaction.size for name in effectors)

    def begin(self, env: OwnRobot) -> dict[str, Any]:
        """A target for each effector."""
        return {"target": env.drawn()}

    def observed(self, env: OwnRobot) -> np.ndarray:
        """The way."""
        return self._way(env)

    def judged(self, env: OwnRobot, before: Any) -> tuple[float, bool]:
        """Distance to the targets."""
        distance = float(np.linalg.norm(self._way(env)))
        return -distance, distance < ARRIVED

    def _way(self, env: OwnRobot) -> np.ndarray:
        now = env.deltas()
        away = [env.task["target"][name] - now[name] for name in env.effectors]
        return np.concatenate(away) / env.stroke


TASKS: dict[str, type] = {"reach": Reach}


def environment(project: str | Path, task: str | Task = "reach", **options: Any) -> OwnRobot:
    """The robot of a project file as a Gymnasium environment, without a bound on the length of episodes.

    `task` is "reach" or a `Task` of your own; options: model ("auto", "full", "reduced"), time_step [s],
    render_mode. `gymnasium.make("Pliant/Robot-v0", project=…)` makes the same, with episodes of 100 steps.
    """
    return OwnRobot(project, task, **options)
