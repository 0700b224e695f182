"""Friction: closed forms of blocks, rings and ropes, and the law over random and degenerate problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.solvers import friction, mcp
from tests.solvers.friction_common import (
    GRAVITY,
    MASS,
    STEP,
    block,
    corners,
    law_error,
    obeying,
    weight,
)

quick = settings(deadline=None, max_examples=150, derandomize=True)
ACCURACY = 1e-8
MU = 0.4
GRIP = MU * MASS * GRAVITY  # N


def certified(W, q, mu, solution, accuracy=ACCURACY):
    """The certificate says solved, and an independent check agrees."""
    c = solution.certificate
    assert c.status == "solved" and c.solved
    assert c.residual == max(c.complementarity, c.cone, c.dissipation) <= accuracy
    np.testing.assert_allclose(
        solution.gap, W @ solution.effort + q, atol=1e-9 * np.abs(q).max(initial=1e-300)
    )
    steep = 1.0 + np.max(mu * np.sqrt(_across(W, len(mu)) / _normal(W, len(mu))), initial=0.0)
    assert law_error(W, q, mu, solution) <= 3.0 * steep**2 * accuracy


def _normal(W, n):
    own = np.diag(W)[len(W) - 3 * n : len(W) - 2 * n]
    return np.where(own > 0.0, own, np.inf)


def _across(W, n):
    return np.diag(W)[len(W) - 2 * n :].reshape(n, 2).mean(axis=1)


# Closed forms


@pytest.mark.parametrize(
    "points", [np.zeros((1, 3)), corners(), corners(count=5)], ids=["point", "corners", "grid"]
)
def test_a_pushed_block_sticks_up_to_mu_times_its_weight(points, within):
    """Pushed at its contacts with P: at rest for P ≤ μ m g, else it slides h² (P − μ m g)/m in a step."""
    mu = np.full(len(points), MU)
    for share in (0.0, 0.3, 1.0 - 1e-9, 1.0 + 1e-9, 1.5, 4.0):
        W, q, _ = block(points, weight([share * GRIP, 0.0, 0.0]))
        solution = friction(W, q, mu)
        certified(W, q, mu, solution)
        within(solution.normal.sum() / (MASS * GRAVITY) - 1.0, 1e-10, "weight")
        within(np.hypot(*solution.tangent.sum(axis=0)) / GRIP - min(share, 1.0), 1e-10, "friction")
        slide = STEP**2 * max(share - 1.0, 0.0) * GRIP / MASS
        distance = np.hypot(*solution.slip.T)
        within((distance - slide) / (STEP**2 * GRIP / MASS), 1e-10, "slide")
        assert (distance.max() > 3e-10 * STEP**2 * GRIP / MASS) == (share > 1.0)


@pytest.mark.parametrize("count", [1, 4])
def test_the_threshold_is_the_same_in_every_direction(count, within):
    """True cone: a pyramid would be wrong by up to 41 %."""
    points = np.zeros((1, 3)) if count == 1 else corners()
    thresholds = []
    for angle in np.linspace(0.0, np.pi, 13):
        push = 2.0 * GRIP * np.array([np.cos(angle), np.sin(angle), 0.0])
        W, q, _ = block(points, weight(push), turn=0.7 * angle + 0.1)
        solution = friction(W, q, np.full(count, MU))
        slide = np.hypot(*solution.slip[0])
        thresholds.append(2.0 * GRIP - MASS * slide / STEP**2)
        held = friction(*block(points, weight((0.5 - 5e-9) * push), turn=angle)[:2], np.full(count, MU))
        assert np.abs(held.slip).max() <= 1e-9 * slide
    within(np.array(thresholds) / GRIP - 1.0, 1e-10, "threshold")


def test_friction_opposes_slip(within):
    rng = np.random.default_rng(3)
    for _ in range(20):
        W, q, _ = block(
            corners(), weight(3.0 * GRIP * rng.normal(size=3) * [1, 1, 0.1], 0.1 * rng.normal(size=3))
        )
        mu = rng.uniform(0.1, 0.6, 4)
        solution = friction(W, q, mu)
        certified(W, q, mu, solution)
        speed = np.hypot(*solution.slip.T)
        moving = (speed > 1e-9 * speed.max()) & (solution.normal > 0.0)
        most = mu * solution.normal
        along = (solution.slip * solution.tangent).sum(axis=1)
        within((along + speed * most)[moving] / (speed * most).max(), 1e-9, "power lost to friction")
        assert (along <= 1e-12 * (speed * most).max()).all()  # contacts only take energy


def test_a_ring_resists_torque(within):
    """n points on a circle of radius r hold a torque up to μ m g r about its axis."""
    radius, points = 0.08, 12
    angle = 2 * np.pi * np.arange(points) / points
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(points)])
    mu, most = np.full(points, MU), GRIP * radius
    for share in (0.5, 1.0 - 1e-5, 1.0 + 1e-5, 2.0):
        W, q, H = block(ring, weight(moment=[0.0, 0.0, share * most]))
        solution = friction(W, q, mu)
        certified(W, q, mu, solution)
        torque = -(H.T @ solution.effort)[5]
        within(torque / most - min(share, 1.0), 1e-9, "torque")
        assert (np.abs(solution.slip).max() > 1e-6 * STEP**2 * GRAVITY) == (share > 1.0)


def test_a_slope_holds_up_to_the_angle_of_friction(within):
    """Weight along a slope of angle θ: at rest for tan θ ≤ μ, else it slides with g (sin θ − μ cos θ)."""
    for slope in np.arctan(MU) + np.array([-0.2, -1e-9, 1e-9, 0.3]):
        force = MASS * GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope), 0.0, 0.0, 0.0])
        W, q, _ = block(corners(), force)
        solution = friction(W, q, np.full(4, MU))
        slide = STEP**2 * GRAVITY * max(np.sin(slope) - MU * np.cos(slope), 0.0)
        within((np.hypot(*solution.slip.T) - slide) / (STEP**2 * GRAVITY), 1e-10, "slide")


def test_a_rope_around_a_drum(within):
    """Nodes turned by φ each: the pull before it slides is ((1 + μ tan φ/2)/(1 − μ tan φ/2))ⁿ loads."""
    nodes, wrap, load = 20, np.pi, 10.0
    phi = wrap / nodes
    ratio = ((1.0 + MU * np.tan(phi / 2)) / (1.0 - MU * np.tan(phi / 2))) ** nodes
    assert abs(ratio / np.exp(MU * wrap) - 1.0) < 5e-3  # Euler and Eytelwein, for many nodes
    for share in (1.0 - 1e-4, 1.0 + 1e-4):
        W, q = _rope(nodes, phi, load, share * ratio * load)
        solution = friction(W, q, np.full(nodes, MU))
        certified(W, q, np.full(nodes, MU), solution)
        moved = np.abs(solution.slip).max()
        assert (moved > 1.0) == (share > 1.0)  # only the weak springs hold it: it runs away
        pushed = solution.normal.sum()
        assert pushed > 0.0 and (solution.normal > 0.0).all()
    tension = load * ratio ** (np.arange(nodes) / nodes)
    expected = tension * (1 + ratio ** (1 / nodes)) * np.sin(phi / 2)
    within(solution.normal / expected - 1.0, 2e-4, "pressure")


def _rope(nodes, phi, load, pull):
    """(W, q): stiff segments between nodes on a unit drum, weak springs to the ground, pulls at both ends."""
    place = phi * (np.arange(nodes) + 0.5)
    radial = np.column_stack([np.cos(place), np.sin(place), np.zeros(nodes)])
    along = np.column_stack([-np.sin(place), np.cos(place), np.zeros(nodes)])
    K, force = 1e-5 * np.eye(3 * nodes), np.zeros((nodes, 3))
    for a in range(nodes - 1):
        d = radial[a + 1] - radial[a]
        d /= np.linalg.norm(d)
        k = 1e6 * np.kron([[1, -1], [-1, 1]], np.outer(d, d))
        K[3 * a : 3 * a + 6, 3 * a : 3 * a + 6] += k
    turn = lambda d, t, angle: np.cos(angle) * d + np.sin(angle) * t
    force[0] = load * turn(-along[0], -radial[0], phi / 2)
    force[-1] = pull * turn(along[-1], -radial[-1], phi / 2)
    H = np.zeros((3 * nodes, 3 * nodes))
    axis = np.array([0.0, 0.0, 1.0])
    for a in range(nodes):
        for row, d in ((a, radial[a]), (nodes + 2 * a, along[a]), (nodes + 2 * a + 1, axis)):
            H[row, 3 * a : 3 * a + 3] = d
    C = np.linalg.inv(K)
    W = H @ C @ H.T
    return 0.5 * (W + W.T), H @ C @ force.ravel()


# The law, for any matrix


@quick
@given(st.integers(1, 14), st.integers(0, 2**32 - 1), st.booleans())
def test_the_law_holds_for_any_compliance(n, seed, warm):
    """W positive definite: there is a solution whatever q and μ are."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * n, 3 * n + rng.integers(1, 4)))
    W, mu = A @ A.T, rng.uniform(0.0, 1.2, n) * (rng.random(n) < 0.9)
    q = rng.normal(size=3 * n) * np.exp(rng.normal(size=3 * n))
    start = np.abs(rng.normal(size=3 * n)) if warm else None
    certified(W, q, mu, friction(W, q, mu, start=start))


