"""Surroundings of a robot as tables of a project file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.contact import Samples
from pliant.contact.detect.samples import facet_mask
from pliant.contact.obstacles import KINDS
from pliant.errors import InputError
from pliant.mesh import Surface
from pliant.project.along import along_data
from pliant.robot import Robot


def obstacle_data(robot: Robot) -> dict[str, Any]:
    """The obstacles by name."""
    out: dict[str, Any] = {}
    for number, obstacle in enumerate(robot.surroundings.obstacles):
        if KINDS.get(obstacle.kind) is not type(obstacle):
            raise InputError("obstacle", expected=f"one of {sorted(KINDS)}", got=type(obstacle).__name__)
        data = {"kind": obstacle.kind, **obstacle.numbers}
        out[obstacle.name or f"{data['kind']} {number + 1}"] = data
    return {"obstacles": out} if out else {}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def contact_data(robot: Robot, names: Sequence[str]) -> dict[str, Any]:
    """What is not as usual."""
    around = robot.surroundings
    data: dict[str, Any] = {}
    for key in ("alarm", "margin"):
        if getattr(around, key) is not None:
            data[key] = float(getattr(around, key))
    if around.friction:
        data["friction"] = _plain(around.friction)
    if around.between_bodies is not True:
        data["between_bodies"] = _plain(around.between_bodies)
    if around.self_contact is True:
        data["itself"] = True
    elif around.self_contact:
        data["itself"] = [
            {"one": _facets(robot, one, names), "other": _facets(robot, other, names)}
            for one, other in around.self_contact
        ]
    for key in ("samples", "against_obstacles"):
        given = getattr(around, key)
        if given is not None:
            several = (given,) if isinstance(given, Samples) else given
            data[key] = [_samples(robot, samples, names) for samples in several]
    return data


def _name(robot: Robot, body: Any, names: Sequence[str]) -> dict[str, Any]:
    number = next(n for n, mine in enumerate(robot.bodies) if mine is body)
    return {} if len(names) == 1 else {"body": names[number]}


def _facets(robot: Robot, surface: Surface, names: Sequence[str]) -> dict[str, Any]:
    for body in robot.bodies:
        if np.array_equal(surface.nodes, body.mesh.nodes):
            chosen = np.flatnonzero(facet_mask(body.mesh.surface, surface))
            return _name(robot, body, names) | {"facets": chosen.tolist()}
    raise InputError("self-contact", expected="patches of the robot's bodies", got="another surface")


def _samples(robot: Robot, samples: Samples, names: Sequence[str]) -> dict[str, Any]:
    body = samples.body
    data = _name(robot, body, names)
    if samples.surface is None or samples.radius.any():
        radius = samples.radius
        one = bool(np.all(radius == radius[0]))
        where = along_data(body, samples.points) or {"points": samples.points.rest.tolist()}
        return data | where | {"radius": float(radius[0]) if one else radius.tolist()}
    data |= _facets(robot, samples.surface, names) | {"spacing": samples.spacing}
    for mid_nodes in (True, False):
        again = Samples.on(body, samples.surface, spacing=samples.spacing, mid_nodes=mid_nodes)
        if len(again) == len(samples):
            return data | ({} if mid_nodes else {"mid_nodes": False})
    raise InputError("samples", expected="those of a patch and a spacing", got=f"{len(samples)} others")
