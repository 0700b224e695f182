"""A channel: from a row's value in SI units to the counts of a drive, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from pliant.errors import InputError, is_number

INF = float("inf")
Quantity = Literal["displacement", "effort"]


@dataclass(frozen=True)
class Channel:
    """One output of a device, driven by one row:

        counts = zero + sign · gain · value

    value: the row's displacement (stroke [m], angle [rad], volume [m³]) or effort (tension [N], pressure
    [Pa]), as `quantity` says. gain [counts per SI unit], zero [counts] where the value is 0, sign ±1 for the
    way a motor is mounted. `limits` are soft, in SI units; `rate` [SI unit/s] is the fastest change. `safe`:
    the value of the declared safe state, or None: hold still. `span` [counts]: what the device can take.
    """

    row: str
    id: int
    gain: float
    zero: float = 0.0
    sign: int = 1
    quantity: Quantity = "displacement"
    limits: tuple[float, float] = (-INF, INF)
    rate: float = INF
    safe: float | None = None
    span: tuple[int, int] = (-(2**31), 2**31 - 1)

    def __post_init__(self) -> None:
        what = f"channel of {self.row!r}"
        _check(what, "gain", self.gain, "a positive number", 0 < self.gain < INF)
        _check(what, "zero", self.zero, "a finite number of counts", math.isfinite(self.zero))
        _check(what, "sign", self.sign, "1 or -1", self.sign in (1, -1))
        _check(what, "rate", self.rate, "a positive number", self.rate > 0)
        low, high = self.limits
        _check(what, "limits", low, "low ≤ high", low <= high)
        overlap = low <= self.reach[1] and high >= self.reach[0]
        _check(what, "limits", low, f"some that the device can take, {self.span} counts", overlap)
        if self.quantity not in ("displacement", "effort"):
            raise InputError(what, expected="quantity displacement or effort", got=repr(self.quantity))
        if not (isinstance(self.id, int) and self.id >= 0):
            raise InputError(what, expected="an id ≥ 0", got=repr(self.id))
        if self.safe is not None:
            _check(what, "safe", self.safe, "a value within its limits", low <= self.safe <= high)
            inside = self.reach[0] <= self.safe <= self.reach[1]
            _check(what, "safe", self.safe, f"a value that the device can take, {self.span} counts", inside)

    @classmethod
    def spool(
        cls, row: str, id: int, *, radius: float, counts_per_turn: float = 4096.0, **options: Any
    ) -> Channel:
        """A cable on a spool of `radius` [m]: a stroke of 2πr is one turn."""
        _check(f"channel of {row!r}", "spool radius", radius, "a positive number [m]", 0 < radius < INF)
        return cls(row, id, counts_per_turn / (2.0 * math.pi * radius), **options)

    @classmethod
    def angle(cls, row: str, id: int, *, counts_per_turn: float = 4096.0, **options: Any) -> Channel:
        """A motor whose angle [rad] is commanded."""
        return cls(row, id, counts_per_turn / (2.0 * math.pi), **options)

    @classmethod
    def valve(
        cls,
        row: str,
        id: int,
        *,
        full_scale: float,
        counts: tuple[int, int] = (0, 4095),
        **options: Any,
    ) -> Channel:
        """A pressure regulator: its counts set 0 to `full_scale` [Pa]; its safe state is no pressure."""
        low, high = counts
        _check(
            f"channel of {row!r}", "full scale", full_scale, "a positive pressure [Pa]", 0 < full_scale < INF
        )
        settings = {"limits": (0.0, full_scale), "safe": 0.0, "quantity": "effort", "span": counts} | options
        return cls(row, id, (high - low) / full_scale, zero=low, **settings)

    @property
    def reach(self) -> tuple[float, float]:
        """Values from end to end of the device's span, and half a count beyond: they are rounded."""
        low, high = sorted((self.value(self.span[0]), self.value(self.span[1])))
        return low - 0.5 / self.gain, high + 0.5 / self.gain

    @property
    def bounds(self) -> tuple[int, int]:
        """Counts at the soft limits, within the span, in rising order: what a device is told to keep to."""
        low, high = sorted((self.counts(self.limits[0]), self.counts(self.limits[1])))
        return low, high

    def within(self, value: float) -> float:
        """The nearest value that is within the soft limits, and that the device can take."""
        low, high = max(self.limits[0], self.reach[0]), min(self.limits[1], self.reach[1])
        return min(max(value, low), high)

    def counts(self, value: float) -> int:
        """Counts of a value, infinite ones too, within the span of the device."""
        return round(min(max(self.zero + self.sign * self.gain * value, self.span[0]), self.span[1]))

    def value(self, counts: float) -> float:
        """The value at counts."""
        return self.sign * (counts - self.zero) / self.gain

    def zeroed(self, counts: float, value: float = 0.0) -> Channel:
        """The same channel, told that these counts, read where the robot is now, are this value: zeroing."""
        return replace(self, zero=counts - self.sign * self.gain * value)

    @property
    def safe_counts(self) -> int | None:
        """Counts of the safe state, None to hold still."""
        return None if self.safe is None else self.counts(self.safe)


def _check(what: str, name: str, value: Any, expected: str, good: bool) -> None:
    if not (is_number(value) and good):
        raise InputError(f"{name} of the {what}", expected=expected, got=repr(value))
