"""One Newton step on a piece: minimise the quadratic cost on the limits and contact borders that are held.

    min  ½ dᵀH d + gᵀd    with  d_j = 0 where an effort sits on a bound,  N d = e for the held rows,

N the sensitivities of the held rows and e what they lack to their levels (zero but for rounding). The Cholesky
factor of the free part of H and an orthonormal basis of the held rows give d and the multipliers: H d + g = Nᵀμ + η.

The cost is Σ_r w_r (value_r − target_r)² + xᵀQx − 2 pᵀx over the wanted rows. z and j are the arrays of `tableau`.
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, native, row
from pliant.solvers.rows import add, copy, dot, fill
from pliant.solvers.tableau import (
    FREE,
    FREES,
    FROM,
    HELD,
    HOLDS,
    LACK,
    LEVEL,
    NA,
    PUSH,
    SIDE,
    SIT,
    SLOPE,
    TARGET,
    TO,
    VALUE,
    WEIGHT,
    D,
    G,
    M,
    S,
    X,
    Y,
)

FLAT = (
    1e-13  # added to the diagonal of H, relative to its largest entry: redundant actuators leave it singular
)
DEPENDENT = 1e-20  # squared share of a held row that its predecessors do not explain
NOTHING_LEFT = 1e-26  # squared share of a step that the held rows leave; less is rounding


@native(REAL, REALS, INTEGERS, INTEGER, REAL)
def gradient(z, j, Q, floor):
    """g of the cost; returns the size of the terms that make it up.

    `floor` is the least size of a residual: below it, rounding of what the residual was computed from counts.
    """
    na, size, weight = j[NA], 0.0, row(z, j, WEIGHT)
    value, target = row(z, j, VALUE), row(z, j, TARGET)
    for i in range(na):
        slopes, total = row(z, j, S + i), -row(z, j, Q + na)[i]
        magnitude, pull = abs(total), dot(row(z, j, Q + i), row(z, j, X), na)
        for r in range(j[FROM], j[TO]):
            residual, slope = value[r] - target[r], weight[r] * slopes[r]
            total += slope * residual
            magnitude += abs(slope) * max(abs(residual), floor)
        row(z, j, G)[i] = 2.0 * (total + pull)
        size = max(size, 2.0 * (magnitude + abs(pull)))
    return size


@native(NOTHING, REALS, INTEGERS, INTEGER)
def hessian(z, j, Q):
    """H of the cost on the piece."""
    na, weight = j[NA], row(z, j, WEIGHT)
    H = S + 2 * na + 1
    for i in range(na):
        one = row(z, j, S + i)
        for k in range(i + 1):
            other, total = row(z, j, S + k), row(z, j, Q + i)[k]
            for r in range(j[FROM], j[TO]):
                total += weight[r] * one[r] * other[r]
            row(z, j, H + i)[k] = 2.0 * total
            row(z, j, H + k)[i] = 2.0 * total


@native(NOTHING, REALS, INTEGERS, INTEGER)
def onto_rows(z, j, B):
    """y ← y + V(h − Vᵀy) with N = (L V R)ᵀ, h = R⁻ᵀe; μ = R⁻¹(h − Vᵀy). Dependent rows get μ = 0.

    Rows of the basis V are its vectors, rows of the triangle the columns of R.
    """
    count, free = j[HOLDS], j[FREES]
    V = B + 3 * j[NA] + 2
    R = V + 2 * j[NA] + 2
    y, lack, index, held = row(z, j, Y), row(z, j, LACK), row(j, j, FREE), row(j, j, HELD)
    for n in range(count):
        v, r = row(z, j, V + n), row(z, j, R + n)
        for a in range(free):
            v[a] = row(z, j, S + index[a])[held[n]] - dot(row(z, j, B + a), v, a)
            v[a] /= row(z, j, B + a)[a]
        before = dot(v, v, free)
        fill(r, 0.0, n)
        for k in range(2 * n):  # orthogonalise twice
            along = dot(row(z, j, V + k % n), v, free)
            add(v, -along, row(z, j, V + k % n), free)
            r[k % n] += along
        after = dot(v, v, free)
        r[n] = 1.0 / np.sqrt(after) if after > DEPENDENT * before else 0.0  # the inverse of the diagonal of R
        lack[n] = r[n] * (row(z, j, LEVEL)[n] - row(z, j, VALUE)[held[n]] - dot(r, lack, n))
        copy(v, r[n], v, free)
    before = dot(y, y, free)
    for n in range(count):
        lack[n] -= dot(row(z, j, V + n), y, free)
        add(y, lack[n], row(z, j, V + n), free)
    if dot(y, y, free) <= NOTHING_LEFT * before:
        fill(y, 0.0, free)
    for n in range(count - 1, -1, -1):
        force = lack[n] * row(z, j, R + n)[n]
        row(z, j, PUSH)[n] = force
        add(lack, -force, row(z, j, R + n), n)


@native(NOTHING, REALS, INTEGERS)
def newton_step(z, j):
    """d, μ and η, see the module, and SLOPE, the change of the values along d."""
    na, free, least = j[NA], 0, 0.0
    H = S + 2 * na + 1
    B = H + na
    g, d, y, index, side = row(z, j, G), row(z, j, D), row(z, j, Y), row(j, j, FREE), row(j, j, SIDE)
    for i in range(na):
        least = max(least, FLAT * row(z, j, H + i)[i])
        if side[i] == 0:
            index[free] = i
            free += 1
    j[FREES] = free
    for a in range(free):
        i, one = index[a], row(z, j, B + a)
        for b in range(a):
            one[b] = (row(z, j, H + i)[index[b]] - dot(one, row(z, j, B + b), b)) / row(z, j, B + b)[b]
        rest = row(z, j, H + i)[i] + least - dot(one, one, a)
        one[a] = np.sqrt(max(rest, least + 1e-300))
        y[a] = -(g[i] + dot(one, y, a)) / one[a]
    if j[HOLDS] > 0:
        onto_rows(z, j, B)
    fill(d, 0.0, na)
    for a in range(free - 1, -1, -1):
        one = row(z, j, B + a)
        d[index[a]] = y[a] / one[a]
        add(y, -d[index[a]], one, a)
    for i in range(na):
        force = 0.0
        if side[i] != 0:
            force = g[i] + dot(row(z, j, H + i), d, na)
            for n in range(j[HOLDS]):
                force -= row(z, j, PUSH)[n] * row(z, j, S + i)[row(j, j, HELD)[n]]
        row(z, j, SIT)[i] = force
    fill(row(z, j, SLOPE), 0.0, j[M])
    for i in range(na):
        add(row(z, j, SLOPE), d[i], row(z, j, S + i), j[M])
