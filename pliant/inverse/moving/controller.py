"""The inverse model of a robot in motion, fixed or free.

In every step of length h, the robot a *horizon* T later is foreseen as one implicit step, condensed, and

    W = H (M/T² + D/T + K)⁻¹ Hᵀ
    min ‖δ_e(t+T) − r(t+T)‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. bounds on λ_a and δ_a,   0 ≤ λ_c ⊥ δ_c ≥ 0, Coulomb's law

gives the efforts, with which a `Simulation` moves on by h. r is a smooth reference on its way to the targets.
T = h is the inverse of the time step itself: it makes good any error within one step, whatever that takes. A
longer T asks for less, lets fast vibrations be, and does not depend on h; a very long one is the static
inverse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from pliant.contact import Detector, Obstacle
from pliant.core.rows import units
from pliant.dynamics import Moment, Simulation
from pliant.errors import ConvergenceError, InputError
from pliant.inputs import positive
from pliant.inverse.inputs import check_robot, check_roles, check_settings, checked_targets
from pliant.inverse.moving.choice import Choice, Plan, choose, driven
from pliant.inverse.moving.memory import MovingMemory
from pliant.inverse.moving.outcome import REACHED, MovingOutcome, certify
from pliant.inverse.moving.reference import Approach, Reference
from pliant.inverse.outcome import by_name, commands
from pliant.inverse.roles import Roles, compile_roles
from pliant.inverse.settings import Settings
from pliant.laws import Known, Law, as_vector
from pliant.robot import Robot
from pliant.state import State
from pliant.static import resting
from pliant.timing import Stopwatch

HORIZON = 0.05  # [s] in which errors are to be made good, by default
RESPONSE = 0.1  # [s] time constant with which targets are approached, by default
TOP_SPEED = 1.0  # lengths of the robot per second, by default
WIDER_SEARCH = 3  # times as many starts of the solver, where the nearest minimum will not do
SHORTER_HORIZON = 0.5  # of the one before, where the robot would buckle within it


class MovingInverse:
    """Inverse model of a robot in motion, among obstacles or free.

        ctl = MovingInverse(robot, time_step=0.01, damping=pl.dynamics.KelvinVoigt(0.02))
        out = ctl.step(targets={"tip": [x, y, z]})

    Rows with a `Bounded` law are chosen, rows with a `Target` are effectors; all others stay as their law
    says, or as `laws` says. A robot without supports may have a `CentreOfMass` as effector. time_step,
    scheme, damping, iterations, tolerance: those of `Simulation`; the scheme is Euler's by default, as that
    is what the horizon is foreseen by. state: where to start; by default the
    equilibrium with all actuators at zero effort, or rest where there is none.

    response [s]: the time constant with which targets are approached, on a reference with damping_ratio and
    of at most top_speed [m/s] (one length of the robot a second). horizon [s]: in what time errors are to be
    made good, at least the time step.
    """

    def __init__(
        self,
        robot: Robot,
        obstacles: Iterable[Obstacle] = (),
        *,
        time_step: float = 0.01,
        scheme: str = "euler",
        damping: Any = None,
        laws: Mapping[str, Law] | None = None,
        state: State | None = None,
        iterations: int | None = None,
        tolerance: float | None = None,
        response: float = RESPONSE,
        damping_ratio: float = 1.0,
        top_speed: float | None = None,
        horizon: float = HORIZON,
        settings: Settings = Settings(),  # noqa: B008  (frozen)
    ) -> None:
        check_robot(robot)
        check_settings(settings)
        self.robot, self.settings, self.laws = robot, settings, dict(laws or {})
        self.horizon = positive("horizon", horizon, "s")
        speed = TOP_SPEED * robot.length if top_speed is None else positive("top_speed", top_speed, "m/s")
        approach = Approach(
            positive("response", response, "s"), positive("damping_ratio", damping_ratio), speed
        )
        self.roles = compile_roles(robot, self.laws)
        check_roles(self.roles)
        self.simulation = Simulation(
            robot,
            obstacles,
            time_step=time_step,
            scheme=scheme,
            damping=damping,
            iterations=iterations,
            tolerance=tolerance,
        )
        self.simulation.state = self._resting() if state is None else state
        self._work, self._units = Stopwatch(), units(robot)
        value, rate = self._effects()
        target = self._brought(value, self.roles, robot.rows)
        self.memory = MovingMemory(target, Reference(value, rate, self._units, approach))

    @property
    def detector(self) -> Detector:
        """Finds the contacts; adds, replaces and removes obstacles."""
        return self.simulation.detector

    @property
    def state(self) -> State:
        """Where the robot is and how it moves."""
        return self.simulation.state

    @property
    def target(self) -> np.ndarray:
        """Targets in δ of all rows (m,); rows that are no effectors follow the robot."""
        return self.memory.target

    @property
    def reference(self) -> Reference:
        """Where all rows are asked to be by now, and at which speed."""
        return self.memory.reference

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.simulation.t

    def step(
        self, targets: Mapping[str, Any] | None = None, laws: Mapping[str, Law] | None = None
    ) -> MovingOutcome:
        """One time step. Targets not named stay; `laws` are for this step only.

        Never raises because a target is out of reach.
        """
        begin, h = perf_counter(), self.simulation.time_step
        self._work.clear()
        roles = self.roles if not laws else compile_roles(self.robot, {**self.laws, **laws})
        target = self._asked(targets, roles, self._brought(self.memory.target, roles, laws or {}))
        memory, choice = self._chosen(self.memory.aimed(target, roles.effectors, *self._effects()), roles)
        moment = self._moved(roles, choice)
        self.memory = memory.after(h, moment, self.robot.length)
        return self._outcome(roles, choice, moment, begin)

    def change(self, laws: Mapping[str, Law]) -> None:
        """Other laws for some rows from now on: bounds, an imposed value.

        Effectors that stay ones keep their targets.
        """
        self.roles = compile_roles(self.robot, {**self.laws, **laws})
        self.laws.update(laws)
        self.memory = replace(self.memory, target=self._brought(self.memory.target, self.roles, laws))

    def lose(self, name: str) -> None:
        """An actuator breaks: no effort from now on. The others take over as well as they can."""
        self.change({name: Known(effort=0.0)})

    # Targets.

    def _brought(self, target: np.ndarray, roles: Roles, names: Iterable[str]) -> np.ndarray:
        """Targets of all rows (m,), with those that the laws of the rows named bring along."""
        given, brought = np.full(self.robot.bundle.rows, np.nan), target.copy()
        given[roles.effectors] = roles.target
        for span in map(self.robot.named, names):
            brought[span] = np.where(np.isnan(given[span]), brought[span], given[span])
        return brought

    def _asked(self, targets: Mapping[str, Any] | None, roles: Roles, target: np.ndarray) -> np.ndarray:
        """Targets of all rows, with those given."""
        for name, value in checked_targets(targets).items():
            span = self.robot.named(name)
            if span.start not in roles.effectors:
                raise InputError(f"target {name!r}", expected="a row with a Target law", got="another law")
            target[span] = as_vector(value, span.stop - span.start, f"target of {name!r}")
        return target

    # The step.

    def _chosen(self, memory: MovingMemory, roles: Roles) -> tuple[MovingMemory, Choice | None]:
        """Efforts for the horizon, or for a shorter one where the robot would buckle within it."""
        sim, s, time = self.simulation, self.settings, max(self.horizon, self.simulation.time_step)
        while True:
            seen = sim.foresee(roles.conditions, roles.condensed, time, self._work)
            if (seen is not None and seen.shift == 0.0) or time <= sim.time_step:
                break
            time = max(SHORTER_HORIZON * time, sim.time_step)
        if seen is None:
            return memory, None
        here, rows = self._delta(), roles.effectors
        goal = memory.reference.of(rows).after(time, memory.target[rows]).near(here[rows], time)
        rho = memory.inertia_factor * (s.inertia_in_contact if len(sim.state.touching) else s.inertia)
        plan = Plan(goal, time, rho * time / sim.time_step, np.array(sim.state.effort), here)
        felt = roles.at(self.robot, plan.last, here, sim.state.internal)
        near = lambda: choose(seen, felt, plan, s, self._work)
        if not seen.contacts:
            return memory, near()
        starts = {"starts": WIDER_SEARCH * s.starts, "frictional_starts": WIDER_SEARCH * s.frictional_starts}
        far = lambda: choose(seen, felt, replace(plan, inertia=0.0), replace(s, **starts), self._work)
        enough = REACHED * self.robot.length
        search, choice = memory.search.best(near, far, partial(self._missed, roles), enough)
        return replace(memory, search=search), choice

    def _missed(self, roles: Roles, choice: Choice | None) -> float:
        """How far from the goal the effectors are predicted at the horizon [m]."""
        units = self._units[roles.effectors]
        return np.inf if choice is None else float(np.linalg.norm(choice.missed / units))

    def _moved(self, roles: Roles, choice: Choice | None) -> Moment | None:
        """A step of the simulation with the efforts chosen; where it fails, with the last ones, or with none.

        None if all of them fail.
        """
        sim, here = self.simulation, self._delta()
        ends = here[roles.actuators] if choice is None else choice.ends
        last = np.array(sim.state.effort)[roles.actuators]
        for effort in ([] if choice is None else [choice.effort]) + [last, 0.0 * last]:
            possible = np.clip(effort, *roles.effort)
            try:
                return sim.step_under(driven(roles, possible, ends, here, sim.time_step))
            except ConvergenceError:
                continue
        return None

    def _resting(self) -> State:
        """The equilibrium with all actuators at zero effort; at rest, if nothing supports the robot then."""
        off = {name: Known(effort=0.0) for name in dict.fromkeys(self.roles.names)}
        return resting(self.robot, {**self.laws, **off}, detector=self.simulation.detector)

    def _delta(self) -> np.ndarray:
        """δ of all rows (m,)."""
        bundle = self.robot.bundle
        return bundle.delta(bundle.positions(self.simulation.state.q))

    def _effects(self) -> tuple[np.ndarray, np.ndarray]:
        """δ and δ̇ of all rows (m,)."""
        now, bundle = self.simulation.state, self.robot.bundle
        p = bundle.positions(now.q)
        return bundle.delta(p), bundle.jacobian(now.q, bundle.gradient(p)).dot(np.array(now.v))

    def _outcome(
        self, roles: Roles, choice: Choice | None, moment: Moment | None, begin: float
    ) -> MovingOutcome:
        robot, state, delta = self.robot, self.simulation.state, self._delta()
        if moment is None or moment.contacts is None:
            contacts = self.detector.detect(state.q)
            force = np.zeros(len(contacts)), np.zeros((len(contacts), 2))
        else:
            contacts, force = moment.contacts, (moment.contact_force, moment.friction_force)
        left = (self.target - delta)[roles.effectors] / self._units[roles.effectors]
        certificate = certify(
            choice,
            moment,
            left=float(np.linalg.norm(left)),
            foreseen=self._missed(roles, choice),
            depth=self.detector.depth(state.q, contacts),
            standoff=contacts.standoff(force[0]),
            length=robot.length,
        )
        effort = np.array(state.effort)
        return MovingOutcome(
            robot=robot,
            state=state,
            effort=robot.split(effort),
            displacement=robot.split(delta),
            error=by_name(robot, self.target - delta, roles.effectors),
            command=commands(robot, roles.filled(robot, state.internal), effort, delta, self.settings),
            contacts=contacts,
            contact_force=force[0],
            friction_force=force[1],
            certificate=certificate,
            timings=self._timings(moment, begin),
            reference=by_name(robot, self.reference.value.copy(), roles.effectors),
        )

    def _timings(self, moment: Moment | None, begin: float) -> dict[str, float]:
        """[s] of each stage, of the choice and of the step in time together, and in total since `begin`."""
        parts = [self._work.timings, {} if moment is None else moment.timings]
        timings = {stage: sum(part.get(stage, 0.0) for part in parts) for stage in {**parts[0], **parts[1]}}
        return {**timings, "total": perf_counter() - begin}
