"""ReducedDetector: contacts of a basis as a few modes, without a search; all others as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.algebra import SparseRows
from pliant.arrays import frozen, frozen_view
from pliant.contact.basis import ContactBasis
from pliant.contact.candidates import Candidates, Memory, looked
from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.detector import Detector
from pliant.contact.found import joined
from pliant.contact.gather import gather
from pliant.contact.keeping import BESIDE
from pliant.contact.modes import NEGLIGIBLE, TINY, Listed, Modes
from pliant.contact.obstacles import Obstacle
from pliant.contact.obstacles.obstacle import INF
from pliant.contact.packed import packed
from pliant.contact.softening import together
from pliant.contact.stack import Stack
from pliant.contact.turning import turning
from pliant.contact.watch import Watch
from pliant.errors import InputError

NOTHING = frozen(np.zeros(0), int), frozen(np.zeros(0)), frozen(np.zeros((0, 3)))


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
        points = self._points = Stack(robot, parts)
        self._soft = int((basis.touched >= 0).sum())
        ptr = frozen(np.concatenate([[0], np.cumsum(counts)])[: self._soft + 1], int)
        sample, self._slots_of = frozen(basis.sample[order], int), basis.slot[order]
        corner = corner[: ptr[-1]]
        candidates = Candidates.of(points, sample, self.cloud.radius[sample], ptr, corner)
        watch = Watch.over(points, sample[: self._soft], ptr, corner)
        memory, Psi = Memory.of(ptr, len(watch.of), len(basis)), basis.modes[order]
        contact, mode = np.nonzero(Psi)
        begin = np.searchsorted(contact, np.arange(len(Psi) + 1))
        psi, whole = frozen(Psi[contact, mode]), Psi.sum(axis=0)
        whole[(Psi[self._soft :] > 0.0).any(axis=0)] = INF  # obstacles move, too
        modes = frozen(begin, int), frozen(mode, int), psi, basis.offset, frozen(whole)
        self._known, views = packed(*watch, *memory, *candidates, *modes)
        watches, others = len(watch), len(watch) + len(memory)
        self._watch, self._candidates = Watch(*views[:watches]), Candidates(*views[others : -len(modes)])
        self._beyond = _beyond(Psi, basis.offset, basis.fade)
        self._placed = True

    def _arrange(self) -> None:
        super()._arrange()
        if not self._placed:
            return
        slot = {name: k for k, name in enumerate(self.basis.opponents)}
        self._touchable = [
            (o, np.flatnonzero(self._slots_of == slot[o.name])) for o in self._present if o.name in slot
        ]
        self._unknown = [k for k, o in enumerate(self._present) if o.name not in slot]
        # By the detector's own slots: obstacles may have come in another order.
        own = [self._slots.get(name, -1) for name in self.basis.opponents]
        opponent, off = np.array(own)[self._slots_of], np.zeros(len(self._slots_of))
        for obstacle, mine in self._touchable:
            off[mine] = 0.0 if obstacle.convex else self.margin
        self._like = self._points, self.size, self.opponents  # what all modes have in common
        self._listed = Listed(self._candidates.point, opponent, off, self.cloud.size, super().size)

    # Detection

    def _detected(self, q: np.ndarray, limit: float) -> Contacts:
        """Modes at the robot's coordinates q with a gap below `limit` [m], then contacts that no mode covers."""
        basis, points, far = self.basis, self._points, limit + self._beyond
        X = points.located(self._coordinates(q))
        finite, found = looked(
            frozen_view(q), X, self._known, self._obstacles_near(X, far) if self._touchable else NOTHING,
            limit, far, basis.fade,
        )  # fmt: skip
        if not finite:
            raise InputError("q", expected="finite coordinates", got="nan or inf")
        modes = Modes.of(found, self._like, self._listed, basis.fade)
        return self._with_plain(modes, self._plain(points.positions(q), limit)) if self._unknown else modes

    def _with_plain(self, modes: Modes, plain: Contacts) -> Modes:
        """Modes, and contacts that no mode covers, each as one of its own."""
        inner, shares, more = _joined(modes.inner, plain), modes.shares, np.arange(len(plain))
        ptr = np.concatenate([shares.ptr, shares.ptr[-1] + 1 + more])
        contact = np.concatenate([shares.contact, len(modes.inner) + more])
        value = np.concatenate([shares.value, np.ones(len(plain))])
        index = np.concatenate([modes.index, len(self.basis) + plain.index])
        gaps = np.concatenate([modes.gap, plain.gap])
        of_each = np.arange(len(inner)), inner.gap, inner.normal, inner.position
        found = joined((index, gaps), (ptr, contact, value), of_each, inner.stencil)
        listed = Listed(inner.sample, inner.opponent, inner.margin, self.cloud.size, inner.size)
        return Modes.of(found, self._like, listed, modes.fade)

    def _obstacles_near(self, X: np.ndarray, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers, gaps and normals of the basis' contacts with obstacles that are nearer than `limit` [m]."""
        c, far, found = self._candidates, limit + self.margin + self._thickest, []
        for obstacle, mine in self._touchable:
            gap, normal = obstacle.distance(X[c.row[mine]], far)
            gap = gap - c.radius[mine] - self._listed.margin[mine]
            found.append((mine[gap < limit], gap[gap < limit], normal[gap < limit]))
        number, gap, normal = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(number)
        return frozen(number[order], int), frozen(gap[order]), frozen(normal[order])

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

    def stiffness(
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
        rows, softening = contacts.stiffen(K, SparseRows.none(self.robot.ndof), force, q, exact=exact)
        if softening is None:
            return K, turned
        change = softening.change(rows)
        return K, change if turned is None else together(turned, change)


def _tangents(normal: np.ndarray) -> np.ndarray:
    """Two unit vectors (n, 2, 3) across each normal (n, 3)."""
    least = np.abs(normal).argmin(axis=1)
    first = np.cross(normal, np.eye(3)[least])
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, np.cross(normal, first)], axis=1)


def _beyond(Psi: np.ndarray, offset: np.ndarray, fade: float) -> float:
    """How much larger [m] than δ̂ the gap of a contact can be that counts in a mode: ℓ log(n ψ/negligible) − o, with the largest ψ (k,) of a
    mode of n contacts, as one of them has at least the nth part of Σψe^(−δ/ℓ)."""
    most = (Psi > 0.0).sum(axis=0) * Psi.max(axis=0, initial=0.0)
    return float(np.max(fade * np.log(np.maximum(most, 1.0) / NEGLIGIBLE) - offset, initial=0.0))


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
