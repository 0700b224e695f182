"""Surfaces: orientation, closedness, pieces, cavities, patches."""

import numpy as np
import pytest

from pliant import mesh as pm
from pliant.errors import InputError, MeshError

KINDS = [("tet", 1), ("tet", 2), ("hex", 1), ("hex", 2)]


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_surface_of_a_box(kind, order):
    mesh = pm.box((0.03, 0.02, 0.01), cells=(3, 2, 2), kind=kind, order=order)
    surface = mesh.surface
    assert surface.closed
    assert surface.euler == 2
    assert surface.area == pytest.approx(2 * (6 + 3 + 2) * 1e-4)
    assert surface.volume == pytest.approx(mesh.volume)
    per_facet = {3: 1, 6: 4, 4: 2, 8: 6}[surface.facets.shape[1]]
    assert len(surface.triangles) == per_facet * len(surface)
    assert np.array_equal(surface.facet_of_triangle, np.repeat(np.arange(len(surface)), per_facet))
    # divergence theorem: ∮ n = 0 and ∮ x nᵀ = V I
    vectors = surface.normals * surface.areas[:, None]
    assert vectors.sum(axis=0) == pytest.approx(0, abs=1e-15)
    middles = surface.nodes[surface.triangles].mean(axis=1)
    assert middles.T @ vectors == pytest.approx(mesh.volume * np.eye(3), abs=1e-15)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_facets_know_their_cell_and_look_away_from_it(kind, order):
    mesh = pm.hollow_sphere(around=8, across=2, kind=kind, order=order)
    surface = mesh.surface
    for facet, cell in zip(surface.facets, surface.owner):
        assert np.isin(facet, mesh.cells[cell]).all()
    away = surface.centres - mesh.centres[surface.owner]
    assert (np.einsum("fi,fi->f", away, surface.facet_normals) > 0).all()


def test_a_sphere_in_a_sphere_has_two_pieces_and_one_cavity():
    mesh = pm.hollow_sphere(0.01, 0.02, order=2)
    outer, inner = mesh.surface.components()
    assert outer.volume > 0 > inner.volume
    assert (outer.euler, inner.euler) == (2, 2)
    (cavity,) = pm.cavity_surfaces(mesh)
    assert cavity.closed
    assert cavity.volume == pytest.approx(-inner.volume)
    assert cavity.volume == pytest.approx(4 / 3 * np.pi * 1e-6, rel=0.02)
    assert np.einsum("ti,ti->t", cavity.normals, cavity.nodes[cavity.triangles[:, 0]]).min() > 0
    radial = cavity.nodes[cavity.vertices] / np.linalg.norm(cavity.nodes[cavity.vertices], axis=1)[:, None]
    assert np.einsum("vi,vi->v", cavity.vertex_normals, radial).min() > 0.98


def test_the_volume_of_a_moved_surface_follows_the_map():
    mesh = pm.hollow_sphere(around=8, across=1, order=2)
    A = np.array([[1.1, 0.2, 0], [0, 0.9, 0.1], [0.05, 0, 1.2]])
    moved = mesh.surface.at(mesh.nodes @ A.T)
    assert moved.volume == pytest.approx(np.linalg.det(A) * mesh.surface.volume, rel=1e-12)
    with pytest.raises(InputError, match="shape"):
        mesh.surface.at(mesh.nodes[:-1])


def test_patches_are_open_until_flipped_halves_meet():
    surface = pm.box(kind="hex").surface
    end = surface.patch(pm.near_plane(surface, (0.1, 0, 0), (1, 0, 0)))
    assert not end.closed
    assert end.area == pytest.approx(4e-4)
    assert len(end.rim) == 16
    assert end.normals == pytest.approx(np.tile([1.0, 0, 0], (len(end.triangles), 1)))
    assert end.flipped().normals == pytest.approx(-end.normals)
    by_predicate = surface.patch(lambda x: x[:, 0] > 0.0999)
    assert np.array_equal(by_predicate.facets, end.facets)
    assert len(surface.patch(np.array([0, 3]))) == 2
    assert len(surface.patch([])) == 0
    with pytest.raises(InputError, match="facet mask"):
        surface.patch(np.ones(3, bool))


def test_voids_that_touch_along_an_edge_are_two_cavities():
    mask = np.ones((5, 4, 4), bool)
    mask[1:3, 1, 1:3] = False
    mask[3, 2, 1:3] = False
    for kind in ("tet", "hex"):
        cavities = pm.cavity_surfaces(pm.from_voxels(mask, 1e-3, kind=kind))
        assert [cavity.closed for cavity in cavities] == [True, True]
        assert [1e9 * cavity.volume for cavity in cavities] == pytest.approx([4, 2])


def test_facets_of_a_strange_shape_are_refused():
    with pytest.raises(MeshError, match="facets"):
        pm.Surface(np.zeros((3, 3)), np.zeros((1, 5), int), np.zeros(1, int))
