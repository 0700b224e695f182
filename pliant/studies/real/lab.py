"""What the parts of the study share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pliant.studies.setup import Setup


@dataclass(frozen=True)
class Setting:
    """How fine and how long."""

    cells: tuple[int, int, int]  # of the beam at rest, and as it swings
    fits: int  # tries of a fit of one number
    swinging: tuple[int, int, int]
    time_step: float  # [s] of the swinging beam
    draws: int  # of poses that an arm is fitted to, and how many poses are scored
    scored: int
    thinned: int  # every so many-th pose of Emio is modelled


FULL, QUICK = (
    Setting((16, 4, 4), 5, (8, 3, 3), 0.003, 6, 120, 1),
    Setting((8, 3, 3), 4, (6, 2, 2), 0.005, 2, 30, 3),
)


class Lab:
    """The settings, and what is fitted once."""

    def __init__(self, setting: Setting, setup: Setup) -> None:
        self.setting, self.setup = setting, setup

    @cached_property
    def young(self) -> float:
        """The modulus [Pa] fitted to one load of the beam at rest."""
        from pliant.studies.real.beam import fitted

        return fitted(self)
