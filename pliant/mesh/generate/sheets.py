"""Parametric sheets: flat and round ones, tubes, spheres, pillows, and any mapped rectangle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pliant.errors import InputError, unknown_name
from pliant.mesh.generate.disc import ROUNDING, check_around
from pliant.mesh.generate.disc import disc as disc_quads
from pliant.mesh.generate.grid import at_least, positive
from pliant.mesh.sheets import Sheet, join_sheets
from pliant.mesh.topology import weld

PATTERNS = ("alternating", "diagonal", "crossed")
SPHERE_PARTS = ("sphere", "half", "octant")
SAME_PLACE = 1e-9  # of the sheet's size: nodes that are nearer are one
SEAM = 1e-6  # of the radius: nodes of a seam that are nearer are one
BULGE = 0.01  # of a pillow's shorter side: its height by default


def sheet(
    size: Sequence[float] = (0.1, 0.1), *, cells: Sequence[int] = (10, 10), pattern: str = "alternating"
) -> Sheet:
    """A flat rectangle from the origin to (width, height, 0) [m], its front towards +z.

    `cells` rectangles along x and y, each cut into triangles: "alternating" (a diagonal that turns from one
    to the next: no preferred direction), "diagonal" (the same one everywhere), or "crossed" (four triangles).
    """
    positive(width=size[0], height=size[1])
    return mapped_sheet(
        lambda u, v: np.column_stack([size[0] * u, size[1] * v, 0.0 * u]), cells=cells, pattern=pattern
    )


def mapped_sheet(
    shape: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    cells: Sequence[int] = (10, 10),
    pattern: str = "alternating",
) -> Sheet:
    """The surface shape(u, v) → (n, 3) [m] over the square 0 ≤ u, v ≤ 1; its front is ∂x/∂u × ∂x/∂v.

    Nodes that coincide (a tube's seam, a pole) become one, and triangles without area are left out.
    """
    points, triangles = cut(*_grid(cells), pattern)
    nodes = np.asarray(shape(points[:, 0], points[:, 1]), float)
    if nodes.shape != (len(points), 3):
        raise InputError(
            "shape of a sheet",
            expected=f"a function (n,), (n,) → (n, 3), here n = {len(points)}",
            got=nodes.shape,
        )
    triangles = weld(nodes, SAME_PLACE * float(np.linalg.norm(np.ptp(nodes, axis=0))))[triangles]
    return Sheet.compacted(nodes, triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)])


def disc_sheet(
    radius: float = 0.05, *, around: int = 24, rings: int = 4, pattern: str = "alternating"
) -> Sheet:
    """A flat disc about the origin of `radius` [m], its front towards +z: a square core inside rings.

    `around` triangles' sides on the rim (a multiple of 4).
    """
    positive(radius=radius)
    points, quads = disc_quads(around, rings)
    points, triangles = cut(points, quads, pattern)
    return Sheet(np.column_stack([radius * points, np.zeros(len(points))]), triangles)


def tube_sheet(
    radius: float = 0.02,
    length: float = 0.1,
    *,
    around: int = 24,
    along: int = 12,
    angle: float = 2 * np.pi,
    caps: bool = False,
    pattern: str = "diagonal",
) -> Sheet:
    """A tube about z from z = 0 to `length` [m], its front outward.

    `angle` [rad] less than a full turn keeps a part of it, from the x axis counter-clockwise. `caps` closes
    both ends with discs (a full turn, `around` a multiple of 4). The pattern is "diagonal" here: under
    pressure, curved sheets fare best with six triangles at every node.
    """
    positive(radius=radius, length=length, angle=angle)
    if angle > 2 * np.pi * (1 + ROUNDING):
        raise InputError("angle", expected="at most a full turn, 2π", got=angle)
    full = angle > 2 * np.pi * (1 - ROUNDING)
    check_around(around, multiple=4 if caps else 1) if full else at_least(1, around=around)
    if caps and not full:
        raise InputError("caps", expected="a full turn", got=f"angle {angle:g} rad")
    start = -3 * np.pi / 4 if caps else 0.0  # where the discs begin

    def wall(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        turn = start + angle * u
        return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), length * v])

    tube = mapped_sheet(wall, cells=(around, along), pattern=pattern)
    if not caps:
        return tube
    lid = disc_sheet(radius, around=around, rings=max(1, around // 8), pattern=pattern)
    ends = lid.flipped(), lid.transformed(translation=(0, 0, length))
    return join_sheets([tube, *ends], weld=SEAM * radius)


def sphere_sheet(radius: float = 0.03, *, cells: int = 6, part: str = "sphere") -> Sheet:
    """A sphere about the origin of `radius` [m], its front outward.

    An icosahedron with edges cut into `cells`: 10 cells² + 2 nodes, six triangles at nearly all of them.
    part: "half" (z ≥ 0) and "octant" (x, y, z ≥ 0) are cut from an octahedron, for symmetric problems.
    """
    positive(radius=radius)
    at_least(1, cells=cells)
    if part not in SPHERE_PARTS:
        raise unknown_name("part of a sphere", part, SPHERE_PARTS)
    corners, faces = _icosahedron() if part == "sphere" else _half_octahedron()
    faces = faces[:1] if part == "octant" else faces
    angle = np.arccos(corners[faces[0, 0]] @ corners[faces[0, 1]])
    i, j = np.array([(i, j) for i in range(cells + 1) for j in range(cells + 1 - i)]).T
    share = np.sin(angle * np.column_stack([cells - i - j, i, j]) / cells)  # equal angles along the edges
    nodes = np.einsum("pa,fai->fpi", share, corners[faces]).reshape(-1, 3)
    nodes *= radius / np.linalg.norm(nodes, axis=1, keepdims=True)
    number = np.full((cells + 2, cells + 2), -1)
    number[i, j] = np.arange(len(i))
    up = np.stack([number[:-1, :-1], number[1:, :-1], number[:-1, 1:]], axis=-1).reshape(-1, 3)
    down = np.stack([number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 3)
    triangles = np.vstack([up, down])
    triangles = triangles[(triangles >= 0).all(axis=1)]
    triangles = (triangles + len(i) * np.arange(len(faces))[:, None, None]).reshape(-1, 3)
    return Sheet.compacted(nodes, weld(nodes, SEAM * radius / cells)[triangles])


def pillow_sheet(
    size: Sequence[float] = (0.1, 0.1),
    *,
    cells: Sequence[int] = (10, 10),
    height: float = 0.0,
    pattern: str = "alternating",
) -> Sheet:
    """An air cushion: two rectangles of `size` (width, height) [m] in the x-y plane, joined at their rims.

    They bulge to ±`height`/2 [m] in the middle, so that there is a volume to begin with; 0 takes 1 % of the
    shorter side.
    """
    positive(width=size[0], height=size[1])
    bulge = 0.5 * (height or BULGE * min(size))

    def half(side: float) -> Sheet:
        rise = lambda u, v: 16 * side * bulge * u * (1 - u) * v * (1 - v)
        return mapped_sheet(
            lambda u, v: np.column_stack([size[0] * u, size[1] * v, rise(u, v)]), cells=cells, pattern=pattern
        )

    return join_sheets([half(1.0), half(-1.0)], weld=SAME_PLACE * float(np.linalg.norm(size)))


def cut(points: np.ndarray, quads: np.ndarray, pattern: str) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, d) and triangles (t, 3) of quadrilaterals (m, 4), each cut as the pattern says."""
    if pattern not in PATTERNS:
        raise unknown_name("pattern", pattern, PATTERNS)
    a, b, c, d = quads.T
    if pattern == "crossed":
        middle = len(points) + np.arange(len(quads))
        sides = [np.column_stack([i, j, middle]) for i, j in ((a, b), (b, c), (c, d), (d, a))]
        return np.vstack([points, points[quads].mean(axis=1)]), np.stack(sides, axis=1).reshape(-1, 3)
    one = np.stack([np.column_stack([a, b, c]), np.column_stack([a, c, d])], axis=1)
    other = np.stack([np.column_stack([a, b, d]), np.column_stack([b, c, d])], axis=1)
    turned = _coloured(quads) if pattern == "alternating" else np.zeros(len(quads), bool)
    return points, np.where(turned[:, None, None], other, one).reshape(-1, 3)


def _grid(cells: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 2) of the unit square and its quadrilaterals, counter-clockwise."""
    n, m = cells
    at_least(1, cells_along=n, cells_across=m)
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1), indexing="ij")
    number = np.arange((n + 1) * (m + 1)).reshape(n + 1, m + 1)
    corners = [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]]
    return np.column_stack([u.ravel(), v.ravel()]), np.stack(corners, axis=-1).reshape(-1, 4)


def _coloured(quads: np.ndarray) -> np.ndarray:
    """Where (m,) the diagonal runs from corner 1 to 3.

    Nodes get two colours, different at the ends of every edge (as far as that is possible); diagonals join
    nodes of the first.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    i, j = quads.ravel(), np.roll(quads, -1, axis=1).ravel()
    size = int(quads.max()) + 1
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(size, size)).tocsr()
    colour, seen = np.zeros(size, bool), np.zeros(size, bool)
    for start in np.unique(quads):
        if not seen[start]:
            reached, before = breadth_first_order(graph, start, directed=False)
            seen[reached] = True
            for node in reached[1:]:
                colour[node] = ~colour[before[node]]
    return colour[quads[:, 0]]


def _icosahedron() -> tuple[np.ndarray, np.ndarray]:
    """Corners (12, 3) on the unit sphere, two of them on the z axis, and faces (20, 3), outward."""
    height, turn = 1.0 / np.sqrt(5.0), 2 * np.pi * np.arange(5) / 5
    ring = lambda z, shift: np.column_stack(
        [2 * height * np.cos(turn + shift), 2 * height * np.sin(turn + shift), z + 0 * turn]
    )
    corners = np.vstack([[0, 0, 1], ring(height, 0.0), ring(-height, np.pi / 5), [0, 0, -1]])
    k = np.arange(5)
    upper, lower, after = 1 + k, 6 + k, (k + 1) % 5
    faces = [
        np.column_stack([0 * k, upper, 1 + after]),
        np.column_stack([upper, lower, 1 + after]),
        np.column_stack([1 + after, lower, 6 + after]),
        np.column_stack([0 * k + 11, 6 + after, lower]),
    ]
    return corners, np.vstack(faces)


def _half_octahedron() -> tuple[np.ndarray, np.ndarray]:
    """Corners (5, 3) on the unit sphere and faces (4, 3), outward; the first in the octant x, y, z ≥ 0."""
    corners = np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1]], float)
    return corners, np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
