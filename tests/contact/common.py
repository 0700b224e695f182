"""What the tests of contact share: obstacles of every kind, meshes with known distances, small robots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant import contact

SOFT = pl.Hooke(young=3e5, poisson=0.4)
TURN = Rotation.from_euler("xyz", (0.3, -0.7, 1.1))
FORK = (
    [(0, 0, -0.1), (0, 0, 0)],
    [(0, 0, 0), (0.03, 0, 0.04), (0.04, 0, 0.1)],
    [(0, 0, 0), (-0.03, 0.01, 0.04), (-0.04, 0, 0.1)],
)


def icosphere(radius: float = 1.0, points: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Points spread evenly on a sphere and the triangles of their convex hull, outward."""
    k = np.arange(points) + 0.5
    polar, turn = np.arccos(1 - 2 * k / points), np.pi * (1 + 5**0.5) * k
    X = np.column_stack([np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)])
    T = ConvexHull(X).simplices
    inward = np.einsum("ti,ti->t", np.cross(X[T[:, 1]] - X[T[:, 0]], X[T[:, 2]] - X[T[:, 0]]), X[T[:, 0]]) < 0
    return radius * X, np.where(inward[:, None], T[:, ::-1], T)


def block(size: Any, centre: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a box."""
    surface = pl.mesh.box(
        size, cells=(2, 2, 2), origin=(np.asarray(centre) - np.asarray(size) / 2).tolist()
    ).surface
    return surface.nodes, surface.triangles


OBSTACLES: dict[str, contact.Obstacle] = {
    "plane": contact.Plane((0.01, 0.0, 0.02), (1, 2, 3)),
    "sphere": contact.Sphere((0.01, 0.02, -0.01), 0.03),
    "capsule": contact.Capsule((-0.02, 0.0, 0.0), (0.03, 0.02, 0.01), 0.02),
    "box": contact.Box((0.01, 0.0, 0.0), (0.06, 0.04, 0.03), TURN),
    "rounded box": contact.Box((0.0, 0.01, 0.0), (0.06, 0.05, 0.04), rounding=0.01),
    "cylinder": contact.Cylinder((-0.02, 0.0, 0.01), (0.03, 0.01, 0.0), 0.025),
    "pipe": contact.Pipe([(-0.05, 0, 0), (0, 0, 0), (0.02, 0.04, 0.01)], 0.03),
    "closed pipe": contact.Pipe([(-0.05, 0, 0), (0, 0, 0), (0.02, 0.04, 0.01)], 0.03, open=(False, False)),
    "forked pipe": contact.ForkedPipe(FORK, (0.02, 0.015, 0.015)),
    "mesh": contact.TriangleMesh(*icosphere(0.04)),
    "container": contact.TriangleMesh(*block((0.08, 0.07, 0.06), (0, 0, 0)), inside=True),
}


def cloud(count: int = 400, seed: int = 0, size: float = 0.08) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-size, size, (count, 3))


def bar(*, origin: Any = (0.0, 0.0, 0.0), kind: str = "hex", order: int = 1, **options: Any) -> pl.Solid:
    """A soft bar of 60 × 20 × 20 mm, free unless `fixed` says otherwise."""
    mesh = pl.mesh.box((0.06, 0.02, 0.02), cells=(4, 2, 2), kind=kind, order=order, origin=origin)
    return pl.Solid(mesh, SOFT, order=order, **options)


def plated(*, joint: Any = None, order: int = 1, kind: str = "hex") -> pl.Robot:
    """A bar clamped at x = 0, on rollers at y = 0, with a rigid plate at its other end."""
    mesh = pl.mesh.box((0.06, 0.02, 0.02), cells=(4, 2, 2), kind=kind, order=order)
    plate, fixed = np.abs(mesh.nodes[:, 0] - 0.06) < 1e-9, np.zeros((len(mesh.nodes), 3), bool)
    fixed[mesh.nodes[:, 0] < 1e-9] = True
    fixed[(mesh.nodes[:, 1] < 1e-9) & ~plate, 1] = True
    rigid = pl.Rigid(plate, name="plate", joint=joint)
    return pl.Robot(pl.Solid(mesh, SOFT, fixed=fixed, order=order, rigid=rigid))


def fork(*, kind: str = "tet", order: int = 1, fixed: Any = None) -> pl.Solid:
    """Two prongs of 8 × 10 × 36 mm on a foot, 4 mm apart: x from 8 to 12 mm is free above z = 4 mm."""
    mask = np.ones((5, 3, 10), bool)
    mask[2, :, 1:] = False
    mesh = pl.mesh.from_voxels(mask, (0.004, 0.01 / 3, 0.004), kind=kind, order=order)
    return pl.Solid(mesh, SOFT, order=order, fixed=fixed)


def leaning(X: np.ndarray, slope: float) -> np.ndarray:
    """The fork with its prongs leaning together: their gap at height z is 4 mm − 2·slope·(z − 4 mm)."""
    side = np.where(X[:, 0] < 0.0099, 1.0, -1.0)
    return X + np.outer(side * slope * np.maximum(X[:, 2] - 0.004, 0.0), (1, 0, 0))


def placed(robot: pl.Robot, positions: np.ndarray) -> np.ndarray:
    """q with all nodes at given positions (no rigid regions)."""
    return np.ascontiguousarray(positions, float).ravel()


def deformed(robot: pl.Robot, seed: int = 1, amplitude: float = 5e-4) -> np.ndarray:
    """A random q near rest, regions turned by some degrees."""
    dq = amplitude * np.random.default_rng(seed).normal(size=robot.ndof)
    for body, span in zip(robot.bodies, robot.dq_spans, strict=True):
        for region in body.region_block:
            dq[span][3 * region + 3 : 3 * region + 6] = (0.1, -0.15, 0.12)
    return robot.retract(robot.rest.q, dq)


def check_rows(
    robot: pl.Robot,
    detector: contact.Detector,
    q: np.ndarray,
    *,
    reach: float | None = None,
    step: float = 1e-7,
    detect: Callable[[np.ndarray], contact.Contacts] | None = None,
) -> contact.Contacts:
    """H is the derivative of the gap through the retraction, for every contact of a sample (by `detect`).

    Points between samples push across their facet, whatever the obstacle's gradient there is.
    """
    detect = detect or (lambda q: detector.detect(q, reach))
    found = detect(q)
    samples = (found.key == found.index) | ~found.rigid
    H = found.rows(q)
    assert H.shape == (len(found), robot.ndof)
    for d in np.random.default_rng(5).normal(size=(3, robot.ndof)):
        ahead, behind = (detect(robot.retract(q, s * step * d)) for s in (1, -1))
        both = (found.matched(ahead), found.matched(behind))
        there = (both[0] >= 0) & (both[1] >= 0) & samples
        assert there.mean() > 0.9  # few come or go within a step of 0.1 µm
        rate = (ahead.gap[both[0]] - behind.gap[both[1]])[there] / (2 * step)
        np.testing.assert_allclose(H.dot(d)[there], rate, rtol=0, atol=2e-5 * max(1.0, np.abs(rate).max()))
    return found


def brute_distance(p: np.ndarray, X: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Distance (P,) to the nearest triangle by looking at the planes, edges and corners of all of them."""
    a, b, c = (X[T[:, k]] for k in range(3))
    best = np.full(len(p), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        s = np.einsum("pti,ti->pt", p[:, None] - u, v - u) / np.einsum("ti,ti->t", v - u, v - u)
        foot = u + np.clip(s, 0, 1)[:, :, None] * (v - u)
        best = np.minimum(best, np.linalg.norm(p[:, None] - foot, axis=2).min(axis=1))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    height = np.einsum("pti,ti->pt", p[:, None] - a, n)
    foot = p[:, None] - height[:, :, None] * n
    over = np.ones(height.shape, bool)
    for u, v in ((a, b), (b, c), (c, a)):
        over &= np.einsum("pti,ti->pt", foot - u, np.cross(n, v - u)) >= 0
    return np.minimum(best, np.where(over, np.abs(height), np.inf).min(axis=1))


def winding(p: np.ndarray, X: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Winding number (P,) of a closed surface: Σ solid angle / 4π."""
    a, b, c = (X[T[:, k]] - p[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=2) for x in (a, b, c))
    dot = lambda x, y: np.einsum("pti,pti->pt", x, y)
    top = dot(a, np.cross(b, c))
    bottom = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return np.arctan2(top, bottom).sum(axis=1) / (2 * np.pi)


def differences(f: Callable[[np.ndarray], np.ndarray], p: np.ndarray, step: float) -> np.ndarray:
    """Central differences (P, 3) of a scalar field at points."""
    return np.stack([(f(p + step * e) - f(p - step * e)) / (2 * step) for e in np.eye(3)], axis=1)
