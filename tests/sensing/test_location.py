"""Where forces act: the right ones of many candidates, more of them than readings, and places between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.bodies import Rectangle
from pliant.laws import Known
from pliant.mesh.lines import line
from pliant.robots.parallel import parallel, parallel_layouts
from pliant.robots.sheet import CORNER, SIZE, sheet
from pliant.sensing import ForceLocator, instrumented, places
from pliant.sensing.least_squares import bounded_least_squares
from pliant.sensing.places import Skin
from pliant.sensing.sparse import Candidates, chi_square, greedy, lasso

NOISE = 1e-4
HEIGHT = 0.002
MARKERS = [(x, y, HEIGHT) for x in (-0.042, -0.014, 0.014, 0.042) for y in (-0.042, -0.014, 0.014, 0.042)][
    1:-1
]
CANDIDATES = [(x, y, HEIGHT) for x in (-0.036, -0.012, 0.012, 0.036) for y in (-0.03, 0.0, 0.03)]


@pytest.fixture(scope="module")
def robot():
    return sheet(cells=(11, 1))


def joint_covariance(locator):
    """Of all candidates at once."""
    A = locator.model.influence(locator.pose, locator.commands) / NOISE
    return np.linalg.inv(A.T @ A)


def random_forces(locator, covariance, count, rng):
    """(candidates, efforts): forces of five to eight standard deviations."""
    w, n = locator.width, len(locator.rest)
    which, effort = np.sort(rng.choice(n, count, replace=False)), np.zeros((n, w))
    for g in which:
        way = rng.normal(size=w)
        way /= np.linalg.norm(way)
        own = slice(g * w, g * w + w)
        effort[g] = way * rng.uniform(5.0, 8.0) * np.sqrt(way @ covariance[own, own] @ way)
    return which, effort


@pytest.mark.parametrize("method", ["greedy", "l1"])
@pytest.mark.parametrize("direction", [(0, 0, -1), None], ids=["across", "3-D"])
def test_single_and_double_forces_are_found_among_twelve(robot, direction, method):
    rng = np.random.default_rng(3)
    locator = ForceLocator(robot, MARKERS, CANDIDATES, direction=direction, method=method, most=3)
    covariance, right, trials = joint_covariance(locator), 0, 20
    for trial in range(trials):
        which, effort = random_forces(locator, covariance, 1 + trial % 2, rng)
        real = pl.static(locator.robot, {"forces": Known(effort=effort.ravel())})
        locator.reset()
        found = locator.found(
            locator.converge(real.displacement["markers"] + NOISE * rng.normal(size=3 * len(MARKERS)))
        )
        right += list(found.candidates) == list(which)
    assert right >= 0.95 * trials


def test_thresholding_finds_forces_of_an_exact_model(robot):
    """As in the paper: all candidates at once, small ones dropped."""
    locator = ForceLocator(robot, MARKERS, CANDIDATES, direction=(0, 0, 1), method="threshold", level=0.05)
    effort = np.zeros(len(CANDIDATES))
    effort[[2, 7]] = 0.4, -0.4
    real = pl.static(locator.robot, {"forces": Known(effort=effort)})
    found = locator.locate(real.displacement["markers"], refine=False)
    assert list(found.candidates) == [2, 7]
    assert found.forces[:, 2] == pytest.approx([0.4, -0.4], abs=1e-5)


def test_candidates_may_outnumber_readings(robot):
    """Sixty candidates of three components, 42 readings."""
    some = places(robot, 0.0155, lambda x: x[:, 2] > 0)
    assert 3 * len(some) > 3 * len(MARKERS)
    locator = ForceLocator(robot, MARKERS, some, noise=1e-6)
    near = int(np.linalg.norm(some.points.rest - [0.02, 0.01, HEIGHT], axis=1).argmin())
    effort = np.zeros((len(some), 3))
    effort[near] = 0.1, -0.2, -0.3
    real = pl.static(locator.robot, {"forces": Known(effort=effort.ravel())})
    found = locator.locate(real.displacement["markers"], refine=False)
    assert list(found.candidates) == [near]
    assert found.forces[0] == pytest.approx(effort[near], abs=1e-5)


def test_candidates_cover_the_skin_and_leave_supports_out(robot):
    some = places(robot, 0.02)
    rest, skin = some.points.rest, robot.body.mesh.surface
    free = skin.nodes[skin.vertices]
    free = free[~(np.abs(free[:, :2]) >= SIZE / 2 - CORNER - 1e-9).all(axis=1)]
    assert np.linalg.norm(free[:, None] - rest[None], axis=2).min(axis=1).max() <= 0.02
    apart = np.linalg.norm(rest[:, None] - rest[None], axis=2) + np.eye(len(rest))
    assert apart.min() > 0.02 - 1e-12
    assert not (np.abs(rest[:, :2]) >= SIZE / 2 - CORNER - 1e-9).all(axis=1).any()
    top = (rest[:, 2] > 0.9 * HEIGHT) & (np.abs(rest[:, :2]) < 0.05).all(axis=1)
    assert some.inward[top] == pytest.approx(np.tile([0, 0, -1.0], (top.sum(), 1)))


def test_a_force_between_candidates_is_found_there(robot):
    rng, spacing = np.random.default_rng(5), 0.022
    locator = ForceLocator(robot, MARKERS, places(robot, spacing, lambda x: x[:, 2] > 0), direction="normal")
    coarse, fine = [], []
    for _ in range(6):
        place = np.array([*rng.uniform(-0.04, 0.04, 2), HEIGHT])
        pushed = instrumented(robot, MARKERS, place[None], direction=(0, 0, -1))
        real = pl.static(pushed, {"forces": Known(effort=0.5)}).displacement["markers"]
        frame = real + NOISE * rng.normal(size=len(real))
        locator.reset()
        unrefined = locator.locate(frame, refine=False)
        locator.reset()
        found = locator.locate(frame)
        assert len(found) == 1
        coarse.append(np.linalg.norm(unrefined.places - place, axis=1).max())
        fine.append(np.linalg.norm(found.places[0] - place))
        assert -found.forces[0, 2] == pytest.approx(0.5, rel=0.1)
    assert max(fine) < 0.5 * spacing and max(coarse) < 3.0 * spacing
    assert np.mean(fine) < 0.3 * np.mean(coarse)


def test_what_a_force_anywhere_does_with_cables_held(within):
    """The field at the skin's nodes is the influence of candidates there, and locates a push on a robot."""
    robot = parallel(cells=(8, 2, 2))
    laws = {f"cable {n}": Known(displacement=0.002 * n) for n in range(1, 5)}
    markers, some = parallel_layouts["r1"].markers, places(robot, 0.02, lambda x: x[:, 2] > 0.02)
    locator = ForceLocator(robot, markers, some, laws=laws, noise=1e-6)
    skin = Skin(locator.robot)
    node = [int(np.linalg.norm(skin.rest - x, axis=1).argmin()) for x in locator.rest]
    field, left = locator.model.field(locator.pose, locator.model.sensed(locator.pose), skin)
    A = locator.model.influence(locator.pose, locator.commands)
    within((field[:, node].reshape(len(A), -1) - A) / np.abs(A).max(), 1e-9, "influence")
    within(left, 1e-12, "readings without a force [m]")
    pushed = skin.rest[
        skin.triangles[np.abs(skin.rest[skin.triangles].mean(axis=1) - [0.03, 0, 0.035]).sum(axis=1).argmin()]
    ].mean(axis=0)
    real = pl.static(
        instrumented(robot, markers, pushed[None]), {**laws, "forces": Known(effort=[0.1, 0.2, -0.6])}
    )
    rng = np.random.default_rng(0)
    found = locator.locate(real.displacement["markers"] + 1e-6 * rng.normal(size=3 * len(markers)))
    assert len(found) == 1
    assert np.linalg.norm(found.places[0] - pushed) < 1e-4
    assert np.linalg.norm(found.forces[0] - [0.1, 0.2, -0.6]) < 1e-3


