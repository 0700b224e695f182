"""Rods, shells and membranes that remember: at rest and in time, against springs and dashpots."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Body, Circle, Membrane, Shell
from pliant.bodies.overstress import Overstress
from pliant.dynamics import StandardLinear
from pliant.mesh import lines
from pliant.points import Points
from tests.bodies.beams.common import BEAMS
from tests.bodies.shells.common import BODIES as SHEETS
from tests.bodies.shells.common import scales, wiggled

TIME, RATIO = 2.0, 0.6
ZENER = StandardLinear(TIME, RATIO)
SOFT = pl.Hooke(1e6, 0.3)
NONE = np.zeros(3)


def left(x: np.ndarray) -> np.ndarray:
    return x[:, 0] < 1e-9


def rod() -> pl.Robot:
    """A cantilever with a load on its end."""
    body = Beam(lines.line((0, 0, 0), (0.1, 0, 0), elements=4), Circle(0.002), SOFT, density=1000, fixed=[0])
    return _loaded(body, body.at([0.1]))


def shell() -> pl.Robot:
    body = Shell(pl.mesh.sheet((0.1, 0.02), cells=(6, 2)), SOFT, 0.002, density=1000, fixed=left)
    return _loaded(body, body.points([[0.1, 0.01, 0.0]]))


def membrane() -> pl.Robot:
    """A drum with a load in its middle."""
    sheet = pl.mesh.sheet((0.1, 0.1), cells=(4, 4))
    rim = np.isclose(sheet.nodes[:, :2], 0.0) | np.isclose(sheet.nodes[:, :2], 0.1)
    body = Membrane(sheet, SOFT, 0.001, density=1000, fixed=rim.any(axis=1), prestretch=1.05)
    return _loaded(body, body.points([[0.05, 0.05, 0.0]]))


def _loaded(body: Body, end: Points) -> pl.Robot:
    return pl.Robot(body, {"load": pl.Row(pl.PointForce(end, direction=(0, 0, -1)), pl.Observed())})


ROBOTS = {"rod": rod, "shell": shell}
EVERY = {
    **BEAMS,
    **{name: make for name, make in SHEETS.items() if make().stress_memory(make().q0) is not None},
}


@pytest.mark.parametrize("name", list(EVERY))
def test_tangent_of_a_viscous_body(name):
    """r = −Hᵀ(scale S + Z): the elastic one where Z makes up for the scale; K its derivative anywhere."""
    body = EVERY[name]()
    rng, q = np.random.default_rng(3), wiggled(body, amount=2e-4, turn=0.05)
    S = body.stress_memory(q)
    assert S is not None
    elastic = body.linearise(q, NONE)[1]
    same = body.linearise(q, NONE, viscous=Overstress(0.4, 0.6 * S))[1]
    assert np.allclose(same, elastic, rtol=0, atol=1e-9 * np.abs(elastic).max())
    viscous = Overstress(0.7, 0.5 * np.abs(S).mean() * rng.uniform(-1, 1, len(S)))
    force = lambda dq: body.linearise(body.retract(q, dq), NONE, tangent=False, viscous=viscous)[1]
    dq = scales(body, amount=1e-6, turn=1e-4) * rng.uniform(-1, 1, body.ndof) * np.asarray(body.free, float)
    K = body.linearise(q, NONE, viscous=viscous)[2]
    asked = -0.5 * dq @ (force(dq) - force(-dq))  # rotations do not commute: K is the symmetric part
    assert dq @ (body.pattern.to_csr(K) @ dq) == pytest.approx(asked, rel=1e-4)


@pytest.mark.parametrize("name", list(ROBOTS))
def test_relaxation_and_settling(name):
    """A displacement that is held: λ (1 + ratio e^(−t/time)); after infinite time as if nothing had been."""
    robot, d = ROBOTS[name](), {"load": pl.Known(displacement=0.004)}
    elastic = pl.static(robot, d)
    state = None
    for h, t in ((0.0, 0.0), (1.0, 1.0), (3.0, 4.0)):
        held = pl.static(robot, d, damping=ZENER, dt=h, state=state)
        state = held.state
        share = 1.0 + RATIO * np.exp(-t / TIME)
        assert held.effort["load"][0] == pytest.approx(share * elastic.effort["load"][0], rel=1e-6)
    settled = pl.static(robot, d, damping=ZENER, dt=np.inf, state=state)
    assert settled.effort["load"][0] == pytest.approx(elastic.effort["load"][0], rel=1e-6)


def test_drum():
    """Its prestretch has rested: only what is added fades, with e^(−t/time) where it is held."""
    robot, d = membrane(), {"load": pl.Known(displacement=0.004)}
    elastic, state, over = pl.static(robot, d).effort["load"][0], None, []
    for h in (0.0, 1.0, np.inf):
        held = pl.static(robot, d, damping=ZENER, dt=h, state=state)
        state = held.state
        over.append(held.effort["load"][0] - elastic)
    assert over[0] > 0.02 * elastic
    assert over[1] == pytest.approx(over[0] * np.exp(-1.0 / TIME), rel=5e-3)  # its shape changes a little
    assert abs(over[2]) < 1e-6 * elastic


def test_creep_of_a_rod():
    """Under a small load: F/k (1 − ratio/(1 + ratio) e^(−t/((1 + ratio) time)))."""
    robot, load = rod(), {"load": pl.Known(effort=1e-5)}
    end, state = pl.static(robot, load).displacement["load"][0], None
    for h, t in ((0.0, 0.0), *((0.4, 0.4 * k) for k in range(1, 6))):
        crept = pl.static(robot, load, damping=ZENER, dt=h, state=state)
        state = crept.state
        share = 1.0 - RATIO / (1.0 + RATIO) * np.exp(-t / ((1.0 + RATIO) * TIME))
        assert crept.displacement["load"][0] == pytest.approx(share * end, rel=2e-3)


@pytest.mark.parametrize("name", ["rod", "shell"])
def test_time_and_statics_agree(name):
    """Slow motion in small steps ends where statics does whose time is the same."""
    robot, load = ROBOTS[name](), {"load": pl.Known(effort=2e-4)}
    both = (ZENER, pl.dynamics.Rayleigh(mass=5.0))
    sim = pl.Simulation(robot, time_step=0.05, damping=both, scheme="euler")
    for _ in range(60):
        moment = sim.step(load)
    state = None
    for h in (0.0, *[0.5] * 6):
        rest = pl.static(robot, load, damping=ZENER, dt=h, state=state)
        state = rest.state
    assert moment.displacement["load"][0] == pytest.approx(rest.displacement["load"][0], rel=0.02)
