"""Coevoet, Escande, Duriez 2017: the inverse model with contact, experiment by experiment."""

from __future__ import annotations

from pliant.studies.coevoet2017 import (
    formulations,
    goal,
    lost_cable,
    maps,
    optima,
    robustness,
    soaking,
    table12,
    tower_mesh,
    tracking,
)
from pliant.studies.coevoet2017.lab import FULL, QUICK, Lab
from pliant.studies.coevoet2017.origins import CHOICES, SHARES, robots
from pliant.studies.coevoet2017.paper import SOURCE
from pliant.studies.study import Study

study = Study(
    "coevoet2017",
    "Inverse model of soft robots with contact",
    SOURCE,
    {
        "table12": table12.table12,
        "formulations": formulations.formulations,
        "maps": maps.maps,
        "lost-cable": lost_cable.lost_cable,
        "tissues": goal.goal,
        "tower-mesh": tower_mesh.tower_mesh,
        "tracking": tracking.tracking,
        "optima": optima.optima,
        "robustness": robustness.robustness,
        "soak": soaking.soaking,
    },
    prepare=lambda setup: Lab(QUICK if setup.quick else FULL, setup),
    robots=robots,
    shares=SHARES,
    choices=CHOICES,
)

__all__ = ["study"]
