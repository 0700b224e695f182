"""Mesh obstacles: against closed forms and against all triangles and solid angles."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant import contact
from tests.contact.common import TURN, block, brute_distance, cloud, icosphere, winding


def trunk() -> pl.mesh.Surface:
    return pl.mesh.trunk(discs=4, length=0.08).surface


def test_a_box_of_triangles_is_a_box():
    size, centre = (0.06, 0.05, 0.04), (0.01, 0.0, -0.01)
    mesh, exact = contact.TriangleMesh(*block(size, centre)), contact.Box(centre, size)
    p = cloud(3000)
    (gap, normal), (expected, direction) = mesh.distance(p), exact.distance(p)
    np.testing.assert_allclose(gap, expected, atol=1e-15)
    same = np.abs(normal - direction).max(axis=1) < 1e-6
    assert same.mean() > 0.999 and mesh.convex


@pytest.mark.parametrize("points", [100, 1600])
def test_a_sphere_of_triangles_converges_to_a_sphere(points):
    radius = 0.05
    mesh = contact.TriangleMesh(*icosphere(radius, points))
    p = cloud(1000)
    gap, normal = mesh.distance(p)
    exact, direction = contact.Sphere((0, 0, 0), radius).distance(p)
    sag = 2.5 * radius / points  # a²/6R with 4πR²/points = a²·√3/2 per vertex
    assert (gap - exact > -1e-12).all() and (gap - exact < 2 * sag).all()
    outside = exact > 0.01
    assert np.abs(normal - direction)[outside].max() < 4 / np.sqrt(points)


def test_any_mesh_against_all_its_triangles_and_solid_angles():
    surface = trunk()
    mesh = contact.TriangleMesh.of(surface)
    low, high = surface.nodes.min(axis=0), surface.nodes.max(axis=0)
    p = np.random.default_rng(2).uniform(low, high, (500, 3))
    gap, _ = mesh.distance(p)
    np.testing.assert_allclose(np.abs(gap), brute_distance(p, surface.nodes, surface.triangles), atol=1e-14)
    inside = winding(p, surface.nodes, surface.triangles) > 0.5
    assert (inside == (gap < 0)).all() and 0.1 < inside.mean() < 0.9
    assert not mesh.convex


def test_the_sign_holds_close_to_edges_and_corners():
    surface = trunk()
    mesh = contact.TriangleMesh.of(surface)
    off = 1e-5 * np.random.default_rng(0).normal(size=(len(surface.vertices), 3))
    p = surface.nodes[surface.vertices] + off
    inside = winding(p, surface.nodes, surface.triangles) > 0.5
    assert (inside == (mesh.distance(p)[0] < 0)).all()


def test_on_a_vertex_the_gap_is_zero_and_the_normal_points_out():
    mesh = contact.TriangleMesh(*block((0.02, 0.02, 0.02), (0, 0, 0)))
    gap, normal = mesh.distance(mesh.vertices)
    assert np.abs(gap).max() < 1e-16
    assert (np.einsum("pi,pi->p", normal, mesh.vertices) > 0.009).all()


@pytest.mark.parametrize("reach", [0.002, 0.02])
def test_beyond_reach_a_bound_is_enough(reach):
    mesh = contact.TriangleMesh.of(trunk()).moved(rotation=TURN, translation=(0.01, 0, 0))
    p = cloud(2000, size=0.2)
    gap, normal = mesh.distance(p)
    bound, direction = mesh.distance(p, reach)
    near = gap <= reach
    assert (bound[near] == gap[near]).all() and (direction[near] == normal[near]).all()
    assert (bound[~near] > reach).all() and (bound <= gap + 1e-12).all()


def test_a_container_is_the_solid_turned_round():
    solid, hull = (contact.TriangleMesh(*icosphere(0.05), inside=flag) for flag in (False, True))
    p = cloud()
    for a, b in zip(solid.distance(p), hull.distance(p, 0.001)):
        np.testing.assert_array_equal(a, -b)
    assert solid.convex and not hull.convex


def test_soups_and_mirrored_meshes_are_put_right():
    X, T = icosphere(0.05)
    p = cloud()
    expected = contact.TriangleMesh(X, T).distance(p)[0]
    soup = contact.TriangleMesh(X[T].reshape(-1, 3), np.arange(3 * len(T)).reshape(-1, 3))
    mirrored = contact.TriangleMesh(X, T[:, ::-1])
    np.testing.assert_allclose(soup.distance(p)[0], expected, atol=1e-13)
    np.testing.assert_allclose(mirrored.distance(p)[0], expected, atol=1e-15)


def test_a_moved_mesh_keeps_its_tree_and_moves_its_vertices():
    mesh = contact.TriangleMesh(*icosphere(0.05), name="ball")
    moved = mesh.moved(translation=(1, 0, 0))
    assert moved._shape is mesh._shape and moved.name == "ball"
    np.testing.assert_allclose(moved.vertices, mesh.vertices + np.array([1, 0, 0]))


def test_two_pieces_are_not_convex():
    X, T = block((0.02, 0.02, 0.02), (0, 0, 0))
    both = contact.TriangleMesh(np.vstack([X, X + np.array([0.1, 0, 0])]), np.vstack([T, T + len(X)]))
    assert contact.TriangleMesh(X, T).convex and not both.convex
    np.testing.assert_allclose(both.distance([(0.05, 0, 0)])[0], 0.04)
