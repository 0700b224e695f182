"""Hexahedra cut into thin layers behind some of their sides, where the stress of a support changes fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.mesh.elements import ELEMENTS
from pliant.mesh.mesh import Mesh
from pliant.mesh.topology import group_rows


@dataclass(frozen=True, eq=False, repr=False)
class Layered(Mesh):
    """A mesh with nodes added on edges of another one, whose nodes and cells keep their numbers.

    `between` (m, 2) are the nodes between which its last m nodes stand, as mid nodes do.
    """

    between: np.ndarray = None  # type: ignore[assignment]  # never left out

    def __reduce__(self) -> tuple:
        return Layered, (self.nodes, self.cells, self.kind, self.regions, True, self.between)

    @property
    def midnodes(self) -> np.ndarray:  # type: ignore[override]
        """Indices (m,) of the nodes that were added."""
        return np.arange(len(self.nodes) - len(self.between), len(self.nodes))

    @property
    def edges_of_midnodes(self) -> np.ndarray:  # type: ignore[override]
        """The pair of nodes (m, 2) between which each of them stands."""
        return self.between


def _across() -> tuple[np.ndarray, np.ndarray]:
    """Corners (6, 4) of the sides of a hexahedron, and the corners (6, 4) across from them."""
    e = ELEMENTS["hex8"]
    near = np.asarray(e.faces)[:, :4]
    joined = np.zeros((8, 8), bool)
    joined[tuple(np.transpose(e.edges))] = True
    joined |= joined.T
    far = [[int(np.flatnonzero(joined[c] & ~np.isin(range(8), side))[0]) for c in side] for side in near]
    return near, np.array(far)


NEAR, FAR = _across()


def edges_behind(mesh: Mesh, owner: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Edges (n, 4, 2) from the side number `side` (n,) of the cells `owner` (n,) to the side across."""
    cells = mesh.cells[owner]
    pick = lambda corners: np.take_along_axis(cells, corners[side], axis=1)
    return np.stack([pick(NEAR), pick(FAR)], axis=2)


def can_be_layered(mesh: Mesh, owner: np.ndarray, side: np.ndarray) -> bool:
    """Whether the cells `owner`, each cut in one direction, still fit to all of their neighbours."""
    chosen = np.sort(edges_behind(mesh, owner, side).reshape(-1, 2), axis=1)
    if len(np.unique(owner)) < len(owner) or np.isin(chosen, mesh.midnodes).any():  # cut before
        return False
    every = np.sort(mesh.cells[:, ELEMENTS["hex8"].edges].reshape(-1, 2), axis=1)
    _, number = group_rows(np.vstack([chosen, every]))
    return int(np.isin(number[len(chosen) :], number[: len(chosen)]).sum()) == len(chosen)


def layered(mesh: Mesh, owner: np.ndarray, side: np.ndarray, heights: Sequence[float]) -> Layered:
    """The mesh with layers behind the side number `side` (n,) of the hexahedra `owner` (n,).

    `heights`, ascending between 0 and 1, say where cells are cut along their edges. A cell that is cut keeps
    its number for the piece farthest from the side; the other pieces are appended, and so are the new nodes.
    """
    edges = edges_behind(mesh, owner, side)
    first, number = group_rows(edges.reshape(-1, 2))
    pairs, n = edges.reshape(-1, 2)[first], len(heights)
    k = len(mesh.nodes)
    near, far = (mesh.nodes[pairs[:, end], None] for end in (0, 1))
    added = near + np.asarray(heights)[None, :, None] * (far - near)
    new = k + n * number.reshape(-1, 4, 1) + np.arange(n)
    levels = np.concatenate([edges[:, :, :1], new, edges[:, :, 1:]], axis=2)  # (cells, 4, n + 2)
    pieces = np.empty((len(owner), n + 1, 8), np.int64)
    for lower in range(n + 1):
        np.put_along_axis(pieces[:, lower], NEAR[side], levels[:, :, lower], axis=1)
        np.put_along_axis(pieces[:, lower], FAR[side], levels[:, :, lower + 1], axis=1)
    cells = mesh.cells.copy()
    cells[owner] = pieces[:, n]
    cells = np.vstack([cells, pieces[:, :n].reshape(-1, 8)])
    regions = np.concatenate([mesh.regions, np.repeat(mesh.regions[owner], n)])
    nodes = np.vstack([mesh.nodes, added.reshape(-1, 3)])
    before = mesh.edges_of_midnodes  # of layers behind other sides
    return Layered(nodes, cells, "hex8", regions, True, np.vstack([before, np.repeat(pairs, n, axis=0)]))
