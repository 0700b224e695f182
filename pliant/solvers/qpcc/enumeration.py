"""Global optimum of an inverse problem with contact, by visiting every region: exact, for few actuators.

The regions are the polytopes P_I of Coevoet et al. 2017 (section III.E), which tile the box of effort bounds.
Two regions that share a facet differ by one contact, so all are found by crossing facets. On each the cost is
a convex quadratic: the smallest of their minima is global, and a minimum of one region is a local minimum of
c(λ_a), eq. 17, if no region that touches it has a lower one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter
from typing import Any, NamedTuple

import daqp
import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.solvers.qp import TIGHT
from pliant.solvers.qpcc.contact_mode import ContactMode
from pliant.solvers.qpcc.problem import Problem, problem
from pliant.solvers.qpcc.solution import QpccSolution
from pliant.solvers.qpcc.solve import SHIFT, descent
from pliant.solvers.solution import Reals

TOUCHING = 1e-9  # distance to a facet, in units of the box, that counts as zero
ON_BORDER = 1e-8  # value of a contact, relative to the gaps without it, that counts as zero at a minimum
FLAT_ROW = 1e-14  # slope of a row, relative to its largest entry, that counts as none
EQUALITY = 5  # DAQP's mark of an equality
FEASIBLE = 1e-10  # DAQP's tolerance of constraints
REGULAR = 1e-7  # regularisation by DAQP of a singular quadratic
SAME_COST = 1e-7  # relative difference of costs below which minima are one …
SAME_EFFORT = 1e-5  # … where their efforts differ by less than this


@dataclass(frozen=True, eq=False)
class GlobalSolution:
    """The exact optimum and all local minima, cheapest first; cut short if not `complete`."""

    best: QpccSolution
    minima: tuple[QpccSolution, ...]
    pieces: int
    complete: bool


class Polytope(NamedTuple):
    """One region."""

    members: int  # the contacts that push, as bits
    rows: Reals  # (m, na + 1) values of all rows as affine functions of the efforts
    x: Reals | None  # (na,) minimum of its quadratic, None if no point of it is within the bounds
    cost: float


class Arrangement:
    """The scaled problem and its regions; efforts are in units of `unit`, so that the box has unit size."""

    def __init__(self, p: Problem) -> None:
        self.mode = ContactMode.of(p, SHIFT)
        self.nc, self.na, self.ne = p.nc, p.na, p.ne
        rows, Q, pull = self.mode.scaling.rows, self.mode.scaling.Q, self.mode.scaling.p
        bounds = np.abs((rows.lo, rows.hi))
        extent = bounds[np.isfinite(bounds)].max(initial=0.0) or np.abs(rows.f).max(initial=0.0) or 1.0
        self.unit = extent
        self.open_rows = self.mode.open_rows.T * np.append(np.full(p.na, extent), 1.0)  # (m, na + 1)
        self.C = rows.C  # (nc, m)
        self.Q, self.p = Q * extent**2, pull * extent
        self.lo, self.hi = rows.lo / extent, rows.hi / extent
        self.dlo, self.dhi = rows.dlo, rows.dhi
        self.regions: dict[int, Polytope] = {}

    def region(self, members: int) -> Polytope:
        """Rows and minimum of a contact mode (eqs. 14–15)."""
        chosen = _bits(members)
        rows = self.open_rows.copy()
        if chosen:
            W = self.C[np.ix_(chosen, chosen)]
            push = -np.linalg.solve(W, rows[chosen])
            rows += self.C[chosen].T @ push
            rows[chosen] = push
        x, cost = self._minimum(rows)
        return Polytope(members, rows, x, cost)

    def _minimum(self, rows: np.ndarray) -> tuple[np.ndarray | None, float]:
        """Minimum of a region's quadratic on the region and within the bounds; None if that is empty."""
        na, nc = self.na, self.nc
        task, limits = rows[nc : nc + self.ne], rows[nc + self.ne :]
        H = 2.0 * (task[:, :na].T @ task[:, :na] + self.Q)
        g = 2.0 * (task[:, na] @ task[:, :na] - self.p)
        size = H.diagonal().max(initial=0.0) or 1.0
        A, low = _normalised(np.vstack((rows[:nc], limits)), na)
        length = np.linalg.norm(limits[:, :na], axis=1)
        length[length == 0.0] = 1.0
        low = np.concatenate((self.lo, low[:nc], (self.dlo - limits[:, na]) / length))
        high = np.concatenate((self.hi, np.full(nc, np.inf), (self.dhi - limits[:, na]) / length))
        sense = np.zeros(len(low), np.int32)
        options = {**TIGHT, "primal_tol": FEASIBLE}
        x, _, flag, _ = daqp.solve(H / size, g / size, A, high, low, sense, **options)
        if flag not in (1, -1):  # a singular quadratic: let DAQP regularise
            x, _, flag, _ = daqp.solve(
                H / size, g / size, A, high, low, sense, **{**options, "eps_prox": REGULAR}
            )
        if flag <= 0:
            return None, np.inf
        x = np.asarray(x)
        return x, float(0.5 * x @ H @ x + g @ x + task[:, na] @ task[:, na])

    def neighbours(self, region: Polytope) -> Iterator[int]:
        """Contact modes across the facets of a region that meet the box."""
        na, nc = self.na, self.nc
        A, low = _normalised(region.rows[:nc], na)
        corner = np.where(A < 0.0, self.hi, self.lo)
        with np.errstate(invalid="ignore"):
            least = np.where(A == 0.0, 0.0, A * corner).sum(axis=1)
        candidates = [c for c in np.flatnonzero(least <= low + TOUCHING) if A[c].any()]
        bounds_low = np.concatenate((self.lo, low))
        bounds_high = np.concatenate((self.hi, np.full(nc, np.inf)))
        sense, eye, zero = np.zeros(na + nc, np.int32), np.eye(na), np.zeros(na)
        for c in candidates:
            if region.members ^ (1 << int(c)) in self.regions:
                continue
            sense[na + c], bounds_high[na + c] = EQUALITY, low[c]
            flag = daqp.solve(eye, zero, A, bounds_high, bounds_low, sense, primal_tol=TOUCHING)[2]
            sense[:], bounds_high[na + c] = 0, np.inf
            if flag > 0:
                yield region.members ^ (1 << int(c))

    def explore(self, limit: int, seconds: float) -> bool:
        """Find every region from that of zero effort; whether it ended before the limits."""
        begin = perf_counter()
        x = np.clip(np.zeros(self.na), self.lo, self.hi)
        waiting = [self.members_at(x)]
        while waiting:
            members = waiting.pop()
            if members in self.regions:
                continue
            if len(self.regions) >= limit or perf_counter() - begin > seconds:
                return False
            region = self.regions[members] = self.region(members)
            waiting.extend(self.neighbours(region))
        return True

    def members_at(self, x: np.ndarray) -> int:
        """The contact mode at a point."""
        self.mode.settle(x * self.unit)
        return sum(1 << int(c) for c in self.mode.members)

    def is_local_minimum(self, region: Polytope) -> bool:
        """Whether no region that touches the minimum of this one goes lower."""
        if region.x is None:
            return False
        point = np.append(region.x, 1.0)
        value = region.rows[: self.nc] @ point
        size = np.abs(self.open_rows[: self.nc] @ point).max(initial=0.0)
        borders = np.flatnonzero(value <= ON_BORDER * size)
        for count in range(1, len(borders) + 1):
            for flips in combinations(borders, count):
                other = self.regions.get(region.members ^ sum(1 << int(c) for c in flips))
                if other is not None and other.cost < region.cost - SAME_COST * abs(region.cost):
                    return False
        return True


