"""How deep a robot's skin lies in obstacles, measured without the samples that contact uses.

The depth of a facet in an obstacle is found by branch and bound: facets are cut into triangles and these
into four, until no triangle can hide a deeper point. A signed distance changes by no more than the way, and
that of a convex obstacle lies above its tangent planes:

    gap(p) ≥ gap(c) − ‖p − c‖,      convex:  gap(p) ≥ gap(c) + n·(p − c)

Bodies in themselves and in each other are measured by the detector, on its dense samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact import Detector, Obstacle
from pliant.contact.detect.samples import Samples
from pliant.contact.stack import Stack
from pliant.mesh.elements import shape
from pliant.robot import Robot

RESOLVED = 2e-5  # of the robot's length: depth that may be missed
FINEST = 12  # how often a facet is halved at most
FINEST_HOLLOW = 3  # of obstacles that are not convex: those that curve round the robot are met at corners
SAG = 1.5  # times the distance from a curved facet's centre to the plane of its corners: how far it bulges
ROOTS = {  # the triangles (·, 3, 2) of a facet in its own coordinates, by its number of corners
    3: np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]),
    4: np.array([[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]], [[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]]),
}


class Skin:
    """The outer boundary of one body, without the facets that nothing can move."""

    def __init__(self, robot: Robot, number: int) -> None:
        body = robot.bodies[number]
        self.body, self.span = body, robot.q_spans[number]
        surface = Samples.on(body).surface
        assert surface is not None
        self.vertices = np.asarray(surface.vertices)
        mobile = np.zeros(len(body.mesh.nodes), bool)
        mobile[self.vertices] = Stack(robot, [body.node_points(self.vertices)]).mobile
        self.mobile = mobile[self.vertices]
        self.closed, self.triangles = surface.closed and not body.two_sided, surface.triangles
        self.kind, self.corners = surface.kind, surface.element.corners
        self.facets = surface.facets[mobile[surface.facets].any(axis=1)]
        self.thickness = np.zeros(len(body.mesh.nodes))
        if body.two_sided:
            self.thickness[self.vertices] = body.half_thickness(body.node_points(self.vertices))

    def nodes(self, q: np.ndarray) -> np.ndarray:
        """Positions (k, 3) [m] of all nodes of the body at the robot's coordinates q."""
        return self.body.positions(q[self.span])

    def deepest(self, X: np.ndarray, obstacle: Obstacle, tolerance: float) -> float:
        """Depth [m] of the deepest point in an obstacle, with the body's nodes at X (k, 3) [m]."""
        nodes, X, thickness = X, X[self.facets], self.thickness[self.facets]
        middle = X.mean(axis=1)
        far = np.linalg.norm(X - middle[:, None], axis=2).max(axis=1) + thickness.max(axis=1)
        near = np.flatnonzero(obstacle.distance(middle)[0] < far)
        roots = ROOTS[self.corners]
        facet = np.repeat(near, len(roots))
        xi = np.tile(roots, (len(near), 1, 1))
        best = 0.0
        for _ in range(FINEST if obstacle.convex else FINEST_HOLLOW):
            if not len(facet):
                break
            gap, lower = self._bounds(X, thickness, facet, xi, obstacle)
            best = min(best, gap)
            hiding = lower < best - tolerance
            facet, xi = np.repeat(facet[hiding], 4), _quartered(xi[hiding])
        return -best if best < 0.0 else self._swallowed(nodes, obstacle)

    def _swallowed(self, nodes: np.ndarray, obstacle: Obstacle) -> float:
        """How far [m] below the skin an obstacle is that lies wholly inside the body; 0 if it does not."""
        if not (self.closed and obstacle.bounded) or obstacle.hollow:
            return 0.0
        away = nodes - obstacle.handle
        if abs(_solid_angle(away[self.triangles])) < 2.0 * np.pi:
            return 0.0
        return float(np.linalg.norm(away[self.vertices], axis=1).min())

    def _bounds(self, X: np.ndarray, thickness: np.ndarray, facet: np.ndarray, xi: np.ndarray, obstacle):
        """The smallest gap [m] at corners and centres of triangles, and (t,) what each cannot be below."""
        points = np.concatenate([xi, xi.mean(axis=1, keepdims=True)], axis=1)  # (t, 4, 2)
        N = shape(self.kind, points.reshape(-1, 2)).reshape(len(xi), 4, -1)
        x = np.einsum("tpa,tad->tpd", N, X[facet])
        gap, normal = obstacle.distance(x.reshape(-1, 3))
        gap = gap.reshape(-1, 4) - np.einsum("tpa,ta->tp", N, thickness[facet])
        corners, centre = x[:, :3], x[:, 3]
        if obstacle.convex:
            n = normal.reshape(-1, 4, 3)[:, 3]
            sag = SAG * np.linalg.norm(centre - corners.mean(axis=1), axis=1)
            slope = np.einsum("td,tpd->tp", n, corners - centre[:, None]).min(axis=1)
            return float(gap.min()), gap[:, 3] + slope - sag
        far = np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)
        return float(gap.min()), gap[:, 3] - far


def _solid_angle(corners: np.ndarray) -> float:
    """The solid angle under which the origin sees oriented triangles (t, 3, 3), ±4π from inside."""
    a, b, c = np.moveaxis(corners, 1, 0)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    dot = lambda u, v: np.einsum("ti,ti->t", u, v)
    volume = dot(a, np.cross(b, c))
    return float(
        2.0 * np.arctan2(volume, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb).sum()
    )


def _quartered(xi: np.ndarray) -> np.ndarray:
    """Triangles (t, 3, 2) cut at the middles of their sides, (4t, 3, 2)."""
    a, b, c = xi[:, 0], xi[:, 1], xi[:, 2]
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.stack([np.stack(part, axis=1) for part in parts], axis=1).reshape(-1, 3, 2)


class Skins:
    """The skins of all bodies of a robot: where they are, and how deep."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.parts = [Skin(robot, k) for k, body in enumerate(robot.bodies) if len(body.mesh.surface)]

    def places(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (v, 3) [m] of the skin's nodes, and (v,) whether anything can move them."""
        x = [part.nodes(q)[part.vertices] for part in self.parts]
        return np.concatenate(x), np.concatenate([part.mobile for part in self.parts])

    def depth(self, q: np.ndarray, detector: Detector) -> tuple[float, str]:
        """Depth [m] of the deepest point in anything, and the name of that."""
        tolerance = RESOLVED * self.robot.length
        found: list[tuple[float, str]] = [(0.0, "")]
        nodes = [part.nodes(q) for part in self.parts]
        for name, obstacle in detector.obstacles.items():
            found += [(p.deepest(X, obstacle, tolerance), name) for p, X in zip(self.parts, nodes)]
        soft = {opponent.name for opponent in detector.soft}
        if soft:
            found += [(d, name) for name, d in detector.penetrations(q).items() if name in soft]
        return max(found, key=lambda pair: pair[0])


def bound(robot: Any) -> float:
    """What the depth [m] may be without a word: 0.1 mm, or 5e-4 of the robot's length if that is more."""
    return max(1e-4, 5e-4 * robot.length)
