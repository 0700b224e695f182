"""The hand: kinematics, Jacobian, planning, reach, and both loops on a quasi-static and a moving plant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import ConvergenceError, InputError
from pliant.membrane.control import PERIOD, PID, THESIS, Gains, Outer, follow
from pliant.membrane.equilibrium import HELD
from pliant.membrane.finger import Finger, clearances, kinematics
from pliant.membrane.grasp import UnreachableError, grasp, plan, transfer
from pliant.membrane.hand import CROSSED, Hand, soft_hand
from pliant.membrane.moving_hand import OBJECT, Moving, mechanism_of
from pliant.membrane.plant import QuasiStatic, joint_loads
from pliant.membrane.posture import Grip, conditions, posture
from pliant.membrane.reach import certified, kept, reachable, rigid_pinch
from pliant.membrane.shapes import Disc, regular
from pliant.membrane.wrapping import LEFT, RIGHT
from tests.membrane.test_equilibrium import numeric

HAND = soft_hand()
CLOSED = HAND.middle + np.array([0.05, 0.0, -0.05, -0.05, 0.0, 0.05])
wiggle = st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6).map(np.array)


@pytest.fixture(scope="module")
def reach():
    return reachable(HAND, cell=HAND.size / 15.0)


@pytest.fixture(scope="module")
def home():
    return grasp(HAND, (0.0, 0.0))


# Kinematics and derivatives


@settings(max_examples=20)
@given(wiggle)
def test_ends_of_the_skins_follow_the_joints(w):
    q = HAND.middle + 0.2 * w
    ends, D = kinematics(HAND.table, q)
    assert np.allclose(D, numeric(lambda q: kinematics(HAND.table, q)[0].ravel(), q), atol=1e-8)
    assert np.linalg.norm(ends[:, 2:] - ends[:, :2], axis=1) == pytest.approx(
        [f.paddle for f in HAND.fingers]
    )


def test_the_middle_of_the_joints_is_symmetric():
    ends = kinematics(HAND.table, HAND.middle)[0]
    assert ends[0, [0, 2]] == pytest.approx(ends[1, [0, 2]]) and ends[0, [1, 3]] == pytest.approx(
        -ends[1, [1, 3]]
    )
    assert ends[0, 1] == pytest.approx(-0.1 * HAND.size)  # the skins just touch the box


@settings(max_examples=25)
@given(wiggle)
def test_steady_state_jacobian(w):
    """Of the pose, of the grip, and −∂E/∂θ as the load on the joints, against finite differences."""
    q = CLOSED + 0.03 * w * [1, 0.1, 3, 1, 0.1, 3]
    held = HAND.rest(q)
    if held.status != HELD or not held.rest.touching.all():
        return
    at = lambda q: HAND.rest(q, held.pose)
    pose = numeric(lambda q: at(q).pose, q)
    if not np.allclose(pose, numeric(lambda q: at(q).pose, q, 3e-6), rtol=1e-4, atol=1e-5):
        return  # a corner comes into contact within the step: the pose has a kink there
    assert np.allclose(held.jacobian, pose, rtol=1e-4, atol=1e-5)
    assert np.allclose(held.grip_jacobian, numeric(lambda q: at(q).grip, q), rtol=1e-3, atol=1e-3)
    assert np.allclose(
        joint_loads(held), -numeric(lambda q: np.array(at(q).rest.energy), q), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("shape", [None, Disc(0.012), regular(5, 0.014)])
def test_conditions_of_a_posture(shape):
    hand = replace(
        HAND,
        shape=shape or HAND.shape,
        rotates=isinstance(shape, type(regular(5, 1.0))) and shape is not None,
    )
    q, grip = CLOSED + np.array([0.01, 0.002, -0.03, 0.004, -0.001, 0.02]), Grip.of(hand)
    pose = np.array([0.004, -0.001, 0.05])
    value, slopes, low, high = conditions(hand, pose, q, grip)
    assert np.allclose(slopes, numeric(lambda q: conditions(hand, pose, q, grip)[0], q), rtol=1e-5, atol=1e-5)
    assert (low <= high).all() and len(value) == len(low) == len(high)


def test_clearances_of_a_known_place():
    ends = np.array([[-1.0, 0.0, 1.0, 0.0], [-1.0, 2.0, 1.0, 2.0]])
    corners = np.array([[-0.5, -0.1], [0.5, -0.1], [0.5, 0.9], [-0.5, 0.9]])
    depth, _, clear, _, gap, _ = clearances(ends, np.array([1.0, -1.0]), corners, 0.05)
    assert depth == pytest.approx([0.15, -1.05]) and clear[0] == pytest.approx([0.45, 0.45])
    assert gap[0, 1] == pytest.approx([2.0, 2.0]) and gap[1, 0] == pytest.approx([2.0, 2.0])


def test_a_hand_of_three_fingers():
    """Fingers from three sides hold a disc; the same Jacobian, planning included."""
    side = {
        "link": 0.1,
        "paddle": 0.07,
        "side": LEFT,
        "stiffness": 100.0,
        "preload": 0.004,
        "offset": 0.02,
        "depth": 0.02,
    }
    reach = {"lower": (-0.3, -0.02, -0.5), "upper": (0.3, 0.02, 0.5)}
    fingers = []
    for angle in np.deg2rad([0.0, 120.0, 240.0]):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        fingers.append(Finger(base=tuple(turn @ (-0.1, -0.045)), heading=float(angle), **side, **reach))
    hand = Hand(tuple(fingers), Disc(0.03))
    held = hand.rest(hand.middle, (0.002, 0.001))
    assert held.status == HELD and held.rest.touching.all() and np.abs(held.pose[:2]).max() < 1e-9
    slopes = numeric(lambda q: hand.rest(q, held.pose).pose, hand.middle)
    assert np.allclose(held.jacobian, slopes, rtol=1e-6, atol=1e-7)
    moved_to = grasp(hand, (0.003, -0.002))
    assert moved_to.held.pose[:2] == pytest.approx([0.003, -0.002], abs=1e-8)
    assert moved_to.held.grip.min() >= Grip.of(hand).low - 1e-9


# Planning


def test_a_grasp_holds_the_object_where_it_was_asked(home):
    found = grasp(HAND, (0.012, -0.02))
    assert found.held.status == HELD and np.allclose(found.held.pose[:2], (0.012, -0.02), atol=1e-9)
    grip = Grip.of(HAND)
    assert (found.held.grip >= grip.low - 1e-9).all() and (found.held.grip <= grip.high + 1e-9).all()
    assert (found.joints >= HAND.lower).all() and (found.joints <= HAND.upper).all()
    assert certified(HAND, found.pose, found.joints, grip)
    assert not certified(HAND, found.pose + np.array([0.001, 0.0, 0.0]), found.joints, grip)
    assert not certified(
        HAND, found.pose, found.joints, replace(grip, low=2.0 * found.held.grip.max(), high=np.inf)
    )


def test_a_plan_along_a_circle(home):
    angle = np.linspace(0.0, 2.0 * np.pi, 16)
    path = 0.012 * np.column_stack((np.cos(angle), np.sin(angle)))
    found = plan(HAND, path, start=home.joints)
    for pose, joints in zip(found.poses, found.joints):
        assert np.allclose(HAND.rest(joints, pose).pose[:2], pose[:2], atol=1e-8)
    assert np.abs(found.stride / (HAND.upper - HAND.lower)).max() < 0.2
    assert found.grip.min() >= Grip.of(HAND).low - 1e-9
    again = plan(HAND, np.vstack((path, path[1:])), start=home.joints)
    drift = np.abs(again.joints[-1] - again.joints[15]) / (HAND.upper - HAND.lower)
    assert drift.max() < 0.01  # a second round ends as the first did


def test_a_place_out_of_reach_is_refused_with_how_far_the_hand_gets():
    with pytest.raises(UnreachableError, match="gets as far as") as caught:
        grasp(HAND, (0.3, 0.0))
    near = caught.value.nearest
    assert 0.01 < near[0] < 0.1 and np.allclose(HAND.rest(caught.value.joints, near).pose, near, atol=1e-6)
    assert caught.value.binding
    with pytest.raises(UnreachableError):
        plan(HAND, [[0.0, 0.0], [0.0, 0.2]])


def test_a_hand_that_turns_its_object():
    """A box in skins that may turn is planned and held in all three coordinates."""
    hand = soft_hand(rotates=True)
    found = grasp(hand, (0.004, 0.006, 0.05))
    assert found.held.status == HELD and np.allclose(found.held.pose, (0.004, 0.006, 0.05), atol=1e-8)
    assert np.linalg.matrix_rank(found.held.jacobian) == 3


def test_a_transfer_keeps_the_object_all_the_way(home, reach):
    place = reach.points[np.argmax(reach.points @ [1.0, 1.0])]
    goal = grasp(HAND, place, start=home.joints, reach=reach)
    way = transfer(HAND, home.joints, home.pose, goal, reach=reach)
    far = 0.2 * HAND.size
    assert np.allclose(way.poses[-1], goal.pose, atol=1e-8)
    assert all(kept(HAND, p, a, b, far) for p, a, b in zip(way.poses, way.joints, way.joints[1:]))


# Reach


def test_the_reachable_set_is_certified_and_larger_than_that_of_a_rigid_pinch(reach):
    grip, rigid = Grip.of(HAND), rigid_pinch(HAND, reach)
    for i, j in np.argwhere(reach.held)[::7]:
        assert certified(HAND, np.array([reach.x[i], reach.y[j], 0.0]), reach.joints[i, j], grip)
    assert reach.held.sum() >= 1.5 * rigid.sum() and rigid.sum() > 10
    assert rigid.sum() >= rigid_pinch(HAND, reach, turning=False).sum()
    assert reach.area == pytest.approx(reach.held.sum() * reach.cell**2)
    assert reach.points[0] in reach and (1.0, 1.0) not in reach


def test_a_rigid_pinch_reaches_what_its_tips_reach(reach):
    """Both tips at half the box from the place, by their own joints."""
    rigid = rigid_pinch(HAND, reach, turning=False)
    i, j = np.argwhere(rigid)[0]
    for finger, sign in zip(HAND.fingers, (-1.0, 1.0)):
        tip = np.array([reach.x[i], reach.y[j] + sign * (0.1 * HAND.size + finger.offset)]) - finger.base
        angle = np.arctan2(tip[1], tip[0])
        theta = np.array([angle - finger.heading, np.linalg.norm(tip) - finger.link, -angle])
        assert (theta >= np.array(finger.lower) - 1e-12).all() and (
            theta <= np.array(finger.upper) + 1e-12
        ).all()


# Control


def moved(hand, share):
    """The same hand with stiffer skins than the controller knows of."""
    return replace(hand, fingers=tuple(replace(f, stiffness=share * f.stiffness) for f in hand.fingers))


@pytest.mark.parametrize("kind", [QuasiStatic, Moving])
def test_the_outer_loop_brings_the_object_to_its_target(kind, home, reach):
    """Skins 20 % stiffer than the model's: below 1 % of the hand's size, to the last digits once settled."""
    rng = np.random.default_rng(3)
    for place in reach.points[rng.permutation(len(reach.points))[:3]]:
        plant, outer = kind(moved(HAND, 1.2), home.joints, home.pose), Outer(HAND, reach=reach)
        outer.aim(plant.read(), place)
        track = follow(plant, outer, 9.0)
        assert track.settled() < 0.01 * HAND.size
        assert track.target[-1] == pytest.approx(place)


def test_the_loop_bears_friction_that_its_model_does_not_have(home):
    plant, outer = Moving(HAND, home.joints, home.pose, friction=0.3), Outer(HAND)
    outer.aim(plant.read(), (0.01, 0.01))
    assert follow(plant, outer, 22.0).settled() < 0.01 * HAND.size


def test_a_loop_that_knows_of_friction_gets_there_before_one_that_does_not(home):
    """Skins stiffer than the model's, friction 0.3: at its place and at rest, where the other still hunts."""
    true = replace(HAND, fingers=tuple(replace(f, stiffness=1.2 * f.stiffness) for f in HAND.fingers))
    errors, last = [], []
    for told in (0.0, 0.3):
        plant, loop = Moving(true, home.joints, home.pose, friction=0.3), Outer(HAND, friction=told)
        loop.aim(plant.read(), (0.008, 0.024))
        track = follow(plant, loop, 5.0)
        errors.append(track.settled() / HAND.size)
        last.append(np.ptp(track.place[track.time > 4.5], axis=0).max() / HAND.size)
    assert errors[1] < 2e-3 < 1e-2 < errors[0]
    assert last[1] < 1e-5


