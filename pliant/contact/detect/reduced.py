"""ReducedDetector: contacts that a basis covers as a few modes; all others as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pliant.arrays import frozen, frozen_view
from pliant.contact.basis import ContactBasis, require_one_cloud
from pliant.contact.contacts import Contacts, Stencil, Sums, joined
from pliant.contact.detect.candidates import nearest_candidate
from pliant.contact.detect.detector import NO_CORNERS, NO_KEYS, Detector
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.detect.samples import Samples
from pliant.contact.modes import Members, Modes
from pliant.contact.obstacles import Obstacle
from pliant.contact.stack import Stack, positions_at
from pliant.errors import InputError


class ReducedDetector(Detector):
    """A `Detector` that knows a `ContactBasis`: what the basis covers becomes one row per mode.

    The basis names its candidate pairs, so that there is no broad phase. Opponents that it knows nothing of,
    such as an obstacle that was added later, make contacts as usual: indices from len(basis) on. Contacts of
    a covered opponent that never pushed in the snapshots do not exist. Modes have no facets to keep.
    """

    def __init__(
        self, robot: Any, obstacles: Iterable[Obstacle] = (), *, basis: ContactBasis, **options: Any
    ) -> None:
        self.basis = basis
        super().__init__(robot, obstacles, **options)
        if (self._common_friction or any(self._friction.values())) and np.isfinite(basis.fade):
            raise InputError(
                "friction",
                expected="none with modes whose shares follow the gaps",
                got="frictional contacts",
                hint='contact_basis(…, method="points") has friction.',
            )

    @property
    def size(self) -> int:
        """Modes, then opponents times samples."""
        return len(self.basis) + self._pairs

    def _lay_out(self, chosen: dict[int, Samples]) -> None:
        """The basis in the numbers of a stack of all samples and of the corners of candidate triangles."""
        super()._lay_out(chosen)
        basis, robot = self.basis, self.robot
        basis.check(self)
        owner = np.repeat(basis.touched, np.diff(basis.corner_ptr))
        parts, corner, first = [s.points for s in self.cloud.samples], basis.corner.copy(), self.cloud.size
        for body in sorted(set(owner.tolist())):
            nodes, place = np.unique(corner[owner == body], return_inverse=True)
            corner[owner == body] = first + place.reshape(-1, 3)
            parts.append(robot.bodies[body].node_points(nodes))
            first += len(nodes)
        self._points, self._corner = Stack(robot, parts), frozen(corner, int)
        self._sample = frozen(basis.sample, int)
        contact, mode = np.nonzero(basis.modes)
        psi = basis.modes[contact, mode]
        self._members = Members(contact, mode, psi, basis.offset, basis.fade)
        self._beyond = self._members.beyond

    def _arrange(self) -> None:
        super()._arrange()
        slot_of = {name: k for k, name in enumerate(self.basis.opponents)}
        # Slots of the detector and of the basis differ where obstacles came in another order.
        slots = np.array([self._slots.get(name, -1) for name in self.basis.opponents])
        self._opponent, self._margin = slots[self.basis.slot], np.zeros(len(self.basis.index))
        self._known: list[tuple[Obstacle, np.ndarray]] = []
        for obstacle in self._present:
            if obstacle.name in slot_of:
                covered = np.flatnonzero(self.basis.slot == slot_of[obstacle.name])
                self._margin[covered] = 0.0 if obstacle.convex else self.margin
                self._known.append((obstacle, covered))
        if self._known:
            require_one_cloud(self)
        self._unknown = np.array([o.name not in slot_of for o in self._present], bool)

    def _detected(
        self, q: np.ndarray, limit: float, held: np.ndarray = NO_KEYS, before: Contacts | None = None
    ) -> Contacts:
        """Modes at coordinates q with a gap below `limit` [m], then contacts that no mode covers."""
        p = positions_at(self.robot, self._points, q)
        far = limit + self._beyond
        gap, normal, triangle, weights = nearest_candidate(
            p, self._sample, self.cloud.radius[self._sample], self.basis.corner_ptr, self._corner, far
        )
        self._touch_obstacles(p, far, gap, normal)
        index, closed, shares = self._members.closing(gap, limit)
        live, item = np.unique(shares.item, return_inverse=True)
        stencil = self._stencil(live, triangle[live], weights[live])
        sample, opponent = self._sample[live], self._opponent[live]
        index_of = opponent * self.cloud.size + sample
        inner = Contacts(
            key=index_of,
            index=index_of,
            sample=sample,
            opponent=opponent,
            gap=gap[live],
            normal=normal[live],
            position=p[sample],
            tangents=tangent_frames(normal[live]),
            friction=self._mu[opponent],
            margin=self._margin[live],
            stencil=stencil,
            points=self._points,
            size=self._pairs,
            names=self.opponents,
        )
        shares = Sums(shares.ptr, item.ravel(), shares.share)
        if self._unknown.any():
            single = self._touching(p, limit)
            shares = _beside(shares, len(inner), len(single))
            inner, index = joined(inner, single), np.append(index, len(self.basis) + single.index)
            closed = np.append(closed, single.gap)
        return Modes.of(index, closed, shares, inner, self.size, self.basis.fade, len(self.basis))

    def _touch_obstacles(self, p: np.ndarray, limit: float, gap: np.ndarray, normal: np.ndarray) -> None:
        """Fill in gaps and normals of the basis' contacts with obstacles."""
        for obstacle, covered in self._known:
            far = limit + self.margin + self._outside.thickest
            sample = self._sample[covered]
            distance, direction = obstacle.distance(frozen_view(p[sample]), far)
            apart = distance - self.cloud.radius[sample] - self._margin[covered]
            near = apart < limit
            gap[covered[near]], normal[covered[near]] = apart[near], direction[near]

    def _stencil(self, contact: np.ndarray, triangle: np.ndarray, weights: np.ndarray) -> Stencil:
        """Of contacts of the basis with such candidate triangles (−1: with an obstacle)."""
        soft = triangle >= 0
        ptr = np.concatenate([[0], np.cumsum(np.where(soft, 4, 1))])
        point, weight = np.empty(ptr[-1], np.int64), np.ones(ptr[-1])
        point[ptr[:-1]] = self._sample[contact]
        at = ptr[:-1][soft, None] + np.arange(1, 4)
        point[at], weight[at] = self._corner[triangle[soft]], -weights[soft]
        return Stencil(ptr, point, weight)

    def _touching(self, p: np.ndarray, limit: float) -> Contacts:
        """Contacts with obstacles that the basis does not know."""
        chosen = len(self.soft) + np.flatnonzero(self._unknown)
        obstacles = [o for o, unknown in zip(self._present, self._unknown, strict=True) if unknown]
        samples = frozen_view(p[self._first_point : self._first_point + self.outer.size])
        distances = [o.distance(samples, limit + self.margin + self._outside.thickest) for o in obstacles]
        gaps, normals = (np.array(part) for part in zip(*distances, strict=True))
        first = self._first_index, self._first_point
        found = gaps, normals, *NO_CORNERS
        return self._gathered(self.outer, found, chosen, self._points, first, samples, limit)


def _beside(shares: Sums, inner: int, more: int) -> Sums:
    """Shares, and `more` rows of one contact each, which stand behind the `inner` ones."""
    each = np.arange(more)
    return Sums(
        np.concatenate([shares.ptr, shares.ptr[-1] + 1 + each]),
        np.concatenate([shares.item, inner + each]),
        np.concatenate([shares.share, np.ones(more)]),
    )
