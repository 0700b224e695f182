"""What a robot is doing: its modes, and what ends them.

    Following ── the budget is spent ──→ Searching ── all step lengths failed ──→ Scouting or Settling
        ↑ ↑                                  │
        │ └────────── one will do ───────────┘
        │
        ├── not in equilibrium, and no step will do ──→ Settling ──→ Following
        ├── disturbed, and no step will do ──→ Recovering ──→ Following
        │                                          └── cannot yield ──→ GoingBack ──→ Recovering or Resting
        ├── comes no nearer ──→ Approaching, if contacts farther away offer a way ──→ Following
        ├── comes no nearer ──→ Scouting ── a scout has found a way ──→ GoingBack ──→ Following
        │                          └─────── none has ──→ Settling ──→ Resting
        └── about to buckle ──→ GoingBack ──→ Settling ──→ Resting

| event | Searching | Recovering | GoingBack | all others |
|---|---|---|---|---|
| another target | goes on | goes on | Following | Following, but Settling onwards goes on |
| an obstacle moves | goes on | goes on | goes on | Following |
| laws change | Following | Following | Following | Following |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.inverse.outcome import InverseCertificate
from pliant.inverse.policy.trail import Guide
from pliant.state import State

if TYPE_CHECKING:
    from pliant.inverse.policy.memory import Memory


PARTS = 4  # in which efforts are approached at first; where one fails, in twice as many


@dataclass(frozen=True)
class Following:
    """The last step was taken: the next one goes for the target."""


@dataclass(frozen=True)
class Searching:
    """The robot waits while shorter steps are attempted."""

    failures: int  # attempts that would not do; the next one is made with the step length at hand


@dataclass(frozen=True)
class Recovering:
    """The robot creeps to the equilibrium with all drives locked."""

    command: np.ndarray | None = None  # to each drive (na,); None: as they stand at the pose
    spent: int = 0  # iterations that were not enough
    yielding: bool = False  # whether drives keep their efforts, because contacts contradict them locked
    flat: bool = False  # whether all that is touched counts as flat, because forces have run away


@dataclass(frozen=True)
class Scouting:
    """The robot waits while a scout goes for the target in the model, from the beginning of the trail."""

    scout: Memory  # where the scout is, and what it remembers
    legs: tuple[np.ndarray, ...]  # targets (ne,) that it still has to go for, the last one the robot's
    steps: int = 0  # that it has taken


@dataclass(frozen=True)
class GoingBack:
    """The robot walks along poses that were passed before, by itself or by a scout."""

    path: tuple[Guide, ...]  # that are left, the next one first
    parts: int = 0  # in which the way to the next one is still to be gone; 0: not known yet
    failures: int = 0  # attempts to come nearer to the next one that failed
    state: State | None = None  # of an attempt under way; None: begin
    spent: int = 0  # iterations of it that were not enough
    blindly: bool = False  # whether poses are taken as they were, in equilibrium or not
    until_clear: bool = False  # whether the first that is clear of all obstacles will do


@dataclass(frozen=True)
class Approaching:
    """The robot goes to efforts that are far from those at hand, part by part."""

    efforts: np.ndarray  # (na,)
    parts: int  # of the way that are left
    steps: int = 40  # that it may still take


@dataclass(frozen=True)
class Settling:
    """The robot waits while the equilibrium of its commands, in which it will rest, is found exactly."""

    state: State | None = None  # on the way there; None: begin at the pose
    spent: int = 0  # iterations that were not enough
    onwards: bool = False  # whether it then follows on: no step would do where it was not in equilibrium


@dataclass(frozen=True)
class Resting:
    """Nothing leads on: nothing is done, and this is what to say until something changes."""

    certificate: InverseCertificate


Mode = Following | Searching | Recovering | Approaching | Scouting | GoingBack | Settling | Resting


def when_target_moves(mode: Mode) -> Mode:
    """What was given up is tried again; a search or a recovery under way goes on.

    So does the way to the equilibrium that is needed before any step will do: a target that moves in every
    step would interrupt it for ever.
    """
    under_way = isinstance(mode, Searching | Recovering) or (isinstance(mode, Settling) and mode.onwards)
    return mode if under_way else Following()


def when_obstacle_moves(mode: Mode) -> Mode:
    """Perhaps there is a way now: all but what is under way begins again."""
    if isinstance(mode, Recovering):
        return Recovering(mode.command, flat=mode.flat)
    return mode if isinstance(mode, Searching | GoingBack) else Following()


def when_laws_change(mode: Mode) -> Mode:
    """Whatever did not work may work now."""
    return Following()
