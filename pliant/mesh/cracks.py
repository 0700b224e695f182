"""What no single cell shows: cells that are there twice, and faces that touch without sharing nodes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pliant.errors import InputError, MeshError, PliantWarning, is_number
from pliant.mesh.elements import ELEMENTS
from pliant.mesh.topology import cell_faces, group_rows, weld

SAME_PLACE = 1e-6  # of the mesh's size: nodes that are nearer are at the same place
_OBLIQUE = np.sqrt([2.0, 3.0, 5.0]) / np.sqrt(10.0)  # an axis that separates the nodes of a regular grid
_HINT = "Weld them: pl.mesh.read(path, merge=True), Mesh.compacted(…, merge=True)."


def repeated(rows: np.ndarray) -> np.ndarray:
    """The rows of integers (n, m) that say the same as an earlier one, in any order; ascending."""
    # Sums of random numbers, one for each node, are equal for equal sets of nodes: quicker than to sort all
    # rows.
    marks = np.random.default_rng(0).integers(2**62, size=int(rows.max()) + 1)
    sums = np.sort(marks[rows].sum(axis=1))
    if (sums[1:] != sums[:-1]).all():
        return np.zeros(0, np.int64)
    first, _ = group_rows(np.sort(rows, axis=1))
    return np.setdiff1d(np.arange(len(rows)), first)


def check_repeated(cells: np.ndarray, kind: str, nodes: np.ndarray) -> None:
    """Raise MeshError for cells on the same corners: their mass and stiffness would count twice."""
    corners = cells[:, : ELEMENTS[kind].corners]
    twice = repeated(corners)
    if len(twice):
        where = np.round(nodes[corners[twice[0]]].mean(axis=0), 6).tolist()
        raise MeshError(
            "mesh cells",
            expected="each once",
            got=f"{len(twice)} again (the first is cell {twice[0]}, near {where} m)",
            hint="They would count twice in mass and stiffness. " + _HINT.replace("Weld", "Drop"),
        )


def same_place(nodes: np.ndarray, distance: float) -> np.ndarray:
    """`topology.weld` of nodes (k, 3) within a distance [m], without searching where no two can be near.

    Nodes that are near each other are near along any axis too: only those with a neighbour there are
    searched.
    """
    along = nodes @ _OBLIQUE
    order = np.argsort(along)
    close = np.diff(along[order]) <= distance
    some = np.sort(order[np.concatenate([close, [False]]) | np.concatenate([[False], close])])
    place = np.arange(len(nodes))
    if len(some):
        place[some] = some[weld(nodes[some], distance)]
    return place


def merged(nodes: np.ndarray, cells: np.ndarray, kind: str, merge: Any) -> tuple[np.ndarray, np.ndarray]:
    """Cells on welded nodes, each once, and which of those given they are.

    merge: the distance [m] within which nodes become one; True takes a millionth of the size of the mesh.
    """
    if merge is not True and not (is_number(merge) and 0 <= merge < np.inf):
        raise InputError("merge", expected="True, False, or a distance ≥ 0 [m]", got=repr(merge))
    distance = SAME_PLACE * float(np.linalg.norm(np.ptp(nodes, axis=0))) if merge is True else float(merge)
    welded = same_place(nodes, distance)[cells]
    ordered = np.sort(welded, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise MeshError("weld distance", expected="shorter than every edge", got=f"{distance:g} m")
    kept = np.setdiff1d(np.arange(len(cells)), repeated(welded[:, : ELEMENTS[kind].corners]))
    return welded[kept], kept


def warn_about_cracks(nodes: np.ndarray, cells: np.ndarray, kind: str, size: float) -> None:
    """Warn of faces that lie on each other without sharing their nodes; MeshError for whole cells that do."""
    place = same_place(nodes, SAME_PLACE * size)
    shared = np.zeros(len(nodes), bool)
    shared[place[place != np.arange(len(nodes))]] = True
    if not shared.any():
        return
    check_repeated(place[cells], kind, nodes)
    faces, owner, corners = cell_faces(cells, kind)
    met = shared[place[faces[:, :corners]]].all(axis=1)
    faces, owner = np.sort(faces[met, :corners], axis=1), owner[met]
    _, own = group_rows(faces)
    first, number = group_rows(np.sort(place[faces], axis=1))
    cracked = np.flatnonzero(own != own[first[number]])
    if len(cracked):
        k = cracked[np.argmin(owner[cracked])]
        where = np.round(nodes[faces[k]].mean(axis=0), 6).tolist()
        warnings.warn(
            f"the mesh has {len(np.unique(number[cracked]))} faces that touch without sharing nodes "
            f"(the first between cells {owner[first[number[k]]]} and {owner[k]}, near {where} m): "
            f"cracks, which open. {_HINT} "
            "If these are parts that shall be apart: merge=False, or Mesh(…, apart=True).",
            PliantWarning,
            stacklevel=5,
        )
