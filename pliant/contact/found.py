"""Modes and their contacts as detection finds them, in two arrays: each array that a kernel returns or is handed takes time of its own.

Modes (index, δ̂) that are sums (ptr, contact, share) over contacts (number, gap, normal, position), which have a stencil (ptr, point, weight): the
integers of all one after the other, behind the numbers of modes, of contacts and of terms in the sums, and all reals.
"""

from __future__ import annotations

import numpy as np
from numba import njit

Arrays = tuple[np.ndarray, ...]


def joined(modes: Arrays, sums: Arrays, of_each: Arrays, stencil: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """The two arrays: integers and reals."""
    sizes = len(modes[0]), len(of_each[0]), len(sums[1])
    ints = np.concatenate([sizes, modes[0], sums[0], sums[1], of_each[0], stencil[0], stencil[1]])
    reals = np.concatenate([modes[1], sums[2], *(array.ravel() for array in of_each[1:]), stencil[2]])
    return ints, reals


def found_modes(ints: np.ndarray, reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index and δ̂ alone, as views."""
    k = ints.item(0)
    return ints[3 : 3 + k], reals[:k]


@njit(error_model="numpy")
def blank_found(modes, contacts, terms, entries):
    """The two arrays, of a stencil with so many entries, to be filled in."""
    ints = np.empty(5 + 2 * modes + terms + 2 * contacts + entries, np.int64)
    ints[0], ints[1], ints[2] = modes, contacts, terms
    return ints, np.empty(modes + terms + 7 * contacts + entries)


@njit(error_model="numpy")
def parted(ints, reals):
    """Modes, sums, contacts and stencil, as views."""
    k, n, e = ints[0], ints[1], ints[2]
    a, b = 3 + k, 4 + 2 * k
    c, d, g = b + e, k + e, k + e + n
    sums = ints[a:b], ints[b:c], reals[k:d]
    normal, position = reals[g : g + 3 * n].reshape((n, 3)), reals[g + 3 * n : g + 6 * n].reshape((n, 3))
    of_each = ints[c : c + n], reals[d:g], normal, position
    stencil = ints[c + n : c + 2 * n + 1], ints[c + 2 * n + 1 :], reals[g + 6 * n :]
    return (ints[3:a], reals[:k]), sums, of_each, stencil
