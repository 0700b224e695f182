"""Numeric factorisation A = L S Lᵀ, S = diag(±1), front by front.

A front is the dense matrix of a supernode: pivots first, then the rows they touch. Assembled from the entries
of A and the updates of its children, it is eliminated to a panel of L and an update for its parent.
Matrices are column-major in flat arrays, only their lower halves count.

Threads share the work, see `team`: first the small subtrees, each by one thread, then the fronts above them
one after the other, each by all threads, in strips.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.blas import TRANSPOSED, dgemm, dsyrk, dtrsm, pointer
from pliant.algebra.jit import inner, shared_kernel
from pliant.algebra.team import finish, take, wait

PANEL_WIDTH = 16  # columns eliminated at once: enough for matrix products, few enough for the first cache
WIDE = 48  # columns updated at once by all before them: products of this width are near the machine's rate
STRIP = 96  # columns of a large front that a thread takes at once; of rows it takes twice as many


@shared_kernel
def factorise_fronts(blas, fronts, block, data, indefinite, panels, stack, signs, ratios, failures, team):
    """Fill panels with L, signs with S and ratios with |pivot| / |diagonal entry|.

    `failures` (subtrees + 1,), −1 before, gets the pivot that failed in each subtree and in the fronts above.
    Returns (first pivot that failed or −1, number of negative pivots, smallest ratio).
    """
    subtrees = len(fronts.subtree_start)
    k = take(team, 0, subtrees)
    while k >= 0:
        for s in range(fronts.subtree_start[k], fronts.subtree_end[k]):
            failures[k] = _front(blas, fronts, s, block, data, indefinite, panels, stack, signs, ratios)
            if failures[k] >= 0:
                break
        finish(team, 0)
        k = take(team, 0, subtrees)
    wait(team, 0, subtrees)
    phase, failed = 1, _first_failure(failures)
    for s in fronts.top:
        if failed < 0:
            phase = _large_front(
                blas, fronts, s, block, data, indefinite, panels, stack, signs, ratios, failures, phase, team
            )
            failed = failures[-1]
    if failed >= 0:
        return failed, 0, 0.0
    return -1, int(np.sum(signs < 0.0)), np.min(ratios) if len(ratios) else 1.0


@inner
def _first_failure(failures):
    first = -1
    for pivot in failures:
        if pivot >= 0 and (first < 0 or pivot < first):
            first = pivot
    return first


@inner
def _shape(fronts, s, block):
    """Pivots and rows below them of front s, and its first pivot, in scalars."""
    c = block * (fronts.first[s + 1] - fronts.first[s])
    r = block * (fronts.start[s + 1] - fronts.start[s])
    return c, r, block * fronts.first[s]


@inner
def _front(blas, fronts, s, block, data, indefinite, panels, stack, signs, ratios):
    """Assemble and eliminate a front; returns the pivot that failed or −1."""
    c, r, pivot = _shape(fronts, s, block)
    panel = panels[fronts.panel[s] : fronts.panel[s + 1]]
    leaf = fronts.child_start[s] == fronts.child_start[s + 1]
    _assemble(fronts, s, block, data, panels, stack, 0, c + r)
    failed = _eliminate(blas, panel, c, c + r, c + r, indefinite, signs[pivot : pivot + c])
    if failed < 0:
        failed = _pivot_ratios(fronts, s, block, data, panel, c + r, 0, c, ratios)
    if failed >= 0:
        return pivot + failed
    if r > 0:
        update = stack[fronts.update[s] : fronts.update[s] + r * r]
        _update(blas, panel, c, r, signs[pivot : pivot + c], 0.0 if leaf else 1.0, update, 0, r)
    return -1


@inner
def _large_front(
    blas, fronts, s, block, data, indefinite, panels, stack, signs, ratios, failures, phase, team
):
    """The same by all threads: assembled in strips of columns, eliminated in strips of rows.

    Returns the next phase. The diagonal block of a strip of columns is eliminated by whoever has the rows it
    consists of, so that everybody can go on with the next strip at once.
    """
    c, r, pivot = _shape(fronts, s, block)
    height, leaf = c + r, fronts.child_start[s] == fronts.child_start[s + 1]
    panel = panels[fronts.panel[s] : fronts.panel[s + 1]]
    front_signs = signs[pivot : pivot + c]
    chunks = (height + STRIP - 1) // STRIP
    k = take(team, phase, chunks)
    while k >= 0:
        _assemble(fronts, s, block, data, panels, stack, k * STRIP, min((k + 1) * STRIP, height))
        if k == 0:
            failures[-1] = _diagonal(
                blas, fronts, s, block, data, panel, c, height, 0, indefinite, front_signs, ratios
            )
        finish(team, phase)
        k = take(team, phase, chunks)
    wait(team, phase, chunks)
    for first in range(0, c, STRIP):
        end = min(first + STRIP, c)
        ahead = min(STRIP, c - end)  # rows of the next diagonal block: they are the first chunk
        chunks = min(ahead, 1) + (height - end - ahead + 2 * STRIP - 1) // (2 * STRIP)
        phase += 1
        if failures[-1] >= 0:
            return phase
        k = take(team, phase, chunks)
        while k >= 0:
            top, rows = end, ahead
            if ahead == 0 or k > 0:
                top = end + ahead + (k - min(ahead, 1)) * 2 * STRIP
                rows = min(2 * STRIP, height - top)
            _eliminate_rows(blas, panel, first, end - first, top, rows, height, front_signs)
            if ahead > 0 and k == 0:
                failures[-1] = _diagonal(
                    blas, fronts, s, block, data, panel, c, height, end, indefinite, front_signs, ratios
                )
            finish(team, phase)
            k = take(team, phase, chunks)
        wait(team, phase, chunks)
    phase += 1
    chunks = (r + STRIP - 1) // STRIP
    update = stack[fronts.update[s] : fronts.update[s] + r * r]
    k = take(team, phase, chunks)
    while k >= 0:
        low, high = k * STRIP, min((k + 1) * STRIP, r)
        _update(blas, panel, c, r, front_signs, 0.0 if leaf else 1.0, update, low, high)
        finish(team, phase)
        k = take(team, phase, chunks)
    wait(team, phase, chunks)
    return phase + 1


@inner
def _assemble(fronts, s, block, data, panels, stack, low, high):
    """Columns low:high of front s: entries of A, and the updates of its children."""
    c, r, _ = _shape(fronts, s, block)
    height, begin = c + r, fronts.panel[s]
    panel = panels[begin : fronts.panel[s + 1]]
    update = stack[fronts.update[s] : fronts.update[s] + r * r]
    for j in range(low, min(high, c)):
        panel[j * height + j // block * block : (j + 1) * height] = 0.0
    _add_entries(fronts, s, block, height, data, panels, begin + low * height, begin + high * height)
    if fronts.child_start[s] < fronts.child_start[s + 1]:
        for j in range(max(low - c, 0), max(high - c, 0)):
            update[j * r + j // block * block : (j + 1) * r] = 0.0
    for k in range(fronts.child_start[s], fronts.child_start[s + 1]):
        _extend_add(fronts, fronts.children[k], block, c, r, panel, update, stack, low, high)


@inner
def _add_entries(fronts, s, block, height, data, panels, low, high):
    """Write the entries of A into the panel of front s, which is zero, where it lies in panels[low:high]."""
    k, end = fronts.entry_start[s], fronts.entry_start[s + 1]
    if k < end and fronts.entry_target[k] < low:
        k += np.searchsorted(fronts.entry_target[k:end], low)
    while k < end and fronts.entry_target[k] < high:
        source, target = fronts.entry_block[k], fronts.entry_target[k]
        down, right = block, 1
        if source < 0:
            source, down, right = -1 - source, 1, block
        source *= block * block
        for j in range(block):
            for i in range(block):
                panels[target + j * height + i] = data[source + i * down + j * right]
        k += 1


@inner
def _extend_add(fronts, child, block, c, r, panel, update, stack, low, high):
    """Add the child's update to columns low:high of the parent, by runs of rows that stay neighbours."""
    rows = fronts.start[child + 1] - fronts.start[child]
    begin, end = fronts.run_start[child], fronts.run_start[child + 1]
    for run in range(begin, end):
        first = fronts.run_first[run]
        last = fronts.run_first[run + 1] if run + 1 < end else rows
        moved = block * (fronts.run_target[run] - first)
        for column in range(max(block * first, low - moved), min(block * last, high - moved)):
            to = moved + column
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
def _eliminate(blas, panel, c, rows, stride, indefinite, signs):
    """Factorise the c first columns of a matrix (rows, c) in place; returns the column that failed or −1.

    Columns are updated by those before them in two steps, so that most of it are products of some width.
    """
    for wide in range(0, c, WIDE):
        end = min(wide + WIDE, c)
        _subtract(blas, panel, 0, wide, end - wide, wide, rows - wide, stride, signs)
        for first in range(wide, end, PANEL_WIDTH):
            width = min(PANEL_WIDTH, end - first)
            _subtract(blas, panel, wide, first, width, first, rows - first, stride, signs)
            failed = _eliminate_columns(
                panel[first * (stride + 1) :],
                width,
                rows - first,
                stride,
                indefinite,
                signs[first : first + width],
            )
            if failed >= 0:
                return first + failed
    return -1


