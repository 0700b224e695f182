"""Stack: material points of several bodies one after the other, with their Jacobian on the robot's dq."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pliant.arrays import frozen, frozen_view
from pliant.contact.memo import Memo
from pliant.contact.packed import packed, piece, table
from pliant.points import Points


class Held(NamedTuple):
    """Points that hang on one rigid region, in few numbers: region (P,), −1 for others, and arm a (P, 3) [m]; of the regions their
    translation block of dq, the rotation being the next, where R stands in q, and the axes Q (·, 3, 3)."""

    region: np.ndarray
    arm: np.ndarray
    block: np.ndarray
    turn: np.ndarray
    frame: np.ndarray


class Stack:
    """P points; point i hangs on blocks block[ptr[i]:ptr[i+1]] of the robot's dq, see `Points`.

    Entry s of the support has ∂p/∂dq = R still[s], R (3, 3) at q[turn[s]:turn[s]+9]; R = I where turn is −1.
    pattern: where the rows of blocks that K has begin (blocks + 1,), and their columns (nb,).
    """

    def __init__(self, robot: Any, parts: Sequence[Points]) -> None:
        number = {id(body): n for n, body in enumerate(robot.bodies)}
        self._parts = [(part, robot.q_spans[number[id(part.owner)]]) for part in parts]
        first = self._first = [robot.dq_spans[number[id(part.owner)]].start // 3 for part in parts]
        counts = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.ptr) for part in parts)])
        self.size, self.ndof = int(sum(len(part) for part in parts)), int(robot.ndof)
        self._nq = int(robot.nq)
        self.ptr = np.cumsum(counts)
        self.block = np.concatenate([part.block + b for part, b in zip(parts, first)])
        self.weight = np.concatenate([part.weight for part in parts])
        self.plain, self.arm = (
            np.concatenate([getattr(p, name) for p in parts]) for name in ("plain", "arm")
        )
        self.turns = any(part.rotates for part in parts)
        self._still = None if self.turns else self._stacked(robot.rest.q)
        self._known, self._sums = Memo(), self._as_sums()
        self.turn = np.concatenate([_turn(part, span.start) for part, span in self._parts])
        self.still = _unturned(self._stacked(robot.rest.q), self.turn, robot.rest.q)
        self.held = self._held(robot)
        names = ("ptr", "block", "weight", "still", "turn")
        self.packed, views = packed(*(getattr(self, name) for name in names), *self.held, self.plain)
        for name, view in zip(names, views, strict=False):
            setattr(self, name, view)  # one and the same, not a copy
        self.held = Held(*views[len(names) : -1])
        self.blocks = int(robot.ndof) // 3
        starts = np.searchsorted(robot.pattern.rows, np.arange(self.blocks + 1))
        self.pattern = frozen(starts, int), frozen(robot.pattern.cols, int)
        self.hinged = np.concatenate([_hinged(part) for part in parts])  # (P,) points that hang on a rotation
        free = np.concatenate([body.free.reshape(-1, 3).any(axis=1) for body in robot.bodies])
        moved = np.repeat(np.arange(self.size), np.diff(self.ptr))[free[self.block]]
        self.mobile = np.bincount(moved, minlength=self.size) > 0  # some coordinate moves the point

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Positions (P, 3) [m]; q are the robot's coordinates."""
        if len(self._parts) == 1:
            part, span = self._parts[0]
            return part.position(q[span])
        if self._sums is not None:
            return sums_of(frozen_view(q), *self._sums)
        return np.concatenate([part.position(q[span]) for part, span in self._parts])

    @cached_property
    def _single(self) -> bool:
        """Whether every point is a node of its body, so that q itself lists their positions."""
        if self._sums is None or len(self._sums[1]) != self.size:
            return False
        return self._nq % 3 == 0 and not (self._sums[1] % 3).any() and bool((self._sums[2] == 1.0).all())

    @cached_property
    def rows(self) -> np.ndarray:
        """Row (P,) of each point in `located`."""
        return self._sums[1] // 3 if self._single and self._sums is not None else np.arange(self.size)

    def located(self, q: np.ndarray) -> np.ndarray:
        """A list (·, 3) [m] with the positions of all points, and of others that are at hand."""
        return frozen_view(q.reshape(-1, 3) if self._single else self.positions(q))

    @cached_property
    def posed(self) -> tuple[np.ndarray, np.ndarray]:
        """Where in q the rotation of the one region stands that each point hangs on (P,), behind its centre, −1 for none; and where the
        point is in its frame (P, 3) [m]."""
        place, arm = np.full(self.size, -1), np.zeros((self.size, 3))
        mine, entry = self._on_one_region()
        place[mine], arm[mine] = self.turn[entry], self.arm[entry]
        return place, arm

    def _on_one_region(self) -> tuple[np.ndarray, np.ndarray]:
        """Points that hang on one rigid region, and the entries of its rotation; that of the translation is the one before."""
        mine = np.flatnonzero(np.diff(self.ptr) == 2)
        entry = self.ptr[mine] + 1
        turns = self.turn[entry] >= 0
        return mine[turns], entry[turns]

    def _as_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """ptr, place in the robot's q and weight of the nodes that points are sums of; None where bodies are reduced."""
        if any(part.dense is not None for part, _ in self._parts):
            return None
        ptr = np.cumsum(np.concatenate([[0], *(np.diff(part.node_ptr) for part, _ in self._parts)]))
        place = np.concatenate([span.start + 3 * part.node_index for part, span in self._parts])
        return (
            frozen(ptr, int),
            frozen(place, int),
            frozen(np.concatenate([p.node_weight for p, _ in self._parts])),
        )

    def _held(self, robot: Any) -> Held:
        """Which points hang on one region that nothing locks, see `Held`."""
        free: np.ndarray = np.concatenate([body.free.reshape(-1, 3).all(axis=1) for body in robot.bodies])
        mine, entry = self._on_one_region()
        loose = free[self.block[entry - 1]] & free[self.block[entry]]
        mine, entry = mine[loose], entry[loose]
        blocks, one, number = np.unique(self.block[entry - 1], return_index=True, return_inverse=True)
        region, arm = np.full(self.size, -1), np.zeros((self.size, 3))
        region[mine], arm[mine] = number, self.arm[entry]
        frame, turn = self.still[entry[one] - 1], self.turn[entry[one]]
        return Held(frozen(region, int), frozen(arm), frozen(blocks, int), frozen(turn, int), frozen(frame))

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """∂p/∂dq on the support, (entries, 3, 3); constant unless points hang on rigid regions."""
        if self._still is not None:
            return self._still
        return self._known(lambda: self._stacked(q), q)

    def second(self, q: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ fᵢ·∂²pᵢ/∂dq² under forces f (P, 3) [N]: blocks of dq (k,), rotations all, and (k, 3, 3) on each of them."""
        blocks, values, start = [np.zeros(0, np.int64)], [np.zeros((0, 3, 3))], 0
        for (part, span), first in zip(self._parts, self._first, strict=True):
            own = f[start : start + len(part)]
            if part.rotates and own.any():
                blocks.append(part.block[part.turning] + first)
                values.append(part.second(q[span], own))
            start += len(part)
        return np.concatenate(blocks), np.concatenate(values)

    def _stacked(self, q: np.ndarray) -> np.ndarray:
        return np.concatenate([part.jacobian(q[span]) for part, span in self._parts])


def _turn(part: Points, start: int) -> np.ndarray:
    """Where in the robot's q, of which the body's begins at `start`, the rotation of each entry stands; −1 for none."""
    place = np.full(len(part.block), -1)
    poses = start + 3 * len(part.owner.node_block)
    place[part.turning] = poses + 12 * part.region[part.turning] + 3
    return place


def _unturned(J: np.ndarray, turn: np.ndarray, q: np.ndarray) -> np.ndarray:
    """RᵀJ of the entries that turn, with R as in q."""
    J, mine = np.array(J), turn >= 0
    R = q[turn[mine, None] + np.arange(9)].reshape(-1, 3, 3)
    J[mine] = np.einsum("ska,skb->sab", R, J[mine])
    return J


def _hinged(part: Points) -> np.ndarray:
    mask = np.zeros(len(part), bool)
    mask[part.entry_point[part.turning]] = part.rotates
    return mask


@njit(cache=True, error_model="numpy")
def sums_of(q, ptr, place, weight):
    """Points (P, 3) that are sums of weight · q[place:place+3] over ptr[i]:ptr[i+1]."""
    p = np.zeros((len(ptr) - 1, 3))
    for i in range(len(p)):
        for k in range(ptr[i], ptr[i + 1]):
            for c in range(3):
                p[i, c] += weight[k] * q[place[k] + c]
    return p


@njit(error_model="numpy")
def opened(ints, reals, marks):
    """What `Stack.packed` holds: ptr, block, plain, weight, still (·, 9), turn, and the fields of `Held`, with frame (·, 9)."""
    return (
        piece(ints, marks, 0), piece(ints, marks, 1), piece(ints, marks, 10), piece(reals, marks, 2), table(reals, marks, 3, 9),
        piece(ints, marks, 4), piece(ints, marks, 5), table(reals, marks, 6, 3), piece(ints, marks, 7), piece(ints, marks, 8),
        table(reals, marks, 9, 9),
    )  # fmt: skip
