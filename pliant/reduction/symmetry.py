"""Symmetries of a robot: rotations or reflections that map it onto itself, and snapshots to others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from pliant.errors import InputError, as_floats
from pliant.reduction.snapshots import Snapshots
from pliant.robot import Robot

SAME_PLACE = 1e-6  # of the robot's length: places nearer to each other are the same
SAME_VECTOR = 1e-6  # relative, of gravity and its image
ORTHOGONAL = 1e-9  # largest entry of S Sᵀ − I


@dataclass(frozen=True, eq=False)
class Symmetry:
    """x ↦ S x with an orthogonal S (3, 3), and what it makes of the robot's parts.

    `row` is the actuator that each actuator becomes, by name; `contact` (C,) likewise the contact, −1 for
    those without an image.
    """

    robot: Robot
    matrix: np.ndarray
    row: dict[str, str]
    contact: np.ndarray
    node_maps: dict[int, Any] = field(default_factory=dict, repr=False)  # images of nodes and regions by body

    @classmethod
    def of(cls, robot: Robot, matrix: Any) -> Symmetry:
        """The symmetry under S (3, 3), by positions at rest; an InputError names what has no image."""
        S = as_floats("symmetry", matrix, "an orthogonal matrix (3, 3)")
        if S.shape != (3, 3) or not np.allclose(S @ S.T, np.eye(3), atol=ORTHOGONAL):
            raise InputError("symmetry", expected="an orthogonal matrix (3, 3)", got=repr(matrix))
        slack = SAME_VECTOR * (1 + np.linalg.norm(robot.gravity))
        if not np.allclose(S @ robot.gravity, robot.gravity, atol=slack):
            raise InputError("symmetry", expected="one that keeps gravity", got=f"S g = {S @ robot.gravity}")
        near = SAME_PLACE * robot.length
        return cls(robot, S, _rows(robot, S, near), _contacts(robot, S, near))

    @classmethod
    def turn(cls, robot: Robot, angle: float, axis: Any = (0.0, 0.0, 1.0)) -> Symmetry:
        """By an angle [rad] about an axis through the origin."""
        from scipy.spatial.transform import Rotation

        direction = as_floats("axis", axis, "three numbers")
        return cls.of(robot, Rotation.from_rotvec(angle * direction / np.linalg.norm(direction)).as_matrix())

    def images(self, snapshots: Snapshots) -> Snapshots:
        """The images of snapshots. Their `extra` is left out, as nothing says how that transforms."""
        place = {name: k for k, name in enumerate(snapshots.actuators)}
        missing = [name for name in snapshots.actuators if self.row[name] not in place]
        if missing:
            got = f"{self.row[missing[0]]!r}, the image of {missing[0]!r}"
            raise InputError("symmetry", expected=f"images among {list(place)}", got=got)
        commands = np.empty_like(snapshots.commands)
        commands[:, [place[self.row[name]] for name in snapshots.actuators]] = snapshots.commands
        contact, known = np.zeros_like(snapshots.contact), self.contact >= 0
        if snapshots.contact[:, ~known].any():
            raise InputError("symmetry", expected="an image of every contact that pushes", got="some without")
        contact[:, self.contact[known]] = snapshots.contact[:, known]
        q = np.array([self.image(q) for q in snapshots.coordinates]).reshape(snapshots.coordinates.shape)
        return replace(snapshots, commands=commands, contact=contact, coordinates=q, extra={})

    def image(self, q: np.ndarray) -> np.ndarray:
        """Coordinates (nq,) of the robot in the mirrored posture."""
        out = q.copy()
        for body, span in zip(self.robot.bodies, self.robot.q_spans, strict=True):
            out[span] = self._body_image(body, q[span])
        return out

    def _body_image(self, body: Any, q: np.ndarray) -> np.ndarray:
        """Coordinates of a body's image: free nodes and rigid regions map to theirs, other nodes follow."""
        S, c, out, end = self.matrix, body.coordinates, q.copy(), 3 * len(body.node_block)
        (nodes, to), regions = self._maps(body)
        out[:end].reshape(-1, 3)[nodes[to]] = q[:end].reshape(-1, 3)[nodes] @ S.T
        m = len(regions)
        if m:
            pose, new = (x[end : end + 12 * m].reshape(m, 12) for x in (q, out))
            R, Q = pose[:, 3:].reshape(m, 3, 3), c.region_frame
            new[regions, :3] = pose[:, :3] @ S.T
            new[regions, 3:] = (S @ R @ np.swapaxes(Q, 1, 2) @ S.T @ Q[regions]).reshape(m, 9)
        return body.retract(out, np.zeros(body.ndof)) if m else out

    def _maps(self, body: Any) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """((free nodes, indices of their images among these), the image of every rigid region)."""
        if id(body) not in self.node_maps:
            near, n, m = SAME_PLACE * self.robot.length, len(body.node_block), len(body.region_block)
            free = np.asarray(body.node_region) < 0
            if body.carriers is not None:
                free[: len(body.carriers[0]) - 1] = False
            nodes = np.flatnonzero(free)
            to = _image(body.q0[: 3 * n].reshape(-1, 3)[nodes], self.matrix, near, "a node")
            centre = body.q0[3 * n : 3 * n + 12 * m].reshape(m, 12)[:, :3]
            self.node_maps[id(body)] = (nodes, to), _image(centre, self.matrix, near, "a rigid region")
        return self.node_maps[id(body)]


