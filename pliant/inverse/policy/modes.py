"""What a robot is doing: five modes, and what ends them.

    Following ── the budget is spent ──→ Searching ── all step lengths failed ──→ Recovering
        ↑                                    │                                        │
        └──────────── one will do ───────────┘              ┌────────────┬────────────┤
                                                        Following      Stuck       Resting

A step that may try all its step lengths at once goes from Following to Recovering directly. Stepping back
from buckling is no mode: the robot follows afterwards, with a step length so small that its goal stays where
it is.

| event | Following | Searching | Recovering | Stuck | Resting |
|---|---|---|---|---|---|
| the target moves | | goes on | goes on | Following | Following |
| an obstacle moves | | goes on | Following | Following | Following |
| laws change | | Following | Following | Following | Following |
"""

from __future__ import annotations

from dataclasses import dataclass

from pliant.inverse.outcome import InverseCertificate
from pliant.state import State


@dataclass(frozen=True)
class Following:
    """The last step was taken: the next one goes for the target."""


@dataclass(frozen=True)
class Searching:
    """The robot waits while shorter steps are attempted."""

    failures: int  # attempts that would not do; the next one is made with the step length at hand


@dataclass(frozen=True)
class Recovering:
    """The robot waits while the equilibrium with all drives locked is sought."""

    state: State | None = None  # on the way there; None: begin at the pose
    spent: int = 0  # iterations that were not enough


@dataclass(frozen=True)
class Stuck:
    """No equilibrium with locked drives was found; the robot stands nearer to one than before.

    In each step it makes one attempt, and where that fails, one iteration towards equilibrium.
    """


@dataclass(frozen=True)
class Resting:
    """No step at all leads on: nothing is done, and this is what to say until something changes."""

    certificate: InverseCertificate


Mode = Following | Searching | Recovering | Stuck | Resting


def when_target_moves(mode: Mode) -> Mode:
    """What was given up is tried again; a search or a recovery under way goes on."""
    return Following() if isinstance(mode, Stuck | Resting) else mode


def when_obstacle_moves(mode: Mode) -> Mode:
    """Perhaps there is a way now: all but a search under way begins again."""
    return mode if isinstance(mode, Searching) else Following()


def when_laws_change(mode: Mode) -> Mode:
    """Whatever did not work may work now."""
    return Following()
