"""SurfaceContacts: contacts some of which are weighted sums of gaps over a piece of surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pliant.algebra import SparseRows
from pliant.arrays import frozen_view
from pliant.contact.contacts import EACH, OF_EACH, Contacts, Stencil, taken
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
        of_each: dict[str, Any] = {name: getattr(self, name)[which] for name in EACH}
        ptr, point, weight, pull, slope = taken(
            self.stencil.ptr, which, *self.stencil[1:], self.pull, self.slope
        )
        return replace(self, **of_each, stencil=Stencil(ptr, point, weight), pull=pull, slope=slope)

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


class Rows(NamedTuple):
    """Rows of one kind as they are found: the arrays of `Contacts` by row, then those of their stencils."""

    key: np.ndarray
    index: np.ndarray
    sample: np.ndarray
    opponent: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    position: np.ndarray
    tangents: np.ndarray
    friction: np.ndarray
    margin: np.ndarray
    ptr: np.ndarray
    point: np.ndarray
    weight: np.ndarray
    pull: np.ndarray
    slope: np.ndarray


def of_points(points: Contacts) -> Rows:
    """Contacts of single points."""
    each, stencil = [getattr(points, name) for name in EACH], points.stencil
    return Rows._make([*each, *stencil, points.gradient, np.zeros((len(stencil.point), 2))])


def joined(
    sets: list[Rows], like: Contacts, partners: Mapping[int, np.ndarray], least: float
) -> SurfaceContacts:
    """Rows of one detector as one set on the points of another, sorted by key; see `SurfaceContacts`."""
    sets = [s for s in sets if len(s.key)] or sets[:1]
    all_ = sets[0]
    if len(sets) > 1:
        ends = np.cumsum([0, *(len(s.point) for s in sets)])
        ptr = np.concatenate([s.ptr[:-1] + end for s, end in zip(sets, ends)] + [ends[-1:]])
        all_ = Rows._make(map(np.concatenate, zip(*sets, strict=True)))._replace(ptr=ptr)
        if (all_.key[1:] < all_.key[:-1]).any():
            order = np.argsort(all_.key, kind="stable")
            entries = taken(all_.ptr, order, *all_[OF_EACH + 1 :])
            all_ = Rows._make([*(array[order] for array in all_[:OF_EACH]), *entries])
    of_each, of_entry = all_[:OF_EACH], all_[OF_EACH:]
    stencil, known = Stencil(*of_entry[:3]), (like.points, like.size, like.names)
    return SurfaceContacts(*of_each, stencil, *known, *of_entry[3:], partners, least)
