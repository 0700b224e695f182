"""Structured hexahedra: graded axes, masked tensor grids, and the last step of every generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pliant.errors import InputError
from pliant.mesh.mesh import Mesh
from pliant.mesh.subdivide import tetrahedra

Grade = float | tuple[float, float]
ROUNDING = 1e-6  # of a cell: lengths that are this little too long need no cell more


def positive(**lengths: float) -> None:
    """InputError unless every length is a positive finite number."""
    for name, value in lengths.items():
        if np.ndim(value) or not (np.isfinite(value) and value > 0):
            raise InputError(name, expected="a positive number", got=value)


def at_least(minimum: int, **counts: int) -> None:
    """InputError unless every count is an integer of at least the minimum."""
    for name, value in counts.items():
        if not isinstance(value, int | np.integer) or value < minimum:
            raise InputError(name, expected=f"an integer ≥ {minimum}", got=value)


def graded(length: float, cells: int, grade: Grade = 1.0) -> np.ndarray:
    """Coordinates (cells + 1,) from 0 to `length` [m].

    `grade` g is the size of the last cell over that of the first: g > 1 is finer at 0, g < 1 finer at the
    far end. A pair (a, b) is finer by a at 0 and by b at the far end, with the largest cells in the middle.
    """
    ends = np.atleast_1d(np.asarray(grade, float))
    if ends.shape not in {(1,), (2,)} or not (np.isfinite(ends).all() and (ends > 0).all()):
        raise InputError("grade", expected="a positive ratio or a pair of them", got=grade)
    t = np.linspace(0, 1, cells) if cells > 1 else np.zeros(1)
    # log of the cell size: straight from one end to the other, or a tent that peaks in the middle
    if len(ends) == 1:
        logs = t * np.log(ends[0])
    else:
        logs = np.interp(t, [0, 0.5, 1], [-np.log(ends[0]), 0, -np.log(ends[1])])
    x = np.concatenate([[0.0], np.cumsum(np.exp(logs))])
    return length * x / x[-1]


def through(breaks: Sequence[float] | np.ndarray, size: float) -> np.ndarray:
    """Coordinates that contain every break and no step longer than `size` (up to rounding) [m]."""
    counts = np.maximum(np.ceil(np.diff(breaks) / size - ROUNDING), 1).astype(int)
    steps = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(breaks, breaks[1:], counts)]
    return np.concatenate([*steps, [breaks[-1]]])


def within(values: np.ndarray, intervals: np.ndarray) -> np.ndarray:
    """Whether each value lies inside one of the intervals (n, 2)."""
    return np.any((values[..., None] > intervals[:, 0]) & (values[..., None] < intervals[:, 1]), axis=-1)


def middles(x: np.ndarray) -> np.ndarray:
    """Halfway between neighbouring coordinates."""
    return (x[1:] + x[:-1]) / 2


def tensor_grid(
    x: np.ndarray, y: np.ndarray, z: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hexahedra between coordinate planes: nodes (k, 3), cells (n, 8), regions (n,).

    `mask` (len(x)−1, len(y)−1, len(z)−1) says which cells exist; integers number the regions, 0 is void
    and True is region 0. Nodes that no cell uses are still there.
    """
    shape = (len(x), len(y), len(z))
    nodes = np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)
    corner = np.arange(len(nodes)).reshape(shape)
    offsets = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    i, j, k = (slice(0, n - 1) for n in shape)
    cells = np.stack(
        [
            corner[i.start + a : i.stop + a, j.start + b : j.stop + b, k.start + c : k.stop + c]
            for a, b, c in offsets
        ],
        axis=-1,
    )
    if mask is None:
        return nodes, cells.reshape(-1, 8), np.zeros(cells[..., 0].size, np.int64)
    mask = np.asarray(mask)
    regions = np.zeros(mask.shape, np.int64) if mask.dtype == bool else mask.astype(np.int64)
    return nodes, cells[mask != 0], regions[mask != 0]


def finish(
    nodes: np.ndarray,
    cells: np.ndarray,
    *,
    kind: str,
    order: int,
    regions: np.ndarray | None = None,
    curve: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Mesh:
    """The mesh of hexahedra (n, 8): cut into tetrahedra if `kind` is "tet", with mid nodes if `order` is 2.

    `curve(ends, middle)` places mid nodes on the true shape: ends (m, 2, 3) and middle (m, 3) [m] → (m, 3).
    """
    if kind not in {"tet", "hex"}:
        raise InputError("kind", expected='"tet" or "hex"', got=repr(kind))
    if order not in {1, 2}:
        raise InputError("order", expected="1 (straight) or 2 (mid nodes)", got=order)
    regions = np.zeros(len(cells), np.int64) if regions is None else regions
    if kind == "tet":
        cells, parent = tetrahedra(cells)
        regions = regions[parent]
    mesh = Mesh.compacted(nodes, cells, "tet4" if kind == "tet" else "hex8", regions)
    if order == 1:
        return mesh
    mesh = mesh.quadratic()
    if curve is None:
        return mesh
    moved = mesh.nodes.copy()
    moved[mesh.midnodes] = curve(mesh.nodes[mesh.edges_of_midnodes], mesh.nodes[mesh.midnodes])
    return mesh.with_nodes(moved)


def from_voxels(
    mask: np.ndarray, spacing: float | Sequence[float] = 1e-3, *, kind: str = "tet", order: int = 1
) -> Mesh:
    """One hexahedron, or five or six tetrahedra, for every voxel that is not 0 or False.

    `mask` (nx, ny, nz) is boolean, or numbers the regions (0 is void); `spacing` [m] is the voxel size, one
    number or three. The corner of the first voxel is at the origin.
    """
    mask = np.asarray(mask)
    if mask.ndim != 3 or not (mask != 0).any():
        raise InputError("voxel mask", expected="shape (nx, ny, nz) with a voxel in it", got=mask.shape)
    steps = np.broadcast_to(np.asarray(spacing, float), 3)
    positive(**{f"spacing along {axis}": step for axis, step in zip("xyz", steps)})
    x, y, z = (step * np.arange(n + 1) for step, n in zip(steps, mask.shape))
    nodes, cells, regions = tensor_grid(x, y, z, mask)
    return finish(nodes, cells, kind=kind, order=order, regions=regions)
