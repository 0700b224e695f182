"""Pictures of the hand: links, paddles, skins and the object."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.membrane.hand import Hand
from pliant.membrane.wrapping import Pulley, wrap
from pliant.studies.figures import INK, SOFT


def draw_hand(
    ax: Any, hand: Hand, joints: np.ndarray, pose: np.ndarray, *, colour: str = INK, unit: float = 1.0
) -> None:
    """The hand at joints (3f,) with the object at a pose; lengths in units of `unit` [m]."""
    skins, _ = hand.skins(joints)
    for k, finger in enumerate(hand.fingers):
        ends = skins.ends[k].reshape(2, 2)
        line = np.vstack((finger.base, ends.mean(axis=0))) / unit
        ax.plot(*line.T, color=SOFT, lw=2.0, solid_capstyle="round", zorder=1)
        ax.plot(*(ends / unit).T, color=INK, lw=1.0, ls=":", zorder=1)
        path = wrap(ends[0], ends[1], [Pulley(hand.shape, pose.tolist(), finger.side)]).polyline()
        ax.plot(*(path / unit).T, color=colour, lw=1.6, zorder=3)
        ax.plot(*(ends / unit).T, "o", color=INK, ms=3, zorder=4)
        ax.plot(*np.asarray(finger.base) / unit, "s", color=INK, ms=5, zorder=4)
    outline = hand.shape.outline(pose) / unit
    ax.fill(*outline.T, facecolor=colour, alpha=0.25, edgecolor=colour, lw=1.2, zorder=2)
