"""Drives and contacts that support a robot whose tangent is indefinite, and the program on what they lend."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.inverse.supporting import supporting

EFFECTOR, DRIVE, CONTACT = 0, 1, 2
K = np.diag([-1.0, 2.0, 3.0, 4.0])  # buckles along the first coordinate
LOAD = np.array([0.3, -0.2, 0.5, 0.1])
EXACT = 1e-9


def condensed(touching: float):
    """H, W, δ and δ_free of an effector, a drive and a contact that holds the first coordinate so well."""
    H = np.array([[0.4, 1.0, 0.0, 0.5], [0.05, 0.3, 1.0, 0.2], [touching, 0.1, 0.0, -0.3]])
    here = np.array([0.0, 0.02, 0.0])
    return H, H @ np.linalg.solve(K, H.T), here, here + H @ np.linalg.solve(K, LOAD)


@pytest.mark.parametrize("touching", [1.0, 3.0])
def test_what_pushes_supports_a_robot_that_its_drives_do_not_support(touching):
    _, W, here, _ = condensed(touching)
    assert supporting(W, here, np.array([False, True, False]), 1) is None
    found = supporting(W, here, np.array([False, True, True]), 1)
    assert found is not None
    stiffened, _ = found.stiffened(W, here)
    assert np.linalg.eigvalsh(stiffened).min() > 0.0


def test_a_contact_that_stays_closed_is_as_stiff_as_it_is():
    """The motion is that of K dq = r + Hᵀλ with the contact's gap kept, whatever was lent."""
    H, W, here, free = condensed(1.0)
    found = supporting(W, here, np.array([False, True, True]), 1)
    assert found is not None
    stiffened, moved = found.stiffened(W, free)
    chosen = np.array([0.0, 0.7, 0.0])  # λ' of the drive; of the contact what keeps it closed
    chosen[CONTACT] = -(moved[CONTACT] + stiffened[CONTACT] @ chosen) / stiffened[CONTACT, CONTACT]
    efforts = found.efforts(chosen, stiffened, moved)
    dq = np.linalg.solve(K, LOAD + H.T @ efforts)
    assert abs(H[CONTACT] @ dq) < EXACT and efforts[CONTACT] == pytest.approx(chosen[CONTACT])
    np.testing.assert_allclose(here + H @ dq, moved + stiffened @ chosen, atol=EXACT)


def test_rows_that_say_the_same_twice_support_like_one():
    _, W, here, _ = condensed(1.0)
    twice = [EFFECTOR, DRIVE, CONTACT, CONTACT]
    W, here = W[np.ix_(twice, twice)], here[twice]
    found = supporting(W, here, np.array([False, True, True, True]), 1)
    assert found is not None and np.linalg.eigvalsh(found.stiffened(W, here)[0]).min() > -EXACT
