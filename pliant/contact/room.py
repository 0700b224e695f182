"""Room in K for what the contacts of a basis couple, where that costs little.

With it the curvature of modes is added to K; without, it is a change of low rank, with one row for nearly every contact that
pushes. Ribs that touch are neighbours already, by tendons that run through both; a solid's nodes are not.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.contact.basis import ContactBasis
from pliant.contact.samples import Samples
from pliant.points import Points

MOST = 0.25  # of K's blocks, that may be added


def with_room(robot: Any, pattern: Pattern, basis: ContactBasis, samples: dict[int, Samples]) -> Pattern:
    """The pattern, with blocks between all that a contact of the basis hangs on, or as it is if those are many."""
    if sum(len(s) for s in samples.values()) != basis.samples:  # another's: refused elsewhere
        return pattern
    wider = pattern.union(*_couplings(robot, basis, samples))
    return wider if len(wider.rows) <= (1.0 + MOST) * len(pattern.rows) else pattern


def _couplings(robot: Any, basis: ContactBasis, samples: dict[int, Samples]) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of blocks of dq that hold a sample or a corner of the same contact."""
    soft = np.flatnonzero(basis.touched >= 0)
    counts = np.diff(basis.corner_ptr)[soft]
    entry = np.concatenate([np.arange(basis.corner_ptr[i], basis.corner_ptr[i + 1]) for i in soft] or [[]])
    corner, owner = basis.corner[entry.astype(int)], np.repeat(basis.touched[soft], counts)
    parts, point = [s.points for s in samples.values()], np.empty((len(corner), 4), np.int64)
    point[:, 0], first = np.repeat(basis.sample[soft], counts), basis.samples
    for body in sorted(set(owner.tolist())):
        nodes, place = np.unique(corner[owner == body], return_inverse=True)
        point[owner == body, 1:] = first + place.reshape(-1, 3)
        parts.append(robot.bodies[body].node_points(nodes))
        first += len(nodes)
    ptr, block, kind = _supports(robot, parts)
    of_contact = np.unique(kind[point], axis=0)
    pairs = np.unique(of_contact[:, list(combinations(range(4), 2))].reshape(-1, 2), axis=0)
    i, j = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for a, b in pairs.tolist():
        mine, others = block[ptr[a] : ptr[a + 1]], block[ptr[b] : ptr[b + 1]]
        i.append(np.repeat(mine, len(others)))
        j.append(np.tile(others, len(mine)))
    return np.concatenate(i), np.concatenate(j)


def _supports(robot: Any, parts: list[Points]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Blocks block[ptr[i]:ptr[i+1]] of dq that point i of all parts hangs on, and the first point on the same ones (P,)."""
    number = {id(body): n for n, body in enumerate(robot.bodies)}
    first = [robot.dq_spans[number[id(part.owner)]].start // 3 for part in parts]
    ptr = np.cumsum(np.concatenate([[0], *(np.diff(part.ptr) for part in parts)]))
    block = np.concatenate([part.block + b for part, b in zip(parts, first, strict=True)])
    known: dict[bytes, int] = {}
    kind = [known.setdefault(block[ptr[i] : ptr[i + 1]].tobytes(), i) for i in range(len(ptr) - 1)]
    return ptr, block, np.array(kind)
