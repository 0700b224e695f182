"""Recordings of real robots beside what the model says, and beside the simplest fits."""

from __future__ import annotations

from pliant.studies.real import arm, beam, emio, legs, swing
from pliant.studies.real.lab import FULL, QUICK, Lab
from pliant.studies.real.origins import CHOICES, SHARES, robots
from pliant.studies.study import Study

study = Study(
    "real",
    "Measured robots",
    "recordings by srl-ethz/diffPD_sim2real, ARM-Lab and SofaComplianceRobotics/Emio.validation",
    {
        "beam": beam.settled,
        "swing": swing.swinging,
        "arm": arm.poses,
        "emio": emio.baselines,
        "legs": legs.modelled,
    },
    prepare=lambda setup: Lab(QUICK if setup.quick else FULL, setup),
    robots=robots,
    shares=SHARES,
    choices=CHOICES,
)

__all__ = ["study"]
