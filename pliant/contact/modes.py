"""Modes: contacts that push together, as one row each.

    δ̂_j = o_j − ℓ log Σ_i ψ_ij e^(−δ_i/ℓ),      λ = Ψ̃β,  Ψ̃_ij = ∂δ̂_j/∂δ_i = ψ_ij e^(−δ_i/ℓ) / Σ_i ψ_ij e^(−δ_i/ℓ),      0 ≤ δ̂ ⊥ β ≥ 0

The paper's rows are Ψᵀδ, with shares ψ: there one contact that is far open at the moment keeps the mean gap positive and the whole
mode off, while others penetrate. Here a mode's gap is the smooth minimum of its contacts' gaps. A contact that is farther than
the nearest of its mode by some ℓ drops out of the row, from gap and force alike and smoothly; contacts that touch alike share
the force as in the snapshots. ℓ → ∞ is the paper's rule. δ̂ has a gradient, so that contact does no work of its own, and a
curvature:

    −∂(Hᵀλ)/∂q = Σ_j β_j/ℓ Hᵀ(diag Ψ̃_j − Ψ̃_jΨ̃_jᵀ)H + …        a mode resists contacts that come apart or together

Where δ̂ < 0 by more than some ℓ, on the way to an equilibrium, shares are those of a larger ℓ' = −δ̂/2, and δ̂ = o + Σ Ψ̃δ + ℓ Σ Ψ̃ log(Ψ̃/ψ), which
is the same for ℓ' = ℓ: the deepest contact alone would be pushed out, others would sink in, and so on by turns. Equilibria know nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pliant.algebra import SparseRows
from pliant.arrays import frozen, frozen_view
from pliant.contact.contacts import Contacts, Stencil, each
from pliant.contact.found import found_modes, joined, parted
from pliant.contact.softening import Softening, together
from pliant.contact.stack import Stack
from pliant.contact.sums import stiffened_rows
from pliant.errors import InputError

FAINT = 1e-4  # of the largest force: modes that push next to nothing
SMALL = 0.05  # share of the largest, below which one's curvature is left out, and where it must be exact
TINY = 3e-3
NEGLIGIBLE = 1e-3  # share of the nearest contact's, below which one is left out
WIDENED = 0.5  # of how deep a mode is, its fade at least: it would go to and fro between contacts otherwise


class Shares(NamedTuple):
    """Ψ̃ by mode: mode j has contacts contact[ptr[j]:ptr[j+1]] with shares `value` that sum to one."""

    ptr: np.ndarray
    contact: np.ndarray
    value: np.ndarray

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Ψ̃ᵀ values, (k,) or (k, 3)."""
        weighted = (values[self.contact].T * self.value).T
        return np.add.reduceat(weighted, self.ptr[:-1], axis=0) if len(self.ptr) > 1 else weighted[:0]

    def chosen(self, which: np.ndarray) -> Shares:
        """Those of some modes, by place."""
        count = np.diff(self.ptr)[which]
        ptr = np.concatenate([[0], np.cumsum(count)])
        entry = np.repeat(self.ptr[which] - ptr[:-1], count) + np.arange(ptr[-1])
        return Shares(ptr, self.contact[entry], self.value[entry])

    def spread(self, force: np.ndarray, count: int) -> np.ndarray:
        """Ψ̃ force, (count,)."""
        each = np.repeat(force, np.diff(self.ptr)) * self.value
        return np.bincount(self.contact, each, count)


