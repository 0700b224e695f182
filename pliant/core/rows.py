"""What rows measure: how their δ compare with metres of motion."""

from __future__ import annotations

import numpy as np

from pliant.core.view import linearise
from pliant.robot import Robot


def levers(robot: Robot) -> np.ndarray:
    """‖∂δ/∂q‖ (m,): how far δ of each row changes at rest when what it acts on moves by a metre."""
    rest = robot.rest
    view = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity, tangent=False)
    assert view is not None
    return np.maximum(view.H.norms(), 1e-300)


def units(robot: Robot) -> np.ndarray:
    """δ of each row (m,) per metre: 1 for lengths and positions, an area for volumes, 1/lever for angles."""
    sizes = [row.interaction.size for row in robot.rows.values()]
    metres = np.repeat([row.interaction.unit == "m" for row in robot.rows.values()], sizes).astype(bool)
    return np.where(metres, 1.0, levers(robot))
