"""Hexahedra cut by a thin layer behind some of their sides, where the stress of a support changes fast."""

from __future__ import annotations

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


def layered(mesh: Mesh, owner: np.ndarray, side: np.ndarray, height: float) -> Layered:
    """The mesh with a layer behind the side number `side` (n,) of the hexahedra `owner` (n,).

    `height`, between 0 and 1, says where cells are cut along their edges. A cell that is cut keeps its number
    for the piece away from the side; the pieces at the side are appended, and so are the new nodes.
    """
    edges = edges_behind(mesh, owner, side)
    first, number = group_rows(edges.reshape(-1, 2))
    pairs = edges.reshape(-1, 2)[first]
    near, far = mesh.nodes[pairs[:, 0]], mesh.nodes[pairs[:, 1]]
    new = len(mesh.nodes) + number.reshape(-1, 4)
    cells, thin = mesh.cells.copy(), mesh.cells[owner]
    thick = thin.copy()
    np.put_along_axis(thick, NEAR[side], new, axis=1)
    np.put_along_axis(thin, FAR[side], new, axis=1)
    cells[owner] = thick
    nodes = np.vstack([mesh.nodes, near + height * (far - near)])
    regions = np.concatenate([mesh.regions, mesh.regions[owner]])
    between = np.vstack([mesh.edges_of_midnodes, pairs])  # the former are those of layers behind other sides
    return Layered(nodes, np.vstack([cells, thin]), "hex8", regions, True, between)
