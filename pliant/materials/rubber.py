"""What the rubber laws share: an energy of the change of shape alone, and a bulk modulus."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .material import FIRST, LOCAL, MEAN, NPARAM, SHEAR, Isotropic, check_positive, split_modulus


class Rubber(Isotropic):
    """ψ = W(J^(−1/3) F) + K/2 (J − 1)²; infinite for J ≤ 0.

    The law itself stores W; `bulk` K [Pa] may be left out when the law is wrapped in `Incompressible`.
    """

    bulk: float | None

    def _check_bulk(self) -> None:
        """Raise InputError unless K is absent, or positive with a stable rest state."""
        name = type(self).__name__
        if self.bulk is not None:
            check_positive(f"{name}: bulk", self.bulk, "Pa")
        if not self.shear_modulus > 0:
            raise InputError(
                name,
                expected="constants with a positive shear modulus at rest",
                got=f"{self.shear_modulus} Pa",
            )
        check_positive(f"{name}: shear modulus at rest", self.shear_modulus, "Pa")

    def with_bulk(self, bulk: float) -> Self:
        """The same W with another bulk modulus K [Pa]."""
        # every subclass is a dataclass
        return replace(self, bulk=bulk)  # pyright: ignore[reportArgumentType]

    @property
    def bulk_modulus(self) -> float:
        return math.inf if self.bulk is None else self.bulk

    def parameters(self, split: bool) -> NDArray[np.float64]:
        self._require_bulk()
        c = self.constants()
        local, c[MEAN] = split_modulus(self.lame, self.shear_modulus, split)
        c[LOCAL] = local + 2.0 * self.shear_modulus / 3.0  # written with K, not with λ = K − 2μ/3
        return c

    def constants(self) -> NDArray[np.float64]:
        """Parameters (NPARAM,) of W alone: volumetric slots zero."""
        c = np.zeros(NPARAM)
        c[SHEAR] = self.shear_modulus
        values = self._shape_constants()
        c[FIRST : FIRST + len(values)] = values
        return c

    @abstractmethod
    def _shape_constants(self) -> Sequence[float]:
        """The constants of W, as its kernel reads them."""
