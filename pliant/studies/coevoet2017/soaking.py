"""Part 7: ten thousand steps after a target that wanders at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.bench.table import Table
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.soak import Soak, soak, walk
from pliant.studies.study import Findings

COLUMNS = (
    "case", "steps", "steps/s", "worst decrement [% L]", "worst penetration [% L]", "growth [MB]", "kept per step [kB]",
    "statuses", "found", "check",
)  # fmt: skip
WIDER = 0.25  # of the path's extent, on every side: part of the walk is out of reach
GROWTH, KEPT = 30.0, 2.0  # [MB] after the first fifth, [kB] per step at the end
TEXT = (
    "The target walks at random through a box a quarter wider on each side than the scene's path. No exception, no number that is "
    "not finite, no growing memory (the process after the first fifth of the run; what Python holds on to per step at the end)."
)


def soaking(lab: Lab) -> Findings:
    """One run per scene."""
    table = Table("Soak", COLUMNS)
    for seed, name in enumerate(lab.thorough):
        path = lab.path(name)
        low, high = path.min(axis=0), path.max(axis=0)
        room = WIDER * np.maximum(high - low, 0.1 * lab.robot(name).length)
        places = walk(low - room, high + room, lab.robot(name).length, seed)
        result = soak(lab.controller(name), (lab.target(name, p) for p in places), lab.setting.soak)
        table.add(**_row(lab, name, result))
    return Findings("Soak", TEXT, [table])


def _row(lab: Lab, name: str, result: Soak) -> dict[str, Any]:
    share = 100.0 / lab.robot(name).length
    grows = result.growth > GROWTH or result.kept > KEPT
    return {
        "case": name,
        "steps": result.steps,
        "steps/s": result.rate,
        "worst decrement [% L]": share * result.decrement,
        "worst penetration [% L]": share * result.penetration,
        "growth [MB]": result.growth,
        "kept per step [kB]": result.kept,
        "statuses": ", ".join(f"{n} {status}" for status, n in result.counts.items()),
        "found": result.failure or ("memory grows" if grows else ""),
        "check": not result.failure and not grows,
    }
