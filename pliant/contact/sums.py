"""Rows of contacts in compiled loops: from motions of points along directions to dq, added up as asked."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(error_model="numpy")
def _add_row(first, k, i, dx, dy, dz, stencil, stack, q, place, where, values):
    """Add the motion of contact i along (dx, dy, dz) to a row that starts at entry `first` and ends at k; returns its new end.

    Entry n is block where[n] of dq with values[n] (3,); place[block] is the entry of a block if it is not below `first`.
    """
    stencil_ptr, point, stencil_weight = stencil
    point_ptr, block, plain, weight, still, turn = stack
    for e in range(stencil_ptr[i], stencil_ptr[i + 1]):
        w = stencil_weight[e]
        gx, gy, gz = w * dx, w * dy, w * dz
        for b in range(point_ptr[point[e]], point_ptr[point[e] + 1]):
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
                values[n, c] += x * still[b, 0, c] + y * still[b, 1, c] + z * still[b, 2, c]
    return k


@njit(error_model="numpy")
def _most(item, per, stencil, stack):
    """How many entries the rows of these items can have."""
    stencil_ptr, point, point_ptr, most = stencil[0], stencil[1], stack[0], 0
    for s in range(len(item)):
        i = item[s] // per
        for e in range(stencil_ptr[i], stencil_ptr[i + 1]):
            most += point_ptr[point[e] + 1] - point_ptr[point[e]]
    return most


@njit(error_model="numpy")
def _laid_out(indptr, where, values, k):
    """Compressed rows from the ends of rows (in entries) and k entries: indptr, indices, data."""
    indices, data = np.empty(3 * k, np.int64), np.empty(3 * k)
    for n in range(k):
        for c in range(3):
            indices[3 * n + c], data[3 * n + c] = 3 * where[n] + c, values[n, c]
    return 3 * indptr, indices, data


@njit(cache=True, error_model="numpy")
def summed_rows(sums, stencil, direction, per, stack, blocks, q):
    """Row j is Σ share · row of item over ptr[j]:ptr[j+1], sums = (ptr, item, share), each block of dq once: indptr, indices, data.

    Item i is contact i // per, along direction[i] (·, 3). `stencil` and `stack` are the arrays of a `Stencil` and of a `Stack`.
    """
    ptr, item, share = sums
    most = _most(item, per, stencil, stack)
    ends, where, values = np.zeros(len(ptr), np.int64), np.empty(most, np.int64), np.empty((most, 3))
    place, k = np.full(blocks, -1), 0
    for j in range(len(ptr) - 1):
        first = k
        for s in range(ptr[j], ptr[j + 1]):
            w, i = share[s], item[s]
            dx, dy, dz = w * direction[i, 0], w * direction[i, 1], w * direction[i, 2]
            k = _add_row(first, k, i // per, dx, dy, dz, stencil, stack, q, place, where, values)
        ends[j + 1] = k
    return _laid_out(ends, where, values, k)


@njit(cache=True, error_model="numpy")
def stiffened_rows(K, shares, force, scale, faint, stencil, normal, stack, keys, blocks, q):
    """Rows of modes as in `summed_rows`, shares = (ptr, contact, share) of contacts along their normals; and K += Σ stiff_j share hᵀh
    over their contacts for which it has room, stiff (k,) = scale · force where that is not faint and there are several contacts.

    Returns indptr, indices and data of the rows; stiff; the modes there was some room for; and of these the contacts without
    room, with stiff_j share of each. K (nb, 3, 3) is the stored half: blocks with sorted keys row · blocks + column.
    """
    ptr, contact, share = shares
    stiff, largest = np.zeros(len(force)), 0.0
    for j in range(len(force)):
        largest = max(largest, force[j])
    for j in range(len(force)):
        if force[j] > faint * largest and ptr[j + 1] > ptr[j] + 1:
            stiff[j] = scale * force[j]
    most, longest = _most(contact, 1, stencil, stack), 0
    for s in range(len(contact)):
        longest = max(longest, _most(contact[s : s + 1], 1, stencil, stack))
    where, values, place, k = np.empty(most, np.int64), np.empty((most, 3)), np.full(blocks, -1), 0
    one_where, one_values, one_place = np.empty(most, np.int64), np.empty((most, 3)), np.full(blocks, -1)
    ends, end = np.zeros(len(ptr), np.int64), 0
    roomy, left, count = np.empty(len(stiff), np.int64), np.empty(len(contact), np.int64), 0
    factor, rooms = np.empty(len(contact)), 0
    seats, seated, fits = np.empty((longest, longest), np.int64), np.zeros(0, np.int64), False
    for j in range(len(stiff)):
        first, begin, room = k, count, False
        for s in range(ptr[j], ptr[j + 1]):
            i, w, start = contact[s], share[s], end
            dx, dy, dz = normal[i, 0], normal[i, 1], normal[i, 2]
            end = _add_row(start, end, i, dx, dy, dz, stencil, stack, q, one_place, one_where, one_values)
            for e in range(start, end):
                n = place[one_where[e]]
                if n < first:
                    n = place[one_where[e]] = k
                    where[n], values[n, 0], values[n, 1], values[n, 2] = one_where[e], 0.0, 0.0, 0.0
                    k += 1
                for c in range(3):
                    values[n, c] += w * one_values[e, c]
            if stiff[j] > 0.0:
                mine = one_where[start:end]
                if not _same(mine, seated):  # neighbours hang on the same
                    seated, fits = mine, _seated(keys, blocks, mine, seats)
                if fits:
                    _add_square(K, stiff[j] * w, mine, one_values[start:end], seats)
                    room = True
                else:
                    left[count], factor[count] = i, stiff[j] * w
                    count += 1
        ends[j + 1] = k
        if room:
            roomy[rooms] = j
            rooms += 1
        else:
            count = begin
    return _laid_out(ends, where, values, k), stiff, roomy[:rooms].copy(), left[:count].copy(), factor[:count].copy()


@njit(error_model="numpy")
def _same(a, b):
    if len(a) != len(b):
        return False
    for i in range(len(a)):
        if a[i] != b[i]:
            return False
    return True


@njit(error_model="numpy")
def _seated(keys, blocks, where, seats):
    """Fill seats[e, f] with K's block of where[e] and where[f], the former not below; False if K has no such block."""
    for e in range(len(where)):
        for f in range(len(where)):
            if where[e] >= where[f]:
                seats[e, f] = _place(keys, where[e] * blocks + where[f])
                if seats[e, f] < 0:
                    return False
    return True


@njit(error_model="numpy")
def _add_square(K, factor, where, values, seats):
    """K += factor hᵀh of one row."""
    for e in range(len(where)):
        for f in range(len(where)):
            if where[e] >= where[f]:
                for a in range(3):
                    for b in range(3):
                        K[seats[e, f], a, b] += factor * values[e, a] * values[f, b]


@njit(error_model="numpy")
def _place(keys, key):
    """Where a key stands among sorted ones; −1 if it is not there."""
    low, high = 0, len(keys) - 1
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if keys[low] == key else -1
