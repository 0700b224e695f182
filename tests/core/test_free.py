"""Bodies whose K is singular alone: a thing that lies on a plane, one that lies on another body, a platform
between two legs.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.contact import Surroundings
from pliant.interactions import Attachment

DOWN = (0.0, 0.0, -9.81)
FLOOR = pl.Plane((0, 0, 0), (0, 0, 1), name="floor")
SIZE = 0.02


def cube(*, rigid: bool, above: float = 0.001, tilt: float = 0.0, density: float = 1000.0) -> pl.Solid:
    """A free cube of 20 mm, its lowest face this far above the ground, or tilted about two axes."""
    mesh = pl.mesh.box((SIZE,) * 3, cells=(2, 2, 2), kind="hex", origin=(-SIZE / 2, -SIZE / 2, above))
    mesh = mesh.transformed(rotation=Rotation.from_euler("xyz", [tilt, 0.5 * tilt, 0.0])) if tilt else mesh
    regions = {"rigid": pl.Rigid(np.arange(len(mesh.nodes)))} if rigid else {}
    return pl.Solid(mesh, pl.Hooke(young=1e5, poisson=0.4), density=density, **regions)


def alone(body: pl.Solid, **options) -> pl.Robot:
    middle = pl.Position(body.points([body.mesh.nodes.mean(axis=0)]))
    return pl.Robot(body, {"middle": pl.Row(middle)}, gravity=DOWN, **options)


WEIGHT = 9.81 * 1000.0 * SIZE**3
KINDS = pytest.mark.parametrize("rigid", [True, False], ids=["rigid", "soft"])


@KINDS
@pytest.mark.parametrize("tilt", [0.0, 0.1])
def test_a_thing_that_falls_comes_to_rest_on_a_plane(rigid, tilt):
    """It lands on its face, the plane carries its weight, and what nothing holds is named."""
    result = pl.static(alone(cube(rigid=rigid, tilt=tilt)), obstacles=[FLOOR])
    assert result.certificate.converged and result.certificate.loose == (
        "body 0 along x",
        "body 0 along y",
        "body 0 about z",
    )
    assert result.contact_force.sum() == pytest.approx(WEIGHT, rel=1e-7)
    assert result.contacts.gap.min() > -1e-9
    sunk = (
        0.0 if rigid else 3 * 9.81 * 1000.0 * SIZE**2 / (8 * 1e5)
    )  # of the middle of a free column: 3ρgL²/8E
    assert SIZE / 2 - result.displacement["middle"][2] == pytest.approx(sunk, rel=0.08, abs=1e-9)


@KINDS
def test_statics_and_time_agree_where_it_rests(rigid):
    robot = alone(cube(rigid=rigid, above=2e-4))
    simulation = pl.Simulation(robot, [FLOOR], time_step=0.01, damping=pl.dynamics.Rayleigh(mass=20.0))
    for _ in range(150):
        moment = simulation.step()
    rest = pl.static(robot, obstacles=[FLOOR])
    assert moment.displacement["middle"][2] == pytest.approx(rest.displacement["middle"][2], abs=2e-7)
    assert moment.contact_force.sum() == pytest.approx(WEIGHT, rel=1e-3)


def test_what_slides_down_for_ever_is_an_error_that_names_it():
    slope = pl.Plane((0, 0, 0), (0.1, 0, 1), name="slope")
    with pytest.raises(pl.ConvergenceError, match="nothing holds body 0 along y; body 0 in"):
        pl.static(alone(cube(rigid=True)), obstacles=[slope])


def test_friction_holds_what_would_slide():
    slope = pl.Plane((0, 0, 0), (0.1, 0, 1), name="slope")
    result = pl.static(
        alone(cube(rigid=True), surroundings=Surroundings([slope], friction=0.3)),
    )
    along = np.linalg.norm(np.einsum("ka,kai->i", result.friction_force, result.contacts.tangents))
    assert result.certificate.converged and result.certificate.loose == ()
    assert along == pytest.approx(WEIGHT * np.sin(np.arctan(0.1)), rel=1e-6)


def test_a_free_thing_with_nothing_to_lie_on_is_still_refused():
    with pytest.raises(pl.SingularError, match="6 rigid modes"):
        pl.static(alone(cube(rigid=True)))


def lift(friction: float = 0.5) -> pl.Robot:
    """A plate that lies on a soft post with four cables, which can draw it down and tilt it."""
    mesh = pl.mesh.box((0.03, 0.03, 0.04), cells=(3, 3, 4), kind="hex", origin=(-0.015, -0.015, 0))
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(0, 0, 1))
    post = pl.Solid(mesh, pl.Hooke(young=2e5, poisson=0.4), density=1000, fixed=clamp)
    flat = pl.mesh.box((0.05, 0.05, 0.005), cells=(2, 2, 1), kind="hex", origin=(-0.025, -0.025, 0.0401))
    plate = pl.Solid(
        flat, pl.Hooke(young=1e6, poisson=0.3), density=2000, rigid=pl.Rigid(np.arange(len(flat.nodes)))
    )
    corners = ((0.01, 0.01), (-0.01, 0.01), (-0.01, -0.01), (0.01, -0.01))
    rows = {
        f"cable {n + 1}": pl.Row(
            pl.Cable(post.points([[x, y, z] for z in np.linspace(0.0, 0.036, 6)])),
            pl.Bounded(effort=(0, 20)),
        )
        for n, (x, y) in enumerate(corners)
    }
    height = pl.Position(plate.points([[0, 0, 0.0426]]), directions=[[0, 0, 1]])
    rows["plate"] = pl.Row(height, pl.Target())
    return pl.Robot([post, plate], rows, gravity=DOWN, surroundings=Surroundings(friction=friction))


def test_a_plate_on_a_post_in_statics_and_for_the_inverse_model():
    """The inverse model draws down what only lies on the robot, and statics with its drives locked says the
    same.
    """
    robot = lift()
    start = pl.static(robot)
    assert start.contact_force.sum() == pytest.approx(9.81 * 2000 * 0.05**2 * 0.005, rel=1e-6)
    controller = pl.Inverse(robot)
    target = start.displacement["plate"] - 0.002
    for _ in range(60):  # redundant cables and contacts come to rest
        out = controller.step(targets={"plate": target})
    assert out.certificate.status == "reached"
    names = [f"cable {n}" for n in (1, 2, 3, 4)]
    locked = pl.static(
        robot, {n: pl.Known(displacement=out.displacement[n]) for n in names}, state=controller.state
    )
    assert locked.displacement["plate"] == pytest.approx(target, abs=2e-5)


def bridge() -> pl.Robot:
    """A rigid platform between two soft legs, glued to both; a cable in each leg."""
    legs, rows, glue = [], {}, []
    for side in (-1.0, 1.0):
        mesh = pl.mesh.box(
            (0.015, 0.015, 0.06), cells=(2, 2, 6), kind="hex", origin=(side * 0.03 - 0.0075, -0.0075, 0)
        )
        clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(0, 0, 1))
        legs.append(pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.4), density=1000, fixed=clamp))
        path = [[side * 0.03 - 0.005, 0.0, z] for z in np.linspace(0.0, 0.055, 7)]
        name = "left" if side < 0 else "right"
        rows[name] = pl.Row(pl.Cable(legs[-1].points(path)), pl.Bounded(effort=(0, 20)))
        glue.append([[side * 0.03 + x, y, 0.06] for x in (-0.0075, 0.0075) for y in (-0.0075, 0.0075)])
    flat = pl.mesh.box((0.09, 0.02, 0.004), cells=(4, 2, 1), kind="hex", origin=(-0.045, -0.01, 0.06))
    platform = pl.Solid(
        flat, pl.Hooke(young=1e6, poisson=0.3), density=1500, rigid=pl.Rigid(np.arange(len(flat.nodes)))
    )
    for name, leg, where in zip(("left", "right"), legs, glue, strict=True):
        joint = Attachment(platform.points(where), leg.points(where))
        rows[f"{name} joint"] = pl.Row(joint, pl.Known(displacement=0.0))
    middle = pl.Position(platform.points([[0, 0, 0.062]]), directions=[[1, 0, 0]])
    rows["platform"] = pl.Row(middle, pl.Target())
    return pl.Robot([*legs, platform], rows, gravity=DOWN, surroundings=Surroundings(between_bodies=False))


def test_a_platform_between_two_legs_in_statics_inverse_and_time():
    robot = bridge()
    pulled = {"left": pl.Known(effort=3.0), "right": pl.Known(effort=3.0)}
    rest = pl.static(robot, pulled)
    assert rest.certificate.converged and abs(rest.displacement["platform"][0]) > 1e-3
    for joint in ("left joint", "right joint"):
        assert np.abs(rest.displacement[joint]).max() < 1e-9
    controller = pl.Inverse(robot)
    for _ in range(20):
        out = controller.step(targets={"platform": rest.displacement["platform"]})
    assert out.certificate.status == "reached"
    simulation = pl.Simulation(
        robot, time_step=0.02, damping=pl.dynamics.Rayleigh(mass=20.0), state=rest.state
    )
    for _ in range(20):
        moment = simulation.step(pulled)
    assert moment.displacement["platform"] == pytest.approx(rest.displacement["platform"], abs=1e-6)
