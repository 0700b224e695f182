"""Global optimum of an inverse problem with contact, by visiting every contact mode: exact, for few actuators.

The pieces are polytopes that tile the box of effort bounds. Two pieces that share a facet differ by one contact, so
all are found by crossing facets. On each the cost is a convex quadratic: the smallest of their minima is global, and
a minimum of one piece is a local minimum of the whole if no piece that touches it has a lower one.
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
from pliant.solvers.modes import Modes
from pliant.solvers.problem import Problem, offsets, problem
from pliant.solvers.qp import TIGHT
from pliant.solvers.qpcc import SHIFT, descent
from pliant.solvers.qpcc_solution import QpccSolution
from pliant.solvers.solution import Reals

TOUCHING = (
    1e-9  # distance to a facet, in units of the box, that counts as zero: doubtful neighbours are visited too
)
EQUALITY = 5  # DAQP's mark of an equality
SAME = 1e-7  # relative difference of costs and efforts below which minima are one


@dataclass(frozen=True, eq=False)
class GlobalSolution:
    """The exact optimum and all local minima, cheapest first. If not `complete`, the enumeration was cut short."""

    best: QpccSolution
    minima: tuple[QpccSolution, ...]
    pieces: int
    complete: bool


class Piece(NamedTuple):
    """One contact mode: its members as bits, values of all rows (m, na + 1) as an affine function, its minimum."""

    members: int
    rows: np.ndarray
    x: np.ndarray | None
    cost: float


class Arrangement:
    """The scaled problem and its pieces; scaled efforts are in units of `unit`, so that the box has unit size."""

    def __init__(self, p: Problem) -> None:
        self.modes = modes = Modes.of(p, SHIFT)
        self.nc, self.na, self.ne = p.nc, p.na, p.ne
        bounds = np.abs((modes.lo, modes.hi))
        extent = (
            bounds[np.isfinite(bounds)].max(initial=0.0) or np.abs(modes.start[-1]).max(initial=0.0) or 1.0
        )
        self.unit = extent
        self.start = modes.start.T * np.append(np.full(p.na, extent), 1.0)  # (m, na + 1)
        self.C = modes.C  # (nc, m)
        self.Q, self.p = modes.Q * extent**2, modes.p * extent
        self.lo, self.hi = modes.lo / extent, modes.hi / extent
        self.dlo, self.dhi = modes.dlo, modes.dhi
        self.pieces: dict[int, Piece] = {}

    def piece(self, members: int) -> Piece:
        """Rows and minimum of a contact mode."""
        chosen = _bits(members)
        rows = self.start.copy()
        if chosen:
            W = self.C[np.ix_(chosen, chosen)]
            push = -np.linalg.solve(W, self.start[chosen])
            rows += self.C[chosen].T @ push
            rows[chosen] = push
        x, cost = self._minimum(rows)
        return Piece(members, rows, x, cost)

    def _minimum(self, rows: np.ndarray) -> tuple[np.ndarray | None, float]:
        """Minimum of the piece's quadratic on the piece and within the bounds; None if that is empty."""
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
        options = {**TIGHT, "primal_tol": 1e-10}
        x, _, flag, _ = daqp.solve(H / size, g / size, A, high, low, sense, **options)
        if flag not in (1, -1):  # a singular quadratic: let DAQP regularise
            x, _, flag, _ = daqp.solve(
                H / size, g / size, A, high, low, sense, **{**options, "eps_prox": 1e-7}
            )
        if flag <= 0:
            return None, np.inf
        x = np.asarray(x)
        return x, float(0.5 * x @ H @ x + g @ x + task[:, na] @ task[:, na])

    def neighbours(self, piece: Piece) -> Iterator[int]:
        """Contact modes across the facets of a piece that meet the box."""
        na, nc = self.na, self.nc
        A, low = _normalised(piece.rows[:nc], na)
        corner = np.where(A < 0.0, self.hi, self.lo)
        with np.errstate(invalid="ignore"):
            least = np.where(A == 0.0, 0.0, A * corner).sum(axis=1)
        candidates = [c for c in np.flatnonzero(least <= low + TOUCHING) if A[c].any()]
        bounds_low = np.concatenate((self.lo, low))
        bounds_high = np.concatenate((self.hi, np.full(nc, np.inf)))
        sense, eye, zero = np.zeros(na + nc, np.int32), np.eye(na), np.zeros(na)
        for c in candidates:
            if piece.members ^ (1 << int(c)) in self.pieces:
                continue
            sense[na + c], bounds_high[na + c] = EQUALITY, low[c]
            flag = daqp.solve(eye, zero, A, bounds_high, bounds_low, sense, primal_tol=TOUCHING)[2]
            sense[:], bounds_high[na + c] = 0, np.inf
            if flag > 0:
                yield piece.members ^ (1 << int(c))

    def explore(self, limit: int, seconds: float) -> bool:
        """Find every piece from that of zero effort; whether it ended before the limits."""
        begin = perf_counter()
        x = np.clip(np.zeros(self.na), self.lo, self.hi)
        waiting = [self.members_at(x)]
        while waiting:
            members = waiting.pop()
            if members in self.pieces:
                continue
            if len(self.pieces) >= limit or perf_counter() - begin > seconds:
                return False
            piece = self.pieces[members] = self.piece(members)
            waiting.extend(self.neighbours(piece))
        return True

    def members_at(self, x: np.ndarray) -> int:
        """The contact mode at a point."""
        self.modes.settle(x * self.unit, slopes=False)
        return sum(1 << int(c) for c in self.modes.members)

    def is_local_minimum(self, piece: Piece) -> bool:
        """Whether no piece that touches the minimum of this one goes lower."""
        if piece.x is None:
            return False
        value = piece.rows[: self.nc] @ np.append(piece.x, 1.0)
        size = np.abs(self.start[: self.nc] @ np.append(piece.x, 1.0)).max(initial=0.0)
        borders = np.flatnonzero(value <= 1e-8 * size)
        for count in range(1, len(borders) + 1):
            for flips in combinations(borders, count):
                other = self.pieces.get(piece.members ^ sum(1 << int(c) for c in flips))
                if other is not None and other.cost < piece.cost - SAME * abs(piece.cost):
                    return False
        return True


