"""One Newton step on a region: the minimum of the quadratic cost under the working set.

    min  ½ dᵀH d + gᵀd   with  d_i = 0 where an effort sits on a bound,  N d = e for rows of the working set,

N their sensitivities and e what they lack to their levels (zero but for rounding). The Cholesky factor of the
free part of H and an orthonormal basis of the rows give d and the multipliers: H d + g = Nᵀμ + η.

The cost is Σ_r w_r (value_r − target_r)² + xᵀQx − 2 pᵀx over the wanted rows of a `Task`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_inner, work_part
from pliant.solvers.vectors import add, copy, dot, fill

SINGULAR = 1e-13  # added to the diagonal of H, relative to its largest entry: actuators may be redundant
DEPENDENT = 1e-20  # squared share of a row that its predecessors do not explain; less is rounding
ROUNDED_STEP = 1e-26  # squared share of a step that the rows of the working set leave; less is rounding


class Task(NamedTuple):
    """What a descent minimises."""

    weight: np.ndarray  # (m,) w, 0 or 1; contacts have 0
    target: np.ndarray  # (m,)
    Q: np.ndarray  # (na, na)
    p: np.ndarray  # (na,)


class Step(NamedTuple):
    """A Newton step and what it is made from."""

    g: np.ndarray  # (na,) gradient of the cost
    H: np.ndarray  # (na, na) its Hessian on the region
    d: np.ndarray  # (na,) the step
    slope: np.ndarray  # (m,) change of the values along d
    free: np.ndarray  # (na,) efforts that sit on no bound
    L: np.ndarray  # (na, na) Cholesky factor of the free part of H
    y: np.ndarray  # (na,) scratch: Lᵀ of the free part of d
    V: np.ndarray  # (k, na) orthonormal basis of the rows of the working set, L⁻¹Nᵀ = VᵀR …
    R: np.ndarray  # (k, k) … and the columns of R, with the reciprocal of the diagonal


def new_step(ne: int, na: int, nc: int) -> Step:
    """Arrays for the steps of one problem after the other."""
    most = 2 * na + 2  # rows of a working set
    return Step(
        np.zeros(na), np.zeros((na, na)), np.zeros(na), np.zeros(nc + ne + na), np.zeros(na, np.int64),
        np.zeros((na, na)), np.zeros(na), np.zeros((most, na)), np.zeros((most, most)),
    )  # fmt: skip


@work_part
def gradient(task, region, first, g, floor):
    """g of the cost; returns the size of the terms that make it up.

    `floor` is the least size of a residual: below it, rounding of what the residual was computed from counts.
    """
    na, size = len(g), 0.0
    for i in range(na):
        slopes, total = region.S[i], -task.p[i]
        magnitude, pull = abs(total), dot(task.Q[i], region.x, na)
        for r in range(first, len(task.target)):
            residual, slope = region.value[r] - task.target[r], task.weight[r] * slopes[r]
            total += slope * residual
            magnitude += abs(slope) * max(abs(residual), floor)
        g[i] = 2.0 * (total + pull)
        size = max(size, 2.0 * (magnitude + abs(pull)))
    return size


@work_part
def hessian(task, S, first, H):
    """H of the cost on the region."""
    for i in range(len(S)):
        for k in range(i + 1):
            total = task.Q[i, k]
            for r in range(first, len(task.target)):
                total += task.weight[r] * S[i, r] * S[k, r]
            H[i, k] = 2.0 * total
            H[k, i] = 2.0 * total


@work_inner
def newton_step(region, working, step):
    """d, the multipliers μ and η, see the module, and the slopes of the values along d."""
    g, H, d, L, y, index = step.g, step.H, step.d, step.L, step.y, step.free
    na, free, least = len(g), np.int64(0), 0.0
    for i in range(na):
        d[i] = 0.0
        least = max(least, SINGULAR * H[i, i])
        if working.side[i] == 0:
            index[free] = i
            free += 1
    for a in range(free):
        i, row = index[a], L[a]
        for b in range(a):
            row[b] = (H[i, index[b]] - dot(row, L[b], b)) / L[b, b]
        row[a] = np.sqrt(max(H[i, i] + least - dot(row, row, a), least + 1e-300))
        y[a] = -(g[i] + dot(row, y, a)) / row[a]
    if working.size[0] > 0:
        _onto_rows(region, working, step, free)
    for a in range(free - 1, -1, -1):
        d[index[a]] = y[a] / L[a, a]
        add(y, -d[index[a]], L[a], a)
    for i in range(na):
        force = 0.0
        if working.side[i] != 0:
            force = g[i] + dot(H[i], d, na)
            for n in range(working.size[0]):
                force -= working.force[n] * region.S[i, working.rows[n]]
        working.eta[i] = force
    fill(step.slope, 0.0, len(step.slope))
    for i in range(na):
        add(step.slope, d[i], region.S[i], len(step.slope))


@work_part
def _onto_rows(region, working, step, free):
    """y ← y + Vᵀ(h − Vy) with h = R⁻ᵀe, and μ = R⁻¹(h − Vy). Dependent rows get μ = 0."""
    y, force, L, count = step.y, working.force, step.L, working.size[0]  # `force` is h, then h − Vy, then μ
    for n in range(count):
        v, r, row = step.V[n], step.R[n], working.rows[n]
        for a in range(free):
            v[a] = (region.S[step.free[a], row] - dot(L[a], v, a)) / L[a, a]
        before = dot(v, v, free)
        fill(r, 0.0, n)
        for k in range(2 * n):  # orthogonalise twice
            along = dot(step.V[k % n], v, free)
            add(v, -along, step.V[k % n], free)
            r[k % n] += along
        after = dot(v, v, free)
        r[n] = 1.0 / np.sqrt(after) if after > DEPENDENT * before else 0.0
        force[n] = r[n] * (working.level[n] - region.value[row] - dot(r, force, n))
        copy(v, r[n], v, free)
    before = dot(y, y, free)
    for n in range(count):
        force[n] -= dot(step.V[n], y, free)
        add(y, force[n], step.V[n], free)
    if dot(y, y, free) <= ROUNDED_STEP * before:
        fill(y, 0.0, free)
    for n in range(count - 1, -1, -1):
        force[n] *= step.R[n, n]
        add(force, -force[n], step.R[n], n)
