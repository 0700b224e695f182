"""Interactions that depend on one material vector, such as an arm of a rigid region."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.interactions.interaction import Interaction

NO_PART = 1e-12  # of the largest coefficient: less is rounding
SPANNED = 1e-9  # of the vector's length: how exactly the points must give it


class VectorInteraction(Interaction):
    """δ(w) of one material vector w = Σ cᵢ pᵢ with Σ cᵢ = 0: a couple, never a net force.

    A subclass says what w is (`_set_vector`, in its constructor) and gives δ(w) with its two derivatives; the
    rest follows, ∂δ/∂pᵢ = cᵢ ∂δ/∂w.
    """

    def _set_vector(self, coefficients: np.ndarray) -> None:
        self._used = np.flatnonzero(coefficients)
        self._c = np.ascontiguousarray(coefficients[self._used])
        i, j = np.tril_indices(len(self._used))
        self._pairs = np.column_stack([self._used[i], self._used[j]])
        self._cc = (self._c[i] * self._c[j])[:, None, None]

    def of(self, w: np.ndarray) -> np.ndarray:
        """δ(w), (m,)."""
        raise NotImplementedError

    def first(self, w: np.ndarray) -> np.ndarray:
        """∂δ/∂w, (m, 3)."""
        raise NotImplementedError

    def second(self, w: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Σₖ λₖ ∂²δₖ/∂w², (3, 3)."""
        raise NotImplementedError

    def vector(self, p: np.ndarray) -> np.ndarray:
        """w, (3,)."""
        return self._c @ p[self._used]

    def value(self, p: np.ndarray) -> np.ndarray:
        return self.of(self.vector(p))

    def stencil(self) -> tuple[np.ndarray, np.ndarray]:
        n = len(self._used)
        return n * np.arange(self.size + 1), np.tile(self._used, self.size)

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return (self.first(self.vector(p))[:, None, :] * self._c[:, None]).reshape(-1, 3)

    def pairs(self) -> np.ndarray:
        return self._pairs

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return self._cc * self.second(self.vector(p), lam)


def material_vector(what: str, rest: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The smallest c (P,) with Σ cᵢ = 0 and Σ cᵢ restᵢ = vector: exact for rigid motion, else a mean."""
    offset = rest - rest.mean(axis=0)
    c = np.linalg.pinv(offset.T) @ vector
    c -= c.mean()
    c[np.abs(c) < NO_PART * np.abs(c).max()] = 0.0
    if np.linalg.norm(c @ rest - vector) > SPANNED * np.linalg.norm(vector):
        raise InputError(
            what,
            expected="points that span the vector",
            got=f"{len(rest)} points",
            hint="Use the four frame points of a rigid region: body.region_points(name).",
        )
    return c
