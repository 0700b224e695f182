"""Specimens to try interactions on: loose nodes with a rigid region and a fixed part, and real solids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant.mesh
import pliant.mesh.lines
from pliant.bodies.beams import Beam, Circle
from pliant.bodies.rigid import Ball, Rigid
from pliant.bodies.rigid_body import RigidBody
from pliant.bodies.shells import Shell
from pliant.bodies.solid import Solid
from pliant.interactions import Specimen
from pliant.interactions.surfaces import on_nodes
from pliant.materials.hooke import Hooke
from pliant.points import Points


def sphere(rings: int = 4, around: int = 8, radius: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A sphere of triangles with poles on z: vertices (k, 3), outward triangles (t, 3)."""
    theta = np.pi * np.arange(1, rings) / rings
    phi = 2 * np.pi * np.arange(around) / around
    ring = [[np.sin(t) * np.cos(f), np.sin(t) * np.sin(f), np.cos(t)] for t in theta for f in phi]
    last = 1 + (rings - 2) * around
    triangles = []
    for f in range(around):
        g = (f + 1) % around
        triangles += [[0, 1 + f, 1 + g], [len(ring) + 1, last + g, last + f]]
        for r in range(rings - 2):
            a, b = 1 + r * around + f, 1 + r * around + g
            triangles += [[a, a + around, b + around], [a, b + around, b]]
    return radius * np.array([[0, 0, 1], *ring, [0, 0, -1]]), np.array(triangles)


class LooseBody:
    """Nodes that move freely, except fixed ones and those of one rigid region: the least that owns points."""

    carriers = modes = None

    def __init__(self, nodes, rigid, fixed, locked=()):
        k = len(nodes)
        self.nodes = nodes
        self.node_region = np.where(rigid, 0, -1)
        self.node_block = np.full(k, -1)
        loose = ~rigid & ~fixed
        self.node_block[loose] = np.arange(loose.sum())
        self.region_block = np.array([loose.sum()])
        self.region_frame = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()[None]
        self.centre = nodes[rigid].mean(axis=0)
        self.node_arm = np.where(rigid[:, None], (nodes - self.centre) @ self.region_frame[0], 0.0)
        self.ndof = 3 * (loose.sum() + 2)
        self.free = np.ones(self.ndof, bool)
        self.free[list(locked)] = False
        self.q0 = np.concatenate([nodes.ravel(), self.centre, self.region_frame[0].ravel()])

    def retract(self, q, dq):
        k, dq = len(self.nodes), np.where(self.free, dq, 0.0).reshape(-1, 3)
        x, t, R = q[: 3 * k].reshape(k, 3).copy(), q[3 * k : 3 * k + 3], q[3 * k + 3 :].reshape(3, 3)
        loose, rigid = self.node_block >= 0, self.node_region == 0
        x[loose] += dq[self.node_block[loose]]
        t = t + self.region_frame[0] @ dq[-2]
        R = R @ Rotation.from_rotvec(dq[-1]).as_matrix()
        x[rigid] = t + self.node_arm[rigid] @ R.T
        return np.concatenate([x.ravel(), t, R.ravel()])

    def node_points(self, indices) -> Points:
        return self.weighted([[(i, 1.0)] for i in indices])

    def weighted(self, supports) -> Points:
        """Points given as lists of (node, weight)."""
        index = np.array([n for support in supports for n, _ in support])
        weight = np.array([w for support in supports for _, w in support])
        ptr = np.cumsum([0] + [len(support) for support in supports])
        rest = np.add.reduceat(weight[:, None] * self.nodes[index], ptr[:-1])
        return Points(self, rest, ptr, index, weight)


@dataclass(frozen=True)
class Trial:
    """A body, the specimen cut from it, and a size to measure steps by."""

    body: Any
    specimen: Specimen
    size: float


def loose() -> Trial:
    """A ball whose lower end is rigid, a helix of nodes inside it, and a fixed node on its side."""
    skin, triangles = sphere()
    s = np.linspace(0, 1, 9)
    helix = 0.5 * np.column_stack([np.cos(4 * s), np.sin(4 * s), 1.6 * s - 1.0])
    frame = np.array([0.1, 0.2, -0.8]) + 0.3 * np.vstack([np.zeros(3), np.eye(3)])
    nodes = np.concatenate([skin, helix, frame])
    rigid = nodes[:, 2] < -0.6
    rigid[-len(frame) :] = True
    fixed = np.arange(len(nodes)) == 9
    body = LooseBody(nodes, rigid, fixed, locked=[4])
    first = len(skin)
    line = [[(first + i, 0.7), (first + i + 1, 0.2), (1, 0.1)] for i in range(len(helix) - 1)]
    line[2].append((len(nodes) - 2, 0.1))
    line[3] = [(first + 3, 0.6), (9, 0.4)]
    specimen = Specimen(
        line=body.weighted(line),
        frame=body.node_points(range(len(nodes) - 4, len(nodes))),
        skin=body.node_points(range(len(skin))),
        triangles=triangles,
    )
    return Trial(body, specimen, 1.0)


