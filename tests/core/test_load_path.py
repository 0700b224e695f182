"""The load path of statics: what stands in the way is met, and what is lost without equilibria is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.bodies.beams import Circle
from pliant.contact import Box, Cylinder, Detector, Plane, Sphere
from pliant.contact.detect.crossing import Crossing
from pliant.interactions import Turn
from pliant.io.facts import result_data
from pliant.joints import Frame
from pliant.mesh.lines import line
from pliant.newton import Tolerance
from pliant.static import MOST_ITERATIONS, Budget

LENGTH, SIDE = 0.1, 0.012


def finger(weight: float = 1.0) -> pl.Robot:
    """A soft finger that hangs out to the side, under a share of its weight."""
    mesh = pl.mesh.box((LENGTH, SIDE, SIDE), cells=(12, 2, 2), kind="hex")
    body = pl.Solid(mesh, pl.Hooke(young=6e4, poisson=0.45), density=1070, fixed=mesh.nodes[:, 0] < 1e-9)
    tip = body.points([[LENGTH, SIDE / 2, SIDE / 2]])
    rows = {"tip": pl.Row(pl.Position(tip)), "load": pl.Row(pl.PointForce(tip, direction=(0, 0, 1)))}
    return pl.Robot(body, rows, gravity=(0, 0, -9.81 * weight), name="finger")


def ball(aside: float) -> Sphere:
    return Sphere((0.8 * LENGTH, SIDE / 2 + aside, -0.008), 0.004, name="ball")


def test_a_finger_slips_off_a_ball_and_says_so():
    """With a tenth less weight than at the event the ball carries it, with a fifth more it does not."""
    result = pl.static(finger(), obstacles=[ball(0.004)])
    (event,) = result.events
    assert event.what == "slipped off" and event.opponent == "ball" and 0.2 < event.share < 0.8
    assert event.motion > 0.2 * LENGTH and not result.contact_force.any()
    free = pl.static(finger())
    np.testing.assert_allclose(result.positions, free.positions, atol=1e-7)
    below = pl.static(finger(0.9 * event.share), obstacles=[ball(0.004)])
    assert below.contact_force.sum() > 0 and not below.events
    beyond = pl.static(finger(1.2 * event.share), obstacles=[ball(0.004)])
    assert not beyond.contact_force.any() and [e.what for e in beyond.events] == ["slipped off"]
    assert "slipped off 'ball' at" in str(event)
    assert result_data([result])["events"] == [str(event)]


def test_a_finger_that_rests_or_slides_continuously_has_no_event():
    table = pl.static(finger(), obstacles=[Box((0.07, 0.006, -0.006), (0.06, 0.03, 4e-4), name="plate")])
    assert table.contact_force.sum() > 0 and table.positions[:, 2].min() > -0.0058 - 1e-6
    beside = pl.static(finger(), obstacles=[ball(0.007)])  # touches its flank on the way
    assert not table.events and not beside.events and beside.certificate.load_steps > 1
    assert not pl.static(finger()).events


def test_lifting_off_is_no_event():
    """A contact that is lost after a long way, but with equilibria all along."""
    robot, floor = finger(0.2), Plane((0, 0, -0.004), (0, 0, 1), name="floor")
    lying = pl.static(robot, obstacles=[floor])
    assert lying.contact_force.sum() > 0
    lifted = pl.static(robot, {"load": pl.Known(effort=0.05)}, obstacles=[floor], state=lying.state)
    assert lifted.displacement["tip"][2] - lying.displacement["tip"][2] > 0.2 * LENGTH
    assert not lifted.contact_force.any() and not lifted.events


def test_a_load_without_equilibrium_ends_in_bounded_work():
    """A force on top of the finger's end, which lies on a floor: it would topple over."""
    with pytest.raises(pl.ConvergenceError) as caught:
        pl.static(finger(0.0), {"load": pl.Known(effort=-1.0)}, obstacles=[Plane((0, 0, -3e-3), (0, 0, 1))])
    certificate = caught.value.result.certificate
    assert certificate.iterations <= (MOST_ITERATIONS + 2) * Tolerance().iterations
    assert caught.value.result.contacts.gap.min() > -1e-9  # the last equilibrium, with its contacts


# What is passed


@pytest.fixture(scope="module")
def cube() -> pl.Robot:
    mesh = pl.mesh.box((0.02,) * 3, cells=(2, 2, 2))
    return pl.Robot(pl.Solid(mesh, pl.Hooke(young=1e5, poisson=0.3)))


