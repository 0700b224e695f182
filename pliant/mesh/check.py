"""What makes a mesh usable: finite nodes, indices in range, cells with a positive volume."""

from __future__ import annotations

import reprlib
import warnings
from typing import Any

import numpy as np

from pliant.errors import MeshError, PliantWarning, as_floats
from pliant.mesh.elements import ELEMENTS, KINDS, jacobians
from pliant.mesh.quadrature import quadrature
from pliant.mesh.topology import clashing_cells

_KIND_BY_SIZE = {len(ELEMENTS[kind].nodes): kind for kind in KINDS}
NO_VOLUME = 1e-10  # of a cell's extent cubed: less is none
# [m]: coordinates and extents beyond which stiffnesses and volumes are as good as zero or infinite.
FARTHEST_NODE, SMALLEST_EXTENT = 1e9, 1e-9
USUAL_SIZES = (1e-4, 20.0)  # [m] of a mesh: others get a warning about the unit


def checked_nodes(nodes: Any) -> np.ndarray:
    nodes = np.ascontiguousarray(as_floats("mesh nodes", nodes, "shape (k, 3) in metres", MeshError))
    if nodes.ndim != 2 or nodes.shape[1] != 3 or len(nodes) == 0:
        raise MeshError("mesh nodes", expected="shape (k, 3) in metres", got=nodes.shape)
    bad = np.flatnonzero(~np.isfinite(nodes).all(axis=1))
    if len(bad):
        raise MeshError(
            "mesh nodes", expected="finite coordinates", got=f"{_listed(bad, 'node')} with NaN or infinity"
        )
    far, size = float(np.abs(nodes).max()), float(np.ptp(nodes, axis=0).max())
    if far > FARTHEST_NODE or size < SMALLEST_EXTENT:
        raise MeshError(
            "mesh nodes",
            expected=f"coordinates up to {FARTHEST_NODE:g} m, an extent of {SMALLEST_EXTENT:g} m at least",
            got=f"up to {far:.3g} m, {size:.3g} m across",
            hint="Is the unit right? pl.mesh.read takes unit=.",
        )
    return nodes


def checked_cells(cells: Any, kind: str, k: int, *, allow_unused: bool = False) -> tuple[np.ndarray, str]:
    try:
        cells = np.array(cells, order="C")
    except ValueError:
        raise MeshError(
            "mesh cells", expected="integers of shape (ne, nodes per cell)", got=reprlib.repr(cells)
        ) from None
    if cells.ndim != 2 or len(cells) == 0 or not np.issubdtype(cells.dtype, np.integer):
        raise MeshError(
            "mesh cells",
            expected="integers of shape (ne, nodes per cell)",
            got=f"{cells.dtype} {cells.shape}",
        )
    cells = cells.astype(np.int64)
    kind = kind or _KIND_BY_SIZE.get(cells.shape[1], "")
    if kind not in KINDS:
        raise MeshError(
            "mesh kind",
            expected=f"one of {KINDS}",
            got=repr(kind) if kind else f"{cells.shape[1]} nodes per cell",
        )
    if cells.shape[1] != len(ELEMENTS[kind].nodes):
        raise MeshError(
            "mesh cells", expected=f"{len(ELEMENTS[kind].nodes)} nodes per {kind}", got=cells.shape[1]
        )
    bad = np.flatnonzero(((cells < 0) | (cells >= k)).any(axis=1))
    if len(bad):
        raise MeshError(
            "mesh cells", expected=f"node indices from 0 to {k - 1}", got=f"{_listed(bad, 'cell')} outside"
        )
    unused = k - len(np.unique(cells))
    if unused and not allow_unused:
        first = int(np.setdiff1d(np.arange(k), cells)[0])
        raise MeshError(
            "mesh nodes",
            expected="every node used by a cell",
            got=f"{unused} unused, the first is node {first}",
            hint="Mesh.compacted drops unused nodes and renumbers the others.",
        )
    return cells, kind


def checked_regions(regions: Any, cells: int) -> np.ndarray:
    """Region numbers (cells,), zeros when None."""
    if regions is None:
        return np.zeros(cells, np.int64)
    expected = f"one number for each of {cells} cells"
    numbers = as_floats("mesh regions", regions, expected, MeshError)
    if numbers.shape != (cells,):
        raise MeshError("mesh regions", expected=expected, got=numbers.shape)
    if not (np.abs(numbers) < 2**53).all() or (numbers != np.round(numbers)).any():
        raise MeshError("mesh regions", expected="whole numbers", got=regions)
    return numbers.astype(np.int64)


def oriented(nodes: np.ndarray, cells: np.ndarray, kind: str) -> np.ndarray:
    """Cells with positive volume, mirrored ones turned round; MeshError if some are flat or inside out.

    A cell that is only listed in the wrong order agrees with its neighbours once turned round; one that is
    folded over (a node pushed through a face) then lies on the same side of that face as its neighbour.
    """
    det = np.linalg.det(jacobians(nodes, cells, kind, quadrature(kind).points)) * ELEMENTS[kind].volume
    corners = nodes[cells[:, : ELEMENTS[kind].corners]]
    extent = np.linalg.norm(np.ptp(corners, axis=1), axis=1)
    flat = np.flatnonzero(np.abs(det).max(axis=1) <= NO_VOLUME * extent**3)
    if len(flat):
        raise MeshError(
            "mesh cells", expected="cells with a volume", got=f"{_listed(flat, 'cell')} flat (zero volume)"
        )
    mirrored = (det < 0).all(axis=1)
    turned = cells.copy()
    turned[mirrored] = cells[mirrored][:, ELEMENTS[kind].flip]
    inverted = (det <= 0).any(axis=1) & ~mirrored
    if mirrored.any():
        inverted[np.intersect1d(np.flatnonzero(mirrored), clashing_cells(turned, kind))] = True
    if inverted.any():
        raise MeshError(
            "mesh cells",
            expected="positive volume everywhere inside each cell",
            got=f"{_listed(np.flatnonzero(inverted), 'cell')} inverted",
            hint="They are folded over their neighbours; repair the mesh where it was made.",
        )
    return turned


def _listed(indices: np.ndarray, noun: str) -> str:
    """ "3 cells (the first is cell 17)"."""
    return f"{len(indices)} {noun}{'s' * (len(indices) > 1)} (the first is {noun} {indices[0]})"


def warn_about_size(size: float) -> None:
    if not USUAL_SIZES[0] <= size <= USUAL_SIZES[1]:
        warnings.warn(f"the mesh is {size:.3g} m across: wrong unit?", PliantWarning, stacklevel=4)
