"""Session: step a robot, command it, record it. No threads inside: whoever holds it calls it from one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.contact import Obstacle
from pliant.errors import InputError, unknown_name
from pliant.frame import Frame
from pliant.inverse import Settings
from pliant.inverse.roles import lost_law
from pliant.laws import Law, as_vector
from pliant.reduction.fast import Fast
from pliant.reduction.watch import commands_of
from pliant.robot import Robot
from pliant.session import hand
from pliant.session.around import Around
from pliant.session.dynamic import Dynamic
from pliant.session.forward import Forward
from pliant.session.held import holding, loose
from pliant.session.inverse import Inverted
from pliant.session.reading import Reading, at_nodes
from pliant.session.stand_in import StandIn
from pliant.session.words import sentence
from pliant.stage import RowFacts, Stage, movable_target, polylines
from pliant.state import State
from pliant.static import resting

MODES = ("inverse", "forward", "dynamic")
LINEARISATIONS = 5  # linearisations of the inverse model in a period, which should be punctual
SAME = 1e-6  # of the robot's length: targets that are nearer to a place are meant to be there
Driver = Inverted | Forward | Dynamic


class Session:
    """A robot among obstacles, driven by targets (mode "inverse") or by commands to its actuators: from one
    equilibrium to the next (mode "forward"), or in motion, with inertia (mode "dynamic").

    `period` [s] is what one step stands for. Commands hold from the next step on. Obstacles of the robot's
    surroundings and more `obstacles` can be moved, added and removed; the robot given stays as it is.

    With `fast` (`pliant.reduction.fast(robot)`) its reduced robot runs as long as it may be trusted;
    `stand_in` says how far it is from the full one, and so do the frame's words.
    """

    alterable = True  # obstacles may be added, and actuators lost

    def __init__(
        self,
        robot: Robot,
        *,
        mode: str = "",
        obstacles: Iterable[Obstacle] = (),
        period: float = 0.02,
        settings: Settings | None = None,
        summary: str = "",
        fast: Fast | None = None,
    ) -> None:
        if not 0 < period < float("inf"):
            raise InputError("period", expected="a positive time [s]", got=period)
        self.given, self.period = robot, float(period)
        self.settings = settings or Settings(rate=1.0 / period, budget=LINEARISATIONS)
        if fast is not None and fast.full is not robot:
            raise InputError("fast", expected="the reduced model of this robot", got="another's")
        self.stand_in = None if fast is None else StandIn(fast)
        self.hand = hand.Hand(robot) if self.stand_in is None else self.stand_in.hand
        self.robot = self.hand.robot
        self.stage = Stage.of(self.robot, summary=summary, hidden=(hand.ROW,))
        self.actuators = {row.name: row for row in self.stage.by_role("actuator")}
        self.effectors = {row.name: row for row in self.stage.by_role("effector")}
        self.stiffness = self.hand.stiffness([n for n in self.effectors if movable_target(robot, n)])
        self.listeners: list[Callable[[Frame], object]] = []
        self._first = (*robot.surroundings.obstacles, *obstacles)
        able = "inverse" if self.actuators and self.effectors else "forward"
        able = "dynamic" if loose(robot) else able  # what falls, rolls and slips does so in time
        self._start_mode = self._checked_mode(mode or able)
        self.reset()

    # Commands

    def reset(self, *, keep: bool = False) -> None:
        """Back to the beginning: at rest under gravity, actuators at zero, nothing lost.

        The mode and the obstacles are the first ones again, or with `keep` what they are now.
        """
        mode, obstacles = (self.mode, self.obstacles.values()) if keep else (self._start_mode, self._first)
        self.around = Around(obstacles)
        self.lost: tuple[str, ...] = ()
        self._off: dict[str, Law] = {}
        if self.stand_in is not None:
            self.stand_in.begin()
            self.hand = self.stand_in.hand
            self.robot = self.hand.robot
        self.hand.release()
        self._push_law = self.hand.law()
        self.count, self.mode = 0, mode
        self._driver = self._begin(None)
        self.frame = self._show(self._driver.reading)
        self._motion = np.zeros((len(self.stage.vertices), 3))  # of the skin in the last step [m]

    def hang(self) -> None:
        """Targets that are where the undeformed robot has its effectors begin where these hang instead."""
        if not isinstance(self._driver, Inverted):
            return
        robot, now = self.robot, self.frame.displacement
        undeformed = robot.split(robot.bundle.delta(robot.bundle.positions(robot.rest.q)))
        close = SAME * self.stage.length
        for name, target in self._driver.targets.items():
            if np.allclose(target, undeformed[name], rtol=0.0, atol=close):
                self._driver.aim({name: now[name]})
        self.frame = self._show(self._reading)

    def aim(self, row: str, value: Any) -> None:
        """A new target of an effector, in inverse mode."""
        if row not in self.effectors:
            raise unknown_name("effector", row, self.effectors)
        value = as_vector(value, self.effectors[row].size, f"target of {row!r}")
        if isinstance(self._driver, Inverted):
            self._driver.aim({row: value})

    def drive(self, row: str, *, effort: Any = None, displacement: Any = None) -> None:
        """Command an actuator, in forward and dynamic mode; values beyond its limits are clipped to them."""
        facts = self._actuator(row)
        if (effort is None) == (displacement is None):
            raise InputError(f"command of {row!r}", expected="effort= or displacement=", got="both or none")
        kind, value = ("displacement", displacement) if effort is None else ("effort", effort)
        vector = as_vector(value, facts.size, f"{kind} of {row!r}")
        if not isinstance(self._driver, Inverted):
            self._driver.drive(row, kind, vector)

    def switch(self, mode: str) -> None:
        """Go on in another mode from where the robot is.

        Targets begin at the effectors, commands at the actuators.
        """
        if self._checked_mode(mode) == self.mode:
            return
        self.mode = mode
        self._driver = self._begin(self.state)

    def add(self, obstacle: Obstacle) -> str:
        """Another obstacle; returns its name. One without a name is called after its kind."""
        return self.around.add(obstacle)

    def move(self, name: str, position: Any) -> None:
        """Move an obstacle so that its `centre` (see `Obstacle.data`) is at a position (3,) [m]."""
        self.around.move(name, position)

    def form(self, name: str, **numbers: Any) -> None:
        """Other numbers of an obstacle, by the names that its kind gives them, such as radius=(0.02,) [m]."""
        self.around.form(name, numbers)

    def remove(self, name: str) -> None:
        """Take an obstacle away."""
        self.around.remove(name)

    def lose(self, row: str) -> None:
        """An actuator breaks (a cable is cut): no effort from now on.

        One that alone holds the robot locks where it is.
        """
        self._actuator(row)
        if row in self.lost:
            return
        self.lost = (*self.lost, row)
        self._off = {**self._off, row: lost_law(self.robot, row, self._off, self.frame.displacement[row])}

    def mend(self, row: str) -> None:
        """A lost actuator works again."""
        self._actuator(row)
        self.lost = tuple(name for name in self.lost if name != row)
        self._off = {name: law for name, law in self._off.items() if name != row}

    def push(self, vertices: Any, weights: Any, force: Any) -> None:
        """Push the skin with a force (3,) [N] at Σ weights · vertices; vertices are those of the stage."""
        weights = as_vector(weights, len(vertices), "weights of a push")
        self.hand.press(vertices, weights, as_vector(force, 3, "force of a push"))
        self._push_law = self.hand.law()

    def pull(self, vertices: Any, weights: Any, force: Any) -> None:
        """Pull the skin by the hand's spring, drawn out so far that it pulls the robot with this force [N].

        A loose thing is pulled by a softer one, critically damped, so that it follows and is not thrown.
        """
        weights = as_vector(weights, len(vertices), "weights of a push")
        way = as_vector(force, 3, "force of a push") / self.stiffness
        self.hand.pull(vertices, weights, way, self.stiffness)
        self._push_law = self.hand.law()

    def release(self) -> None:
        """End a push."""
        self.hand.release()
        self._push_law = self.hand.law()

    # Step

    def step(self) -> Frame:
        """One period further."""
        obstacles = tuple(self.around.obstacles.values())
        if self.hand.drag and self.mode == "dynamic":
            self._push_law = self.hand.law(self._motion / self.period)
        before = self.frame.positions
        reading = self._driver.step(self._laws, obstacles)
        still, stand_in = self.mode != "dynamic", self.stand_in
        if stand_in is not None and stand_in.judge(self.count, reading, self._laws, obstacles, still):
            self._exchange(stand_in, reading)
            reading = self._driver.step(self._laws, obstacles)
        self.count += 1
        self.frame = self._show(reading)
        self._motion = (self.frame.positions - before)[self.stage.vertices]
        for listener in tuple(self.listeners):
            listener(self.frame)
        return self.frame

    @property
    def state(self) -> State:
        """Where the robot is."""
        return self._reading.state

    @property
    def obstacles(self) -> Mapping[str, Obstacle]:
        """The present obstacles by name."""
        return dict(self.around.obstacles)

    @property
    def commands(self) -> dict[str, tuple[str, np.ndarray]]:
        """What each actuator is asked for: "effort" or "displacement", and the value. None in inverse mode.

        "effort" or "displacement", and the value.
        """
        if isinstance(self._driver, Inverted):
            return {}
        return {name: (c.drive, c.asked) for name, c in self._driver.commands.now.items()}

    def field(self, name: str) -> np.ndarray:
        """A quantity at the nodes (k,): displacement [m], largest strain, or von Mises stress [Pa]."""
        if name not in self.stage.fields:
            raise unknown_name("field", name, self.stage.fields)
        return at_nodes(self.robot, self.state, name)

    # Inside

    @property
    def _laws(self) -> dict[str, Law]:
        """Laws instead of the robot's own: of lost actuators and of the hand."""
        return {**self._off, hand.ROW: self._push_law}

    def _exchange(self, stand_in: StandIn, reading: Reading) -> None:
        """The other of the two models goes on, with the same targets and commands."""
        targets, asked = dict(getattr(self._driver, "targets", {})), self.commands
        under = {**commands_of(self.robot, reading.effort, reading.displacement), **self._laws}
        state = stand_in.exchange(reading.state, under, tuple(self.around.obstacles.values()))
        self.hand = stand_in.hand
        self.robot, self._push_law = self.hand.robot, self.hand.law()
        self._driver = self._begin(state)
        if isinstance(self._driver, Inverted):
            self._driver.aim(targets)
            return
        for name, (drive, value) in asked.items():
            self._driver.drive(name, drive, value)

    def _begin(self, state: State | None) -> Driver:
        obstacles, actuators = self.around.obstacles.values(), list(self.actuators.values())
        if self.mode == "inverse":
            driver = Inverted(self.robot, self._laws, obstacles, state, self.settings)
            if state is not None:
                delta = self.frame.displacement
                driver.aim({name: delta[name] for name in self.effectors})
            return driver
        laws = {**holding(self.robot), **self._laws}
        start = state if state is not None else resting(self.robot, laws, obstacles=obstacles)
        if self.mode == "dynamic":
            return Dynamic(self.robot, actuators, start, obstacles, self.period)
        return Forward(self.robot, actuators, start, obstacles)

    def _show(self, reading: Reading) -> Frame:
        """The frame of a reading."""
        self._reading, state = reading, reading.state
        effort, delta = _without_hand(reading.effort), _without_hand(reading.displacement)
        target = self._driver.targets if isinstance(self._driver, Inverted) else {}
        error = {name: value - delta[name] for name, value in target.items()}
        status, cables = reading.status, [name for name, _ in self.stage.cables]
        pulling = set(self.actuators).difference(self.lost)
        frame = Frame(
            step=self.count,
            time=self.count * self.period,
            mode=self.mode,
            positions=self.robot.positions(state.q),
            lines=polylines(self.robot, state.q, cables),
            effort=effort,
            displacement=delta,
            command=reading.command,
            target=target,
            error=error,
            touch=reading.touch,
            status=status,
            words="",
            limits=reading.limits,
            slack=tuple(name for name in cables if name in pulling and effort[name][0] <= 0.0),
            lost=self.lost,
            push=self.hand.push(self.robot.positions(state.q)[self.stage.vertices]),
            obstacles=self.around.shapes,
            timings=reading.timings,
            speed=reading.speed,
            held=reading.held,
        )
        rows = {row.name: row for row in self.stage.rows}
        words = sentence(frame, rows, trouble=bool(reading.trouble))
        if self.stand_in is None:
            return replace(frame, words=words)
        which, error = self.stand_in.running, self.stand_in.error
        return replace(frame, words=f"{words} {self.stand_in.words}", model=which, model_error=error)

    def _actuator(self, row: str) -> RowFacts:
        if row not in self.actuators:
            raise unknown_name("actuator", row, self.actuators)
        return self.actuators[row]

    def _checked_mode(self, mode: str) -> str:
        if mode not in MODES:
            raise unknown_name("mode", mode, MODES)
        if mode == "inverse" and not (self.actuators and self.effectors):
            missing = "an actuator (a Bounded law)" if not self.actuators else "an effector (a Target law)"
            raise InputError("inverse mode", expected=missing, got=f"none in {self.given.name!r}")
        return mode


def _without_hand(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: value for name, value in values.items() if name != hand.ROW}
