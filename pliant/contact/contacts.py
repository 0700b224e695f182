"""Contacts: a set of rows, each of which is a gap and the force that keeps it from closing.

A row is a weighted sum of gaps of single samples: one sample here, many of them for a mode (`modes.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.algebra import SparseRows
from pliant.arrays import frozen_view
from pliant.contact.rows import summed_rows
from pliant.contact.stack import Stack
from pliant.errors import InputError

DEEPEST, DEEPEST_SHARE = 1e-4, 5e-4  # [m], and of the robot's length: how deep a contact may be, the larger


def depth_bound(length: float) -> float:
    """How deep [m] one thing may lie in another and still count as touching; `length` [m]: of the robot."""
    return max(DEEPEST, DEEPEST_SHARE * length)


class Stencil(NamedTuple):
    """Contact k joins point[ptr[k]:ptr[k+1]]; its weights sum to zero if the opponent is deformable.

    The sample has weight 1, the corners of the triangle it touches minus their barycentric weights; the
    gap's gradient by a point is weight · normal.
    """

    ptr: np.ndarray
    point: np.ndarray
    weight: np.ndarray

    def take(self, which: np.ndarray) -> Stencil:
        """That of some contacts, by place."""
        return Stencil(*taken(self.ptr, which, self.point, self.weight))


class Sums(NamedTuple):
    """Rows as weighted sums: row j is Σ share · item over ptr[j]:ptr[j+1].

    Items are contacts, or motions of contacts along one of several directions.
    """

    ptr: np.ndarray
    item: np.ndarray
    share: np.ndarray

    @classmethod
    def each(cls, item: np.ndarray) -> Sums:
        """Rows of one item each."""
        return cls(np.arange(len(item) + 1), item, np.ones(len(item)))

    def take(self, which: np.ndarray) -> Sums:
        """Those of some rows, by place."""
        return Sums(*taken(self.ptr, which, self.item, self.share))

    def of(self, values: np.ndarray) -> np.ndarray:
        """Σ share · value of each row, (rows, …), of values (items, …)."""
        weighted = (values[self.item].T * self.share).T
        return np.add.reduceat(weighted, self.ptr[:-1], axis=0) if len(self.ptr) > 1 else weighted[:0]

    def spread(self, values: np.ndarray, items: int) -> np.ndarray:
        """The transposed sum (items,) of values (rows,)."""
        return np.bincount(self.item, np.repeat(values, np.diff(self.ptr)) * self.share, items)


def taken(ptr: np.ndarray, which: np.ndarray, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compressed rows `which`, by place: their ptr, and their entries of each array."""
    count = np.diff(ptr)[which]
    start = np.concatenate([[0], np.cumsum(count)])
    entry = np.repeat(ptr[which] - start[:-1], count) + np.arange(start[-1])
    return start, *(array[entry] for array in arrays)


OF_EACH = 10  # fields of `Contacts` that have an entry for each contact


