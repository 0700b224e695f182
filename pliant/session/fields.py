"""Quantities at the nodes of a robot, to colour its skin by."""

from __future__ import annotations

import numpy as np

from pliant.robot import Robot
from pliant.state import State


def at_nodes(robot: Robot, state: State, name: str) -> np.ndarray:
    """displacement [m], strain (the largest principal Green strain) or stress (von Mises) [Pa], (k,)."""
    q, z = state.q, state.internal
    if name == "displacement":
        return np.linalg.norm(robot.positions(q) - robot.positions(robot.rest.q), axis=1)
    spans = zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True)
    if name == "strain":
        parts = [np.abs(np.linalg.eigvalsh(b.strain(q[s], at="nodes"))).max(axis=1) for b, s, _ in spans]
    else:
        parts = [b.stress(q[s], "von_mises", at="nodes", z=z[t]) for b, s, t in spans]
    return np.concatenate(parts)
