"""Modes: contacts that push together, as one row each.

    δ̂_j = o_j − ℓ log Σ_i ψ_ij e^(−δ_i/ℓ),      λ = Ψ̃β,  Ψ̃_ij = ∂δ̂_j/∂δ_i = ψ_ij e^(−δ_i/ℓ) / Σ_i ψ_ij e^(−δ_i/ℓ),      0 ≤ δ̂ ⊥ β ≥ 0

The paper's rows are Ψᵀδ, with shares ψ: there one contact that is far open at the moment keeps the mean gap positive and the whole
mode off, while others penetrate. Here a mode's gap is the smooth minimum of its contacts' gaps. A contact that is farther than
the nearest of its mode by some ℓ drops out of the row, from gap and force alike and smoothly; contacts that touch alike share
the force as in the snapshots. ℓ → ∞ is the paper's rule. δ̂ has a gradient, so that contact does no work of its own, and a
curvature:

    −∂(Hᵀλ)/∂q = Σ_j β_j/ℓ Hᵀ(diag Ψ̃_j − Ψ̃_jΨ̃_jᵀ)H + …        a mode resists contacts that come apart or together
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.algebra import SparseRows
from pliant.contact.contacts import Contacts, Stencil
from pliant.errors import InputError

FAINT = 1e-4  # of the largest force: modes that push next to nothing
SMALL = 0.05  # share of the largest, below which one's curvature is left out, and where it must be exact
TINY = 3e-3
NEGLIGIBLE = 1e-3  # share of the nearest contact's, below which one is left out


class Shares(NamedTuple):
    """Ψ̃ by mode: mode j has contacts contact[ptr[j]:ptr[j+1]] with shares `value` that sum to one."""

    ptr: np.ndarray
    contact: np.ndarray
    value: np.ndarray

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Ψ̃ᵀ values, (k,) or (k, 3)."""
        weighted = (values[self.contact].T * self.value).T
        return np.add.reduceat(weighted, self.ptr[:-1], axis=0) if len(self.ptr) > 1 else weighted[:0]

    def spread(self, force: np.ndarray, count: int) -> np.ndarray:
        """Ψ̃ force, (count,)."""
        each = np.repeat(force, np.diff(self.ptr)) * self.value
        return np.bincount(self.contact, each, count)


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Contacts):
    """k rows that look like contacts: `index` is the mode's number, `gap` (k,) [m] its δ̂, a force the total [N].

    inner: the contacts that they stand for; a plain contact is a mode of its own.
    """

    inner: Contacts = None  # type: ignore[assignment]
    shares: Shares = None  # type: ignore[assignment]
    fade: float = np.inf  # ℓ [m]

    @classmethod
    def of(
        cls, index: np.ndarray, gap: np.ndarray, size: int, inner: Contacts, shares: Shares, fade: float
    ) -> Modes:
        """Modes `index` (k,) of `size` with these gaps (k,) [m] and shares of the inner contacts."""
        k = len(index)
        none = np.zeros(k, np.int64)
        ahead = np.zeros((k, 3))
        ahead[:, 0] = 1.0  # what stands for a direction where there is none: a force along it is its size
        empty = Stencil(np.zeros(k + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
        position = shares.mean(inner.position)
        of_each = index, none, none, gap, ahead, position, np.zeros((k, 2, 3)), np.zeros(k), np.zeros(k)
        return cls(*of_each, empty, inner.points, size, inner.names, inner, shares, fade)

    def rows(self, q: np.ndarray, weight: np.ndarray | None = None) -> SparseRows:
        """Ψ̃ᵀH, (k, ndof)."""
        if weight is not None:
            raise InputError("weight", expected="None: modes have no stencil", got="an array")
        H = self.inner.rows(q)
        found = _combined(H.indptr, H.indices, H.data, *self.shares, H.shape[1])
        return SparseRows(*found, (len(self), H.shape[1]))

    def told(self, force: np.ndarray) -> tuple[Contacts, np.ndarray]:
        """The inner contacts, and their forces λ = Ψ̃β (n,) [N]."""
        return self.inner, self.shares.spread(force[: len(self)], len(self.inner))

    def chosen(self, which: np.ndarray) -> Modes:
        """Some of these modes, by place."""
        count = np.diff(self.shares.ptr)[which]
        ptr = np.concatenate([[0], np.cumsum(count)])
        entry = np.repeat(self.shares.ptr[which] - ptr[:-1], count) + np.arange(ptr[-1])
        shares = Shares(ptr, self.shares.contact[entry], self.shares.value[entry])
        return Modes.of(self.index[which], self.gap[which], self.size, self.inner, shares, self.fade)

    def followed(self, seen: np.ndarray, q: np.ndarray) -> Modes:
        """The same contacts in the same shares at q, with the normals they had at `seen`."""
        inner = self.inner.followed(seen, q)
        change = self.shares.mean(inner.gap - self.inner.gap)
        return replace(self, inner=inner, gap=self.gap + change, position=self.shares.mean(inner.position))

    def yielding(
        self, force: np.ndarray, q: np.ndarray, *, exact: bool = False
    ) -> tuple[SparseRows, np.ndarray] | None:
        """U (r, ndof) and C⁻¹ (r, r) of the curvature UᵀCU of modes that push with `force` (k,) [N]; None if they have none.

        diag s − s sᵀ sees differences only: rows are gaps less that of the largest share, C⁻¹ = ℓ/β (diag 1/s + 11ᵀ/s_largest).
        """
        pushing = np.flatnonzero(force > FAINT * force.max(initial=0.0))
        if not len(pushing) or not np.isfinite(self.fade):
            return None
        first, second, C_inverse = _differences(
            *self.shares, pushing, force, self.fade, TINY if exact else SMALL
        )
        if not len(first):
            return None
        H = self.inner.rows(q)
        pair = np.column_stack([first, second]).ravel()
        sums = 2 * np.arange(len(first) + 1), pair, np.tile([1.0, -1.0], len(first))
        U = _combined(H.indptr, H.indices, H.data, *sums, H.shape[1])
        return SparseRows(*U, (len(first), H.shape[1])), C_inverse


@njit(cache=True, error_model="numpy")
def faded(mode_ptr, contact, value, offset, gap, reach, fade):
    """Modes with a contact nearer than `reach` (k,), their δ̂ (k,), the contacts (n,) that count in them, and their shares."""
    modes, count = len(mode_ptr) - 1, len(gap)
    used = np.full(count, -1)
    mode, ptr, least = np.empty(modes, np.int64), np.zeros(modes + 1, np.int64), np.empty(modes)
    entry, share = np.empty(len(contact), np.int64), np.empty(len(contact))
    k, e = 0, 0
    for j in range(modes):
        nearest, most, total, first = np.inf, 0.0, 0.0, e
        for s in range(mode_ptr[j], mode_ptr[j + 1]):
            nearest = min(nearest, gap[contact[s]])
        if nearest >= reach:
            continue
        for s in range(mode_ptr[j], mode_ptr[j + 1]):
            if gap[contact[s]] < np.inf:
                most = max(most, value[s] * np.exp((nearest - gap[contact[s]]) / fade))
        for s in range(mode_ptr[j], mode_ptr[j + 1]):
            i = contact[s]
            part = value[s] * np.exp((nearest - gap[i]) / fade) if gap[i] < np.inf else 0.0
            if part > NEGLIGIBLE * most:
                entry[e], share[e], used[i] = i, part, 0
                total += part
                e += 1
        for s in range(first, e):
            share[s] /= total
        mode[k], least[k] = j, offset[j] + nearest - fade * np.log(total)
        k += 1
        ptr[k] = e
    live = np.flatnonzero(used == 0)
    for n in range(len(live)):
        used[live[n]] = n
    for s in range(e):
        entry[s] = used[entry[s]]
    return mode[:k].copy(), least[:k].copy(), live, ptr[: k + 1].copy(), entry[:e].copy(), share[:e].copy()


@njit(cache=True, error_model="numpy")
def _combined(indptr, indices, data, ptr, contact, share, columns):
    """Sums of rows: row j is Σ share · row contact over ptr[j]:ptr[j+1]; every column once."""
    rows = len(ptr) - 1
    most = 0
    for s in range(len(contact)):
        most += indptr[contact[s] + 1] - indptr[contact[s]]
    out_ptr, out_indices, out_data = np.zeros(rows + 1, np.int64), np.empty(most, np.int64), np.empty(most)
    place = np.full(columns, -1)
    k = 0
    for j in range(rows):
        first = k
        for s in range(ptr[j], ptr[j + 1]):
            i = contact[s]
            for e in range(indptr[i], indptr[i + 1]):
                c = indices[e]
                if place[c] < first:
                    place[c], out_indices[k], out_data[k] = k, c, 0.0
                    k += 1
                out_data[place[c]] += share[s] * data[e]
        out_ptr[j + 1] = k
    return out_ptr, out_indices[:k].copy(), out_data[:k].copy()


@njit(cache=True, error_model="numpy")
def _differences(ptr, contact, share, pushing, force, fade, small):
    """Pairs of contacts (r,): each of a pushing mode and that of its largest share; and C⁻¹ (r, r), see `Modes.yielding`."""
    count = 0
    for j in pushing:
        largest = share[ptr[j] : ptr[j + 1]].max()
        for s in range(ptr[j], ptr[j + 1]):
            count += share[s] > small * largest
        count -= 1
    first, second = np.empty(count, np.int64), np.empty(count, np.int64)
    C_inverse = np.zeros((count, count))
    k = 0
    for j in pushing:
        m = ptr[j]
        for s in range(ptr[j], ptr[j + 1]):
            if share[s] > share[m]:
                m = s
        begin = k
        for s in range(ptr[j], ptr[j + 1]):
            if s != m and share[s] > small * share[m]:
                first[k], second[k] = contact[s], contact[m]
                C_inverse[k, k] = fade / (force[j] * share[s])
                k += 1
        C_inverse[begin:k, begin:k] += fade / (force[j] * share[m])
    return first, second, C_inverse
