"""Grasp: two cable fingers take a loose box from a table and lift it to a height."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pliant.laws import Known
from pliant.learning.drives import Ranged
from pliant.learning.robotic import TIME_STEP, Robotic
from pliant.robots.gripper import gripper

PULL, LIFT = 0.016, 0.05  # [m]: largest strokes of a cable and of the palm
DRIVES = (
    *(Ranged(f"cable {n}", "displacement", 0.0, PULL) for n in (1, 2)),
    Ranged("lift", "displacement", 0.0, LIFT),
)
ASIDE, TURN = 0.003, 0.15  # [m], [rad]: how far the box stands from the middle, and is turned, at most
HEIGHTS = (0.015, 0.03)  # [m]: least and largest height of the goal over where the box stands
ARRIVED = 0.002  # [m]: distance from the goal at which it is reached …
STILL = 0.02  # [m/s]: … if the box is slower


class Grasp(Robotic):
    """The gallery's gripper over a box of 30 mm that stands somewhere between its fingers.

    Actions: how far each cable is pulled in, how high the palm is. Seen: commands (3); the box about the
    middle of the table (3) and its velocity (3), in strokes of the palm and strokes per 0.2 s; the height
    left to the goal (1), in strokes. Reward: minus the distance of the box from the goal, in strokes. Done
    where the box is still and within 2 mm of the height of the goal.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        rest = {"lift": Known(displacement=0.0)}
        super().__init__(gripper(), DRIVES, 7, render_mode, settling=0.4, holding=rest)

    def begin(self) -> dict[str, Any]:
        """A box that stands askew, and a height for it."""
        aside, turn = self.np_random.uniform(-ASIDE, ASIDE, 2), self.np_random.uniform(-TURN, TURN)
        box, state = self.robot.bodies[-1], self.simulation.state
        q = np.array(state.q)
        q[self.robot.q_spans[1]] = box.placed(
            rotation=Rotation.from_rotvec([0, 0, turn]), translation=[*aside, 0]
        )
        self.simulation.state = state.with_(q=q)
        return {"height": self.rest["object"][2] + self.np_random.uniform(*HEIGHTS)}

    def observed(self) -> np.ndarray:
        """The box, its velocity, and what is left."""
        place, speed = self.deltas()["object"], self.rates()["object"]
        left = self.task["height"] - place[2]
        return np.concatenate([place - self.rest["object"], 10.0 * TIME_STEP * speed, [left]]) / LIFT

    def judged(self, before: Any) -> tuple[float, bool]:
        """Distance of the box from the goal over where it should be."""
        place, speed = self.deltas()["object"], float(np.linalg.norm(self.rates()["object"]))
        left = self.task["height"] - place[2]
        return -float(abs(left)) / LIFT, abs(left) < ARRIVED and speed < STILL

    def goals(self) -> Mapping[str, np.ndarray]:
        """The box's."""
        if not self.task:
            return {}
        return {"object": np.append(self.rest["object"][:2], self.task["height"])}
