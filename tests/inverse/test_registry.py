"""The inverse model over the registry: every interaction as effector and as actuator, on every kind of body.

A forward solve with known efforts gives targets that can be reached; the inverse model must reach them.
"""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.algebra import factorise
from pliant.core.view import linearise
from pliant.interactions import Interaction, registry
from tests.interactions.test_specimens import TRIALS

NUDGE = 0.01  # of the body's length: how far the targets lie away
KINDS = ("hex8", "tet10", "rod", "tube")
every = pytest.mark.parametrize(("name", "make"), registry, ids=[name for name, _ in registry])
on_every_body = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def trials():
    return {kind: TRIALS[kind]() for kind in KINDS}


def target_of(robot: pl.Robot, drive: str, effector: str, size: float) -> np.ndarray:
    """δ of the effector after some efforts of the drive, which move nothing by much more than NUDGE."""
    effort = np.random.default_rng(0).uniform(0.5, 1.0, robot.rows[drive].interaction.size)
    rest = robot.rest
    linear = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
    lam = np.zeros(robot.bundle.rows)
    lam[robot.spans[drive]] = effort
    dq = factorise(robot.symbolic, linear.K).solve(linear.H.transpose_dot(lam))
    if not dq.any():
        pytest.skip("this row acts where this body is held")
    known = pl.Known(effort=effort * NUDGE * size / np.abs(robot.reach * dq).max())
    return pl.static(robot, {drive: known}).displacement[effector]


def reached(robot: pl.Robot, effector: str, target: np.ndarray) -> float:
    """The error left [m], rows in other units by what moves the body that far."""
    controller = pl.Inverse(robot)
    for _ in range(40):
        out = controller.step({effector: target})
        if out.certificate.status == "reached" and controller.model.distance(out.error[effector], 0.0) < 1e-7:
            break
    assert np.isfinite(out.q).all()
    return controller.model.distance(out.error[effector], 0.0)


def rows_of(trial, interaction: Interaction, role: str) -> dict[str, pl.Row]:
    """The interaction in its role, a force on the end of the body, and the place of that end."""
    end = trial.specimen.frame[:1]
    rows = {"tip": pl.Row(pl.Position(end)), "force": pl.Row(pl.PointForce(end))}
    rows["row"] = pl.Row(interaction)
    acting, aiming = ("force", "row") if role == "effector" else ("row", "tip")
    rows[acting] = pl.Row(rows[acting].interaction, pl.Bounded())
    rows[aiming] = pl.Row(rows[aiming].interaction, pl.Target())
    return rows


@on_every_body
@every
def test_every_interaction_is_an_effector(name, make, kind, trials, within):
    trial = trials[kind]
    robot = pl.Robot(trial.body, rows_of(trial, make(trial.specimen), "effector"))
    target = target_of(robot, "force", "row", trial.size)
    within(reached(robot, "row", target) / trial.size, 1e-4, f"{name} on {kind}")


@on_every_body
@every
def test_every_interaction_is_an_actuator(name, make, kind, trials, within):
    trial = trials[kind]
    robot = pl.Robot(trial.body, rows_of(trial, make(trial.specimen), "actuator"))
    target = target_of(robot, "row", "tip", trial.size)
    within(reached(robot, "tip", target) / trial.size, 1e-4, f"{name} on {kind}")