def test_a_rehearsal_leaves_the_model_as_it_was_and_tells_the_way(home):
    """What the plan says of the object is what a plant like the model does; joints stay in their limits."""
    plant, loop = Moving(HAND, home.joints, home.pose, friction=0.1), Outer(HAND, friction=0.1)
    way = loop.aim(plant.read(), (0.016, -0.008))
    assert (
        way is not None
        and loop._twin is not None
        and np.array_equal(loop._twin.read().pose, plant.read().pose)
    )
    assert np.hypot(*(way.poses[-1, :2] - (0.016, -0.008))) < 1e-3 * HAND.size
    assert ((way.joints >= HAND.lower) & (way.joints <= HAND.upper)).all()
    track = follow(plant, loop, loop._duration + 0.45)
    assert track.place[-1] == pytest.approx(way.poses[-1, :2], abs=1e-3 * HAND.size)


def test_corrections_for_friction_keep_the_grip(home):
    """With friction 0.3 the object lags by a ninth of the size: fingers that let go carry it no further."""
    plant, loop = Moving(HAND, home.joints, home.pose, friction=0.3), Outer(HAND, friction=0.3)
    way = loop.aim(plant.read(), (0.016, -0.008))
    assert way is not None
    assert np.hypot(*(way.poses[-1, :2] - (0.016, -0.008))) < 2e-3 * HAND.size
    planned, corrected = way.grip[-1], HAND.rest(way.joints[-1], (0.016, -0.008, 0.0)).grip
    assert corrected == pytest.approx(planned, rel=0.15)


