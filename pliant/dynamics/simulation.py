"""Simulation: a robot in motion."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from pliant.bodies.damping import per_body
from pliant.conditions import Conditions
from pliant.contact import Obstacle
from pliant.core.drives import following, motors
from pliant.core.sliding import after_a_step, in_a_step
from pliant.dynamics.advance import advance
from pliant.dynamics.attempt import Arrival
from pliant.dynamics.balance import Balance, Energy, energy, loaded
from pliant.dynamics.foresight import Foresight, foresee
from pliant.dynamics.implicit import Handover
from pliant.dynamics.model import Model
from pliant.dynamics.moment import Moment
from pliant.dynamics.motion import Motion
from pliant.dynamics.schemes.central import stable_step
from pliant.dynamics.schemes.registry import SCHEMES
from pliant.dynamics.schemes.scheme import Scheme
from pliant.dynamics.viscosity import Viscosity
from pliant.errors import ConvergenceError, InputError, PliantWarning, unknown_name
from pliant.inputs import count, positive
from pliant.laws import Law
from pliant.robot import Robot
from pliant.state import State
from pliant.timing import Stopwatch

SCHEME = "bdf2"  # of second order where motion is smooth, by default
TIME_STEP = 0.01  # [s] of implicit schemes, by default
STABLE_SHARE = 0.9  # of the largest stable step: the time step of explicit schemes, by default
TOLERANCE = 1e-7  # of the robot's length: correction at which a step has converged, by default


class Simulation:
    """A robot that moves, among obstacles or free.

        sim = pl.Simulation(robot, time_step=0.005, damping=pl.dynamics.Rayleigh(stiffness=0.01))
        for _ in range(200):
            moment = sim.step({"cable": pl.Known(displacement=0.01)})

    scheme: "bdf2" (default), "euler", "midpoint" or "central". time_step [s]: 0.01, or nine tenths of what is
    stable for central differences. damping: a law, several, or a dictionary from body number to such; see
    `pliant.bodies.damping`. state: where to start (default: rest); its velocities count. iterations:
    linearisations in a step, at most; one for bdf2 and euler by default. tolerance: [m] correction at which
    to stop earlier, 1e-7 of the length by default. `obstacles` come on top of the robot's surroundings;
    `detector` adds, moves and removes them while running.
    """

    def __init__(
        self,
        robot: Robot,
        obstacles: Iterable[Obstacle] = (),
        *,
        time_step: float | None = None,
        scheme: str = SCHEME,
        damping: Any = None,
        state: State | None = None,
        iterations: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        if not isinstance(robot, Robot):
            hint = "pl.Robot(body, rows) makes one of a body."
            raise InputError("robot", expected="a Robot", got=type(robot).__name__, hint=hint)
        if scheme not in SCHEMES:
            raise unknown_name("scheme", scheme, tuple(SCHEMES))
        self.robot, self.scheme = robot, scheme
        self.damping = per_body(damping, len(robot.bodies))
        self.detector = robot.surroundings.detector(robot, obstacles)
        chosen = _applicable(SCHEMES[scheme], robot, Viscosity(robot, self.damping))
        if chosen.explicit is not None and robot.bundle.lined:
            expected, hint = "an implicit one for chambers with a line", "Euler's, midpoint and bdf2 are."
            raise InputError("scheme", expected=expected, got=scheme, hint=hint)
        iterations = chosen.iterations if iterations is None else count("iterations", iterations)
        tolerance = TOLERANCE * robot.length if tolerance is None else positive("tolerance", tolerance, "m")
        self._model = Model.of(robot, self.detector, self.damping, chosen, iterations, tolerance)
        self._work = Stopwatch()
        self._handover: Handover | None = None  # what the last step knows of the next
        self.state = robot.rest if state is None else state
        if state is None:  # one that was in motion goes on, and says that it is too deep
            self.detector.require_apart(robot.rest.q)
        self.time_step = positive("time_step", self._usual_step() if time_step is None else time_step, "s")
        if chosen.explicit is not None and self.time_step > self.stable_step:
            stable = f"central differences need {self.stable_step:.3g} s or less"
            message = f"time_step {self.time_step:g} s is unstable: {stable}."
            warnings.warn(message, PliantWarning, stacklevel=2)

    @property
    def state(self) -> Motion:
        """Where the robot is and how it moves; may be set, to any state of the robot."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        checked = self.robot.checked(state)
        if checked.v.shape != (self.robot.ndof,) or not np.isfinite(checked.v).all():
            raise InputError(
                "state", expected=f"{self.robot.ndof} finite velocities", got=f"shape {checked.v.shape}"
            )
        viscosity = self._model.viscosity
        relaxed = lambda: viscosity.relaxed(checked.q, checked.internal)
        self._state = Motion.of(checked, viscosity.size, relaxed)
        self._handover, self._balance = None, Balance(self._model, self._state)

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._state.t

    def step(self, laws: Mapping[str, Law] | None = None) -> Moment:
        """One time step under the rows' laws, after those given for this call."""
        return self.step_under(self.robot.forward(laws))

    def step_under(self, conditions: Conditions) -> Moment:
        """One time step under conditions of all scalar rows, which laws are compiled to."""
        begin = perf_counter()
        self._work.clear()
        arrival = self._advance(conditions)
        if arrival is None or not np.isfinite(arrival.motion.v).all():
            raise ConvergenceError(
                f"No step of {self.robot.name!r} from t = {self.t:g} s: cells turn inside out or the motion "
                "has no bounds. A smaller time_step, more damping or slower commands may help; sim.state is "
                "still the one before."
            )
        self._state, self._handover = arrival.motion, arrival.handover
        arrival = self._balance.judged(arrival)
        return self._moment(arrival, perf_counter() - begin)

    def foresee(
        self, conditions: Conditions, rows: np.ndarray, time: float, work: Stopwatch
    ) -> Foresight | None:
        """What these rows would see of the next `time` [s], see `foresight`; nothing moves."""
        return foresee(self._model, self._state, conditions, rows, time, work, self._handover)

    @property
    def energy(self) -> Energy:
        """Kinetic and potential energy now."""
        return energy(self._model, self._state)

    @property
    def energy_drift(self) -> float:
        """What the scheme has gained of energy (> 0) or lost since `state` was set last [J].

        That is the change of `energy` less the work of rows, contacts and Rayleigh's damping. Inelastic
        impacts are in it. nan with viscous materials and liquids, whose losses are not counted.
        """
        return self._balance.energy_drift(self._state)

    @property
    def momentum_drift(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Linear [kg m/s] and angular momentum (3,) [kg m²/s] gained since `state` was set last.

        The angular one is about the centre of mass, and what gravity gives is not counted. None if something
        supports the robot; what obstacles and rows push is in it.
        """
        return self._balance.momentum_drift(self._state)

    @property
    def stable_step(self) -> float:
        """The largest time step [s] with which central differences are stable at the present state."""
        sudden = max(d.sudden for d in self.damping)
        rate = max(d.rate for d in self.damping)
        return stable_step(self.robot, self._model.inertia, self._state, sudden, rate)

    def _usual_step(self) -> float:
        return TIME_STEP if self._model.scheme.explicit is None else STABLE_SHARE * self.stable_step

    def _advance(self, conditions: Conditions) -> Arrival | None:
        explicit, now, robot = self._model.scheme.explicit, self._state, self.robot
        asked, conditions = conditions, self._following(conditions)
        laws = in_a_step(robot, conditions, now.q, now.effort, now.internal)
        given = self._model, now, laws, self.time_step, self._work
        arrival = advance(*given, self._handover) if explicit is None else explicit(*given)
        if arrival is not None and laws is not conditions:
            arrival = self._slid(arrival, conditions)
        if arrival is None or not robot.bundle.driven:
            return arrival
        end = arrival.motion
        known = end.effort, robot.bundle.delta(robot.bundle.positions(end.q))
        z = motors(robot, asked, end.internal, *known, self.time_step)
        return replace(arrival, motion=replace(end, internal=z))

    def _following(self, conditions: Conditions) -> Conditions:
        """The laws with drives where they come in the next step."""
        now, bundle = self._state, self.robot.bundle
        if not bundle.driven:
            return conditions
        known = now.internal, now.effort, bundle.delta(bundle.positions(now.q))
        return following(self.robot, conditions, *known, self.time_step)

    def _slid(self, arrival: Arrival, conditions: Conditions) -> Arrival:
        """The end of a step with what cables with friction remember of it."""
        now, end = self._state, arrival.motion
        lam, z = after_a_step(self.robot, conditions, now.q, end.q, end.effort, end.internal)
        handover = arrival.handover
        if not np.array_equal(z, end.internal):  # it was linearised with the tensions of another direction
            handover = replace(handover, view=None)
        motion = replace(end, effort=lam, internal=z)
        return replace(arrival, motion=motion, handover=handover)

    def _moment(self, arrival: Arrival, seconds: float) -> Moment:
        robot, motion, contacts, force = self.robot, arrival.motion, arrival.contacts, arrival.force
        n = 0 if contacts is None else len(contacts)
        return Moment(
            robot,
            motion,
            robot.split(motion.effort),
            robot.split(arrival.handover.delta),
            arrival.certificate,
            {**self._work.timings, "total": seconds},
            contacts,
            force[:n],
            force[n:].reshape(-1, 2) if len(force) > n else np.zeros((n, 2)),
        )


def _applicable(scheme: Scheme, robot: Robot, viscosity: Viscosity) -> Scheme:
    """The scheme without its correction of the energy where there is no potential to be kept."""
    if scheme.correct is not None and (viscosity.present or loaded(robot)):
        return replace(scheme, correct=None)
    return scheme
