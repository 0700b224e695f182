"""Part 7: ten thousand steps after a target that wanders at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.io.table import Table
from pliant.status import BAD, STATUSES
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
    "waiting [%]",
    "statuses",
    "found",
    "check",
)
LARGEST_GROWTH = 30.0  # [MB] of the process after the first fifth
MOST_KEPT = 2.0  # [kB] per step, at the end
LONGEST_WAIT = 10.0  # [%] of the steps, in which the robot waits for an answer or gets none
TEXT = (
    "The target wanders at random through a box a quarter wider on each side than the scene's path; much of "
    "it is out of reach. No exception, no number that is not finite, no growing memory: the process may grow "
    f"by {LARGEST_GROWTH:g} MB after the first fifth of the run, and Python keep {MOST_KEPT:g} kB per step "
    "at its end. Waiting: steps in which the robot stands still because no step was found yet or at all, or "
    f"while scouts look for another way, at most {LONGEST_WAIT:g} %. `pliant bench soak` troubles robots far "
    "more."
)


def soaking(lab: Lab) -> Findings:
    """One run per scene."""
    table = Table("Soak", COLUMNS)
    for name in lab.thorough:
        path = np.asarray(lab.scene(name).path(PACE))
        places = walk(path, lab.robot(name).length, lab.setup.rng(f"soak {name}"))
        result = soak(lab.controller(name), (lab.target(name, p) for p in places), lab.setting.soak)
        table.add(**_row(lab, name, result))
    return Findings("Soak", TEXT, [table])


def _row(lab: Lab, name: str, result: Soak) -> dict[str, Any]:
    share = 100.0 / lab.robot(name).length
    grows = result.growth > LARGEST_GROWTH or result.kept > MOST_KEPT
    waiting = 100.0 * sum(n for word, n in result.counts.items() if waits(word)) / max(result.steps, 1)
    found = [result.failure, "memory grows" * grows, "it waits" * (waiting > LONGEST_WAIT)]
    return {
        "case": name,
        "steps": result.steps,
        "steps/s": result.rate,
        "worst decrement [% L]": share * result.decrement,
        "worst penetration [% L]": share * result.penetration,
        "growth [MB]": result.growth,
        "kept per step [kB]": result.kept,
        "waiting [%]": waiting,
        "statuses": ", ".join(f"{status} {n}" for status, n in result.counts.items()),
        "found": "; ".join(filter(None, found)),
        "check": not any(found),
    }


def waits(word: str) -> bool:
    """Whether a robot of which a certificate says this stands still for want of an answer."""
    status = STATUSES.get(word)
    return status is not None and (status.waits or status.severity == BAD)
