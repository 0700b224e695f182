"""Softening with the largest energy seen: rubber that was stretched once is softer below that stretch.

Ogden and Roxburgh (1999): the stress of the change of shape, of energy W, is

    P = η ∂W/∂F,      η = 1 − erf((W_m − W)/(m + β W_m))/r,      W_m = the largest W so far

so that η = 1 where W has never been larger. While W_m stays, P is the derivative of

    Ŵ(W) = ∫₀ᵂ η dw = W − (d/r) (i(W_m/d) − i((W_m − W)/d)),      d = m + β W_m

for W ≤ W_m, i(x) = ∫ erf = x erf x + e^(−x²)/√π, and beyond it Ŵ grows as W does. What was put in and is not
in Ŵ has become heat.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..inputs import not_negative
from .kernels import evaluate
from .material import LOCAL, Isotropic, Material
from .tensors import inner, kernel

INVERSE_ROOT_PI = 1.0 / math.sqrt(math.pi)


@dataclass(frozen=True)
class Mullins(Isotropic):
    """Any isotropic law, softened by what it has been through (Ogden and Roxburgh 1999).

    law: the response to the first stretch. r > 1: at most 1/r of the stress is lost; inf loses nothing.
    m [J/m³]: about the energy in which that happens; beta: by how much more of it after larger stretches.
    A Solid remembers the largest energy of the change of shape at each of its quadrature points, in
    `State.internal`. Volume changes do not soften. `energy`, `stress`, `tangent` and the curves are those of
    the first stretch.
    """

    law: Isotropic
    r: float
    m: float
    beta: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.law, Isotropic) or isinstance(self.law, Mullins):
            expected = "an isotropic law that does not soften"
            raise InputError("Mullins: law", expected=expected, got=type(self.law).__name__)
        if not self.r > 1.0:
            raise InputError("Mullins: r", expected="a number above 1, or inf", got=self.r)
        not_negative("Mullins: m", self.m, "J/m³")
        not_negative("Mullins: beta", self.beta)
        if self.m + self.beta == 0.0:
            raise InputError("Mullins: m and beta", expected="one of them above 0", got="none")

    @property
    def code(self) -> int:
        return self.law.code

    @property
    def incompressible(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As the law."""
        return self.law.incompressible

    @property
    def penalty(self) -> float:
        return self.law.penalty

    @property
    def shear_modulus(self) -> float:
        return self.law.shear_modulus

    @property
    def bulk_modulus(self) -> float:
        return self.law.bulk_modulus

    @property
    def small_strain(self) -> bool:
        """As the law: whether it does not turn."""
        return getattr(self.law, "small_strain", False)

    def parameters(self, split: bool) -> NDArray[np.float64]:
        return self.law.parameters(split)

    def uniaxial(self, stretch: ArrayLike, *, direction: ArrayLike = (1.0, 0.0, 0.0)) -> NDArray[np.float64]:
        return self.law.uniaxial(stretch, direction=direction)

    def equibiaxial(self, stretch: ArrayLike) -> NDArray[np.float64]:
        return self.law.equibiaxial(stretch)

    def factor(self, energy: ArrayLike, largest: ArrayLike) -> NDArray[np.float64]:
        """η at energies W of the change of shape [J/m³], after largest ones W_m."""
        W, most = np.broadcast_arrays(np.asarray(energy, float), np.asarray(largest, float))
        flat = [soften(w, wm, *self.softening)[0] for w, wm in zip(W.ravel(), most.ravel(), strict=True)]
        return np.array(flat).reshape(W.shape)

    @property
    def softening(self) -> tuple[float, float, float]:
        """1/r, m and β, as `soften` takes them."""
        return 1.0 / float(self.r), float(self.m), float(self.beta)


def virgin(law: Material) -> Material:
    """The law itself where it loses nothing, so that it costs nothing either."""
    return law.law if isinstance(law, Mullins) and law.r == math.inf else law


def shape_parameters(c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Parameters of the part of a law that softens: without the energy of changes of volume."""
    shape = c.copy()
    shape[LOCAL] = 0.0
    return shape


@inner
def _integral(x):
    """i(x) = ∫ erf."""
    return x * math.erf(x) + INVERSE_ROOT_PI * math.exp(-x * x)


@kernel
def soften(W, largest, lost, m, beta):
    """η, its derivative by W, and the energy Ŵ, of W after the largest one."""
    d = m + beta * largest
    if largest <= 0.0:
        return 1.0, 0.0, W
    seen = d * lost * _integral(largest / d)
    if largest <= W:
        return 1.0, 0.0, W - seen + d * lost * INVERSE_ROOT_PI
    x = (largest - W) / d
    slope = 2.0 * INVERSE_ROOT_PI * lost / d * math.exp(-x * x)
    return 1.0 - lost * math.erf(x), slope, W - seen + d * lost * _integral(x)


@kernel
def add_softening(code, c, F, largest, lost, m, beta, P, A, own, ownA, tangent):
    """Adds (η − 1) ∂W/∂F to P and its derivative to A; returns Ŵ − W. own and ownA are scratch."""
    W = evaluate(code, c, F, 0.0, own, ownA, tangent)
    eta, slope, energy = soften(W, largest, lost, m, beta)
    if tangent:
        for i in range(9):
            for j in range(9):
                A[i, j] += (eta - 1.0) * ownA[i, j] + slope * own[i // 3, i % 3] * own[j // 3, j % 3]
    for i in range(3):
        for j in range(3):
            P[i, j] += (eta - 1.0) * own[i, j]
    return energy - W
