"""Sessions: the same answers as the solvers they drive, commands that hold, words that tell."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.session import Session
from tests.studio.robots import bar

GOAL = np.array([0.098, 0.01, 0.02])


def steps(session, count):
    for _ in range(count):
        session.step()
    return session.frame


@pytest.fixture(scope="module")
def robot():
    return bar()


def test_it_begins_at_rest_under_gravity(robot):
    frame, resting = Session(robot).frame, pl.static(robot)
    np.testing.assert_allclose(frame.positions, resting.positions, atol=1e-8)
    assert frame.step == 0 and frame.time == 0.0 and "push" not in frame.effort


def test_inverse_mode_is_the_inverse_model(robot):
    session, controller = Session(robot), pl.Inverse(robot)
    session.aim("tip", GOAL)
    for _ in range(6):
        frame, outcome = session.step(), controller.step({"tip": GOAL})
    np.testing.assert_allclose(frame.positions, outcome.positions, atol=1e-9)
    np.testing.assert_allclose(frame.effort["upper"], outcome.effort["upper"], rtol=1e-6)


def test_forward_mode_ends_in_the_equilibrium_of_its_commands(robot):
    session = Session(robot, mode="forward")
    session.drive("upper", displacement=0.012)
    frame = steps(session, 30)
    slack = pl.static(robot).displacement["lower"][0]  # where the other drive was, and stays
    laws = {"upper": pl.Known(displacement=0.012), "lower": pl.Known(displacement=slack)}
    alone = pl.static(robot, laws)
    np.testing.assert_allclose(frame.displacement["tip"], alone.displacement["tip"], atol=2e-6)
    assert frame.status == "holds" and frame.displacement["upper"][0] == pytest.approx(0.012, abs=1e-7)


def test_a_forward_command_takes_many_small_hops(robot):
    session = Session(robot, mode="forward")
    session.drive("upper", displacement=0.03)
    pulled = [session.step().displacement["upper"][0] for _ in range(5)]
    assert np.all(np.diff(pulled) > 0) and pulled[-1] < 0.015


def test_commands_are_clipped_to_limits_and_said_so(robot):
    session = Session(robot, mode="forward")
    session.drive("upper", displacement=1.0)
    frame = steps(session, 30)
    assert frame.command["upper"][0] == 0.03
    assert frame.limits == ("upper: largest displacement",) and "largest displacement" in frame.words


def test_effort_and_displacement_commands_agree(robot):
    session = Session(robot, mode="forward")
    session.drive("upper", effort=2.0)
    first = steps(session, 25)
    assert first.effort["upper"][0] == pytest.approx(2.0)
    session.drive("upper", displacement=first.displacement["upper"][0])
    second = steps(session, 3)
    np.testing.assert_allclose(second.displacement["tip"], first.displacement["tip"], atol=1e-6)
    assert second.effort["upper"][0] == pytest.approx(2.0, rel=1e-3)


def test_nothing_is_solved_again_at_rest(robot):
    session = Session(robot, mode="forward")
    first = session.step()
    second = session.step()
    assert second.timings == {} and np.array_equal(first.positions, second.positions)
    assert second.time > first.time


def test_switching_modes_moves_nothing(robot):
    session = Session(robot)
    session.aim("tip", GOAL)
    before = steps(session, 40)
    session.switch("forward")
    held = steps(session, 2)
    np.testing.assert_allclose(held.positions, before.positions, atol=3e-5)
    session.switch("inverse")
    again = steps(session, 2)
    np.testing.assert_allclose(again.target["tip"], held.displacement["tip"], atol=1e-9)
    np.testing.assert_allclose(again.displacement["tip"], held.displacement["tip"], atol=1e-4)


def test_a_push_moves_the_body_as_a_point_force_does(robot, within):
    """The hand's row is the same physics as a PointForce built into the robot."""
    body, force = robot.body, np.array([0.0, 0.02, 0.03])
    where = np.array([0.1, 0.02, 0.02])
    rows = {**robot.rows, "force": pl.Row(pl.PointForce(body.points([where])), pl.Known(effort=force))}
    built = pl.static(pl.Robot(body, rows, gravity=robot.gravity), {"upper": pl.Known(effort=0.0)})
    session = Session(robot, mode="forward")
    for name in ("upper", "lower"):
        session.drive(name, effort=0.0)
    corner = int(np.argmin(np.linalg.norm(session.stage.rest - where, axis=1)))
    session.push([corner], [1.0], force)
    frame = steps(session, 3)
    moved = np.linalg.norm(built.positions - robot.positions(robot.rest.q), axis=1).max()
    within(np.abs(frame.positions - built.positions).max() / moved, 1e-3, "push against point force")
    np.testing.assert_allclose(frame.push.force, force)
    session.release()
    assert steps(session, 2).push is None
    np.testing.assert_allclose(session.frame.positions, pl.static(robot).positions, atol=1e-6)


