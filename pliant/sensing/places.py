"""Places on the skin of a robot: candidates spread over it, and the rows of forces anywhere on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.errors import InputError, is_number
from pliant.interactions import PointForce
from pliant.interactions.bundle import Bundle
from pliant.points import Points
from pliant.robot import Robot

INF = float("inf")
Where = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Places:
    """Material points on a body's skin, and the inward normals there (n, 3) at rest, along which things push.

    `where` says which part of the skin they stand for: a function (n, 3) → (n,) bool of positions at rest,
    None for all of it.
    """

    points: Points
    inward: np.ndarray
    where: Where | None = None

    def __len__(self) -> int:
        return len(self.points)


class Skin:
    """Surface nodes of a robot's only body that can move, and their triangles; only what `where` picks."""

    def __init__(self, robot: Robot, where: Where | None = None) -> None:
        self.robot, self.body, self.where = robot, robot.body, where
        surface = self.body.mesh.surface
        used = np.unique(surface.triangles)
        self.nodes = used[self._movable(used)]
        if where is not None:
            self.nodes = self.nodes[self._picked(where, self.body.mesh.nodes[self.nodes])]
        place = np.full(len(self.body.mesh.nodes), -1)
        place[self.nodes] = np.arange(len(self.nodes))
        inner = place[surface.triangles]
        self.triangles = inner[(inner >= 0).all(axis=1)]  # (t, 3) into `nodes`
        self.rest = self.body.mesh.nodes[self.nodes]
        if not len(self.nodes):
            raise InputError("skin", expected="surface nodes that can move", got="none")
        total = np.zeros_like(self.body.mesh.nodes)
        np.add.at(total, surface.triangles, (surface.areas[:, None] * surface.normals)[:, None])
        normal = total[self.nodes]
        self.inward = -normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)

    def _movable(self, nodes: np.ndarray) -> np.ndarray:
        """Which nodes anything moves: a force on them does something."""
        bundle, q = self._forces(nodes), self.robot.rest.q
        H = bundle.jacobian(q, bundle.gradient(bundle.positions(q)))
        return H.norms().reshape(-1, 3).max(axis=1) > 0.0

    def rows(self, q: np.ndarray) -> SparseRows:
        """H of forces along x, y, z on every node, (3n, ndof)."""
        bundle = self._bundle
        return bundle.jacobian(q, bundle.gradient(bundle.positions(q)))

    @cached_property
    def _bundle(self) -> Bundle:
        return self._forces(self.nodes)

    def _forces(self, nodes: np.ndarray) -> Bundle:
        robot = self.robot
        blocks, starts = [s.start // 3 for s in robot.dq_spans], [s.start for s in robot.q_spans]
        return Bundle([PointForce(self.body.node_points(nodes))], robot.bodies, starts, blocks, robot.ndof)

    @staticmethod
    def _picked(where: Where, rest: np.ndarray) -> np.ndarray:
        mask = np.asarray(where(rest), bool)
        if mask.shape != (len(rest),):
            raise InputError("where", expected=f"a mask of {len(rest)} nodes", got=f"shape {mask.shape}")
        return mask

    def spread(self, spacing: float) -> Places:
        """Nodes about `spacing` [m] apart: each is the farthest from those before, until none is farther."""
        if not (is_number(spacing) and 0 < spacing < INF):
            raise InputError("spacing", expected="a positive number [m]", got=repr(spacing))
        x = self.rest
        chosen = [int(np.linalg.norm(x - x.mean(axis=0), axis=1).argmin())]
        away = np.linalg.norm(x - x[chosen[0]], axis=1)
        while away.max() > spacing:
            chosen.append(int(away.argmax()))
            away = np.minimum(away, np.linalg.norm(x - x[chosen[-1]], axis=1))
        picked = np.sort(chosen)
        return Places(self.body.node_points(self.nodes[picked]), self.inward[picked], self.where)


def places(robot: Robot, spacing: float, where: Where | None = None) -> Places:
    """Candidate places about `spacing` [m] apart on the skin of a robot's only body, fixed supports left out.

    `where` limits them: a function (n, 3) → (n,) bool of positions at rest.
    """
    if len(robot.bodies) > 1:
        raise InputError("robot", expected="one body", got=f"{len(robot.bodies)} of them")
    return Skin(robot, where).spread(spacing)
