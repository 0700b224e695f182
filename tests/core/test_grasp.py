"""A loose rigid box between two jaws with friction: it is held by 2Nμ ≥ weight, and falls below."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import RigidBody
from pliant.contact import Surroundings
from pliant.static import Tolerance

SIDE, PAD, CLEAR, FRICTION, G = 0.02, 0.01, 1e-5, 0.4, 9.81
LEAST = 1000.0 * SIDE**3 * G / (2 * FRICTION)  # [N]


def gripper(*, soft: bool) -> pl.Robot:
    """A box between two jaws on slides, rigid ones or pads with rigid backs; "close" pushes the right one."""
    cells = (2, 2, 2) if soft else (1, 1, 1)
    shape = pl.mesh.box((SIDE,) * 3, cells=cells, kind="hex", origin=(-SIDE / 2,) * 3)
    box = RigidBody(shape, density=1000.0)
    parts, rows = [box], {"box": pl.Row(pl.Position(box.points([[0, 0, 0]])))}
    for name, side in (("stay", -1.0), ("close", 1.0)):
        x = side * (SIDE / 2 + PAD / 2 + CLEAR) - PAD / 2
        cells = (2, 3, 3) if soft else (1, 1, 1)
        mesh = pl.mesh.box((PAD, 0.03, 0.03), cells=cells, kind="hex", origin=(x, -0.015, -0.015))
        slide = pl.Prismatic((-side, 0, 0))
        if soft:
            back = pl.mesh.near_plane(mesh, (x + PAD / 2 * (1 + side), 0, 0), (1, 0, 0))
            rigid = pl.Rigid(back, name="back", joint=slide)
            jaw = pl.Solid(mesh, pl.Hooke(1e6, 0.3), density=1000.0, rigid=rigid)
            frame = jaw.region_points("back")
        else:
            jaw = RigidBody(mesh, density=2000.0, joint=slide)
            frame = jaw.region_points()
        parts.append(jaw)
        rows[name] = pl.Row(pl.Slider(frame, (-side, 0, 0)), pl.Bounded(effort=(0, 10)))
    around = Surroundings(friction=FRICTION)
    return pl.Robot(parts, rows, gravity=(0, 0, -G), surroundings=around, name="gripper")


def squeezed(share: float) -> dict[str, pl.Known]:
    """The jaws push on each other with a multiple of the least squeeze."""
    return {"stay": pl.Known(displacement=CLEAR), "close": pl.Known(effort=share * LEAST)}


def test_let_go_slowly_a_rigid_grasp_holds_down_to_the_least_squeeze():
    """It rests in statics at a hundredth more than that, and nowhere at a hundredth less."""
    robot = gripper(soft=False)
    firm = pl.static(robot, squeezed(2.0))
    assert firm.certificate.converged and firm.certificate.loose == ()
    assert firm.contacts is not None
    up = np.einsum("ka,kai->i", firm.friction_force, firm.contacts.tangents)
    assert abs(up[2]) == pytest.approx(2 * FRICTION * LEAST, rel=1e-6)  # the weight
    assert pl.static(robot, squeezed(1.01), state=firm.state).certificate.converged
    with pytest.raises(pl.ConvergenceError):
        pl.static(robot, squeezed(0.99), state=firm.state, tolerance=Tolerance(iterations=10))


@pytest.mark.parametrize("share", [1.02, 0.97])
def test_soft_pads_hold_a_box_above_the_least_squeeze_and_drop_it_below(share):
    """In time, from a firm grasp: without a motion, or with the acceleration of what friction leaves."""
    robot = gripper(soft=True)
    firm = pl.static(robot, squeezed(2.0))
    damping = pl.dynamics.Rayleigh(stiffness=1e-3)
    simulation = pl.Simulation(robot, time_step=2e-3, state=firm.state, damping=damping)
    heights = [float(simulation.step(squeezed(share)).displacement["box"][2]) for _ in range(60)]
    fallen = firm.displacement["box"][2] - heights[-1]
    if share > 1:
        assert fallen < 5e-6 and abs(heights[-1] - heights[-2]) < 1e-12
    else:
        rate = (heights[-21] - heights[-1]) / 0.04 - (heights[-41] - heights[-21]) / 0.04
        assert rate / 0.04 == pytest.approx(G * (1 - share), rel=0.02)
