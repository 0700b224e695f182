"""Where a motion is smooth, so that its past tells of its future; and where not, in words."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.conditions import Conditions
from pliant.dynamics.attempt import Arrival
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion

START = "nothing before it to go by"
GROWN = "the step has grown"
COMMAND = "a command jumps"
JERK = "an imposed motion jumps, or a command again"
CONTACT = "a contact closes"
CABLE = "a cable or stop begins or ceases to act"
ELSEWHERE = "it went elsewhere than predicted"
GAIN = "it gained energy"
UNCONVERGED = (ELSEWHERE, GAIN)  # what another linearisation may mend
NOWHERE = "no linearisation"

LONGEST_RATIO = 2.0  # of a step to the last one; backward differences are stable up to 1 + √2
EFFORT_JUMP = 0.3  # of the effort: it changes by more, and by more than it did in the last step
RATE_JUMP = 0.5  # of the rate at which a displacement is imposed: it changes by more in one step …
SLOW_JUMP = 1e-4  # … and by more than this share of the robot's length in a step
NO_JUMP = 1e-9  # of the robot's length: rounding of a displacement that is imposed where the robot is
SLOW_IMPACT = 1e-4  # of the robot's length: who moves less in a step touches gently
UNPREDICTED_DECREMENT = 0.03  # of the motion in a step: from here on the past is no guide
LARGEST_GAIN = 0.005  # see `Imbalance.gain`; the scheme damps less than this in few steps of large motions


def broken(model: Model, now: Motion, conditions: Conditions, step: float) -> str:
    """Why the past is no guide for a step [s] that begins now; empty if it is one."""
    if now.past is None:
        return JERK if _jerks(model, now, conditions, step) else START
    if step > LONGEST_RATIO * now.past.step:
        return GROWN
    return _jumps(now, conditions.commanded, model.span, step)


def _jerks(model: Model, now: Motion, conditions: Conditions, step: float) -> bool:
    """Whether a displacement is imposed that the robot does not move to at its present speed."""
    imposed = ~conditions.given & (conditions.compliance == 0.0) & ~conditions.one_sided & ~conditions.lined
    if not imposed.any():
        return False
    bundle, robot = model.robot.bundle, model.robot
    here, ahead = (bundle.delta(bundle.positions(q)) for q in (now.q, robot.retract(now.q, step * now.v)))
    off, way = np.abs(conditions.imposed - ahead), np.abs(conditions.imposed - here)
    return bool((off > RATE_JUMP * way + NO_JUMP * model.span)[imposed].any())


def _jumps(now: Motion, asked: np.ndarray, span: np.ndarray, step: float) -> str:
    """How commands (2, m) go on in another way than before: an effort that jumps, a rate that does."""
    assert now.past is not None
    last, before = now.command, now.past.command
    if last.shape != asked.shape or before.shape != asked.shape:
        return COMMAND if last.shape != asked.shape else ""
    return (COMMAND, JERK, "")[_jump(before, last, asked, span, step / now.past.step)]


@njit(cache=True, error_model="numpy")
def _jump(before, last, asked, span, ratio):
    """Whether commands go on smoothly (−1), an effort jumps (0), or again, or a displacement's rate (1)."""
    found = -1
    for k in range(len(span)):
        for i in range(2):
            new, old = asked[i, k] - last[i, k], ratio * (last[i, k] - before[i, k])
            if np.isnan(last[i, k]) != np.isnan(asked[i, k]):
                return 1
            if np.isnan(new):
                continue
            if np.isnan(old):
                old = 0.0
            change, most = abs(new - old), max(abs(new), abs(old))
            if i == 1 and change > RATE_JUMP * most and change > SLOW_JUMP * span[k]:
                return 1
            jump = EFFORT_JUMP * max(abs(asked[i, k]), abs(last[i, k]))
            if i == 0 and change > jump and abs(new) > jump:
                if abs(old) > jump:
                    return 1
                found = 0
    return found


def changed(now: Motion, then: Motion, conditions: Conditions) -> str:
    """What a step has changed that is no smooth motion: a contact that closed, a cable that came taut."""
    if len(then.touching) and not np.isin(then.touching, now.touching).all():
        return CONTACT
    acts = conditions.one_sided & ((now.effort != 0.0) != (then.effort != 0.0))
    return CABLE if acts.any() else ""


def rough(model: Model, now: Motion, conditions: Conditions, step: float, arrival: Arrival | None) -> str:
    """Why a step that was taken by a scheme of second order should be taken by another; empty if not."""
    if arrival is None:
        return NOWHERE
    robot, then, certificate = model.robot, arrival.motion, arrival.certificate
    moved = step * robot.farthest(then.v)
    fast = max(moved, step * robot.farthest(now.v)) > SLOW_IMPACT * robot.length
    if fast and (reason := changed(now, then, conditions)):
        return reason
    if certificate.shift > 0 or certificate.decrement > max(UNPREDICTED_DECREMENT * moved, model.tolerance):
        return ELSEWHERE
    return GAIN if fast and certificate.decrement > model.tolerance and arrival.gain > LARGEST_GAIN else ""
