"""Cables and membranes: what runs from one body past others to another, without stretch or with a spring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.errors import InputError, is_number
from pliant.membrane.bodies import At, not_negative
from pliant.membrane.wrapping import LEFT, RIGHT


@dataclass(frozen=True)
class Over:
    """The shape of a body that a cable may touch, on its LEFT (+1) or RIGHT (−1) as the cable runs.

    `always`: it never leaves it.
    """

    body: str
    side: int = LEFT
    always: bool = False

    def __post_init__(self) -> None:
        if self.side not in (LEFT, RIGHT):
            raise InputError(f"side of {self.body!r}", expected="LEFT (+1) or RIGHT (−1)", got=self.side)


@dataclass(frozen=True)
class Cable:
    """A massless cable that does not stretch: length L(q) ≤ `length` [m], and a tension ≥ 0 where equal.

    path: points of bodies (`At`, the cable always runs through them) and shapes (`Over`), from the first
    point to the last. length: None is that at rest, taut from the start; a longer cable starts slack, a
    shorter one is refused.
    """

    name: str
    path: Sequence[At | Over]
    length: float | None = None

    def __post_init__(self) -> None:
        check_path(self.name, self.path)
        if self.length is not None and (not is_number(self.length) or not 0.0 < self.length < np.inf):
            raise InputError(f"length of {self.name!r}", expected="a finite length > 0 [m]", got=self.length)


@dataclass(frozen=True)
class Membrane:
    """A massless skin: a cable that ends in a spring.

        T = max(0, k (L − L_rest) + b L̇) where L > L_rest, else 0

    stiffness k [N/m], damping b [N·s/m]. preload [m] is how far the skin is stretched when nothing touches
    it: L_rest = L(untouched, at rest) − preload. rest_length [m] gives L_rest itself, also so long that the
    skin starts slack.

    friction μ ≥ 0 between skin and shapes makes it a band: a piece with the rest length ξ has the stiffness
    k L_rest / ξ, and the tensions on both sides of a shape differ by at most the factor exp(μφ), φ the angle
    that the band turns there. bumper [N/m]: how stiffly the skin's points push away shapes on its path that
    would enclose them, 50 times the stiffness unless given; 0 lets them in.
    """

    name: str
    path: Sequence[At | Over]
    stiffness: float
    damping: float = 0.0
    preload: float = 0.0
    rest_length: float | None = None
    friction: float = 0.0
    bumper: float | None = None

    def __post_init__(self) -> None:
        check_path(self.name, self.path)
        for what in ("stiffness", "damping", "friction"):
            not_negative(f"{what} of {self.name!r}", getattr(self, what))
        if not is_number(self.preload) or not 0.0 <= self.preload < np.inf:
            hint = "A membrane that starts slack is given by its rest_length."
            raise InputError(
                f"preload of {self.name!r}", expected="a stretch ≥ 0 [m]", got=self.preload, hint=hint
            )
        if self.bumper is not None:
            not_negative(f"bumper of {self.name!r}", self.bumper)
        if self.rest_length is not None:
            not_negative(f"rest length of {self.name!r}", self.rest_length)
            if self.preload > 0.0:
                raise InputError(f"{self.name!r}", expected="a preload or a rest_length", got="both")


def check_path(name: str, path: Sequence[At | Over]) -> None:
    """A path begins and ends at points; shapes stand between."""
    if not isinstance(name, str) or not name:
        raise InputError("name of a cable", expected="a word", got=name)
    if len(path) < 2 or not isinstance(path[0], At) or not isinstance(path[-1], At):
        raise InputError(f"path of {name!r}", expected="a point At(…) at both ends", got=f"{list(path)}")
    for item in path:
        if not isinstance(item, (At, Over)):
            raise InputError(f"path of {name!r}", expected="At(…) and Over(…)", got=type(item).__name__)
