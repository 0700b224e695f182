"""An object at rest between skins: balance, derivatives, the cone program, and what must be refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.membrane.cone import cone_equilibrium
from pliant.membrane.equilibrium import HELD, LOOSE, OUTSIDE, STALLED, Skins, equilibrium
from pliant.membrane.kernels.skin import BEYOND, FREE, SWALLOWED, TOUCHED, skin_length
from pliant.membrane.shapes import Disc, Polygon, Shape, box, regular
from pliant.membrane.wrapping import LEFT, RIGHT, Pulley, wrap
from tests.membrane.closed_form import skin_over

SHAPES = {
    "disc": Disc(0.02),
    "box": box(0.03, 0.04),
    "hexagon": regular(6, 0.02, turned=0.2),
    "round": Polygon([(-0.01, -0.01), (0.015, -0.01), (0.0, 0.02)], radius=0.006),
}
small, turn = st.floats(-0.008, 0.008), st.floats(-0.3, 0.3)


def facing(shift=0.0, *, stiffness=(150.0, 110.0), preload=0.004):
    """A skin below and one above the origin."""
    ends = np.array([[-0.06, -0.008, 0.06, -0.008], [-0.06, 0.008, 0.06, 0.008]])
    return Skins.of(ends + shift, stiffness=stiffness, preload=preload, side=[LEFT, RIGHT])


def numeric(function, x, step=1e-6):
    """Central differences of an array function of (n,)."""
    columns = []
    for k in range(len(x)):
        up, down = x.copy(), x.copy()
        up[k] += step
        down[k] -= step
        columns.append((function(up) - function(down)) / (2.0 * step))
    return np.stack(columns, axis=-1)


shifts = st.lists(small, min_size=8, max_size=8).map(lambda values: np.reshape(values, (2, 4)))


# Length

BY = np.array([0, 1, 3, 4, 5, 6, 7])  # derivatives by A, the pose and B; the ends have no angle


def length(ends, side, shape: Shape, pose):
    """(kind, ℓ, gradient (7,), Hessian (7, 7)) of a skin by A, the pose and B."""
    ends, pose = np.array(ends), np.array(pose)
    kind, _, _, value, g, H = skin_length(ends, float(side), shape.corners.copy(), shape.radius, pose)
    return kind, value, g.ravel()[BY], H[np.ix_(BY, BY)]


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=30)
@given(
    x=st.floats(-0.03, 0.03),
    y=st.floats(-0.03, 0.03),
    angle=st.floats(-3.0, 3.0),
    side=st.sampled_from([LEFT, RIGHT]),
)
def test_length_of_a_skin_has_its_closed_form(name, x, y, angle, side):
    """The compiled path against a closed form that was written apart from it.

    Past one shape, `wrap` is the same path.
    """
    shape, ends, pose = SHAPES[name], np.array([-0.07, 0.01, 0.08, -0.005]), np.array([x, y, angle])
    kind, value, g, H = length(ends, side, shape, pose)
    assume(kind in (FREE, TOUCHED))
    expected, slope, bend = skin_over(ends, side, shape, pose)
    assert value == pytest.approx(expected, rel=1e-12)
    assert np.allclose(g, slope, atol=1e-9) and np.allclose(H, bend, atol=1e-6)
    path = wrap(ends[:2], ends[2:], [Pulley(shape, pose, side)])
    assert path.length == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("side", [LEFT, RIGHT])
@pytest.mark.parametrize(("x", "kind"), [(0.01, TOUCHED), (0.13, BEYOND), (-0.12, BEYOND)])
def test_derivatives_of_the_length(name, side, x, kind):
    shape, z = SHAPES[name], np.array([-0.07, 0.01, x, -side * 0.012, 0.7, 0.08, -0.005])
    at = lambda z: length(z[[0, 1, 5, 6]], side, shape, z[2:5])
    found, _, g, H = at(z)
    assert found == kind
    assert np.allclose(g, numeric(lambda z: np.array(at(z)[1]), z), atol=1e-8)
    assert np.allclose(H, numeric(lambda z: at(z)[2], z), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", SHAPES)
def test_beyond_its_ends_a_skin_is_the_path_that_was_followed_there(name):
    """Pressed in, moved past an end and up beside it: a path with a memory and the skin without one agree."""
    shape, ends, contact = SHAPES[name], np.array([-0.07, 0.0, 0.07, 0.0]), None
    way = [(0.0, y) for y in np.linspace(0.04, -0.05, 20)]
    way += [(x, -0.05) for x in np.linspace(0.0, 0.15, 20)]
    way += [(0.15, y) for y in np.linspace(-0.05, 0.03, 30)]
    kinds = set()
    for x, y in way:
        kind, value, *_ = length(ends, LEFT, shape, (x, y, 0.3))
        if kind == FREE and TOUCHED in kinds:
            break  # above the line from A to B, where nothing remembers that it was touched
        path = wrap(ends[:2], ends[2:], [Pulley(shape, (x, y, 0.3))], contact=contact)
        contact = path.contact
        assert value == pytest.approx(path.length, rel=1e-12)
        kinds.add(kind)
    assert kinds == {FREE, TOUCHED, BEYOND}


@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_an_edge_in_line_with_the_skin_adds_no_length(side):
    """Rounding may leave the turn just below zero, and take the corners of the edge in either order."""
    for x in np.linspace(-0.03, 0.03, 25):
        for depth in (0.0, 1e-16, 1e-15, 3e-15, 1e-14, 1e-12):
            for tilt in (-1e-12, -1e-15, 0.0, 1e-15, 1e-12):
                pose = (x, side * (0.02 - depth), 0.0)
                value = length([-0.07, 0.0, 0.07, tilt], side, SHAPES["box"], pose)[1]
                assert value == pytest.approx(0.14, rel=1e-12)


def test_a_straight_skin_follows_its_ends_only():
    kind, value, g, _ = length([0.0, 0.0, 0.3, 0.4], LEFT, Disc(0.05), (-0.4, 0.5, 0.0))
    assert kind == FREE and value == pytest.approx(0.5)
    assert np.allclose(g, [-0.6, -0.8, 0, 0, 0, 0.6, 0.8])


def test_kinds_of_contact():
    kind = lambda x, y: length([-0.06, 0.0, 0.06, 0.0], LEFT, SHAPES["box"], (x, y, 0.0))[0]
    assert kind(0.0, 0.05) == FREE and kind(0.0, 0.01) == TOUCHED
    assert kind(0.06, 0.0) == SWALLOWED and kind(0.12, -0.05) == BEYOND


def test_an_end_is_inside_a_round_polygon_where_the_shape_says_so():
    """Near a rounded corner as well, where growing every edge would take in too much."""
    shape, rng = SHAPES["round"], np.random.default_rng(0)
    for x, y in rng.uniform(-0.03, 0.03, (200, 2)):
        kind = length([x, y, 0.5, 0.0], LEFT, shape, np.zeros(3))[0]
        far = np.abs(shape.distance(np.array([x, y]))) > 1e-9
        assert not far or (kind == SWALLOWED) == shape.contains((x, y))


# Equilibrium


def test_a_point_between_equal_skins_rests_in_the_middle():
    """Closed form: two points at a distance 2a, deflected by d: F = 2 k (2√(a² + d²) − ℓ₀) d/√(a² + d²)."""
    rest = equilibrium(facing(stiffness=150.0), Disc(0.02), (0.01, 0.003))
    assert rest.status == HELD and np.abs(rest.pose).max() < 1e-12
    a, h, r = 0.06, 0.008, 0.02
    d = np.hypot(a, h)
    # tangent from the end to the disc, and the angle that it makes with the straight skin
    angle = np.arcsin(r / d) - np.arctan2(h, a)
    whole = 2.0 * np.sqrt(d * d - r * r) + 2.0 * r * angle
    tension = 150.0 * (whole - (2.0 * a - 0.004))
    assert rest.tension == pytest.approx([tension, tension], rel=1e-12)
    assert rest.wrench[0] == pytest.approx([0.0, 2.0 * tension * np.sin(angle), 0.0], abs=1e-12)


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=15)
@given(shift=shifts, angle=turn)
def test_forces_balance_and_the_jacobian_is_right(name, shift, angle):
    shape = SHAPES[name]
    skins = facing(shift)
    rest = equilibrium(skins, shape, (0.0, 0.0, angle), wrench=(0.02, -0.05, 0.0))
    assume(rest.status == HELD and rest.touching.all())
    assert np.abs(rest.wrench.sum(axis=0)[:2] + np.array([0.02, -0.05])).max() < 1e-9
    assert rest.pose[2] == angle and (rest.jacobian[2] == 0.0).all()

    def moved(ends):
        other = equilibrium(
            Skins(ends.reshape(2, 4), *skins.arrays[1:]), shape, rest.pose, wrench=(0.02, -0.05, 0.0)
        )
        return np.concatenate((other.pose, other.wrench.ravel()))

    change = numeric(moved, skins.ends.ravel(), 1e-7)
    wider = numeric(moved, skins.ends.ravel(), 2e-7)
    if np.allclose(change, wider, rtol=1e-3, atol=1e-3):  # no corner changes here
        assert np.allclose(rest.jacobian, change[:3], rtol=1e-4, atol=1e-4)
        assert np.allclose(rest.wrench_jacobian.reshape(6, 8), change[3:], rtol=1e-4, atol=1e-2)


def test_an_object_that_may_turn_comes_to_rest_in_all_coordinates():
    for angle in (-0.2, 0.3):
        rest = equilibrium(
            facing(np.full((2, 4), 0.002) * [1, 1, -1, 2]), SHAPES["box"], (0.0, 0.0, angle), rotates=True
        )
        assert rest.status == HELD and np.abs(rest.wrench.sum(axis=0)).max() < 1e-9
        assert (np.linalg.eigvalsh(rest.stiffness) > 0.0).all()
        change = numeric(
            lambda e, r=rest: (
                equilibrium(Skins(e.reshape(2, 4), *r.skins.arrays[1:]), r.shape, r.pose, rotates=True).pose
            ),
            rest.skins.ends.ravel(),
        )
        assert np.allclose(rest.jacobian, change, rtol=1e-5, atol=1e-5)


def test_three_skins_hold_a_box_that_turns():
    """Skins on three sides, each straight line of the triangle facing the middle."""
    corner = [0.08 * np.array([np.cos(a), np.sin(a)]) for a in np.deg2rad([90, 210, 330])]
    ends = [
        np.concatenate((0.95 * a + 0.05 * b, 0.05 * a + 0.95 * b))
        for a, b in zip(corner, corner[1:] + corner[:1])
    ]
    skins = Skins.of(ends, stiffness=200.0, preload=0.002, side=LEFT)
    around = np.deg2rad([5, 55, 125, 175, 245, 295])  # three flats that press on the skins
    blunt = Polygon(0.05 * np.column_stack((np.cos(around), np.sin(around))))
    rest = equilibrium(skins, blunt, (0.001, 0.002, 0.1), rotates=True)
    assert rest.status == HELD and rest.touching.all()
    assert np.abs(rest.wrench.sum(axis=0)).max() < 1e-9
    assert np.linalg.norm(rest.pose[:2]) < 1e-9


def test_weight_hangs_in_one_skin():
    """A point load in the middle of a string: 2 T sin = weight."""
    skin = Skins.of([[-0.1, 0.0, 0.1, 0.0]], stiffness=300.0, preload=0.0, side=LEFT)
    rest = equilibrium(skin, Disc(0.0), (0.01, -0.01), wrench=(0.0, -0.5, 0.0))
    assert rest.status == HELD and rest.pose[0] == pytest.approx(0.0, abs=1e-12)
    d = -rest.pose[1]
    slope = d / np.hypot(0.1, d)
    assert 2.0 * rest.tension[0] * slope == pytest.approx(0.5, rel=1e-12)
    assert rest.tension[0] == pytest.approx(300.0 * (2.0 * np.hypot(0.1, d) - 0.2), rel=1e-12)


def test_slack_skins_leave_the_object_loose():
    """A stated behaviour, not an error: nothing pulls until the slack is used up."""
    rest = equilibrium(facing(preload=-0.05), SHAPES["box"])
    assert rest.status == LOOSE and (rest.tension == 0.0).all() and np.isnan(rest.jacobian[0]).all()
    apart = facing(np.array([[0, -0.05, 0, -0.05], [0, 0.05, 0, 0.05]]))
    assert equilibrium(apart, SHAPES["box"]).status == LOOSE


def test_a_disc_that_may_turn_is_loose_without_friction():
    assert equilibrium(facing(), SHAPES["disc"], rotates=True).status == LOOSE
    assert equilibrium(facing(), SHAPES["disc"]).status == HELD


def test_energy_is_the_least_nearby():
    rest = equilibrium(facing(np.full((2, 4), 0.003) * [1, -1, 0, 1]), SHAPES["hexagon"], rotates=True)
    rng = np.random.default_rng(0)
    for step in rng.normal(size=(20, 3)) * [1e-3, 1e-3, 0.02]:
        value = 0.0
        for end, k, l0, side in zip(*rest.skins.arrays):
            ell = length(end, side, rest.shape, rest.pose + step)[1]
            value += 0.5 * k * max(ell - l0, 0.0) ** 2
        assert value > rest.energy


def test_an_object_pushed_past_the_end_of_a_skin_is_reported():
    """A string drawn sideways like that of a bow.

    One that is not drawn deep enough lets the object go, which has no rest.
    """
    skin = Skins.of([[-0.06, 0.0, 0.06, 0.0]], stiffness=20.0, side=LEFT)
    rest = equilibrium(skin, Disc(0.005), (0.0, -0.02), wrench=(4.0, -1.0, 0.0))
    assert rest.status == OUTSIDE and rest.pose[0] > 0.06
    assert np.abs(rest.wrench[0, :2] + (4.0, -1.0)).max() < 1e-9
    assert equilibrium(facing(), Disc(0.005), (0.04, 0.0), wrench=(3.0, 0.0, 0.0)).status == STALLED


# The cone program


@pytest.mark.parametrize("name", ["box", "hexagon", "point"])
@settings(max_examples=15)
@given(shift=shifts, angle=turn, force=st.tuples(st.floats(-0.1, 0.1), st.floats(-0.3, 0.3)))
def test_cone_program_and_newton_agree(name, shift, angle, force):
    pytest.importorskip("clarabel")
    shape = Disc(0.0) if name == "point" else SHAPES[name]
    crossed = np.array([[0, 0.02, 0, 0.02], [0, -0.02, 0, -0.02]])  # over each other: both deflected
    skins = Skins(*[np.array(a) for a in facing(shift).arrays])
    skins.ends[:] += crossed if name == "point" else 0.0
    start = np.array([0.0, 0.0, angle])
    rest = equilibrium(skins, shape, start, wrench=(*force, 0.0))
    assume(rest.status == HELD and rest.touching.all())
    cone = cone_equilibrium(skins, shape, start, force=force)
    assert cone.status == "Solved"
    assert cone.energy - rest.energy == pytest.approx(0.0, abs=1e-8 * rest.forces * 0.1)
    assert np.abs(cone.pose - rest.pose).max() < 1e-4 * 0.12
    assert cone.tension == pytest.approx(rest.tension, rel=1e-3)


def test_the_cone_program_takes_no_arcs():
    pytest.importorskip("clarabel")
    with pytest.raises(InputError, match="arc"):
        cone_equilibrium(facing(), SHAPES["disc"])


# Bad input


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"stiffness": -1.0}, "stiffness"),
        ({"preload": 0.5}, "preload"),
        ({"side": 3}, "side"),
        ({"ends": [[0.0, 0.0, 0.0, 0.0]]}, "pulleys apart"),
        ({"ends": [[0.0, 0.0, 1.0, np.nan]]}, "ends"),
        ({"ends": [[-1, -1, 1, 1], [-1, 1, 1, -1]]}, "cross"),
    ],
)
def test_bad_skins_are_refused(change, word):
    given_ = {"ends": [[-0.1, 0.0, 0.1, 0.0]], "stiffness": 100.0, **change}
    with pytest.raises(InputError, match=word):
        Skins.of(given_.pop("ends"), **given_)


@pytest.mark.parametrize("start", [(0.06, 0.0), (0.12, -0.05)])
def test_an_object_outside_the_hand_is_refused(start):
    with pytest.raises(InputError, match="between the ends"):
        equilibrium(facing(), SHAPES["box"], start)


def test_a_clockwise_polygon_is_refused():
    with pytest.raises(InputError, match="clockwise"):
        Polygon([(0, 0), (0, 1), (1, 0)])
