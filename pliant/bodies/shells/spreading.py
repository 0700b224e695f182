"""Where blocks between the positions and rotations of a shell's nodes land in K.

Items 2n and 2n + 1 are position and rotation of node n. A block between items of nodes by themselves is a
block of K. One that touches a rigid region (t, R, axes Q) is collected in an extra slot behind K and then
spread, with ∂x = Q dτ − R[a]ₓ dω and ∂ω_n = Q dω.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.bodies.shells.numbering import Numbering


class Spreading:
    """The pattern of K, and slots for lists of item pairs (i, j ≤ i); −1 where j < 0."""

    def __init__(self, numbering: Numbering, pairs: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self._numbering = numbering
        i = np.concatenate([p[0].ravel() for p in pairs])
        j = np.concatenate([p[1].ravel() for p in pairs])
        used = j >= 0
        items = 2 * len(numbering.sheet.nodes)
        key, inverse = np.unique(i[used] * items + j[used], return_inverse=True)
        rows, cols = np.divmod(key, items)
        targets = self._targets(rows), self._targets(cols)
        own = numbering.coordinates.region_block
        r, c = np.broadcast_arrays(targets[0][:, :, None], targets[1][:, None, :])
        both = (r >= 0) & (c >= 0)
        self.pattern = Pattern.from_pairs(
            2 * numbering.regions, np.concatenate([r[both], own + 1]), np.concatenate([c[both], own])
        )
        alone = ~(numbering.shared[rows // 2] | numbering.shared[cols // 2])
        place = np.empty(len(key), np.int64)
        place[alone] = self.pattern.find(targets[0][alone, 0], targets[1][alone, 0])[0]
        place[~alone] = len(self.pattern.rows) + np.arange((~alone).sum())
        slots = np.full(len(i), -1)
        slots[used] = place[inverse.ravel()]
        ends = np.cumsum([p[0].size for p in pairs])[:-1]
        self.slots = [part.reshape(p[0].shape) for part, p in zip(np.split(slots, ends), pairs)]
        self.diagonal = place[rows == cols]  # (2k,) slot of every item with itself
        self._rows, self._cols = rows[~alone], cols[~alone]
        self.blocks = len(self.pattern.rows) + len(self._rows)
        self._place_extra()

    def _targets(self, items: np.ndarray) -> np.ndarray:
        """Blocks of dq (n, 2) that move the items; −1 for none."""
        node, turns = items // 2, items % 2
        block = 2 * self._numbering.region[node]
        both = self._numbering.shared[node] & (turns == 0)
        return np.column_stack([block + turns, np.where(both, block + 1, -1)])

    def _place_extra(self) -> None:
        """Say where every part (extra block, target of its row, target of its column) goes, and how."""
        rows, cols = self._targets(self._rows), self._targets(self._cols)
        x, s, t = np.nonzero((rows[:, :, None] >= 0) & (cols[:, None, :] >= 0))
        r, c = rows[x, s], cols[x, t]
        twice = self._rows[x] != self._cols[x]  # the block stands in both halves
        keep = twice | (r >= c)
        self._x, self._s, self._t = x[keep], s[keep], t[keep]
        slot, self._flipped = self.pattern.find(r[keep], c[keep])
        self._slot, self._both = slot, twice[keep] & (r[keep] == c[keep])

    def project(self, q: np.ndarray, K: np.ndarray) -> None:
        """Spread the extra blocks of K (flat) over those of the regions."""
        B = K.reshape(-1, 3, 3)
        if not len(self._rows):
            return
        left, right = self._jacobians(q, self._rows), self._jacobians(q, self._cols)
        extra = B[len(self.pattern.rows) :]
        x, s, t = self._x, self._s, self._t
        part = np.einsum("nai,nab,nbj->nij", left[x, s], extra[x], right[x, t], optimize=True)
        part[self._flipped] = np.swapaxes(part[self._flipped], 1, 2)
        part[self._both] += np.swapaxes(part[self._both], 1, 2)
        np.add.at(B, self._slot, part)

    def _jacobians(self, q: np.ndarray, items: np.ndarray) -> np.ndarray:
        """∂item/∂target (n, 2, 3, 3)."""
        c, node = self._numbering.coordinates, items // 2
        region, shared = self._numbering.region[node], self._numbering.shared[node]
        J = np.zeros((len(items), 2, 3, 3))
        J[:, 0] = c.region_frame[region]  # the identity for nodes by themselves
        R = q[c.pose : c.pose + 12 * self._numbering.regions].reshape(-1, 12)[region, 3:].reshape(-1, 3, 3)
        turned = shared & (items % 2 == 0)
        a = self._numbering.arm[node]
        J[turned, 1] = -np.cross(R[turned], a[turned, None, :])  # row i of −R[a]ₓ is −(Rᵢ × a)
        return J
