"""One Newton step on a piece: minimise the quadratic cost on the limits and contact borders that are held.

    min  ½ dᵀH d + gᵀd    with  d_j = 0 where an effort sits on a bound,  N d = e for the held rows,

N the sensitivities of the held rows and e what they lack to their levels (zero but for rounding). The Cholesky
factor of the free part of H and an orthonormal basis of the held rows give d and the multipliers: H d + g = Nᵀμ + η.

The cost is Σ_r (value_r − target_r)² + xᵀQx − 2 pᵀx over the `wanted` rows. Arrays, beside those of `pieces`:

    A       (8, na)       actuator vectors X, LO, HI, DLO, DHI, G, D, ETA: efforts, their bounds, displacement bounds,
                          gradient, step, multipliers of the effort bounds
    side    (na,)         effort bounds: −1 sits on the lower, 1 on the upper, 0 free
    H       (na, na)
    Q       (na + 1, na)  last row p
    wanted  (n,), target (n,)
    row     (n + 1,)      held rows; last entry their number
    held    (4, n)        LEVEL they are held at, SIGN 1 if the value may grow, MU multiplier, STEP scratch
    B       (na + n, na)  scratch: the factor of H, then the basis;  R (n, n) scratch
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.pieces import VALUE, inner

X, LO, HI, DLO, DHI, G, D, ETA = range(8)
LEVEL, SIGN, MU, STEP = range(4)

FLAT = (
    1e-13  # added to the diagonal of H, relative to its largest entry: redundant actuators leave it singular
)
DEPENDENT = 1e-20  # squared share of a held row that its predecessors do not explain


@inner
def hessian(T, wanted, Q, H):
    """H of the cost on the piece."""
    for i in range(len(H)):
        one = T[i]
        for j in range(i + 1):
            other, total = T[j], Q[i, j]
            for r in wanted:
                total += one[r] * other[r]
            H[i, j] = H[j, i] = 2.0 * total


@inner
def gradient(T, wanted, target, Q, A, floor):
    """g of the cost at the point; returns the size of the terms that make it up.

    `floor` is the least size of a residual: below it, rounding of what the residual was computed from counts.
    """
    na, size = len(Q) - 1, 0.0
    x, value, p = A[X], T[na + VALUE], Q[na]
    for i in range(na):
        row, pulls = T[i], Q[i]
        total, magnitude = -p[i], abs(p[i])
        for n in range(len(wanted)):
            residual = value[wanted[n]] - target[n]
            total += row[wanted[n]] * residual
            magnitude += abs(row[wanted[n]]) * max(abs(residual), floor)
        pull = 0.0
        for j in range(na):
            pull += pulls[j] * x[j]
        A[G, i] = 2.0 * (total + pull)
        size = max(size, 2.0 * (magnitude + abs(pull)))
    return size


@inner
def cost_of(T, wanted, target, Q, A):
    """The cost at the point."""
    na, total = len(Q) - 1, 0.0
    for n in range(len(wanted)):
        total += (T[na + VALUE, wanted[n]] - target[n]) ** 2
    for i in range(na):
        pull = -2.0 * Q[na, i]
        for j in range(na):
            pull += Q[i, j] * A[X, j]
        total += pull * A[X, i]
    return total


@inner
def newton_step(T, A, side, H, row, held, B, R):
    """d, μ and η, see the module."""
    na, free = len(H), 0
    g, d, largest = A[G], A[D], 0.0
    index = np.empty(na, np.int64)
    y = np.empty(na)
    for j in range(na):
        d[j] = 0.0
        largest = max(largest, H[j, j])
        if side[j] == 0:
            index[free] = j
            free += 1
    least = FLAT * largest + 1e-300
    for a in range(free):
        one, total_y = B[a], -g[index[a]]
        for b in range(a + 1):
            other, total = B[b], H[index[a], index[b]]
            for c in range(b):
                total -= one[c] * other[c]
            one[b] = total / other[b] if a > b else np.sqrt(max(total + least, least))
        for c in range(a):
            total_y -= one[c] * y[c]
        y[a] = total_y / one[a]
    n = row[len(row) - 1]
    if n > 0:
        _onto_rows(T, index, free, row, held, B, R, y)
    for a in range(free - 1, -1, -1):
        total = y[a]
        for c in range(a + 1, free):
            total -= B[c, a] * d[index[c]]
        d[index[a]] = total / B[a, a]
    for j in range(na):
        total = 0.0
        if side[j] != 0:
            total = g[j]
            for i in range(na):
                total += H[j, i] * d[i]
            for k in range(n):
                total -= held[MU, k] * T[j, row[k]]
        A[ETA, j] = total


@inner
def _onto_rows(T, index, free, row, held, B, R, y):
    """y ← y + V(h − Vᵀy) with N = (L V R)ᵀ, h = R⁻ᵀe; μ = R⁻¹(h − Vᵀy). Dependent rows get μ = 0."""
    count, na = row[len(row) - 1], len(index)
    h, mu, value = held[STEP], held[MU], T[na + VALUE]
    for n in range(count):
        v, before = B[na + n], 0.0
        for a in range(free):
            one, total = B[a], T[index[a], row[n]]
            for c in range(a):
                total -= one[c] * v[c]
            v[a] = total / one[a]
            before += v[a] * v[a]
        after = _orthogonalise(B, R, na, n, free)
        h[n] = held[LEVEL, n] - value[row[n]]
        for k in range(n):
            h[n] -= R[k, n] * h[k]
        independent = after > DEPENDENT * before
        R[n, n] = np.sqrt(after) if independent else 0.0
        scale = 1.0 / R[n, n] if independent else 0.0
        h[n] *= scale
        for a in range(free):
            v[a] *= scale
    for n in range(count):
        v = B[na + n]
        for a in range(free):
            h[n] -= v[a] * y[a]
    for n in range(count - 1, -1, -1):
        v, total = B[na + n], h[n]
        for a in range(free):
            y[a] += h[n] * v[a]
        for k in range(n + 1, count):
            total -= R[n, k] * mu[k]
        mu[n] = total / R[n, n] if R[n, n] > 0.0 else 0.0


@inner
def _orthogonalise(B, R, na, n, free):
    """Take the earlier basis vectors out of the n-th, twice; returns what is left, squared."""
    v = B[na + n]
    for k in range(n):
        R[k, n] = 0.0
    for _ in range(2):
        for k in range(n):
            basis, along = B[na + k], 0.0
            for a in range(free):
                along += basis[a] * v[a]
            R[k, n] += along
            for a in range(free):
                v[a] -= along * basis[a]
    left = 0.0
    for a in range(free):
        left += v[a] * v[a]
    return left
