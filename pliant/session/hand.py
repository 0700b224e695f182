"""A hand that pushes the robot's skin: one row of given forces on all skin nodes, zero until someone pushes.

Such a row costs next to nothing (its efforts are given, so it is not condensed), and where the hand pushes
may change from one step to the next without building the robot again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.algebra import factorise
from pliant.core.view import linearise
from pliant.errors import InputError
from pliant.frame import Push
from pliant.interactions import PointForce
from pliant.laws import Known
from pliant.robot import Robot, Row

ROW = "push"  # the name of the row in the session's robot


class Hand:
    """Forces on the skin of a robot; `robot` is a copy with this row, and no obstacles of its own."""

    def __init__(self, robot: Robot) -> None:
        if ROW in robot.rows:
            raise InputError(
                f"row {ROW!r}", expected="another name", got=repr(ROW), hint="A session needs it."
            )
        skins = [np.unique(body.mesh.surface.triangles) for body in robot.bodies]
        points = [body.node_points(nodes) for body, nodes in zip(robot.bodies, skins, strict=True)]
        self.size = sum(map(len, skins))
        row = Row(PointForce(points), Known(effort=np.zeros(3 * self.size)))
        self.robot = Robot(
            robot.bodies,
            {**robot.rows, ROW: row},
            gravity=robot.gravity,
            name=robot.name,
            surroundings=replace(robot.surroundings, obstacles=()),
        )
        self.release()

    def press(self, vertices: np.ndarray, weights: np.ndarray, force: np.ndarray) -> None:
        """Push with a force (3,) [N] at Σ weights · vertices of the skin."""
        vertices = np.asarray(vertices, int)
        if vertices.size and not (vertices.min() >= 0 and vertices.max() < self.size):
            raise InputError(
                "push", expected=f"vertices of the skin, below {self.size}", got=vertices.tolist()
            )
        self.vertices, self.weights = vertices, np.asarray(weights, float)
        self.force = np.asarray(force, float)

    def release(self) -> None:
        """Let go."""
        self.press(np.zeros(0, int), np.zeros(0), np.zeros(3))

    def stiffness(self, effectors: list[str]) -> float:
        """[N/m] of a hand's pull that moves the effectors about half as far as it is drawn out."""
        robot = self.robot
        linear = linearise(robot, robot.rest.q, robot.rest.effort, robot.rest.internal, robot.gravity)
        rows = [k for name in effectors for k in range(*robot.spans[name].indices(robot.bundle.rows))]
        heavy = float(np.abs(linear.r).sum()) / (0.05 * robot.length) if linear is not None else 0.0
        if linear is None or linear.K is None or not rows or robot.rigid_modes():
            return max(heavy, 1.0)
        W = factorise(robot.symbolic, linear.K).compliance(linear.H.take(np.array(rows)))
        softest = float(np.linalg.eigvalsh(W)[-1])
        return 0.5 / softest if softest > 0 else max(heavy, 1.0)

    @property
    def pushing(self) -> bool:
        """Whether there is a force."""
        return bool(self.vertices.size and self.force.any())

    def push(self, skin: np.ndarray) -> Push | None:
        """Where it pushes now, on the skin's vertices (v, 3) [m], and how hard."""
        return Push(self.weights @ skin[self.vertices], self.force) if self.pushing else None

    @property
    def law(self) -> Known:
        """The law of the row now."""
        forces = np.zeros((self.size, 3))
        np.add.at(forces, self.vertices, self.weights[:, None] * self.force)
        return Known(effort=forces.ravel())