def test_friction_that_is_none_is_refused():
    with pytest.raises(InputError, match="friction"):
        Outer(HAND, friction=-0.1)


def test_a_target_out_of_reach_is_refused(home):
    plant, outer = QuasiStatic(HAND, home.joints, home.pose), Outer(HAND)
    with pytest.raises(UnreachableError):
        outer.aim(plant.read(), (0.0, 0.2))
    with pytest.raises(InputError, match="target"):
        outer.aim(plant.read(), (0.0, np.nan))


def test_the_thesis_law_lags_behind_a_ramp_and_integral_action_does_not(home):
    """θ̇ = J⁺(k_p e − k_d ḃ) gives (1 + k_d) ḃ = k_p e: a lag of (1 + k_d) v/k_p; with an integral none."""
    v, gains = np.array([0.0002, 0.0004]), Gains(1.0, 0.58)
    lags = {}
    for name, law in {"PD": gains, "PID": replace(gains, integral=0.5)}.items():
        plant, outer = QuasiStatic(HAND, home.joints, home.pose), Outer(HAND, law, planned=False)
        outer.aim(plant.read(), home.pose[:2])
        track = follow(plant, outer, 20.0, target=lambda t: home.pose[:2] + v * t)
        lags[name] = track.target[-1] - track.place[-1]
    expected = (1.0 + gains.derivative) / gains.proportional * v
    assert lags["PD"] == pytest.approx(expected, rel=0.15)
    assert np.abs(lags["PID"]).max() < 0.05 * np.abs(expected).max()


