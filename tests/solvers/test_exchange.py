"""Complementarity where K has negative eigenvalues that only rows support: minima of quadratic programs."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.solvers import mcp
from pliant.solvers.complementarity.exchange import exchange


def supported(seed: int, motions: int = 8, rows: int = 6, negative: int = 2):
    """K (n, n) with negative eigenvalues, H (m, n), and gaps whose minimum is known: some rows push there.

    ½xᵀKx − fᵀx under Hx + g ≥ 0; the rows that push keep every direction in which K is negative.
    """
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(rows, motions))
    pushing = np.arange(rows) < negative + 1
    basis, _ = np.linalg.qr(H[pushing].T)
    K = rng.normal(size=(motions, motions))
    K = K @ K.T + np.eye(motions)
    lowered = rng.normal(size=(negative + 1, negative))
    K -= basis @ lowered @ lowered.T @ basis.T * 200.0
    x, lam = rng.normal(size=motions), np.where(pushing, rng.uniform(0.5, 2.0, rows), 0.0)
    gap = np.where(pushing, 0.0, rng.uniform(0.05, 2.0, rows)) - H @ x
    return K, H, K @ x - H.T @ lam, gap, lam, x


@pytest.mark.parametrize("seed", range(20))
def test_it_ends_in_a_minimum_that_no_small_motion_lowers(seed):
    """Begun with every row pushing that does, and one that does not, it finds efforts and motion again."""
    K, H, f, gap, lam, x = supported(seed)
    count = int((np.linalg.eigvalsh(K) < 0.0).sum())
    assert count == 2
    W, free = H @ np.linalg.solve(K, H.T), gap + H @ np.linalg.solve(K, f)
    zero, above = np.zeros(len(gap)), np.full(len(gap), np.inf)
    found = exchange(W, free, zero, above, lam, count)
    assert found is not None
    np.testing.assert_allclose(found, lam, atol=1e-7)
    energy = lambda y: 0.5 * y @ K @ y - f @ y
    rng = np.random.default_rng(seed + 1000)
    for _ in range(50):
        y = x + 1e-4 * rng.normal(size=len(x))
        for _ in range(50):  # into what the rows allow
            short = np.minimum(H @ y + gap, 0.0)
            y = y - np.linalg.lstsq(H[short < 0], short[short < 0], rcond=None)[0] if short.any() else y
        if (H @ y + gap).min() > -1e-12:
            assert energy(y) > energy(x) - 1e-12
    other = exchange(W, free, zero, above, lam + (np.arange(len(lam)) == len(lam) - 1), count)
    if other is not None:  # perhaps another minimum: complementary in any case
        assert other.min() >= 0.0 and (W @ other + free).min() > -1e-8
        assert abs(other @ (W @ other + free)) < 1e-7


def test_positive_definite_problems_have_the_solution_of_mcp():
    rng = np.random.default_rng(3)
    for _ in range(20):
        A = rng.normal(size=(7, 7))
        A, q = A @ A.T + 0.1 * np.eye(7), rng.normal(size=7)
        low, high = np.full(7, -0.5), np.full(7, 0.8)
        found = exchange(A, q, low, high, np.zeros(7), 0)
        assert found is not None
        np.testing.assert_allclose(found, mcp(A, q, low, high).effort, atol=1e-9)


def test_what_no_row_supports_is_refused():
    """A negative W between bounds is an equilibrium and no minimum, if K is negative once more."""
    one = np.ones(1)
    assert exchange(-one[:, None], one, 0.0 * one, np.inf * one, one, 1) is not None
    assert exchange(-one[:, None], one, 0.0 * one, np.inf * one, one, 2) is None
