"""Thick spheres and cylinders under internal pressure, against Lamé and closed forms of rubber elasticity."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bench.validation import pressure, swelling
from pliant.materials import Incompressible, NeoHookean

YOUNG, SHEAR = 3e5, 1e5
INNER, OUTER = 0.01, 0.02
RUBBER = {
    "incompressible": Incompressible(NeoHookean.from_shear(SHEAR)),
    "nearly incompressible": NeoHookean(young=2 * SHEAR * 1.499, poisson=0.499),
}


@pytest.mark.parametrize("poisson", [0.3, 0.49])
def test_lame_sphere(poisson, within):
    material = pl.Hooke(YOUNG, poisson, small_strain=True)
    robot = pressure.sphere(material, INNER, OUTER, around=16, across=3)
    exact = pressure.lame_sphere(YOUNG, poisson, INNER, OUTER)
    within(swelling(robot, 100.0) / exact - 1, 0.01, "δV")


@pytest.mark.parametrize("poisson", [0.3, 0.49])
def test_lame_cylinder(poisson, within):
    material = pl.Hooke(YOUNG, poisson, small_strain=True)
    robot = pressure.cylinder(material, INNER, OUTER, around=16, across=2, cuts=6)
    exact = pressure.lame_cylinder(YOUNG, poisson, INNER, OUTER)
    within(swelling(robot, 100.0) / exact - 1, 0.005, "δV")


def test_pressure_on_curved_facets_converges(within):
    """Exact integration over six-node facets: the error of a coarse sphere is small, and falls."""
    exact = pressure.lame_sphere(YOUNG, 0.3, INNER, OUTER)
    errors = []
    for around, across in ((8, 2), (12, 3), (16, 4)):
        robot = pressure.sphere(
            pl.Hooke(YOUNG, 0.3, small_strain=True), INNER, OUTER, around=around, across=across
        )
        errors.append(abs(swelling(robot, 100.0) / exact - 1))
    within(errors[-1], 0.005, "δV")
    assert errors[0] > errors[1] > errors[2]


def test_the_volume_inside_curved_facets_is_exact():
    """A quadratic map of a cube has a volume in closed form: x → (x + xy/4, y, z) has J = 1 + y/4."""
    mesh = pl.mesh.box((1.0, 1.0, 1.0), cells=(2, 2, 2), kind="tet", order=2)
    x, y, z = mesh.nodes.T
    bent = mesh.with_nodes(np.stack([x + 0.25 * x * y, y, z], axis=1))
    body = pl.Solid(bent, pl.Hooke(1e5, 0.3))
    assert pl.Cavity.on(body, bent.surface).rest_volume == pytest.approx(1.125, rel=1e-12)


@pytest.mark.parametrize("rubber", RUBBER)
def test_rubber_sphere(rubber, within):
    """A thick sphere to twice its inner radius; the neo-Hookean shell is past its limit point by then."""
    stretches = (1.2, 1.5, 2.0)
    robot = pressure.sphere(RUBBER[rubber], INNER, OUTER, around=12, across=2)
    results = list(pressure.inflate(robot, stretches))
    exact = [pressure.rubber_sphere(x, SHEAR, INNER, OUTER) for x in stretches]
    within([r.effort["air"][0] / p - 1 for r, p in zip(results, exact, strict=True)], 0.01, "pressure")


@pytest.mark.parametrize("rubber", RUBBER)
def test_rubber_cylinder(rubber, within):
    stretches = (1.2, 1.5, 2.0)
    robot = pressure.cylinder(RUBBER[rubber], INNER, OUTER, around=16, across=2)
    results = list(pressure.inflate(robot, stretches))
    exact = [pressure.rubber_cylinder(x, SHEAR, INNER, OUTER) for x in stretches]
    within([r.effort["air"][0] / p - 1 for r, p in zip(results, exact, strict=True)], 0.005, "pressure")


@pytest.mark.parametrize("rubber", RUBBER)
def test_shell_through_its_limit_point(rubber, within):
    """Under imposed volume the pressure rises, peaks and falls; past the peak K has one negative pivot."""
    stretches, outer = (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8), 0.012
    robot = pressure.sphere(RUBBER[rubber], INNER, outer, around=12, across=1)
    results = list(pressure.inflate(robot, stretches))
    measured = np.array([r.effort["air"][0] for r in results])
    exact = pressure.rubber_sphere(np.array(stretches), SHEAR, INNER, outer)
    within(measured / exact - 1, 0.01, "pressure")
    top = int(measured.argmax())
    assert top == exact.argmax() == 4
    assert (np.diff(measured[: top + 1]) > 0).all() and (np.diff(measured[top:]) < 0).all()
    # The peak of the closed form is at 1.470: 1.4 is before it, 1.5 after.
    assert [r.certificate.negative for r in results] == [0, 0, 0, 0, 1, 1, 1]
    assert all(r.certificate.converged and r.certificate.shift == 0 for r in results)


@pytest.mark.parametrize("rubber", RUBBER)
def test_thin_balloon_peaks_at_the_sixth_root_of_seven(rubber, within):
    """p ∝ 1/λ − 1/λ⁷ has its maximum at λ = 7^(1/6) = 1.383, λ the stretch of the middle of the wall."""
    inner, outer = 0.01, 0.0105
    robot = pressure.sphere(RUBBER[rubber], inner, outer, around=12, across=1)
    rest = np.linalg.norm(robot.body.mesh.nodes, axis=1)
    middle = np.abs(rest - (inner + outer) / 2) < 1e-3 * (outer - inner)
    results = list(pressure.inflate(robot, np.linspace(1.3, 1.5, 6)))
    stretch = [np.linalg.norm(r.positions[middle], axis=1).mean() / rest[middle].mean() for r in results]
    top = pressure.peak(np.array(stretch), np.array([r.effort["air"][0] for r in results]))
    within(top / pressure.THIN_PEAK - 1, 0.005, "stretch at the peak")


def test_closed_forms_contain_the_thin_balloon():
    """The thick closed form in the thin limit is 2μ(t/a)(1/λ − 1/λ⁷)."""
    stretch, wall = np.array([1.1, 1.383, 2.0]), 1e-6
    thin = 2 * SHEAR * wall * (1 / stretch - 1 / stretch**7)
    np.testing.assert_allclose(pressure.rubber_sphere(stretch, SHEAR, 1.0, 1.0 + wall), thin, rtol=1e-5)
    slope = (pressure.rubber_cylinder(1 + 1e-5, SHEAR, INNER, OUTER)) / 1e-5
    lame = (
        2 * np.pi * INNER**2 * pressure.SLICE * INNER / pressure.lame_cylinder(3 * SHEAR, 0.5, INNER, OUTER)
    )
    assert slope == pytest.approx(lame, rel=1e-4)
