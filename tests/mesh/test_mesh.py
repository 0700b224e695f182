"""Mesh: checks, measures, connectivity, and new meshes from old ones."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant import mesh as pm
from pliant.errors import InputError, MeshError, PliantWarning
from pliant.mesh.topology import cell_faces, clashing_cells, face_groups

KINDS = [("tet", 1), ("tet", 2), ("hex", 1), ("hex", 2)]
TET = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def small_box(kind="tet", order=1):
    return pm.box((0.03, 0.02, 0.01), cells=(3, 2, 2), kind=kind, order=order)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_volume_of_a_box_is_exact(kind, order):
    mesh = small_box(kind, order)
    assert mesh.volume == pytest.approx(6e-6, rel=1e-12)
    assert mesh.cell_volumes.min() > 0
    assert mesh.size == pytest.approx(np.sqrt(14e-4), rel=1e-12)
    assert mesh.bounds == pytest.approx(np.array([[0, 0, 0], [0.03, 0.02, 0.01]]))


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_cells_stay_positive_when_listed_in_mirrored_order(kind, order):
    mesh = small_box(kind, order)
    rng = np.random.default_rng(3)
    mirrored = rng.random(len(mesh.cells)) < 0.5
    cells = mesh.cells.copy()
    cells[mirrored] = cells[mirrored][:, mesh.element.flip]
    again = pm.Mesh(mesh.nodes, cells)
    assert np.array_equal(again.cells, mesh.cells)


@pytest.mark.parametrize(("kind", "order"), [("tet", 1), ("hex", 1)])
def test_a_folded_cell_is_an_error_that_counts_and_names_it(kind, order):
    mesh = small_box(kind, order)
    inner = np.flatnonzero(pm.inside_box(mesh, (0.015, 0.005, 0.004), (0.025, 0.015, 0.006)))
    nodes = mesh.nodes.copy()
    nodes[inner[0]] += [0.017, 0.0, 0.0]  # through its neighbours
    with pytest.raises(MeshError, match=r"\d+ cells? \(the first is cell \d+\) inverted"):
        pm.Mesh(nodes, mesh.cells)


def test_flat_cells_are_an_error():
    flat = [*TET[:3], [1.0, 1.0, 0.0]]
    with pytest.raises(MeshError, match=r"1 cell \(the first is cell 0\) flat"):
        pm.Mesh(flat, [[0, 1, 2, 3]])
    with pytest.raises(MeshError, match="flat"):
        pm.Mesh(TET, [[0, 1, 2, 2], [0, 1, 2, 3]])


@pytest.mark.parametrize(
    ("nodes", "cells", "message"),
    [
        ([[0, 0, np.nan], *TET[1:]], [[0, 1, 2, 3]], "1 node .* NaN or infinity"),
        ([[0, 0], [1, 0]], [[0, 1, 0, 1]], r"shape \(k, 3\)"),
        (TET, [[0, 1, 2, 4]], "node indices from 0 to 3"),
        (TET, [[0, 1, 2, -1]], "node indices from 0 to 3"),
        (TET, [[0.0, 1.0, 2.0, 3.0]], "integers"),
        (TET, np.empty((0, 4), int), "integers of shape"),
        (TET, [[0, 1, 2]], "3 nodes per cell"),
        ([*TET, [5.0, 5, 5]], [[0, 1, 2, 3]], "1 unused, the first is node 4"),
    ],
)
def test_what_cannot_be_a_mesh_says_why(nodes, cells, message):
    with pytest.raises(MeshError, match=message):
        pm.Mesh(nodes, cells)


def test_wrong_kind_and_regions():
    with pytest.raises(MeshError, match="8 nodes per hex8"):
        pm.Mesh(TET, [[0, 1, 2, 3]], "hex8")
    with pytest.raises(MeshError, match="one of"):
        pm.Mesh(TET, [[0, 1, 2, 3]], "tri3")
    with pytest.raises(MeshError, match="one number for each of 1 cells"):
        pm.Mesh(TET, [[0, 1, 2, 3]], regions=[0, 1])


def test_unused_nodes_are_dropped_on_request():
    mesh = pm.Mesh.compacted([[5.0, 5, 5], *TET], [[1, 2, 3, 4]])
    assert np.array_equal(mesh.nodes, TET)
    assert np.array_equal(mesh.cells, [[0, 1, 2, 3]])


@pytest.mark.parametrize("factor", [1e150, 1e10, 1e-10, 1e-150])
def test_sizes_that_no_stiffness_could_hold_are_an_error(factor):
    with pytest.raises(MeshError, match="unit"):
        pm.Mesh(factor * np.array(TET), [[0, 1, 2, 3]])


@pytest.mark.parametrize("factor", [1e-5, 1e3])
def test_a_strange_size_is_a_warning(factor):
    with pytest.warns(PliantWarning, match="wrong unit"):
        pm.Mesh(factor * np.array(TET), [[0, 1, 2, 3]])


def test_arrays_are_read_only_copies():
    nodes = np.array(TET)
    mesh = pm.Mesh(nodes, [[0, 1, 2, 3]])
    nodes[0] = 7
    assert mesh.nodes[0, 0] == 0
    for array in (mesh.nodes, mesh.cells, mesh.regions, pickle.loads(pickle.dumps(mesh)).nodes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        mesh.nodes = nodes


@pytest.mark.parametrize("kind", ["tet", "hex"])
def test_quadratic_keeps_corners_volume_and_surface(kind):
    linear = small_box(kind)
    mesh = linear.quadratic()
    k = len(linear.nodes)
    assert np.array_equal(mesh.nodes[:k], linear.nodes)
    assert np.array_equal(mesh.cells[:, : linear.cells.shape[1]], linear.cells)
    assert np.array_equal(mesh.midnodes, np.arange(k, len(mesh.nodes)))
    assert mesh.nodes[k:] == pytest.approx(linear.nodes[mesh.edges_of_midnodes].mean(axis=1))
    assert np.array_equal(mesh.edges_of_midnodes, linear.edges)
    assert mesh.volume == pytest.approx(linear.volume, rel=1e-12)
    assert mesh.surface.area == pytest.approx(linear.surface.area, rel=1e-12)
    assert mesh.quadratic() is mesh
    assert np.array_equal(mesh.linear().cells, linear.cells)
    assert len(linear.edges_of_midnodes) == 0


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_every_inner_face_has_two_cells_and_the_euler_numbers_fit(kind, order):
    mesh = small_box(kind, order)
    number, count = face_groups(mesh.cells, mesh.kind)
    assert count.max() == 2
    assert len(clashing_cells(mesh.cells, mesh.kind)) == 0
    corners = len(np.unique(mesh.cells[:, : mesh.element.corners]))
    # V − E + F − C = 1 for a ball
    assert corners - len(mesh.edges) + number.max() + 1 - len(mesh.cells) == 1
    outside = cell_faces(mesh.cells, mesh.kind)[0][count == 1]
    on_box = np.isclose(mesh.nodes, mesh.bounds[0]) | np.isclose(mesh.nodes, mesh.bounds[1])
    assert on_box[outside].all(axis=1).any(axis=1).all()


def test_transformed_and_scaled():
    mesh = small_box()
    turn = Rotation.from_rotvec([0.3, -1.0, 0.4])
    moved = mesh.transformed(rotation=turn, translation=(0.1, 0, 0))
    assert moved.nodes == pytest.approx(turn.apply(mesh.nodes.copy()) + np.array([0.1, 0, 0]))
    assert mesh.transformed(rotation=turn.as_matrix()).nodes == pytest.approx(turn.apply(mesh.nodes.copy()))
    assert mesh.scaled((2, 3, 4)).volume == pytest.approx(24 * mesh.volume)
    for bad in (np.diag([1, 1, -1.0]), 2 * np.eye(3), np.eye(2)):
        with pytest.raises(InputError, match="rotation"):
            mesh.transformed(rotation=bad)
    with pytest.raises(InputError, match="positive"):
        mesh.scaled(-1)


def test_join_weld_components_and_subset():
    first = small_box().with_regions(np.full(60, 4))
    second = first.transformed(translation=(0.03, 0, 0))
    apart = first.merged(second)
    assert [len(piece) for piece in apart.components] == [60, 60]
    assert len(apart.nodes) == 2 * len(first.nodes)
    # the cuts of the two touching faces must match: mirror the second box
    mirrored = pm.Mesh(first.nodes * [-1, 1, 1], first.cells, regions=first.regions)
    glued = pm.join([first, mirrored], weld=1e-6)
    assert len(glued.components) == 1
    assert len(glued.nodes) == 2 * len(first.nodes) - 9
    assert glued.surface.closed
    assert glued.surface.volume == pytest.approx(2 * first.volume)
    assert set(glued.regions) == {4}
    again = glued.subset(np.arange(60))
    assert again.volume == pytest.approx(first.volume)
    assert np.array_equal(glued.subset(glued.centres[:, 0] > 0).nodes, first.nodes)
    with pytest.raises(MeshError, match="same kind"):
        pm.join([first, small_box("hex")])
    with pytest.raises(MeshError, match="shorter than every edge"):
        pm.join([first, second], weld=0.02)


def test_a_cell_may_not_share_a_face_with_two_others():
    nodes = [*TET, [-0.5, -0.5, -0.5], [1.0, 1.0, 1.0]]
    mesh = pm.Mesh(nodes, [[0, 1, 2, 3], [1, 2, 3, 5], [1, 2, 3, 4]])
    with pytest.raises(MeshError, match="at most two cells at a face"):
        _ = mesh.surface


# Cells that are there twice, and cracks


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_cells_that_are_there_twice_are_an_error_that_counts_and_names_them(kind, order):
    mesh = small_box(kind, order)
    twice = np.vstack([mesh.cells, mesh.cells[[4, 1]][:, mesh.element.flip]])
    with pytest.raises(MeshError, match=rf"2 again \(the first is cell {len(mesh.cells)}, near .*merge=True"):
        pm.Mesh(mesh.nodes, twice)
    again = pm.Mesh.compacted(mesh.nodes, twice, merge=True)
    assert np.array_equal(again.cells, mesh.cells) and again.volume == pytest.approx(mesh.volume)
    # the same cells once more on nodes of their own
    nodes, cells = np.vstack([mesh.nodes] * 2), np.vstack([mesh.cells, mesh.cells + len(mesh.nodes)])
    with pytest.raises(MeshError, match=f"{len(mesh.cells)} again"):
        pm.Mesh(nodes, cells)
    assert np.array_equal(pm.Mesh.compacted(nodes, cells, merge=True).cells, mesh.cells)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_a_crack_is_a_warning_that_counts_and_places_it(kind, order):
    """The halves of a box on nodes of their own, at first at the same places, then a little off."""
    mesh = small_box(kind, order)
    left = mesh.centres[:, 0] < 0.01
    parts = [mesh.subset(left), mesh.subset(~left)]
    nodes = np.vstack([part.nodes for part in parts])
    cells = np.vstack([parts[0].cells, parts[1].cells + len(parts[0].nodes)])
    faces = 8 if kind == "tet" else 4
    first = r"\(the first between cells \d+ and \d+, near \[0\.01, "
    message = rf"{faces} faces that touch without sharing nodes {first}"
    with pytest.warns(PliantWarning, match=message) as caught:
        cracked = pm.Mesh(nodes, cells)
    assert len(caught) == 1
    assert len(cracked.components) == 2 and cracked.surface.area > mesh.surface.area
    for whole in (cracked.welded(), pm.Mesh.compacted(nodes, cells, merge=1e-6)):
        assert len(whole.nodes) == len(mesh.nodes) and len(whole.components) == 1
        assert whole.surface.area == pytest.approx(mesh.surface.area)
    moved = nodes + 1e-9 * np.random.default_rng(0).standard_normal(nodes.shape)
    with pytest.warns(PliantWarning, match=f"{faces} faces"):
        pm.Mesh(moved, cells)


def test_parts_that_shall_be_apart_are_no_crack():
    """The warning comes once, not again for meshes made from this one."""
    mesh = small_box("hex")
    beside = mesh.transformed(translation=(0.03, 0, 0))
    both = mesh.merged(beside)  # join without weld: apart
    assert len(both.components) == 2
    for again in (pm.Mesh(both.nodes, both.cells, apart=True), pickle.loads(pickle.dumps(both))):
        assert len(again.quadratic().tetrahedra().linear().with_regions(np.arange(120)).components) == 2
    with pytest.raises(PliantWarning, match="4 faces"):
        pm.Mesh(both.nodes, both.cells)
    gap = mesh.merged(mesh.transformed(translation=(0.0301, 0, 0)))
    pm.Mesh(gap.nodes, gap.cells)  # near is not on each other
    corner = mesh.merged(mesh.transformed(translation=(0.03, 0.02, 0)))
    pm.Mesh(corner.nodes, corner.cells)  # an edge is no face


@pytest.mark.parametrize("merge", [-1.0, np.nan, np.inf, "yes"])
def test_a_distance_to_merge_within_is_not_negative(merge):
    with pytest.raises(InputError, match="merge"):
        pm.Mesh.compacted(TET, [[0, 1, 2, 3]], merge=merge)
    with pytest.raises(MeshError, match="shorter than every edge"):
        pm.Mesh(TET, [[0, 1, 2, 3]]).welded(2.0)


@pytest.mark.parametrize("rule", ["parity", "index", "random"])
def test_hexahedra_are_cut_alike_from_both_sides(rule):
    hexahedra = pm.block_with_cavity(kind="hex", around=12, across=2)
    rng = np.random.default_rng(1)
    k = len(hexahedra.nodes)
    priority = {"parity": None, "index": np.arange(k), "random": rng.random(k)}[rule]
    tets = hexahedra.tetrahedra(priority)
    _, count = face_groups(tets.cells, "tet4")
    assert count.max() == 2
    assert len(tets.surface) == 2 * len(hexahedra.surface)
    assert tets.surface.closed
    assert (
        len(tets.cells) == 5 * len(hexahedra.cells)
        if rule == "parity"
        else 6 * len(hexahedra.cells) >= len(tets.cells)
    )
    assert tets.volume == pytest.approx(tets.surface.volume, rel=1e-12)


def test_tetrahedra_of_quadratic_hexahedra_are_quadratic():
    mesh = small_box("hex", 2).tetrahedra()
    assert mesh.kind == "tet10"
    assert mesh.volume == pytest.approx(6e-6, rel=1e-12)
    assert mesh.tetrahedra() is mesh
