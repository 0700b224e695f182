"""The inverse problem with contact on matrices: optimal, complementary, within bounds, never an exception."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl


def instance(seed: int, ne: int = 3, na: int = 4, nc: int = 10, *, bias: float = 0.3):
    """Blocks of a random compliance over effectors, actuators and contacts, some of them touching."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(ne + na + nc, 40))
    W = H @ np.diag(rng.uniform(0.2, 1.0, 40)) @ H.T / 40
    e, a, c = slice(0, ne), slice(ne, ne + na), slice(ne + na, None)
    return (W[e, a], W[e, c], W[a, a], W[a, c], W[c, c]), (
        rng.normal(size=ne),
        rng.normal(size=na),
        rng.normal(size=nc) + bias,
    )


def cost(matrices, offsets, lam, force, eps):
    Wea, Wec, Waa, _, _ = matrices
    error = Wea @ lam + Wec @ force + offsets[0]
    return error @ error + eps * lam @ Waa @ lam


@pytest.mark.parametrize("seed", range(20))
def test_solutions_satisfy_the_laws(seed):
    matrices, offsets = instance(seed)
    _, _, _, Wac, Wcc = matrices
    s = pl.solvers.qpcc(*matrices, *offsets, effort=(0.0, 5.0))
    gap = Wac.T @ s.effort + Wcc @ s.contact + offsets[2]
    assert s.certificate.status == "solved" and s.certificate.residual < 1e-7
    assert (s.contact >= 0).all() and gap.min() > -1e-9 and np.abs(s.contact * gap).max() < 1e-9
    assert s.effort.min() >= -1e-12 and s.effort.max() <= 5 + 1e-12
    assert s.cost == pytest.approx(cost(matrices, offsets, s.effort, s.contact, s.certificate.eps))


@pytest.mark.parametrize("seed", range(4))
def test_no_point_of_a_grid_is_better(seed):
    """Two actuators: the efforts of every grid point, with their contact forces, cost at least as much."""
    matrices, offsets = instance(seed, ne=2, na=2, nc=5)
    _, _, _, Wac, Wcc = matrices
    eps = 1e-3 * pl.solvers.work_scale(*matrices)
    s = pl.solvers.qpcc(*matrices, *offsets, effort=(0.0, 4.0), eps=eps, starts=16)
    best = np.inf
    for x in np.linspace(0, 4, 25):
        for y in np.linspace(0, 4, 25):
            lam = np.array([x, y])
            force = pl.solvers.lcp(Wcc, Wac.T @ lam + offsets[2]).effort
            best = min(best, cost(matrices, offsets, lam, force, eps))
    assert s.cost <= best + 1e-12


def test_without_contacts_it_is_least_squares():
    matrices, offsets = instance(1, nc=0)
    Wea, _, Waa, _, _ = matrices
    s = pl.solvers.qpcc(*matrices, *offsets, eps=1e-3)
    exact = np.linalg.solve(Wea.T @ Wea + 1e-3 * Waa, -Wea.T @ offsets[0])
    np.testing.assert_allclose(s.effort, exact, rtol=1e-8)


def test_displacement_bounds_hold_with_contact():
    matrices, offsets = instance(5)
    _, _, Waa, Wac, Wcc = matrices
    idle = Wac @ pl.solvers.lcp(Wcc, offsets[2]).effort + offsets[1]  # δ_a without efforts: a feasible point
    limit = idle.max() + 0.05
    loose = pl.solvers.qpcc(*matrices, *offsets, effort=(0.0, 5.0))
    assert (Waa @ loose.effort + Wac @ loose.contact + offsets[1]).max() > limit  # the bound matters
    s = pl.solvers.qpcc(*matrices, *offsets, effort=(0.0, 5.0), displacement=(-10.0, limit))
    assert s.certificate.status == "solved"
    assert (Waa @ s.effort + Wac @ s.contact + offsets[1]).max() <= limit + 1e-9
    assert s.cost >= loose.cost


def test_infeasible_bounds_are_said_not_raised():
    matrices, offsets = instance(2)
    s = pl.solvers.qpcc(*matrices, *offsets, effort=(0.0, 1.0), displacement=(50.0, 60.0))
    assert s.certificate.status == "infeasible" and np.isfinite(s.effort).all()


@pytest.mark.parametrize("seed", range(5))
def test_degenerate_problems_end(seed):
    """Every contact twice, every actuator twice: W_cc and W_aa have no inverse."""
    (Wea, Wec, Waa, Wac, Wcc), (de, da, dc) = instance(seed, na=3, nc=6)
    a, c = np.tile(np.arange(3), 2), np.tile(np.arange(6), 2)
    s = pl.solvers.qpcc(
        Wea[:, a],
        Wec[:, c],
        Waa[np.ix_(a, a)],
        Wac[np.ix_(a, c)],
        Wcc[np.ix_(c, c)],
        de,
        da[a],
        dc[c],
        effort=(0.0, 5.0),
    )
    single = pl.solvers.qpcc(Wea, Wec, Waa, Wac, Wcc, de, da, dc, effort=(0.0, 10.0))
    gap = Wac[np.ix_(a, c)].T @ s.effort + Wcc[np.ix_(c, c)] @ s.contact + dc[c]
    assert gap.min() > -1e-7 and np.abs(s.contact * gap).max() < 1e-7
    assert s.cost <= single.cost + 1e-6


def test_bad_arrays_are_refused():
    matrices, offsets = instance(0)
    with pytest.raises(pl.PliantError):
        pl.solvers.qpcc(*matrices, offsets[0][:2], *offsets[1:])
    with pytest.raises(pl.PliantError):
        pl.solvers.qpcc(*matrices, offsets[0] * np.nan, *offsets[1:])
    with pytest.raises(pl.PliantError):
        pl.solvers.qpcc(*matrices, *offsets, starts=0)
