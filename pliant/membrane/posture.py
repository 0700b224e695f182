"""Joints that hold the object at a given pose: sequential quadratic programs on the balance of forces.

    min ½|θ − θ_pref|²  with  Σ wrenches(p, θ) = 0,  grip in its limits,
                              object clear of the paddles,  fingers clear of each other

The pose p is given, so no equilibrium is solved: the wrenches and their derivatives at p are all it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import InputError
from pliant.membrane.equilibrium import FIXED, ROTATING, Skins, forces_on, size_of
from pliant.membrane.finger import clearances
from pliant.membrane.hand import Hand
from pliant.membrane.shapes import rotation
from pliant.solvers.qp import qp

LARGEST_TRUST = 0.25  # of the range of a joint: radius of the trust region
SMALLEST_TRUST = 1e-4  # of the largest: below this the search gives up
MOST_ITERATIONS = 40  # quadratic programs
PENALTY = 10.0  # of a violation, against the squared distance from the joints preferred
BALANCED = 1e-9  # unbalanced force over the force unit that counts as rest
LEAST_DEPTH = 1e-3  # of the hand's size: leads to the object where no skin is touched yet
POLISHED = 1e-3  # violation below which the balance is polished
POLISHING_STEPS = 3
POLISHING_RANK = 1e-8  # of the largest singular value: smaller ones are not inverted
MET_LIMIT = 1e-7  # of the unit of a limit: how far it may be missed
STANDSTILL = 1e-6  # of the range of a joint: a step shorter than this is none
AT_LIMIT = 1e-6  # of the range of a joint: nearer to its limit than this it is not moved by polishing
REACHED_LIMIT = 1e-9  # [rad or m]: nearer to its limit than this a joint is named as binding
SMALLEST_RANGE = 1e-12  # [rad or m], of a joint whose limits coincide
TINY = 1e-300


@dataclass(frozen=True)
class Grip:
    """Limits of a good grip: force of each skin on the object, low … high [N].

    gap: least distance of the fingers from each other, clear: of the ends of the skins from the object [m].
    """

    low: float
    high: float
    gap: float
    clear: float

    def __post_init__(self) -> None:
        if not 0.0 < self.low < self.high:
            raise InputError("grip", expected="0 < low < high [N]", got=(self.low, self.high))
        if not (self.gap >= 0.0 and self.clear >= 0.0):
            raise InputError("gap, clear", expected="distances ≥ 0 [m]", got=(self.gap, self.clear))

    @classmethod
    def of(
        cls, hand: Hand, low: float = 0.005, high: float = 0.1, gap: float = 0.01, clear: float = 0.02
    ) -> Grip:
        """In units of the hand: low and high times stiffness × size, gap and clear times the size."""
        unit = max(finger.stiffness for finger in hand.fingers) * hand.size
        return cls(low * unit, high * unit, gap * hand.size, clear * hand.size)


@dataclass(frozen=True, eq=False)
class Posture:
    """Joints (3f,) and how well they hold the pose.

    violation: the sum over all conditions, each in its own unit, 0 if all are met; binding: names of what
    stands in the way.
    """

    joints: np.ndarray
    violation: float
    iterations: int
    binding: tuple[str, ...]

    @property
    def found(self) -> bool:
        """Whether all conditions are met."""
        return self.violation <= MET_LIMIT


def conditions(
    hand: Hand, pose: np.ndarray, joints: np.ndarray, grip: Grip
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(values (c,), their derivatives by the joints (c, 3f), lower, upper (c,)), each in its own unit.

    Rows: balance (2, or 3 for an object that turns), grip (f), depth (f), clearance of the ends (2f), gaps (4
    if two fingers face each other).
    """
    skins, D = hand.skins(joints)
    f, n = len(skins), 3 if hand.rotates else 2
    forces, forces_slope = _forces(hand, pose, skins, D, grip)
    distances, distances_slope = _distances(hand, pose, skins, D)
    gaps = len(distances) - 3 * f
    each = lambda *values: np.concatenate([np.full(count, value) for value, count in values])
    low = each(
        (0.0, n), (1.0, f), (LEAST_DEPTH, f), (grip.clear / hand.size, 2 * f), (grip.gap / hand.size, gaps)
    )
    high = each((0.0, n), (grip.high / grip.low, f), (np.inf, 3 * f + gaps))
    high[n + f : n + 2 * f] = hand.depth / hand.size
    return np.concatenate((forces, distances)), np.vstack((forces_slope, distances_slope)), low, high


def _forces(
    hand: Hand, pose: np.ndarray, skins: Skins, D: np.ndarray, grip: Grip
) -> tuple[np.ndarray, np.ndarray]:
    """Balance and grip, in units of the least grip, and their slopes."""
    free, size = ROTATING if hand.rotates else FIXED, size_of(hand.shape)
    forces = forces_on(skins, hand.shape, pose, free)
    wrench, cross = forces.wrench, forces.cross
    change = np.array([-cross[k] @ D[4 * k : 4 * k + 4] for k in range(len(skins))])  # (f, 3, 3f)
    unit = np.array([1.0, 1.0, size])[free] * grip.low
    force = np.hypot(wrench[:, 0], wrench[:, 1])
    direction = wrench[:, :2] / np.maximum(force, TINY)[:, None]
    value = np.concatenate(((wrench.sum(axis=0) + hand.wrench)[free] / unit, force / grip.low))
    along = np.einsum("ka,kab->kb", direction, change[:, :2]) / grip.low
    return value, np.vstack((change.sum(axis=0)[free] / unit[:, None], along))


