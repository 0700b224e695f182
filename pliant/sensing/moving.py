"""External efforts on a robot in motion: its inertia and damping are part of the model.

The state x = (q, v, λ_f) goes on by one step of `pliant.dynamics` per frame, the unknown efforts being as
they are, and the efforts' deviation grows, by σ√h. Then readings correct all three by the weighted least
squares of sensing,

    x = x⁻ + S z,      min ‖L⁻¹(δ_s(x⁻) + H S_q z − readings)‖² + ‖z‖²,      Cov x⁻ = S Sᵀ

which is Kalman's filter; S has a few columns (`drift`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.bodies.damping import per_body
from pliant.contact import Contacts, Obstacle
from pliant.core.tangent import EXACT, SHIFTED, condensed
from pliant.core.view import linearise
from pliant.dynamics.implicit import (
    Moving,
    StageSolution,
    Task,
    arrive,
    begin,
    moving,
    rayleigh_stiffness,
    solve,
    start,
)
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion
from pliant.dynamics.pressure import followed
from pliant.dynamics.schemes.euler import EULER
from pliant.dynamics.simulation import TOLERANCE
from pliant.errors import InputError
from pliant.inputs import count, positive
from pliant.laws import Law
from pliant.robot import Robot
from pliant.sensing import readings as reading
from pliant.sensing.doubts import command_factor, doubtful
from pliant.sensing.drift import Drift
from pliant.sensing.estimate import Estimate, SensingCertificate
from pliant.sensing.instruments import instrumented
from pliant.sensing.roles import Noise, Roles, compile_roles
from pliant.sensing.weights import Weights
from pliant.solvers import qp
from pliant.state import State
from pliant.static import resting
from pliant.timing import Stopwatch

INF = float("inf")
COLUMNS = 60  # of S, by default


@dataclass(frozen=True)
class Taken:
    """A step of the model: how it was linearised, what it led to, and the motion there."""

    task: Task
    here: Moving
    stage: StageSolution
    K: np.ndarray
    motion: Motion


class MovingForceEstimator:
    """Estimates the `Unknown` rows of a robot in motion, frame by frame.

    `time_step` [s] is that between frames, in which the model takes so many `steps` of backward Euler's
    scheme: more of them damp less by themselves. `change` is by how much an unknown effort changes within a
    second, as a standard deviation [N] (a random walk); `prior` [N] how far those at the beginning may be
    from what `state` says (zero for a robot at rest that nothing pushes). `damping` and `obstacles` are as
    for `pl.Simulation`, other options as for `ForceEstimator`. Errors of commands are estimated along with
    the efforts: `command_error` [N] and `command_scale` are their deviations at the beginning, and by how
    much they change within a second. `columns` bounds the directions in which the
    state is taken to be uncertain.

    In the certificate of an estimate, `misfit` is that of the readings to what was predicted, over the
    deviation that the prediction had; `decrement` is how far the readings moved the model, and `condition`
    that of the deviations of the efforts.
    """

    def __init__(
        self,
        robot: Robot,
        markers: Any = None,
        candidates: Any = None,
        *,
        time_step: float,
        steps: int = 1,
        change: float,
        prior: float = 0.0,
        direction: ArrayLike | None = None,
        effort: tuple[float, float] = (-INF, INF),
        noise: Noise = 1e-4,
        command_error: Mapping[str, float] | None = None,
        command_scale: float = 0.0,
        laws: Mapping[str, Law] | None = None,
        damping: Any = None,
        obstacles: Obstacle | Iterable[Obstacle] = (),
        state: State | None = None,
        columns: int = COLUMNS,
    ) -> None:
        self.robot = instrumented(robot, markers, candidates, direction=direction, effort=effort)
        self.time_step = positive("time_step", time_step, "s")
        self.change = positive("change", change, "N")
        self.prior = prior if prior == 0.0 else positive("prior", prior, "N")
        self.steps, self.columns = count("steps", steps), count("columns", columns)
        self.laws, self._noise = dict(laws or {}), noise
        self.roles: Roles = compile_roles(self.robot, self.laws, noise)
        self.weights = Weights(self.roles.noise, np.zeros((len(self.roles.noise), 0)))
        self.detector = self.robot.surroundings.detector(self.robot, obstacles)
        self.doubts = doubtful(self.robot, self.laws, command_error or {}, True, 0.0, command_scale)
        for name in command_error or {}:
            if not self.roles.conditions.given[self.robot.named(name)].all():
                raise InputError(f"command_error of {name!r}", expected="a given effort", got="another law")
        law = per_body(damping, len(self.robot.bodies))
        self.model = Model.of(self.robot, self.detector, law, EULER, 1, TOLERANCE * robot.length)
        self._work, self._begin = Stopwatch(), state
        self.reset()

    def reset(self, state: State | None = None) -> None:
        """Back to a state, at which the efforts are uncertain by `prior`; by default where it began.

        That is at rest under its known loads, if no `state` was given.
        """
        model, state = self.model, self._begin if state is None else state
        if state is None:
            state = self._begin = resting(self.robot, self.laws, detector=self.detector)
        state = self.robot.checked(state)
        self.motion = Motion.of(
            state, model.viscosity.size, lambda: model.viscosity.relaxed(state.q, state.internal)
        )
        if self.motion.v.shape != (self.robot.ndof,):
            self.motion = self.motion.with_(v=np.zeros(self.robot.ndof))
        self.errors = np.zeros(len(self.doubts.rows))
        self.drift = self._resting()

    def _resting(self) -> Drift:
        """The deviations of a robot that rests under efforts which are off by what was stated."""
        at, conditions, spread = self.motion, self.roles.conditions, self._spread(self.prior)
        view = linearise(self.robot, at.q, at.effort, at.internal, at.gravity)
        found = None
        if view is not None and spread.any():
            found = condensed(self.model.scene, view, conditions, (EXACT, SHIFTED), self._work)
        if view is None or found is None:
            none, unknown = np.zeros((self.robot.ndof, 0)), np.zeros((len(self._loose), 0))
            return Drift(none, none, unknown, np.zeros((0, 0)), np.zeros(0, int))
        return Drift.at_rest(view.H, found.factor, conditions, at.effort, self._loose, spread)

    @property
    def _loose(self) -> np.ndarray:
        """Rows whose efforts are not known: unknown ones, then commands that are doubtful."""
        return np.concatenate([self.roles.unknown, self.doubts.rows])

    def _spread(self, size: float) -> np.ndarray:
        """(nf + na, k): a factor of the covariance of these efforts, `size` [N] of each unknown one."""
        nf, own = len(self.roles.unknown), command_factor(self.roles, self.doubts)
        out = np.zeros((nf + len(own), nf + len(own)))
        out[:nf, :nf], out[nf:, nf:] = size * np.eye(nf), own
        return out[:, out.any(axis=0)]

    @property
    def state(self) -> Motion:
        """Where the robot is, and how it moves."""
        return self.motion

    def step(
        self,
        frame: Mapping[str, Any] | ArrayLike | None = None,
        commands: Mapping[str, Law] | None = None,
    ) -> Estimate:
        """One time step, then the frame that is seen at its end; NaN where hidden.

        `commands` are laws of actuators from now on.
        """
        started = perf_counter()
        self._work.clear()
        if commands:
            self.laws |= commands
            self.roles = compile_roles(self.robot, self.laws, self._noise)
        values = reading.vector(self.robot, self.roles, frame)
        sensed = self._delta(self.motion.q)[self.roles.sensors]
        reading.check_unit(values, sensed, self.roles, self.robot.length)
        seen = np.isfinite(values) & np.isfinite(self.roles.noise)
        ahead, motion, taken = self.drift, self.motion, None
        for _ in range(self.steps):
            taken = self._step(motion)
            if taken is None:
                return self._kept(seen, started)
            motion = taken.motion
            ahead = self._work.timed("drift", self._drifted, ahead, taken)
        assert taken is not None
        return self._corrected(taken, ahead, values, seen, started)

    # One frame

    def _step(self, now: Motion) -> Taken | None:
        """A step of the model with the efforts as they are; None where there is none."""
        unknown, model, timed = self.roles.unknown, self.model, self._work.timed
        effort = self.roles.conditions.effort.copy()
        effort[unknown] = now.effort[unknown]
        effort[self.doubts.rows] += self.errors
        conditions = replace(self.roles.conditions, effort=effort)
        task = begin(model, now, conditions, self.time_step / self.steps)
        if task.contacts is not None and task.contacts.frictional:
            raise InputError("friction", expected="contacts without friction", got="frictional ones")
        at, v, guess = timed("linearise", start, model, task, None)
        if at is None:
            return None
        K_rayleigh = timed("linearise", rayleigh_stiffness, model, at.q, now.internal)
        here = timed("linearise", moving, model, task, at, K_rayleigh, v, guess, now.effort)
        solved = solve(model, task, here, guess, self._work)
        if solved is None or not np.isfinite(solved.motion):
            return None
        motion = arrive(model, task, solved, followed(model, solved.q, now.internal, task.step))
        K = self._elastic(at) if model.viscosity.present else at.K
        return None if K is None else Taken(task, here, solved, K, motion)

    def _drifted(self, drift: Drift, taken: Taken) -> Drift:
        """The deviations after a step in which the unknown efforts go their own way."""
        inertia, walk = self.model.inertia, np.sqrt(taken.task.step) * self._spread(self.change)
        step = taken.task, taken.here, taken.stage, taken.K
        there = drift.loosened(walk).advanced(inertia, *step, self._loose)
        return there.compressed(inertia, inertia.mass(taken.here.pose), self.columns)

    def _elastic(self, at: Any) -> np.ndarray | None:
        """K without what viscous materials add to it in a step."""
        view = linearise(self.robot, at.q, at.lam, self.motion.internal, self.robot.gravity)
        return None if view is None else view.K

    def _corrected(self, taken: Taken, ahead: Drift, values: np.ndarray, seen: np.ndarray, started: float):
        """The estimate with what the readings say."""
        motion, roles = taken.motion, self.roles
        H = taken.here.view.H.take(roles.sensors)
        A = self.weights.whitened(H.to_csr() @ ahead.Q, seen)
        b = self.weights.whitened(values - self._delta(motion.q)[roles.sensors], seen)
        after, z, misfit = ahead.told(A, b)
        L, (low, high) = after.L[: len(roles.unknown)], roles.effort
        lam = motion.effort[roles.unknown] + L @ z
        if ((lam < low) | (lam > high)).any():
            z = z + _within(L, lam, low, high)
            lam = np.clip(motion.effort[roles.unknown] + L @ z, low, high)
        self.errors = self.errors + after.L[len(lam) :] @ z
        effort, force = self._solved_efforts(taken, after, z)
        effort[roles.unknown] = lam
        self._place(motion, after, z, effort)
        self.drift = after
        names = tuple(n for n, tight in zip(roles.names, (lam <= low) | (lam >= high), strict=True) if tight)
        certificate = SensingCertificate(
            status="tracking" if seen.any() else "blind",
            misfit=misfit,
            decrement=self.robot.farthest(after.Q @ z),
            readings=int(seen.sum()),
            unknowns=len(lam),
            rank=len(lam),
            condition=float(np.linalg.cond(L)),
            iterations=self.steps,
            at_bounds=names,
            shift=taken.stage.condensed.shift,
            tangent=taken.stage.condensed.treatment,
        )
        return self._estimate(values, seen, after, certificate, (taken.stage.contacts, force), started)

    def _solved_efforts(self, taken: Taken, after: Drift, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(λ of the robot's rows, forces of the contacts), those of rows that act corrected."""
        lam = taken.stage.lam.copy()
        if len(after.rows):
            c = taken.here.conditions
            lam[after.rows] = np.clip(
                lam[after.rows] + after.solved @ z, c.low[after.rows], c.high[after.rows]
            )
        own = len(taken.motion.effort)
        return lam[:own], lam[own:]

    def _place(self, motion: Motion, after: Drift, z: np.ndarray, effort: np.ndarray) -> None:
        """Sets the motion where the readings put it; viscous stress follows the correction."""
        q = self.robot.retract(motion.q, after.Q @ z)
        viscosity, memory = self.model.viscosity, motion.memory
        if viscosity.present:
            memory = viscosity.displaced(memory, motion.q, q, motion.internal)
        self.motion = motion.with_(q=q, v=motion.v + after.V @ z, effort=effort, memory=memory)

    def _delta(self, q: np.ndarray) -> np.ndarray:
        return self.robot.bundle.delta(self.robot.bundle.positions(q))

    def _kept(self, seen: np.ndarray, started: float) -> Estimate:
        """What is said of a frame to which no step leads: all stays as it was."""
        certificate = SensingCertificate(
            "not converged", float("nan"), INF, int(seen.sum()), len(self.roles.unknown), 0, INF, 1
        )
        self.drift = self.drift.settled()
        nothing = np.full(len(seen), np.nan), seen, self.drift
        return self._estimate(*nothing, certificate, (None, np.zeros(0)), started)

    def _estimate(
        self,
        values: np.ndarray,
        seen: np.ndarray,
        drift: Drift,
        certificate: SensingCertificate,
        touch: tuple[Contacts | None, np.ndarray],
        started: float,
    ) -> Estimate:
        robot, roles, delta, own = self.robot, self.roles, self._delta(self.motion.q), len(self.motion.effort)
        residual = np.where(seen, values - delta[roles.sensors], np.nan)
        contacts, force = touch
        L = drift.L[: len(roles.unknown)]
        pushing = drift.solved[drift.rows >= own]
        deviation = np.zeros(len(force))
        deviation[drift.rows[drift.rows >= own] - own] = np.linalg.norm(pushing, axis=1)
        return Estimate(
            robot,
            self.motion,
            robot.split(self.motion.effort),
            robot.split(delta),
            {name: residual[span] for name, span in roles.sensor_spans.items()},
            L @ L.T,
            roles.names,
            certificate,
            command_error=dict(zip(self.doubts.names, self.errors.tolist(), strict=True)),
            contacts=contacts,
            contact_force=force,
            contact_deviation=deviation,
            contact_sum_deviation=float(np.linalg.norm(pushing.sum(axis=0))),
            timings={**self._work.timings, "total": perf_counter() - started},
            spans=roles.unknown_spans,
        )


def _within(L: np.ndarray, lam: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The least z that brings λ + L z within bounds: a quadratic program in λ with the precision of L Lᵀ."""
    inverse = np.linalg.pinv(L)
    Q = inverse.T @ inverse
    return inverse @ (np.clip(qp(Q, -Q @ lam, low, high).effort, low, high) - lam)
