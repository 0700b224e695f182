"""How readings are weighted: each by its noise, and less where they may share an error.

    R = diag(σ²) + S Sᵀ = L Lᵀ          whitened readings L⁻¹ b have unit noise

Columns of S (ns, k) are what one standard deviation of a common error adds to the readings, such as an offset
of the tracker that moves all markers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Weights:
    """Noise σ (ns,) of each reading, and common errors S (ns, k)."""

    noise: np.ndarray
    shared: np.ndarray

    def judged(self, scale: float, shared: bool) -> Weights:
        """Noise larger by a scale, and common errors only if they act."""
        if scale == 1.0 and shared:
            return self
        return Weights(scale * self.noise, self.shared if shared else self.shared[:, :0])

    def whitened(self, rows: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """L⁻¹ of the rows (ns, …) that are seen (ns,) bool."""
        chosen = rows[seen]
        if not chosen.size:
            return chosen
        flat = chosen.reshape(len(chosen), -1) / self.noise[seen, None]
        if self.shared.size:
            S = self.shared[seen] / self.noise[seen, None]
            L = np.linalg.cholesky(np.eye(len(S)) + S @ S.T)
            flat = np.linalg.solve(L, flat)
        return flat.reshape(chosen.shape)
