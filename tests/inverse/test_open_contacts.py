"""Contacts that a step cannot close are left out of it, and what it closes nevertheless comes in again."""

import numpy as np
import pytest

from pliant.inverse import condensed, model, program
from pliant.inverse.condensed import InverseRows
from pliant.robots import follow, scenes

STEPS, ALL = 40, 10**6


def path(name: str) -> np.ndarray:
    """The first coordinates (STEPS, nq) on the path of a scene, by the length of its robot."""
    scene = scenes[name]()
    outcomes = zip(follow(scene, steps=100), range(STEPS), strict=False)
    return np.array([out.q for out, _ in outcomes]) / scene.robot.length


@pytest.mark.parametrize("name", ["tower", "two bodies"])
def test_the_path_is_that_with_all_contacts(name, monkeypatch):
    """As the rule leaves contacts out, and where all that push nothing are left out at first.

    Some steps are solved again then. What keeps efforts low is scaled by W of the rows that are there, so
    that paths differ a little where contacts move the effectors; here it has one scale for all steps.
    """
    again, whole, chosen, scale = [], model.with_more_rows, InverseRows.of, program.work_scale
    scales: list[float] = []
    monkeypatch.setattr(model, "with_more_rows", lambda *given: again.append(1) or whole(*given))
    monkeypatch.setattr(program, "work_scale", lambda *W: scales.append(scale(*W)) or scales[0])
    monkeypatch.setattr(condensed, "FEW_CONTACTS", ALL)
    reference = path(name)
    monkeypatch.setattr(condensed, "FEW_CONTACTS", 0)
    assert np.abs(path(name) - reference).max() < 1e-9
    monkeypatch.setattr(InverseRows, "of", lambda roles, view, *how_far: chosen(roles, view, 0.0, 0.0, False))
    assert np.abs(path(name) - reference).max() < 1e-9
    assert len(again) > 0
