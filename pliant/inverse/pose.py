"""Where the inverse model stands, and what one linearisation leads to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.contact import Contacts, Detector
from pliant.core.tangent import EXACT, FLAT, INDEFINITE, Condensed
from pliant.core.view import View
from pliant.inverse.condensed import Efforts


@dataclass(frozen=True)
class Pose:
    """Where the controller stands."""

    q: np.ndarray  # coordinates (nq,)
    lam: np.ndarray  # efforts of all rows (m,)
    contacts: Contacts  # there
    force: np.ndarray  # of the contacts [N]: n normal ones, with friction 3n: then along two tangents each
    view: View | None  # the scene as seen from there; None if cells are inside out
    delta: np.ndarray  # of all rows (m,)
    version: int  # of the obstacles
    detector: Detector  # which knows them
    internal: np.ndarray  # internal variables: what cables with friction, chambers and rubber remember

    @property
    def normal(self) -> np.ndarray:
        """Normal forces of the contacts (n,) [N]."""
        return self.force[: len(self.contacts)]

    @property
    def tangential(self) -> np.ndarray:
        """Friction along the contacts' tangents (n, 2) [N]."""
        n = len(self.contacts)
        return self.force[n:].reshape(n, 2) if len(self.force) > n else np.zeros((n, 2))

    @cached_property
    def depth(self) -> float:
        """Of the deepest point [m], measured on the surfaces as they are; see `Detector.depth`."""
        return self.detector.depth(self.q, self.contacts)

    @cached_property
    def standoff(self) -> float:
        """Largest true gap [m] of a contact that pushes, see `Contacts.standoff`."""
        return self.contacts.standoff(self.force)

    @cached_property
    def swallowed(self) -> bool:
        """Whether an obstacle is so deep in a body that contacts cannot drive it out."""
        return bool(self.detector.swallowed(self.q))


@dataclass(frozen=True)
class Move:
    """What one linearisation led to."""

    pose: Pose
    efforts: Efforts
    condensed: Condensed
    predicted: np.ndarray  # δ of the effectors where the linear model expected them

    @property
    def shift(self) -> float:
        """By how much K was raised."""
        return self.condensed.shift

    @property
    def stable(self) -> bool:
        """Whether the robot was stable where the move began, its drives locked."""
        return self.condensed.treatment in (EXACT, FLAT, INDEFINITE)