def moved(robot: pl.Robot, way) -> np.ndarray:
    """Coordinates of a robot of solids without rigid regions, moved as a whole."""
    return (robot.rest.q.reshape(-1, 3) + way).ravel()


@pytest.mark.parametrize("depth", [0.5, 0.05])
@pytest.mark.parametrize(
    "thing",
    [
        Sphere((0.01, 0.01, -0.02), 0.004),
        Box((0.01, 0.01, -0.02), (0.1, 0.1, 1e-4)),
        Cylinder((-0.1, 0.0093, -0.02), (0.1, 0.0093, -0.02), 3e-4),
        Plane((0, 0, -0.05), (0, 0, 1)),
    ],
    ids=lambda o: type(o).__name__,
)
def test_what_is_in_the_way_is_passed(cube, thing, depth):
    """However far it goes on the other side; a plane has none, and is not passed by what stays above."""
    crossing = Crossing(Detector(cube, [thing]))
    far = -0.0201 - 0.02 - depth
    names = tuple(crossing.detector.obstacles)
    assert crossing.passed(cube.rest.q, moved(cube, (0, 0, far))) == names
    assert crossing.passed(cube.rest.q, moved(cube, (0, 0, -0.0155))) == ()
    assert crossing.passed(cube.rest.q, moved(cube, (0, 0, depth))) == ()


@given(
    st.tuples(*[st.floats(-0.05, 0.05)] * 3),
    st.tuples(*[st.floats(-0.05, 0.05)] * 3),
    st.floats(1e-3, 1e-2),
)
@settings(max_examples=60, deadline=None)
def test_ways_past_a_ball_are_those_of_their_samples(cube, centre, way, radius):
    """Against the least distance of every sample's way from the centre, where that is clear."""
    thing = Sphere(np.add(centre, 0.01), radius)
    crossing = Crossing(Detector(cube, [thing]))
    start, end = (crossing._points.positions(q) for q in (cube.rest.q, moved(cube, np.array(way))))
    if min(thing.distance(p)[0].min() for p in (start, end)) < 0.0:
        return  # not outside at both ends
    along = end - start
    share = np.einsum("ki,ki->k", thing.centre - start, along) / max(float(along[0] @ along[0]), 1e-30)
    nearest = start + np.clip(share, 0.0, 1.0)[:, None] * along
    gap, length = float(thing.distance(nearest)[0].min()), cube.length
    passed = crossing.passed(cube.rest.q, moved(cube, np.array(way)))
    if gap > 0.0:
        assert not passed
    if gap < -2.5e-3 * length:
        assert passed


