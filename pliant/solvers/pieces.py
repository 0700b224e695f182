"""Contact modes: on a piece of the actuators' space the same contacts push, and every row is affine in the efforts.

Rows are stacked: contacts (nc), effectors (ne), actuators (na), m in all, scaled so that Wᵢᵢ = 1 for contacts and
actuators. With x the actuator efforts and λ the contact efforts, row values are f + S₀ᵀx + Cᵀλ. The *members* F of a
piece are the contacts that push. Eliminating them leaves sensitivities S = ∂value/∂x, where the value of a member is
its effort and that of any other row is r. At the border of two pieces the value of one contact is zero: the contact
changes sides, all values stay as they are, and S changes by a matrix of rank one. The Cholesky factor of W_FF is
updated, never recomputed.

The compiled functions share these arrays:

    C        (nc, m)      values per contact effort
    O        (na + 1, m)  values per actuator effort with all contacts open, S₀; last row f
    T        (na + 4, m)  the tableau: S, then the rows VALUE, RESPONSE, OPEN, SLOPE at na + …
    L        (nc + 1, nc) Cholesky factor of W_FF in the leading rows; last row scratch
    members  (nc + 1,)    contacts that push, in the order of L; last entry their number
    place    (nc,)        position among the members, −1 for the others
"""

from __future__ import annotations

from numba import njit

from pliant.solvers.cholesky_update import append, remove, solve

VALUE, RESPONSE, OPEN, SLOPE = 0, 1, 2, 3

SHIFT = 1e-13  # added to the unit diagonal of the scaled W_cc: dependent contacts then share their effort
LEAST = 1e-14  # smallest pivot
FRAGILE = 1e-5  # pivots below this let rounding into S, which is then computed afresh
TOUCH = 1e-13  # gaps above minus this, relative to the largest, count as closed

# reassociation lets sums use vector instructions; NaN and infinity keep their meaning
inner = njit(
    error_model="numpy", fastmath={"reassoc", "contract"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)


@inner
def settle(C, O, x, T, L, members, place):
    """Contact efforts for the actuator efforts x: 0 ≤ λ ⊥ gap ≥ 0, starting from the present members.

    Lawson and Hanson's method: the most closed gap joins; who would pull on the way to the solution quits.
    Fills the values and the members; S is left as it was.
    """
    na, nc, m = len(x), len(place), C.shape[1]
    value, free, z = T[na + VALUE], T[na + OPEN], L[nc]
    size = open_values(O, x, free, nc)
    for i in range(nc):
        value[i] = 0.0
    for _ in range(10 * nc + 50):
        k = members[nc]
        for a in range(k):
            z[a] = -free[members[a]]
        solve(L, k, z)
        blocking, step = -1, 1.0
        for a in range(k):
            if z[a] < 0.0:
                effort = value[members[a]]
                if blocking < 0 or effort < step * (effort - z[a]):
                    blocking, step = a, effort / (effort - z[a])
        if blocking >= 0:
            for a in range(k):
                value[members[a]] += step * (z[a] - value[members[a]])
            quit(L, members, place, members[blocking])
            continue
        for r in range(m):
            value[r] = free[r]
        for a in range(k):
            row, effort = C[members[a]], z[a]
            for r in range(m):
                value[r] += effort * row[r]
        worst, least = -1, -TOUCH * size
        for i in range(nc):
            if value[i] < least and place[i] < 0:
                worst, least = i, value[i]
        for a in range(k):
            value[members[a]] = z[a]
        if worst < 0 or not append(L, k, C, members, worst, LEAST):
            break
        value[worst] = 0.0
        place[worst] = k
        members[nc] = k + 1


@inner
def open_values(O, x, free, nc):
    """free ← f + S₀ᵀx; returns the largest gap in size."""
    na = len(x)
    start = O[na]
    for r in range(len(free)):
        free[r] = start[r]
    for j in range(na):
        row, effort = O[j], x[j]
        if effort != 0.0:
            for r in range(len(free)):
                free[r] += effort * row[r]
    size = 0.0
    for i in range(nc):
        size = max(size, abs(free[i]))
    return size


@inner
def quit(L, members, place, i):
    """Contact i opens."""
    nc = len(place)
    k, position = members[nc], place[i]
    remove(L, k, members, position)
    place[i] = -1
    members[nc] = k - 1
    for a in range(position, k - 1):
        place[members[a]] = a


@inner
def sensitivities(C, O, T, L, members):
    """S from the factor: members λ_F = −W_FF⁻¹(…), the other rows follow."""
    na, nc = len(O) - 1, len(C)
    z, k = L[nc], members[nc]
    for j in range(na):
        row, start = T[j], O[j]
        for r in range(len(row)):
            row[r] = start[r]
        for a in range(k):
            z[a] = -start[members[a]]
        solve(L, k, z)
        for a in range(k):
            other, effort = C[members[a]], z[a]
            for r in range(len(row)):
                row[r] += effort * other[r]
        for a in range(k):
            row[members[a]] = z[a]


@inner
def respond(C, T, L, members, place, i):
    """Response of the values when contact i changes sides, per unit of its new variable; returns the pivot.

    Entering: per unit of effort, pivot W_ii − W_iF W_FF⁻¹ W_Fi. Leaving: per unit of gap, pivot (W_FF⁻¹)_ii.
    The new variable is −value_i / pivot. A pivot of zero says that the contact cannot enter.
    """
    nc = len(place)
    u, z, own, k = T[len(T) - 4 + RESPONSE], L[nc], C[i], members[nc]
    entering = place[i] < 0
    if entering and not append(L, k, C, members, i, LEAST):
        return 0.0
    for a in range(k):
        z[a] = -own[members[a]] if entering else 0.0
    for r in range(len(u)):
        u[r] = own[r] if entering else 0.0
    if not entering:
        z[place[i]] = 1.0
    solve(L, k, z)
    for a in range(k):
        row, effort = C[members[a]], z[a]
        for r in range(len(u)):
            u[r] += effort * row[r]
    for a in range(k):
        u[members[a]] = z[a]
    return L[k, k] ** 2 if entering else z[place[i]]


@inner
def cross(C, O, T, L, members, place, i, pivot):
    """Contact i changes sides, after `respond`: S ← S + c uᵀ with c = −S_i / pivot."""
    na, nc = len(T) - 4, len(place)
    u = T[na + RESPONSE]
    if place[i] < 0:
        place[i] = members[nc]
        members[nc] += 1
    else:
        quit(L, members, place, i)
    for j in range(na):
        row, change = T[j], -T[j, i] / pivot
        for r in range(len(row)):
            row[r] += change * u[r]
        row[i] = change
    if pivot < FRAGILE or pivot * FRAGILE > 1.0:
        sensitivities(C, O, T, L, members)
