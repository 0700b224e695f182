"""Scheme and Stage: what `pliant.dynamics` knows of a scheme of integration in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.dynamics.motion import Motion


@dataclass(frozen=True)
class Stage:
    """What a scheme asks for in one step, see the package: h, s, v* and σ* (ndof,).

    `memory` (k,) is y* of the viscous variables. `guess` (ndof,) is the velocity at which the stage is
    linearised first; None: that of standing still, where the step begins.
    """

    step: float  # h [s]
    reach: float  # s [s]
    v: np.ndarray
    shift: np.ndarray
    memory: np.ndarray
    guess: np.ndarray | None = None


@dataclass(frozen=True)
class Scheme:
    """A scheme of integration in time, with the name that users and certificates call it by."""

    name: str
    # The stage of a step of some length [s] from a motion.
    stage: Callable[[Motion, float], Stage]
    # By which power of the time step errors fall.
    order: int
    # Linearisations in a step, at most, unless the user asks for another number.
    iterations: int = 1
    # Whether its stages have a guess. Where the motion went elsewhere than the guess, the step is taken by
    # Euler's.
    predicts: bool = False
    # Whether it gives back all the energy that it takes. Nodes in contact would bounce for ever: steps in
    # which something touches are Euler's.
    conserves: bool = False
    # Looks at the robot with forces that keep the energy exactly, see `midpoint.conserving`; None: with its
    # own.
    correct: Callable[..., Any] | None = None
    # Takes a whole step by itself, without a linearisation, see `central.advance`; None for implicit schemes.
    # Such a scheme is stable for small steps only, see `central.stable_step`.
    explicit: Callable[..., Any] | None = None
