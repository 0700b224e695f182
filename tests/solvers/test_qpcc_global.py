"""Enumeration of contact modes: the exact optimum, all local minima, and the landscape for drawing."""

import numpy as np
import pytest

from pliant.bench.instances import instance
from pliant.solvers import landscape, qpcc, qpcc_global, work_scale
from pliant.solvers.qpcc.enumeration import Arrangement
from pliant.solvers.qpcc.problem import problem

SMALL = [(na, nc, seed) for na, nc in ((1, 5), (2, 8), (3, 6), (3, 12)) for seed in range(10)]


def test_default_finds_the_exact_optimum():
    """Never below the enumeration, and nearly always equal to it."""
    equal = 0
    for na, nc, seed in SMALL:
        p = instance(na, nc, seed=seed, kind="random", hard=True, limited=seed % 3 == 0)
        exact = qpcc_global(*p.matrices, **p.limits)
        assert exact.complete
        s, task = qpcc(*p.matrices, **p.limits), float(p.de @ p.de)
        if s.certificate.solved:
            assert s.cost >= exact.best.cost - 1e-9 * task
            equal += s.cost <= exact.best.cost + 1e-7 * task
        else:
            equal += exact.best.certificate.status == s.certificate.status
    assert equal >= len(SMALL) - 1


@pytest.mark.parametrize("kind", ["rod", "random"])
def test_no_contact_mode_is_missed(kind):
    p = instance(3, 12, seed=1, kind=kind, hard=True)
    arrangement = Arrangement(problem(*p.matrices, **p.limits))
    assert arrangement.explore(10_000, np.inf)
    rng = np.random.default_rng(0)
    for _ in range(300):
        x = rng.uniform(arrangement.lo, arrangement.hi)
        assert arrangement.members_at(x) in arrangement.regions


def test_minima_are_local_minima():
    p = instance(2, 16, seed=9, hard=True, kind="random")
    found = qpcc_global(*p.matrices, **p.limits)
    assert len(found.minima) > 1
    assert [m.cost for m in found.minima] == sorted(m.cost for m in found.minima)
    rng = np.random.default_rng(0)
    for m in found.minima:
        around = m.effort + 1e-4 * p.effort[1] * rng.normal(size=(200, 2))
        around = np.clip(around, *p.effort)
        assert np.all(landscape(around, *p.matrices).cost >= m.cost * (1 - 1e-9))


def test_landscape_is_the_cost_with_the_contacts_settled():
    p = instance(2, 16, seed=0, hard=True)
    grid = np.stack(np.meshgrid(*(np.linspace(0, h, 12) for h in p.effort[1])), axis=-1).reshape(-1, 2)
    options = {"eps": 1e-4, "rho": 1e-3, "previous": 0.2 * p.effort[1], "weights": [1.0, 2.0, 3.0]}
    drawn = landscape(grid, *p.matrices, **options)
    assert len(drawn.pieces) > 2 and drawn.feasible.all()
    for n in range(0, len(grid), 17):
        s = qpcc(*p.matrices, effort=(grid[n], grid[n]), starts=1, **options)
        assert drawn.cost[n] == pytest.approx(s.cost, rel=1e-9)
        assert drawn.pieces[drawn.piece[n]] == tuple(np.flatnonzero(s.contact))
    best = qpcc_global(*p.matrices, effort=p.effort, **options).best
    assert drawn.cost.min() >= best.cost


def test_two_cables_between_obstacles_have_two_ways_down():
    """A lever with two opposite cables: one lowers the tip until it hits a stop, the other uses the stop.

    One coordinate u (tip), efforts a and b pull it by ±1; beyond the stop at u = −0.2 only 0.1 of a gets
    through.
    """
    # rows: effector u; cables +u, −u; contact u + 0.2 ≥ 0 on a compliant support that couples back to the tip
    H = np.array([[1.0, 0.0], [-1.0, 0.3], [0.8, 0.6], [1.0, 0.2], [-0.4, -1.0]])
    W = H @ H.T
    e, a, c = slice(0, 1), slice(1, 3), slice(3, 5)
    arguments = (
        W[e, a],
        W[e, c],
        W[a, a],
        W[a, c],
        W[c, c],
        np.array([0.9]),
        np.zeros(2),
        np.array([0.2, 0.5]),
    )
    exact = qpcc_global(*arguments, effort=(0.0, 2.0), eps=1e-4)
    assert exact.complete
    assert qpcc(*arguments, effort=(0.0, 2.0), eps=1e-4).cost == pytest.approx(exact.best.cost, rel=1e-7)


def test_a_limit_is_admitted():
    p = instance(4, 21, seed=0, hard=True, kind="random")
    cut = qpcc_global(*p.matrices, **p.limits, limit=5)
    assert not cut.complete
    assert cut.pieces == 5


# Where one start is enough


def near(seed: int, rho: float):
    """A problem of a control loop: a little farther than before, with inertia, from the efforts before."""
    p = instance(3, 10, seed=seed, hard=seed % 2 == 0, kind=("rod", "random")[seed // 2 % 2])
    begin = qpcc(*p.matrices, **p.limits)
    Wea, Wec, Waa, Wac, Wcc, de, da, dc = p.matrices
    moved = de + 0.02 * np.abs(de).max() * np.random.default_rng(seed).normal(size=len(de))
    options = {"rho": rho * work_scale(Wea, Wec, Waa, Wac, Wcc), "previous": begin.effort}
    return (Wea, Wec, Waa, Wac, Wcc, moved, da, dc), {**p.limits, **options}, begin


def test_what_is_proven_is_the_global_optimum():
    """By visiting every contact mode: nothing is better than a minimum that is proven."""
    proven = 0
    for seed in range(24):
        matrices, options, begin = near(seed, rho=(0.1, 1.0, 10.0)[seed % 3])
        s = qpcc(*matrices, **options, warm=begin)
        if s.certificate.proven:
            proven += 1
            assert len(s.certificate.start_costs) == s.certificate.start + 1
            best = qpcc_global(*matrices, **options).best
            assert best.cost >= s.cost - 1e-9 * abs(s.cost)
    assert 8 <= proven < 24  # some are, and not all: the test could fail


def test_better_minima_elsewhere_are_never_proven_away():
    """From the worse of two minima, whatever keeps the efforts there: the proof must not hold."""
    worse = 0
    for seed in range(40):
        matrices, options, _ = near(seed, rho=0.01)
        minima = qpcc_global(*matrices, **options).minima
        for other in minima[1:]:
            s = qpcc(*matrices, **options, warm=other, starts=2)
            if s.cost > minima[0].cost * (1 + 1e-6) + 1e-12:
                assert not s.certificate.proven
            worse += 1
    assert worse > 10


def test_one_start_proves_nothing():
    matrices, options, begin = near(0, rho=10.0)
    assert not qpcc(*matrices, **options, warm=begin, starts=1).certificate.proven
