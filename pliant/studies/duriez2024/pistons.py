"""Part 1: the report's own example, a robot with two pistons.

The report gives its compliances and no robot, so here is one that has them: a column of length s that
stretches (EA) and bends (EI), clamped at its foot, with a stiff head on which two pistons act along the
column, b beside its axis on either side. The effector is somewhere along it. By beam theory

    W_aa = s/EA ± b²s/EI       W_ea = (c s/EA,  ∓ c² b s²/2EI)        effector at the height c s

so the report's four numbers ask for s/EA = 7.5, c = 2/3, b²s/EI = 2.5 and s/b = 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import pliant as pl
from pliant.bodies import Beam, Stiffness
from pliant.io.table import Table
from pliant.mesh.lines import curve
from pliant.result import Result
from pliant.robot import Robot
from pliant.solvers import mcp
from pliant.studies.duriez2024.block import from_dimensions
from pliant.studies.duriez2024.compared import Compared, shown
from pliant.studies.duriez2024.lab import TIGHT, Lab
from pliant.studies.duriez2024.paper import INCREMENTS, JACOBIAN, WAA, WEA
from pliant.studies.duriez2024.pictures import LARGER, pistons_figure
from pliant.studies.study import Findings, Picture

MILLI = 1e-3  # the report has no units: millimetres and newtons here
ACTUATORS, EFFECTOR = ["piston 1", "piston 2"], "effector"
HALF_WIDTH = 0.05  # [m]; any would do, a wider head makes the same increments smaller beside the robot
PRINTED = 1e-9  # the report's digits are exact fractions


@dataclass(frozen=True)
class Column:
    """Length s [m], half width b [m] of the head, EA [N], EI [N·m²] and height c of the effector over s."""

    length: float
    half_width: float
    EA: float
    EI: float
    height: float

    @classmethod
    def of(cls, Waa: np.ndarray, Wea: np.ndarray, half_width: float) -> Column:
        """From compliances [m/N] of the form [[p + r, p − r], [p − r, p + r]] and [[u, u], [−w, w]]."""
        stretch, turn = 0.5 * (Waa[0, 0] + Waa[0, 1]), 0.5 * (Waa[0, 0] - Waa[0, 1])  # s/EA and b²s/EI
        height = Wea[0, 0] / stretch
        length = 2.0 * half_width * Wea[1, 1] / (height**2 * turn)
        return cls(length, half_width, length / stretch, half_width**2 * length / turn, height)

    def robot(self) -> Robot:
        """The column along x with its rows."""
        section = Stiffness(EA=self.EA, GJ=self.EI, EI=self.EI, radius=0.2 * self.half_width)
        shares = np.concatenate([np.linspace(0, self.height, 5), np.linspace(self.height, 1, 3)[1:]])
        body = Beam(
            curve(self.length * shares[:, None] * [1.0, 0.0, 0.0]), section, fixed=0, model="kirchhoff"
        )
        head = [body.at([self.length], offset=(side * self.half_width, 0.0)) for side in (1.0, -1.0)]
        rows = {
            name: pl.Row(pl.Slider(point, (1, 0, 0)), pl.Bounded()) for name, point in zip(ACTUATORS, head)
        }
        tip = body.at([self.height * self.length])  # at a node
        rows[EFFECTOR] = pl.Row(pl.Position(tip, directions="xy"), pl.Target())
        return pl.Robot(body, rows, name="two pistons")


def pistons(lab: Lab) -> Findings:
    """W, J, and the increments of the effector; then what the linear model leaves out."""
    robot = Column.of(MILLI * WAA, MILLI * WEA, HALF_WIDTH).robot()
    W = pl.compliance(robot)
    table = Compared("Two pistons: the report | here")
    measured = np.block([[W[a, b] for b in ACTUATORS] for a in ACTUATORS])
    effector = np.hstack([W[EFFECTOR, a] for a in ACTUATORS])
    J = W.jacobian(EFFECTOR, ACTUATORS)
    show = {"unit": "mm/N", "factor": 1e3, "allowed": PRINTED}
    table.add("W_aa", "actuators per force on actuators", MILLI * WAA, measured, **show)
    table.add("W_ea", "effector per force on actuators", MILLI * WEA, effector, **show)
    table.add("J = W_ea W_aa⁻¹", "effector per actuator", JACOBIAN, J, unit="1", allowed=PRINTED)
    for imposed, expected in INCREMENTS:
        effort, shift = increment(measured, effector, MILLI * imposed)
        move = f"pistons by {shown(imposed)}"
        table.add(
            move, "forces that this takes", np.linalg.solve(WAA, imposed), effort, unit="N", allowed=PRINTED
        )
        table.add(
            move, "effector", MILLI * expected, shift, unit="mm", factor=1e3, allowed=PRINTED, scale=MILLI
        )
    reached = [moved(robot, MILLI * imposed) for imposed, _ in INCREMENTS]
    caption = (
        f"The robot with two pistons, at rest and after either increment; motion {LARGER:g} times larger."
    )
    picture = Picture("pistons", caption, pistons_figure(reached, INCREMENTS, HALF_WIDTH))
    made = Compared("Two pistons on a block, from its dimensions")
    checks = from_dimensions(made)
    tables = [made.table, table.table, _nonlinear(robot, reached)]
    return Findings("The report's example", TEXT, tables, checks, [picture])


def increment(Waa: np.ndarray, Wea: np.ndarray, imposed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces (2,) [N] that move the actuators by `imposed` (2,) [m], and the effector's motion [m]."""
    free = np.full(2, np.inf)
    effort = mcp(Waa, -imposed, -free, free).effort
    return effort, Wea @ effort