def multiplied(snapshots: Snapshots, symmetries: Iterable[Symmetry]) -> Snapshots:
    """The snapshots and their images under each of the symmetries, whose trajectories are numbered on."""
    parts = [replace(snapshots, extra={})]
    count = int(snapshots.trajectory.max(initial=-1)) + 1
    for k, symmetry in enumerate(symmetries, start=1):
        images = symmetry.images(snapshots)
        parts.append(replace(images, trajectory=images.trajectory + k * count, skipped=()))
    return Snapshots.join(parts)


def _image(places: np.ndarray, S: np.ndarray, near: float, what: str) -> np.ndarray:
    """Which of the places (n, 3) each of them is mapped to."""
    if not len(places):
        return np.zeros(0, int)
    distance, to = KDTree(places).query(places @ S.T)
    if (distance > near).any():
        at = places[int(np.argmax(distance))]
        raise InputError("symmetry", expected=f"an image of {what}", got=f"none of that at {at.tolist()}")
    return np.asarray(to)


def _rows(robot: Robot, S: np.ndarray, near: float) -> dict[str, str]:
    """The image of every actuator: of the same kind, with its points where the symmetry takes them."""
    places = {
        name: np.concatenate([p.rest for p in robot.rows[name].interaction.points]) for name in robot.rows
    }
    images = {}
    for name in robot.by_role("actuator"):
        kind, moved = type(robot.rows[name].interaction), places[name] @ S.T
        same = [
            other
            for other, there in places.items()
            if type(robot.rows[other].interaction) is kind
            and there.shape == moved.shape
            and np.abs(there - moved).max() < near
        ]
        if not same:
            raise InputError("symmetry", expected=f"an image of {name!r}", got="none")
        images[name] = same[0]
    return images


def _contacts(robot: Robot, S: np.ndarray, near: float) -> np.ndarray:
    """The image of every contact: of the sample, with the same opponent."""
    if robot.surroundings.empty(robot):
        return np.zeros(0, int)
    detector = robot.surroundings.detector(robot)
    rest = detector.cloud.rest
    distance, to = KDTree(rest).query(rest @ S.T)
    to = np.where((distance < near) & (detector.cloud.body[to] == detector.cloud.body), to, -1)
    slots = np.arange(len(detector.opponents))[:, None] * len(rest)
    return np.where(to >= 0, slots + to, -1).ravel()
