"""A thin layer of hexahedra behind fixed faces: which cells are cut, and that nothing else changes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pliant.bodies import Rigid, Solid
from pliant.materials import Hooke, NeoHookean
from pliant.mesh import box
from pliant.mesh.layers import Layered

SIZE = (0.1, 0.02, 0.02)
SOFT = NeoHookean(3e5, 0.45)


def left(x):
    return x[:, 0] < 1e-9


def right(x):
    return x[:, 0] > SIZE[0] - 1e-9


def distorted(cells=(5, 3, 2), amount=0.2):
    """Inner nodes moved at random; the ends stay plane."""
    mesh = box(SIZE, cells=cells, kind="hex")
    inner = np.repeat((~left(mesh.nodes) & ~right(mesh.nodes))[:, None], 3, axis=1)
    inner[:, 1:] &= (mesh.nodes > 1e-9)[:, 1:] & (mesh.nodes < 0.02 - 1e-9)[:, 1:]
    noise = np.random.default_rng(3).uniform(-amount, amount, mesh.nodes.shape) * np.array(SIZE) / cells
    return mesh.with_nodes(mesh.nodes + np.where(inner, noise, 0.0))


def test_nodes_and_cells_keep_their_numbers_and_the_body_its_volume():
    mesh = distorted()
    mesh = mesh.with_regions(np.arange(len(mesh.cells)) % 2)
    body = Solid(mesh, SOFT, fixed=lambda x: left(x) | right(x), density=1000)
    made = body.mesh
    assert isinstance(made, Layered) and body.input_mesh is mesh
    k, n = len(mesh.nodes), len(mesh.cells)
    assert np.array_equal(made.nodes[:k], mesh.nodes) and np.array_equal(made.regions[:n], mesh.regions)
    assert len(made.cells) == n + 2 * 6 and len(made.nodes) == k + 2 * 12  # at both ends
    assert (made.cell_volumes > 0).all() and made.volume == pytest.approx(mesh.volume, rel=1e-12)
    volume = lambda m, region: m.cell_volumes[m.regions == region].sum()
    assert volume(made, 1) == pytest.approx(volume(mesh, 1), rel=1e-12)
    assert body.total_mass == pytest.approx(1000 * mesh.volume, rel=1e-12)
    assert made.surface.area == pytest.approx(mesh.surface.area, rel=1e-12)
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.edges_of_midnodes, made.edges_of_midnodes)


def test_selections_on_the_given_mesh_are_carried_over():
    """New nodes are fixed in a component, or rigid, where both ends of their edge are."""
    mesh = box(SIZE, cells=(5, 2, 2), kind="hex")
    fixed = np.zeros(mesh.nodes.shape, bool)
    fixed[left(mesh.nodes)] = True
    fixed[mesh.nodes[:, 1] < 1e-9, 1] = True  # a plane of symmetry
    body = Solid(mesh, SOFT, fixed=fixed)
    new = body.mesh.nodes[len(mesh.nodes) :]
    assert np.array_equal(body.fixed[len(mesh.nodes) :, 1], new[:, 1] < 1e-9)
    assert not body.fixed[len(mesh.nodes) :, [0, 2]].any()
    body = Solid(mesh, SOFT, fixed=left, rigid=Rigid(right, name="end"))
    assert not (body.node_region[len(mesh.nodes) : len(body.mesh.nodes)] >= 0).any()


@pytest.mark.parametrize("law", [Hooke(3e5, 0.49), SOFT], ids=["Hooke", "neo-Hookean"])
def test_a_uniform_stretch_from_the_face_on_is_an_equilibrium(law):
    """The patch test that a clamp admits: at x = X + a X₁ no force acts on inner nodes, old or new."""
    inside = Solid(distorted(), law, fixed=left)
    assert isinstance(inside.mesh, Layered)
    X = inside.mesh.nodes
    force = inside.reactions((X + X[:, :1] * np.array([0.05, 0.02, -0.03])).ravel())
    rim = (X < 1e-9).any(axis=1) | (np.array(SIZE) - 1e-9 < X).any(axis=1)
    assert np.abs(force[~rim]).max() < 1e-10 * np.abs(force).max()


def test_only_where_it_is_needed_and_can_be_done():
    bar = lambda cells: box(SIZE, cells=cells, kind="hex")
    plain = {
        "small ν": Solid(bar((5, 2, 2)), NeoHookean(3e5, 0.3), fixed=left),
        "one cell across": Solid(bar((5, 1, 2)), SOFT, fixed=left),
        "shallow cells": Solid(box(SIZE, cells=(8, 2, 2), kind="hex", grade=(30, 1, 1)), SOFT, fixed=left),
        "a compact block": Solid(box((0.03, 0.02, 0.02), cells=(3, 2, 2), kind="hex"), SOFT, fixed=left),
        "a part of the end": Solid(bar((5, 4, 2)), SOFT, fixed=lambda x: left(x) & (x[:, 1] < 0.0101)),
        "not wanted": Solid(bar((5, 2, 2)), SOFT, fixed=left, support_layers=False),
        "without modes": Solid(bar((5, 2, 2)), SOFT, fixed=left, incompatible_modes=False),
        "free": Solid(bar((5, 2, 2)), SOFT),
    }
    for why, body in plain.items():
        assert body.mesh is body.input_mesh, why
    assert (
        len(Solid(bar((20, 2, 2)), SOFT, fixed=left).mesh.nodes) == len(bar((20, 2, 2)).nodes) + 9
    )  # one cut
