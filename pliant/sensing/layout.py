"""Where markers, candidate forces and applied forces are: one arrangement of an experiment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Layout:
    """Positions at rest [m] of markers (n, 3) and of candidate forces (m, 3).

    The candidates `loaded` (k,) carry `forces` (k, 3) [N].
    """

    markers: np.ndarray
    candidates: np.ndarray
    loaded: tuple[int, ...]
    forces: np.ndarray

    def __post_init__(self) -> None:
        for name in ("markers", "candidates", "forces"):
            array = np.array(getattr(self, name), float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def applied(self) -> np.ndarray:
        """Forces on all candidates (m, 3) [N]."""
        out = np.zeros((len(self.candidates), 3))
        out[list(self.loaded)] = self.forces
        return out
