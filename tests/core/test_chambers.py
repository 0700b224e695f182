"""Chambers with gas of their own between a fixed plate and a bar or a piston, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import RigidBody
from pliant.pneumatics import Charge, Gas, Line, Liquid, Orifice
from pliant.static import Tolerance

S, H, LONG, YOUNG, AIR = 0.01, 0.05, 0.02, 1e6, 101325.0
AREA = S * S
VOLUME = AREA * H
EXACT = Tolerance(residual=1e-12, length=1e-13)
CORNERS = np.array([[0, 0, LONG], [S, 0, LONG], [S, S, LONG], [0, S, LONG], [S / 2, S / 2, LONG]])


def cylinder(line: Line | None, moving, **laws: pl.laws.Law) -> pl.Robot:
    """A chamber of height H between a fixed plate and the lower face of a body above it."""
    plate = RigidBody(pl.mesh.box((S, S, LONG), cells=(1, 1, 1)), density=1000, fixed=True)
    ring = [(k, (k + 1) % 4) for k in range(4)]
    bottom = [[j, i, 4] for i, j in ring]
    top = [[5 + i, 5 + j, 9] for i, j in ring]
    side = [t for i, j in ring for t in ([i, j, 5 + j], [i, 5 + j, 5 + i])]
    face = moving.points(CORNERS + np.array([0, 0, H]))
    gas = pl.Cavity([plate.points(CORNERS), face], [*bottom, *top, *side], line=line)
    push = pl.Combined(pl.PointForce(face[:4], direction=(0, 0, 1)), np.full((4, 1), 0.25))
    tip = pl.Position(face[4:], directions="z")
    known = {"gas": pl.Bounded(), "push": pl.Bounded(effort=(-50, 50)), "tip": pl.Observed(), **laws}
    return pl.Robot(
        [plate, moving], {n: pl.Row(x, known[n]) for n, x in (("gas", gas), ("push", push), ("tip", tip))}
    )


def bar(line: Line | None, **laws: pl.laws.Law) -> pl.Robot:
    """Closed by a bar that hangs from above and moves along its axis only, with E A/l."""
    mesh = pl.mesh.box((S, S, LONG), cells=(1, 1, 2), kind="hex", order=1).transformed(None, (0, 0, LONG + H))
    fixed = np.ones((len(mesh.nodes), 3), bool)
    fixed[:, 2] = mesh.nodes[:, 2] > 2 * LONG + H - 1e-9
    return cylinder(
        line, pl.Solid(mesh, pl.Hooke(young=YOUNG, poisson=0.0), density=1000, fixed=fixed), **laws
    )


def piston(line: Line, mass: float = 0.02) -> pl.Robot:
    mesh = pl.mesh.box((S, S, LONG), cells=(1, 1, 1)).transformed(None, (0, 0, LONG + H))
    return cylinder(line, RigidBody(mesh, mass=mass, joint=pl.Prismatic((0, 0, 1))))


def charge(robot: pl.Robot, result) -> Charge:
    return Charge(*robot.remembered("gas", result.state.internal))


@pytest.mark.parametrize(("fluid", "stiff"), [(Gas(1.0), AIR), (Gas(1.4), 1.4 * AIR), (Liquid(1e7), 1e7)])
def test_rate_of_a_closed_chamber(fluid, stiff):
    """A bar of rate E A/l on a gas spring of rate n P A²/V, the volume that of the tube as well."""
    dead = 2e-6
    robot = bar(Line(fluid, volume=dead))
    push = pl.static(robot, {"gas": pl.laws.Valve(), "push": pl.Known(effort=-1e-3)}, tolerance=EXACT)
    rate = YOUNG * AREA / LONG + stiff * AREA**2 / (VOLUME + dead)
    assert -1e-3 / push.displacement["push"][0] == pytest.approx(rate, rel=1e-5)


def test_closed_chamber_far_from_rest():
    """λ = Pₐ((V₀/V)ⁿ − 1) in a few iterations, and stable: the gas is a spring in K."""
    robot = bar(Line(Gas(1.4)))
    far = pl.static(robot, {"gas": pl.laws.Valve(), "push": pl.Known(effort=-20.0)}, tolerance=EXACT)
    V = VOLUME + far.displacement["gas"][0]
    assert far.effort["gas"][0] == pytest.approx(AIR * ((VOLUME / V) ** 1.4 - 1.0), rel=1e-9)
    assert far.certificate.iterations <= 8 and far.certificate.stability == "stable"


def test_an_iterate_that_squeezes_out_all_gas_is_no_end():
    """In one go to a tenth of the volume, from where the step without gas leads beyond it."""
    robot = bar(Line(Gas(1.4)))
    far = pl.static(robot, {"gas": pl.laws.Valve(), "push": pl.Known(displacement=-0.9 * H)})
    assert far.effort["gas"][0] == pytest.approx(AIR * (10.0**1.4 - 1.0), rel=1e-6)
    pushed = pl.static(robot, {"gas": pl.laws.Valve(), "push": pl.Known(effort=-400.0)})
    V = VOLUME + pushed.displacement["gas"][0]
    assert 0.0 < V < VOLUME
    assert pushed.effort["gas"][0] == pytest.approx(AIR * ((VOLUME / V) ** 1.4 - 1.0), rel=1e-6)


def test_no_line_and_a_line_that_resists_nothing_are_the_same():
    """A given pressure is that of the chamber; statics settles, and what is closed then stays."""
    plain = pl.static(bar(None), {"gas": pl.Known(effort=2e4)})
    robot = bar(Line(Gas(1.2), volume=1e-6))
    lined = pl.static(robot, {"gas": pl.Known(effort=2e4)})
    assert np.array_equal(plain.q, lined.q)
    kept = pl.static(robot, {"gas": pl.laws.Valve()}, state=lined.state)
    assert kept.effort["gas"][0] == pytest.approx(2e4, rel=1e-9)
    assert np.allclose(kept.q, lined.q, atol=1e-12)
    assert charge(robot, kept).amount == charge(robot, lined).amount


def test_syringe():
    """A stroke into air: P V = const in chamber and barrel; into liquid, less what that is compressed."""
    robot, stroke = bar(Line(syringe=2e-6)), 1e-6
    there = pl.static(robot, {"gas": pl.Known(displacement=stroke)}, tolerance=EXACT)
    V = VOLUME + 2e-6 + there.displacement["gas"][0] - stroke
    assert (there.effort["gas"][0] + AIR) * V == pytest.approx(AIR * (VOLUME + 2e-6), rel=1e-9)
    assert charge(robot, there).pushed == pytest.approx(stroke)
    back = pl.static(robot, {"gas": pl.Known(displacement=0.0)}, state=there.state, tolerance=EXACT)
    assert abs(back.effort["gas"][0]) < 1e-4
    wet = pl.static(bar(Line(Liquid(2e9), syringe=2e-6)), {"gas": pl.Known(displacement=1e-8)})
    yielding = YOUNG / (LONG * AREA) * (VOLUME + 2e-6) / 2e9  # of the bar's stiffness to the liquid's
    assert wet.displacement["gas"][0] == pytest.approx(1e-8 / (1.0 + yielding), rel=1e-6)


def test_gas_flows_in_time():
    """A chamber of stiff walls fills as a rigid volume does, step by step, and sends no more than that."""
    way, h = Orifice(1e-10, 0.3), 0.004
    line = Line(orifice=way, supply=3e5)
    robot = bar(line)
    sim = pl.Simulation(robot, time_step=h, damping=pl.dynamics.Rayleigh(stiffness=0.02))
    alone = line.charge(0.0, VOLUME)
    for _ in range(20):
        moment = sim.step({"gas": pl.laws.Valve(0.5)})
        end = VOLUME + moment.displacement["gas"][0]
        alone = line.after(alone, (VOLUME, VOLUME), h, source=3e5, opening=0.5)
        assert charge(robot, moment).amount == pytest.approx(alone.amount, rel=0.02)
    assert moment.effort["gas"][0] == pytest.approx(
        line.gauge(end, charge(robot, moment).content)[0], rel=1e-3
    )
    before = charge(robot, moment).amount
    for _ in range(3):
        moment = sim.step({"gas": pl.laws.Valve()})
    assert charge(robot, moment).amount == before
    assert sim.step({"gas": pl.laws.Valve(-1.0)}).state.internal[-5] < moment.state.internal[-5]


def test_piston_swings_on_its_gas():
    """ω² = n P A²/(V m), and kinetic energy and that of the gas stay what they are."""
    line, mass = Line(Gas(1.4)), 0.02
    robot = piston(line, mass)
    omega = float(np.sqrt(1.4 * AIR * AREA**2 / (VOLUME * mass)))
    v = robot.rest.v.copy()
    v[-4] = 0.02  # up
    sim = pl.Simulation(
        robot, time_step=0.1 / omega, scheme="midpoint", state=robot.rest.with_(v=v), iterations=5
    )
    energy, place = [], []
    for _ in range(70):
        moment = sim.step({"gas": pl.laws.Valve()})
        place.append(moment.displacement["push"][0])
        V = VOLUME + moment.displacement["gas"][0]
        energy.append(sim.energy.kinetic + line.fluid.energy(V, charge(robot, moment).content))
    assert np.ptp(energy) < 2e-3 * energy[0]
    turns = np.flatnonzero(np.diff(np.sign(place)) != 0)
    assert (turns[1] - turns[0]) * 0.1 == pytest.approx(np.pi, rel=0.02)


def test_inverse_with_gas_in_the_way_and_as_a_drive():
    """Commands found are those with which statics gets there: beside a closed chamber, and by a syringe."""
    target = LONG + H - 0.0005
    robot = bar(Line(Gas(1.2)), gas=pl.laws.Valve(), tip=pl.Target())
    control = pl.Inverse(robot)
    for _ in range(5):
        out = control.step({"tip": target})
    assert out.certificate.status == "reached"
    again = pl.static(robot, {"push": pl.Known(effort=out.effort["push"])})
    assert again.displacement["tip"][0] == pytest.approx(target, abs=1e-7)
    robot = bar(
        Line(Gas(1.2), syringe=4e-6),
        gas=pl.Bounded(effort=(-5e4, 5e4)),
        push=pl.Known(effort=0.0),
        tip=pl.Target(),
    )
    control = pl.Inverse(robot)
    for _ in range(5):
        out = control.step({"tip": LONG + H + 0.0002})
    assert out.certificate.status == "reached"
    again = pl.static(robot, {"gas": pl.Known(displacement=out.command["gas"])})
    assert again.displacement["tip"][0] == pytest.approx(LONG + H + 0.0002, abs=1e-7)


def test_laws_that_need_a_line():
    with pytest.raises(pl.InputError, match="a chamber with a line"):
        pl.static(bar(None), {"gas": pl.laws.Valve()})
    with pytest.raises(pl.InputError, match="no open valve"):
        pl.static(bar(Line(syringe=1e-6)), {"gas": pl.laws.Valve(1.0)})
    with pytest.raises(pl.InputError, match="from -1 to 1"):
        pl.laws.Valve(2.0)
