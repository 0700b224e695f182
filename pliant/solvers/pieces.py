"""Contact modes: on a piece of the actuators' space the same contacts push, and every row is affine in the efforts.

Rows are stacked: contacts (nc), effectors (ne), actuators (na), m in all, scaled so that Wᵢᵢ = 1 for contacts and
actuators. With x the actuator efforts and λ the contact efforts, row values are f + S₀ᵀx + Cᵀλ. The *members* F of a
piece are the contacts that push. Eliminating them leaves sensitivities S = ∂value/∂x, where the value of a member is
its effort and that of any other row is as above. At the border of two pieces the value of one contact is zero: the
contact changes sides, all values stay as they are, and S changes by a matrix of rank one. The Cholesky factor of W_FF
is updated, never recomputed.

The compiled functions share few, large arrays, which keeps compiling them short:

    M  (2 na + 6 + nc, m)  S (na rows), then at na + … VALUE, RESPONSE, OPEN, SLOPE, TARGET, then S₀ (na rows), f, C
    L  (nc + 3, nc)        Cholesky factor of W_FF in the leading rows, a row of scratch, multipliers ν and κ
    I  (3, nc + 1)         MEMBERS in the order of L, their number at the end; PLACE among them, −1 for other contacts;
                           TALLY of border crossings
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.cholesky_update import append, inner, remove, solve

VALUE, RESPONSE, OPEN, SLOPE, TARGET, FIXED = range(6)  # rows of M, from na on; S₀ begins at na + FIXED
MEMBERS, PLACE, TALLY = range(3)

LEAST = 1e-14  # smallest pivot
FRAGILE = 1e-5  # pivots below this let rounding into S, which is then computed afresh
TOUCH = 1e-13  # gaps above minus this, relative to the largest, count as closed


@inner
def settle(M, L, I, x):
    """Contact efforts for the actuator efforts x: 0 ≤ λ ⊥ gap ≥ 0, starting from the present members.

    Lawson and Hanson's method: the most closed gap joins; who would pull on the way to the solution quits.
    Fills the values and the members; S is left as it was.
    """
    na, nc, m = len(x), L.shape[1], M.shape[1]
    value, free, z = M[na + VALUE], M[na + OPEN], L[nc]
    members, place, C = I[MEMBERS], I[PLACE], M[len(M) - nc :]
    for r in range(m):
        free[r] = M[2 * na + FIXED, r]
    for j in range(na):
        row, effort = M[na + FIXED + j], x[j]
        for r in range(m):
            free[r] += effort * row[r]
    size = 0.0
    for i in range(nc):
        size, value[i] = max(size, abs(free[i])), 0.0
    for _ in range(10 * nc + 50):
        k = members[nc]
        for a in range(k):
            z[a] = -free[members[a]]
        solve(L, k, z)
        blocking, step = -1, 1.0
        for a in range(k):
            effort = value[members[a]]
            if z[a] < 0.0 and (blocking < 0 or effort < step * (effort - z[a])):
                blocking, step = a, effort / (effort - z[a])
        if blocking >= 0:
            for a in range(k):
                value[members[a]] += step * (z[a] - value[members[a]])
            quit(L, I, members[blocking])
            continue
        for r in range(m):
            value[r] = free[r]
        for a in range(k):
            row, effort = C[members[a]], z[a]
            for r in range(m):
                value[r] += effort * row[r]
        worst, least = np.int64(-1), -TOUCH * size
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
def quit(L, I, i):
    """Contact i opens."""
    nc, members, place = L.shape[1], I[MEMBERS], I[PLACE]
    k, position = members[nc], place[i]
    remove(L, k, members, position)
    place[i] = -1
    members[nc] = k - 1
    for a in range(position, k - 1):
        place[members[a]] = a


@inner
def sensitivities(M, L, I):
    """S from the factor: members λ_F = −W_FF⁻¹(…), the other rows follow."""
    nc, m = L.shape[1], M.shape[1]
    na = (len(M) - nc - FIXED) // 2
    z, members, k = L[nc], I[MEMBERS], I[MEMBERS, nc]
    for j in range(na):
        row, start = M[j], M[na + FIXED + j]
        for r in range(m):
            row[r] = start[r]
        for a in range(k):
            z[a] = -start[members[a]]
        solve(L, k, z)
        for a in range(k):
            other, effort = M[2 * na + FIXED + 1 + members[a]], z[a]
            for r in range(m):
                row[r] += effort * other[r]
        for a in range(k):
            row[members[a]] = z[a]


@inner
def respond(M, L, I, i):
    """Response of the values when contact i changes sides, per unit of its new variable; returns the pivot.

    Entering: per unit of effort, pivot W_ii − W_iF W_FF⁻¹ W_Fi. Leaving: per unit of gap, pivot (W_FF⁻¹)_ii.
    The new variable is −value_i / pivot. A pivot of zero says that the contact cannot enter.
    """
    nc, m = L.shape[1], M.shape[1]
    na = (len(M) - nc - FIXED) // 2
    C, u, z = M[len(M) - nc :], M[na + RESPONSE], L[nc]
    members, position = I[MEMBERS], I[PLACE, i]
    own, k, share = C[i], members[nc], 0.0
    if position < 0:
        if not append(L, k, C, members, i, LEAST):
            return 0.0
        share = 1.0
    for a in range(k):
        z[a] = -share * own[members[a]]
    if position >= 0:
        z[position] = 1.0
    solve(L, k, z)
    for r in range(m):
        u[r] = share * own[r]
    for a in range(k):
        row, effort = C[members[a]], z[a]
        for r in range(m):
            u[r] += effort * row[r]
    for a in range(k):
        u[members[a]] = z[a]
    return L[k, k] ** 2 if position < 0 else z[position]


@inner
def cross(M, L, I, i, pivot):
    """Contact i changes sides, after `respond`: S ← S + c uᵀ with c = −S_i / pivot."""
    nc, m = L.shape[1], M.shape[1]
    na = (len(M) - nc - FIXED) // 2
    u = M[na + RESPONSE]
    if I[PLACE, i] < 0:
        I[PLACE, i] = I[MEMBERS, nc]
        I[MEMBERS, nc] += 1
    else:
        quit(L, I, i)
    if pivot < FRAGILE or pivot * FRAGILE > 1.0:
        sensitivities(M, L, I)
    else:
        for j in range(na):
            row, change = M[j], -M[j, i] / pivot
            for r in range(m):
                row[r] += change * u[r]
            row[i] = change
