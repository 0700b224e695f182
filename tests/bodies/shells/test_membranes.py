"""Membranes and strings against closed forms: drums, balloons, rubber strips, ropes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.bodies import Membrane, Net, Shell, Strings
from pliant.contact import Samples, Surroundings
from pliant.materials import Incompressible, MooneyRivlin
from tests.bodies.shells.common import NONE, left
from tests.bodies.shells.test_benchmarks import order

# Membranes


def test_drum(within):
    """A stretched disc under pressure: w = p (R² − r²)/4N, N the tension per width as it is stretched."""
    R, h, s, p, material = 0.1, 5e-4, 1.1, 0.05, pl.Hooke(young=1e6, poisson=0.3)
    sheet = pl.mesh.disc_sheet(R, around=48, rings=8)
    drum = Membrane(sheet, material, h, fixed=np.unique(sheet.rim), prestretch=s)
    tension = h * material.young / (1 - material.poisson) * (s - 1) / s
    stress = tension / (h * (1 - 0.2 * 3 / 7))  # on the present thickness
    within(drum.stress(drum.q0, "von_mises") / stress - 1, 1e-12, "prestress")
    force = pl.SurfaceForce.on(drum, sheet.surface)
    robot = pl.Robot(drum, {"p": pl.Row(force, pl.Known(effort=p * sheet.area))})
    result = pl.static(robot)
    r = np.linalg.norm(sheet.nodes, axis=1)
    shape = p * (R**2 - r**2) / (4 * tension)
    within((result.positions[:, 2] - shape) / shape.max(), 0.005, "deflection")
    # Its compliance under the same load is the mean of that, p → F/πR²: δ/F = 1/8πN.
    compliance = pl.compliance(robot).matrix[0, 0]
    within(compliance * 8 * np.pi * tension - 1, 0.01, "compliance")


def test_flat_membrane_under_pressure(within):
    """Hencky's problem: no stiffness out of the plane to begin with; w₀ = 0.653 R (pR/Eh)^⅓ at ν = 0.3."""
    R, h, p, material = 0.1, 1e-3, 20.0, pl.Hooke(young=1e6, poisson=0.3)
    sheet = pl.mesh.disc_sheet(R, around=32, rings=6)
    skin = Membrane(sheet, material, h, fixed=np.unique(sheet.rim))
    force = pl.SurfaceForce.on(skin, sheet.surface)
    result = pl.static(pl.Robot(skin, {"p": pl.Row(force, pl.Known(effort=p * sheet.area))}))
    assert result.certificate.converged
    within(
        result.positions[:, 2].max() / (0.653 * R * (p * R / material.young / h) ** (1 / 3)) - 1,
        0.01,
        "height",
    )


def test_inflated_cylinder_and_sphere(within):
    """Hooke membranes: pR/2h in the sphere; pR/h around a tube whose ends are fixed apart."""
    R, h, p, material = 0.05, 5e-4, 2.0, pl.Hooke(young=1e6, poisson=0.3)
    errors = []
    for cells in (4, 8):
        ball = pl.mesh.sphere_sheet(R, cells=cells)
        fixed = np.zeros((len(ball.nodes), 3), bool)
        fixed[np.argmin(ball.nodes[:, 2])], fixed[np.argmax(ball.nodes[:, 2]), :2] = True, True
        fixed[np.argmax(ball.nodes[:, 0]), 1] = True
        skin = Membrane(ball, material, h, fixed=fixed)
        result = pl.static(
            pl.Robot(skin, {"p": pl.Row(pl.Cavity.on(skin, ball.surface), pl.Known(effort=p))})
        )
        errors.append(skin.stress(result.q, "von_mises").mean() / (p * R / 2 / h) - 1)
    within(errors[-1], 0.005, "sphere")
    assert order(errors) > 1.6
    tube = pl.mesh.tube_sheet(R, 0.1, around=48, along=10)
    ends = (tube.nodes[:, 2] < 1e-9) | (tube.nodes[:, 2] > 0.1 - 1e-9)
    fixed = np.outer(ends, [False, False, True])
    fixed[0], fixed[np.argmin(tube.nodes[:, 0]), 1] = True, True
    skin = Membrane(tube, material, h, fixed=fixed)
    inside = pl.Cavity.on(skin, tube.surface, cap="flat")
    result = pl.static(pl.Robot(skin, {"p": pl.Row(inside, pl.Known(effort=p))}))
    x = tube.centres
    around = np.column_stack([-x[:, 1], x[:, 0], 0 * x[:, 0]]) / np.hypot(x[:, 0], x[:, 1])[:, None]
    hoop = np.einsum("ei,eij,ej->e", around, skin.stress(result.q), around)
    within(hoop.mean() / (p * R / h) - 1, 0.005, "hoop stress")


