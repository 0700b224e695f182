"""How far from a robot contacts are searched for [m]: in statics and the inverse model, and in time.

The alarm distance is what a user sets, or a share of the robot's length: whatever is nearer may touch.
"""

from __future__ import annotations

ALARM = 0.025  # of the robot's length: the alarm distance where none is given
MOTION = 2.0  # times how far the robot moves: both sides of a contact may come nearer
LONGEST = 4.0  # alarm distances: a bad step may go anywhere
CLOSE = 0.05  # of the alarm distance: what may close within a step in time, whatever the motion is


def after(motion: float, alarm: float) -> float:
    """How far to search when points moved by `motion` [m] in the last step."""
    return max(alarm, MOTION * motion)


def bounded(motion: float, alarm: float) -> float:
    """The same, for steps of a Newton iteration, which may be far too long."""
    return min(after(motion, alarm), LONGEST * alarm)


def in_time(motion: float, alarm: float, travel: float | None) -> tuple[float, float]:
    """How far to search for contacts that close within a step in time, and what counts as near in any case.

    `travel` [m] is what the robot may go besides its motion; None where the motion is known, so that nothing
    but what it closes, and what is very close, counts.
    """
    near = CLOSE * alarm if travel is None else alarm
    return max(near, MOTION * (motion + (travel or 0.0))), near
