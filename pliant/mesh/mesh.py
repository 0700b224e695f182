"""Mesh: nodes and cells of one kind, checked once and then immutable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import InputError, MeshError
from pliant.mesh.check import checked_cells, checked_nodes, checked_regions, oriented, warn_about_size
from pliant.mesh.cracks import check_repeated, merged, warn_about_cracks
from pliant.mesh.elements import ELEMENTS, Element, jacobians
from pliant.mesh.motion import moved_rigidly
from pliant.mesh.quadrature import quadrature
from pliant.mesh.topology import compact, pieces, unique_edges

if TYPE_CHECKING:
    from pliant.mesh.surface import Surface


@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """A volume mesh: `nodes` (k, 3) [m], `cells` (ne, nn) node indices in VTK order.

    `kind` is tet4, tet10, hex8 or hex20 (by nn when empty); `regions` (ne,) numbers the parts of the
    body. All arrays are read-only copies. Cells listed in mirrored order are turned round when their
    neighbours allow it; cells that are truly inside out or flat raise MeshError, as do cells that are there
    twice and nodes that no cell uses. Faces that lie on each other without sharing nodes are cracks, and a
    warning; apart=True says that they are meant so.
    """

    nodes: np.ndarray
    cells: np.ndarray
    kind: str = ""
    regions: np.ndarray = None  # type: ignore[assignment]  # zeros when not given
    apart: InitVar[bool] = False

    def __post_init__(self, apart: bool) -> None:
        nodes = checked_nodes(self.nodes)
        cells, kind = checked_cells(self.cells, self.kind, len(nodes))
        check_repeated(cells, kind, nodes)
        cells = oriented(nodes, cells, kind)
        regions = checked_regions(self.regions, len(cells))
        for name, array in (("nodes", nodes), ("cells", cells), ("regions", regions)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "kind", kind)
        warn_about_size(self.size)
        if not apart:
            warn_about_cracks(nodes, cells, kind, self.size)

    @classmethod
    def compacted(
        cls, nodes: Any, cells: Any, kind: str = "", regions: Any = None, *, merge: bool | float | None = None
    ) -> Mesh:
        """A mesh of the nodes that the cells use; the others are dropped, the order is kept.

        merge: nodes at the same place become one (True: within a millionth of the size; or a distance [m]),
        and of cells on the same nodes the first is kept. False keeps parts that touch apart; None does too,
        with a warning.
        """
        nodes = checked_nodes(nodes)
        cells, kind = checked_cells(cells, kind, len(nodes), allow_unused=True)
        if merge is not None and merge is not False:
            regions = checked_regions(regions, len(cells))
            cells, kept = merged(nodes, cells, kind, merge)
            regions = regions[kept]
        nodes, cells, _ = compact(nodes, cells)
        return cls(nodes, cells, kind, regions, apart=merge is False)

    def __repr__(self) -> str:
        extent = " × ".join(f"{1e3 * x:.3g}" for x in np.ptp(self.nodes, axis=0))
        return f"Mesh({self.kind}, {len(self.nodes)} nodes, {len(self.cells)} cells, {extent} mm)"

    def _repr_html_(self) -> str:
        """In a notebook: its skin, to be turned."""
        return import_module("pliant.io.notebook").mesh_html(self)  # by name: pictures stand above

    def __reduce__(self) -> tuple:
        return Mesh, (self.nodes, self.cells, self.kind, self.regions, True)  # read-only after a pickle too

    # Measures

    @property
    def element(self) -> Element:
        """The reference element of the cells."""
        return ELEMENTS[self.kind]

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates (2, 3) [m]."""
        return np.array([self.nodes.min(axis=0), self.nodes.max(axis=0)])

    @cached_property
    def size(self) -> float:
        """Diagonal of the bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    @cached_property
    def cell_volumes(self) -> np.ndarray:
        """Volume of each cell (ne,) [m³]: ∫ det(∂X/∂ξ) dξ."""
        rule = quadrature(self.kind, {"tet4": 1, "hex8": 3}.get(self.kind, 5))  # exact for det(∂X/∂ξ)
        volumes = np.linalg.det(jacobians(self.nodes, self.cells, self.kind, rule.points)) @ rule.weights
        volumes.setflags(write=False)
        return volumes

    @property
    def volume(self) -> float:
        """Volume of the body [m³]."""
        return float(self.cell_volumes.sum())

    @cached_property
    def centres(self) -> np.ndarray:
        """Mean of the corners of each cell (ne, 3) [m]."""
        return self.nodes[self.cells[:, : self.element.corners]].mean(axis=1)

    # Connectivity

    @cached_property
    def surface(self) -> Surface:
        """The boundary, outward."""
        from pliant.mesh.surface import Surface

        return Surface.of(self)

    @cached_property
    def edges(self) -> np.ndarray:
        """Corner pairs (n_edges, 2) joined by an edge of a cell, lower index first."""
        return unique_edges(self.cells, self.kind)[0]

    @cached_property
    def midnodes(self) -> np.ndarray:
        """Indices (k_mid,) of the mid nodes of a quadratic mesh, ascending; empty for a linear one."""
        return np.unique(self.cells[:, self.element.corners :])

    @cached_property
    def edges_of_midnodes(self) -> np.ndarray:
        """The corner pair (k_mid, 2) between which each of `midnodes` stands."""
        if self.element.order == 1:
            return np.empty((0, 2), np.int64)
        pair = np.empty((len(self.nodes), 2), np.int64)
        pair[self.cells[:, self.element.corners :]] = np.sort(self.cells[:, self.element.edges], axis=2)
        return pair[self.midnodes]

    @cached_property
    def components(self) -> tuple[np.ndarray, ...]:
        """Cell indices of each connected piece (cells that share a node hang together), largest first."""
        label = pieces(self.cells, len(self.nodes))[self.cells[:, 0]]
        groups = [np.flatnonzero(label == piece) for piece in np.unique(label)]
        return tuple(sorted(groups, key=lambda group: (-len(group), group[0])))

    # New meshes from this one: a warning about cracks came when it was made

    def quadratic(self) -> Mesh:
        """With a node in the middle of every edge (tet4 → tet10, hex8 → hex20).

        Corner nodes keep their indices, mid nodes are appended: `edges_of_midnodes` gives their corners.
        """
        if self.element.order == 2:
            return self
        edges, of_cell = unique_edges(self.cells, self.kind)
        nodes = np.vstack([self.nodes, self.nodes[edges].mean(axis=1)])
        cells = np.hstack([self.cells, len(self.nodes) + of_cell])
        return Mesh(nodes, cells, self.element.quadratic, self.regions, apart=True)

    def linear(self) -> Mesh:
        """Without mid nodes (tet10 → tet4, hex20 → hex8)."""
        if self.element.order == 1:
            return self
        corners = self.cells[:, : self.element.corners]
        return Mesh.compacted(self.nodes, corners, self.element.linear, self.regions, merge=False)

    def tetrahedra(self, priority: np.ndarray | None = None) -> Mesh:
        """Hexahedra cut into tetrahedra so that neighbours match; see `subdivide.tetrahedra`.

        A quadratic mesh is made linear first and quadratic again afterwards, with straight edges.
        """
        from pliant.mesh.subdivide import tetrahedra

        if self.kind.startswith("tet"):
            return self
        cells, parent = tetrahedra(self.linear().cells, priority)
        mesh = Mesh(self.linear().nodes, cells, "tet4", self.regions[parent], apart=True)
        return mesh.quadratic() if self.element.order == 2 else mesh

    def with_nodes(self, nodes: np.ndarray) -> Mesh:
        """The same cells with other node positions (k, 3) [m]."""
        if np.shape(nodes) != self.nodes.shape:
            raise MeshError("mesh nodes", expected=f"shape {self.nodes.shape}", got=np.shape(nodes))
        return Mesh(nodes, self.cells, self.kind, self.regions, apart=True)

    def with_regions(self, regions: np.ndarray) -> Mesh:
        """The same mesh with other region numbers (ne,)."""
        return Mesh(self.nodes, self.cells, self.kind, regions, apart=True)

    def transformed(self, rotation: Any = None, translation: Any = None) -> Mesh:
        """Moved rigidly, x = R X + t: `rotation` (3, 3) or a scipy Rotation, `translation` (3,) [m]."""
        return self.with_nodes(moved_rigidly(self.nodes, rotation, translation))

    def scaled(self, factor: float | Sequence[float]) -> Mesh:
        """Stretched about the origin by a positive factor, or by one factor per axis."""
        factors = np.broadcast_to(np.asarray(factor, float), 3)
        if not (np.isfinite(factors).all() and (factors > 0).all()):
            raise InputError("scale factor", expected="positive numbers", got=factor)
        return self.with_nodes(self.nodes * factors)

    def subset(self, cells: np.ndarray) -> Mesh:
        """Only some cells, by mask or index; nodes are renumbered in order."""
        chosen = self.cells[cells]
        return Mesh.compacted(self.nodes, chosen, self.kind, self.regions[cells], merge=False)

    def welded(self, distance: float | None = None) -> Mesh:
        """With nodes nearer than a distance [m] as one, and without cells that are then there twice.

        None takes a millionth of the size as the distance.
        """
        merge = True if distance is None else distance
        return Mesh.compacted(self.nodes, self.cells, self.kind, self.regions, merge=merge)

    def merged(self, other: Mesh, *, weld: float | None = None) -> Mesh:
        """This mesh and another as one; see `join`."""
        return join([self, other], weld=weld)


def join(meshes: Sequence[Mesh], *, weld: float | None = None) -> Mesh:
    """Several meshes of one kind as one; nodes closer than `weld` [m] become one, None keeps them apart."""
    kinds = {mesh.kind for mesh in meshes}
    if len(kinds) != 1:
        raise MeshError("meshes to join", expected="one or more of the same kind", got=sorted(kinds))
    offset = np.cumsum([0, *(len(mesh.nodes) for mesh in meshes)])
    nodes = np.vstack([mesh.nodes for mesh in meshes])
    cells = np.vstack([mesh.cells + o for mesh, o in zip(meshes, offset)])
    regions = np.concatenate([mesh.regions for mesh in meshes])
    merge = False if weld is None else weld
    return Mesh.compacted(nodes, cells, kinds.pop(), regions, merge=merge)
