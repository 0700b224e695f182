"""Nets: bodies of strings alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.bodies.location import ON_MESH
from pliant.bodies.rigid import Rigid
from pliant.bodies.shells.nodal import NodalBody, as_strings
from pliant.bodies.shells.strings import Strings
from pliant.errors import InputError, as_floats
from pliant.mesh.surface import Surface
from pliant.mesh.topology import pieces
from pliant.points import Points


@dataclass(frozen=True, eq=False)
class Threads:
    """The mesh of a net: nodes (k, 3) [m] and the pairs (n, 2) that strings join."""

    nodes: np.ndarray
    cells: np.ndarray
    kind = "line2"
    volume = 0.0  # [m³]: strings are lines

    @property
    def size(self) -> float:
        """Diagonal of the bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    @property
    def surface(self) -> Surface:
        """Empty: strings have none."""
        return Surface(self.nodes, np.zeros((0, 3), np.int64), np.zeros(0, np.int64))

    @cached_property
    def components(self) -> tuple[np.ndarray, ...]:
        """Strings of each connected piece."""
        label = pieces(self.cells, len(self.nodes))[self.cells[:, 0]]
        return tuple(np.flatnonzero(label == piece) for piece in np.unique(label))


class Net(NodalBody):
    """Strings between nodes (k, 3) [m], and nothing else: a rope, a web, tethers.

    fixed and rigid as for a Solid. Like a membrane, a net that is not taut has directions without stiffness.
    """

    node_fields = ()

    def __init__(
        self,
        nodes: Any,
        strings: Sequence[Strings] | Strings,
        *,
        fixed: Any = None,
        rigid: Sequence[Rigid] | Rigid = (),
    ) -> None:
        what, expected = "nodes of a net", "finite coordinates (k, 3) in metres"
        positions = as_floats(what, nodes, expected)
        if positions.ndim != 2 or positions.shape[1] != 3 or not np.isfinite(positions).all():
            raise InputError(what, expected=expected, got=positions.shape)
        positions.setflags(write=False)
        bound = as_strings(strings, positions)
        if not bound:
            raise InputError("strings of a net", expected="at least one Strings", got="none")
        pairs = np.vstack([part.pairs for part in bound])
        loose = np.setdiff1d(np.arange(len(positions)), pairs)
        if len(loose):
            raise InputError(what, expected="a string at every node", got=f"none at node {loose[0]}")
        self.mesh = Threads(positions, pairs)
        self._assemble(self._number(fixed, rigid), [], bound)
        self._node_mass = sum((part.node_mass(positions) for part in bound), np.zeros(len(positions)))

    def __repr__(self) -> str:
        return f"Net({len(self.mesh.nodes)} nodes, {len(self.mesh.cells)} strings)"

    def tension(self, q: np.ndarray) -> np.ndarray:
        """Tension of every string (n,) [N]."""
        return np.concatenate([group.tension(q) for group in self.strings])

    def points(self, where: Any, *, outside: str = "error", tolerance: float | None = None) -> Points:
        """Nodes at rest positions (P, 3) [m].

        outside: "error" for places more than `tolerance` [m] (1e-6 of the size) off a node, or "nearest" for
        the nearest node.
        """
        if outside not in ("error", "nearest"):
            raise InputError("outside", expected="'error' or 'nearest'", got=repr(outside))
        where = np.atleast_2d(as_floats("points", where, "coordinates (P, 3) in metres"))
        distance = np.linalg.norm(where[:, None] - self.mesh.nodes, axis=2)
        off = distance.min(axis=1)
        if (
            outside == "error"
            and (off > (ON_MESH * self.mesh.size if tolerance is None else tolerance)).any()
        ):
            raise InputError("points of a net", expected="places of its nodes", got=f"{off.max():.3g} m off")
        return self.node_points(distance.argmin(axis=1))
