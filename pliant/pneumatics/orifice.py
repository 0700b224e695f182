"""Flow of gas through a valve, a tube or a leak, by ISO 6358.

    Q = C P₁ √(T₀/T₁) φ(P₂/P₁),     φ(r) = 1 for r ≤ b (choked),   √(1 − ((r − b)/(1 − b))²) beyond

from the higher absolute pressure P₁ to the lower one P₂ [Pa]. Q [m³/s] is a mass flow, as volume of the gas
at the reference of the standard, 100 kPa and T₀ = 293.15 K. Near r = 1, where φ would rise without bound, it
is a straight line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.errors import InputError, is_number
from pliant.inputs import positive

LAMINAR = 0.999  # ratio of pressures above which flow is in proportion to their difference


@dataclass(frozen=True)
class Orifice:
    """What gas flows through: sonic conductance C [m³/(s·Pa)], critical pressure ratio b.

    1e-8 m³/(s·Pa) is 1 dm³/(s·bar). C and b stand in data sheets of valves; b is 0.2 to 0.5.
    """

    conductance: float
    critical: float = 0.3

    def __post_init__(self) -> None:
        positive("conductance of an Orifice", self.conductance, "m³/(s·Pa)")
        if not (is_number(self.critical) and 0.0 <= self.critical < LAMINAR):
            expected = f"a ratio from 0 to {LAMINAR:g}"
            raise InputError("critical ratio of an Orifice", expected=expected, got=repr(self.critical))

    def flow(self, upstream: float, downstream: float, warmer: float = 1.0) -> float:
        """Q [m³/s] between absolute pressures [Pa], negative if it goes back; warmer: T/T₀ of the gas."""
        if upstream >= downstream:
            return flow(self.conductance, self.critical, upstream, downstream, warmer)
        return -flow(self.conductance, self.critical, downstream, upstream, warmer)


@njit(cache=True, error_model="numpy")
def flow(conductance, critical, high, low, warmer):
    """Q from the higher absolute pressure to the lower."""
    ratio = low / high
    if ratio <= critical:
        share = 1.0
    else:
        r = min(ratio, LAMINAR)
        share = np.sqrt(1.0 - ((r - critical) / (1.0 - critical)) ** 2)
        if ratio > LAMINAR:
            share *= (1.0 - ratio) / (1.0 - LAMINAR)
    return conductance * high * share / np.sqrt(warmer)