def test_an_aim_without_a_plan_starts_where_the_joints_are(home):
    plant, outer = QuasiStatic(HAND, home.joints, home.pose), Outer(HAND, THESIS, planned=False)
    assert outer.aim(plant.read(), (0.01, 0.0)) is None
    first = outer.step(plant.read())
    assert np.abs(first - home.joints).max() < 0.1 * PERIOD
    J = HAND.rest(home.joints, home.pose).jacobian[:2]
    assert J @ (first - home.joints) == pytest.approx(PERIOD * 0.1 * np.array([0.01, 0.0]), abs=1e-9)


def test_commands_stay_within_the_limits(home):
    plant, outer = QuasiStatic(HAND, home.joints, home.pose), Outer(HAND, Gains(5.0), planned=False)
    outer.aim(plant.read(), (0.5, 0.5))
    for _ in range(20):
        command = outer.step(plant.read())
        assert (command >= HAND.lower).all() and (command <= HAND.upper).all()


def test_inner_loop_gives_way_to_its_load(home):
    """At rest the motors' pull balances the skins': I s (θ_cmd − θ) = −load."""
    plant = QuasiStatic(HAND, home.joints, home.pose)
    for _ in range(40):
        plant.advance(home.joints, PERIOD)
    load = joint_loads(plant.held)
    assert plant._inertia * plant.stiffness * (home.joints - plant.read().joints) == pytest.approx(
        -load, rel=1e-3, abs=1e-8
    )
    assert plant.holding


