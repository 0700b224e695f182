"""Part 5: every scene along its predefined path: error, jumps of efforts, depth, speed, and equilibrium."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import ConvergenceError
from pliant.io.table import Table
from pliant.laws import Known
from pliant.robot import Robot
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.figures import INK, LINES, heading, line, new_figure
from pliant.studies.log import Log
from pliant.studies.study import Findings, Picture

LARGEST_DEPTH = 0.1  # [mm]
LARGEST_COMPLEMENTARITY = 1e-6  # relative, of the solver
LARGEST_SHIFT = 0.1  # [% of the length] of the effector, when commands are imposed in a forward solve
LARGEST_MEAN_ERROR = 0.5  # [% of the length]
SMALLEST_DRAWN = 1e-9  # [m] error
COLUMNS = (
    "case", "steps", "mean error", "largest error", "complementarity", "deepest", "steps/s", "jump of effort",
    "equilibrium", "statuses",
)  # fmt: skip
NOTE = (
    "Shares are of the robot's length; the largest jump is that of the effort which jumps most for its size."
)


def tracking(lab: Lab) -> Findings:
    """Errors along the paths, and of a forward solve with the commanded displacements imposed."""
    table, checks, data = Table("Along the scenes' own paths", COLUMNS, notes=[NOTE]), [], {}
    for name in lab.names:
        log = lab.log(name)
        states = sorted(log.kept)[1 : lab.setting.equilibria + 1]  # the first is where it began
        moved = [_moved(lab.robot(name), log, k) for k in states]
        worst = max(moved, default=float("nan"))
        table.add(**_row(name, lab, log, worst))
        share = 100.0 / log.length
        limits = {
            "complementarity": (log.complementarity.max(), LARGEST_COMPLEMENTARITY, ""),
            "deepest penetration": (1e3 * np.nanmax(log.depth), LARGEST_DEPTH, "mm"),
            "equilibrium": (100 * worst, LARGEST_SHIFT, "% of length"),
        }
        if not lab.scene(name).events:
            limits["mean error"] = share * log.error.mean(), LARGEST_MEAN_ERROR, "% of length"
        checks += [Check.at_most(f"{name}: {what}", *x[:2], unit=x[2]) for what, x in limits.items()]
        data[name] = {"error": log.error, "statuses": log.counts, "equilibrium": moved, "length": log.length}
    text = (
        "Each scene follows its predefined path in the real-time loop. At some of the states the commanded "
        "displacements (winch lengths, volumes, slider positions) are imposed in a forward solve to full "
        "convergence, with the same surroundings: the last column of numbers is how far the effector is "
        "from where the loop had it."
    )
    return Findings("Tracking", text, [table], checks, [_picture(lab)], data)


def _row(name: str, lab: Lab, log: Log, worst: float) -> dict[str, Any]:
    error, jump = log.error, np.abs(log.changes()).max(axis=0, initial=0.0)
    which = int(np.argmax(jump / np.maximum(np.abs(log.effort).max(axis=0), 1e-300)))
    far = lambda metres: distance(metres, log.length)
    return {
        "case": name,
        "steps": len(log),
        "mean error": far(error.mean()),
        "largest error": far(error.max()),
        "complementarity": float(log.complementarity.max()),
        "deepest": far(np.nanmax(log.depth)),
        "steps/s": float(1.0 / np.mean(log.timings["total"])),
        "jump of effort": f"{jump[which]:.3g} {lab.effort_unit(name, log.names[which])}",
        "equilibrium": far(worst * log.length),
        "statuses": ", ".join(f"{status} {n}" for status, n in log.counts.items()),
    }


def _moved(robot: Robot, log: Log, step: int) -> float:
    """How far the effector moves when the commands of a step are imposed [share of the length].

    It is infinite where no equilibrium is found.
    """
    out, obstacles = log.kept[step]
    around = replace(robot.surroundings, obstacles=obstacles)
    then = Robot(robot.bodies, robot.rows, gravity=robot.gravity, name=robot.name, surroundings=around)
    try:
        again = static(
            then, {row: Known(displacement=value) for row, value in out.command.items()}, state=out.state
        )
    except ConvergenceError:
        return float("inf")
    there = np.concatenate([again.displacement[row] for row in out.error])
    return float(np.linalg.norm(there - log.place[step]) / log.length)


def distance(metres: float, length: float) -> str:
    """In millimetres and per cent of a length; what is less than a micrometre is nothing."""
    return "< 1 µm" if metres < 1e-6 else f"{1e3 * metres:.2g} mm ({_plain(100 * metres / length)} %)"


def _plain(share: float) -> str:
    """A share of some per cent to one digit, one above ten in whole numbers."""
    return f"{share:.0f}" if share >= 10.0 else f"{share:.1g}"


def _picture(lab: Lab) -> Picture:
    figure, axes = new_figure(10.5, 2.1 * len(lab.names), len(lab.names), 2)
    for (left, right), name in zip(axes, lab.names):
        log = lab.log(name)
        left.semilogy(1e3 * np.maximum(log.error, SMALLEST_DRAWN), color=LINES[0], linewidth=1.2)
        left.set_ylim(0.5e3 * SMALLEST_DRAWN, 3e3 * max(log.error.max(), 100 * SMALLEST_DRAWN))
        left.set_ylabel("error [mm]")
        heading(left, f"{name}: distance to the target")
        for k, actuator in enumerate(log.names):
            right.plot(log.effort[:, k], **line(k), linewidth=1.1, label=actuator)
        right.set_ylabel(f"effort [{lab.effort_unit(name, log.names[0])}]")
        right.legend(
            fontsize=6.5, frameon=False, labelcolor=INK, ncols=2, loc="upper left", bbox_to_anchor=(1.0, 1.0)
        )
        heading(right, f"{name}: efforts")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    return Picture("tracking", "Error and efforts along the paths of the scenes.", figure)
