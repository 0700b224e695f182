"""Part: the first goal of the public scene of the two tissues (Fig. 7)."""

from __future__ import annotations

import numpy as np

from pliant.interactions import Position
from pliant.inverse import Inverse
from pliant.laws import Known, Target
from pliant.robot import Robot, Row
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.coevoet2017.tissues import GOAL, GRAVITY, ORGAN, PUSH, SKIN, pressing, tissues
from pliant.studies.settle import settle
from pliant.studies.study import Findings


def goal(lab: Lab) -> Findings:
    """The first goal of the public scene, with the one force it has: how near, and why not nearer."""
    folder = lab.tissues
    if folder is None:
        text = f"Needs the authors' meshes, {SKIN[0]} and {ORGAN[0]}: see --data."
        return Findings("Fig. 7: the public scene's goal", text)
    robot = tissues(folder)
    sunk = static(robot, pressing((0.0, 0.0, 0.0)))
    pressed = static(robot, pressing((0.5 * PUSH, 0.0, 0.0)), state=sunk.state)
    short = np.array(GOAL) - sunk.displacement["tip"][:2]
    pushed = pressed.displacement["tip"][:2] - sunk.displacement["tip"][:2]
    steps = settle(_aiming(robot), {"tip": GOAL}, most=lab.setting.trial)
    checks = [
        Check("goal missed by", 1e3 * steps.error, unit="mm"),
        Check("sunk by its weight", 1e3 * float(np.linalg.norm(short)), unit="mm"),
        Check("half the force pushes it by", 1e3 * float(np.linalg.norm(pushed)), unit="mm"),
        Check.at_most("cosine between the goal's direction and the push", _cosine(short, pushed), 0.0),
        Check.at_most(
            "missed by more than it sank", 1e3 * (steps.error - float(np.linalg.norm(short))), 0.01, unit="mm"
        ),
    ]
    text = (
        "The public scene has one force, up to 4.5 N inwards, and sends the organ's point to (40, 30) mm, "
        "where it is without weight. The organ sinks, and a skin above it can only push it farther away: the "
        "goal is out of reach by what the organ sank."
    )
    return Findings("Fig. 7: the public scene's goal", text, checks=checks)


def _aiming(robot: Robot) -> Inverse:
    """With the force inwards alone, for x and y of the organ's point."""
    point = robot.rows["tip"].interaction.points
    aim = Row(Position(point, directions="xy"), Target(value=GOAL))
    rows = {name: row for name, row in robot.rows.items() if name not in ("force x", "force y")}
    one = Robot(
        robot.bodies, {**rows, "tip": aim}, gravity=GRAVITY, name=robot.name, surroundings=robot.surroundings
    )
    return Inverse(one, state=static(one, {"force": Known(effort=0.0)}).state)


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