def test_a_lost_object_is_told(home):
    plant = QuasiStatic(HAND, home.joints, home.pose)
    with pytest.raises(ConvergenceError, match="lost its object"):
        for _ in range(40):
            plant.advance(home.joints + np.array([0.0, 0.05, 0.0, 0.0, -0.05, 0.0]), PERIOD)


def test_the_moving_hand_rests_where_statics_says(home):
    """Mechanism and equilibrium are two codes: once at rest, the object is where the joints put it."""
    plant = Moving(HAND, home.joints, home.pose, drag=1.0)
    reading = plant.advance(home.joints, 8.0)
    held = HAND.rest(reading.joints, reading.pose)
    assert np.abs(held.pose - reading.pose).max() < 1e-6
    assert np.abs(reading.velocity).max() < 1e-5
    tension = plant.simulation.moment.tension
    assert [tension["skin 0"], tension["skin 1"]] == pytest.approx(list(held.rest.tension), rel=1e-4)


def test_the_mechanism_of_a_hand_has_its_geometry():
    mech = mechanism_of(HAND, CLOSED)
    ends = kinematics(HAND.table, CLOSED)[0]
    from pliant.membrane.bodies import At

    half = 0.5 * HAND.fingers[0].paddle
    for k, front in enumerate((HAND.fingers[0].offset, -HAND.fingers[1].offset)):
        assert mech.place(mech.q0, At(f"paddle {k}", (-half, front))) == pytest.approx(ends[k, :2])
        assert mech.place(mech.q0, At(f"paddle {k}", (half, front))) == pytest.approx(ends[k, 2:])
    assert OBJECT in mech.number


# Bad input


def finger(**change):
    given_ = {
        "base": (0.0, 0.0),
        "heading": 0.0,
        "link": 0.1,
        "paddle": 0.05,
        "side": LEFT,
        "stiffness": 100.0,
        "lower": (-0.1, -0.01, -0.1),
        "upper": (0.1, 0.01, 0.1),
    }
    return Finger(**{**given_, **change})


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"stiffness": -5.0}, "stiffness"),
        ({"link": 0.0}, "link"),
        ({"paddle": np.nan}, "paddle"),
        ({"damping": -1.0}, "damping"),
        ({"preload": 0.06}, "preload"),
        ({"side": 0}, "side"),
        ({"lower": (0.2, 0.0, 0.0)}, "limits"),
        ({"lower": (-0.1, -0.2, -0.1)}, "link longer"),
        ({"base": (0.0,)}, "base"),
    ],
)
def test_bad_fingers_are_refused(change, word):
    with pytest.raises(InputError, match=word):
        finger(**change)


def test_bad_hands_joints_and_grips_are_refused():
    with pytest.raises(InputError, match="fingers"):
        Hand((), HAND.shape)
    with pytest.raises(InputError, match="joints"):
        HAND.rest([0.0, 0.0])
    with pytest.raises(InputError, match="between the ends"):
        HAND.rest(CLOSED, (0.2, 0.0))
    with pytest.raises(InputError, match="grip"):
        Grip(2.0, 1.0, 0.0, 0.0)
    with pytest.raises(InputError, match="path"):
        plan(HAND, [0.0, 1.0])
    with pytest.raises(InputError, match="gain"):
        Gains(-1.0)
    with pytest.raises(InputError, match="two fingers"):
        rigid_pinch(Hand(HAND.fingers[:1], HAND.shape), None)


def test_crossed_fingers_are_told():
    """Both paddles turned about the middle of the box until they cut through each other."""
    tilted = CLOSED + np.array([0.0, 0.0, 1.0, 0.0, 0.0, -1.0])
    assert HAND.crossed(kinematics(HAND.table, tilted)[0]) and not HAND.crossed(
        kinematics(HAND.table, CLOSED)[0]
    )
    small = replace(HAND, shape=Disc(0.001))
    assert small.rest(tilted, (-0.02, 0.0)).status == CROSSED


def test_slack_skins_are_planned_around():
    """A hand whose skins hang slack must press deeper before it holds: the plan does."""
    slack = replace(HAND, fingers=tuple(replace(f, preload=-0.001) for f in HAND.fingers))
    assert HAND.rest(CLOSED).grip.min() > slack.rest(CLOSED).grip.max()
    found = posture(slack, np.zeros(3), CLOSED, Grip.of(slack))
    assert found.found and slack.rest(found.joints, np.zeros(3)).grip.min() >= Grip.of(slack).low - 1e-6
    assert RIGHT == -LEFT and PID.integral > 0.0
