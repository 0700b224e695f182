"""From bodies, cables and motors with names to the arrays of `model`, and checks of these at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from pliant.errors import InputError, unknown_name
from pliant.membrane.bodies import At, Motor, Pin, PlanarBody, Spring
from pliant.membrane.cable import Cable, Membrane, Over
from pliant.membrane.joints import WORLD
from pliant.membrane.kernels.path import ACTIVE, FRONT, THROUGH
from pliant.membrane.model import BAND, CABLE, SKIN, Joints, Links, Memory, Paths, Tree
from pliant.membrane.wrapping import TautPath

BUMPER_STIFFNESS = 50.0  # times the stiffness of a membrane
COINCIDENT = 1e-9  # of the length of a cable: a straight piece shorter than this is none
TOUCHING = 1e-9  # of the size squared of two cables: areas smaller than this are no crossing
TINY = 1e-300


def ordered(bodies: Sequence[PlanarBody]) -> list[PlanarBody]:
    """Bodies with parents before children, else in their own order.

    Refuses unknown parents, circles and names used twice.
    """
    names = [body.name for body in bodies]
    for name in names:
        if names.count(name) > 1:
            raise InputError("bodies", expected="a name of its own for each", got=f"two named {name!r}")
    done: list[PlanarBody] = []
    left = list(bodies)
    for body in bodies:
        if body.joint.parent not in (WORLD, *names):
            raise unknown_name(f"parent of {body.name!r}", body.joint.parent, (WORLD, *names))
    while left:
        placed = {WORLD, *(body.name for body in done)}
        ready = [body for body in left if body.joint.parent in placed]
        if not ready:
            got = " and ".join(repr(body.name) for body in left)
            raise InputError("bodies", expected="each to hang on one placed before", got=f"a circle of {got}")
        done.append(ready[0])
        left.remove(ready[0])
    return done


def tree_of(bodies: Sequence[PlanarBody], number: Mapping[str, int]) -> Tree:
    """The tree of ordered bodies; number maps names to indices, the world to the last."""
    sizes = [body.joint.size for body in bodies]
    return Tree(
        np.array([number[body.joint.parent] for body in bodies], np.int64),
        np.array([body.joint.kind for body in bodies], np.int64),
        np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        np.array([[*np.asarray(b.joint.at, float), b.joint.angle] for b in bodies], float).reshape(-1, 3),
        np.array([b.centre for b in bodies], float).reshape(-1, 2),
        np.array([b.mass for b in bodies], float),
        np.array([b.inertia for b in bodies], float),
    )


def joints_of(bodies: Sequence[PlanarBody], tree: Tree, motors: Sequence[Motor]) -> Joints:
    """Springs, dashpots and motors of all coordinates."""
    rest, stiffness, damping = (
        np.concatenate([np.zeros(0), *(b.joint.values(what) for b in bodies)])
        for what in ("start", "stiffness", "damping")
    )
    names = [body.name for body in bodies]
    drive = np.zeros((3, len(rest)))
    drive[2] = np.inf
    taken: set[int] = set()
    for motor in motors:
        k = coordinate_of(bodies, tree, names, motor)
        if k in taken:
            raise InputError(f"motors of {motor.body!r}", expected="one per coordinate", got="two")
        taken.add(k)
        drive[:, k] = motor.stiffness, motor.damping, motor.limit
    return Joints(stiffness, rest, damping, *drive.copy())


def coordinate_of(bodies: Sequence[PlanarBody], tree: Tree, names: Sequence[str], motor: Motor) -> int:
    """The coordinate that a motor drives."""
    if motor.body not in names:
        raise unknown_name("body of a motor", motor.body, names)
    index = names.index(motor.body)
    size = bodies[index].joint.size
    if not 0 <= motor.coordinate < size:
        what = f"coordinate of the motor of {motor.body!r}"
        raise InputError(what, expected=f"one of its {size}, from 0", got=motor.coordinate)
    return int(tree.dof[index]) + motor.coordinate


def links_of(links: Sequence[Spring] | Sequence[Pin], number: Mapping[str, int], length: Any) -> Links:
    """Springs or pins; `length(start, end)` [m] is the distance at rest."""
    body, at, law = [], [], []
    for link in links:
        for end in (link.start, link.end):
            if end.body not in number:
                raise unknown_name("body of a spring or pin", end.body, number)
        body.append([number[link.start.body], number[link.end.body]])
        at.append([*np.asarray(link.start.point, float), *np.asarray(link.end.point, float)])
        if isinstance(link, Spring):
            rest = length(link.start, link.end) if link.rest_length is None else link.rest_length
            law.append([link.stiffness, rest, link.damping])
        else:
            law.append([0.0, 0.0, 0.0])
    k = len(body)
    return Links(
        np.array(body, np.int64).reshape(k, 2), np.array(at).reshape(k, 4), np.array(law).reshape(k, 3)
    )


def paths_of(
    cables: Sequence[Cable | Membrane], bodies: Sequence[PlanarBody], number: Mapping[str, int], pins: int
) -> tuple[Paths, np.ndarray]:
    """Cables and membranes as arrays, and the states of their stations.

    Rest lengths are still NaN where they follow from the posture.
    """
    kind, law, start, rows = [], [], [0], []
    station: list[tuple[int, np.ndarray, float, float, float, int]] = []
    for cable in cables:
        skin = isinstance(cable, Membrane)
        mu = cable.friction if skin else 0.0
        kind.append((BAND if mu > 0.0 else SKIN) if skin else CABLE)
        rows.append(-1 if skin else 2 * pins + sum(k == CABLE for k in kind) - 1)
        rest = cable.rest_length if skin else cable.length
        spring = (cable.stiffness, cable.damping) if skin else (np.inf, 0.0)
        law.append([*spring, np.nan if rest is None else rest, _bumper(cable)])
        station += [_station(cable.name, item, mu, bodies, number) for item in cable.path]
        start.append(len(station))
    body, corners, radius, side, mu, state = (
        zip(*station, strict=True) if station else ((), (np.zeros((0, 2)),), (), (), (), ())
    )
    last = np.cumsum([len(c) for c in corners]).astype(np.int64) if station else np.zeros(0, np.int64)
    stiffness, damping, rest, bumper = np.array(law, float).reshape(-1, 4).T.copy()
    paths = Paths(
        start=np.array(start, np.int64),
        kind=np.array(kind, np.int64),
        stiffness=stiffness,
        damping=damping,
        rest=rest,
        bumper=bumper,
        row=np.array(rows, np.int64),
        body=np.array(body, np.int64),
        corners=np.vstack(corners).astype(float),
        first=np.concatenate([[0], last[:-1]]).astype(np.int64)[: len(last)],
        last=last,
        radius=np.array(radius, float),
        side=np.array(side, float),
        friction=np.array(mu, float),
    )
    return paths, np.array(state, np.int64)


def _bumper(cable: Cable | Membrane) -> float:
    """Stiffness with which the points of a cable push shapes away [N/m]."""
    if not isinstance(cable, Membrane):
        return 0.0
    return BUMPER_STIFFNESS * cable.stiffness if cable.bumper is None else cable.bumper


def _station(
    name: str, item: At | Over, mu: float, bodies: Sequence[PlanarBody], number: Mapping[str, int]
) -> tuple[int, np.ndarray, float, float, float, int]:
    """Body, corners, radius, side, friction and state of one station of a path."""
    if item.body not in number:
        raise unknown_name(f"body on the path of {name!r}", item.body, number)
    index = number[item.body]
    if isinstance(item, At):
        return index, np.asarray(item.point, float)[None, :], 0.0, 0.0, 0.0, THROUGH
    shape = None if item.body == WORLD else bodies[index].shape
    if shape is None:
        raise InputError(f"path of {name!r}", expected=f"a shape on {item.body!r}", got="none")
    return index, shape.corners, shape.radius, float(item.side), mu, THROUGH if item.always else FRONT


def memory_of(paths: Paths, state: np.ndarray) -> Memory:
    """A memory in which nothing is touched yet and every band is whole."""
    size = len(state)
    rest = np.zeros(size)
    rest[paths.start[1:] - 1] = paths.rest
    return Memory(
        state.copy(), np.zeros(size), np.zeros(size, np.int64), np.zeros(size), np.zeros(size), rest
    )


# Checks of cables at rest


def check_apart(name: str, path: TautPath) -> None:
    """Refuse neighbours on a cable that coincide, as it has no direction there, and ends inside a shape."""
    active = np.flatnonzero(path.table[:, ACTIVE])
    point = path.stations.radius + (path.stations.last - path.stations.first - 1) == 0.0
    for k, (before, after) in enumerate(pairwise(active)):
        if point[before] and point[after] and path.span[k] <= COINCIDENT * max(path.length, TINY):
            raise InputError(
                f"path of {name!r}",
                expected="points and pulleys apart from their neighbours",
                got="two that coincide",
            )
    if path.inside.any():
        raise InputError(
            f"path of {name!r}",
            expected="points and shapes outside each other at rest",
            got="one within the hull of its neighbour",
        )


def check_crossing(cables: Sequence[Cable | Membrane], paths: Sequence[TautPath]) -> None:
    """Refuse membranes that cross another membrane or a cable at rest."""
    lines = [path.polyline() for path in paths]
    for (i, one), (k, two) in combinations(enumerate(cables), 2):
        if (isinstance(one, Membrane) or isinstance(two, Membrane)) and crossing(lines[i], lines[k]):
            raise InputError(
                "cables",
                expected="membranes that cross no other cable",
                got=f"{one.name!r} and {two.name!r} cross",
                hint="Check the order of their ends and the sides of the shapes between them.",
            )


def crossing(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether two polylines (k, 2) cross properly, not only touch."""
    a, b, c, d = one[:-1, None], one[1:, None], two[None, :-1], two[None, 1:]
    size = max(float(np.ptp(one, axis=0).max()), float(np.ptp(two, axis=0).max()))
    edge = TOUCHING * size * size
    c_side, d_side = _cross(b - a, c - a), _cross(b - a, d - a)
    a_side, b_side = _cross(d - c, a - c), _cross(d - c, b - c)
    apart = np.minimum(np.minimum(abs(c_side), abs(d_side)), np.minimum(abs(a_side), abs(b_side))) > edge
    return bool((apart & (c_side * d_side < 0.0) & (a_side * b_side < 0.0)).any())


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
