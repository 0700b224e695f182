"""What an action commands: an actuator, or two that pull against each other.

Each number is a share in [−1, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pliant.laws import Known

SLEW = 0.08  # of a drive's whole range, at largest, in one step


class Drive(Protocol):
    """One number of an action."""

    @property
    def idle(self) -> float:
        """The share that commands nothing."""
        ...

    def laws(self, share: float) -> Mapping[str, Any]:
        """The commands for a share."""
        ...


@dataclass(frozen=True)
class Puller:
    """A cable pulled with 0 … `largest` [N]."""

    row: str
    largest: float
    idle: float = -1.0

    def laws(self, share: float) -> dict[str, Known]:
        """−1 is slack, 1 is `largest`."""
        return {self.row: Known(effort=0.5 * (share + 1.0) * self.largest)}


@dataclass(frozen=True)
class Pair:
    """Two opposite cables: a positive share pulls the first, up to `largest` [N], a negative the second."""

    first: str
    second: str
    largest: float
    idle: float = 0.0

    def laws(self, share: float) -> dict[str, Known]:
        """Never both at once."""
        pull = share * self.largest
        return {self.first: Known(effort=max(pull, 0.0)), self.second: Known(effort=max(-pull, 0.0))}


@dataclass(frozen=True)
class Ranged:
    """An actuator within the limits of its row: −1 is its `least` effort or displacement, 1 its `most`."""

    row: str
    side: str  # "effort" or "displacement"
    least: float
    most: float

    @property
    def idle(self) -> float:
        """The share of zero."""
        return -(self.most + self.least) / (self.most - self.least)

    def laws(self, share: float) -> dict[str, Known]:
        """In proportion between the two."""
        value = self.least + 0.5 * (share + 1.0) * (self.most - self.least)
        return {self.row: Known(**{self.side: value})}
