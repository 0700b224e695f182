"""Softening: what a curvature of contacts does to K beyond its pattern, as a change of low rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra import SparseRows

Change = tuple[SparseRows, np.ndarray]  # U (k, ndof) and C⁻¹, (k, k) or (k,) if it is diagonal, of UᵀCU


class Softening(NamedTuple):
    """K − Σ stiff hᵀh of contact rows `own` (k,), stiff (k,) > 0, and a change by rows that are no contact rows."""

    own: np.ndarray
    stiff: np.ndarray
    rest: Change | None

    def change(self, H: SparseRows) -> Change:
        """All of it, with the contact rows H: those of `own` come first."""
        mine = H.take(self.own), -1.0 / self.stiff
        if self.rest is None:
            return mine
        return together(mine, self.rest) if len(self.own) else self.rest


def together(a: Change, b: Change) -> Change:
    """Two changes as one."""
    U, (c, d) = a[0].above(b[0]), (a[1], b[1])
    if c.ndim == d.ndim == 1:
        return U, np.concatenate([c, d])
    n, m = len(c), len(d)
    C_inverse = np.zeros((n + m, n + m))
    C_inverse[:n, :n], C_inverse[n:, n:] = (x if x.ndim == 2 else np.diag(x) for x in (c, d))
    return U, C_inverse
