"""How large the samples of this study are."""

from __future__ import annotations

from dataclasses import dataclass

PACE = 1000  # steps in which a scene's path is followed from its beginning to its end


@dataclass(frozen=True)
class Setting:
    """Sizes of the samples.

    path: steps made along a scene's path, which has PACE of them. grid: points along an axis of a map. equilibria: states
    solved again per scene. problems: recorded ones judged per scene. trial: most steps to come to rest at a target. soak:
    steps of a soak run. robots: scenes of the last three (none: all). yardsticks: whether dgemm is timed around every run, or
    once.
    """

    path: int
    grid: int
    equilibria: int
    problems: int
    trial: int
    soak: int
    robots: tuple[str, ...] = ()
    yardsticks: bool = True


FULL = Setting(path=PACE, grid=500, equilibria=8, problems=1000, trial=300, soak=10_000)
QUICK = Setting(
    path=60, grid=60, equilibria=1, problems=10, trial=150, soak=30, robots=("beam",), yardsticks=False
)
