"""Two-level designs that separate the effects of n actuators in the fewest runs (Plackett and Burman, 1946).

A design of N runs is a Hadamard matrix of order N without its constant column: levels ±1, each column
balanced, all columns orthogonal. Orders come from Paley's two constructions over the primes and from products
of smaller ones; where none of these gives an order (52, 92 …), the next larger one serves as well.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pliant.errors import InputError


def plackett_burman(actuators: int) -> np.ndarray:
    """Levels ±1 (runs, actuators), XᵀX = runs · I, with columns that sum to zero; the last run is all low."""
    if not isinstance(actuators, (int, np.integer)) or isinstance(actuators, bool) or actuators < 1:
        raise InputError("actuators", expected="a whole number, at least 1", got=repr(actuators))
    order = 4 * (int(actuators) // 4 + 1)
    while (H := hadamard(order)) is None:
        order += 4
    H = H * H[:, :1]  # first column +1
    X = H[:, 1:] * -H[-1, 1:]  # and the last run low
    return np.ascontiguousarray(X[:, :actuators])


@cache
def hadamard(order: int) -> np.ndarray | None:
    """A matrix of ±1 (order, order) with HᵀH = order · I, or None where these constructions know none."""
    if order in (1, 2):
        return np.array([[1, 1], [1, -1]])[:order, :order]
    if order < 1 or order % 4:
        return None
    if _prime(order - 1):
        return _paley_one(order - 1)
    if _prime(order // 2 - 1) and (order // 2 - 1) % 4 == 1:
        return _paley_two(order // 2 - 1)
    for factor in (2, *range(4, order // 4 + 1, 4)):
        if order % factor == 0:
            left, right = hadamard(factor), hadamard(order // factor)
            if left is not None and right is not None:
                return np.kron(left, right)
    return None


def _paley_one(q: int) -> np.ndarray:
    """Order q + 1 for a prime q = 3 mod 4."""
    S = np.zeros((q + 1, q + 1), int)
    S[0, 1:], S[1:, 0], S[1:, 1:] = 1, -1, _residues(q)
    return S + np.eye(q + 1, dtype=int)


def _paley_two(q: int) -> np.ndarray:
    """Order 2(q + 1) for a prime q = 1 mod 4."""
    C = np.zeros((q + 1, q + 1), int)
    C[0, 1:], C[1:, 0], C[1:, 1:] = 1, 1, _residues(q)
    return np.kron(C, [[1, 1], [1, -1]]) + np.kron(np.eye(q + 1, dtype=int), [[1, -1], [-1, -1]])


def _residues(q: int) -> np.ndarray:
    """χ(i − j): +1 where it is a square modulo q, −1 where not, 0 on the diagonal."""
    chi = np.full(q, -1)
    chi[np.arange(1, q) ** 2 % q] = 1
    chi[0] = 0
    return chi[np.subtract.outer(np.arange(q), np.arange(q)) % q]


def _prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))