def qpcc_global(
    *matrices: Any, limit: int = 100_000, seconds: float = np.inf, **options: Any
) -> GlobalSolution:
    """All local minima of an inverse problem with contact, and the proof of which is the global one.

    Arguments and keywords as for `qpcc` (but starts, method, formulation). The number of regions grows fast
    with the actuators: give a `limit` of regions or `seconds`, and look at `complete`.
    """
    return enumerate_modes(problem(*matrices, **options), limit, seconds)


def enumerate_modes(p: Problem, limit: int = 100_000, seconds: float = np.inf) -> GlobalSolution:
    """See `qpcc_global`."""
    arrangement = Arrangement(p)
    complete = arrangement.explore(limit, seconds)
    minima: list[QpccSolution] = []
    units = arrangement.mode.units * arrangement.unit
    for region in sorted(arrangement.regions.values(), key=lambda region: region.cost):
        if region.x is None or not arrangement.is_local_minimum(region):
            continue
        polished = descent(p._replace(start=region.x * units, warm=True), 1)
        if not any(_same(polished, other) for other in minima):
            minima.append(polished)
    if not minima:  # no point of any region is within the displacement bounds
        minima = [descent(p, 8)]
    minima.sort(key=lambda solution: solution.cost)
    return GlobalSolution(minima[0], tuple(minima), len(arrangement.regions), complete)


