"""Support: rows that hold a body which nothing else holds, such as a base on a slider or an arm on a motor.

K alone has no inverse then. With γ HᵀH of such rows added it has one, and nothing else changes: the step

    (K + γ HᵀH) dq = r + Hᵀλ'      is      K dq = r + Hᵀλ      with      λ = λ' − γ H dq.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra import Factor, SparseRows
from pliant.core.tangent import factor_or_none
from pliant.core.view import linearise
from pliant.robot import Robot

SINGULAR = 1e-11  # ratio of pivots below which a motion counts as free


@dataclass(frozen=True)
class Support:
    """Rows (k,) and what stiffness γ (k,) they lend to K."""

    rows: np.ndarray
    gamma: np.ndarray
    robot: Robot

    @classmethod
    def none(cls, robot: Robot) -> Support:
        """For robots that need no such help."""
        return cls(np.zeros(0, int), np.zeros(0), robot)

    @classmethod
    def of(cls, robot: Robot, candidates: np.ndarray) -> Support:
        """What the candidate rows (mask over all scalar rows) lend to K where the robot's own supports do not hold it.

        Raises SingularError if motions are left all the same.
        """
        if not robot.rigid_modes():
            return cls.none(robot)
        rest = robot.rest
        view = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
        assert view is not None and view.K is not None
        K, H = view.K, view.H
        usable = [k for k in np.flatnonzero(candidates).tolist() if _inside(robot, H, k)]
        if len(usable) < robot.rigid_modes():
            raise robot.not_held()
        rows, lever = np.array(usable), H.norms()[usable]
        stiff = float(np.abs(np.einsum("bii->bi", K[robot.pattern.diagonal])).mean())
        factor = cls(rows, stiff / lever**2, robot)._factor(K, H)
        lent = cls(rows, _own_stiffness(factor, H, rows) / lever**2, robot)
        lent._factor(K, H)
        return lent

    def stiffen(self, K: np.ndarray, H: SparseRows) -> None:
        """K += γ HᵀH, in place."""
        for row, gamma in zip(self.rows, self.gamma, strict=True):
            block, h = _entries(H, row)
            e, f = np.nonzero(block[:, None] >= block[None])
            place, _ = self.robot.pattern.find(block[e], block[f])
            np.add.at(K, place, gamma * h[e][:, :, None] * h[f][:, None, :])

    def efforts(self, lam: np.ndarray, H: SparseRows, dq: np.ndarray) -> np.ndarray:
        """λ = λ' − γ H dq, (m,)."""
        if not len(self.rows):
            return lam
        lam = lam.copy()
        lam[self.rows] -= self.gamma * H.take(self.rows).dot(dq)
        return lam

    def _factor(self, K: np.ndarray, H: SparseRows) -> Factor:
        K = K.copy()
        self.stiffen(K, H)
        factor = factor_or_none(self.robot, K)
        if factor is None or factor.smallest_pivot_ratio < SINGULAR:
            raise self.robot.not_held()
        return factor


def _own_stiffness(factor: Factor, H: SparseRows, rows: np.ndarray) -> float:
    """What force per motion the other rows feel [N/m]: γ like it keeps W balanced."""
    others = np.setdiff1d(np.arange(H.shape[0]), rows)
    lever = H.norms()[others]
    others, lever = others[lever > 0], lever[lever > 0]
    W = np.diagonal(factor.compliance(H.take(others if len(others) else rows)))
    return float(np.median((lever if len(others) else H.norms()[rows]) ** 2 / W))


def _entries(H: SparseRows, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of dq (e,) that a row touches, and its numbers there (e, 3)."""
    span = slice(H.indptr[row], H.indptr[row + 1])
    return H.indices[span][::3] // 3, H.data[span].reshape(-1, 3)


def _inside(robot: Robot, H: SparseRows, row: int) -> bool:
    """Whether HᵀH of a row fits into K's pattern."""
    block, h = _entries(H, row)
    place, _ = robot.pattern.find(np.repeat(block, len(block)), np.tile(block, len(block)))
    return bool(h.any()) and bool((place >= 0).all())
