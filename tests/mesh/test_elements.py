"""Shape functions and quadrature."""

from itertools import product
from math import factorial

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.mesh import ELEMENTS, element, quadrature
from pliant.mesh.elements import SUBTRIANGLES, gradients, material_gradients, shape

ALL = sorted(ELEMENTS)
SIMPLICES = ("tet4", "tet10", "tri3", "tri6")


def inside(kind, n=7):
    """Points inside the reference element."""
    rng = np.random.default_rng(0)
    d = ELEMENTS[kind].nodes.shape[1]
    if kind in SIMPLICES:
        return rng.dirichlet(np.ones(d + 1), n)[:, :d]
    return rng.uniform(-1, 1, (n, d))


@pytest.mark.parametrize("kind", ALL)
def test_shape_functions_are_one_at_their_node_and_sum_to_one(kind):
    e, xi = ELEMENTS[kind], inside(kind)
    assert shape(kind, e.nodes) == pytest.approx(np.eye(len(e.nodes)), abs=1e-14)
    assert shape(kind, xi).sum(axis=1) == pytest.approx(1, abs=1e-14)
    assert shape(kind, xi) @ e.nodes == pytest.approx(xi, abs=1e-14)
    assert gradients(kind, xi).sum(axis=1) == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("kind", ALL)
def test_gradients_are_the_derivatives(kind):
    xi, h = inside(kind), 1e-6
    for j, step in enumerate(h * np.eye(xi.shape[1])):
        difference = (shape(kind, xi + step) - shape(kind, xi - step)) / (2 * h)
        assert gradients(kind, xi)[:, :, j] == pytest.approx(difference, abs=1e-8)


@pytest.mark.parametrize("kind", ["tet10", "hex20", "tri6", "quad8"])
def test_quadratic_elements_hold_every_quadratic(kind):
    e, xi = ELEMENTS[kind], inside(kind)
    for powers in product(range(3), repeat=xi.shape[1]):
        if sum(powers) <= 2:
            values = np.prod(e.nodes**powers, axis=1)
            assert shape(kind, xi) @ values == pytest.approx(np.prod(xi**powers, axis=1), abs=1e-13)


@pytest.mark.parametrize("kind", ALL)
def test_flip_mirrors_and_undoes_itself(kind):
    e = ELEMENTS[kind]
    assert np.array_equal(e.flip[e.flip], np.arange(len(e.nodes)))
    middle = e.nodes[:1] * 0.25 + e.nodes[:1].mean()
    mirrored = np.einsum("ai,qaj->qij", e.nodes[e.flip], gradients(kind, middle))
    assert np.linalg.det(mirrored) == pytest.approx(-1)


@pytest.mark.parametrize("kind", ["tet4", "tet10", "hex8", "hex20"])
def test_faces_point_outward_and_close(kind):
    e = ELEMENTS[kind]
    face = ELEMENTS[e.face_kind]
    centre = face.nodes[: face.corners].mean(axis=0, keepdims=True)
    tangents = np.einsum("fai,aj->fij", e.nodes[e.faces], gradients(e.face_kind, centre)[0])
    normals = np.cross(tangents[:, :, 0], tangents[:, :, 1])
    outward = e.nodes[e.faces[:, : face.corners]].mean(axis=1) - e.nodes.mean(axis=0)
    assert (np.einsum("fi,fi->f", normals, outward) > 0).all()
    assert normals.sum(axis=0) == pytest.approx(0, abs=1e-14)
    # the straight triangles of a face have its area and sense
    a, b, c = np.moveaxis(e.nodes[e.faces[:, SUBTRIANGLES[e.face_kind]]], 2, 0)
    areas = np.cross(b - a, c - a).sum(axis=1) / 2
    assert areas == pytest.approx(normals * face.volume, abs=1e-14)


def exact_integral(kind, powers):
    if kind in SIMPLICES:
        return np.prod([factorial(p) for p in powers]) / factorial(sum(powers) + len(powers))
    return np.prod([(1 - (-1) ** (p + 1)) / (p + 1) for p in powers])


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("degree", [None, 1, 2, 3, 5])
def test_quadrature_is_exact_to_its_degree(kind, degree):
    points, weights, reached = quadrature(kind, degree)
    assert reached >= (degree or 1)
    assert (weights > 0).all()
    total = kind in SIMPLICES
    for powers in product(range(reached + 1), repeat=points.shape[1]):
        if total and sum(powers) > reached:
            continue
        value = weights @ np.prod(points**powers, axis=1)
        assert value == pytest.approx(exact_integral(kind, powers), abs=1e-14)


def test_default_numbers_of_points():
    counts = {kind: len(quadrature(kind).weights) for kind in ("tet4", "tet10", "hex8", "hex20")}
    assert counts == {"tet4": 1, "tet10": 4, "hex8": 8, "hex20": 8}
    assert len(quadrature("hex20", 5).weights) == 27
    assert len(quadrature("tet10", 5).weights) == 14
    with pytest.raises(InputError, match="degree 5 at most"):
        quadrature("tet4", 6)
    with pytest.raises(InputError, match="0 or more"):
        quadrature("tet4", -1)


@pytest.mark.parametrize("kind", ["tet4", "tet10", "hex8", "hex20"])
def test_material_gradients_of_a_linear_field_and_the_volume(kind):
    e = ELEMENTS[kind]
    A = np.array([[2.0, 0.3, 0], [0.1, 1.5, 0.2], [0, -0.4, 1.0]])
    nodes, cells = e.nodes @ A.T, np.arange(len(e.nodes))[None]
    rule = quadrature(kind)
    G, dV = material_gradients(nodes, cells, kind, rule.points, rule.weights)
    assert dV.sum() == pytest.approx(e.volume * np.linalg.det(A))
    slope = np.array([0.7, -0.2, 1.3])
    assert np.einsum("eqai,a->eqi", G, nodes @ slope) == pytest.approx(
        np.broadcast_to(slope, G[:, :, 0].shape)
    )


def test_an_unknown_kind_suggests_the_nearest():
    with pytest.raises(InputError, match="tet10"):
        element("tet100")
