"""Laws: what an interaction is for. Each says itself what it means in a forward and in an inverse problem.

In a forward problem the effort of a scalar row is given, or it is solved for such that

    lo ≤ λ ≤ hi   complementary to   δ⁺ − imposed + compliance · λ

with δ⁺ at the end of the step: an equality where the range is unbounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from pliant.errors import InputError, is_number

INF = float("inf")
Range = tuple[float, float]


@dataclass(frozen=True)
class Condition:
    """The condition on the m scalar rows of one interaction in a forward problem."""

    given: bool  # the effort is given; otherwise it is solved for
    effort: np.ndarray  # (m,) the given effort
    imposed: np.ndarray  # (m,) the imposed displacement
    compliance: float  # [m/N], of a spring in series
    low: float
    high: float
    valve: float = np.nan  # opening of a chamber's valve; `imposed` is then how far a syringe is pushed

    def driven(self, compliance: float, slack: float) -> Condition:
        """The same law for a drive with a spring [m/N] and slack [m] between it and the rows."""
        if self.given or not (compliance or slack):
            return self
        return replace(self, imposed=self.imposed - slack, compliance=self.compliance + compliance)

    def through(self, syringe: bool) -> Condition:
        """The same law for a chamber behind a line: what is imposed is the stroke of its syringe."""
        if self.given or self.compliance or not syringe or not np.isnan(self.valve):
            return self
        return replace(self, valve=0.0)


@dataclass(frozen=True)
class Choice:
    """What an inverse problem may choose for the m scalar rows of one interaction.

    `role` is "actuator" (its effort is chosen within bounds), "effector" (δ should come to `target`), or
    "forward": as in a forward problem.
    """

    role: str
    forward: Condition
    effort: Range = (-INF, INF)
    displacement: Range = (-INF, INF)
    speed: float = INF
    target: np.ndarray | None = None  # (m,); None: stay where it is
    weight: float = 1.0


def as_vector(value: Any, size: int, what: str) -> np.ndarray:
    """A scalar or (m,) command as a finite (m,) array."""
    if type(value) is float and isfinite(value):
        return np.full(size, value)
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(what, expected=f"a number or {size} numbers", got=repr(value)) from None
    if array.ndim > 1 or (array.ndim == 1 and len(array) != size):
        raise InputError(what, expected=f"a number or {size} numbers", got=f"shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(what, expected="finite numbers", got=str(value))
    return np.broadcast_to(array, (size,)).astype(float)


def _range(value: Range, what: str) -> Range:
    pair = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else ()
    if len(pair) != 2 or not all(map(is_number, pair)) or not pair[0] <= pair[1]:
        raise InputError(what, expected="(low, high) with low ≤ high", got=repr(value))
    return float(pair[0]), float(pair[1])


def _check_weight(law: Any) -> None:
    if not (is_number(law.weight) and 0 <= law.weight < INF):
        raise InputError(f"{type(law).__name__} weight", expected="a number ≥ 0", got=repr(law.weight))


def _check_overlap(bounds: Range, possible: Range, name: str) -> None:
    if bounds[0] > possible[1] or bounds[1] < possible[0]:
        expected = f"bounds that overlap what it can do, [{possible[0]:g}, {possible[1]:g}]"
        raise InputError(f"effort of {name!r}", expected=expected, got=str(bounds))


class Law:
    """Base of all laws. Unless a law says otherwise, a forward problem only observes the row (effort 0)."""

    role: ClassVar[str] = "observed"

    def forward(self, size: int, effort_range: Range, name: str) -> Condition:
        """What the law means in a forward problem, for an interaction of `size` rows."""
        zero = np.zeros(size)
        return Condition(True, zero, zero, 0.0, -INF, INF)

    def inverse(self, size: int, effort_range: Range, name: str) -> Choice:
        """What the law means in an inverse problem: as in a forward one, unless it says otherwise."""
        return Choice("forward", self.forward(size, effort_range, name))

    def check(self, size: int, effort_range: Range, name: str) -> None:
        """Raise InputError unless its numbers fit an interaction of `size` rows with this effort range."""
        self.forward(size, effort_range, name)


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
        if not (is_number(self.stiffness) and 0 < self.stiffness < INF):
            raise InputError(
                "Elastic stiffness", expected="a positive number [N/m]", got=repr(self.stiffness)
            )

    def forward(self, size: int, effort_range: Range, name: str) -> Condition:
        rest = as_vector(self.rest, size, f"rest value of {name!r}")
        return Condition(False, np.zeros(size), rest, 1.0 / self.stiffness, *effort_range)


@dataclass(frozen=True)
class Valve(Law):
    """How far the valve of a chamber's `Line` is open: 1 to its supply, −1 to the exhaust, 0 closed."""

    opening: float = 0.0
    role: ClassVar[str] = "known"

    def __post_init__(self) -> None:
        if not (is_number(self.opening) and -1.0 <= self.opening <= 1.0):
            raise InputError("opening of a Valve", expected="a number from -1 to 1", got=repr(self.opening))

    def forward(self, size: int, effort_range: Range, name: str) -> Condition:
        zero = np.zeros(size)
        return Condition(False, zero, np.full(size, np.nan), 0.0, -INF, INF, valve=float(self.opening))


