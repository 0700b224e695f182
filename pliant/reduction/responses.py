"""How a robot answers its efforts at an equilibrium: motions that a basis should contain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.algebra import factorise
from pliant.core.view import linearise
from pliant.result import Result

STRIDE = 0.015  # of the robot's length: how far an answer moves the farthest coordinate


def responses(
    result: Result, rows: Sequence[str] | None = None, *, stride: float = STRIDE
) -> dict[str, np.ndarray]:
    """{"responses": (m, nq)}: changes of the coordinates along K⁻¹Hᵀ for each scalar row.

    The farthest coordinate of each moves by `stride` of the robot's length. `rows` are their names, all
    actuators by default. As the `probe` of `collect` it keeps how every snapshot answers its efforts, at the
    price of a factorisation: a basis of both has the right compliance, and needs far fewer snapshots.
    """
    robot, state = result.robot, result.state
    names = robot.by_role("actuator") if rows is None else list(rows)
    linear = linearise(robot, state.q, state.effort, state.internal, state.gravity)
    assert linear is not None and linear.K is not None
    factor = factorise(robot.symbolic, linear.K, indefinite=True)
    out = []
    for name in names:
        for row in range(*robot.named(name).indices(robot.bundle.rows)):
            unit = np.zeros(robot.bundle.rows)
            unit[row] = 1.0
            dq = factor.solve(linear.H.transpose_dot(unit))
            far = robot.farthest(dq)
            if far > 0:
                dq *= stride * robot.length / far
            out.append(robot.retract(state.q, dq) - state.q)
    return {"responses": np.array(out).reshape(len(out), robot.nq)}
