"""Held-out motions: what a reduced robot makes of commands that it was not made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import ConvergenceError
from pliant.reduction.plans import Plan
from pliant.reduction.reduce import expanded
from pliant.reduction.snapshots import Snapshots
from pliant.robot import Robot
from pliant.static import static


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Errors of a reduced robot in s held-out equilibria.

    `effector` (s,) [m] are those of the effectors' positions, `field` (s,) [m] those of the worst node.
    `stroke` [m] is how far the effectors move from the equilibrium without commands (without effectors: the
    farthest node). `failed` names snapshots without an equilibrium.
    """

    effector: np.ndarray
    field: np.ndarray
    stroke: float
    failed: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The largest error of the effector, as a share of the stroke; infinite if something failed."""
        if self.failed or not len(self.effector):
            return float("inf")
        return float(self.effector.max()) / self.stroke


def held_out(robot: Robot, reduced: Robot, snapshots: Snapshots) -> HeldOut:
    """The errors of a reduced robot, driven through the commands of snapshots of the full one."""
    plan = Plan(snapshots.actuators, snapshots.drives, (snapshots.commands,))
    rows = aiming(robot)
    loose = robot.rigid_modes() > 0  # only its rows support it: without commands it has no equilibrium
    start = seen(robot, rows, robot.rest.q if loose else static(robot).q)
    effector, field, failed, state, last = [], [], [], None, -1
    stroke = 0.0
    for k, (command, q) in enumerate(zip(snapshots.commands, snapshots.coordinates, strict=True)):
        state = state if snapshots.trajectory[k] == last else None
        last = snapshots.trajectory[k]
        true = seen(robot, rows, q)
        stroke = max(stroke, farthest(true - start))
        try:
            state = static(reduced, plan.laws(command), state=state).state
        except ConvergenceError:
            failed.append(snapshots.label(k))
            continue
        effector.append(farthest(seen(reduced, rows, state.q) - true))
        x = robot.positions(expanded(reduced, state))
        field.append(float(np.linalg.norm(x - robot.positions(q), axis=1).max()))
    return HeldOut(np.array(effector), np.array(field), stroke, tuple(failed))


def aiming(robot: Robot) -> np.ndarray | None:
    """Scalar rows of effectors in metres, three for each point; None if there are none."""
    names = [n for n in robot.by_role("effector") if robot.rows[n].interaction.unit == "m"]
    names = [n for n in names if robot.rows[n].interaction.size % 3 == 0]
    every = np.arange(robot.bundle.rows)
    return np.concatenate([every[robot.named(n)] for n in names]) if names else None


def seen(robot: Robot, rows: np.ndarray | None, q: np.ndarray) -> np.ndarray:
    """Positions (p, 3) [m] that count."""
    if rows is None:
        return robot.positions(q)
    return robot.bundle.delta(robot.bundle.positions(q))[rows].reshape(-1, 3)


def farthest(x: np.ndarray) -> float:
    """The largest length among vectors (p, 3)."""
    return float(np.linalg.norm(x, axis=1).max())
