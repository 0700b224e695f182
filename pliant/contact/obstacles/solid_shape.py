"""SolidShape: a checked closed triangle mesh with what a signed distance needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import pliant.sparse as sp
from pliant.arrays import frozen
from pliant.contact.geometry.adjacency import Adjacency
from pliant.contact.geometry.tree import fit_tree, lay_out_tree
from pliant.contact.geometry.triangle import unit_normals
from pliant.contact.obstacles.solid_distance import solid_distance
from pliant.errors import InputError

_WELD = 1e-9  # of the size: vertices closer than that are the same
_CELLS = 24  # of the coarse grid along its longest side


class Grid(NamedTuple):
    """Cells of side `step` from `corner`: gap and nearest triangle at their middle. It bounds gaps."""

    corner: np.ndarray
    step: float
    gap: np.ndarray
    triangle: np.ndarray


@dataclass(frozen=True, eq=False)
class SolidShape:
    """Vertices, triangles, unit normals of faces (t, 3), edges (t, 3, 3), vertices (n, 3); tree of boxes."""

    vertices: np.ndarray
    triangles: np.ndarray
    face_normals: np.ndarray
    edge_normals: np.ndarray
    vertex_normals: np.ndarray
    adjacency: Adjacency
    links: np.ndarray
    bounds: np.ndarray

    def distance(
        self, p: np.ndarray, R: np.ndarray, origin: np.ndarray, reach: float, grid: Grid | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gap (P,), gradient (P, 3), nearest triangle (P,) of points (P, 3); the shape stands at R x +
        origin.

        Where the gap surely exceeds `reach` it is a lower bound, and the triangle −1.
        """
        grid = self.grid if grid is None else grid
        normals = (self.face_normals, self.edge_normals, self.vertex_normals)
        guess = (grid.corner, grid.step, grid.gap, grid.triangle)
        return solid_distance(
            p, R, origin, reach, self.vertices, self.triangles, *normals, self.links, self.bounds, *guess
        )

    @cached_property
    def grid(self) -> Grid:
        """Gap and nearest triangle at the middle of coarse cells, over the box and half as much round it."""
        low, high = self.bounds[0, :3], self.bounds[0, 3:6]
        sides = high - low + (high - low).max()
        step = float(sides.max()) / _CELLS
        shape = np.ceil(sides / step).astype(int)
        corner = frozen(0.5 * (low + high) - 0.5 * step * shape)
        middles = corner + step * (np.indices(shape).reshape(3, -1).T + 0.5)
        none = Grid(corner, step, frozen(np.zeros((0, 0, 0))), frozen(np.zeros((0, 0, 0)), int))
        still = frozen(np.eye(3)), frozen(np.zeros(3))
        gap, _, triangle = self.distance(frozen(middles), *still, np.inf, none)
        return Grid(corner, step, frozen(gap.reshape(shape)), frozen(triangle.reshape(shape), int))

    @classmethod
    def of(cls, vertices: Any, triangles: Any) -> SolidShape:
        """Checked, welded and oriented outwards."""
        X, T = _welded(*_checked(vertices, triangles))
        if _volume(X, T) < 0:
            T = frozen(T[:, ::-1], int)
        links, order = lay_out_tree(X, T)
        T = frozen(T[order], int)
        adjacency = Adjacency.of(T, len(X))
        _require_closed(adjacency)
        N = unit_normals(X, T)
        edges = frozen(_unit(N[:, None, :] + N[adjacency.across]))
        bounds = frozen(fit_tree(X, T, N, links))
        return cls(X, T, frozen(N), edges, _vertex_normals(X, T, N), adjacency, links, bounds)

    @cached_property
    def convex(self) -> bool:
        """One piece without holes whose edges all bend outwards."""
        X, T = self.vertices, self.triangles
        beyond = X[T[self.adjacency.across]] - X[T[:, [0]]][:, :, None]  # corners of the neighbours
        height = np.einsum("tecd,td->tec", beyond, self.face_normals)
        pairs = (np.repeat(np.arange(len(T)), 3), self.adjacency.across.ravel())
        from scipy.sparse.csgraph import connected_components  # slow to import

        pieces, _ = connected_components(
            sp.coo_array((np.ones(3 * len(T)), pairs), shape=(len(T), len(T))), directed=False
        )
        euler = len(np.unique(T)) - 3 * len(T) // 2 + len(T)
        return bool(height.max() <= 1e-7 * np.ptp(X, axis=0).max() and pieces == 1 and euler == 2)


def _checked(vertices: Any, triangles: Any) -> tuple[np.ndarray, np.ndarray]:
    X, T = np.array(vertices, float), np.asarray(triangles)
    if X.ndim != 2 or X.shape[1:] != (3,) or not np.isfinite(X).all():
        raise InputError(
            "vertices of a mesh obstacle", expected="shape (n, 3), finite", got=f"shape {X.shape}"
        )
    if T.ndim != 2 or T.shape[1:] != (3,) or len(T) < 4:
        raise InputError(
            "triangles of a mesh obstacle", expected="shape (t, 3), at least four", got=f"shape {T.shape}"
        )
    if not np.issubdtype(T.dtype, np.integer) or T.min() < 0 or T.max() >= len(X):
        raise InputError(
            "triangles of a mesh obstacle", expected=f"vertex numbers below {len(X)}", got=f"{T.dtype}"
        )
    return X, T


def _welded(X: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices at the same place become one, unused ones go; triangles that collapse are dropped."""
    grain = _WELD * max(float(np.ptp(X, axis=0).max()), 1e-300)
    _, first, number = np.unique(np.round(X / grain), axis=0, return_index=True, return_inverse=True)
    T = number.reshape(-1)[T]
    T = T[(T[:, 0] != T[:, 1]) & (T[:, 1] != T[:, 2]) & (T[:, 2] != T[:, 0])]
    used, local = np.unique(T, return_inverse=True)
    X, T = X[first[used]], local.reshape(-1, 3)
    if not len(T) or not (np.ptp(X, axis=0) > 0).all():
        raise InputError("mesh obstacle", expected="a solid", got="no volume")
    return frozen(X), frozen(T, int)


def _volume(X: np.ndarray, T: np.ndarray) -> float:
    a, b, c = np.moveaxis(X[T] - X.mean(axis=0), 1, 0)
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6)


def _require_closed(adjacency: Adjacency) -> None:
    if adjacency.crowded or adjacency.rims:
        got = (
            f"{adjacency.rims} edges of one triangle"
            if adjacency.rims
            else "edges with more triangles, or triangles that disagree on what is outside"
        )
        raise InputError(
            "mesh obstacle",
            expected="a closed surface, two triangles at every edge, all oriented the same way",
            got=got,
            hint="Fill the holes first, or describe the obstacle by simple shapes.",
        )


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)


def _vertex_normals(X: np.ndarray, T: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Σ angle · face normal over the triangles of a vertex, unit."""
    total = np.zeros_like(X)
    for corner in range(3):
        a, b, c = (X[T[:, (corner + k) % 3]] for k in range(3))
        cosine = np.einsum("ti,ti->t", _unit(b - a), _unit(c - a))
        np.add.at(total, T[:, corner], np.arccos(np.clip(cosine, -1, 1))[:, None] * N)
    return frozen(_unit(total))