def test_bodies_that_pass_each_other_are_noticed():
    mesh = pl.mesh.box((0.02,) * 3, cells=(2, 2, 2))
    other = mesh.transformed(translation=(0.0, 0.0, 0.025))
    bodies = [pl.Solid(m, pl.Hooke(young=1e5, poisson=0.3)) for m in (mesh, other)]
    robot = pl.Robot(bodies)
    crossing = Crossing(robot.surroundings.detector(robot))

    def lowered(way: float) -> np.ndarray:
        x = robot.rest.q.reshape(-1, 3).copy()
        x[len(x) // 2 :, 2] -= way
        return x.ravel()

    assert crossing.passed(robot.rest.q, lowered(0.05))
    assert not crossing.passed(robot.rest.q, lowered(0.004)) and not crossing.passed(
        robot.rest.q, lowered(-0.05)
    )


def test_teeth_that_meet_at_their_corners_come_to_rest_in_one_load_step():
    """Detected anew, corners go to and fro between sides; kept pairs learn of those that they miss."""
    side, teeth = 0.01, 5
    box = pl.mesh.box(((2 * teeth - 1) * side, side, 2 * side), cells=(2 * (2 * teeth - 1), 2, 4), kind="hex")
    centre = box.nodes[box.cells].mean(axis=1)
    cells = box.cells[(centre[:, 2] < side / 2) | (np.floor(centre[:, 0] / side) % 2 == 0)]
    used, cells = np.unique(cells, return_inverse=True)
    mesh = pl.mesh.Mesh(box.nodes[used], cells.reshape(-1, 8))
    body = pl.Solid(mesh, pl.Hooke(young=1e5, poisson=0.3), fixed=mesh.nodes[:, 0] < 1e-9)
    line = [[(2 * k + x) * side, side / 2, 1.6 * side] for k in range(teeth) for x in (0.2, 0.8)]
    touching = pl.contact.Surroundings(self_contact=True)
    robot = pl.Robot(body, {"cable": pl.Row(pl.Cable(body.points(line)))}, surroundings=touching)
    result = pl.static(robot, {"cable": pl.Known(displacement=0.033)})
    certificate = result.certificate
    assert certificate.load_steps == 1 and certificate.iterations < 2 * Tolerance().iterations
    assert (result.contact_force > 0).sum() > 4 and not result.events
    assert result.contacts.gap.min() > -2e-4 * robot.length


# Supports that were moved


def table(law, *, kind: str = "hex") -> pl.Solid:
    """A plate on four legs whose feet are fixed."""
    box = pl.mesh.box((0.1, 0.1, 0.06), cells=(5, 5, 6), kind=kind)
    x, y, z = box.nodes[box.cells].mean(axis=1).T
    leg = ((x < 0.02) | (x > 0.08)) & ((y < 0.02) | (y > 0.08))
    used, cells = np.unique(box.cells[(z > 0.04) | leg], return_inverse=True)
    mesh = pl.mesh.Mesh(box.nodes[used], cells.reshape(-1, box.cells.shape[1]))
    return pl.Solid(mesh, law, density=1000.0, fixed=mesh.nodes[:, 2] < 1e-9, order=1)


LEFT = lambda x: x[:, 0] < 0.05
CROSSWISE = lambda x: (x[:, 0] < 0.05) == (x[:, 1] < 0.05)


@pytest.mark.filterwarnings("ignore:hexahedra at a fixed face")  # as coarse as can be
@pytest.mark.parametrize("poisson", [0.45, 0.49])
@pytest.mark.parametrize(
    ("feet", "turn", "way"),
    [
        (LEFT, (0, 0, 0), (-0.03, 0, 0)),
        (CROSSWISE, (0, 0, 0), (0, 0, 0.03)),
        (LEFT, (0, 0.8, 0), (0, 0, 0)),
        (None, (np.pi / 2, 0, 0), (0, 0, 0.3)),
    ],
)
def test_feet_that_walk_end_where_one_stride_ends(feet, turn, way, poisson):
    """Moved by several cells at once, or in four steps: the same equilibrium, in few load steps."""
    body = table(pl.NeoHookean(young=1e5, poisson=poisson))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    found = []
    for steps in (1, 4):
        state = pl.static(robot).state
        for k in range(1, steps + 1):
            share = k / steps
            rotation = Rotation.from_rotvec(share * np.array(turn, float))
            q = body.move_supports(
                state.q, rotation=rotation, translation=share * np.array(way, float), nodes=feet
            )
            result = pl.static(robot, state=state.with_(q=q))
            assert result.certificate.load_steps <= 3 and result.certificate.stability == "stable"
            state = result.state
        found.append(result.positions)
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


def test_a_rod_that_is_pushed_into_a_fork_at_once_ends_where_small_steps_lead():
    """One step brings its tip to where the branches part, from where no small step leads on."""
    robot, push = pl.robots.rod(), {"insertion": pl.Known(displacement=0.08)}
    at_once, slowly = pl.static(robot, push), pl.static(robot, push, load_steps=16)
    assert slowly.certificate.iterations < 150  # the way itself is not hard
    np.testing.assert_allclose(at_once.displacement["tip"], slowly.displacement["tip"], atol=1e-5)
    assert slowly.displacement["tip"][1] > 0.015  # in one of the branches


def test_moved_supports_are_met_by_what_is_in_the_way():
    """A finger on a plate is lowered by its base: the plate carries it, half way as well as at the end."""
    robot = finger(0.2)
    plate = Box((0.07, 0.006, -0.012), (0.06, 0.03, 4e-4), name="plate")
    start = pl.static(robot, obstacles=[plate])
    q = robot.body.move_supports(start.q, translation=(0, 0, -0.01))
    lowered = pl.static(robot, obstacles=[plate], state=start.state.with_(q=q))
    assert lowered.contact_force.sum() > 0
    assert lowered.positions[robot.body.mesh.nodes[:, 0] > 0.02, 2].min() > -0.0118 - 1e-5


def test_supports_of_rods_and_shells_are_carried():
    """A rigid motion of all supports is one of the whole body, however large: no energy, in one load step."""
    rod = pl.Beam(line((0, 0, 0), (0.2, 0, 0), elements=8), Circle(0.004), pl.Hooke(1e6, 0.3), fixed=[0, 8])
    sheet = pl.mesh.sheet((0.1, 0.1), cells=(4, 4))
    plate = pl.Shell(sheet, pl.Hooke(1e6, 0.3), thickness=1e-3, fixed=lambda x: x[:, 0] < 1e-9)
    turn, way = Rotation.from_rotvec((0.4, -2.0, 0.6)), np.array([0.3, 0.1, -0.2])
    for body in (rod, plate):
        q = body.move_supports(body.q0, rotation=turn, translation=way)
        robot = pl.Robot(body)
        result = pl.static(robot, state=robot.rest.with_(q=q))
        np.testing.assert_allclose(result.positions, body.mesh.nodes @ turn.as_matrix().T + way, atol=1e-9)
        assert result.certificate.load_steps == 1 and body.energy(result.q) < 1e-12


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.3, -0.8, 0.5)])
def test_a_hinge_is_carried_to_its_place_with_its_axis(turn):
    """A rod on a motor at its base that is moved as a whole is as one that was drawn there."""
    R, way, axes = Rotation.from_rotvec(turn), np.array([0.05, -0.02, 0.04]), np.eye(3)[:, [2, 0, 1]]
    place, held = Frame.world(way, axes=R.as_matrix() @ axes), {"motor": pl.Known(displacement=0.3)}

    def arm(R: Any, way: Any) -> tuple[pl.Robot, pl.Beam]:
        """Drawn at x → R x + way; its motor turns about y, wherever `place` has that."""
        start, y, up = np.array(way), R.apply([0, 1.0, 0]), R.apply([0, 0, 1.0])
        base = pl.Rigid([0], name="base", joint=pl.Hinge(axis=y, centre=start.tolist()))
        rod_line = line(start, start + R.apply([0.2, 0, 0]), elements=6, up=up)
        rod = pl.Beam(rod_line, Circle(0.004), pl.Hooke(5e6, 0.45), density=1100, rigid=base)
        motor = Turn(place, Frame(rod, "base", axes=R.as_matrix() @ axes))
        rows = {"motor": pl.Row(motor), "tip": pl.Row(pl.Position(rod.at([0.2])))}
        return pl.Robot(rod, rows, gravity=(0, 0, -9.81)), rod

    drawn_there = pl.static(arm(R, way)[0], held)
    robot, rod = arm(Rotation.identity(), np.zeros(3))
    q = rod.move_supports(rod.q0, rotation=R, translation=way)
    np.testing.assert_allclose(rod.pose(q, "base")[1], way, atol=1e-12)
    found = pl.static(robot, held, state=robot.rest.with_(q=q))
    np.testing.assert_allclose(found.displacement["tip"], drawn_there.displacement["tip"], atol=1e-8)
    np.testing.assert_allclose(found.effort["motor"], drawn_there.effort["motor"], rtol=1e-6)


