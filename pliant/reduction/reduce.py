"""A robot on a reduced body: the same rows, laws, gravity and surroundings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bodies.reduced import Reduced
from pliant.contact import Samples, Surroundings
from pliant.errors import InputError
from pliant.reduction.ecsw import Sampling
from pliant.reduction.state_basis import StateBasis
from pliant.robot import Robot, Row
from pliant.state import State


def reduce(robot: Robot, basis: StateBasis, sampling: Sampling | None = None, *, body: int = 0) -> Robot:
    """The robot with one of its bodies reduced to a basis.

    With a sampling, the cost of a step does not depend on the mesh. Rows keep their names, laws and
    displacements at rest; contact indices stay the same.
    """
    if not isinstance(robot, Robot):
        raise InputError("robot", expected="a Robot", got=type(robot).__name__)
    if not 0 <= body < len(robot.bodies):
        raise InputError("body", expected=f"0 to {len(robot.bodies) - 1}", got=body)
    chosen = {} if sampling is None else {"cells": sampling.cells, "weights": sampling.weights}
    reduced = Reduced(robot.bodies[body], basis.modes, **chosen)
    return with_body(robot, reduced, body)


def with_body(robot: Robot, reduced: Reduced, body: int = 0) -> Robot:
    """The robot with a body replaced by a reduced one that has the same nodes."""
    old = robot.bodies[body]
    moved = lambda points: points.on(reduced) if points.owner is old else points
    rows = {
        name: Row(row.interaction.with_points([moved(p) for p in row.interaction.points]), row.law)
        for name, row in robot.rows.items()
    }
    return Robot(
        [reduced if b is old else b for b in robot.bodies],
        rows,
        gravity=robot.gravity,
        name=robot.name,
        surroundings=_around(robot.surroundings, moved),
    )


def _around(surroundings: Surroundings, moved: Any) -> Surroundings:
    changed: Any = {}
    for name in ("samples", "against_obstacles"):
        given = getattr(surroundings, name)
        if given is not None:
            several = [given] if isinstance(given, Samples) else given
            changed[name] = [replace(s, points=moved(s.points)) for s in several]
    return replace(surroundings, **changed)


def expanded(robot: Robot, state: State) -> np.ndarray:
    """Coordinates of the full robot (nq,) at a state of the reduced one."""
    parts = zip(robot.bodies, robot.q_spans, strict=True)
    return np.concatenate([b.expand(state.q[s]) if isinstance(b, Reduced) else state.q[s] for b, s in parts])
