"""The mesh that a beam carries: bars round its rods, for contact, pictures and files."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.bodies.beams.places import Places, near, on_elements, rest_position
from pliant.bodies.beams.sections import Section
from pliant.errors import InputError, MeshError
from pliant.mesh import Mesh
from pliant.mesh.lines import Lines

SectionAt = Callable[[int, float], Section]  # of an element, at a share (0 to 1) of its length


def carried(
    lines: Lines,
    lengths: np.ndarray,
    mesh: Mesh | None,
    carriers: Any,
    section_at: SectionAt,
    detail: tuple[int, int],
) -> tuple[Mesh, Places]:
    """The mesh given, or bars round the rods, and the places of its nodes on the rods.

    They are on the elements `carriers` (n,), or on the nearest.
    """
    if mesh is not None and carriers is not None:
        return mesh, on_elements(lines, lengths, mesh.nodes, carriers)
    if mesh is not None:
        return mesh, near(lines, lengths, mesh.nodes, None)[1]
    cells, places = _bars(lines, section_at, *detail)
    nodes = rest_position(lines, lengths, places)
    nodes[: len(lines.nodes)] = lines.nodes
    try:
        return Mesh(nodes, cells, "hex8"), places
    except MeshError as error:
        hint = "They are too thick for their curvature, or too coarse; or give mesh= what they carry."
        raise InputError("rods", expected="sections that do not overlap", got=str(error), hint=hint) from None


def _bars(lines: Lines, section_at: SectionAt, around: int, along: int) -> tuple[np.ndarray, Places]:
    """Hexahedra (n, 8) of bars round the rods, and the places of their nodes.

    `around` nodes on the outline (a multiple of 8, so that there is one in the centre) and `along` layers for
    each element. The first k nodes are those of the lines.
    """
    if not isinstance(around, int | np.integer) or around < 8 or around % 8:
        raise InputError("nodes around a rod", expected="a multiple of 8", got=around)
    if not isinstance(along, int | np.integer) or along < 1:
        raise InputError("layers along an element", expected="an integer ≥ 1", got=along)
    cuts, k = around // 4, len(lines.nodes)
    size = (cuts + 1) ** 2
    centre = size // 2
    element, share, grids, number, cells = [], [], [], [], []
    total = k
    quads = _quads(cuts)
    for branch in range(int(lines.branch.max()) + 1):
        layers = []
        for e, s in _stations(np.flatnonzero(lines.branch == branch), along):
            ids = total + np.arange(size)
            ids[centre + 1 :] -= 1
            at_node = s in (0.0, 1.0)
            ids[centre] = lines.elements[e, int(s)] if at_node else total + size - 1
            total += size - at_node
            layers.append(ids)
            element.append(np.full(size, e))
            share.append(np.full(size, s))
            grids.append(section_at(e, s).grid(cuts))
            number.append(ids)
        cells += [np.hstack([a[quads], b[quads]]) for a, b in pairwise(layers)]
    return np.vstack(cells), _by_number(total, element, share, grids, number)


def _stations(elements: np.ndarray, along: int) -> list[tuple[int, float]]:
    """(element, share) of the layers of a branch, from its first node to its last."""
    steps = [(int(e), j / along) for e in elements for j in range(along)]
    return [*steps, (int(elements[-1]), 1.0)]


def _quads(cuts: int) -> np.ndarray:
    number = np.arange((cuts + 1) ** 2).reshape(cuts + 1, cuts + 1)
    corners = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    return np.stack(corners, axis=-1).reshape(-1, 4)


def _by_number(total, element, share, grids, number) -> Places:
    """Places in the order of the mesh's nodes; a node that rods share counts with the first of them."""
    _, first = np.unique(np.concatenate(number), return_index=True)
    assert len(first) == total
    across = np.concatenate(grids)[first]
    offset = np.column_stack([np.zeros(total), across])
    return Places(np.concatenate(element)[first], np.concatenate(share)[first], offset)
