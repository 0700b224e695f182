"""One Newton step on a piece: minimise the quadratic cost on the limits and contact borders that are held.

    min  ½ dᵀH d + gᵀd    with  d_j = 0 where an effort sits on a bound,  N d = e for the held rows,

N the sensitivities of the held rows and e what they lack to their levels (zero but for rounding). The Cholesky
factor of the free part of H and an orthonormal basis of the held rows give d and the multipliers: H d + g = Nᵀμ + η.

The cost is Σ_r (value_r − target_r)² + xᵀQx − 2 pᵀx over the wanted rows. Arrays, beside those of `pieces`:

    A  (12 + 2 na + n, na)  actuator vectors X, LO, HI, DLO, DHI, G, D, ETA, Y, LEFT, RIGHT, BEST: efforts, their bounds,
                            displacement bounds, gradient, step, multipliers of the effort bounds, scratch, range of
                            starts, best efforts; then H (na rows), the factor of its free part (na rows), the basis
    Q  (na + 1, na)         last row p
    K  (4, n + 1)           SIDE of the bound an effort sits on (−1 lower, 1 upper, 0 free); held ROWs, FREE efforts
                            and WANTED rows, their numbers at the end
    F  (4 + n, n)           of the held rows: LEVEL, SIGN 1 if the value may grow, MU multiplier, STEP scratch;
                            then the triangle R that belongs to the basis
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.pieces import TARGET, VALUE, inner

X, LO, HI, DLO, DHI, G, D, ETA, Y, LEFT, RIGHT, BEST, HESSIAN = range(13)
SIDE, ROW, FREE, WANTED = range(4)
LEVEL, SIGN, MU, STEP, TRIANGLE = range(5)

FLAT = (
    1e-13  # added to the diagonal of H, relative to its largest entry: redundant actuators leave it singular
)
DEPENDENT = 1e-20  # squared share of a held row that its predecessors do not explain
NOTHING_LEFT = 1e-26  # squared share of a step that the held rows leave; less is rounding


@inner
def gradient(M, A, Q, K, floor):
    """g of the cost; returns the size of the terms that make it up.

    `floor` is the least size of a residual: below it, rounding of what the residual was computed from counts.
    """
    na, size, wanted = A.shape[1], 0.0, K[WANTED]
    x, value, target = A[X], M[na + VALUE], M[na + TARGET]
    for i in range(na):
        row, pulls = M[i], Q[i]
        total, magnitude, pull = -Q[na, i], abs(Q[na, i]), 0.0
        for n in range(wanted[len(wanted) - 1]):
            r = wanted[n]
            residual = value[r] - target[r]
            total += row[r] * residual
            magnitude += abs(row[r]) * max(abs(residual), floor)
        for j in range(na):
            pull += pulls[j] * x[j]
        A[G, i] = 2.0 * (total + pull)
        size = max(size, 2.0 * (magnitude + abs(pull)))
    return size


@inner
def hessian(M, A, Q, K):
    """H of the cost on the piece."""
    wanted = K[WANTED]
    for i in range(A.shape[1]):
        for j in range(i + 1):
            total = Q[i, j]
            for n in range(wanted[len(wanted) - 1]):
                total += M[i, wanted[n]] * M[j, wanted[n]]
            A[HESSIAN + i, j] = A[HESSIAN + j, i] = 2.0 * total


@inner
def newton_step(M, A, K, F):
    """d, μ and η, see the module."""
    na, count = A.shape[1], K[ROW, K.shape[1] - 1]
    d, y = A[D], A[Y]
    index, largest = K[FREE], 0.0
    B, free = A[HESSIAN + na :], 0
    for j in range(na):
        d[j], largest = 0.0, max(largest, A[HESSIAN + j, j])
        if K[SIDE, j] == 0:
            index[free] = j
            free += 1
    index[len(index) - 1] = free
    least = FLAT * largest + 1e-300
    for a in range(free):
        one, whole, right = B[a], A[HESSIAN + index[a]], -A[G, index[a]]
        for b in range(a):
            other, total = B[b], whole[index[b]]
            for c in range(b):
                total -= one[c] * other[c]
            one[b] = total / other[b]
        total = whole[index[a]] + least
        for c in range(a):
            total -= one[c] * one[c]
            right -= one[c] * y[c]
        one[a] = np.sqrt(max(total, least))
        y[a] = right / one[a]
    if count > 0:
        _onto_rows(M, A, K, F)
    for a in range(free - 1, -1, -1):
        total = y[a] / B[a, a]
        d[index[a]] = total
        for c in range(a):
            y[c] -= B[a, c] * total
    for j in range(na):
        total = 0.0
        if K[SIDE, j] != 0:
            whole = A[HESSIAN + j]
            total = A[G, j]
            for i in range(na):
                total += whole[i] * d[i]
            for n in range(count):
                total -= F[MU, n] * M[j, K[ROW, n]]
        A[ETA, j] = total


@inner
def _onto_rows(M, A, K, F):
    """y ← y + V(h − Vᵀy) with N = (L V R)ᵀ, h = R⁻ᵀe; μ = R⁻¹(h − Vᵀy). Dependent rows get μ = 0."""
    na, last = A.shape[1], K.shape[1] - 1
    count, free = K[ROW, last], K[FREE, last]
    y, h, mu = A[Y], F[STEP], F[MU]
    B, V, R = A[HESSIAN + na :], A[HESSIAN + 2 * na :], F[TRIANGLE:]
    for n in range(count):
        v, row = V[n], K[ROW, n]
        before, after = 0.0, 0.0
        for a in range(free):
            one, total = B[a], M[K[FREE, a], row]
            for c in range(a):
                total -= one[c] * v[c]
            v[a] = total / one[a]
            before += v[a] * v[a]
        h[n] = F[LEVEL, n] - M[na + VALUE, row]
        for k in range(2 * n):  # orthogonalise twice
            basis, along = V[k % n], 0.0
            for a in range(free):
                along += basis[a] * v[a]
            for a in range(free):
                v[a] -= along * basis[a]
            R[k % n, n] = along if k < n else R[k % n, n] + along
        for a in range(free):
            after += v[a] * v[a]
        for k in range(n):
            h[n] -= R[k, n] * h[k]
        R[n, n] = np.sqrt(after) if after > DEPENDENT * before else 0.0
        scale = 1.0 / R[n, n] if R[n, n] > 0.0 else 0.0
        h[n] *= scale
        for a in range(free):
            v[a] *= scale
    before, after = 0.0, 0.0
    for a in range(free):
        before += y[a] * y[a]
    for n in range(count):
        v, along = V[n], 0.0
        for a in range(free):
            along += v[a] * y[a]
        h[n] -= along
        for a in range(free):
            y[a] += h[n] * v[a]
    for a in range(free):
        after += y[a] * y[a]
    if after <= NOTHING_LEFT * before:
        for a in range(free):
            y[a] = 0.0
    for n in range(count - 1, -1, -1):
        total = h[n]
        for k in range(n + 1, count):
            total -= R[n, k] * mu[k]
        mu[n] = total / R[n, n] if R[n, n] > 0.0 else 0.0
