"""A scene: a robot, what it can touch, and what supports it besides its fixed nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.contact import Contacts, Detector
from pliant.contact.detect import search_distance
from pliant.core.situation import Situation
from pliant.core.support import Support
from pliant.core.view import View, linearise
from pliant.robot import Robot
from pliant.timing import Stopwatch


@dataclass(frozen=True)
class Scene:
    """What is there. `detector` is None where there is nothing to touch."""

    robot: Robot
    detector: Detector | None
    support: Support

    def look(self, at: Situation, work: Stopwatch, *, stiff: bool = True, exact: bool = False) -> View | None:
        """The scene linearised in a situation, with the contacts there; None where cells are inside out.

        stiff: whether K has the contact stiffness. exact: all of it, also where that is costly (modes).
        """
        view = work.timed("linearise", self.bare, at)
        if view is None or self.detector is None:
            return view
        return self.touched(view, at, work, stiff=stiff, exact=exact)

    def touched(
        self, view: View, at: Situation, work: Stopwatch, *, stiff: bool = True, exact: bool = False
    ) -> View:
        """A view without contacts, with those of a situation at the same coordinates."""
        contacts = work.timed("detect", self._contacts, at)
        if not len(contacts):
            return replace(view, at=at, contacts=contacts)
        force = np.zeros(contacts.scalars)
        if at.contacts is not None:
            force = contacts.carried_forces(at.contacts, at.force, contacts.scalars)
        return work.timed("linearise", self._joined, replace(view, at=at), contacts, force, stiff, exact)

    def bare(self, at: Situation, *, clamp: bool = False) -> View | None:
        """As `look`, without contacts."""
        known = at.q, at.effort, at.internal, at.gravity
        view = linearise(self.robot, *known, clamp=clamp, predicted=at.predicted, viscous=at.viscous)
        if view is None:
            return None
        assert view.K is not None
        self.support.stiffen(view.K, view.H)
        return replace(view, at=at)

    def clamped(self, view: View) -> View:
        """The same view with K less the terms that can make it indefinite, contact stiffness among them."""
        bare = self.bare(view.at, clamp=True)
        return view if bare is None else replace(view, K=bare.K, flat=None, change=None)

    def search(self, moved: float) -> float:
        """How far to look for contacts [m] after a motion [m]."""
        assert self.detector is not None
        return search_distance.bounded(moved, self.detector.alarm)

    def _contacts(self, at: Situation) -> Contacts:
        assert self.detector is not None
        if at.contacts is None:
            return self.detector.detect(at.q, at.search)
        if at.followed_from is not None:
            return at.contacts.followed(at.followed_from, at.q)
        return self.detector.redetect(at.q, at.contacts, at.force[: len(at.contacts)], at.search)

    def _joined(self, view: View, contacts: Contacts, force: np.ndarray, stiff: bool, exact: bool) -> View:
        assert self.detector is not None
        view = view.touching(contacts, force, view.at.slip_start)
        return view.stiffened(self.detector, exact=exact) if stiff else view
