"""A situation: where a robot stands, what acts on it, and what was known of its contacts before."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.contact import Contacts


@dataclass(frozen=True)
class Situation:
    """Coordinates q (nq,), efforts of the robot's rows (m,), internal variables, gravity (3,) [m/s²], and what came before."""

    q: np.ndarray
    effort: np.ndarray
    internal: np.ndarray
    gravity: np.ndarray
    contacts: Contacts | None = None  # that were known before …
    force: np.ndarray = field(default_factory=lambda: np.zeros(0))  # … and their forces [N]: normals, slips
    followed_from: np.ndarray | None = (
        None  # (nq,) where these were seen, if pairs and normals are kept from there on
    )
    slip_start: np.ndarray | None = None  # (nq,) where slip counts from; None: from q
    predicted: np.ndarray | None = (
        None  # what the motion to q was to bring to slender bodies, see `Robot.predict`
    )
    search: float | None = None  # [m] how far to look for contacts; None: the alarm distance
