"""Material points of a body, and what is refused with which words."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bodies import Hinge, Rigid, Solid
from pliant.bodies.location import locate
from pliant.errors import InputError
from pliant.materials import Hooke
from pliant.mesh import Mesh, box
from tests.bodies.common import distorted, left

LAW = Hooke(1e5, 0.3)
SHEAR = np.array([[1.1, 0.2, -0.1], [0.0, 0.9, 0.3], [0.1, 0.0, 1.05]])


def curved(kind: str) -> Mesh:
    """A quadratic mesh with its mid nodes pushed off the straight edges."""
    mesh = distorted(kind)
    nodes = mesh.nodes.copy()
    nodes[mesh.midnodes] += np.random.default_rng(0).uniform(-5e-4, 5e-4, (len(mesh.midnodes), 3))
    return mesh.with_nodes(nodes)


MESHES = {
    "tet4": lambda: distorted("tet4"),
    "tet10": lambda: distorted("tet10"),
    "hex8": lambda: distorted("hex8", amount=0.25),
    "hex20": lambda: distorted("hex20", amount=0.25),
    "tet10 curved": lambda: curved("tet10"),
    "hex20 curved": lambda: curved("hex20"),
}


@pytest.mark.parametrize("name", MESHES)
def test_points_reproduce_linear_fields(name: str) -> None:
    mesh = MESHES[name]()
    where = np.random.default_rng(1).uniform([0.002] * 3, [0.058, 0.028, 0.028], (200, 3))
    body = Solid(mesh, LAW, order=mesh.element.order)
    points = body.points(where)
    np.testing.assert_allclose(points.position(body.q0), where, atol=1e-12)
    q = (body.mesh.nodes @ SHEAR.T + [0.1, 0.2, 0.3]).ravel()
    np.testing.assert_allclose(points.position(q), where @ SHEAR.T + [0.1, 0.2, 0.3], atol=1e-12)
    location = locate(body.mesh, where)
    if "curved" not in name:
        inside = np.abs(location.weights).max(axis=1) <= 1.0 + 1e-9
        assert inside.all()


@pytest.mark.parametrize("name", MESHES)
def test_nodes_and_corners_are_found_as_themselves(name: str) -> None:
    mesh = MESHES[name]()
    body = Solid(mesh, LAW, order=mesh.element.order)
    points = body.points(mesh.nodes[::3])
    assert np.abs(points.position(body.q0) - mesh.nodes[::3]).max() < 1e-12
    if mesh.kind in ("tet4", "tet10") and "curved" not in name:
        assert (np.diff(points.node_ptr) == 1).all()


@pytest.mark.parametrize("name", MESHES)
def test_points_outside(name: str) -> None:
    mesh = MESHES[name]()
    body = Solid(mesh, LAW, order=mesh.element.order)
    where = np.array([[0.03, 0.015, 0.015], [0.03, 0.04, 0.015], [-0.02, -0.03, 0.1]])
    with pytest.raises(InputError, match=r"point 2 .*about 0\.0[0-9]* m outside, with 1 others"):
        body.points(where)
    with pytest.raises(InputError, match=r"point 1 .*about 0\.01"):
        body.points(where[:2])
    points = body.points(where, outside="nearest")
    np.testing.assert_allclose(points.position(body.q0), where, atol=1e-12)
    q = (body.mesh.nodes @ SHEAR.T).ravel()
    np.testing.assert_allclose(points.position(q), where @ SHEAR.T, atol=1e-11)
    assert len(body.points(where[1:2], tolerance=0.02)) == 1


def test_nearest_means_the_nearest_centre_and_barycentric_weights() -> None:
    mesh = distorted("tet4")
    body = Solid(mesh, LAW, order=1)
    where = np.array([[0.02, 0.05, 0.01]])
    points = body.points(where, outside="nearest")
    cell = int(np.argmin(np.linalg.norm(mesh.centres - where, axis=1)))
    corners = mesh.nodes[mesh.cells[cell]]
    barycentric = np.linalg.solve(np.vstack([corners.T, np.ones(4)]), np.append(where[0], 1.0))
    weights = np.zeros(len(mesh.nodes))
    weights[points.node_index] = points.node_weight
    np.testing.assert_allclose(weights[mesh.cells[cell]], barycentric, atol=1e-12)


def test_node_points() -> None:
    mesh = distorted("tet4")
    body = Solid(mesh, LAW)
    mask = left(mesh.nodes)
    np.testing.assert_array_equal(body.node_points(mask).rest, mesh.nodes[mask])
    np.testing.assert_array_equal(body.node_points([3, 1]).rest, mesh.nodes[[3, 1]])
    assert len(body.node_points(left)) > mask.sum()  # mid nodes too
    with pytest.raises(InputError, match="node indices from 0"):
        body.node_points([10**6])


def test_a_large_mesh_with_cells_of_very_different_size() -> None:
    mesh = box((0.1, 0.02, 0.02), cells=(6, 3, 3), kind="tet", grade=(200.0, 1.0, 1.0))
    where = np.random.default_rng(2).uniform([0, 0, 0], [0.1, 0.02, 0.02], (300, 3))
    body = Solid(mesh, LAW, order=1)
    np.testing.assert_allclose(body.points(where).position(body.q0), where, atol=1e-12)


def test_fixed_selections_agree() -> None:
    mesh = distorted("tet4")
    mask = left(mesh.nodes)
    bodies = [
        Solid(mesh, LAW, fixed=f) for f in (mask, np.flatnonzero(mask), left, np.repeat(mask[:, None], 3, 1))
    ]
    for body in bodies:
        np.testing.assert_array_equal(body.fixed.all(axis=1), left(body.mesh.nodes))
        np.testing.assert_array_equal(body.node_block < 0, left(body.mesh.nodes))
    assert Solid(mesh, LAW).fixed.sum() == 0
    assert Solid(mesh, LAW, fixed=[]).ndof == 3 * len(mesh.quadratic().nodes)
    assert Solid(mesh, LAW, fixed=lambda x: x[:, 0] > -1).ndof == 0


def test_orders_and_meshes() -> None:
    tet, hexa = distorted("tet4"), distorted("hex8")
    assert Solid(tet, LAW).mesh.kind == "tet10" and Solid(tet, LAW).input_mesh is tet
    assert Solid(tet, LAW, order=1).mesh is tet
    assert Solid(hexa, LAW).mesh is hexa and Solid(hexa.quadratic(), LAW).mesh.kind == "hex20"
    assert len(Solid(tet, LAW, order=1, nodal_mass=0.01).node_mass) == len(tet.nodes)
    assert Solid(tet, LAW, nodal_mass=np.full(len(tet.nodes), 0.01)).total_mass == pytest.approx(
        0.01 * len(tet.nodes)
    )
    two = tet.with_regions((tet.centres[:, 0] > 0.03).astype(int))
    heavy = Solid(two, LAW, density={0: 1000, 1: 3000})
    assert heavy.total_mass == pytest.approx(two.cell_volumes @ np.where(two.regions, 3000, 1000))


TETS = distorted("tet4")
WRONG = {
    "mesh": (lambda: Solid(np.zeros((3, 3)), LAW), "pliant Mesh"),  # type: ignore[arg-type]
    "order": (lambda: Solid(TETS, LAW, order=3), "1 or 2"),
    "order of a quadratic mesh": (lambda: Solid(TETS.quadratic(), LAW, order=1), "mesh.linear"),
    "material": (lambda: Solid(TETS, "rubber"), "a Material"),  # type: ignore[arg-type]
    "material of a region": (lambda: Solid(TETS, {1: LAW}), "region 0"),
    "density": (lambda: Solid(TETS, LAW, density=-1.0), "not negative"),
    "density of a region": (lambda: Solid(TETS, LAW, density={3: 1.0}), "region 0"),
    "two masses": (lambda: Solid(TETS, LAW, density=1.0, nodal_mass=1.0), "density or nodal_mass"),
    "nodal mass": (lambda: Solid(TETS, LAW, nodal_mass=[1.0, 2.0]), r"shape \(36,\)"),
    "negative nodal mass": (lambda: Solid(TETS, LAW, nodal_mass=-np.ones(len(TETS.nodes))), "not negative"),
    "mass": (lambda: Solid(TETS, LAW, density=1.0, mass="heavy"), "'lumped' or 'consistent'"),
    "fixed mask": (lambda: Solid(TETS, LAW, fixed=np.ones(7, bool)), r"mask of shape \(36,\) or \(36, 3\)"),
    "fixed index": (lambda: Solid(TETS, LAW, fixed=[0, 36]), "0 to 35, got 36"),
    "fixed numbers": (lambda: Solid(TETS, LAW, fixed=np.array([0.5])), "mask, node indices or a function"),
    "empty region": (lambda: Solid(TETS, LAW, rigid=Rigid([], "tip")), "'tip': expected at least one node"),
    "fixed region": (
        lambda: Solid(TETS, LAW, fixed=[0], rigid=Rigid([0, 1, 2])),
        "1 fixed, the first is node 0",
    ),
    "shared region": (
        lambda: Solid(TETS, LAW, order=1, rigid=[Rigid([0, 1, 2, 3], "a"), Rigid([3, 4, 5, 6], "b")]),
        "already in another region",
    ),
    "same names": (
        lambda: Solid(TETS, LAW, order=1, rigid=[Rigid([0, 1, 4, 5]), Rigid([30, 31, 27, 34])]),
        "a different name",
    ),
    "thin region": (lambda: Solid(TETS, LAW, order=1, rigid=Rigid([0])), "nodes that fix its rotation"),
    "centre": (
        lambda: Solid(
            TETS, LAW, order=1, rigid=Rigid([0, 1, 4, 5], centre=(1, 0, 0), joint=Hinge((0, 0, 1), (0, 0, 0)))
        ),
        "that of its joint",
    ),
    "axis": (lambda: Hinge((0, 0, 0), (0, 0, 0)), "direction"),
    "region name": (lambda: Solid(TETS, LAW).region_points("tip"), "rigid region 'tip'"),
    "gravity without mass": (
        lambda: Solid(TETS, LAW).linearise(TETS.quadratic().nodes.ravel(), (0, 0, -9.81)),
        "density",
    ),
    "mass matrix without mass": (lambda: Solid(TETS, LAW).mass(), "density"),
    "points": (lambda: Solid(TETS, LAW).points([[0.0, 1.0]]), r"shape \(P, 3\)"),
    "outside": (lambda: Solid(TETS, LAW).points([[0, 0, 0]], outside="maybe"), "'error' or 'nearest'"),
    "stress": (lambda: Solid(TETS, LAW).stress(Solid(TETS, LAW).q0, "caushy"), "'cauchy'"),
    "rotation": (
        lambda: Solid(TETS, LAW).move_supports(Solid(TETS, LAW).q0, rotation=2 * np.eye(3)),
        "rotation",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input_is_explained(what: str) -> None:
    action, words = WRONG[what]
    with pytest.raises(InputError, match=words):
        action()
