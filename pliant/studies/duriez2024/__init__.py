"""Duriez 2024: the modelling report, model by model, each against a second way to compute it."""

from __future__ import annotations

from pliant.studies.duriez2024 import (
    actuators,
    constitutive,
    dimensions,
    effectors,
    forward,
    inverse,
    kinematics,
    motion,
    pistons,
    reduction,
    sensors,
)
from pliant.studies.duriez2024.lab import FULL, QUICK, Lab
from pliant.studies.duriez2024.origins import CHOICES, SHARES, robots
from pliant.studies.duriez2024.paper import SOURCE
from pliant.studies.study import Study

study = Study(
    "duriez2024",
    "Mechanical compliance of soft robots",
    SOURCE,
    {
        "pistons": pistons.pistons,
        "kinematics": kinematics.kinematics,
        "actuators": actuators.actuators,
        "sensors": sensors.sensors,
        "effectors": effectors.effectors,
        "forward": forward.forward,
        "inverse": inverse.inverse,
        "constitutive": constitutive.constitutive,
        "dimensions": dimensions.dimensions,
        "motion": motion.motion,
        "reduction": reduction.reduction,
    },
    prepare=lambda setup: Lab(QUICK if setup.quick else FULL, setup),
    robots=robots,
    shares=SHARES,
    choices=CHOICES,
)

__all__ = ["study"]
