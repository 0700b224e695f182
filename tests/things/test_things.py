"""Loose things, dropped, pushed, rolled and turned, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.contact import Plane, Surroundings
from pliant.interactions import Joint
from pliant.joints import Frame

G, FRICTION = 9.81, 0.4
TABLE = Plane((0, 0, 0), (0, 0, 1), name="table")


def on_table(parts, rows, friction=FRICTION) -> pl.Robot:
    return pl.Robot(parts, rows, gravity=(0, 0, -G), surroundings=Surroundings([TABLE], friction=friction))


@pytest.mark.parametrize(
    "thing, high",
    [
        (pl.things.box((0.03, 0.02, 0.03), at=(0, 0, 0.025), density=500.0), 0.015),
        (pl.things.sphere(0.02, at=(0, 0, 0.03), density=500.0, turn=Rotation.identity()), 0.02),
        (pl.things.cylinder(0.015, 0.04, at=(0, 0, 0.03), mass=0.02), 0.02),
        (pl.things.shape(pl.mesh.tube_sheet(0.01, 0.03, caps=True), at=(0, 0, 0.025), mass=0.01), 0.015),
        (
            pl.things.box(
                (0.03, 0.03, 0.03),
                at=(0, 0, 0.025),
                density=500.0,
                material=pl.Hooke(3e5, 0.3),
                cells=(2, 2, 2),
            ),
            0.015,
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_is_dropped_comes_to_rest_and_the_table_bears_its_weight(thing, high):
    simulation = pl.Simulation(on_table(thing, {"place": pl.things.place(thing)}), time_step=4e-3)
    for _ in range(60):
        moment = simulation.step()
    height = moment.displacement["place"][2]
    assert height == pytest.approx(high, abs=2e-5)
    assert simulation.energy.kinetic < 1e-6 * thing.total_mass * G * 0.01  # of what it fell by
    if not isinstance(thing, pl.Solid):
        weight = thing.total_mass * G
        assert moment.contact_force.sum() == pytest.approx(weight, rel=1e-6)


def test_a_ball_of_cells_has_the_volume_of_one():
    soft = pl.things.sphere(0.02, density=1.0, material=pl.Hooke(1e5, 0.3), cells=8)
    assert soft.volume == pytest.approx(4 / 3 * np.pi * 0.02**3, rel=0.02)
    assert np.linalg.norm(soft.mesh.nodes, axis=1).max() == pytest.approx(0.02)


def test_a_box_is_pushed_by_as_much_as_friction_takes():
    """Along a table at a constant speed: μ m g."""
    box = pl.things.box((0.03, 0.03, 0.03), at=(0, 0, 0.015), mass=0.05)
    push = pl.Slider(box.points([[-0.015, 0, 0.0]]), (1, 0, 0))
    robot = on_table(box, {"push": pl.Row(push, pl.Known(displacement=0.0)), "pose": pl.things.pose(box)})
    simulation = pl.Simulation(robot, time_step=5e-3, scheme="euler")
    for k in range(60):
        moment = simulation.step({"push": pl.Known(displacement=2e-4 * k)})
    assert moment.effort["push"][0] == pytest.approx(FRICTION * 0.05 * G, rel=1e-6)
    assert np.abs(moment.displacement["pose"][3:]).max() < 1e-9  # straight on
    assert pl.things.grasp(moment, box).slips  # it does, on the table


def test_a_ball_between_a_table_and_a_board_rolls_half_as_far_as_the_board():
    radius, far = 0.02, 0.02
    ball = pl.things.sphere(radius, at=(0, 0, radius), density=500.0, cells=8)
    board = pl.things.box((0.12, 0.05, 0.01), at=(0, 0, 2 * radius + 0.005), density=1000.0, cells=(12, 5, 1))
    middle = (0, 0, 2 * radius + 0.005)
    frames = Frame.world(middle, axis=(0, 0, 1)), Frame(board, at=middle, axis=(0, 0, 1))
    guide = Joint("slider", *frames)  # it goes up and down as it likes, and along x and y as it is told
    robot = on_table(
        [ball, board],
        {
            "guide": pl.Row(guide, pl.Known(displacement=0.0)),
            "place": pl.things.place(ball),
            "pose": pl.things.pose(ball),
        },
    )
    simulation = pl.Simulation(robot, time_step=1e-2, scheme="euler")
    for k in range(110):
        along = np.zeros(5)
        along[:2] = max(0, k - 9) / 100 * far * (guide.a.axes[0, :2])
        moment = simulation.step({"guide": pl.Known(displacement=along)})
    rolled = moment.displacement["place"]
    assert np.linalg.norm(rolled[:2]) == pytest.approx(far / 2, rel=1e-3)
    turned = moment.displacement["pose"][3:] / robot.rows["pose"].interaction.arm
    assert np.linalg.norm(turned) == pytest.approx(far / 2 / radius, rel=0.01)


def test_the_pose_of_a_thing_is_a_target_like_any_other():
    """A free brick on drives is brought to a place and turned about a slanting axis, to rounding."""
    brick = pl.things.box((0.03, 0.02, 0.01), at=(0.1, 0, 0), density=1000.0)
    at = brick.properties.centre
    drive = Joint("weld", Frame.world((0, 0, 0)), Frame(brick, at=(0, 0, 0)))
    robot = pl.Robot(
        brick,
        {
            "drive": pl.Row(drive, pl.Bounded(displacement=(-1, 1))),
            "pose": pl.things.pose(brick, pl.Target()),
        },
    )
    arm = robot.rows["pose"].interaction.arm
    target = np.concatenate([[0.01, -0.02, 0.005], arm * 0.3 * np.array([0.6, 0.0, 0.8])])
    controller = pl.Inverse(robot)
    for _ in range(80):
        outcome = controller.step(targets={"pose": target})
    assert np.abs(outcome.displacement["pose"] - target).max() < 1e-7
    R, place = brick.pose(controller.state.q)
    assert np.allclose(place - at, target[:3], atol=1e-7)
    assert np.allclose(R, Rotation.from_rotvec(target[3:] / arm).as_matrix(), atol=1e-6)


def test_things_say_what_they_cannot_be():
    with pytest.raises(pl.InputError, match="side 1 of a box"):
        pl.things.box((0.01, -0.02, 0.01), density=1000.0)
    with pytest.raises(pl.InputError, match="shape of a soft thing: expected a volume mesh"):
        pl.things.shape(pl.mesh.sphere_sheet(0.01), material=pl.Hooke(1e5, 0.3), density=1000.0)
    with pytest.raises(pl.InputError, match="shape of a thing"):
        pl.things.shape("cup.stl", density=1000.0)
    soft = pl.things.sphere(0.01, material=pl.Hooke(1e5, 0.3), density=1000.0, cells=2)
    with pytest.raises(pl.InputError, match="pose of a thing: expected a RigidBody"):
        pl.things.pose(soft)
