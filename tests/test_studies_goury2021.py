"""The study of Goury 2021 in its quick setting: the paper's numbers, a basis that replaces contact, and pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.robots.folding_finger import folding_finger
from pliant.studies.goury2021 import manipulator, paper, study
from pliant.studies.goury2021.lab import FULL, QUICK, Lab, bend


@pytest.fixture(scope="module")
def lab():
    return Lab(replace(QUICK, pull=40, seeds=0))


def test_the_finger_is_that_of_the_paper():
    robot = folding_finger()
    assert robot.by_role("actuator") == ["cable"] and len(robot.surroundings.samples) == paper.FINGER_POINTS
    detector = robot.surroundings.detector(robot)
    assert len(detector.detect(robot.rest.q)) == 0 and detector.penetration(robot.rest.q) == 0.0
    assert folding_finger(contact=False).surroundings.empty(robot)
    with pytest.raises(ValueError, match="spine"):
        folding_finger(spine=0.03)
    with pytest.raises(ValueError, match="opening"):
        folding_finger(opening=0.1)


def test_settings_are_those_of_the_paper():
    assert FULL.posture == 120 and FULL.modes == paper.MANIPULATOR_MODES
    assert set(study.parts) == {"modes", "inverse", "basis", "speed"}


def test_joints_close_from_their_top_down(lab):
    found = study.parts["modes"](lab)
    assert found.passed and [p.name for p in found.pictures] == ["modes"]
    pushing = np.array(found.data["pushing"])
    assert pushing[0] == 0 and pushing[-1] > 20 and (np.diff(found.data["errors"]) < 0).all()
    detector = lab.finger().surroundings.detector(lab.finger())
    forces = lab.finger_shots().contact
    first = forces[np.flatnonzero(pushing)[0]]
    height = lambda f: f @ np.tile(detector.cloud.rest[:, 2], len(detector.opponents)) / f.sum()
    assert height(forces[-1]) < height(first) == pytest.approx(0.02)


def test_modes_replace_the_contacts_of_the_manipulator(lab):
    found = study.parts["basis"](lab)
    assert found.passed, [c for c in found.checks if c.passed is False]
    assert found.data["hals"]["16"] < 0.1 * found.data["no contact"]


def test_reduced_steps_are_steps(lab):
    step = manipulator._steps(lab, lab.fit(16).robot, 32.0)
    moment = step()
    assert 0 < len(moment.contacts) <= 16 and moment.contact_force.sum() > 1.0
    rest = lab.bent(lab.fit(16).robot).displacement["tip"]
    assert np.linalg.norm(moment.displacement["tip"] - rest) < 1e-3
    assert bend().keys() == {"tendon 1", "tendon 4", "tendon 7"}
