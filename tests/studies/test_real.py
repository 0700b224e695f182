"""The study of recorded robots: the recordings, what is measured in them, and the simplest fits."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.materials import NeoHookean
from pliant.static import static
from pliant.studies import registry
from pliant.studies.real import arm, study
from pliant.studies.real.beam import INCUMBENT, INCUMBENT_YOUNG, POISSON, fall, measured
from pliant.studies.real.emio import baselines
from pliant.studies.real.lab import FULL, QUICK, Lab
from pliant.studies.real.legs import turned
from pliant.studies.real.recordings import DATA, LOADS, emio, settled_beam, swinging_beam, tendon_arm
from pliant.studies.real.swing import Swing
from pliant.studies.setup import Setup


@pytest.fixture(scope="module")
def lab():
    return Lab(QUICK, Setup())


def test_it_is_a_study():
    assert registry["real"] is study and list(study.parts) == ["beam", "swing", "arm", "emio", "legs"]
    assert FULL.cells > QUICK.cells and FULL.time_step < QUICK.time_step


def test_recordings_stand_beside_their_licences():
    assert {p.name for p in DATA.glob("LICENSE-*")} == {
        "LICENSE-emio",
        "LICENSE-silicone-beam",
        "LICENSE-tendon-arm",
    }
    for load in LOADS:
        takes, (t, x) = settled_beam()[load], swinging_beam(load)
        assert len(takes) == 2 and len(takes[0]) == 6
        held, settled = takes[0]["Tip - 1"]
        assert np.isclose(x[:20].mean(), held[0], atol=2e-5) and np.isclose(
            x[-50:].mean(), settled[0], atol=2e-5
        )
        assert np.isclose(np.diff(t), 0.01).all()
    assert emio()[0].shape == (515, 3)
    assert np.isclose(measured("gravity")[0][0], 6.638e-3, atol=1e-6)


def test_a_swing_is_measured():
    """Frequency, decay and creep of a curve that is known."""
    t = np.arange(0.0, 5.0, 0.01)
    s = np.maximum(t - 0.5, 0.0)
    down = 0.01 * (1 - np.exp(-1.5 * s) * np.cos(2 * np.pi * 5.0 * s)) + 0.001 * (1 - np.exp(-s / 2.0))
    swing = Swing(t, 0.07 - np.where(t > 0.5, down, 0.0))
    assert np.isclose(swing.frequency, 5.0, rtol=0.01)
    assert np.isclose(swing.decay, 1.5, rtol=0.03)
    assert np.isclose(swing.creep, 0.001 * (np.exp(-0.5) - np.exp(-1.5)), rtol=0.03)


def test_the_beam_falls_as_the_incumbents_under_its_own_weight(lab):
    ours = fall(NeoHookean(INCUMBENT_YOUNG, POISSON), "gravity", lab)
    assert np.isclose(ours, INCUMBENT["gravity"], rtol=0.02)


def test_the_simplest_fits(lab):
    """Affine from 51 poses misses by a millimetre, and a fit on inner poses by more on the outer ones."""
    found = baselines(lab)
    rows = {(r["poses"], r["who"]): r for r in found.tables[0].rows}
    assert 0.95 < rows[51, "affine"]["on others"] < 1.15 < rows[10, "affine"]["on others"] < 1.4
    assert rows[51, "affine"]["on outer"] > rows[51, "affine"]["on others"]
    assert all(
        rows[n, "affine"]["on outer"] < rows[n, "incumbent less its mean error"]["on outer"] for n in (10, 51)
    )


def test_ten_poses_of_the_tendon_arm():
    """They are spread over the inner strokes; an affine map of them misses the outer tips by 8 mm."""
    a, tips = tendon_arm()
    assert a.shape == tips.shape == (1000, 3) and a.max() <= 0.01 and (a.min(axis=1) == 0.0).all()
    order = np.argsort(a.max(axis=1), kind="stable")
    known = arm.spread(a, order[:500], 10, np.random.default_rng(0))
    apart = np.linalg.norm(a[known][:, None] - a[known], axis=2)[np.triu_indices(10, 1)]
    assert len(set(known)) == 10 and apart.min() > 1.5e-3
    off = np.linalg.norm(arm.affine(a[known], tips[known], a[order[500:]]) - tips[order[500:]], axis=1)
    assert 6e-3 < off.mean() < 12e-3


def test_the_arm_bends_to_the_cable_that_is_pulled():
    """By its closed form for one cable: θ = a lever/(lever² + EI/EA), a circle of the length that is left."""
    robot = arm.arm(**arm.START)
    pull, lever = 0.004, arm.LEVER
    tip = static(robot, arm.pulled(np.array([pull, 0.0, 0.0]))).displacement["tip"]
    angle = 0.5 * pull / lever  # axial = 1: half of the pull shortens the arm
    left = arm.START["length"] - 0.5 * pull
    assert np.allclose(tip[:2], left / angle * np.array([np.sin(angle), 1 - np.cos(angle)]), rtol=0.02)
    assert abs(tip[2]) < 1e-9


def test_the_trackers_axes_are_turned_not_mirrored():
    assert np.isclose(np.linalg.det(turned(np.eye(3))), 1.0)
    assert turned(np.array([[0.0, 1.0, 0.0]])).tolist() == [[0.0, 0.0, 1.0]]
