"""Markers: which point is which, registration, placement; occlusion, spurious points, and bad input named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.laws import Known, Measured
from pliant.robots.sheet import sheet, sheet_layouts
from pliant.sensing import (
    ForceEstimator,
    ForceLocator,
    MarkerTracker,
    allocate,
    instrumented,
    place_markers,
    places,
    register,
)

LAYOUT = sheet_layouts["s1"]
GRID = np.array([(x, y, 0.0) for x in np.linspace(0, 0.1, 5) for y in np.linspace(0, 0.1, 5)])


@pytest.fixture(scope="module")
def robot():
    return sheet(cells=(11, 1))


@pytest.fixture
def estimator(robot):
    return ForceEstimator(robot, LAYOUT.markers, LAYOUT.candidates)


def frame_of(estimator, forces):
    return pl.static(estimator.robot, {"forces": Known(effort=np.ravel(forces))}).displacement["markers"]


# Allocation


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(0, 8), st.integers(0, 5))
def test_points_are_assigned_to_their_markers(seed, hidden, spurious):
    """Shuffled, some hidden, some added far off, all offset by 4 mm, noise of 0.5 mm: 25 mm apart."""
    rng = np.random.default_rng(seed)
    keep = np.sort(rng.choice(25, 25 - hidden, replace=False))
    way = rng.normal(size=3)
    seen = GRID[keep] + 0.004 * way / np.linalg.norm(way) + 5e-4 * rng.normal(size=(len(keep), 3))
    others = rng.uniform(0, 0.1, (spurious, 3)) + np.array([0, 0, 0.05])
    points = np.concatenate([seen, others])
    order = rng.permutation(len(points))
    found = allocate(points[order], GRID, gate=0.012)
    assert (found.hidden == np.setdiff1d(np.arange(25), keep)).all()
    assert found.labelled[keep] == pytest.approx(seen)
    assert len(found.spurious) == spurious


def test_each_point_is_one_marker_at_most():
    """Two markers near one point: the nearer one gets it, the other is hidden."""
    found = allocate([[0.004, 0, 0]], [[0, 0, 0], [0.01, 0, 0]], gate=0.02)
    assert found.index.tolist() == [0, -1] and np.isnan(found.labelled[1]).all()
    assert allocate(np.zeros((0, 3)), GRID, gate=0.01).hidden.size == 25
    assert allocate(np.full((3, 3), np.nan), GRID, gate=0.01).hidden.size == 25


def test_force_is_kept_through_flicker_and_shuffled_points(robot):
    """30 % of the markers hidden at random in every frame, points unlabelled, spurious ones added."""
    rng = np.random.default_rng(0)
    estimator = ForceEstimator(robot, LAYOUT.markers, LAYOUT.candidates)
    turn = Rotation.from_rotvec([0.2, -0.4, 0.9]).as_matrix()
    camera = lambda x: x @ turn.T + [0.3, 0.1, 1.2]
    rest = estimator.pose.delta[estimator.robot.named("markers")].reshape(-1, 3)
    tracker = MarkerTracker(estimator, transform=register(camera(rest), rest))
    worst, noise = 0.0, 2e-5
    for k in range(40):
        forces = min(1.0, k / 10) * LAYOUT.applied
        real = frame_of(estimator, forces).reshape(-1, 3)
        shown = real[rng.permutation(len(real))[: int(np.ceil(0.7 * len(real)))]]
        cloud = np.concatenate(
            [
                shown + noise * rng.normal(size=shown.shape),
                rng.uniform(-0.05, 0.05, (2, 3)) + np.array([0, 0, 0.1]),
            ]
        )
        found = estimator.step(tracker.frame(camera(cloud[rng.permutation(len(cloud))])))
        assert found.certificate.readings == 3 * len(shown)
        if k > 10:
            sigma = noise / 1e-4 * found.deviation("forces")
            worst = max(worst, np.abs((found.effort["forces"] - forces.ravel()) / sigma).max())
    assert worst < 5.0  # standard deviations, over 29 frames of six components


def test_hidden_markers_come_back(estimator):
    real = frame_of(estimator, LAYOUT.applied)
    estimator.converge(real)
    blind = estimator.step(np.full(len(real), np.nan))
    assert blind.certificate.status == "blind" and blind.certificate.readings == 0
    assert blind.effort["forces"] == pytest.approx(LAYOUT.applied.ravel(), abs=1e-6)
    assert np.isinf(blind.deviation("forces")).all()
    few = np.full(len(real), np.nan)
    few[:3] = real[:3]
    kept = estimator.step(few)
    assert kept.certificate.status == "undetermined" and kept.certificate.rank == 3
    assert kept.effort["forces"] == pytest.approx(LAYOUT.applied.ravel(), abs=1e-6)
    again = estimator.step(real)
    assert again.certificate.readings == len(real)
    assert again.effort["forces"] == pytest.approx(LAYOUT.applied.ravel(), abs=1e-6)


def test_a_question_that_noise_makes_unanswerable_does_not_spoil_the_next_frame(robot):
    """Four markers close together, far from three forces: deviations of tens of newtons, and a warning."""
    layout, rng = sheet_layouts["s8"], np.random.default_rng(0)
    with pytest.warns(pl.PliantWarning, match=r"hardly tell some forces apart .* deviations up to"):
        estimator = ForceEstimator(robot, layout.markers, layout.candidates)
    assert estimator.identifiability().deviation.max() > 50.0
    real = frame_of(estimator, layout.applied)
    before = estimator.state.q
    lost = estimator.converge(real + 1e-4 * rng.normal(size=len(real)))
    assert not lost.certificate.converged
    assert (estimator.state.q == before).all()
    found = estimator.converge(real)
    assert found.certificate.converged
    assert found.forces() == pytest.approx(layout.applied, abs=1e-5)


# Registration


@settings(max_examples=50)
@given(st.integers(0, 10_000))
def test_rigid_motions_are_found(seed):
    rng = np.random.default_rng(seed)
    source = rng.normal(size=(rng.integers(3, 12), 3))
    R, t = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    target = source @ R.T + t
    found = register(source, target)
    assert found.rotation == pytest.approx(R, abs=1e-6) and found.translation == pytest.approx(t, abs=1e-6)
    assert np.linalg.det(found.rotation) == pytest.approx(1.0) and found.rms < 1e-9
    assert found.inverse.apply(found.apply(source)) == pytest.approx(source, abs=1e-9)


def test_registration_says_what_it_cannot_do():
    with pytest.raises(pl.InputError, match="three pairs"):
        register(np.eye(3)[:2], np.eye(3)[:2])
    with pytest.raises(pl.InputError, match="three pairs"):
        register(np.full((5, 3), np.nan), np.zeros((5, 3)))
    with pytest.raises(pl.InputError, match="line"):
        register(np.outer(np.arange(4.0), [1, 2, 3]), np.zeros((4, 3)))


# Placement


def test_chosen_places_beat_random_ones(robot):
    rng = np.random.default_rng(2)
    some = places(robot, 0.016, lambda x: x[:, 2] > 0).points
    postures = [{}, {"load": Known(effort=-1.0)}]
    best = place_markers(robot, some, LAYOUT.candidates, 4, postures=postures)
    assert len(set(best.chosen)) == 4 and best.values.shape == (2,)
    index = lambda which: ForceEstimator(robot, some[which], LAYOUT.candidates).identifiability().index
    assert best.values[0] == pytest.approx(index(best.chosen), rel=1e-6)
    others = [index(rng.choice(len(some), 4, replace=False)) for _ in range(12)]
    assert best.values[0] < 0.7 * min(others)
    assert place_markers(robot, some, LAYOUT.candidates, 6).worst < best.worst
    sure = place_markers(robot, some, LAYOUT.candidates, 4, criterion="deviation")
    exact = ForceEstimator(robot, some[sure.chosen], LAYOUT.candidates).identifiability().deviation.max()
    assert sure.worst == pytest.approx(exact, rel=1e-6)


# Bad input


def test_too_few_readings_are_refused(robot):
    with pytest.raises(pl.InputError, match="at least 9, one for every unknown, got 6"):
        ForceEstimator(robot, LAYOUT.markers[:2], sheet_layouts["s2"].candidates)
    helped = ForceEstimator(robot, LAYOUT.markers[:2], sheet_layouts["s2"].candidates, prior=0.5)
    real = frame_of(helped, sheet_layouts["s2"].applied)
    found = helped.converge(real)
    assert found.certificate.rank == 9 and (found.deviation("forces") <= 0.5).all()


def test_coincident_markers_are_named(robot):
    with pytest.raises(pl.InputError, match="markers 0 and 2 in the same one"):
        ForceEstimator(robot, LAYOUT.markers[[0, 1, 0]], LAYOUT.candidates[:1])


def test_forces_on_a_support_are_named(robot):
    corner = [[0.05, 0.05, 0.002], *LAYOUT.candidates]
    with pytest.raises(pl.InputError, match=r"forces\[0\], forces\[1\], forces\[2\]. .*fixed support"):
        ForceEstimator(robot, LAYOUT.markers, corner)
    with pytest.raises(pl.InputError, match="fixed support"):
        ForceLocator(robot, LAYOUT.markers, corner)


@pytest.mark.parametrize("factor, unit", [(1e3, "millimetres"), (1e2, "centimetres"), (1e-3, "kilometres")])
def test_wrong_units_are_noticed(estimator, factor, unit):
    real = frame_of(estimator, LAYOUT.applied)
    with pytest.raises(pl.InputError, match=unit):
        estimator.step(factor * real)
    assert estimator.step(real).certificate.status == "tracking"


def test_clouds_in_another_unit_are_noticed(estimator):
    """Unlabelled points in millimetres are an error that names the unit, and so is their registration."""
    real = frame_of(estimator, 0.1 * LAYOUT.applied).reshape(-1, 3)
    tracker = MarkerTracker(estimator)
    assert tracker.allocate(real).hidden.size == 0
    with pytest.raises(pl.InputError, match="Divide by 1000"):
        tracker.frame(1e3 * real)
    with pytest.raises(pl.InputError, match="Divide by 1000"):
        register(1e3 * real, real)
    away = tracker.frame(real + 1.0)["markers"]  # elsewhere, but of the right size: all hidden
    assert np.isnan(away).all()


def test_frames_that_cannot_be_used_are_named(robot, estimator):
    real = frame_of(estimator, LAYOUT.applied)
    with pytest.raises(pl.InputError, match="36 numbers"):
        estimator.step(real[:-1])
    with pytest.raises(pl.InputError, match="infinite"):
        estimator.step(np.where(np.arange(36) == 3, np.inf, real))
    with pytest.raises(pl.InputError, match="Did you mean"):
        estimator.step({"marker": real})
    with pytest.raises(pl.InputError, match="another law"):
        estimator.step({"forces": np.zeros(6)})
    with pytest.raises(pl.InputError, match="law"):
        estimator.step(real, {"load": Measured()})


def test_questions_that_make_no_sense_are_refused(robot):
    with pytest.raises(pl.InputError, match="Measured"):
        ForceEstimator(robot, None, LAYOUT.candidates)
    with pytest.raises(pl.InputError, match="Unknown"):
        ForceEstimator(robot, LAYOUT.markers)
    with pytest.raises(pl.InputError, match="shape"):
        ForceEstimator(robot, [0.0, 0.0, 0.0], LAYOUT.candidates)
    with pytest.raises(pl.InputError, match="free name"):
        ForceEstimator(instrumented(robot, LAYOUT.markers), LAYOUT.markers, LAYOUT.candidates)
    for bad in (
        {"noise": 0.0},
        {"noise": {"markers": -1.0}},
        {"noise": {"tip": 1.0}},
        {"young": 2.0},
        {"prior": -1.0},
    ):
        with pytest.raises(pl.InputError):
            ForceEstimator(robot, LAYOUT.markers, LAYOUT.candidates, **bad)
    with pytest.raises(pl.InputError, match="Known law"):
        ForceEstimator(robot, LAYOUT.markers, LAYOUT.candidates, command_error={"load": 0.1})
    with pytest.raises(pl.InputError, match="greedy"):
        ForceLocator(robot, LAYOUT.markers, LAYOUT.candidates, method="greed")
    with pytest.raises(pl.InputError, match="newtons"):
        ForceLocator(robot, LAYOUT.markers, LAYOUT.candidates, method="threshold")
    with pytest.raises(pl.InputError, match="places"):
        ForceLocator(robot, LAYOUT.markers, LAYOUT.candidates, direction="normal")
