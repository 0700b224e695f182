"""Several descents, the best of which is certified: the compiled heart of `qpcc`."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.solvers.certify import certify
from pliant.solvers.cholesky_update import append
from pliant.solvers.descent import UNFINISHED, descend
from pliant.solvers.newton import DHI, DLO, HI, LO, X, cost_of
from pliant.solvers.pieces import LEAST, VALUE, inner, sensitivities, settle
from pliant.solvers.problem import load, offsets
from pliant.solvers.starts import propose, spans

REPAIRS = 8  # rounds of phase 1 …
PROXIMAL = 1e-9  # … which stay near their start by this weight, in scaled units
ALLOWED = 1e-9  # violation of displacement bounds, in units of their size
SAME = 1e-9  # costs closer than this, relative, are equal: the earlier start is kept

STATUS, ITERATIONS, CHOSEN, OWN, BEGUN, INTEGERS = range(6)  # then side (2, na) of the bounds, then the trail


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def solve_starts(data, ne, na, nc, eps, rho, starts, warm, costs, numbers, integers):
    """Descend from every start and certify the best. False if the input is not finite.

    `costs` (starts,) become the costs reached, infinite where no feasible point was found. `numbers` is described by
    `Report`; `integers` by the constants above, the trail holding the contacts that push at the start, BEGUN in
    number, and those that changed sides later.
    """
    m, most = nc + ne + na, 2 * na + 2
    C, O, T = np.empty((nc, m)), np.empty((na + 1, m)), np.zeros((na + 4, m))
    L, members, place = np.empty((nc + 1, nc)), np.zeros(nc + 1, np.int64), np.full(nc, -1)
    A, H, Q, side = np.zeros((8, na)), np.empty((na, na)), np.zeros((na + 1, na)), np.zeros(na, np.int64)
    row, held = np.zeros(most + 1, np.int64), np.zeros((4, most))
    B, R, repair = np.empty((na + most, na)), np.empty((most, most)), np.zeros((na + 1, na))
    duals, scale, span, best = np.zeros((2, nc)), np.ones(na + nc), np.zeros((2, na)), np.zeros(na)
    wanted, target = np.empty(max(ne, na), np.int64), np.zeros(max(ne, na))
    trail = np.zeros(len(integers) - INTEGERS - 2 * na, np.int64)
    eps, contradiction, sound = load(data, ne, na, nc, eps, rho, C, O, A, Q, scale)
    if not sound:
        return False
    spans(O, A, nc, span)
    at = offsets(ne, na, nc)
    lowest, least, total = np.inf, np.inf, 0
    if warm:
        _guess(C, L, members, place, data[at.guess : at.guess + nc])
    for number in range(starts + 1):
        last = number == starts
        if last and least <= ALLOWED:
            break
        if warm and number == 0:
            for j in range(na):
                A[X, j] = data[at.start + j] / scale[j]
        else:
            propose(number - (1 if warm else 0), A, span)
        for j in range(na):
            A[X, j] = best[j] if last else min(max(A[X, j], A[LO, j]), A[HI, j])
        settle(C, O, A[X], T, L, members, place)
        sensitivities(C, O, T, L, members)
        if last:  # nothing feasible was found: allow the smallest violation met, and make the best of it
            for j in range(na):
                A[DLO, j] = min(A[DLO, j], T[na + VALUE, m - na + j])
                A[DHI, j] = max(A[DHI, j], T[na + VALUE, m - na + j])
        trail[0] = begun = min(members[nc], len(trail) - 1)
        for a in range(begun):
            trail[a + 1] = members[a] + 1
        status, own, size, violation = UNFINISHED, 0, 0.0, 0.0
        for attempt in range(REPAIRS + 1):
            n, violation = _violated(T, A, wanted, target, repair)
            repairing = n > 0 and attempt < REPAIRS and not last
            if not repairing:
                n = ne
                for e in range(ne):
                    wanted[e], target[e] = nc + e, 0.0
            status, iterations, size = descend(
                C, O, T, L, members, place, A, side, H, row, held, B, R, wanted[:n], target[:n],
                repair if repairing else Q, duals, trail, 100 + 10 * (na + nc),
            )  # fmt: skip
            own += iterations
            if not repairing:
                break
        total += own
        cost = cost_of(T, wanted[:ne], target[:ne], Q, A)
        if not last:
            costs[number] = cost if violation <= ALLOWED else np.inf
        tied = violation <= max(least, ALLOWED)
        if (
            number == 0
            or last
            or (violation < least and least > ALLOWED)
            or (tied and cost < lowest - SAME * abs(lowest))
        ):
            lowest = cost
            if not last:
                least = violation
                integers[CHOSEN] = number
            for j in range(na):
                best[j] = A[X, j]
            certify(
                data, ne, na, nc, eps, rho, C, O, T, L, members, place, A, side, row, held, wanted[:ne], target[:ne], Q,
                duals, scale, size, numbers,
            )  # fmt: skip
            integers[STATUS], integers[OWN], integers[BEGUN] = status, own, begun
            _note(side, row, held, nc + ne, trail, integers)
    integers[ITERATIONS] = total
    if contradiction or least > ALLOWED:
        integers[STATUS] = 2
    return True


@inner
def _guess(C, L, members, place, effort):
    """Members from contact efforts of an earlier solution."""
    nc = len(place)
    for i in range(nc):
        if effort[i] > 0.0 and append(L, members[nc], C, members, i, LEAST):
            place[i] = members[nc]
            members[nc] += 1


@inner
def _violated(T, A, wanted, target, repair):
    """Displacements out of bounds become wanted, their bounds targets; returns (number, largest violation)."""
    na, n, worst = A.shape[1], 0, 0.0
    for j in range(na):
        r = T.shape[1] - na + j
        value = T[na + VALUE, r]
        bound = min(max(value, A[DLO, j]), A[DHI, j])
        over = abs(value - bound)
        if over > 0.0:
            over /= max(abs(value), abs(bound))
            worst = max(worst, over)
        if over > 1e-3 * ALLOWED:
            wanted[n], target[n] = r, bound
            n += 1
        repair[j, j], repair[na, j] = PROXIMAL, PROXIMAL * A[X, j]
    return n, worst


@inner
def _note(side, row, held, first, trail, integers):
    """The bounds that are held and the trail, for the record."""
    na = len(side)
    for j in range(na):
        integers[INTEGERS + j] = side[j]
        integers[INTEGERS + na + j] = 0
    for n in range(row[len(row) - 1]):
        if row[n] >= first:
            integers[INTEGERS + na + row[n] - first] = -1 if held[1, n] > 0.0 else 1
    for n in range(trail[0] + 1):
        integers[INTEGERS + 2 * na + n] = trail[n]
