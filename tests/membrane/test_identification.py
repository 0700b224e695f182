"""Stiffness and preload of a skin from measured forces: exact data, noise, intervals, and files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.membrane.data import rubber_band as shipped
from pliant.membrane.data.rubber_band import ENDS, FILE, PRELOAD, STIFFNESS, synthesise, write
from pliant.membrane.identification import fit, predicted
from pliant.membrane.measurements import Measurements, read_measurements


def test_predicted_force_is_the_thesis_model_without_its_misprints():
    """F = −k (ΔL + L₀)(unit vectors to the roller): no ½, and a preload adds to the stretch."""
    p, (a, b) = np.array([0.05, -0.08]), np.array(ENDS)
    u, w = (p - a) / np.linalg.norm(p - a), (p - b) / np.linalg.norm(p - b)
    stretch = np.linalg.norm(p - a) + np.linalg.norm(p - b) - np.linalg.norm(b - a)
    force = predicted(Measurements.of(ENDS, [p], [[0.0, 0.0]]), 20.0, 0.3)
    assert force[0] == pytest.approx(-20.0 * (stretch + 0.3) * (u + w), rel=1e-12)
    mirrored = predicted(Measurements.of(ENDS, [p * (-1, 1)], [[0.0, 0.0]]), 20.0, 0.3)
    assert mirrored[0] == pytest.approx(force[0] * (-1, 1), rel=1e-12)


@settings(max_examples=20)
@given(st.floats(1.0, 1e3), st.floats(-0.015, 1.0), st.booleans())
def test_exact_forces_give_exact_parameters(stiffness, preload, relative):
    found = fit(synthesise(stiffness=stiffness, preload=preload, noise=0.0), relative=relative)
    assert found.stiffness.value == pytest.approx(stiffness, rel=1e-8)
    assert found.preload.value == pytest.approx(preload, rel=1e-7, abs=1e-9)
    assert found.product.value == pytest.approx(stiffness * preload, rel=1e-8, abs=1e-9 * stiffness)


def test_the_shipped_measurements():
    """60 forces with 2 % of noise: the product to 1 %, k and L₀ inside their intervals, which are wide."""
    found = fit(shipped())
    assert len(shipped()) == 60 and found.noise == pytest.approx(0.02, rel=0.25)
    assert found.product.value == pytest.approx(STIFFNESS * PRELOAD, rel=0.01)
    assert STIFFNESS in found.stiffness and PRELOAD in found.preload
    assert not found.separable and "hard to tell apart" in found.note and found.note in str(found)
    assert found.correlation < -0.7


def test_the_shipped_file_is_what_its_script_makes(tmp_path):
    assert write(tmp_path / "again.csv").read_text() == FILE.read_text()


@pytest.mark.parametrize("preload", [0.8, 0.1])
def test_intervals_hold_in_95_of_100_experiments(preload):
    """200 experiments: the intervals cover the truth as often as they say, the product is within 1 %."""
    found = [fit(synthesise(preload=preload, seed=seed)) for seed in range(200)]
    covered = lambda name, truth: np.mean([truth in getattr(one, name) for one in found])
    for name, truth in (("stiffness", STIFFNESS), ("preload", preload), ("product", STIFFNESS * preload)):
        assert 0.91 <= covered(name, truth) <= 0.99, name
    near = np.mean([abs(one.product.value / (STIFFNESS * preload) - 1.0) <= 0.01 for one in found])
    assert near >= 0.95
    assert np.mean([one.separable for one in found]) == pytest.approx(1.0 if preload < 0.2 else 0.0, abs=0.05)


def test_an_interval_may_have_no_upper_end():
    """So short deflections that k might be zero: any long preload explains the forces."""
    points = np.column_stack((np.linspace(-0.05, 0.05, 12), -np.linspace(0.002, 0.012, 12)))
    exact = predicted(Measurements.of(ENDS, points, np.zeros_like(points)), 20.0, 0.8)
    noisy = exact * (1.0 + 0.02 * np.random.default_rng(0).normal(size=exact.shape))
    found = fit(Measurements.of(ENDS, points, noisy))
    assert found.preload.high == np.inf and found.stiffness.low < 0.0 and not found.separable
    assert found.product.relative < 0.05


def test_only_the_vertical_force_and_its_direction(tmp_path):
    """As in the thesis: a strain gauge for the vertical component, a swivel for the angle.

    In millimetres and degrees.
    """
    exact = synthesise(noise=0.0)
    angle = np.degrees(np.arctan2(exact.force[:, 1], exact.force[:, 0])) + 1.0
    rows = [
        f"{1e3 * x},{1e3 * y},{1e3 * f},{a},good"
        for (x, y), (_, f), a in zip(exact.points, exact.force, angle)
    ]
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(["x [mm],y [mm],force_y [mN],angle [deg],remark", *rows]))
    found = fit(read_measurements(file, ends=ENDS))
    assert found.stiffness.value == pytest.approx(STIFFNESS, rel=1e-6)
    assert found.angle == pytest.approx(np.pi / 180.0, rel=1e-6)


def test_a_roller_of_some_size():
    """The skin lies on the roller's round: with its radius the parameters are exact, without they are not."""
    points = synthesise().points
    exact = predicted(Measurements.of(ENDS, points, np.zeros_like(points), radius=0.015), 20.0, 0.1)
    good = fit(Measurements.of(ENDS, points, exact, radius=0.015))
    assert good.stiffness.value == pytest.approx(20.0, rel=1e-8)
    assert abs(fit(Measurements.of(ENDS, points, exact)).stiffness.value / 20.0 - 1.0) > 0.01


# Bad input


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "line of names"),
        ("x,y\n0,1\n", "columns"),
        ("x,y,force_y\n0,-0.1,1\n", "pulleys"),
        ("# pulley_a = 0, 0\n# pulley_b = 1, 0\nx,y,force_y\n0.5,-0.1,one\n", "line 4"),
        ("# pulley_a = 0, 0\n# pulley_b = 1, 0\nx,y,force_y\n0.5,-0.1\n", "cells"),
        ("# pulley_a = 0, 0\n# pulley_b = 1, 0\nx [inch],y,force_y\n0.5,-0.1,1\n", "unit"),
        ("# pulley_a = 0, 0\n# pulley_b = 0, 0\nx,y,force_y\n0.5,-0.1,1\n", "apart"),
        ("# pulley_a = 0, 0\n# pulley_b = 1, 0\nx,y,force_y\n0.5,-0.1,\n", "measured component"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, word):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=word):
        read_measurements(file)
    with pytest.raises(InputError, match="readable"):
        read_measurements(tmp_path / "missing.csv")


def test_measurements_that_cannot_tell():
    point, force = [[0.0, -0.1]] * 5, [[0.0, 3.0]] * 5
    with pytest.raises(InputError, match="two different deflections"):
        fit(Measurements.of(ENDS, point, force))
    exact = synthesise(noise=0.0)
    with pytest.raises(InputError, match="sign"):
        fit(Measurements.of(ENDS, exact.points, -exact.force))
    with pytest.raises(InputError, match="confidence"):
        fit(exact, confidence=95.0)
    with pytest.raises(InputError, match="clear of the pulleys"):
        fit(Measurements.of(ENDS, [[-0.2, 0.001], [0.0, -0.1], [0.1, -0.05]], np.ones((3, 2)), radius=0.01))
