"""Exact incompressibility: a pressure per element, by an augmented Lagrangian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .material import LOCAL, LOCAL_RATIO, MEAN, Isotropic, check_positive
from .neo_hookean import NeoHookean
from .rubber import Rubber
from .yeoh import Yeoh


@dataclass(frozen=True)
class Incompressible(Isotropic):
    """A rubber law that keeps its volume: ψ = W(J^(−1/3) F) + 5μ/6 (J − 1)² at the points, and on the mean

        U(ϑ̄) = p(ϑ̄ − 1) + κ/2 (ϑ̄ − 1)²,   p ← p + κ(ϑ̄ − 1) after each solve, until ϑ̄ = 1.

    law: NeoHookean, MooneyRivlin, Yeoh, Ogden or ArrudaBoyce made without bulk modulus or Poisson's ratio.
    ratio: κ/μ, 50 to 200; larger converges in fewer updates with a worse conditioned stiffness. The body
    has p [Pa] (positive in tension) as an internal variable and adds it to U'; `volumetric` gives the κ
    part and `penalty` is κ. The part 5μ/6 (J − 1)² only stabilises the points: it is zero in a homogeneous
    deformation. `energy`, `stress` and `tangent` are those of p = 0, that is of the penalty alone;
    `uniaxial` and `equibiaxial` keep the volume exactly.
    """

    incompressible: ClassVar[bool] = True
    law: NeoHookean | Rubber
    ratio: float = 100.0

    def __post_init__(self) -> None:
        if not isinstance(self.law, (NeoHookean, Rubber)):
            raise InputError(
                "Incompressible: law",
                expected="NeoHookean, MooneyRivlin, Yeoh, Ogden or ArrudaBoyce",
                got=type(self.law).__name__,
            )
        if not math.isinf(self.law.bulk_modulus):
            raise InputError(
                "Incompressible: law",
                expected="a law without bulk modulus or Poisson's ratio",
                got=self.law,
                hint="Leave `bulk` (or `poisson`) out: the volume is kept exactly.",
            )
        check_positive("Incompressible: ratio", self.ratio, "", most=1e9)

    @property
    def _shape_law(self) -> Rubber:
        """The law of the change of shape; neo-Hookean is Yeoh's first term."""
        return Yeoh(c1=self.law.shear_modulus / 2.0) if isinstance(self.law, NeoHookean) else self.law

    @property
    def code(self) -> int:
        return self._shape_law.code

    @property
    def penalty(self) -> float:
        return self.ratio * self.law.shear_modulus

    @property
    def shear_modulus(self) -> float:
        return self.law.shear_modulus

    @property
    def bulk_modulus(self) -> float:
        return math.inf

    def parameters(self, split: bool) -> NDArray[np.float64]:
        local = (LOCAL_RATIO + 2.0 / 3.0) * self.shear_modulus
        c = self._shape_law.constants()
        c[LOCAL], c[MEAN] = (local, self.penalty) if split else (local + self.penalty, 0.0)
        return c
