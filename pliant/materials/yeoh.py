"""The Yeoh law, the form in which many silicones are published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .codes import YEOH
from .material import FIRST, check_finite
from .rubber import Rubber
from .tensors import inner


@dataclass(frozen=True)
class Yeoh(Rubber):
    """ψ = c₁(Ī₁ − 3) + c₂(Ī₁ − 3)² + c₃(Ī₁ − 3)³ + K/2 (J − 1)²;  μ = 2c₁.

    c1, c2, c3 [Pa] (c2 = c3 = 0 is the isochoric neo-Hookean law), bulk K [Pa].
    """

    code: ClassVar[int] = YEOH  # pyright: ignore[reportIncompatibleMethodOverride]
    c1: float
    c2: float = 0.0
    c3: float = 0.0
    bulk: float | None = None

    def __post_init__(self) -> None:
        for name in ("c1", "c2", "c3"):
            check_finite(f"Yeoh: {name}", getattr(self, name), "Pa")
        self._check_bulk()

    @property
    def shear_modulus(self) -> float:
        return 2.0 * self.c1

    def _shape_constants(self):
        return self.c1, self.c2, self.c3


@inner
def yeoh(c, i1):
    """(w, w', w'') at Ī₁."""
    x = i1 - 3.0
    c1, c2, c3 = c[FIRST], c[FIRST + 1], c[FIRST + 2]
    return x * (c1 + x * (c2 + x * c3)), c1 + x * (2.0 * c2 + 3.0 * x * c3), 2.0 * c2 + 6.0 * x * c3
