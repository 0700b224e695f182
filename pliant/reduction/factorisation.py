"""Non-negative factorisations S ≈ Ψ B, Ψ (C, k) ≥ 0, B (k, s) ≥ 0, that minimise ‖S − Ψ B‖_F (arrays only).

hals    hierarchical alternating least squares: one column of Ψ or one row of B at a time, each the exact
        minimiser with all else fixed, so that no sweep makes the error larger. Nested: the factorisation of
        size k + 1 starts from that of size k and one column more, the positive part of the worst residual.
        The error falls with every column, and nothing is random.
als     Algorithm 1 of Goury et al. 2021: two unconstrained least squares by turns, negative numbers set to
        zero. It depends on its random start, and its error may rise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import lstsq

from pliant.solvers import lcp

MOST_SWEEPS = 60  # of HALS for each size
SETTLED = 1e-4  # relative fall of the squared error in one sweep at which HALS ends
EXACT = 1e-12  # of ‖S‖²: squared error below which its fall is not judged any more
EXPLAINED = 1e-20  # of ‖S‖²: squared residual of the worst column that leaves nothing to explain
ALIKE = 1e-12  # added to the diagonal of ΨᵀΨ with unit columns, as these may be nearly alike


def hals(S: np.ndarray, size: int, *, sweeps: int = MOST_SWEEPS) -> np.ndarray:
    """Ψ (C, k) of nested HALS; fewer columns where k = `size` would be more than S needs."""
    Psi = np.zeros((len(S), 0))
    for Psi in nested(S, size, sweeps=sweeps):  # noqa: B007  (the last one)
        pass
    return Psi


def nested(S: np.ndarray, size: int, *, sweeps: int = MOST_SWEEPS) -> Iterator[np.ndarray]:
    """Ψ of 1, 2 … `size` columns, each from the one before; fewer where nothing is left to explain."""
    S = np.ascontiguousarray(S, float)
    Psi, B = np.zeros((len(S), 0)), np.zeros((0, S.shape[1]))
    total = float(np.sum(S * S))
    for _ in range(size):
        left = np.maximum(S - Psi @ B, 0.0)
        power = np.einsum("ij,ij->j", left, left)
        worst = int(np.argmax(power))
        if power[worst] <= EXPLAINED * total:
            return
        new = left[:, worst] / np.sqrt(power[worst])
        Psi = np.column_stack([Psi, new])
        B = np.vstack([B, np.maximum(new @ (S - Psi[:, :-1] @ B), 0.0)])
        Psi, B = _swept(S, Psi, B, total, sweeps)
        yield Psi.copy()


def _swept(
    S: np.ndarray, Psi: np.ndarray, B: np.ndarray, total: float, sweeps: int
) -> tuple[np.ndarray, np.ndarray]:
    """HALS until it hardly improves."""
    before = np.inf
    for _ in range(sweeps):
        _descend(B, Psi.T @ Psi, Psi.T @ S)
        gram, cross = B @ B.T, B @ S.T
        error = _descend_columns(Psi, gram, cross, total)
        if before - error <= SETTLED * max(error, EXACT * total):
            break
        before = error
    return Psi, B


def _descend(B: np.ndarray, gram: np.ndarray, cross: np.ndarray) -> None:
    """Set each row of B (k, s) ≥ 0 in turn to the minimiser of tr(Bᵀ gram B) − 2 tr(Bᵀ cross)."""
    for j in range(len(B)):
        if gram[j, j] > 0.0:
            B[j] = np.maximum(B[j] + (cross[j] - gram[j] @ B) / gram[j, j], 0.0)


def _descend_columns(Psi: np.ndarray, gram: np.ndarray, cross: np.ndarray, total: float) -> float:
    """The same for the columns of Ψ, in place; the squared error afterwards."""
    rows = np.ascontiguousarray(Psi.T)
    _descend(rows, gram, cross)
    Psi[:] = rows.T
    return total - 2.0 * float(np.sum(rows * cross)) + float(np.sum((gram @ rows) * rows))


def als(S: np.ndarray, size: int, *, seed: int = 0, iterations: int = 100) -> np.ndarray:
    """Ψ (C, k) of Algorithm 1; columns that end as zero are left out."""
    Psi = np.random.default_rng(seed).random((len(S), size))
    for _ in range(iterations):
        B = np.maximum(_solved(Psi.T @ Psi, Psi.T @ S), 0.0)
        Psi = np.maximum(_solved(B @ B.T, B @ S.T).T, 0.0)
    return Psi[:, Psi.any(axis=0)]


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The smallest solution of A x = b, which the clipping may have made singular."""
    solution = lstsq(A, b, check_finite=False)
    assert solution is not None
    return solution[0]


def normalised(Psi: np.ndarray) -> np.ndarray:
    """Ψ with columns that sum to one, zero columns left out: β is a total force [N], Ψᵀδ a mean gap [m]."""
    total = Psi.sum(axis=0)
    return Psi[:, total > 0.0] / total[total > 0.0]


def projected(Psi: np.ndarray, S: np.ndarray) -> np.ndarray:
    """B (k, s) ≥ 0 nearest to the snapshots: min ‖S − Ψ B‖, one linear complementarity problem each."""
    scale = np.linalg.norm(Psi, axis=0)
    G = (Psi / scale).T @ (Psi / scale)
    G[np.diag_indices(len(G))] += ALIKE
    B = [lcp(G, -c).effort for c in ((Psi / scale).T @ S).T]
    return np.array(B).reshape(-1, len(G)).T / scale[:, None]


def error(Psi: np.ndarray, S: np.ndarray) -> float:
    """min over B ≥ 0 of ‖S − Ψ B‖ / ‖S‖."""
    size = float(np.linalg.norm(S))
    return float(np.linalg.norm(S - Psi @ projected(Psi, S))) / size if size > 0.0 else 0.0
