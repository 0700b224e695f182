"""What stands between a command and the motion that it asks for: lag, rate, backlash, largest effort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.inputs import not_negative, positive

INF = float("inf")


@dataclass(frozen=True)
class Drive:
    """A motor u that follows its command c, and what it moves, δ.

        u̇ = (c − u)/lag, at most `rate`,      u − backlash/2 ≤ δ ≤ u + backlash/2

    lag [s]; rate [m/s] or [rad/s]; backlash [m] or [rad]: how far δ can go to and fro while the motor stands,
    at one end or the other when it pushes; limit [N] or [N·m]: the largest effort, beyond which it yields.
    """

    lag: float = 0.0
    rate: float = INF
    backlash: float = 0.0
    limit: float = INF

    def __post_init__(self) -> None:
        not_negative("lag of a Drive", self.lag, "s")
        not_negative("backlash of a Drive", self.backlash)
        positive("rate of a Drive", self.rate, infinite=True)
        positive("limit of a Drive", self.limit, infinite=True)

    def after(self, place: float, command: float, time: float) -> float:
        """Where the motor is a time [s] after it was at a place, by a command that has stood since."""
        left, way = command - place, 1.0 if command >= place else -1.0
        near = self.rate * self.lag if self.lag else 0.0  # from where on the lag is slower than the rate
        if abs(left) > near:
            hurried = min((abs(left) - near) / self.rate, time)
            left -= way * min(self.rate * hurried if hurried else 0.0, abs(left))
            left = way * near if hurried < time and near < INF else left
            time -= hurried
        if self.lag == 0.0:
            return command if self.rate == INF else command - left
        return command - left * float(np.exp(-time / self.lag))

    def lost(self, effort: float) -> float:
        """By how much the motor is ahead of what it pushes with an effort [N] or [N·m]."""
        return 0.5 * self.backlash * float(np.sign(effort))
