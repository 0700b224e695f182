"""Residuals decide how stated noise and doubts are taken: scale of the noise, doubts that act, intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.laws import Known
from pliant.robots.parallel import parallel, parallel_layouts
from pliant.sensing import ForceEstimator, instrumented, usual_doubts
from pliant.sensing.judgement import CHANCE, LEAST_SCALE, components

LAWS = {f"cable {n}": Known(effort=2.0) for n in range(1, 5)}
LAYOUT = parallel_layouts["r2"]
STATED = 1e-5  # [m] of noise


@pytest.fixture(scope="module")
def robot():
    return parallel(cells=(8, 2, 2))


def shown(robot, laws=LAWS):
    plant = instrumented(robot, LAYOUT.markers, LAYOUT.candidates)
    result = pl.static(plant, {**laws, "forces": Known(effort=LAYOUT.applied.ravel())})
    return result.displacement["markers"].reshape(-1, 3)


def estimator(robot, **options):
    return ForceEstimator(robot, LAYOUT.markers, LAYOUT.candidates, laws=LAWS, noise=STATED, **options)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.1, 50.0))
def test_the_scale_of_the_noise_is_found(seed, true):
    rng = np.random.default_rng(seed)
    y, Q = true * rng.normal(size=400), rng.normal(size=(400, 2))
    scale, _ = components(y, [Q])
    own = np.sqrt(np.mean(y**2))  # smaller than stated as well as larger
    assert scale == pytest.approx(own, rel=0.02)


def test_a_doubt_acts_by_chance_as_rarely_as_stated_and_where_it_should():
    rng, Q = np.random.default_rng(1), np.random.default_rng(2).normal(size=(30, 3))
    idle = sum(components(3.0 * rng.normal(size=30), [Q])[1][0] for _ in range(2000))
    assert idle <= 2000 * CHANCE + 3.0 * np.sqrt(2000 * CHANCE)
    busy = [components(rng.normal(size=30) + 10.0 * Q @ rng.normal(size=3), [10.0 * Q]) for _ in range(50)]
    assert np.mean([acting[0] for _, acting in busy]) > 0.9
    assert np.median([scale for scale, _ in busy]) < 1.3  # what the doubt explains is not taken for noise


def test_nothing_to_judge_leaves_all_as_stated():
    assert components(np.zeros(0), [np.zeros((0, 2))]) == (1.0, (True,))
    assert components(np.zeros(5), [np.zeros((5, 0))]) == (pytest.approx(LEAST_SCALE), (True,))


def test_independent_noise_is_felt_no_worse_than_by_the_plain_estimator_and_intervals_hold(robot):
    """Stated are 10 µm, true are 50 µm: no doubt acts, the noise is found, and Student's intervals hold."""
    exact, rng, truth = shown(robot), np.random.default_rng(3), LAYOUT.applied.ravel()
    plain, ours = estimator(robot), estimator(robot, **usual_doubts(robot, LAWS))
    inside, narrow = [], []
    for _ in range(12):
        frame = exact + 5e-5 * rng.normal(size=exact.shape)
        plain.reset()
        ours.reset()
        trusting, judged = plain.converge(frame), ours.converge(frame)
        assert not judged.judgement.loads and not judged.judgement.offset
        assert judged.effort["forces"] == pytest.approx(trusting.effort["forces"], abs=1e-6)
        assert judged.judgement.scale == pytest.approx(5.0, rel=0.6)
        for estimate, out in ((judged, inside), (trusting, narrow)):
            low, high = estimate.interval("forces")
            out.append((low <= truth) & (truth <= high))
    assert np.mean(inside) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 12) and np.mean(narrow) < 0.6


def test_errors_with_a_model_act_and_are_taken_out(robot):
    """An offset of all markers, and tensions that are wrong: found by their residuals, each by its own."""
    exact, options = shown(robot), usual_doubts(robot, LAWS)
    ours, plain = estimator(robot, **options), estimator(robot)
    moved = exact + np.array([0.0, 0.0, 1e-4])
    found, off = ours.converge(moved), np.abs(plain.converge(moved).forces() - LAYOUT.applied).sum()
    assert found.judgement.offset and not found.judgement.loads and found.judgement.scale < 1.0
    assert np.abs(found.forces() - LAYOUT.applied).sum() < 0.1 * off
    strong = shown(robot, {name: Known(effort=2.2) for name in LAWS})
    ours.reset()
    plain.reset()
    found, off = ours.converge(strong), np.abs(plain.converge(strong).forces() - LAYOUT.applied).sum()
    assert found.judgement.loads and np.abs(found.forces() - LAYOUT.applied).sum() < 0.2 * off


def test_an_error_that_does_not_act_still_widens(robot):
    """Deviations are larger than those of the plain estimator with the same noise, and finite."""
    exact, rng = shown(robot), np.random.default_rng(4)
    frame = exact + 5e-5 * rng.normal(size=exact.shape)
    judged = estimator(robot, **usual_doubts(robot, LAWS)).converge(frame)
    alone = estimator(robot, judged=True).converge(frame)
    assert alone.judgement.scale == pytest.approx(judged.judgement.scale, rel=1e-6)
    assert (judged.deviation("forces") > alone.deviation("forces") * (1 - 1e-9)).all()
    assert judged.deviation("forces").max() < 20 * alone.deviation("forces").max()
