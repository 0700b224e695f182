"""Calibration of losses from loops: within their intervals; and what a wrong model says."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.bench.calibration import (
    BLOCK,
    PULLS,
    RIGHT,
    TOP,
    WRONG,
    chamber,
    coverage,
    finger,
)
from pliant.errors import CalibrationError
from pliant.laws import Known, Valve
from pliant.sensing import Loop, Record, calibrate
from pliant.sensing.misfit import judged, patterns


def draw(case, seed=1):
    return case.fitted(case.shown(), np.random.default_rng(seed))


@pytest.mark.parametrize("name", ["friction of a cable", "creep", "lag and backlash of a drive"])
def test_losses_are_found_within_their_intervals(name):
    case = RIGHT[name]
    found = draw(case)
    assert found.converged and found.doubts == () and found.widening == 1.0
    for parameter in case.start:
        low, high = found.interval(parameter)
        assert low < case.truth[parameter] < high < 1.4 * low


def test_intervals_cover_the_truth_over_draws():
    """Nine in ten of 16 intervals of 95 % have the truth at least with a chance of 0.99."""
    case = replace(RIGHT["modulus by its weight"], build=cache(finger), start={"young": 3e5})
    share, refused, wide = coverage(case, 16, 2)
    assert refused == 0 and wide == 1.0
    assert share >= 13 / 16


@pytest.mark.parametrize(
    ("name", "sign"),
    [("friction left out", "friction"), ("creep left out", "drifts while the commands stand")],
)
def test_a_loss_left_out_widens_what_is_found_and_is_named(name, sign):
    case = WRONG[name]
    with pytest.warns(pl.PliantWarning, match="does not explain"):
        found = draw(case)
    low, high = found.interval("young")
    assert low < case.truth["young"] < high
    assert sign in found.doubts[0] and found.widening > 10.0
    assert abs(found.values["young"] - case.truth["young"]) > 10 * found.deviation("young") / found.widening


def test_a_density_that_no_silicone_has_is_refused():
    """A mesh that locks is too stiff: by its sag, the finger would have to weigh five times as much."""
    with pytest.raises(CalibrationError, match=r"density would be 4.*far from 1100") as refused:
        draw(WRONG["mesh that locks, by its weight, free"])
    assert refused.value.found.values["density"] > 4000.0
    with pytest.raises(CalibrationError, match="% of what the readings did is left"):
        draw(WRONG["mesh that locks, by its weight"])


def test_what_is_known_beforehand_is_not_contradicted():
    """Where the readings are explained, but by a value that is known to be another."""
    shown = np.array(RIGHT["modulus by its weight"].shown()[0])
    record = Record(shown, {"cable": Known(effort=0.0)})
    with pytest.raises(CalibrationError, match=r"young would be .* where 6e.05 ± 3e.04 is known"):
        calibrate(finger, [record], {"young": 6e5}, markers=TOP, deviation={"young": 3e4})


def test_noise_is_not_taken_for_a_misfit_and_a_pattern_below_it_is_seen():
    """False alarms as often as stated; a way-dependent part whose square is a hundredth of the noise's."""
    rng = np.random.default_rng(4)
    loop = Loop([Record(None, laws) for laws in 20 * PULLS])
    shapes, n, channels = patterns([loop]), 200, 6
    assert set(shapes) == {"way", "size"}
    places = np.repeat(np.arange(n), channels), np.tile(np.arange(channels), n)
    A = rng.normal(size=(n * channels, 3))
    fit, freedom = (A, np.linalg.pinv(A)), n * channels - 3

    def doubts(added):
        r = rng.normal(size=n * channels) + added
        return judged(r - A @ (fit[1] @ r), fit, freedom, shapes, places)

    assert sum(doubts(0.0).size > 0.0 for _ in range(200)) <= 4
    seen = [doubts(0.25 * shapes["way"][places[0], 0]) for _ in range(20)]
    assert all(found.signs and "which way" in found.signs[0] for found in seen)
    assert np.mean([found.size for found in seen]) == pytest.approx(0.25 * np.sqrt(n * channels), rel=0.15)


def test_limits_hold_and_loops_say_what_is_wrong_with_them():
    laws = {"cable": Known(effort=1.0)}
    still, pulled = (replace(RIGHT["modulus by its weight"], laws=[law]).shown()[0] for law in ({}, laws))
    record, options = Record(pulled, laws), {"markers": TOP, "limits": {"friction": (0, 1)}}
    found = calibrate(finger, [Loop([record])], {"friction": 0.1}, noise=2e-4, **options)
    assert (
        found.interval("friction")[0] == 0.0 <= found.values["friction"] < found.interval("friction")[1] < 0.1
    )
    with pytest.raises(CalibrationError, match="pressed to its limit 1"):
        calibrate(finger, [Record(still, laws)], {"friction": 0.1}, **options)
    with pytest.raises(pl.InputError, match="limits of 'friction'"):
        calibrate(finger, [record], {"friction": 0.1}, markers=TOP, limits={"friction": (1, 2)})
    with pytest.raises(pl.InputError, match="dt of a Loop"):
        Loop([record], time_step=0.1)
    with pytest.raises(pl.InputError, match="fraction"):
        Loop([record], dt=0.25, time_step=0.1)
    with pytest.raises(pl.InputError, match="steps of a Loop"):
        Loop([])


def test_a_valve_is_a_command():
    """What came in through it stays, and the leak that a model leaves out shows while it stands."""
    opened = [Record(None, {"chamber": Valve(v)}) for v in (1.0, 1.0, 0.0, -1.0)]
    assert patterns([Loop(opened)])["way"].ravel().tolist() == [1.0, 1.0, -1.0, -1.0]
    steps = [Record(np.full((3, 3), np.nan), r.laws) for r in opened]
    with pytest.raises(pl.InputError, match="readings that are seen"):
        calibrate(chamber, [Loop(steps, dt=0.02, time_step=0.02)], {"young": 3e5}, markers=BLOCK)
