"""Part 8: what a hasty user does to a robot. Every trial must come to rest.

A trial is a controller and the targets that it is given one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pliant.interactions import Position
from pliant.inverse import Inverse, Outcome
from pliant.io.table import Table
from pliant.laws import Bounded
from pliant.robot import Robot
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.log import Targets
from pliant.studies.settle import Rest, settle
from pliant.studies.study import Findings

CO_CONTRACTION = 0.5  # of the largest tension along the path: what every cable pulls at least
TURN = np.radians(240.0)  # of the arc whose ends the tip is sent to; the trunk itself turns by less
SLICES = 9  # of a trunk, to see how far it bends
COLUMNS = (
    "case",
    "trial",
    "settled",
    "steps",
    "change [%]",
    "decrement [% L]",
    "depth [% L]",
    "error [mm]",
    "status",
    "found",
    "check",
)
TEXT = (
    "Settled: for five steps in a row no command changes by more than 0.1 % of the largest command in its "
    "unit, and the Newton decrement is below 10⁻⁴ of the robot's length. L is the length. A trial with "
    "several targets must settle at each of them; steps are those of all, the other numbers those of the "
    "worst. Many targets are out of reach: what is asked is that the robot settles, not that it arrives, and "
    "how far off it stays is shown."
)


class Run(NamedTuple):
    """A controller, and where to send it; it must come to rest at each target.

    `least`: how far it must bend [rad].
    """

    controller: Inverse
    targets: Sequence[Targets]
    least: float = 0.0


@dataclass(frozen=True)
class Trial:
    """`prepare` returns None where the trial makes no sense."""

    name: str
    prepare: Callable[[Lab, str], Run | None]


def jump(lab: Lab, name: str) -> Run:
    """A quarter of the length along the path's main direction, all at once, and back."""
    start, far = lab.start(name), 0.25 * lab.robot(name).length * lab.direction(name)
    return Run(lab.controller(name), [lab.target(name, start + far), lab.target(name, start)])


def out_of_reach(lab: Lab, name: str) -> Run:
    """Two lengths away."""
    far = lab.start(name) + 2.0 * lab.robot(name).length * lab.direction(name)
    return Run(lab.controller(name), [lab.target(name, far)])


def inside(lab: Lab, name: str) -> Run | None:
    """The centre of the robot at rest."""
    robot, effector = lab.robot(name), lab.robot(name).rows[lab.scene(name).effector].interaction
    if not isinstance(effector, Position):
        return None
    centre = robot.positions(robot.rest.q).mean(axis=0)
    return Run(lab.controller(name), [lab.target(name, effector.directions @ centre)])


def past_half_turn(lab: Lab, name: str) -> Run | None:
    """A trunk in free space, its tip sent to that of an arc of constant curvature, up to 240°, and back."""
    if name != "trunk":
        return None
    robot = lab.robot(name)
    nodes, tip = robot.positions(robot.rest.q), lab.start(name)
    axis = (tip - nodes.mean(axis=0)) / np.linalg.norm(tip - nodes.mean(axis=0))
    length = float(np.max((tip - nodes) @ axis))
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    arc = lambda turn: (
        tip - length * axis + length / turn * (np.sin(turn) * axis + (1.0 - np.cos(turn)) * side)
    )
    turns = np.linspace(0.0, TURN, 11)[1:]
    free = Robot(robot.bodies, robot.rows, gravity=robot.gravity, name=robot.name)
    places = [arc(turn) for turn in (*turns, *turns[-2::-1])]
    return Run(Inverse(free), [lab.target(name, place) for place in (*places, tip)], least=np.pi)


def bending(out: Outcome) -> float:
    """By how much the robot turns [rad] from its first two slices to its last two, across its length."""
    robot = out.robot
    rest, now = robot.positions(robot.rest.q), out.positions
    axis = int(np.argmax(np.ptp(rest, axis=0)))
    place = (rest[:, axis] - rest[:, axis].min()) / np.ptp(rest[:, axis])
    slices = np.minimum((SLICES * place).astype(int), SLICES - 1)
    middles = np.array([now[slices == k].mean(axis=0) for k in range(SLICES)])
    tangents = np.diff(middles, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1)[:, None]
    turns = np.cross(tangents[:-1], tangents[1:])
    main = turns.sum(axis=0) / max(float(np.linalg.norm(turns.sum(axis=0))), 1e-300)
    return float(np.sum(np.arctan2(turns @ main, np.sum(tangents[:-1] * tangents[1:], axis=1))))


def opposed(lab: Lab, name: str) -> Run | None:
    """Every cable pulls at least half as hard as the hardest one along the path, opposed ones too."""
    robot, log, laws = lab.robot(name), lab.log(name), {}
    pulling = [row for row in log.names if robot.rows[row].interaction.effort_range[0] == 0.0]
    if len(pulling) < 2:
        return None
    least = CO_CONTRACTION * max(float(log.effort[:, log.names.index(row)].max()) for row in pulling)
    for row in pulling:
        law = robot.rows[row].law
        assert isinstance(law, Bounded)
        laws[row] = replace(law, effort=(least, law.effort[1]))
    return Run(lab.controller(name, laws=laws), [lab.target(name, lab.start(name))])


def gravity_from_rest(lab: Lab, name: str) -> Run | None:
    """Start undeformed, with the whole weight there at once."""
    robot = lab.robot(name)
    if not robot.gravity.any():
        return None
    return Run(lab.controller(name, state=robot.rest), [lab.target(name, lab.start(name))])


TRIALS = (
    Trial("jump of L/4, and back", jump),
    Trial("target out of reach", out_of_reach),
    Trial("target inside the body", inside),
    Trial("bend past 180°, and back", past_half_turn),
    Trial("opposed cables pulled together", opposed),
    Trial("full gravity from rest", gravity_from_rest),
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
