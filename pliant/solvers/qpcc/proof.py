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
SINGULAR = 1e-12  # smallest eigenvalue of Q, relative to the largest, of an ellipsoid that is bounded


def is_global(scaling: Scaling, region: Region, cost: float) -> bool:
    """Whether no efforts cost less than a local minimum with this cost, at which the region lies.

    False means that nothing is known.
    """
    Q, p, nc = scaling.Q, scaling.p, len(scaling.rows.C)
    eigenvalues, axes = np.linalg.eigh(Q)
    if not eigenvalues[0] > SINGULAR * eigenvalues[-1]:
        return False
    root = axes / np.sqrt(eigenvalues)  # Q⁻¹ = root rootᵀ
    along = root.T @ p  # x̄ = root along, pᵀx̄ = ‖along‖²
    radius = np.sqrt(max(cost + along @ along, 0.0) + ROUNDING * (abs(cost) + along @ along))
    slopes = region.S[:, :nc]
    shift = (root @ along - region.x) @ slopes
    least = region.value[:nc] + shift - radius * np.sqrt(((root.T @ slopes) ** 2).sum(axis=0))
    terms = np.abs(region.value[:nc]) + np.abs(shift)
    return bool((least > ROUNDING * terms).all())
