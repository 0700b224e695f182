"""Multipliers at a point where no step helps: what to let go of, and which border to cross."""

from __future__ import annotations

import numpy as np

from pliant.solvers.cholesky_update import solve
from pliant.solvers.newton import ETA, HI, LEVEL, LO, MU, ROW, SIDE, SIGN, WANTED
from pliant.solvers.pieces import FIXED, MEMBERS, PLACE, RESPONSE, TARGET, VALUE, inner

LET_GO, STAY = -1, -2  # what `release` did, where it does not name a border


@inner
def release(M, L, I, A, K, F, wrong, stuck):
    """Let go of the bound or row whose multiplier is most wrong, or name the border beyond which the cost falls.

    Where steps have no length any more, the first that is wrong goes instead (Bland's rule: no endless round).
    """
    na, nc, last = A.shape[1], L.shape[1], K.shape[1] - 1
    worst, bound, position = -wrong, -1, -1
    border, count, first = np.int64(STAY), K[ROW, last], 2 * na + nc
    for n in range(count):
        row, norm = K[ROW, n], 0.0
        order = row if row < nc else nc + 2 * (row - (M.shape[1] - na)) + 1
        for j in range(na):
            norm = max(norm, abs(M[j, row]))
        force, other = F[SIGN, n] * F[MU, n] * norm, 0.0
        if row < nc:
            other = L[nc + 1 if I[PLACE, row] >= 0 else nc + 2, row] * norm
        least = min(force, other)
        if least < -wrong and (order < first if stuck else least < worst):
            worst, position, first = least, n, order
            border = row if other < force else np.int64(LET_GO)
    for j in range(na):
        force, order = -K[SIDE, j] * A[ETA, j], nc + 2 * j
        if force < -wrong and A[LO, j] < A[HI, j] and (order < first if stuck else force < worst):
            worst, bound, first = force, j, order
            border = np.int64(LET_GO)
    if bound >= 0:
        K[SIDE, bound] = 0
    elif position >= 0:
        for n in range(position, count - 1):
            K[ROW, n], F[LEVEL, n], F[SIGN, n] = K[ROW, n + 1], F[LEVEL, n + 1], F[SIGN, n + 1]
        K[ROW, last] = count - 1
    return border


@inner
def contact_multipliers(M, L, I, K, F):
    """ν of the gaps and κ of the contact efforts, from the multipliers of the held rows.

    ∂cost/∂λ_c = W_acᵀμ + W_cc ν + κ, with ν zero at open contacts and κ at pushing ones, but for held borders.
    """
    nc, m, last = L.shape[1], M.shape[1], K.shape[1] - 1
    na = (len(M) - nc - FIXED) // 2
    price, z, nu = M[na + RESPONSE], L[nc], L[nc + 1]
    kappa, C = L[nc + 2], M[len(M) - nc :]
    members, place = I[MEMBERS], I[PLACE]
    for r in range(m):
        price[r] = 0.0
    for n in range(K[WANTED, last]):
        r = K[WANTED, n]
        price[r] = 2.0 * (M[na + VALUE, r] - M[na + TARGET, r])
    for i in range(nc):
        nu[i] = kappa[i] = 0.0
    for n in range(K[ROW, last]):
        i = K[ROW, n]
        if i < nc and place[i] >= 0:
            kappa[i] = F[MU, n]
        else:
            price[i] -= F[MU, n]
            if i < nc:
                nu[i] = F[MU, n]
    for i in range(nc):
        row, total = C[i], 0.0
        for r in range(m):
            total += row[r] * price[r]
        if place[i] >= 0:
            z[place[i]] = total - kappa[i]
        else:
            kappa[i] = total
    solve(L, members[nc], z)
    for a in range(members[nc]):
        row = C[members[a]]
        nu[members[a]] = z[a]
        for i in range(nc):
            if place[i] < 0:
                kappa[i] -= row[i] * z[a]
