"""Sheets: surfaces of triangles that are bodies themselves, not the boundary of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import InputError, MeshError
from pliant.mesh.check import checked_nodes, checked_regions
from pliant.mesh.elements import ELEMENTS, Element
from pliant.mesh.motion import moved_rigidly
from pliant.mesh.orientation import check_areas, checked_triangles, oriented, outward, sides
from pliant.mesh.surface import Surface
from pliant.mesh.topology import compact, group_rows, pieces
from pliant.mesh.topology import weld as weld_nodes


@dataclass(frozen=True, eq=False, repr=False)
class Sheet:
    """A surface of triangles: `nodes` (k, 3) [m], `cells` (ne, 3) node indices, `regions` (ne,) of its parts.

    Every edge belongs to one or two triangles. They are turned so that neighbours agree on the front, the
    side that normals point to (corners counter-clockwise), following the first triangle of each piece;
    closed pieces face outward. A surface that cannot be oriented (a Möbius band) raises MeshError, as do
    triangles without area, edges of three triangles or more, and nodes that no triangle uses.
    """

    nodes: np.ndarray
    cells: np.ndarray
    regions: np.ndarray = None  # type: ignore[assignment]  # zeros when not given

    kind = "tri3"

    def __post_init__(self) -> None:
        nodes = checked_nodes(self.nodes)
        cells = checked_triangles(self.cells, len(nodes))
        check_areas(nodes, cells)
        cells = outward(nodes, oriented(cells))
        regions = checked_regions(self.regions, len(cells))
        for name, array in (("nodes", nodes), ("cells", cells), ("regions", regions)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def compacted(cls, nodes: Any, cells: Any, regions: Any = None) -> Sheet:
        """A sheet of the nodes that the triangles use; the others are dropped, the order is kept."""
        nodes = checked_nodes(nodes)
        cells = checked_triangles(cells, len(nodes), allow_unused=True)
        nodes, cells, _ = compact(nodes, cells)
        return cls(nodes, cells, regions)

    @classmethod
    def of(cls, surface: Surface) -> Sheet:
        """The triangles of a surface, such as the boundary of a volume mesh or a patch of it, as a sheet."""
        return cls.compacted(surface.nodes, surface.corner_triangles)

    def __repr__(self) -> str:
        extent = " × ".join(f"{1e3 * x:.3g}" for x in np.ptp(self.nodes, axis=0))
        state = "closed" if self.closed else "open"
        return f"Sheet({len(self.nodes)} nodes, {len(self.cells)} triangles, {state}, {extent} mm)"

    def __reduce__(self) -> tuple:
        return Sheet, (self.nodes, self.cells, self.regions)

    # Measures

    @property
    def element(self) -> Element:
        """The reference triangle."""
        return ELEMENTS[self.kind]

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates (2, 3) [m]."""
        return np.array([self.nodes.min(axis=0), self.nodes.max(axis=0)])

    @cached_property
    def size(self) -> float:
        """Diagonal of the bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    @property
    def areas(self) -> np.ndarray:
        """Area of each triangle (ne,) [m²]."""
        return self.surface.areas

    @property
    def area(self) -> float:
        """Area of all triangles [m²]."""
        return float(self.areas.sum())

    @property
    def volume(self) -> float:
        """Volume [m³] enclosed by the closed pieces, zero for an open sheet."""
        return sum((part.volume for part in self.surface.components() if part.closed), 0.0)

    @cached_property
    def centres(self) -> np.ndarray:
        """Mean of the corners of each triangle (ne, 3) [m]."""
        return self.nodes[self.cells].mean(axis=1)

    @cached_property
    def node_normals(self) -> np.ndarray:
        """Area-weighted unit normal at each node (k, 3)."""
        return self.surface.vertex_normals

    # Connectivity

    @cached_property
    def surface(self) -> Surface:
        """The front: every triangle, for cavities, pictures and contact."""
        return Surface(self.nodes, self.cells, np.arange(len(self.cells)))

    @cached_property
    def edges(self) -> np.ndarray:
        """Node pairs (n_edges, 2) joined by an edge, lower index first."""
        pairs = np.sort(sides(self.cells), axis=1)
        return pairs[group_rows(pairs)[0]]

    @property
    def rim(self) -> np.ndarray:
        """Edges (n, 2) of one triangle only, directed as it goes round; none in a closed sheet."""
        return self.surface.rim

    @property
    def closed(self) -> bool:
        """Whether it has no rim, so that it encloses a volume."""
        return self.surface.closed

    @cached_property
    def components(self) -> tuple[np.ndarray, ...]:
        """Triangle indices of each connected piece (those that share a node hang together), largest first."""
        label = pieces(self.cells, len(self.nodes))[self.cells[:, 0]]
        groups = [np.flatnonzero(label == piece) for piece in np.unique(label)]
        return tuple(sorted(groups, key=lambda group: (-len(group), group[0])))

    # New sheets from this one

    def with_nodes(self, nodes: np.ndarray) -> Sheet:
        """The same triangles with other node positions (k, 3) [m]."""
        if np.shape(nodes) != self.nodes.shape:
            raise MeshError("sheet nodes", expected=f"shape {self.nodes.shape}", got=np.shape(nodes))
        return Sheet(nodes, self.cells, self.regions)

    def with_regions(self, regions: np.ndarray) -> Sheet:
        """The same sheet with other region numbers (ne,)."""
        return Sheet(self.nodes, self.cells, regions)

    def transformed(self, rotation: Any = None, translation: Any = None) -> Sheet:
        """Moved rigidly, x = R X + t: `rotation` (3, 3) or a scipy Rotation, `translation` (3,) [m]."""
        return self.with_nodes(moved_rigidly(self.nodes, rotation, translation))

    def flipped(self) -> Sheet:
        """With front and back exchanged; a closed sheet faces outward all the same."""
        return Sheet(self.nodes, self.cells[:, ::-1], self.regions)

    def joined(self, *others: Sheet, weld: float | None = None) -> Sheet:
        """This sheet and others as one; see `join_sheets`."""
        return join_sheets([self, *others], weld=weld)


def join_sheets(sheets: Sequence[Sheet], *, weld: float | None = None) -> Sheet:
    """Several sheets as one. Nodes closer than `weld` [m] become one node; None keeps the sheets apart."""
    if not sheets or not all(isinstance(part, Sheet) for part in sheets):
        raise InputError("sheets to join", expected="one or more Sheets", got=repr(sheets))
    offset = np.cumsum([0, *(len(part.nodes) for part in sheets)])
    nodes = np.vstack([part.nodes for part in sheets])
    cells = np.vstack([part.cells + o for part, o in zip(sheets, offset)])
    if weld is not None:
        cells = _welded(nodes, cells, weld)
    return Sheet.compacted(nodes, cells, np.concatenate([part.regions for part in sheets]))


def _welded(nodes: np.ndarray, cells: np.ndarray, tolerance: float) -> np.ndarray:
    cells = weld_nodes(nodes, tolerance)[cells]
    if (cells == np.roll(cells, 1, axis=1)).any():
        raise MeshError("weld distance", expected="shorter than every edge", got=f"{tolerance:g} m")
    return cells
