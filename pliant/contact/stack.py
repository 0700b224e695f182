"""Stack: material points of several bodies one after the other, with their Jacobian on the robot's dq."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.points import Points


class Stack:
    """P points; point i hangs on blocks block[ptr[i]:ptr[i+1]] of the robot's dq, see `Points`."""

    def __init__(self, robot: Any, parts: Sequence[Points]) -> None:
        number = {id(body): n for n, body in enumerate(robot.bodies)}
        self._parts = [(part, robot.q_spans[number[id(part.owner)]]) for part in parts]
        first = self._first = [robot.dq_spans[number[id(part.owner)]].start // 3 for part in parts]
        counts = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.ptr) for part in parts)])
        self.size, self.ndof = int(sum(len(part) for part in parts)), int(robot.ndof)
        self.ptr = np.cumsum(counts)
        self.block = np.concatenate([part.block + b for part, b in zip(parts, first)])
        self.weight = np.concatenate([part.weight for part in parts])
        self.plain = np.concatenate([part.plain for part in parts])
        self.turns = any(part.rotates for part in parts)
        self._still = None if self.turns else self._stacked(robot.rest.q)
        self._last = np.zeros(0), np.zeros((0, 3, 3))  # coordinates, and the Jacobian there
        self.hinged = np.concatenate([_hinged(part) for part in parts])  # (P,) points that hang on a rotation
        free = np.concatenate([body.free.reshape(-1, 3).any(axis=1) for body in robot.bodies])
        moved = np.repeat(np.arange(self.size), np.diff(self.ptr))[free[self.block]]
        self.mobile = np.bincount(moved, minlength=self.size) > 0  # some coordinate moves the point

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Positions (P, 3) [m]; q are the robot's coordinates."""
        if len(self._parts) == 1:
            part, span = self._parts[0]
            return part.position(q[span])
        return np.concatenate([part.position(q[span]) for part, span in self._parts])

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """∂p/∂dq on the support, (entries, 3, 3); constant unless points hang on rigid regions."""
        if self._still is not None:
            return self._still
        if not np.array_equal(self._last[0], q):  # asked for several times in a step
            self._last = q.copy(), self._stacked(q)
        return self._last[1]

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


def _hinged(part: Points) -> np.ndarray:
    mask = np.zeros(len(part), bool)
    mask[part.entry_point[part.turning]] = part.rotates
    return mask
