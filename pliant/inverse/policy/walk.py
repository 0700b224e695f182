"""Walks: from an equilibrium to another one, with commands imposed on all drives, in parts that never jump.

A part goes a share s of what is left of the way: of the way to the commands, of the efforts that laws have
begun to impose, and of the way out of an obstacle that has come into the robot,

    command(s) = here + s (there − here),   gap(s) ≥ (1 − s) gap(here) where that is negative.

Each part is an equilibrium, found in some iterations over as many steps as it takes while the robot waits.
One that is not found, or farther away than a step may go, is tried again with a shorter share. If even the
shortest goes far, no equilibria lead there: the robot snaps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.inverse.model import Model, Pose
from pliant.inverse.policy.acceptance import diverged, jumps, near_equilibrium
from pliant.newton import Tolerance
from pliant.result import Result
from pliant.state import State

FREE, ITERATIONS = 8, 14  # of an attempt, over as many steps as it takes: at first with pairs detected anew
SHORTER, LONGER = 0.2, 2.0  # factors of the share after an attempt that failed, and after one that did not
SHORTEST = 0.03  # share
RESIDUAL = 1e-5  # of the loads: imbalance of a state that counts as an equilibrium
DECREMENT = 1e-6  # of the length: decrement of a state that counts as an equilibrium


@dataclass(frozen=True)
class Part:
    """A part of a walk, and how far the search for its equilibrium has come."""

    share: float = 1.0  # of what is left of the way
    flat: bool = False  # whether all that is touched counts as flat
    yielding: bool = False  # whether drives keep their efforts instead of going to the commands
    undeformed: bool = False  # whether the search began at the undeformed shape, and may end anywhere
    state: State | None = None  # of a search under way; None: begin at the pose
    spent: int = 0  # iterations that were not enough

    @property
    def after(self) -> Part:
        """The next part, when this one was gone: about twice as long."""
        left = 1.0 - self.share
        return Part(min(1.0, LONGER * self.share / left) if left > 0.0 else 1.0)


@dataclass(frozen=True)
class Found:
    """An equilibrium, and whether the robot snaps to get there."""

    pose: Pose
    decrement: float
    snaps: bool = False


def walked(model: Model, pose: Pose, command: np.ndarray, part: Part) -> tuple[Part | None, Found | None]:
    """The part that was gone and the equilibrium at its end.

    Without one (None), the part that is tried next, in the next step where this one's budget is spent; None
    of both where no part is short enough.
    """
    while True:
        result, part = _searched(model, pose, command, part)
        there, decrement = model.pose_of(result), result.certificate.decrement
        over = part.spent >= ITERATIONS or diverged(model, decrement)
        near = there.view is not None and near_equilibrium(model, pose, there, decrement)
        found = near and (over or _converged(model, result))
        far = found and jumps(model, pose, there)
        if found and not far:
            return part, Found(there, decrement)
        if found or over:
            shorter = _shorter(part, far)
            if shorter is None or (far and part.undeformed):
                return (part, Found(there, decrement, snaps=True)) if far else (None, None)
            part = shorter
        if model.left <= 0:
            return part, None


def _converged(model: Model, result: Result) -> bool:
    """Whether a part has come to its equilibrium, as deep as that may be."""
    said = result.certificate
    return said.residual <= RESIDUAL and said.decrement <= DECREMENT * model.robot.length


def _searched(model: Model, pose: Pose, command: np.ndarray, part: Part):
    """The result of some iterations more, and the part with these counted."""
    kept = part.spent >= FREE
    guess = model.robot.rest if part.undeformed and part.state is None else part.state
    iterations = max(1, min(model.left, (ITERATIONS if kept else FREE) - part.spent))
    how = {"stiff": not part.flat, "share": part.share, "guess": guess, "kept": kept}
    how["yielding"] = part.yielding
    result = model.equilibrium(command, model.state(pose), tolerance(iterations), **how)
    return result, replace(part, state=result.state, spent=part.spent + iterations)


def _shorter(part: Part, far: bool) -> Part | None:
    """What is tried after an attempt that failed; None: nothing is left.

    Where none was found, without the stiffness of contacts, then a shorter share; at last with drives that
    yield, for between obstacles there may be no equilibrium with locked ones.
    """
    if part.undeformed:
        return None if part.flat else replace(part, flat=True, state=None, spent=0)
    share = SHORTER * part.share
    last = share < SHORTEST
    if not far and not part.flat:
        return Part(part.share, flat=True, yielding=last)
    return None if last else Part(share)


def tolerance(iterations: int) -> Tolerance:
    """Of a state that counts as an equilibrium, sought in so many iterations."""
    return Tolerance(residual=RESIDUAL, length=DECREMENT, iterations=iterations)
