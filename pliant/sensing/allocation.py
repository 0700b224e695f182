"""Which marker each point of a tracker is: a gated one-to-one assignment to the markers of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats, is_number
from pliant.sensing.estimator import ForceEstimator
from pliant.sensing.instruments import MARKERS
from pliant.sensing.registration import Rigid, check_size

OFFSET_ROUNDS = 3  # times that an offset common to all markers is removed and points are assigned again
LEAST_FOR_OFFSET = 3  # assigned markers, from which a common offset is estimated
BEYOND_GATE = 1e3  # of the cost of all markers hidden: what an assignment beyond the gate costs
LONE_MARKER_GATE = 0.01  # m, of a robot with one marker, which has no nearest neighbour


@dataclass(frozen=True)
class Allocation:
    """Which points are which markers.

    `labelled` (m, 3) [m] is the point of each marker, NaN where it is hidden; `index` (m,) its number among
    the points, −1 where it is hidden; `spurious` the numbers of points that are no marker.
    """

    labelled: np.ndarray
    index: np.ndarray
    spurious: np.ndarray

    @property
    def hidden(self) -> np.ndarray:
        """Numbers of the markers that were not seen."""
        return np.flatnonzero(self.index < 0)


def allocate(points: ArrayLike, expected: ArrayLike, *, gate: float) -> Allocation:
    """Points (n, 3) assigned to the markers expected at (m, 3) [m], each used once, at most `gate` [m] away.

    The sum of squared distances is smallest, a hidden marker counting gate². An offset that all markers share
    (a tracker that was moved, a robot that moved on since) is estimated as the median of their displacements
    and removed before the gate is applied again.
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
    for _ in range(OFFSET_ROUNDS):
        before, index = index, _assigned(seen[usable], model + offset, gate)
        visible = index >= 0
        if (before == index).all() or visible.sum() < LEAST_FOR_OFFSET:
            break
        offset = np.median(seen[usable[index[visible]]] - model[visible], axis=0)
    visible = index >= 0
    index = np.where(visible, usable[index] if len(usable) else -1, -1)
    labelled = np.full(model.shape, np.nan)
    labelled[visible] = seen[index[visible]]
    spurious = np.array(good)
    spurious[index[visible]] = False
    return Allocation(labelled, index, np.flatnonzero(spurious))


def _assigned(points: np.ndarray, model: np.ndarray, gate: float) -> np.ndarray:
    """Number of the point of each marker, −1 where none is near enough."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    m, n = len(model), len(points)
    if not n:
        return np.full(m, -1)
    square = ((model[:, None] - points[None]) ** 2).sum(axis=2)
    forbidden = BEYOND_GATE * (m + 1) * gate**2
    cost = np.concatenate([np.where(square <= gate**2, square, forbidden), np.full((m, m), gate**2)], axis=1)
    _, column = linear_sum_assignment(cost)
    return np.where(column < n, column, -1)


def _positions(what: str, value: Any) -> np.ndarray:
    out = as_floats(what, value, "positions (n, 3) [m]")
    out = out.reshape(0, 3) if out.size == 0 else out
    if out.ndim != 2 or out.shape[1] != 3:
        raise InputError(what, expected="positions (n, 3) [m]", got=f"shape {out.shape}")
    return out


class MarkerTracker:
    """Labels the points of a tracker for an estimator, which predicts where its markers are.

    `transform` takes the tracker's coordinates to the robot's, see `register`. A point farther than `gate`
    [m] from where a marker is expected is another one; by default half the smallest distance of two markers.
    Markers that were hidden come back when they are seen again.
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
        allocation = allocate(moved, self.expected, gate=self.gate)
        if (allocation.index < 0).all() and len(allocation.spurious) > 2:
            check_size(moved[allocation.spurious], self.expected)
        return allocation

    def frame(self, points: ArrayLike) -> dict[str, np.ndarray]:
        """A frame for the estimator's `step`."""
        return {self.row: self.allocate(points).labelled}


def _nearest(x: np.ndarray) -> float:
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min()) if len(x) > 1 else LONE_MARKER_GATE
