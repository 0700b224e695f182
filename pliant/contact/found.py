"""The contacts of modes as detection finds them, in two arrays: each array that a kernel returns or is handed takes time of its own.

Sums (ptr, contact, share) over contacts (number, gap, normal, position), which have a stencil (ptr, point, weight): the integers of all one after
the other, behind the numbers of modes, of contacts and of terms in the sums, and all reals.
"""

from __future__ import annotations

import numpy as np
from numba import njit

Arrays = tuple[np.ndarray, ...]


def joined(sums: Arrays, of_each: Arrays, stencil: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """The two arrays: integers and reals."""
    sizes = len(sums[0]) - 1, len(of_each[0]), len(sums[1])
    ints = np.concatenate([sizes, sums[0], sums[1], of_each[0], stencil[0], stencil[1]])
    reals = np.concatenate([sums[2], *(array.ravel() for array in of_each[1:]), stencil[2]])
    return ints, reals


@njit(error_model="numpy")
def blank_found(modes, contacts, terms, entries):
    """The two arrays, of a stencil with so many entries, to be filled in."""
    ints = np.empty(5 + modes + terms + 2 * contacts + entries, np.int64)
    ints[0], ints[1], ints[2] = modes, contacts, terms
    return ints, np.empty(terms + 7 * contacts + entries)


@njit(error_model="numpy")
def parted(ints, reals):
    """Sums, contacts and stencil, as views."""
    k, n, e = ints[0], ints[1], ints[2]
    a = 4 + k
    b, c = a + e, e + n
    sums = ints[3:a], ints[a:b], reals[:e]
    normal, position = reals[c : c + 3 * n].reshape((n, 3)), reals[c + 3 * n : c + 6 * n].reshape((n, 3))
    of_each = ints[b : b + n], reals[e:c], normal, position
    return sums, of_each, (ints[b + n : b + 2 * n + 1], ints[b + 2 * n + 1 :], reals[c + 6 * n :])
