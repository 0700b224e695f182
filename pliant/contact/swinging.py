"""Geometric stiffness of contact on what turns: a push has a lever on a rigid region or on the section of a rod.

    −∂(Hᵀλ)/∂q = −Σ f·∂²p/∂dq²,      f = λ ∂gap/∂p for each point p of a contact

It stays on the rotations of single regions, within the robot's pattern. Points on free nodes are linear in dq and have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts


def add_swinging(K: np.ndarray, robot: Any, contacts: Contacts, force: np.ndarray, q: np.ndarray) -> None:
    """K −= Σ f·∂²p/∂dq² of contacts that push with `force` (n,) [N], on the robot's pattern."""
    stencil = contacts.stencil
    share = np.repeat(force, np.diff(stencil.ptr))
    mine = np.flatnonzero((share != 0.0) & contacts.points.hinged[stencil.point])
    if not len(mine):
        return
    f = np.zeros((contacts.points.size, 3))
    np.add.at(f, stencil.point[mine], share[mine, None] * contacts.gradient[mine])
    block, second = contacts.points.second(q, f)
    if len(block):
        place, _ = robot.pattern.find(block, block)
        np.subtract.at(K, place, second)
