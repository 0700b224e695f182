"""Where a hand can hold its object: the reachable set, and that of a rigid pinch with the same joints."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.membrane.equilibrium import HELD
from pliant.membrane.finger import JOINTS, Finger
from pliant.membrane.hand import Hand
from pliant.membrane.posture import Grip, posture

NEIGHBOURS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
SAME_PLACE = 1e-6  # of the hand's size: how near an equilibrium must be to the place it was planned for
FIRM_GRIP = 4.0  # times the least grip and clearance: what is aimed at where it can be had
# Shares of that in force and clearance, firmest first.
FIRMNESS = ((1.0, 1.0), (1.0, 0.3), (1.0, 0.0), (0.4, 0.0), (0.0, 0.0))
GRIP_SLACK = 1e-6  # of the least grip: how far an equilibrium may miss the limits of the grip
PATH_CHECKS = 4  # equilibria between two grasps
FURTHEST_CELLS = 3.0  # how far the object may stray between two grasps, in cells
PINCH_DIRECTIONS = 181  # of a rigid pinch that are tried, over half a turn
LIMIT_ROUNDING = 1e-12  # [rad or m], by which rounding may take a joint beyond its limit
CELL_ROUNDING = 1e-9  # of a cell, the same for its edge


@dataclass(frozen=True, eq=False)
class Reach:
    """Places on a grid with cells of side `cell` [m], whose centres are x (n,) and y (m,) [m].

    held (n, m): where the object can be held; joints (n, m, 3f): with which joints, NaN elsewhere; before (n,
    m, 2): the cell from which it was moved there, itself at the first one. angle: of the object [rad].
    """

    x: np.ndarray
    y: np.ndarray
    cell: float
    held: np.ndarray
    joints: np.ndarray
    before: np.ndarray
    angle: float

    @property
    def area(self) -> float:
        """[m²]"""
        return float(self.held.sum()) * self.cell**2

    @property
    def points(self) -> np.ndarray:
        """(k, 2) centres of the cells that can be reached [m]."""
        i, j = np.nonzero(self.held)
        return np.column_stack((self.x[i], self.y[j]))

    def cell_of(self, place: Any) -> tuple[int, int]:
        """Indices of the cell nearest to a place (2,) among those that can be reached."""
        i, j = np.nonzero(self.held)
        if not len(i):
            raise InputError("reachable set", expected="at least one place", got="none")
        k = int(np.hypot(self.x[i] - place[0], self.y[j] - place[1]).argmin())
        return int(i[k]), int(j[k])

    def centre(self, cell: tuple[int, int]) -> np.ndarray:
        """(2,) [m]."""
        return np.array([self.x[cell[0]], self.y[cell[1]]])

    def route(self, start: Any, goal: Any) -> list[tuple[int, int]]:
        """Cells from the one nearest to start to the one nearest to goal, by moves that keep the object."""
        ways = []
        for place in (start, goal):
            way = [self.cell_of(place)]
            while (previous := (int(self.before[way[-1]][0]), int(self.before[way[-1]][1]))) != way[-1]:
                way.append(previous)
            ways.append(way)
        up, down = ways
        # What both have in common on the way to the first cell is not needed.
        while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
            up, down = up[:-1], down[:-1]
        return up + down[-2::-1]

    def __contains__(self, place: Any) -> bool:
        i, j = (
            int(np.abs(axis - value).argmin()) for axis, value in ((self.x, place[0]), (self.y, place[1]))
        )
        far = max(abs(self.x[i] - place[0]), abs(self.y[j] - place[1]))
        return bool(self.held[i, j]) and far <= 0.5 * self.cell * (1.0 + CELL_ROUNDING)


def reachable(
    hand: Hand, *, grip: Grip | None = None, cell: float | None = None, angle: float | None = None
) -> Reach:
    """All places that can be reached from the middle of the joints, cell by cell, each from a neighbour's.

    A place counts when joints within their limits were found that hold the object there, the equilibrium with
    these joints lies there, is stable and keeps the limits of the grip, and the object stays held on the way
    there from a neighbour. What the search misses is missing: the area is a lower bound. `cell` [m] is 1/30
    of the hand's size by default.
    """
    side, limits = cell or hand.size / 30.0, grip or Grip.of(hand)
    if not side > 0.0:
        raise InputError("cell", expected="a length > 0 [m]", got=cell)
    turned = hand.angle if angle is None else angle
    x, y = _axes(hand, side)
    shape = (len(x), len(y))
    held, joints = np.zeros(shape, bool), np.full((*shape, JOINTS * len(hand.fingers)), np.nan)
    before, tried = np.zeros((*shape, 2), int), np.zeros(shape, int)
    home = hand.rest(hand.middle).pose[:2]
    first = (int(np.abs(x - home[0]).argmin()), int(np.abs(y - home[1]).argmin()))
    queue = deque([(first, first)])
    while queue:
        (i, j), (a, b) = queue.popleft()
        if held[i, j] or tried[i, j] >= len(NEIGHBOURS):
            continue
        tried[i, j] += 1
        pose, last, root = np.array([x[i], y[j], turned]), np.array([x[a], y[b], turned]), (i, j) == (a, b)
        start = hand.middle if root else joints[a, b]
        # the nearest joints to those of a neighbour: a grip that is firm at first stays so as long as it can
        grasped = firm_hold(hand, pose, start, start, limits) if root else hold(hand, pose, start, limits)
        if grasped is None or not (root or kept(hand, last, start, grasped, FURTHEST_CELLS * side)):
            continue
        held[i, j], joints[i, j], before[i, j] = True, grasped, (a, b)
        for di, dj in NEIGHBOURS:
            a, b = i + di, j + dj
            if 0 <= a < len(x) and 0 <= b < len(y) and not held[a, b]:
                queue.append(((a, b), (i, j)))
    return Reach(x, y, side, held, joints, before, turned)


def hold(hand: Hand, pose: np.ndarray, start: np.ndarray, grip: Grip) -> np.ndarray | None:
    """Joints that hold the object at a pose, certified by the equilibrium they lead to.

    None where none were found.
    """
    best = posture(hand, pose, start, grip)
    return best.joints if best.found and certified(hand, pose, best.joints, grip) else None


def firm_hold(
    hand: Hand, pose: np.ndarray, start: np.ndarray, prefer: np.ndarray, grip: Grip
) -> np.ndarray | None:
    """Joints near `prefer` that hold the pose, firmly where that can be had.

    None where they hold it not at all.
    """
    more = min(FIRM_GRIP * grip.low, 0.5 * (grip.low + grip.high)) - grip.low, (FIRM_GRIP - 1.0) * grip.clear
    for force, margin in FIRMNESS:
        limits = replace(grip, low=grip.low + force * more[0], clear=grip.clear + margin * more[1])
        best = posture(hand, pose, start, limits, prefer=prefer)
        if best.found and certified(hand, pose, best.joints, grip):
            return best.joints
    return None


def certified(hand: Hand, pose: np.ndarray, joints: np.ndarray, grip: Grip) -> bool:
    """Whether the equilibrium at these joints is stable, lies at the pose, and keeps the grip's limits."""
    try:
        rest = hand.rest(joints, pose)
    except InputError:  # a skin would begin inside the object
        return False
    slack = GRIP_SLACK * grip.low
    return bool(
        rest.status == HELD
        and np.abs(rest.pose[:2] - pose[:2]).max() <= SAME_PLACE * hand.size
        and rest.rest.touching.all()
        and (rest.grip >= grip.low - slack).all()
        and (rest.grip <= grip.high + slack).all()
    )