class Listed(NamedTuple):
    """Contacts by number: sample, opponent and margin (n,), see `Contacts`; how many samples there are, and indices of such contacts."""

    sample: np.ndarray
    opponent: np.ndarray
    margin: np.ndarray
    samples: int
    size: int


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Contacts):
    """k rows that look like contacts: `index` is the mode's number, `gap` (k,) [m] its δ̂, a force the total [N].

    found: their shares in the contacts that they stand for, as numbers in a list, and those as they are now, see `pliant.contact.found`; a plain
    contact is a mode of its own.
    """

    found: tuple[np.ndarray, np.ndarray] = None  # type: ignore[assignment]
    listed: Listed = None  # type: ignore[assignment]
    fade: float = np.inf  # ℓ [m]

    @classmethod
    def of(
        cls,
        found: tuple[np.ndarray, np.ndarray],
        like: tuple[Stack, int, tuple[str, ...]],
        listed: Listed,
        fade: float,
    ) -> Modes:
        """Modes as they were found. like: points, size and names.

        They are made in every step, and a constructor that sets one field after the other takes a tenth of all that is done for contact.
        """
        (index, gap), (points, size, names) = found_modes(*found), like
        index.flags.writeable = gap.flags.writeable = False
        made = object.__new__(cls)
        made.__dict__.update(
            blank(len(index)), index=index, gap=gap, points=points, size=size, names=names, found=found, listed=listed,
            fade=fade, rough=False,
        )  # fmt: skip
        return made

    @cached_property
    def position(self) -> np.ndarray:  # type: ignore[override]
        """Mean positions (k, 3) [m]."""
        return frozen(self.shares.mean(self.inner.position))

    @cached_property
    def shares(self) -> Shares:
        """Of the contacts that they stand for."""
        return Shares(*parted.py_func(*self.found)[1])

    @cached_property
    def inner(self) -> Contacts:
        """The contacts that they stand for, without tangents: these are asked for by `bent` only."""
        _, _, (number, *of_each), stencil = parted.py_func(*self.found)
        listed = self.listed
        sample, opponent, margin = (array[number] for array in listed[:3])
        of, index = blank(len(number)), opponent * listed.samples + sample
        gap, normal, position, *stencil = (array.view() for array in (*of_each, *stencil))
        return Contacts(
            index, sample, opponent, gap, normal, position, of["tangents"], of["friction"], margin,
            Stencil(*stencil), self.points, listed.size, self.names,
        )  # fmt: skip

    def rows(self, q: np.ndarray, weight: np.ndarray | None = None) -> SparseRows:
        """Ψ̃ᵀH, (k, ndof)."""
        if weight is not None:
            raise InputError("weight", expected="None: modes have no stencil", got="an array")
        return super().rows(q)

    def _rows(self, q: np.ndarray) -> SparseRows:
        return self.inner.summed(q, self.shares)

    def told(self, force: np.ndarray) -> tuple[Contacts, np.ndarray]:
        """The inner contacts, and their forces λ = Ψ̃β (n,) [N]."""
        return self.inner, self.shares.spread(force[: len(self)], len(self.inner))

    def astray(self, force: np.ndarray, off: float) -> bool:
        """Whether a mode ends deeper than its fade, or pushes from as far: its shares have changed altogether, and with longer steps it would
        go to and fro between contacts. Contacts that no mode covers are no modes."""
        return off > self.fade and self.off(force, self.size - self.listed.size) > self.fade

    def chosen(self, which: np.ndarray) -> Modes:
        """Some of these modes, by place."""
        return self._other((self.index[which], self.gap[which]), self.shares.chosen(which), self.inner)

    def followed(self, seen: np.ndarray, q: np.ndarray) -> Modes:
        """The same contacts in the same shares at q, with the normals they had at `seen`."""
        inner = self.inner.followed(seen, q)
        change = self.shares.mean(inner.gap - self.inner.gap)
        return self._other((self.index, self.gap + change), self.shares, inner)

    def _other(self, modes: tuple[np.ndarray, np.ndarray], shares: Shares, inner: Contacts) -> Modes:
        """Modes, by index and gap, that stand for the same contacts, in other shares or places."""
        of_each = parted.py_func(*self.found)[2][0], inner.gap, inner.normal, inner.position
        found, like = joined(modes, shares, of_each, inner.stencil), (self.points, self.size, self.names)
        return Modes.of(found, like, self.listed, self.fade)

    def stiffen(
        self,
        K: np.ndarray,
        H: SparseRows,
        force: np.ndarray,
        q: np.ndarray,
        *,
        scale: float = 1.0,
        exact: bool = False,
    ) -> tuple[SparseRows, Softening | None]:
        """Rows, and the curvature of modes that push with `force` (k,) [N], see `Contacts.stiffen`.

        Where K has room it gains stiff Hᵀdiag(Ψ̃)H, stiff = β/ℓ. What is left are the rows of contacts without room, and each
        mode's own row with −stiff. Modes for which there is no room at all see differences, see `_differing`.
        """
        P = self.points
        found, own, others, which, stiff = stiffened_rows(
            K, H[:3], self.found, frozen_view(force), scale / self.fade, FAINT, P.packed, P.pattern, P.blocks, frozen_view(q),
        )  # fmt: skip
        rows = SparseRows(*found, (H.shape[0] + len(self.index), P.ndof))
        rest, left = None, own + others
        if left < len(which):
            rest = self.inner.summed(q, each(which[left:])), 1.0 / stiff[left:]
        if others:
            differing = self._differing(which[own:left], stiff[own:left], q, exact)
            if len(differing[1]):
                rest = differing if rest is None else together(rest, differing)
        return rows, Softening(which[:own], stiff[:own], rest) if own or rest is not None else None

    def _differing(
        self, pushing: np.ndarray, stiff: np.ndarray, q: np.ndarray, exact: bool
    ) -> tuple[SparseRows, np.ndarray]:
        """Of modes `pushing` (k,), with stiff = β/ℓ (k,): diag s − s sᵀ sees differences only, so that rows U (r, ndof) are gaps less
        that of the largest share, and C⁻¹ = (diag 1/s + 11ᵀ/s_largest)/stiff."""
        first, second, C_inverse = _differences(*self.shares, pushing, stiff, TINY if exact else SMALL)
        pair = np.column_stack([first, second]).ravel()
        sums = 2 * np.arange(len(first) + 1), pair, np.tile([1.0, -1.0], len(first))
        return self.inner.summed(q, sums), C_inverse


