"""Calibration: material, zeros of drives and the tracker's place from recorded poses, and how sure."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.laws import Known
from pliant.sensing import Record, Rigid, calibrate, instrumented

TRUE = {"root": 3.3e5, "tip": 1.8e5, "poisson": 0.40}
OFFSET = 7e-4  # [m], where the winch has its zero
MARKERS = [[x, y, z] for x in (0.025, 0.05, 0.075, 0.1) for y in (0.0, 0.02) for z in (0.0, 0.02)]
TRACKER = Rigid(Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix(), np.array([0.5, 1.0, -0.3]))
LOADS = ((0.001, (0.8, 0, 0.05)), (0.003, (1.5, 0.1, 0)), (0.005, (-0.5, 0, -0.1)), (0.002, (0.2, 0.15, 0.1)))
LAWS = [{"cable": Known(displacement=pull), "load": Known(effort=force)} for pull, force in LOADS]


def halves():
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1))
    return mesh.with_regions((mesh.nodes[mesh.cells].mean(axis=1)[:, 0] > 0.05).astype(int))


def bar(root, tip, poisson):
    """Two regions, a cable above the axis, a load at the end."""
    law = {
        0: pl.Hooke(young=root, poisson=poisson),
        1: pl.Hooke(young=tip, poisson=poisson),
    }
    body = pl.Solid(halves(), law, density=1100, fixed=lambda x: x[:, 0] < 1e-9, order=1)
    path = [[x, 0.01, 0.016] for x in np.linspace(0, 0.1, 6)]
    rows = {
        "cable": pl.Row(pl.Cable(body.points(path)), pl.Bounded()),
        "load": pl.Row(pl.PointForce(body.points([[0.1, 0.01, 0.01]])), pl.Bounded()),
    }
    return instrumented(pl.Robot(body, rows, gravity=(0, 0, -9.81)), MARKERS)


@pytest.fixture(scope="module")
def truth():
    """What markers show in every pose, (n, 3) [m], in the robot's coordinates."""
    robot, shown = bar(**TRUE), []
    for laws in LAWS:
        pulled = Known(displacement=laws["cable"].displacement + OFFSET)
        shown.append(pl.static(robot, {**laws, "cable": pulled}).displacement["markers"].reshape(-1, 3))
    return shown


def records(truth, noise, rng, transform=TRACKER):
    place = transform.inverse.apply
    return [
        Record(place(x + noise * rng.normal(size=x.shape)), laws) for x, laws in zip(truth, LAWS, strict=True)
    ]


def test_everything_is_found_at_once(truth, within):
    """Two moduli, Poisson's ratio, a winch's zero and the tracker's place, with noise and hidden markers."""
    taken = records(truth, 1e-6, np.random.default_rng(0))
    taken[1].readings[[0, 3]] = np.nan
    start = {"root": 2.5e5, "tip": 2.5e5, "poisson": 0.3}
    found = calibrate(bar, taken, start, offsets=["cable"], transform=True, noise=1e-6)
    assert found.converged and found.undetermined == ()
    for name, value in TRUE.items():
        assert abs(found.values[name] - value) < 4 * found.deviation(name) < 0.01 * value
    within(found.offsets["cable"] - OFFSET, 4 * found.deviation("cable"), "offset [m]")
    here = np.array([[0.05, 0.01, 0.01]])  # where the robot is
    within(found.transform.apply(TRACKER.inverse.apply(here)) - here, 1e-6, "tracker [m]")
    assert found.misfit == pytest.approx(1.0, abs=0.25)
    assert found.commands(LAWS[0])["cable"].displacement == pytest.approx(0.001 + OFFSET, abs=1e-6)
    assert found.commands(LAWS[0])["load"] is LAWS[0]["load"]
    model = pl.static(found.robot, found.commands(LAWS[2])).displacement["markers"].reshape(-1, 3)
    within(model - truth[2], 5e-6, "calibrated model [m]")


def test_deviations_are_what_they_say(truth):
    """95 % intervals and variances over 18 sets of records with 0.1 mm of noise, ten numbers each."""
    rng, off, made = np.random.default_rng(3), [], cache(bar)
    for _ in range(18):
        taken = records(truth, 1e-4, rng)[:3]
        found = calibrate(made, taken, TRUE, offsets=["cable"], transform=TRACKER, noise=1e-4)
        turn = Rotation.from_matrix(TRACKER.rotation @ found.transform.rotation.T)
        shift = TRACKER.translation - turn.apply(found.transform.translation)
        error = [found.values[name] - value for name, value in TRUE.items()]
        error += [found.offsets["cable"] - OFFSET, *turn.as_rotvec(), *shift]
        off.append(np.array(error) / [found.deviation(name) for name in found.names])
        low, high = found.interval("root")
        assert (low <= TRUE["root"] <= high) == (abs(off[-1][0]) <= 1.959964)
    # 180 numbers that depend on each other: σ of the share is about 2 %, that of the mean square about 15 %.
    assert 0.90 <= np.mean(np.abs(off) <= 1.959964) <= 0.99
    assert np.mean(np.square(off)) == pytest.approx(1.0, abs=0.4)


