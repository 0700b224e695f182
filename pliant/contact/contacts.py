"""Contacts: what detection found, and the rows it makes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.algebra import SparseRows
from pliant.arrays import frozen_view
from pliant.contact.memo import Memo
from pliant.contact.softening import Softening
from pliant.contact.stack import Stack
from pliant.contact.sums import summed_rows
from pliant.errors import InputError


class Stencil(NamedTuple):
    """Contact k joins point[ptr[k]:ptr[k+1]]; its weights sum to zero if the opponent is deformable.

    The sample has weight 1, the corners of the triangle it touches minus their barycentric weights; the
    gap's gradient by a point is weight · normal.
    """

    ptr: np.ndarray
    point: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Contacts:
    """n potential contacts, at most one for each pair of a sample and an opponent, in the order of `index`.

    index (n,): opponent · samples + sample. It stays when obstacles move, come and go.
    gap (n,) [m]: δ, the distance less the sample's radius and less `margin` (n,) [m]; negative in
    penetration. normal (n, 3): unit, from the opponent towards the sample, the gradient of the gap by the
    sample's position. position (n, 3) [m]: of the sample; tangents (n, 2, 3): unit, a right-handed frame
    with the normal. friction (n,): coefficient μ.
    """

    index: np.ndarray
    sample: np.ndarray
    opponent: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    position: np.ndarray
    tangents: np.ndarray
    friction: np.ndarray
    margin: np.ndarray
    stencil: Stencil
    points: Stack
    size: int  # how many indices there are
    names: tuple[str, ...] = ()  # of the opponents, by slot

    def __post_init__(self) -> None:
        of_each = self.index, self.sample, self.opponent, self.gap, self.normal, self.position, self.tangents
        for array in (*of_each, self.friction, self.margin, *self.stencil):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        nearest = f", smallest gap {1e3 * self.gap.min():.3g} mm" if len(self) else ""
        return f"Contacts({len(self)}{nearest})"

    @cached_property
    def rough(self) -> bool:
        """Whether there is friction anywhere."""
        return bool(self.friction.any())

    @property
    def scalars(self) -> int:
        """How many scalar rows they are: n gaps, and with friction two slips each."""
        return 3 * len(self) if self.rough else len(self)

    @cached_property
    def gradient(self) -> np.ndarray:
        """∂gap/∂p on the stencil, (nnz, 3)."""
        return self.stencil.weight[:, None] * np.repeat(self.normal, np.diff(self.stencil.ptr), axis=0)

    def rows(self, q: np.ndarray, weight: np.ndarray | None = None) -> SparseRows:
        """H = ∂gap/∂dq, (n, ndof); the force of contact k is λₖ Hₖᵀ, pushing for λₖ > 0.

        `weight` (nnz,) replaces the stencil's: motions along the normals, added up in another way.
        """
        if weight is not None:
            return self.summed(q, each(np.arange(len(self))), weight=weight)
        return self._known(lambda: self._rows(q), q)

    def _rows(self, q: np.ndarray) -> SparseRows:
        return self.summed(q, each(np.arange(len(self))))

    @cached_property
    def _known(self) -> Memo:
        return Memo()

    def tangent_rows(self, q: np.ndarray) -> SparseRows:
        """∂slip/∂dq, (2n, ndof): rows 2k and 2k + 1 are the motion of contact k along its two tangents."""
        return self.summed(q, each(np.arange(2 * len(self))), self.tangents)

    def push(self, q: np.ndarray, force: np.ndarray) -> np.ndarray:
        """The force (ndof,) on the robot of contacts with forces [N]: n normal ones, and with friction those along the tangents."""
        n = len(self)
        normal = self.rows(q).transpose_dot(force[:n])
        if len(force) == n or not force[n:].any():
            return normal
        return normal + self.tangent_rows(q).transpose_dot(force[n:])

    def chosen(self, which: np.ndarray) -> Contacts:
        """Some of these contacts, by place."""
        s, count = self.stencil, np.diff(self.stencil.ptr)[which]
        ptr = np.concatenate([[0], np.cumsum(count)])
        entry = np.repeat(s.ptr[which] - ptr[:-1], count) + np.arange(ptr[-1])
        of = {f.name: getattr(self, f.name)[which] for f in fields(self)[:9]}
        return replace(self, **of, stencil=Stencil(ptr, s.point[entry], s.weight[entry]))

    def followed(self, seen: np.ndarray, q: np.ndarray) -> Contacts:
        """The same pairs at q with the normals they had at `seen`, where they were detected."""
        normal = np.einsum("ki,ki->k", self.normal, self.motion(q, seen))
        position = self.points.positions(q)[self.stencil.point[self.stencil.ptr[:-1]]]
        return replace(self, gap=self.gap + normal, position=position)

    def slip(self, q: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Motion (n, 2) [m] along the tangents since coordinates `start`, relative to what is touched."""
        return np.einsum("kai,ki->ka", self.tangents, self.motion(q, start))

    def motion(self, q: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Of the samples (n, 3) [m] since coordinates `start`, relative to what they touch."""
        if not len(self):
            return np.zeros((0, 3))
        motion = self.points.positions(q) - self.points.positions(start)
        return np.add.reduceat(
            self.stencil.weight[:, None] * motion[self.stencil.point], self.stencil.ptr[:-1], axis=0
        )

    def alike(self, other: Contacts) -> bool:
        """Whether these are the same pairs, in other places perhaps."""
        mine, theirs = self.index, other.index
        return mine is theirs or (len(mine) == len(theirs) and mine.tobytes() == theirs.tobytes())

    def matched(self, previous: Contacts) -> np.ndarray:
        """Where each contact stood in `previous` (n,), −1 for new ones."""
        if previous.points is not self.points:
            raise InputError("contacts to match", expected="contacts of the same detector", got="another's")
        if not len(previous):
            return np.full(len(self), -1)
        if self.alike(previous):
            return np.arange(len(self))
        place = np.minimum(np.searchsorted(previous.index, self.index), len(previous) - 1)
        return np.where(previous.index[place] == self.index, place, -1)

    def carried(self, previous: Contacts, values: np.ndarray) -> np.ndarray:
        """Values (n_previous, …) of earlier contacts, such as their forces, for these; zero for new ones."""
        place = self.matched(previous)
        out = np.zeros((len(self), *np.shape(values)[1:]))
        out[place >= 0] = np.asarray(values)[place[place >= 0]]
        return out

    def carried_forces(self, previous: Contacts, forces: np.ndarray, rows: int) -> np.ndarray:
        """Forces of earlier contacts for these, (rows,): n normal ones, and if rows = 3n also along the tangents.

        Friction goes along as a vector in space: the tangents may have turned.
        """
        n, m = len(self), len(previous)
        if rows == n and self.alike(previous):
            return forces[:n].copy()
        normal = self.carried(previous, forces[:m])
        if rows == n:
            return normal
        along = forces[m:].reshape(-1, 2) if len(forces) > m else np.zeros((m, 2))
        vector = self.carried(previous, np.einsum("kai,ka->ki", previous.tangents, along))
        return np.concatenate([normal, np.einsum("kai,ki->ka", self.tangents, vector).ravel()])

    def off(self, force: np.ndarray, size: int | None = None) -> float:
        """How far [m] they are from where forces (n,) [N] want them at most: those that push open or closed, the others closed; if `size` is
        given, of indices below it."""
        return _off(self.index, self.gap, force, self.size if size is None else size)

    def astray(self, force: np.ndarray, off: float) -> bool:
        """Whether a step that ends here, with forces (n,) [N] and `off` by so much [m] at most, went farther than its linearised rows hold.
        Single ones have no such limit."""
        return False

    def told(self, force: np.ndarray) -> tuple[Contacts, np.ndarray]:
        """The single contacts that these rows stand for, here themselves, and their normal forces (n,) [N]."""
        return self, force[: len(self)]

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
        """H with the rows at q below; and K gains, in place, `scale` times that with which they answer changes of their contacts' gaps under forces (n,) [N].

        What K has no room for is returned as a change of low rank. Nothing, of single contacts.
        """
        return H.above(self.rows(q)), None

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values (n, …) by index, (size, …): of the same length whatever touches; zero elsewhere."""
        out = np.zeros((self.size, *np.shape(values)[1:]))
        out[self.index] = values
        return out

    def summed(
        self,
        q: np.ndarray,
        sums: tuple[np.ndarray, np.ndarray, np.ndarray],
        directions: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> SparseRows:
        """Rows Σ share · (motion of item) over ptr[j]:ptr[j+1], with sums = (ptr, item, share).

        Items are contacts along their normals; or, with directions (n, d, 3), item d·k + a is contact k along the a-th.
        `weight` (nnz,) replaces the stencil's.
        """
        P, (ptr, item, share), s = self.points, sums, self.stencil
        per = 1 if directions is None else directions.shape[1]
        along = self.normal if directions is None else directions.reshape(-1, 3)
        frozen = frozen_view(ptr, int), frozen_view(item, int), frozen_view(share)
        stencil = s.ptr, s.point, s.weight if weight is None else frozen_view(weight)
        found = summed_rows(frozen, stencil, frozen_view(along), per, P.packed, P.blocks, frozen_view(q))
        return SparseRows(*found, (len(ptr) - 1, P.ndof))


@njit(cache=True, error_model="numpy")
def _off(index, gap, force, size):
    most = 0.0
    for k in range(len(index)):
        if index[k] < size:
            most = max(most, abs(gap[k]) if force[k] > 0.0 else -gap[k])
    return most


def each(item: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums of one item each, see `Contacts.summed`."""
    return np.arange(len(item) + 1), item, np.ones(len(item))
