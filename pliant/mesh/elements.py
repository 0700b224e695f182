"""The four cell kinds and their faces: reference nodes, shape functions, connectivity.

Reference cells: the unit simplex {ξ ≥ 0, Σξ ≤ 1} for tetrahedra and triangles, [−1, 1]ᵈ for hexahedra and
quadrilaterals. Node order is VTK's: corners first, then one node on each edge in the order of
`Element.edges`.

A shape function is a combination of monomials, N_a(ξ) = Σ_m ξ^e_m C_ma, and C inverts the monomials at the
nodes: so an element is its list of nodes and its list of exponents.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from pliant.errors import unknown_name


@dataclass(frozen=True, eq=False)
class Element:
    """A reference element of nn nodes in d dimensions."""

    kind: str
    nodes: np.ndarray  # (nn, d) reference coordinates
    corners: int  # nodes[:corners] are the corners
    edges: np.ndarray  # (n_edges, 2) corner pairs; in quadratic elements edge a has the node corners + a
    faces: np.ndarray  # (n_faces, nodes per face), outward, corners then mid nodes; none for face elements
    face_kind: str  # kind of the faces: tri3, tri6, quad4, quad8; "" for those themselves
    flip: np.ndarray  # (nn,) node permutation that mirrors the element
    exponents: np.ndarray  # (nn, d) of the monomials
    coefficients: np.ndarray  # (nn, nn) C: monomial m, node a
    linear: str  # kind with the same corners and straight edges
    quadratic: str  # kind with the same corners and mid nodes
    volume: float  # of the reference cell

    @property
    def order(self) -> int:
        """1: straight edges, 2: mid nodes."""
        return 1 if self.kind == self.linear else 2


_TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
_SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float)
_CUBE = np.array([[*xy, z] for z in (-1, 1) for xy in _SQUARE], float)

_TET_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
_HEX_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
_TET_FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
_HEX_FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]


def _ring(corners: tuple[int, ...]) -> list[tuple[int, int]]:
    """The edges of a polygon, in order."""
    return list(zip(corners, corners[1:] + corners[:1]))


def _monomials(simplex: bool, dimension: int, order: int) -> np.ndarray:
    """Exponents: complete polynomials on simplices; on cubes those of superlinear degree up to the order."""
    grid = np.array(list(product(range(order + 1), repeat=dimension)))
    degree = grid.sum(1) if simplex else np.where(grid > 1, grid, 0).sum(1)
    return grid[degree <= order]


def _element(
    kind: str, simplex: bool, order: int, corners: np.ndarray, edges: list, faces: list, flip: list
) -> Element:
    mid = {frozenset(edge): len(corners) + a for a, edge in enumerate(edges)}

    def with_mid_nodes(ordered: tuple[int, ...], pairs: list[tuple[int, int]]) -> list[int]:
        return [*ordered] + ([mid[frozenset(pair)] for pair in pairs] if order == 2 else [])

    nodes = np.vstack([corners, [corners[list(edge)].mean(0) for edge in edges]]) if order == 2 else corners
    dimension, family = corners.shape[1], kind.rstrip("0123456789")
    sizes = {"tet": (4, 10), "hex": (8, 20), "tri": (3, 6), "quad": (4, 8)}
    face_family = {"tet": "tri", "hex": "quad"}.get(family, "")
    exponents = _monomials(simplex, dimension, order)
    vandermonde = np.prod(nodes[:, None, :] ** exponents[None], axis=2)
    return Element(
        kind=kind,
        nodes=nodes,
        corners=len(corners),
        edges=np.array(edges),
        faces=np.array([with_mid_nodes(f, _ring(f)) for f in faces], int),
        face_kind=f"{face_family}{sizes[face_family][order - 1]}" if face_family else "",
        flip=np.array(with_mid_nodes(tuple(flip), [(flip[a], flip[b]) for a, b in edges])),
        exponents=exponents,
        coefficients=np.round(np.linalg.inv(vandermonde) * 8) / 8,  # exact: they are multiples of 1/8
        linear=f"{family}{sizes[family][0]}",
        quadratic=f"{family}{sizes[family][1]}",
        volume=(1 / 2 if dimension == 2 else 1 / 6) if simplex else 2.0**dimension,
    )


def _registry() -> dict[str, Element]:
    tet = (_TETRAHEDRON, _TET_EDGES, _TET_FACES, [0, 2, 1, 3])
    cube = (_CUBE, _HEX_EDGES, _HEX_FACES, [4, 5, 6, 7, 0, 1, 2, 3])
    triangle = (_TETRAHEDRON[:3, :2], _ring((0, 1, 2)), [], [0, 2, 1])
    square = (_SQUARE, _ring((0, 1, 2, 3)), [], [0, 3, 2, 1])
    shapes = {
        "tet4": (True, 1, *tet),
        "tet10": (True, 2, *tet),
        "hex8": (False, 1, *cube),
        "hex20": (False, 2, *cube),
        "tri3": (True, 1, *triangle),
        "tri6": (True, 2, *triangle),
        "quad4": (False, 1, *square),
        "quad8": (False, 2, *square),
    }
    elements = {kind: _element(kind, *shape) for kind, shape in shapes.items()}
    for element in elements.values():
        for value in vars(element).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
    return elements


ELEMENTS = _registry()
KINDS = ("tet4", "tet10", "hex8", "hex20")

# Straight triangles that cover a face, for display, contact and cavity volumes.
SUBTRIANGLES = {
    "tri3": np.array([[0, 1, 2]]),
    "tri6": np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]]),
    "quad4": np.array([[0, 1, 2], [0, 2, 3]]),
    "quad8": np.array([[0, 4, 7], [4, 1, 5], [5, 2, 6], [6, 3, 7], [4, 5, 6], [4, 6, 7]]),
}


def element(kind: str) -> Element:
    """The element called `kind`: tet4, tet10, hex8, hex20 or a face: tri3, tri6, quad4, quad8."""
    if kind not in ELEMENTS:
        raise unknown_name("element kind", kind, ELEMENTS)
    return ELEMENTS[kind]


def shape(kind: str, xi: np.ndarray) -> np.ndarray:
    """Shape functions N_a(ξ) at points ξ (n, d): (n, nn)."""
    e, xi = element(kind), np.atleast_2d(xi)
    return np.prod(xi[:, None, :] ** e.exponents, axis=2) @ e.coefficients


def gradients(kind: str, xi: np.ndarray) -> np.ndarray:
    """∂N_a/∂ξ_j at points ξ (n, d): (n, nn, d)."""
    e, xi = element(kind), np.atleast_2d(xi)
    derivative = []
    for j in range(e.nodes.shape[1]):
        lowered = e.exponents.copy()
        lowered[:, j] = np.maximum(lowered[:, j] - 1, 0)
        derivative.append((np.prod(xi[:, None, :] ** lowered, axis=2) * e.exponents[:, j]) @ e.coefficients)
    return np.stack(derivative, axis=2)


def jacobians(nodes: np.ndarray, cells: np.ndarray, kind: str, xi: np.ndarray) -> np.ndarray:
    """∂X_i/∂ξ_j of every cell at points ξ (n, d): (cells, n, 3, d); nodes (k, 3) [m]."""
    return np.einsum("eai,qaj->eqij", nodes[cells], gradients(kind, xi), optimize=True)


def material_gradients(
    nodes: np.ndarray, cells: np.ndarray, kind: str, xi: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What assembly needs: G = ∂N_a/∂X_i (cells, n, nn, 3) [1/m] and dV = w det(∂X/∂ξ) (cells, n) [m³]."""
    J = jacobians(nodes, cells, kind, xi)
    G = np.einsum("qaj,eqji->eqai", gradients(kind, xi), np.linalg.inv(J), optimize=True)
    return G, np.linalg.det(J) * weights
