"""Points on the facets of a surface, so dense that neighbours are no farther apart than a given spacing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh import Surface
from pliant.mesh.elements import shape


class Placed(NamedTuple):
    """P points as weighted nodes (P, k), and the facets they lie on as pairs (point, facet)."""

    nodes: np.ndarray
    weights: np.ndarray
    point: np.ndarray
    facet: np.ndarray


class Edges(NamedTuple):
    """Edges of facets: `nodes` (n, 2 | 3) with mid nodes, `pieces` (n,) to cut into, `of_facet` (f, e)."""

    nodes: np.ndarray
    pieces: np.ndarray
    of_facet: np.ndarray


def placed_points(surface: Surface, spacing: float, *, mid_nodes: bool = True) -> list[Placed]:
    """Nodes (corners only if not mid_nodes), then points on edges, then points within facets."""
    edges = cut_edges(surface, spacing, mid_nodes)
    return [
        _at_nodes(surface, mid_nodes),
        *_on_edges(surface, edges, mid_nodes),
        *_within_facets(surface, edges),
    ]


def edge_length(surface: Surface) -> float:
    """Median distance [m] of the ends of edges, from corner to corner."""
    ends = cut_edges(surface, np.inf, False).nodes[:, :2]
    return float(np.median(np.linalg.norm(np.diff(surface.nodes[ends], axis=1), axis=2)))


def cut_edges(surface: Surface, spacing: float, mid_nodes: bool) -> Edges:
    """Every edge once, with its mid node if it has one."""
    corners, pairs = surface.element.corners, surface.element.edges
    quadratic = surface.element.order == 2
    ends = np.sort(surface.facets[:, pairs], axis=2)
    _, first, number = np.unique(ends.reshape(-1, 2), axis=0, return_index=True, return_inverse=True)
    nodes = ends.reshape(-1, 2)[first]
    if quadratic:
        nodes = np.column_stack([nodes, surface.facets[:, corners:].ravel()[first]])
    path = surface.nodes[nodes[:, [0, 2, 1]] if quadratic else nodes]
    length = np.linalg.norm(np.diff(path, axis=1), axis=2).sum(axis=1)
    step = 2 if quadratic and mid_nodes else 1  # an even number keeps the mid node among the points
    pieces = step * np.maximum(1, np.ceil(length / (step * spacing) - 1e-9)).astype(int)
    return Edges(nodes, pieces, number.reshape(ends.shape[:2]))


def _at_nodes(surface: Surface, mid_nodes: bool) -> Placed:
    facets = surface.facets if mid_nodes else surface.facets[:, : surface.element.corners]
    nodes, point = np.unique(facets, return_inverse=True)
    facet = np.repeat(np.arange(len(facets)), facets.shape[1])
    return Placed(nodes[:, None], np.ones((len(nodes), 1)), point.ravel(), facet)


def _on_edges(surface: Surface, edges: Edges, mid_nodes: bool) -> list[Placed]:
    quadratic, out = surface.element.order == 2, []
    for m in np.unique(edges.pieces):
        t = np.arange(1, m) / m
        if quadratic and mid_nodes:
            t = t[t != 0.5]
        mine = np.flatnonzero(edges.pieces == m)
        if not len(t):
            continue
        N = [(1 - t) * (1 - 2 * t), t * (2 * t - 1), 4 * t * (1 - t)] if quadratic else [1 - t, t]
        nodes = np.repeat(edges.nodes[mine], len(t), axis=0)
        facet, side = np.nonzero(edges.pieces[edges.of_facet] == m)
        rank = np.searchsorted(mine, edges.of_facet[facet, side])
        point = (len(t) * rank[:, None] + np.arange(len(t))).ravel()
        out.append(
            Placed(nodes, np.tile(np.column_stack(N), (len(mine), 1)), point, np.repeat(facet, len(t)))
        )
    return out


def _within_facets(surface: Surface, edges: Edges) -> list[Placed]:
    pieces, out = edges.pieces[edges.of_facet], []
    if surface.element.corners == 3:
        cuts = np.repeat(pieces.max(axis=1)[:, None], 2, axis=1)
    else:  # opposite sides of a quadrilateral
        cuts = np.maximum(pieces[:, :2], pieces[:, 2:])
    for a, b in np.unique(cuts, axis=0):
        i, j = (k.ravel() for k in np.meshgrid(np.arange(1, a), np.arange(1, b), indexing="ij"))
        if surface.element.corners == 3:
            i, j = i[i + j < a], j[i + j < a]
            xi = np.column_stack([i, j]) / a
        else:
            xi = np.column_stack([2 * i / a, 2 * j / b]) - 1
        mine = np.flatnonzero((cuts == (a, b)).all(axis=1))
        if not len(xi):
            continue
        nodes = np.repeat(surface.facets[mine], len(xi), axis=0)
        weights = np.tile(shape(surface.kind, xi), (len(mine), 1))
        out.append(Placed(nodes, weights, np.arange(len(nodes)), np.repeat(mine, len(xi))))
    return out
