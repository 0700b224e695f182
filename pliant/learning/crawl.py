"""Crawl: a free soft arch on two feet goes as far as it can."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.learning.drives import Puller
from pliant.learning.robotic import Robotic
from pliant.robots.crawler import crawler

LENGTH = 0.12  # [m] of the crawler
TENSION = 3.0  # [N], the largest of a tendon
SPEED_UNIT = 0.05  # [m/s], of speeds in an observation
TIME_STEP = 0.02  # [s] of one action
CLOCK_PERIOD = 1.0  # [s] of the clock in an observation


class CrawlerCrawl(Robotic):
    """A soft arch with a tendon in each half of its belly on a floor with friction; it should go along +x.

    Seen: commands (2), height of the centre of mass about that at rest and its velocity along x and z (3),
    the two sides of a clock of one second (2). Reward: how far it went in the step, in shares of its length,
    times a hundred.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        drives = [Puller("rear", TENSION), Puller("front", TENSION)]
        robot = crawler(length=LENGTH, along=10, across=1)
        super().__init__(robot, drives, 5, render_mode, time_step=TIME_STEP, settling=0.6)

    def begin(self) -> dict[str, Any]:
        """The clock begins anywhere."""
        return {"clock": float(self.np_random.uniform(0.0, CLOCK_PERIOD)) - self.simulation.t}

    def observed(self) -> np.ndarray:
        """Height, velocity, clock."""
        centre, speed = self.deltas()["centre"], self.rates()["centre"]
        up = (centre[2] - self.rest["centre"][2]) / (0.2 * LENGTH)
        phase = 2.0 * np.pi * (self.simulation.t + self.task["clock"]) / CLOCK_PERIOD
        return np.array([up, speed[0] / SPEED_UNIT, speed[2] / SPEED_UNIT, np.cos(phase), np.sin(phase)])

    def judged(self, before: Any) -> tuple[float, bool]:
        """The way ahead; done a whole length from where it began."""
        ahead = self.deltas()["centre"][0]
        went = ahead - self.deltas(before)["centre"][0]
        return 100.0 * went / LENGTH, ahead - self.rest["centre"][0] > LENGTH
