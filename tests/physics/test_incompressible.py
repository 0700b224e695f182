"""Rubber that keeps its volume against closed forms; nearly incompressible robots that take one load step."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.materials import Incompressible, MooneyRivlin, NeoHookean, Ogden, Yeoh

SIDE, SHEAR = 0.02, 1e5
C10, C01 = 3e4, 2e4
MU, ALPHA = np.array([6e4, 1.5e3, -8e3]), np.array([1.3, 5.0, -2.0])

# Nominal stress [Pa] over the stretch: uniaxial, equibiaxial.
RUBBERS = {
    "neo-Hookean": (
        NeoHookean.from_shear(SHEAR),
        lambda x: SHEAR * (x - x**-2),
        lambda x: SHEAR * (x - x**-5),
    ),
    "Mooney–Rivlin": (
        MooneyRivlin(c10=C10, c01=C01),
        lambda x: 2 * (C10 + C01 / x) * (x - x**-2),
        lambda x: 2 * (C10 + C01 * x**2) * (x - x**-5),
    ),
    "Ogden": (
        Ogden(mu=MU.tolist(), alpha=ALPHA.tolist()),
        lambda x: (MU * (x ** (ALPHA - 1) - x ** (-ALPHA / 2 - 1))).sum(),
        lambda x: (MU * (x ** (ALPHA - 1) - x ** (-2 * ALPHA - 1))).sum(),
    ),
}


def block(material: pl.materials.Material) -> pl.Robot:
    """A cube on rollers at x = 0, y = 0, z = 0; nodes of the opposite faces can be pulled along x and y."""
    mesh = pl.mesh.box((SIDE,) * 3, cells=(2, 2, 2), order=2)
    body = pl.Solid(mesh, material, fixed=np.abs(mesh.nodes) < 1e-9)
    face = lambda axis: body.node_points(np.flatnonzero(mesh.nodes[:, axis] > SIDE - 1e-9))
    rows = {"xy"[k]: pl.Row(pl.PointForce(face(k), direction=np.eye(3)[k])) for k in (0, 1)}
    return pl.Robot(body, rows)


@pytest.mark.parametrize("rubber", RUBBERS)
@pytest.mark.parametrize(("pulled", "stretches"), [("x", (0.6, 1.5, 2.5)), ("xy", (0.8, 1.3, 1.8))])
def test_block_of_rubber(rubber, pulled, stretches, within):
    law, *closed_forms = RUBBERS[rubber]
    robot = block(Incompressible(law))
    for stretch in stretches:
        result = pl.static(robot, {axis: pl.Known(displacement=SIDE * (stretch - 1)) for axis in pulled})
        exact = closed_forms[len(pulled) - 1](stretch)
        for axis in pulled:
            within(result.effort[axis].sum() / SIDE**2 / exact - 1, 1e-7, f"stress along {axis} at {stretch}")
        within(robot.body.volume_error(result.q), 1e-8, f"volume at {stretch}")
        lateral = stretch ** (-0.5 if pulled == "x" else -2.0)
        assert np.ptp(result.positions[:, 2]) == pytest.approx(lateral * SIDE, rel=1e-7)
        assert result.certificate.load_steps == 1


def test_incompressible_is_the_limit_of_nearly_incompressible(within):
    """A block fixed at its lower face and pulled at its upper one, where the strain is far from uniform."""
    mesh = pl.mesh.box((SIDE,) * 3, cells=(3, 3, 3))
    low, high = (pl.mesh.near_plane(mesh, (0, 0, z), (0, 0, 1)) for z in (0.0, SIDE))

    def force(material: pl.materials.Material) -> float:
        plate = pl.Rigid(high, "plate", joint=pl.Prismatic((0, 0, 1)))
        body = pl.Solid(mesh, material, fixed=low, rigid=plate)
        robot = pl.Robot(body, {"pull": pl.Row(pl.Slider(body.region_points("plate")[:1], (0, 0, 1)))})
        result = pl.static(robot, {"pull": pl.Known(displacement=0.3 * SIDE)})
        assert result.certificate.load_steps == 1
        return float(result.effort["pull"][0])

    exact = force(Incompressible(Yeoh(c1=SHEAR / 2)))
    nearly = [force(Yeoh(c1=SHEAR / 2, bulk=ratio * SHEAR)) for ratio in (50, 500, 5000)]
    off = 1 - np.array(nearly) / exact
    within(off[2], 3e-4, "force at bulk = 5000 μ")
    np.testing.assert_allclose(off[1:] / off[:-1], 0.1, rtol=0.2)  # ∝ 1/bulk


@pytest.mark.parametrize("law", [pl.Hooke, pl.NeoHookean])
@pytest.mark.parametrize("command", ["effort", "displacement"])
def test_cavity_at_poisson_049_in_one_load_step(law, command):
    """A void in a block, blown up by half its volume or by a sixth of the modulus, from rest."""
    mesh = pl.mesh.block_with_cavity(around=12, across=2)
    floor = pl.mesh.near_plane(mesh, mesh.bounds[0], (0, 0, 1))
    body = pl.Solid(mesh, law(young=3e5, poisson=0.49), density=1000, fixed=floor)
    chamber = pl.Cavity.on(body, pl.mesh.cavity_surfaces(body.mesh)[0])
    robot = pl.Robot(body, {"air": pl.Row(chamber)}, gravity=(0, 0, -9.81))
    value = 5e4 if command == "effort" else 0.5 * chamber.rest_volume
    result = pl.static(robot, {"air": pl.Known(**{command: value})})
    assert result.certificate.converged and result.certificate.load_steps == 1
    assert result.displacement["air"][0] / chamber.rest_volume > 0.45
    if law is pl.NeoHookean:  # Hooke's law keeps tr S, not the volume
        outside = pl.mesh.Surface.of(body.mesh).components()[0]
        gained = outside.at(result.positions).volume - outside.volume
        assert gained == pytest.approx(result.displacement["air"][0], rel=0.05)


def test_cable_bends_a_finger_by_a_quarter_turn_in_one_load_step():
    robot = pl.robots.finger(gravity=(0, 0, 0))
    body = robot.body
    end = np.flatnonzero(body.mesh.nodes[:, 0] > body.mesh.nodes[:, 0].max() - 1e-9)
    result = pl.static(robot, {"cable": pl.Known(displacement=0.015)})
    assert result.certificate.converged and result.certificate.load_steps == 1
    turn = pl.Orientation(body.node_points(end)).value(result.positions[end])
    assert np.linalg.norm(turn) > np.pi / 2
