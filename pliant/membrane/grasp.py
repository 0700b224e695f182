"""Planning a grasp: joints that hold the object at a place, and joints that take it along a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats
from pliant.membrane.hand import Hand, Held
from pliant.membrane.posture import Grip, posture
from pliant.membrane.reach import FURTHEST_CELLS, Reach, firm_hold, hold, kept

LONGEST_STRIDE = 0.05  # of the hand's size: how far joints are followed in one go
START_SHARE = 0.3  # of the way back to the joints of the start, at every place of a plan
SHORTEST_STRIDE = 1e-3  # of the longest: below this the search gives up


class UnreachableError(InputError):
    """A place where the hand cannot hold the object.

    `nearest` (3,) is the last pose on the straight line there at which it can, with its joints.
    """

    def __init__(
        self, target: np.ndarray, nearest: np.ndarray, joints: np.ndarray, binding: tuple[str, ...]
    ) -> None:
        self.target, self.nearest, self.joints, self.binding = target, nearest, joints, binding
        away = float(np.hypot(*(target[:2] - nearest[:2])))
        place = lambda p: f"({p[0]:.4g}, {p[1]:.4g})"
        super().__init__(
            f"target {place(target)} m",
            expected="a place where both skins can hold the object within the joint limits",
            got="none of that kind",
            hint=f"The hand gets as far as {place(nearest)} m, {away:.3g} m short of it"
            + (f"; in the way: {', '.join(binding)}." if binding else "."),
        )


@dataclass(frozen=True, eq=False)
class Grasp:
    """Joints (3f,) that hold the object at `pose` (3,): `held` is the equilibrium they lead to."""

    joints: np.ndarray
    pose: np.ndarray
    held: Held


@dataclass(frozen=True, eq=False)
class Plan:
    """n grasps along a path: poses (n, 3), joints (n, 3f), grip (n, f) [N], tension (n, f) [N]."""

    poses: np.ndarray
    joints: np.ndarray
    grip: np.ndarray
    tension: np.ndarray

    def __len__(self) -> int:
        return len(self.poses)

    @property
    def stride(self) -> np.ndarray:
        """(n − 1, 3f) change of the joints from grasp to grasp."""
        return np.diff(self.joints, axis=0)


def grasp(
    hand: Hand,
    target: Any,
    *,
    start: Any = None,
    prefer: Any = None,
    grip: Grip | None = None,
    reach: Reach | None = None,
) -> Grasp:
    """A grasp that holds the object at `target` (x, y) or (x, y, φ), its joints close to `prefer` (3f,).

    It is sought along the straight way from where `start` (3f,) holds the object, and from the nearest place
    of a known `reach`. start is the middle of the joints unless given, prefer the same as start.
    UnreachableError says how far the hand gets.
    """
    limits, goal = grip or Grip.of(hand), hand.pose(target)
    first = hand.middle if start is None else hand.joints(start)
    origin, joints = _beginning(hand, first, goal, limits)
    pose, joints, binding = _follow(hand, origin, goal, joints, limits)
    if not np.array_equal(pose, goal) and reach is not None and reach.held.any():
        cell = reach.cell_of(goal)
        other = _follow(hand, np.array([*reach.centre(cell), goal[2]]), goal, reach.joints[cell], limits)
        if np.hypot(*(other[0] - goal)[:2]) < np.hypot(*(pose - goal)[:2]):
            pose, joints, binding = other
    if not np.array_equal(pose, goal):
        raise UnreachableError(goal, pose, joints, binding)
    firm = firm_hold(hand, goal, joints, first if prefer is None else hand.joints(prefer), limits)
    joints = joints if firm is None else firm
    return Grasp(joints, goal, hand.rest(joints, goal))


def plan(
    hand: Hand, path: Any, *, start: Any = None, grip: Grip | None = None, reach: Reach | None = None
) -> Plan:
    """Grasps along `path` (n, 2) or (n, 3), each near to the one before.

    UnreachableError where the path cannot be held. All are drawn a little to `start` (3f,), by default the
    middle of the joints: without that, joints that do not move the object would drift, and a closed path
    would not end as it began.
    """
    poses = as_floats("path", path, "(n, 2) or (n, 3) [m, m, rad]")
    if poses.ndim != 2 or poses.shape[1] not in (2, 3) or not len(poses):
        raise InputError("path", expected="(n, 2) or (n, 3), n ≥ 1", got=f"shape {poses.shape}")
    limits, centre = grip or Grip.of(hand), hand.middle if start is None else hand.joints(start)
    grasps, joints = [], centre
    for pose in poses:
        wanted = (1.0 - START_SHARE) * joints + START_SHARE * centre
        grasps.append(grasp(hand, pose, start=joints, prefer=wanted, grip=limits, reach=reach))
        joints = grasps[-1].joints
    return Plan(
        np.array([one.pose for one in grasps]),
        np.array([one.joints for one in grasps]),
        np.array([one.held.grip for one in grasps]),
        np.array([one.held.rest.tension for one in grasps]),
    )


def transfer(
    hand: Hand, joints: Any, pose: Any, goal: Grasp, *, grip: Grip | None = None, reach: Reach | None = None
) -> Plan:
    """Grasps that take the object from where `joints` (3f,) hold it, at `pose`, to a grasp.

    The way is straight, or leads through a known reach; joints change as evenly as it allows.
    UnreachableError where the object would be lost on the way.
    """
    limits, here, q = grip or Grip.of(hand), hand.pose(pose), hand.joints(joints)
    places = between(np.array([here[:2], goal.pose[:2]]), LONGEST_STRIDE * hand.size)
    poses = np.column_stack(
        (places, np.linspace(here[2] if hand.rotates else goal.pose[2], goal.pose[2], len(places)))
    )
    wanted = q + np.linspace(0.0, 1.0, len(poses))[:, None] * (goal.joints - q)
    steps = _along(hand, poses, wanted, limits)
    if len(steps) < len(poses) and reach is not None:
        cells = reach.route(here, goal.pose)
        poses = np.array([here, *[[*reach.centre(cell), goal.pose[2]] for cell in cells], goal.pose])
        steps = _along(
            hand, poses, np.array([q, *[reach.joints[cell] for cell in cells], goal.joints]), limits
        )
    if len(steps) < len(poses):
        raise UnreachableError(
            goal.pose, poses[len(steps) - 1], steps[-1], ("the object is lost on the way",)
        )
    held = [hand.rest(one, place) for one, place in zip(steps, poses)]
    return Plan(
        np.array([one.pose for one in held]),
        np.array(steps),
        np.array([one.grip for one in held]),
        np.array([one.rest.tension for one in held]),
    )


def _along(hand: Hand, poses: np.ndarray, wanted: np.ndarray, grip: Grip) -> list[np.ndarray]:
    """Joints near those `wanted` (n, 3f) for as many poses (n, 3) as can be held one after another."""
    steps: list[np.ndarray] = [np.clip(wanted[0], hand.lower, hand.upper)]
    far = FURTHEST_CELLS * LONGEST_STRIDE * hand.size
    for last, pose, joints in zip(poses, poses[1:], wanted[1:]):
        for search in (
            lambda q=steps[-1], p=pose, w=joints: firm_hold(hand, p, q, w, grip),
            lambda q=steps[-1], p=pose: hold(hand, p, q, grip),
            lambda p=pose, w=joints: hold(hand, p, w, grip),
        ):
            following = search()
            if following is not None and kept(hand, last, steps[-1], following, far):
                steps.append(following)
                break
        else:
            return steps
    return steps


def between(way: np.ndarray, stride: float) -> np.ndarray:
    """(n, 2) places along the corners of a way (k, 2), no further apart than `stride` [m]."""
    places = [way[0]]
    for corner in way[1:]:
        here = places[-1]
        steps = max(1, int(np.ceil(np.hypot(*(corner - here)) / stride)))
        places += list(here + np.linspace(0.0, 1.0, steps + 1)[1:, None] * (corner - here))
    return np.array(places)


def _beginning(hand: Hand, joints: np.ndarray, goal: np.ndarray, grip: Grip) -> tuple[np.ndarray, np.ndarray]:
    """(pose (3,), joints) of a first grasp near these joints.

    An object that does not turn has the goal's angle from the start.
    """
    places = []
    for first in (joints, hand.middle):
        try:
            places.append(hand.rest(first).pose.copy())
        except InputError:  # fingers inside the object
            continue
    for place in places:
        place[2] = place[2] if hand.rotates else goal[2]
        for first in (joints, hand.middle):
            grasped = hold(hand, place, first, grip)
            if grasped is not None:
                return place, grasped
    raise UnreachableError(goal, places[0] if places else goal, joints, ("no grasp to begin with",))


def _follow(
    hand: Hand, pose: np.ndarray, goal: np.ndarray, joints: np.ndarray, grip: Grip
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """(pose, joints, what is in the way) as far as joints are grasped straight from pose to goal."""
    way = goal - pose
    length = max(float(np.hypot(way[0], way[1])), hand.size * abs(float(way[2])))
    stride = min(1.0, LONGEST_STRIDE * hand.size / length) if length > 0.0 else 1.0
    done, step = 0.0, stride
    while done < 1.0:
        share = min(done + step, 1.0)
        trial = goal if share == 1.0 else pose + share * way
        grasped = hold(hand, trial, joints, grip)
        if grasped is not None:
            done, joints, step = share, grasped, min(2.0 * step, stride)
        elif step > SHORTEST_STRIDE * stride:
            step *= 0.5
        else:
            return pose + done * way, joints, posture(hand, trial, joints, grip).binding
    return goal, joints, ()
