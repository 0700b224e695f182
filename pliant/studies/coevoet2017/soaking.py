"""Part 7: ten thousand steps after a target that wanders at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.io.table import Table
from pliant.studies.coevoet2017.lab import PACE, Lab
from pliant.studies.soak import Soak, soak, walk
from pliant.studies.study import Findings

COLUMNS = (
    "case",
    "steps",
    "steps/s",
    "worst decrement [% L]",
    "worst penetration [% L]",
    "growth [MB]",
    "kept per step [kB]",
    "statuses",
    "found",
    "check",
)
LARGEST_GROWTH = 30.0  # [MB] of the process after the first fifth
TEXT = (
    "The target wanders at random to and fro along the scene's path, off it by 2 % of the length (standard "
    "deviation), partly out of reach. No exception, no number that is not finite, no growing memory: the "
    f"process may grow by {LARGEST_GROWTH:g} MB after the first fifth of the run. Kept per step: what Python "
    "allocated at the end and did not give back."
)


def soaking(lab: Lab) -> Findings:
    """One run per scene."""
    table = Table("Soak", COLUMNS)
    for seed, name in enumerate(lab.thorough):
        path = np.asarray(lab.scene(name).path(PACE))
        places = walk(path, lab.robot(name).length, seed)
        result = soak(lab.controller(name), (lab.target(name, p) for p in places), lab.setting.soak)
        table.add(**_row(lab, name, result))
    return Findings("Soak", TEXT, [table])


def _row(lab: Lab, name: str, result: Soak) -> dict[str, Any]:
    share = 100.0 / lab.robot(name).length
    grows = result.growth > LARGEST_GROWTH
    return {
        "case": name,
        "steps": result.steps,
        "steps/s": result.rate,
        "worst decrement [% L]": share * result.decrement,
        "worst penetration [% L]": share * result.penetration,
        "growth [MB]": result.growth,
        "kept per step [kB]": result.kept,
        "statuses": ", ".join(f"{status} {n}" for status, n in result.counts.items()),
        "found": result.failure or ("memory grows" if grows else ""),
        "check": not result.failure and not grows,
    }
