"""Depth is that of the surfaces as they are: against a brute-force measure, for obstacles of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant import contact
from pliant.contact.obstacles import KINDS
from pliant.contact.stack import Stack
from pliant.mesh.elements import shape
from tests.contact.common import OBSTACLES, bar, block, deformed, plated

PIECES = 40  # of the side of a facet
TOLD = 2e-5  # of the length: how well a depth is known


def mobile(robot: pl.Robot, body) -> np.ndarray:
    """Which nodes (k,) of a body something can move."""
    return Stack(robot, [body.node_points(np.arange(len(body.mesh.nodes)))]).mobile


def brute_depth(robot: pl.Robot, obstacle: contact.Obstacle, q: np.ndarray, pieces: int = PIECES) -> float:
    """Depth [m] of the deepest of many points on every facet that moves, 0 if none is inside."""
    deepest = 0.0
    for body, span in zip(robot.bodies, robot.q_spans, strict=True):
        surface, X = body.mesh.surface, body.positions(q[span])
        i, j = (k.ravel() for k in np.meshgrid(np.arange(pieces + 1), np.arange(pieces + 1)))
        if surface.element.corners == 3:
            inside = i + j <= pieces
            xi = np.column_stack([i, j])[inside] / pieces
        else:
            xi = 2.0 * np.column_stack([i, j]) / pieces - 1.0
        facets = surface.facets[mobile(robot, body)[surface.facets].any(axis=1)]
        p = np.einsum("pk,fki->fpi", shape(surface.kind, xi), X[facets]).reshape(-1, 3)
        deepest = max(deepest, -obstacle.distance(p)[0].min(initial=0.0))
    return deepest


ROBOTS = {
    "hex": lambda: pl.Robot(bar()),
    "tet": lambda: pl.Robot(bar(kind="tet")),
    "tet10": lambda: pl.Robot(bar(kind="tet", order=2)),
    "hex20": lambda: pl.Robot(bar(kind="hex", order=2)),
    "plate": plated,
}
BUILT = {name: make() for name, make in ROBOTS.items()}


def test_every_kind_is_measured():
    assert {o.kind for o in OBSTACLES.values()} == set(KINDS)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(OBSTACLES)),
    st.sampled_from(sorted(ROBOTS)),
    st.integers(0, 99),
    st.tuples(*[st.floats(-0.5, 0.5)] * 3),
    st.tuples(*[st.floats(-1.0, 1.0)] * 3),
)
def test_depth_is_what_brute_force_finds(kind, which, seed, turn, aside):
    robot = BUILT[which]
    obstacle = OBSTACLES[kind]
    middle = np.array([0.03, 0.01, 0.01])
    place = middle + np.array([0.03, 0.03, 0.03]) * aside
    obstacle = obstacle.moved(rotation=Rotation.from_rotvec(turn).as_matrix(), translation=place)
    detector = contact.Detector(robot, [obstacle], samples=contact.Samples.on(robot.body))
    q = deformed(robot, seed, 2e-4)
    name = next(iter(detector.obstacles))
    measured, brute = detector.penetrations(q)[name], brute_depth(robot, obstacle, q)
    core = obstacle.core
    if core is None or measured < brute + TOLD * robot.length + 1e-3 or not _inside(robot, core, q):
        cell = 0.017 / PIECES  # between lattice points a corner may be as much deeper
        assert brute - TOLD * robot.length <= measured <= brute + cell


def _inside(robot: pl.Robot, p: np.ndarray, q: np.ndarray) -> bool:
    """Whether p lies in the bar, which is convex but for what little it is deformed."""
    surface = robot.body.mesh.surface
    X = robot.body.positions(q)
    T = surface.triangles
    n = np.cross(X[T[:, 1]] - X[T[:, 0]], X[T[:, 2]] - X[T[:, 0]])
    return bool((np.einsum("ti,ti->t", n, p - X[T[:, 0]]) < 0).all())


@pytest.mark.parametrize("which", sorted(ROBOTS))
def test_a_needle_is_measured_between_all_samples(which):
    """As deep as its tip is behind the skin, wherever it stands and however far the samples are apart."""
    robot = BUILT[which]
    samples = contact.Samples.on(robot.body, spacing=1.0)
    for x, y in ((0.0173, 0.0041), (0.0311, 0.0122), (0.0499, 0.0157)):
        needle = contact.Capsule((x, y, -0.02), (x, y, -1e-4), 3e-4, name="needle")  # 0.2 mm inside
        detector = contact.Detector(robot, [needle], samples=samples)
        if which == "plate" and y < 1e-9:
            continue
        assert detector.penetration(robot.rest.q) == pytest.approx(2e-4, abs=TOLD * robot.length)


def test_the_edges_of_a_mesh():
    """A plate and a post, whose edges stand in the bar between samples."""
    lower = block((0.04, 0.04, 0.01), (0.03, 0.01, -0.0098))
    upper = block((0.004, 0.04, 0.01), (0.031, 0.01, -0.0047))
    for vertices, triangles in (lower, upper):
        mesh = contact.TriangleMesh(vertices, triangles)
        robot = BUILT["hex"]
        detector = contact.Detector(robot, [mesh], samples=contact.Samples.on(robot.body, spacing=1.0))
        brute = brute_depth(robot, mesh, robot.rest.q)
        assert detector.penetration(robot.rest.q) == pytest.approx(brute, abs=2e-5)
