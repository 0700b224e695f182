"""Postures that bases are developed on, and others that they are scored on: bends of every section."""

from __future__ import annotations

import numpy as np

from pliant.laws import Known
from pliant.reduction.plans import unit_points
from pliant.robot import Robot

Laws = dict[str, Known]
DEVELOPMENT = (1, 2, 3, 5, 11, 12)  # seeds of bends that were looked at; those scored have the study's
SIDES = 3
FORCE = (24.0, 40.0)  # [N] with which a section is pulled to its side
LARGEST_DEVIATION = np.pi / 6  # [rad] of a section's side from the common one


def bend(force: float) -> Laws:
    """The tendons of one side."""
    return {f"tendon {n}": Known(effort=force) for n in (1, 4, 7)}


def bends(robot: Robot, count: int, *, seed: int) -> list[Laws]:
    """Bends from a scrambled Halton sequence: a common side, and a deviation and a force per section."""
    sections = len(robot.by_role("actuator")) // SIDES
    postures = []
    for side, *each in unit_points("Halton", 1 + 2 * sections, count, seed):
        angle = 2.0 * np.pi * side + LARGEST_DEVIATION * (2.0 * np.array(each[:sections]) - 1.0)
        force = FORCE[0] + (FORCE[1] - FORCE[0]) * np.array(each[sections:])
        postures.append(_pulled(angle, force))
    return postures


def _pulled(angle: np.ndarray, force: np.ndarray) -> Laws:
    """Each section pulled by a force (s,) [N] to a side (s,) [rad], by the two tendons beside it."""
    laws = {}
    third = 2.0 * np.pi / SIDES
    for section, (a, f) in enumerate(zip(angle, force, strict=True)):
        before = int(a // third) % SIDES
        rest = a % third
        pulls = dict.fromkeys(range(SIDES), 0.0)
        pulls[before] = f * np.sin(third - rest) / np.sin(third)
        pulls[(before + 1) % SIDES] = f * np.sin(rest) / np.sin(third)
        for side, pull in pulls.items():
            laws[f"tendon {SIDES * section + side + 1}"] = Known(effort=float(pull))
    return laws
