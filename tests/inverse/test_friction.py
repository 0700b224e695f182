"""The inverse model through contacts that stick and slip."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane, Surroundings
from pliant.inverse import Inverse
from tests.inverse.test_inverse import LENGTH, arm, tip

ARM = arm()
FLOOR = Plane((0, 0, -0.0005), (0, 0, 1), name="floor")


def controller(mu: float) -> Inverse:
    """An arm that lies on a floor under its weight."""
    around = Surroundings([FLOOR], friction=mu)
    return Inverse(pl.Robot(ARM.body, ARM.rows, gravity=(0, 0, -9.81), surroundings=around))


def drag(control: Inverse, steps: int = 30) -> list:
    """The tip is pulled sideways and pressed down."""
    ways = np.minimum(1.0, np.arange(1, steps + 1) / (0.7 * steps))
    return [control.step({"tip": tip(-0.003, 0.008 * s, -0.002)}) for s in ways]


@pytest.mark.parametrize("mu, near", [(0.3, 0.005), (0.8, 0.01)])
def test_coulombs_law_holds_and_the_tip_gets_there(mu, near):
    """Strong friction keeps the tip a little short of its target, depending on where it stuck last."""
    control = controller(mu)
    log = drag(control, steps=45)
    # Where it sticks on the way is a matter of rounding; it goes on from there.
    log += [control.step() for _ in range(30)]
    out = log[-1]
    normal, size = out.contact_force, np.linalg.norm(out.friction_force, axis=1)
    assert normal.sum() > 0.05 and size.sum() > 0.2 * mu * normal.sum()
    assert (size <= mu * normal + 1e-8).all()
    assert np.abs(out.error["tip"][:2]).max() < near * LENGTH  # in the plane of the floor
    solved = [step.certificate.solver for step in log if step.certificate.solver is not None]
    assert len(solved) > 40  # the others rest, or wait
    for certificate in solved:
        assert max(certificate.complementarity, certificate.cone, certificate.dissipation) < 1e-8
    assert out.certificate.decrement < 1e-6


def test_friction_is_opposed_to_slip():
    control = controller(0.3)
    log = drag(control, 20)
    before, now = log[10], log[11]
    touching = now.contact_force > 0
    slip = now.contacts.slip(now.q, before.q)[touching]
    work = np.einsum("ka,ka->k", slip, now.friction_force[touching])
    assert (work <= 1e-9).all() and work.min() < 0


def test_the_state_rests_where_it_is():
    """With the commanded lengths imposed, statics with friction stays there: sticking contacts hold it."""
    control = controller(0.5)
    out = drag(control)[-1]
    laws = {name: pl.Known(displacement=value) for name, value in out.command.items()}
    again = pl.static(control.robot, laws, state=out.state)
    assert np.linalg.norm(again.displacement["tip"] - out.displacement["tip"]) < 1e-3 * LENGTH


def test_without_friction_it_is_the_old_problem():
    frictional, frictionless = controller(1e-9), controller(0.0)
    for a, b in zip(drag(frictional, 10), drag(frictionless, 10), strict=True):
        np.testing.assert_allclose(a.displacement["tip"], b.displacement["tip"], atol=2e-5)
