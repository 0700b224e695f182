"""What each law means in a forward problem: closed forms, complementarity, and what is refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.laws import Law, as_vector
from tests.core.test_models import DOWN, bar, cables, linear_bar

AXIAL = 1e4 * 0.02 * 0.02 / 0.1  # E A/L of the linear bar, 40 N/m
LAWS = [
    cls for cls in vars(pl.laws).values() if isinstance(cls, type) and issubclass(cls, Law) and cls is not Law
]
INF = float("inf")


@pytest.fixture(scope="module")
def robot() -> pl.Robot:
    return cables(gravity=DOWN)


@pytest.fixture(scope="module")
def linear() -> pl.Robot:
    return linear_bar()


def same_state(a: pl.Result, b: pl.Result, tol: float = 1e-9) -> None:
    np.testing.assert_allclose(a.positions, b.positions, rtol=0, atol=tol * a.robot.length)


# Known


def test_known_effort_is_applied_as_it_is(linear):
    result = pl.static(linear, {"push": pl.Known(effort=0.2)})
    assert result.effort["push"] == 0.2
    assert result.displacement["push"][0] == pytest.approx(0.2 / AXIAL, rel=1e-8)
    assert result.effort["load"] == 0.0


def test_known_effort_for_every_scalar_row(robot):
    force = [0.01, -0.02, 0.03]
    result = pl.static(robot, {"tip": pl.Known(effort=force)})
    np.testing.assert_array_equal(result.effort["tip"], force)
    one_for_all = pl.static(robot, {"tip": pl.Known(effort=0.01)})
    np.testing.assert_array_equal(one_for_all.effort["tip"], [0.01] * 3)


def test_known_displacement_is_an_equality_where_efforts_have_no_bounds(linear):
    for wanted in (0.003, -0.002, 0.0):
        result = pl.static(linear, {"push": pl.Known(displacement=wanted)})
        assert result.displacement["push"][0] == pytest.approx(wanted, abs=1e-11)
        assert result.effort["push"][0] == pytest.approx(AXIAL * wanted, rel=1e-7, abs=1e-9)


def test_effort_and_displacement_are_dual(robot):
    """The tension that an imposed length needs gives that length when it is imposed itself."""
    by_length = pl.static(robot, {"top": pl.Known(displacement=0.004)})
    by_tension = pl.static(robot, {"top": pl.Known(effort=by_length.effort["top"])})
    same_state(by_length, by_tension, 1e-7)
    assert by_tension.displacement["top"][0] == pytest.approx(0.004, rel=1e-6)


def test_position_of_a_tip_is_imposed_in_all_directions(robot):
    wanted = [0.0985, 0.012, 0.02]
    result = pl.static(robot, {"tip": pl.Known(displacement=wanted)})
    np.testing.assert_allclose(result.displacement["tip"], wanted, atol=1e-10)
    same_state(result, pl.static(robot, {"tip": pl.Known(effort=result.effort["tip"])}), 1e-6)


# Cables: an imposed length is a complementarity


def assert_complementary(result: pl.Result, name: str, imposed: float) -> None:
    tension, gap = result.effort[name][0], result.displacement[name][0] - imposed
    length = result.robot.length
    assert tension >= 0.0 and gap >= -1e-9 * length
    assert tension == 0.0 or abs(gap) <= 1e-9 * length


def test_a_pulled_cable_is_taut(robot):
    result = pl.static(robot, {"top": pl.Known(displacement=0.005)})
    assert result.effort["top"][0] > 0.1
    assert result.displacement["top"][0] == pytest.approx(0.005, abs=1e-10)


def test_a_cable_let_out_is_slack(robot):
    """Exactly no tension, and the state is that of the robot without the cable."""
    result = pl.static(robot, {"top": pl.Known(displacement=-0.01)})
    assert result.effort["top"][0] == 0.0
    assert result.displacement["top"][0] > -0.01
    same_state(result, pl.static(robot))


def test_a_cable_that_holds_against_gravity(robot):
    """At zero it stops the sag; the tension vanishes as it is let out to where the sag ends."""
    sag = pl.static(robot).displacement["top"][0]  # the top is stretched
    assert sag < 0
    tensions = []
    for share in (0.0, 0.5, 0.9, 1.1):
        result = pl.static(robot, {"top": pl.Known(displacement=share * sag)})
        assert_complementary(result, "top", share * sag)
        tensions.append(result.effort["top"][0])
    assert tensions[0] > tensions[1] > tensions[2] > tensions[3] == 0.0


def test_one_cable_is_pulled_while_the_other_goes_slack():
    robot = cables()
    alone = pl.static(robot, {"top": pl.Known(displacement=0.006)})
    stretched = alone.displacement["bottom"][0]
    assert stretched < -0.001  # bending up lengthens the bottom
    loose = {"top": pl.Known(displacement=0.006), "bottom": pl.Known(displacement=1.2 * stretched)}
    result = pl.static(robot, loose)
    assert result.effort["bottom"][0] == 0.0 and result.effort["top"][0] > 0
    assert result.displacement["bottom"][0] >= 1.2 * stretched
    same_state(result, alone)
    tight = {"top": pl.Known(displacement=0.006), "bottom": pl.Known(displacement=0.8 * stretched)}
    result = pl.static(robot, tight)
    assert result.effort["bottom"][0] > 0 and result.effort["top"][0] > alone.effort["top"][0]
    for name, law in tight.items():
        assert_complementary(result, name, law.displacement)


def test_both_cables_pulled_alike_shorten_the_bar():
    result = pl.static(cables(), {name: pl.Known(displacement=0.001) for name in ("top", "bottom")})
    assert result.effort["top"][0] == pytest.approx(result.effort["bottom"][0], rel=1e-6)
    assert result.effort["top"][0] > 0 and result.displacement["tip"][0] < 0.0995
    assert result.displacement["tip"][2] == pytest.approx(0.01, abs=1e-9)


def test_a_cable_goes_slack_and_taut_again_along_a_path():
    """Warm starts do not remember the wrong side of the complementarity."""
    robot, state = cables(), None
    for top in (0.004, 0.0, -0.002, 0.003, -0.001, 0.005):
        laws = {"top": pl.Known(displacement=top), "bottom": pl.Known(displacement=-0.001)}
        result = pl.static(robot, laws, state=state)
        state = result.state
        assert_complementary(result, "top", top)
        assert_complementary(result, "bottom", -0.001)
        same_state(result, pl.static(robot, laws), 1e-7)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.floats(-0.006, 0.006), st.floats(-0.006, 0.006))
def test_any_pair_of_lengths_is_complementary(top, bottom):
    if top + bottom > 0.004:
        top, bottom = top - 0.006, bottom - 0.002  # not squeezed by more than a few per cent
    laws = {"top": pl.Known(displacement=top), "bottom": pl.Known(displacement=bottom)}
    result = pl.static(LIGHT, laws)
    assert_complementary(result, "top", top)
    assert_complementary(result, "bottom", bottom)


LIGHT = cables()


# Elastic


@pytest.mark.parametrize("stiffness", [1.0, AXIAL, 1e3])
def test_a_spring_beside_the_bar_adds_its_stiffness(linear, stiffness):
    """Both carry the load: δ = F/(k + E A/L), and the spring its share −k δ."""
    result = pl.static(linear, {"push": pl.Elastic(stiffness=stiffness), "load": pl.Known(effort=0.1)})
    delta = 0.1 / (stiffness + AXIAL)
    assert result.displacement["push"][0] == pytest.approx(delta, rel=1e-7)
    assert result.effort["push"][0] == pytest.approx(-stiffness * delta, rel=1e-7)


@pytest.mark.parametrize("stiffness", [1.0, AXIAL, 1e3])
def test_a_spring_pulled_at_its_far_end_is_in_series(linear, stiffness):
    """λ = rest / (1/k + L/(E A))."""
    result = pl.static(linear, {"push": pl.Elastic(stiffness=stiffness, rest=0.004)})
    assert result.effort["push"][0] == pytest.approx(0.004 / (1 / stiffness + 1 / AXIAL), rel=1e-7)


def test_a_stiff_spring_is_an_imposed_displacement(linear):
    spring = pl.static(linear, {"push": pl.Elastic(stiffness=1e9, rest=0.004)})
    imposed = pl.static(linear, {"push": pl.Known(displacement=0.004)})
    same_state(spring, imposed, 1e-7)


def test_an_elastic_cable_cannot_push(robot):
    """A spring at the cable's end: in series when pulled, without effort when let out."""
    pulled = pl.static(robot, {"top": pl.Elastic(stiffness=500.0, rest=0.005)})
    tension, length = pulled.effort["top"][0], pulled.displacement["top"][0]
    assert tension > 0 and tension == pytest.approx(500.0 * (0.005 - length), rel=1e-6)
    assert pl.static(robot, {"top": pl.Elastic(stiffness=500.0, rest=-0.01)}).effort["top"][0] == 0.0


