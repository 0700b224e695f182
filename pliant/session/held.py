"""How things are held: by how much, and how near they are to slipping."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.bodies.body import Body
from pliant.frame import Held
from pliant.laws import Known, Law
from pliant.result import Result
from pliant.robot import Robot
from pliant.stage import RowFacts
from pliant.things import grasp
from pliant.units import quantity


def loose(robot: Robot) -> tuple[Body, ...]:
    """Bodies with a name that nothing holds."""
    return tuple(body for body in robot.bodies if body.name and body.rigid_modes() == 6)


def holding(robot: Robot) -> dict[str, Law]:
    """Laws at the start of a robot that grasps: drives on palms and arms stay where they are drawn.

    They are the actuators that push as well as pull, and have a range to go; the others give no effort.
    """
    laws: dict[str, Law] = {}
    for name in robot.by_role("actuator") if loose(robot) else ():
        facts, row = RowFacts.of(robot, name), robot.rows[name]
        if facts.drive == "displacement" and row.interaction.effort_range[0] < 0.0:
            rest = robot.bundle.delta(robot.bundle.positions(robot.rest.q))[robot.spans[name]]
            laws[name] = Known(displacement=rest)
    return laws


def held(result: Result, things: tuple[Body, ...]) -> dict[str, Held]:
    """How each thing that another body touches is held, by name."""
    contacts = result.contacts
    if contacts is None or not (result.contact_force[~contacts.rigid] > 0.0).any():
        return {}
    grasps = {thing.name: grasp(result, thing) for thing in things}
    return {name: Held(g.squeeze, g.margin) for name, g in grasps.items() if g.squeeze > 0.0}


def words(held: Mapping[str, Held]) -> list[str]:
    """Such as "box is held with 0.56 N, 40 % of its friction is left"."""
    return [f"{name} {_how(how)}." for name, how in held.items()]


def _how(how: Held) -> str:
    if how.slips:
        return "slips: its friction is used up"
    force = quantity(np.array(how.squeeze), "N", digits=2)
    return f"is held with {force}, {100 * how.margin:.0f} % of its friction is left"
