"""Zhang 2018: external forces from markers, on a soft sheet and a parallel soft robot."""

from __future__ import annotations

from pliant.studies.study import Study
from pliant.studies.zhang2018 import (
    accurate,
    hybrid,
    levels,
    marker_rule,
    motion,
    placement,
    places,
    speed,
    tip,
    unmodelled,
    weights,
    wrong,
)
from pliant.studies.zhang2018.lab import FULL, QUICK, Lab
from pliant.studies.zhang2018.origins import CHOICES, SHARES, robots
from pliant.studies.zhang2018.paper import SOURCE

study = Study(
    "zhang2018",
    "External forces from markers",
    SOURCE,
    {
        "accurate": accurate.accurate,
        "sheet": wrong.on_sheet,
        "robot": wrong.on_robot,
        "unmodelled": unmodelled.unmodelled,
        "motion": motion.motion,
        "weights": weights.weights,
        "tip": tip.tip,
        "places": places.places,
        "levels": levels.levels,
        "markers": marker_rule.marker_rule,
        "placement": placement.placement,
        "hybrid": hybrid.hybrid,
        "speed": speed.speed,
    },
    prepare=lambda setup: Lab(QUICK if setup.quick else FULL, setup),
    robots=robots,
    shares=SHARES,
    choices=CHOICES,
)

__all__ = ["study"]
