"""What a contact basis covers: contacts beside those that ever pushed, and the triangles that each may touch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array, eye_array, kron

from pliant.contact import Detector
from pliant.reduction.snapshots import Snapshots


def widened(
    detector: Detector, Psi: np.ndarray, S: np.ndarray, index: np.ndarray, borrowed: float, rings: int
):
    """Ψ and S on the contacts beside those that ever pushed too, all indices, and who is beside whom.

    Snapshots touch here and there; the robot will touch in between. A contact has the share `borrowed` of what its neighbours have in a
    mode, and where it is the nearest it takes over their push. `rings`: how far from those that pushed.
    """
    beside = _beside(detector)
    wide = np.zeros((detector.size, Psi.shape[1]))
    wide[index] = Psi
    for _ in range(rings):
        wide = np.where(wide.any(axis=1, keepdims=True), wide, borrowed * (beside @ wide))
    wide = disjoint(wide)
    more = np.flatnonzero(wide.any(axis=1))
    forces = np.zeros((len(more), S.shape[1]))
    kept = np.isin(index, more)
    forces[np.searchsorted(more, index[kept])] = S[kept]
    return wide[more], forces, more, beside[more][:, more]


def disjoint(Psi: np.ndarray) -> np.ndarray:
    """Every contact stays with the mode that it has most in; a mode that would be left with none keeps its largest, so that no mode is
    lost where there are contacts enough."""
    mode = np.where(Psi.any(axis=1), Psi.argmax(axis=1), -1)
    for j in np.flatnonzero(Psi.any(axis=0)):
        if not (mode == j).any():
            alone = np.bincount(mode[mode >= 0], minlength=Psi.shape[1])[mode] == 1
            mode[np.argmax(np.where(alone | (mode < 0), 0.0, Psi[:, j]))] = j
    return np.where(np.arange(Psi.shape[1]) == mode[:, None], Psi, 0.0)


def _beside(detector: Detector) -> csr_array:
    """Which contacts (C, C) are neighbours: same opponent, samples on one facet; each row sums to one."""
    blocks = []
    for samples in detector.cloud.samples:
        count = len(samples)
        point = np.repeat(np.arange(count), np.diff(samples.facet_ptr))
        facets = int(samples.facet.max(initial=-1)) + 1
        on = csr_array((np.ones(len(point)), (point, samples.facet)), shape=(count, facets))
        joined = (on @ on.T).tolil()
        joined.setdiag(0)
        blocks.append(joined.tocsr())
    one: Any = block_array(
        [[b if i == j else None for j in range(len(blocks))] for i, b in enumerate(blocks)], format="csr"
    )
    one.data[:] = 1.0
    each = np.maximum(np.diff(one.indptr), 1)
    one = diags_array(1.0 / each) @ one
    return csr_array(kron(eye_array(len(detector.opponents)), one))


def measured(detector: Detector, used: Snapshots, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gaps (n, s) [m] of the contacts `index` (n,) in the snapshots in which something pushes, inf beyond the alarm distance; and the
    triangles that each was near: rows (·, 4) of a contact and three points of the stack."""
    touching = used.coordinates[used.contact.any(axis=1)]
    gaps, found = np.full((len(index), len(touching)), np.inf), [np.zeros((0, 4), np.int64)]
    for s, q in enumerate(touching):
        contacts = detector.detect(q)
        mine = np.isin(contacts.index, index)
        gaps[np.searchsorted(index, contacts.index[mine]), s] = contacts.gap[mine]
        mine &= np.diff(contacts.stencil.ptr) == 4
        at = contacts.stencil.ptr[:-1][mine, None] + np.arange(1, 4)
        found.append(np.column_stack([contacts.index[mine], contacts.stencil.point[at]]))
        if len(found) > 64:
            found = [np.unique(np.concatenate(found), axis=0)]
    return gaps, np.unique(np.concatenate(found), axis=0)


def near(
    detector: Detector, pairs: np.ndarray, index: np.ndarray, beside: csr_array, rings: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whose triangles (n,) the contacts touch, and all that each may: pointers and nodes (·, 3). `pairs` (·, 4): see `measured`."""
    opponents = index // detector.cloud.size
    soft = np.array([o.body for o in detector.soft] + [-1] * (len(detector.opponents) - len(detector.soft)))
    node = np.zeros(detector.cloud.points.size, np.int64)  # of each point of the stack
    for place in detector.cloud.point_of_node.values():
        node[place[place >= 0]] = np.flatnonzero(place >= 0)
    pairs = np.column_stack([pairs[:, 0], node[pairs[:, 1:]]])
    for _ in range(rings):  # contacts that were never near have the triangles of those beside them
        pairs = _lent(pairs, index, beside)
    seen = _with_neighbours(detector, pairs[:, 0], pairs[:, 1:])
    ptr = np.searchsorted(seen[:, 0], np.append(index, index[-1] + 1))
    return soft[opponents], ptr, seen[:, 1:]


def _lent(pairs: np.ndarray, index: np.ndarray, beside: csr_array) -> np.ndarray:
    """Contacts and triangles (·, 4), with those of neighbours for contacts that have none."""
    known, lent = np.isin(index, pairs[:, 0]), [pairs]
    first, last = np.searchsorted(pairs[:, 0], index), np.searchsorted(pairs[:, 0], index, side="right")
    for i in np.flatnonzero(~known):
        for j in beside.indices[beside.indptr[i] : beside.indptr[i + 1]]:
            theirs = pairs[first[j] : last[j]].copy()
            theirs[:, 0] = index[i]
            lent.append(theirs)
    return np.unique(np.concatenate(lent), axis=0)


def _with_neighbours(detector: Detector, index: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Contacts and triangles (·, 4): those given and all of the opponent that share a corner with one, each once, by contact."""
    found = [np.zeros((0, 4), np.int64)]
    slot = index // detector.cloud.size
    for k, opponent in enumerate(detector.soft):
        triangles = opponent.patch.triangles
        at = csr_array(
            (np.ones(triangles.size), (triangles.ravel(), np.repeat(np.arange(len(triangles)), 3))),
            shape=(len(opponent.patch.nodes), len(triangles)),
        )
        mine = np.flatnonzero(slot == k)
        touches = csr_array(
            (np.ones(3 * len(mine)), (np.repeat(np.arange(len(mine)), 3), corners[mine].ravel())),
            shape=(len(mine), len(opponent.patch.nodes)),
        )
        pair, triangle = (touches @ at).nonzero()
        found.append(np.column_stack([index[mine[pair]], triangles[triangle]]))
    return np.unique(np.concatenate(found), axis=0)
