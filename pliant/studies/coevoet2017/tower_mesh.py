"""Part: how far the tower, as coarse as the paper's, is from a converged one."""

from __future__ import annotations

import numpy as np

from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots.tower import tower
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.study import Findings

PRESSURE = 10e3  # [Pa] in one chamber
FINE = 0.005  # [m] largest cells of the mesh that stands for a converged one
BETTER = 0.008  # [m] … and of one between
WHY = "three cells across a floor, as many coordinates as the paper; it says nothing of convergence"


def tower_mesh(lab: Lab) -> Findings:
    """The tip's motion under pressure in one chamber, over that of finer meshes."""
    coarse, between = lab.robot("tower"), tower(size=BETTER)
    fine = between if lab.setting.robots else tower(size=FINE)
    checks = []
    for chamber in ("chamber 1", "chamber 2"):
        full = _size(fine, chamber)
        name = lambda robot, chamber=chamber: (
            f"{chamber}: motion with {robot.ndof} coordinates over that with {fine.ndof}"
        )
        share = _size(coarse, chamber) / full
        checks.append(Check.compared(name(coarse), share, paper="1680 coordinates", why=WHY))
        if between is not fine:
            checks.append(Check(name(between), _size(between, chamber) / full))
    text = f"{PRESSURE / 1e3:g} kPa in one chamber, under weight and with contact between the sections."
    return Findings("The tower's mesh", text, checks=checks)


def _size(robot: Robot, chamber: str) -> float:
    return float(np.linalg.norm(moved(robot, chamber)))


def moved(robot: Robot, chamber: str) -> np.ndarray:
    """(3,) [m] by how much the tip moves when one chamber is inflated."""
    chambers = robot.by_role("actuator")
    laws = {name: Known(effort=0.0) for name in chambers}
    rest = static(robot, laws)
    return (
        static(robot, {**laws, chamber: Known(effort=PRESSURE)}, state=rest.state).displacement["tip"]
        - rest.displacement["tip"]
    )
