"""Bounded least squares on whitened rows:  min ‖A x − b‖²,  lo ≤ x ≤ hi.

One singular value decomposition of A with unit columns gives the estimate, its covariance and which unknowns
can be distinguished at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.solvers import qp

ZERO_SINGULAR_VALUE = 1e-9  # of the largest: what counts as zero
UNDETERMINED = 1e-6  # share of an unknown in directions that no reading determines, above which it is open
AT_BOUND = 1e-9  # of the largest effort: how near to its bound an effort counts as at it


@dataclass(frozen=True)
class Fit:
    """The estimate x (n,), its gain G (n, m), and which x are at a bound.

    Without bounds, where b determines all of x, x = G b. `singular` are the singular values of A with its
    columns scaled to one; `rank` counts those that are not zero.
    """

    x: np.ndarray
    gain: np.ndarray
    bounded: np.ndarray
    singular: np.ndarray
    rank: int

    @property
    def condition(self) -> float:
        """Largest over smallest singular value of the scaled A; infinite where the rank is not full."""
        if self.rank < self.gain.shape[0]:
            return float("inf")
        return float(self.singular[0] / self.singular[-1]) if len(self.singular) else 1.0

    @property
    def covariance(self) -> np.ndarray:
        """GGᵀ (n, n), that of x without bounds if b has unit noise."""
        return self.gain @ self.gain.T


def pseudo_inverse(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """(A⁺ (n, m), singular values of A with unit columns, rank). Columns of zeros get zero rows."""
    if not A.size:
        return np.zeros(A.T.shape), np.zeros(0), 0
    size = np.sqrt(np.einsum("ij,ij->j", A, A))
    d = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    U, s, Vt = np.linalg.svd(A * d, full_matrices=False)
    good = s > ZERO_SINGULAR_VALUE * s.max(initial=0.0)
    gain = (d[:, None] * Vt[good].T / s[good]) @ U[:, good].T
    return gain, s, int(good.sum())


def bounded_least_squares(
    A: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, about: np.ndarray | None = None
) -> Fit:
    """The minimiser, exact on its active set.

    Where it is not unique, it is the one nearest to `about` (n,), zero by default, with lengths scaled as A's
    columns are.
    """
    gain, singular, rank = pseudo_inverse(A)
    here = np.zeros(A.shape[1]) if about is None else about
    left = b - A @ here
    x = here + gain @ left
    tight = np.zeros(len(x), bool)
    if (x < low).any() or (x > high).any():
        x, tight = _with_bounds(A, left, low - here, high - here, float(np.abs(here).max(initial=0.0)))
        x = np.clip(here + x, low, high)
    return Fit(x, gain, tight, singular, rank)


def _with_bounds(A: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray, size: float):
    """(x, which are at a bound): the active set by a quadratic program, then the free ones by least squares.

    The normal equations of the program square the condition; the second fit does not.
    """
    x = np.clip(qp(A.T @ A, -(A.T @ b), low, high).effort, low, high)
    scale = max(size, float(np.abs(x).max(initial=0.0)))  # of the efforts, of which x may be a small change
    tight = (x - low <= AT_BOUND * scale) | (high - x <= AT_BOUND * scale)
    at = np.where(high - x <= AT_BOUND * scale, high, low)[tight]
    better = x.copy()
    better[tight] = at
    free = ~tight
    better[free] = pseudo_inverse(A[:, free])[0] @ (b - A[:, tight] @ at)
    slack = AT_BOUND * max(scale, 1e-300)
    if ((better >= low - slack) & (better <= high + slack)).all():
        x = np.clip(better, low, high)
    return x, tight