def test_balloon_through_its_limit_point(within):
    """Incompressible neo-Hookean: p = 2μh/R (λ⁻¹ − λ⁻⁷), highest at λ = 7^⅙; volume imposed."""
    R, h, mu = 0.05, 5e-4, 1e5
    ball = pl.mesh.sphere_sheet(R, cells=6)
    fixed = np.zeros((len(ball.nodes), 3), bool)
    fixed[np.argmin(ball.nodes[:, 2])], fixed[np.argmax(ball.nodes[:, 2]), :2] = True, True
    fixed[np.argmax(ball.nodes[:, 0]), 1] = True
    skin = Membrane(ball, Incompressible(pl.NeoHookean.from_shear(mu)), h, fixed=fixed)
    robot = pl.Robot(skin, {"gas": pl.Row(pl.Cavity.on(skin, ball.surface))})
    state, pressures, stretches = None, [], (1.1, 1.25, 1.38, 1.6, 2.0)
    for stretch in stretches:
        result = pl.static(robot, {"gas": pl.Known(displacement=ball.volume * (stretch**3 - 1))}, state=state)
        state, pressures = result.state, [*pressures, float(result.effort["gas"][0])]
    stretch = np.array(stretches)
    exact = 2 * mu * h / R * (1 / stretch - stretch**-7.0)
    within(np.array(pressures) / exact - 1, 0.015, "pressure")
    assert np.argmax(pressures) == 2


@pytest.mark.parametrize(
    "material",
    [pl.NeoHookean(young=1e6, poisson=0.4), MooneyRivlin(c10=1e5, c01=2e4, bulk=1e7), pl.Hooke(1e6, 0.4)],
)
def test_strip_pulled_to_twice_its_length(material, within):
    """A uniform state: the force is the material's uniaxial curve; for Hooke it is linear in the stretch."""
    size = (0.02, 0.01)
    sheet = pl.mesh.sheet(size, cells=(4, 2))
    for kind in (Membrane, Shell):
        right = sheet.nodes[:, 0] > size[0] - 1e-9
        fixed = np.zeros((len(sheet.nodes), 6), bool)
        fixed[left(sheet.nodes), 0] = fixed[sheet.nodes[:, 1] < 1e-9, 1] = fixed[:, 2] = True
        fixed[:, 3:] = True  # nothing turns, as the ends are cut from a longer strip
        strip = kind(sheet, material, 1e-3, fixed=fixed if kind is Shell else fixed[:, :3])
        ends = pl.Position(strip.node_points(right), directions="x")
        robot = pl.Robot(strip, {"end": pl.Row(ends)})
        for stretch in (1.3, 2.0):
            result = pl.static(robot, {"end": pl.Known(displacement=stretch * size[0])})
            force = float(result.effort["end"].sum())
            stress = 1e6 * (stretch - 1) if isinstance(material, pl.Hooke) else material.uniaxial(stretch)
            within(force / (float(stress) * size[1] * 1e-3) - 1, 1e-6, f"{kind.__name__} at {stretch}")


def test_shell_without_bending_is_a_membrane(within):
    """The same drum as a shell whose bending stiffness goes to zero."""
    sheet = pl.mesh.disc_sheet(0.1, around=24, rings=4)
    rim = np.unique(sheet.rim)
    answers = []
    pinned = np.zeros((len(sheet.nodes), 3), bool)
    pinned[rim] = True
    for body in (
        Membrane(sheet, pl.Hooke(1e6, 0.3), 1e-3, fixed=rim, prestretch=1.02),
        Shell(sheet, pl.Hooke(1e6, 0.3), 1e-3, fixed=pinned, prestretch=1.02, bending=1e-3),
    ):
        force = pl.SurfaceForce.on(body, sheet.surface)
        answers.append(pl.static(pl.Robot(body, {"p": pl.Row(force, pl.Known(effort=0.1))})).positions[:, 2])
    within((answers[1] - answers[0]) / answers[0].max(), 0.01, "deflection")


# Strings


def hung(net: Net, rows: dict | None = None, **options) -> pl.Robot:
    """A robot of a net; what touches are its nodes, as strings have no skin."""
    every = net.node_points(np.arange(len(net.mesh.nodes)))
    return pl.Robot(net, rows, surroundings=Surroundings(samples=Samples.around(every, 1e-3)), **options)


