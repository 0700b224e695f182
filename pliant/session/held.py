"""How things are held: by how much, and how near they are to slipping."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.bodies.body import Body
from pliant.frame import Held
from pliant.result import Result
from pliant.robot import Robot
from pliant.things import grasp
from pliant.units import quantity


def loose(robot: Robot) -> tuple[Body, ...]:
    """Bodies with a name that nothing holds."""
    return tuple(body for body in robot.bodies if body.name and body.rigid_modes() == 6)


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
