"""Closed forms: lengths, volumes, angles and weights that are known by heart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant.interactions as pi
from pliant.points import Points
from tests.interactions.test_registry import force
from tests.interactions.test_specimens import LooseBody, sphere

CUBE = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
_FACES = ("021", "123", "456", "576", "014", "154", "263", "367", "042", "246", "135", "375")
FACES = np.array([list(map(int, face)) for face in _FACES])
FRAME = np.vstack([np.zeros(3), np.eye(3)]) * 0.1 + 0.4
BODY_FRAME = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]])


def points(positions, fixed=()) -> Points:
    """Free points at the given positions; `fixed` ones cannot move."""
    positions = np.asarray(positions, float)
    nodes = np.concatenate([positions, BODY_FRAME])
    rigid = np.arange(len(nodes)) >= len(positions)
    mask = np.isin(np.arange(len(nodes)), fixed)
    return LooseBody(nodes, rigid, mask).node_points(range(len(positions)))


def rotated(p, rotvec, *, about=(0.0, 0.0, 0.0), shift=(0.0, 0.0, 0.0)):
    """p turned about a point, then shifted."""
    return (p - np.array(about)) @ Rotation.from_rotvec(rotvec).as_matrix().T + np.add(about, shift)


def test_a_cable_measures_how_far_it_is_pulled_in():
    cable = pi.Cable(points([[0, 0, 3], [0, 4, 3]]), anchor=[0, 0, 0], end=[5, 4, 3])
    assert cable.rest_length == 3 + 4 + 5
    assert cable.value(cable.rest)[0] == 0
    assert cable.value(0.5 * cable.rest)[0] == pytest.approx(12 - 1.5 - 2 - np.sqrt(25 + 4 + 1.5**2))
    np.testing.assert_allclose(force(cable, cable.rest, np.array([2.0])), [[0, 2, -2], [2, -2, 0]])
    assert cable.effort_range == (0.0, np.inf)


def test_a_cable_of_one_point_and_an_anchor_pulls_towards_the_anchor():
    cable = pi.Cable(points([[0, 0, 2]]), anchor=[0, 0, 0])
    np.testing.assert_allclose(cable.gradient(cable.rest), [[0, 0, -1]])


def test_a_cable_may_run_through_two_bodies():
    there = points([[0, 0, 3], [0, 4, 3]])
    cable = pi.Cable((points([[0, 0, 0], [0, 0, 1]]), there))
    assert cable.point_count == 4 and cable.rest_length == 1 + 2 + 4
    np.testing.assert_allclose(cable.gradient(cable.rest)[2], [0, 1, -1])


def test_a_segment_that_shrinks_to_nothing_leaves_finite_derivatives():
    cable = pi.Cable(points([[0, 0, 0], [0, 0, 1], [0, 0, 2]]))
    p = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 2.0]])
    assert np.isfinite(cable.gradient(p)).all() and np.isfinite(cable.hessian(p, np.ones(1))).all()


def test_stretch_pushes_apart():
    stretch = pi.Stretch(points([[0, 0, 0], [1, 0, 0], [1, 2, 0]]))
    np.testing.assert_allclose(stretch.value(1.5 * stretch.rest), [0.5, 1.0])
    np.testing.assert_allclose(
        force(stretch, stretch.rest, np.array([1.0, 3.0])), [[-1, 0, 0], [1, -3, 0], [0, 3, 0]]
    )


@pytest.mark.parametrize("turned", [False, True])
def test_volume_and_pressure_of_a_cube(turned):
    triangles = FACES[:, ::-1] if turned else FACES
    cavity = pi.Cavity(points(CUBE), triangles)
    assert cavity.rest_volume == pytest.approx(1.0)
    assert cavity.value(2 * cavity.rest)[0] == pytest.approx(7.0)
    assert (force(cavity, cavity.rest, np.ones(1)) * (cavity.rest - 0.5) > 0).all()  # inflates
    top = CUBE[:, 2] == 1
    assert cavity.gradient(cavity.rest)[top, 2].sum() == pytest.approx(1.0)  # pressure times area


def test_volume_of_a_ball_far_from_the_origin():
    centre = np.array([300.0, -200.0, 100.0])
    coarse, fine = (pi.Cavity(points(0.02 * v + centre), t) for v, t in (sphere(16, 32), sphere(32, 64)))
    exact = 4 / 3 * np.pi * 0.02**3
    errors = [1 - c.rest_volume / exact for c in (coarse, fine)]
    assert 0 < errors[1] < errors[0] < 0.03
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)  # second order
    np.testing.assert_allclose(fine.level, centre, atol=1e-10)


def test_a_capped_cup_holds_what_the_closed_cube_holds():
    lid = (FACES > 3).all(axis=1)
    cup = pi.Cavity(points(CUBE), FACES[~lid], cap="flat")
    closed = pi.Cavity(points(CUBE), FACES)
    assert cup.rest_volume == pytest.approx(1.0)
    tilted = CUBE + [0, 0, 0.3] * (CUBE @ [0.0, 0.5, 1.0])[:, None]
    assert cup.value(tilted)[0] == pytest.approx(closed.value(tilted)[0])
    assert cup.gradient(CUBE)[CUBE[:, 2] == 1, 2].sum() == pytest.approx(
        1.0
    )  # the lid's push acts on the rim


def test_two_rims_make_a_tube():
    ends = (FACES > 3).all(axis=1) | (FACES < 4).all(axis=1)
    tube = pi.Cavity(points(CUBE), FACES[~ends], cap="flat")
    assert tube.rest_volume == pytest.approx(1.0)


def test_a_rim_fixed_in_space_needs_no_cap():
    lid = (FACES > 3).all(axis=1)
    cavity = pi.Cavity(points(CUBE, fixed=(4, 5, 6, 7)), FACES[~lid])
    assert cavity.rest_volume == pytest.approx(1.0)
    with pytest.raises(pi.interaction.InputError, match="4 open edges"):
        pi.Cavity(points(CUBE, fixed=(4, 5, 6)), FACES[~lid])


@pytest.mark.parametrize("capped", [False, True])
def test_a_liquid_weighs_density_times_volume(capped):
    lid = (FACES > 3).all(axis=1)
    p, gravity = CUBE * [0.1, 0.2, 0.3] + [1.0, 2.0, 3.0], np.array([0.5, 0.0, -9.81])
    cavity = pi.Cavity(
        points(p), FACES[~lid] if capped else FACES, cap="flat" if capped else None, liquid_density=1000.0
    )
    moved = rotated(p, [0.3, -0.5, 1.0], shift=[0.0, 0.1, 0.0])
    load = cavity.load(moved, gravity)
    np.testing.assert_allclose(load.sum(axis=0), 1000 * 0.006 * gravity, rtol=1e-12, atol=1e-12)
    torque = np.cross(moved, load).sum(axis=0)  # the weight acts at the centre
    np.testing.assert_allclose(torque, np.cross(moved.mean(axis=0), 6.0 * gravity), rtol=1e-10)


def test_hydrostatic_pressure_is_zero_at_the_level():
    """On a vertical wall the push is ρ g times the mean depth below the level times the area."""
    gravity = np.array([0.0, 0.0, -10.0])
    cavity = pi.Cavity(points(CUBE), FACES, liquid_density=1000.0, level=[0.0, 0.0, 2.0])
    wall = CUBE[:, 0] == 1
    assert cavity.load(CUBE, gravity)[wall, 0].sum() == pytest.approx(1000 * 10 * 1.5)


@pytest.mark.parametrize("angle", [-3.1, -2.0, -0.3, 0.0, 0.7, 1.9, 3.1])
def test_motor_angle_is_the_rotation_about_its_axis(angle):
    axis = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    motor = pi.Motor(points(FRAME), axis)
    p = rotated(FRAME, angle * axis, about=[0.3, 0.1, 0.2])
    assert motor.value(p)[0] == pytest.approx(angle, abs=1e-12)
    couple = np.cross(p, force(motor, p, np.array([2.0]))).sum(axis=0)
    assert couple @ axis == pytest.approx(2.0)  # the torque, whatever the angle


def test_motor_range_is_centred_on_its_middle():
    motor = pi.Motor(points(FRAME), [0, 0, 2], middle=2.5)
    for angle in (-0.6, 0.0, 3.5, 5.6):
        assert motor.value(rotated(FRAME, [0, 0, angle]))[0] == pytest.approx(angle, abs=1e-12)


@pytest.mark.parametrize(
    "rotvec", [[0, 0, 0], [1e-9, 0, 0], [0.4, -0.2, 0.1], [1, 2, -1.5], [0, 3.1, 0], [0, 0, -np.pi]]
)
@pytest.mark.parametrize("corners", [FRAME, FRAME[:3], CUBE])
def test_orientation_is_exact_for_rigid_motion(rotvec, corners):
    orientation = pi.Orientation(points(corners))
    p = rotated(corners, rotvec, shift=[1.0, 2.0, 3.0])
    phi = orientation.value(p)
    if np.linalg.norm(rotvec) == np.pi:
        phi = -phi if phi @ rotvec < 0 else phi  # both ways round are half a turn
    np.testing.assert_allclose(phi, rotvec, atol=2e-9)
    np.testing.assert_allclose(orientation.rotation(p), Rotation.from_rotvec(rotvec).as_matrix(), atol=1e-12)


def test_orientation_effort_at_rest_is_a_torque_in_space():
    orientation, torque = pi.Orientation(points(CUBE)), np.array([1.0, -2.0, 3.0])
    f = force(orientation, CUBE, torque)
    np.testing.assert_allclose(np.cross(CUBE, f).sum(axis=0), torque, atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.5, 3.0])
def test_magnet_angles(angle):
    p = rotated(FRAME, [0, 0, angle])
    signed = pi.Magnet(points(FRAME), moment=[1, 0, 0], field=[0, 2, 0], axis=[0, 0, 1])
    assert signed.value(p)[0] == pytest.approx(angle - np.pi / 2, abs=1e-12)
    unsigned = pi.Magnet(points(FRAME), moment=[1, 0, 0], field=[0, 2, 0])
    assert unsigned.value(p)[0] == pytest.approx(abs(angle - np.pi / 2), abs=1e-12)
    alignment = pi.Magnet(points(FRAME), moment=[1, 0, 0], field=np.eye(3), measure="alignment")
    np.testing.assert_allclose(alignment.value(p), [np.cos(angle), np.sin(angle), 0], atol=1e-12)
    couple = np.cross(p, force(alignment, p, np.array([0.0, 3.0, 0.0]))).sum(axis=0)
    np.testing.assert_allclose(couple, [0, 0, 3 * np.cos(angle)], atol=1e-12)  # m × B


def test_an_aligned_magnet_has_no_derivative_but_finite_numbers():
    magnet = pi.Magnet(points(FRAME), moment=[1, 0, 0], field=[0, 1, 0])
    aligned = rotated(FRAME, [0, 0, np.pi / 2])
    assert magnet.value(aligned)[0] == pytest.approx(0, abs=1e-12)
    assert not magnet.gradient(aligned).any() and not magnet.hessian(aligned, np.ones(1)).any()


def test_curvature_of_a_circle():
    t = np.linspace(0, 2, 12)
    circle = 0.25 * np.column_stack([np.cos(t), np.sin(t), 0 * t])
    for normal, sign in ((None, 1), ([0, 0, 1], 1), ([0, 0, -1], -1)):
        curvature = pi.Curvature(points(circle), normal=normal)
        chord = np.linalg.norm(circle[1] - circle[0])
        np.testing.assert_allclose(curvature.value(circle), sign * (t[1] - t[0]) / chord)
        np.testing.assert_allclose(curvature.value(circle), sign / 0.25, rtol=2e-3)


def test_a_straight_line_bends_both_ways_from_zero():
    line = np.column_stack([np.arange(5.0), np.zeros(5), np.zeros(5)])
    curvature = pi.Curvature(points(line), normal=[0, 0, 1])
    assert not curvature.value(line).any() and curvature.gradient(line).any()
    up, down = (curvature.value(line + [0, s * 0.1, 0] * line[:, :1] ** 2) for s in (1, -1))
    assert (up > 0).all() and np.allclose(up, -down)


def test_surface_force_adds_up_to_the_force_whatever_the_shape():
    top = FACES[(FACES > 3).all(axis=1)]
    push = pi.SurfaceForce(points(CUBE), top)
    np.testing.assert_allclose(force(push, CUBE, np.array([3.0])).sum(axis=0), [0, 0, 3], atol=1e-12)
    assert push.value(CUBE + np.array([0, 0, 0.2]))[0] == pytest.approx(0.2)
    moved = rotated(CUBE * [2, 1, 1], [0, np.pi / 2, 0])
    np.testing.assert_allclose(force(push, moved, np.array([3.0])).sum(axis=0), [3, 0, 0], atol=1e-12)


def test_means_of_points():
    p = points(CUBE)
    np.testing.assert_allclose(pi.Barycentre(p).value(CUBE + 1), [1.5, 1.5, 1.5])
    masses = np.where(CUBE[:, 2] == 1, 3.0, 1.0)
    np.testing.assert_allclose(pi.CentreOfMass(p, masses).value(CUBE), [0.5, 0.5, 0.75])
    np.testing.assert_allclose(
        force(pi.Barycentre(p), CUBE, np.array([0.0, 0.0, 8.0])), np.tile([0, 0, 1], (8, 1))
    )
    assert pi.Slider(p, [0, 0, 5]).value(CUBE + np.array([1, 2, 3]))[0] == pytest.approx(3.0)


def test_positions_are_absolute_and_forces_displacements():
    p, moved = points(CUBE[:2]), CUBE[:2] + np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(pi.Position(p).value(moved), moved.ravel())
    np.testing.assert_allclose(pi.Position(p, directions="zx").value(moved), moved[:, [2, 0]].ravel())
    np.testing.assert_allclose(pi.Position(p, directions=[[3, 4, 0]]).value(moved), moved @ [0.6, 0.8, 0])
    np.testing.assert_allclose(pi.PointForce(p).value(moved), np.tile([0.1, 0.2, 0.3], 2))
    np.testing.assert_allclose(pi.PointForce(p, direction=[0, 0, 2]).value(moved), [0.3, 0.3])


def test_position_weights_never_scale_the_value():
    p = points(CUBE[:2])
    for weights in (2.0, [1, 2, 3], [[1, 2, 3], [4, 5, 6]], np.arange(6)):
        position = pi.Position(p, weights=weights)
        assert position.weights.shape == (6,)
        np.testing.assert_allclose(position.value(CUBE[:2]), CUBE[:2].ravel())
    np.testing.assert_allclose(pi.Position(p, weights=[1, 2, 3]).weights, [1, 2, 3, 1, 2, 3])


def test_many_positions_stay_sparse():
    many = pi.Position(points(np.random.default_rng(0).normal(size=(500, 3))))
    assert many.size == 1500 and len(many.stencil()[1]) == 1500 and len(many.pairs()) == 0


def test_a_combined_cable_cannot_push():
    line = points([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    assert pi.Combined(pi.Cable(line), [[2.0]]).effort_range == (0.0, np.inf)
    assert pi.Combined(pi.Stretch(line), [[1.0], [-1.0]]).effort_range == (-np.inf, np.inf)