@dataclass(frozen=True)
class Bounded(Law):
    """An actuator whose effort the inverse model chooses; in a forward problem its effort is 0."""

    effort: Range = (-INF, INF)
    displacement: Range = (-INF, INF)
    speed: float = INF
    role: ClassVar[str] = "actuator"

    def __post_init__(self) -> None:
        object.__setattr__(self, "effort", _range(self.effort, "Bounded effort"))
        object.__setattr__(self, "displacement", _range(self.displacement, "Bounded displacement"))
        if not (is_number(self.speed) and self.speed > 0):
            raise InputError("Bounded speed", expected="a positive number", got=repr(self.speed))

    def inverse(self, size: int, effort_range: Range, name: str) -> Choice:
        low, high = max(self.effort[0], effort_range[0]), min(self.effort[1], effort_range[1])
        forward = self.forward(size, effort_range, name)
        return Choice("actuator", forward, (low, high), self.displacement, self.speed)

    def check(self, size: int, effort_range: Range, name: str) -> None:
        _check_overlap(self.effort, effort_range, name)


@dataclass(frozen=True)
class Target(Law):
    """An effector: δ should reach the value."""

    value: Any = None
    weight: float = 1.0
    role: ClassVar[str] = "effector"

    def __post_init__(self) -> None:
        _check_weight(self)

    def inverse(self, size: int, effort_range: Range, name: str) -> Choice:
        target = None if self.value is None else as_vector(self.value, size, f"Target of {name!r}")
        return Choice("effector", self.forward(size, effort_range, name), target=target, weight=self.weight)

    def check(self, size: int, effort_range: Range, name: str) -> None:
        if self.value is not None:
            as_vector(self.value, size, f"{type(self).__name__} of {name!r}")


@dataclass(frozen=True)
class Measured(Law):
    """A sensor reading that the model should match."""

    value: Any = None
    weight: float = 1.0
    role: ClassVar[str] = "sensor"

    def __post_init__(self) -> None:
        _check_weight(self)

    def check(self, size: int, effort_range: Range, name: str) -> None:
        if self.value is not None:
            as_vector(self.value, size, f"{type(self).__name__} of {name!r}")


@dataclass(frozen=True)
class Unknown(Law):
    """An external effort to be estimated."""

    effort: Range = (-INF, INF)
    role: ClassVar[str] = "unknown"

    def __post_init__(self) -> None:
        object.__setattr__(self, "effort", _range(self.effort, "Unknown effort"))

    def check(self, size: int, effort_range: Range, name: str) -> None:
        _check_overlap(self.effort, effort_range, name)


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