@dataclass(frozen=True, eq=False, repr=False)
class Contacts:
    """n potential contacts of samples and points between them with opponents, in the order of `key`.

    key (n,): what a row is matched by from one set to the next; unique and ascending. It stays when obstacles
    move, come and go. index (n,): opponent · samples + sample, on which the row reports; several rows may
    report on one sample. For contacts of single samples the two are the same.
    gap (n,) [m]: δ, the distance less the sample's radius and less `margin` (n,) [m]; negative in
    penetration. normal (n, 3): unit, from the opponent towards the sample, the gradient of the gap by the
    sample's position. position (n, 3) [m]: of the sample; tangents (n, 2, 3): unit, a right-handed frame
    with the normal. friction (n,): coefficient μ.
    """

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
    stencil: Stencil
    points: Stack
    size: int  # how many indices there are
    names: tuple[str, ...] = ()  # of the opponents, by slot

    def __post_init__(self) -> None:
        for array in (*(getattr(self, name) for name in EACH), *self.stencil):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        nearest = f", smallest gap {1e3 * self.gap.min():.3g} mm" if len(self) else ""
        return f"{type(self).__name__}({len(self)}{nearest})"

    @cached_property
    def rigid(self) -> np.ndarray:
        """Whether each contact (n,) is with an obstacle: weights sum to one, between bodies to zero."""
        ptr, weight = self.stencil.ptr, self.stencil.weight
        return np.add.reduceat(weight, ptr[:-1]) > 0.5 if len(weight) else np.zeros(len(self), bool)

    @cached_property
    def frictional(self) -> bool:
        """Whether there is friction anywhere."""
        return bool(self.friction.any())

    @property
    def scalars(self) -> int:
        """How many scalar rows they are: n gaps, and with friction two slips each."""
        return 3 * len(self) if self.frictional else len(self)

    def take(self, which: np.ndarray) -> Contacts:
        """Some of these contacts, by place."""
        of_each = {name: getattr(self, name)[which] for name in EACH}
        return replace(self, **of_each, stencil=self.stencil.take(which))

    # Rows and forces

    def rows(self, q: np.ndarray, weight: np.ndarray | None = None) -> SparseRows:
        """H = ∂gap/∂dq, (n, ndof); the force of contact k is λₖ Hₖᵀ, pushing for λₖ > 0.

        `weight` (nnz,) replaces the stencil's: motions along the normals, added up in another way.
        """
        return self.summed(q, Sums.each(np.arange(len(self))), weight=weight)

    def tangent_rows(self, q: np.ndarray) -> SparseRows:
        """∂slip/∂dq, (2n, ndof): rows 2k and 2k + 1 are the motion of contact k along its two tangents."""
        return self.summed(q, Sums.each(np.arange(2 * len(self))), self.tangents)

    def summed(
        self,
        q: np.ndarray,
        sums: Sums,
        directions: np.ndarray | None = None,
        weight: np.ndarray | None = None,
    ) -> SparseRows:
        """Rows Σ share · (motion of item), with contacts along their normals as items.

        With directions (n, d, 3), item d·k + a is contact k along its a-th direction. `weight` (nnz,)
        replaces the weights of the stencil.
        """
        points, stencil = self.points, self.stencil
        per = 1 if directions is None else directions.shape[1]
        along = self.normal if directions is None else directions.reshape(-1, 3)
        sums = frozen_view(sums.ptr, int), frozen_view(sums.item, int), frozen_view(sums.share)  # type: ignore[assignment]
        used = stencil.ptr, stencil.point, stencil.weight if weight is None else frozen_view(weight)
        rows = summed_rows(
            tuple(sums), used, frozen_view(along), per, tuple(points.support), points.blocks, frozen_view(q)
        )
        return SparseRows(*rows, (len(sums[0]) - 1, points.ndof))

    def push(self, q: np.ndarray, force: np.ndarray) -> np.ndarray:
        """The force (ndof,) on the robot: normal forces (n,) [N], and with friction 2n along the tangents."""
        n = len(self)
        normal = self.rows(q).transpose_dot(force[:n])
        if len(force) == n or not force[n:].any():
            return normal
        return normal + self.tangent_rows(q).transpose_dot(force[n:])

    def on_samples(self, force: np.ndarray) -> tuple[Contacts, np.ndarray]:
        """The contacts of single samples that these rows are sums of, and their normal forces (n,) [N]."""
        return self, force[: len(self)]

    def friction_on_samples(self, friction: np.ndarray) -> np.ndarray:
        """Friction (n, 3) [N] on the contacts of `on_samples`, of forces (n, 2) [N] along the tangents."""
        return np.einsum("kai,ka->ki", self.tangents, friction)

    def told(self, force: np.ndarray) -> tuple[Contacts, np.ndarray]:
        """`on_samples` by its name in version 0.1."""
        return self.on_samples(force)

    def weight_stiffness(
        self, force: np.ndarray, q: np.ndarray, *, exact: bool
    ) -> tuple[SparseRows, np.ndarray] | None:
        """The change (U, C⁻¹) of K because the weights of the sums change; None where they are constant."""
        return None  # a row of one sample has a constant weight

    def jacobian_of(self, k: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The blocks (b,) of dq that the point of contact k hangs on, ∂p/∂dq (b, 3, 3); with obstacles."""
        entries = range(self.stencil.ptr[k], self.stencil.ptr[k + 1])
        if len(entries) == 1:
            return self.points.jacobian_of(int(self.stencil.point[entries[0]]), q)
        each = [self.points.jacobian_of(int(self.stencil.point[e]), q) for e in entries]
        block, place = np.unique(np.concatenate([b for b, _ in each]), return_inverse=True)
        parts = [self.stencil.weight[e] * J for e, (_, J) in zip(entries, each, strict=True)]
        total = np.zeros((len(block), 3, 3))
        np.add.at(total, place, np.concatenate(parts))
        return block, total

    # Motion

    @cached_property
    def gradient(self) -> np.ndarray:
        """∂gap/∂p on the stencil, (nnz, 3)."""
        return self.stencil.weight[:, None] * np.repeat(self.normal, np.diff(self.stencil.ptr), axis=0)

    def motion(self, q: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Of the samples (n, 3) [m] since coordinates `start`, relative to what they touch."""
        if not len(self):
            return np.zeros((0, 3))
        motion = self.points.positions(q) - self.points.positions(start)
        return np.add.reduceat(
            self.stencil.weight[:, None] * motion[self.stencil.point], self.stencil.ptr[:-1], axis=0
        )

    def places(self, q: np.ndarray) -> np.ndarray:
        """Where the robot's own side of each contact (n, 3) [m] is at coordinates q."""
        if not len(self):
            return np.zeros((0, 3))
        ptr, point, weight = self.stencil
        rigid = np.repeat(self.rigid, np.diff(ptr))
        own = np.where(rigid, weight, np.maximum(weight, 0.0))  # a body that is touched has negative weights
        return np.add.reduceat(own[:, None] * self.points.positions(q)[point], ptr[:-1], axis=0)

    def slip(self, q: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Motion (n, 2) [m] along the tangents since coordinates `start`, relative to what is touched."""
        return np.einsum("kai,ki->ka", self.tangents, self.motion(q, start))

    def followed(self, seen: np.ndarray, q: np.ndarray) -> Contacts:
        """The same pairs at q with the normals they had at `seen`, where they were detected."""
        normal = np.einsum("ki,ki->k", self.normal, self.motion(q, seen))
        return replace(self, gap=self.gap + normal, position=self.places(q))

    # From one set to the next

    def same_pairs(self, other: Contacts) -> bool:
        """Whether these are the same pairs, in other places perhaps."""
        return len(self) == len(other) and self.key.tobytes() == other.key.tobytes()

    def matched(self, previous: Contacts) -> np.ndarray:
        """Where each contact stood in `previous` (n,), −1 for new ones."""
        if previous.points.root is not self.points.root:
            raise InputError("contacts to match", expected="contacts of the same detector", got="another's")
        if not len(previous):
            return np.full(len(self), -1)
        if self.same_pairs(previous):
            return np.arange(len(self))
        place = np.minimum(np.searchsorted(previous.key, self.key), len(previous) - 1)
        return np.where(previous.key[place] == self.key, place, -1)

    def carried(self, previous: Contacts, values: np.ndarray) -> np.ndarray:
        """Values (n_previous, …) of earlier contacts, such as their forces, for these; zero for new ones."""
        place = self.matched(previous)
        out = np.zeros((len(self), *np.shape(values)[1:]))
        out[place >= 0] = np.asarray(values)[place[place >= 0]]
        return out

    def approached(self, previous: Contacts) -> np.ndarray:
        """How much nearer each contact (n,) [m] has come since an earlier set; zero for new ones."""
        place = self.matched(previous)
        known = place >= 0
        out = np.zeros(len(self))
        out[known] = previous.gap[place[known]] - self.gap[known]
        return out

    def carried_forces(self, previous: Contacts, forces: np.ndarray, rows: int) -> np.ndarray:
        """Forces of earlier contacts for these (rows,): n normal ones, and if rows = 3n those along tangents.

        Friction goes along as a vector in space: the tangents may have turned.
        """
        n, m = len(self), len(previous)
        if rows == n and self.same_pairs(previous):
            return forces[:n].copy()
        normal = self.carried(previous, forces[:m])
        if rows == n:
            return normal
        along = forces[m:].reshape(-1, 2) if len(forces) > m else np.zeros((m, 2))
        vector = self.carried(previous, np.einsum("kai,ka->ki", previous.tangents, along))
        return np.concatenate([normal, np.einsum("kai,ki->ka", self.tangents, vector).ravel()])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values (n, …) added up by index, (size, …): of the same length whatever touches; zero elsewhere."""
        out = np.zeros((self.size, *np.shape(values)[1:]))
        np.add.at(out, self.index, values)
        return out

    def deepest(self) -> np.ndarray:
        """The deepest gap by index (size,) [m], of those below zero; zero elsewhere."""
        out = np.zeros(self.size)
        np.minimum.at(out, self.index, self.gap)
        return out

    # How good an answer is

    def violation(self, force: np.ndarray) -> float:
        """How far [m] complementarity with forces (n,) fails: gaps that push, penetrations that do not."""
        return float(np.max(np.where(force[: len(self)] > 0.0, np.abs(self.gap), -self.gap), initial=0.0))

    def standoff(self, force: np.ndarray) -> float:
        """Largest true gap [m] of a contact that pushes, margin and all; 0 where none is open.

        force (n,) [N], or with friction (3n,), of these contacts as they were detected where the robot is:
        gaps that only follow a linearised motion do not tell.
        """
        pushes = force[: len(self)] > 0.0
        return float((self.gap + self.margin)[pushes].max(initial=0.0))

    def depth_between_bodies(self) -> float:
        """Of the deepest point of a body in another or in itself [m]."""
        return -float((self.gap + self.margin)[~self.rigid].min(initial=0.0))

    def diverged(self, force: np.ndarray) -> bool:
        """Whether a step that ends here went farther than its linearised rows are good for.

        Rows of one sample have no such limit.
        """
        return False


EACH = tuple(f.name for f in fields(Contacts)[:OF_EACH])


def joined(*parts: Contacts) -> Contacts:
    """Contacts on the same points, one set after the other: keys ascend if they do so from set to set."""
    first = parts[0]
    all_: dict[str, np.ndarray] = {n: np.concatenate([getattr(p, n) for p in parts]) for n in EACH}
    counts = np.concatenate([np.diff(p.stencil.ptr) for p in parts])
    stencil = Stencil(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([p.stencil.point for p in parts]),
        np.concatenate([p.stencil.weight for p in parts]),
    )
    return replace(first, **all_, stencil=stencil)
