"""Part 2: every interaction of the registry on every kind of body, with its effort or displacement imposed.

An effort λ is imposed; the displacement δ that it brings is then imposed on a fresh robot, which must ask for
the same effort. There, J = W_ea W_aa⁻¹ is compared with finite differences of the equilibrium. Where rows are
redundant (more than the region they hang on has freedoms) they are driven together, as one `Combined` row. A
follower force has no potential: its W_ea is exact without load, and is compared there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import pliant as pl
from pliant.contact import Samples, Surroundings
from pliant.errors import PliantError
from pliant.interactions import Combined, Interaction, registry
from pliant.laws import Law
from pliant.result import Result
from pliant.robot import Robot
from pliant.state import State
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import SIZE, TIGHT, Lab, Subject
from pliant.studies.duriez2024.pictures import errors_figure
from pliant.studies.study import Findings, Picture

MOVE = 0.005 * SIZE  # [m] how far the effector is moved
LET_OUT = 0.02  # of an effort that friction has held: so much is left on the way back
DIFFERENCE = 1e-4  # of that: step of the differences
GRAVITY = (0.0, 0.0, -1.0)  # [m/s²] enough for a liquid to count
REDUNDANT = 1e10  # condition of W_aa
ASKED = 1e-6  # relative error


@dataclass(frozen=True)
class Drive:
    """A robot that an interaction drives along a pattern (m,) of efforts, and the equilibrium without it."""

    robot: Robot
    pattern: np.ndarray
    hanging: Result

    @classmethod
    def of(cls, subject: Subject, interaction: Interaction) -> Drive:
        """The pattern moves the effector by MOVE, to first order."""
        pattern = 1.0 + 0.3 * np.sin(2.0 * np.arange(interaction.size))
        robot = _robot(subject, interaction)
        if _redundant(pl.compliance(robot)["drive", "drive"]):
            robot, pattern = _robot(subject, Combined(interaction, pattern[:, None])), np.ones(1)
        reach = np.abs(pl.compliance(robot)["effector", "drive"] @ pattern).max()
        return cls(robot, pattern * MOVE / reach, pl.static(robot, tolerance=TIGHT))

    def solved(self, law: Law, state: State | None = None) -> Result:
        """The equilibrium with a law on the drive."""
        start = self.hanging.state if state is None else state
        return pl.static(self.robot, {"drive": law}, state=start, tolerance=TIGHT)

    def difference(self, laws: tuple[Law, Law], state: State) -> np.ndarray:
        """Half of how far the effector is apart under two laws."""
        ahead, behind = (self.solved(law, state).displacement["effector"] for law in laws)
        return 0.5 * (ahead - behind)


def _redundant(Waa: np.ndarray) -> bool:
    """Whether rows move together, or one does not move at all."""
    size = np.sqrt(np.diagonal(Waa))
    return not size.all() or np.linalg.cond(Waa / np.outer(size, size)) > REDUNDANT


def _robot(subject: Subject, interaction: Interaction) -> Robot:
    rows = {
        "drive": pl.Row(interaction, pl.Bounded()),
        "effector": pl.Row(pl.Position(subject.effector), pl.Target()),
    }
    alone = Surroundings(samples=Samples.around(subject.effector, 1e-3))  # nothing to touch, so few samples
    return pl.Robot(subject.body, rows, gravity=GRAVITY, surroundings=alone)


def kinematics(lab: Lab) -> Findings:
    """A table for each kind of body."""
    tables = {}
    for kind, subject in lab.subjects.items():
        table = Compared(f"Every interaction: {kind}")
        for name, make in registry:
            try:
                _tried(table, name, make(subject.specimen), subject)
            except PliantError as error:  # the others are still tried
                table.holds(name, "ran to its end", False, measured=str(error))
        tables[kind] = table.table
    caption = "Every interaction on every kind of body: relative errors of the tables below."
    picture = Picture("interactions", caption, errors_figure(tables, ASKED))
    title = "Effort imposed, displacement imposed, J = W_ea W_aa⁻¹"
    return Findings(title, TEXT, list(tables.values()), pictures=[picture])


def _tried(table: Compared, name: str, interaction: Interaction, subject: Subject) -> None:
    drive = Drive.of(subject, interaction)
    unit = interaction.effort_unit
    pushed = drive.solved(pl.Known(effort=drive.pattern))
    reached = pushed.displacement["drive"]
    back = drive.solved(pl.Known(displacement=reached)).effort["drive"]
    what = "effort ⇄ displacement"
    table.add(name, what, drive.pattern, back, unit=unit, allowed=ASKED)
    if interaction.internal:  # friction holds it on the way back: there are no differences to two sides
        less = LET_OUT * drive.pattern
        there = drive.solved(pl.Known(effort=less), pushed.state).displacement["drive"]
        again = drive.solved(pl.Known(displacement=there), pushed.state).effort["drive"]
        table.add(name, f"{what}, on the way back", less, again, unit=unit, allowed=ASKED)
        return
    show = {"unit": "mm", "factor": 1e3 / DIFFERENCE, "allowed": ASKED}
    if not interaction.integrable:
        first = DIFFERENCE * drive.pattern
        W = pl.compliance(drive.robot, drive.hanging.state)["effector", "drive"]
        laws = pl.Known(effort=first), pl.Known(effort=-first)
        numeric = drive.difference(laws, drive.hanging.state)
        table.add(name, "W_ea by differences, no load", numeric, W @ first, **show)
        return
    W = pl.compliance(drive.robot, pushed.state)
    change = DIFFERENCE * W["drive", "drive"] @ drive.pattern
    laws = pl.Known(displacement=reached + change), pl.Known(displacement=reached - change)
    numeric = drive.difference(laws, pushed.state)
    table.add(name, "J by differences", numeric, W.jacobian("effector", "drive") @ change, **show)


TEXT = (
    "Every interaction that pliant has, as an actuator: its effort imposed (tension, pressure, torque, "
    "force), then the displacement that it reached imposed on a robot at rest (length, volume, angle, "
    "position), which gives the effort back. J is compared where the robot then is, with equilibria a "
    "ten-thousandth to either side; shown is the motion of three points of the robot, scaled up to the "
    "whole displacement. The list is the registry of interactions: a new one joins by itself."
)