def test_a_modulus_without_known_loads_is_not_determined():
    """Pulled by length only, the shape does not depend on the modulus: a warning, unless it has a prior."""

    def build(young):
        body = pl.Solid(
            halves(), pl.Hooke(young=young, poisson=0.4), density=0.0, fixed=lambda x: x[:, 0] < 1e-9, order=1
        )
        path = [[x, 0.01, 0.016] for x in np.linspace(0, 0.1, 6)]
        return instrumented(pl.Robot(body, {"cable": pl.Row(pl.Cable(body.points(path)))}), MARKERS)

    laws = {"cable": Known(displacement=0.004)}
    taken = [Record(pl.static(build(2e5), laws).displacement["markers"], laws)]
    with pytest.warns(pl.PliantWarning, match="young"):
        found = calibrate(build, taken, {"young": 3e5})
    assert found.undetermined == ("young",) and np.isinf(found.deviation("young"))
    assert "not determined: young" in str(found)
    known = calibrate(build, taken, {"young": 3e5}, deviation={"young": 1e4})
    assert known.values["young"] == pytest.approx(3e5) and known.deviation("young") == pytest.approx(
        1e4, rel=1e-3
    )


def test_other_sensors_and_known_beforehand(within):
    """The length of a string as the only reading; the prior of the modulus weighs as its deviation says."""

    def build(young):
        body = pl.Solid(
            halves(),
            pl.Hooke(young=young, poisson=0.4),
            density=1100,
            fixed=lambda x: x[:, 0] < 1e-9,
            order=1,
        )
        path = [[x, 0.01, 0.016] for x in np.linspace(0, 0.1, 6)]
        rows = {
            "string": pl.Row(pl.Cable(body.points(path)), pl.Measured()),
            "load": pl.Row(pl.PointForce(body.points([[0.1, 0.01, 0.01]]), direction=(0, 0, -1))),
        }
        return pl.Robot(body, rows)

    laws = {"load": Known(effort=0.05)}
    taken = [Record(pl.static(build(2e5), laws).displacement["string"], laws)]
    found = calibrate(build, taken, {"young": 3e5}, noise={"string": 1e-6})
    within(found.values["young"] / 2e5 - 1.0, 1e-4, "modulus")
    assert np.isnan(found.misfit)  # one reading, one number
    sigma = found.deviation("young")
    both = calibrate(
        build, taken, {"young": 2e5 + 2 * sigma}, deviation={"young": sigma}, noise={"string": 1e-6}
    )
    assert both.values["young"] == pytest.approx(2e5 + sigma, rel=2e-3)
    assert both.deviation("young") == pytest.approx(sigma / np.sqrt(2), rel=5e-2)


def test_questions_that_make_no_sense_are_refused(truth):
    rng = np.random.default_rng(0)
    good = records(truth, 1e-4, rng)
    with pytest.raises(pl.InputError, match="records"):
        calibrate(bar, [], TRUE)
    with pytest.raises(pl.InputError, match="something to fit"):
        calibrate(lambda: bar(**TRUE), good)
    with pytest.raises(pl.InputError, match="offset of 'load'"):
        calibrate(bar, good, TRUE, offsets=["load"])
    with pytest.raises(pl.InputError, match="poison"):
        calibrate(bar, good, TRUE, deviation={"poison": 0.1})
    with pytest.raises(pl.InputError, match="start of 'tip'"):
        calibrate(bar, good, {**TRUE, "tip": np.nan})
    with pytest.raises(pl.InputError, match="seen"):
        calibrate(bar, [Record(np.full((16, 3), np.nan), LAWS[0])], TRUE)
    with pytest.raises(pl.InputError, match="Divide by 1000"):
        calibrate(bar, [Record(1e3 * r.readings, r.laws) for r in good], TRUE, transform=True)
    shown = [Record(1e3 * x, laws) for x, laws in zip(truth, LAWS, strict=True)]
    with pytest.raises(pl.InputError, match="Divide by 1000"):
        calibrate(bar, shown, TRUE)
