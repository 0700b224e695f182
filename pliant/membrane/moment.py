"""The state of a mechanism in motion, and what can be read from it after a step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.membrane.evaluation import evaluate, path_of
from pliant.membrane.kernels.path import BEHIND, TOUCHING
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.model import CABLE, Drive, Memory, Model, Work, workspace
from pliant.membrane.shapes import rotation


class Pose(NamedTuple):
    """Where a body is: x, y [m], angle [rad]."""

    x: float
    y: float
    angle: float


@dataclass(frozen=True, eq=False)
class PlanarState:
    """Coordinates q (n,), velocities v (n,), time t [s], and what the cables remember of their contacts."""

    q: np.ndarray
    v: np.ndarray
    t: float
    memory: Memory
    order: tuple[np.ndarray, ...]  # of the stations: the arrays MOVED of `Paths`


@dataclass(frozen=True, eq=False)
class PlanarMoment:
    """The mechanism at the end of a step. Everything by name; SI units."""

    mechanism: Mechanism
    model: Model
    state: PlanarState
    efforts: np.ndarray
    drive: Drive

    @property
    def q(self) -> np.ndarray:
        """(n,)."""
        return self.state.q

    @property
    def v(self) -> np.ndarray:
        """(n,)."""
        return self.state.v

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.state.t

    @cached_property
    def _work(self) -> Work:
        work, s = workspace(self.model), self.state
        evaluate(self.model, s.memory, self.drive, s.q.copy(), s.v.copy(), work)
        return work

    @property
    def positions(self) -> np.ndarray:
        """Origins of the bodies (b, 3) [m], z = 0."""
        pose = self._work.pose[:-1]
        return np.column_stack([pose[:, :2], np.zeros(len(pose))])

    @cached_property
    def pose(self) -> dict[str, Pose]:
        """Pose of every body."""
        return {
            b.name: Pose(*map(float, row[:3]))
            for b, row in zip(self.mechanism.bodies, self._work.pose, strict=False)
        }

    @property
    def length(self) -> dict[str, float]:
        """Length of every cable and membrane [m]."""
        return {c.name: float(x) for c, x in zip(self.mechanism.cables, self._work.length, strict=True)}

    @property
    def tension(self) -> dict[str, float]:
        """Tension of every cable and membrane [N]; with friction the mean over its pieces."""
        kinds, rows = self.model.paths.kind, self.model.paths.row
        return {
            c.name: float(-self.efforts[rows[k]] if kinds[k] == CABLE else self._work.tension[k])
            for k, c in enumerate(self.mechanism.cables)
        }

    def contact(self, cable: str) -> dict[str, str]:
        """How each shape on a cable stands to it, by name.

        "touching", "front", "behind" (it went past an end and is ignored) or "inside" (a point of the cable
        lies in it).
        """
        k, p = self.mechanism._cable(cable), self.model.paths
        own = range(p.start[k], p.start[k + 1])
        pose, at = self._work.place, p.corners[p.first]
        points = [pose[s, :2] + rotation(pose[s, 2]) @ at[s] for s in own if p.side[s] == 0.0]
        out = {}
        for s in own:
            if p.side[s] == 0.0:
                continue
            body, state = self.mechanism.bodies[p.body[s]], self.state.memory.state[s]
            words = "touching" if state >= TOUCHING else "behind" if state == BEHIND else "front"
            assert body.shape is not None
            swallowed = any(body.shape.contains(point, self.pose[body.name]) for point in points)
            out[body.name] = "inside" if swallowed else words
        return out

    def wrench(self, cable: str, body: str) -> np.ndarray:
        """Force [N] at the body's origin and torque [N·m] about it, (3,), that a cable exerts on a body."""
        k, p = self.mechanism._cable(cable), self.model.paths
        own = slice(p.start[k], p.start[k + 1])
        scale = -self.efforts[p.row[k]] if p.kind[k] == CABLE else 1.0
        on = p.body[own] == self.mechanism.number[body]
        return scale * self._work.pull[own][on].sum(axis=0)

    def polyline(self, cable: str) -> np.ndarray:
        """The line along which a cable runs, (k, 2) [m]."""
        return path_of(self.model, self.state.memory, self._work, self.mechanism._cable(cable)).polyline()
