"""What fills a chamber, by how its pressure follows its volume.

    gas       P = P₀ (N/V)ⁿ               N: the volume [m³] that it would have at P₀ = 100 kPa
    liquid    P = Pₐ + κ ln(N/V)          N: the volume that it would have at the atmosphere's Pₐ

N stays while the chamber is closed. All pressures P here are absolute [Pa].
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.errors import InputError, is_number
from pliant.inputs import positive

REFERENCE = 1e5  # P₀ [Pa], that of ISO 6358
ATMOSPHERE = 101325.0  # [Pa]
MOST_ADIABATIC = 5.0 / 3.0  # ratio of the specific heats of a monatomic gas
AIR = 1.4  # the same of air


@dataclass(frozen=True)
class Gas:
    """An ideal gas that changes its state with an exponent n: 1 is isothermal, 1.4 adiabatic (air).

    In between some heat goes through the wall. atmosphere: the absolute pressure [Pa] at gauge zero.
    """

    exponent: float = 1.0
    atmosphere: float = ATMOSPHERE
    flows: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        n = self.exponent
        if not (is_number(n) and 1.0 <= n <= MOST_ADIABATIC):
            raise InputError("exponent of a Gas", expected="a number from 1 to 5/3", got=repr(n))
        positive("atmosphere of a Gas", self.atmosphere, "Pa")

    def content(self, pressure: float, volume: float) -> float:
        """N [m³] of what fills a volume [m³] at an absolute pressure [Pa]."""
        return volume * (pressure / REFERENCE) ** (1.0 / self.exponent)

    def volume(self, pressure: float, content: float) -> float:
        """V [m³] of a content N at an absolute pressure [Pa]."""
        return content * (pressure / REFERENCE) ** (-1.0 / self.exponent)

    def pressure(self, volume: float, content: float) -> tuple[float, float]:
        """P [Pa] and dP/dV [Pa/m³] = −n P/V of a content N in a volume V."""
        P = REFERENCE * (content / volume) ** self.exponent
        return P, -self.exponent * P / volume

    def energy(self, volume: float, content: float) -> float:
        """∫ (P − Pₐ) dV to atmospheric pressure [J]: the work that it can do."""
        n, free = self.exponent, self.volume(self.atmosphere, content)
        start, end = self.pressure(volume, content)[0] * volume, self.atmosphere * free
        done = start * np.log(free / volume) if n == 1.0 else (start - end) / (n - 1.0)
        return float(done - self.atmosphere * (free - volume))


@dataclass(frozen=True)
class Liquid:
    """A liquid of a bulk modulus κ [Pa]; water 2.2e9, and much less with bubbles or in soft tubes.

    atmosphere: the absolute pressure [Pa] at gauge zero.
    """

    bulk: float = 2.2e9
    atmosphere: float = ATMOSPHERE
    flows: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        positive("bulk modulus of a Liquid", self.bulk, "Pa")
        positive("atmosphere of a Liquid", self.atmosphere, "Pa")

    def content(self, pressure: float, volume: float) -> float:
        """N [m³] of what fills a volume [m³] at an absolute pressure [Pa]."""
        return volume * float(np.exp((pressure - self.atmosphere) / self.bulk))

    def volume(self, pressure: float, content: float) -> float:
        """V [m³] of a content N at an absolute pressure [Pa]."""
        return content * float(np.exp(-(pressure - self.atmosphere) / self.bulk))

    def pressure(self, volume: float, content: float) -> tuple[float, float]:
        """P [Pa] and dP/dV [Pa/m³] = −κ/V of a content N in a volume V."""
        return self.atmosphere + self.bulk * float(np.log(content / volume)), -self.bulk / volume

    def energy(self, volume: float, content: float) -> float:
        """∫ (P − Pₐ) dV to atmospheric pressure [J]: the work that it can do."""
        return self.bulk * float(content - volume - volume * np.log(content / volume))