def test_a_sheath_resists_along_the_cable():
    """Springs on a Stretch along the path: λ = −k δ on each segment, and the robot bends less."""
    body = bar()
    path = body.points([[x, 0.01, 0.018] for x in np.linspace(0, 0.1, 5)])
    rows = {"cable": pl.Row(pl.Cable(path)), "sheath": pl.Row(pl.Stretch(path), pl.Elastic(stiffness=800.0))}
    robot = pl.Robot(body, rows)
    result = pl.static(robot, {"cable": pl.Known(effort=1.0)})
    np.testing.assert_allclose(result.effort["sheath"], -800.0 * result.displacement["sheath"], rtol=1e-6)
    bare = pl.static(robot, {"cable": pl.Known(effort=1.0), "sheath": pl.Observed()})
    assert 0 < result.displacement["cable"][0] < bare.displacement["cable"][0]


def test_springs_are_there_from_the_first_load_step(linear):
    """Load steps ramp loads, not springs: any number of them ends in the same state."""
    laws = {"push": pl.Elastic(stiffness=30.0, rest=0.002), "load": pl.Known(effort=0.1)}
    same_state(pl.static(linear, laws), pl.static(linear, laws, load_steps=5))


# Unilateral


@pytest.mark.parametrize("gravity", [DOWN, (0.0, 0.0, 9.81)], ids=["onto it", "away"])
def test_unilateral_is_a_floor(gravity):
    """0 ≤ λ ⊥ δ ≥ 0: it carries a bar that sags, and lets one go that rises."""
    robot = linear_bar(gravity=gravity)
    result = pl.static(robot, {"lift": pl.Unilateral()})
    force, height = result.effort["lift"][0], result.displacement["lift"][0]
    if gravity == DOWN:
        assert force > 0 and abs(height) < 1e-10
        same_state(result, pl.static(robot, {"lift": pl.Known(displacement=0.0)}))
    else:
        assert force == 0.0 and height > 1e-4
        same_state(result, pl.static(robot))


