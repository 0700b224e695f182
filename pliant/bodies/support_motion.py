"""Supports that were moved: the way from where the body has them to where they are.

`move_supports` writes into q where supports shall be, and leaves the body behind. Where it was before is read
from the body itself: nodes next to a support say which rigid motion x = R X + t it had. From there each patch
of supports turns and travels in equal shares, whatever is not rigid in its motion grows in proportion, and
the body is carried along, every point by the mean of the patches' motions, weighted by 1/distance² at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import pliant.sparse as sp
from pliant.errors import InputError

NEAREST = 1e-6  # of the body's size: points nearer to a support than this go with it
PREFERRED = 1e-9  # weight of no rotation, where a patch of supports is too small to say how it turned


@dataclass(frozen=True)
class Patch:
    """Supports that hang together: from x0 (n, 3) to x1 (n, 3) [m], by a turn (3,) [rad] and what is left."""

    members: np.ndarray
    rest: np.ndarray
    x0: np.ndarray
    x1: np.ndarray
    turn: np.ndarray
    oriented: np.ndarray  # of the members: their rotation is fixed as well, or all of it but that of a hinge
    R1: np.ndarray  # (k, 3, 3) rotations of these at the end
    hinged: np.ndarray  # (k,) which of these may still turn

    def placed(self, s: float) -> np.ndarray:
        """Where its members are at a share s of the way, (n, 3) [m]."""
        c0, c1 = self.x0.mean(axis=0), self.x1.mean(axis=0)
        whole = (self.x0 - c0) @ _rotation(self.turn).T
        left = self.x1 - c1 - whole
        return c0 + s * (c1 - c0) + (self.x0 - c0) @ _rotation(s * self.turn).T + s * left

    def turned(self, s: float) -> np.ndarray:
        """Rotations (k, 3, 3) of the members that have one, at a share s of the way."""
        return _rotation((s - 1.0) * self.turn) @ self.R1

    def motion(self, x: np.ndarray, s0: float, s1: float) -> np.ndarray:
        """How far [m] it takes points x (k, 3) along between two shares."""
        c0, c1 = self.placed(s0).mean(axis=0), self.placed(s1).mean(axis=0)
        return (x - c0) @ _rotation((s1 - s0) * self.turn).T + c1 - x


@dataclass(frozen=True)
class SupportMotion:
    """The motion of a body's supports, in patches."""

    body: Any
    patches: tuple[Patch, ...]
    turning: bool  # the members are regions with a rotation, as in rods and shells; else nodes
    spacing: float  # [m] between supports and what is next to them at rest, on average

    @property
    def farthest(self) -> float:
        """How far [m] a support moves at most."""
        return max(float(np.linalg.norm(p.x1 - p.x0, axis=1).max()) for p in self.patches)

    def carried(self, q: np.ndarray, s0: float, s1: float) -> np.ndarray:
        """q with the supports at a share s1 of their way, and the body carried along from a share s0."""
        dq = self._dq(q, s0, s1) if s0 != s1 else np.zeros(self.body.ndof)
        q, count = q.copy(), 3 * len(self.body.node_block)
        x, poses = q[:count].reshape(-1, 3), q[count:].reshape(-1, 12)
        for patch in self.patches:
            if self.turning:
                poses[patch.members, :3] = patch.placed(s1)
                own = np.tile(np.eye(3), (len(patch.R1), 1, 1))
                if s0 != s1:  # what hinges have turned by themselves stays
                    R = poses[patch.members[patch.oriented], 3:].reshape(-1, 3, 3)[patch.hinged]
                    own[patch.hinged] = patch.turned(s0)[patch.hinged].transpose(0, 2, 1) @ R
                poses[patch.members[patch.oriented], 3:] = (patch.turned(s1) @ own).reshape(-1, 9)
            else:
                x[patch.members] = patch.placed(s1)
        return self.body.retract(q, dq)

    def _dq(self, q: np.ndarray, s0: float, s1: float) -> np.ndarray:
        body, dq = self.body, np.zeros((self.body.ndof // 3, 3))
        count, turns = 3 * len(body.node_block), np.asarray(body.region_block, int)
        own = np.flatnonzero(body.node_block >= 0)[: 0 if self.turning else None]
        x, poses = q[:count].reshape(-1, 3)[own], q[count:].reshape(-1, 12)
        rest = body.q0[:count].reshape(-1, 3)[own], body.q0[count:].reshape(-1, 12)[:, :3]
        nodes, regions = self._weights(rest[0]), self._weights(rest[1])
        turn = np.zeros((len(poses), 3))
        for w, v, patch in zip(nodes.T, regions.T, self.patches, strict=True):
            dq[body.node_block[own]] += w[:, None] * patch.motion(x, s0, s1)
            dq[turns] += v[:, None] * patch.motion(poses[:, :3], s0, s1)
            turn += (s1 - s0) * v[:, None] * patch.turn
        Q, R = np.asarray(body.region_frame).reshape(-1, 3, 3), poses[:, 3:].reshape(-1, 3, 3)
        dq[turns] = np.einsum("nji,nj->ni", Q, dq[turns])
        dq[turns + 1] = np.einsum("nji,nj->ni", R, turn)
        for patch in self.patches if self.turning else ():
            dq[turns[patch.members[patch.oriented]] + 1] = 0.0  # they are placed, not carried
        return dq.ravel()

    def _weights(self, rest: np.ndarray) -> np.ndarray:
        """Share (k, patches) that each patch has in the motion of points with rest positions (k, 3)."""
        from scipy.spatial import KDTree  # slow to import

        if not len(rest):
            return np.zeros((0, len(self.patches)))
        least = NEAREST * float(np.ptp(self.body.mesh.nodes, axis=0).max())
        far = [np.maximum(KDTree(p.rest).query(rest)[0], least) for p in self.patches]
        w = np.stack(far, axis=1) ** -2.0
        return w / w.sum(axis=1, keepdims=True)


def support_motion(body: Any, q: np.ndarray) -> SupportMotion | None:
    """How the supports of a body with nodes and rigid regions came to where q has them; None without any.

    Supports are nodes that are fixed in all directions; of rods and shells, those whose position is fixed.
    """
    turning = body.ndof == 6 * len(body.region_block)
    rest, now, fixed, edges = _oriented(body, q) if turning else _nodal(body, q)
    if not fixed.any() or fixed.all():
        return None
    label = _clusters(fixed, edges)
    patches = []
    for n in range(int(label.max()) + 1):
        inside = label == n
        ring = np.unique(edges[inside[edges].any(axis=1)])
        ring = ring[~fixed[ring]]
        members = np.flatnonzero(inside)
        if len(ring):
            patches.append(_patch(body, q, members, ring, rest, now, turning))
    if not patches:
        return None
    i, j = edges[fixed[edges].sum(axis=1) == 1].T
    spacing = float(np.linalg.norm(rest[i] - rest[j], axis=1).mean())
    return SupportMotion(body, tuple(patches), turning, spacing)


def _patch(body: Any, q: np.ndarray, members, ring, rest, now, turning: bool) -> Patch:
    """A patch whose place before follows from the nodes around it."""
    oriented, from_rest, R1 = np.zeros(len(members), bool), np.zeros((0, 3, 3)), np.zeros((0, 3, 3))
    poses, free = np.zeros((0, 3, 3)), np.zeros((len(members), 3), bool)
    if turning:
        poses = q[3 * len(body.node_block) :].reshape(-1, 12)[:, 3:].reshape(-1, 3, 3)
        from_rest = poses @ np.asarray(body.region_frame).reshape(-1, 3, 3).transpose(0, 2, 1)
        R = _nearest_rotation(from_rest[ring].sum(axis=0))
        free = np.asarray(body.free).reshape(-1, 6)[members, 3:]
        oriented = np.asarray(~free.all(axis=1))
    else:
        R = _fitted(rest[ring], now[ring])
    x0 = now[ring].mean(axis=0) + (rest[members] - rest[ring].mean(axis=0)) @ R.T
    turn = _fitted(x0, now[members])
    if oriented.any():
        R1 = poses[members[oriented]]
        turn = _nearest_rotation((from_rest[members[oriented]] @ R.T).sum(axis=0))
    hinged = np.asarray(free[oriented].any(axis=1))
    return Patch(members, rest[members], x0, now[members], rotation_vectors(turn), oriented, R1, hinged)


def carried_regions(body: Any, chosen: np.ndarray) -> np.ndarray:
    """Which of the chosen regions (m,) a motion of supports carries: clamped ones, hinges and balls.

    A slide among them is an error: its direction is fixed in space.
    """
    free = np.asarray(body.free).reshape(-1, 2, 3)[: len(chosen)]
    slides = np.flatnonzero(chosen & free[:, 0].any(axis=1) & ~free[:, 0].all(axis=1))
    if len(slides):
        _refuse(body.coordinates.region_names[slides[0]], "the directions that it is free in stay in space")
    return chosen & ~free[:, 0].any(axis=1)


def refuse_joints(body: Any, nodes: np.ndarray | None) -> None:
    """An error where a motion of the fixed nodes of a body would leave a jointed region behind."""
    c = body.coordinates
    for r, name in enumerate(c.region_names):
        first = 3 * int(c.region_block[r])
        mine = c.node_region[: len(body.mesh.nodes)] == r
        if not c.free[first : first + 6].all() and (nodes is None or (mine & nodes).any()):
            _refuse(name, "only fixed nodes of this kind of body are moved")


def _refuse(name: str, why: str) -> None:
    hint = "Pick what is to move by nodes=, or draw the body where it shall be and join it: pl.joints."
    got = f"the joint of {name!r}: {why}"
    raise InputError("move_supports", expected="supports that can be moved", got=got, hint=hint)


def _nodal(body: Any, q: np.ndarray):
    """Rest and present positions of nodes, which are fixed, and which belong together."""
    k = len(body.mesh.nodes)
    fixed = (body.node_block[:k] < 0) & (body.node_region[:k] < 0)
    return body.mesh.nodes, q[: 3 * k].reshape(-1, 3), fixed, _edges(body.mesh.cells)


def _oriented(body: Any, q: np.ndarray):
    """The same of the regions of rods and shells, every node being in one."""
    count = 3 * len(body.node_block)
    centres = lambda of: of[count:].reshape(-1, 12)[:, :3]
    fixed = np.asarray((~np.asarray(body.free).reshape(-1, 6)[:, :3]).all(axis=1))
    rows, cols = np.asarray(body.pattern.rows) // 2, np.asarray(body.pattern.cols) // 2
    return centres(body.q0), centres(q), fixed, np.stack([rows, cols], axis=1)[rows != cols]


def _edges(cells: np.ndarray) -> np.ndarray:
    n = cells.shape[1]
    i, j = np.triu_indices(n, 1)
    return np.stack([cells[:, i].ravel(), cells[:, j].ravel()], axis=1)


def _clusters(fixed: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Number of the patch of each support, −1 elsewhere."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    inner = edges[fixed[edges].all(axis=1)]
    shape = (len(fixed), len(fixed))
    graph = sp.coo_array((np.ones(len(inner)), (inner[:, 0], inner[:, 1])), shape=shape)
    label, out = connected_components(graph, directed=False)[1], np.full(len(fixed), -1)
    out[fixed] = np.unique(label[fixed], return_inverse=True)[1]
    return out


def _fitted(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) that turns points x best into y; the least one where several do."""
    A = (y - y.mean(axis=0)).T @ (x - x.mean(axis=0))
    return _nearest_rotation(A + PREFERRED * max(float(np.abs(A).max()), 1e-300) * np.eye(3))


def _nearest_rotation(A: np.ndarray) -> np.ndarray:
    u, _, vt = np.linalg.svd(A)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt


def _rotation(turn: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation  # slow to import

    return Rotation.from_rotvec(turn).as_matrix()


def rotation_vectors(R: np.ndarray) -> np.ndarray:
    """The vectors (n, 3) [rad] of rotations (n, 3, 3), or (3,) of one."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()
