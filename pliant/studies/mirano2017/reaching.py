"""The reachable set (Fig. 4-4): where the hand can hold the object, beside that of a rigid pinch."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.membrane.grasp import grasp
from pliant.membrane.hand import Hand
from pliant.membrane.reach import Reach, rigid_pinch
from pliant.membrane.wrapping import Pulley, wrap
from pliant.studies.check import Check
from pliant.studies.figures import INK, LINES, SOFT, heading, new_figure
from pliant.studies.mirano2017.lab import Lab
from pliant.studies.study import Findings, Picture

TEXT = (
    "Light: places at which the box is in stable equilibrium with both skins taut, grip and joints within "
    "their limits, and to which it can be moved without losing it. Dark: places of the middle between two "
    "rigid fingertips with the same joints, the box's width apart, the box turning with the pinch. The "
    "thesis shows both regions and prints no areas."
)


def reaching(lab: Lab) -> Findings:
    """Areas and their ratio."""
    hand, reach = lab.hand, lab.reach
    rigid, upright = rigid_pinch(hand, reach), rigid_pinch(hand, reach, turning=False)
    unit = (reach.cell / hand.size) ** 2
    area = {"soft": reach.held.sum() * unit, "rigid": rigid.sum() * unit, "upright": upright.sum() * unit}
    missed = int((rigid & ~reach.held).sum())
    checks = [
        Check("area of the soft hand", area["soft"], unit="size²"),
        Check("area of a rigid pinch", area["rigid"], unit="size²"),
        Check("area of a rigid pinch that keeps the box upright", area["upright"], unit="size²"),
        Check.at_least(
            "soft over rigid", area["soft"] / area["rigid"], 1.5, paper="greater than 1 (Fig. 4-4)"
        ),
        Check("soft over rigid and upright", area["soft"] / area["upright"]),
        Check("cells of the rigid pinch that the soft hand misses", missed),
        Check("cells at which a link lies in the way of the box", blocked(hand, reach)),
    ]
    picture = Picture(
        "reach",
        "Reach of the soft hand (light) and of a rigid pinch (dark), and three grasps.",
        _figure(lab, rigid),
    )
    return Findings(
        "Reachable set", TEXT, checks=checks, pictures=[picture], data={**area, "cell": reach.cell}
    )


def blocked(hand: Hand, reach: Reach) -> int:
    """Number of reachable cells at whose joints the object overlaps a link, which the planner ignores."""
    count = 0
    for i, j in np.argwhere(reach.held):
        pose, joints = (reach.x[i], reach.y[j], reach.angle), reach.joints[i, j]
        links = (link_of(hand, joints, k) for k in range(len(hand.fingers)))
        points = (a + share * (b - a) for a, b in links for share in np.linspace(0.0, 1.0, 41))
        count += any(hand.shape.contains(point, pose) for point in points)
    return count


def _figure(lab: Lab, rigid: np.ndarray) -> Any:
    hand, reach = lab.hand, lab.reach
    figure, axes = new_figure(10.5, 5.4, 1, 2, width_ratios=(1.0, 1.2))
    regions(axes[0, 0], hand, reach, rigid)
    heading(axes[0, 0], "Places of the object, in sizes of the hand")
    sides = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0))
    far = [reach.points[int(np.argmax(reach.points @ side))] for side in sides]
    for number, place in enumerate(far):
        goal = grasp(hand, place, start=lab.home.joints, reach=reach)
        draw_hand(axes[0, 1], hand, goal.joints, goal.pose, colour=LINES[number], unit=hand.size)
        axes[0, 0].plot(*place / hand.size, "o", color=LINES[number], ms=6, mec="white")
    axes[0, 1].set_aspect("equal")
    heading(axes[0, 1], "Grasps at the places marked on the left")
    return figure


def regions(ax: Any, hand: Hand, reach: Reach, rigid: np.ndarray) -> None:
    """Both regions as cells, in units of the hand's size."""
    x, y, half = reach.x / hand.size, reach.y / hand.size, 0.5 * reach.cell / hand.size
    extent = (x[0] - half, x[-1] + half, y[0] - half, y[-1] + half)
    shade = np.full((*reach.held.shape, 4), 0.0)
    shade[reach.held] = (0.96, 0.80, 0.66, 1.0)
    shade[rigid] = (0.62, 0.33, 0.16, 1.0)
    ax.imshow(shade.transpose(1, 0, 2), origin="lower", extent=extent, interpolation="nearest")
    seen = np.argwhere(reach.held | rigid)
    low, high = seen.min(axis=0), seen.max(axis=0)
    ax.set_xlim(x[low[0]] - 0.1, x[high[0]] + 0.1)
    ax.set_ylim(y[low[1]] - 0.1, y[high[1]] + 0.1)
    ax.set_xlabel("x", color=INK)
    ax.set_ylabel("y", color=INK)


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
