"""Random obstacles beside a robot's skin, or a little inside: of every kind that there is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.contact import Obstacle
from pliant.contact.obstacles import (
    KINDS,
    Box,
    Capsule,
    Cylinder,
    ForkedPipe,
    Pipe,
    Plane,
    Sphere,
    TriangleMesh,
)

SIZES = (0.01, 0.1)  # of the robot's length, the diameter of a ball or the edge of a block
KEPT_CLEAR = 0.02  # of the robot's length, round points that nothing can move
TRIES = 12  # at placing one
LONG = 2.0  # lengths of the robot: that of a pipe round it


def obstacle_beside(
    rng: np.random.Generator, x: np.ndarray, mobile: np.ndarray, length: float, gap: float, name: str
) -> Obstacle | None:
    """An obstacle of a random kind whose gap to the nearest of the skin's nodes x (v, 3) [m] is `gap` [m].

    None where no place was found that leaves alone what cannot move.
    """
    for _ in range(TRIES):
        kind = str(rng.choice(list(KINDS)))
        size = length * float(np.exp(rng.uniform(*np.log(SIZES))))
        made = MAKERS[kind](rng, x, mobile, size, length)
        moved = _pushed(made, x, mobile, gap)
        fixed = x[~mobile]
        if moved is None or (len(fixed) and moved.distance(fixed)[0].min() < KEPT_CLEAR * length):
            continue
        object.__setattr__(moved, "name", name)
        return moved
    return None


def _pushed(obstacle: Obstacle, x: np.ndarray, mobile: np.ndarray, gap: float) -> Obstacle | None:
    """The obstacle moved along the normal at the nearest mobile node, until its gap is as asked."""
    for _ in range(6):
        distance, normal = obstacle.distance(x[mobile])
        nearest = int(np.argmin(distance))
        off = distance[nearest] - gap
        if abs(off) < 1e-3 * abs(gap) + 1e-9:
            break
        obstacle = obstacle.moved(translation=off * normal[nearest])
    return obstacle if abs(obstacle.distance(x[mobile])[0].min() - gap) < 0.1 * abs(gap) + 1e-6 else None


def _place(rng: np.random.Generator, x: np.ndarray, mobile: np.ndarray, size: float) -> np.ndarray:
    """A point (3,) [m] a size away from a node of the skin that can move, in any direction."""
    return x[rng.choice(np.flatnonzero(mobile))] + size * _direction(rng)


def _direction(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _turned(rng: np.random.Generator) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(3, 3)))[0]


def _ball(rng, x, mobile, size, length) -> Obstacle:
    return Sphere(_place(rng, x, mobile, size), size / 2)


def _block(rng, x, mobile, size, length) -> Obstacle:
    R = _turned(rng)
    return Box(_place(rng, x, mobile, size), size * rng.uniform(0.3, 1.0, size=3), R * np.linalg.det(R))


def _ends(rng, x, mobile, size) -> tuple[np.ndarray, np.ndarray]:
    middle, half = _place(rng, x, mobile, size), rng.uniform(0.5, 2.0) * size * _direction(rng)
    return middle - half, middle + half


def _post(rng, x, mobile, size, length) -> Obstacle:
    return Cylinder(*_ends(rng, x, mobile, size), size / 2)


def _capsule(rng, x, mobile, size, length) -> Obstacle:
    return Capsule(*_ends(rng, x, mobile, size), size / 2)


def _floor(rng, x, mobile, size, length) -> Obstacle:
    normal = _direction(rng)
    lowest = x[np.argmin(x @ normal)]
    return Plane(lowest - size * normal, normal)


def _mesh(rng, x, mobile, size, length) -> Obstacle:
    """A ball of triangles."""
    shape = Sphere(_place(rng, x, mobile, size), size / 2)
    return TriangleMesh(*shape.surface(shape.centre, size))


def _along(x: np.ndarray, mobile: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Middle of the robot as it lies there, its direction away from what is fixed, and its half width [m]."""
    middle = x.mean(axis=0)
    direction = np.linalg.svd(x - middle, full_matrices=False)[2][0]
    fixed = x[~mobile] if not mobile.all() else x[:1]
    direction = direction if (middle - fixed.mean(axis=0)) @ direction >= 0 else -direction
    across = (x - middle) - np.outer((x - middle) @ direction, direction)
    return middle, direction, float(np.linalg.norm(across, axis=1).max())


def _pipe(rng, x, mobile, size, length) -> Obstacle:
    """Round the free part of the robot, with its mouth about the middle."""
    middle, direction, width = _along(x, mobile)
    mouth = middle + rng.uniform(-0.2, 0.2) * length * direction
    return Pipe([mouth, mouth + LONG * length * direction], width + size)


def _fork(rng, x, mobile, size, length) -> Obstacle:
    """The same with a second branch."""
    middle, direction, width = _along(x, mobile)
    mouth = middle + rng.uniform(-0.2, 0.2) * length * direction
    fork = mouth + length * direction  # beyond the first one's mouth, which would count as closed
    aside = fork + length * (direction + _direction(rng))
    return ForkedPipe([[mouth, mouth + LONG * length * direction], [fork, aside]], width + size)


MAKERS: dict[str, Callable[..., Obstacle]] = {
    Sphere.kind: _ball,
    Box.kind: _block,
    Cylinder.kind: _post,
    Plane.kind: _floor,
    Capsule.kind: _capsule,
    Pipe.kind: _pipe,
    ForkedPipe.kind: _fork,
    TriangleMesh.kind: _mesh,
}
