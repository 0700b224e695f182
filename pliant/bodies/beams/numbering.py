"""Coordinates of a beam: every node of its lines is a rigid region of its own, or shares one with others.

q is the nodes of the mesh that the beam carries, then four frame nodes per region (its centre and the tips
of its axes), then per region t (3) and R (9, row-major). dq has two blocks per region, translation and
rotation, as those of a solid's rigid regions: whatever can be attached to one can be attached to a beam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.bodies.coordinates import FRAME_NODES, Coordinates
from pliant.bodies.oriented_nodes import members, placed_at, select_fixed
from pliant.bodies.rigid import Rigid
from pliant.bodies.supports import checked_indices, count_rigid_modes
from pliant.errors import InputError
from pliant.mesh.lines import Lines


@dataclass(frozen=True, eq=False)
class Numbering:
    """Regions of the nodes: `node_region` (k,), `node_arm` (k, 3) [m] in the region's axes."""

    lines: Lines
    coordinates: Coordinates
    node_region: np.ndarray
    node_arm: np.ndarray

    def region(self, which: str | int) -> int:
        """The region called by name, or of a node."""
        if isinstance(which, str):
            return self.coordinates.region(which)
        return int(self.node_region[checked_indices("node", np.asarray(which), len(self.node_region))[0]])

    @property
    def frames(self) -> np.ndarray:
        """Frame nodes (m, 4) of the regions."""
        m = len(self.coordinates.region_names)
        first = len(self.coordinates.rest) - FRAME_NODES * m
        return first + np.arange(FRAME_NODES * m).reshape(m, FRAME_NODES)

    @property
    def scale(self) -> np.ndarray:
        """Distance (m,) [m] of the axis tips from the centre."""
        return self.coordinates.node_arm[self.frames[:, 1], 0]

    def rigid_modes(self) -> int:
        """Rigid motions that supports and joints leave free."""
        of_nodes = replace(self.coordinates, node_region=self.node_region)
        nothing = np.zeros((len(self.lines.nodes), 3), bool)
        mesh: Any = self.lines
        return count_rigid_modes(mesh, of_nodes, nothing)


def number(lines: Lines, carried: np.ndarray, fixed: Any, rigid: Sequence[Rigid]) -> Numbering:
    """The coordinates of a beam that carries mesh nodes (n, 3) [m]."""
    mask = select_fixed(fixed, lines.nodes)
    member = members(lines.nodes, mask, rigid)
    groups, first = np.unique(member, return_index=True)
    groups = groups[np.argsort(first)]  # regions in the order of their first nodes
    place = np.empty(len(rigid) + len(lines.nodes), np.int64)
    place[groups] = np.arange(len(groups))
    node_region = place[member]
    placed = [
        placed_at(rigid[n], lines.nodes[member == n])
        if n < len(rigid)
        else (f"node {n - len(rigid)}", np.eye(3), lines.nodes[n - len(rigid)], ~mask[n - len(rigid)])
        for n in groups
    ]
    names = tuple(p[0] for p in placed)
    if len(set(names)) < len(names):
        raise InputError("rigid regions", expected="a different name for each", got=names)
    Q, centre = np.array([p[1] for p in placed]), np.array([p[2] for p in placed])
    arm = np.einsum("nji,nj->ni", Q[node_region], lines.nodes - centre[node_region])
    coordinates = _coordinates(carried, names, Q, centre, np.array([p[3] for p in placed]), lines)
    for array in (node_region, arm):
        array.setflags(write=False)
    return Numbering(lines, coordinates, node_region, arm)


def _coordinates(
    carried: np.ndarray,
    names: tuple[str, ...],
    Q: np.ndarray,
    centre: np.ndarray,
    free: np.ndarray,
    lines: Lines,
) -> Coordinates:
    m, n = len(names), len(carried)
    scale = lines.length / len(lines.elements)
    tips = scale * np.vstack([np.zeros(3), np.eye(3)])
    frames = centre[:, None, :] + np.einsum("rij,fj->rfi", Q, tips)
    return Coordinates(
        rest=np.vstack([carried, frames.reshape(-1, 3)]),
        node_block=np.full(n + FRAME_NODES * m, -1),
        node_region=np.concatenate([np.full(n, -1), np.repeat(np.arange(m), FRAME_NODES)]),
        node_arm=np.vstack([np.zeros((n, 3)), np.tile(tips, (m, 1))]),
        region_names=names,
        region_block=2 * np.arange(m),
        region_frame=Q,
        region_centre=centre,
        free=free.ravel(),
    )
