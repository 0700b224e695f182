"""Numeric factorisation A = L S Lᵀ, S = diag(±1), front by front.

A front is the dense matrix of a supernode: pivots first, then the rows they touch. Assembled from the entries
of A and the updates of its children, it is eliminated to a panel of L and an update for its parent.
Matrices are column-major in flat arrays, only their lower halves count.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.blas import TRANSPOSED, dgemm, dsyrk, pointer
from pliant.algebra.jit import inner, kernel

PANEL_WIDTH = 16  # columns eliminated at once: enough for matrix products, few enough for the first cache


@kernel
def factorise_fronts(blas, fronts, block, data, indefinite, panels, stacks, signs, ratios):
    """Fill panels with L, signs with S and ratios with |pivot| / |diagonal entry|.

    Returns (pivot that failed or −1, number of negative pivots, smallest ratio).
    """
    negative, smallest = 0, 1.0
    for s in range(len(fronts.parent)):
        c = block * (fronts.first[s + 1] - fronts.first[s])
        r = block * (fronts.start[s + 1] - fronts.start[s])
        pivot = block * fronts.first[s]
        parity = fronts.parity[s]
        leaf = fronts.child_start[s] == fronts.child_start[s + 1]
        panel = panels[fronts.panel[s] : fronts.panel[s + 1]]
        update = stacks[parity][fronts.update[s] : fronts.update[s] + r * r]
        panel[:] = 0.0
        _add_entries(fronts, s, block, c + r, data, panels)
        if not leaf:
            update[:] = 0.0
            for k in range(fronts.child_start[s], fronts.child_start[s + 1]):
                _extend_add(fronts, fronts.children[k], block, c, r, panel, update, stacks[1 - parity])
        front_signs = signs[pivot : pivot + c]
        failed, minus = _eliminate(blas, panel, c, c + r, indefinite, front_signs)
        if failed < 0:
            failed, ratio = _pivot_ratios(fronts, s, block, data, panel, c + r, ratios)
            smallest = min(smallest, ratio)
        if failed >= 0:
            return pivot + failed, negative, 0.0
        negative += minus
        if r > 0:
            _update(blas, panel, c, r, front_signs, minus, 0.0 if leaf else 1.0, update)
    return -1, negative, smallest


@inner
def _add_entries(fronts, s, block, height, data, panels):
    """Write the entries of A into the panel of front s, which is zero."""
    for k in range(fronts.entry_start[s], fronts.entry_start[s + 1]):
        source, target = fronts.entry_block[k], fronts.entry_target[k]
        down, right = block, 1
        if source < 0:
            source, down, right = -1 - source, 1, block
        source *= block * block
        for j in range(block):
            for i in range(block):
                panels[target + j * height + i] = data[source + i * down + j * right]


@inner
def _extend_add(fronts, child, block, c, r, panel, update, stack):
    """Add the child's update to the parent's front, by runs of rows that stay neighbours."""
    rows = fronts.start[child + 1] - fronts.start[child]
    begin, end = fronts.run_start[child], fronts.run_start[child + 1]
    for run in range(begin, end):
        first = fronts.run_first[run]
        last = fronts.run_first[run + 1] if run + 1 < end else rows
        for column in range(block * first, block * last):
            to = block * (fronts.run_target[run] - first) + column
            if to < c:
                target, shift = panel[to * (c + r) : (to + 1) * (c + r)], 0
            else:
                target, shift = update[(to - c) * r : (to - c + 1) * r], c
            source = fronts.update[child] + column * block * rows
            top = column // block  # whole blocks: what lies above the diagonal is never read
            for other in range(run, end):
                bottom = fronts.run_first[other + 1] if other + 1 < end else rows
                place = block * (fronts.run_target[other] + top - fronts.run_first[other]) - shift
                length = block * (bottom - top)
                into = target[place : place + length]
                part = stack[source + block * top : source + block * bottom]
                for i in range(length):
                    into[i] += part[i]
                top = bottom


@inner
def _eliminate(blas, panel, c, height, indefinite, signs):
    """Factorise the c pivot columns of a front in place, a few at a time, each updated by those before.

    Returns (column that failed or −1, number of negative pivots).
    """
    negative = 0
    scaled = panel  # what the update multiplies with: rows of L, or of L S once there are negative pivots
    for first in range(0, c, PANEL_WIDTH):
        width = min(PANEL_WIDTH, c - first)
        corner = first * (height + 1)
        if first > 0:
            offset, stride = first, height
            if negative > 0:
                scaled, offset, stride = _scaled_rows(panel, first, width, height, signs), 0, width
            dgemm(blas, TRANSPOSED, height - first, width, first, -1.0, pointer(panel, first), height,
                  pointer(scaled, offset), stride, 1.0, pointer(panel, corner), height)  # fmt: skip
        failed, minus = _eliminate_columns(
            panel[corner:], width, height - first, height, indefinite, signs[first : first + width]
        )
        if failed >= 0:
            return first + failed, negative
        negative += minus
    return -1, negative


@inner
def _scaled_rows(panel, first, width, height, signs):
    """L[first:first+width, :first] S, column-major."""
    scaled = np.empty(width * first)
    for k in range(first):
        for i in range(width):
            scaled[k * width + i] = panel[k * height + first + i] * signs[k]
    return scaled


@inner
def _eliminate_columns(panel, width, height, stride, indefinite, signs):
    """Left-looking elimination of a few columns (height, width): L S Lᵀ = A on the first `width` rows.

    Four earlier columns per pass, to load and store the current one less often: on narrow panels this beats
    dpotrf and dtrsm. Returns (column that failed or −1, number of negative pivots).
    """
    negative = 0
    for j in range(width):
        column = panel[j * stride + j : j * stride + height]
        for k in range(0, j - 3, 4):
            at = k * stride + j
            p, q = panel[at : at + height - j], panel[at + stride : at + stride + height - j]
            u, v = panel[at + 2 * stride : at + 2 * stride + height - j], panel[at + 3 * stride :]
            fp, fq, fu, fv = p[0] * signs[k], q[0] * signs[k + 1], u[0] * signs[k + 2], v[0] * signs[k + 3]
            for i in range(height - j):
                column[i] -= fp * p[i] + fq * q[i] + fu * u[i] + fv * v[i]
        for k in range(j - j % 4, j):
            p = panel[k * stride + j : k * stride + height]
            fp = p[0] * signs[k]
            for i in range(height - j):
                column[i] -= fp * p[i]
        sign = 1.0
        if not column[0] > 0.0:
            if not (indefinite and column[0] < 0.0):
                return j, negative
            sign = -1.0
            negative += 1
        signs[j] = sign
        root = np.sqrt(sign * column[0])
        column[0] = root
        for i in range(1, height - j):
            column[i] *= sign / root
    return -1, negative


@inner
def _pivot_ratios(fronts, s, block, data, panel, height, ratios):
    """Ratios of the pivots of a front; returns (pivot that is not a number or −1, smallest ratio)."""
    smallest = 1.0
    for node in range(fronts.first[s], fronts.first[s + 1]):
        source = fronts.diagonal[node] * block * block
        for i in range(block):
            j = block * (node - fronts.first[s]) + i
            pivot = panel[j * height + j] ** 2
            ratio = pivot / max(abs(data[source + i * (block + 1)]), pivot)
            if not ratio > 0.0:  # BLAS passes NaN on
                return j, 0.0
            ratios[block * node + i] = ratio
            smallest = min(smallest, ratio)
    return -1, smallest


@inner
def _update(blas, panel, c, r, signs, negative, beta, update):
    """Update ← β update − B S Bᵀ, lower half, B (r, c) the panel under the pivots."""
    height = c + r
    dsyrk(blas, r, c, -1.0, pointer(panel, c), height, beta, pointer(update, 0), r)
    if negative > 0:
        flipped, at = np.empty(negative * r), 0  # the columns that were subtracted but should be added
        for j in range(c):
            if signs[j] < 0.0:
                for i in range(r):
                    flipped[at + i] = panel[j * height + c + i]
                at += r
        dsyrk(blas, r, negative, 2.0, pointer(flipped, 0), r, 1.0, pointer(update, 0), r)
