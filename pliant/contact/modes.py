"""Modes: rows that are sums of many contacts, in shares that follow the gaps.

A contact basis says λ = Ψβ: mode j pushes with β_j, shared out among its contacts by ψ. Its row is

    δ̂_j = o_j − ℓ log Σᵢ ψᵢ e^(−δᵢ/ℓ)      Ψ̃ᵢ = ∂δ̂/∂δᵢ = ψᵢ e^(−δᵢ/ℓ) / Σ …      λ = Ψ̃β,    0 ≤ δ̂ ⊥ β ≥ 0

The paper's rows are Ψᵀδ, with shares ψ: there one contact that is far open at the moment keeps the mean gap
positive and the whole mode off, while others penetrate. Here a mode's gap is the smooth minimum of its
contacts' gaps. A contact that is farther than the nearest of its mode by some ℓ drops out of the row, from
gap and force alike and smoothly; contacts that touch alike share the force as in the snapshots. δ̂ has a
gradient, so that contact does no work of its own, and a stiffness of its weights: a mode resists contacts
that come apart or together,

    −∂(Hᵀλ)/∂q = Σ_j β_j/ℓ Hᵀ(diag Ψ̃_j − Ψ̃_jΨ̃_jᵀ)H + …

Where δ̂ < 0 by more than some ℓ, on the way to an equilibrium, shares are those of a larger ℓ' = −δ̂/2, and
δ̂ = o + Σ Ψ̃δ + ℓ Σ Ψ̃ log(Ψ̃/ψ), which is the same for ℓ' = ℓ: the deepest contact alone would be pushed
out, others would sink in, and so on by turns. Equilibria know nothing of it.

ℓ = ∞ stands for linear rows: the paper's own δ̂ = Ψᵀδ over the contacts that are near, with shares ψ and o = 0
(no limit of the rule above, whose −ℓ log Σψ grows where not all contacts are near). A mode of one contact is
that contact, with nothing lost.

Friction acts on a mode as on a contact. Its slip is Σ Ψ̃ᵢ sᵢ, the motion of its contacts along two tangents
that they have in common, across their mean normal; its force is shared out by Ψ̃ like the normal one, so that
Coulomb's law holds for every contact that looks the same way. Contacts of a mode that slip in different
directions do not: they belong in different modes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pliant.algebra import SparseRows
from pliant.contact.contacts import Contacts, Stencil, Sums
from pliant.contact.detect.gather import tangent_frames
from pliant.errors import InputError

WIDENED = 0.5  # of how deep a mode is, its fade at least: it would go to and fro between contacts otherwise
NEGLIGIBLE = 1e-3  # of the nearest contact's share, below which one is left out of a mode
FAINT_MODE = 1e-4  # of the largest force, below which a mode adds no stiffness
SMALL_SHARE = 0.05  # of a mode's largest, below which a contact adds no stiffness, …
EXACT_SHARE = 3e-3  # … and where it must be exact
NO_MEAN = 1e-9  # length of a mean of unit normals, below which they cancel


class Members(NamedTuple):
    """ψ by entries: contact[e] belongs to mode[e] with weight psi[e]; o (k,) [m] and ℓ [m] of the k modes."""

    contact: np.ndarray
    mode: np.ndarray
    psi: np.ndarray
    offset: np.ndarray
    fade: float

    @property
    def beyond(self) -> float:
        """How much larger [m] than δ̂ the gap of a contact that counts in a mode can be.

        It is ℓ log(n ψ/negligible) − o with the largest ψ of a mode of n contacts, as one of them has at
        least the nth part of Σψe^(−δ/ℓ).
        """
        if not np.isfinite(self.fade):
            return 0.0
        largest = np.zeros(len(self.offset))
        np.maximum.at(largest, self.mode, self.psi)
        count = np.bincount(self.mode, minlength=len(self.offset))
        far = self.fade * np.log(np.maximum(count * largest, 1.0) / NEGLIGIBLE) - self.offset
        return float(np.max(far, initial=0.0))

    def closing(self, gap: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray, Sums]:
        """Modes (m,) with δ̂ below `reach` [m], their δ̂ (m,) [m], and their shares Ψ̃ in the contacts.

        gap (n,) [m] of all contacts, inf for those that are far.
        """
        k, near = len(self.offset), np.isfinite(gap[self.contact])
        contact, mode, psi = self.contact[near], self.mode[near], self.psi[near]
        if not np.isfinite(self.fade):
            delta, part, total = np.bincount(mode, psi * gap[contact], k), psi, np.ones(k)
            touching = np.bincount(mode, minlength=k) > 0
        else:
            delta, part, total = self._smooth(gap[contact], mode, psi)
            touching = total > 0.0
        closing = np.flatnonzero(touching & (delta < reach))
        live = np.isin(mode, closing) & (part > 0.0)
        order = np.argsort(mode[live], kind="stable")
        mode, contact, share = (
            mode[live][order],
            contact[live][order],
            (part[live] / total[mode[live]])[order],
        )
        return closing, delta[closing], Sums(np.searchsorted(mode, np.append(closing, k)), contact, share)

    def _smooth(
        self, d: np.ndarray, mode: np.ndarray, psi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """δ̂ (k,) [m], the parts (e,) of contacts with gaps d (e,) [m] in their modes, and Σ of them (k,)."""
        k = len(self.offset)
        nearest = np.full(k, np.inf)
        np.minimum.at(nearest, mode, d)
        with np.errstate(divide="ignore", invalid="ignore"):  # modes without a contact that is near
            part = psi * np.exp((nearest[mode] - d) / self.fade)
            smooth = self.offset + nearest - self.fade * np.log(np.bincount(mode, part, k))
            fade = np.maximum(self.fade, -WIDENED * smooth)
            part = psi * np.exp((nearest[mode] - d) / fade[mode])
            largest = np.zeros(k)
            np.maximum.at(largest, mode, part)
            part = np.where(part > NEGLIGIBLE * largest[mode], part, 0.0)
            total = np.bincount(mode, part, k)
            mean = np.bincount(mode, part * d, k) / total
            entropy = (nearest - mean) / fade - np.log(total)  # Σ Ψ̃ log(Ψ̃/ψ)
            delta = self.offset + mean + self.fade * entropy
        return delta, part, total


@dataclass(frozen=True, eq=False, repr=False)
class Modes(Contacts):
    """k rows that look like contacts: `index` numbers the mode, `gap` (k,) [m] is δ̂, a force the total [N].

    inner: the contacts that they are sums of; shares: Ψ̃. `modes`: rows with an index below it are modes, the
    others single contacts that no mode covers. Directions of a row are those of its contacts. With friction,
    `normal` is their mean, `tangents` are across it and `friction` is the mean μ; else these mean nothing.
    """

    inner: Contacts = None  # type: ignore[assignment]
    shares: Sums = None  # type: ignore[assignment]
    fade: float = np.inf  # ℓ [m]
    modes: int = 0

    @classmethod
    def of(
        cls,
        index: np.ndarray,
        gap: np.ndarray,
        shares: Sums,
        inner: Contacts,
        size: int,
        fade: float,
        modes: int,
    ) -> Modes:
        """Rows with such indices, of `size` that there are, and gaps."""
        k = len(index)
        none, nothing = np.zeros(k, int), np.zeros(k)
        normal = np.tile([1.0, 0.0, 0.0], (k, 1))  # stands for a direction where none is needed
        if inner.frictional:
            mean = shares.of(inner.normal)
            length = np.linalg.norm(mean, axis=1, keepdims=True)
            normal = np.where(length > NO_MEAN, mean / np.maximum(length, NO_MEAN), normal)
        stencil = Stencil(np.zeros(k + 1, int), np.zeros(0, int), np.zeros(0))
        return cls(
            key=index,
            index=index,
            sample=none,
            opponent=none,
            gap=gap,
            normal=normal,
            position=shares.of(inner.position),
            tangents=tangent_frames(normal),
            friction=shares.of(inner.friction),
            margin=nothing,
            stencil=stencil,
            points=inner.points,
            size=size,
            names=inner.names,
            inner=inner,
            shares=shares,
            fade=fade,
            modes=modes,
        )

    def rows(self, q: np.ndarray, weight: np.ndarray | None = None) -> SparseRows:
        """Ψ̃ᵀH, (k, ndof)."""
        if weight is not None:
            raise InputError("weight", expected="None: modes have no stencil", got="an array")
        return self.inner.summed(q, self.shares)

    def tangent_rows(self, q: np.ndarray) -> SparseRows:
        """∂slip/∂dq, (2k, ndof): the motion of a mode's contacts along its two tangents, in their shares."""
        ptr, item, share = self.shares
        count, entry = np.diff(ptr), np.arange(len(item))
        of = np.repeat(np.arange(len(self)), count)
        rows = np.repeat(np.arange(2 * len(self)), np.repeat(count, 2))  # which row each term is in
        place = np.concatenate([[0], np.cumsum(np.repeat(count, 2))])
        nth = np.arange(len(rows)) - place[rows]
        e = ptr[rows // 2] + nth
        sums = Sums(place, 2 * entry[e] + rows % 2, share[e])
        return self.inner.take(item).summed(q, sums, np.ascontiguousarray(self.tangents[of]))

    def motion(self, q: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Of the contacts of each mode (k, 3) [m] since coordinates `start`, in their shares."""
        return self.shares.of(self.inner.motion(q, start))

    def places(self, q: np.ndarray) -> np.ndarray:
        """Where the contacts of each mode (k, 3) [m] are at coordinates q, in the mean by their shares."""
        return self.shares.of(self.inner.places(q))

    def take(self, which: np.ndarray) -> Modes:
        """Some of these rows, by place."""
        index, gap = self.index[which], self.gap[which]
        return Modes.of(index, gap, self.shares.take(which), self.inner, self.size, self.fade, self.modes)

    def on_samples(self, force: np.ndarray) -> tuple[Contacts, np.ndarray]:
        """The inner contacts, and their forces λ = Ψ̃β (n,) [N]."""
        return self.inner, self.shares.spread(force[: len(self)], len(self.inner))

    def friction_on_samples(self, friction: np.ndarray) -> np.ndarray:
        """Friction (n, 3) [N] on the inner contacts, of forces (k, 2) [N] along the modes' tangents."""
        vector = super().friction_on_samples(friction)
        return np.column_stack([self.shares.spread(v, len(self.inner)) for v in vector.T])

    def followed(self, seen: np.ndarray, q: np.ndarray) -> Modes:
        """The same contacts in the same shares at q, with the normals they had at `seen`."""
        inner = self.inner.followed(seen, q)
        gap = self.gap + self.shares.of(inner.gap - self.inner.gap)
        return replace(self, gap=gap, position=self.shares.of(inner.position), inner=inner)

    def diverged(self, force: np.ndarray) -> bool:
        """Whether a mode ends deeper than its fade, or pushes from as far.

        Its shares have changed altogether then, and longer steps would alternate between contacts.
        """
        modes = int(np.searchsorted(self.index, self.modes))
        gap = self.gap[:modes]
        return bool(np.max(np.where(force[:modes] > 0.0, np.abs(gap), -gap), initial=0.0) > self.fade)

    def weight_stiffness(
        self, force: np.ndarray, q: np.ndarray, *, exact: bool
    ) -> tuple[SparseRows, np.ndarray] | None:
        """Σ β/ℓ Hᵀ(diag s − ssᵀ/Σs)H over the modes that push, s their shares that are not small.

        U: the rows of these contacts, then Σ s h of each mode; C is diagonal: β s/ℓ, then −β/(ℓ Σs).
        """
        if not np.isfinite(self.fade):
            return None  # linear rows: constant weights
        ptr, contact, share = self.shares
        count = np.diff(ptr)
        force = np.where((count > 1) & (force > FAINT_MODE * force.max(initial=0.0)), force, 0.0)
        mode = np.repeat(np.arange(len(count)), count)
        largest = np.maximum.reduceat(share, ptr[:-1]) if len(count) else np.zeros(0)
        kept = (force[mode] > 0.0) & (share > (EXACT_SHARE if exact else SMALL_SHARE) * largest[mode])
        mode, contact, share = mode[kept], contact[kept], share[kept]
        if not len(mode):
            return None
        pushing = np.unique(mode)
        start = np.searchsorted(mode, pushing)
        sums = Sums(np.append(start, len(mode)), contact, share)
        rows = self.inner.summed(q, Sums.each(contact)).above(self.inner.summed(q, sums))
        stiff, total = force[pushing] / self.fade, np.add.reduceat(share, start)
        return rows, np.concatenate([1.0 / (force[mode] / self.fade * share), -total / stiff])
