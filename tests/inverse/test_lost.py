"""An actuator that breaks: the last one, one that holds the robot, and what the others do."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InputError
from pliant.inverse import MovingInverse
from pliant.session import Session


def test_the_last_actuator_lost_lets_the_robot_go_to_where_it_rests_by_itself() -> None:
    robot = pl.robots.finger()
    controller = pl.Inverse(robot)
    aside = controller.targets["tip"] + [0.0, 0.0, -0.005]
    for _ in range(5):
        before = controller.step(targets={"tip": aside})
    assert before.effort["cable"][0] > 0.0
    controller.lose("cable")
    for _ in range(5):
        after = controller.step()
    free = pl.static(robot, {"cable": pl.Known(effort=0.0)})
    assert np.abs(after.displacement["tip"] - free.displacement["tip"]).max() < 1e-6 * robot.length
    assert after.effort["cable"][0] == 0.0 and after.certificate.status == "out of reach"


def test_the_last_actuator_lost_in_contact_leaves_contacts_to_their_law() -> None:
    robot = pl.robots.finger()
    tip = pl.static(robot).displacement["tip"]
    below = pl.Sphere(tip - [0.0, 0.0, 0.02], 0.0195, name="ball")
    controller = pl.Inverse(robot, obstacles=[below])
    controller.step()
    controller.lose("cable")
    out = controller.step()
    assert (out.contact_force >= 0.0).all() and out.contacts.gap.min(initial=1.0) > -1e-4 * robot.length


def test_an_actuator_that_alone_holds_the_robot_locks_where_it_is() -> None:
    controller = pl.Inverse(pl.robots.rod())
    before = controller.step().displacement["insertion"]
    controller.lose("insertion")
    for _ in range(3):
        out = controller.step()
    assert out.displacement["insertion"] == pytest.approx(before, abs=1e-9)
    assert "insertion" not in out.command


def test_the_last_actuator_may_be_lost_in_motion() -> None:
    controller = MovingInverse(pl.robots.finger())
    controller.step()
    controller.lose("cable")
    assert controller.step().effort["cable"][0] == 0.0


@pytest.mark.parametrize(("robot", "row"), [(pl.robots.finger, "cable"), (pl.robots.rod, "insertion")])
def test_a_session_goes_on_without_it(robot, row) -> None:
    session = Session(robot())
    session.step()
    session.lose(row)
    frame = session.step()
    assert frame.lost == (row,) and np.isfinite(frame.positions).all()
    session.mend(row)
    assert session.step().lost == ()


def test_a_robot_that_never_had_an_actuator_is_refused() -> None:
    with pytest.raises(InputError, match="Bounded"):
        pl.Inverse(pl.robots.finger(), laws={"cable": pl.Known(effort=0.0)})
