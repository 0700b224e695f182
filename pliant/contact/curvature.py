"""Geometric stiffness of contact: a push turns with the normal of what is touched.

    ∂(λ Hᵀ)/∂q = λ Jᵀ C J,      C = ∂²gap/∂p²   (a sphere: (I − nnᵀ)/(R + gap))

On a small obstacle this is as large as the stiffness of a soft robot. Deformable opponents are taken as flat.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle

SHARPEST = 2e-3  # of the robot's length: radius that edges count as


def add_curvature(
    K: np.ndarray,
    robot: Any,
    contacts: Contacts,
    force: np.ndarray,
    obstacles: dict[int, Obstacle],
    q: np.ndarray,
) -> None:
    """K −= λ Jᵀ C J of the pushing contacts with obstacles (by opponent number), on the robot's pattern."""
    pushing = np.flatnonzero(force > 0.0)
    if not len(pushing) or not obstacles:
        return
    points, J = contacts.points, None
    for opponent, obstacle in obstacles.items():
        mine = pushing[contacts.opponent[pushing] == opponent]
        if not len(mine):
            continue
        bends = obstacle.curvature(contacts.position[mine], SHARPEST * robot.length)
        J = points.jacobian(q) if J is None else J
        for k, C in zip(mine.tolist(), bends, strict=True):
            sample = contacts.stencil.point[contacts.stencil.ptr[k]]
            span = slice(points.ptr[sample], points.ptr[sample + 1])
            _subtract(K, robot.pattern, points.block[span], J[span], force[k] * C)


def _subtract(K: np.ndarray, pattern: Any, block: np.ndarray, J: np.ndarray, M: np.ndarray) -> None:
    """K −= Jₑᵀ M J_f on blocks (block[e], block[f]), in the half of K that is stored."""
    e, f = np.nonzero(block[:, None] >= block[None])
    place, _ = pattern.find(block[e], block[f])
    inside = place >= 0
    e, f = e[inside], f[inside]
    np.subtract.at(K, place[inside], np.einsum("eji,jk,ekl->eil", J[e], M, J[f]))
