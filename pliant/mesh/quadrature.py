"""Quadrature: points and weights on the reference cells and faces, Σ w = their volume or area.

∫ f dξ ≈ Σ_q w_q f(ξ_q),   exact for polynomials up to the stated degree
(total degree on simplices, degree in each variable on cubes and squares).
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from pliant.errors import InputError
from pliant.mesh.elements import element


class Rule(NamedTuple):
    """Points (n, d), weights (n,) and the degree to which the rule is exact."""

    points: np.ndarray
    weights: np.ndarray
    degree: int


DEFAULT_DEGREE = {"tet4": 1, "tet10": 2, "hex8": 3, "hex20": 3, "tri3": 1, "tri6": 2, "quad4": 3, "quad8": 3}

# Simplex rules as orbits: (a barycentric tuple, its share of the volume); every permutation is a point.
_TRIANGLE = {
    1: [((1 / 3,) * 3, 1.0)],
    2: [((2 / 3, 1 / 6, 1 / 6), 1 / 3)],
    5: [  # Radon's seven points
        ((1 / 3,) * 3, 9 / 40),
        (((9 + 2 * 15**0.5) / 21, (6 - 15**0.5) / 21, (6 - 15**0.5) / 21), (155 - 15**0.5) / 1200),
        (((9 - 2 * 15**0.5) / 21, (6 + 15**0.5) / 21, (6 + 15**0.5) / 21), (155 + 15**0.5) / 1200),
    ],
}
_A, _B, _C = 0.31088591926330060980, 0.092735250310891226402, 0.045503704125649649492
_TETRAHEDRON = {
    1: [((1 / 4,) * 4, 1.0)],
    2: [(((5 + 3 * 5**0.5) / 20, *((5 - 5**0.5) / 20,) * 3), 1 / 4)],
    5: [  # Walkington's fourteen points, all weights positive
        ((1 - 3 * _A, _A, _A, _A), 0.11268792571801585080),
        ((1 - 3 * _B, _B, _B, _B), 0.073493043116361949544),
        ((0.5 - _C, 0.5 - _C, _C, _C), 0.042546020777081466438),
    ],
}


def _permutations(barycentric: tuple[float, ...]) -> np.ndarray:
    """All distinct orders of a tuple."""
    n = len(barycentric)
    orders = (p for p in product(range(n), repeat=n) if len(set(p)) == n)
    return np.array(sorted({tuple(barycentric[i] for i in p) for p in orders}, reverse=True))


def _simplex(orbits: dict[int, list], degree: int, volume: float) -> Rule | None:
    available = [d for d in sorted(orbits) if d >= degree]
    if not available:
        return None
    points = [_permutations(b) for b, _ in orbits[available[0]]]
    weights = [np.full(len(p), w * volume) for p, (_, w) in zip(points, orbits[available[0]])]
    return Rule(np.vstack(points)[:, 1:].copy(), np.concatenate(weights), available[0])


def _gauss(degree: int, dimension: int) -> Rule:
    n = degree // 2 + 1
    x, w = np.polynomial.legendre.leggauss(n)
    # First coordinate fastest, as the nodes of VTK's cells.
    index = np.array(list(product(range(n), repeat=dimension)))[:, ::-1]
    return Rule(x[index], w[index].prod(axis=1), 2 * n - 1)


def quadrature(kind: str, degree: int | None = None) -> Rule:
    """The cheapest rule on `kind` (a cell or a face) exact to `degree`.

    Defaults: tet4 1 point, tet10 4, hex8 and hex20 2×2×2. `degree=5` gives 14 points on tetrahedra, 3×3×3 on
    hexahedra, 7 on triangles: for masses and error norms.
    """
    e = element(kind)
    degree = DEFAULT_DEGREE[kind] if degree is None else degree
    if degree < 0:
        raise InputError("quadrature degree", expected="0 or more", got=degree)
    if not kind.startswith(("tet", "tri")):
        return _gauss(degree, e.nodes.shape[1])
    rule = _simplex(_TETRAHEDRON if kind.startswith("tet") else _TRIANGLE, degree, e.volume)
    if rule is None:
        raise InputError(f"quadrature on {kind}", expected="degree 5 at most", got=degree)
    return rule
