"""Coordinates of a shell: every node has a position and a rotation, or shares those of a rigid region.

q is the nodes of the sheet, then four frame nodes per region (its centre and the tips of its axes), then
per region t (3) and R (9, row-major); a node by itself is a region of its own, with R = I at rest. dq has
two blocks per region, translation and rotation, as those of a solid's rigid regions. Points at nodes by
themselves depend on translations only: they cost no more than on a solid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.bodies.coordinates import FRAME_NODES, Coordinates
from pliant.bodies.oriented_nodes import members, placed_at
from pliant.bodies.rigid import Rigid
from pliant.bodies.supports import rank_of_supports
from pliant.errors import InputError
from pliant.mesh.sheets import Sheet
from pliant.mesh.topology import pieces


@dataclass(frozen=True, eq=False)
class Numbering:
    """`coordinates` as for any body, and the region (n,) and arm (n, 3) [m] of each node and frame node.

    shared (k,): nodes of the sheet in rigid regions.
    """

    sheet: Sheet
    coordinates: Coordinates
    region: np.ndarray
    arm: np.ndarray
    shared: np.ndarray

    def __post_init__(self) -> None:
        for array in (self.region, self.arm, self.shared):
            array.setflags(write=False)

    @property
    def regions(self) -> int:
        """How many."""
        return len(self.coordinates.region_names)

    def frame_nodes(self, region: int | np.ndarray) -> np.ndarray:
        """The four frame nodes of regions, (..., 4)."""
        return len(self.sheet.nodes) + FRAME_NODES * np.asarray(region)[..., None] + np.arange(FRAME_NODES)

    def rigid_modes(self) -> int:
        """Rigid motions of the connected pieces of the sheet that supports and joints leave free."""
        c, k = self.coordinates, len(self.sheet.nodes)
        links = [self.sheet.cells]
        for r in np.unique(self.region[:k][self.shared]):
            nodes = np.flatnonzero(self.region[:k] == r)
            links.append(np.column_stack([nodes[:-1], nodes[1:], nodes[1:]]))
        label, free = pieces(np.vstack(links), k), 0
        for piece in np.unique(label):
            regions = np.unique(self.region[:k][label == piece])
            origin = c.region_centre[regions].mean(axis=0)
            rows = _motion(c, regions, origin, self.sheet.size)[~c.free.reshape(-1, 6)[regions]]
            free += 6 - rank_of_supports(rows)
        return free


def number(sheet: Sheet, fixed: np.ndarray, rigid: Sequence[Rigid]) -> Numbering:
    """The coordinates of a shell with fixed ones (k, 6) and rigid regions."""
    member = members(sheet.nodes, fixed, rigid)
    _, first, region = np.unique(member, return_index=True, return_inverse=True)
    placed = [
        (f"node {n}", np.eye(3), sheet.nodes[n], ~fixed[n])
        if member[n] >= len(rigid)
        else placed_at(rigid[int(member[n])], sheet.nodes[member == member[n]])
        for n in first.tolist()
    ]
    names = tuple(p[0] for p in placed)
    if len(set(names)) < len(names):
        raise InputError(
            "rigid regions", expected="a different name for each", got=sorted(r.name for r in rigid)
        )
    Q, centre = np.array([p[1] for p in placed]), np.array([p[2] for p in placed])
    m, k = len(placed), len(sheet.nodes)
    tips = np.sqrt(sheet.area / len(sheet.cells)) * np.vstack([np.zeros(3), np.eye(3)])
    frames = centre[:, None, :] + np.einsum("rij,fj->rfi", Q, tips)
    region = np.concatenate([region.ravel(), np.repeat(np.arange(m), FRAME_NODES)])
    arm = np.vstack(
        [np.einsum("nji,nj->ni", Q[region[:k]], sheet.nodes - centre[region[:k]]), np.tile(tips, (m, 1))]
    )
    shared = member < len(rigid)
    alone = np.concatenate([~shared, np.zeros(FRAME_NODES * m, bool)])
    coordinates = Coordinates(
        rest=np.vstack([sheet.nodes, frames.reshape(-1, 3)]),
        node_block=np.where(alone, 2 * region, -1),
        node_region=np.where(alone, -1, region),
        node_arm=np.where(alone[:, None], 0.0, arm),
        region_names=names,
        region_block=2 * np.arange(m),
        region_frame=Q,
        region_centre=centre,
        free=np.concatenate([p[3] for p in placed]),
    )
    return Numbering(sheet, coordinates, region, arm, shared)


def _motion(c: Coordinates, regions: np.ndarray, origin: np.ndarray, size: float) -> np.ndarray:
    """Coordinates (n, 6) of regions under unit rigid motions, (n, 6, 6); lengths in units of `size`."""
    arm, Q = (c.region_centre[regions] - origin) / size, c.region_frame[regions]
    spin = np.cross(np.eye(3)[None], arm[:, None, :])  # (n, axis, 3)
    motion = np.zeros((len(regions), 6, 6))
    motion[:, :3, :3] = motion[:, 3:, 3:] = np.swapaxes(Q, 1, 2)
    motion[:, :3, 3:] = np.einsum("nji,naj->nia", Q, spin)
    return motion
