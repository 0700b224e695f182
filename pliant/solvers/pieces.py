"""Contact modes: on a piece of the actuators' space the same contacts push, and every row is affine in the efforts.

Rows are stacked: contacts (nc), effectors (ne), actuators (na), m in all. With x the actuator efforts and λ the
contact efforts, row values are r = f + S₀ᵀx + Cᵀλ. The *members* F of a piece are the contacts that push; eliminating
them leaves sensitivities S = ∂value/∂x, where the value of a member is its effort and that of any other row is r.
At the border of two pieces the value of one contact is zero: the contact changes sides, values stay as they are, and
S changes by a matrix of rank one. The Cholesky factor of W_FF is updated, never recomputed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.solvers.cholesky_update import append, remove, solve

SHIFT = 1e-11  # added to the unit diagonal of the scaled W_cc: dependent contacts then share their effort
LEAST = 1e-14  # smallest pivot
FRAGILE = 1e-5  # pivots below this let rounding into S, which is then computed afresh
TOUCH = 1e-13  # gaps above minus this, relative to the largest, count as closed

# reassociation lets sums use vector instructions; NaN and infinity keep their meaning
inner = njit(
    error_model="numpy", fastmath={"reassoc", "contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)


class Rows(NamedTuple):
    """The problem in scaled units: Wᵢᵢ = 1 for contacts and actuators."""

    C: np.ndarray  # (nc, m) values per contact effort
    S0: np.ndarray  # (na, m) values per actuator effort, contacts open
    f: np.ndarray  # (m,) values without effort
    lo: np.ndarray  # (na,) bounds of efforts …
    hi: np.ndarray
    dlo: np.ndarray  # (na,) … and displacements
    dhi: np.ndarray


class Piece(NamedTuple):
    """A contact mode and a point in it."""

    x: np.ndarray  # (na,) actuator efforts
    value: np.ndarray  # (m,) see the module
    S: np.ndarray  # (na, m) ∂value/∂x
    L: np.ndarray  # (nc, nc) Cholesky factor of W_FF, leading part
    members: np.ndarray  # (nc,) contacts that push, in the order of L
    place: np.ndarray  # (nc,) position among them, −1 for the others
    count: np.ndarray  # (1,) number of members
    free: np.ndarray  # (m,) scratch: values with all contacts open
    z: np.ndarray  # (nc,) scratch
    u: np.ndarray  # (m,) response of all values to the contact about to change sides


@inner
def new_piece(nc, na, m):
    """Buffers, all contacts open."""
    return Piece(
        np.zeros(na),
        np.zeros(m),
        np.zeros((na, m)),
        np.empty((nc, nc)),
        np.empty(nc, np.int64),
        np.full(nc, -1),
        np.zeros(1, np.int64),
        np.empty(m),
        np.empty(nc),
        np.empty(m),
    )


@inner
def join(rows, piece, i):
    """Contact i pushes. False if it depends on the members."""
    k = piece.count[0]
    if not append(piece.L, k, rows.C, piece.members, i, LEAST):
        return False
    piece.place[i] = k
    piece.count[0] = k + 1
    return True


@inner
def quit(piece, i):
    """Contact i opens."""
    k, position = piece.count[0], piece.place[i]
    remove(piece.L, k, piece.members, position)
    piece.place[i] = -1
    piece.count[0] = k - 1
    for a in range(position, k - 1):
        piece.place[piece.members[a]] = a


@inner
def settle(rows, piece):
    """Contact efforts for the actuator efforts x: 0 ≤ λ ⊥ gap ≥ 0, starting from the present members.

    Lawson and Hanson's method: the most closed gap joins; who would pull on the way to the solution quits.
    Fills the values and the members; S is left as it was.
    """
    free, z, value, members, place = piece.free, piece.z, piece.value, piece.members, piece.place
    nc = len(rows.C)
    _open_values(rows, piece.x, free)
    size = 0.0
    for i in range(nc):
        size = max(size, abs(free[i]))
        value[i] = 0.0
    guessing = True
    for _ in range(10 * nc + 50):
        k = piece.count[0]
        for a in range(k):
            z[a] = -free[members[a]]
        solve(piece.L, k, z)
        if _pulls(piece, guessing):
            continue
        guessing = False
        _add_contacts(rows, piece, z)
        worst = -1
        least = -TOUCH * size
        for i in range(nc):
            if place[i] < 0 and value[i] < least:
                worst, least = i, value[i]
        if worst < 0 or not join(rows, piece, worst):
            break
        for a in range(k):
            value[members[a]] = z[a]
        value[worst] = 0.0
    for a in range(piece.count[0]):
        value[members[a]] = z[a]


@inner
def _open_values(rows, x, free):
    for r in range(len(free)):
        free[r] = rows.f[r]
    for j in range(len(x)):
        if x[j] != 0.0:
            row, effort = rows.S0[j], x[j]
            for r in range(len(free)):
                free[r] += effort * row[r]


@inner
def _add_contacts(rows, piece, z):
    """value ← values of all rows but the members', with member efforts z."""
    value, free = piece.value, piece.free
    for r in range(len(value)):
        value[r] = free[r]
    for a in range(piece.count[0]):
        row, effort = rows.C[piece.members[a]], z[a]
        for r in range(len(value)):
            value[r] += effort * row[r]


