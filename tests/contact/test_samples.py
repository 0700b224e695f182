"""Samples: dense enough, in a fixed order, on the right part of the boundary."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree

import pliant as pl
from pliant import contact
from pliant.contact import Samples
from tests.contact.common import SOFT, bar

KINDS = [("tet", 1), ("tet", 2), ("hex", 1), ("hex", 2)]


def on_facets(surface: pl.mesh.Surface, count: int = 3000) -> np.ndarray:
    """Random points on the straight triangles of a surface."""
    rng = np.random.default_rng(0)
    t = rng.choice(len(surface.triangles), count, p=surface.areas / surface.area)
    w = rng.dirichlet((1, 1, 1), count)
    return np.einsum("pk,pki->pi", w, surface.nodes[surface.triangles[t]])


@pytest.mark.parametrize(("kind", "order"), KINDS)
@pytest.mark.parametrize("spacing", [0.002, 0.0047, 0.05])
@pytest.mark.parametrize("mid_nodes", [True, False])
def test_no_point_of_the_skin_is_far_from_a_sample(kind, order, spacing, mid_nodes):
    body = bar(kind=kind, order=order)
    samples = Samples.on(body, spacing=spacing, mid_nodes=mid_nodes)
    rest = samples.points.rest
    far, _ = KDTree(rest).query(on_facets(body.mesh.surface))
    longest = 0.0249 if kind == "tet" else 0.015  # an undivided edge; the diagonal of a cell for tetrahedra
    assert far.max() < 0.75 * min(spacing, longest)
    assert len(np.unique(np.round(rest, 9), axis=0)) == len(rest)  # none twice


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_samples_are_material_points_on_the_skin(kind, order):
    body = bar(kind=kind, order=order)
    samples = Samples.on(body, spacing=0.003)
    points, surface = samples.points, body.mesh.surface
    weights = np.add.reduceat(points.node_weight, points.node_ptr[:-1])
    np.testing.assert_allclose(weights, 1.0, atol=1e-12)
    box = contact.Box((0.03, 0.01, 0.01), (0.06, 0.02, 0.02))
    np.testing.assert_allclose(box.distance(points.rest)[0], 0.0, atol=1e-15)
    nodes = len(surface.vertices)  # nodes come first, ascending
    np.testing.assert_array_equal(points.node_index[points.node_ptr[:nodes]], surface.vertices)
    np.testing.assert_allclose(points.position(body.q0), points.rest, atol=1e-15)
    again = Samples.on(bar(kind=kind, order=order), spacing=0.003)
    np.testing.assert_array_equal(again.points.rest, points.rest)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_each_sample_knows_its_facets(kind, order):
    samples = Samples.on(bar(kind=kind, order=order), spacing=0.004)
    points, surface = samples.points, samples.surface
    assert surface is not None
    for i in range(0, len(samples), 7):
        nodes = set(points.node_index[points.node_ptr[i] : points.node_ptr[i + 1]])
        expected = [f for f, facet in enumerate(surface.facets) if nodes <= set(facet)]
        mine = list(samples.facet[samples.facet_ptr[i] : samples.facet_ptr[i + 1]])
        assert mine == expected


def test_the_default_spacing():
    coarse = bar(kind="hex")  # edges of 10 and 15 mm
    assert np.isclose(Samples.on(coarse).spacing, 0.0075)
    mesh = pl.mesh.box((0.06, 0.02, 0.002), cells=(40, 14, 2), kind="hex")
    fine = Samples.on(pl.Solid(mesh, SOFT))
    assert np.isclose(fine.spacing, mesh.size / 40) and len(fine) == len(mesh.surface.vertices)


def test_mid_nodes_may_be_left_out():
    body = bar(kind="tet", order=2)
    corners = Samples.on(body, spacing=1.0, mid_nodes=False)
    assert len(corners) == len(body.mesh.linear().surface.vertices) < len(Samples.on(body, spacing=1.0))


def test_voids_are_left_out_unless_asked_for():
    body = pl.Solid(pl.mesh.block_with_cavity(radius=0.01), SOFT, order=1)
    radius = np.linalg.norm(Samples.on(body).points.rest, axis=1)
    assert radius.min() > 0.019
    (void,) = pl.mesh.cavity_surfaces(body.mesh)
    within = np.isin(body.mesh.surface.facets, void.facets).all(axis=1)
    inner = Samples.on(body, within)
    assert np.linalg.norm(inner.points.rest, axis=1).max() < 0.011


def test_a_part_of_the_boundary():
    body = bar()
    surface = body.mesh.surface
    top = lambda x: x[:, 2] > 0.0199
    expected = Samples.on(body, top).points.rest
    assert (expected[:, 2] > 0.0199).all()
    mask = top(surface.centres)
    for where in (mask, np.flatnonzero(mask), surface.patch(mask)):
        np.testing.assert_array_equal(Samples.on(body, where).points.rest, expected)


def test_refined_samples_cover_the_same_surface_more_densely():
    samples = Samples.on(bar(), lambda x: x[:, 2] > 0.0199)
    dense = samples.refined()
    assert len(dense) > 8 * len(samples) and (dense.points.rest[:, 2] > 0.0199).all()


def test_balls_round_points():
    body = bar()
    line = body.points([(x, 0.01, 0.01) for x in np.linspace(0, 0.06, 7)])
    samples = Samples.around(line, 0.008)
    assert samples.surface is None and samples.refined() is samples and np.isclose(samples.spacing, 0.01)
    robot = pl.Robot(body)
    detector = contact.Detector(robot, [contact.Plane((0, 0, -0.001), (0, 0, 1))], samples=samples)
    found = detector.detect(robot.rest.q, 0.01)
    np.testing.assert_allclose(found.gap, 0.003, atol=1e-15)  # 11 mm up, 8 mm thick
    assert np.isclose(
        detector.penetration(robot.retract(robot.rest.q, np.tile([0, 0, -0.004], robot.ndof // 3))), 0.001
    )
