"""Stack: material points of several bodies one after the other, with their Jacobian on the robot's dq."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pliant.arrays import frozen, frozen_view, read_only
from pliant.errors import InputError
from pliant.points import Points


class Support(NamedTuple):
    """Point i hangs on blocks block[ptr[i]:ptr[i+1]] of the robot's dq, see `Points`.

    Entry s has ∂p/∂dq = R still[s], R (3, 3) at q[turn[s]:turn[s]+9]; R = I where turn is −1. Where `plain`,
    it is weight[s] I.
    """

    ptr: np.ndarray
    block: np.ndarray
    plain: np.ndarray
    weight: np.ndarray
    still: np.ndarray
    turn: np.ndarray


class Stack:
    """P points of a robot's bodies.

    mobile (P,): those that some coordinate moves. hinged (P,): those that hang on a rotation. root: the stack
    that it begins with, itself unless it is an `extended` one.
    """

    def __init__(self, robot: Any, parts: Sequence[Points]) -> None:
        number = {id(body): n for n, body in enumerate(robot.bodies)}
        self._parts = [(part, robot.q_spans[number[id(part.owner)]]) for part in parts]
        first = self._first = [robot.dq_spans[number[id(part.owner)]].start // 3 for part in parts]
        self.size, self.ndof = int(sum(len(part) for part in parts)), int(robot.ndof)
        self.blocks = self.ndof // 3
        self._sums = self._as_sums()
        ptr = np.cumsum(np.concatenate([[0], *(np.diff(part.ptr) for part in parts)]))
        block = np.concatenate([part.block + b for part, b in zip(parts, first, strict=True)])
        plain, weight = (np.concatenate([getattr(p, name) for p in parts]) for name in ("plain", "weight"))
        turn = np.concatenate([_turn(part, span.start) for part, span in self._parts])
        still = _unturned(self.jacobian(robot.rest.q), turn, robot.rest.q)
        self.support = Support(*read_only(ptr, block, plain, weight, still, turn))
        self.turns = any(part.rotates for part in parts)
        self.hinged = np.concatenate([_hinged(part) for part in parts])
        free = np.concatenate([body.free.reshape(-1, 3).any(axis=1) for body in robot.bodies])
        moved = np.repeat(np.arange(self.size), np.diff(ptr))[free[block]]
        self.mobile = np.bincount(moved, minlength=self.size) > 0
        self.root = self

    def extended(self, robot: Any, parts: Sequence[Points]) -> Stack:
        """The same points, which keep their numbers, and others behind them."""
        longer = Stack(robot, [*(part for part, _ in self._parts), *parts])
        longer.root = self.root
        return longer

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Positions (P, 3) [m]; q are the robot's coordinates."""
        if len(self._parts) == 1:
            part, span = self._parts[0]
            return part.position(q[span])
        if self._sums is not None:
            return _summed(frozen_view(q), *self._sums)
        return np.concatenate([part.position(q[span]) for part, span in self._parts])

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """∂p/∂dq on the support, (entries, 3, 3); constant unless points hang on rigid regions."""
        return np.concatenate([part.jacobian(q[span]) for part, span in self._parts])

    def jacobian_of(self, point: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The blocks (k,) of dq that one point hangs on, and ∂p/∂dq (k, 3, 3)."""
        s = self.support
        entry = slice(s.ptr[point], s.ptr[point + 1])
        J = s.still[entry].copy()
        for e in np.flatnonzero(s.turn[entry] >= 0):
            o = s.turn[entry][e]
            J[e] = q[o : o + 9].reshape(3, 3) @ J[e]
        return s.block[entry], J

    def second(self, q: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ fᵢ·∂²pᵢ/∂dq² under forces f (P, 3) [N]: rotation blocks (k,) of dq, and values (k, 3, 3)."""
        blocks, values, start = [np.zeros(0, np.int64)], [np.zeros((0, 3, 3))], 0
        for (part, span), first in zip(self._parts, self._first, strict=True):
            own = f[start : start + len(part)]
            if part.rotates and own.any():
                blocks.append(part.block[part.turning] + first)
                values.append(part.second(q[span], own))
            start += len(part)
        return np.concatenate(blocks), np.concatenate(values)

    def _as_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """ptr, place in q and weight of the nodes that points are sums of; None where bodies are reduced."""
        if any(part.dense is not None for part, _ in self._parts):
            return None
        ptr = np.cumsum(np.concatenate([[0], *(np.diff(part.node_ptr) for part, _ in self._parts)]))
        place = np.concatenate([span.start + 3 * part.node_index for part, span in self._parts])
        weight = np.concatenate([part.node_weight for part, _ in self._parts])
        return frozen(ptr, int), frozen(place, int), frozen(weight)


def _turn(part: Points, start: int) -> np.ndarray:
    """Where the rotation of each entry stands in the robot's q, −1 for none; `start`: of the body's q."""
    place = np.full(len(part.block), -1)
    poses = start + 3 * len(part.owner.node_block)
    place[part.turning] = poses + 12 * part.region[part.turning] + 3
    return place


def _unturned(J: np.ndarray, turn: np.ndarray, q: np.ndarray) -> np.ndarray:
    """RᵀJ of the entries that turn, with R as in q."""
    J, turning = np.array(J), turn >= 0
    R = q[turn[turning, None] + np.arange(9)].reshape(-1, 3, 3)
    J[turning] = np.einsum("ska,skb->sab", R, J[turning])
    return J


def _hinged(part: Points) -> np.ndarray:
    mask = np.zeros(len(part), bool)
    mask[part.entry_point[part.turning]] = part.rotates
    return mask


@njit(cache=True, error_model="numpy")
def _summed(q, ptr, place, weight):
    """Points (P, 3) that are sums of weight · q[place:place+3] over ptr[i]:ptr[i+1]."""
    p = np.zeros((len(ptr) - 1, 3))
    for i in range(len(p)):
        for k in range(ptr[i], ptr[i + 1]):
            for c in range(3):
                p[i, c] += weight[k] * q[place[k] + c]
    return p


def positions_at(robot: Any, points: Stack, q: np.ndarray) -> np.ndarray:
    """Positions (P, 3) [m] of points at coordinates q of the robot that need not be sound."""
    q = np.asarray(q)
    if q.shape != (robot.nq,):
        raise InputError("q", expected=f"the robot's {robot.nq} coordinates", got=f"shape {q.shape}")
    p = points.positions(q)
    if not np.isfinite(p).all():
        raise InputError("q", expected="finite coordinates", got="nan or inf")
    return frozen_view(p)
