"""The inverse problem with contact: optimality, limits, degenerate input, multipliers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.bench.instances import instance
from pliant.errors import InputError
from pliant.solvers import lcp, qp, qpcc, work_scale

KINDS = ("plain", "twins", "dependent", "redundant", "opposed", "touching", "pushed", "units", "limited")


def blocks(He, Ha, Hc, de, dc):
    """Arguments of `qpcc` for a body of unit stiffness."""
    return He @ Ha.T, He @ Hc.T, Ha @ Ha.T, Ha @ Hc.T, Hc @ Hc.T, de, np.zeros(len(Ha)), dc


def case(kind, seed, na, nc, ne=2):
    """A random problem of some degenerate kind; all are feasible at zero effort."""
    rng = np.random.default_rng(seed)
    n = na + nc + ne
    He, Ha, Hc = np.split(rng.normal(size=(n, n + 1)), [ne, ne + na])
    dc, hi, span = rng.uniform(0, 0.5, nc), rng.uniform(0.2, 2.0, na), np.full(na, np.inf)
    if kind == "twins":
        twin = rng.integers(0, max(1, nc // 2), nc)
        Hc, dc = Hc[twin], dc[twin]
    elif kind == "dependent":
        Hc = rng.normal(size=(nc, 2)) @ Hc[:2] if nc > 1 else Hc
    elif kind == "redundant":
        Ha = Ha[:1] * rng.uniform(0.5, 2.0, (na, 1))
    elif kind == "opposed" and na > 1:
        Ha[1] = -Ha[0]
    elif kind == "touching":
        dc = np.where(rng.uniform(size=nc) < 0.7, 0.0, dc)
    elif kind == "pushed":  # the effector is on another body, which only contacts reach
        zero = np.zeros_like
        He, Ha = np.hstack((zero(He), He)), np.hstack((Ha, zero(Ha)))
        Hc = np.hstack((Hc, rng.normal(size=Hc.shape)))
    elif kind == "units":
        scale = 10.0 ** rng.uniform(-4, 4, na)
        Ha, hi = Ha * scale[:, None], hi / scale
    elif kind == "limited":
        span = rng.uniform(0.05, 1.0, na) * (Ha**2).sum(axis=1)
    return blocks(He, Ha, Hc, rng.normal(size=ne), dc), {
        "effort": (np.zeros(na), hi),
        "displacement": (-span, span),
    }


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), na=st.integers(1, 5), nc=st.integers(1, 14), starts=st.sampled_from((1, 3))
)
def test_stationary_and_complementary(kind, seed, na, nc, starts):
    arguments, limits = case(kind, seed, na, nc)
    s = qpcc(*arguments, **limits, starts=starts)
    c = s.certificate
    assert c.solved
    assert c.stationarity < 1e-7
    assert c.complementarity < 1e-9
    assert c.feasibility < 1e-9
    assert np.all(s.contact >= 0.0)
    assert np.all(s.effort >= limits["effort"][0]) and np.all(s.effort <= limits["effort"][1])


def test_cost_displacement_and_gap_are_those_of_the_problem():
    p = instance(4, 21, seed=2)
    Wea, Wec, Waa, Wac, Wcc, de, da, dc = p.matrices
    weights, previous = np.array([1.0, 4.0, 0.5]), 0.3 * p.effort[1]
    s = qpcc(*p.matrices, **p.limits, eps=1e-5, rho=1e-4, previous=previous, weights=weights)
    error = Wea @ s.effort + Wec @ s.contact + de
    change = s.effort - previous
    assert np.allclose(s.effector, error)
    assert s.cost == pytest.approx(
        weights @ error**2 + 1e-5 * s.effort @ Waa @ s.effort + 1e-4 * change @ Waa @ change, rel=1e-12
    )
    assert np.allclose(s.displacement, Waa @ s.effort + Wac @ s.contact + da)
    assert np.allclose(s.gap, Wcc @ s.contact + Wac.T @ s.effort + dc, atol=1e-12)
    assert s.certificate.path[-1] == tuple(np.flatnonzero(s.contact))
    assert not s.effort.flags.writeable and not s.contact.flags.writeable


@pytest.mark.parametrize("seed", range(5))
def test_without_contact_it_is_a_quadratic_program(seed):
    p = instance(4, 21, seed=seed, limited=True)
    none, eps = np.zeros((0, 0)), 1e-5
    s = qpcc(p.Wea, np.zeros((3, 0)), p.Waa, np.zeros((4, 0)), none, p.de, p.da, [], **p.limits, eps=eps)
    Q, c = 2 * (p.Wea.T @ p.Wea + eps * p.Waa), 2 * p.Wea.T @ p.de
    reference = qp(Q, c, *p.effort, p.Waa, *p.displacement)
    # four cables on three motions are redundant: the efforts are not unique, what they do is
    assert np.allclose(s.displacement, reference.rows, atol=1e-7 * np.abs(reference.rows).max())
    assert s.cost == pytest.approx(reference.cost + p.de @ p.de, rel=1e-9)
    assert s.certificate.residual < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_fixed_efforts_leave_a_complementarity_problem(seed):
    p = instance(5, 47, seed=seed)
    effort = np.random.default_rng(seed).uniform(0, p.effort[1])
    s = qpcc(*p.matrices, effort=(effort, effort), starts=1)
    reference = lcp(p.Wcc, p.Wac.T @ effort + p.dc)
    assert np.allclose(s.contact, reference.effort, atol=1e-7 * reference.effort.max())


def limited(seed):
    """Arguments with tight displacement bounds: some efforts, displacements and contacts are at theirs."""
    p = instance(4, 21, seed=seed, kind="random", hard=True, limited=True)
    return p, {
        "effort": p.effort,
        "displacement": tuple(0.3 * d for d in p.displacement),
        "eps": 1e-4,
        "starts": 1,
    }


@pytest.mark.parametrize("seed", [2, 4, 5, 8, 9, 11])
def test_multipliers_are_derivatives_of_the_optimal_cost(seed):
    p, options = limited(seed)
    s = qpcc(*p.matrices, **options)

    def slope(name, side, j):
        """(cost with one bound or gap moved up − cost with it moved down) / distance."""
        costs = []
        step = 1e-5 * (np.abs(p.dc).max() if name == "gap" else options[name][1][j])
        for move in (step, -step):
            dc, changed = p.dc.copy(), dict(options)
            if name == "gap":
                dc[j] += move
            else:
                bounds = [b.copy() for b in options[name]]
                bounds[(side + 1) // 2][j] += move
                changed[name] = tuple(bounds)
            costs.append(qpcc(*p.matrices[:7], dc, **changed, warm=s).cost)
        return (costs[0] - costs[1]) / (2 * step)

    checked = 0
    for name, sides in s.certificate.limits.items():
        for j in np.flatnonzero(sides):
            assert slope(name, sides[j], j) == pytest.approx(s.multipliers[name][j], rel=1e-3)
            checked += 1
    largest = np.abs(s.multipliers["gap"]).max()
    for c in np.flatnonzero(s.contact):
        assert slope("gap", 0, c) == pytest.approx(-s.multipliers["gap"][c], rel=1e-3, abs=1e-4 * largest)
        checked += 1
    assert checked >= 3


def test_displacement_limits_are_among_those_checked():
    held = [qpcc(*p.matrices, **options).certificate.limits for p, options in map(limited, (5, 9))]
    assert all(np.any(h["displacement"]) for h in held)


def test_unreachable_displacement_gives_the_least_violation():
    """One spring with compliance 2, effort up to 1: it moves by 2 at most, asked are 3 to 4."""
    none = np.zeros((1, 0))
    s = qpcc(
        [[2.0]], none, [[2.0]], none, np.zeros((0, 0)), [0.5], [0.0], [], effort=(0, 1), displacement=(3, 4)
    )
    assert s.certificate.status == "infeasible"
    assert s.effort == pytest.approx([1.0], abs=1e-8)
    assert s.certificate.feasibility == pytest.approx(0.25)  # 1 of 4


def test_contradicting_bounds_and_contacts_are_reported():
    arguments, _ = case("plain", 1, 3, 5)
    s = qpcc(*arguments, effort=([0.0, 2.0, 0.0], 1.0))
    assert s.certificate.status == "infeasible"
    assert s.effort[1] == pytest.approx(1.5)
    wall = np.array([[1.0, -1.0], [-1.0, 1.0]])  # a point between two walls that overlap by 1
    s = qpcc([[1.0]], [[1.0, -1.0]], [[1.0]], [[1.0, -1.0]], wall, [0.1], [0.0], [-0.5, -0.5], effort=(0, 1))
    assert s.certificate.status == "infeasible"
    assert np.isfinite(s.contact).all() and np.isfinite(s.cost)
    assert np.allclose(s.gap, -0.5, atol=1e-3)  # the violation is shared


def test_start_outside_the_displacement_bounds_is_repaired():
    """Zero effort is not allowed: the displacement must be at least half of what full effort gives."""
    for seed in range(10):
        p = instance(4, 21, seed=seed)
        least = 0.2 * np.diag(p.Waa) * p.effort[1]
        s = qpcc(*p.matrices, effort=p.effort, displacement=(least * [1, 0, 0, 0], np.inf), starts=1)
        assert s.certificate.solved
        assert s.displacement[0] >= least[0] * (1 - 1e-8)
        assert s.certificate.residual < 1e-7


def test_a_contact_counted_twice_changes_nothing():
    for seed in range(10):
        p = instance(4, 21, seed=seed, hard=True)
        twice = np.r_[0:21, 0:21]
        once = qpcc(*p.matrices, **p.limits, eps=1e-5)
        s = qpcc(
            p.Wea, p.Wec[:, twice], p.Waa, p.Wac[:, twice], p.Wcc[np.ix_(twice, twice)],
            p.de, p.da, p.dc[twice], **p.limits, eps=1e-5,
        )  # fmt: skip
        assert s.certificate.solved
        assert s.cost == pytest.approx(once.cost, rel=1e-7)
        assert np.allclose(
            s.contact[:21] + s.contact[21:], once.contact, atol=1e-5 * once.contact.max(initial=1e-9)
        )


def test_an_actuator_given_twice_reaches_the_same():
    for seed in range(10):
        p = instance(4, 21, seed=seed, hard=True)
        twice = [0, 1, 2, 3, 0]
        both = p.effort[1][twice] * [0.5, 1, 1, 1, 0.5]
        s = qpcc(
            p.Wea[:, twice], p.Wec, p.Waa[np.ix_(twice, twice)], p.Wac[twice], p.Wcc, p.de, p.da[twice], p.dc,
            effort=(0.0, both), eps=1e-5,
        )  # fmt: skip
        once = qpcc(*p.matrices, effort=p.effort, eps=1e-5)
        assert s.certificate.solved
        assert s.cost == pytest.approx(once.cost, rel=1e-6)


def test_units_do_not_matter():
    p = instance(4, 21, seed=7, limited=True)
    s = qpcc(*p.matrices, **p.limits, eps=1e-5)
    u = np.array([1e5, 1.0, 1e-3, 1e2])  # pressures among tensions
    (lo, hi), (dlo, dhi) = p.effort, p.displacement
    scaled = qpcc(
        p.Wea / u, p.Wec, p.Waa / np.outer(u, u), p.Wac / u[:, None], p.Wcc, p.de, p.da / u, p.dc,
        effort=(lo * u, hi * u), displacement=(dlo / u, dhi / u), eps=1e-5,
    )  # fmt: skip
    assert scaled.cost == pytest.approx(s.cost, rel=1e-9)
    assert np.allclose(scaled.effort / u, s.effort, atol=1e-7 * hi.max())


def test_warm_start_stays_at_the_solution():
    for seed in range(10):
        p = instance(5, 47, seed=seed, hard=True)
        s = qpcc(*p.matrices, **p.limits)
        for warm in (s, s.effort):
            again = qpcc(*p.matrices, **p.limits, warm=warm, starts=1)
            assert again.cost == pytest.approx(s.cost, rel=1e-9)
            assert np.allclose(again.effort, s.effort, atol=1e-6 * p.effort[1].max())


def test_more_starts_are_never_worse():
    for seed in range(10):
        p = instance(4, 21, seed=seed, hard=True, kind="random")
        costs = [qpcc(*p.matrices, **p.limits, starts=n).cost for n in (1, 2, 8, 16)]
        assert all(more <= fewer * (1 + 1e-9) for fewer, more in pairwise(costs))
    s = qpcc(*p.matrices, **p.limits)
    assert s.certificate.gap <= 1e-8
    assert s.certificate.start_costs[s.certificate.start] == pytest.approx(s.cost)


def test_a_strong_memory_keeps_the_previous_efforts():
    p = instance(4, 21, seed=3)
    previous = 0.5 * p.effort[1]
    s = qpcc(*p.matrices, **p.limits, rho=1e6, previous=previous)
    assert np.allclose(p.Waa @ s.effort, p.Waa @ previous, rtol=1e-4)


def test_default_regularisation_is_the_papers_unless_it_vanishes():
    p = instance(4, 21, seed=3)
    paper = 1e-3 * np.abs(p.Wea.T @ p.Wea).sum(axis=1).max() / np.abs(p.Waa).sum(axis=1).max()
    assert qpcc(*p.matrices, **p.limits).certificate.eps == pytest.approx(paper)
    assert 1e-3 * work_scale(*p.matrices[:5]) == pytest.approx(paper)
    assert qpcc(0 * p.Wea, *p.matrices[1:], **p.limits).certificate.eps > 1e-6 * paper


@pytest.mark.parametrize("seed", range(12))
def test_decomposition(seed):
    """The paper's method ends in a stationary point that the descent confirms, in either formulation."""
    p = instance(4, 21, seed=seed, hard=True, limited=seed % 2 == 1)
    reduced = qpcc(*p.matrices, **p.limits, starts=1, method="decomposition")
    full = qpcc(*p.matrices, **p.limits, starts=1, method="decomposition", formulation="full")
    for s in (reduced, full):
        assert s.certificate.solved
        assert s.certificate.residual < 1e-6
        descended = qpcc(*p.matrices, **p.limits, starts=1, warm=s)
        assert descended.cost == pytest.approx(s.cost, rel=1e-6)
    task = p.de @ p.de
    assert full.cost == pytest.approx(reduced.cost, abs=1e-6 * task)
    assert qpcc(*p.matrices, **p.limits).cost <= reduced.cost + 1e-6 * task


