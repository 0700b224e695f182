"""The eight-chain law of Arruda and Boyce, as the usual five-term series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..errors import InputError
from .codes import ARRUDA_BOYCE
from .material import FIRST, check_positive
from .rubber import Rubber
from .tensors import inner

# Series of the inverse Langevin function: w = μ Σ aₙ L^(2−2n) (Ī₁ⁿ − 3ⁿ).
_SERIES = (1.0 / 2.0, 1.0 / 20.0, 11.0 / 1050.0, 19.0 / 7000.0, 519.0 / 673750.0)


@dataclass(frozen=True)
class ArrudaBoyce(Rubber):
    """ψ = μ Σₙ aₙ L^(2−2n) (Ī₁ⁿ − 3ⁿ) + K/2 (J − 1)², a = 1/2, 1/20, 11/1050, 19/7000, 519/673750.

    shear μ [Pa] is the chain modulus nkT (the modulus at rest, `shear_modulus`, is a little larger:
    μ(1 + 3/5L² + 99/175L⁴ + …)); locking L > 1 is the stretch at which the chains are straight; bulk K [Pa].
    The series stays finite beyond L: it stiffens there but does not lock.
    """

    code: ClassVar[int] = ARRUDA_BOYCE  # pyright: ignore[reportIncompatibleMethodOverride]
    shear: float
    locking: float
    bulk: float | None = None

    def __post_init__(self) -> None:
        check_positive("ArrudaBoyce: shear", self.shear, "Pa")
        check_positive("ArrudaBoyce: locking", self.locking, "", most=1e6)
        if self.locking <= 1.0:
            raise InputError("ArrudaBoyce: locking", expected="a stretch above 1", got=self.locking)
        self._check_bulk()

    def _shape_constants(self):
        return [self.shear * a / self.locking ** (2 * n) for n, a in enumerate(_SERIES)]

    @property
    def shear_modulus(self) -> float:
        return 2.0 * sum(n * a * 3.0 ** (n - 1) for n, a in enumerate(self._shape_constants(), start=1))


@inner
def arruda_boyce(c, i1):
    """(w, w', w'') at Ī₁: a polynomial of degree five."""
    w = w1 = w2 = 0.0
    power, rest = 1.0, 1.0  # Ī₁ⁿ⁻¹ and 3ⁿ⁻¹
    for n in range(1, 6):
        a = c[FIRST + n - 1]
        w += a * (power * i1 - rest * 3.0)
        w1 += n * a * power
        w2 += n * (n - 1) * a * power / i1
        power *= i1
        rest *= 3.0
    return w, w1, w2