def test_a_push_is_felt_in_inverse_mode(robot):
    """The hand would lift the tip by some way; the lower cable pulls against it."""
    tip = int(np.argmin(np.linalg.norm(Session(robot).stage.rest - [0.1, 0.01, 0.02], axis=1)))
    lift = {}
    for mode in ("forward", "inverse"):
        session = Session(robot, mode=mode)
        before = steps(session, 10)
        session.push([tip], [1.0], (0.0, 0.0, 0.05))
        after = steps(session, 15)
        lift[mode] = after.displacement["tip"][2] - before.displacement["tip"][2]
    assert lift["forward"] > 0.002
    assert abs(lift["inverse"]) < 0.2 * lift["forward"]
    assert after.effort["lower"][0] > before.effort["lower"][0] + 0.05


def test_a_lost_cable_pulls_no_more_and_can_be_mended(robot):
    session = Session(robot)
    session.aim("tip", GOAL)
    before = steps(session, 30)
    assert before.effort["upper"][0] > 0.1
    session.lose("upper")
    frame = steps(session, 5)
    assert frame.effort["upper"][0] == 0.0 and frame.lost == ("upper",) and "cut" in frame.words
    assert frame.distance["tip"] > before.distance["tip"] + 0.005
    session.mend("upper")
    assert steps(session, 40).distance["tip"] < before.distance["tip"] + 2e-4


def test_all_actuators_may_be_lost(robot):
    session = Session(robot)
    session.lose("upper")
    session.lose("lower")
    frame = steps(session, 5)
    np.testing.assert_allclose(frame.positions, pl.static(robot).positions, atol=1e-6)


@pytest.mark.parametrize("mode", ["inverse", "forward"])
def test_obstacles_push_and_never_pull(robot, mode):
    """A ball under the tip holds it up: its force points up, and the tip is higher than without."""
    free = pl.static(robot)
    tip = free.displacement["tip"]
    session = Session(robot, mode=mode)
    name = session.add(pl.Sphere(tip + np.array([-0.01, 0.0, -0.018]), 0.01))
    if mode == "inverse":
        session.aim("tip", tip - [0.0, 0.0, 0.01])
    frame = steps(session, 15)
    assert len(frame.touch) and set(frame.touch.opponent) == {name}
    assert frame.touch.force[:, 2].sum() > 0 and frame.touch.total > 0
    assert f"Touches {name}" in frame.words
    session.remove(name)
    assert not len(steps(session, 3).touch) and not frame.obstacles.keys() - {name}


def test_obstacles_move_by_their_centre(robot):
    session = Session(
        robot, obstacles=[pl.Sphere((0.05, 0.01, 0.1), 0.01), pl.Plane((0, 0, -0.2), (0, 0, 1))]
    )
    session.move("sphere", (0.06, 0.01, 0.09))
    frame = session.step()
    assert frame.obstacles["sphere"]["centre"] == [0.06, 0.01, 0.09]
    assert list(frame.obstacles) == ["sphere", "plane"]


def test_obstacles_of_the_robots_surroundings_can_be_moved():
    ball = pl.Sphere((0.05, 0.01, 0.1), 0.01, name="ball")
    robot = bar(surroundings=pl.contact.Surroundings([ball]))
    session = Session(robot)
    session.move("ball", (0.05, 0.01, 0.2))
    session.step()
    assert robot.surroundings.obstacles[0] is ball  # the robot given stays as it is
    session.reset()
    np.testing.assert_allclose(session.frame.obstacles["ball"]["centre"], (0.05, 0.01, 0.1))


def test_reset_is_the_beginning(robot):
    session = Session(robot)
    first = session.frame.positions.copy()
    session.aim("tip", GOAL)
    session.add(pl.Sphere((0.05, 0.01, 0.1), 0.01))
    session.lose("lower")
    steps(session, 5)
    session.reset()
    assert session.frame.step == 0 and not session.frame.obstacles and not session.frame.lost
    np.testing.assert_allclose(session.frame.positions, first, atol=1e-12)


def test_reset_may_keep_mode_and_obstacles(robot):
    session = Session(robot)
    first = session.frame.positions.copy()
    session.switch("forward")
    session.add(pl.Sphere((0.05, 0.01, 0.1), 0.01))
    session.move("sphere", (0.05, 0.01, 0.2))
    session.drive("upper", displacement=0.01)
    steps(session, 3)
    session.reset(keep=True)
    assert session.mode == "forward" and session.frame.step == 0 and list(session.obstacles) == ["sphere"]
    np.testing.assert_allclose(session.frame.obstacles["sphere"]["centre"], (0.05, 0.01, 0.2))
    np.testing.assert_allclose(session.frame.positions, first, atol=1e-9)