@quick
@given(st.integers(1, 10), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 3]))
def test_the_law_holds_with_redundant_contacts(n, seed, kind):
    """Few degrees of freedom, contacts given twice, exact ties, any units: solvable by construction."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n, 3, int(rng.integers(max(1, 3 * n // 2), 3 * n + 1))))
    if kind == 1:
        H = H.round()
    if kind == 2:
        H[rng.integers(0, n, n)] = H[rng.integers(0, n, n)]
    if kind == 3:
        H *= 10.0 ** rng.uniform(-8, 8)
    H = np.concatenate([H[:, 0], H[:, 1:].reshape(2 * n, -1)])
    W, mu = H @ H.T, rng.uniform(0.0, 0.9, n) * (rng.random(n) < 0.8)
    lam, w = obeying(rng, mu)
    unit = np.sqrt(np.diag(W).max(initial=0.0)) or 1.0
    q = unit * w - W @ (lam / unit)
    certified(W, q, mu, friction(W, q, mu))


@quick
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_contacts_beside_equalities_and_bounds(n, p, seed):
    rng = np.random.default_rng(seed)
    units = np.concatenate([10.0 ** rng.uniform(-5, 5, p), np.ones(3 * n)])
    A = rng.normal(size=(p + 3 * n, p + 3 * n + 1)) * units[:, None]
    W, mu = A @ A.T, rng.uniform(0.0, 0.9, n)
    low, high = -rng.integers(0, 2, p) / units[:p], rng.uniform(0.5, 2.0, p) / units[:p]
    free = rng.random(p) < 0.5
    low[free], high[free] = -np.inf, np.inf
    q = rng.normal(size=p + 3 * n) * units
    solution = friction(W, q, mu, low, high)
    certified(W, q, mu, solution)
    plain, gap = solution.effort[:p], solution.gap[:p] / units[:p] ** 2
    assert ((plain >= low) & (plain <= high)).all()
    scale = np.abs(plain * units[:p]).max() + np.abs(q / units).max()
    natural = (plain - np.clip(plain - gap, low, high)) * units[:p]
    assert np.abs(natural).max() <= 1e-7 * scale
    certified(W, q, mu, friction(W, q, mu, low, high, start=solution))


@quick
@given(st.integers(1, 12), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_without_friction_it_is_a_complementarity_problem(n, p, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(p + 3 * n, p + 3 * n))
    W, q = A @ A.T, rng.normal(size=p + 3 * n)
    low, high = np.full(p, -1.0), np.full(p, 0.5)
    solution = friction(W, q, np.zeros(n), low, high)
    rows = p + n
    no = np.concatenate([low, np.zeros(n)]), np.concatenate([high, np.full(n, np.inf)])
    expected = mcp(W[:rows, :rows], q[:rows], *no)
    size = np.abs(expected.effort).max(initial=1.0)
    np.testing.assert_allclose(solution.effort[:rows], expected.effort, atol=1e-8 * size)
    assert not solution.tangent.any()


def test_equalities_are_the_same_as_eliminating_them_by_hand(within):
    rng = np.random.default_rng(11)
    A = rng.normal(size=(2 + 12, 15))
    W, q, mu = A @ A.T, rng.normal(size=14), np.full(4, 0.5)
    solution = friction(W, q, mu, -np.inf, np.inf)
    e, c = slice(0, 2), slice(2, None)
    back = np.linalg.solve(W[e, e], np.column_stack([W[e, c], q[e]]))
    by_hand = friction(W[c, c] - W[c, e] @ back[:, :-1], q[c] - W[c, e] @ back[:, -1], mu)
    within(solution.effort[2:] - by_hand.effort, 1e-9 * np.abs(by_hand.effort).max(), "contact efforts")
    within(solution.gap[:2], 1e-12 * np.abs(q).max(), "equalities")


@pytest.mark.parametrize("force, length", [(1e9, 1e-9), (1e-12, 1.0), (1.0, 1e-15), (1e8, 1e6)])
def test_units_do_not_matter(force, length, within):
    """λ in other units of force, w in other units of length."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(30, 24))
    mu = rng.uniform(0.1, 0.9, 10)
    lam, w = obeying(rng, mu)
    W, q = A @ A.T, w - A @ A.T @ lam
    one, other = friction(W, q, mu), friction(W * (length / force), q * length, mu)
    assert one.certificate.solved and other.certificate.solved
    within(other.gap / length - one.gap, 1e-7 * np.abs(q).max(), "gap")