class Landscape(NamedTuple):
    """The cost at given efforts, for drawing.

    `cost` (n,), `piece` (n,) index into `pieces`, the regions by their sets of contacts that push; `feasible`
    (n,) whether the displacement bounds hold.
    """

    cost: Reals
    piece: np.ndarray
    pieces: tuple[tuple[int, ...], ...]
    feasible: np.ndarray


def landscape(points: ArrayLike, *matrices: Any, **options: Any) -> Landscape:
    """c(λ_a) of an inverse problem at points (n, na), contacts settled at each; arguments as for `qpcc`.

    Effort bounds play no role: the points are taken as they are.
    """
    p = problem(*matrices, **options)
    mode = ContactMode.of(p, SHIFT)
    efforts = np.asarray(points, np.float64)
    if efforts.ndim != 2 or efforts.shape[1] != p.na:
        raise InputError("points", expected=f"(n, {p.na})", got=efforts.shape)
    errors, moved = slice(p.nc, p.nc + p.ne), slice(p.nc + p.ne, None)
    rows, Q, pull, value = mode.scaling.rows, mode.scaling.Q, mode.scaling.p, mode.region.value
    constant = p.previous / mode.units @ pull
    cost, feasible = np.empty(len(efforts)), np.empty(len(efforts), bool)
    piece, labels = np.empty(len(efforts), np.int64), {}
    for n, x in enumerate(efforts / mode.units):
        mode.settle(x)
        cost[n] = value[errors] @ value[errors] + x @ Q @ x - 2.0 * pull @ x + constant
        feasible[n] = bool(np.all(value[moved] >= rows.dlo) and np.all(value[moved] <= rows.dhi))
        piece[n] = labels.setdefault(tuple(sorted(mode.members.tolist())), len(labels))
    return Landscape(cost, piece, tuple(labels), feasible)


def _same(one: QpccSolution, other: QpccSolution) -> bool:
    size = max(np.abs(one.effort).max(initial=0.0), np.abs(other.effort).max(initial=0.0)) or 1.0
    return bool(
        abs(one.cost - other.cost) <= SAME_COST * abs(one.cost)
        and np.abs(one.effort - other.effort).max(initial=0.0) <= SAME_EFFORT * size
    )


def _bits(members: int) -> list[int]:
    return [i for i in range(members.bit_length()) if members >> i & 1]


def _normalised(rows: np.ndarray, na: int) -> tuple[np.ndarray, Reals]:
    """A and low of A x ≥ low for rows A x + b ≥ 0, A of unit length."""
    length = np.linalg.norm(rows[:, :na], axis=1)
    constant = length <= FLAT_ROW * np.abs(rows).max(initial=0.0)
    length[constant] = 1.0
    A = np.where(constant[:, None], 0.0, rows[:, :na]) / length[:, None]
    return np.ascontiguousarray(A), -rows[:, na] / length
