"""Rows of contacts: motions of material points along directions, added up, as rows on the robot's dq.

row j = Σ_s share_s · Σ_e weight_e · directionᵀ ∂p_e/∂dq        s over the items of row j, e over the stencil
of item s
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def summed_rows(sums, stencil, direction, per, support, blocks, q):
    """Compressed rows (indptr, indices, data) on dq, in which each of the `blocks` of dq stands once.

    sums = (ptr, item, share): row j adds up share[s] · item[s] for s in ptr[j] … ptr[j+1] − 1. Item i is
    contact i // per along direction[i] (·, 3). stencil and support are the arrays of a `Stencil` and of a
    `Support`.
    """
    ptr, item, share = sums
    stencil_ptr, point, stencil_weight = stencil
    support_ptr, block, plain, weight, still, turn = support
    entries = 0
    for s in range(len(item)):
        i = item[s] // per
        for e in range(stencil_ptr[i], stencil_ptr[i + 1]):
            entries += support_ptr[point[e] + 1] - support_ptr[point[e]]
    indptr, where, values = np.zeros(len(ptr), np.int64), np.empty(entries, np.int64), np.zeros((entries, 3))
    place, count = np.full(blocks, -1), 0  # of each block, its place in the present row
    for j in range(len(ptr) - 1):
        first = count
        for s in range(ptr[j], ptr[j + 1]):
            d, i = item[s], item[s] // per
            for e in range(stencil_ptr[i], stencil_ptr[i + 1]):
                w, p = share[s] * stencil_weight[e], point[e]
                gx, gy, gz = w * direction[d, 0], w * direction[d, 1], w * direction[d, 2]
                for b in range(support_ptr[p], support_ptr[p + 1]):
                    n = place[block[b]]
                    if n < first:
                        n = place[block[b]] = count
                        where[n] = block[b]
                        count += 1
                    if plain[b]:  # the block moves the point as it is
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
        indptr[j + 1] = 3 * count
    indices = np.empty(3 * count, np.int64)
    for n in range(count):
        for c in range(3):
            indices[3 * n + c] = 3 * where[n] + c
    return indptr, indices, values[:count].reshape(3 * count)
