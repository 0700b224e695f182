"""Laws: what an interaction is for. Pure data; each law says itself what it means in a forward problem.

A forward problem knows two kinds of scalar rows. Its effort is given, or it is chosen so that

    lo ≤ λ ≤ hi   complementary to   δ⁺ − imposed + compliance · λ       (an equality where the range is unbounded)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.errors import InputError

INF = float("inf")
Range = tuple[float, float]


@dataclass(frozen=True)
class Condition:
    """What holds for the m scalar rows of one interaction in a forward problem."""

    given: bool  # the effort is given; otherwise it is solved for
    effort: np.ndarray  # (m,) the given effort
    imposed: np.ndarray  # (m,) the imposed displacement
    compliance: float  # [m/N], of a spring in series
    low: float
    high: float


def as_vector(value: Any, size: int, what: str) -> np.ndarray:
    """A scalar or (m,) command as a finite (m,) array."""
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(what, expected=f"a number or {size} numbers", got=repr(value)) from None
    if array.ndim > 1 or (array.ndim == 1 and len(array) != size):
        raise InputError(what, expected=f"a number or {size} numbers", got=f"shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(what, expected="finite numbers", got=str(value))
    return np.broadcast_to(array, (size,)).astype(float)


def _range(value: Range, what: str) -> Range:
    low, high = float(value[0]), float(value[1])
    if np.isnan(low) or np.isnan(high) or low > high:
        raise InputError(what, expected="(low, high) with low ≤ high", got=str(tuple(value)))
    return low, high


class Law:
    """Base of all laws. Unless a law says otherwise, a forward problem only observes the row (effort 0)."""

    role: ClassVar[str] = "observed"

    def forward(self, size: int, effort_range: Range, name: str) -> Condition:
        """What the law means in a forward problem, for an interaction of `size` rows."""
        zero = np.zeros(size)
        return Condition(True, zero, zero, 0.0, -INF, INF)

    def within(self, name: str, effort_range: Range) -> Law:
        """Itself, after checking its numbers against what the interaction can do."""
        return self


@dataclass(frozen=True)
class Known(Law):
    """Effort or displacement imposed. A cable cannot push: imposed displacement is then a complementarity."""

    effort: float | Sequence[float] | np.ndarray | None = None
    displacement: float | Sequence[float] | np.ndarray | None = None
    role: ClassVar[str] = "known"

    def __post_init__(self) -> None:
        if (self.effort is None) == (self.displacement is None):
            raise InputError("Known", expected="either effort= or displacement=", got="both or none")

    def forward(self, size: int, effort_range: Range, name: str) -> Condition:
        zero, (low, high) = np.zeros(size), effort_range
        if self.effort is not None:
            effort = as_vector(self.effort, size, f"effort of {name!r}")
            if (effort < low).any() or (effort > high).any():
                raise InputError(
                    f"effort of {name!r}", expected=f"within [{low:g}, {high:g}]", got=str(self.effort)
                )
            return Condition(True, effort, zero, 0.0, low, high)
        imposed = as_vector(self.displacement, size, f"displacement of {name!r}")
        return Condition(False, zero, imposed, 0.0, low, high)


@dataclass(frozen=True)
class Elastic(Law):
    """A spring on the row: λ = −stiffness · (δ − rest), within the interaction's effort range.

    On a `Stretch` along a cable's path this is the sheath (tube) of the papers.
    """

    stiffness: float
    rest: float | Sequence[float] | np.ndarray = 0.0
    role: ClassVar[str] = "elastic"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.stiffness) and self.stiffness > 0):
            raise InputError("Elastic stiffness", expected="a positive number [N/m]", got=self.stiffness)

    def forward(self, size: int, effort_range: Range, name: str) -> Condition:
        rest = as_vector(self.rest, size, f"rest value of {name!r}")
        return Condition(False, np.zeros(size), rest, 1.0 / self.stiffness, *effort_range)


@dataclass(frozen=True)
class Bounded(Law):
    """An actuator that the inverse model may choose. Without a command, a forward problem gives it effort 0."""

    effort: Range = (-INF, INF)
    displacement: Range = (-INF, INF)
    speed: float = INF
    role: ClassVar[str] = "actuator"

    def __post_init__(self) -> None:
        object.__setattr__(self, "effort", _range(self.effort, "Bounded effort"))
        object.__setattr__(self, "displacement", _range(self.displacement, "Bounded displacement"))
        if not self.speed > 0:
            raise InputError("Bounded speed", expected="a positive number", got=self.speed)


@dataclass(frozen=True)
class Target(Law):
    """An effector: δ should reach the value."""

    value: Any = None
    weight: float = 1.0
    role: ClassVar[str] = "effector"


@dataclass(frozen=True)
class Measured(Law):
    """A sensor reading that the model should match."""

    value: Any = None
    weight: float = 1.0
    role: ClassVar[str] = "sensor"


@dataclass(frozen=True)
class Unknown(Law):
    """An external effort to be estimated."""

    effort: Range = (-INF, INF)
    role: ClassVar[str] = "unknown"

    def __post_init__(self) -> None:
        object.__setattr__(self, "effort", _range(self.effort, "Unknown effort"))


@dataclass(frozen=True)
class Unilateral(Law):
    """0 ≤ λ ⊥ δ ≥ 0 (Signorini)."""

    role: ClassVar[str] = "contact"

    def forward(self, size: int, effort_range: Range, name: str) -> Condition:
        zero = np.zeros(size)
        return Condition(False, zero, zero, 0.0, max(0.0, effort_range[0]), effort_range[1])


@dataclass(frozen=True)
class Observed(Law):
    """Only reported."""
