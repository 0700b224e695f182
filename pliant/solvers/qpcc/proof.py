"""Whether a local minimum is the global one: what efforts cost tells how far away a better one could be.

The cost is ‖errors‖² + xᵀQx − 2 pᵀx, and squares of errors are not negative. So efforts that cost less than
a minimum of cost c lie in an ellipsoid about x̄ = Q⁻¹p:

    (x − x̄)ᵀQ (x − x̄) < r² = c + pᵀx̄

On a region (see `region`) the value of contact i is affine, v_i at x̄ with slope s_i, so that over the
ellipsoid it is at least v_i − r √(s_iᵀQ⁻¹s_i). Where that is positive for every contact, it lies in
the region of the minimum, and there the cost is convex: nothing is better.
"""

from __future__ import annotations

import numpy as np

from pliant.solvers.qpcc.region import Region
from pliant.solvers.qpcc.scaled import Scaling

ROUNDING = 1e-9  # share of the terms of a value, and of r², that rounding may be
SINGULAR = 1e-6  # smallest pivot of the Cholesky factor of Q, relative to the largest, of a bounded ellipsoid


def is_global(scaling: Scaling, region: Region, cost: float) -> bool:
    """Whether no efforts cost less than a local minimum with this cost, at which the region lies.

    False means that nothing is known.
    """
    from scipy.linalg.lapack import dpotrf, dtrtrs  # type: ignore[attr-defined]  # slow to import

    nc = len(scaling.rows.C)
    L, wrong = dpotrf(scaling.Q, lower=1)
    pivots = L.diagonal()
    if wrong or not pivots.min() > SINGULAR * pivots.max():
        return False
    # with y = Lᵀx the ellipsoid is a ball about L⁻¹p, and slopes are L⁻¹s_i
    solved, _ = dtrtrs(L, np.column_stack((scaling.p, region.S[:, :nc])), lower=1)
    centre, slopes = solved[:, 0], solved[:, 1:]
    most = float(centre @ centre)  # pᵀx̄
    radius = np.sqrt(max(cost + most, 0.0) + ROUNDING * (abs(cost) + most))
    value, shift = region.value[:nc], (centre - L.T @ region.x) @ slopes
    least = value + shift - radius * np.sqrt((slopes * slopes).sum(axis=0))
    return bool((least > ROUNDING * (np.abs(value) + np.abs(shift))).all())
