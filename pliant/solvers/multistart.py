"""Several descents and the best of them: the compiled heart of `qpcc`."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.solvers.attempt import ALLOWED, attempt, cost_of
from pliant.solvers.multipliers import contact_multipliers
from pliant.solvers.native import INTEGERS, NOTHING, REAL, REALS, at, native, pointer, row
from pliant.solvers.pieces import join
from pliant.solvers.rows import copy, dot, fill, largest
from pliant.solvers.scaling import CONTRADICTION, PAPER, UNSOUND, load, work
from pliant.solvers.starts import propose, spans
from pliant.solvers.tableau import (
    BEGAN,
    BEST,
    COUNT,
    ETA,
    HELD,
    HOLDS,
    KAPPA,
    LAM,
    LEFT,
    MOST_MOVES,
    MOVES,
    MU,
    NA,
    NC,
    NE,
    NU,
    PLACE,
    PUSH,
    RIGHT,
    SCALE,
    SIDE,
    SIGN,
    SIT,
    STATE,
    TRAIL,
    VALUE,
    M,
    S,
    X,
)
from pliant.solvers.tableau import ITERATIONS as TAKEN

SAME = 1e-9  # costs closer than this, relative to them and to the task without efforts, are equal: the first is kept
PATIENCE = 50  # iterations for every start, after which no descent is begun
LEAST_EFFORT = 1e-6  # share of their range that efforts count at least, where gaps are compared

IMPOSSIBLE = 2  # status beside those of `descent`
# of the integers: then come the sides (2, na) of the bounds, then the trail
STATUS, ITERATIONS, DESCENTS, CHOSEN, BEGUN, LENGTH, FIRST = range(7)


def outputs(na: int, nc: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Where `search` puts its results: numbers (3, m), see LAM, ETA, MU of `tableau`, in user units; integers."""
    return np.empty((3, m)), np.zeros(FIRST + 2 * na + nc + MOST_MOVES, np.int64)


@native(NOTHING, REALS, INTEGERS, REALS)
def warm_up(z, j, start):
    """Efforts (na) and contact efforts (nc) of the warm start."""
    na, last = j[NA], j[NC] + j[NE]
    j[COUNT] = 0
    j[TAKEN] = 0
    for i in range(na):
        row(z, j, X)[i] = start[i] / row(z, j, SCALE)[last + i]
    for i in range(j[NC]):
        row(j, j, PLACE)[i] = -1
        if start[na + i] > 0.0:
            join(z, j, i)


@native(NOTHING, REALS, INTEGERS, REAL, INTEGERS)
def keep(z, j, shift, integers):
    """The point becomes the best one; its deepest penetration stands behind the efforts."""
    na, nc, last = j[NA], j[NC], j[NC] + j[NE]
    lam, eta, mu = row(z, j, LAM), row(z, j, ETA), row(z, j, MU)
    value, sides, deepest = row(z, j, VALUE), at(integers, FIRST), 0.0
    contact_multipliers(z, j)
    fill(lam, 0.0, j[M])
    for i in range(nc):
        if row(j, j, PLACE)[i] >= 0:
            lam[i] = max(value[i], 0.0)
        deepest = max(deepest, shift * lam[i], -value[i])
    lam[last + na] = deepest
    copy(row(z, j, BEST), 1.0, row(z, j, X), na)
    copy(at(lam, last), 1.0, row(z, j, X), na)
    fill(eta, 0.0, j[M])
    copy(eta, 1.0, row(z, j, KAPPA), nc)
    copy(at(eta, last), 1.0, row(z, j, SIT), na)
    fill(mu, 0.0, j[M])
    copy(mu, 1.0, row(z, j, NU), nc)
    for i in range(na):
        sides[i] = row(j, j, SIDE)[i]
        sides[na + i] = 0
    for n in range(j[HOLDS]):
        r = row(j, j, HELD)[n]
        if r >= last:
            mu[r] = row(z, j, PUSH)[n]
            sides[na + r - last] = -1 if row(z, j, SIGN)[n] > 0.0 else 1
    for n in range(j[MOVES]):
        sides[2 * na + n] = row(j, j, TRAIL)[n]
    integers[STATUS] = j[STATE]
    integers[LENGTH] = j[MOVES]
    integers[BEGUN] = j[BEGAN]


@native(REAL, REALS, INTEGERS, REALS, REALS)
def finish(z, j, bounds, numbers):
    """The best point in user units; returns its largest penetration, relative to what makes up the gaps."""
    na, nc, m = j[NA], j[NC], j[M]
    scale, efforts = row(z, j, SCALE), at(numbers, nc + j[NE])
    extent = max(largest(row(z, j, S + 2 * na), nc), 1e-300)
    for i in range(na):
        reach = LEAST_EFFORT * (row(z, j, RIGHT)[i] - row(z, j, LEFT)[i])
        extent = max(extent, max(abs(row(z, j, BEST)[i]), reach) * largest(row(z, j, S + na + i), nc))
    for r in range(m):
        numbers[r] = scale[r] * row(z, j, LAM)[r]
        numbers[m + r] = row(z, j, ETA)[r] / scale[r] if scale[r] > 0.0 else 0.0
        numbers[2 * m + r] = scale[r] * row(z, j, MU)[r]
    for i in range(na):
        if bounds[i] <= bounds[na + i]:  # no ulp beyond a bound
            efforts[i] = min(max(efforts[i], bounds[i]), bounds[na + i])
    return row(z, j, LAM)[m] / extent


@njit(cache=True, error_model="numpy")
def search(data, Z, J, eps, rho, shift, warm, starts, costs, numbers, integers):
    """Descend from several points and keep the best; returns (ε, relative penetration), NaN if input is not finite.

    `costs` become the costs reached, infinite where no feasible point was found; it is over after so many descents,
    or when PATIENCE says so. `integers` is described by the constants above, the trail holding the contacts that push
    at the start, BEGUN in number, and those that changed sides later.
    """
    z, j, given, notes = pointer(Z), pointer(J), pointer(data), pointer(integers)
    na, nc = j[NA], j[NC]
    if eps < 0.0:
        eps = PAPER * work(given, j[NE], na, nc)
    found, tail = load(given, z, j, eps, rho, shift), len(data) - 4 * na
    if found == UNSOUND:
        return np.nan, 0.0
    spans(z, j)
    warm_up(z, j, at(given, tail - na - nc))
    lowest, least, number = np.inf, np.inf, 0
    task = at(row(z, j, S + 2 * na), nc)
    scale = dot(task, task, j[NE])
    while number < len(costs) and (number == 0 or j[TAKEN] < PATIENCE * starts):
        if number > 0 or not warm:
            propose(z, j, number - (1 if warm else 0))
        violation, cost = attempt(z, j, False), cost_of(z, j)
        costs[number] = cost if violation <= ALLOWED else np.inf
        nearer = violation < least and least > ALLOWED
        cheaper = violation <= max(least, ALLOWED) and cost < lowest - SAME * (abs(cost) + scale)
        if nearer or cheaper:
            lowest, least = cost, violation
            notes[CHOSEN] = number
            keep(z, j, shift, notes)
        number += 1
    if least > ALLOWED:
        copy(row(z, j, X), 1.0, row(z, j, BEST), na)
        attempt(z, j, True)
        keep(z, j, shift, notes)
    if found == CONTRADICTION or least > ALLOWED:
        notes[STATUS] = IMPOSSIBLE
    notes[ITERATIONS] = j[TAKEN]
    notes[DESCENTS] = number
    return eps, finish(z, j, at(given, tail), pointer(numbers))
