"""What rows foresee of the next moments is what the next step does with them, and statics in the long run."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane, Surroundings
from pliant.dynamics import KelvinVoigt, Rayleigh, Simulation
from pliant.timing import Stopwatch

SIZE = (0.06, 0.02, 0.02)


def bar(*, held: bool = True, gravity=(0.0, 0.0, -9.81), **options) -> pl.Robot:
    """A bar in small strain, with forces on two corners: all of it is linear."""
    mesh = pl.mesh.box(SIZE, cells=(4, 2, 2), kind="hex")
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0)) if held else None
    body = pl.Solid(mesh, pl.Hooke(2e5, 0.3, small_strain=True), density=1000, fixed=clamp)
    force = lambda at, way: pl.Row(pl.PointForce(body.points([at]), direction=way), pl.Bounded())
    rows = {
        "push": force([0.06, 0.0, 0.02], (0, 0, -1)),
        "drag": force([0.06, 0.02, 0.0], (0, 1, 0)),
        "tip": pl.Row(pl.Position(body.points([[0.06, 0.01, 0.01]])), pl.Target()),
    }
    return pl.Robot(body, rows, gravity=gravity, **options)


def foreseen(sim: Simulation, time: float, rows=range(5)):
    return sim.foresee(sim.robot.forward(None), np.array(rows), time, Stopwatch())


@pytest.mark.parametrize("damping", [None, Rayleigh(mass=2.0, stiffness=0.01), KelvinVoigt(0.02)], ids=str)
@pytest.mark.parametrize("held", [True, False], ids=["held", "free"])
def test_the_next_step_ends_where_it_was_foreseen(held, damping):
    sim = Simulation(bar(held=held), time_step=0.02, scheme="euler", damping=damping)
    for _ in range(3):
        sim.step({"push": pl.Known(effort=0.1)})
    seen, lam = foreseen(sim, 0.02), np.array([0.3, -0.2, 0.0, 0.0, 0.0])
    moment = sim.step({"push": pl.Known(effort=lam[0]), "drag": pl.Known(effort=lam[1])})
    ends = np.concatenate([moment.displacement[n] for n in ("push", "drag", "tip")])
    assert seen.delta + seen.W @ lam == pytest.approx(ends, abs=1e-12)


def test_contacts_are_foreseen_too():
    """Gaps and slips at the end of the step, as the step itself finds them."""
    around = Surroundings([Plane((0, 0, 0), (0, 0, 1), name="floor")], friction=0.4)
    sim = Simulation(bar(held=False, surroundings=around), time_step=0.01, scheme="euler")
    for _ in range(20):
        moment = sim.step({"drag": pl.Known(effort=0.15)})
    seen = foreseen(sim, 0.01)
    before, moment = moment, sim.step({"drag": pl.Known(effort=0.15)})
    n, found = len(seen.contacts), moment.contacts
    assert n == len(found) > 8 and moment.contact_force.sum() > 0.1
    force = np.concatenate([moment.contact_force, moment.friction_force.ravel()])
    ends = seen.delta + seen.W @ np.concatenate([[0.0, 0.15, 0.0, 0.0, 0.0], force])
    assert ends[5 : 5 + n] == pytest.approx(found.gap, abs=1e-12)
    assert ends[5 + n :] == pytest.approx(found.slip(moment.q, before.q).ravel(), abs=1e-12)


def test_in_the_long_run_it_is_the_static_compliance():
    robot = bar()
    sim, W = Simulation(robot), pl.compliance(robot).matrix
    errors = [np.abs(foreseen(sim, T).W - W).max() / np.abs(W).max() for T in (1.0, 10.0)]
    assert errors[0] < 1e-2 and errors[1] == pytest.approx(1e-2 * errors[0], rel=0.1)  # ∝ 1/T²


def test_at_once_it_is_inertia():
    """A corner feels no more than its own mass; a whole body that floats is T²/m per newton away."""
    corner = 1000 * 0.015 * 0.01 * 0.01 / 8  # [kg], lumped
    W = foreseen(Simulation(bar(held=False)), 1e-6).W
    assert W[:2, :2] / 1e-12 == pytest.approx(np.eye(2) / corner, rel=1e-5, abs=1e-5 / corner)
    robot = bar(held=False)
    rows = {"centre": pl.Row(pl.CentreOfMass.of(robot.body))}
    free = pl.Robot(robot.body, rows)
    for T in (1e-3, 1.0):
        W = foreseen(Simulation(free), T, range(3)).W
        assert np.array(W) == pytest.approx(
            T * T / robot.body.total_mass * np.eye(3), rel=1e-6, abs=1e-9 * W.max()
        )


def test_nothing_moves():
    sim = Simulation(bar())
    sim.step()
    before = sim.state
    foreseen(sim, 0.1)
    assert sim.state is before
    after = sim.step()
    sim.state = before
    assert np.array_equal(sim.step().q, after.q)


@pytest.mark.parametrize(
    "law, compliance", [(pl.Known(displacement=0.002), 0.0), (pl.Elastic(50.0, 0.002), 0.02)]
)
def test_rows_that_are_held_are_seen_by_the_others(law, compliance):
    """A displacement imposed, or a spring: eliminated from what is foreseen, and in the step."""
    sim = Simulation(bar(), time_step=0.02, scheme="euler")
    sim.step()
    seen = foreseen(sim, 0.02).imposing(np.array([1]), np.array([0.002]), np.array([compliance]))
    moment = sim.step({"push": pl.Known(effort=0.3), "drag": law})
    ends = np.concatenate([moment.displacement[n] for n in ("push", "tip")])
    assert seen.delta + seen.W @ [0.3, 0.0, 0.0, 0.0] == pytest.approx(ends, abs=1e-12)
