"""Support: what makes K invertible where fixed nodes alone do not, and which motions nothing supports.

Rows that support a body, such as a slider under a base or a motor in an arm, lend K the stiffness γ HᵀH:

    (K + γ HᵀH) dq = r + Hᵀλ'      is the same step as      K dq = r + Hᵀλ      with      λ = λ' − γ H dq.

A thing that only lies on something, or stands between others, is supported by contacts, which come and go.
Its K gets a *proximal* term P:

    (K + P) dq = r + Hᵀλ

As if the thing were a little harder to move. P dq vanishes with dq, so that where the steps end r + Hᵀλ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra import Factor, SparseRows
from pliant.bodies.body import Body
from pliant.bodies.rigid_motions import rigid_motions
from pliant.conditions import Conditions
from pliant.core.tangent import factor_or_none
from pliant.core.view import View, linearise
from pliant.robot import Robot

SINGULAR_PIVOT = 1e-11  # ratio of pivots below which a motion counts as free
# P of a whole body: this times its load over the robot's length, enough for a thing that would topple off one
# contact, or less for one that hangs; at least this share of the mean diagonal of K; and this [N/m] without
# stiffness and weight.
TOPPLING, HANGING, PROXIMAL_STIFFNESS, PROXIMAL_LEAST = 20.0, 0.3, 1e-9, 1e-9
MOTIONS = ("along x", "along y", "along z", "about x", "about y", "about z")
ANY_STIFFNESS = 1.0  # [N/m] lent to robots that have none of their own: rigid bodies between joints
TOUCHING_GAP = 1e-7  # of the robot's length: contacts below it support
WEAKEST_SUPPORT = 1e-6  # of the strongest: what supports a motion less than this does not


@dataclass(frozen=True)
class Support:
    """Rows (k,) and the stiffness γ (k,) that they lend to K; `proximal` (ndof,) is P, None without it."""

    rows: np.ndarray
    gamma: np.ndarray
    robot: Robot
    proximal: np.ndarray | None = None

    @classmethod
    def none(cls, robot: Robot) -> Support:
        """For robots that need no such help."""
        return cls(np.zeros(0, int), np.zeros(0), robot)

    @classmethod
    def of(
        cls, robot: Robot, candidates: np.ndarray, *, touching: bool = False, hanging: bool = False
    ) -> Support:
        """The support that a robot needs besides its fixed nodes, from candidate rows (a mask over all rows).

        `touching`: whether it may lie on something; `hanging`: whether its weight or springs may keep it
        where it is, as they do a pendulum. If neither, motions that are left are a SingularError.
        """
        if not robot.rigid_modes():
            return cls.none(robot)
        rest = robot.rest
        view = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
        assert view is not None and view.K is not None
        lent = cls._by_rows(robot, candidates, view.K, view.H)
        if lent is not None:
            return lent
        if not (touching or hanging):
            raise robot.unsupported()
        none = cls.none(robot)
        return cls(none.rows, none.gamma, robot, _proximal(robot, view, TOPPLING if touching else HANGING))

    @classmethod
    def _by_rows(cls, robot: Robot, candidates: np.ndarray, K: np.ndarray, H: SparseRows) -> Support | None:
        """The support by rows alone; None if motions are left."""
        usable = [k for k in np.flatnonzero(candidates).tolist() if _inside(robot, H, k)]
        if len(usable) < robot.rigid_modes():
            return None
        rows, lever = np.array(usable), H.norms()[usable]
        stiff = float(np.abs(np.einsum("bii->bi", K[robot.pattern.diagonal])).mean()) or ANY_STIFFNESS
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
        return None if factor is None or factor.smallest_pivot_ratio < SINGULAR_PIVOT else factor


def _proximal(robot: Robot, view: View, share: float) -> np.ndarray:
    """P (ndof,) of the bodies that are free to move as a whole; alike for all motions of such a body."""
    assert view.K is not None
    diagonal = np.abs(np.einsum("bii->bi", view.K[robot.pattern.diagonal])).ravel() / robot.reach**2
    P = np.zeros(robot.ndof)
    for body, span, loose in zip(robot.bodies, robot.dq_spans, robot.loose_motions, strict=True):
        if loose:
            load = float(np.abs(view.r[span]).sum()) / robot.length
            P[span] = max(
                share * load / (body.ndof / 3),
                PROXIMAL_STIFFNESS * float(diagonal[span].mean()),
                PROXIMAL_LEAST,
            )
    return P * robot.reach**2


def _own_stiffness(factor: Factor, H: SparseRows, rows: np.ndarray) -> float:
    """The stiffness [N/m] that the other rows feel, median: γ of that size keeps W well scaled."""
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


def may_hang(robot: Robot, conditions: Conditions) -> bool:
    """Whether springs or, on hinges and balls, its weight may keep the robot where rows and nodes do not."""
    if (conditions.compliance > 0).any():
        return True
    swings = any(row.interaction.swings for row in robot.rows.values()) or any(map(_swings, robot.bodies))
    return swings and bool(robot.gravity.any())


def _swings(body: Body) -> bool:
    """Whether a joint of a region keeps its place and lets it turn."""
    first = 3 * np.asarray(body.region_block, int)[:, None] + np.arange(6)
    free = np.asarray(body.free)[first].reshape(-1, 2, 3)
    moves, turns = free[:, 0].any(axis=1), free[:, 1].any(axis=1)
    return bool((turns & ~moves).any())


def unsupported(robot: Robot, view: View, solved: np.ndarray) -> tuple[str, ...]:
    """Rigid motions that nothing supports, in words: "body 1 along x", or how many there are along no axis.

    `solved` (m,) says of all rows of the view whether their effort is solved for; those of them that act, and
    contacts that touch, support what they act on.
    """
    touching = np.zeros(len(view.lam), bool)  # of contacts that could share a push, some have none
    if view.contacts is not None:
        touching[view.own : view.own + len(view.contacts)] = view.contacts.gap < TOUCHING_GAP * robot.length
    acting = np.flatnonzero(solved & ((view.lam != 0.0) | touching))
    H, words = view.H.take(acting), []
    for n, loose in enumerate(robot.loose_motions):
        if loose == 6:
            moved = _moved(robot, H, n, view.q)
            size = np.linalg.svd(moved, compute_uv=False) if len(acting) else np.zeros(0)
            least = WEAKEST_SUPPORT * float(size.max(initial=0.0))
            mine = [f"body {n} {MOTIONS[k]}" for k in range(6) if np.linalg.norm(moved[:, k]) <= least]
            others = 6 - int((size > least).sum()) - len(mine)
            words += mine + [f"body {n} in {others} other way{'s' * (others > 1)}"] * (others > 0)
    return tuple(words)


def _moved(robot: Robot, H: SparseRows, n: int, q: np.ndarray) -> np.ndarray:
    """H b (m, 6) for the six rigid motions b of a body."""
    B = np.zeros((robot.ndof, 6))
    B[robot.dq_spans[n]] = rigid_motions(robot.bodies[n], q[robot.q_spans[n]])
    return np.column_stack([H.dot(np.ascontiguousarray(b)) for b in B.T])
