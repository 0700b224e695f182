"""Detector: finds the contacts of a robot. One detector makes all contact rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pliant.arrays import frozen
from pliant.contact.contacts import Contacts, Stencil, joined
from pliant.contact.detect import search_distance
from pliant.contact.detect.between import (
    DENSE_CUT,
    FIRST_KEY,
    Surfaced,
    as_contacts,
    key_step,
    rows_between,
)
from pliant.contact.detect.chosen import (
    chosen_samples,
    everywhere_else,
    free_name,
    named,
    soft_opponents,
)
from pliant.contact.detect.cloud import Cloud
from pliant.contact.detect.depth import SoftDepth, require_bodies_apart
from pliant.contact.detect.gather import gather
from pliant.contact.detect.keeping import OVERHANG, kept
from pliant.contact.detect.opponents import SoftSearch
from pliant.contact.detect.outside import Outside
from pliant.contact.detect.overlap import DEEP, shown
from pliant.contact.detect.samples import Samples, spacing_for
from pliant.contact.detect.skin import skins_of
from pliant.contact.detect.surfaces import SurfaceSearch
from pliant.contact.obstacles import Obstacle
from pliant.contact.obstacles.obstacle import INF
from pliant.contact.stack import Stack, positions_at
from pliant.contact.stiffness import Change, contact_stiffness
from pliant.errors import InputError, unknown_name
from pliant.inputs import not_negative, positive
from pliant.mesh import Surface

NO_KEYS = np.zeros(0, np.int64)
NO_CORNERS = np.zeros((0, 0, 3), np.int64), np.zeros((0, 0, 3))  # obstacles have no triangles
MARGIN = 2.5e-4  # of the robot's length: kept from concave obstacles, whose linearised gap is too large


class Detector:
    """Contacts of a robot with obstacles, of its bodies with each other, and of a body with itself.

    samples: collision samples of the bodies that can touch, see `Samples`; None samples every body, finely
        enough for the roundest of the obstacles given here.
    self_contact: True for every sampled body with itself; or a list of pairs of surfaces (patches of
        body.mesh.surface) that may touch each other, of the same body or not.
    against_obstacles: samples that meet obstacles. By default `samples`; but samples that are given together
        with pairs of patches are for these, and obstacles are met by all of the skin. Give the same samples
        again to have obstacles touch nothing else.
    between_bodies: whether different bodies touch; or the pairs of body numbers that do.
    alarm [m]: gaps below it are reported; 0.025 L by default, L the robot's length.
    margin [m]: taken off the gap to concave obstacles; 2.5e-4 L by default.
    friction: μ of all opponents, or of each by name (0 for the others).
    areas: whether bodies touch each other and themselves over areas; False for single samples only.

    Opponents are known by name: obstacles by theirs, bodies as "body 0", patches as "pair 0 first" and
    "pair 0 second". A name keeps its slot for good, so that indices of contacts never change their meaning.
    """

    def __init__(
        self,
        robot: Any,
        obstacles: Iterable[Obstacle] = (),
        *,
        samples: Samples | Sequence[Samples] | None = None,
        self_contact: bool | Sequence[tuple[Surface, Surface]] = False,
        between_bodies: bool | Sequence[tuple[int, int]] = True,
        alarm: float | None = None,
        margin: float | None = None,
        friction: float | Mapping[str, float] = 0.0,
        areas: bool = True,
        against_obstacles: Samples | Sequence[Samples] | None = None,
    ) -> None:
        self.robot, self.areas = robot, areas
        usual = search_distance.ALARM * robot.length
        self.alarm = usual if alarm is None else positive("alarm distance", alarm, "m")
        self.margin = MARGIN * robot.length if margin is None else not_negative("margin", margin, "m")
        obstacles = tuple(obstacles)
        chosen = chosen_samples(robot, samples, obstacles)
        self.soft = soft_opponents(robot, chosen, self_contact, between_bodies)
        outer = chosen if against_obstacles is None else chosen_samples(robot, against_obstacles, obstacles)
        self._lay_out(chosen if self.soft else outer)
        self._meet_obstacles = lambda: outer
        if against_obstacles is None and not isinstance(self_contact, (bool, np.bool_)):
            self._meet_obstacles = partial(everywhere_else, robot, chosen, obstacles)
        self.version = 0  # counts changes of the obstacles
        self._slots = {o.name: k for k, o in enumerate(self.soft)}
        self._obstacles: dict[str, Obstacle] = {}
        self._friction: dict[str, float] = {}
        self._common_friction = 0.0 if isinstance(friction, Mapping) else not_negative("friction", friction)
        for obstacle in obstacles:
            self.add(obstacle)
        for name, mu in friction.items() if isinstance(friction, Mapping) else ():
            _require(name, self._slots)
            self._friction[name] = not_negative(f"friction of {name!r}", mu)
        self._arrange()

    def __repr__(self) -> str:
        return f"Detector({self.cloud.size} samples, opponents {list(self.opponents)})"

    # Opponents

    @property
    def obstacles(self) -> dict[str, Obstacle]:
        """The present obstacles by name."""
        return dict(self._obstacles)

    @property
    def opponents(self) -> tuple[str, ...]:
        """Names by slot, also of obstacles that were removed: `Contacts.opponent` counts these."""
        return self._names  # there may be very many, and every step asks

    @property
    def size(self) -> int:
        """How many indices there are: opponents times samples.

        Bodies come first, with the samples that meet bodies; then obstacles, with those that meet obstacles.
        """
        return self._pairs

    def add(self, obstacle: Obstacle, *, friction: float | None = None) -> str:
        """A new obstacle; returns its name. One without a name is called after its kind."""
        if not isinstance(obstacle, Obstacle):
            got = type(obstacle).__name__
            raise InputError("obstacle", expected="an Obstacle such as Sphere(…)", got=got)
        soft = {o.name for o in self.soft}
        name = obstacle.name or free_name(type(obstacle).__name__.lower(), {*self._slots})
        if name in self._obstacles or name in soft:
            raise InputError(
                f"obstacle {name!r}",
                expected="a name that is not taken",
                got=repr(name),
                hint="Use replace(…) to move an obstacle.",
            )
        if friction is not None:
            self._friction[name] = not_negative(f"friction of {name!r}", friction)
        self._slots.setdefault(name, len(self._slots))
        self._obstacles[name] = named(obstacle, name)
        self._arrange()
        return name

    def replace(self, obstacle: Obstacle) -> None:
        """The obstacle of the same name, moved or changed."""
        _require(obstacle.name, self._obstacles)
        self._obstacles[obstacle.name] = obstacle
        self._arrange()

    def remove(self, name: str) -> None:
        """Take an obstacle away. Its indices stay reserved for one of that name."""
        _require(name, self._obstacles)
        del self._obstacles[name]
        self._arrange()

    # Detection

    def reach(self, motion: float) -> float:
        """How far to look [m] when samples moved by `motion` [m] in the last step: max(alarm, 2·motion)."""
        return search_distance.after(float(motion), self.alarm)

    def redetect(
        self,
        q: np.ndarray,
        before: Contacts,
        force: np.ndarray,
        reach: float | None = None,
        overhang: float = OVERHANG,
    ) -> Contacts:
        """Contacts at q; those that pushed `before` with `force` (n,) [N] keep their facets (`keeping`)."""
        fresh = self._detected(q, self._limit(reach), before.key[force > 0.0], before)
        return kept(fresh, before, force, q, overhang) if self.soft and force.any() else fresh

    def detect(self, q: np.ndarray, reach: float | None = None, *, held: np.ndarray = NO_KEYS) -> Contacts:
        """Contacts at coordinates q with a gap below `reach` [m], by default the alarm distance.

        held: keys of contacts that push; points between samples among them stay contacts (see `between`).
        """
        return self._detected(q, self._limit(reach), held)

    def _limit(self, reach: float | None) -> float:
        """How far to look [m]."""
        limit = self.alarm if reach is None else reach
        if not (type(limit) is float and 0.0 < limit < INF):
            limit = positive("reach", limit, "m")
        return limit

    def _detected(
        self, q: np.ndarray, limit: float, held: np.ndarray = NO_KEYS, before: Contacts | None = None
    ) -> Contacts:
        """Contacts at q with a gap below `limit` [m]; those with keys `held` pushed, of the set `before`."""
        points = self.detect_samples(q, limit, held=held[held >= FIRST_KEY])
        return self._surfaces(self.robot, q, points, self._mu, limit, held, before) if self.soft else points

    def detect_samples(self, q: np.ndarray, limit: float, *, held: np.ndarray = NO_KEYS) -> Contacts:
        """Contacts of single points at q with a gap below `limit` [m], also where rows of surfaces stand.

        held: keys of points between samples that push.
        """
        if self._nothing is not None:
            return self._nothing
        parts = [self._touching_bodies(q, limit)] if self.soft or not self._present else []
        if self._present:
            parts += self._touching_obstacles(q, limit, held)
        contacts = joined(*parts) if len(parts) > 1 else parts[0]
        if not self.soft and not self._present:
            self._nothing = contacts
        return contacts

    def _touching_bodies(self, q: np.ndarray, limit: float) -> Contacts:
        """Contacts of samples with the robot's own bodies."""
        cloud, soft = self.cloud, len(self.soft)
        p = positions_at(self.robot, cloud.points_of_samples, q)
        gaps, normals = np.empty((soft, cloud.size)), np.empty((soft, cloud.size, 3))
        corners, weights = self._search(self.robot, q, p, limit, gaps, normals)
        found = gaps, normals, corners, weights
        return self._gathered(cloud, found, np.arange(soft), self._points, (0, 0), p, limit)

    def _touching_obstacles(self, q: np.ndarray, limit: float, held: np.ndarray) -> list[Contacts]:
        """Contacts of samples with obstacles, and those of points between them."""
        outer, first = self.outer, len(self.soft)
        p = positions_at(self.robot, outer.points_of_samples, q)
        each = first + np.arange(len(self._present))
        far = limit + self._margins + self._outside.thickest
        seen = [o.distance(p, far[k]) for k, o in zip(each.tolist(), self._present, strict=True)]
        gaps, normals = (np.array(part) for part in zip(*seen, strict=True))
        place = self._first_index, self._first_point
        contacts = self._gathered(outer, (gaps, normals, *NO_CORNERS), each, self._points, place, p, limit)
        if not len(outer.facets):
            return [contacts]
        near = zip(each.tolist(), self._present, gaps, normals, strict=True)
        return [contacts, *self._between(contacts, self._outside.skin(q, p), near, limit, held)]

    def _gathered(
        self,
        cloud: Cloud,
        found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        opponents: np.ndarray,
        points: Stack,
        first: tuple[int, int],
        p: np.ndarray,
        limit: float,
    ) -> Contacts:
        """Contacts with gaps below `limit` to opponents (k,), in the order of their slots.

        found: gaps (k, S), normals (k, S, 3), and of bodies corners and weights (k, S, 3). first: the index
        of sample 0 with the opponent of slot 0, and its number among `points`.
        """
        slot, mu, margin = (frozen(a[opponents], a.dtype) for a in (self._slot, self._mu, self._margins))
        arrays = gather(*found, slot, mu, margin, cloud.radius, points.mobile, p, limit, *first)
        contacts = Contacts(arrays[0], *arrays[:9], Stencil(*arrays[9:]), points, self._pairs, self.opponents)
        many = np.count_nonzero(contacts.gap < -self.alarm) > DEEP
        return contacts.take(shown(contacts, self.alarm)) if many else contacts

    def _between(
        self,
        like: Contacts,
        skin: Surfaced,
        each: Iterable[tuple[int, Obstacle, np.ndarray, np.ndarray]],
        limit: float,
        held: np.ndarray,
    ) -> list[Contacts]:
        """Contacts of points between samples with obstacles that are nearer there, in sets like another.

        each: the number of an obstacle among the present opponents, it, and gaps and normals of samples.
        """
        parts, step, first = [], key_step(skin.facets), (self._first_index, self._first_point)
        for k, obstacle, gap, normal in each:
            far, slot = limit + float(self._margins[k]), int(self._slot[k])
            samples = gap - skin.radius, normal
            mine = held[(held - FIRST_KEY) // step == slot] - slot * step
            dense = self._outside.spacing <= 1.01 * spacing_for(obstacle.roundness, self.robot.length)
            rows = rows_between(skin, obstacle, samples, far, self.robot.length, mine, dense=dense)
            if rows is not None:
                parts.append(as_contacts(rows, like, slot, self._mu[k], self._margins[k], skin, first))
        return parts

    def stiffness(
        self, K: np.ndarray, contacts: Contacts, force: np.ndarray, q: np.ndarray, *, exact: bool = False
    ) -> tuple[np.ndarray, Change | None]:
        """K with the contact stiffness of pushes `force` (n,) [N], and what of it is a change of low rank.

        See `contact_stiffness`. exact: all of it, also where that is costly (modes).
        """
        obstacles = {self._slots[o.name]: o for o in self._present}
        return contact_stiffness(K, self.robot, contacts, force, q, obstacles, exact=exact)

    def penetrations(self, q: np.ndarray) -> dict[str, float]:
        """Depth [m] of the deepest point of the skin in each opponent, 0 if none.

        Measured without margins: in obstacles on the facets as they are, to 1e-5 of the robot's length; in
        bodies on dense points of their facets, see `SoftDepth`. Points that nothing can move do not count,
        nor contacts of a body with itself that are deeper than the alarm distance and 5 % of the length.
        """
        p = positions_at(self.robot, self.outer.points_of_samples, q)
        inside = {o.name: self._outside.depth(o, q, p) for o in self._present}
        return {**self._soft_penetrations(q), **inside}

    def require_apart(self, q: np.ndarray) -> None:
        """Raise for an obstacle in a body, a body in an obstacle, and bodies deep in each other."""
        require_bodies_apart(self.robot, q, self.soft, self.alarm, self._soft_depth)
        if self._present:
            p = positions_at(self.robot, self.outer.points_of_samples, q)
            self._outside.require_apart(self._present, q, p, self.alarm)

    def depth(self, q: np.ndarray, contacts: Contacts) -> float:
        """Depth [m] of the deepest point at q: in obstacles on facets as they are, in bodies by contacts.

        `contacts` are those detected at q: where none of them is near, no facet is, and only whether an
        obstacle is inside a body must be seen. Where bodies touch over areas, contacts know the gaps of all
        points that were looked at.
        """
        deepest = max(0.0, contacts.depth_between_bodies())
        if not self._present:
            return deepest
        p = positions_at(self.robot, self.outer.points_of_samples, q)
        near = contacts.rigid & (contacts.gap < DENSE_CUT * self.robot.length)
        touched = set(contacts.opponent[near].tolist())
        met = lambda o: self._slots[o.name] in touched or self._outside.closed_round(o, q, p)
        return max([deepest, *(self._outside.depth(o, q, p) for o in self._present if met(o))])

    def swallowed(self, q: np.ndarray) -> tuple[str, ...]:
        """Obstacles whose core lies in a body at q: by contacts alone, the body would close round them."""
        p = positions_at(self.robot, self.outer.points_of_samples, q)
        return tuple(o.name for o in self._present if self._outside.closed_round(o, q, p))

    def _soft_penetrations(self, q: np.ndarray) -> dict[str, float]:
        """Depth [m] in each of the robot's own bodies, on dense points of their facets."""
        if not self.soft:
            return {}
        p = positions_at(self.robot, self.cloud.points_of_samples, q)
        far = max(self.alarm, 2 * search_distance.ALARM * self.robot.length)
        return dict(zip((o.name for o in self.soft), self._soft_depth()(q, p, far).tolist(), strict=True))

    def _soft_depth(self) -> SoftDepth:
        if self._dense is None:
            self._dense = SoftDepth(self.robot, self.cloud, self._skins, self.soft, self._search)
        return self._dense

    def penetration(self, q: np.ndarray) -> float:
        """Depth [m] of the deepest point of the robot's skin in anything, 0 if none; see `penetrations`."""
        return max(self.penetrations(q).values(), default=0.0)

    # Inside

    def _lay_out(self, chosen: dict[int, Samples]) -> None:
        """What detection needs of the robot to find contacts between its bodies."""
        self._skins = skins_of(self.robot, self.soft, self.alarm)
        self.cloud = self.outer = Cloud(self.robot, chosen, self._skins)
        self._chosen, self._points = chosen, self.cloud.points
        self._first_index, self._first_point = 0, 0  # of samples that meet obstacles
        self._search = SoftSearch(self.cloud, self._skins, self.soft)
        touching = self.soft if self.areas else []
        self._surfaces = SurfaceSearch(self.cloud, self._skins, touching, self.robot.length)
        self._dense: SoftDepth | None = None  # where bodies are measured that touch each other
        self._watching = False  # whether it is laid out for obstacles

    def _lay_out_for_obstacles(self) -> None:
        """What detection needs of the robot to find contacts with obstacles: as soon as there is one.

        Samples that meet obstacles only, and the nodes of their facets, come behind all other points.
        """
        outer = self._meet_obstacles()
        if outer is not self._chosen:
            self.outer = Cloud(self.robot, outer)
            self._first_index = len(self.soft) * (self.cloud.size - self.outer.size)
            self._first_point = self._points.size
            self._points = self._points.extended(self.robot, self.outer.parts)
        self._outside = Outside(self.robot, self.outer)
        self._watching = True

    def _arrange(self) -> None:
        """What detection needs of the present opponents, in the order of their slots."""
        self.version += 1
        if self._obstacles and not self._watching:
            self._lay_out_for_obstacles()
        self._pairs = self._first_index + len(self._slots) * self.outer.size
        self._names = tuple(self._slots)
        self._nothing: Contacts | None = None  # what detection finds where there is no opponent
        self._present = sorted(self._obstacles.values(), key=lambda o: self._slots[o.name])
        names = [o.name for o in self.soft] + [o.name for o in self._present]
        margins = [0.0] * len(self.soft) + [0.0 if o.convex else self.margin for o in self._present]
        self._slot = frozen([self._slots[name] for name in names], int)
        self._mu = frozen([self._friction.get(name, self._common_friction) for name in names])
        self._margins = frozen(margins)


def _require(name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise unknown_name("opponent", name, known)
