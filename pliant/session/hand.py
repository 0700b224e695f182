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
HASTE = 20.0  # [1/s] at which a loose thing follows a hand: slower than the hand sees where it is


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
        loose = [body.total_mass if body.rigid_modes() == 6 else 0.0 for body in robot.bodies]
        self._loose = np.repeat(loose, list(map(len, skins)))  # (v,) mass of the loose thing a vertex is on
        row = Row(PointForce(points), Known(effort=np.zeros(3 * self.size)))
        self.robot = Robot(
            robot.bodies,
            {**robot.rows, ROW: row},
            gravity=robot.gravity,
            name=robot.name,
            surroundings=replace(robot.surroundings, obstacles=()),
        )
        self.release()

    def press(self, vertices: np.ndarray, weights: np.ndarray, force: np.ndarray, drag: float = 0.0) -> None:
        """Push with a force (3,) [N] at Σ weights · vertices, less `drag` [N·s/m] times their speed."""
        vertices = np.asarray(vertices, int)
        if vertices.size and not (vertices.min() >= 0 and vertices.max() < self.size):
            raise InputError(
                "push", expected=f"vertices of the skin, below {self.size}", got=vertices.tolist()
            )
        self.vertices, self.weights = vertices, np.asarray(weights, float)
        self.force, self.drag = np.asarray(force, float), drag

    def pull(self, vertices: np.ndarray, weights: np.ndarray, way: np.ndarray, stiffness: float) -> None:
        """Pull by a spring [N/m] drawn out by `way` (3,) [m]; a loose thing by one that fits its mass.

        That one is critically damped: what weighs next to nothing would be thrown by the robot's own.
        """
        self.press(vertices, weights, stiffness * np.asarray(way, float))
        mass = float(self._loose[self.vertices].max(initial=0.0))
        if mass and mass * HASTE**2 < stiffness:
            self.force, self.drag = mass * HASTE**2 * np.asarray(way, float), 2.0 * mass * HASTE

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

    def law(self, motion: np.ndarray | float = 0.0) -> Known:
        """The law of the row now, for a skin that moves at a speed (v, 3) [m/s]."""
        forces = np.zeros((self.size, 3))
        if self.pushing:
            speed = self.weights @ np.broadcast_to(motion, forces.shape)[self.vertices]
            np.add.at(forces, self.vertices, self.weights[:, None] * (self.force - self.drag * speed))
        return Known(effort=forces.ravel())
