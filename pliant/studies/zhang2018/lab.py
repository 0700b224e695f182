"""What the parts of this study share: both objects, with any modulus, and what their markers would show."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from pliant.errors import PliantWarning
from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots import parallel, parallel_layouts, sheet, sheet_layouts
from pliant.robots.parallel import on_legs
from pliant.robots.sheet import THICKNESS
from pliant.sensing import Estimate, ForceEstimator, Layout, instrumented
from pliant.static import static
from pliant.studies.setup import Setup
from pliant.studies.zhang2018 import authors
from pliant.studies.zhang2018.paper import TENSION, YOUNG


@dataclass(frozen=True)
class Setting:
    """Sizes of the samples.

    `sheet` and `robot` are cells of the objects, `fine` those of the sheet that stands for a real one;
    `frames` those in which forces grow, `trials` those with noise; `draws` those of errors that are not
    modelled, `located` those of places by level. `thorough` says whether all rows and levels are tried.
    """

    sheet: tuple[int, int]
    robot: tuple[int, int, int]
    fine: tuple[int, int]
    frames: int
    trials: int
    draws: int
    located: int
    thorough: bool = True


FULL = Setting((22, 2), (16, 4, 3), (22, 2), 20, 60, 12, 40)
QUICK = Setting((11, 1), (12, 2, 2), (22, 2), 10, 24, 3, 20, thorough=False)
DENSITY = 1080.0  # [kg/m³] of our objects
SHEET_GRID = (-0.042, -0.014, 0.014, 0.042)  # [m]
SEARCHED = {  # markers and candidates of the places that are searched: as many as in the paper
    "s": (
        np.array([(x, y, THICKNESS / 2) for x in SHEET_GRID for y in SHEET_GRID][1:-1]),
        np.array([(x, y, THICKNESS / 2) for x in (-0.036, -0.012, 0.012, 0.036) for y in (-0.03, 0.0, 0.03)]),
    ),
    "r": (
        on_legs([(0, 0.0, 0.0), *((n, 12.0, 5.0) for n in range(4)), *((n, 30.0, -4.0) for n in range(4))]),
        on_legs([*((n, 20.0, 0.0) for n in range(4)), *((n, 36.0, 0.0) for n in range(4))]),
    ),
}


class Lab:
    """Objects are made when first asked for."""

    def __init__(self, setting: Setting, setup: Setup | None = None) -> None:
        self.setting, self.setup = setting, setup or Setup()
        self.mesh = self.setup.file(authors.FILE)  # None: our own robot
        self.build = cache(self._build)
        self.direct = cache(self._direct)
        self.shown = cache(self.markers)

    def _build(self, kind: str, young: float = YOUNG) -> Robot:
        """The sheet ("s") or the robot ("r") with a modulus [Pa]."""
        if kind == "s":
            return sheet(cells=self.setting.sheet, young=young)
        return self.look_alike(young) if self.mesh is None else authors.robot(self.mesh, young=young)

    def look_alike(self, young: float = YOUNG) -> Robot:
        """Our own robot with a modulus [Pa], whether or not there is the authors' mesh."""
        return parallel(cells=self.setting.robot, young=young)

    def layout(self, name: str) -> Layout:
        """A layout by its name, s1 to s8 or r1 to r8."""
        return self.layouts[name]

    def searched(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Markers and candidates [m] that places are searched with: 14 and 12 on the sheet, 9 and 8 else."""
        return SEARCHED[kind] if kind == "s" or self.mesh is None else authors.searched(self.mesh)

    def variant(self, kind: str, *, weight: bool, heavier: float = 1.0, shift: Any = (0.0,) * 4) -> Robot:
        """An object as built, with its weight or without, heavier by a factor, anchors shifted up [m]."""
        gravity = (0.0, 0.0, -9.81 * weight)
        if kind == "s":
            return sheet(cells=self.setting.sheet, density=heavier * DENSITY, gravity=gravity)
        if self.mesh is None:
            return parallel(cells=self.setting.robot, density=heavier * DENSITY, gravity=gravity)
        return authors.robot(self.mesh, young=YOUNG, heavier=heavier, shift=shift, gravity=gravity)

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """All of them, on the robot that is used."""
        own = parallel_layouts if self.mesh is None else authors.layouts(self.mesh)
        return {**sheet_layouts, **own}

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
        self,
        name: str,
        *,
        modulus: float = YOUNG,
        more: float = 0.0,
        robot: Robot | None = None,
        **options: Any,
    ) -> ForceEstimator:
        """The inverse model of a layout, without warnings of those that hardly distinguish forces.

        Its modulus may be another [Pa], its tensions by `more` [N] too large, or the whole `robot` another.
        """
        layout = self.layout(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PliantWarning)
            return ForceEstimator(
                robot or self.build(name[0], modulus),
                layout.markers,
                layout.candidates,
                laws=self.laws(name, more),
                **options,
            )

    def error(self, name: str, estimate: Estimate) -> float:
        """The paper's I_e: Σ|computed − applied| over all components [mN]."""
        return 1e3 * float(np.abs(estimate.forces() - self.layout(name).applied).sum())