@lru_cache(maxsize=256)
def blank(k: int) -> dict[str, Any]:
    """Fields of `Contacts` that k modes have no own of, in arrays that nobody changes."""
    ahead = np.zeros((k, 3))
    ahead[:, 0] = 1.0  # what stands for a direction where there is none: a force along it is its size
    none, nothing = frozen(np.zeros(k), int), frozen(np.zeros(k))
    return {
        "sample": none,
        "opponent": none,
        "normal": frozen(ahead),
        "tangents": frozen(np.zeros((k, 2, 3))),
        "friction": nothing,
        "margin": nothing,
        "stencil": Stencil(frozen(np.zeros(k + 1), int), frozen(np.zeros(0), int), frozen(np.zeros(0))),
    }


@njit(cache=True, error_model="numpy")
def faded(ptr, mode, value, offset, near, gap, reach, fade):
    """Modes (k,) with δ̂ below `reach`, their δ̂ (k,), the contacts (n,) that count in them, as places in `near`, and their shares; and δ̂ of all
    modes as if none were deep, inf where none of their contacts is near.
    Contact i has ψ = value[ptr[i]:ptr[i+1]] in modes mode[ptr[i]:ptr[i+1]]; those `near` have gaps `gap`."""
    modes, entries = len(offset), 0
    nearest, total, wide = np.full(modes, np.inf), np.zeros(modes), np.full(modes, fade)
    smooth = np.full(modes, np.inf)
    for n in range(len(near)):
        for s in range(ptr[near[n]], ptr[near[n] + 1]):
            nearest[mode[s]] = min(nearest[mode[s]], gap[n])
            entries += 1
    part, e, deep = np.empty(entries), 0, False
    for n in range(len(near)):
        for s in range(ptr[near[n]], ptr[near[n] + 1]):
            part[e] = value[s] * np.exp((nearest[mode[s]] - gap[n]) / fade)
            total[mode[s]] += part[e]
            e += 1
    for j in range(modes):
        if total[j] > 0.0:
            smooth[j] = offset[j] + nearest[j] - fade * np.log(total[j])
            wide[j] = max(fade, -WIDENED * smooth[j])
            deep = deep or wide[j] > fade
    if deep:
        e = 0
        for n in range(len(near)):
            for s in range(ptr[near[n]], ptr[near[n] + 1]):
                part[e] = value[s] * np.exp((nearest[mode[s]] - gap[n]) / wide[mode[s]])
                e += 1
    count, total, mean = _counted(ptr, mode, near, gap, part, modes)
    found, least, shares = np.empty(modes, np.int64), np.empty(modes), np.zeros(modes + 1, np.int64)
    k, first = 0, np.full(modes, -1)
    for j in range(modes):
        middle = mean[j] / total[j]
        apart = (nearest[j] - middle) / wide[j] - np.log(total[j])  # Σ Ψ̃ log(Ψ̃/ψ)
        d = offset[j] + middle + fade * apart
        if total[j] > 0.0 and d < reach:
            first[j], found[k], least[k] = shares[k], j, d
            shares[k + 1] = shares[k] + count[j]
            k += 1
    live, entry, share = np.empty(len(near), np.int64), np.empty(shares[k], np.int64), np.empty(shares[k])
    c, e = 0, 0
    for n in range(len(near)):
        used = False
        for s in range(ptr[near[n]], ptr[near[n] + 1]):
            j = mode[s]
            if part[e] > 0.0 and first[j] >= 0:
                entry[first[j]], share[first[j]] = c, part[e] / total[j]
                first[j] += 1
                used = True
            e += 1
        if used:
            live[c] = n
            c += 1
    return found[:k].copy(), least[:k].copy(), live[:c].copy(), shares[: k + 1].copy(), entry, share, smooth


