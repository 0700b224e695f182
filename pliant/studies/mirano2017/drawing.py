"""Pictures of the hand: links, paddles, skins and the object."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.membrane.hand import Hand
from pliant.membrane.wrapping import Pulley, wrap
from pliant.studies.figures import INK, SOFT


def link_of(hand: Hand, joints: np.ndarray, k: int) -> np.ndarray:
    """(2, 2) ends of the link of finger k: its proximal and its distal hinge [m]."""
    finger = hand.fingers[k]
    reach, angle = finger.link + joints[3 * k + 1], finger.heading + joints[3 * k]
    base = np.asarray(finger.base, float)
    return np.vstack((base, base + reach * np.array([np.cos(angle), np.sin(angle)])))


def draw_hand(
    ax: Any, hand: Hand, joints: np.ndarray, pose: np.ndarray, *, colour: str = INK, unit: float = 1.0
) -> None:
    """The hand at joints (3f,) with the object at a pose; lengths in units of `unit` [m]."""
    skins, _ = hand.skins(joints)
    for k, finger in enumerate(hand.fingers):
        ends = skins.ends[k].reshape(2, 2)
        hinge = link_of(hand, joints, k)[1]
        ax.plot(*(link_of(hand, joints, k) / unit).T, color=SOFT, lw=2.0, solid_capstyle="round", zorder=1)
        ax.fill(*(np.vstack((ends, hinge)) / unit).T, facecolor=SOFT, alpha=0.18, lw=0.0, zorder=0)
        ax.plot(*(ends / unit).T, color=INK, lw=1.0, ls=":", zorder=1)
        path = wrap(ends[0], ends[1], [Pulley(hand.shape, pose.tolist(), finger.side)]).polyline()
        ax.plot(*(path / unit).T, color=colour, lw=1.6, zorder=3)
        ax.plot(*(ends / unit).T, "o", color=INK, ms=3, zorder=4)
        ax.plot(*np.asarray(finger.base) / unit, "s", color=INK, ms=5, zorder=4)
    outline = hand.shape.outline(pose) / unit
    ax.fill(*outline.T, facecolor=colour, alpha=0.25, edgecolor=colour, lw=1.2, zorder=2)
