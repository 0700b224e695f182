"""Push: a trunk moves a loose block over a table to a goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Plane, Samples, Surroundings
from pliant.interactions import Position
from pliant.laws import Target
from pliant.learning.reach import COARSE, DRIVES, LENGTH
from pliant.learning.robotic import TIME_STEP, Robotic
from pliant.materials import Hooke
from pliant.mesh import box
from pliant.robot import Robot, Row
from pliant.robots.trunk import trunk

BLOCK_SIDE = 0.03  # [m] of the block
CLEARANCE = 0.008  # [m] between the tip at rest and the table
BLOCK_OFFSET = 0.035  # [m] between the axis of the trunk and that of the block
GOAL_DISTANCES = (0.02, 0.05)  # [m]: least and largest, from the block
GOAL_ANGLE = 0.5  # [rad]: how far the goal is off the way from the trunk to the block
ARRIVED = 0.005  # [m]: distance from the goal at which it is reached
FRICTION = 0.3  # between block, trunk and table


class TrunkPush(Robotic):
    """A trunk above a table, and a soft block beside its tip; the trunk should push the block to a goal.

    Seen: commands (4), the tip about its place at rest and its velocity (3) each, the block's place and
    velocity on the table (2) each, the way from the block to the goal (2), in lengths of the trunk. Reward:
    minus the distance of the block from the goal, and a tenth of that of the tip from the block, in lengths.
    Done within 5 mm.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(_scene(), DRIVES, 12, render_mode, settling=2.0)

    def begin(self) -> dict[str, Any]:
        """A goal beyond the block."""
        away, turn = self.np_random.uniform(*GOAL_DISTANCES), self.np_random.uniform(-GOAL_ANGLE, GOAL_ANGLE)
        return {"goal": self.rest["block"][:2] + away * np.array([np.cos(turn), np.sin(turn)])}

    def observed(self) -> np.ndarray:
        """Tip, block, goal."""
        now, speed = self.deltas(), self.rates()
        tip, block = now["tip"] - self.rest["tip"], now["block"][:2]
        fast = TIME_STEP * 10.0
        parts = [tip, fast * speed["tip"], block - self.rest["tip"][:2], fast * speed["block"][:2]]
        return np.concatenate([*parts, self.task["goal"] - block]) / LENGTH

    def judged(self, before: Any) -> tuple[float, bool]:
        """Distance of the block from the goal."""
        now = self.deltas()
        left = float(np.linalg.norm(self.task["goal"] - now["block"][:2]))
        reach = float(np.linalg.norm(now["block"][:2] - now["tip"][:2]))
        return -(left + 0.1 * reach) / LENGTH, left < ARRIVED

    def goals(self) -> Mapping[str, np.ndarray]:
        """The block's."""
        return {"block": np.append(self.task["goal"], self.rest["block"][2])} if self.task else {}


def _scene() -> Robot:
    """Gravity points along +z, as for the trunk: the table is the plane below, which faces −z."""
    arm, level = trunk(**COARSE), LENGTH + CLEARANCE
    body = arm.bodies[0]
    shape = box(
        (BLOCK_SIDE, BLOCK_SIDE, BLOCK_SIDE),
        cells=(2, 2, 2),
        kind="hex",
        origin=(BLOCK_OFFSET - BLOCK_SIDE / 2, -BLOCK_SIDE / 2, level - BLOCK_SIDE),
    )
    block = Solid(shape, Hooke(young=3e5, poisson=0.4), density=400.0)
    middle = (BLOCK_OFFSET, 0.0, level - BLOCK_SIDE / 2)
    rows = {**arm.rows, "block": Row(Position(block.points([middle])), Target())}
    lower = Samples.on(body, lambda centres: centres[:, 2] > 0.7 * LENGTH)
    surroundings = Surroundings(
        [Plane((0.0, 0.0, level), (0.0, 0.0, -1.0), name="table")],
        samples=[lower, Samples.on(block)],
        friction=FRICTION,
        alarm=0.004,
    )
    return Robot(
        [body, block], rows, gravity=tuple(arm.gravity), name="trunk and block", surroundings=surroundings
    )
