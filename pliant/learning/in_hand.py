"""In hand: the two fingers of a soft hand move the object between their skins to a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.frame import Frame
from pliant.learning.episode import Environment
from pliant.membrane.grasp import grasp
from pliant.membrane.hand import soft_hand
from pliant.membrane.moving_hand import OBJECT, PARTS, Moving, Reading, part
from pliant.membrane.simulation import PlanarState
from pliant.membrane.staging import frame_of, stage_of
from pliant.stage import Stage

TIME_STEP = 0.02  # [s] of one action
TARGET_RANGE = 0.2  # hand sizes: targets lie as far as this from the middle, along x and y
LOST_DISTANCE = 0.6  # hand sizes: an object farther than this has been lost
ARRIVED = 0.02  # hand sizes: distance from the target at which it is reached
LOST_REWARD = -10.0  # of the step in which the object is lost


@dataclass(frozen=True)
class Joint:
    """A joint of a finger, commanded to a place between its limits [rad or m].

    At `idle` the hand holds the object in the middle.
    """

    name: str
    low: float
    high: float
    idle: float

    def laws(self, share: float) -> dict[str, float]:
        """The place for a share."""
        return {self.name: self.low + 0.5 * (share + 1.0) * (self.high - self.low)}


class HandPlant:
    """The hand in motion. A step depends on the state alone: the solver's memory of the last is dropped."""

    def __init__(self, moving: Moving) -> None:
        self.moving = moving
        self._reading: Reading | None = None
        self._fresh = False  # nothing is remembered: the state has just been set

    @property
    def state(self) -> PlanarState:
        """Of the mechanism."""
        return self.moving.simulation.state

    @state.setter
    def state(self, state: PlanarState) -> None:
        self.moving.simulation.state, self._reading, self._fresh = state, None, True

    @property
    def reading(self) -> Reading:
        """Joints, pose and velocity of the object now."""
        if self._reading is None:
            self._reading = self.moving.read()
        return self._reading

    def step(self, targets: dict[str, float]) -> None:
        """One action."""
        if not self._fresh:
            self.state = self.state
        self._reading, self._fresh = None, False
        self.moving.simulation.run(TIME_STEP, targets=targets)


class HandInHand(Environment):
    """A soft hand of two fingers, three joints each, that should bring the object between them to a target.

    Seen: commands (6), joints as shares of their ranges (6), the object's place and velocity, and the way to
    the target: (2) each, in fifths of the hand's size, per 0.1 s. Reward: minus the distance to the target in
    sizes, each step; an object that is lost ends the episode with −10. Done within 2 % of the size.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        self.hand = soft_hand()
        held = grasp(self.hand, (0.0, 0.0))
        self.moving = Moving(self.hand, held.joints, held.pose)
        low, high = self.hand.lower, self.hand.upper
        idle = 2.0 * (held.joints - low) / (high - low) - 1.0
        names = [part(name, k) for k in range(len(self.hand.fingers)) for name in PARTS]
        joints = zip(names, low, high, idle, strict=True)
        super().__init__(HandPlant(self.moving), [Joint(*joint) for joint in joints], 12, render_mode)

    def begin(self) -> dict[str, Any]:
        """A place near the middle."""
        return {"target": TARGET_RANGE * self.hand.size * self.np_random.uniform(-1.0, 1.0, 2)}

    def observed(self) -> np.ndarray:
        """Joints, object, way to the target."""
        now, unit = self.simulation.reading, 0.2 * self.hand.size
        share = 2.0 * (now.joints - self.hand.lower) / (self.hand.upper - self.hand.lower) - 1.0
        away = self.task["target"] - now.pose[:2]
        return np.concatenate([share, now.pose[:2] / unit, 0.1 * now.velocity[:2] / unit, away / unit])

    def judged(self, before: Any) -> tuple[float, bool]:
        """Distance to the target."""
        away = self.task["target"] - self.simulation.reading.pose[:2]
        distance = float(np.linalg.norm(away)) / self.hand.size
        return LOST_REWARD if self.over() else -distance, distance < ARRIVED

    def over(self) -> bool:
        """Whether the object has been lost."""
        return float(np.abs(self.simulation.reading.pose[:2]).max()) > LOST_DISTANCE * self.hand.size

    def stage(self) -> Stage:
        """The hand and its object."""
        return stage_of(self.moving.mechanism)

    def frame(self, stage: Stage) -> Frame:
        """The hand now."""
        moment = self.moving.simulation.moment
        return frame_of(moment, step=round(moment.t * self.metadata["render_fps"]))

    def picture(self) -> np.ndarray:
        """The fingers' paddles, the skins, the object and its target."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure, size = Figure(figsize=(4.8, 3.6), dpi=100, layout="constrained"), self.hand.size
        axes = figure.add_subplot(
            aspect="equal", xlim=(-1.2 * size, 0.6 * size), ylim=(-0.7 * size, 0.7 * size)
        )
        axes.set_axis_off()
        self._draw(axes)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def _draw(self, axes: Any) -> None:
        moment = self.moving.simulation.moment
        for k, finger in enumerate(self.hand.fingers):
            skin = moment.polyline(part("skin", k))
            hinge = np.asarray(finger.base)
            middle = 0.5 * (skin[0] + skin[-1])
            axes.plot(*np.array([hinge, middle]).T, color="#9aa4b2", lw=4, solid_capstyle="round")
            axes.plot(*skin[[0, -1]].T, color="#5b6472", lw=3)
            axes.plot(*skin.T, color="#c2410c", lw=1.5)
        pose = moment.pose[OBJECT]
        axes.fill(*self.hand.shape.outline(pose).T, color="#1f5fa8", alpha=0.8)
        axes.plot(pose.x, pose.y, "o", color="white", ms=4)
        if self.task:
            axes.plot(*self.task["target"], "o", color="#d6246e", ms=7, mec="white")
