"""The state of a robot: a value that can be kept, copied and compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


def _read_only(array: Any) -> np.ndarray:
    """A copy that nobody can change, or the array itself if it is such a one."""
    if (
        isinstance(array, np.ndarray)
        and array.dtype == float
        and array.flags.owndata
        and not array.flags.writeable
    ):
        return array
    out = np.array(array, float)
    out.setflags(write=False)
    return out


@dataclass(frozen=True)
class State:
    """Coordinates q (nq,), velocities v (ndof,) [m/s], time t [s], efforts λ (m,), internal variables.

    `gravity` (3,) [m/s²] is the one that q is in equilibrium with, zero at rest: a static solve ramps it
    from here. `memory` (k,) is what viscous materials remember, body by body; empty: they have rested at q.
    """

    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    internal: np.ndarray
    gravity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    t: float = 0.0
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        for name in ("q", "v", "effort", "internal", "gravity", "memory"):
            object.__setattr__(self, name, _read_only(getattr(self, name)))

    def with_(self, **changes: Any) -> State:
        """A copy with some fields replaced."""
        return replace(self, **changes)
