"""What sensors read on every kind of body; contact forces as a force sensor reads them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Circle, Shell
from pliant.contact import Plane, Surroundings
from pliant.dynamics import Rayleigh
from pliant.errors import InputError
from pliant.mesh.lines import line

GRAVITY = (0.0, 0.0, -9.81)
RUBBER = pl.Hooke(young=1e6, poisson=0.3)


def block() -> pl.Robot:
    """A brick under a lid that slides up and down only, on a floor."""
    mesh = pl.mesh.box((0.06, 0.02, 0.02), cells=(3, 1, 1), kind="hex")
    lid = pl.Rigid(lambda x: x[:, 2] > 0.02 - 1e-9, name="lid", joint=pl.Prismatic((0, 0, 1)))
    body = pl.Solid(mesh, RUBBER, density=1000, rigid=lid)
    around = Surroundings([Plane((0, 0, 0), (0, 0, 1), name="floor")])
    rows = {"push": pl.Row(pl.Slider(body.region_points("lid")[:1], (0, 0, -1)))}
    return pl.Robot(body, rows, gravity=GRAVITY, surroundings=around)


def named(result: pl.Result, *names: str) -> pl.Result:
    """With the names of what is touched, as a detector of these opponents gives them."""
    assert result.contacts is not None
    return replace(result, contacts=replace(result.contacts, names=names))


def pressed(depth: float = 1e-4) -> tuple[pl.Robot, pl.Result]:
    """The lid pushed down by `depth` [m]."""
    robot = block()
    return robot, pl.static(robot, {"push": pl.Known(displacement=depth)})


# Contact force


@pytest.mark.parametrize("depth", [1e-5, 2e-4])
def test_a_floor_carries_weight_and_push(depth):
    robot, result = pressed(depth)
    felt = result.touch()
    load = 9.81 * robot.bodies[0].total_mass + result.effort["push"][0]
    np.testing.assert_allclose(felt.force, [0, 0, load], atol=1e-8 * load)
    assert felt.push == pytest.approx(load, rel=1e-8)
    np.testing.assert_allclose(felt.place, [0.03, 0.01, 0.0], atol=1e-9)  # below its middle
    np.testing.assert_allclose(felt.moment(felt.place), 0.0, atol=1e-9)
    np.testing.assert_allclose(felt.moment((0, 0, 0)), np.cross(felt.place, felt.force), atol=1e-9)


def test_patches_share_what_the_whole_feels():
    _, result = pressed()
    left = result.touch(where=lambda x: x[:, 0] < 0.03)
    right = result.touch(where=lambda x: x[:, 0] >= 0.03)
    np.testing.assert_allclose(left.force + right.force, result.touch().force, rtol=1e-12)
    assert left.count > 0 and right.count > 0 and left.place[0] < 0.03 < right.place[0]
    nothing = result.touch(where=lambda x: x[:, 0] < -1.0)
    assert nothing.count == 0 and not nothing.force.any() and np.isnan(nothing.place).all()


def test_an_obstacle_is_asked_by_its_name():
    _, result = pressed()
    result = named(result, "floor", "wall")
    np.testing.assert_array_equal(result.touch("floor").force, result.touch().force)
    assert result.touch("wall").count == 0
    with pytest.raises(InputError, match=r"flor.*floor"):
        result.touch("flor")


def test_friction_is_part_of_the_force():
    """Sliding: the force leans by the angle of friction."""
    mesh = pl.mesh.box((0.03, 0.03, 0.02), cells=(2, 2, 1), kind="hex")
    body = pl.Solid(mesh, RUBBER, rigid=pl.Rigid(lambda x: x[:, 2] > 0.02 - 1e-9, name="lid"))
    lid = body.region_points("lid")
    rows = {axis: pl.Row(pl.Slider(lid, way)) for axis, way in zip("xyz", np.eye(3))}
    rows["turn"] = pl.Row(pl.Orientation(lid))
    around = Surroundings([Plane((0, 0, 0), (0, 0, 1), name="floor")], friction=0.3)
    robot, result = pl.Robot(body, rows, surroundings=around), None
    for x in (0.0, 0.002, 0.004):
        laws = {"x": x, "y": 0.0, "z": -1e-4, "turn": np.zeros(3)}
        given = {name: pl.Known(displacement=value) for name, value in laws.items()}
        result = pl.static(robot, given, state=result and result.state)
    felt = result.touch()
    np.testing.assert_allclose(felt.force, felt.push * np.array([-0.3, 0, 1]), atol=1e-3 * felt.push)


def test_contact_force_in_motion():
    """A brick let fall comes to rest on the floor, which then carries its weight."""
    robot = block()
    sim = pl.Simulation(robot, time_step=0.002, damping=Rayleigh(stiffness=0.01))
    assert sim.step().touch().push >= 0.0
    for _ in range(60):
        moment = sim.step()
    assert moment.touch().force[2] == pytest.approx(9.81 * robot.bodies[0].total_mass, rel=1e-3)


def test_without_surroundings_nothing_is_felt():
    robot = pl.Robot(block().bodies, gravity=(0, 0, 0))
    with pytest.raises(pl.SingularError):
        pl.static(robot)  # it floats
    body = pl.Solid(pl.mesh.box((0.1, 0.02, 0.02), cells=(2, 1, 1)), RUBBER, fixed=lambda x: x[:, 0] < 1e-9)
    result = pl.static(pl.Robot(body))
    assert result.touch().count == 0 and not result.touch().force.any()
    with pytest.raises(InputError, match="opponent 'floor'"):
        result.touch("floor")


def test_a_patch_must_be_a_mask():
    _, result = pressed()
    with pytest.raises(InputError, match="where"):
        result.touch(where=lambda x: x)


def test_bodies_that_touch_each_other_do_not_count():
    """What is inside the robot cancels: only the floor below is felt."""
    below = pl.mesh.box((0.02, 0.02, 0.02), cells=(2, 2, 2), kind="hex")
    above = below.transformed(translation=(0, 0, 0.02))

    def guided(mesh, name):
        middle = lambda x: np.abs(x[:, 2] - x[:, 2].mean()) < 1e-9
        rails = pl.Rigid(middle, name=name, joint=pl.Prismatic((0, 0, 1)))
        return pl.Solid(mesh, RUBBER, density=1000, rigid=rails)

    bodies = [guided(below, "low"), guided(above, "high")]
    rows = {n: pl.Row(pl.Slider(b.region_points(n)[:1], (0, 0, 1))) for n, b in zip(("low", "high"), bodies)}
    around = Surroundings([Plane((0, 0, 0), (0, 0, 1), name="floor")])
    robot = pl.Robot(bodies, rows, gravity=GRAVITY, surroundings=around)
    sunk = {"low": pl.Known(displacement=-1e-5), "high": pl.Known(displacement=-3e-5)}
    result = pl.static(robot, sunk)
    down = [9.81 * body.total_mass - result.effort[name][0] for body, name in zip(bodies, rows)]
    assert result.touch().force[2] == pytest.approx(sum(down), rel=1e-6) and down[1] > 0.01
    assert result.contact_force.sum() == pytest.approx(sum(down) + down[1], rel=1e-6)


# Centre of mass


@pytest.mark.parametrize("order", [1, 2])
def test_centre_of_mass_of_a_solid(order):
    """Also where consistent mass gives negative shares to corners."""
    mesh = pl.mesh.box((0.1, 0.02, 0.04), cells=(3, 2, 2), order=order)
    body = pl.Solid(mesh, RUBBER, density=1000, order=order)
    centre = pl.CentreOfMass.of(body)
    np.testing.assert_allclose(centre.value(centre.rest), [0.05, 0.01, 0.02], atol=1e-12)
    assert (body.node_mass < 0).any() == (order == 2)


def test_centre_of_mass_of_several_bodies():
    cube = pl.mesh.box((0.1, 0.1, 0.1), cells=(1, 1, 1))
    heavy, light = (
        pl.Solid(cube.transformed(translation=(x, 0, 0)), RUBBER, density=rho)
        for x, rho in ((0.0, 3000.0), (1.0, 1000.0))
    )
    sheet = Shell(pl.mesh.sheet((0.1, 0.1), cells=(1, 1)), RUBBER, 0.001, density=1.0)
    centre = pl.CentreOfMass.of(heavy, light)
    np.testing.assert_allclose(centre.value(centre.rest), [0.05 + 0.25, 0.05, 0.05], atol=1e-12)
    assert pl.CentreOfMass.of(sheet).value(sheet.mesh.nodes)[2] == 0.0


def test_a_rod_needs_masses():
    rod = Beam(line((0, 0, 0), (0.2, 0, 0), elements=4), Circle(0.004), RUBBER, density=1000, fixed=0)
    with pytest.raises(InputError, match=r"CentreOfMass.*node_mass.*rod.at"):
        pl.CentreOfMass.of(rod)  # pyright: ignore[reportArgumentType]
    middles = np.arange(0.025, 0.2, 0.05)
    centre = pl.CentreOfMass(rod.at(middles), np.ones(4))
    np.testing.assert_allclose(centre.value(centre.rest), [0.1, 0, 0], atol=1e-12)


@pytest.mark.parametrize("masses", [None, [1.0, -1.0, 0.5, -0.5], [-1.0, 0.2, 0.2, 0.2]])
def test_masses_must_add_up_to_something(masses):
    body = pl.Solid(pl.mesh.box((0.1, 0.1, 0.1), cells=(1, 1, 1)), RUBBER)
    with pytest.raises(InputError, match="CentreOfMass"):
        pl.CentreOfMass(body.node_points([0, 1, 2, 3]), masses)
