"""Lines: the centrelines of rods, as nodes joined by elements with section axes at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.errors import InputError, MeshError, as_floats
from pliant.mesh.check import checked_nodes
from pliant.mesh.topology import pieces
from pliant.mesh.topology import weld as weld_nodes

_PATH = "two or more points, shape (n, 3), finite, in metres"
WELD_DISTANCE = 1e-6  # of the rods' size, by default
SAME_PLACE = 1e-9  # of the path's extent: consecutive points that are nearer coincide
HALF_TURN = 1e-6  # of the longest step: a shorter sum of two weighted chords is a turn by π
ALONG_THE_ROD = 1e-6  # of `up`: a smaller part across the rod gives no direction


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Rods between nodes: `nodes` (k, 3) [m], `elements` (ne, 2) node indices.

    frames (ne, 2, 3, 3): section axes at the two ends of each element, as columns: the tangent x, then y and
    z across. They belong to the element, so that rods in all directions may meet in one node.
    branch (ne,): the rod that each element is part of; its elements follow each other.
    arc (ne, 2) [m]: how far along its branch each element begins and ends.
    """

    nodes: np.ndarray
    elements: np.ndarray
    frames: np.ndarray
    branch: np.ndarray
    arc: np.ndarray

    def __post_init__(self) -> None:
        for name in ("nodes", "elements", "frames", "branch", "arc"):
            kind = np.int64 if name in ("elements", "branch") else float
            array = np.array(getattr(self, name), kind, order="C")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        self._check()

    def _check(self) -> None:
        nodes, elements = checked_nodes(self.nodes), self.elements
        n, k = len(elements), len(nodes)
        if elements.shape != (n, 2) or not n or elements.min() < 0 or elements.max() >= k:
            raise MeshError("elements of rods", expected=f"pairs of nodes from 0 to {k - 1}", got="others")
        for name, shape in (("frames", (n, 2, 3, 3)), ("branch", (n,)), ("arc", (n, 2))):
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                got = f"shape {array.shape}" if array.shape != shape else "nan or infinity"
                raise MeshError(f"{name} of rods", expected=f"finite numbers {shape}", got=got)
        if self.branch.min() < 0:
            raise MeshError("branch of rods", expected="numbers ≥ 0", got=int(self.branch.min()))

    def __repr__(self) -> str:
        sizes = f"{len(self.nodes)} nodes, {len(self.elements)} elements"
        return f"Lines({sizes}, {1 + int(self.branch.max())} branches, {1e3 * self.length:.4g} mm)"

    @property
    def cells(self) -> np.ndarray:
        """The elements, as a mesh calls them."""
        return self.elements

    @cached_property
    def size(self) -> float:
        """Diagonal of the bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    @property
    def length(self) -> float:
        """Length of all rods together [m]."""
        return float(np.ptp(self.arc, axis=1).sum())

    @cached_property
    def components(self) -> int:
        """How many pieces hang together."""
        return len(np.unique(pieces(self.elements, len(self.nodes))))

    def joined(self, *others: Lines, weld: float | None = None) -> Lines:
        """These rods and others as one tree; see `tree`."""
        return tree([self, *others], weld=weld)


def line(start: Any, end: Any, *, elements: int = 10, up: Any = None) -> Lines:
    """A straight rod from `start` to `end` (3,) [m], in elements of equal length; `up` as in `curve`."""
    if not isinstance(elements, int | np.integer) or elements < 1:
        raise InputError("elements", expected="an integer ≥ 1", got=elements)
    ends = _path([start, end])
    return curve(ends[0] + np.linspace(0, 1, elements + 1)[:, None] * (ends[1] - ends[0]), up=up)


def helix(*, radius: float, pitch: float, turns: float, elements: int) -> Lines:
    """A helix about z from (radius, 0, 0) [m], rising by `pitch` [m] per turn, with exact tangents."""
    angle = 2 * np.pi * turns * np.linspace(0, 1, elements + 1)
    c, s, rise = np.cos(angle), np.sin(angle), pitch / (2 * np.pi)
    path = np.column_stack([radius * c, radius * s, rise * angle])
    return curve(path, tangents=np.column_stack([-radius * s, radius * c, np.full_like(angle, rise)]))


def curve(path: Any, *, tangents: Any = None, up: Any = None) -> Lines:
    """A rod through points (n, 3) [m], its nodes; elements are arcs between them.

    tangents (n, 3): directions of the rod at its nodes; by default those of the circle through each node and
    its neighbours (exact for a circle; corners become arcs: join two rods with `tree` for a sharp one).
    up (3,): the direction that the section's z axis is nearest to at the start; from there the axes go along
    without twist. Or (n, 3): that direction at every node.
    """
    nodes = _path(path)
    t = _tangents(nodes) if tangents is None else _directions("tangents", tangents, len(nodes))
    frames = _frames(t, up)
    steps = _arc_lengths(nodes, t)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    number = np.arange(len(nodes))
    pairs = np.column_stack([number[:-1], number[1:]])
    return Lines(nodes, pairs, frames[pairs], np.zeros(len(pairs), np.int64), arc[pairs])


def tree(rods: Sequence[Lines], *, weld: float | None = None) -> Lines:
    """Several rods as one structure; nodes closer than `weld` [m] (1e-6 of its size) become one.

    Branches are numbered in order. A rod that begins at a node of another hangs on it: a spine with ribs.
    """
    if not rods or not all(isinstance(rod, Lines) for rod in rods):
        raise InputError("rods", expected="one or more Lines", got=repr(rods))
    offset = np.cumsum([0, *(len(rod.nodes) for rod in rods)])
    first = np.cumsum([0, *(1 + int(rod.branch.max()) for rod in rods)])
    nodes = np.vstack([rod.nodes for rod in rods])
    distance = WELD_DISTANCE * float(np.linalg.norm(np.ptp(nodes, axis=0))) if weld is None else weld
    kept, number = np.unique(weld_nodes(nodes, distance), return_inverse=True)
    elements = number[np.vstack([rod.elements + o for rod, o in zip(rods, offset)])]
    if (elements[:, 0] == elements[:, 1]).any():
        raise MeshError("weld distance", expected="shorter than every element", got=f"{distance:g} m")
    return Lines(
        nodes[kept],
        elements,
        np.concatenate([rod.frames for rod in rods]),
        np.concatenate([rod.branch + b for rod, b in zip(rods, first)]),
        np.concatenate([rod.arc for rod in rods]),
    )


def _path(points: Any) -> np.ndarray:
    nodes = as_floats("path of a rod", points, _PATH, MeshError)
    if nodes.ndim != 2 or nodes.shape[1:] != (3,) or len(nodes) < 2 or not np.isfinite(nodes).all():
        raise MeshError("path of a rod", expected=_PATH, got=f"shape {nodes.shape}")
    short = np.flatnonzero(np.linalg.norm(np.diff(nodes, axis=0), axis=1) <= SAME_PLACE * np.ptp(nodes))
    if len(short):
        got = f"points {short[0]} and {short[0] + 1} at the same place"
        raise MeshError("path of a rod", expected="points that differ from the one before", got=got)
    return nodes


def _directions(what: str, given: Any, n: int) -> np.ndarray:
    vectors = as_floats(what, given, f"shape ({n}, 3)", MeshError)
    if vectors.shape != (n, 3) or not (np.linalg.norm(vectors, axis=1) > 0).all():
        raise MeshError(what, expected=f"{n} vectors that are not zero", got=f"shape {vectors.shape}")
    return _unit(vectors)


def _tangents(x: np.ndarray) -> np.ndarray:
    """Unit tangents (n, 3) of the circles through each point and its neighbours, also at both ends."""
    step = np.diff(x, axis=0)
    h, u = np.linalg.norm(step, axis=1)[:, None], _unit(step)
    if len(x) == 2:
        return np.vstack([u, u])
    # The tangent divides the angle between two chords as their arcs divide it: sin(θ₂/2) u₁ + sin(θ₁/2) u₂.
    middle = h[1:] * u[:-1] + h[:-1] * u[1:]
    back = np.flatnonzero(np.linalg.norm(middle, axis=1) < HALF_TURN * h.max())
    if len(back):
        raise MeshError("path of a rod", expected="no half turns", got=f"one at point {back[0] + 1}")
    middle = _unit(middle)
    mirrored = lambda t, chord: 2.0 * (t @ chord) * chord - t
    return np.vstack([mirrored(middle[0], u[0]), middle, mirrored(middle[-1], u[-1])])


def _frames(tangents: np.ndarray, up: Any) -> np.ndarray:
    """Axes (n, 3, 3) at nodes: x the tangent, z nearest to `up` at the start and carried on without twist."""
    given = None if up is None else as_floats("up", up, "shape (3,) or (n, 3)", MeshError)
    if given is not None and given.shape not in ((3,), tangents.shape):
        raise MeshError("up", expected=f"shape (3,) or {tangents.shape}", got=given.shape)
    if given is not None and given.ndim == 2:
        return np.array([_frame(t, g) for t, g in zip(tangents, given)])
    start = np.eye(3)[2 if abs(tangents[0, 2]) < 0.9 else 0] if given is None else given
    frames = [_frame(tangents[0], start)]
    for before, after in pairwise(tangents):
        frames.append(_turned(frames[-1], before, after))
    return np.array(frames)


def _frame(t: np.ndarray, up: np.ndarray) -> np.ndarray:
    z = up - (up @ t) * t
    size = np.linalg.norm(z)
    if not size > ALONG_THE_ROD * np.linalg.norm(up):
        raise MeshError("up", expected="a direction across the rod", got=up.tolist())
    return np.column_stack([t, np.cross(z / size, t), z / size])


def _turned(frame: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The frame turned as the shortest rotation turns a to b."""
    axis, cosine = np.cross(a, b), float(a @ b)
    X = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return (np.eye(3) + X + X @ X / (1.0 + cosine)) @ frame


def _arc_lengths(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Arc length (n − 1,) [m] between nodes: chord · (θ/2)/sin(θ/2), θ the angle between the end tangents."""
    chord = np.linalg.norm(np.diff(x, axis=0), axis=1)
    half = 0.5 * np.arctan2(
        np.linalg.norm(np.cross(t[:-1], t[1:]), axis=1), np.einsum("ni,ni->n", t[:-1], t[1:])
    )
    return chord / np.sinc(half / np.pi)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
