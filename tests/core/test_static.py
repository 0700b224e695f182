"""Equilibria and certificates: independent checks, starts, ramps, failures, supports, several bodies."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.newton import Iterate, Tolerance, is_converged
from pliant.timing import STAGES
from tests.core.test_models import DOWN, SIZE, SOFT, balloon, bar, cables, linear_bar, plane

KINDS = [("hex", 1), ("tet", 1), ("tet", 2)]
EVERY_KIND = pytest.mark.parametrize(("kind", "order"), KINDS, ids=["hex8", "tet4", "tet10"])
RUBBER = pl.NeoHookean(young=3e5, poisson=0.4)


@pytest.fixture(scope="module")
def robot() -> pl.Robot:
    return cables(gravity=DOWN)


def dense_rows(robot: pl.Robot, q: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """H by finite differences of δ through the bodies' own retraction: nothing of the bundle's Jacobian."""
    H = np.zeros((robot.bundle.rows, robot.ndof))
    for j in range(robot.ndof):
        d = np.zeros(robot.ndof)
        d[j] = h
        sides = [robot.bundle.delta(robot.bundle.positions(robot.retract(q, s * d))) for s in (1, -1)]
        H[:, j] = (sides[0] - sides[1]) / (2 * h)
    return H


def forces(robot: pl.Robot, result: pl.Result) -> tuple[np.ndarray, np.ndarray]:
    """r of the body at the result, and the force of its rows."""
    lam = np.concatenate([result.effort[name] for name in robot.rows])
    r = robot.body.linearise(result.q, robot.gravity, result.state.internal, tangent=False)[1]
    return r, dense_rows(robot, result.q).T @ lam


# Certificates


@pytest.mark.parametrize(
    "laws", [{"top": pl.Known(effort=3.0)}, {"top": pl.Known(displacement=0.006)}], ids=repr
)
def test_the_residual_is_small_when_recomputed(robot, laws):
    result = pl.static(robot, laws)
    r, pull = forces(robot, result)
    balance = np.linalg.norm(r + pull)
    assert balance < 1e-7 * np.linalg.norm(pull)  # the finite differences of H have an error of that size
    assert result.certificate.residual < 1e-8 and result.certificate.converged
    assert result.certificate.status == "converged" and "converged" in str(result.certificate)


def test_supports_carry_the_weight(robot):
    """A global balance that no part of the solver knows of."""
    result = pl.static(robot)
    carried = robot.body.reactions(result.q, DOWN)
    np.testing.assert_allclose(carried.sum(axis=0), [0, 0, 9.81 * robot.body.total_mass], atol=1e-8)
    free = ~robot.body.fixed.any(axis=1)
    assert np.abs(carried[free]).max() < 1e-8 * 9.81 * robot.body.total_mass


def test_the_decrement_bounds_the_distance_to_the_equilibrium(robot):
    """Tightening the tolerance moves no node by more than what the certificate admits."""
    exact = pl.static(robot, {"top": pl.Known(effort=3.0)}, tolerance=pl.Tolerance(1e-12, 1e-12))
    for residual in (1e-2, 1e-4, 1e-6):
        rough = pl.static(robot, {"top": pl.Known(effort=3.0)}, tolerance=pl.Tolerance(residual, 1e-4))
        moved = np.abs(rough.positions - exact.positions).max()
        assert moved <= 2 * rough.certificate.decrement + 1e-12
        assert rough.certificate.iterations <= exact.certificate.iterations


def test_constraints_are_as_good_as_the_certificate_says(robot):
    wanted = 0.006
    result = pl.static(robot, {"top": pl.Known(displacement=wanted)})
    assert result.certificate.constraint < 1e-9
    assert abs(result.displacement["top"][0] - wanted) < 1e-9 * robot.length * np.sqrt(robot.ndof)


def test_the_equilibrium_is_a_minimum_of_the_energy(robot):
    """Dead loads: energy − work of the tip force rises in every direction."""
    force = np.array([0.0, 0.01, 0.02])
    result = pl.static(robot, {"tip": pl.Known(effort=force)})

    def potential(q: np.ndarray) -> float:
        tip = robot.split(robot.bundle.delta(robot.bundle.positions(q)))["tip"]
        return robot.body.linearise(q, DOWN, tangent=False)[0] - force @ tip

    rng, least = np.random.default_rng(0), potential(result.q)
    for _ in range(20):
        assert potential(robot.retract(result.q, 1e-4 * rng.normal(size=robot.ndof))) > least


def test_small_loads_follow_beam_theory():
    """A slender bar of well-shaped cells: tip deflection F L³/(3 E I) with shear, to 2 %."""
    body = bar(cells=(16, 4, 4), material=pl.Hooke(young=3e5, poisson=0.0))
    end = body.node_points(np.flatnonzero(plane(body.mesh, 0, 0.1)))
    robot = pl.Robot(body, {"load": pl.Row(pl.Slider(end, (0, 0, -1)), pl.Known(effort=1e-3))})
    L, h, E, F = SIZE[0], SIZE[2], 3e5, 1e-3
    bending, shear = F * L**3 / (3 * E * h**4 / 12), F * L / (5 / 6 * E / 2 * h**2)
    assert pl.static(robot).displacement["load"][0] == pytest.approx(bending + shear, rel=0.02)


def test_timings_name_every_stage(robot):
    begin = perf_counter()
    timings = pl.static(robot, {"top": pl.Known(displacement=0.003)}).timings
    assert timings["total"] <= perf_counter() - begin  # by the same clock
    assert (
        set(timings)
        == {*STAGES, "total"}
        == {
            "linearise",
            "factorise",
            "condense",
            "solve",
            "recover",
            "total",
        }
    )
    assert all(t > 0 for t in timings.values())
    assert sum(timings[stage] for stage in STAGES) <= timings["total"]


def test_tolerances_are_positive():
    for options in ({"residual": 0.0}, {"residual": -1.0}, {"length": np.nan}, {"iterations": 0}):
        with pytest.raises(pl.InputError, match=r"[Tt]olerance"):
            pl.Tolerance(**options)


# Nothing to do


@EVERY_KIND
@pytest.mark.parametrize("material", [SOFT, RUBBER], ids=["Hooke", "NeoHookean"])
def test_a_robot_without_load_stays_at_rest(kind, order, material):
    """No gravity, no command: the residual is rounding, and is not measured by itself."""
    robot = cables(kind=kind, order=order, cells=(4, 2, 2), material=material)
    result = pl.static(robot)
    assert result.certificate.converged and result.certificate.iterations <= 2
    np.testing.assert_allclose(result.positions, robot.body.mesh.nodes, atol=1e-12)


@EVERY_KIND
def test_a_state_that_is_an_equilibrium_is_left_as_it_is(kind, order):
    robot = cables(kind=kind, order=order, cells=(4, 2, 2))
    for laws in ({"top": pl.Known(effort=1.0)}, {"top": pl.Known(displacement=0.003)}, {}):
        first = pl.static(robot, laws)
        again = pl.static(robot, laws, state=first.state)
        assert again.certificate.iterations <= 2
        np.testing.assert_allclose(again.q, first.q, atol=1e-10 * robot.length)


def test_the_load_is_taken_off_again(robot):
    """Elastic: it comes back to where it was, from any state."""
    free = cables()
    pulled = pl.static(free, {"top": pl.Known(displacement=0.006)})
    back = pl.static(free, state=pulled.state)
    np.testing.assert_allclose(back.positions, free.body.mesh.nodes, atol=1e-10)


def test_a_robot_whose_nodes_are_all_fixed():
    body = bar(fixed=lambda nodes: np.ones(len(nodes), bool))
    result = pl.static(pl.Robot(body, gravity=DOWN))
    np.testing.assert_array_equal(result.positions, body.mesh.nodes)
    assert result.certificate.converged


# Starts and ramps


def test_a_warm_start_takes_fewer_iterations(robot):
    laws = {"top": pl.Known(displacement=0.0101)}
    near = pl.static(robot, {"top": pl.Known(displacement=0.01)})
    cold, warm = pl.static(robot, laws), pl.static(robot, laws, state=near.state)
    assert warm.certificate.iterations < cold.certificate.iterations
    np.testing.assert_allclose(warm.positions, cold.positions, atol=1e-8 * robot.length)


@pytest.mark.parametrize("load_steps", [1, 2, 5])
def test_the_way_there_does_not_matter(robot, load_steps):
    """From rest or another load, in one step or in several: one equilibrium, and it knows its loads."""
    start = pl.static(robot, {"bottom": pl.Known(effort=2.0), "tip": pl.Known(effort=(0, 0.05, 0))})
    laws = {"top": pl.Known(effort=2.5)}
    direct = pl.static(robot, laws)
    ramped = pl.static(robot, laws, state=start.state, load_steps=load_steps)
    np.testing.assert_allclose(ramped.positions, direct.positions, atol=1e-7 * robot.length)
    np.testing.assert_array_equal(ramped.state.gravity, robot.gravity)
    assert ramped.effort["bottom"] == 0.0 and ramped.effort["top"] == 2.5


@pytest.mark.parametrize("load_steps", [1, 2, 3, 4, 7])
def test_load_steps_are_at_least_as_many_as_asked_for(robot, load_steps):
    result = pl.static(robot, {"top": pl.Known(displacement=0.005)}, load_steps=load_steps)
    assert result.certificate.load_steps >= load_steps
    assert result.displacement["top"][0] == pytest.approx(0.005, abs=1e-10)


def test_gravity_is_ramped_from_the_state(robot):
    """A state in balance with gravity needs no ramp; the rest state starts from none."""
    assert not robot.rest.gravity.any()
    hanging = pl.static(robot)
    again = pl.static(robot, state=hanging.state, load_steps=3)
    np.testing.assert_allclose(again.q, hanging.q, atol=1e-10 * robot.length)


def test_a_hard_load_is_ramped_unasked():
    """What Newton cannot reach in one step is cut into several."""
    robot = cables(gravity=DOWN)
    result = pl.static(robot, {"top": pl.Known(displacement=0.02)})
    assert result.certificate.converged and result.displacement["top"][0] == pytest.approx(0.02, abs=1e-9)


@pytest.mark.parametrize("load_steps", [0, -1, 2.5, "many", None, np.nan])
def test_load_steps_are_a_positive_integer(robot, load_steps):
    with pytest.raises(pl.InputError, match="load_steps"):
        pl.static(robot, load_steps=load_steps)


# No equilibrium


def assert_best(error: pl.ConvergenceError, robot: pl.Robot) -> None:
    """The error carries a result that can be looked at, and says that it is none."""
    result = error.result
    assert isinstance(result, pl.Result) and result.robot is robot
    assert not result.certificate.converged and result.certificate.status == "not converged"
    assert np.isfinite(result.q).all() and np.isfinite(result.positions).all()
    assert result.certificate.iterations > 0 and set(result.effort) == set(robot.rows)
    assert "error.result" in str(error) and repr(robot.name) in str(error) and "%" in str(error)
    assert set(result.timings) == {*STAGES, "total"}


def test_a_huge_tension_has_no_equilibrium(robot):
    with pytest.raises(pl.ConvergenceError) as raised:
        pl.static(robot, {"top": pl.Known(effort=1e9)})
    assert_best(raised.value, robot)
    far = np.abs(raised.value.result.positions - robot.body.mesh.nodes).max()
    assert far < 10 * robot.length, "the best state is not one that ran away"


def test_a_cable_cannot_be_pulled_in_by_more_than_its_length(robot):
    with pytest.raises(pl.ConvergenceError) as raised:
        pl.static(robot, {"top": pl.Known(displacement=0.2)})
    assert_best(raised.value, robot)
    result = raised.value.result
    assert 0.0 < result.displacement["top"][0] < 0.2  # as far as it went …
    r = robot.body.linearise(result.q, result.state.gravity, tangent=False)[1]
    lam = np.concatenate([result.effort[name] for name in robot.rows])
    pull = dense_rows(robot, result.q, h=1e-7).T @ lam  # the cable's points are close together there
    assert np.linalg.norm(r + pull) < 1e-6 * np.linalg.norm(pull)  # … which is an equilibrium


def test_a_balloon_bursts_beyond_its_limit_pressure():
    """Thin neo-Hookean sphere: p = 2 μ t/R (1/λ − 1/λ⁷) has its maximum 0.62 · 2 μ t/R at λ = 1.38."""
    mu, thickness = 1e5, 0.05
    robot = balloon(pl.NeoHookean(young=2 * mu * 1.45, poisson=0.45), inner=0.01, outer=0.0105)
    limit = 2 * mu * thickness * 0.62
    below = pl.static(robot, {"air": pl.Known(effort=0.6 * limit)})
    assert below.certificate.converged and below.displacement["air"][0] > 0
    with pytest.raises(pl.ConvergenceError, match=r"air .* kPa of 9.3 kPa.*limit point") as raised:
        pl.static(robot, {"air": pl.Known(effort=1.5 * limit)})
    assert_best(raised.value, robot)
    best = raised.value.result
    assert 0.6 * limit < best.effort["air"][0] < 1.5 * limit  # how far the pressure could be raised
    assert best.displacement["air"][0] > below.displacement["air"][0]
    volume = robot.rows["air"].interaction.rest_volume
    past = pl.static(
        robot, {"air": pl.Known(displacement=volume * (1.6**3 - 1))}
    )  # imposed volumes pass the limit
    assert past.certificate.converged and past.certificate.negative > 0
    assert past.effort["air"][0] < best.effort["air"][0]


def test_few_iterations_are_not_enough(robot):
    with pytest.raises(pl.ConvergenceError) as raised:
        pl.static(robot, {"top": pl.Known(effort=5.0)}, tolerance=pl.Tolerance(iterations=1))
    assert_best(raised.value, robot)


# Inverted cells


@EVERY_KIND
def test_hooke_comes_back_from_inverted_cells(kind, order):
    body = bar(kind=kind, order=order, cells=(4, 2, 2))
    robot, rng = pl.Robot(body), np.random.default_rng(0)
    q = body.retract(body.q0, (0.012 if kind == "hex" else 0.004) * rng.normal(size=body.ndof))
    assert (np.linalg.det(body.deformation_gradient(q)) < 0).any()
    energy, r, K = body.linearise(q, (0, 0, 0))
    assert np.isfinite(energy) and np.isfinite(r).all() and np.isfinite(K).all()
    result = pl.static(robot, state=robot.rest.with_(q=q))
    np.testing.assert_allclose(result.positions, body.mesh.nodes, atol=1e-8)


@EVERY_KIND
def test_log_energies_refuse_a_start_that_is_inside_out(kind, order):
    """Not a failure to converge: the state itself cannot be used, and the message says why."""
    body = bar(kind=kind, order=order, cells=(4, 2, 2), material=RUBBER)
    robot, rng = cables(body), np.random.default_rng(0)
    q = body.retract(body.q0, 0.01 * rng.normal(size=body.ndof))
    energy, r, K = body.linearise(q, (0, 0, 0))
    assert energy == np.inf and r is None and K is None
    state = robot.rest.with_(q=q)
    with pytest.raises(pl.InputError, match=r"state.*invert"):
        pl.static(robot, state=state)
    with pytest.raises(pl.PliantError, match="invert"):
        pl.compliance(robot, state)


def test_steps_that_would_invert_cells_are_shortened():
    """A log energy under a load whose first Newton step is far too long."""
    body = bar(material=RUBBER, cells=(4, 2, 2))
    end = body.node_points(np.flatnonzero(plane(body.mesh, 0, 0.1)))
    robot = pl.Robot(body, {"push": pl.Row(pl.Slider(end, (1, 0, 0)), pl.Known(displacement=-0.03))})
    result = pl.static(robot)
    assert result.certificate.converged and (np.linalg.det(body.deformation_gradient(result.q)) > 0).all()


# Not held


def loose(mesh: pl.mesh.Mesh, fixed: np.ndarray | None, gravity: Any = (0, 0, 0)) -> pl.Robot:
    body = pl.Solid(mesh, SOFT, density=1000.0, fixed=fixed, order=1 if mesh.element.order == 1 else 2)
    tip = pl.Position(body.points([[0.1, 0.01, 0.01]]))
    return pl.Robot(body, {"tip": pl.Row(tip)}, gravity=gravity, name="bar")


def edge(mesh: pl.mesh.Mesh) -> np.ndarray:
    return plane(mesh, 0, 0.0) & plane(mesh, 2, 0.0)


HELD_BY = {
    "nothing": (lambda mesh: None, 6),
    "one node": (lambda mesh: np.arange(len(mesh.nodes)) == 0, 3),
    "an edge": (edge, 1),
}


@EVERY_KIND
@pytest.mark.parametrize("gravity", [(0, 0, 0), DOWN, (9.81, 0, 0)], ids=["weightless", "down", "along"])
@pytest.mark.parametrize("held", list(HELD_BY))
def test_what_is_not_fixed_is_an_error_that_counts_rigid_modes(kind, order, gravity, held):
    mesh = pl.mesh.box(SIZE, cells=(4, 2, 2), kind=kind, order=order)
    select, modes = HELD_BY[held]
    robot = loose(mesh, select(mesh), gravity)
    with pytest.raises(pl.SingularError, match=rf"'bar'.*\b{modes} rigid mode.*fixed="):
        pl.static(robot)
    with pytest.raises(pl.SingularError, match=rf"'bar'.*\b{modes} rigid mode"):
        pl.compliance(robot)


@EVERY_KIND
def test_a_loose_piece_is_an_error(kind, order):
    """Two pieces, one held: six modes are left, and the message speaks of pieces."""
    mesh = pl.mesh.box(SIZE, cells=(4, 1, 1), kind=kind, order=order)
    both = pl.mesh.join([mesh, mesh.transformed(translation=(0.0, 0.0, 0.03))])
    robot = loose(both, plane(both, 0, 0.0) & (both.nodes[:, 2] < 0.025))
    with pytest.raises(pl.SingularError, match=r"6 rigid mode.*piece"):
        pl.static(robot)
    held = loose(both, plane(both, 0, 0.0))
    assert pl.static(held).certificate.converged


def test_a_roller_leaves_what_it_does_not_hold():
    mesh = pl.mesh.box(SIZE, cells=(4, 1, 1), kind="hex")
    fixed = np.zeros((len(mesh.nodes), 3), bool)
    fixed[plane(mesh, 2, 0.0), 2] = True  # on a table: slides along x and y, turns about z
    with pytest.raises(pl.SingularError, match=r"\b3 rigid mode"):
        pl.static(loose(mesh, fixed))
    fixed[plane(mesh, 0, 0.0), 0] = True
    fixed[plane(mesh, 1, 0.0), 1] = True
    assert pl.static(loose(mesh, fixed)).certificate.converged


def test_a_free_hinge_is_a_rigid_mode():
    """A bar that hangs on a hinge alone; a motor that only measures does not hold it."""
    mesh = pl.mesh.box(SIZE, cells=(4, 1, 1), kind="hex")
    hub = pl.Rigid(plane(mesh, 0, 0.0), name="hub", joint=pl.Hinge(axis=(0, 1, 0), centre=(0, 0.01, 0.01)))
    body = pl.Solid(mesh, SOFT, density=1000.0, rigid=hub)
    motor = pl.Motor(body.region_points("hub"), (0, 1, 0))
    with pytest.raises(pl.SingularError, match=r"\b1 rigid mode"):
        pl.static(pl.Robot(body, {"motor": pl.Row(motor)}))


# Moving supports


@EVERY_KIND
def test_supports_that_move_rigidly_take_the_robot_along(kind, order):
    """x = R X + t for every node, without stress."""
    robot = cables(kind=kind, order=order, cells=(4, 2, 2))
    body, turn, shift = robot.body, Rotation.from_rotvec((0.2, -0.3, 0.4)), np.array([0.01, 0.02, -0.03])
    q = body.move_supports(body.q0, rotation=turn, translation=shift)
    result = pl.static(robot, state=robot.rest.with_(q=q))
    np.testing.assert_allclose(result.positions, body.mesh.nodes @ turn.as_matrix().T + shift, atol=1e-9)
    assert np.abs(body.stress(result.q)).max() < 1e-5 * SOFT.young
    assert body.energy(result.q) < 1e-12
    assert np.abs(result.displacement["top"]) < 1e-9  # a cable inside the body keeps its length


@EVERY_KIND
def test_a_whole_robot_that_is_moved_is_in_balance(kind, order):
    """All nodes moved: nothing is left to do, and rounding is not taken for a load."""
    robot = cables(kind=kind, order=order, cells=(4, 2, 2))
    body = robot.body
    q = body.q0.copy()
    body.positions(q)[:] += (0.1, -0.2, 0.3)
    result = pl.static(robot, state=robot.rest.with_(q=q))
    assert result.certificate.iterations <= 2
    np.testing.assert_allclose(result.q, q, atol=1e-12)


def test_supports_move_the_load_along(robot):
    """Translation commutes with loading; gravity keeps its direction when the base turns."""
    body, laws = robot.body, {"top": pl.Known(effort=2.0)}
    straight = pl.static(robot, laws)
    q = body.move_supports(straight.q, translation=(0.0, 0.01, 0.02))
    moved = pl.static(robot, laws, state=straight.state.with_(q=q))
    np.testing.assert_allclose(moved.positions, straight.positions + np.array([0.0, 0.01, 0.02]), atol=1e-8)
    upside = body.move_supports(body.q0, rotation=Rotation.from_rotvec((np.pi / 2, 0, 0)))
    turned = pl.static(robot, state=robot.rest.with_(q=upside))
    assert turned.displacement["tip"][2] < pl.static(robot).positions[:, 2].mean()


def test_one_support_of_two_is_moved():
    """A bar between two walls, one pulled away by 2 mm: a uniform strain of 2 % away from the ends."""
    mesh = pl.mesh.box(SIZE, cells=(10, 2, 2), kind="hex")
    walls = [plane(mesh, 0, x) for x in (0.0, 0.1)]
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.0), fixed=walls[0] | walls[1])
    robot = pl.Robot(body)
    q = body.move_supports(body.q0, translation=(0.002, 0, 0), nodes=walls[1])
    result = pl.static(robot, state=robot.rest.with_(q=q))
    stress = body.stress(result.q, "pk1")
    np.testing.assert_allclose(stress[:, 0, 0], 3e5 * 0.02, rtol=1e-6)
    np.testing.assert_allclose(result.positions[:, 0], 1.02 * mesh.nodes[:, 0], atol=1e-10)


# Several materials, several bodies


def test_two_materials_in_series():
    """δ = F (L₁/E₁ + L₂/E₂)/A for a bar of two halves."""
    mesh = pl.mesh.box(SIZE, cells=(6, 1, 1), kind="hex")
    mesh = mesh.with_regions((mesh.centres[:, 0] > 0.05).astype(int))
    laws = {n: pl.Hooke(young=E, poisson=0.0, small_strain=True) for n, E in enumerate((1e4, 4e4))}
    body = pl.Solid(mesh, laws, density={0: 900.0, 1: 1200.0}, fixed=plane(mesh, 0, 0.0))
    end = body.node_points(np.flatnonzero(plane(mesh, 0, 0.1)))
    robot = pl.Robot(body, {"pull": pl.Row(pl.Slider(end, (1, 0, 0)), pl.Known(effort=0.1))})
    expected = 0.1 / 0.02**2 * (0.05 / 1e4 + 0.05 / 4e4)
    assert pl.static(robot).displacement["pull"][0] == pytest.approx(expected, rel=1e-8)
    assert body.total_mass == pytest.approx(0.02**2 * 0.05 * 2100)


def test_equal_materials_are_one_material():
    mesh = pl.mesh.box(SIZE, cells=(4, 2, 2))
    parts = mesh.with_regions((mesh.centres[:, 0] > 0.05).astype(int))
    robots = [
        pl.Robot(pl.Solid(m, law, density=1000.0, fixed=plane(m, 0, 0.0)), gravity=DOWN)
        for m, law in ((mesh, SOFT), (parts, {0: SOFT, 1: SOFT}))
    ]
    one, two = (pl.static(robot).positions for robot in robots)
    np.testing.assert_allclose(one, two, atol=1e-11)


def test_bodies_that_do_not_touch_answer_as_if_alone():
    bodies = [bar(), bar(kind="tet", order=2, material=RUBBER, cells=(4, 2, 2))]
    alone = [cables(body, gravity=DOWN) for body in bodies]
    rows = {f"{name} {n}": row for n, robot in enumerate(alone) for name, row in robot.rows.items()}
    apart = pl.contact.Surroundings(between_bodies=False)
    both = pl.Robot(bodies, rows, gravity=DOWN, surroundings=apart)
    laws = [{"top": pl.Known(displacement=0.004)}, {"bottom": pl.Known(effort=1.0)}]
    result = pl.static(both, {f"{name} {n}": law for n, own in enumerate(laws) for name, law in own.items()})
    k = len(bodies[0].mesh.nodes)
    for n, part in enumerate((result.positions[:k], result.positions[k:])):
        single = pl.static(alone[n], laws[n])
        np.testing.assert_allclose(part, single.positions, atol=1e-9)
        for name in alone[n].rows:
            np.testing.assert_allclose(
                result.effort[f"{name} {n}"], single.effort[name], rtol=1e-6, atol=1e-9
            )
    assert both.nq == sum(len(b.q0) for b in bodies) and both.ndof == sum(b.ndof for b in bodies)


@pytest.mark.filterwarnings("ignore::pliant.errors.PliantWarning")  # four cells are too coarse to bend well
def test_incompressible_rubber_keeps_its_volume():
    body = bar(cells=(4, 2, 2), material=pl.materials.Incompressible(pl.NeoHookean(young=3e5)))
    robot = cables(body, gravity=DOWN)
    result = pl.static(robot, {"top": pl.Known(effort=2.0)})
    assert np.abs(body.volume_error(result.q)).max() < 1e-8
    assert len(result.state.internal) == len(body.z0) > 0 and np.abs(result.state.internal).max() > 0
    again = pl.static(robot, {"top": pl.Known(effort=2.0)}, state=result.state)
    assert again.certificate.iterations <= 2
    np.testing.assert_allclose(again.q, result.q, atol=1e-9)


# Values


@EVERY_KIND
def test_the_same_call_gives_the_same_bits(kind, order):
    laws = {"top": pl.Known(displacement=0.004), "bottom": pl.Known(displacement=-0.002)}
    robots = [cables(kind=kind, order=order, cells=(4, 2, 2), gravity=DOWN) for _ in range(2)]
    results = [pl.static(robot, laws) for robot in (robots[0], robots[0], robots[1])]
    for other in results[1:]:
        np.testing.assert_array_equal(other.q, results[0].q)
        np.testing.assert_array_equal(other.state.effort, results[0].state.effort)
        assert other.certificate == results[0].certificate


def test_a_call_leaves_what_it_was_given(robot):
    state = pl.static(robot).state
    before = {name: getattr(state, name).copy() for name in ("q", "v", "effort", "internal", "gravity")}
    laws = {"top": pl.Known(effort=3.0)}
    pl.static(robot, laws, state=state)
    assert laws == {"top": pl.Known(effort=3.0)}
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(state, name), value)


def test_a_state_is_a_value(robot):
    """Copied when made, frozen, read-only, replaced by copies."""
    q = robot.rest.q.copy()
    state = pl.State(q, np.zeros(robot.ndof), np.zeros(robot.bundle.rows), np.zeros(0))
    q += 1.0
    np.testing.assert_array_equal(state.q, robot.rest.q)
    for name in ("q", "v", "effort", "internal", "gravity"):
        array = getattr(state, name)
        assert not array.flags.writeable
        if array.size:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        state.t = 1.0
    later = state.with_(t=2.0)
    assert (later.t, state.t) == (2.0, 0.0)
    with pytest.raises(TypeError):
        state.with_(velocity=1.0)


def test_results_are_read_only(robot):
    result = pl.static(robot, {"top": pl.Known(effort=1.0)})
    arrays = [result.q, result.positions, *result.effort.values(), *result.displacement.values()]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(FrozenInstanceError):
        result.state = None
    with pytest.raises(FrozenInstanceError):
        result.certificate.residual = 0.0
    for mapping in (result.effort, result.displacement, result.timings):
        with pytest.raises(TypeError):
            mapping["top"] = 0.0


def test_results_are_named_as_the_rows(robot):
    result = pl.static(robot)
    assert list(result.effort) == list(result.displacement) == ["top", "bottom", "tip"]
    assert [len(v) for v in result.displacement.values()] == [1, 1, 3]
    assert result.positions.shape == robot.body.mesh.nodes.shape
    np.testing.assert_array_equal(result.q, result.state.q)


def test_every_robot_of_linear_bars_is_linear():
    """The closed forms elsewhere rest on this: twice the load, twice the displacement."""
    robot = linear_bar()
    once, twice = (pl.static(robot, {"push": pl.Known(effort=f)}).displacement["push"][0] for f in (0.1, 0.2))
    assert twice == pytest.approx(2 * once, rel=1e-9)


@pytest.mark.parametrize("residual", [np.nan, np.inf])
def test_a_residual_that_is_no_number_never_counts_as_converged(residual):
    """A decrement of nothing says nothing where K or the forces have overflowed."""
    at = Iterate(np.zeros(3), np.zeros(0), residual=0.0, decrement=1e-16, constraint=0.0)
    assert is_converged(at, Tolerance(), 1.0)
    assert not is_converged(replace(at, residual=residual), Tolerance(), 1.0)