def test_what_move_supports_leaves_behind_is_an_error_that_names_it():
    slide = pl.Rigid([0], name="base", joint=pl.Prismatic((0, 0, 1)))
    rod = pl.Beam(line((0, 0, 0), (0.2, 0, 0)), Circle(0.004), pl.Hooke(5e6, 0.45), rigid=slide)
    with pytest.raises(pl.InputError, match="the joint of 'base'"):
        rod.move_supports(rod.q0, translation=(0, 0, 0.05))
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1))
    hinged = pl.Rigid(lambda x: x[:, 0] < 1e-9, name="foot", joint=pl.Hinge((0, 1, 0), (0, 0, 0)))
    solid = pl.Solid(mesh, pl.Hooke(1e5, 0.4), rigid=hinged, fixed=lambda x: x[:, 0] > 0.1 - 1e-9)
    with pytest.raises(pl.InputError, match="the joint of 'foot'"):
        solid.move_supports(solid.q0, translation=(0, 0, 0.01))
    solid.move_supports(solid.q0, translation=(0, 0, 0.01), nodes=lambda x: x[:, 0] > 0.1 - 1e-9)


# Budgets


def test_a_budget_ends_a_solve_and_says_how_far_it_came():
    robot, load, few, seen = finger(0.0), {"load": pl.Known(effort=1.0)}, Tolerance(iterations=2), []
    with pytest.raises(pl.ConvergenceError, match=r"budget of 3 iterations.*budget=") as caught:
        pl.static(robot, load, budget=Budget(iterations=3), tolerance=few, progress=seen.append)
    assert "load" in str(caught.value) and "of 1 N" in str(caught.value)
    assert seen and seen[0].share == 0.0 and seen[0].aim == 1.0 and seen[-1].iterations >= 2
    with pytest.raises(pl.ConvergenceError, match=r"budget of 1e-09 s"):
        pl.static(robot, load, budget=1e-9, tolerance=few)
    for bad in ("long", -1.0, True):
        with pytest.raises(pl.InputError, match="udget"):
            pl.static(robot, budget=bad)