def qpcc_global(
    *matrices: Any, limit: int = 100_000, seconds: float = np.inf, **options: Any
) -> GlobalSolution:
    """All local minima of an inverse problem with contact, and the proof of which is the global one.

    Arguments and keywords as for `qpcc` (but starts, method, formulation). The number of pieces grows fast with the
    actuators: give a `limit` of pieces or `seconds`, and look at `complete`.
    """
    return enumerate_modes(problem(*matrices, **options), limit, seconds)


def enumerate_modes(p: Problem, limit: int = 100_000, seconds: float = np.inf) -> GlobalSolution:
    """See `qpcc_global`."""
    arrangement = Arrangement(p)
    complete = arrangement.explore(limit, seconds)
    found: list[QpccSolution] = []
    scale = arrangement.modes.unit * arrangement.unit
    for piece in sorted(arrangement.pieces.values(), key=lambda piece: piece.cost):
        if piece.x is None or not arrangement.is_local_minimum(piece):
            continue
        polished = descent(started(p, piece.x * scale), 1)
        if not any(_same(polished, other) for other in found):
            found.append(polished)
    if not found:  # no point of any piece is within the displacement bounds
        found = [descent(p, 8)]
    found.sort(key=lambda solution: solution.cost)
    return GlobalSolution(found[0], tuple(found), len(arrangement.pieces), complete)


class Landscape(NamedTuple):
    """The cost at given efforts, for drawing.

    `cost` (n,), `piece` (n,) index into `pieces`, the sets of contacts that push; `feasible` (n,) whether the
    displacement bounds hold.
    """

    cost: Reals
    piece: np.ndarray
    pieces: tuple[tuple[int, ...], ...]
    feasible: np.ndarray


def landscape(points: ArrayLike, *matrices: Any, **options: Any) -> Landscape:
    """c(λ_a) of an inverse problem at points (n, na), with the contacts settled at each; arguments as for `qpcc`.

    Effort bounds play no role: the points are taken as they are.
    """
    p = problem(*matrices, **options)
    modes = Modes.of(p, SHIFT)
    efforts = np.asarray(points, np.float64)
    if efforts.ndim != 2 or efforts.shape[1] != p.na:
        raise InputError("points", expected=f"(n, {p.na})", got=efforts.shape)
    errors, moved = slice(p.nc, p.nc + p.ne), slice(p.nc + p.ne, None)
    previous = p.parts()[9] / modes.unit
    constant = previous @ modes.p
    cost, feasible = np.empty(len(efforts)), np.empty(len(efforts), bool)
    piece, labels = np.empty(len(efforts), np.int64), {}
    for n, x in enumerate(efforts / modes.unit):
        modes.settle(x, slopes=False)
        value = modes.value
        cost[n] = value[errors] @ value[errors] + x @ modes.Q @ x - 2.0 * modes.p @ x + constant
        feasible[n] = bool(np.all(value[moved] >= modes.dlo) and np.all(value[moved] <= modes.dhi))
        piece[n] = labels.setdefault(tuple(sorted(modes.members.tolist())), len(labels))
    return Landscape(cost, piece, tuple(labels), feasible)


def started(p: Problem, effort: np.ndarray) -> Problem:
    """The problem with a warm start."""
    data, begin = p.data.copy(), offsets(p.ne, p.na, p.nc).start
    data[begin : begin + p.na] = effort
    return p._replace(data=data, warm=True)


def _same(one: QpccSolution, other: QpccSolution) -> bool:
    size = max(np.abs(one.effort).max(initial=0.0), np.abs(other.effort).max(initial=0.0)) or 1.0
    return bool(
        abs(one.cost - other.cost) <= SAME * abs(one.cost)
        and np.abs(one.effort - other.effort).max(initial=0.0) <= 1e-5 * size
    )


def _bits(members: int) -> list[int]:
    return [i for i in range(members.bit_length()) if members >> i & 1]


def _normalised(rows: np.ndarray, na: int) -> tuple[np.ndarray, Reals]:
    """A and low of A x ≥ low for rows A x + b ≥ 0, A of unit length."""
    length = np.linalg.norm(rows[:, :na], axis=1)
    constant = length <= 1e-14 * np.abs(rows).max(initial=0.0)
    length[constant] = 1.0
    A = np.where(constant[:, None], 0.0, rows[:, :na]) / length[:, None]
    return np.ascontiguousarray(A), -rows[:, na] / length