@pytest.mark.parametrize("formulation", ["reduced", "full"])
@pytest.mark.parametrize("eps", [0.0, 1e-14, None])
def test_decomposition_with_redundant_actuators(formulation, eps):
    """Eight cables on three motions that reach their target: programs are singular, the cost is rounding."""
    for seed in range(5):
        p = instance(8, 20, seed=seed, hard=True)
        options = {**p.limits, "starts": 1, "eps": eps}
        s = qpcc(*p.matrices, **options, method="decomposition", formulation=formulation)
        assert s.certificate.solved and s.certificate.residual < 1e-6
        assert s.certificate.iterations < 40  # rounding is no reason to switch contacts back and forth
        descended = qpcc(*p.matrices, **options, warm=s)
        assert s.cost <= descended.cost + 1e-8 * p.de @ p.de
        assert np.all((s.effort >= p.effort[0]) & (s.effort <= p.effort[1]))


@pytest.mark.parametrize("kind", ["redundant", "opposed"])
def test_decomposition_of_degenerate_problems(kind):
    for seed in range(8):
        arguments, limits = case(kind, seed, 4, 9)
        task = arguments[5] @ arguments[5]
        best = qpcc(*arguments, **limits).cost
        for formulation in ("reduced", "full"):
            s = qpcc(*arguments, **limits, starts=2, method="decomposition", formulation=formulation)
            assert s.certificate.solved and s.certificate.residual < 1e-6
            assert s.cost >= best - 1e-7 * task


