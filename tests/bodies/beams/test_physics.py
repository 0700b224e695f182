"""Beams against closed forms: deflections, elastica, circles, buckling, springs, vibrations, cables."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import pliant as pl
from pliant.bodies import Beam, Circle, Rectangle, Rigid, Stiffness
from pliant.mesh.lines import curve, helix, line
from tests.bodies.beams.common import NONE, SOFT, fishbone, node, settled, tip_force

THIN = Stiffness(EA=1e6, GJ=1.0, EI=1.0)
E, NU = SOFT.young, SOFT.poisson


def cantilever(elements: int, section=THIN, **options) -> Beam:
    """A rod along x, 1 m long, clamped at x = 0."""
    material = None if isinstance(section, Stiffness) else SOFT
    return Beam(line((0, 0, 0), (1, 0, 0), elements=elements), section, material, fixed=0, **options)


def order(errors, ratio: float = 2.0) -> float:
    """Of convergence, from errors on meshes each finer by the ratio."""
    return float(np.log(errors[0] / errors[-1]) / np.log(ratio) / (len(errors) - 1))


# Small deflections


@pytest.mark.parametrize("model", ["reissner", "kirchhoff"])
@pytest.mark.parametrize("elements", [1, 4])
def test_tip_load_and_own_weight(model, elements, within):
    """w = FL³/3EI + FL/GA and qL⁴/8EI + qL²/2GA, exact at the nodes whatever the number of elements."""
    section = Rectangle(0.02, 0.03)
    beam = cantilever(elements, section, density=1000, model=model)
    _, _, GA, _, EI, _ = section.stiffness(SOFT)
    shear = 1.0 if model == "reissner" else 0.0
    q, _ = settled(beam, tip_force(beam, (0, 0, 1e-6)))
    within((node(beam, q)[2]) / (1e-6 * (1 / (3 * EI) + shear / GA)) - 1, 1e-8, "tip load")
    q, _ = settled(beam, gravity=(0, 0, -1e-6))
    load = 1e-6 * beam.total_mass
    within(node(beam, q)[2] / (load * (1 / (8 * EI) + shear / (2 * GA))) + 1, 1e-7, "own weight")


def test_stretch_and_twist_of_a_hollow_rod(within):
    section = Circle(0.02, inner=0.015)
    beam = cantilever(3, section)
    A, polar = np.pi * (0.02**2 - 0.015**2), np.pi / 2 * (0.02**4 - 0.015**4)
    load = tip_force(beam, (1e-3, 0, 0))
    load[-3] = 1e-6  # a torque about x
    q, _ = settled(beam, load)
    turn, _ = beam.pose(q, 3)
    within((node(beam, q)[0] - 1) / (1e-3 / (E * A)) - 1, 1e-9, "stretch")
    within(turn[2, 1] / (1e-6 / (SOFT.shear_modulus * polar)) - 1, 1e-6, "twist")
    forces = beam.section_forces(q)
    np.testing.assert_allclose(forces, np.tile([1e-3, 0, 0, 1e-6, 0, 0], (3, 1)), atol=1e-12)


def test_a_rectangle_resists_twist_as_saint_venant_says():
    """J/ab³ of the tables: 0.1406 for a square, 0.229 at 2:1, 1/3 for a strip."""
    for ratio, table in ((1, 0.1406), (2, 0.2287), (5, 0.2913), (10, 0.3123)):
        assert Rectangle(0.01 * ratio, 0.01).torsion / (ratio * 0.01**4) == pytest.approx(table, rel=1e-3)
        assert Rectangle(0.01, 0.01 * ratio).torsion == pytest.approx(Rectangle(0.01 * ratio, 0.01).torsion)


def test_kirchhoff_is_the_limit_of_thin_rods():
    """The two differ by what shear adds, which falls with the square of thickness over length."""
    difference = []
    for radius in (0.04, 0.02, 0.01):
        ends = []
        for model in ("reissner", "kirchhoff"):
            beam = cantilever(8, Circle(radius), model=model)
            EI = E * np.pi / 4 * radius**4
            ends.append(node(beam, settled(beam, tip_force(beam, (0, 0, 3 * EI)))[0]))
        difference.append(np.linalg.norm(ends[0] - ends[1]))
    assert order(difference) == pytest.approx(2.0, abs=0.1)
    assert difference[-1] < 2e-4


# Large deflections


def elastica(k: float) -> tuple[float, float, float]:
    """Tip load FL²/EI and tip place (x, w)/L of a cantilever under a dead load across, by its modulus."""
    m, start = k**2, np.arcsin(1 / (k * np.sqrt(2)))
    root = ellipk(m) - ellipkinc(start, m)
    return root**2, 2 * k * np.cos(start) / root, 1 - 2 * (ellipe(m) - ellipeinc(start, m)) / root


@pytest.mark.parametrize("k", [0.75, 0.9, 0.99])
def test_elastica(k, within):
    """Up to 1.4 rad at the tip: nodes converge with order 4."""
    load, x, w = elastica(k)
    errors = []
    for elements in (5, 10, 20):
        beam = cantilever(elements, Stiffness(EA=1e8, GJ=1.0, EI=1.0))
        tip = node(beam, settled(beam, tip_force(beam, (0, 0, load)), steps=2)[0])
        errors.append(np.hypot(tip[0] - x, tip[2] - w))
    within(errors[-1], 1e-5, f"at load {load:.1f}")
    within(order(errors) - 4.0, 0.5, "order off 4")


def test_an_end_moment_rolls_a_rod_into_a_circle(within):
    """M = 2πEI/L: whatever the number of elements, the end meets the beginning, and nodes lie on a circle."""
    for elements in (4, 20):
        beam = cantilever(elements, Stiffness(EA=1e6, GJ=100.0, EI=(1.0, 100.0)))
        moment = np.zeros(beam.ndof)
        moment[-2] = -2 * np.pi
        q, _ = settled(beam, moment, steps=4)
        x = beam.positions(q)[: elements + 1]
        within(np.linalg.norm(x[-1] - x[0]), 1e-9, "closure")
        centre = np.array([0, 0, 0.5 / np.pi])
        within(np.linalg.norm(x - centre, axis=1) * 2 * np.pi - 1, 1e-9, "radius")
        np.testing.assert_allclose(beam.strain(q)[:, 4], -2 * np.pi, rtol=1e-9)


def test_bathe_bolourchi_bend(within):
    """45° bend of radius 100 under a load across its plane of 300, 450, 600 (E = 10⁷, unit square, ν = 0).

    Tips of Simo and Vu-Quoc 1986 (J = 1/6), here at a hundredth of the size.
    """
    published = {300: (58.84, 22.33, 40.08), 450: (52.32, 18.62, 48.39), 600: (47.23, 15.79, 53.37)}
    angle = np.linspace(0, np.pi / 4, 9)
    path = np.column_stack([np.sin(angle), 1 - np.cos(angle), 0 * angle])
    square = Stiffness(EA=1e3, GA=5e2, EI=1e-1 / 12, GJ=5e-2 / 6)
    for load, tip in published.items():
        beam = Beam(curve(path), square, fixed=0)
        q, _ = settled(beam, tip_force(beam, (0, 0, 1e-4 * load)), steps=2)
        within(np.linalg.norm(100 * node(beam, q) - tip) / 100, 5e-3, f"load {load}")


# Stability


def negative_pivots(beam: Beam, rows, lam: float) -> int:
    """Those of K with its rows under load, at the equilibrium reached within the plane or along the axis."""
    from pliant.algebra import factorise
    from pliant.core.view import linearise

    robot, q = pl.Robot(beam, rows), beam.q0
    for _ in range(20):
        linear = linearise(robot, q, np.array([lam]), beam.z0, NONE)
        factor = factorise(robot.symbolic, linear.K, indefinite=True)
        q = robot.retract(q, factor.solve(linear.residual()))
    assert np.abs(linear.residual()).max() < 1e-6
    return factor.negative


def critical(beam: Beam, rows, low: float, high: float) -> float:
    """The load at which the first pivot turns negative, by bisection."""
    assert negative_pivots(beam, rows, low) == 0 and negative_pivots(beam, rows, high) > 0
    for _ in range(14):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if negative_pivots(beam, rows, middle) == 0 else (low, middle)
    return 0.5 * (low + high)


def test_euler_columns(within):
    """π²EI/4L² clamped and free, π²EI/L² pinned at both ends; twice, for two planes."""
    beam = cantilever(6)
    push = {"push": pl.Row(pl.PointForce(beam.at([1.0]), direction=(-1, 0, 0)))}
    within(critical(beam, push, 2.0, 3.0) / (np.pi**2 / 4) - 1, 2e-3, "clamped and free")
    assert negative_pivots(beam, push, 3.0) == 2
    fixed = np.zeros((7, 6), bool)
    fixed[0, :4] = fixed[6, 1:3] = True
    beam = Beam(line((0, 0, 0), (1, 0, 0), elements=6), THIN, fixed=fixed)
    push = {"push": pl.Row(pl.PointForce(beam.at([1.0]), direction=(-1, 0, 0)))}
    within(critical(beam, push, 8.0, 12.0) / np.pi**2 - 1, 2e-3, "pinned")


def test_a_blade_buckles_sideways():
    """A blade, stiff in its plane, under a moment about a constant axis turns over at (π/2)√(EI GJ)/L."""
    beam = cantilever(8, Stiffness(EA=1e6, GJ=4.0, EI=(1e4, 1.0)))
    rows = {"moment": pl.Row(pl.Motor(beam.region_points(8), (0, 1, 0)))}
    assert critical(beam, rows, 1.5, 8.0) == pytest.approx(np.pi, rel=0.01)


# Springs, trees, vibrations


def test_a_helical_spring_is_free_of_stress_and_as_stiff_as_the_books_say(within):
    """k = GJ/(2πnR³) for a close coil, with its end kept from turning."""
    radius, turns = 0.02, 4
    coil = helix(radius=radius, pitch=0.004, turns=turns, elements=96)
    section = Circle(0.001)
    beam = Beam(coil, section, SOFT, rigid=[Rigid(96, name="end")], fixed=0)
    assert beam.energy(beam.q0) < 1e-20
    rows = {
        "pull": pl.Row(pl.PointForce(beam.attached_points("end", [[0, 0, 0.016]]), direction=(0, 0, 1))),
        "turn": pl.Row(pl.Orientation(beam.region_points("end"))),
        "place": pl.Row(pl.Position(beam.attached_points("end", [[0, 0, 0.016]]), directions="xy")),
    }
    W = pl.compliance(pl.Robot(beam, rows)).matrix
    stiffness = np.linalg.inv(W)[0, 0]
    GJ = section.stiffness(SOFT)[3]
    within(stiffness / (GJ / (2 * np.pi * turns * radius**3)) - 1, 0.02, "stiffness")


def test_a_spine_with_ribs_is_in_balance():
    """Forces at the ends of all ribs and on the tip; what the clamp takes is their sum, and their moment."""
    lines = fishbone()
    beam = Beam(lines, {0: Rectangle(0.01, 0.008), **{b: Circle(0.003) for b in range(1, 5)}}, SOFT, fixed=0)
    ends = [n for n in range(len(lines.nodes)) if (lines.elements == n).sum() == 1 and n != 0]
    assert len(ends) == 5
    rng = np.random.default_rng(0)
    forces = {n: 2e-3 * rng.normal(size=3) for n in ends}
    q, _ = settled(beam, sum(tip_force(beam, f, n) for n, f in forces.items()))
    clamp = beam.reactions(q)[beam.numbering.node_region[0]]
    np.testing.assert_allclose(clamp[:3], -sum(forces.values()), atol=1e-9)
    moment = sum(np.cross(node(beam, q, n), f) for n, f in forces.items())
    np.testing.assert_allclose(clamp[3:], -moment, atol=1e-9)
    assert max(np.linalg.norm(node(beam, q, n) - lines.nodes[n]) for n in ends) > 2e-3


def test_vibrations_of_a_cantilever(within):
    """Bending 1.875², 4.694² √(EI/ρA)/L², torsion π/2 √(GJ/ρI_p)/L, stretch π/2 √(E/ρ)/L [rad/s]."""
    section, rho = Circle(0.01), 1000.0
    beam = cantilever(10, section, density=rho)
    K = beam.pattern.to_csr(beam.linearise(beam.q0, NONE)[2]).toarray()
    M = beam.pattern.to_csr(beam.mass()).toarray()
    free = np.flatnonzero(beam.free)
    omega = np.sqrt(scipy.linalg.eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], eigvals_only=True))
    EA, _, _, GJ, EI, _ = section.stiffness(SOFT)
    A, I = section.area, section.second_moment
    bending = np.array([1.8751041, 1.8751041, 4.6940911, 4.6940911]) ** 2 * np.sqrt(EI / (rho * A))
    within(omega[:4] / bending - 1, 4e-3, "bending")  # shear and rotary inertia make the second 0.3 % slower
    near = lambda w: np.abs(omega / w - 1).min()
    within(near(np.pi / 2 * np.sqrt(GJ / (2 * rho * I))), 2e-3, "torsion")
    within(near(np.pi / 2 * np.sqrt(EA / (rho * A))), 2e-3, "stretch")


# Cables


def bent_by_a_cable(elements: int, vias: int) -> float:
    """Error of the tip, as a share of the length, against constant curvature: κ = T e/EI and N = −T."""
    length, radius, lever, tension = 0.2, 0.005, 0.004, 0.5
    beam = Beam(line((0, 0, 0), (length, 0, 0), elements=elements), Circle(radius), SOFT, fixed=0)
    along = np.linspace(0, length, vias * elements + 1)
    rows = {
        "cable": pl.Row(pl.Cable(beam.at(along, offset=(0, lever)))),
        "tip": pl.Row(pl.Position(beam.at([length]))),
    }
    result = pl.static(pl.Robot(beam, rows), {"cable": pl.Known(effort=tension)})
    EA, EI = E * np.pi * radius**2, E * np.pi / 4 * radius**4
    kappa, short = tension * lever / EI, 1 - tension / EA
    angle = kappa * length
    tip = short * length / angle * np.array([np.sin(angle), 0, 1 - np.cos(angle)])
    assert result.displacement["cable"][0] == pytest.approx(length * (kappa * lever + tension / EA), rel=0.2)
    return float(np.linalg.norm(result.displacement["tip"] - tip) / length)


def test_a_cable_beside_the_axis_bends_a_rod_to_an_arc(within):
    within(bent_by_a_cable(10, 4), 1e-3, "ten elements, four via points each")
    assert order([bent_by_a_cable(n, 1) for n in (8, 16, 32)]) == pytest.approx(2.0, abs=0.2)
