"""What takes energy out of a motion: plain data.

A damping law speaks for a whole body. Rayleigh's damping is D = αM + βK. A viscous material has the stress

    S(t) = ∫ G(t − s) Ṡₑ(s) ds,      G(t) = long_term + rate δ(t) + Σ ratio e^(−t/time)

with Sₑ the second Piola–Kirchhoff stress of the body's own law, whichever it is: a convolution over the
elastic stress, in axes that turn with the material. For small strain these are the textbook springs and
dashpots, with E the modulus of the body's law:

| law | E∞ (slow) | E₀ (sudden) | G(t) |
|---|---|---|---|
| KelvinVoigt(time) | E | ∞ | 1 + time δ(t): a dashpot E·time beside the spring |
| Maxwell(time) | 0 | E | e^(−t/time): a dashpot E·time behind the spring |
| StandardLinear(time, ratio) | E | (1 + ratio) E | 1 + ratio e^(−t/time): a Maxwell element beside it |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pliant.errors import InputError
from pliant.inputs import not_negative, positive

Branch = tuple[float, float]  # ratio, time [s]


@dataclass(frozen=True)
class Damping:
    """All that a body may be damped by, the sum of several laws; none by default."""

    mass: float = 0.0  # α [1/s]
    stiffness: float = 0.0  # β [s]
    long_term: float = 1.0
    rate: float = 0.0  # [s]
    branches: tuple[Branch, ...] = ()

    def __add__(self, other: Damping) -> Damping:
        return Damping(
            self.mass + other.mass,
            self.stiffness + other.stiffness,
            self.long_term * other.long_term,
            self.rate + other.rate,
            (*self.branches, *other.branches),
        )

    @property
    def viscous(self) -> bool:
        """Whether the material itself is."""
        return self.rate > 0 or bool(self.branches)

    @property
    def sudden(self) -> float:
        """G(0⁺) without the rate part: how much stiffer the material is at first."""
        return self.long_term + sum(ratio for ratio, _ in self.branches)


def Rayleigh(*, mass: float = 0.0, stiffness: float = 0.0) -> Damping:
    """D = αM + βK: mass α [1/s], stiffness β [s]. A vibration ω decays with the ratio ξ = (α/ω + βω)/2."""
    return Damping(
        mass=not_negative("mass", mass, "1/s"), stiffness=not_negative("stiffness", stiffness, "s")
    )


def KelvinVoigt(time: float) -> Damping:
    """A dashpot beside the spring: S = Sₑ + time Ṡₑ.

    It creeps with the time constant `time` [s] to where statics ends.
    """
    return Damping(rate=positive("time of KelvinVoigt", time, "s"))


def Maxwell(time: float) -> Damping:
    """A dashpot behind the spring: a constant strain's stress fades as e^(−t/time) [s].

    Under a constant load it flows without end.
    """
    return Damping(long_term=0.0, branches=((1.0, positive("time of Maxwell", time, "s")),))


def StandardLinear(time: float, ratio: float) -> Damping:
    """A Maxwell element `ratio` times as stiff beside the spring (Zener).

    Sudden modulus (1 + ratio) E, slow modulus E. The stress of a constant strain fades with the time constant
    `time` [s]; under a constant load it creeps with (1 + ratio) · time.
    """
    branch = (positive("ratio of StandardLinear", ratio), positive("time of StandardLinear", time, "s"))
    return Damping(branches=(branch,))


def Prony(branches: Iterable[Sequence[float]], *, long_term: float = 1.0) -> Damping:
    """G(t) = long_term + Σ ratio e^(−t/time), from pairs (ratio, time [s])."""
    pairs = tuple(tuple(pair) for pair in branches)
    if any(len(pair) != 2 for pair in pairs):
        raise InputError("branches of Prony", expected="pairs (ratio, time)", got=repr(pairs))
    checked = tuple((positive("ratio", ratio), positive("time", time, "s")) for ratio, time in pairs)
    slow = not_negative("long_term of Prony", long_term)
    if not checked and not slow:
        raise InputError("Prony", expected="a branch, or long_term > 0", got="neither")
    return Damping(long_term=slow, branches=checked)


def per_body(damping: Any, bodies: int) -> tuple[Damping, ...]:
    """The sum of the laws for each body.

    `damping` is one law or several for all of them, or a mapping of body number to such.
    """
    if isinstance(damping, Mapping):
        strange = [key for key in damping if key not in range(bodies)]
        if strange:
            raise InputError("damping", expected=f"body numbers below {bodies}", got=repr(strange[0]))
        return tuple(_sum(damping.get(n)) for n in range(bodies))
    return (_sum(damping),) * bodies


def _sum(damping: Any) -> Damping:
    several = isinstance(damping, (tuple, list))
    laws = tuple(damping) if several else () if damping is None else (damping,)
    total = Damping()
    for law in laws:
        if not isinstance(law, Damping):
            hint = "pliant.dynamics has Rayleigh, KelvinVoigt, Maxwell, StandardLinear and Prony."
            raise InputError("damping", expected="a damping law, or several", got=repr(law), hint=hint)
        total = total + law
    return total