# Edges


def test_a_contact_that_nothing_moves():
    """Open it stays open; closed nothing can open it, and the certificate says so."""
    W = np.zeros((6, 6))
    W[0, 0], W[2:4, 2:4] = 1.0, np.eye(2)  # the second contact has no compliance at all
    assert friction(W, [-1.0, 0.5, 0.3, 0.0, 0.1, 0.0], [0.5, 0.5]).certificate.solved
    closed = friction(W, [-1.0, -0.5, 0.3, 0.0, 0.1, 0.0], [0.5, 0.5])
    assert closed.certificate.status == "infeasible" and closed.normal[1] == 0.0
    assert closed.normal[0] == pytest.approx(1.0) and closed.tangent[0, 0] == pytest.approx(-0.3)


def test_slip_that_no_effort_can_stop(within):
    """Tangents without compliance slip as they will; friction is fully used against it."""
    W, q = np.diag([2.0, 0.0, 0.0]), np.array([-1.0, 0.3, -0.4])
    solution = friction(W, q, [0.5])
    within(solution.effort - [0.5, -0.15, 0.2], 1e-12, "efforts")


def test_contacts_that_contradict_each_other():
    """A rigid body between walls that overlap: finite efforts, and a certificate that says why."""
    H = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]])
    solution = friction(H @ H.T, [-1.0, -1.0, 0.2, 0, 0.2, 0], [0.5, 0.5])
    assert solution.certificate.status == "infeasible"
    assert solution.certificate.residual > 0.1 and np.isfinite(solution.effort).all()