@inner
def _diagonal(blas, fronts, s, block, data, panel, c, height, first, indefinite, signs, ratios):
    """Eliminate the next diagonal block of a large front; returns the pivot that failed or −1."""
    width = min(STRIP, c - first)
    _subtract(blas, panel, 0, first, width, first, width, height, signs)
    failed = _eliminate(
        blas, panel[first * (height + 1) :], width, width, height, indefinite, signs[first : first + width]
    )
    if failed < 0:
        failed = _pivot_ratios(fronts, s, block, data, panel, height, first, first + width, ratios)
    else:
        failed += first
    return -1 if failed < 0 else block * fronts.first[s] + failed


@inner
def _eliminate_rows(blas, panel, first, width, top, rows, height, signs):
    """Rows of L under a diagonal block that is eliminated: A L⁻ᵀ S, less what the columns before make."""
    _subtract(blas, panel, 0, first, width, top, rows, height, signs)
    corner = pointer(panel, first * (height + 1))
    dtrsm(blas, TRANSPOSED, rows, width, corner, height, pointer(panel, first * height + top), height)
    for j in range(first, first + width):
        if signs[j] < 0.0:
            for i in range(j * height + top, j * height + top + rows):
                panel[i] = -panel[i]


@inner
def _subtract(blas, panel, begin, first, width, top, rows, stride, signs):
    """A −= L S Lᵀ on some rows of columns first:first+width, with the columns of L from begin to first."""
    if first == begin or rows == 0:
        return
    scaled, at, wide = panel, begin * stride + first, stride  # rows of L, or of L S if pivots are negative
    if _any_negative(signs[begin:first]):
        scaled = _scaled_rows(panel, begin, first, first, width, stride, signs)
        at, wide = 0, width
    dgemm(blas, TRANSPOSED, rows, width, first - begin, -1.0, pointer(panel, begin * stride + top), stride,
          pointer(scaled, at), wide, 1.0, pointer(panel, first * stride + top), stride)  # fmt: skip