@pytest.mark.parametrize("kind", ["beam", "shell"])
def test_slender_bodies_feel_where(kind):
    law = pl.Hooke(young=1e6, poisson=0.3)
    if kind == "beam":
        rod = line((0, 0, 0), (0.2, 0, 0), elements=20)
        body = pl.Beam(rod, Rectangle(0.01, 0.008), law, density=1e3, fixed=0)
        markers, place, force = [[x, 0, 0] for x in (0.05, 0.1, 0.15, 0.2)], [0.123, 0.0, 0.004], 0.02
    else:
        sheet_ = pl.mesh.sheet((0.1, 0.04), cells=(12, 6))
        body = pl.Shell(sheet_, law, 0.002, density=1e3, fixed=lambda x: x[:, 0] < 1e-9)
        markers = [[0.1, 0, 0], [0.1, 0.04, 0], [0.05, 0, 0], [0.05, 0.04, 0], [0.075, 0.02, 0]]
        place, force = [0.062, 0.013, 0.0], 0.01
    robot, down = pl.Robot(body, {}, gravity=(0, 0, -9.81)), (0, 0, -1)
    locator = ForceLocator(robot, markers, places(robot, 0.02), direction=down, noise=1e-5)
    real = pl.static(instrumented(robot, markers, [place], direction=down), {"forces": Known(effort=force)})
    found = locator.locate(real.displacement["markers"])
    assert len(found) == 1
    assert found.places[0][:2] == pytest.approx(place[:2], abs=1e-3 if kind == "shell" else 6e-3)
    assert -found.forces[0, 2] == pytest.approx(force, rel=0.01)


