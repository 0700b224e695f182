"""Every robot of the gallery that can be led by its effector goes where its own statics says it can."""

import numpy as np
import pytest

from pliant.laws import Known
from pliant.robots import gallery
from pliant.session import Session
from pliant.static import static

SHARE = 0.4  # of the commands of the demonstration
STEPS = 60
ELSEWHERE = (
    "two_bodies"  # nothing moves its effector before the wall touches it: see tests/robots/test_scenes.py
)


def weaker(law: Known) -> Known:
    """A share of a command."""
    less = lambda value: None if value is None else SHARE * np.asarray(value)
    return Known(effort=less(law.effort), displacement=less(law.displacement))


@pytest.mark.parametrize("name", sorted(gallery.keys() - {ELSEWHERE}))
def test_a_robot_goes_where_statics_says_it_can(name):
    entry = gallery[name]
    robot = entry.build()
    session = Session(robot)
    if session.mode != "inverse":
        pytest.skip("no effector, or no actuator")
    there = static(robot, {row: weaker(law) for row, law in entry.laws.items()}, load_steps=4)
    begin = session.step()
    for row in session.effectors:
        session.aim(row, there.displacement[row])
    frames = [session.step() for _ in range(STEPS)]
    goal = there.displacement[entry.effector]
    assert np.linalg.norm(goal - begin.displacement[entry.effector]) > 0.02 * robot.length  # a way to go
    assert frames[-1].status == "reached"
    assert frames[-1].distance[entry.effector] < 1e-3 * robot.length
