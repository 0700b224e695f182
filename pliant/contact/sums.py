"""Rows of contacts in compiled loops: from motions of points along directions to dq, added up as asked."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.contact.found import parted
from pliant.contact.stack import opened


@njit(error_model="numpy")
def _rows(ptr, item, share, stencil, direction, per, stack, blocks, q):
    """Row j is Σ share · row of item over ptr[j]:ptr[j+1]: the ends of rows (in entries); entry n is block where[n] of dq with values[n] (3,).

    Item i is contact i // per, along direction[i] (·, 3). One loop: calls of parts of it would take most of the time.
    """
    stencil_ptr, point, stencil_weight = stencil
    point_ptr, block, plain, weight, still, turn, region, arm, held_block, held_turn, frame = opened(*stack)
    most = 0
    for s in range(len(item)):
        i = item[s] // per
        for e in range(stencil_ptr[i], stencil_ptr[i + 1]):
            most += point_ptr[point[e] + 1] - point_ptr[point[e]]
    ends, where, values = np.zeros(len(ptr), np.int64), np.empty(most, np.int64), np.empty((most, 3))
    place, k, first = np.full(blocks, -1), 0, 0
    m, n, x, y, z = 0, 0, 0.0, 0.0, 0.0
    for j in range(len(ptr) - 1):
        first = k
        for s in range(ptr[j], ptr[j + 1]):
            d, i, last = item[s], item[s] // per, -1
            ux, uy, uz = share[s] * direction[d, 0], share[s] * direction[d, 1], share[s] * direction[d, 2]
            for e in range(stencil_ptr[i], stencil_ptr[i + 1]):
                w, p = stencil_weight[e], point[e]
                gx, gy, gz, r = w * ux, w * uy, w * uz, region[p]
                if r >= 0:  # on one rigid region: Qᵀg on its translation, a × Rᵀg on its rotation
                    if r != last:
                        for b in range(held_block[r], held_block[r] + 2):
                            if place[b] < first:
                                place[b] = k
                                where[k], values[k, 0], values[k, 1], values[k, 2] = b, 0.0, 0.0, 0.0
                                k += 1
                        m, n, o, last = place[held_block[r]], place[held_block[r] + 1], held_turn[r], r
                        x = q[o] * ux + q[o + 3] * uy + q[o + 6] * uz
                        y = q[o + 1] * ux + q[o + 4] * uy + q[o + 7] * uz
                        z = q[o + 2] * ux + q[o + 5] * uy + q[o + 8] * uz
                    for c in range(3):
                        values[m, c] += frame[r, c] * gx + frame[r, 3 + c] * gy + frame[r, 6 + c] * gz
                    values[n, 0] += w * (arm[p, 1] * z - arm[p, 2] * y)
                    values[n, 1] += w * (arm[p, 2] * x - arm[p, 0] * z)
                    values[n, 2] += w * (arm[p, 0] * y - arm[p, 1] * x)
                    continue
                last = -1
                for b in range(point_ptr[p], point_ptr[p + 1]):
                    n = place[block[b]]
                    if n < first:
                        n = place[block[b]] = k
                        where[n], values[n, 0], values[n, 1], values[n, 2] = block[b], 0.0, 0.0, 0.0
                        k += 1
                    if plain[b]:
                        values[n, 0] += weight[b] * gx
                        values[n, 1] += weight[b] * gy
                        values[n, 2] += weight[b] * gz
                        continue
                    x, y, z, o = gx, gy, gz, turn[b]
                    if o >= 0:
                        x = q[o] * gx + q[o + 3] * gy + q[o + 6] * gz
                        y = q[o + 1] * gx + q[o + 4] * gy + q[o + 7] * gz
                        z = q[o + 2] * gx + q[o + 5] * gy + q[o + 8] * gz
                    for c in range(3):
                        values[n, c] += x * still[b, c] + y * still[b, 3 + c] + z * still[b, 6 + c]
        ends[j + 1] = k
    return ends, where, values


@njit(error_model="numpy")
def _laid_out(ends, where, values, first, columns, numbers):
    """Compressed rows: those with indptr `first`, indices and data, then those with such ends and entries: indptr, indices, data."""
    m, size, k = len(first) - 1, len(columns), ends[-1]
    indptr, indices, data = (
        np.empty(m + len(ends), np.int64),
        np.empty(size + 3 * k, np.int64),
        np.empty(size + 3 * k),
    )
    for i in range(m):
        indptr[i] = first[i]
    for i in range(len(ends)):
        indptr[m + i] = size + 3 * ends[i]
    for n in range(size):
        indices[n], data[n] = columns[n], numbers[n]
    for n in range(k):
        for c in range(3):
            indices[size + 3 * n + c], data[size + 3 * n + c] = 3 * where[n] + c, values[n, c]
    return indptr, indices, data


@njit(cache=True, error_model="numpy")
def summed_rows(sums, stencil, direction, per, stack, blocks, q):
    """Row j is Σ share · row of item over ptr[j]:ptr[j+1], sums = (ptr, item, share), each block of dq once: indptr, indices, data.

    Item i is contact i // per, along direction[i] (·, 3). `stencil` are the arrays of a `Stencil`, `stack` those of a `Stack`, packed.
    """
    ptr, item, share = sums
    rows = _rows(ptr, item, share, stencil, direction, per, stack, blocks, q)
    return _laid_out(*rows, np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0))


@njit(cache=True, error_model="numpy")
def stiffened_rows(K, above, found, force, scale, faint, stack, pattern, blocks, q):
    """Rows of modes as in `summed_rows` below others, sums of contacts along their normals, see `found`; and K += Σ stiff_j share hᵀh
    over their contacts for which it has room, stiff (k,) = scale · force where that is not faint and there are several contacts.

    Returns indptr, indices and data of the rows; how many modes there was some room for, and for how many none; which these are, then of the
    former the contacts without room; and stiff_j of each mode, stiff_j share of each contact. K (nb, 3, 3) is the stored half, see `Stack.pattern`.
    """
    _, (ptr, contact, share), (_, _, normal, _), stencil = parted(*found)
    stiff, largest = np.zeros(len(force)), 0.0
    for j in range(len(force)):
        largest = max(largest, force[j])
    for j in range(len(force)):
        if force[j] > faint * largest and ptr[j + 1] > ptr[j] + 1:
            stiff[j] = scale * force[j]
    n = len(normal)
    each = _rows(np.arange(n + 1), np.arange(n), np.ones(n), stencil, normal, 1, stack, blocks, q)
    rows = _merged(ptr, contact, share, *each, blocks)
    roomy, others, which, factor = _curved(K, ptr, contact, share, stiff, *each, *pattern)
    return _laid_out(*rows, *above), roomy, others, which, factor


@njit(error_model="numpy")
def _merged(ptr, contact, share, ends, where, values, blocks):
    """Rows Σ share · row of contact over ptr[j]:ptr[j+1], from and as those of `_rows`."""
    place, most, k = np.full(blocks, -1), 0, 0
    for s in range(len(contact)):
        most += ends[contact[s] + 1] - ends[contact[s]]
    sums, block, value = np.zeros(len(ptr), np.int64), np.empty(most, np.int64), np.empty((most, 3))
    for j in range(len(ptr) - 1):
        first = k
        for s in range(ptr[j], ptr[j + 1]):
            for e in range(ends[contact[s]], ends[contact[s] + 1]):
                n = place[where[e]]
                if n < first:
                    n = place[where[e]] = k
                    block[n], value[n, 0], value[n, 1], value[n, 2] = where[e], 0.0, 0.0, 0.0
                    k += 1
                for c in range(3):
                    value[n, c] += share[s] * values[e, c]
        sums[j + 1] = k
    return sums, block, value


@njit(error_model="numpy")
def _curved(K, ptr, contact, share, stiff, ends, where, values, starts, cols):
    """K += Σ stiff_j share_s hᵀh of contacts' rows; how many modes have room for some, how many for none, which they are, then of the former the
    contacts without, and stiff_j or stiff_j share_s."""
    weight = np.zeros(len(ends) - 1)
    for j in range(len(stiff)):
        for s in range(ptr[j], ptr[j + 1]):
            weight[contact[s]] += stiff[j] * share[s]
    fits = _add_squares(K, weight, ends, where, values, starts, cols)
    roomy, others = np.empty(len(stiff), np.int64), np.empty(len(stiff), np.int64)
    left, factor = np.empty(len(contact), np.int64), np.empty(len(contact))
    rooms, none, count = 0, 0, 0
    for j in range(len(stiff)):
        begin, room = count, False
        if stiff[j] == 0.0:
            continue
        for s in range(ptr[j], ptr[j + 1]):
            if fits[contact[s]]:
                room = True
            else:
                left[count], factor[count] = contact[s], stiff[j] * share[s]
                count += 1
        if room:
            roomy[rooms] = j
            rooms += 1
        else:
            count = begin
            others[none] = j
            none += 1
    modes = np.concatenate((roomy[:rooms], others[:none]))
    which, factors = np.concatenate((modes, left[:count])), np.concatenate((stiff[modes], factor[:count]))
    return rooms, none, which, factors


@njit(error_model="numpy")
def _add_squares(K, weight, ends, where, values, starts, cols):
    """K += Σ weight hᵀh of rows for which it has room; which rows (n,) these are. Neighbours hang on the same blocks and are added up first."""
    n, longest, first = len(weight), 0, 0
    for i in range(n):
        longest = max(longest, ends[i + 1] - ends[i])
    fits, seats = np.zeros(n, np.bool_), np.empty((longest, longest), np.int64)
    while first < n:
        last, some = first, weight[first]
        while last + 1 < n and _alike(where, ends, first, last + 1):
            last += 1
            some += weight[last]
        begin, width = ends[first], ends[first + 1] - ends[first]
        if some > 0.0 and _seated(starts, cols, where, begin, begin + width, seats):
            for e in range(width):
                for f in range(width):
                    if where[begin + e] >= where[begin + f]:
                        block, rows = K[seats[e, f]], (first, last + 1, begin + e, begin + f, width)
                        _add_products(block, weight, values, rows)
            fits[first : last + 1] = True
        first = last + 1
    return fits


@njit(error_model="numpy")
def _add_products(block, weight, values, rows):
    """block (3, 3) += Σ weight · values[e]ᵀ values[f] of rows first … stop − 1, where e and f grow by `width` from row to row."""
    first, stop, e, f, width = rows
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(first, stop):
        x, y, z = weight[i] * values[e, 0], weight[i] * values[e, 1], weight[i] * values[e, 2]
        a, b, c = values[f, 0], values[f, 1], values[f, 2]
        xx, xy, xz = xx + x * a, xy + x * b, xz + x * c
        yx, yy, yz = yx + y * a, yy + y * b, yz + y * c
        zx, zy, zz = zx + z * a, zy + z * b, zz + z * c
        e, f = e + width, f + width
    block[0, 0] += xx
    block[0, 1] += xy
    block[0, 2] += xz
    block[1, 0] += yx
    block[1, 1] += yy
    block[1, 2] += yz
    block[2, 0] += zx
    block[2, 1] += zy
    block[2, 2] += zz


@njit(error_model="numpy")
def _alike(where, ends, s, t):
    """Whether rows s and t are on the same blocks."""
    n, same = ends[s + 1] - ends[s], ends[s + 1] - ends[s] == ends[t + 1] - ends[t]
    for e in range(n if same else 0):
        same = same and where[ends[s] + e] == where[ends[t] + e]
    return same


@njit(error_model="numpy")
def _seated(starts, cols, where, begin, end, seats):
    """Fill seats[e, f] with K's block of entries e and f, the former's not below; False if K has no such block."""
    for e in range(begin, end):
        for f in range(begin, end):
            if where[e] >= where[f]:
                seat, stop = starts[where[e]], starts[where[e] + 1]
                while seat < stop and cols[seat] < where[f]:
                    seat += 1
                if seat == stop or cols[seat] != where[f]:
                    return False
                seats[e - begin, f - begin] = seat
    return True
