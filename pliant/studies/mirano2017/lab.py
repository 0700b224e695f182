"""What the parts of this study share: the hand, its reachable set, and how much of everything is done."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pliant.membrane.data.rubber_band import synthesise
from pliant.membrane.grasp import Grasp, grasp
from pliant.membrane.hand import Hand, soft_hand
from pliant.membrane.measurements import Measurements
from pliant.membrane.reach import Reach, reachable
from pliant.studies.setup import Setup


@dataclass(frozen=True)
class Setting:
    """Sizes of the samples.

    `trials` are random cases per comparison, `cells` those of the reachable set per size of the hand,
    `targets` and `refused` places of the control loop, `settle` [s] its time to come to rest, `experiments`
    those on the band, `rise` [s] the time of the ramp, `laws` how many are compared on it.
    """

    trials: int
    cells: int
    targets: int
    refused: int
    settle: float
    experiments: int
    rise: float
    laws: int


FULL = Setting(300, 60, 20, 10, 12.0, 500, 60.0, 4)
QUICK = Setting(40, 15, 3, 2, 8.0, 100, 30.0, 2)


class Lab:
    """Things are made when first asked for."""

    def __init__(self, setting: Setting, setup: Setup | None = None) -> None:
        self.setting, self.setup = setting, setup or Setup()

    @cached_property
    def hand(self) -> Hand:
        """The hand of 0.12 m."""
        return soft_hand()

    @cached_property
    def home(self) -> Grasp:
        """The object held in the middle."""
        return grasp(self.hand, (0.0, 0.0))

    @cached_property
    def band(self) -> Measurements:
        """Forces of the rubber band with the noise of this run's seed."""
        (seed,) = self.setup.seeds("band", 1)
        return synthesise(seed=seed)

    @cached_property
    def reach(self) -> Reach:
        """Where the hand can hold the object."""
        return reachable(self.hand, cell=self.hand.size / self.setting.cells)
