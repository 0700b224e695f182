"""Several descents and the best of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.solvers.qpcc.descent import MINIMUM, MOST_MOVES, UNFINISHED, descend
from pliant.solvers.qpcc.newton_step import Step, Task, new_step
from pliant.solvers.qpcc.proof import is_global
from pliant.solvers.qpcc.region import REPAIRED, Region, new_region, settle
from pliant.solvers.qpcc.scaled import Scaled, Scaling
from pliant.solvers.qpcc.starts import PER_START, chances, nearby, propose
from pliant.solvers.qpcc.working_set import WorkingSet, new_working_set
from pliant.solvers.solution import Reals

SAME_COST = 1e-9  # costs closer than this, relative to them and to the task without efforts, are equal
PATIENCE = 50  # iterations for every start, after which no descent is begun far away …
THOROUGH, NEARBY = 16, 25  # … and from so many starts on, those for each that descents near the best get
DOUBTING = 8  # starts from which they are doubled, where of all descents …
RARE = 1 / 3  # … fewer than this share ended in the best
REPAIRS = 8  # rounds of phase 1, which brings displacements into their bounds …
PROXIMAL = 1e-9  # … and stays near its start by this weight, in scaled units
ALLOWED = 1e-9  # violation of displacement bounds, relative to the largest displacement
LEAST_LIMIT, LIMIT_PER_ROW = 100, 10  # most iterations of one descent: so many, and more for every row
SHAKES = 2  # times that efforts are moved where contacts just touch or steps stall …
SHAKE = 1e-6  # … by up to this share of their range
LEAST_EFFORT = 1e-6  # share of their range that efforts count at least, where gaps are compared
NO_GUESS = np.zeros(0)  # of contact efforts


class Work(NamedTuple):
    """What descents work on."""

    scaling: Scaling
    goal: Task
    region: Region
    working: WorkingSet
    step: Step
    path: np.ndarray  # contacts that push at the start, as i + 1, then those that pivot, as i + 1 or −i − 1


class Stop(NamedTuple):
    """Where a descent stopped."""

    status: int
    cost: float  # up to a constant
    iterations: int
    moves: int  # the length of the path …
    began: int  # … and how many contacts pushed at its start: the first numbers of the path
    violation: float = 0.0  # of displacement bounds, relative


class Minimum(NamedTuple):
    """The best point of a search, scaled; multipliers as in `WorkingSet`."""

    x: Reals  # (na,) actuator efforts
    push: Reals  # (nc,) contact efforts
    eta: Reals  # (na,) multipliers of effort bounds
    mu: Reals  # (na,) of displacement bounds
    nu: Reals  # (nc,) of gaps
    kappa: Reals  # (nc,) of contact efforts
    at_effort: np.ndarray  # (na,) bounds that hold the point: −1 lower, 1 upper, 0 none
    at_displacement: np.ndarray  # (na,)
    path: np.ndarray  # of the descent that led here, see `Work` …
    began: int  # … and how many contacts pushed at its start
    status: int
    penetration: float  # the deepest


class Search(NamedTuple):
    """What a search came to."""

    best: Minimum
    costs: Reals  # of all descents, infinite where no feasible point was found
    chosen: int  # the descent that led to the best point
    iterations: int
    feasible: bool
    proven: bool  # that no efforts are better
    penetration: float  # relative to what makes up the gaps


def search(scaling: Scaling, start: Reals | None, guess: Reals, starts: int) -> Search:
    """Descend from several points and keep the best.

    `start` (na,) are the scaled efforts of a warm start, or None; `guess` (nc,) says which contacts push
    there. `starts` = 1 is one descent, every further one adds PER_START of them, but none is begun after
    PATIENCE iterations for every start, nor where the best so far is proven to be the global minimum. Where
    many contacts are about to touch, minima lie side by side, and descents end now here, now there: where
    the best is RARE among DOUBTING starts or more, they are doubled. A THOROUGH search then descends from
    points near the best.
    """
    warm, efforts = start is not None, scaling.efforts
    work, found = _work(scaling), Found(several=starts > 1 and len(scaling.rows.C) > 0)
    found.descend(work, np.zeros(len(scaling.Q)) if start is None else start, guess)
    found.look_far(work, starts, warm)
    if DOUBTING <= starts < THOROUGH and found.rare:
        starts *= 2
        found.look_far(work, starts, warm)
    if found.several and starts >= THOROUGH and found.feasible:
        far, last = len(found.costs), found.iterations + NEARBY * starts
        while found.begins(last):
            found.descend(work, nearby(len(found.costs) - far, efforts, found.minimum.x))
    best, iterations = found.minimum, found.iterations
    if not found.feasible:  # make the best of the smallest violation
        stop = _attempt(work, best.x, NO_GUESS, relax=True)
        iterations, best = iterations + stop.iterations, _minimum(work, stop)
    penetration = best.penetration / _gap_size(work, best.x)
    return Search(
        best, np.array(found.costs), found.chosen, iterations, found.feasible, found.proven, penetration
    )


@dataclass
class Found:
    """What the descents of a search, one or `several`, have come to so far; see `Search`."""

    several: bool
    minimum: Minimum = None  # type: ignore[assignment]  # there is one after the first descent
    lowest: float = np.inf
    same: float = 0.0  # by how much a cost may be above the lowest and count as the same
    violation: float = np.inf
    chosen: int = 0
    iterations: int = 0
    proven: bool = False
    costs: list[float] = field(default_factory=list)

    @property
    def feasible(self) -> bool:
        """Whether the best keeps the bounds of displacements."""
        return self.violation <= ALLOWED

    @property
    def rare(self) -> bool:
        """Whether there were several descents, and few of them ended in the best, which is not proven."""
        again = np.array(self.costs) <= self.lowest + self.same
        return self.several and not self.proven and float(again.mean()) < RARE

    def begins(self, iterations: int) -> bool:
        """Whether one more descent is begun, of those in so many iterations."""
        return not self.proven and self.iterations < iterations

    def look_far(self, work: Work, starts: int, warm: bool) -> None:
        """Descend from points all over the range, up to as many as so many `starts` bring."""
        descents = 1 + PER_START * (starts - 1) if self.several else 1
        while len(self.costs) < descents and self.begins(PATIENCE * starts):
            self.descend(work, propose(len(self.costs) - warm, work.scaling.efforts, self.minimum.x))

    def descend(self, work: Work, x: Reals, guess: Reals = NO_GUESS) -> None:
        """Descend from efforts x (na,), and keep where it ends if that is better."""
        rows, stop = work.scaling.rows, _attempt(work, x, guess)
        errors = rows.f[len(rows.C) : -len(x)]
        feasible = stop.violation <= ALLOWED
        same = SAME_COST * (abs(stop.cost) + float(errors @ errors))
        cheaper = stop.cost < self.lowest - same
        if feasible and cheaper if self.feasible else stop.violation < self.violation:
            self.lowest, self.violation, self.chosen = stop.cost, stop.violation, len(self.costs)
            self.same = same
            self.minimum = _minimum(work, stop)
            self.proven = self.several and feasible and stop.status != UNFINISHED
            self.proven = self.proven and is_global(work.scaling, work.region, stop.cost)
        self.iterations += stop.iterations
        self.costs.append(stop.cost if feasible else np.inf)


def _work(scaling: Scaling) -> Work:
    """Arrays of one search's own."""
    rows, na, nc = scaling.rows, len(scaling.Q), len(scaling.rows.C)
    m = len(rows.f)
    sizes = m - na - nc, na, nc
    weight = np.zeros(m)
    weight[nc : m - na] = 1.0
    goal = Task(weight, np.zeros(m), scaling.Q, scaling.p)
    path = np.empty(nc + MOST_MOVES, np.int64)
    return Work(scaling, goal, new_region(*sizes), new_working_set(*sizes), new_step(*sizes), path)