@inner
def _pulls(piece, guessing):
    """Whether a member effort z is negative; then one (while guessing, every such) member quits."""
    z, value, members, k = piece.z, piece.value, piece.members, piece.count[0]
    blocking, step = -1, 1.0
    for a in range(k):
        if z[a] < 0.0:
            if guessing:
                blocking = a
            else:
                effort = value[members[a]]
                length = effort / (effort - z[a])
                if blocking < 0 or length < step:
                    blocking, step = a, length
    if blocking < 0:
        return False
    if guessing:
        for a in range(k - 1, -1, -1):
            if z[a] < 0.0:
                quit(piece, members[a])
        return True
    for a in range(k):
        value[members[a]] += step * (z[a] - value[members[a]])
    quit(piece, members[blocking])
    return True


@inner
def sensitivities(rows, piece):
    """S from the factor: members λ_F = −W_FF⁻¹(…), the other rows follow."""
    z, members, k = piece.z, piece.members, piece.count[0]
    for j in range(len(piece.S)):
        row, start = piece.S[j], rows.S0[j]
        for r in range(len(row)):
            row[r] = start[r]
        if k == 0:
            continue
        for a in range(k):
            z[a] = -start[members[a]]
        solve(piece.L, k, z)
        for a in range(k):
            other, effort = rows.C[members[a]], z[a]
            for r in range(len(row)):
                row[r] += effort * other[r]
        for a in range(k):
            row[members[a]] = z[a]


@inner
def respond(rows, piece, i):
    """u ← response of the values when contact i changes sides, per unit of its new variable; returns the pivot.

    Entering: per unit of effort, pivot W_ii − W_iF W_FF⁻¹ W_Fi. Leaving: per unit of gap, pivot (W_FF⁻¹)_ii.
    The new variable is −value_i / pivot. A pivot of zero says that the contact cannot enter.
    """
    u, z, members, k = piece.u, piece.z, piece.members, piece.count[0]
    own = rows.C[i]
    entering = piece.place[i] < 0
    if entering and not append(piece.L, k, rows.C, members, i, LEAST):
        return 0.0
    for a in range(k):
        z[a] = -own[members[a]] if entering else 0.0
    for r in range(len(u)):
        u[r] = own[r] if entering else 0.0
    if not entering:
        z[piece.place[i]] = 1.0
    solve(piece.L, k, z)
    for a in range(k):
        row, effort = rows.C[members[a]], z[a]
        for r in range(len(u)):
            u[r] += effort * row[r]
    for a in range(k):
        u[members[a]] = z[a]
    return piece.L[k, k] ** 2 if entering else z[piece.place[i]]


@inner
def cross(rows, piece, i, pivot):
    """Contact i changes sides, after `respond`: S ← S + c uᵀ with c = −S_i / pivot."""
    S, u = piece.S, piece.u
    if piece.place[i] < 0:
        piece.place[i] = piece.count[0]
        piece.count[0] += 1
    else:
        quit(piece, i)
    if pivot < FRAGILE or pivot * FRAGILE > 1.0:
        sensitivities(rows, piece)
        return
    for j in range(len(S)):
        row, change = S[j], -S[j, i] / pivot
        for r in range(len(row)):
            row[r] += change * u[r]
        row[i] = change
