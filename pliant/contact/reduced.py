"""ReducedDetector: contacts of a basis as a few modes, without a search; all others as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.contact.basis import ContactBasis
from pliant.contact.candidates import gathered, measure
from pliant.contact.checks import frozen, frozen_view
from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.detector import Detector
from pliant.contact.gather import gather
from pliant.contact.keeping import BESIDE
from pliant.contact.modes import TINY, Modes, Shares, faded
from pliant.contact.obstacles import Obstacle
from pliant.contact.softening import together
from pliant.contact.stack import Stack
from pliant.contact.turning import turning
from pliant.errors import InputError


class ReducedDetector(Detector):
    """A `Detector` that knows a `ContactBasis`: what the basis covers becomes one row per mode.

    Opponents that the basis knows nothing of, such as an obstacle that was added later, make contacts as usual: indices from
    len(basis) on. Contacts of a covered opponent that never pushed in the snapshots do not exist.
    """

    def __init__(
        self, robot: Any, obstacles: Iterable[Obstacle] = (), *, basis: ContactBasis, **options: Any
    ) -> None:
        self.basis, self._placed = basis, False
        super().__init__(robot, obstacles, **options)
        basis.check(self)
        if self._common_friction or any(self._friction.values()):
            raise InputError("friction", expected="none with a contact basis", got="rough contacts")
        self._place_candidates()
        self._arrange()

    @property
    def size(self) -> int:
        """Modes, then opponents times samples."""
        return len(self.basis) + super().size

    def _place_candidates(self) -> None:
        """The basis in the numbers of a stack of all samples and of the corners that it knows."""
        basis, robot = self.basis, self.robot
        order = np.argsort(basis.touched < 0, kind="stable")  # deformable opponents first
        counts = np.diff(basis.corner_ptr)[order]
        entry = np.repeat(basis.corner_ptr[order], counts) + _counted(counts)
        owner, corner = np.repeat(basis.touched[order], counts), basis.corner[entry].copy()
        parts, first = [s.points for s in self.cloud.samples], self.cloud.size
        for body in sorted(set(owner.tolist())):
            nodes, place = np.unique(corner[owner == body], return_inverse=True)
            corner[owner == body] = first + place.reshape(-1, 3)
            parts.append(robot.bodies[body].node_points(nodes))
            first += len(nodes)
        self._points = Stack(robot, parts)
        self._soft = int((basis.touched >= 0).sum())
        # What `measure` keeps from one look to the next.
        self._before, self._least = np.zeros((self._points.size, 3)), np.full(self._soft, -np.inf)
        self._nearest = (np.cumsum(counts) - counts)[: self._soft]
        self._ptr, self._corner = frozen(np.concatenate([[0], np.cumsum(counts)]), int), frozen(corner, int)
        self._sample, self._slots_of = frozen(basis.sample[order], int), basis.slot[order]
        mode, contact = np.nonzero(basis.modes[order].T)
        self._mode_ptr = frozen(np.searchsorted(mode, np.arange(len(basis) + 1)), int)
        self._mode_contact = frozen(contact, int)
        self._mode_value = frozen(basis.modes[order].T[mode, contact])
        self._placed = True

    def _arrange(self) -> None:
        super()._arrange()
        if not self._placed:
            return
        slot = {name: k for k, name in enumerate(self.basis.opponents)}
        self._known = [
            (o, np.flatnonzero(self._slots_of == slot[o.name])) for o in self._present if o.name in slot
        ]
        self._unknown = [k for k, o in enumerate(self._present) if o.name not in slot]
        # By the detector's own slots: obstacles may have come in another order.
        own = [self._slots.get(name, -1) for name in self.basis.opponents]
        self._opponent = frozen(np.array(own)[self._slots_of], int)
        off = np.zeros(len(self._sample))
        for obstacle, mine in self._known:
            off[mine] = 0.0 if obstacle.convex else self.margin
        self._off = frozen(off)

    # Detection

    def _detected(self, q: np.ndarray, limit: float) -> Contacts:
        """Modes at the robot's coordinates q with a contact nearer than `limit` [m], then contacts that no mode covers."""
        p = self._positions(self, q)
        gap, normal, corners, weights = self._measured(p, limit)
        basis = self.basis
        mode, least, live, *found = faded(
            self._mode_ptr, self._mode_contact, self._mode_value, basis.offset, gap, limit, basis.fade
        )
        shares = Shares(*found)
        inner, places = self._contacts(p, live, shares, gap, normal, corners, weights)
        if not self._unknown:
            return Modes.of(mode, least, self.size, inner, shares, basis.fade, places)
        plain = self._plain(p, limit)
        n = len(inner)
        ptr = np.concatenate([shares.ptr, shares.ptr[-1] + 1 + np.arange(len(plain))])
        contact = np.concatenate([shares.contact, n + np.arange(len(plain))])
        value = np.concatenate([shares.value, np.ones(len(plain))])
        index = np.concatenate([mode, len(basis) + plain.index])
        gaps = np.concatenate([least, plain.gap])
        both = _joined(inner, plain)
        return Modes.of(index, gaps, self.size, both, Shares(ptr, contact, value), basis.fade)

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Of all points that detection looks at: samples, then corners, (P, 3) [m]."""
        return self._points.positions(q)

    def _measured(self, p: np.ndarray, limit: float) -> tuple[np.ndarray, ...]:
        """Gaps (n,) of the basis' contacts, inf if far; normals, corners and weights (n, 3), anything where far."""
        n, soft = len(self._sample), self._soft
        gap, normal = np.full(n, np.inf), np.empty((n, 3))
        corners, weights = np.empty((n, 3), np.int64), np.empty((n, 3))
        measure(
            p, self._before, self._sample[:soft], self.cloud.radius, self._ptr, self._corner, limit, self._least,
            self._nearest, gap, normal, corners, weights,
        )  # fmt: skip
        for obstacle, mine in self._known:
            sample = self._sample[mine]
            far = limit + self.margin + self._thickest
            gap[mine], normal[mine] = obstacle.distance(p[sample], far)
            gap[mine] -= self.cloud.radius[sample] + self._off[mine]
            gap[mine[gap[mine] >= limit]] = np.inf
        return gap, normal, corners, weights

    def _contacts(self, p, live, shares, gap, normal, corners, weights) -> tuple[Contacts, np.ndarray]:
        """The contacts `live` of the basis, and where modes are that share them (k, 3) [m]."""
        index, sample, opponent, gaps, normals, position, margin, *stencil, places = gathered(
            live, tuple(shares), self._soft, self._sample, self._opponent, self._off, gap, normal, corners, weights, p,
            self.cloud.size,
        )  # fmt: skip
        tangents, none = np.zeros((len(live), 2, 3)), np.zeros(len(live))  # asked for by `bent` only
        of_each = index, sample, opponent, gaps, normals, position, tangents, none, margin
        return Contacts(*of_each, Stencil(*stencil), self._points, super().size, self.opponents), places

    def _plain(self, p: np.ndarray, limit: float) -> Contacts:
        """Contacts with obstacles that the basis does not know."""
        cloud, chosen = self.cloud, len(self.soft) + np.array(self._unknown)
        gaps, normals = np.empty((len(chosen), cloud.size)), np.empty((len(chosen), cloud.size, 3))
        for k, place in enumerate(self._unknown):
            far = limit + self.margin + self._thickest
            gaps[k], normals[k] = self._present[place].distance(p[: cloud.size], far)
        none = np.zeros((0, cloud.size, 3), np.int64), np.zeros((0, cloud.size, 3))
        found = gather(
            gaps, normals, *none, frozen(self._slot[chosen], int), frozen(self._mu[chosen]),
            frozen(self._margins[chosen]), cloud.radius, self._points.mobile, frozen_view(p), limit,
        )  # fmt: skip
        return Contacts(*found[:9], Stencil(*found[9:]), self._points, super().size, self.opponents)

    def redetect(
        self,
        q: np.ndarray,
        before: Contacts,
        force: np.ndarray,
        reach: float | None = None,
        beside: float = BESIDE,
    ) -> Contacts:
        """Contacts at q: modes do not keep facets."""
        return self.detect(q, reach)

    def bent(
        self, K: np.ndarray, contacts: Contacts, force: np.ndarray, q: np.ndarray, *, exact: bool = False
    ) -> tuple[np.ndarray, tuple[SparseRows, np.ndarray] | None]:
        """With obstacles and levers as a plain detector's, and what the modes yield; if `exact`, also of facets that turn."""
        if not force.any():
            return K, None
        inner, each = contacts.told(force)
        strong = np.where(each > TINY * each.max(), each, 0.0)
        inner = replace(inner, tangents=_tangents(inner.normal)) if exact else inner
        turned = turning(inner, strong, q) if exact else None
        curved = self._curved(K, inner, each, q)
        K = K.copy() if curved is K else curved
        softening = contacts.stiffen(K, force, q, exact=exact)
        if softening is None:
            return K, turned
        change = softening.change(contacts.rows(q))
        return K, change if turned is None else together(turned, change)


def _tangents(normal: np.ndarray) -> np.ndarray:
    """Two unit vectors (n, 2, 3) across each normal (n, 3)."""
    least = np.abs(normal).argmin(axis=1)
    first = np.cross(normal, np.eye(3)[least])
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, np.cross(normal, first)], axis=1)


def _counted(counts: np.ndarray) -> np.ndarray:
    """0 … count − 1 for each count, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _joined(a: Contacts, b: Contacts) -> Contacts:
    """Contacts on the same points, those of b after those of a."""
    both = lambda name: np.concatenate([getattr(a, name), getattr(b, name)])
    names = ("index", "sample", "opponent", "gap", "normal", "position", "tangents", "friction", "margin")
    s, t = a.stencil, b.stencil
    stencil = Stencil(
        np.concatenate([s.ptr, s.ptr[-1] + t.ptr[1:]]),
        np.concatenate([s.point, t.point]),
        np.concatenate([s.weight, t.weight]),
    )
    joined: Any = {name: both(name) for name in names}
    return Contacts(**joined, stencil=stencil, points=a.points, size=a.size, names=a.names)
