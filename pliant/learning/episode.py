"""An environment: a robot in motion with something to do, behind Gymnasium's interface.

Actions and observations are shares of their ranges, in [−1, 1]. What an episode is comes from the seed alone:
the same seed and the same actions give the same numbers, bit by bit. `save` and `restore` go back to any
moment, as planners need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from pliant.errors import ConvergenceError, InputError, unknown_name
from pliant.frame import Frame
from pliant.learning.drives import SLEW, Drive
from pliant.stage import Stage

FAILED_REWARD = -1.0  # the reward of a step that the model cannot follow


@dataclass(frozen=True)
class Saved:
    """A moment of an episode: the simulation's state, commands, the task's numbers, the random state."""

    state: Any
    command: np.ndarray
    task: Mapping[str, Any]
    random: Mapping[str, Any]


class Environment(gymnasium.Env):
    """A simulation, its drives and a task.

    Subclasses give `begin`, `arrange`, `observed`, `judged`, `over`, `picture`, `stage` and `frame`.

    render_mode "rgb_array": `render()` returns a picture; "human": every step is shown in the studio, in the
    browser, no faster than in real time.

    The simulation has a `state`, all that its future depends on, which may be set; and `step(laws)`.
    """

    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 50}  # noqa: RUF012  (Gymnasium's)

    def __init__(
        self, simulation: Any, drives: Sequence[Drive], observations: int, render_mode: str | None
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise unknown_name("render_mode", render_mode, self.metadata["render_modes"])
        self.simulation, self.drives, self.render_mode = simulation, tuple(drives), render_mode
        self.action_space = Box(-1.0, 1.0, (len(drives),), np.float32)
        self.observation_space = Box(-1.0, 1.0, (len(drives) + observations,), np.float32)
        self._start, self.task, self._studio = simulation.state, {}, None
        self.command = self._idle = np.array([drive.idle for drive in drives])

    # The task

    def begin(self) -> dict[str, Any]:
        """The numbers of a new episode, drawn from `np_random`."""
        raise NotImplementedError

    def arrange(self) -> None:
        """Put in place what the task's numbers say, after a beginning or a return."""

    def observed(self) -> np.ndarray:
        """What the agent sees besides the commands, as shares of their ranges."""
        raise NotImplementedError

    def judged(self, before: Any) -> tuple[float, bool]:
        """The reward of the step since the state before, and whether the task is done by now."""
        raise NotImplementedError

    def over(self) -> bool:
        """Whether there is no going on: the task is lost."""
        return False

    def picture(self) -> np.ndarray:
        """(rows, columns, 3) of now."""
        raise NotImplementedError

    def stage(self) -> Stage:
        """What is there, for the studio."""
        raise NotImplementedError

    def frame(self, stage: Stage) -> Frame:
        """How it is now, for the studio."""
        raise NotImplementedError

    # Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict]:
        """A new episode from rest."""
        super().reset(seed=seed)
        self.simulation.state, self.command = self._start, self._idle
        self.task = self.begin()
        self.arrange()
        self._shown()
        return self._observation(), {"is_success": False, "failed": False}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Commands move towards the action, no faster than drives do; then one step in time.

        A motion that the model cannot follow ends the episode: terminated, and info["failed"].
        """
        asked = np.asarray(action, float)
        if asked.shape != self.command.shape or not np.isfinite(asked).all():
            raise InputError("action", expected=f"{len(self.drives)} finite numbers", got=action)
        way = np.clip(asked, -1.0, 1.0) - self.command
        self.command = self.command + np.clip(way, -2.0 * SLEW, 2.0 * SLEW)
        before = self.simulation.state
        try:
            self.simulation.step(self._laws())
        except ConvergenceError:
            return self._observation(), FAILED_REWARD, True, False, {"is_success": False, "failed": True}
        self._shown()
        reward, done = self.judged(before)
        info = {"is_success": bool(done), "failed": False}
        return self._observation(), float(reward), bool(self.over()), False, info

    def render(self) -> np.ndarray | None:
        """The picture (rows, columns, 3) of now, for "rgb_array"; for "human" it is shown as it steps."""
        return self.picture() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """End the studio, if one shows it."""
        if self._studio is not None:
            self._studio.close()
            self._studio = None

    # Moments

    def save(self) -> Saved:
        """This moment; plain data, may be kept and sent to other processes."""
        random = self.np_random.bit_generator.state
        return Saved(self.simulation.state, self.command, dict(self.task), random)

    def restore(self, saved: Saved) -> None:
        """Back to a moment; the same actions lead to the same numbers again."""
        self.simulation.state, self.command, self.task = saved.state, saved.command, dict(saved.task)
        self.np_random.bit_generator.state = saved.random
        self.arrange()

    # Inside

    def _shown(self) -> None:
        """Show a step in the studio, where that was asked for."""
        if self.render_mode != "human":
            return
        if self._studio is None:
            watch = import_module("pliant.studio.watch")  # by name: the studio stands above environments
            stage = self.stage()
            self._studio = watch.Show(stage, self.frame(stage), 1.0 / self.metadata["render_fps"])
        self._studio.show(self.frame(self._studio.watched.stage))

    def _laws(self) -> dict[str, Any]:
        each = (drive.laws(float(share)) for drive, share in zip(self.drives, self.command, strict=True))
        return {row: law for laws in each for row, law in laws.items()}

    def _observation(self) -> np.ndarray:
        return np.clip(np.concatenate([self.command, self.observed()]), -1.0, 1.0).astype(np.float32)
