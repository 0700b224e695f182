"""What a detector looks at unless it is told: the samples of each body, and which bodies may touch."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from pliant.contact.detect.opponents import SoftOpponent, body_opponents, pair_opponents
from pliant.contact.detect.samples import Samples
from pliant.contact.obstacles import Obstacle
from pliant.contact.obstacles.obstacle import INF
from pliant.errors import InputError


def chosen_samples(
    robot: Any, samples: Samples | Sequence[Samples] | None, obstacles: Sequence[Obstacle]
) -> dict[int, Samples]:
    """Samples by body number, in that order."""
    if samples is None:
        roundest = min((o.roundness for o in obstacles if isinstance(o, Obstacle)), default=INF)
        return {n: _default_samples(body, roundest, robot.length) for n, body in enumerate(robot.bodies)}
    chosen = [samples] if isinstance(samples, Samples) else list(samples)
    if not chosen or not all(isinstance(s, Samples) for s in chosen):
        raise InputError("samples", expected="one Samples for each body that can touch", got=repr(samples))
    number = {id(body): n for n, body in enumerate(robot.bodies)}
    found: dict[int, Samples] = {}
    for s in chosen:
        b = number.get(id(s.body), -1)
        if b < 0 or b in found:
            got = "those of another body" if b < 0 else f"two for body {b}"
            raise InputError("samples", expected="one Samples for each of the robot's bodies", got=got)
        found[b] = s
    return dict(sorted(found.items()))


def everywhere_else(
    robot: Any, chosen: dict[int, Samples], obstacles: Sequence[Obstacle]
) -> dict[int, Samples]:
    """Samples by body number that lie all over the robot's skin, the `chosen` ones where these do.

    A body that has some on a part of its skin only, or none, has others. Returns `chosen` itself if none has.
    """
    everywhere = chosen_samples(robot, None, obstacles)
    part = [n for n, every in everywhere.items() if n not in chosen or _partial(chosen[n], every)]
    return {**chosen, **{n: everywhere[n] for n in part}} if part else chosen


def _partial(samples: Samples, every: Samples) -> bool:
    """Whether samples lie on a part of a skin only."""
    mine, whole = samples.surface, every.surface
    return mine is not None and whole is not None and len(mine) < len(whole)


def _default_samples(body: Any, roundest: float, length: float) -> Samples:
    """On its skin, or where it has none (a net of strings) on its nodes."""
    if len(body.mesh.surface):
        return Samples.against(body, roundest, length)
    return Samples.around(body.node_points(np.arange(len(body.mesh.nodes))), 0.0)


def soft_opponents(
    robot: Any, samples: dict[int, Samples], self_contact: Any, between: Any
) -> list[SoftOpponent]:
    for pair in () if isinstance(between, (bool, np.bool_)) else between:
        if len(pair) != 2 or any(b not in range(len(robot.bodies)) for b in pair):
            expected = f"pairs of body numbers below {len(robot.bodies)}"
            raise InputError("between_bodies", expected=expected, got=repr(pair))
    if isinstance(self_contact, (bool, np.bool_)):
        return body_opponents(samples, bool(self_contact), between)
    return body_opponents(samples, False, between) + pair_opponents(robot, samples, self_contact)


def named(obstacle: Obstacle, name: str) -> Obstacle:
    """The same obstacle under a name."""
    other = copy(obstacle)
    object.__setattr__(other, "name", name)
    return other


def free_name(kind: str, taken: set[str]) -> str:
    """A name after a kind that is not taken."""
    name, k = kind, 2
    while name in taken:
        name, k = f"{kind} {k}", k + 1
    return name
