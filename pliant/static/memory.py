"""Memory of viscous materials while a robot is at rest: relaxation, creep and recovery without inertia.

A branch of G (see `pliant.bodies.damping`) is a Maxwell element, Q̇ = ratio Ṡₑ − Q/time. While a time h passes
in which Sₑ goes evenly from Sₑ° to Sₑ,

    Q = a Q° + ratio b (Sₑ − Sₑ°),      a = e^(−h/time),      b = (1 − a) time/h

without any error of the time step; a part of G that is a rate acts with the mean rate (Sₑ − Sₑ°)/h. So the
stress at the end is affine in the elastic one, S = scale Sₑ + Z, as in a step in time. After infinite time
Q = 0. Of the time, as of the loads, a share s has passed on the way there; of infinite time a = b = 1 − s.

What is remembered, body by body: Sₑ° if there is a rate part, then y = Q − ratio Sₑ of each branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies.damping import Damping, per_body
from pliant.bodies.overstress import Overstress
from pliant.errors import InputError, is_number
from pliant.robot import Robot
from pliant.state import State


@dataclass(frozen=True)
class Passing:
    """Time that passes while the loads are brought up: the laws of the bodies, the start, and dt [s]."""

    robot: Robot
    damping: tuple[Damping, ...]
    start: State
    dt: float
    stress: tuple[np.ndarray | None, ...]  # Sₑ° of each body
    rest: tuple[tuple[np.ndarray, ...], ...]  # Q° of each branch of each body

    @classmethod
    def begun(cls, robot: Robot, damping: Any, dt: Any, start: State) -> Passing | None:
        """From a state, which has its memory or has rested there; None where nothing is said of time."""
        if damping is None and dt is None:
            return None
        laws = per_body(damping, len(robot.bodies))
        if dt is None or not any(law.viscous for law in laws):
            expected = "a viscous material and the time dt [s] that passes, inf for what is settled"
            raise InputError("damping and dt", expected=expected, got=f"damping={damping!r}, dt={dt!r}")
        if not (is_number(dt) and dt >= 0.0):
            raise InputError("dt", expected="a time ≥ 0 [s], or inf", got=repr(dt))
        if dt == 0.0 and any(law.rate > 0 for law in laws):
            hint = "A dashpot beside the spring allows no jump."
            raise InputError("dt", expected="a time > 0 [s] with KelvinVoigt", got="0", hint=hint)
        if dt == np.inf and any(law.viscous and law.long_term == 0.0 for law in laws):
            hint = "A Maxwell material flows without end: nothing is left of its stiffness."
            raise InputError("dt", expected="a finite time", got="inf", hint=hint)
        stress = tuple(_stress(robot, n, law, start.q, start.internal) for n, law in enumerate(laws))
        sizes = [0 if S is None else len(S) * _blocks(law) for S, law in zip(stress, laws, strict=True)]
        known = start.memory
        if len(known) not in (0, sum(sizes)):
            raise InputError("memory of the state", expected=f"{sum(sizes)} numbers", got=len(known))
        ends, rest = np.cumsum(sizes), []
        for law, S, end, size in zip(laws, stress, ends, sizes, strict=True):
            if S is None or not len(known):
                rest.append(() if S is None else tuple(np.zeros(len(S)) for _ in law.branches))
                continue
            y = known[end - size : end].reshape(_blocks(law), -1)[int(law.rate > 0) :]
            rest.append(tuple(own + ratio * S for own, (ratio, _) in zip(y, law.branches, strict=True)))
        return cls(robot, laws, start, float(dt), stress, tuple(rest))

    def overstress(self, s: float) -> Sequence[Overstress | None]:
        """What the materials add to their stress when a share s of the time has passed, body by body."""
        return [self._overstress(n, s) for n in range(len(self.damping))]

    def memory(self, s: float, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What is remembered at q (nq,) after a share s of the time."""
        parts = [np.zeros(0)]
        for n, law in enumerate(self.damping):
            S = _stress(self.robot, n, law, q, z)
            before = self.stress[n]
            if S is None or before is None:
                continue
            parts += [S] * (law.rate > 0)
            for (ratio, time), Q in zip(law.branches, self.rest[n], strict=True):
                a, b = self._left(time, s)
                parts.append(a * Q + ratio * (b * (S - before) - S))
        return np.concatenate(parts)

    def _overstress(self, n: int, s: float) -> Overstress | None:
        law, before = self.damping[n], self.stress[n]
        if before is None:
            return None
        scale, Z = law.long_term, np.zeros(len(before))
        if law.rate > 0 and self.dt < np.inf:
            scale += law.rate / (s * self.dt)
            Z -= law.rate / (s * self.dt) * before
        for (ratio, time), Q in zip(law.branches, self.rest[n], strict=True):
            a, b = self._left(time, s)
            scale += ratio * b
            Z += a * Q - ratio * b * before
        return Overstress(scale, Z)

    def _left(self, time: float, s: float) -> tuple[float, float]:
        """a and b: what is left of a stress that was there, and of one that grew on the way."""
        if self.dt == np.inf:
            return 1.0 - s, 1.0 - s
        h = s * self.dt / time
        return float(np.exp(-h)), float(-np.expm1(-h) / h) if h > 0.0 else 1.0


def _blocks(law: Damping) -> int:
    return (law.rate > 0) + len(law.branches)


def _stress(robot: Robot, n: int, law: Damping, q: np.ndarray, z: np.ndarray) -> np.ndarray | None:
    """Sₑ of a body as its material remembers it; None where that is not viscous."""
    if not law.viscous:
        return None
    S = robot.bodies[n].stress_memory(q[robot.q_spans[n]], z[robot.z_spans[n]])
    if S is None:
        hint = "Give damping={number: law} for those among the bodies that do."
        got = type(robot.bodies[n]).__name__
        raise InputError(f"damping of body {n}", expected="a body that strains", got=got, hint=hint)
    return S
