"""Support: what makes K invertible where a body's own supports do not hold it.

Rows that hold it, such as a slider under a base or a motor in an arm, lend it γ HᵀH, and nothing else changes: the step

    (K + γ HᵀH) dq = r + Hᵀλ'      is      K dq = r + Hᵀλ      with      λ = λ' − γ H dq.

A thing that only lies on something, or stands between others, is held by contacts, which come and go. Its K gets a *proximal* term P:

    (K + P) dq = r + Hᵀλ

is the step of a robot that is a little heavier to move. It vanishes with dq: where the steps end, r + Hᵀλ = 0 as it should be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra import Factor, SparseRows
from pliant.core.tangent import factor_or_none
from pliant.core.view import View, linearise
from pliant.robot import Robot

TINY = 1e-9  # [N/m]: P of a thing that has neither stiffness nor weight
SINGULAR = 1e-11  # ratio of pivots below which a motion counts as free
PROXIMAL = 20.0  # P of a whole body, times its load over the robot's length: enough for a thing that would topple off one contact …
SOFT = 1e-9  # … and at least this share of the mean diagonal of K


@dataclass(frozen=True)
class Support:
    """Rows (k,) and what stiffness γ (k,) they lend to K; `proximal` (ndof,) is P, None where rows are enough."""

    rows: np.ndarray
    gamma: np.ndarray
    robot: Robot
    proximal: np.ndarray | None = None

    @classmethod
    def none(cls, robot: Robot) -> Support:
        """For robots that need no such help."""
        return cls(np.zeros(0, int), np.zeros(0), robot)

    @classmethod
    def of(cls, robot: Robot, candidates: np.ndarray, *, touching: bool = False) -> Support:
        """What the candidate rows (mask over all scalar rows) lend to K where the robot's own supports do not hold it.

        `touching`: whether it may lie on something. If not, motions that are left are a SingularError.
        """
        if not robot.rigid_modes():
            return cls.none(robot)
        rest = robot.rest
        view = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
        assert view is not None and view.K is not None
        held = cls._by_rows(robot, candidates, view.K, view.H)
        if held is not None:
            return held
        if not touching:
            raise robot.unsupported()
        none = cls.none(robot)
        return cls(none.rows, none.gamma, robot, _proximal(robot, view))

    @classmethod
    def _by_rows(cls, robot: Robot, candidates: np.ndarray, K: np.ndarray, H: SparseRows) -> Support | None:
        """What rows lend; None if motions are left."""
        usable = [k for k in np.flatnonzero(candidates).tolist() if _inside(robot, H, k)]
        if len(usable) < robot.rigid_modes():
            return None
        rows, lever = np.array(usable), H.norms()[usable]
        stiff = float(np.abs(np.einsum("bii->bi", K[robot.pattern.diagonal])).mean())
        factor = cls(rows, stiff / lever**2, robot)._factor(K, H)
        if factor is None:
            return None
        lent = cls(rows, _own_stiffness(factor, H, rows) / lever**2, robot)
        return None if lent._factor(K, H) is None else lent

    def stiffen(self, K: np.ndarray, H: SparseRows) -> None:
        """K += γ HᵀH + P, in place."""
        for row, gamma in zip(self.rows, self.gamma, strict=True):
            block, h = _entries(H, row)
            e, f = np.nonzero(block[:, None] >= block[None])
            place, _ = self.robot.pattern.find(block[e], block[f])
            np.add.at(K, place, gamma * h[e][:, :, None] * h[f][:, None, :])
        if self.proximal is not None:
            K[self.robot.pattern.diagonal] += self.proximal.reshape(-1, 3, 1) * np.eye(3)

    def efforts(self, lam: np.ndarray, H: SparseRows, dq: np.ndarray) -> np.ndarray:
        """λ = λ' − γ H dq, (m,)."""
        if not len(self.rows):
            return lam
        lam = lam.copy()
        lam[self.rows] -= self.gamma * H.take(self.rows).dot(dq)
        return lam

    def _factor(self, K: np.ndarray, H: SparseRows) -> Factor | None:
        K = K.copy()
        self.stiffen(K, H)
        factor = factor_or_none(self.robot, K)
        return None if factor is None or factor.smallest_pivot_ratio < SINGULAR else factor


def _proximal(robot: Robot, view: View) -> np.ndarray:
    """P (ndof,) of the bodies that supports leave free, alike for all motions of such a body."""
    assert view.K is not None
    diagonal = np.abs(np.einsum("bii->bi", view.K[robot.pattern.diagonal])).ravel() / robot.reach**2
    P = np.zeros(robot.ndof)
    for body, span in zip(robot.bodies, robot.dq_spans, strict=True):
        if body.rigid_modes():
            load = float(np.abs(view.r[span]).sum()) / robot.length
            P[span] = max(PROXIMAL * load / (body.ndof / 3), SOFT * float(diagonal[span].mean()), TINY)
    return P * robot.reach**2


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