@inner
def _any_negative(signs):
    for sign in signs:  # noqa: SIM110 (Numba knows no any)
        if sign < 0.0:
            return True
    return False


@inner
def _scaled_rows(panel, begin, end, top, rows, stride, signs):
    """L[top:top+rows, begin:end] S, column-major."""
    scaled = np.empty(rows * (end - begin))
    for k in range(begin, end):
        for i in range(rows):
            scaled[(k - begin) * rows + i] = panel[k * stride + top + i] * signs[k]
    return scaled


@inner
def _eliminate_columns(panel, width, height, stride, indefinite, signs):
    """Left-looking elimination of a few columns (height, width): L S Lᵀ = A on the first `width` rows.

    Four earlier columns per pass, to load and store the current one less often: on narrow panels this beats
    dpotrf and dtrsm. Returns the column that failed or −1.
    """
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
                return j
            sign = -1.0
        signs[j] = sign
        root = np.sqrt(sign * column[0])
        column[0] = root
        for i in range(1, height - j):
            column[i] *= sign / root
    return -1


@inner
def _pivot_ratios(fronts, s, block, data, panel, height, low, high, ratios):
    """Ratios of the pivots low:high of a front; returns the pivot that is not a number or −1."""
    for j in range(low, high):
        node, i = fronts.first[s] + j // block, j % block
        pivot = panel[j * height + j] ** 2
        ratio = pivot / max(abs(data[fronts.diagonal[node] * block * block + i * (block + 1)]), pivot)
        if not ratio > 0.0:  # BLAS passes NaN on
            return j
        ratios[block * node + i] = ratio
    return -1


@inner
def _update(blas, panel, c, r, signs, beta, update, low, high):
    """Columns low:high of update ← β update − B S Bᵀ, lower half, B (r, c) the panel under the pivots."""
    height, width = c + r, high - low
    here, into = pointer(panel, c + low), pointer(update, low * (r + 1))
    if _any_negative(signs):
        scaled = _scaled_rows(panel, 0, c, c + low, width, height, signs)
        dgemm(blas, TRANSPOSED, r - low, width, c, -1.0, here, height, pointer(scaled, 0), width, beta,
              into, r)  # fmt: skip
        return
    dsyrk(blas, width, c, -1.0, here, height, beta, into, r)
    if high < r:
        dgemm(blas, TRANSPOSED, r - high, width, c, -1.0, pointer(panel, c + high), height, here, height,
              beta, pointer(update, low * r + high), r)  # fmt: skip
