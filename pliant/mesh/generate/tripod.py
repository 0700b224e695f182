"""A tripod: three legs at 120° that meet in the middle."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.disc import sweep
from pliant.mesh.generate.grid import at_least, finish, positive
from pliant.mesh.mesh import Mesh
from pliant.mesh.topology import compact, weld

SAME_PLACE = 1e-6  # of a leg's width: nodes that are nearer are one


def tripod(
    reach: float = 0.06,
    *,
    width: float = 0.018,
    thickness: float = 0.006,
    rise: float = 0.025,
    clamp: float = 0.008,
    across: int = 4,
    layers: int = 2,
    along: int = 10,
    kind: str = "tet",
    order: int = 1,
) -> Mesh:
    """A flat hub at the height `rise` with legs in the directions 0°, 120° and 240°. All lengths in metres.

    Each leg is `width` wide and `thickness` thick; it leaves the hub level and sweeps down to level ends at
    z = 0, `reach` from the axis. The last `clamp` of the legs, where servo arms clamp them, are regions 1,
    2, 3; the rest is region 0. Cells: `across` a leg (even), `layers` its thickness, `along` it.
    """
    positive(reach=reach, width=width, thickness=thickness, clamp=clamp)
    at_least(1, layers=layers)
    at_least(2, across=across, along=along)
    hub = width / (2 * 3**0.5)  # distance from the axis to a side of the hub, a triangle, where a leg begins
    if across % 2:
        raise InputError("across", expected="an even number", got=across)
    if hub + clamp >= reach or rise < 0:
        raise InputError("tripod", expected=f"reach > {hub + clamp:g} m and rise ≥ 0", got=(reach, rise))
    knots = np.append(np.linspace(hub, reach - clamp, along), reach)
    points, quads, clamped = _plan(width, across, knots)
    plan, cells = sweep(points, quads, thickness * np.linspace(-0.5, 0.5, layers + 1))

    axes = _leg_axes()
    leg = (plan[:, :2] @ axes.T).argmax(axis=1)
    share = np.clip(((plan[:, :2] * axes[leg]).sum(axis=1) - hub) / (reach - clamp - hub), 0, 1)
    slope = -rise * np.pi / 2 * np.sin(np.pi * share) / (reach - clamp - hub)
    normal = np.column_stack([-slope[:, None] * axes[leg], np.ones(len(plan))]) / np.hypot(1, slope)[:, None]
    height = rise * (1 + np.cos(np.pi * share)) / 2
    nodes = np.column_stack([plan[:, :2], height]) + plan[:, 2:] * normal
    return finish(nodes, cells, kind=kind, order=order, regions=np.tile(clamped, layers))


def _leg_axes() -> np.ndarray:
    angle = 2 * np.pi * np.arange(3) / 3
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _plan(width: float, across: int, knots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The tripod from above: points (n, 2), quadrilaterals (m, 4), the clamped leg of each (1 to 3, or 0)."""
    blocks, clamped = [], []
    u = width * np.linspace(-0.5, 0.5, across + 1)
    axes = _leg_axes()
    turned = np.column_stack([-axes[:, 1], axes[:, 0]])
    sides = knots[0] * axes  # middles of the hub's sides
    for i in range(3):
        blocks.append(knots[:, None, None] * axes[i] + u[None, :, None] * turned[i])
        last = np.zeros((len(knots) - 1, across), np.int64)
        last[-1] = i + 1
        clamped.append(last.ravel())
        # A third of the hub: its centre, the middle of a side, the corner, the middle of the next side.
        a, b = np.meshgrid(*2 * [np.linspace(0, 1, across // 2 + 1)], indexing="ij")
        corner = -2 * sides[(i + 2) % 3]
        a, b = a[..., None], b[..., None]
        blocks.append(a * (1 - b) * sides[i] + a * b * corner + (1 - a) * b * sides[(i + 1) % 3])
        clamped.append(np.zeros((across // 2) ** 2, np.int64))
    quads, offset = [], 0
    for block in blocks:
        n = offset + np.arange(block[..., 0].size).reshape(block.shape[:2])
        quads.append(np.stack([n[:-1, :-1], n[1:, :-1], n[1:, 1:], n[:-1, 1:]], axis=-1).reshape(-1, 4))
        offset += n.size
    points = np.vstack([block.reshape(-1, 2) for block in blocks])
    lowest = weld(points, SAME_PLACE * width)
    points, cells, _ = compact(points, lowest[np.vstack(quads)])
    return points, cells, np.concatenate(clamped)
