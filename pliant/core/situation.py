"""A situation: where a robot stands, what acts on it, and what was known of its contacts before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pliant.bodies.overstress import Overstress
from pliant.contact import Contacts

Viscous = Sequence[Overstress | None] | None  # what materials add to their stress, one for each body


@dataclass(frozen=True)
class Situation:
    """Where a robot stands: q (nq,), efforts (m,), internal variables, gravity (3,) [m/s²]; what is known."""

    q: np.ndarray
    effort: np.ndarray
    internal: np.ndarray
    gravity: np.ndarray
    # Contacts known before, and their forces [N]: along normals, then along tangents.
    contacts: Contacts | None = None
    force: np.ndarray = field(default_factory=lambda: np.zeros(0))
    # Coordinates (nq,) where these were detected, if their pairs and normals are kept.
    followed_from: np.ndarray | None = None
    # Coordinates (nq,) from which slip counts; None: from q.
    slip_start: np.ndarray | None = None
    # Section forces that the motion to q was to bring to slender bodies, see `Robot.predict`.
    predicted: np.ndarray | None = None
    # How far to search for contacts [m]; None: the alarm distance.
    search: float | None = None
    # What viscous materials add to their stress.
    viscous: Viscous = None
