"""Reduced is a body like any other: derivatives, projection, and every interaction on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from pliant.bodies.reduced import Reduced
from pliant.bodies.sampling import cell_numbers
from pliant.interactions import Specimen, registry
from pliant.reduction.reduce import reduce, with_body
from pliant.reduction.state_basis import StateBasis
from tests.bodies.common import ELEMENTS, MATERIALS, Probe, distorted, left
from tests.core.test_bundle import (  # noqa: F401  (run again here, on the bodies of this file's fixture)
    test_jacobian_is_the_derivative_of_delta,
    test_liquid_weighs_on_the_walls,
    test_locked_coordinates_carry_no_force,
    test_many_rows_at_once_are_the_rows_one_by_one,
    test_tangent_is_the_derivative_of_the_residual,
)
from tests.core.test_models import DOWN, bar, block, cables, joined, specimen
from tests.interactions.test_specimens import TRIALS as FULL_TRIALS
from tests.inverse.test_registry import reached, rows_of, target_of

# Forces and tangents are checked on meshes that nobody would bend with.
pytestmark = pytest.mark.filterwarnings("ignore::pliant.errors.PliantWarning")


def polynomials(body: pl.Solid, count: int = 16) -> np.ndarray:
    """Shapes (n, 3, count): polynomials along x, y and z, without their part at fixed nodes."""
    X = body.coordinates.rest - body.coordinates.rest.min(axis=0)
    x, y, z = (X / np.ptp(X, axis=0).max()).T
    fields = [x, x * x, x * y, x * z, x**3, x * x * y]
    shapes = np.stack([np.outer(f, axis) for f in fields for axis in np.eye(3)][:count], axis=2)
    shapes[: len(body.fixed)][body.fixed] = 0.0
    return shapes


def smaller(body: pl.Solid, **options) -> Reduced:
    return Reduced(body, polynomials(body), **options)


def alone(kind: str, order: int):
    body = smaller(block(kind, order))
    return (body,), specimen(body)


def beside_a_full_one():
    first, second = smaller(block("hex", 1)), block("tet", 1, x=0.1)
    return (second, first), joined(specimen(first), specimen(second, x=0.1))


TRIALS = {
    "hex8": lambda: alone("hex", 1),
    "tet10": lambda: alone("tet", 2),
    "with a full body": beside_a_full_one,
}


@pytest.fixture(scope="module", params=list(TRIALS))
def trial(request):
    return TRIALS[request.param]()


# The body


@pytest.mark.parametrize("element", list(ELEMENTS))
@pytest.mark.parametrize("material", [m for m in MATERIALS if m != "incompressible"])
def test_energy_force_tangent(element, material):
    """Whatever the weights of cells are, r is the gradient of the energy and K its Hessian."""
    kind, options = ELEMENTS[element]
    if element == "hex8" and material not in ("hooke", "small strain"):
        pytest.skip("incompatible modes are for Hooke's law")
    body = pl.Solid(distorted(kind), MATERIALS[material], density=900.0, fixed=left, **options)
    cells = np.arange(0, len(body.mesh.cells), 3)
    weights = np.random.default_rng(0).uniform(0.5, 3.0, len(cells))
    Probe.random(smaller(body, cells=cells, weights=weights), 2e-3).check()


@pytest.mark.parametrize("kind", ["hex", "tet"])
def test_all_cells_give_the_projected_equations(kind):
    """r = Φᵀr, K = ΦᵀKΦ, M = ΦᵀMΦ of the full body, with gravity."""
    body = bar(kind=kind, order=2 if kind == "tet" else 1)
    small = smaller(body)
    a = small.retract(small.q0, 2e-3 * np.random.default_rng(3).normal(size=small.ndof))
    Phi = small.modes.reshape(-1, small.ndof)[body.coordinates.moving]
    g = np.array([1.0, 2.0, -9.0])
    energy, r, K = small.linearise(a, g)
    full_energy, r_full, K_full = body.linearise(small.expand(a), g)
    free = small.free
    assert energy == pytest.approx(full_energy, rel=1e-10)
    np.testing.assert_allclose(r, r_full @ Phi, rtol=1e-9, atol=1e-9 * np.abs(r).max())
    for own, whole in ((K, K_full), (small.mass(), body.mass())):
        dense = small.pattern.to_csr(own).toarray()[np.ix_(free, free)]
        projected = (Phi.T @ (body.pattern.to_csr(whole) @ Phi))[np.ix_(free, free)]
        np.testing.assert_allclose(dense, projected, rtol=0, atol=1e-10 * np.abs(projected).max())


def test_amplitudes_are_metres():
    small = smaller(bar())
    assert small.ndof == 18 and small.free.sum() == 16
    for k in range(16):
        unit = np.eye(18)[k]
        moved = np.linalg.norm(small.positions(unit) - small.mesh.nodes, axis=1)
        assert moved.max() == pytest.approx(1.0)
    a = small.retract(small.q0, np.full(18, 0.01))
    assert not a[16:].any()
    np.testing.assert_allclose(small.project(small.expand(a)), a, atol=1e-12)


def test_rigid_regions_follow_the_modes():
    """A plate that turns a little: its pose and W of its motor are near those of the full body."""
    body = block("hex", 1)
    small = smaller(body)
    a = np.zeros(small.ndof)
    a[1] = 2e-3
    R, centre = body.pose(small.expand(a), "plate")
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    expected = small.region_points("plate").position(a)
    np.testing.assert_allclose(centre, expected[0], atol=1e-12)


def test_a_basis_that_contains_the_answer_finds_it():
    """With one mode of the exact deflection, statics, W and the frequency are those of the full body."""
    robot = cables(gravity=DOWN, cells=(8, 2, 2))
    laws = {"top": pl.Known(effort=0.5)}
    full = pl.static(robot, laws)
    u = (full.q - robot.body.q0).reshape(-1, 3, 1)
    small = reduce(robot, StateBasis.given(robot.body, np.concatenate([u, polynomials(robot.body)], axis=2)))
    result = pl.static(small, laws)
    np.testing.assert_allclose(result.displacement["tip"], full.displacement["tip"], atol=2e-6)
    np.testing.assert_allclose(result.positions, full.positions, atol=5e-6)


def test_fewer_modes_are_stiffer():
    """A restricted body moves less under the same force: W grows with the basis, towards the full one."""
    robot = cables(cells=(8, 2, 2))
    tips = []
    for count in (3, 6, 12, 18):
        small = with_body(robot, Reduced(robot.body, polynomials(robot.body, count)))
        tips.append(pl.compliance(small)["tip", "tip"][2, 2])
    tips.append(pl.compliance(robot)["tip", "tip"][2, 2])
    assert (np.diff(tips) > -1e-12).all() and tips[-1] > 2.0 * tips[-2] > 20.0 * tips[0]


def test_points_on_held_nodes_have_no_rows():
    small = smaller(bar())
    held = small.node_points(np.flatnonzero(left(small.mesh.nodes)))
    assert not len(held.block)
    np.testing.assert_array_equal(held.position(np.full(small.ndof, 0.01)), held.rest)


def test_bad_input():
    body = bar()
    shapes = polynomials(body)
    for modes, word in (
        (shapes[:-1], "shape"),
        (np.zeros_like(shapes), "zero everywhere"),
        (shapes + np.nan, "finite"),
        (shapes + 0.1, "fixed"),
    ):
        with pytest.raises(pl.errors.InputError, match=word):
            Reduced(body, modes)
    every = cell_numbers(body.assembly.groups)
    for options in (
        {"cells": every},
        {"cells": [0, 99], "weights": [1.0, 1.0]},
        {"cells": [0, 1], "weights": [1.0, -1.0]},
        {"cells": [0, 0], "weights": [1.0, 1.0]},
    ):
        with pytest.raises(pl.errors.InputError):
            Reduced(body, shapes, **options)
    rod = pl.Beam(
        pl.mesh.line((0, 0, 0), (0.1, 0, 0), elements=4), pl.bodies.Circle(0.005), body.material, fixed=0
    )
    with pytest.raises(pl.errors.InputError, match="rotations"):
        Reduced(rod, shapes)
    with pytest.raises(pl.errors.InputError, match="incompressible"):
        Reduced(bar(material=MATERIALS["incompressible"]), shapes)


# The inverse model


@dataclass(frozen=True)
class OnReduced:
    """A trial of the inverse model's tests, on a reduced body."""

    body: Reduced
    specimen: Specimen
    size: float


@pytest.fixture(scope="module")
def block_with_a_plate() -> OnReduced:
    trial = FULL_TRIALS["hex8"]()
    body, s = smaller(trial.body), trial.specimen
    moved = Specimen(s.line.on(body), s.frame.on(body), s.skin.on(body), s.triangles)
    return OnReduced(body, moved, trial.size)


@pytest.mark.parametrize("role", ["effector", "actuator"])
@pytest.mark.parametrize(("name", "make"), registry, ids=[name for name, _ in registry])
def test_every_interaction_in_the_inverse_model(name, make, role, block_with_a_plate, within, request):
    trial = block_with_a_plate
    robot = pl.Robot(trial.body, rows_of(trial, make(trial.specimen), role))
    drive, effector = ("force", "row") if role == "effector" else ("row", "tip")
    target = target_of(robot, drive, effector, trial.size)
    if robot.bundle.internal and role == "actuator":
        reason = (
            "In so short a motion friction does not turn round in the inverse model, as it does in statics."
        )
        request.applymarker(pytest.mark.xfail(reason=reason, raises=AssertionError))
    within(reached(robot, effector, target) / trial.size, 1e-4, f"{name} as {role}")
