"""Pressures of incompressible materials in motion."""

from __future__ import annotations

import numpy as np

from pliant.dynamics.model import Model

FOLLOWED = 0.5  # of the largest θ that feeds no energy into sound waves


def followed(model: Model, q: np.ndarray, z: np.ndarray, step: float) -> np.ndarray:
    """Pressures of incompressible cells after a step [s]: they follow p ← p + θκ(ϑ̄ − 1).

    The augmented Lagrangian of statics (θ = 1) would feed energy into sound waves that the step resolves.
    With ω the slowest of them and c = (ω step)², θ < c/(1 + c) takes energy out of all.
    """
    if not len(z):
        return z
    robot, parts = model.robot, []
    for body, qs, zs in zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True):
        own = z[zs]
        if len(own):
            c = (step / body.mesh.size) ** 2 * body.penalty * body.mesh.volume / body.total_mass
            own = own + FOLLOWED * c / (1.0 + c) * (body.update_internal(q[qs], own) - own)
        parts.append(own)
    return np.concatenate([*parts, z[robot.row_z]])
