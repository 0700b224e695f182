"""State and contact reduced together: complementarity, held-out commands, obstacles and self-contact."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.reduction import Snapshots, collect, contact_basis, plans
from pliant.reduction.model import reduced_model
from pliant.reduction.responses import responses
from pliant.robots.folding_finger import folding_finger
from tests.core.test_models import DOWN, bar, cables

BAR = pl.Cylinder(
    (0.09, -0.02, -0.012), (0.09, 0.04, -0.012), 0.01, name="round bar"
)  # below the end, across
HELD_OUT = (0.85, 1.63, 2.41)  # [N], none of them a command of the snapshots


@cache
def robot() -> pl.Robot:
    body = bar(cells=(10, 2, 2))
    around = pl.contact.Surroundings(obstacles=[BAR])
    return pl.Robot(body, cables(body, gravity=DOWN).rows, gravity=DOWN, name="bar", surroundings=around)


@cache
def shots() -> Snapshots:
    return collect(
        robot(), plans.pull(robot(), {"bottom": (0.0, 3.0)}, steps=16, drive="effort"), probe=responses
    )


@cache
def lean() -> pl.Robot:
    return reduced_model(robot(), shots(), tolerance=1e-5, contact_modes=1).on(robot())


def laws(effort: float, cable: str = "bottom") -> dict[str, pl.Known]:
    return {cable: pl.Known(effort=effort)}


@pytest.mark.parametrize("effort", HELD_OUT)
def test_a_known_obstacle_pushes_alike_on_held_out_commands(effort, within):
    """Tip and push are those of the full robot, with one row for many contacts and a few modes for nodes.

    The tip is within 3 % of the error made by ignoring the obstacle.
    """
    clear = pl.Robot(robot().body, robot().rows, gravity=DOWN, name="bar")
    full, small, free = (pl.static(r, laws(effort)) for r in (robot(), lean(), clear))
    assert full.touch("round bar").push > 0.02 and len(small.contacts) == 1
    error, ignored = (np.linalg.norm(r.displacement["tip"] - full.displacement["tip"]) for r in (small, free))
    assert ignored > 0.01
    within(error / ignored, 0.03, "share of the error made by ignoring the obstacle")
    assert small.touch("round bar").push == pytest.approx(full.touch("round bar").push, rel=0.05)
    inner, force = small.contacts.on_samples(small.contact_force)
    contacts, forces = full.contacts, full.contact_force[: len(full.contacts)]
    push, true = force @ inner.normal, forces @ contacts.normal
    assert push @ true > 0.995 * np.linalg.norm(push) * np.linalg.norm(true)


@pytest.mark.parametrize("effort", [0.0, *HELD_OUT])
@pytest.mark.parametrize("cable", ["bottom", "top"])
def test_modes_are_complementary(effort, cable):
    """0 ≤ δ̂ ⊥ β ≥ 0 at rest, in contact and clear of it."""
    small = pl.static(lean(), laws(effort, cable))
    force, gap = small.contact_force, _gaps(small)
    assert (force >= 0).all() and (gap > -1e-7).all()
    assert (force * np.minimum(gap, 1.0) < 1e-7).all()  # [N m]
    if cable == "top" and effort > 1.0:
        assert force.sum() == 0.0  # it bends away


def _gaps(result: pl.Result) -> np.ndarray:
    """Gaps [m] of the modes of a result, found anew where it ended."""
    detector = lean().surroundings.detector(lean())
    found = detector.detect(result.q)
    gap = np.full(len(detector.basis), np.inf)
    gap[found.index] = found.gap
    return gap[result.contacts.index] if len(result.contacts) else gap[:0]


def test_motion_ends_where_statics_rests(within):
    """Let go above the round bar, the combined model falls onto it and comes to the rest of statics."""
    rest = pl.static(lean(), laws(1.63))
    simulation = pl.Simulation(lean(), damping=pl.dynamics.Rayleigh(mass=40.0, stiffness=0.01))
    for _ in range(150):
        moment = simulation.step(laws(1.63))
    within((moment.displacement["tip"] - rest.displacement["tip"]) / 0.1, 1e-4, "tip, of the length")
    assert moment.contact_force.sum() == pytest.approx(rest.contact_force.sum(), rel=0.02)


def test_the_push_goes_through_the_inverse_model(within):
    """The combined model's inverse goes to where the full robot stands against the round bar."""
    full = pl.static(robot(), laws(1.63))
    controller = pl.Inverse(lean())
    for _ in range(25):
        outcome = controller.step({"tip": full.displacement["tip"]})
    within((outcome.displacement["tip"] - full.displacement["tip"]) / 0.1, 8e-3, "tip, of the length")


# Self-contact of a solid


@cache
def finger(contact: bool = True) -> pl.Robot:
    return folding_finger(joints=2, length=0.07, contact=contact)


@cache
def finger_shots() -> Snapshots:
    return collect(finger(), plans.pull(finger(), {"cable": (0.0, 0.018)}, steps=36), probe=responses)


def test_folds_that_touch_are_reduced_with_the_state(within):
    """Between two snapshots: tip, and most of the penetration of the robot without contact is gone."""
    model = reduced_model(finger(), finger_shots(), tolerance=1e-6, force_tolerance=1e-3, contact_modes=2)
    small = model.on(finger())
    law = {"cable": pl.Known(displacement=0.01775)}
    full, lean, free = (pl.static(r, law, load_steps=4) for r in (finger(), small, finger(False)))
    missed = np.linalg.norm(free.displacement["tip"] - full.displacement["tip"])
    assert missed > 1e-3 and full.contact_force.sum() > 0.1
    error = np.linalg.norm(lean.displacement["tip"] - full.displacement["tip"])
    assert error < 0.1 * missed
    assert (lean.contact_force >= 0).all() and len(lean.contacts) <= 2
    depth = finger().surroundings.detector(finger()).penetration
    from pliant.reduction.reduce import expanded

    assert depth(expanded(small, lean.state)) < 0.1 * depth(free.q)


def test_contact_reduction_alone_agrees_with_the_combined_one(within):
    """The same contact basis on the full mesh and on the reduced body."""
    fit = contact_basis(robot(), shots(), 1)
    one, both = (pl.static(r, laws(1.63)) for r in (fit.robot, lean()))
    within((one.displacement["tip"] - both.displacement["tip"]) / 0.1, 1e-4, "tip, of the length")
    assert one.contact_force.sum() == pytest.approx(both.contact_force.sum(), rel=2e-3)