def _attempt(work: Work, x: Reals, guess: Reals, *, relax: bool = False) -> Stop:
    """One descent from efforts x (na,).

    Where it ends on the edge of a contact, multipliers may miss a way down: it is repeated from a point
    nearby. `relax` allows the violation of displacement bounds at the start, for problems in which nothing
    feasible was found.
    """
    rows, region, span = work.scaling.rows, work.region, work.scaling.efforts.span
    iterations = 0
    for shake in range(SHAKES + 1):
        np.minimum(np.maximum(x, rows.lo), rows.hi, out=region.x)
        within = settle(rows, region, guess)
        if not within and relax:
            moved = region.value[-len(x) :]
            rows = rows._replace(dlo=np.minimum(rows.dlo, moved), dhi=np.maximum(rows.dhi, moved))
        stop = _descend(work, rows, work.goal, -1) if within or relax else _repaired(work, rows)
        iterations += stop.iterations
        if stop.status == MINIMUM:
            break
        aside = 2.0 * np.array(chances(shake, len(x))) - 1.0
        x, guess = region.x + SHAKE * span * aside, NO_GUESS
    return stop if shake == 0 else stop._replace(iterations=iterations)


def _descend(work: Work, rows: Scaled, task: Task, moves: int) -> Stop:
    """See `descent.descend`."""
    limit = LEAST_LIMIT + LIMIT_PER_ROW * (len(rows.S) + len(rows.C))
    span, path = work.scaling.efforts.span, work.path
    return Stop(*descend(rows, task, work.region, work.working, work.step, span, path, moves, limit))


