"""The study of recorded robots: the recordings, what is measured in them, and the simplest fits."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.materials import NeoHookean
from pliant.studies import registry
from pliant.studies.real import study
from pliant.studies.real.beam import INCUMBENT, INCUMBENT_YOUNG, POISSON, fall, measured
from pliant.studies.real.emio import baselines
from pliant.studies.real.lab import FULL, QUICK, Lab
from pliant.studies.real.recordings import DATA, LOADS, emio, settled_beam, swinging_beam
from pliant.studies.real.swing import Swing
from pliant.studies.setup import Setup


@pytest.fixture(scope="module")
def lab():
    return Lab(QUICK, Setup())


def test_it_is_a_study():
    assert registry["real"] is study and list(study.parts) == ["beam", "swing", "emio"]
    assert FULL.cells > QUICK.cells and FULL.time_step < QUICK.time_step


def test_recordings_stand_beside_their_licences():
    assert {p.name for p in DATA.glob("LICENSE-*")} == {"LICENSE-emio", "LICENSE-silicone-beam"}
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