def test_work_is_limited():
    """No descent is begun once 50 iterations for every start are over."""
    p = instance(9, 76, seed=3, kind="random", hard=True)
    for starts in (1, 3, 8):
        c = qpcc(*p.matrices, **p.limits, starts=starts).certificate
        assert 1 <= len(c.start_costs) <= 1 + 4 * (starts - 1)
        assert c.iterations < 50 * starts + 150
    assert len(c.start_costs) < 29


def test_a_thorough_search_looks_beside_its_best():
    """From 16 starts on: descents from nearby end in costs like the best, those from afar anywhere."""
    p = instance(9, 76, seed=3, kind="random", hard=True)
    few, many = (qpcc(*p.matrices, **p.limits, starts=n).certificate for n in (15, 16))
    task = float(p.de @ p.de)
    away = (many.start_costs - many.start_costs.min()) / task
    near = len(many.start_costs) - len(few.start_costs)
    assert near > 10 and away[1 - near :].max() < 0.005 < away[: 1 - near].max()
    assert few.iterations < 50 * 15 + 150 < many.iterations < 75 * 16 + 300


def test_starts_are_doubled_where_the_best_is_rare():
    """8 starts are 29 descents; more follow where fewer than a third of these ended in the best."""
    many = [instance(2, 16, seed=5000 + k, hard=hard) for k in range(30) for hard in (False, True)]
    doubled = 0
    for p in many:
        first, found = (qpcc(*p.matrices, **p.limits, starts=n) for n in (7, 8))
        costs, same = found.certificate.start_costs, 1e-9 * (found.cost + float(p.de @ p.de))
        share = np.mean(costs[:29] <= costs[:29].min() + 2.0 * same)
        assert found.cost <= first.cost + same
        if len(costs) > 29:
            doubled += 1
            assert share < 0.4  # rounding may count one more or fewer
        elif len(costs) == 29:
            assert share > 0.3
    assert 1 <= doubled < 15