def _nonlinear(robot: Robot, reached: list[Result]) -> Table:
    """The same increments with full equilibrium, where J is no longer that at rest."""
    table = Compared("Beyond the first order: the full equilibrium")
    rest = pl.compliance(robot).jacobian(EFFECTOR, ACTUATORS)
    for (imposed, _), there in zip(INCREMENTS, reached):
        move = f"pistons by {shown(imposed)}"
        J = pl.compliance(robot, there.state).jacobian(EFFECTOR, ACTUATORS)
        numeric = np.column_stack([_slope(robot, MILLI * imposed, along, there) for along in np.eye(2)])
        table.add(move, "J there, by differences", numeric, J, unit="1", allowed=1e-6)
        change = float(np.abs(J - rest).max())
        table.holds(move, "J is no longer that at rest", change > 1e-3, measured=f"changed by {change:.3g}")
    return table.table


def _slope(
    robot: Robot, imposed: np.ndarray, along: np.ndarray, there: Result, step: float = 1e-6
) -> np.ndarray:
    """Motion (2,) of the effector per motion of the pistons in a direction, by equilibria to either side."""
    ahead, behind = (moved(robot, imposed + s * along, there).displacement[EFFECTOR] for s in (step, -step))
    return (ahead - behind) / (2 * step)


def moved(robot: Robot, imposed: np.ndarray, start: Result | None = None) -> Result:
    """The equilibrium with both pistons imposed [m]."""
    laws = {name: pl.Known(displacement=float(value)) for name, value in zip(ACTUATORS, imposed)}
    return pl.static(robot, laws, state=None if start is None else start.state, tolerance=TIGHT)


TEXT = (
    "The report prints W_aa, W_ea, J and two increments of a robot that it does not describe. First a block "
    "of finite elements with dimensions in whole millimetres, against beam theory, and the printed matrices "
    "beside it. Then, for the increments, a column that stretches and bends, with a head on which two "
    "pistons push: a geometrically exact beam whose EA, EI, length and width follow from the four printed "
    "compliances. The report has no units; millimetres and newtons here. The matrices that it shows for the "
    "deformed robot are in a figure, without the robot they cannot be compared."
)