def solid(kind: str, order: int) -> Trial:
    """A block clamped at one end, with a rigid plate at the other."""
    mesh = pliant.mesh.box((0.1, 0.04, 0.04), cells=(4, 2, 2), kind=kind, order=order)
    plate = Rigid(pliant.mesh.near_plane(mesh, (0.1, 0, 0), (1, 0, 0)), name="plate")
    clamped = pliant.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = Solid(mesh, Hooke(young=1e5, poisson=0.45), fixed=clamped, rigid=plate, order=order)
    s = np.linspace(0, 1, 9)
    helix = np.column_stack([0.005 + 0.09 * s, 0.02 + 0.01 * np.cos(5 * s), 0.02 + 0.01 * np.sin(5 * s)])
    skin, triangles = on_nodes(body, body.mesh.surface)
    specimen = Specimen(body.points(helix), body.region_points("plate"), skin, triangles)
    return Trial(body, specimen, 0.1)


def rod() -> Trial:
    """A rod clamped at one end; its skin depends on frames of nodes, a helix round it on two frames each."""
    lines = pliant.mesh.lines.line((0.0, 0.02, 0.02), (0.1, 0.02, 0.02), elements=5)
    body = Beam(lines, Circle(0.006), Hooke(young=1e5, poisson=0.45), fixed=0)
    s = np.linspace(0, 1, 9)
    helix = np.column_stack([0.005 + 0.09 * s, 0.02 + 0.01 * np.cos(5 * s), 0.02 + 0.01 * np.sin(5 * s)])
    skin, triangles = on_nodes(body, body.mesh.surface)
    return Trial(body, Specimen(body.points(helix), body.region_points(5), skin, triangles), 0.1)


def tube() -> Trial:
    """A closed tube of sheet, clamped at one end, with a rigid lid; a helix of points on it and beside it."""
    sheet = pliant.mesh.tube_sheet(0.02, 0.1, around=8, along=4, caps=True)
    lid = Rigid(lambda x: x[:, 2] > 0.1 - 1e-9, name="lid")
    law = Hooke(young=1e5, poisson=0.45)
    body = Shell(sheet, law, 0.002, fixed=lambda x: x[:, 2] < 1e-9, rigid=lid)
    s = np.linspace(0, 1, 9)
    helix = np.column_stack([0.019 * np.cos(5 * s), 0.019 * np.sin(5 * s), 0.005 + 0.09 * s])
    skin, triangles = on_nodes(body, body.mesh.surface)
    points = body.points(helix, outside="nearest")
    return Trial(body, Specimen(points, body.region_points("lid"), skin, triangles), 0.1)


def hard() -> Trial:
    """A rigid block on a ball joint beside it, with a helix of points inside."""
    mesh = pliant.mesh.box((0.1, 0.04, 0.04), cells=(2, 1, 1), kind="tet")
    body = RigidBody(mesh, density=1000.0, joint=Ball((-0.01, 0.0, 0.01)))
    s = np.linspace(0, 1, 9)
    helix = np.column_stack([0.005 + 0.09 * s, 0.02 + 0.01 * np.cos(5 * s), 0.02 + 0.01 * np.sin(5 * s)])
    skin, triangles = on_nodes(body, body.mesh.surface)
    return Trial(body, Specimen(body.points(helix), body.region_points(), skin, triangles), 0.1)


TRIALS = {
    "loose": loose,
    "tet4": lambda: solid("tet", 1),
    "tet10": lambda: solid("tet", 2),
    "hex8": lambda: solid("hex", 1),
    "rod": rod,
    "tube": tube,
    "hard": hard,
}


@pytest.fixture(scope="session", params=list(TRIALS))
def trial(request) -> Trial:
    return TRIALS[request.param]()


def state(trial: Trial, seed: int, amplitude: float = 0.05) -> np.ndarray:
    """A random q near rest."""
    dq = amplitude * trial.size * np.random.default_rng(seed).normal(size=trial.body.ndof)
    return trial.body.retract(trial.body.q0, dq)


@pytest.mark.parametrize("part", ["line", "frame", "skin"])
def test_points_move_as_their_jacobian_says(trial, part):
    points, q = getattr(trial.specimen, part), state(trial, 1)
    dq = np.random.default_rng(2).normal(size=trial.body.ndof)
    h = 1e-6
    moved = [points.position(trial.body.retract(q, s * h * dq)) for s in (1, -1)]
    rate = np.zeros_like(points.rest)
    np.add.at(
        rate, points.entry_point, np.einsum("eij,ej->ei", points.jacobian(q), dq.reshape(-1, 3)[points.block])
    )
    np.testing.assert_allclose((moved[0] - moved[1]) / (2 * h), rate, atol=1e-7)
    np.testing.assert_allclose(points.position(trial.body.q0), points.rest, atol=1e-12)
