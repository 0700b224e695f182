"""Contact stiffness in K of a step in time, as in statics.

Steps are more accurate, and no worse in energy and depth.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import pliant as pl
from pliant.core.view import View

BALL = pl.Sphere((0.003, 0.002, -0.0105), 0.01)
LOG = pl.Cylinder((0.002, -0.1, -0.0155), (0.002, 0.1, -0.0155), 0.015)
STEP = 0.002  # [s]
STEPS = 40


def block() -> pl.Robot:
    """A free soft block just above what it falls on, beside its middle."""
    mesh = pl.mesh.box((0.04, 0.04, 0.02), cells=(4, 4, 2), origin=(-0.02, -0.02, 0.0))
    body = pl.Solid(mesh, pl.Hooke(young=5e4, poisson=0.45), density=1000)
    return pl.Robot(body, gravity=(0, 0, -9.81))


@dataclass
class Run:
    """What single steps from the states of a reference did.

    How far they ended from it [m], and what iterated ones took.
    """

    off: list[float] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)


@pytest.fixture(scope="module", params=[BALL, LOG], ids=["ball", "log"])
def runs(request) -> dict[bool, Run]:
    """With and without contact stiffness, from the states of converged steps on the way."""
    robot, known = block(), View.stiffened
    make = lambda **options: pl.Simulation(robot, [request.param], time_step=STEP, scheme="euler", **options)
    once, iterated = make(), make(iterations=40, tolerance=1e-9)
    reference = make(iterations=40, tolerance=1e-9)
    found = {True: Run(), False: Run()}
    with pytest.MonkeyPatch.context() as patch:
        for _ in range(STEPS):
            before = reference.state
            after = reference.step().q
            for stiff, run in found.items():
                patch.setattr(View, "stiffened", known if stiff else lambda self, detector, **_: self)
                once.state = iterated.state = before
                run.off.append(float(np.abs(once.step().q - after).max()))
                run.iterations.append(iterated.step().certificate.iterations)
            patch.setattr(View, "stiffened", known)
    return found


def test_one_linearisation_ends_nearer_to_the_iterated_step(runs):
    assert np.mean(runs[True].off) < 0.95 * np.mean(runs[False].off)


def test_iterated_steps_take_fewer_linearisations(runs):
    assert np.mean(runs[True].iterations) < np.mean(runs[False].iterations)


def fallen(obstacle, *, stiff: bool = True, **options) -> tuple[np.ndarray, float]:
    """Energy [J] over 0.3 s, and the deepest that anything was below the surface [m]."""
    simulation = pl.Simulation(block(), [obstacle], time_step=STEP, scheme="euler", **options)
    energy, deepest = [simulation.energy.total], 0.0
    with pytest.MonkeyPatch.context() as patch:
        if not stiff:
            patch.setattr(View, "stiffened", lambda self, detector, **_: self)
        for _ in range(round(0.3 / STEP)):
            contacts = simulation.step().contacts
            energy.append(simulation.energy.total)
            deepest = max(deepest, -float(contacts.gap.min(initial=0.0)))
    return np.array(energy), deepest


def test_energy_is_nearer_to_that_of_iterated_steps_and_nothing_sinks_in():
    """A step loses energy that the iterated step does not: less of it with contact stiffness.

    What it gains, the iterated step gains too.
    """
    (with_it, deepest), (without, _) = fallen(BALL), fallen(BALL, stiff=False)
    iterated, _ = fallen(BALL, iterations=40, tolerance=1e-9)
    assert abs(with_it[-1] - iterated[-1]) < 0.5 * abs(without[-1] - iterated[-1])
    assert np.diff(with_it).max() < 2.0 * max(np.diff(iterated).max(), 0.0) < 5e-3 * np.ptp(iterated)
    assert deepest < 1e-7
