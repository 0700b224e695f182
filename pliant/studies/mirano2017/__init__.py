"""Mirano 2017: soft hands from cables, experiment by experiment."""

from __future__ import annotations

from pliant.studies.mirano2017 import band, engaging, field, motion, reaching, statics, targets, tracking
from pliant.studies.mirano2017.lab import FULL, QUICK, Lab
from pliant.studies.mirano2017.origins import CHOICES, SHARES, robots
from pliant.studies.mirano2017.paper import SOURCE
from pliant.studies.study import Study

study = Study(
    "mirano2017",
    "Soft hands from cables",
    SOURCE,
    {
        "ballast": engaging.ballast,
        "engagement": engaging.engagement,
        "hexagon": engaging.hexagon,
        "field": field.field,
        "motion": motion.motion,
        "band": band.band,
        "statics": statics.statics,
        "reach": reaching.reaching,
        "targets": targets.targets,
        "tracking": tracking.tracking,
    },
    prepare=lambda setup: Lab(QUICK if setup.quick else FULL, setup),
    robots=robots,
    shares=SHARES,
    choices=CHOICES,
)

__all__ = ["study"]
