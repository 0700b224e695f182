"""One Newton step on a piece: minimise the quadratic cost on the limits and contact borders that are held.

    min  ½ dᵀH d + gᵀd    with  d_j = 0 where an effort sits on a bound,  N d = e for the held rows,

N the sensitivities of the held rows and e what they lack to their bounds (zero but for rounding). The Cholesky
factor of the free part of H and an orthonormal basis of the held rows give d and the multipliers: H d + g = Nᵀμ + η.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.solvers.pieces import inner

FLAT = (
    1e-13  # added to the diagonal of H, relative to its largest entry: redundant actuators leave it singular
)
DEPENDENT = 1e-20  # squared share of a held row that its predecessors do not explain


class Goal(NamedTuple):
    """cost = Σ_r (value_r − target_r)² + xᵀQx − 2 pᵀx, over some of the stacked rows."""

    rows: np.ndarray  # (n,) indices
    target: np.ndarray  # (n,)
    Q: np.ndarray  # (na, na)
    p: np.ndarray  # (na,)


class Working(NamedTuple):
    """What is held, the quadratic model and the step."""

    side: np.ndarray  # (na,) effort bounds: −1 on the lower, 1 on the upper, 0 free
    row: np.ndarray  # (n,) held rows …
    level: np.ndarray  # (n,) … the values they are held at …
    sign: np.ndarray  # (n,) … and the side that is allowed: 1 if the value may grow
    count: np.ndarray  # (1,) number of held rows
    held: np.ndarray  # (m,) whether a row is held
    H: np.ndarray  # (na, na)
    g: np.ndarray  # (na,)
    size: np.ndarray  # (1,) magnitude of the terms that make up g
    d: np.ndarray  # (na,)
    mu: np.ndarray  # (n,) multipliers of the held rows
    eta: np.ndarray  # (na,) multipliers of the effort bounds
    slope: np.ndarray  # (m,) change of the values along d
    index: np.ndarray  # (na,) scratch: free efforts
    L: np.ndarray  # (na, na) scratch
    V: np.ndarray  # (n, na) scratch: basis
    R: np.ndarray  # (n, n) scratch
    y: np.ndarray  # (na,) scratch
    h: np.ndarray  # (n,) scratch


@inner
def new_working(na, m):
    """Buffers, nothing held. There is room for rows that depend on others."""
    most = 2 * na + 2
    efforts, held = np.zeros((5, na)), np.zeros((4, most))
    return Working(
        np.zeros(na, np.int64),
        np.zeros(most, np.int64),
        held[0],
        held[1],
        np.zeros(1, np.int64),
        np.zeros(m, np.bool_),
        np.zeros((na, na)),
        efforts[0],
        np.zeros(1),
        efforts[1],
        held[2],
        efforts[2],
        np.zeros(m),
        np.zeros(na, np.int64),
        np.zeros((na, na)),
        np.zeros((most, na)),
        np.zeros((most, most)),
        efforts[3],
        held[3],
    )


@inner
def hessian(piece, goal, work):
    """H of the goal on the piece."""
    S, H, Q = piece.S, work.H, goal.Q
    for i in range(len(H)):
        for j in range(i + 1):
            total = Q[i, j]
            for r in goal.rows:
                total += S[i, r] * S[j, r]
            H[i, j] = H[j, i] = 2.0 * total


@inner
def gradient(piece, goal, work):
    """g of the goal at the point."""
    x, value, S, g, Q = piece.x, piece.value, piece.S, work.g, goal.Q
    size = 0.0
    for i in range(len(g)):
        total, magnitude = -goal.p[i], abs(goal.p[i])
        for n in range(len(goal.rows)):
            r = goal.rows[n]
            term = S[i, r] * (value[r] - goal.target[n])
            total += term
            magnitude += abs(term)
        pull = 0.0
        for j in range(len(x)):
            pull += Q[i, j] * x[j]
        g[i] = 2.0 * (total + pull)
        size = max(size, 2.0 * (magnitude + abs(pull)))
    work.size[0] = size


@inner
def cost_of(piece, goal):
    """The goal at the point, up to a constant."""
    total = 0.0
    for n in range(len(goal.rows)):
        total += (piece.value[goal.rows[n]] - goal.target[n]) ** 2
    for i in range(len(piece.x)):
        pull = -2.0 * goal.p[i]
        for j in range(len(piece.x)):
            pull += goal.Q[i, j] * piece.x[j]
        total += pull * piece.x[i]
    return total


@inner
def hold(work, row, level, sign):
    """Hold a row. False if there is no room."""
    n = work.count[0]
    if n == len(work.row):
        return False
    work.row[n], work.level[n], work.sign[n] = row, level, sign
    work.held[row] = True
    work.count[0] = n + 1
    return True


@inner
def drop(work, position):
    """Let go of a held row."""
    work.held[work.row[position]] = False
    for n in range(position, work.count[0] - 1):
        work.row[n], work.level[n], work.sign[n] = work.row[n + 1], work.level[n + 1], work.sign[n + 1]
    work.count[0] -= 1


@inner
def newton_step(piece, work):
    """d, μ and η, see the module."""
    free = _factorise(work)
    L, y, g, index = work.L, work.y, work.g, work.index
    for a in range(free):
        total = -g[index[a]]
        for c in range(a):
            total -= L[a, c] * y[c]
        y[a] = total / L[a, a]
    if work.count[0] > 0:
        _onto_rows(piece, work, free)
    d = work.d
    for j in range(len(d)):
        d[j] = 0.0
    for a in range(free - 1, -1, -1):
        total = y[a]
        for c in range(a + 1, free):
            total -= L[c, a] * d[index[c]]
        d[index[a]] = total / L[a, a]
    for j in range(len(d)):
        if work.side[j] != 0:
            total = g[j]
            for i in range(len(d)):
                total += work.H[j, i] * d[i]
            for n in range(work.count[0]):
                total -= work.mu[n] * piece.S[j, work.row[n]]
            work.eta[j] = total
        else:
            work.eta[j] = 0.0


@inner
def _factorise(work):
    """Cholesky factor of H on the free efforts; returns their number."""
    H, L, index = work.H, work.L, work.index
    free, largest = 0, 0.0
    for j in range(len(H)):
        largest = max(largest, H[j, j])
        if work.side[j] == 0:
            index[free] = j
            free += 1
    least = FLAT * largest + 1e-300
    for a in range(free):
        for b in range(a + 1):
            total = H[index[a], index[b]]
            if a == b:
                total += least
            for c in range(b):
                total -= L[a, c] * L[b, c]
            L[a, b] = total / L[b, b] if a > b else np.sqrt(max(total, least))
    return free


@inner
def _onto_rows(piece, work, free):
    """y ← y − V(Vᵀy − h) with N = (L V R)ᵀ, h = R⁻ᵀe; μ = R⁻¹(h − Vᵀy). Dependent rows get μ = 0."""
    L, V, R, y, h, mu = work.L, work.V, work.R, work.y, work.h, work.mu
    for n in range(work.count[0]):
        row, v = work.row[n], V[n]
        before = 0.0
        for a in range(free):
            total = piece.S[work.index[a], row]
            for c in range(a):
                total -= L[a, c] * v[c]
            v[a] = total / L[a, a]
            before += v[a] * v[a]
        after = _orthogonalise(V, R, n, free)
        lack = work.level[n] - piece.value[row]
        for k in range(n):
            lack -= R[k, n] * h[k]
        if after <= DEPENDENT * before:
            R[n, n], h[n] = 0.0, 0.0
            for a in range(free):
                v[a] = 0.0
            continue
        R[n, n] = np.sqrt(after)
        h[n] = lack / R[n, n]
        for a in range(free):
            v[a] /= R[n, n]
    for n in range(work.count[0]):
        along = 0.0
        for a in range(free):
            along += V[n, a] * y[a]
        h[n] = h[n] - along if R[n, n] > 0.0 else 0.0
    for n in range(work.count[0] - 1, -1, -1):
        total = h[n]
        for a in range(free):
            y[a] += h[n] * V[n, a]
        for k in range(n + 1, work.count[0]):
            total -= R[n, k] * mu[k]
        mu[n] = total / R[n, n] if R[n, n] > 0.0 else 0.0


@inner
def _orthogonalise(V, R, n, free):
    """Take the earlier basis vectors out of V[n], twice; returns what is left, squared."""
    v = V[n]
    for k in range(n):
        R[k, n] = 0.0
    for _ in range(2):
        for k in range(n):
            along = 0.0
            for a in range(free):
                along += V[k, a] * v[a]
            R[k, n] += along
            for a in range(free):
                v[a] -= along * V[k, a]
    left = 0.0
    for a in range(free):
        left += v[a] * v[a]
    return left
