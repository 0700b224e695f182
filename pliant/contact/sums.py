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


@njit(cache=True, error_model="numpy")
def summed_rows(sums, stencil, direction, per, stack, blocks, q):
    """Row j is Σ share · row of item over ptr[j]:ptr[j+1], sums = (ptr, item, share), each block of dq once: indptr, indices, data.

    Item i is contact i // per, along direction[i] (·, 3). `stencil` and `stack` are the arrays of a `Stencil` and of a `Stack`.
    """
    ptr, item, share = sums
    most = _most(item, per, stencil, stack)
    indptr, where, values = np.zeros(len(ptr), np.int64), np.empty(most, np.int64), np.empty((most, 3))
    place, k = np.full(blocks, -1), 0
    for j in range(len(ptr) - 1):
        first = k
        for s in range(ptr[j], ptr[j + 1]):
            w, i = share[s], item[s]
            dx, dy, dz = w * direction[i, 0], w * direction[i, 1], w * direction[i, 2]
            k = _add_row(first, k, i // per, dx, dy, dz, stencil, stack, q, place, where, values)
        indptr[j + 1] = 3 * k
    indices, data = np.empty(3 * k, np.int64), np.empty(3 * k)
    for n in range(k):
        for c in range(3):
            indices[3 * n + c], data[3 * n + c] = 3 * where[n] + c, values[n, c]
    return indptr, indices, data


@njit(cache=True, error_model="numpy")
def add_squares(K, shares, stiff, stencil, normal, stack, keys, blocks, q):
    """K += Σ stiff_j share hᵀh over the contacts of modes j with stiff > 0 for which it has room, shares = (ptr, contact, share).

    Returns which modes (k,) it had some room for, and of these the contacts without room, with stiff_j share of each. K (nb, 3, 3)
    is the stored half: blocks with sorted keys row · blocks + column.
    """
    ptr, contact, share = shares
    most = _most(contact, 1, stencil, stack)
    where, values, place, k = np.empty(most, np.int64), np.empty((most, 3)), np.full(blocks, -1), 0
    roomy, left, count = np.zeros(len(stiff), np.bool_), np.empty(len(contact), np.int64), 0
    factor = np.empty(len(contact))
    for j in range(len(stiff)):
        begin = count
        for s in range(ptr[j], ptr[j + 1]) if stiff[j] > 0.0 else range(0):
            i, first = contact[s], k
            k = _add_row(
                first, k, i, normal[i, 0], normal[i, 1], normal[i, 2], stencil, stack, q, place, where, values
            )
            if _add_square(K, stiff[j] * share[s], where[first:k], values[first:k], keys, blocks):
                roomy[j] = True
            else:
                left[count], factor[count] = i, stiff[j] * share[s]
                count += 1
        if not roomy[j]:
            count = begin
    return roomy, left[:count].copy(), factor[:count].copy()


@njit(error_model="numpy")
def _add_square(K, factor, where, values, keys, blocks):
    """K += factor hᵀh of one row; False, and nothing, if there is no room."""
    for e in range(len(where)):
        for f in range(e):
            a, b = where[e], where[f]
            key = max(a, b) * blocks + min(a, b)
            k = np.searchsorted(keys, key)
            if k == len(keys) or keys[k] != key:
                return False
    for e in range(len(where)):
        for f in range(len(where)):
            if where[e] >= where[f]:
                k = np.searchsorted(keys, where[e] * blocks + where[f])
                for a in range(3):
                    for b in range(3):
                        K[k, a, b] += factor * values[e, a] * values[f, b]
    return True