def test_targets_begin_where_the_robot_hangs():
    """One that is where the undeformed robot has its tip; another stays."""
    session = Session(pl.robots.cantilever())
    hanging = session.frame.displacement["tip"]
    assert np.linalg.norm(session.frame.error["tip"]) > 0.01
    session.hang()
    np.testing.assert_allclose(session.frame.target["tip"], hanging)
    session.step()
    np.testing.assert_allclose(session.frame.displacement["tip"], hanging, atol=1e-5)
    session.aim("tip", hanging + np.array([0.0, 0.0, 0.01]))
    session.hang()
    np.testing.assert_allclose(session.frame.error["tip"], [0.0, 0.0, 0.01], atol=1e-5)


def test_fields_are_those_of_the_body(robot):
    session = Session(robot)
    session.aim("tip", GOAL)
    frame = steps(session, 5)
    q = session.state.q
    np.testing.assert_allclose(session.field("stress"), robot.body.stress(q, "von_mises", at="nodes"))
    moved = np.linalg.norm(frame.positions - robot.body.mesh.nodes, axis=1)
    np.testing.assert_allclose(session.field("displacement"), moved)
    assert session.field("strain").shape == moved.shape and (session.field("strain") >= 0).all()


def test_words_say_why_it_stops(robot):
    session = Session(robot)
    session.aim("tip", (0.1, 0.01, 0.09))
    frame = steps(session, 80)
    assert (
        frame.status == "at its limits"
        and "stops" in frame.words
        and "upper is at its largest" in frame.words
    )


def test_an_obstacle_in_the_way_is_named(robot):
    """A floor below the tip, a target below the floor: the tip creeps at its best; the words say why."""
    session = Session(robot)
    tip = session.frame.displacement["tip"]
    session.add(pl.Plane(tip - np.array([0.0, 0.0, 0.012]), (0, 0, 1)))
    session.aim("tip", tip - np.array([0.0, 0.0, 0.02]))
    frame = steps(session, 90)
    assert frame.status in ("out of reach", "at its limits") and "Touches plane" in frame.words
    assert "plane is in its way" in frame.words or "at its" in frame.words


def test_the_skin_of_the_scene_is_closed_and_its_rows_have_limits(robot):
    stage = Session(robot).stage
    edges = np.sort(np.concatenate([stage.triangles[:, [i, (i + 1) % 3]] for i in range(3)]), axis=1)
    _, count = np.unique(edges, axis=0, return_counts=True)
    assert (count == 2).all()
    upper = next(row for row in stage.rows if row.name == "upper")
    assert (
        upper.effort == (0.0, 2.5) and upper.displacement == (-0.03, 0.03) and upper.drive == "displacement"
    )
    assert not any(row.name == "push" for row in stage.rows) and stage.up.tolist() == [0.0, 0.0, 1.0]


def test_cavities_are_parts_of_the_skin():
    stage = pl.stage.Stage.of(pl.robots.bellows())
    name, triangles = stage.cavities[0]
    assert name == "chamber" and triangles.max() < len(stage.rest)
    p = stage.rest[triangles]
    volume = np.einsum("ti,ti->", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6
    assert volume > 0


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (lambda s: s.aim("top", (0, 0, 0)), "tip"),
        (lambda s: s.aim("tip", (0, 0)), "3 numbers"),
        (lambda s: s.aim("tip", (0, 0, np.nan)), "finite"),
        (lambda s: s.drive("tip", effort=1), "actuator"),
        (lambda s: s.drive("upper"), "effort="),
        (lambda s: s.switch("backward"), "mode"),
        (lambda s: s.move("ball", (0, 0, 0)), "ball"),
        (lambda s: s.remove("ball"), "ball"),
        (lambda s: s.add("ball"), "Sphere"),
        (lambda s: s.push([10**6], [1.0], (0, 0, 1)), "vertices"),
        (lambda s: s.lose("middle"), "actuator"),
        (lambda s: s.field("colour"), "field"),
    ],
)
def test_wrong_commands_say_what_is_wrong(robot, command, word):
    session = Session(robot)
    with pytest.raises(pl.InputError, match=word):
        command(session)
    session.step()


def test_a_robot_without_effectors_is_driven_forward(robot):
    rows = {name: row for name, row in robot.rows.items() if name != "tip"}
    session = Session(pl.Robot(robot.body, rows, gravity=robot.gravity))
    assert session.mode == "forward"
    with pytest.raises(pl.InputError, match="effector"):
        session.switch("inverse")


@pytest.mark.parametrize("name", list(pl.robots.gallery))
def test_every_robot_of_the_gallery_can_be_driven(name):
    session = Session(pl.robots.gallery[name].build())
    assert session.stiffness > 0 and len(session.stage.triangles)
    frame = session.step()
    assert np.isfinite(frame.positions).all() and frame.words
    session.switch("forward")
    assert np.isfinite(session.step().positions).all()