def test_unilateral_on_several_scalar_rows():
    """Each scalar row has its own complementarity."""
    body = bar()
    ends = body.node_points(np.flatnonzero(body.mesh.nodes[:, 0] > 0.099))
    floor = pl.PointForce(ends, direction=(0, 0, 1))
    robot = pl.Robot(body, {"floor": pl.Row(floor, pl.Unilateral())}, gravity=DOWN)
    result = pl.static(robot)
    force, height = result.effort["floor"], result.displacement["floor"]
    assert (force >= 0).all() and (height >= -1e-10).all() and force.max() > 0
    np.testing.assert_allclose(np.minimum(force, height / robot.length), 0.0, atol=1e-9)


# Laws that only observe


@pytest.mark.parametrize(
    "law",
    [
        pl.Observed(),
        pl.Bounded(effort=(1.0, 5.0)),
        pl.Bounded(displacement=(0.01, 0.02)),
        pl.Target(),
        pl.Target(value=(0.1, 0.0, 0.0), weight=3.0),
        pl.Measured(value=(0.1, 0.0, 0.0)),
        pl.Unknown(effort=(-1.0, 1.0)),
    ],
    ids=repr,
)
def test_other_laws_only_observe(robot, law):
    """Bounded without a command means effort 0; targets, measurements and unknowns are not imposed."""
    result = pl.static(robot, {"tip": law})
    np.testing.assert_array_equal(result.effort["tip"], np.zeros(3))
    np.testing.assert_array_equal(result.q, pl.static(robot).q)


def test_a_row_that_observes_changes_nothing():
    body = bar()
    bare = pl.static(pl.Robot(body, gravity=DOWN))
    same_state(pl.static(cables(body, gravity=DOWN)), bare, 1e-11)


def test_laws_of_a_call_hold_for_that_call(robot):
    before = pl.static(robot)
    pulled = pl.static(robot, {"top": pl.Known(effort=2.0)})
    assert pulled.effort["top"] == 2.0 and robot.rows["top"].law == pl.Bounded(effort=(0, 40))
    np.testing.assert_array_equal(pl.static(robot).q, before.q)


def test_the_law_of_a_row_is_used_unless_the_call_gives_one():
    body = bar()
    cable = pl.Cable(body.points([[0.0, 0.01, 0.018], [0.1, 0.01, 0.018]]))
    robot = pl.Robot(body, {"cable": pl.Row(cable, pl.Known(effort=1.5))}, gravity=DOWN)
    assert pl.static(robot).effort["cable"] == 1.5
    assert pl.static(robot, {"cable": pl.Known(effort=0.5)}).effort["cable"] == 0.5


def test_a_cable_is_an_actuator_a_sensor_or_an_equality_by_its_law_alone():
    roles = {law.role for law in (pl.Bounded(), pl.Measured(), pl.Target(), pl.Known(effort=0), pl.Unknown())}
    assert len(roles) == 5
    assert cables().by_role("actuator") == ["top", "bottom"] and cables().by_role("effector") == ["tip"]


# What is refused


