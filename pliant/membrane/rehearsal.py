"""Plans for skins with friction: rehearsed on a model that has it, and corrected until it gets there.

Without friction the object is where its skins pull least, wherever it came from. With friction it stays
behind its way, by as much as the tensions on both sides may differ (T₂ ≤ T₁ exp(μφ)), and where it rests
depends on the way there. So a plan is carried out by the hand in motion, with its skins' friction and what
these remember of all motions before; the joints at its end are moved on by the least dθ with

    J_stick dθ = J_slide dθ = what is missing,    G_slide dθ = 0

within their limits, evenly along the way; and again, until it gets there; a change after which it ends
farther away is taken back and halved. Such a change carries the object along with the fingers, whether its
skins stick to it or slide on it, and keeps their grip G: without that, change by change, fingers open and
leave it where it lies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.errors import ConvergenceError, InputError
from pliant.membrane.grasp import Plan
from pliant.membrane.hand import Hand
from pliant.membrane.moving_hand import Moving

REHEARSALS = 8
FARTHEST = 0.25  # of its range: how far a joint goes on in a rehearsal, at most
SHORTER = 0.5  # factor of that after one in vain
NEAR = 1e-3  # of the hand's size: a plan that ends so near its goal is good enough
SMALL = 1e-3  # of the range of a joint: a motion in which skins stick
SETTLING = 0.5  # [s] that the object is given at the end of a plan
PERIOD = 0.05  # [s] between two commands
TIME_ROUNDING = 1e-9  # [s]
SMALLEST_SINGULAR = 1e-3  # of the largest singular value of J: much smaller ones are not inverted
TINY = 1e-12  # of a joint's range

Command = Callable[[np.ndarray, float], np.ndarray]  # joints of the plan (n, 3f), time [s] -> command (3f,)


def rehearsed(model: Moving, plan: Plan, share: np.ndarray, times: np.ndarray, command: Command) -> Plan:
    """The plan whose end the `model`, where it stands, gets nearest to, with the poses that it takes.

    share (n,): 0 … 1, how far along the way each grasp of the plan is; times (n,) [s]: when the object should
    be there. The model is left as it was.
    """
    hand, goal, best, left = model.hand, plan.poses[-1, :2], plan, np.full(2, np.inf)
    before, joints, radius = model.simulation.state, plan.joints, FARTHEST
    try:
        slide, firm = _sliding(hand, joints[-1], plan.poses[-1])
        both = np.vstack([_sticking(model, command(joints, 0.0)), slide])
        for _ in range(REHEARSALS):
            poses = _carried_out(model, joints, times, command)
            model.simulation.state = before
            missing = goal - poses[-1, :2]
            if np.hypot(*missing) < np.hypot(*left):
                left, best = missing, replace(plan, joints=joints, poses=poses)
            else:
                radius *= SHORTER
            if np.hypot(*left) < NEAR * hand.size:
                break
            wanted = np.append(np.tile(left, len(both) // 2), np.zeros(len(firm)))
            change = _least(hand, np.vstack([both, firm]), wanted, best.joints[-1], radius)
            joints = np.clip(best.joints + np.outer(share, change), hand.lower, hand.upper)
    except ConvergenceError:  # the model loses its object: the best plan before that
        pass
    finally:
        model.simulation.state = before
    return best


def _carried_out(model: Moving, joints: np.ndarray, times: np.ndarray, command: Command) -> np.ndarray:
    """Poses (n, 3) of the object at times (n,), the last one after it has settled."""
    poses, now = [model.read().pose], 0.0
    for end in (*times[1:-1], times[-1] + SETTLING):
        while now < end - TIME_ROUNDING:
            step = min(PERIOD, end - now)
            model.advance(command(joints, now), step)
            now += step
        poses.append(model.read().pose)
    return np.array(poses)


def _sticking(model: Moving, command: np.ndarray) -> np.ndarray:
    """dp/dθ (2, 3f) of an object to which its skins stick, where the model stands: by differences."""
    before, steps = model.simulation.state, SMALL * (model.hand.upper - model.hand.lower)
    there = []
    for change in np.vstack([np.zeros(len(steps)), np.diag(steps)]):
        there.append(model.advance(command + change, SETTLING).pose[:2])
        model.simulation.state = before
    return ((np.array(there[1:]) - there[0]) / steps[:, None]).T


def _sliding(hand: Hand, joints: np.ndarray, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of an object on which its skins slide: dp/dθ (2, 3f), and the change of its grip (f, 3f), as a length.

    Both are empty where the skins do not hold it.
    """
    none = np.zeros((0, len(joints)))
    try:
        held = hand.rest(joints, pose)
    except InputError:  # a skin would begin inside the object
        return none, none
    stiffness = np.array([finger.stiffness for finger in hand.fingers])
    J, firm = held.jacobian[:2], held.grip_jacobian / stiffness[:, None]
    return (J, firm) if np.isfinite(J).all() and np.isfinite(firm).all() else (none, none)


def _least(hand: Hand, J: np.ndarray, missing: np.ndarray, joints: np.ndarray, radius: float) -> np.ndarray:
    """The least change of the joints (3f,), by their ranges, with J dθ = `missing` as far as limits allow it.

    Shortened so that no joint goes farther than a share `radius` of its range.
    """
    from scipy.optimize import lsq_linear  # slow to import

    scale = hand.upper - hand.lower
    ridge = SMALLEST_SINGULAR * np.linalg.norm(J * scale, 2)
    A = np.vstack([J * scale, ridge * np.eye(len(scale))])
    low = np.minimum((hand.lower - joints) / scale, -TINY)
    high = np.maximum((hand.upper - joints) / scale, TINY)
    change = lsq_linear(A, np.append(missing, np.zeros(len(scale))), (low, high)).x
    return scale * change * min(1.0, radius / max(np.abs(change).max(), TINY))


def check_friction(friction: float) -> float:
    """A coefficient of friction; InputError if it is none."""
    if not 0.0 <= friction < np.inf:
        raise InputError("friction", expected="a number ≥ 0", got=friction)
    return float(friction)
