"""Several descents and the best of them: the compiled heart of `qpcc`."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.solvers.cholesky_update import append
from pliant.solvers.descent import MINIMUM, UNFINISHED, descend
from pliant.solvers.multipliers import contact_multipliers
from pliant.solvers.newton import (
    BEST,
    DHI,
    DLO,
    HESSIAN,
    HI,
    LO,
    ROW,
    SIDE,
    SIGN,
    TRIANGLE,
    WANTED,
    X,
)
from pliant.solvers.pieces import FIXED, LEAST, MEMBERS, PLACE, TARGET, VALUE, inner, sensitivities, settle
from pliant.solvers.problem import offsets
from pliant.solvers.results import evaluate, unscale
from pliant.solvers.scaling import load
from pliant.solvers.starts import propose, shake, spans

REPAIRS = 8  # rounds of phase 1 …
PROXIMAL = 1e-9  # … which stay near their start by this weight, in scaled units
ALLOWED = 1e-9  # violation of displacement bounds, relative to the largest displacement
SHAKES, SHAKE = (
    2,
    1e-6,
)  # times, and share of the range, that efforts are moved where contacts just touch or steps stall
SAME = 1e-9  # costs closer than this, relative, are equal: the earlier start is kept

IMPOSSIBLE = 2  # status beside those of `descent`
STATUS, ITERATIONS, CHOSEN, OWN, BEGUN, INTEGERS = range(6)  # then side (2, na) of the bounds, then the trail
TRAIL = 400  # crossings that are remembered
KEPT = 200  # contacts up to which buffers are kept for the next call


class Workspace(NamedTuple):
    """The arrays of `pieces` and `newton`, the scales and the trail."""

    M: np.ndarray
    L: np.ndarray
    I: np.ndarray
    A: np.ndarray
    P: np.ndarray  # Q of the task, then of repairs
    K: np.ndarray
    F: np.ndarray
    scale: np.ndarray
    trail: np.ndarray


def workspace(ne: int, na: int, nc: int) -> Workspace:
    """Buffers, reused: the compiled code runs to its end, holding the interpreter lock, before any other call."""
    return _kept(ne, na, nc) if nc <= KEPT else _new(ne, na, nc)


def _new(ne: int, na: int, nc: int) -> Workspace:
    m, rows = nc + ne + na, 2 * na + 2
    return Workspace(
        np.zeros((2 * na + FIXED + 1 + nc, m)),
        np.zeros((nc + 3, nc)),
        np.zeros((3, nc + 1), np.int64),
        np.zeros((HESSIAN + 2 * na + rows, na)),
        np.zeros((2 * na + 2, na)),
        np.zeros((4, max(rows, ne) + 1), np.int64),
        np.zeros((TRIANGLE + rows, rows)),
        np.zeros(na + nc),
        np.zeros(nc + TRAIL, np.int64),
    )


_kept = lru_cache(maxsize=64)(_new)


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def solve_starts(
    data,
    ne,
    na,
    nc,
    eps,
    rho,
    shift,
    descents,
    warm,
    M,
    L,
    I,
    A,
    P,
    K,
    F,
    scale,
    trail,
    costs,
    numbers,
    integers,
):
    """Descend from several points and keep the best. False if the input is not finite.

    `costs` (descents,) become the costs reached, infinite where no feasible point was found. `numbers` is described by
    `Report`; `integers` by the constants above, the trail holding the contacts that push at the start, BEGUN in
    number, and those that changed sides later.
    """
    m, last = nc + ne + na, K.shape[1] - 1
    Q, repair = P[: na + 1], P[na + 1 :]
    eps, contradiction, sound = load(data, ne, na, nc, eps, rho, shift, M, A, Q, scale)
    if not sound:
        return False
    spans(M, A, nc)
    _begin(data, offsets(ne, na, nc), M, L, I, A, scale)
    lowest, least = np.inf, np.inf
    for number in range(descents + 1):
        settling = number == descents
        if settling and least <= ALLOWED:
            break
        if number > 0 or not warm:
            propose(number - (1 if warm else 0), A)
        for j in range(na):
            A[X, j] = A[BEST, j] if settling else min(max(A[X, j], A[LO, j]), A[HI, j])
        status, own, begun, violation = UNFINISHED, 0, 0, 0.0
        for round_ in range(SHAKES + 1):
            if round_ > 0:
                shake(A, round_)
            settle(M, L, I, A[X])
            sensitivities(M, L, I)
            begun = _record(I, trail)
            if settling:
                # nothing feasible was found: allow the smallest violation met, and make the best of it
                for j in range(na):
                    A[DLO, j] = min(A[DLO, j], M[na + VALUE, m - na + j])
                    A[DHI, j] = max(A[DHI, j], M[na + VALUE, m - na + j])
            for attempt in range(REPAIRS + 1):
                violation = _violated(M, A, K, repair)
                repairing = K[WANTED, last] > 0 and attempt < REPAIRS
                if not repairing:
                    K[WANTED, last] = ne
                    for e in range(ne):
                        K[WANTED, e] = nc + e
                limit = 100 + 10 * (na + nc)
                status, iterations = descend(M, L, I, A, repair if repairing else Q, K, F, trail, limit)
                own += iterations
                if not repairing:
                    break
            if status == MINIMUM and not _grazes(M, I, K, na):
                break
        integers[ITERATIONS] += own
        cost = _cost(M, A, Q, nc)
        if not settling:
            costs[number] = cost if violation <= ALLOWED else np.inf
        nearer = violation < least and least > ALLOWED
        cheaper = violation <= max(least, ALLOWED) and cost < lowest - SAME * abs(lowest)
        if number == 0 or settling or nearer or cheaper:
            lowest = cost
            if not settling:
                least = violation
                integers[CHOSEN] = number
            for j in range(na):
                A[BEST, j] = A[X, j]
            contact_multipliers(M, L, I, K, F)
            unscale(data, ne, na, nc, M, L, I, A, K, F, scale, numbers)
            integers[STATUS], integers[OWN], integers[BEGUN] = status, own, begun
            _note(K, F, nc + ne, na, trail, integers)
    evaluate(data, ne, na, nc, eps, rho, scale, A, numbers)
    if contradiction or least > ALLOWED:
        integers[STATUS] = IMPOSSIBLE
    return True


@inner
def _begin(data, at, M, L, I, A, scale):
    """Efforts and members of the warm start."""
    na, nc = A.shape[1], L.shape[1]
    C = M[len(M) - nc :]
    I[MEMBERS, nc] = 0
    for j in range(na):
        A[X, j] = data[at.start + j] / scale[j]
    for i in range(nc):
        I[PLACE, i] = -1
        k = I[MEMBERS, nc]
        if data[at.guess + i] > 0.0 and append(L, k, C, I[MEMBERS], i, LEAST):
            I[PLACE, i] = k
            I[MEMBERS, nc] = k + 1


@inner
def _record(I, trail):
    """Begin the trail with the present members; returns their number."""
    begun = I[MEMBERS, I.shape[1] - 1]
    trail[0] = begun
    for a in range(begun):
        trail[a + 1] = I[MEMBERS, a] + 1
    return begun


@inner
def _grazes(M, I, K, na):
    """Whether a contact neither pushes nor opens and its border is not held: then multipliers may miss a way down."""
    nc, extent = I.shape[1] - 1, 0.0
    for i in range(nc):
        extent = max(extent, abs(M[2 * na + FIXED, i]), abs(M[na + VALUE, i]))
    for i in range(nc):
        if abs(M[na + VALUE, i]) <= 1e-12 * extent:
            held = False
            for n in range(K[ROW, K.shape[1] - 1]):
                held |= K[ROW, n] == i
            if not held:
                return True
    return False


@inner
def _violated(M, A, K, repair):
    """Displacements out of bounds become wanted, their bounds targets; returns the largest violation, relative."""
    na, n, worst, extent = A.shape[1], 0, 0.0, 1e-300
    first = M.shape[1] - na
    for j in range(na):
        extent = max(extent, abs(A[X, j]), abs(M[na + VALUE, first + j]))
        for bound in (A[DLO, j], A[DHI, j]):
            if abs(bound) < np.inf:
                extent = max(extent, abs(bound))
    for j in range(na):
        value = M[na + VALUE, first + j]
        bound = min(max(value, A[DLO, j]), A[DHI, j])
        over = abs(value - bound) / extent
        worst = max(worst, over)
        if over > 1e-3 * ALLOWED:
            K[WANTED, n], M[na + TARGET, first + j] = first + j, bound
            n += 1
        repair[j, j], repair[na, j] = PROXIMAL, PROXIMAL * A[X, j]
    K[WANTED, K.shape[1] - 1] = n
    return worst


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
