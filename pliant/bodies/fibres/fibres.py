"""Threads on or in a solid: strings from point to point of it, E = Σ ½ (EA/ℓ₀)(ℓ − ℓ₀)².

The ends of a string are points of the body, weighted sums of its nodes, and so is the string,
e(q) = Σ cₙ xₙ with ℓ = |e|:

    f_n = cₙ T e/ℓ,      K_nm = cₙ c_m [(EA/ℓ₀) t tᵀ + (T/ℓ)(I − t tᵀ)],      t = e/ℓ,    T = EA (ℓ/ℓ₀ − 1)

A string couples the nodes of the one or two cells that its ends are in, and no others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import pliant.sparse as sp
from pliant.arrays import read_only, read_only_view
from pliant.bodies.blocks import kernel
from pliant.bodies.location import LEAST_WEIGHT, locate
from pliant.errors import InputError
from pliant.inputs import positive
from pliant.mesh import Mesh

NO_LENGTH = 1e-9  # of ℓ₀: a string that is shorter has no direction
JUST_STRAIGHT = 1e-12  # of ℓ₀: a string that is shorter by less counts as taut, so that its K is not zero
FARTHEST_OFF = 0.15  # of its cells' extent: how far off a mesh of flat sides the points of a winding may be


@dataclass(frozen=True, eq=False)
class Fibres:
    """Threads that are glued to a solid, wound on its skin or embedded in it: `Solid(…, fibres=…)`.

    paths: points (P, 3) [m] of a thread on or in the body at rest, or a sequence of such; from one to the
    next it is straight. A thread that ends where it begins is closed.
    stiffness: EA [N] of one thread.
    prestretch: its length at rest over the one that it would have alone.
    tension_only: slack threads do nothing; False makes them bars, such as fine wires in a wall.

    They have no mass: it is in the density of the body.
    """

    paths: Any
    stiffness: float
    prestretch: float = 1.0
    tension_only: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", _checked_paths(self.paths))
        positive("stiffness of fibres", self.stiffness, "N")
        positive("prestretch of fibres", self.prestretch)

    @property
    def length(self) -> float:
        """[m] of all threads at rest."""
        return float(sum(np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in self.paths))


def _checked_paths(paths: Any) -> tuple[np.ndarray, ...]:
    what, expected = "paths of fibres", "points (P, 3) [m] of each thread, two or more that are apart"
    single = isinstance(paths, np.ndarray) and paths.ndim == 2
    try:
        threads = [np.array(path, float) for path in ([paths] if single else paths)]
    except (TypeError, ValueError):
        raise InputError(what, expected=expected, got=repr(paths)[:60]) from None
    if not threads:
        raise InputError(what, expected="at least one thread", got="none")
    for n, path in enumerate(threads):
        if path.ndim != 2 or path.shape[1] != 3 or len(path) < 2:
            raise InputError(what, expected=expected, got=f"{path.shape} for thread {n}")
        if not np.isfinite(path).all():
            raise InputError(what, expected="finite numbers", got=f"some that are not in thread {n}")
        if not (np.diff(path, axis=0) != 0.0).any(axis=1).all():
            raise InputError(what, expected=expected, got=f"the same point twice in thread {n}")
    return tuple(read_only(*threads))


def as_fibres(fibres: Sequence[Fibres] | Fibres) -> tuple[Fibres, ...]:
    """One or several Fibres as a tuple, or an InputError."""
    several = (fibres,) if isinstance(fibres, Fibres) else fibres
    strange = [one for one in several if not isinstance(one, Fibres)]
    if strange:
        raise InputError("fibres", expected="Fibres, or several", got=type(strange[0]).__name__)
    return tuple(several)


def glued(mesh: Mesh, fibres: Fibres) -> sp.csr_array:
    """The points of all threads as weighted sums of the nodes of a mesh, a sparse array (P, k)."""
    where = np.concatenate(fibres.paths)
    extent = np.ptp(mesh.nodes[mesh.cells], axis=1).max(axis=1)
    try:
        location = locate(mesh, where, tolerance=FARTHEST_OFF * float(np.median(extent)))
    except InputError as error:
        hint = "Threads are glued to points on or in the body: more cells, or a smaller radius."
        what = f"fibres: {error.what}"
        raise InputError(what, expected=error.expected, got=error.got, hint=hint) from None
    nodes = mesh.cells[location.cells].ravel()
    ptr = mesh.cells.shape[1] * np.arange(len(where) + 1)
    return sp.csr_array((location.weights.ravel(), nodes, ptr), shape=(len(where), len(mesh.nodes)))


class FibreGroup:
    """Fibres ready for assembly: for each string, the nodes and weights of its ends' difference."""

    def __init__(self, fibres: Fibres, mesh: Mesh, rank: np.ndarray) -> None:
        self.fibres = fibres
        counts = np.array([len(path) for path in fibres.paths])
        self.points = glued(mesh, fibres)
        start = np.delete(np.arange(counts.sum()), np.cumsum(counts) - 1)
        self._split = np.cumsum(counts)[:-1]
        difference = (self.points[start + 1] - self.points[start]).tocsr()
        difference.data[np.abs(difference.data) < LEAST_WEIGHT] = 0.0
        difference.eliminate_zeros()
        string = np.repeat(np.arange(len(start)), np.diff(difference.indptr))
        order = np.lexsort((rank[difference.indices], string))
        node, c = difference.indices[order].astype(np.int64), difference.data[order]
        ptr = difference.indptr.astype(np.int64)
        length = np.linalg.norm(difference @ mesh.nodes, axis=1) / fibres.prestretch
        self.pairs = _lower_pairs(ptr, node)
        self.ptr, self.node, self.c, self.length = read_only(ptr, node, c, length)

    def bind(self, slots: np.ndarray) -> None:
        """Slots in K of the lower pairs of each string's nodes, string after string."""
        (self._slots,) = read_only(slots)

    def assemble(self, q: np.ndarray, K: np.ndarray, f: np.ndarray, tangent: bool, clamp: bool) -> float:
        """The energy [J], inf if a string has no length; adds to f (3n,) and, if tangent, to K (flat)."""
        law = self.length, float(self.fibres.stiffness), self.fibres.tension_only
        q = read_only_view(q)
        return add_fibres(q, self.ptr, self.node, self.c, *law, self._slots, K, f, tangent, clamp)

    def strings(self, x: np.ndarray) -> np.ndarray:
        """e = Σ cₙ xₙ of every string, (n, …), of values x (k, …) at the nodes."""
        every = sp.csr_array((self.c, self.node, self.ptr), shape=(len(self.length), len(x)))
        return (every @ x.reshape(len(x), -1)).reshape(-1, *x.shape[1:])

    def tension(self, x: np.ndarray) -> np.ndarray:
        """(n,) [N] of every string, thread after thread, for nodes x (k, 3) [m]; zero in slack ones."""
        T = self.fibres.stiffness * (np.linalg.norm(self.strings(x), axis=1) / self.length - 1.0)
        return np.maximum(T, 0.0) if self.fibres.tension_only else T

    def pull(self, e: np.ndarray, clamp: bool) -> tuple[float, np.ndarray, np.ndarray]:
        """The energy [J], ∂E/∂e (n, 3) [N] and its derivative (n, 3, 3) [N/m] of strings e (n, 3) [m].

        The same law as in `add_fibres`, for bodies whose K is small and dense.
        """
        now = np.linalg.norm(e, axis=1)
        if not (now > NO_LENGTH * self.length).all():
            return math.inf, e, np.zeros((0, 3, 3))
        stretch = now - self.length
        taut = (stretch >= -JUST_STRAIGHT * self.length) | (not self.fibres.tension_only)
        k = np.where(taut, self.fibres.stiffness / self.length, 0.0)
        T, t = k * stretch, e / now[:, None]
        across = ((np.maximum(T, 0.0) if clamp else T) / now)[:, None, None]
        along = t[:, :, None] * t[:, None, :]
        stiffness = k[:, None, None] * along + across * (np.eye(3) - along)
        return float(0.5 * T @ stretch), T[:, None] * t, stiffness

    def paths(self, x: np.ndarray) -> list[np.ndarray]:
        """Where the points of each thread are, (P, 3) [m], for nodes x (k, 3) [m]."""
        return np.split(self.points @ x, self._split)


