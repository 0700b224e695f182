"""Surface: the boundary of a mesh or a part of it, as facets and as straight triangles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np

from pliant.errors import InputError, MeshError
from pliant.mesh.elements import ELEMENTS, SUBTRIANGLES, Element, gradients, shape
from pliant.mesh.mesh import Mesh
from pliant.mesh.quadrature import quadrature
from pliant.mesh.topology import cell_faces, face_groups, group_rows, pieces

NO_LENGTH = 1e-300  # of a vector, below which it has no direction: it is left as it is
SAME_HEIGHT = 1e-6  # of the mesh's size: heights of voids that differ by less are equal
NO_WEIGHT = 1e-12  # of a triple of nodes in the volume of a facet: less is rounding


@dataclass(frozen=True, eq=False, repr=False)
class Surface:
    """Oriented facets on the nodes of a mesh.

    `facets` (f, 3 | 6 | 4 | 8) are node indices, corners first then mid nodes, counter-clockwise seen from
    the side the normal points to; `owner` (f,) is the cell each belongs to. `nodes` (k, 3) [m] are all
    nodes of the mesh, so that indices are the mesh's. `triangles` cut every facet into straight triangles
    (1, 4, 2 or 6 of them).
    """

    nodes: np.ndarray
    facets: np.ndarray
    owner: np.ndarray

    def __post_init__(self) -> None:
        for name, dtype in (("nodes", float), ("facets", np.int64), ("owner", np.int64)):
            array = np.array(getattr(self, name), dtype, order="C")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.facets.ndim != 2 or self.facets.shape[1] not in _FACET_KINDS:
            raise MeshError(
                "surface facets", expected="shape (f, 3), (f, 6), (f, 4) or (f, 8)", got=self.facets.shape
            )

    @classmethod
    def of(cls, mesh: Mesh) -> Surface:
        """The whole boundary of a mesh: the faces that belong to one cell only."""
        faces, owner, _ = cell_faces(mesh.cells, mesh.kind)
        number, count = face_groups(mesh.cells, mesh.kind)
        crowded = np.unique(owner[count > 2])
        if len(crowded):
            raise MeshError(
                "mesh cells",
                expected="at most two cells at a face",
                got=f"{len(np.unique(number[count > 2]))} faces with more, the first at cell {crowded[0]}",
            )
        return cls(mesh.nodes, faces[count == 1], owner[count == 1])

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        return f"Surface({self.kind}, {len(self.facets)} facets, {state}, {1e4 * self.areas.sum():.4g} cm²)"

    def __len__(self) -> int:
        return len(self.facets)

    def __reduce__(self) -> tuple:
        return Surface, (self.nodes, self.facets, self.owner)

    @property
    def kind(self) -> str:
        """Kind of the facets: tri3, tri6, quad4 or quad8."""
        return _FACET_KINDS[self.facets.shape[1]]

    @property
    def element(self) -> Element:
        """Reference element of the facets, for surface integrals."""
        return ELEMENTS[self.kind]

    # Geometry

    @cached_property
    def triangles(self) -> np.ndarray:
        """Node indices (t, 3) of the straight triangles, facet by facet."""
        return self.facets[:, SUBTRIANGLES[self.kind]].reshape(-1, 3)

    @cached_property
    def facet_of_triangle(self) -> np.ndarray:
        """The facet (t,) each triangle is part of."""
        return np.repeat(np.arange(len(self.facets)), len(SUBTRIANGLES[self.kind]))

    @cached_property
    def corner_triangles(self) -> np.ndarray:
        """Triangles (t, 3) through corners only: one per triangular facet, two per quadrilateral."""
        flat = "tri3" if self.element.corners == 3 else "quad4"
        return self.facets[:, SUBTRIANGLES[flat]].reshape(-1, 3)

    @cached_property
    def vertices(self) -> np.ndarray:
        """Indices of the nodes on the surface, mid nodes included, ascending."""
        return np.unique(self.facets)

    @cached_property
    def _area_vectors(self) -> np.ndarray:
        a, b, c = np.moveaxis(self.nodes[self.triangles], 1, 0)
        return np.cross(b - a, c - a) / 2

    @cached_property
    def areas(self) -> np.ndarray:
        """Area of each triangle (t,) [m²]."""
        return np.linalg.norm(self._area_vectors, axis=1)

    @cached_property
    def normals(self) -> np.ndarray:
        """Unit normal of each triangle (t, 3); zero for a triangle without area."""
        return self._area_vectors / np.where(self.areas > 0, self.areas, 1.0)[:, None]

    @cached_property
    def vertex_normals(self) -> np.ndarray:
        """Area-weighted unit normal at each of `vertices` (n, 3)."""
        total = np.zeros_like(self.nodes)
        np.add.at(total, self.triangles, self._area_vectors[:, None, :])
        total = total[self.vertices]
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), NO_LENGTH)

    @cached_property
    def centres(self) -> np.ndarray:
        """Mean of the corners of each facet (f, 3) [m]."""
        return self.nodes[self.facets[:, : self.element.corners]].mean(axis=1)

    @cached_property
    def facet_normals(self) -> np.ndarray:
        """Mean unit normal of each facet (f, 3)."""
        total = self._area_vectors.reshape(len(self.facets), -1, 3).sum(axis=1)
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), NO_LENGTH)

    @property
    def area(self) -> float:
        """Total area of the triangles [m²]."""
        return float(self.areas.sum())

    @property
    def volume(self) -> float:
        """Volume enclosed by the triangles [m³], ⅙ Σ a·(b×c); negative when the normals point inwards."""
        middle = self.nodes[self.vertices].mean(axis=0)  # near the surface: less cancellation
        a, b, c = np.moveaxis(self.nodes[self.triangles] - middle, 1, 0)
        return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6)

    @cached_property
    def volume_form(self) -> tuple[np.ndarray, np.ndarray]:
        """Triples (n, 3) of nodes and weights (n,): V = Σ w a·(b×c)/6 is the exact volume in curved facets.

        ⅓∫ x·(∂x/∂ξ × ∂x/∂η) is trilinear in the nodes of a facet. Its gradient is the consistent load of a
        pressure, which flat sub-triangles miss on quadratic facets.
        """
        triples, weights = facet_volume_form(self.kind)
        return self.facets[:, triples].reshape(-1, 3), np.tile(weights, len(self.facets))

    # Topology

    @cached_property
    def rim(self) -> np.ndarray:
        """Directed edges (n, 2) of triangles that no other triangle has the other way; empty when closed."""
        edges = self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        _, number = group_rows(np.sort(edges, axis=1))
        balance = np.bincount(number, weights=np.where(edges[:, 0] < edges[:, 1], 1, -1))
        return edges[balance[number] != 0]

    @property
    def closed(self) -> bool:
        """Whether the surface has no rim, so that it encloses a volume."""
        return len(self.facets) > 0 and len(self.rim) == 0

    @property
    def euler(self) -> int:
        """Euler characteristic, vertices − edges + triangles: 2 for a sphere, 0 for a torus."""
        edges = np.sort(self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        return len(np.unique(self.triangles)) - len(group_rows(edges)[0]) + len(self.triangles)

    def components(self) -> list[Surface]:
        """Connected pieces, largest area first.

        Pieces that meet only in a node, or in an edge of four facets, are apart.
        """
        n = self.element.corners
        ring = np.stack([self.facets[:, :n], np.roll(self.facets[:, :n], -1, axis=1)], axis=2).reshape(-1, 2)
        _, number = group_rows(np.sort(ring, axis=1))
        order = np.argsort(number, kind="stable")
        simple = np.bincount(number)[number[order]] == 2
        pairs = np.repeat(np.arange(len(self.facets)), n)[order][simple].reshape(-1, 2)
        label = pieces(pairs, len(self.facets))
        parts = [self.patch(label == piece) for piece in np.unique(label)]
        return sorted(parts, key=lambda part: -part.area)

    # New surfaces from this one

    def patch(self, which: np.ndarray | Callable[[np.ndarray], Any]) -> Surface:
        """Some of the facets: a mask (f,), indices, or a predicate of the centres (f, 3) → (f,) bool."""
        chosen = np.asarray(which(self.centres) if callable(which) else which)
        if chosen.dtype == bool and chosen.shape != (len(self.facets),):
            raise InputError("facet mask", expected=f"shape ({len(self.facets)},)", got=chosen.shape)
        if chosen.size == 0:
            chosen = chosen.astype(np.int64)
        return Surface(self.nodes, self.facets[chosen], self.owner[chosen])

    def flipped(self) -> Surface:
        """With the normals on the other side."""
        return Surface(self.nodes, self.facets[:, self.element.flip], self.owner)

    def at(self, nodes: np.ndarray) -> Surface:
        """The same facets with the nodes elsewhere (k, 3) [m], for example in a deformed state."""
        if np.shape(nodes) != self.nodes.shape:
            raise InputError("surface nodes", expected=f"shape {self.nodes.shape}", got=np.shape(nodes))
        return Surface(nodes, self.facets, self.owner)


_FACET_KINDS = {3: "tri3", 6: "tri6", 4: "quad4", 8: "quad8"}


def cavity_surfaces(mesh: Mesh) -> list[Surface]:
    """The closed inner surfaces of a body, one per void, with normals out of the void: positive volumes.

    They are sorted by the mean height of their nodes: along z, then y, then x.
    """
    voids = [part.flipped() for part in mesh.surface.components() if part.closed and part.volume < 0]
    grain = SAME_HEIGHT * mesh.size

    def place(part: Surface) -> tuple[float, ...]:
        return tuple(np.round(part.nodes[part.vertices].mean(axis=0) / grain)[::-1])

    return sorted(voids, key=place)


@cache
def facet_volume_form(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Triples (n, 3) of a facet's own nodes, and their weights (n,); see `Surface.volume_form`."""
    rule = quadrature(kind, 8 if kind == "quad8" else 4)
    N, D = shape(kind, rule.points), gradients(kind, rule.points)
    T = np.einsum("q,qi,qj,qk->ijk", rule.weights / 3.0, N, D[:, :, 0], D[:, :, 1])
    triples = np.array(list(combinations(range(N.shape[1]), 3)))
    i, j, k = triples.T
    even, odd = T[i, j, k] + T[j, k, i] + T[k, i, j], T[i, k, j] + T[k, j, i] + T[j, i, k]
    weights = 6.0 * (even - odd)
    kept = np.abs(weights) > NO_WEIGHT
    return triples[kept], weights[kept]
