"""Selections by place, and the quality report."""

import numpy as np
import pytest

from pliant import mesh as pm
from pliant.errors import InputError
from pliant.mesh.quality import dihedral_angles, scaled_jacobians

BOX = pm.box((0.1, 0.02, 0.02), cells=(10, 2, 2))


def test_boxes_planes_spheres_and_cylinders_of_nodes():
    end = pm.inside_box(BOX, (-1, -1, -1), (0, 1, 1))
    assert end.sum() == 9
    assert np.array_equal(end, pm.near_plane(BOX, (0, 0, 0), (-2, 0, 0)))
    assert np.array_equal(end, pm.where(BOX, lambda x: x[:, 0] < 1e-6))
    assert pm.inside_box(BOX, (-np.inf,) * 3, (np.inf,) * 3).all()
    assert pm.inside_sphere(BOX, (0.05, 0.01, 0.01), 0.01).sum() == 7
    assert pm.inside_cylinder(BOX, (0, 0.01, 0.01), (0.1, 0.01, 0.01), 0.0101).sum() == 11 * 5
    assert pm.inside_cylinder(BOX, (0, 0.01, 0.01), (0.05, 0.01, 0.01), 0.001).sum() == 6
    both = end | pm.near_plane(BOX, (0.1, 0, 0), (1, 0, 0))
    assert (both & ~end).sum() == 9


def test_the_same_for_facets_and_points():
    surface = BOX.surface
    end = pm.near_plane(surface, (0, 0, 0), (1, 0, 0))
    assert end.sum() == 8
    assert surface.patch(end).area == pytest.approx(4e-4)
    assert pm.inside_box(surface, (0, 0, 0), (0, 1, 1)).sum() == 8
    assert pm.inside_sphere(np.repeat([[0.0], [1.0]], 3, axis=1), (0, 0, 0), 0.5).tolist() == [True, False]


@pytest.mark.parametrize(
    "call",
    [
        lambda: pm.inside_box(BOX, (1, 0, 0), (0, 1, 1)),
        lambda: pm.inside_box(BOX, (0, 0), (1, 1)),
        lambda: pm.near_plane(BOX, (0, 0, 0), (0, 0, 0)),
        lambda: pm.where(BOX, lambda x: x > 0),
        lambda: pm.inside_sphere(np.zeros((4, 2)), (0, 0, 0), 1),
        lambda: pm.inside_cylinder(BOX, (0, 0, 0), (0, 0, 0), 1),
        lambda: pm.inside_sphere(BOX, (0, 0, np.nan), 1),
    ],
)
def test_selections_that_make_no_sense_say_so(call):
    with pytest.raises(InputError):
        call()


def test_quality_of_regular_cells():
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)
    regular = pm.Mesh(corners, [[0, 1, 2, 3]])
    assert dihedral_angles(regular.nodes, regular.cells) == pytest.approx(np.degrees(np.arccos(1 / 3)))
    assert scaled_jacobians(regular.nodes, regular) == pytest.approx(1)
    assert scaled_jacobians(regular.nodes * [1, 1, 0.2], regular) < 0.5
    cube = pm.box((0.01, 0.01, 0.01), cells=(2, 2, 2), kind="hex")
    assert scaled_jacobians(cube.nodes, cube) == pytest.approx(1)
    sheared = cube.nodes @ np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1.0]])
    assert scaled_jacobians(sheared, cube) == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize(("kind", "order"), [("tet", 1), ("tet", 2), ("hex", 1), ("hex", 2)])
def test_quality_report(kind, order):
    mesh = pm.hollow_sphere(around=8, kind=kind, order=order)
    report = pm.quality(mesh)
    assert (report.nodes, report.cells) == (len(mesh.nodes), len(mesh.cells))
    assert report.volume == pytest.approx(mesh.volume)
    assert report.cell_volume[0] == pytest.approx(mesh.cell_volumes.min())
    assert (report.inverted, report.components, report.cavities, report.closed) == (0, 1, 1, True)
    assert 0 < report.scaled_jacobian[0] <= report.scaled_jacobian[1] <= 1
    assert (report.dihedral is None) == (kind == "hex")
    text = str(report)
    assert mesh.kind in text and "0 inverted" in text and "cavities 1" in text


def test_quality_counts_the_inverted_cells_of_a_deformed_state():
    mesh = pm.box(cells=(4, 2, 2), kind="hex")
    x = mesh.nodes.copy()
    x[:, 0] = np.abs(x[:, 0] - 0.05)  # folded in half
    assert pm.quality(mesh, x).inverted == len(mesh.cells) // 2