def _lower_pairs(ptr: np.ndarray, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (i, j) of the lower pairs of each string, string after string."""
    i, j = [], []
    for first, last in pairwise(ptr.tolist()):
        a, b = np.tril_indices(last - first)
        i.append(node[first:last][a])
        j.append(node[first:last][b])
    return np.concatenate(i), np.concatenate(j)


@kernel
def add_fibres(q, ptr, node, c, length, stiffness, tension_only, slots, K, f, tangent, clamp):
    """Adds the strings' forces and stiffness; clamp leaves compression out of the second term of K."""
    e, B, energy, pair = np.empty(3), np.empty((3, 3)), 0.0, 0
    for s in range(len(length)):
        first, last = ptr[s], ptr[s + 1]
        count = ((last - first) * (last - first + 1)) // 2
        e[:] = 0.0
        for n in range(first, last):
            for i in range(3):
                e[i] += c[n] * q[3 * node[n] + i]
        now = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        if not now > NO_LENGTH * length[s]:
            return np.inf
        k, stretch = stiffness / length[s], now - length[s]
        if tension_only and stretch < -JUST_STRAIGHT * length[s]:
            pair += count
            continue
        T = k * stretch
        energy += 0.5 * T * stretch
        across = (max(T, 0.0) if clamp else T) / now
        for i in range(3):
            e[i] /= now
        for n in range(first, last):
            for i in range(3):
                f[3 * node[n] + i] += c[n] * T * e[i]
        if not tangent:
            continue
        for i in range(3):
            for j in range(3):
                B[i, j] = (k - across) * e[i] * e[j]
            B[i, i] += across
        for a in range(first, last):
            for b in range(first, a + 1):
                slot = slots[pair]
                pair += 1
                if slot < 0:
                    continue
                w = c[a] * c[b]
                for i in range(3):
                    for j in range(3):
                        K[9 * slot + 3 * i + j] += w * B[i, j]
    return energy
