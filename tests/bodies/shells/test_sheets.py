"""Sheet meshes: shapes, orientation, files, and what cannot be used."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.bodies.shells.attachment import nearest_triangles
from pliant.mesh import Sheet

PATTERNS = ("alternating", "diagonal", "crossed")


# Shapes


@given(st.integers(1, 7), st.integers(1, 7), st.sampled_from(PATTERNS), st.floats(0.01, 2.0))
def test_rectangles(n, m, pattern, width):
    sheet = pl.mesh.sheet((width, 0.3), cells=(n, m), pattern=pattern)
    per_cell = 4 if pattern == "crossed" else 2
    assert len(sheet.cells) == per_cell * n * m
    assert sheet.area == pytest.approx(0.3 * width)
    assert np.allclose(sheet.surface.normals, [0, 0, 1])
    assert len(sheet.rim) == 2 * (n + m) and sheet.surface.euler == 1 and not sheet.closed


def test_alternating_diagonals_meet_in_every_other_node():
    count = np.bincount(pl.mesh.sheet(cells=(6, 6)).cells.ravel()).reshape(7, 7)[1:-1, 1:-1]
    assert set(count.ravel().tolist()) == {4, 8}
    assert (count[::2, ::2] == count[0, 0]).all() and (count[1::2, ::2] != count[0, 0]).all()


@pytest.mark.parametrize("cells", [1, 2, 5])
def test_spheres(cells, within):
    R = 0.03
    sphere = pl.mesh.sphere_sheet(R, cells=cells)
    assert len(sphere.nodes) == 10 * cells**2 + 2 and sphere.closed and sphere.surface.euler == 2
    within(np.linalg.norm(sphere.nodes, axis=1) / R - 1, 1e-12, "radius")
    assert 0 < 1 - sphere.volume / (4 / 3 * np.pi * R**3) < 0.6 / cells**2
    assert np.einsum("ti,ti->t", sphere.centres, sphere.surface.normals).min() > 0
    parts = [pl.mesh.sphere_sheet(R, cells=cells, part=part) for part in ("half", "octant")]
    assert parts[0].area == pytest.approx(4 * parts[1].area)
    assert parts[0].nodes[:, 2].min() > -1e-12 and parts[1].nodes.min() > -1e-12


def test_tubes_discs_and_pillows(within):
    R, L = 0.02, 0.1
    tube = pl.mesh.tube_sheet(R, L, around=32, along=5)
    facets = 32 * np.sin(np.pi / 32) / np.pi  # of a circle that has become a polygon
    within(tube.area / (2 * np.pi * R * L * facets) - 1, 1e-12, "area")
    assert len(tube.nodes) == 32 * 6 and len(tube.rim) == 64
    outward = tube.centres * [1, 1, 0]
    assert np.einsum("ti,ti->t", outward, tube.surface.normals).min() > 0
    quarter = pl.mesh.tube_sheet(R, L, around=8, along=5, angle=np.pi / 2)
    within(quarter.area / (tube.area / 4) - 1, 1e-12, "area of a quarter")
    closed = pl.mesh.tube_sheet(R, L, around=32, along=5, caps=True)
    polygon = 16 * R**2 * np.sin(2 * np.pi / 32)
    assert closed.closed and closed.volume == pytest.approx(polygon * L) and closed.surface.euler == 2
    disc = pl.mesh.disc_sheet(R, around=32, rings=3)
    assert disc.area == pytest.approx(polygon) and np.allclose(disc.surface.normals, [0, 0, 1])
    pillow = pl.mesh.pillow_sheet((0.1, 0.06), cells=(8, 6), height=0.004)
    assert pillow.closed and pillow.volume == pytest.approx(4 / 9 * 2 * 0.1 * 0.06 * 0.002, rel=0.1)
    assert np.ptp(pillow.nodes[:, 2]) == pytest.approx(0.004)


def test_mapped_sheets_close_their_seams():
    def torus(u, v):
        around, about = 2 * np.pi * u, 2 * np.pi * v
        radius = 2 + np.cos(about)
        return np.column_stack([radius * np.cos(around), radius * np.sin(around), np.sin(about)])

    ring = pl.mesh.mapped_sheet(torus, cells=(16, 8))
    assert ring.closed and ring.surface.euler == 0 and ring.volume > 0
    with pytest.raises(pl.InputError, match="function"):
        pl.mesh.mapped_sheet(lambda u, v: u)


def test_boundary_of_a_solid_as_a_sheet():
    box = pl.mesh.box((0.1, 0.05, 0.02), cells=(3, 2, 1))
    sheet = Sheet.of(box.surface)
    assert sheet.closed and sheet.volume == pytest.approx(box.volume)
    top = Sheet.of(box.surface.patch(lambda x: x[:, 2] > 0.0199))
    assert top.area == pytest.approx(0.005) and len(top.nodes) == 12


# Orientation and topology


@given(st.integers(0, 2**32 - 1))
def test_triangles_listed_any_way_get_a_common_front(seed):
    rng = np.random.default_rng(seed)
    for sheet in (pl.mesh.sheet(cells=(3, 2)), pl.mesh.sphere_sheet(cells=2)):
        flip = rng.random(len(sheet.cells)) < 0.5
        flip[0] = False
        again = Sheet(sheet.nodes, np.where(flip[:, None], sheet.cells[:, ::-1], sheet.cells))
        assert np.allclose(again.surface.normals, sheet.surface.normals)


def test_closed_pieces_face_outward():
    one = pl.mesh.sphere_sheet(0.03, cells=2)
    two = one.joined(one.transformed(translation=(0.1, 0, 0)))
    assert Sheet(two.nodes, two.cells[:, ::-1]).volume == pytest.approx(2 * one.volume)
    assert len(two.components) == 2
    flat = pl.mesh.sheet()
    assert np.allclose(flat.flipped().surface.normals, [0, 0, -1])


def test_joined_sheets_share_nodes():
    left = pl.mesh.sheet((0.1, 0.1), cells=(4, 4))
    right = left.transformed(translation=(0.1, 0, 0)).with_regions(np.ones(len(left.cells)))
    both = left.joined(right, weld=1e-6)
    assert len(both.nodes) == 45 and len(both.components) == 1 and both.regions.sum() == len(right.cells)
    assert len(left.joined(right).components) == 2


def test_sheets_are_frozen_and_survive_pickling():
    sheet = pl.mesh.sheet()
    with pytest.raises(ValueError, match="read-only"):
        sheet.nodes[0] = 1.0
    again = pickle.loads(pickle.dumps(sheet))
    assert np.array_equal(again.cells, sheet.cells) and not again.nodes.flags.writeable
    assert "121 nodes" in repr(sheet)


NODES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.5, 0.5, 1.0]]) * 0.1


@pytest.mark.parametrize(
    "cells, message",
    [
        ([[0, 1, 2], [1, 3, 2], [1, 2, 4]], "with more"),
        ([[0, 1, 1], [2, 3, 4]], "an area"),
        ([[0, 1, 9]], "from 0 to 4"),
        ([[0, 1, 2.5]], "integers"),
        ([[0, 1]], "integers"),
        ([[0, 1, 2]], "unused"),
        ([[0, 1, 2], [2, 0, 1]], "same nodes"),
        ([], "integers"),
    ],
)
def test_unusable_triangles(cells, message):
    with pytest.raises(pl.MeshError, match=message):
        Sheet(NODES, cells)


def test_triangles_without_area():
    with pytest.raises(pl.MeshError, match="an area"):
        Sheet([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]], [[0, 1, 2]])


def test_a_band_with_one_side_is_refused():
    def band(u, v):
        turn = np.pi * u
        width = 0.02 * (v - 0.5)
        return np.column_stack(
            [
                (0.05 + width * np.cos(turn)) * np.cos(2 * turn),
                (0.05 + width * np.cos(turn)) * np.sin(2 * turn),
                width * np.sin(turn),
            ]
        )

    with pytest.raises(pl.MeshError, match="one side"):
        pl.mesh.mapped_sheet(band, cells=(20, 2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: pl.mesh.sheet((0.0, 0.1)),
        lambda: pl.mesh.sheet(cells=(0, 3)),
        lambda: pl.mesh.sheet(pattern="herringbone"),
        lambda: pl.mesh.disc_sheet(around=10),
        lambda: pl.mesh.tube_sheet(angle=7.0),
        lambda: pl.mesh.tube_sheet(angle=1.0, caps=True),
        lambda: pl.mesh.sphere_sheet(part="third"),
        lambda: pl.mesh.join_sheets([]),
        lambda: pl.mesh.sheet().with_nodes(np.zeros((3, 3))),
        lambda: pl.mesh.sheet().transformed(rotation=2 * np.eye(3)),
        lambda: pl.mesh.sheet().joined(pl.mesh.sheet(), weld=1.0),
    ],
)
def test_unusable_shapes(make):
    with pytest.raises(pl.InputError):
        make()


# Files


@pytest.mark.parametrize("suffix", [".stl", ".ply", ".obj", ".vtu"])
def test_files(suffix, tmp_path):
    import meshio

    sheet = pl.mesh.sphere_sheet(0.03, cells=3)
    path = tmp_path / f"ball{suffix}"
    meshio.Mesh(1e3 * sheet.nodes, [("triangle", sheet.cells)]).write(path)
    again = pl.mesh.read_sheet(path, unit="mm")
    assert len(again.nodes) == len(sheet.nodes) and again.closed
    assert again.volume == pytest.approx(sheet.volume, rel=1e-5)


def test_quadrilaterals_are_cut(tmp_path):
    import meshio

    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0]], float)
    cells = [("quad", [[0, 1, 2, 3]]), ("triangle", [[1, 4, 5], [1, 5, 2]]), ("line", [[0, 1]])]
    meshio.Mesh(points, cells).write(tmp_path / "mixed.vtu")
    sheet = pl.mesh.read_sheet(tmp_path / "mixed.vtu")
    assert len(sheet.cells) == 4 and sheet.area == pytest.approx(2.0)


def test_unusable_files(tmp_path):
    import meshio

    meshio.Mesh(np.eye(3), [("line", [[0, 1]])]).write(tmp_path / "lines.vtu")
    (tmp_path / "broken.stl").write_text("solid")
    for name, message in (
        ("lines.vtu", "triangles"),
        ("none.stl", "nothing"),
        ("sheet.doc", "one of"),
        ("broken.stl", "triangles"),
    ):
        with pytest.raises(pl.MeshError, match=message):
            pl.mesh.read_sheet(tmp_path / name)
    with pytest.raises(pl.InputError, match="unit"):
        pl.mesh.read_sheet(tmp_path / "lines.vtu", unit="miles")


# Places on a sheet


@given(st.integers(0, 2**32 - 1))
def test_nearest_points_are_the_nearest(seed):
    rng = np.random.default_rng(seed)
    sheet = pl.mesh.sphere_sheet(0.03, cells=2)
    points = rng.normal(size=(5, 3)) * 0.03
    cell, weights, distance = nearest_triangles(sheet, points)
    nearest = np.einsum("pa,pai->pi", weights, sheet.nodes[sheet.cells[cell]])
    assert np.allclose(np.linalg.norm(points - nearest, axis=1), distance) and weights.min() >= 0
    share = rng.dirichlet(np.ones(3), size=(40, len(sheet.cells)))
    others = np.einsum("nta,tai->nti", share, sheet.nodes[sheet.cells]).reshape(-1, 3)
    assert (np.linalg.norm(points[:, None] - others, axis=2).min(axis=1) >= distance - 1e-12).all()
