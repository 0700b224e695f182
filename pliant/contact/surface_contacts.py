"""SurfaceContacts: contacts some of which are weighted sums of gaps over a piece of surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.arrays import frozen_view
from pliant.contact.contacts import OF_EACH, Contacts, Stencil, taken
from pliant.contact.rows import summed_rows

POINTS = -(2**50)  # keys below it are those of points of facets, other negative ones those of sums


@dataclass(frozen=True, eq=False, repr=False)
class SurfaceContacts(Contacts):
    """Contacts whose gaps have gradients of their own at every point of the stencil.

    A row of a surface (`detect/mortar.py`) is Σ s g over points that have normals of their own: pull (nnz, 3)
    = ∂δ/∂p = Σ s w n. Its `normal` is the mean of these, along and across which friction acts; `position` is
    the centre of the piece. slope (nnz, 2) [1/m]: ∂weight/∂s, how the touched facets' weights change when the
    sample moves along the tangents; zero for the sample itself and for single points. Rows of surfaces have
    negative keys. partners: by pair of surfaces, the triangle that each of its points was over, −1 for none.
    least [m]: the least gap of all points that were looked at, those without a row among them; 0 if positive.
    """

    pull: np.ndarray = None  # type: ignore[assignment]
    slope: np.ndarray = None  # type: ignore[assignment]
    partners: Mapping[int, np.ndarray] = field(default_factory=dict)
    least: float = 0.0

    @property
    def over_area(self) -> np.ndarray:
        """Whether each contact (n,) is a sum over a piece of surface."""
        return (self.key < 0) & (self.key > POINTS)

    @property
    def sloped(self) -> np.ndarray:
        """Whether each contact (n,) knows the slopes of its weights."""
        return self.key < 0

    @property
    def gradient(self) -> np.ndarray:  # type: ignore[override]
        """∂gap/∂p on the stencil, (nnz, 3)."""
        return self.pull

    def take(self, which: np.ndarray) -> SurfaceContacts:
        """Some of these contacts, by place."""
        some: Any = super().take(which)
        _, pull, slope = taken(self.stencil.ptr, which, self.pull, self.slope)
        return replace(some, pull=pull, slope=slope)

    def rows(self, q: np.ndarray, weight: np.ndarray | None = None) -> SparseRows:
        """H = ∂gap/∂dq, (n, ndof); with a `weight` (nnz,), motions along the mean normals added up by it."""
        if weight is not None:
            return super().rows(q, weight)
        points, each = self.points, np.arange(len(self.pull) + 1)
        stencil = each, self.stencil.point, np.ones(len(self.pull))
        sums = self.stencil.ptr, each[:-1], np.ones(len(self.pull))
        as_read = lambda arrays: tuple(frozen_view(a, a.dtype) for a in arrays)
        rows = summed_rows(
            as_read(sums), as_read(stencil), frozen_view(self.pull), 1, tuple(points.support), points.blocks,
            frozen_view(q),
        )  # fmt: skip
        return SparseRows(*rows, (len(self), points.ndof))

    def followed(self, seen: np.ndarray, q: np.ndarray) -> SurfaceContacts:
        """The same pairs at q with the normals they had at `seen`, where they were detected."""
        if not len(self):
            return self
        motion = (self.points.positions(q) - self.points.positions(seen))[self.stencil.point]
        moved = np.add.reduceat(np.einsum("ei,ei->e", self.pull, motion), self.stencil.ptr[:-1])
        positive = np.maximum(self.stencil.weight, 0.0)[:, None] * motion
        centre = np.add.reduceat(positive, self.stencil.ptr[:-1], axis=0)
        return replace(self, gap=self.gap + moved, position=self.position + centre)

    def depth_between_bodies(self) -> float:
        """Of the deepest point that was looked at, of a body in another or in itself [m]."""
        return max(super().depth_between_bodies(), -self.least)


def of_points(points: Contacts) -> SurfaceContacts:
    """Contacts of single points."""
    some: Any = {f.name: getattr(points, f.name) for f in fields(Contacts)}
    return SurfaceContacts(**some, pull=points.gradient, slope=np.zeros((len(points.stencil.point), 2)))


def joined(sets: list[SurfaceContacts], partners: Mapping[int, np.ndarray], least: float) -> SurfaceContacts:
    """Contacts of one detector as one set, sorted by key; partners and least gap are those of all."""
    if len(sets) == 1:
        return replace(sets[0], partners=partners, least=least)
    stencils = [s.stencil for s in sets]
    ptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(s.ptr) for s in stencils]))])
    of_entry = [np.concatenate([getattr(s, name) for s in stencils]) for name in ("point", "weight")]
    of_entry += [np.concatenate([getattr(s, name) for s in sets]) for name in ("pull", "slope")]
    order = np.argsort(np.concatenate([s.key for s in sets]), kind="stable")
    ptr, point, weight, pull, slope = taken(ptr, order, *of_entry)
    names = [f.name for f in fields(Contacts)[:OF_EACH]]
    all_: Any = {name: np.concatenate([getattr(s, name) for s in sets])[order] for name in names}
    return replace(
        sets[0],
        **all_,
        stencil=Stencil(ptr, point, weight),
        pull=pull,
        slope=slope,
        partners=partners,
        least=least,
    )
