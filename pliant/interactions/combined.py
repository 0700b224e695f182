"""A few combinations of an interaction's rows: a reduced basis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

import pliant.sparse as sp
from pliant.errors import InputError
from pliant.interactions import checks
from pliant.interactions.interaction import INF, Interaction
from pliant.points import Points


class Combined(Interaction):
    """δ = Ψᵀ δ_inner (k,) with efforts β (k,): λ_inner = Ψ β, for a basis Ψ (m, k).

    Where the inner effort cannot pull, Ψ must be non-negative, so that β ≥ 0 cannot either.
    """

    def __init__(self, interaction: Interaction, basis: ArrayLike) -> None:
        super().__init__(interaction.points)
        m = interaction.size
        if interaction.internal or interaction.compliance or interaction.slack:
            expected, got = (
                "one without friction, stiffness, slack, line and drive",
                f"a {type(interaction).__name__} with",
            )
            raise InputError("interaction of a Combined", expected=expected, got=got)
        self.inner = interaction
        self.basis = checks.array(
            "basis of a Combined", basis, (m, None), f"{m} rows, one per row of the interaction"
        )
        self.unit, self.effort_unit = interaction.unit, interaction.effort_unit
        self.integrable = interaction.integrable
        self.effort_range = self._range(interaction.effort_range)
        self._lay_out_rows()

    def with_points(self, points: Sequence[Points]) -> Self:
        other = super().with_points(points)
        other.inner = self.inner.with_points(points)
        return other

    def _range(self, inner: tuple[float, float]) -> tuple[float, float]:
        if inner == (-INF, INF):
            return inner
        if inner != (0.0, INF):
            raise InputError("Combined", expected="an interaction with range (0, ∞) or (−∞, ∞)", got=inner)
        if (self.basis < 0).any():
            raise InputError(
                "basis of a Combined",
                expected="non-negative numbers, for an effort that cannot be negative",
                got=f"smallest {self.basis.min():g}",
            )
        return inner

    def _lay_out_rows(self) -> None:
        """Stencil of row k: the points of all inner rows it uses. `_gather` adds up their gradients."""
        ptr, point = self.inner.stencil()
        row = np.repeat(np.arange(self.inner.size), np.diff(ptr))
        entry, k = np.nonzero(self.basis[row])
        keys, target = np.unique(k * self.point_count + point[entry], return_inverse=True)
        k_of, self._point = np.divmod(keys, self.point_count)
        self._ptr = np.searchsorted(k_of, np.arange(self.size + 1))
        weight = self.basis[row[entry], k]
        self._gather = sp.csr_array((weight, (target, entry)), shape=(len(keys), len(point)))

    @property
    def size(self) -> int:
        return self.basis.shape[1]

    def value(self, p: np.ndarray) -> np.ndarray:
        return self.inner.value(p) @ self.basis

    def stencil(self) -> tuple[np.ndarray, np.ndarray]:
        return self._ptr, self._point

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return self._gather @ self.inner.gradient(p)

    def pairs(self) -> np.ndarray:
        return self.inner.pairs()

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return self.inner.hessian(p, self.basis @ lam)

    def load(self, p: np.ndarray, gravity: np.ndarray) -> np.ndarray | None:
        return self.inner.load(p, gravity)

    def load_hessian(self, p: np.ndarray, gravity: np.ndarray) -> np.ndarray:
        return self.inner.load_hessian(p, gravity)
