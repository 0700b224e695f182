"""Where K is indefinite but locked drives and what pushes support the robot: a trunk about to buckle, its
winches locked; a rod that is bent between the walls of a pipe.

W has then as many negative eigenvalues on the rows t of these drives and contacts as K has negative pivots.
With the stiffness γ D of these rows lent to K (never assembled: Woodbury's formula on the small matrices),

    W' = W − W_t (D⁻¹/γ + W_tt)⁻¹ W_tᵀ,        λ' = λ + γ D (δ⁺ − δ)

W' is positive and the same quadratic program applies to λ'; the efforts follow from λ'. A contact that stays
closed has λ' = λ; one that opens is held back by what it lends until the next linearisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

REDUNDANT = 1e-11  # of the largest eigenvalue: a smaller one is rounding, its row follows from others
MARGIN = 2.0  # times the least stiffness that makes W' positive: what the rows lend


@dataclass(frozen=True)
class Supporting:
    """Rows (t,) of the condensed problem, what stiffness γD (t,) they lend, and δ (t,) before the step."""

    rows: np.ndarray
    stiffness: np.ndarray
    here: np.ndarray

    def stiffened(self, W: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W' and δ_free'."""
        t = self.rows
        inner = W[np.ix_(t, t)] + np.diag(1.0 / self.stiffness)
        stiffer = W - W[:, t] @ np.linalg.solve(inner, W[t])
        free = delta - W[:, t] @ np.linalg.solve(inner, delta[t] - self.here)
        return 0.5 * (stiffer + stiffer.T), free

    def efforts(self, lam: np.ndarray, W: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """λ of all condensed rows from λ', given W' and δ_free'."""
        t = self.rows
        lam = lam.copy()
        lam[t] -= self.stiffness * (W[t] @ lam + delta[t] - self.here)
        return lam


def supporting(W: np.ndarray, here: np.ndarray, kept: np.ndarray, negative: int) -> Supporting | None:
    """What the rows that keep their δ (mask) must lend for `negative` negative pivots of K.

    None if they do not support the robot.
    """
    t = np.flatnonzero(kept)
    size = np.sqrt(np.abs(np.diagonal(W)[t]))
    if not len(t) or (size == 0.0).any():
        return None
    values = np.linalg.eigvalsh(W[np.ix_(t, t)] / np.outer(size, size))
    below = values[values < -REDUNDANT * np.abs(values).max()]
    if len(below) != negative:
        return None
    return Supporting(t, MARGIN / np.abs(below).min() / size**2, here[t])
