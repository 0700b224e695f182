"""What an episode of a soak leaves: every step in figures, and what became of each target that was kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

REACHABLE, FAR = "reachable", "far"


class Moment(NamedTuple):
    """One step: what it said of itself, and what was measured."""

    status: str
    linearisations: int
    pivots: int
    seconds: float  # of processor time
    certified: float  # [m] the penetration that the certificate states
    depth: float  # [m] of the skin, measured; NaN where it was not
    inside: str  # what it lies in
    standoff: float  # [m] of the farthest contact that pushes
    motion: float  # of the length: the largest of any node
    finite: bool  # whether coordinates, efforts and commands are numbers


class Hold(NamedTuple):
    """A target that was kept for some steps.

    `after`: steps until the effectors were within 0.1 % of the length, −1 if they never were. `said`: words
    for "cannot" that were said of it. `rest`: largest change of an effort in a step, of the largest effort of
    the run, from 80 steps after the effectors came to rest; NaN where that was not watched, infinite where
    they never did. `moved`: of the length, how far statics takes the effectors from the last state; NaN where
    it was not asked.
    """

    kind: str  # REACHABLE or FAR
    step: int  # at which it began
    after: int
    said: tuple[str, ...]
    left: float  # of the length: distance to the target at the end
    nearer: float  # of the length: distance of the nearest equilibrium that statics knows
    rest: float
    moved: float
    status: str  # at the end


@dataclass
class Record:
    """An episode. `failure` says what exception ended it, `disturbances` what was done to it, by step."""

    case: str
    number: int
    punctual: bool
    length: float  # [m] of the robot
    bound: float  # [m] that the depth may be without a word
    moments: list[Moment] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    disturbances: list[tuple[int, str]] = field(default_factory=list)
    failure: str = ""
