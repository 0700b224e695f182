"""Goury 2021: self-contact in real time by a reduced contact basis, on a finger and a spine manipulator."""

from __future__ import annotations

from pliant.studies.goury2021 import finger, manipulator, many, reach
from pliant.studies.goury2021.lab import FULL, QUICK, Lab
from pliant.studies.goury2021.origins import CHOICES, SHARES, robots
from pliant.studies.goury2021.paper import SOURCE
from pliant.studies.study import Study

study = Study(
    "goury2021",
    "Reduced self-contact",
    SOURCE,
    {
        "modes": finger.modes,
        "reach": reach.reach,
        "basis": manipulator.basis,
        "speed": manipulator.speed,
        "many": many.many,
    },
    prepare=lambda setup: Lab(QUICK if setup.quick else FULL, setup),
    robots=robots,
    shares=SHARES,
    choices=CHOICES,
)

__all__ = ["study"]
