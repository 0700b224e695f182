"""The detector with obstacles: gaps, rows, indices that stay, and how deep the skin is anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant import contact
from tests.contact.common import SOFT, bar, check_rows, deformed, plated

BALL = contact.Sphere((0.05, 0.01, 0.033), 0.012, name="ball")
FLOOR = contact.Plane((0, 0, -0.001), (0, 0, 1), name="floor")
TUBE = contact.Pipe([(-0.1, 0.01, 0.01), (0.2, 0.01, 0.01)], 0.016, name="tube")
HINGE = pl.Hinge(axis=(1, 2, -2), centre=(0.06, 0.0, 0.01))


def free_bar() -> pl.Robot:
    return pl.Robot(bar(kind="tet", order=2))


def clamped_bar(**options) -> pl.Robot:
    mesh = pl.mesh.box((0.06, 0.02, 0.02), cells=(4, 2, 2), kind="hex")
    return pl.Robot(pl.Solid(mesh, SOFT, fixed=mesh.nodes[:, 0] < 1e-9, **options))


@pytest.mark.parametrize(
    "robot",
    [plated(), plated(joint=HINGE), plated(kind="tet", order=2), free_bar()],
    ids=["plate", "hinge", "tet10", "free"],
)
def test_rows_are_the_derivative_of_the_gap(robot):
    detector = contact.Detector(robot, [BALL, FLOOR, TUBE], alarm=0.01)
    found = check_rows(robot, detector, deformed(robot))
    assert {0, 1, 2} == set(found.opponent)


def test_a_contact_says_what_it_is():
    robot = clamped_bar()
    detector = contact.Detector(robot, [BALL, FLOOR, TUBE], alarm=0.01, margin=1e-4, friction={"floor": 0.4})
    q = robot.rest.q
    found = detector.detect(q)
    p = detector.cloud.samples[0].points.position(q)
    assert (np.diff(found.index) > 0).all()
    np.testing.assert_array_equal(found.index, found.opponent * len(p) + found.sample)
    np.testing.assert_array_equal(found.position, p[found.sample])
    for slot, obstacle in enumerate([BALL, FLOOR, TUBE]):
        mine = found.opponent == slot
        gap, normal = obstacle.distance(p)
        margin = 1e-4 if obstacle is TUBE else 0.0
        clamped = p[:, 0] < 1e-9  # nothing moves those
        np.testing.assert_array_equal(found.sample[mine], np.flatnonzero((gap - margin < 0.01) & ~clamped))
        np.testing.assert_allclose(found.gap[mine], (gap - margin)[found.sample[mine]], atol=1e-16)
        np.testing.assert_array_equal(found.normal[mine], normal[found.sample[mine]])
        assert (found.margin[mine] == margin).all()
        assert (found.friction[mine] == (0.4 if obstacle is FLOOR else 0.0)).all()
    t, u = found.tangents[:, 0], found.tangents[:, 1]
    np.testing.assert_allclose(np.cross(t, u), found.normal, atol=1e-12)
    np.testing.assert_allclose(found.gradient, found.normal)
    with pytest.raises(ValueError, match="read-only"):
        found.gap[0] = 0.0


def test_reach_is_the_alarm_distance_or_what_is_asked_for():
    robot = clamped_bar()
    detector = contact.Detector(robot, [FLOOR])
    assert np.isclose(detector.alarm, 0.025 * robot.length)
    assert detector.reach(0.0005) == detector.alarm and detector.reach(0.01) == 0.02
    assert detector.detect(robot.rest.q).gap.max() < detector.alarm
    wide = detector.detect(robot.rest.q, detector.reach(0.02))
    assert len(wide) > len(detector.detect(robot.rest.q)) and 0.02 < wide.gap.max() < 0.04


def test_tangent_rows_measure_the_slip():
    robot = plated()
    detector = contact.Detector(robot, [FLOOR, BALL], friction=0.5, alarm=0.01)
    q = deformed(robot)
    found = detector.detect(q)
    T, step = found.tangent_rows(q), 1e-7
    assert T.shape == (2 * len(found), robot.ndof)
    points = detector.cloud.samples[0].points
    for d in np.random.default_rng(0).normal(size=(3, robot.ndof)):
        motion = (points.position(robot.retract(q, step * d)) - points.position(q))[found.sample] / step
        expected = np.einsum("kti,ki->kt", found.tangents, motion).ravel()
        np.testing.assert_allclose(T.dot(d), expected, atol=1e-5 * np.abs(expected).max())


def test_tangents_change_smoothly_with_the_normal():
    robot = clamped_bar()
    ring = [contact.Plane((0, 0, 0.01), n, name="wall") for n in _turning_normals()]
    detector = contact.Detector(robot, [ring[0]], alarm=1.0)
    frames = []
    for wall in ring:
        detector.replace(wall)
        frames.append(detector.detect(robot.rest.q).tangents[0])
    assert np.abs(np.diff(frames, axis=0)).max() < 0.1  # through walls, floors and ceilings


def _turning_normals() -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 241)
    around = [np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])]
    around += [np.roll(around[0], k, axis=1) for k in (1, 2)]
    return np.concatenate(around)[:241]


def test_forces_on_a_free_body_are_the_contact_forces():
    robot = free_bar()
    detector = contact.Detector(robot, [BALL, FLOOR])
    found = detector.detect(robot.rest.q)
    lam = np.random.default_rng(0).uniform(0, 1, len(found))
    nodal = found.rows(robot.rest.q).transpose_dot(lam).reshape(-1, 3)
    np.testing.assert_allclose(nodal.sum(axis=0), lam @ found.normal, atol=1e-12)
    x = robot.positions(robot.rest.q)
    moment = np.cross(found.position, lam[:, None] * found.normal).sum(axis=0)
    np.testing.assert_allclose(np.cross(x, nodal).sum(axis=0), moment, atol=1e-13)


# Indices that stay


def test_indices_stay_when_obstacles_move_come_and_go():
    robot = clamped_bar()
    detector = contact.Detector(robot, [BALL, FLOOR], alarm=0.01)
    q = robot.rest.q
    first = detector.detect(q)
    of_floor = first.index[first.opponent == 1]
    detector.replace(BALL.moved(translation=(-0.01, 0, 0)))
    moved = detector.detect(q)
    np.testing.assert_array_equal(moved.index[moved.opponent == 1], of_floor)
    detector.remove("ball")
    np.testing.assert_array_equal(detector.detect(q).index, of_floor)
    name = detector.add(contact.Sphere((0.03, 0.01, 0.035), 0.012))
    assert name == "sphere" and detector.opponents == ("ball", "floor", "sphere")
    third = detector.detect(q)
    assert set(third.opponent) == {1, 2} and third.size == detector.size == 3 * detector.cloud.size
    np.testing.assert_array_equal(third.index[third.opponent == 1], of_floor)
    detector.add(BALL)
    back = detector.detect(q)
    assert (np.diff(back.index) > 0).all()
    np.testing.assert_array_equal(back.index[back.opponent != 2], first.index)


def test_values_are_carried_from_step_to_step():
    robot = clamped_bar()
    detector = contact.Detector(robot, [BALL, FLOOR], alarm=0.01)
    before = detector.detect(robot.rest.q)
    detector.replace(BALL.moved(translation=(-0.004, 0, 0)))
    after = detector.detect(deformed(robot))
    place = after.matched(before)
    assert (place >= 0).any() and (place < 0).any()
    kept = place >= 0
    np.testing.assert_array_equal(before.index[place[kept]], after.index[kept])
    assert not np.isin(after.index[~kept], before.index).any()
    force = np.arange(1.0, len(before) + 1)
    carried = after.carried(before, force)
    np.testing.assert_array_equal(carried[kept], force[place[kept]])
    assert not carried[~kept].any()
    full = before.spread(force)
    assert (
        full.shape == (detector.size,) and (full[before.index] == force).all() and full.sum() == force.sum()
    )
    pairs = after.carried(before, np.column_stack([force, -force]))
    np.testing.assert_array_equal(pairs, np.column_stack([carried, -carried]))


def test_without_contacts_everything_is_empty():
    robot = clamped_bar()
    detector = contact.Detector(robot)
    none = detector.detect(robot.rest.q)
    assert len(none) == 0 and none.rows(robot.rest.q).shape == (0, robot.ndof) and "Contacts(0)" in repr(none)
    assert len(none.matched(none)) == 0 and detector.penetration(robot.rest.q) == 0.0
    detector.add(FLOOR)
    some = detector.detect(robot.rest.q)
    assert (some.matched(none) == -1).all() and (some.carried(none, np.zeros(0)) == 0).all()


def test_one_type_of_array_whether_q_is_frozen_or_not():
    from pliant.contact.detect.gather import gather

    robot = clamped_bar()
    detector = contact.Detector(robot, [FLOOR])
    frozen = robot.rest.q.copy()
    frozen.setflags(write=False)
    for q in (robot.rest.q.copy(), frozen):
        detector.detect(q).rows(q)
    assert len(gather.signatures) == 1


# How deep


def test_facets_stay_out_of_a_ball_however_few_samples_there_are():
    """Samples a apart would let the skin between them lie R − √(R² − a²/4) ≈ a²/8R deep: over 1 mm here."""
    R = 0.03
    for spacing in (1.0, 0.005, 0.0025):
        robot = pl.Robot(bar(kind="hex"))
        ball = contact.Sphere((0.0225, 0.005, 0.02 + R), R, name="ball")  # over the middle of a face
        samples = contact.Samples.on(robot.body, spacing=spacing)
        detector = contact.Detector(robot, [ball], samples=samples)
        for _ in range(30):  # lower it until it touches
            gap = detector.detect(robot.rest.q, 0.1).gap.min()
            ball = ball.moved(translation=(0, 0, -gap))
            detector.replace(ball)
        assert abs(gap) < 1e-9
        assert detector.penetration(robot.rest.q) < 2e-5 * robot.length


def test_penetration_by_opponent():
    robot = pl.Robot(bar(kind="tet", order=2))
    detector = contact.Detector(robot, [contact.Plane((0, 0, 0.003), (0, 0, 1), name="floor"), BALL])
    depth = detector.penetrations(robot.rest.q)
    assert np.isclose(depth["floor"], 0.003) and np.isclose(depth["ball"], 0.0)
    assert np.isclose(detector.penetration(robot.rest.q), 0.003)
    lower = robot.retract(robot.rest.q, np.tile([0, 0, 0.005], robot.ndof // 3))
    assert np.isclose(detector.penetrations(lower)["ball"], 0.004, atol=5e-5)


def test_what_cannot_move_does_not_count():
    robot = clamped_bar()
    wall = contact.Plane((0.001, 0, 0), (1, 0, 0), name="wall")  # behind which the bar is clamped
    detector = contact.Detector(
        robot, [wall], samples=contact.Samples.on(robot.body, lambda x: x[:, 0] < 1e-9)
    )
    assert len(detector.detect(robot.rest.q)) == 0 and detector.penetration(robot.rest.q) == 0.0


def test_standoff_is_the_largest_true_gap_of_what_pushes():
    robot = free_bar()
    detector = contact.Detector(robot, [FLOOR, TUBE], alarm=0.01, margin=1e-4)
    lifted = robot.retract(robot.rest.q, np.tile([0.0, 0.0, 2e-3], robot.ndof // 3))
    found = detector.detect(lifted)  # 3 mm above the floor, less from the upper side of the tube
    below = found.opponent == 0
    assert below.any() and not below.all()
    assert found.standoff(np.zeros(len(found))) == 0.0
    assert np.isclose(found.standoff(np.where(below & (found.gap < 4e-3), 1.0, 0.0)), 3e-3, atol=1e-12)
    for k in np.flatnonzero(~below):  # of one that pushes, with what the margin takes off its gap
        gap = TUBE.distance(found.position[[k]])[0][0]
        only = np.arange(len(found)) == k
        assert np.isclose(found.standoff(only.astype(float)), max(gap, 0.0), atol=1e-12)
    with_friction = np.concatenate([np.where(below, 1.0, 0.0), np.ones(2 * len(found))])
    assert np.isclose(found.standoff(with_friction), found.gap[below].max(), atol=1e-12)
    deep = detector.detect(robot.retract(robot.rest.q, np.tile([0.0, 0.0, -2e-3], robot.ndof // 3)))
    assert deep.standoff(np.where(deep.gap < 0.0, 1.0, 0.0)) == 0.0
