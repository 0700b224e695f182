"""A sensor whose reading is a function of what the model knows, fitted to data (Duriez 2024, section 8.3).

δ_s = g(x)          x = δ of an inner interaction: curvatures along a bend sensor, the length of a string …
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats
from pliant.interactions.interaction import Interaction
from pliant.points import Points

ZERO_SINGULAR_VALUE = 1e-10  # of the largest: products of numbers that the poses do not tell apart
Function = Callable[[np.ndarray], Any]


class Fitted(Interaction):
    """δ = g(x) (k,) of the m numbers x that an inner interaction gives, with ∂g/∂x (k, m); in any `unit`.

    A sensor only: its effort is zero. `deviation` (k,) is that of the readings it was fitted to, where it was
    (`from_data`).
    """

    effort_range = (0.0, 0.0)

    def __init__(
        self,
        interaction: Interaction,
        function: Function,
        derivative: Function,
        *,
        unit: str = "V",
        deviation: ArrayLike | None = None,
    ) -> None:
        super().__init__(interaction.points)
        self.inner, self.unit, self.effort_unit = interaction, unit, f"J/{unit}"
        self.function, self.derivative = function, derivative
        here = interaction.value(interaction.rest)
        first = np.atleast_1d(np.asarray(function(here), float))
        slope = np.asarray(derivative(here), float).reshape(len(first), -1)
        if first.ndim != 1 or slope.shape != (len(first), len(here)) or not np.isfinite(first).all():
            expected = f"g(x) (k,) and ∂g/∂x (k, {len(here)}) of {len(here)} numbers"
            raise InputError(
                "function of a Fitted", expected=expected, got=f"{first.shape} and {slope.shape}"
            )
        self._size = len(first)
        self.deviation = np.full(self._size, np.nan) if deviation is None else np.asarray(deviation, float)
        self._ptr, self._point = interaction.stencil()
        self._row = np.repeat(np.arange(interaction.size), np.diff(self._ptr))

    @classmethod
    def from_data(
        cls,
        interaction: Interaction,
        values: ArrayLike,
        readings: ArrayLike,
        *,
        degree: int = 2,
        unit: str = "V",
    ) -> Fitted:
        """The polynomial of x that fits readings (n,) or (n, k) best, from x (n, m) in as many poses.

        All products of at most `degree` of the m numbers; there must be at least as many poses as
        coefficients.
        """
        x, y = _data(interaction, values, readings)
        middle, width = x.mean(axis=0), x.std(axis=0)
        width = np.where(width > 0.0, width, 1.0)
        powers = _powers(x.shape[1], degree)
        if len(x) < len(powers):
            hint = "Record more poses, or take a smaller degree."
            raise InputError(
                "poses", expected=f"at least {len(powers)}, one a coefficient", got=len(x), hint=hint
            )
        A = _products((x - middle) / width, powers)
        c, _, rank, _ = np.linalg.lstsq(A, y, rcond=ZERO_SINGULAR_VALUE)
        left = y - A @ c
        deviation = np.sqrt((left**2).sum(axis=0) / max(len(x) - rank, 1))
        function = lambda z: (_products(((z - middle) / width)[None], powers) @ c)[0]
        derivative = lambda z: (_slopes((z - middle) / width, powers) @ c).T / width
        return cls(interaction, function, derivative, unit=unit, deviation=deviation)

    def with_points(self, points: Sequence[Points]) -> Self:
        other = super().with_points(points)
        other.inner = self.inner.with_points(points)
        return other

    @property
    def size(self) -> int:
        return self._size

    def value(self, p: np.ndarray) -> np.ndarray:
        return np.atleast_1d(np.asarray(self.function(self.inner.value(p)), float))

    def gradient(self, p: np.ndarray) -> np.ndarray:
        slope = np.asarray(self.derivative(self.inner.value(p)), float).reshape(self._size, -1)
        out = np.zeros((self._size, self.point_count, 3))
        inner = self.inner.gradient(p)
        for k in range(self._size):
            np.add.at(out[k], self._point, slope[k, self._row, None] * inner)
        return out.reshape(-1, 3)


def _data(interaction: Interaction, values: ArrayLike, readings: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    m = interaction.size
    x = as_floats("values", values, f"δ of the interaction in n poses, (n, {m})").reshape(-1, m)
    y = as_floats("readings", readings, "readings in the same poses, (n,) or (n, k)")
    y = y[:, None] if y.ndim == 1 else y
    if y.ndim != 2 or len(x) != len(y):
        raise InputError("readings", expected=f"one a pose, {len(x)}", got=f"shape {y.shape}")
    good = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    return x[good], y[good]


def _powers(m: int, degree: int) -> list[tuple[int, ...]]:
    """Which of m numbers are multiplied in each product of at most `degree`; the first is 1."""
    if not isinstance(degree, (int, np.integer)) or degree < 1:
        raise InputError("degree", expected="a whole number, at least 1", got=repr(degree))
    return [c for d in range(degree + 1) for c in combinations_with_replacement(range(m), d)]


def _products(x: np.ndarray, powers: list[tuple[int, ...]]) -> np.ndarray:
    """(n, coefficients) of x (n, m)."""
    return np.column_stack([x[:, list(c)].prod(axis=1) for c in powers])


def _slopes(x: np.ndarray, powers: list[tuple[int, ...]]) -> np.ndarray:
    """∂products/∂x (m, coefficients) at x (m,)."""
    out = np.zeros((len(x), len(powers)))
    for k, c in enumerate(powers):
        for n, i in enumerate(c):
            out[i, k] += x[list(c[:n] + c[n + 1 :])].prod()
    return out
