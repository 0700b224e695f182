"""Part 8: what a hasty user does to a robot. Every trial must come to rest."""

from __future__ import annotations

import math
from typing import Any

from pliant.io.table import Table
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.coevoet2017.trials import TRIALS, Run, Trial, bending
from pliant.studies.settle import Rest, settle
from pliant.studies.study import Findings

COLUMNS = (
    "case", "trial", "settled", "steps", "change [%]", "decrement [% L]", "depth [% L]", "error [mm]", "status", "found", "check",
)  # fmt: skip
TEXT = (
    "Settled: for five steps in a row no command changes by more than 0.1 % of the largest command in its unit, and the Newton "
    "decrement is below 10⁻⁴ of the robot's length. L is the length. A trial with several targets must settle at each of them; steps are those "
    "of all, the other numbers those of the worst."
)


def robustness(lab: Lab) -> Findings:
    """All trials on all scenes they apply to."""
    table = Table(f"Trials, at most {lab.setting.trial} steps per target", COLUMNS)
    for name in lab.thorough:
        for trial in TRIALS:
            try:
                run = trial.prepare(lab, name)
                rests = (
                    []
                    if run is None
                    else [settle(run.controller, t, most=lab.setting.trial) for t in run.targets]
                )
            except Exception as error:  # a trial that breaks down has failed, and says why
                table.add(case=name, trial=trial.name, status=f"{type(error).__name__}: {error}", check=False)
                continue
            if run is not None:
                table.add(**_row(name, trial, run, rests))
    return Findings("Robustness", TEXT, [table])


def _row(name: str, trial: Trial, run: Run, rests: list[Rest]) -> dict[str, Any]:
    share = 100.0 / run.controller.robot.length
    worst = max(rests, key=lambda rest: (not rest.settled, rest.change))
    settled = sum(rest.settled for rest in rests)
    bent = max(bending(rest.out) for rest in rests) if run.least else 0.0
    return {
        "case": name,
        "trial": trial.name,
        "settled": f"{settled} of {len(rests)}",
        "steps": sum(rest.steps for rest in rests),
        "change [%]": 100.0 * worst.change,
        "decrement [% L]": share * worst.decrement,
        "depth [% L]": share * worst.penetration,
        "error [mm]": 1e3 * worst.error,
        "status": worst.status,
        "found": f"bent by {math.degrees(bent):.0f}°" if run.least else "",
        "check": settled == len(rests) and bent >= run.least,
    }
