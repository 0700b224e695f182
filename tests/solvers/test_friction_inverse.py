"""The inverse problem with friction: closed forms, dense grids, the frictionless solver, certificates."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench.instances import Instance, instance
from pliant.errors import InputError
from pliant.solvers import friction, frictional_inverse, qpcc
from pliant.solvers.friction.task import Task
from pliant.solvers.qpcc.problem import problem

TIP, OBJECT, FLOOR, MU = 50.0, 200.0, 1e4, 0.5  # N/m, N/m, N/m, –
GOAL = 1e-3  # m


def finger(mu: float = MU):
    """A finger tip on springs, pressed on an object on springs and dragged along x to move it.

    Returns (blocks, free displacements, μ). The contact rows are a gap, and slip along x and z.
    """
    compliance = 1.0 / np.array(
        [TIP, TIP, TIP, OBJECT, FLOOR, OBJECT]
    )  # x, y, z of the tip, then of the object
    H = np.zeros((6, 6))
    H[0, 3] = 1.0  # the object's x
    H[1, 1], H[2, 0] = -1.0, 1.0  # press, drag
    H[3, [1, 4]], H[4, [0, 3]], H[5, [2, 5]] = (1.0, -1.0), (1.0, -1.0), (1.0, -1.0)
    W = (H * compliance) @ H.T
    e, a, c = slice(0, 1), slice(1, 3), slice(3, 6)
    return (
        (W[e, a], W[e, c], W[a, a], W[a, c], W[c, c]),
        (np.array([-GOAL]), np.zeros(2), np.zeros(3)),
        np.array([mu]),
    )


def rubbing(na: int, nc: int, seed: int, mu: float, **options) -> tuple[Instance, tuple, np.ndarray]:
    """A random instance whose contacts slip, too: tangents combine other rows, so that W stays ≥ 0."""
    one = instance(na, nc, seed=seed, **options)
    rng = np.random.default_rng((seed, 7))
    Wea, Wec, Waa, Wac, Wcc, de, da, dc = one.matrices
    A = np.block([[Waa, Wac], [Wac.T, Wcc]])
    R = rng.normal(size=(2 * nc, na + nc)) / np.sqrt(np.outer(np.full(2 * nc, na + nc), np.diag(A)))
    R *= np.sqrt(np.diag(Wcc).mean())
    tangent = R @ A
    We = np.hstack([Wea, Wec])
    blocks = (
        Wea, np.hstack([Wec, We @ R.T]), Waa, np.hstack([Wac, tangent[:, :na].T]),
        np.block([[Wcc, tangent[:, na:].T], [tangent[:, na:], tangent @ R.T]]),
    )  # fmt: skip
    return one, (*blocks, de, da, np.concatenate([dc, np.zeros(2 * nc)])), np.full(nc, mu)


def certified(solution, accuracy=1e-8):
    c = solution.certificate
    assert c.status == "solved"
    assert max(c.complementarity, c.cone, c.dissipation, c.feasibility) <= accuracy
    assert c.stationarity <= 1e-5 and c.gap <= 1e-9
    assert c.residual >= max(c.stationarity, c.dissipation)


def cost_at(matrices, mu, eps, effort):
    """The cost from its definition, contact efforts by `friction`."""
    Wea, Wec, Waa, Wac, Wcc, de, _, dc = matrices
    contact = friction(Wcc, effort @ Wac + dc, mu).effort
    error = Wea @ effort + Wec @ contact + de
    return error @ error + eps * effort @ Waa @ effort


def test_a_finger_presses_as_much_as_friction_needs(within):
    """To move the object by u without slip: drag (k_tip + k_object) u, press at least k_object u/μ.

    With a small weight on effort the least press is best: the contact is at its limit between stick and slip.
    """
    blocks, free, mu = finger()
    solution = frictional_inverse(*blocks, *free, mu, effort=(0.0, 10.0), eps=1e-9)
    certified(solution)
    press = OBJECT * GOAL / MU * (TIP + FLOOR) / FLOOR
    within(solution.effector / GOAL, 1e-3, "object")
    within(solution.effort / [press, (TIP + OBJECT) * GOAL] - 1.0, 1e-3, "efforts")
    within(np.hypot(*solution.tangent[0]) / (MU * solution.normal[0]) - 1.0, 1e-9, "limit of friction")


def test_a_finger_that_cannot_press_enough_slips(within):
    """Half the press moves the object half as far: friction is all it gets."""
    blocks, free, mu = finger()
    press = OBJECT * GOAL / MU * (TIP + FLOOR) / FLOOR
    solution = frictional_inverse(*blocks, *free, mu, effort=((0.0, 0.0), (press / 2, 10.0)), eps=1e-12)
    certified(solution)
    within(solution.effort[0] / (press / 2) - 1.0, 1e-9, "press")
    within(solution.effector / GOAL + 0.5, 1e-9, "object")
    assert solution.slip[0, 0] >= -1e-12 and solution.tangent[0, 0] < 0.0


@pytest.mark.parametrize("mu", [0.2, 0.5, 1.2])
def test_no_point_of_a_dense_grid_is_better(mu):
    blocks, free, coefficient = finger(mu)
    solution = frictional_inverse(*blocks, *free, coefficient, effort=(0.0, 1.0), eps=1e-7)
    certified(solution)
    matrices = (*blocks, *free)
    assert solution.cost == pytest.approx(cost_at(matrices, coefficient, 1e-7, solution.effort), rel=1e-7)
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41)), axis=-1).reshape(-1, 2)
    assert solution.cost <= min(cost_at(matrices, coefficient, 1e-7, x) for x in grid) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_point_of_a_grid_is_better_among_many_contacts(seed):
    one, matrices, mu = rubbing(2, 12, seed, (0.2, 0.8)[seed % 2], hard=seed > 1)
    solution = frictional_inverse(*matrices, mu, **one.limits)
    certified(solution)
    task = Task.of(problem(*matrices, **one.limits), mu, solution.certificate.eps)
    most, guess, best = one.effort[1], None, np.inf
    for k, a in enumerate(np.linspace(0, 1, 25)):
        for b in np.linspace(0, 1, 25)[:: 1 if k % 2 else -1]:
            point = task.at(most * [a, b], guess)
            guess, best = point.x, min(best, point.cost)
            assert point.residual <= 1e-8
    assert solution.cost <= best * (1 + 1e-9)


@pytest.mark.parametrize("size", [(2, 16), (4, 21), (5, 47)])
def test_without_friction_it_agrees_with_the_other_solver(size, within):
    for seed in range(4):
        one, matrices, mu = rubbing(*size, seed, 0.0, hard=seed % 2 == 1, limited=seed >= 2)
        expected = qpcc(*one.matrices, **one.limits)
        solution = frictional_inverse(*matrices, mu, **one.limits, starts=2)
        certified(solution)
        assert solution.certificate.eps == pytest.approx(expected.certificate.eps, rel=1e-12)
        within(max(solution.cost / expected.cost - 1.0, 0.0), 1e-8, "cost")
        assert not solution.tangent.any()


def test_derivatives_on_a_region(within):
    """Errors, displacements and margins, against central differences, with slipping and sticking contacts."""
    checked = np.zeros(3, int)
    for seed in range(6):
        one, matrices, mu = rubbing(3, 10, seed, 0.4, hard=True)
        task = Task.of(problem(*matrices, **one.limits, eps=0.0), mu, 0.0)
        point = task.at(0.6 * one.effort[1])
        region = task.region(point)
        step = 1e-6 * one.effort[1].max()
        sides = [[task.at(point.effort + s * step * d, point.x) for s in (1, -1)] for d in np.eye(3)]
        if region.g.min() < 1e-4 * region.g.max() or any(
            (task.region(p).mode != region.mode).any() for pair in sides for p in pair
        ):
            continue  # too near to a border
        for k, (after, before) in enumerate(sides):
            moved = (after.error - before.error) / (2 * step)
            within((moved - region.E[:, k]) / np.abs(region.E).max(), 1e-6, "errors")
            moved = (after.displacement - before.displacement) / (2 * step)
            within((moved - region.A[:, k]) / np.abs(region.A).max(), 1e-6, "displacements")
            moved = (task.region(after).g - task.region(before).g) / (2 * step)
            within((moved - region.G[:, k]) / np.abs(region.G).max(), 1e-5, "margins")
        checked += np.bincount(region.mode, minlength=3)
    assert (checked > 0).all()  # open, sticking and slipping contacts were among them


def test_bounds_hold():
    one, matrices, mu = rubbing(4, 21, 3, 0.5, limited=True, hard=True)
    solution = frictional_inverse(*matrices, mu, **one.limits)
    certified(solution)
    assert ((solution.effort >= one.effort[0]) & (solution.effort <= one.effort[1])).all()
    span = one.displacement[1]
    assert (np.abs(solution.displacement) <= span * (1 + 1e-7)).all()
    tight = frictional_inverse(*matrices, mu, effort=one.effort, displacement=(-0.2 * span, 0.2 * span))
    certified(tight)
    assert (np.abs(tight.displacement) <= 0.2 * span * (1 + 1e-6)).all() and tight.cost > solution.cost


def test_bounds_that_cannot_hold():
    blocks, free, mu = finger()
    solution = frictional_inverse(*blocks, *free, mu, effort=(0.0, 1.0), displacement=(5.0, 6.0))
    assert solution.certificate.status == "infeasible"
    assert solution.certificate.feasibility > 0.1 and np.isfinite(solution.effort).all()
    task = Task.of(problem(*blocks, *free, effort=(0.0, 1.0), displacement=(5.0, 6.0)), mu, 0.0)
    least = min(task.at(np.array([a, b])).violation for a in (0.0, 0.5, 1.0) for b in (0.0, 0.5, 1.0))
    assert task.violation(solution.displacement) <= 1.001 * least  # as near as it gets


def test_a_warm_start_continues():
    one, matrices, mu = rubbing(5, 47, 1, 0.4, hard=True)
    cold = frictional_inverse(*matrices, mu, **one.limits)
    warm = frictional_inverse(*matrices, mu, **one.limits, warm=cold, starts=1)
    certified(warm)
    assert warm.cost == pytest.approx(cold.cost, rel=1e-6) and len(warm.certificate.start_costs) == 1
    assert warm.certificate.iterations <= 3
    again = frictional_inverse(*matrices, mu, **one.limits, warm=cold.effort, starts=1)
    assert again.cost <= cold.cost * (1 + 1e-6)


def test_one_sided_rows_come_before_contacts():
    """A cable row that only pulls, as in `qpcc`: with μ = 0 both see the same problem."""
    one, matrices, _ = rubbing(3, 9, 2, 0.0)
    Wea, Wec, Waa, Wac, Wcc, de, da, dc = matrices
    order = np.concatenate(
        [np.arange(9), 9 + 2 * 4 + np.arange(10)]
    )  # the last five contacts keep their tangents
    mixed = (Wea, Wec[:, order], Waa, Wac[:, order], Wcc[np.ix_(order, order)], de, da, dc[order])
    expected = qpcc(*one.matrices, **one.limits)
    solution = frictional_inverse(*mixed, np.zeros(5), **one.limits)
    certified(solution)
    assert solution.cost <= expected.cost * (1 + 1e-8)
    assert solution.normal.shape == (5,) and solution.slip.shape == (5, 2) and len(solution.contact) == 19


def test_units_of_actuators_do_not_matter():
    """One actuator in pascals and cubic metres."""
    one, (Wea, Wec, Waa, Wac, Wcc, de, da, dc), mu = rubbing(3, 12, 5, 0.5, hard=True)
    unit = np.array([1.0, 1e-7, 1e3])
    eps, (lo, hi) = 1e-4, one.effort
    plain = frictional_inverse(Wea, Wec, Waa, Wac, Wcc, de, da, dc, mu, effort=(lo, hi), eps=eps)
    other = frictional_inverse(
        Wea * unit, Wec, Waa * np.outer(unit, unit), Wac * unit[:, None], Wcc, de, da, dc, mu,
        effort=(lo / unit, hi / unit), eps=eps,
    )  # fmt: skip
    certified(plain)
    certified(other)
    assert other.cost == pytest.approx(plain.cost, rel=1e-6)
    np.testing.assert_allclose(
        other.effort * unit, plain.effort, rtol=1e-3, atol=1e-6 * np.abs(plain.effort).max()
    )


def test_no_contacts_at_all(within):
    rng = np.random.default_rng(0)
    H = rng.normal(size=(5, 8))
    W, none = H @ H.T, np.zeros((0, 0))
    blocks = W[:2, 2:], np.zeros((2, 0)), W[2:, 2:], np.zeros((3, 0)), none
    solution = frictional_inverse(*blocks, [1.0, -1.0], np.zeros(3), [], [], eps=0.0)
    certified(solution)
    within(solution.effector, 1e-7, "effector")


@pytest.mark.parametrize(
    "change, named",
    [
        ({"mu": [-0.1]}, "mu"),
        ({"mu": [0.1, 0.1]}, "mu"),
        ({"starts": 0}, "starts"),
        ({"effort": (np.nan, 1.0)}, "matrices and bounds"),
        ({"eps": -1.0}, "eps, rho"),
    ],
)
def test_errors_name_the_thing(change, named):
    blocks, free, mu = finger()
    options = {"mu": mu, **change}
    with pytest.raises(InputError) as error:
        frictional_inverse(*blocks, *free, options.pop("mu"), **options)
    assert error.value.what == named
