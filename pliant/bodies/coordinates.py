"""Coordinates of a solid body: which part of dq moves which node.

q is the positions of all nodes (fixed ones too), then of four frame nodes per rigid region (its centre and
the tips of its axes), then per region t (3) and R (9, row-major). dq has one block of three for every node
that is neither fully fixed nor in a region, in node order, then two blocks per region: translation and
rotation in the region's axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.bodies.rigid import Rigid
from pliant.bodies.supports import select_nodes
from pliant.errors import InputError, unknown_name
from pliant.mesh import Mesh

FRAME_NODES = 4  # of a rigid region: its centre and the tips of its axes
FRAME_OF_A_POINT = 0.01  # of the mesh's extent: length of the frame's axes where all nodes are in one place


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Numbering of q and dq. `k` nodes of the mesh, `n` of them and the frame nodes, m regions."""

    rest: np.ndarray  # (n, 3) [m] positions at rest
    node_block: np.ndarray  # (n,) block of dq that moves the node itself, −1 for none
    node_region: np.ndarray  # (n,) rigid region of the node, −1 for none
    node_arm: np.ndarray  # (n, 3) [m] aₙ = Qᵀ(Xₙ − c), zero outside regions
    region_names: tuple[str, ...]
    region_block: np.ndarray  # (m,) translation block of each region; rotation is the next
    region_frame: np.ndarray  # (m, 3, 3) Q
    region_centre: np.ndarray  # (m, 3) [m] c
    free: np.ndarray  # (ndof,) False for locked coordinates

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @property
    def size(self) -> int:
        """Blocks of dq."""
        return len(self.free) // 3

    @cached_property
    def moving(self) -> np.ndarray:
        """Where the nodes' own blocks stand in q (3 × blocks of nodes,)."""
        nodes = np.flatnonzero(self.node_block >= 0)
        return (3 * nodes[:, None] + np.arange(3)).ravel()

    @cached_property
    def rigid_nodes(self) -> np.ndarray:
        """Nodes in rigid regions."""
        return np.flatnonzero(self.node_region >= 0)

    @cached_property
    def locked(self) -> np.ndarray:
        """Indices of the locked coordinates in dq."""
        return np.flatnonzero(~self.free)

    @cached_property
    def pose(self) -> int:
        """Where the first region's t and R begin in q."""
        return 3 * len(self.rest)

    @cached_property
    def rank(self) -> np.ndarray:
        """(n,) order in assembly: fixed nodes −1, then as their blocks, then region by region."""
        rank, rigid = self.node_block.copy(), self.rigid_nodes
        by_region = np.argsort(self.node_region[rigid], kind="stable")
        rank[rigid[by_region]] = self.size + np.arange(len(rigid))
        return rank

    @cached_property
    def q0(self) -> np.ndarray:
        """Coordinates at rest."""
        poses = [np.concatenate([c, Q.ravel()]) for c, Q in zip(self.region_centre, self.region_frame)]
        q = np.concatenate([self.rest.ravel(), *poses])
        q.setflags(write=False)
        return q

    @cached_property
    def block_position(self) -> np.ndarray:
        """(size, 3) [m] where each block of dq acts: the node, or the centre of the region."""
        return np.vstack([self.rest[self.node_block >= 0], np.repeat(self.region_centre, 2, axis=0)])

    def region(self, name: str) -> int:
        """The number of the region called `name`."""
        if name not in self.region_names:
            raise unknown_name("rigid region", name, self.region_names)
        return self.region_names.index(name)

    def frame_nodes(self, r: int) -> np.ndarray:
        """The four frame nodes of region r."""
        return len(self.rest) - FRAME_NODES * (len(self.region_names) - r) + np.arange(FRAME_NODES)


def number(mesh: Mesh, given: Mesh, fixed: np.ndarray, regions: Sequence[Rigid]) -> Coordinates:
    """The coordinates of a body with fixed components (k, 3) and regions chosen on the mesh `given`."""
    m, k = len(regions), len(mesh.nodes)
    n = k + FRAME_NODES * m
    node_region = np.full(n, -1, np.int64)
    for r, region in enumerate(regions):
        if not isinstance(region, Rigid):
            hint = "Rigid(nodes, name=…) makes one."
            raise InputError("rigid", expected="Rigid regions", got=type(region).__name__, hint=hint)
        mask = _region_mask(region, given, mesh, fixed, node_region[:k])
        node_region[:k][mask] = r
        node_region[k + FRAME_NODES * r : k + FRAME_NODES * (r + 1)] = r
    names = tuple(region.name for region in regions)
    if len(set(names)) != m:
        raise InputError("rigid regions", expected="a different name for each", got=names)
    own = np.zeros(n, bool)
    own[:k] = ~fixed.all(axis=1) & (node_region[:k] < 0)
    placed = [region.place(mesh.nodes[node_region[:k] == r]) for r, region in enumerate(regions)]
    rest, arm = _arms(mesh.nodes, node_region, placed)
    free = [~fixed[own[:k]].ravel(), *(p[2] for p in placed)]
    return Coordinates(
        rest=rest,
        node_block=np.where(own, np.cumsum(own) - 1, -1),
        node_region=node_region,
        node_arm=arm,
        region_names=names,
        region_block=own.sum() + 2 * np.arange(m),
        region_frame=np.array([p[0] for p in placed]).reshape(m, 3, 3),
        region_centre=np.array([p[1] for p in placed]).reshape(m, 3),
        free=np.concatenate(free),
    )


def _region_mask(region: Rigid, given: Mesh, mesh: Mesh, fixed: np.ndarray, taken: np.ndarray) -> np.ndarray:
    what = f"rigid region {region.name!r}"
    mask = np.asarray(select_nodes(what, region.nodes, given, mesh).all(axis=1))
    if not mask.any():
        raise InputError(what, expected="at least one node", got="none")
    for problem, where in (("fixed", fixed.any(axis=1)), ("already in another region", taken >= 0)):
        clash = np.flatnonzero(mask & where)
        if len(clash):
            raise InputError(
                what,
                expected="nodes that are free",
                got=f"{len(clash)} {problem}, the first is node {clash[0]}",
                hint="Support a region with joint=Hinge(...), Prismatic(...) or Ball(...).",
            )
    return mask


def _arms(nodes: np.ndarray, node_region: np.ndarray, placed: list) -> tuple[np.ndarray, np.ndarray]:
    """Rest positions (n, 3) of nodes and frame nodes, and the arms of those in regions."""
    k, n = len(nodes), len(node_region)
    rest, arm = np.zeros((n, 3)), np.zeros((n, 3))
    rest[:k] = nodes
    for r, (Q, centre, _) in enumerate(placed):
        inside = np.flatnonzero(node_region[:k] == r)
        arm[inside] = (nodes[inside] - centre) @ Q
        reach = np.linalg.norm(arm[inside], axis=1).max() or FRAME_OF_A_POINT * float(np.ptp(nodes))
        frame = k + FRAME_NODES * r + np.arange(FRAME_NODES)
        arm[frame[1:]] = reach * np.eye(3)
        rest[frame] = centre + arm[frame] @ Q.T
    return rest, arm
