"""Modes of whole patches of contacts, merged where that costs least.

A patch is a connected part of all contacts that a basis covers: the face of one rib, say. In a mode, a patch
that takes the share s of its force is ℓ log 1/s deeper than one that takes all of it (see
`pliant.contact.modes`). Patches whose shares do not change fit well into one mode: those that push in
proportion, and those that never push at the same time. The cost of a mode is

    Σ (log s − mean log s)²        over all snapshots and all patches of it that push there

Starting from one mode for each patch, the two modes are merged whose union adds least to the cost. Sizes are
nested: with more modes, modes are split.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pliant.errors import InputError

PUSHING_SHARE = 1e-3  # of a mode's force, below which a patch does not push


def grouped(S: np.ndarray, beside: csr_array, size: int) -> np.ndarray:
    """Ψ (n, k = `size`) of ones and zeros: which contact is in which mode.

    S (n, s) [N] are forces of the contacts, `beside` (n, n) says which are neighbours.
    """
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
    remaining = list(range(len(modes)))
    while len(remaining) > size:
        i, j = (int(n) for n in np.unravel_index(np.argmin(more), more.shape))
        alone[i] += alone[j] + more[i, j]
        modes[i] += modes[j]
        remaining.remove(j)
        more[j], more[:, j] = np.inf, np.inf
        for other in remaining:
            if other != i:
                both = cost(force[modes[i] + modes[other]]) - alone[i] - alone[other]
                more[min(i, other), max(i, other)] = both
    mode_of = np.empty(len(force), np.int64)
    for number, mode in enumerate(remaining):
        mode_of[modes[mode]] = number
    return mode_of


def cost(force: np.ndarray) -> float:
    """The cost of a mode whose patches have these forces (p, s) [N]."""
    total = force.sum(axis=0)
    pushing = force > PUSHING_SHARE * total
    logs = np.log(force[pushing] / np.broadcast_to(total, force.shape)[pushing])
    return float(np.sum((logs - logs.mean()) ** 2)) if len(logs) else 0.0
