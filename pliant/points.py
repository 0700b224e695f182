"""Material points: where they are and how they move with a body's coordinates.

A point is a weighted sum of nodes, p(q) = Σ wₙ xₙ. Its Jacobian acts on dq, in blocks of three coordinates:

    free node        J = w I
    rigid region     J = W Q  on the region's translation,   J = −R [a]ₓ  on its rotation,   a = Σ wₙ aₙ
    reduced body     J = Σ wₙ Φₙ  on all of its coordinates: nodes are x = X + Φ q

Interactions are functions of such points and know nothing else about bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numba import njit

import pliant.sparse as sp
from pliant.errors import InputError

FREE, TRANSLATION, ROTATION = 0, 1, 2  # what the block of dq of an entry of the support is


class PointOwner(Protocol):
    """What points need of the body they belong to."""

    @property
    def node_block(self) -> np.ndarray: ...  # (k,) block of dq that moves the node itself, −1 for none
    @property
    def node_region(self) -> np.ndarray: ...  # (k,) rigid region of the node, −1 for none
    @property
    def region_block(self) -> np.ndarray: ...  # (regions,) translation block of each; rotation is the next
    @property
    def region_frame(self) -> np.ndarray: ...  # (regions, 3, 3) Q: columns are the region's axes at rest
    @property
    def node_arm(self) -> np.ndarray: ...  # (k, 3) aₙ = Qᵀ(Xₙ − c), zero outside regions
    @property
    def free(self) -> np.ndarray: ...  # (ndof,) False for locked coordinates

    # (ptr, index, weight) where the first nodes are sums of others, node n of index[ptr[n]:ptr[n+1]], as the
    # skin of a rod is of the frames of its sections; None where no node is
    @property
    def carriers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None: ...

    # Φ (k, 3, ndof) where nodes are X + Φ q; None where q contains the positions of the nodes
    @property
    def modes(self) -> np.ndarray | None: ...


class Points:
    """P material points of one body.

    `rest` (P, 3) [m] are their positions at q0; point i is Σ node_weight · x[node_index] over
    node_ptr[i]:node_ptr[i+1]. Its Jacobian has 3×3 blocks on dq blocks block[ptr[i]:ptr[i+1]].
    """

    def __init__(
        self,
        owner: PointOwner,
        rest: np.ndarray,
        node_ptr: np.ndarray,
        node_index: np.ndarray,
        node_weight: np.ndarray,
    ) -> None:
        self.owner = owner
        self.rest = np.ascontiguousarray(rest, float)
        self.node_ptr = np.ascontiguousarray(node_ptr, np.int64)
        self.node_index = np.ascontiguousarray(node_index, np.int64)
        self.node_weight = np.ascontiguousarray(node_weight, float)
        for array in (self.rest, self.node_ptr, self.node_index, self.node_weight):
            array.setflags(write=False)
        self._build_support()

    def __len__(self) -> int:
        return len(self.rest)

    def on(self, owner: PointOwner) -> Points:
        """The same points of another body with the same nodes, such as a reduced one."""
        return Points(owner, self.rest, self.node_ptr, self.node_index, self.node_weight)

    def __getitem__(self, which: Any) -> Points:
        """A subset of the points, by index, slice or mask."""
        chosen = np.atleast_1d(np.arange(len(self))[which])
        counts = np.diff(self.node_ptr)[chosen]
        ptr = np.concatenate([[0], np.cumsum(counts)])
        gather = np.repeat(self.node_ptr[chosen] - ptr[:-1], counts) + np.arange(ptr[-1])
        return Points(self.owner, self.rest[chosen], ptr, self.node_index[gather], self.node_weight[gather])

    @staticmethod
    def concatenate(parts: Sequence[Points]) -> Points:
        """Points of the same body, one after the other."""
        if len(parts) == 1:
            return parts[0]
        if any(p.owner is not parts[0].owner for p in parts):
            raise InputError(
                "points",
                expected="points of one body",
                got="points of several",
                hint="Interactions take a list of Points.",
            )
        counts = np.concatenate([np.diff(p.node_ptr) for p in parts])
        return Points(
            parts[0].owner,
            np.concatenate([p.rest for p in parts]),
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([p.node_index for p in parts]),
            np.concatenate([p.node_weight for p in parts]),
        )

    def position(self, q: np.ndarray) -> np.ndarray:
        """p(q), (P, 3) [m]; q are the body's own coordinates."""
        if self.dense is not None:
            return self.rest + (self.dense @ q).reshape(-1, 3)
        return _positions(q, self.node_ptr, self.node_index, self.node_weight)

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """∂p/∂dq on the support, (nnz, 3, 3). Constant unless points are attached to a rigid region."""
        if not self.rotates:
            return self._constant_jacobian
        J = self._constant_jacobian.copy()
        _rotation_jacobian(q, self._pose_offset, self._turning, self.region, self.arm, self._mask, J)
        return J

    def second(self, q: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Σ gᵢ·∂²pᵢ/∂dq² on the rotation entries `turning` of the support, (nrot, 3, 3); g (P, 3) [N]."""
        return _rotation_second(
            q, self._pose_offset, self._turning, self.entry_point, self.region, self.arm, self._mask, g
        )

    @property
    def turning(self) -> np.ndarray:
        """Support entries that are rotations of a rigid region, (nrot,)."""
        return self._turning

    @property
    def rotates(self) -> bool:
        """Whether any point is attached to a rigid region."""
        return len(self._turning) > 0

    @property
    def terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Point, node and weight of every term of the sums, carried nodes replaced by their carriers."""
        point = np.repeat(np.arange(len(self)), np.diff(self.node_ptr))
        if self.owner.carriers is None:
            return point, self.node_index, self.node_weight
        ptr, target, share = self.owner.carriers
        own = self.node_index >= len(ptr) - 1
        carried = self.node_index[~own]
        counts = np.diff(ptr)[carried]
        each = np.repeat(ptr[carried] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return (
            np.concatenate([point[own], np.repeat(point[~own], counts)]),
            np.concatenate([self.node_index[own], target[each]]),
            np.concatenate([self.node_weight[own], np.repeat(self.node_weight[~own], counts) * share[each]]),
        )

    def _build_support(self) -> None:
        owner = self.owner
        self.dense: np.ndarray | None = None  # (3P, ndof) ∂p/∂dq of points on a reduced body, by rows
        if owner.modes is not None:
            self._build_reduced(owner.modes)
            return
        point, index, weight = self.terms
        block, region = owner.node_block[index], owner.node_region[index]
        free, rigid = block >= 0, region >= 0
        n = int(free.sum())
        none = np.zeros((n, 3)), np.full(n, FREE), np.full(n, -1)
        entries = [(point[free], block[free], weight[free], *none)]
        for r in np.unique(region[rigid]):
            inside = region == r
            pts, inverse = np.unique(point[inside], return_inverse=True)
            total = np.bincount(inverse, weight[inside], len(pts))
            arm = np.zeros((len(pts), 3))
            np.add.at(arm, inverse, weight[inside, None] * owner.node_arm[index[inside]])
            for kind, offset in ((TRANSLATION, 0), (ROTATION, 1)):
                b = np.full(len(pts), owner.region_block[r] + offset)
                entries.append((pts, b, total, arm, np.full(len(pts), kind), np.full(len(pts), r)))
        pt, blk, w, arm, kind, reg = (np.concatenate(x) for x in zip(*entries, strict=True))
        order = np.lexsort((blk, pt))
        self.entry_point, self.block = pt[order], blk[order].astype(np.int64)
        self.weight, self.arm, self.region = w[order], arm[order], reg[order].astype(np.int64)
        kind = kind[order]
        self.ptr = np.searchsorted(self.entry_point, np.arange(len(self) + 1)).astype(np.int64)
        mask = np.asarray(owner.free).reshape(-1, 3)[self.block].astype(float)
        self.plain = (kind == FREE) & (mask == 1).all(1)  # J = w I: the chain rule takes a short cut
        self._mask, self._turning = mask, np.flatnonzero(kind == ROTATION)
        self._pose_offset = 3 * len(owner.node_block)
        J = self.weight[:, None, None] * np.eye(3)
        moved = kind == TRANSLATION
        J[moved] = self.weight[moved, None, None] * owner.region_frame[self.region[moved]]
        self._constant_jacobian = np.ascontiguousarray(J * mask[:, None, :])

    def _build_reduced(self, modes: np.ndarray) -> None:
        """Every coordinate moves every point; points that none moves (on fixed nodes) have no support."""
        P, (k, _, n) = len(self), modes.shape
        share = sp.csr_array((self.node_weight, self.node_index, self.node_ptr), shape=(P, k))
        J = (share @ modes.reshape(k, -1)).reshape(P, 3, n)
        self.dense = np.ascontiguousarray(J.reshape(3 * P, n))
        moving, blocks = np.flatnonzero(J.any(axis=(1, 2))), n // 3
        entries = len(moving) * blocks
        self.entry_point, self.block = np.repeat(moving, blocks), np.tile(np.arange(blocks), len(moving))
        self.ptr = np.searchsorted(self.entry_point, np.arange(P + 1)).astype(np.int64)
        self.weight, self.arm, self.region = np.zeros(entries), np.zeros((entries, 3)), np.full(entries, -1)
        self.plain, self._mask = np.zeros(entries, bool), np.ones((entries, 3))
        self._turning, self._pose_offset = np.zeros(0, np.int64), 0
        apart = J[moving].reshape(-1, 3, blocks, 3).transpose(0, 2, 1, 3)
        self._constant_jacobian = np.ascontiguousarray(apart.reshape(-1, 3, 3))


@njit(cache=True, error_model="numpy")
def _positions(q, ptr, index, weight):
    p = np.zeros((len(ptr) - 1, 3))
    for i in range(len(ptr) - 1):
        for k in range(ptr[i], ptr[i + 1]):
            n, w = 3 * index[k], weight[k]
            p[i, 0] += w * q[n]
            p[i, 1] += w * q[n + 1]
            p[i, 2] += w * q[n + 2]
    return p


@njit(cache=True, error_model="numpy")
def _rotation_jacobian(q, offset, turning, region, arm, mask, J):
    for s in turning:
        R = q[offset + 12 * region[s] + 3 : offset + 12 * region[s] + 12].copy().reshape(3, 3)
        a = arm[s]
        for i in range(3):  # −R [a]ₓ, row i is −(Rᵢ × a) read off [a]ₓ's columns
            J[s, i, 0] = -(R[i, 1] * a[2] - R[i, 2] * a[1]) * mask[s, 0]
            J[s, i, 1] = -(R[i, 2] * a[0] - R[i, 0] * a[2]) * mask[s, 1]
            J[s, i, 2] = -(R[i, 0] * a[1] - R[i, 1] * a[0]) * mask[s, 2]


@njit(cache=True, error_model="numpy")
def _rotation_second(q, offset, turning, entry_point, region, arm, mask, g):
    """½(h aᵀ + a hᵀ) − (h·a) I with h = Rᵀ g: the second derivative of g·R exp([ω]ₓ) a at ω = 0."""
    S = np.zeros((len(turning), 3, 3))
    for t in range(len(turning)):
        s = turning[t]
        R = q[offset + 12 * region[s] + 3 : offset + 12 * region[s] + 12].copy().reshape(3, 3)
        a, f = arm[s], g[entry_point[s]]
        h = np.zeros(3)
        for i in range(3):
            h[i] = R[0, i] * f[0] + R[1, i] * f[1] + R[2, i] * f[2]
        dot = h[0] * a[0] + h[1] * a[1] + h[2] * a[2]
        for i in range(3):
            for j in range(3):
                value = 0.5 * (h[i] * a[j] + a[i] * h[j])
                if i == j:
                    value -= dot
                S[t, i, j] = value * mask[s, i] * mask[s, j]
    return S
