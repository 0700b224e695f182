"""Modes of whole patches of contacts, merged where that costs least.

A patch is a connected part of all contacts that a basis covers: the face of one rib, say. In a mode, a patch that takes the share s of
its force is ℓ log 1/s deeper than one that takes all of it (see `pliant.contact.modes`), so that patches are well together whose shares
do not change: those that push in proportion, and those that never push at the same time. The cost of a mode is

    Σ (log s − mean log s)²        over all snapshots and all patches of it that push there

and from one mode for each patch on, the two modes are merged that add least to it. Sizes are nested: with more modes, modes are split.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pliant.errors import InputError

FAINT = 1e-3  # share of a mode's force, below which a patch does not push


def grouped(S: np.ndarray, beside: csr_array, size: int) -> np.ndarray:
    """Which contacts form which mode: 1 or 0 (n, k = `size`); of forces S (n, s) [N] and who is `beside` whom (n, n)."""
    count, patch = connected_components(beside, directed=False)
    if size > count:
        hint = 'Fewer modes, or method="hals", whose modes may be parts of patches.'
        raise InputError("size", expected=f"at most {count} modes, one for each patch", got=size, hint=hint)
    force = np.zeros((count, S.shape[1]))
    np.add.at(force, patch, S)
    return (merged(force, size)[patch][:, None] == np.arange(size)).astype(float)


def merged(force: np.ndarray, size: int) -> np.ndarray:
    """The mode (p,) of each patch, 0 … size − 1, of their forces (p, s) [N]."""
    modes = [[p] for p in range(len(force))]
    alone = [cost(force[mode]) for mode in modes]
    more = np.full((len(modes), len(modes)), np.inf)  # what merging i and j > i adds
    for j in range(len(modes)):
        for i in range(j):
            more[i, j] = cost(force[[i, j]]) - alone[i] - alone[j]
    left = list(range(len(modes)))
    while len(left) > size:
        i, j = (int(n) for n in np.unravel_index(np.argmin(more), more.shape))
        alone[i] += alone[j] + more[i, j]
        modes[i] += modes[j]
        left.remove(j)
        more[j], more[:, j] = np.inf, np.inf
        for other in left:
            if other != i:
                both = cost(force[modes[i] + modes[other]]) - alone[i] - alone[other]
                more[min(i, other), max(i, other)] = both
    found = np.empty(len(force), np.int64)
    for number, mode in enumerate(left):
        found[modes[mode]] = number
    return found


def cost(force: np.ndarray) -> float:
    """Of a mode whose patches have these forces (p, s) [N]."""
    total = force.sum(axis=0)
    pushing = force > FAINT * total
    logs = np.log(force[pushing] / np.broadcast_to(total, force.shape)[pushing])
    return float(np.sum((logs - logs.mean()) ** 2)) if len(logs) else 0.0