def _distances(hand: Hand, pose: np.ndarray, skins: Skins, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Depth, clearance and gaps, in units of the hand's size, and their slopes."""
    f, corners = len(skins), hand.shape.corners @ rotation(pose[2]).T + pose[:2]
    depth, slope, clear, normal, gap, bend = clearances(skins.ends, skins.side, corners, hand.shape.radius)
    rows = [slope[k] @ D[4 * k : 4 * k + 4] for k in range(f)]
    rows += [normal[k, e] @ D[4 * k + 2 * e : 4 * k + 2 * e + 2] for k in range(f) for e in range(2)]
    value = [*depth, *clear.ravel()]
    if f == 2 and skins.side[0] != skins.side[1]:
        for i, j, e in ((0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)):
            value.append(gap[i, j, e])
            rows.append(bend[i, j, e, :4] @ D[4 * i : 4 * i + 4] + bend[i, j, e, 4:] @ D[4 * j : 4 * j + 4])
    return np.array(value) / hand.size, np.array(rows) / hand.size


def posture(
    hand: Hand, pose: np.ndarray, start: np.ndarray, grip: Grip, prefer: np.ndarray | None = None
) -> Posture:
    """Joints that hold the object at `pose`, searched from `start` (3f,).

    The nearest to `prefer` (3f,), or the first found.
    """
    target = start if prefer is None else prefer
    span = np.maximum(hand.upper - hand.lower, SMALLEST_RANGE)
    Q, q = np.diag(1.0 / span**2), np.clip(start, hand.lower, hand.upper)
    value, slopes, low, high = conditions(hand, pose, q, grip)
    worst, iterations, trust = _violation(value, low, high), 0, LARGEST_TRUST
    away = lambda q: 0.0 if prefer is None else 0.5 * float(np.sum(((q - prefer) / span) ** 2))
    for iterations in range(1, MOST_ITERATIONS + 1):  # noqa: B007
        radius = trust * span
        least, most = np.maximum(hand.lower - q, -radius), np.minimum(hand.upper - q, radius)
        step = qp(Q, Q @ (q - target), least, most, slopes, low - value, high - value)
        trial = np.clip(q + step.effort, hand.lower, hand.upper)
        now = conditions(hand, pose, trial, grip)
        change = _violation(now[0], low, high)
        if PENALTY * (change - worst) + away(trial) - away(q) > 0.0 and change > MET_LIMIT:
            trust *= 0.5
            if trust < SMALLEST_TRUST * LARGEST_TRUST:
                break
            continue
        moved = np.abs(trial - q) / span
        (value, slopes, low, high), q, worst, trust = now, trial, change, min(2.0 * trust, LARGEST_TRUST)
        if worst <= (MET_LIMIT if prefer is None else BALANCED) and (
            prefer is None or moved.max() < STANDSTILL
        ):
            break
    if BALANCED < worst < POLISHED:
        q, value, worst = _polished(hand, pose, q, grip, (value, slopes, low, high), worst)
    return Posture(q, worst, iterations, _binding(hand, value, low, high, q))


def _polished(
    hand: Hand, pose: np.ndarray, q: np.ndarray, grip: Grip, at: tuple[np.ndarray, ...], worst: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Newton on the balance alone, over joints off their limits: finer than quadratic programs leave it."""
    value, slopes, low, high = at
    n, span = 3 if hand.rotates else 2, hand.upper - hand.lower
    for _ in range(POLISHING_STEPS):
        free = np.where(np.minimum(q - hand.lower, hand.upper - q) > AT_LIMIT * span, span, 0.0)
        step = -free * (np.linalg.pinv(slopes[:n] * free, rcond=POLISHING_RANK) @ value[:n])
        trial = np.clip(q + step, hand.lower, hand.upper)
        now = conditions(hand, pose, trial, grip)
        change = _violation(now[0], low, high)
        if change >= worst:
            break
        q, (value, slopes, low, high), worst = trial, now, change
    return q, value, worst


def _violation(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    return float(np.maximum(np.maximum(low - value, value - high), 0.0).sum())


def _binding(
    hand: Hand, value: np.ndarray, low: np.ndarray, high: np.ndarray, q: np.ndarray
) -> tuple[str, ...]:
    """Names of the limits that are reached or missed."""
    f, n = len(hand.fingers), 3 if hand.rotates else 2
    names = ["balance"] * n + [f"grip {k}" for k in range(f)] + [f"depth {k}" for k in range(f)]
    names += [f"end {k}" for k in range(f) for _ in range(2)]
    names += ["gap"] * (len(value) - len(names))
    missed = [
        name for name, v, a, b in zip(names, value, low, high) if not a - MET_LIMIT <= v <= b + MET_LIMIT
    ]
    joints = [f"θ_{'pld'[k % 3]}{k // 3 + 1}" for k in range(len(q))]
    at_limit = [
        name for name, v, a, b in zip(joints, q, hand.lower, hand.upper) if min(v - a, b - v) <= REACHED_LIMIT
    ]
    return tuple(dict.fromkeys(missed + at_limit))
