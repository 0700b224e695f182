"""How fibres are wound: paths (P, 3) [m] round an axis or along a strip, for `Fibres`.

A thread at the angle α from the axis of a cylinder of radius r rises by the pitch 2πr/tan α per turn. Closed
cylinders under pressure keep their length at the neutral angle, tan² α = 2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats, is_number
from pliant.inputs import count as checked_count
from pliant.inputs import positive

NEUTRAL = math.atan(math.sqrt(2.0))  # [rad], 54.7°

_Z = (0.0, 0.0, 1.0)
_ORIGIN = (0.0, 0.0, 0.0)


def helix(
    radius: float,
    length: float,
    *,
    angle: float | None = None,
    pitch: float | None = None,
    count: int = 1,
    hand: int = 1,
    per_turn: int = 24,
    start: Any = _ORIGIN,
    axis: Any = _Z,
    phase: float = 0.0,
) -> list[np.ndarray]:
    """`count` helices round an axis, from the plane through `start` on over a `length` [m].

    angle [rad] from the axis, 0 < angle < π/2, or pitch [m] per turn. hand 1 is right-handed, as most screws,
    −1 left-handed. `per_turn` points of each thread are glued; the first is at the angle `phase` [rad].
    """
    _check(radius, length, per_turn)
    if (angle is None) == (pitch is None):
        raise InputError("helix", expected="an angle or a pitch", got="both" if angle else "neither")
    if angle is not None and not (is_number(angle) and 0.0 < angle < math.pi / 2):
        raise InputError("angle of a helix", expected="between 0 and π/2 [rad]", got=repr(angle))
    if hand not in (1, -1):
        raise InputError("hand of a helix", expected="1 or -1", got=repr(hand))
    checked_count("count of threads", count)
    rise = positive("pitch of a helix", pitch, "m") if angle is None else 2 * np.pi * radius / math.tan(angle)
    turns = length / rise
    t = np.linspace(0.0, 1.0, max(1, round(turns * per_turn)) + 1)
    first = phase + 2 * np.pi * np.arange(count) / count
    return [_round_axis(radius, a + hand * 2 * np.pi * turns * t, length * t, start, axis) for a in first]


def braid(
    radius: float,
    length: float,
    *,
    angle: float | None = None,
    pitch: float | None = None,
    count: int = 1,
    per_turn: int = 24,
    start: Any = _ORIGIN,
    axis: Any = _Z,
    phase: float = 0.0,
) -> list[np.ndarray]:
    """A sleeve of `count` right-handed and as many left-handed helices; the rest as for `helix`."""
    given: dict[str, Any] = {"angle": angle, "pitch": pitch, "count": count, "per_turn": per_turn}
    given |= {"start": start, "axis": axis, "phase": phase}
    return [path for hand in (1, -1) for path in helix(radius, length, hand=hand, **given)]


def rings(
    radius: float,
    length: float,
    *,
    count: int,
    per_turn: int = 24,
    start: Any = _ORIGIN,
    axis: Any = _Z,
    phase: float = 0.0,
) -> list[np.ndarray]:
    """`count` closed rings round an axis, evenly from the plane through `start` on over a `length` [m]."""
    _check(radius, length, per_turn)
    places = np.linspace(0.0, length, checked_count("count of rings", count) + (count == 1))[:count]
    turn = phase + np.linspace(0.0, 2 * np.pi, per_turn + 1)
    return [_round_axis(radius, turn, np.full_like(turn, z), start, axis) for z in places]


def straight(
    start: Any, end: Any, *, count: int = 1, across: Any = None, points: int = 20
) -> list[np.ndarray]:
    """`count` straight threads from `start` to `end` (3,) [m], each glued at `points` points.

    Several lie evenly over the vector `across` (3,) [m], in the middle of which the given ends are: a layer
    that cannot be stretched.
    """
    ends = [_vector("end of a straight thread", one) for one in (start, end)]
    checked_count("count of threads", count)
    if points < 2:
        raise InputError("points of a straight thread", expected="at least 2", got=points)
    if (across is None) != (count == 1):
        raise InputError("straight threads", expected="across with a count above 1", got=f"count={count}")
    aside = np.zeros(3) if across is None else _vector("across", across)
    path = ends[0] + np.linspace(0.0, 1.0, points)[:, None] * (ends[1] - ends[0])
    return [path + share * aside for share in (np.linspace(-0.5, 0.5, count) if count > 1 else [0.0])]


def _check(radius: float, length: float, per_turn: int) -> None:
    positive("radius of a winding", radius, "m")
    positive("length of a winding", length, "m")
    if checked_count("per_turn", per_turn) < 3:
        raise InputError("per_turn", expected="at least 3 points", got=per_turn)


def _vector(what: str, value: Any) -> np.ndarray:
    vector = as_floats(what, value, "three numbers [m]")
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(what, expected="three finite numbers [m]", got=repr(value))
    return vector


def _round_axis(radius: float, turn: np.ndarray, along: np.ndarray, start: Any, axis: Any) -> np.ndarray:
    """Points at angles `turn` [rad] round the axis and `along` [m] it; z has the angle zero along x."""
    z = _vector("axis", axis)
    size = float(np.linalg.norm(z))
    if not size > 0.0:
        raise InputError("axis", expected="a direction", got=repr(axis))
    z = z / size
    x = np.eye(3)[0] if abs(z[0]) < 0.9 else np.eye(3)[1]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    circle = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y
    return _vector("start", start) + radius * circle + along[:, None] * z
