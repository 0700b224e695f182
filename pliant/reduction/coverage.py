"""What a contact basis covers: neighbours of contacts that ever pushed, and triangles that each may touch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array, eye_array, kron

from pliant.contact import Detector
from pliant.reduction.snapshots import Snapshots

MERGED_AFTER = 64  # arrays of pairs, most of which are equal, that are merged to save memory


def widened(
    detector: Detector, Psi: np.ndarray, S: np.ndarray, index: np.ndarray, borrowed: float, rings: int
):
    """(Ψ, S, indices, adjacency) extended to neighbours of the contacts that ever pushed.

    Snapshots touch here and there; the robot will touch in between. A neighbour has the share `borrowed` of
    what the contacts next to it have in a mode, and takes over their push where it is the nearest. `rings`
    says how many rings of neighbours are added.
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
    """Ψ with every contact in one mode only, the one in which its weight is largest.

    A mode that would be left without contacts keeps its largest, so that no mode is lost where there are
    contacts enough.
    """
    mode = np.where(Psi.any(axis=1), Psi.argmax(axis=1), -1)
    for j in np.flatnonzero(Psi.any(axis=0)):
        if not (mode == j).any():
            alone = np.bincount(mode[mode >= 0], minlength=Psi.shape[1])[mode] == 1
            mode[np.argmax(np.where(alone | (mode < 0), 0.0, Psi[:, j]))] = j
    return np.where(np.arange(Psi.shape[1]) == mode[:, None], Psi, 0.0)


def _beside(detector: Detector) -> csr_array:
    """Which contacts (C, C) are neighbours (same opponent, samples on one facet); each row sums to one."""
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
    """Gaps (n, s) [m] of contacts in the snapshots where something pushes, and the triangles each was near.

    `index` (n,) are the contacts. Gaps are inf beyond the alarm distance; triangles are rows (·, 4) of a
    contact and three points of the stack.
    """
    touching = used.coordinates[used.contact.any(axis=1)]
    gaps, pairs = np.full((len(index), len(touching)), np.inf), [np.zeros((0, 4), np.int64)]
    for s, q in enumerate(touching):
        contacts = detector.detect_samples(q, detector.alarm)
        covered = np.isin(contacts.index, index)
        np.minimum.at(gaps[:, s], np.searchsorted(index, contacts.index[covered]), contacts.gap[covered])
        covered &= (np.diff(contacts.stencil.ptr) == 4) & ~contacts.rigid  # a point against a triangle
        at = contacts.stencil.ptr[:-1][covered, None] + np.arange(1, 4)
        pairs.append(np.column_stack([contacts.index[covered], contacts.stencil.point[at]]))
        if len(pairs) > MERGED_AFTER:
            pairs = [np.unique(np.concatenate(pairs), axis=0)]
    return gaps, np.unique(np.concatenate(pairs), axis=0)


def near(
    detector: Detector, pairs: np.ndarray, index: np.ndarray, beside: csr_array, rings: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The body (n,) that each contact touches, and all triangles that it may: pointers and nodes (·, 3).

    `pairs` (·, 4) are those of `measured`.
    """
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
            of_neighbour = pairs[first[j] : last[j]].copy()
            of_neighbour[:, 0] = index[i]
            lent.append(of_neighbour)
    return np.unique(np.concatenate(lent), axis=0)


def _with_neighbours(detector: Detector, index: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Contacts and triangles (·, 4), sorted: those given, and all that share a corner with one."""
    pairs = [np.zeros((0, 4), np.int64)]
    slot = index // detector.cloud.size
    for k, opponent in enumerate(detector.soft):
        triangles = opponent.patch.triangles
        at = csr_array(
            (np.ones(triangles.size), (triangles.ravel(), np.repeat(np.arange(len(triangles)), 3))),
            shape=(len(opponent.patch.nodes), len(triangles)),
        )
        of_slot = np.flatnonzero(slot == k)
        touches = csr_array(
            (np.ones(3 * len(of_slot)), (np.repeat(np.arange(len(of_slot)), 3), corners[of_slot].ravel())),
            shape=(len(of_slot), len(opponent.patch.nodes)),
        )
        pair, triangle = (touches @ at).nonzero()
        pairs.append(np.column_stack([index[of_slot[pair]], triangles[triangle]]))
    return np.unique(np.concatenate(pairs), axis=0)
