"""A proof of global optimality by branch and bound, with nothing in it of the descent that it judges.

The relaxation keeps the contact forces as unknowns and drops complementarity,

    min ‖W_ea λ_a + W_ec λ_c + de‖²_w + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. bounds of λ_a and δ_a,   λ_c ≥ 0,   δ_c = W_ca λ_a + W_cc λ_c + dc ≥ 0,

a convex program whose optimum no solution undercuts. Where a contact in it pushes and is open at once, two
programs follow: one with its force zero, one with its gap zero. A program that costs no less than what is
to be proven ends its branch, and when all have ended nothing is better. One whose optimum is complementary
and costs less is a better solution.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import NamedTuple

import daqp
import numpy as np

from pliant.solvers.qpcc.problem import PAPER_EPS, Problem, work_scale

PROVEN, BEATEN, OPEN = "proven", "beaten", "open"
RIGID = 1e-24  # compliance, relative to the largest, below which nothing moves a contact
COMPLEMENTARY = 1e-9  # the smaller of force and gap of every contact, relative to the largest of all
REGULAR = 1e-9  # added to the unit diagonal, as contact forces alone have no curvature
PROXIMAL = (
    1e-7,
    1e-5,
    1e-4,
)  # where DAQP cycles with that: its proximal iterations, which end at the optimum
TOLERANCES = {"primal_tol": 1e-9, "dual_tol": 1e-9, "iter_limit": 5000}
INFEASIBLE, CYCLE, EQUALITY = -1, -2, 5  # DAQP's words


class Proof(NamedTuple):
    """What came of it: nothing is better than was given ("proven"), something is ("beaten"), or no answer.

    `best` is the cost of the better solution, else the cost below which nothing is.
    """

    status: str
    best: float
    programs: int


class Node(NamedTuple):
    """A program that is still to be branched: its contacts without force, its closed ones, its optimum."""

    cost: float
    order: int
    slack: frozenset[int]
    closed: frozenset[int]
    x: np.ndarray


class Relaxation:
    """The program without complementarity, in scaled unknowns x = (λ_a, λ_c) / units."""

    def __init__(self, p: Problem) -> None:
        own = p.Wcc.diagonal()
        moves = np.flatnonzero(own > RIGID * own.max(initial=0.0))
        Wec, Wac, Wcc = p.Wec[:, moves], p.Wac[:, moves], p.Wcc[np.ix_(moves, moves)]
        self.na, self.nc = p.na, len(moves)
        free = p.Waa.diagonal().max() * RIGID
        self.units = 1.0 / np.sqrt(np.concatenate([np.maximum(p.Waa.diagonal(), free), Wcc.diagonal()]))
        eps = p.eps if p.eps >= 0.0 else PAPER_EPS * work_scale(p.Wea, p.Wec, p.Waa, p.Wac, p.Wcc)
        E, e = np.hstack([p.Wea, Wec]) * np.sqrt(p.weights)[:, None], np.sqrt(p.weights) * p.de
        Q, pull = E.T @ E, E.T @ e
        Q[: p.na, : p.na] += (eps + p.rho) * p.Waa
        pull[: p.na] -= p.rho * p.Waa @ p.previous
        self.constant = float(e @ e + p.rho * p.previous @ p.Waa @ p.previous)
        self.H, self.g = 2.0 * Q * self.units * self.units[:, None], 2.0 * pull * self.units
        self.size = float(self.H.diagonal().max()) or 1.0
        self.gaps, self.dc = np.hstack([Wac.T, Wcc]) * self.units, p.dc[moves]
        self._bound(p, np.hstack([p.Waa, Wac]) * self.units)

    def _bound(self, p: Problem, moved: np.ndarray) -> None:
        """Rows of unit length and bounds, of the unknowns and then of the rows, in units of the largest."""
        limited = np.isfinite(p.dlo) | np.isfinite(p.dhi)
        rows, units = np.vstack([self.gaps, moved[limited]]), self.units[: p.na]
        length = np.linalg.norm(rows, axis=1)
        length[length == 0.0] = 1.0
        some, endless = np.zeros(self.nc), np.full(self.nc, np.inf)
        by = length[self.nc :]
        low = [p.lo / units, some, -self.dc / length[: self.nc], (p.dlo - p.da)[limited] / by]
        high = [p.hi / units, endless, endless, (p.dhi - p.da)[limited] / by]
        self.low, self.high = np.concatenate(low), np.concatenate(high)
        bounds = np.abs(np.concatenate([self.low, self.high]))
        self.unit = float(bounds[np.isfinite(bounds)].max(initial=0.0)) or 1.0
        self.rows = np.ascontiguousarray(rows / length[:, None])

    def solve(self, slack: frozenset[int], closed: frozenset[int]) -> tuple[float, np.ndarray | None]:
        """(cost, optimum) of a program: (inf, None) where it is infeasible, (NaN, None) where DAQP fails."""
        low, high, sense = self.low / self.unit, self.high / self.unit, np.zeros(len(self.low), np.int32)
        for rows, fixed in ((self.na, slack), (self.na + self.nc, closed)):
            at = rows + np.array(sorted(fixed), int)
            high[at], sense[at] = low[at], EQUALITY
        g, flag, x = self.g / (self.size * self.unit), CYCLE, self.g
        for proximal in (0.0, *PROXIMAL):
            H = self.H / self.size + (0.0 if proximal else REGULAR) * np.eye(len(g))
            x, _, flag, _ = daqp.solve(H, g, self.rows, high, low, sense, eps_prox=proximal, **TOLERANCES)
            if flag > 0 or flag == INFEASIBLE:
                break
        if flag <= 0:
            return (np.inf if flag == INFEASIBLE else np.nan), None
        x = np.asarray(x) * self.unit
        return float(0.5 * x @ self.H @ x + self.g @ x) + self.constant, x

    def products(self, x: np.ndarray, decided: frozenset[int]) -> tuple[np.ndarray, bool]:
        """(nc,) force times gap of contacts that are not decided, and whether all are complementary."""
        force, gap = x[self.na :], (self.gaps @ x + self.dc) * self.units[self.na :]
        force, gap = np.maximum(force, 0.0), np.maximum(gap, 0.0)
        largest = max(force.max(initial=0.0), gap.max(initial=0.0))
        known = np.isin(np.arange(self.nc), list(decided))
        over = np.where(known, 0.0, np.minimum(force, gap)).max(initial=0.0)
        return np.where(known, 0.0, force * gap), bool(over <= COMPLEMENTARY * largest)


def prove(p: Problem, cost: float, allowance: float, *, programs: int = 10_000) -> Proof:
    """Whether no solution costs less than `cost` − `allowance`, within so many programs."""
    relaxed, order, enough = Relaxation(p), count(), cost - allowance
    nodes: list[Node] = []
    waiting: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
    solved, bound = 0, -np.inf
    while True:
        for slack, closed in waiting:
            lowest, x = relaxed.solve(slack, closed)
            solved += 1
            if np.isnan(lowest):
                return Proof(OPEN, bound, solved)
            if x is not None and lowest < enough:
                heapq.heappush(nodes, Node(lowest, next(order), slack, closed, x))
        if not nodes:
            return Proof(PROVEN, enough, solved)
        bound, _, slack, closed, x = heapq.heappop(nodes)
        if solved >= programs:
            return Proof(OPEN, bound, solved)
        products, complementary = relaxed.products(x, slack | closed)
        if complementary:
            return Proof(BEATEN, bound, solved)
        one = frozenset([int(products.argmax())])
        waiting = [(slack | one, closed), (slack, closed | one)]
