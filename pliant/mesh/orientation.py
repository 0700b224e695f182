"""What makes triangles a sheet: areas, at most two at each edge, and a common front."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import MeshError, as_floats
from pliant.mesh.surface import Surface
from pliant.mesh.topology import group_rows

NO_AREA = 1e-10  # of a triangle's longest side squared: less is none


def sides(cells: np.ndarray) -> np.ndarray:
    """Directed edges (3 ne, 2), triangle by triangle."""
    return cells[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)


def checked_triangles(cells: Any, k: int, *, allow_unused: bool = False) -> np.ndarray:
    """Node indices (ne, 3) from 0 to k − 1, no two triangles on the same nodes; all used unless allowed."""
    expected = "integers of shape (ne, 3)"
    numbers = as_floats("sheet triangles", cells, expected, MeshError)
    if numbers.ndim != 2 or numbers.shape[1] != 3 or not len(numbers) or (numbers != np.round(numbers)).any():
        raise MeshError("sheet triangles", expected=expected, got=np.shape(cells))
    numbers = numbers.astype(np.int64)
    bad = np.flatnonzero(((numbers < 0) | (numbers >= k)).any(axis=1))
    if len(bad):
        got = f"triangle {bad[0]} with {numbers[bad[0]].tolist()}"
        raise MeshError("sheet triangles", expected=f"node indices from 0 to {k - 1}", got=got)
    first, number = group_rows(np.sort(numbers, axis=1))
    if len(first) < len(numbers):
        twice = int(np.flatnonzero(first[number] != np.arange(len(numbers)))[0])
        got = f"triangle {twice} on the same nodes as triangle {first[number[twice]]}"
        raise MeshError("sheet triangles", expected="different ones", got=got)
    unused = np.setdiff1d(np.arange(k), numbers)
    if len(unused) and not allow_unused:
        raise MeshError(
            "sheet nodes",
            expected="every node used by a triangle",
            got=f"{len(unused)} unused, the first is node {unused[0]}",
            hint="Sheet.compacted drops unused nodes and renumbers the others.",
        )
    return numbers


def check_areas(nodes: np.ndarray, cells: np.ndarray) -> None:
    """Raise MeshError for triangles without area."""
    a, b, c = np.moveaxis(nodes[cells], 1, 0)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([np.linalg.norm(e, axis=1) for e in (b - a, c - b, a - c)], axis=0)
    flat = np.flatnonzero(area <= NO_AREA * longest**2)
    if len(flat):
        got = f"{len(flat)} without (the first is triangle {flat[0]}, nodes {cells[flat[0]].tolist()})"
        raise MeshError("sheet triangles", expected="triangles with an area", got=got)


def oriented(cells: np.ndarray) -> np.ndarray:
    """Triangles turned so that neighbours run along their common edge in opposite directions."""
    edges = sides(cells)
    _, number = group_rows(np.sort(edges, axis=1))
    count = np.bincount(number)
    crowded = np.flatnonzero(count[number] > 2)
    if len(crowded):
        raise MeshError(
            "sheet",
            expected="one or two triangles at each edge",
            got=f"{int((count > 2).sum())} edges with more, "
            f"the first between nodes {edges[crowded[0]].tolist()}",
            hint="Sheets that branch are several sheets: join them with pl.interactions.Attachment.",
        )
    order = np.argsort(number, kind="stable")
    pair = order[np.isin(number[order], np.flatnonzero(count == 2))].reshape(-1, 2)
    clash = edges[pair[:, 0], 0] == edges[pair[:, 1], 0]  # both run the same way
    if not clash.any():
        return cells
    turn = _turns(pair // 3, clash, len(cells))
    if (turn[pair[:, 0] // 3] ^ turn[pair[:, 1] // 3] ^ clash).any():
        raise MeshError("sheet", expected="two sides", got="one side only, like a Möbius band")
    return np.where(turn[:, None], cells[:, ::-1], cells)


def _turns(neighbours: np.ndarray, clash: np.ndarray, size: int) -> np.ndarray:
    """Which triangles (size,) to turn, going from neighbour to neighbour from the first of each piece."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    i, j = np.concatenate([neighbours, neighbours[:, ::-1]]).T
    weight = np.tile(1.0 + clash, 2)  # 1: agree, 2: clash
    graph = coo_array((weight, (i, j)), shape=(size, size)).tocsr()
    turn, seen = np.zeros(size, bool), np.zeros(size, bool)
    for start in range(size):
        if seen[start]:
            continue
        reached, before = breadth_first_order(graph, start, directed=False)
        seen[reached] = True
        for t in reached[1:]:
            turn[t] = turn[before[t]] ^ (graph[before[t], t] > 1.5)
    return turn


def outward(nodes: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """With closed pieces turned so that they enclose a positive volume."""
    cells = cells.copy()
    surface = Surface(nodes, cells, np.arange(len(cells)))
    for part in surface.components():
        if part.closed and part.volume < 0:
            cells[part.owner] = cells[part.owner][:, ::-1]
    return cells