def test_equalities_that_contradict_each_other():
    W = np.ones((5, 5))
    W[2:, 2:] += np.eye(3)
    solution = friction(W, [1.0, 2.0, -1.0, 0.0, 0.0], [0.5], -np.inf, np.inf)
    assert solution.certificate.status == "infeasible" and np.isfinite(solution.effort).all()


def test_nothing_at_all():
    solution = friction(np.zeros((0, 0)), [], [])
    assert solution.certificate.solved and solution.tangent.shape == (0, 2)
    resting = friction(np.eye(3), np.zeros(3), [0.5])
    assert resting.certificate.solved and not resting.effort.any()


def test_a_warm_start_is_quick_and_leads_to_the_same():
    W, q, _ = block(corners(count=4), weight([1.2 * GRIP, 0.3 * GRIP, 0.0], [0.0, 0.0, 0.05]))
    mu = np.full(16, MU)
    cold = friction(W, q, mu)
    warm = friction(W, q * 1.001, mu, start=cold)
    certified(W, q * 1.001, mu, warm)
    assert warm.certificate.iterations <= min(6, cold.certificate.iterations)
    again = friction(W, q, mu, start=cold.effort)
    assert again.certificate.iterations <= 2
    np.testing.assert_allclose(again.gap, cold.gap, atol=1e-10 * np.abs(q).max())


