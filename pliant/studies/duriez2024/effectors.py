"""Part 5: every interaction of the registry as an effector, brought to a target by the inverse model.

A force on the end of the robot brings the effector somewhere; a controller that may choose that force is then
asked to bring it there from rest. It need not find the same force (a few effectors leave it a choice), but
the effector must get there.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.contact import Samples, Surroundings
from pliant.interactions import Interaction, registry
from pliant.robot import Row
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import TIGHT, Lab, Subject
from pliant.studies.settle import settle
from pliant.studies.study import Findings

MOTION = np.array([0.001, -0.003, 0.004])  # [m] of the end, to first order
MOST_STEPS = 150  # to come to rest
ASKED = 0.01  # of how far the effector moved


def effectors(lab: Lab) -> Findings:
    """A table for each kind of body."""
    tables = []
    for kind in lab.setting.effectors:
        table = Compared(f"Every interaction as an effector: {kind}")
        subject = lab.subjects[kind]
        for name, make in registry:
            _reached(table, name, make(subject.specimen), subject)
        tables.append(table.table)
    return Findings("Effectors: targets of the inverse model", TEXT, tables)


def _reached(table: Compared, name: str, interaction: Interaction, subject: Subject) -> None:
    rows = {
        "drive": Row(pl.PointForce(subject.effector[:1]), pl.Bounded(effort=(-100, 100))),
        "aim": Row(interaction, pl.Target()),
    }
    alone = Surroundings(samples=Samples.around(subject.effector, 1e-3))
    robot = pl.Robot(subject.body, rows, gravity=(0, 0, -1.0), surroundings=alone)
    force = np.linalg.solve(pl.compliance(robot)["drive", "drive"], MOTION)
    start = pl.static(robot, tolerance=TIGHT).displacement["aim"]
    target = pl.static(robot, {"drive": pl.Known(effort=force)}, tolerance=TIGHT).displacement["aim"]
    rest = settle(pl.Inverse(robot), {"aim": target}, most=MOST_STEPS)
    reached = rest.out.displacement["aim"] - start
    what = f"{rest.status} in {rest.steps} steps"
    table.add(name, what, target - start, reached, unit=interaction.unit, allowed=ASKED)


TEXT = (
    "What a roboticist may want to control: positions, directions, orientation, barycentre, centre of mass, "
    "curvature, lengths, volumes, angles. Each is told to go where a known force on the end of the robot "
    "brings it; the inverse model chooses three components of that force. Shown is how far the effector "
    "went from where it hangs."
)