# The sparse solvers on arrays


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from([1, 3]))
def test_planted_groups_are_recovered(seed, count, width):
    """Random directions in 40 dimensions, 30 candidates: far apart enough that all methods must find them."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(60, 30 * width))
    planted = np.sort(rng.choice(30, count, replace=False)).tolist()
    x = np.zeros((30, width))
    x[planted] = 2.0 + rng.random((count, width))
    b = A @ x.ravel() + rng.normal(size=60) * 0.5
    problem = Candidates(A, b, np.full(30 * width, 0.0), np.full(30 * width, np.inf), width)
    assert greedy(problem) == planted
    assert lasso(problem) == planted


@settings(max_examples=60)
@given(st.integers(0, 10_000))
def test_bounded_least_squares_meets_its_conditions(seed):
    """Karush, Kuhn and Tucker's, against SciPy's minimum; ill-conditioned, some columns alike."""
    from scipy.optimize import lsq_linear

    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 14), rng.integers(1, 9)
    A = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-3, 3, n)
    if n > 2 and seed % 3 == 0:
        A[:, 1] = 2.0 * A[:, 0]
    b = rng.normal(size=m)
    low, high = -rng.random(n), rng.random(n)
    low[rng.random(n) < 0.3], high[rng.random(n) < 0.3] = -np.inf, np.inf
    fit = bounded_least_squares(A, b, low, high)
    assert (fit.x >= low).all() and (fit.x <= high).all()
    best = lsq_linear(A, b, (low, high), method="bvls", tol=1e-14)
    assert np.linalg.norm(A @ fit.x - b) <= np.sqrt(2 * best.cost) * (1 + 1e-6) + 1e-7


@pytest.mark.parametrize("freedom, chance", [(1, 1e-5), (5, 0.05)])
def test_chi_square_quantiles(freedom, chance):
    from scipy.stats import chi2

    assert chi_square(freedom, chance) == pytest.approx(chi2.isf(chance, freedom), rel=1e-9)


@pytest.mark.parametrize("width", [1, 3])
def test_no_pair_explains_more_than_the_one_found(width):
    """Neighbours whose effects nearly cancel are found: the choice is the best of all pairs."""
    rng, n, m = np.random.default_rng(7), 10, 40
    x = np.linspace(0.0, 1.0, m)
    bumps = [np.exp(-(((x - k / n) / 0.2) ** 2)) for k in range(n)]
    A = np.column_stack([bump * np.cos(3.0 * d * x) for bump in bumps for d in range(width)])
    free = np.full(n * width, np.inf)
    for _ in range(20):
        first = int(rng.integers(n - 1))
        effort = np.zeros((n, width))
        effort[first], effort[first + 1] = 400.0, -300.0
        b = A @ effort.ravel() + rng.normal(size=m)
        problem = Candidates(A, b, -free, free, width)
        found = greedy(problem, most=2)
        best = min(problem.fit([i, j])[1] for i in range(n) for j in range(i))
        assert problem.fit(found)[1] == pytest.approx(best, rel=1e-9)
