"""A scene: a robot, what it can touch, and the rows that hold it where its own supports do not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.contact import Contacts, Detector
from pliant.core.situation import Situation
from pliant.core.support import Support
from pliant.core.view import View, linearise
from pliant.robot import Robot
from pliant.timing import Stopwatch

FARTHEST = 4.0  # alarm distances that contacts are looked for in: a bad step may go anywhere


@dataclass(frozen=True)
class Scene:
    """What is there. `detector` is None where there is nothing to touch."""

    robot: Robot
    detector: Detector | None
    support: Support

    def look(
        self, at: Situation, work: Stopwatch, *, curved: bool = True, exact: bool = False
    ) -> View | None:
        """The scene linearised in a situation, with the contacts there; None where cells are inside out.

        curved: whether K knows that pushes turn with what they act on. exact: even where that is costly, as it is for modes.
        """
        view = work.timed("linearise", self.bare, at)
        if view is None or self.detector is None:
            return view
        return self.touched(view, at, work, curved=curved, exact=exact)

    def touched(
        self, view: View, at: Situation, work: Stopwatch, *, curved: bool = True, exact: bool = False
    ) -> View:
        """A view without contacts, with those of a situation at the same coordinates."""
        contacts = work.timed("detect", self._contacts, at)
        force = np.zeros(contacts.scalars)
        if at.contacts is not None:
            force = contacts.carried_forces(at.contacts, at.force, contacts.scalars)
        return work.timed("linearise", self._joined, replace(view, at=at), contacts, force, curved, exact)

    def bare(self, at: Situation, *, clamp: bool = False) -> View | None:
        """As `look`, without contacts."""
        known = at.q, at.effort, at.internal, at.gravity
        view = linearise(self.robot, *known, clamp=clamp, predicted=at.predicted)
        if view is None:
            return None
        assert view.K is not None
        self.support.stiffen(view.K, view.H)
        return replace(view, at=at)

    def clamped(self, view: View) -> View:
        """The same view with a tangent that lacks the terms which can make it indefinite, contacts among them."""
        bare = self.bare(view.at, clamp=True)
        return view if bare is None else replace(view, K=bare.K, flat=None, change=None)

    def search(self, moved: float) -> float:
        """How far to look for contacts [m] after a motion [m]."""
        assert self.detector is not None
        return min(self.detector.reach(moved), FARTHEST * self.detector.alarm)

    def _contacts(self, at: Situation) -> Contacts:
        assert self.detector is not None
        if at.contacts is None:
            return self.detector.detect(at.q, at.search)
        if at.followed_from is not None:
            return at.contacts.followed(at.followed_from, at.q)
        return self.detector.redetect(at.q, at.contacts, at.force[: len(at.contacts)], at.search)

    def _joined(self, view: View, contacts: Contacts, force: np.ndarray, curved: bool, exact: bool) -> View:
        assert self.detector is not None
        view = view.touching(contacts, force, view.at.slip_start)
        return view.stiffened(self.detector, exact=exact) if curved else view
