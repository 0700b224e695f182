"""A mechanism as arrays: what the compiled kernels read, what they remember, and where they work."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.membrane.kernels.path import COLUMNS

SKIN, CABLE, BAND = range(3)
"""Kinds of path: a membrane without friction, an inextensible cable, a membrane with friction."""


class Tree(NamedTuple):
    """b bodies, parents first; the world is body b.

    frame (b, 3): the joint's place on the parent; dof (b,): the body's first coordinate.
    """

    parent: np.ndarray
    kind: np.ndarray
    dof: np.ndarray
    frame: np.ndarray
    centre: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray


class Joints(NamedTuple):
    """Per coordinate (n,): a spring about `rest`, a dashpot, a motor's stiffness, damping, largest effort."""

    stiffness: np.ndarray
    rest: np.ndarray
    damping: np.ndarray
    motor_stiffness: np.ndarray
    motor_damping: np.ndarray
    motor_limit: np.ndarray


class Links(NamedTuple):
    """Pairs of points: bodies (k, 2) and places (k, 4) in their frames.

    law (k, 3): stiffness [N/m], rest length [m], damping [N·s/m].
    """

    body: np.ndarray
    at: np.ndarray
    law: np.ndarray


class Paths(NamedTuple):
    """Cables and membranes; path p has the stations start[p]:start[p+1].

    Of a path: kind, stiffness, damping, rest, bumper and the row of its constraint, −1 for membranes. Of a
    station: its body, its corners first:last, radius, side and friction.
    """

    start: np.ndarray
    kind: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    rest: np.ndarray
    bumper: np.ndarray
    row: np.ndarray
    body: np.ndarray
    corners: np.ndarray
    first: np.ndarray
    last: np.ndarray
    radius: np.ndarray
    side: np.ndarray
    friction: np.ndarray


MOVED = ("body", "first", "last", "radius", "friction")
"""Arrays of `Paths` whose entries change places where shapes pass each other on a cable."""


class Model(NamedTuple):
    """The whole mechanism."""

    tree: Tree
    joints: Joints
    springs: Links
    pins: Links
    paths: Paths
    gravity: np.ndarray


class Memory(NamedTuple):
    """What paths remember, per station.

    state and turn of the contact. With friction: whether the contact is known; where on the shape the skin
    sticks (`stick`) and where it arrived last, both in metres along the shape; and the rest length of the
    piece before it.
    """

    state: np.ndarray
    turn: np.ndarray
    known: np.ndarray
    stick: np.ndarray
    arrived: np.ndarray
    rest: np.ndarray

    def copy(self) -> Memory:
        """An independent copy."""
        return Memory(*(a.copy() for a in self))


class Drive(NamedTuple):
    """What acts from outside: motors' targets and rates, efforts (n,) on coordinates, wrenches (b + 1, 3)."""

    target: np.ndarray
    rate: np.ndarray
    effort: np.ndarray
    wrench: np.ndarray

    def copy(self) -> Drive:
        """An independent copy."""
        return Drive(*(a.copy() for a in self))


class Work(NamedTuple):
    """Scratch of one evaluation at (q, v).

    Poses (b + 1, 5), their Jacobians and biases J̇v (b + 1, 3, …); M, K, C (n, n); forces applied and of
    inertia (n,); constraint rows (c, n) and values. Per path length, tension and energy; per station its
    table, the wrench (3,) that the cable exerts on it (of a unit tension for inextensible cables) and its
    pose. row and bumped are for passing use. total: energies [J], kinetic, potential, of the motors' springs.
    """

    pose: np.ndarray
    J: np.ndarray
    bias: np.ndarray
    M: np.ndarray
    K: np.ndarray
    C: np.ndarray
    applied: np.ndarray
    inertial: np.ndarray
    rows: np.ndarray
    value: np.ndarray
    length: np.ndarray
    tension: np.ndarray
    energy: np.ndarray
    table: np.ndarray
    pull: np.ndarray
    place: np.ndarray
    row: np.ndarray
    bumped: np.ndarray
    total: np.ndarray


class Step(NamedTuple):
    """Scratch of the stages of a step.

    Its end (q1, v1), where to evaluate (at_q, at_v), the matrix of Newton's method and its factor's
    exchanges, residual, direction, and the acceleration of the last step. Of the constraints (c,): the rows
    in the middle of the step, efforts, multipliers, gaps, which are active, which were taut at the start,
    which bind. counts: of iterations.
    """

    q1: np.ndarray
    v1: np.ndarray
    at_q: np.ndarray
    at_v: np.ndarray
    A: np.ndarray
    order: np.ndarray
    R: np.ndarray
    dv: np.ndarray
    acceleration: np.ndarray
    middle: np.ndarray
    efforts: np.ndarray
    lam: np.ndarray
    gap: np.ndarray
    active: np.ndarray
    taut: np.ndarray
    binding: np.ndarray
    counts: np.ndarray


def step_scratch(model: Model) -> Step:
    """Fresh scratch arrays of a step."""
    n, c = len(model.joints.rest), constraints(model)
    vector, flags = lambda: np.zeros(n), lambda: np.zeros(c, np.bool_)
    return Step(
        q1=vector(),
        v1=vector(),
        at_q=vector(),
        at_v=vector(),
        A=np.zeros((n, n)),
        order=np.zeros(n, np.int64),
        R=vector(),
        dv=vector(),
        acceleration=vector(),
        middle=np.zeros((c, n)),
        efforts=np.zeros(c),
        lam=np.zeros(c),
        gap=np.zeros(c),
        active=flags(),
        taut=flags(),
        binding=flags(),
        counts=np.zeros(3, np.int64),
    )


def constraints(model: Model) -> int:
    """Number of constraint rows: two per pin, one per cable."""
    return 2 * len(model.pins.body) + int((model.paths.kind == CABLE).sum())


def workspace(model: Model) -> Work:
    """Fresh scratch arrays for a model."""
    b, n, p = len(model.tree.parent), len(model.joints.rest), len(model.paths.kind)
    c, s = constraints(model), len(model.paths.body)
    return Work(
        pose=np.zeros((b + 1, 5)),
        J=np.zeros((b + 1, 3, n)),
        bias=np.zeros((b + 1, 3)),
        M=np.zeros((n, n)),
        K=np.zeros((n, n)),
        C=np.zeros((n, n)),
        applied=np.zeros(n),
        inertial=np.zeros(n),
        rows=np.zeros((c, n)),
        value=np.zeros(c),
        length=np.zeros(p),
        tension=np.zeros(p),
        energy=np.zeros(p),
        table=np.zeros((s, COLUMNS)),
        pull=np.zeros((s, 3)),
        place=np.zeros((s, 5)),
        row=np.zeros(n),
        bumped=np.zeros(n),
        total=np.zeros(3),
    )