@pytest.mark.parametrize("value", [-1.0, -1e-12, [-1.0]])
def test_an_effort_outside_the_range_is_refused(robot, value):
    with pytest.raises(pl.InputError, match=r"effort of 'top'.*\[0, inf\].*-1"):
        pl.static(robot, {"top": pl.Known(effort=value)})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, [np.nan]])
@pytest.mark.parametrize("what", ["effort", "displacement"])
def test_commands_are_finite(robot, what, value):
    with pytest.raises(pl.InputError, match=f"{what} of 'top'.*finite"):
        pl.static(robot, {"top": pl.Known(**{what: value})})


@pytest.mark.parametrize("value", [[1.0, 2.0], [], [[1.0]], "much", [None], {"a": 1}, 1j, object()])
@pytest.mark.parametrize("what", ["effort", "displacement"])
def test_commands_have_the_size_of_the_row(robot, what, value):
    with pytest.raises(pl.InputError, match=f"{what} of 'top'"):
        pl.static(robot, {"top": pl.Known(**{what: value})})


@pytest.mark.parametrize("value", [[0.1, 0.2], np.zeros((3, 1)), np.zeros(4)])
def test_a_position_takes_three_numbers(robot, value):
    with pytest.raises(pl.InputError, match=r"'tip'.*3 numbers"):
        pl.static(robot, {"tip": pl.Known(displacement=value)})


@pytest.mark.parametrize("options", [{}, {"effort": 1.0, "displacement": 1.0}])
def test_known_is_one_of_two(options):
    with pytest.raises(pl.InputError, match="either effort= or displacement="):
        pl.Known(**options)


@pytest.mark.parametrize("law", [pl.Bounded, pl.Unknown])
@pytest.mark.parametrize("bounds", [(1, 0), (0, np.nan), 5, "ab", (0, 1, 2), (0,), None, ("a", "b"), {0: 1}])
def test_bounds_are_a_pair_in_order(law, bounds):
    with pytest.raises(pl.InputError, match=f"{law.__name__} effort"):
        law(effort=bounds)


def test_bounds_may_be_infinite_or_equal():
    assert pl.Bounded().effort == (-INF, INF)
    assert pl.Bounded(effort=(2, 2)).effort == (2.0, 2.0)
    assert pl.Bounded(displacement=np.array([0.0, 1.0])).displacement == (0.0, 1.0)


@pytest.mark.parametrize("speed", [0, -1, np.nan, "fast", None])
def test_a_speed_is_positive(speed):
    with pytest.raises(pl.InputError, match="Bounded speed"):
        pl.Bounded(speed=speed)


@pytest.mark.parametrize("stiffness", [0, -1, np.nan, np.inf, "stiff", None])
def test_a_stiffness_is_positive(stiffness):
    with pytest.raises(pl.InputError, match="Elastic stiffness"):
        pl.Elastic(stiffness=stiffness)


@pytest.mark.parametrize("law", [pl.Target, pl.Measured])
@pytest.mark.parametrize("weight", [-1, np.nan, "much"])
def test_a_weight_is_not_negative(law, weight):
    with pytest.raises(pl.InputError, match=f"{law.__name__} weight"):
        law(weight=weight)


@pytest.mark.parametrize("law", [pl.Target, pl.Measured])
@pytest.mark.parametrize("value", [(0.1, 0.2), (0.1, 0.2, np.nan), "there"])
def test_a_wanted_value_fits_its_row(law, value):
    """Found when the robot is built, not in the loop."""
    body = bar()
    with pytest.raises(pl.InputError, match="'tip'"):
        pl.Robot(body, {"tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]])), law(value=value))})


def test_bounds_of_an_actuator_overlap_what_the_interaction_can_do():
    """A cable that may only push is a mistake, found when the robot is built."""
    body = bar()
    cable = pl.Cable(body.points([[0.0, 0.01, 0.018], [0.1, 0.01, 0.018]]))
    with pytest.raises(pl.InputError, match="'cable'"):
        pl.Robot(body, {"cable": pl.Row(cable, pl.Bounded(effort=(-5.0, -1.0)))})


@pytest.mark.parametrize("law", LAWS, ids=lambda cls: cls.__name__)
def test_laws_are_frozen_values(law):
    made = {"Known": {"effort": 1.0}, "Elastic": {"stiffness": 2.0}}.get(law.__name__, {})
    one, other = law(**made), law(**made)
    assert one == other and one.role and law.__doc__
    with pytest.raises(FrozenInstanceError):
        one.effort = 3.0


def test_a_command_is_copied():
    command = np.array([1.0, 2.0])
    vector = as_vector(command, 2, "effort")
    command[0] = 5.0
    assert vector[0] == 1.0 and as_vector(3, 2, "effort").tolist() == [3.0, 3.0]