def test_two_strings_and_a_weight(within):
    """Pulled down by F in the middle: F = 2 T sin α with T = EA (ℓ/ℓ₀ − 1)."""
    EA, F = 10.0, 0.4
    net = Net([[-0.1, 0, 0], [0, 0, 0], [0.1, 0, 0]], Strings([[0, 1], [1, 2]], EA), fixed=[0, 2])
    pull = pl.PointForce(net.node_points([1]), direction=(0, 0, -1))
    result = pl.static(hung(net, {"f": pl.Row(pull, pl.Known(effort=F))}))
    sag = brentq(lambda w: 2 * EA * (np.hypot(0.1, w) / 0.1 - 1) * w / np.hypot(0.1, w) - F, 1e-4, 0.2)
    within(result.displacement["f"][0] / sag - 1, 1e-8, "sag")
    within(net.tension(result.q) / (EA * (np.hypot(0.1, sag) / 0.1 - 1)) - 1, 1e-8, "tension")


def rope(n: int) -> tuple[float, float]:
    """A heavy rope between points 1 m apart, at first an arc: its sag and end tension over the exact ones."""
    weight = 0.5 * 9.81
    angle = np.linspace(-1.0, 1.0, n + 1)
    nodes = 0.5 / np.sin(1.0) * np.column_stack([np.sin(angle), 0 * angle, np.cos(1.0) - np.cos(angle)])
    pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    net = Net(nodes, Strings(pairs, 1e5, density=0.5), fixed=[0, n])
    result = pl.static(hung(net, gravity=(0, 0, -9.81)))
    assert (net.tension(result.q) > 0).all()
    length = 1.0 / np.sin(1.0)  # of the arc
    a = brentq(lambda a: 2 * a * np.sinh(0.5 / a) - length, 0.1, 10)
    reaction = float(np.linalg.norm(net.reactions(result.q, (0, 0, -9.81))[0]))
    sag = -float(result.positions[:, 2].min())
    return sag / (a * (np.cosh(0.5 / a) - 1)) - 1, reaction / (weight * a * np.cosh(0.5 / a)) - 1


def test_rope_hangs_as_a_catenary(within):
    """Second order in the number of strings."""
    errors = np.array([rope(n) for n in (8, 16, 32)])
    within(errors[-1, 0], 1e-4, "sag")
    within(errors[-1, 1], 2e-4, "tension at the ends")
    assert order(errors[:, 0]) > 1.8


def test_slack_strings_do_nothing_and_bars_push():
    nodes = [[0, 0, 0], [0.1, 0, 0]]
    for tension_only, push in ((True, 0.0), (False, 1.0)):
        net = Net(nodes, Strings([[0, 1]], 10.0, tension_only=tension_only), fixed=[0])
        q = net.q0.copy()
        net.positions(q)[1, 0] = 0.09
        assert net.reactions(q)[1, 0] == pytest.approx(-push)
        assert net.energy(q) == pytest.approx(0.05 * push * 0.1)
        assert (net.linearise(q, NONE)[2] != 0).any() == (not tension_only)


def test_tie_across_an_arch(within):
    """A string ties the feet of an arch: it spreads less by the tie's share of the thrust."""
    arch = pl.mesh.tube_sheet(0.05, 0.01, around=24, along=2, angle=np.pi)
    feet = np.abs(arch.nodes[:, 1]) < 1e-9
    right = np.flatnonzero(feet & (arch.nodes[:, 0] > 0))
    opposite = np.array(
        [np.argmin(np.linalg.norm(arch.nodes - arch.nodes[n] * [-1, 1, 1], axis=1)) for n in right]
    )
    fixed = np.zeros((len(arch.nodes), 6), bool)
    fixed[feet, 1] = True
    fixed[np.abs(arch.nodes[:, 0]) < 1e-9, 0] = True
    fixed[np.argmin(np.abs(arch.nodes[:, 2])), 2] = True
    spread = []
    for ties in ((), Strings(np.column_stack([right, opposite]), 1.0)):
        shell = Shell(arch, pl.Hooke(1e9, 0.3), 1e-3, fixed=fixed, strings=ties, density=1000)
        result = pl.static(pl.Robot(shell, gravity=(0, -9.81, 0)))
        spread.append(float((result.positions - arch.nodes)[right, 0].mean()))
    tension = sum(float(group.tension(result.q).sum()) for group in shell.strings)
    assert 0 < spread[1] < 0.9 * spread[0]
    within(tension / (3 * spread[1] / 0.05) - 1, 1e-2, "tension of the ties")
