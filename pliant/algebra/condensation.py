"""Condensation of a factor onto a few sparse rows: W = H A⁻¹ Hᵀ.

W = Zᵀ S Z with Z = L⁻¹ P Hᵀ: no backward solve. A column of Z is non-zero only on the elimination paths of
its row of H, from the fronts that the row touches up to the root. So every front keeps just its active
columns, packed: Zᵀ of front s is column-major (active columns, pivots) at offset[s].

A load b is condensed as one more row, which is active everywhere: its column of W is the motion of the
other rows under the load, and it acts as a row of effort 1.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.blas import TRANSPOSED, dgemm, dsyrk, pointer
from pliant.algebra.jit import inner, kernel
from pliant.algebra.kernels import PANEL_WIDTH


@kernel
def condense(blas, fronts, block, panels, signs, negative, start, columns, values, b, W, motion):
    """W (m, m) ← H A⁻¹ Hᵀ and motion (m,) ← H A⁻¹ b, H given by its compressed rows, b (ndof,) or empty.

    Returns Z, with that of b as the last column: where the columns of each front start in the list of
    active ones, that list, the offsets of the fronts, and the numbers. All are empty if H has a column
    index out of range.
    """
    rows, loads = len(start) - 1, min(len(b), 1)
    m = rows + loads
    active_start, active = _paths(fronts, block, start, columns, rows, loads)
    if len(active_start) == 0:
        return active_start, active, active, np.empty(0)
    offset, tallest = _offsets(fronts, block, active_start)
    Z, below, slot = np.zeros(offset[-1]), np.empty(tallest), np.empty(m, np.int64)
    _scatter(fronts, block, start, columns, values, active_start, active, offset, Z)
    if loads:
        _scatter_load(fronts, block, b, active_start, offset, Z)
    for s in range(len(fronts.parent)):
        k = active_start[s + 1] - active_start[s]
        if k == 0:
            continue
        c = block * (fronts.first[s + 1] - fronts.first[s])
        r = block * (fronts.start[s + 1] - fronts.start[s])
        z = Z[offset[s] : offset[s + 1]]
        solve_right(blas, panels[fronts.panel[s] : fronts.panel[s + 1]], c + r, z, k, c)
        if r > 0:
            under = pointer(panels, fronts.panel[s] + c)
            dgemm(blas, TRANSPOSED, k, r, c, 1.0, pointer(z, 0), k, under, c + r, 0.0, pointer(below, 0), k)
            _pass_up(fronts, s, block, active_start, active, offset, below, slot, Z)
    flat = _squared(blas, fronts, block, signs, negative, active_start, active, offset, Z, m)
    for i in range(rows):
        for j in range(i, rows):
            W[i, j] = W[j, i] = flat[i * m + j]
        if loads:
            motion[i] = flat[i * m + rows]
    return active_start, active, offset, Z


@inner
def _squared(blas, fronts, block, signs, negative, active_start, active, offset, Z, m):
    """The upper half of ZᵀSZ, (m · m,); successive fronts with the same active columns are one product."""
    W, product, run, count = np.zeros(m * m), np.empty(m * m), 0, len(fronts.parent)
    for s in range(count):
        first, last = active_start[s], active_start[s + 1]
        alike = s + 1 < count and active_start[s + 2] - last == last - first
        for j in range(last - first if alike else 0):
            alike = alike and active[last + j] == active[first + j]
        if alike:
            continue
        if last > first:
            pivots = signs[block * fronts.first[run] : block * fronts.first[s + 1]]
            _accumulate(
                blas, Z[offset[run] : offset[s + 1]], active[first:last], pivots, negative, product, W, m
            )
        run = s + 1
    return W


@inner
def _offsets(fronts, block, active_start):
    """Where the active columns of every front lie in Z, and how many scalars a front passes up at most."""
    offset, tallest = np.zeros(len(active_start), np.int64), 0
    for s in range(len(active_start) - 1):
        k = active_start[s + 1] - active_start[s]
        offset[s + 1] = offset[s] + k * block * (fronts.first[s + 1] - fronts.first[s])
        tallest = max(tallest, k * block * (fronts.start[s + 1] - fronts.start[s]))
    return offset, tallest


@inner
def solve_right(blas, panel, height, z, k, c):
    """Z (k, c) ← Z L⁻ᵀ with the triangle L (c, c) of a panel, a few columns at a time.

    Four earlier columns per pass, as in the elimination of a panel; on narrow matrices this beats dtrsm.
    """
    for first in range(0, c, PANEL_WIDTH):
        last = min(first + PANEL_WIDTH, c)
        if first > 0:
            dgemm(blas, TRANSPOSED, k, last - first, first, -1.0, pointer(z, 0), k, pointer(panel, first),
                  height, 1.0, pointer(z, first * k), k)  # fmt: skip
        for j in range(first, last):
            column = z[j * k : (j + 1) * k]
            for n in range(first, j - 3, 4):
                p, q = z[n * k : (n + 1) * k], z[(n + 1) * k : (n + 2) * k]
                u, v = z[(n + 2) * k : (n + 3) * k], z[(n + 3) * k : (n + 4) * k]
                at = n * height + j
                fp, fq, fu, fv = panel[at], panel[at + height], panel[at + 2 * height], panel[at + 3 * height]
                for i in range(k):
                    column[i] -= fp * p[i] + fq * q[i] + fu * u[i] + fv * v[i]
            for n in range(j - (j - first) % 4, j):
                p, fp = z[n * k : (n + 1) * k], panel[n * height + j]
                for i in range(k):
                    column[i] -= fp * p[i]
            scale = 1.0 / panel[j * height + j]
            for i in range(k):
                column[i] *= scale


@inner
def _paths(fronts, block, start, columns, m, loads):
    """Rows of H active in every front, sorted, as (start, items); behind them the loads, active in all.

    Both are empty if a column index is out of range.
    """
    count = len(fronts.parent)
    visited = np.zeros((count, m), np.bool_)
    active_start = np.full(count + 1, loads)
    active_start[0] = 0
    for row in range(m):
        last = -1
        for k in range(start[row], start[row + 1]):
            if columns[k] < 0 or columns[k] >= block * len(fronts.place):
                return np.empty(0, np.int64), np.empty(0, np.int64)
            node = columns[k] // block
            if node == last:  # rows come in blocks
                continue
            last = node
            s = fronts.front_of[fronts.place[node]]
            while s >= 0 and not visited[s, row]:
                visited[s, row] = True
                active_start[s + 1] += 1
                s = fronts.parent[s]
    for s in range(count):
        active_start[s + 1] += active_start[s]
    active, at = np.empty(active_start[-1], np.int64), 0
    for s in range(count):
        for row in range(m):
            if visited[s, row]:
                active[at] = row
                at += 1
        for load in range(loads):
            active[at] = m + load
            at += 1
    return active_start, active


@inner
def _scatter(fronts, block, start, columns, values, active_start, active, offset, Z):
    """Z ← P Hᵀ, duplicates summed."""
    for row in range(len(start) - 1):
        last, at, width = -1, 0, 0
        for k in range(start[row], start[row + 1]):
            if columns[k] // block != last:
                last = columns[k] // block
                node = fronts.place[last]
                s = fronts.front_of[node]
                low, high = active_start[s], active_start[s + 1] - 1
                width = high + 1 - low
                at = offset[s] + block * (node - fronts.first[s]) * width - low
                while low < high:  # bisect for the slot of this row
                    middle = (low + high) // 2
                    if active[middle] < row:
                        low = middle + 1
                    else:
                        high = middle
                at += low
            Z[at + columns[k] % block * width] += values[k]


@inner
def _scatter_load(fronts, block, b, active_start, offset, Z):
    """The last column of every front ← P b."""
    for s in range(len(active_start) - 1):
        width = active_start[s + 1] - active_start[s]
        at = offset[s] + width - 1
        for node in range(fronts.first[s], fronts.first[s + 1]):
            for i in range(block):
                Z[at] = b[block * fronts.order[node] + i]
                at += width


@inner
def _pass_up(fronts, s, block, active_start, active, offset, below, slot, Z):
    """Subtract what front s leaves on its rows from the ancestors that own them."""
    first, k = active_start[s], active_start[s + 1] - active_start[s]
    owner, width = -1, 0
    for row in range(fronts.start[s + 1] - fronts.start[s]):
        node = fronts.rows[fronts.start[s] + row]
        if fronts.front_of[node] != owner:
            owner = fronts.front_of[node]
            width = active_start[owner + 1] - active_start[owner]
            at = active_start[owner]
            for j in range(k):  # both lists are sorted and the ancestor's contains ours
                while active[at] != active[first + j]:
                    at += 1
                slot[j] = at - active_start[owner]
        for i in range(block):
            target = offset[owner] + (block * (node - fronts.first[owner]) + i) * width
            source = (block * row + i) * k
            if width == k:
                into, part = Z[target : target + k], below[source : source + k]
                for j in range(k):
                    into[j] -= part[j]
            else:
                for j in range(k):
                    Z[target + slot[j]] -= below[source + j]


@inner
def _accumulate(blas, z, rows, signs, negative, product, W, m):
    """Add zᵀ S z to the upper half of W; BLAS fills the lower half of the transpose."""
    k, c = len(rows), len(signs)
    if k == m:
        dsyrk(blas, k, c, 1.0, pointer(z, 0), k, 1.0, pointer(W, 0), m)
    else:
        dsyrk(blas, k, c, 1.0, pointer(z, 0), k, 0.0, pointer(product, 0), k)
        for j in range(k):
            for i in range(j, k):
                W[rows[j] * m + rows[i]] += product[j * k + i]
    if negative > 0:
        for p in range(c):
            if signs[p] < 0.0:
                for j in range(k):
                    for i in range(j, k):
                        W[rows[j] * m + rows[i]] -= 2.0 * z[p * k + j] * z[p * k + i]