def test_what_follows_from_the_efforts_cannot_be_changed():
    p = instance(2, 16, seed=1)
    s = qpcc(*p.matrices, **p.limits)
    for name in ("effort", "contact", "gap", "displacement", "effector"):
        with pytest.raises(ValueError):
            getattr(s, name)[0] = 1.0


def test_start_costs_are_costs():
    """Of every descent, with all terms."""
    p = instance(4, 21, seed=2)
    options = {**p.limits, "rho": 1e-3, "previous": 0.5 * p.effort[1]}
    s = qpcc(*p.matrices, **options)
    assert s.certificate.start_costs[s.certificate.start] == pytest.approx(s.cost, rel=1e-9)
    one = qpcc(*p.matrices, **options, starts=1)
    assert s.certificate.start_costs[0] == pytest.approx(one.cost, rel=1e-9)


def test_any_kind_of_array():
    p = instance(2, 16, seed=1)
    s = qpcc(*p.matrices, **p.limits)
    odd = [np.asfortranarray(a) for a in p.matrices[:5]] + [list(a) for a in p.matrices[5:]]
    odd[0].flags.writeable = False
    assert qpcc(*odd, effort=(0, list(p.effort[1]))).cost == s.cost


@pytest.mark.parametrize(("ne", "na", "nc"), [(30, 2, 20), (1, 1, 0), (0, 2, 3), (6, 12, 5), (2, 20, 40)])
def test_any_size(ne, na, nc):
    rng = np.random.default_rng(0)
    He, Ha, Hc = np.split(rng.normal(size=(ne + na + nc, ne + na + nc + 3)), [ne, ne + na])
    arguments = blocks(He, Ha, Hc, rng.normal(size=ne), rng.uniform(0, 0.5, nc))
    for method in ("descent", "decomposition"):
        s = qpcc(*arguments, effort=(0, 1), displacement=(-5, 5), method=method, starts=2)
        assert s.certificate.solved and s.certificate.residual < 1e-8
        assert s.effort.shape == (na,) and s.contact.shape == (nc,) and s.effector.shape == (ne,)


def test_input_errors():
    p = instance(2, 16, seed=1)
    with pytest.raises(InputError, match="Wec"):
        qpcc(p.Wea, p.Wec.T, *p.matrices[2:])
    with pytest.raises(InputError, match="effort"):
        qpcc(*p.matrices, effort=(0, [1, 2, 3]))
    with pytest.raises(InputError, match="finite"):
        qpcc(*p.matrices[:7], p.dc * np.nan)
    with pytest.raises(InputError, match="NaN"):
        qpcc(*p.matrices, effort=(0, np.nan))
    with pytest.raises(InputError, match="starts"):
        qpcc(*p.matrices, starts=0)
    with pytest.raises(InputError, match="descent"):
        qpcc(*p.matrices, method="descend")
    with pytest.raises(InputError, match="reduced"):
        qpcc(*p.matrices, formulation="full")
