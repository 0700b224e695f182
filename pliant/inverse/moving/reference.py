"""How targets are approached: a smooth motion that a robot with inertia can follow.

    r̈ = ω² (target − r) − 2ζω ṙ,        ω = 1/response

The pull ω² (target − r) is limited so that ṙ stays below a top speed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.arrays import read_only_view

CRITICAL = 1e-8  # |μt| below which sinh(μt)/μ is t


@dataclass(frozen=True)
class Approach:
    """How fast targets are approached."""

    response: float  # [s] 1/ω
    ratio: float  # ζ
    top_speed: float  # [m/s]


@dataclass(frozen=True)
class Reference:
    """Where effectors are asked to be, r (m,), and their speed ṙ (m,).

    `units` (m,) is δ per metre of motion.
    """

    value: np.ndarray
    speed: np.ndarray
    units: np.ndarray
    approach: Approach

    def __post_init__(self) -> None:
        for name in ("value", "speed", "units"):
            object.__setattr__(self, name, read_only_view(getattr(self, name)))

    def of(self, rows: np.ndarray) -> Reference:
        """Of some rows only."""
        return replace(self, value=self.value[rows], speed=self.speed[rows], units=self.units[rows])

    def after(self, time: float, target: np.ndarray) -> Reference:
        """The reference `time` [s] later, by the exact solution for a target (m,) that rests meanwhile."""
        a, omega = self.approach, 1.0 / self.approach.response
        near = self._clipped(target - self.value, 2.0 * a.ratio / omega * a.top_speed)
        x, v = -near, self.speed  # from a target that is not too far
        (xx, xv), (vx, vv) = _transition(omega, a.ratio, time)
        return replace(self, value=self.value + near + xx * x + xv * v, speed=vx * x + vv * v)

    def near(self, here: np.ndarray, time: float) -> np.ndarray:
        """r (m,), or for a robot that is far behind, where it can come to in some time [s].

        That is from `here` at top speed.
        """
        return here + self._clipped(self.value - here, self.approach.top_speed * time)

    def _clipped(self, motion: np.ndarray, longest: float) -> np.ndarray:
        """A motion (m,), no longer than `longest` [m]."""
        far = float(np.linalg.norm(motion / self.units))
        return motion if far <= longest else motion * (longest / far)


def _transition(omega: float, ratio: float, time: float) -> np.ndarray:
    """exp(A t) of A = [[0, 1], [−ω², −2ζω]]: e^(−ζωt) (cosh μt + (A + ζω) sinh(μt)/μ), μ² = ω² (ζ² − 1)."""
    mu = omega * np.sqrt(complex(ratio * ratio - 1.0))
    grown = time if abs(mu * time) < CRITICAL else np.sinh(mu * time) / mu
    A = np.array([[ratio * omega, 1.0], [-omega * omega, -ratio * omega]])
    return (np.exp(-ratio * omega * time) * (np.cosh(mu * time) * np.eye(2) + A * grown)).real
