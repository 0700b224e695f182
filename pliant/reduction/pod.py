"""Proper orthogonal decomposition: the shapes that snapshots are made of, the strongest first."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.errors import InputError
from pliant.reduction.state_basis import StateBasis, node_volumes

ROUNDING = 1e-9  # of the largest singular value: shapes below are rounding


def pod(
    body: Solid, coordinates: Any, *, tolerance: float = 1e-4, modes: int | None = None, more: Any = None
) -> StateBasis:
    """A basis for motions like the snapshots (s, nq) of a body's coordinates.

    With displacements U = Σ σᵢ φᵢ vᵢᵀ in the norm ∫|u|² dV, it keeps the fewest modes with

        Σ_{i>k} σᵢ² ≤ tolerance² Σ σᵢ²           or exactly `modes` of them.

    `more` (n, 3, p) [m] are other motions that the basis should contain, such as responses to efforts
    (`responses`), as large as they are likely to become. Snapshots with nan or inf are left out and named.
    """
    if not 0 <= tolerance < 1:
        raise InputError("tolerance", expected="a number from 0 to 1", got=tolerance)
    U, skipped = displacements(body, coordinates)
    if more is not None:
        U = np.concatenate([U, np.asarray(more, float).reshape(U.shape[0], -1)], axis=1)
    if not U.any():
        got = "none" if not U.shape[1] else f"{U.shape[1]} of which nothing moves"
        raise InputError("snapshots", expected="some that are not at rest", got=got)
    volume = np.repeat(np.sqrt(node_volumes(body)), 3)
    _, sigma, Vt = np.linalg.svd(volume[:, None] * U, full_matrices=False)
    rank = int((sigma > ROUNDING * sigma[0]).sum())
    count = _enough(sigma, tolerance) if modes is None else modes
    if not 1 <= count <= rank:
        hint = "More snapshots, or fewer modes."
        raise InputError("modes", expected=f"1 to {rank}, the rank of the snapshots", got=count, hint=hint)
    shapes = (U @ Vt[:count].T / sigma[:count]).reshape(-1, 3, count)  # also of nodes without volume
    return StateBasis(shapes, "POD", sigma, skipped)


def displacements(body: Solid, coordinates: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Displacements (3n, s) [m] of a body's nodes in snapshots (s, nq), and the names of those left out."""
    q = np.atleast_2d(np.asarray(coordinates, float))
    if q.ndim != 2 or q.shape[1] != len(body.q0):
        expected = f"(s, {len(body.q0)}) coordinates of this body"
        raise InputError("snapshots", expected=expected, got=f"shape {q.shape}", hint="Of another mesh?")
    good = np.isfinite(q).all(axis=1)
    skipped = tuple(f"snapshot {k + 1}: nan or inf in its coordinates" for k in np.flatnonzero(~good))
    rest = body.coordinates.rest.ravel()
    return (q[good][:, : rest.size] - rest).T, skipped


def _enough(sigma: np.ndarray, tolerance: float) -> int:
    """The fewest modes that leave no more than the tolerance."""
    left = np.sqrt(np.concatenate([np.cumsum(sigma[::-1] ** 2)[::-1][1:], [0.0]]) / np.sum(sigma**2))
    return int(np.argmax(left <= tolerance)) + 1
