"""The study of Goury 2021 in its quick setting: the paper's numbers, a basis of contacts, and pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.robots.folding_finger import folding_finger
from pliant.robots.manipulator import manipulator as spine
from pliant.studies.goury2021 import fingers, held_out, manipulator, paper, study
from pliant.studies.goury2021.lab import FULL, QUICK, Lab
from pliant.studies.goury2021.postures import DEVELOPMENT, bend, bends
from pliant.studies.setup import Setup, seed_of


@pytest.fixture(scope="module")
def lab():
    return Lab(replace(QUICK, pull=40, pulls=5, frames=40, test=1, path=30, rest=30))


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
    assert FULL.pull == paper.FINGER_SHOTS and fingers.PULL / FULL.pull == pytest.approx(5e-5)
    assert set(study.parts) == {"modes", "reach", "basis", "speed", "many"}


def test_joints_close_from_their_top_down(lab):
    found = study.parts["modes"](lab)
    assert found.passed and [p.name for p in found.pictures] == ["modes"]
    pushing = np.array(found.data["pushing"])
    assert pushing[0] == 0 and pushing[-1] > 10 and (np.diff(found.data["errors"]) < 0).all()
    (finger,) = lab.fingers()
    detector = finger.full.surroundings.detector(finger.full)
    forces = finger.shots.contact
    first = forces[np.flatnonzero(pushing)[0]]
    height = lambda f: f @ np.tile(detector.cloud.rest[:, 2], len(detector.opponents)) / f.sum()
    assert height(forces[-1]) < height(first) == pytest.approx(0.02)


def test_points_follow_the_finger_over_its_range(lab):
    """All claims but those on speed, and the models in their order: none, the paper's, ours."""
    found = study.parts["reach"](lab)
    (table,) = found.tables
    rows = {row["what"]: row for row in table.rows}
    assert all(row.get("check", True) for what, row in rows.items() if "dgemm" not in what)
    for what in ("forwards, worst", "backwards, worst"):
        assert (
            rows[what]["ours: points"] < 0.1 * rows[what]["no contact"] and rows[what]["full contact"] < 1.0
        )
    assert rows["rows"]["paper's method here"] <= paper.FINGER_MODES < rows["rows"]["ours: points"]
    drawn = found.data["the look-alike"]["pulls"]
    assert (np.diff(drawn) > 0).all() and drawn.max() < fingers.PULL


def test_without_the_authors_mesh_the_report_says_so(tmp_path):
    (tmp_path / "finger.vtk").write_text("no mesh")
    assert "look-alike" in study.robots(Setup()) and "authors' (finger.vtk)" in study.robots(
        Setup(data=tmp_path)
    )


def test_bends_pull_every_section_to_its_side():
    """The tendons' forces add up to one of the range, at most 30° from the common side; both sets differ."""
    robot = spine(length=0.3, vertebrae=3)
    direction = np.exp(2j * np.pi * np.arange(3) / 3)
    (other,) = Setup(seed_of("goury2021")).seeds("bends", 1)
    sets = {seed: bends(robot, 5, seed=seed) for seed in (*DEVELOPMENT, other)}
    assert other not in DEVELOPMENT
    for laws in (laws for found in sets.values() for laws in found):
        force = np.array([laws[f"tendon {n}"].effort for n in range(1, 10)]).reshape(3, 3)
        assert (force >= 0).all() and (force > 0).sum(axis=1).max() <= 2
        pull = force @ direction
        assert (np.abs(pull) > 24 - 1e-9).all() and (np.abs(pull) < 40 + 1e-9).all()
        apart = np.angle(pull / pull[0])
        assert np.abs(apart).max() < np.pi / 3 + 1e-9
    assert not any(one in sets[other] for seed in DEVELOPMENT for one in sets[seed])
    assert bends(robot, 3, seed=other) == sets[other][:3]


def test_modes_replace_the_contacts_of_the_manipulator(lab):
    found = study.parts["basis"](lab)
    wrong = [c.name for c in found.checks if c.passed is False and not c.name.startswith("held out")]
    assert not wrong
    assert found.data["hals"]["16"] < 0.1 * found.data["no contact"]
    (none,), (share,) = found.data["held-out errors without contact"], found.data["held-out shares"]["16"]
    assert (
        none > held_out.CONTACT_MATTERS and 0 < share < 0.6
    )  # most of the error is gone, on a posture nothing was chosen on
    score = held_out.Score(np.array([1e-3, 4e-3]), np.array([0.1, 0.1]))
    assert score.median == pytest.approx(0.025) and score.worst == pytest.approx(0.04)


def test_reduced_steps_are_steps(lab, monkeypatch):
    fit = lab.fit(16)
    moment = manipulator._steps(fit.robot, lab.bent(fit.robot).state, 32.0)()
    assert 0 < len(moment.contacts) <= 16 and moment.contact_force.sum() > 1.0
    rest = lab.bent(lab.fit(16).robot).displacement["tip"]
    assert np.linalg.norm(moment.displacement["tip"] - rest) < 1e-3
    assert bend(1.0).keys() == {"tendon 1", "tendon 4", "tendon 7"}
    monkeypatch.setattr(manipulator, "ROUNDS", 1)
    states = lab.bent(fit.robot).state, lab.bent(lab.manipulator(False)).state
    assert min(manipulator._compared(lab.setting.spine, fit.basis, states)) > 0.0
