"""Which of the points that a tracker saw is which marker: a gated one-to-one assignment to where the model expects them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats, is_number
from pliant.sensing.estimator import ForceEstimator
from pliant.sensing.instruments import MARKERS
from pliant.sensing.registration import Rigid, check_size

OFFSETS = 3  # rounds in which an offset common to all markers is taken off


@dataclass(frozen=True)
class Allocation:
    """`labelled` (m, 3) [m]: the point of each marker, NaN where hidden; `index` (m,) its number among the points, −1 where hidden; and
    the numbers of points that are no marker."""

    labelled: np.ndarray
    index: np.ndarray
    spurious: np.ndarray

    @property
    def hidden(self) -> np.ndarray:
        """Numbers of the markers that were not seen."""
        return np.flatnonzero(self.index < 0)


def allocate(points: ArrayLike, expected: ArrayLike, *, gate: float) -> Allocation:
    """Points (n, 3) as the markers expected at (m, 3) [m], each used once, at most `gate` [m] away.

    The sum of squared distances is smallest, a hidden marker counting gate². An offset that all markers share (a tracker that was moved, a
    robot that moved on since) is found as the median of their distances and taken off before the gate is applied once more.
    """
    seen = _positions("points", points)
    model = _positions("expected positions", expected)
    if not (is_number(gate) and 0 < gate < np.inf):
        raise InputError("gate", expected="a positive number [m]", got=repr(gate))
    if not np.isfinite(model).all():
        raise InputError("expected positions", expected="finite numbers", got="others")
    good = np.isfinite(seen).all(axis=1)
    usable = np.flatnonzero(good)
    offset, index = np.zeros(3), np.full(len(model), -1)
    for _ in range(OFFSETS):
        before, index = index, _assigned(seen[usable], model + offset, gate)
        found = index >= 0
        if (before == index).all() or found.sum() < 3:
            break
        offset = np.median(seen[usable[index[found]]] - model[found], axis=0)
    found = index >= 0
    index = np.where(found, usable[index] if len(usable) else -1, -1)
    labelled = np.full(model.shape, np.nan)
    labelled[found] = seen[index[found]]
    spare = np.array(good)
    spare[index[found]] = False
    return Allocation(labelled, index, np.flatnonzero(spare))


def _assigned(points: np.ndarray, model: np.ndarray, gate: float) -> np.ndarray:
    """Number of the point of each marker, −1 where none is near enough."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    m, n = len(model), len(points)
    if not n:
        return np.full(m, -1)
    square = ((model[:, None] - points[None]) ** 2).sum(axis=2)
    far = 1e3 * (m + 1) * gate**2
    cost = np.concatenate([np.where(square <= gate**2, square, far), np.full((m, m), gate**2)], axis=1)
    _, column = linear_sum_assignment(cost)
    return np.where(column < n, column, -1)


def _positions(what: str, value: Any) -> np.ndarray:
    out = as_floats(what, value, "positions (n, 3) [m]")
    out = out.reshape(0, 3) if out.size == 0 else out
    if out.ndim != 2 or out.shape[1] != 3:
        raise InputError(what, expected="positions (n, 3) [m]", got=f"shape {out.shape}")
    return out


class MarkerTracker:
    """Turns unlabelled points of a tracker into frames for an estimator, which says where it expects its markers.

    `transform` takes the tracker's coordinates to the robot's, see `register`. `gate` [m]: a point farther than that from where a marker is expected is
    another one; half the smallest distance of two markers by default. Markers that were hidden come back when they are seen again.
    """

    def __init__(
        self,
        estimator: ForceEstimator,
        *,
        row: str = MARKERS,
        gate: float | None = None,
        transform: Rigid | None = None,
    ) -> None:
        estimator.robot.named(row)
        self.estimator, self.row, self.transform = estimator, row, transform
        self.gate = 0.5 * _nearest(self.expected) if gate is None else gate

    @property
    def expected(self) -> np.ndarray:
        """Where the model has the markers now, (m, 3) [m]."""
        span = self.estimator.robot.named(self.row)
        return self.estimator.pose.delta[span].reshape(-1, 3)

    def allocate(self, points: ArrayLike) -> Allocation:
        """Which point is which marker."""
        seen = _positions("points", points)
        moved = seen if self.transform is None else self.transform.apply(seen)
        found = allocate(moved, self.expected, gate=self.gate)
        if (found.index < 0).all() and len(found.spurious) > 2:
            check_size(moved[found.spurious], self.expected)
        return found

    def frame(self, points: ArrayLike) -> dict[str, np.ndarray]:
        """A frame for the estimator's `step`."""
        return {self.row: self.allocate(points).labelled}


def _nearest(x: np.ndarray) -> float:
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min()) if len(x) > 1 else 0.01
