"""Watch: how far the two sides of a contact can have come nearer since they were last looked at.

Two rigid regions are watched in each other's frame, so that a robot which swings as a whole brings nothing nearer; all other points
are watched in space, one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pliant.arrays import frozen


class Watch(NamedTuple):
    """Contacts start[r]:start[r+1] are of the same way of[r], 0 or that of their pair of regions, from 1 on. way (2 + p,) [m]: how much nearer
    samples and triangles can have come altogether by now, the last that of any.

    Pair k is of regions whose rotations begin at first[k] and second[k] of q, behind their centres; the samples are at most arm[k] [m] from
    that of the first. row (m,): positions of all other points. There they were: frames (p, 12) and places (m, 3).
    """

    start: np.ndarray
    of: np.ndarray
    way: np.ndarray
    first: np.ndarray
    second: np.ndarray
    arm: np.ndarray
    row: np.ndarray
    frames: np.ndarray
    places: np.ndarray

    @classmethod
    def over(cls, points: Any, sample: np.ndarray, ptr: np.ndarray, corner: np.ndarray) -> Watch:
        """Contacts of samples (n,) of a `Stack` with triangles corner[ptr[i]:ptr[i+1]] (·, 3) of it."""
        region, arm = points.posed
        mine, (low, high) = region[sample], np.full((2, len(sample)), -1)
        some = np.diff(ptr) > 0
        low[some] = np.minimum.reduceat(region[corner].min(axis=1), ptr[:-1][some])
        high[some] = np.maximum.reduceat(region[corner].max(axis=1), ptr[:-1][some])
        both = (mine >= 0) & (low >= 0) & (low == high)
        pairs, number = np.unique(np.column_stack([mine, low])[both], axis=0, return_inverse=True)
        of, longest = np.zeros(len(sample), np.int64), np.zeros(len(pairs))
        of[both] = 1 + number.ravel()
        np.maximum.at(longest, number.ravel(), np.linalg.norm(arm[sample[both]], axis=1))
        other = np.repeat(~both, np.diff(ptr))
        row = np.unique(points.rows[np.concatenate([sample[~both], corner[other].ravel()])])
        start = np.flatnonzero(np.diff(of, prepend=-1))
        return cls(
            frozen([*start, len(of)], int), frozen(of[start], int), np.zeros(2 + len(pairs)), frozen(pairs[:, 0], int), frozen(pairs[:, 1], int),
            frozen(longest), frozen(row, int), np.zeros((len(pairs), 12)), np.zeros((len(row), 3)),
        )  # fmt: skip


@njit(error_model="numpy")
def watched(q, X, watch):
    """Let the ways grow by what coordinates q and positions X (·, 3) tell; False, and all that was known is void, if they are not finite."""
    _, _, way, first, second, arm, row, frames, places = watch
    most, total, now = 0.0, 0.0, np.empty(12)
    for k in range(len(row)):
        square = 0.0
        for d in range(3):
            change = X[row[k], d] - places[k, d]
            places[k, d] = X[row[k], d]
            square += change * change
        most, total = max(most, square), total + square
    most = 2.0 * np.sqrt(most) * (1.0 + 1e-9)  # both sides move
    way[0] += most
    for p in range(len(first)):
        a, b, turn, shift = first[p], second[p], 0.0, 0.0
        x, y, z = q[a - 3] - q[b - 3], q[a - 2] - q[b - 2], q[a - 1] - q[b - 1]
        for i in range(3):  # the first region in the frame of the second: Rᵀ(t − t'), RᵀR'
            now[i] = q[b + i] * x + q[b + 3 + i] * y + q[b + 6 + i] * z
            for j in range(3):
                now[3 + 3 * i + j] = (
                    q[b + i] * q[a + j] + q[b + 3 + i] * q[a + 3 + j] + q[b + 6 + i] * q[a + 6 + j]
                )
        for i in range(12):
            change = now[i] - frames[p, i]
            frames[p, i] = now[i]
            if i < 3:
                shift += change * change
            else:
                turn += change * change
        nearer = (np.sqrt(shift) + arm[p] * np.sqrt(turn)) * (1.0 + 1e-9)
        way[1 + p] += nearer
        most, total = max(most, nearer), total + nearer
    way[1 + len(first)] += most
    if total < np.inf:
        return True
    way[:], frames[:], places[:] = 0.0, 0.0, 0.0
    return False
