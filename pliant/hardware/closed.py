"""Closed loop: commands of the inverse model corrected by what sensors measure of its effectors.

The model goes to the target on its own. An integrator in the space of the effectors collects what the real
robot lags behind it,

    c ← clip(c + k (p − y)),

y the measured effector, p the model's when that was measured; and the condensed matrices at the model's pose
say which efforts would move the effectors by c, and which strokes those are:

    Δλ = argmin |W_ea Δλ − c|² + μ² Δλᵀ S⁻¹ Δλ,   λ + Δλ within the range of the efforts,        Δδ = W_aa Δλ.

The drives are told δ + Δδ, or λ + Δλ. At rest y = p, whatever is wrong with the model, as long as it is right
about the way: stable where the eigenvalues z of J W_ea Δλ(c), J the real robot's motion by the model's, lie
in |1 − k z| < 1. The model never sees the correction, so its own choice of cables stays as it is.

S weighs actuators: cables by their tension, so that a correction pulls at cables that are taut, and at others
only where those cannot do it: two taut cables do not move a tip in three directions. Cables that do nothing
are let out, by more than a real cable may be shorter than the model's: otherwise it would pull.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from pliant.core.tangent import factor_or_none
from pliant.core.view import linearise
from pliant.errors import InputError, unknown_name
from pliant.hardware.device import DeviceError, Reading
from pliant.laws import as_vector
from pliant.robot import Robot

FARTHEST_FROM_MODEL = 0.3  # of the robot's length: a model that is wrong by more is not to be trusted
LARGEST_CORRECTION = 0.15  # of the robot's length: the largest correction
TAUT_SHARE = 0.1  # of the largest tension: from here on a cable counts as taut
IDLE_WEIGHT = 0.1  # S of a cable that does nothing, by that of one that is taut
SLACK_RATE = 0.25  # of the gain: slack is taken up so slowly that noise does not pull at idle cables
SLACK = 0.01  # of the robot's length: by how much idle cables are let out, unless it is said
APART = 1e-12  # keeps the two ends of a range apart
DAMPING = 5e-3  # μ² as a share of the largest eigenvalue of W_ea S W_eaᵀ


class ClosedLoop:
    """A controller for `Loop`: a Session in inverse mode, or an Inverse, with corrections.

    gain k: share of the difference that is taken over with each reading; smaller is calmer, and stable for
    worse models. delay: periods from a command to the reading that shows it, 1 where the next one does. slack
    [m]: by how much idle cables are let out (1 % of the robot's length). limit [m, or the unit of the
    effector]: a difference that is larger is a fault (another marker, a torn cable), and stops the loop.
    every: periods between two condensations of the model.
    """

    def __init__(
        self,
        controller: Any,
        *,
        gain: float = 0.2,
        delay: int = 1,
        slack: float | None = None,
        limit: float | None = None,
        every: int = 5,
    ) -> None:
        if not 0 < gain <= 1:
            raise InputError("gain", expected="from above 0 to 1", got=gain)
        if delay < 1 or every < 1:
            raise InputError("delay and every", expected="1 period or more", got=f"{delay}, {every}")
        self.controller, self.gain, self.every = controller, gain, every
        self.robot: Robot = controller.robot
        self.limit = FARTHEST_FROM_MODEL * self.robot.length if limit is None else limit
        self.slack = SLACK * self.robot.length if slack is None else slack
        self.effectors, self.actuators = self.robot.by_role("effector"), self.robot.by_role("actuator")
        if not (self.effectors and self.actuators):
            raise InputError("controller", expected="effectors and actuators", got="none of one of them")
        sizes = [self.robot.rows[name].interaction.size for name in self.effectors]
        self._e = np.concatenate([_scalars(self.robot, name) for name in self.effectors])
        self._a = np.concatenate([_scalars(self.robot, name) for name in self.actuators])
        self._at = dict(
            zip(self.effectors, np.split(np.arange(len(self._e)), np.cumsum(sizes)[:-1]), strict=True)
        )
        self._low, self._high = np.transpose([self._range(name) for name in self._scalar_names()])
        self._one_sided = np.isfinite(
            [self.robot.rows[name].interaction.effort_range[0] for name in self._scalar_names()]
        )
        self.correction = np.zeros(len(self._e))  # c
        self._tightened = np.zeros(len(self._a))  # how much tauter cables are than in the model, eased in
        self._past: deque[np.ndarray] = deque(maxlen=delay)
        self._condensed: tuple[np.ndarray, np.ndarray] | None = None
        self._steps, self._rate_limited = 0, False

    def _scalar_names(self) -> list[str]:
        """The actuator of each of the n_a efforts."""
        return [name for name in self.actuators for _ in range(self.robot.rows[name].interaction.size)]

    def _range(self, name: str) -> tuple[float, float]:
        """Efforts that an actuator may have."""
        row = self.robot.rows[name]
        return row.law.inverse(row.interaction.size, row.interaction.effort_range, name).effort

    def aim(self, row: str, value: Any) -> None:
        """A new target; for a Session it may also be given there."""
        if row not in self._at:
            raise unknown_name("effector", row, self._at)
        if hasattr(self.controller, "aim"):
            self.controller.aim(row, value)
        else:
            value = as_vector(value, len(self._at[row]), f"target of {row!r}")
            self._targets = {**getattr(self, "_targets", {}), row: value}

    def observe(self, readings: Mapping[str, Reading]) -> None:
        """Readings of sensors by name: the integrator's step."""
        if not self._past or self._rate_limited:
            return
        model, most = self._past[0], LARGEST_CORRECTION * self.robot.length
        for reading in readings.values():
            for row, at in self._at.items():
                if row not in reading.values:
                    continue
                measured = as_vector(reading.values[row], len(at), f"reading of {row!r}")
                behind = model[at] - measured
                far = float(np.linalg.norm(behind))
                if far > self.limit:
                    raise DeviceError(
                        f"{row!r} was measured {far:.3g} from the model, farther than {self.limit:.3g}: "
                        "is it another marker, or the marker's pose wrong?"
                    )
                self.correction[at] = np.clip(self.correction[at] + self.gain * behind, -most, most)

    def held_back(self, limits: Sequence[str]) -> None:
        """Which limits the loop met on the way out.

        While rate limits hold the robot back it lags behind the model, which is not the model's fault: the
        integrator waits.
        """
        self._rate_limited = any(limit.endswith(": rate") for limit in limits)

    def step(self) -> Any:
        """A step of the model, its commands corrected."""
        targets = getattr(self, "_targets", None)
        frame = self.controller.step(targets=targets) if targets else self.controller.step()
        self._past.append(np.concatenate([frame.displacement[name] for name in self.effectors]))
        if self._condensed is None or self._steps % self.every == 0:
            self._condensed = self._condense() or self._condensed
        self._steps += 1
        command, effort = self._corrected(frame)
        if not is_dataclass(frame):
            return frame
        return replace(frame, command={**frame.command, **command}, effort={**frame.effort, **effort})  # type: ignore[type-var]

    def _condense(self) -> tuple[np.ndarray, np.ndarray] | None:
        """W_ea and W_aa at the model's pose; None where it is about to buckle."""
        robot, state = self.robot, self.controller.state
        linear = linearise(robot, state.q, state.effort, state.internal, robot.gravity)
        factor = (
            None if linear is None or linear.K is None else factor_or_none(robot, linear.K, indefinite=True)
        )
        if linear is None or factor is None:
            return None
        rows = np.concatenate([self._e, self._a])
        W, n = factor.compliance(linear.H.take(rows)), len(self._e)
        return W[:n, n:], W[n:, n:]

    def _corrected(self, frame: Any) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Commands and efforts of the actuators, by name."""
        lam = np.concatenate([frame.effort[name] for name in self.actuators])
        delta = np.concatenate([frame.displacement[name] for name in self.actuators])
        strongest = float(np.max(lam[self._one_sided], initial=0.0))
        more, stroke, taut = np.zeros(len(lam)), np.zeros(len(lam)), self._taut(lam, strongest)
        if self._condensed is not None:
            more = self._efforts(*self._condensed, lam, taut)
            stroke = self._condensed[1] @ more
        self._tightened += (
            SLACK_RATE * self.gain * (self._taut(lam + more, strongest) - taut - self._tightened)
        )
        idle = 1.0 - np.clip(taut + self._tightened, 0.0, 1.0)
        ends = np.cumsum([len(frame.effort[name]) for name in self.actuators])[:-1]
        by_name = lambda values: dict(zip(self.actuators, np.split(values, ends), strict=True))
        return by_name(delta + stroke - self.slack * idle), by_name(lam + more)

    def _taut(self, lam: np.ndarray, strongest: float) -> np.ndarray:
        """How taut cables are (n_a,), from 0 to 1; what also pushes always is."""
        share = np.clip(lam / (TAUT_SHARE * strongest), 0.0, 1.0) if strongest > 0 else np.zeros(len(lam))
        return np.where(self._one_sided, share, 1.0)

    def _efforts(self, W_ea: np.ndarray, W_aa: np.ndarray, lam: np.ndarray, taut: np.ndarray) -> np.ndarray:
        """Δλ (n_a,) that moves the effectors by c, as far as the efforts' ranges allow."""
        size = np.diagonal(W_aa)
        root = np.sqrt(np.maximum(taut, IDLE_WEIGHT) / np.where(size > 0, size, 1.0))  # √S
        A = W_ea * root
        largest = float(np.linalg.eigvalsh(A @ A.T)[-1])
        if largest <= 0:
            return np.zeros(len(lam))
        damped = np.vstack([A, np.sqrt(DAMPING * largest) * np.eye(len(lam))])
        wanted = np.concatenate([self.correction, np.zeros(len(lam))])
        low, high = np.minimum(self._low - lam, 0.0), np.maximum(self._high - lam, 0.0)
        bounds = low / root - APART, high / root + APART
        more = root * lsq_linear(damped, wanted, bounds, method="bvls").x
        return np.clip(more, low, high)


def _scalars(robot: Robot, name: str) -> np.ndarray:
    return np.arange(robot.bundle.rows)[robot.spans[name]]
