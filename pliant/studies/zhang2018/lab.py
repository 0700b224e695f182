"""What the parts of this study share: both objects, with any modulus, and what their markers would show."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pliant.errors import PliantWarning
from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots import parallel, parallel_layouts, sheet, sheet_layouts
from pliant.sensing import Estimate, ForceEstimator, Layout, instrumented
from pliant.static import static
from pliant.studies.conditions import Conditions
from pliant.studies.zhang2018.paper import TENSION, YOUNG


@dataclass(frozen=True)
class Setting:
    """Sizes of the samples.

    `sheet` and `robot` are cells of the objects, `fine` those of the sheet that stands for a real one;
    `frames` those in which forces grow, `trials` those with noise.
    """

    sheet: tuple[int, int]
    robot: tuple[int, int, int]
    fine: tuple[int, int]
    frames: int
    trials: int


FULL = Setting((22, 2), (16, 4, 3), (22, 2), 20, 60)
QUICK = Setting((11, 1), (8, 2, 2), (22, 2), 10, 24)


class Lab:
    """Objects are made when first asked for."""

    def __init__(self, setting: Setting, conditions: Conditions | None = None) -> None:
        self.setting, self.conditions = setting, conditions or Conditions()
        self.build = cache(self._build)
        self.direct = cache(self._direct)
        self.shown = cache(self.markers)

    def _build(self, kind: str, young: float = YOUNG) -> Robot:
        """The sheet ("s") or the robot ("r") with a modulus [Pa]."""
        if kind == "s":
            return sheet(cells=self.setting.sheet, young=young)
        return parallel(cells=self.setting.robot, young=young)

    def layout(self, name: str) -> Layout:
        """A layout by its name, s1 to s8 or r1 to r8."""
        return {**sheet_layouts, **parallel_layouts}[name]

    def laws(self, name: str, more: float = 0.0) -> dict[str, Known]:
        """Commands: none for the sheet; every cable of the robot at 2 N, and `more` [N]."""
        return {} if name[0] == "s" else {f"cable {n}": Known(effort=TENSION + more) for n in range(1, 5)}

    def markers(self, name: str, share: float = 1.0) -> np.ndarray:
        """What markers (n, 3) [m] show under a share of the applied forces, by the direct model."""
        laws = {**self.laws(name), "forces": Known(effort=share * self.layout(name).applied.ravel())}
        return static(self.direct(name), laws).displacement["markers"].reshape(-1, 3)

    def _direct(self, name: str) -> Robot:
        """The direct model of a layout, with its markers and forces."""
        layout = self.layout(name)
        return instrumented(self.build(name[0]), layout.markers, layout.candidates)

    def estimator(
        self, name: str, *, modulus: float = YOUNG, more: float = 0.0, **options: Any
    ) -> ForceEstimator:
        """The inverse model of a layout, without warnings of those that hardly distinguish forces."""
        layout = self.layout(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PliantWarning)
            return ForceEstimator(
                self.build(name[0], modulus),
                layout.markers,
                layout.candidates,
                laws=self.laws(name, more),
                **options,
            )

    def error(self, name: str, estimate: Estimate) -> float:
        """The paper's I_e: Σ|computed − applied| over all components [mN]."""
        return 1e3 * float(np.abs(estimate.forces() - self.layout(name).applied).sum())