@njit(error_model="numpy")
def _counted(ptr, mode, near, gap, part, modes):
    """Parts of each mode that are not negligible, which others are set to zero; their sum, and that of them times gaps; all (modes,)."""
    most, count = np.zeros(modes), np.zeros(modes, np.int64)
    total, mean, e = np.zeros(modes), np.zeros(modes), 0
    for n in range(len(near)):
        for s in range(ptr[near[n]], ptr[near[n] + 1]):
            most[mode[s]] = max(most[mode[s]], part[e])
            e += 1
    e = 0
    for n in range(len(near)):
        for s in range(ptr[near[n]], ptr[near[n] + 1]):
            j = mode[s]
            if part[e] > NEGLIGIBLE * most[j]:
                count[j] += 1
                total[j] += part[e]
                mean[j] += part[e] * gap[n]
            else:
                part[e] = 0.0
            e += 1
    return count, total, mean


@njit(cache=True, error_model="numpy")
def _differences(ptr, contact, share, pushing, stiff, small):
    """Pairs of contacts (r,): each of a pushing mode and that of its largest share; and C⁻¹ (r, r), see `Modes._differing`."""
    count = 0
    for j in pushing:
        largest = share[ptr[j] : ptr[j + 1]].max()
        for s in range(ptr[j], ptr[j + 1]):
            count += share[s] > small * largest
        count -= 1
    first, second = np.empty(count, np.int64), np.empty(count, np.int64)
    C_inverse = np.zeros((count, count))
    k = 0
    for i, j in enumerate(pushing):
        m = ptr[j]
        for s in range(ptr[j], ptr[j + 1]):
            if share[s] > share[m]:
                m = s
        begin = k
        for s in range(ptr[j], ptr[j + 1]):
            if s != m and share[s] > small * share[m]:
                first[k], second[k] = contact[s], contact[m]
                C_inverse[k, k] = 1.0 / (stiff[i] * share[s])
                k += 1
        C_inverse[begin:k, begin:k] += 1.0 / (stiff[i] * share[m])
    return first, second, C_inverse
