"""Sparse non-negative least squares: few positive weights that meet a tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import InputError

ZERO_WEIGHT = 1e-14  # of the largest weight: below it a weight counts as zero
NO_GAIN = 1e-12  # of ‖b‖: a column that lowers the error slower does not enter


@dataclass(frozen=True, eq=False)
class Weights:
    """Columns `support` (p,) with weights `values` (p,) > 0, and the relative error ‖Gw − b‖/‖b‖."""

    support: np.ndarray
    values: np.ndarray
    error: float
    iterations: int


def sparse_weights(G: np.ndarray, b: np.ndarray, *, tolerance: float, most: int | None = None) -> Weights:
    """w ≥ 0 with ‖Gw − b‖ ≤ tolerance ‖b‖ and few entries, for G (r, n) and b (r,).

    Lawson and Hanson's active set method, stopped as soon as the tolerance is met: each pass adds the column
    that lowers the error fastest; columns whose weights would turn negative leave again. It also stops at
    `most` columns, and where no column helps any more.
    """
    size = float(np.linalg.norm(b))
    if not (np.isfinite(G).all() and np.isfinite(b).all()) or size == 0.0:
        raise InputError("G and b", expected="finite numbers, b not zero", got="others")
    limit = min(G.shape) if most is None else min(most, *G.shape)
    norms = np.linalg.norm(G, axis=0)
    now, residual, passes = _Active(G, b), b, 0
    barred: set[int] = set()
    while np.linalg.norm(residual) > tolerance * size and len(now.columns) < limit:
        gain = (residual @ G) / np.where(norms > 0, norms, np.inf)
        gain[[*now.columns, *barred]] = -np.inf
        best = int(np.argmax(gain))
        if gain[best] <= NO_GAIN * size:
            break
        trial = now.entered(best)
        passes += 1
        fresh = b - trial.A @ trial.w
        if best not in trial.columns or np.linalg.norm(fresh) >= np.linalg.norm(residual):
            barred.add(best)  # by rounding, it would enter and leave for ever
            continue
        now, residual = trial, fresh
        barred.clear()
    error = float(np.linalg.norm(residual)) / size
    return Weights(np.array(now.columns, np.int64), now.w, error, passes)


class _Active:
    """The active columns A = G[:, columns], their products AᵀA and their weights w > 0."""

    def __init__(self, G: np.ndarray, b: np.ndarray) -> None:
        self._G, self._b, self.columns = G, b, []
        self.A, self.w, self._square = np.zeros((len(G), 0)), np.zeros(0), np.zeros((0, 0))

    def entered(self, column: int) -> _Active:
        """With one more column, and without those whose weight reaches zero before the least squares do."""
        out = _Active(self._G, self._b)
        g = self._G[:, column]
        across = g @ self.A
        out.columns, out.A = [*self.columns, column], np.column_stack([self.A, g])
        out._square = np.block([[self._square, across[:, None]], [across[None], np.array([[g @ g]])]])
        out.w = np.append(self.w, 0.0)
        while len(out.columns):
            aim = out._least_squares()
            falling = aim <= 0
            if not falling.any():
                out.w = aim
                break
            share = np.where(falling, out.w / np.where(falling, out.w - aim, 1.0), np.inf).min()
            out.w = out.w + min(float(share), 1.0) * (aim - out.w)
            out._keep(out.w > ZERO_WEIGHT * out.w.max(initial=0.0))
        return out

    def _keep(self, which: np.ndarray) -> None:
        self.columns = [c for c, k in zip(self.columns, which, strict=True) if k]
        self.A, self.w, self._square = self.A[:, which], self.w[which], self._square[np.ix_(which, which)]

    def _least_squares(self) -> np.ndarray:
        """w by the normal equations; one refinement with the residual removes their rounding."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        try:
            factor = cho_factor(self._square)
        except LinAlgError:
            return np.linalg.lstsq(self.A, self._b, rcond=None)[0]
        w = cho_solve(factor, self._b @ self.A)
        return w + cho_solve(factor, (self._b - self.A @ w) @ self.A)
