"""Joints between parts: rows that keep two frames together.

    robot = pl.Robot([arm, hand], {"wrist": joints.hinge(Frame(arm, "end", axis=y), Frame(hand, axis=y)), …})

A part is drawn where it is free of stress. Joints say which frames of parts are one when the robot is
mounted; a static solve closes them along its load path, and `pl.assemble` says which of them it could not.
"""

from __future__ import annotations

from pliant.interactions.between_frames import Joint, Travel, Turn
from pliant.interactions.frame import Frame
from pliant.laws import Known
from pliant.robot import Row

__all__ = ["Frame", "Joint", "Travel", "Turn", "ball", "hinge", "slider", "weld"]


def weld(a: Frame, b: Frame | None = None) -> Row:
    """A joint that leaves no motion; without a second frame, to the world, where the first is at rest."""
    return _closed("weld", a, b)


def hinge(a: Frame, b: Frame | None = None) -> Row:
    """A joint that turns about the z axes of its frames. `Row(Turn(a, b), …)` is a motor on it."""
    return _closed("hinge", a, b)


def slider(a: Frame, b: Frame | None = None) -> Row:
    """A joint that slides along the z axes of its frames. `Row(Travel(a, b), …)` is a drive on it."""
    return _closed("slider", a, b)


def ball(a: Frame, b: Frame | None = None) -> Row:
    """A joint that turns any way about the origins of its frames."""
    return _closed("ball", a, b)


def _closed(kind: str, a: Frame, b: Frame | None) -> Row:
    return Row(Joint(kind, a, b), Known(displacement=0.0))
