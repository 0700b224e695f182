"""Thin bodies whose nodes have positions only: membranes and nets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.bodies.assembly import Assembly
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.coordinates import number as number_nodes
from pliant.bodies.region_mass import RegionMasses
from pliant.bodies.rigid import Rigid
from pliant.bodies.scatter import pattern_of, plan
from pliant.bodies.shells.strings import StringGroup, Strings
from pliant.bodies.shells.thin import ThinBody
from pliant.bodies.supports import select_nodes
from pliant.mesh.topology import pieces


class NodalBody(ThinBody):
    """Nodes joined by groups of cells, on the coordinates and the assembly of a solid."""

    strings: list[StringGroup]

    def _number(self, fixed: Any, rigid: Sequence[Rigid] | Rigid) -> Coordinates:
        """Coordinates of the mesh's nodes."""
        self.input_mesh = self.mesh
        self.fixed = select_nodes("fixed", fixed, self.mesh, self.mesh)
        self._regions = (rigid,) if isinstance(rigid, Rigid) else tuple(rigid)
        return number_nodes(self.mesh, self.mesh, self.fixed, self._regions)

    def _assemble(self, coordinates: Coordinates, groups: list, strings: tuple[Strings, ...]) -> None:
        """The equations of groups of cells and of strings."""
        self.strings = [StringGroup(part, self.mesh.nodes, coordinates.rank) for part in strings]
        width = self.mesh.cells.shape[1]
        joined = [part.pairs[:, np.minimum(np.arange(width), 1)] for part in strings]
        pattern = pattern_of(np.vstack([self.mesh.cells, *joined]), coordinates)
        parts: list[Any] = [*groups, *self.strings]  # groups as far as assembly asks
        self.assembly = Assembly(parts, coordinates, pattern)
        self.coordinates = coordinates
        self._share_coordinates()
        self.region_masses = RegionMasses(self._regions, coordinates, pattern)

    def rigid_modes(self) -> int:
        """How many translations of its pieces supports and joints leave free.

        Rotations do not count: gravity and tension support what hangs from a few nodes.
        """
        c, k = self.coordinates, len(self.mesh.nodes)
        links = [self.mesh.cells[:, :2], self.mesh.cells[:, -2:]]
        for r in range(len(c.region_names)):
            nodes = np.flatnonzero(c.node_region[:k] == r)
            links.append(np.column_stack([nodes[:-1], nodes[1:]]))
        label, free = pieces(np.vstack([*links, *(group.strings.pairs for group in self.strings)]), k), 0
        for piece in np.unique(label):
            supports = [np.eye(3)[self.fixed[label == piece].any(axis=0)]]
            for r in np.unique(c.node_region[:k][(label == piece) & (c.node_region[:k] >= 0)]):
                block = 3 * int(c.region_block[r])
                supports.append(c.region_frame[r].T[~c.free[block : block + 3]])
            free += 3 - int(np.linalg.matrix_rank(np.vstack(supports)))
        return free

    def mass(self, q: np.ndarray | None = None) -> np.ndarray:
        """M on the pattern (nb, 3, 3) [kg], lumped."""
        every = np.arange(len(self.mesh.nodes))
        where = plan(every, every, self.coordinates, self.pattern)
        used = where.slots >= 0
        total = np.bincount(where.slots[used], self.node_mass[used], where.blocks)
        q = self.q0 if q is None else q
        M = self.assembly.project(q, where, total[:, None, None] * np.eye(3))
        return self.region_masses.with_inertia(M, q)


def as_strings(strings: Sequence[Strings] | Strings, nodes: np.ndarray) -> tuple[Strings, ...]:
    """One or several Strings, checked against the nodes (k, 3) [m] that they join."""
    bound = (strings,) if isinstance(strings, Strings) else tuple(strings)
    for part in bound:
        part.lengths(nodes)
    return bound