def _repaired(work: Work, rows: Scaled) -> Stop:
    """Bring displacements into their bounds (phase 1), then descend."""
    moves, iterations, began = -1, 0, int(work.region.size[0])
    for repairs in range(REPAIRS + 1):
        violation, repair = _violation(rows, work.region)
        task = work.goal if repair is None or repairs == REPAIRS else repair
        stop = _descend(work, rows, task, moves)
        moves, iterations = stop.moves, iterations + stop.iterations
        if task is work.goal:
            break
    return stop._replace(iterations=iterations, began=began, violation=violation)


def _violation(rows: Scaled, region: Region) -> tuple[float, Task | None]:
    """The largest relative violation of displacement bounds, and the task to undo it, if there is any."""
    na, m = len(rows.lo), len(rows.f)
    moved = region.value[m - na :]
    nearest = np.minimum(np.maximum(moved, rows.dlo), rows.dhi)
    over = np.abs(moved - nearest)
    if not over.any():
        return 0.0, None
    bounds = np.concatenate((rows.dlo, rows.dhi))
    sizes = np.abs(np.concatenate((region.x, moved, bounds[np.isfinite(bounds)])))
    over /= max(sizes.max(), 1e-300)
    weight, target = np.zeros(m), np.zeros(m)
    weight[m - na :], target[m - na :] = over > REPAIRED, nearest
    repair = Task(weight, target, PROXIMAL * np.eye(na), PROXIMAL * region.x) if weight.any() else None
    return float(over.max()), repair


def _minimum(work: Work, stop: Stop) -> Minimum:
    """A copy of the point and its multipliers."""
    region, working, na = work.region, work.working, len(work.region.x)
    nc, last = len(region.place), len(region.value) - na
    value = region.value[:nc]
    push = np.maximum(value, 0.0) * (region.place >= 0)
    mu, side = np.zeros(na), np.zeros(na, np.int64)
    for n in range(int(working.size[0])):
        i = int(working.rows[n]) - last
        if i >= 0:
            mu[i], side[i] = working.force[n], -1 if working.sign[n] > 0.0 else 1
    penetration = max(work.scaling.shift * push.max(initial=0.0), -value.min(initial=0.0))
    eta, nu, kappa = working.eta.copy(), working.nu.copy(), working.kappa.copy()
    path, sides = work.path[: stop.moves].copy(), (working.side.copy(), side)
    return Minimum(
        region.x.copy(), push, eta, mu, nu, kappa, *sides, path, stop.began, stop.status, float(penetration)
    )


def _gap_size(work: Work, x: Reals) -> float:
    """The largest of the terms that make up the gaps."""
    (rows, efforts), nc = work.scaling[:2], len(work.scaling.rows.C)
    used = np.maximum(np.abs(x), LEAST_EFFORT * efforts.span)
    return max(float(np.abs(rows.f[:nc]).max(initial=0.0)), float((used * efforts.push).max()), 1e-300)