@settings(quick, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.08, 0.3]), st.booleans())
def test_few_contacts_push_of_hundreds(seed, mu, warm):
    """A membrane over bumps: what is far from touching changes nothing, however many there are."""
    near, far = 12, 200
    rng = np.random.default_rng(seed)
    place, n = rng.uniform(0.0, 1.0, (near + far, 2)), near + far
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    stiff = np.exp(-((distance / 0.2) ** 2)) + 1e-3 * np.eye(n)  # neighbours move together
    W = np.block([[stiff, np.zeros((n, 2 * n))], [np.zeros((2 * n, n)), np.kron(stiff, np.eye(2))]])
    W[:n, n::2] = W[n::2, :n] = 0.3 * stiff  # pushes move it sideways, too
    q = np.concatenate([rng.uniform(-1.0, 0.1, near), rng.uniform(0.5, 2.0, far), rng.normal(size=2 * n)])
    q[near:n] += 100.0
    some = np.r_[0:near, n : n + 2 * near]
    start = np.maximum(rng.normal(size=3 * n), 0.0) if warm else None
    alone = friction(W[np.ix_(some, some)], q[some], np.full(near, mu))
    among = friction(W, q, np.full(n, mu), start=start)
    certified(W, q, np.full(n, mu), among)
    assert not among.normal[near:].any() and 0 < np.count_nonzero(among.normal) <= near
    np.testing.assert_allclose(among.gap[some], alone.gap, atol=1e-7)


@pytest.mark.parametrize("mu", [0.1, 0.4])
def test_which_of_many_dependent_contacts_push_is_found_in_few_steps(mu):
    """More contacts than a body has motions: Newton's method on all of them at once gets nowhere."""
    points = corners(count=7, depth=0.02)
    for angle in (0.0, 0.4, 1.9, 4.0):
        pull = 0.5 * mu * MASS * GRAVITY * np.array([np.cos(angle), np.sin(angle), 0.0])
        W, q, _ = block(points, weight(pull, [0.02 * np.sin(angle), 0.03 * np.cos(angle), 0.0]))
        solution = friction(W, q, np.full(49, mu))
        certified(W, q, np.full(49, mu), solution)
        assert solution.certificate.iterations < 60
        again = friction(W, 1.05 * q, np.full(49, mu), start=solution)
        certified(W, 1.05 * q, np.full(49, mu), again)
        assert again.certificate.iterations < 30


def test_work_is_limited_and_the_status_true():
    """Sixty contacts of a body with 45 motions and μ = 1.5: solvable by construction, but not in the time."""
    rng = np.random.default_rng(1)
    H, mu = rng.normal(size=(180, 45)), np.full(60, 1.5)
    lam, w = obeying(rng, mu)
    W = H @ H.T
    q = w - W @ lam
    solution = friction(W, q, mu)
    c = solution.certificate
    assert c.iterations < 10_000
    assert c.status == ("solved" if c.residual <= ACCURACY else "not converged")
    assert np.isfinite(solution.effort).all() and (law_error(W, q, mu, solution) > 1e-7) == (not c.solved)


def test_solutions_cannot_be_changed():
    solution = friction(np.eye(3), [-1.0, 0.2, 0.0], 0.5)
    np.testing.assert_allclose(solution.effort, [1.0, -0.2, 0.0], atol=1e-14)
    for array in (solution.effort, solution.normal, solution.tangent, solution.slip):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0


@pytest.mark.parametrize(
    "arguments, named",
    [
        ((np.eye(3), [-1.0, 0.0], [0.5]), "W, q"),
        ((np.eye(3), [-1.0, 0.0, 0.0], [-0.5]), "mu"),
        ((np.eye(3), [-1.0, 0.0, 0.0], [0.5, 0.5]), "mu, q"),
        ((np.eye(4), np.zeros(4), [0.5]), "low"),
        ((np.eye(4), np.zeros(4), [0.5], 1.0, [0.0]), "bounds of row 0"),
        ((np.eye(3), [np.nan, 0.0, 0.0], [0.5]), "W, q"),
    ],
)
def test_errors_name_the_thing(arguments, named):
    with pytest.raises(InputError) as error:
        friction(*arguments)
    assert error.value.what == named