def kept(hand: Hand, pose: np.ndarray, first: np.ndarray, last: np.ndarray, far: float) -> bool:
    """Whether the object stays held, within `far` [m] of its `pose`, as joints go from `first` to `last`."""
    here = pose
    for share in np.linspace(0.0, 1.0, PATH_CHECKS + 1)[1:]:
        try:
            held = hand.rest((1.0 - share) * first + share * last, here)
        except InputError:  # a skin would begin inside the object
            return False
        here = held.pose
        if held.status != HELD or np.hypot(*(here - pose)[:2]) > far:
            return False
    return True


def rigid_pinch(hand: Hand, reach: Reach, *, turning: bool = True) -> np.ndarray:
    """(n, m) cells of `reach` at which two rigid fingertips can pinch the object with the same joints.

    The tips, in the middle of the paddles, stand on opposite sides of the place, the object's width apart,
    both paddles across the pinch. `turning`: the object turns with the pinch, in any direction that the
    joints allow; else it keeps its angle.
    """
    if len(hand.fingers) != 2:
        raise InputError("rigid pinch", expected="a hand with two fingers", got=len(hand.fingers))
    X, Y = np.meshgrid(reach.x, reach.y, indexing="ij")
    up = np.array([0.0, 1.0])  # in the object's own frame, which turns with the pinch
    half = 0.5 * float(up @ (hand.shape.support(up) - hand.shape.support(-up)))
    pinched = np.zeros(X.shape, bool)
    for turn in np.linspace(-0.5 * np.pi, 0.5 * np.pi, PINCH_DIRECTIONS) if turning else (0.0,):
        across = reach.angle + turn
        nx, ny = -half * np.sin(across), half * np.cos(across)
        possible = np.ones(X.shape, bool)
        for finger in hand.fingers:
            possible &= _tip_reaches(finger, X - finger.side * nx, Y - finger.side * ny, across)
        pinched |= possible
    return pinched


def _tip_reaches(finger: Finger, x: np.ndarray, y: np.ndarray, across: float) -> np.ndarray:
    """Whether the middle of the paddle's front gets to (x, y) with the paddle along `across`."""
    front = finger.side * finger.offset
    dx = x + front * np.sin(across) - finger.base[0]
    dy = y - front * np.cos(across) - finger.base[1]
    a = np.arctan2(dy, dx)
    wrapped = lambda value: np.angle(np.exp(1j * value))
    theta = (wrapped(a - finger.heading), np.hypot(dx, dy) - finger.link, wrapped(across - a))
    return np.logical_and.reduce(
        [
            (t >= low - LIMIT_ROUNDING) & (t <= high + LIMIT_ROUNDING)
            for t, low, high in zip(theta, finger.lower, finger.upper)
        ]
    )


def _axes(hand: Hand, side: float) -> tuple[np.ndarray, np.ndarray]:
    """Centres of cells over all that the paddles can sweep, one cell round the point of rest."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for finger in hand.fingers:
        a = finger.heading + np.linspace(finger.lower[0], finger.upper[0], 33)
        for slide in (finger.lower[1], finger.upper[1]):
            tip = np.asarray(finger.base) + (finger.link + slide) * np.column_stack((np.cos(a), np.sin(a)))
            low, high = np.minimum(low, tip.min(axis=0)), np.maximum(high, tip.max(axis=0))
    margin = 0.5 * max(finger.paddle for finger in hand.fingers)
    centre = hand.rest(hand.middle).pose[:2]
    axes = []
    for c, a, b in zip(centre, low - margin, high + margin):
        axes.append(c + side * np.arange(-np.ceil((c - a) / side), np.ceil((b - c) / side) + 1))
    return axes[0], axes[1]
