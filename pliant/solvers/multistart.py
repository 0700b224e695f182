"""Several descents, the best of which is certified: the compiled heart of `qpcc`."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.solvers.certify import certify
from pliant.solvers.cholesky_update import append
from pliant.solvers.descent import UNFINISHED, descend
from pliant.solvers.newton import DHI, DLO, HI, LO, ROW, SIDE, SIGN, X
from pliant.solvers.pieces import FIXED, LEAST, MEMBERS, PLACE, VALUE, inner, sensitivities, settle
from pliant.solvers.problem import load, offsets
from pliant.solvers.starts import propose, spans

REPAIRS = 8  # rounds of phase 1 …
PROXIMAL = 1e-9  # … which stay near their start by this weight, in scaled units
ALLOWED = 1e-9  # violation of displacement bounds, in units of their size
SAME = 1e-9  # costs closer than this, relative, are equal: the earlier start is kept

INFEASIBLE = 2
STATUS, ITERATIONS, CHOSEN, OWN, BEGUN, INTEGERS = range(6)  # then side (2, na) of the bounds, then the trail


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def solve_starts(data, ne, na, nc, eps, rho, starts, warm, costs, numbers, integers):
    """Descend from every start and certify the best. False if the input is not finite.

    `costs` (starts,) become the costs reached, infinite where no feasible point was found. `numbers` is described by
    `Report`; `integers` by the constants above, the trail holding the contacts that push at the start, BEGUN in
    number, and those that changed sides later.
    """
    m, most = nc + ne + na, 2 * na + 2
    M, L, I = np.zeros((2 * na + FIXED + 1 + nc, m)), np.empty((nc + 1, nc)), np.zeros((2, nc + 1), np.int64)
    A, K, F = np.zeros((9 + 2 * na + most, na)), np.zeros((3, most + 1), np.int64), np.zeros((4 + most, most))
    Q, repair, span = np.zeros((na + 1, na)), np.zeros((na + 1, na)), np.zeros((3, na))
    duals, scale = np.zeros((2, nc)), np.zeros(na + nc)
    wanted, target = np.zeros(max(ne, na), np.int64), np.zeros(max(ne, na))
    trail = np.zeros(len(integers) - INTEGERS - 2 * na, np.int64)
    eps, contradiction, sound = load(data, ne, na, nc, eps, rho, M, A, Q, scale)
    if not sound:
        return False
    spans(M, A, nc, span)
    best, lowest, least, at = span[2], np.inf, np.inf, offsets(ne, na, nc)
    _begin(data, at, M, L, I, A, scale, warm)
    for number in range(starts + 1):
        last = number == starts
        if last and least <= ALLOWED:
            break
        if number > 0 or not warm:
            propose(number - (1 if warm else 0), A, span)
        for j in range(na):
            A[X, j] = best[j] if last else min(max(A[X, j], A[LO, j]), A[HI, j])
        settle(M, L, I, A[X])
        sensitivities(M, L, I)
        if last:  # nothing feasible was found: allow the smallest violation met, and make the best of it
            for j in range(na):
                A[DLO, j] = min(A[DLO, j], M[na + VALUE, m - na + j])
                A[DHI, j] = max(A[DHI, j], M[na + VALUE, m - na + j])
        begun = I[MEMBERS, nc]
        trail[0] = begun
        for a in range(begun):
            trail[a + 1] = I[MEMBERS, a] + 1
        status, own, size, violation = UNFINISHED, 0, 0.0, 0.0
        for attempt in range(REPAIRS + 1):
            n, violation = _violated(M, A, wanted, target, repair)
            repairing = n > 0 and attempt < REPAIRS and not last
            if not repairing:
                n = ne
                for e in range(ne):
                    wanted[e], target[e] = nc + e, 0.0
            status, iterations, size = descend(
                M, L, I, A, repair if repairing else Q, K, F, wanted[:n], target[:n], duals, trail, 100 + 10 * (na + nc)
            )
            own += iterations
            if not repairing:
                break
        integers[ITERATIONS] += own
        cost = _cost(M, A, Q, nc)
        if not last:
            costs[number] = cost if violation <= ALLOWED else np.inf
        nearer = violation < least and least > ALLOWED
        cheaper = violation <= max(least, ALLOWED) and cost < lowest - SAME * abs(lowest)
        if number == 0 or last or nearer or cheaper:
            lowest = cost
            if not last:
                least = violation
                integers[CHOSEN] = number
            for j in range(na):
                best[j] = A[X, j]
            certify(
                data, ne, na, nc, eps, rho, M, L, I, A, Q, K, F, wanted[:ne], target[:ne], duals, scale, size, numbers
            )
            integers[STATUS], integers[OWN], integers[BEGUN] = status, own, begun
            _note(K, F, nc + ne, na, trail, integers)
    if contradiction or least > ALLOWED:
        integers[STATUS] = INFEASIBLE
    return True


@inner
def _begin(data, at, M, L, I, A, scale, warm):
    """Efforts and members of the warm start."""
    na, nc = A.shape[1], L.shape[1]
    C = M[len(M) - nc :]
    for j in range(na):
        A[X, j] = data[at.start + j] / scale[j]
    for i in range(nc):
        I[PLACE, i] = -1
        k = I[MEMBERS, nc]
        if data[at.guess + i] > 0.0 and append(L, k, C, I[MEMBERS], i, LEAST):
            I[PLACE, i] = k
            I[MEMBERS, nc] = k + 1


@inner
def _violated(M, A, wanted, target, repair):
    """Displacements out of bounds become wanted, their bounds targets; returns (number, largest violation)."""
    na, n, worst = A.shape[1], 0, 0.0
    for j in range(na):
        r = M.shape[1] - na + j
        value = M[na + VALUE, r]
        bound = min(max(value, A[DLO, j]), A[DHI, j])
        over = abs(value - bound) / max(abs(value), abs(bound), 1e-300)
        worst = max(worst, over)
        if over > 1e-3 * ALLOWED:
            wanted[n], target[n] = r, bound
            n += 1
        repair[j, j], repair[na, j] = PROXIMAL, PROXIMAL * A[X, j]
    return n, worst


@inner
def _cost(M, A, Q, nc):
    """Effector error and effort terms at the point, up to a constant."""
    na, total = A.shape[1], 0.0
    for r in range(nc, M.shape[1] - na):
        total += M[na + VALUE, r] ** 2
    for i in range(na):
        pull = -2.0 * Q[na, i]
        for j in range(na):
            pull += Q[i, j] * A[X, j]
        total += pull * A[X, i]
    return total


@inner
def _note(K, F, first, na, trail, integers):
    """The bounds that are held and the trail, for the record."""
    for j in range(na):
        integers[INTEGERS + j], integers[INTEGERS + na + j] = K[SIDE, j], 0
    for n in range(K[ROW, K.shape[1] - 1]):
        if K[ROW, n] >= first:
            integers[INTEGERS + na + K[ROW, n] - first] = -1 if F[SIGN, n] > 0.0 else 1
    for n in range(trail[0] + 1):
        integers[INTEGERS + 2 * na + n] = trail[n]
