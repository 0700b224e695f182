"""A hand run step by step, with the surface of a `pliant.session.Session`: what the studio shows and records.

In mode "inverse" the object follows a target that is dragged; in mode "dynamic" the joints follow theirs. The
hand moves in time in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantError, unknown_name
from pliant.frame import Frame, Push
from pliant.laws import as_vector
from pliant.membrane.control import PID, Outer
from pliant.membrane.grasp import grasp
from pliant.membrane.hand import Hand, soft_hand
from pliant.membrane.moving_hand import OBJECT, Moving
from pliant.membrane.staging import frame_of, motors_of, stage_of
from pliant.stage import RowFacts, Stage
from pliant.status import STATUSES
from pliant.units import quantity

MODES = ("inverse", "dynamic")
REACHED = 0.01  # of the hand's size: distance from the target at which the object has reached it
OBJECT_REGION = 0  # of the stage: then the fingers, each its own
PULL_STIFFNESS = 20.0  # [N/m] of a pull on the object
NEAREST = 1e-5  # [m]: what is nearer to its target is said to be this near
STILL = 1e-3  # [rad/s] or [m/s] of a joint that rests


class HandSession:
    """A hand that holds its object; it has no obstacles, and its motors do not break.

    `options` are those of `moving_hand.mechanism_of` (masses, friction …).
    """

    alterable = False

    def __init__(
        self, hand: Hand | None = None, *, period: float = 0.02, summary: str = "", **options: Any
    ) -> None:
        if not 0.0 < period < np.inf:
            raise InputError("period", expected="a positive time [s]", got=period)
        self.hand, self.period, self._options = hand or soft_hand(), float(period), options
        self._home = grasp(self.hand, (0.0, 0.0))
        self.listeners: list[Callable[[Frame], object]] = []
        self.stiffness, self.obstacles = PULL_STIFFNESS, {}
        self._plant = self._new_plant()
        self.stage = _stage(self.hand, self._plant, summary)
        self._object = np.flatnonzero(self.stage.region == OBJECT_REGION)
        self.reset()

    # Commands

    def reset(self, *, keep: bool = False) -> None:
        """Back to the beginning: the object held in the middle; with `keep` in the mode that it is in."""
        mode = self.mode if keep else "inverse"
        self._plant, self.count, self.mode = self._new_plant(), 0, mode
        self._outer = Outer(self.hand, PID, period=self.period)
        self._asked, self._refused, self._push = self._home.joints.copy(), "", None
        self._target = np.array(self._home.pose[:2])
        self._outer.aim(self._plant.read(), self._target, joints=self._home.joints)
        self.frame = self._show()

    def hang(self) -> None:
        """Its target begins where the object is held: nothing to do."""

    def aim(self, row: str, value: Any) -> None:
        """A new target of the object (3,) [m], its height above the plane left out.

        One out of reach is refused and said so.
        """
        if row != OBJECT:
            raise unknown_name("effector", row, [OBJECT])
        target = as_vector(value, 3, f"target of {row!r}")[:2]
        self._target = target
        if self.mode != "inverse":
            return
        try:
            self._outer.aim(self._plant.read(), target)
            self._refused = ""
        except PliantError as error:
            self._refused = str(error)

    def drive(self, row: str, *, effort: Any = None, displacement: Any = None) -> None:
        """A joint's position [rad or m], in mode "dynamic", within its limits."""
        if row not in self._rows:
            raise unknown_name("actuator", row, self._rows)
        if displacement is None or effort is not None:
            raise InputError(f"command of {row!r}", expected="displacement=", got="effort=")
        k = self._rows.index(row)
        wanted = float(as_vector(displacement, 1, f"position of {row!r}")[0])
        self._asked[k] = np.clip(wanted, self.hand.lower[k], self.hand.upper[k])

    def switch(self, mode: str) -> None:
        """The object follows its target ("inverse"), or the joints theirs ("dynamic", or "forward")."""
        mode = "dynamic" if mode == "forward" else mode
        if mode not in MODES:
            raise unknown_name("mode", mode, MODES)
        if mode == self.mode:
            return
        reading = self._plant.read()
        self.mode, self._asked, self._refused = mode, reading.joints.copy(), ""
        if mode == "inverse":
            self.aim(OBJECT, [*reading.pose[:2], 0.0])

    def push(self, vertices: Any, weights: Any, force: Any) -> None:
        """Pull the object with a force (3,) [N] at Σ weights · vertices of the stage."""
        vertices = np.asarray(vertices)
        if not np.isin(vertices, self._object).all():
            raise InputError("push", expected="a place on the object", got="one on a finger")
        arm = as_vector(weights, len(vertices), "weights of a push")
        force = as_vector(force, 3, "force of a push")
        self._push = (vertices, arm, force) if np.linalg.norm(force) > 0.0 else None

    pull = push  # the joints' drives hold what is pulled

    def release(self) -> None:
        """End a pull."""
        self._push = None

    def add(self, obstacle: Any) -> str:
        """There are no obstacles in the plane of a hand."""
        raise InputError("obstacle", expected="none: a hand has no surroundings", got=type(obstacle).__name__)

    def move(self, name: str, position: Any = None, **_: Any) -> None:
        """There are none."""
        raise unknown_name("obstacle", name, ())

    remove = form = move

    def lose(self, row: str) -> None:
        """Motors and skins of a hand do not break."""
        raise InputError(f"losing {row!r}", expected="a robot with actuators to spare", got="a hand")

    mend = lose

    # Step

    def step(self) -> Frame:
        """One period further."""
        reading = self._plant.read()
        command = self._asked if self.mode == "dynamic" else self._outer.step(reading)
        self._plant.simulation.command(wrenches={OBJECT: self._wrench()})
        self._plant.advance(command, self.period)
        self.count += 1
        self.frame = self._show()
        for listener in tuple(self.listeners):
            listener(self.frame)
        return self.frame

    @property
    def commands(self) -> Mapping[str, tuple[str, np.ndarray]]:
        """In mode "dynamic", what each joint is asked for."""
        if self.mode == "inverse":
            return {}
        return {name: ("displacement", self._asked[k : k + 1]) for k, name in enumerate(self._rows)}

    def field(self, name: str) -> np.ndarray:
        """How far the nodes are from where they began [m]."""
        if name not in self.stage.fields:
            raise unknown_name("field", name, self.stage.fields)
        return np.linalg.norm(self.frame.positions - self.stage.rest, axis=1)

    # Inside

    def _new_plant(self) -> Moving:
        plant = Moving(self.hand, self._home.joints, self._home.pose, **self._options)
        self._rows = [name for name, _, _ in motors_of(plant.mechanism)]
        return plant

    def _wrench(self) -> np.ndarray:
        """What acts on the object from outside: its load, and the pull."""
        load = np.array(self.hand.wrench, float)
        if self._push is None:
            return load
        vertices, weights, force = self._push
        at = weights @ self.frame.positions[vertices]
        pose = self._plant.simulation.moment.pose[OBJECT]
        torque = (at[0] - pose.x) * force[1] - (at[1] - pose.y) * force[0]
        return load + np.array([force[0], force[1], torque])

    def _show(self) -> Frame:
        moment = self._plant.simulation.moment
        pose = moment.pose[OBJECT]
        here = np.array([pose.x, pose.y, 0.0])
        frame = frame_of(moment, step=self.count)
        away = np.array([*self._target, 0.0]) - here
        aiming = self.mode == "inverse"
        status = "moving"
        if aiming and np.linalg.norm(away) < REACHED * self.hand.size:
            status = "reached"
        elif self._refused:
            status = "out of reach"
        elif not aiming and frame.speed < STILL:
            status = "holds"
        words = f"The object is held with {quantity(frame.touch.total, 'N', digits=2)}."
        if aiming:
            off = quantity(max(float(np.linalg.norm(away)), NEAREST), "m", digits=2)
            words = self._refused or STATUSES[status].sentence.format(name="The object", off=off)
        push = None
        if self._push is not None:
            push = Push(self._push[1] @ frame.positions[self._push[0]], self._push[2])
        return replace(
            frame,
            time=self.count * self.period,
            mode=self.mode,
            displacement={**frame.displacement, OBJECT: here},
            effort={**frame.effort, OBJECT: np.zeros(3)},
            target={OBJECT: here + away} if aiming else {},
            error={OBJECT: away} if aiming else {},
            status=status,
            words=words,
            push=push,
        )


def _stage(hand: Hand, plant: Moving, summary: str) -> Stage:
    """The mechanism's stage, with joint limits and the object as an effector."""
    stage = stage_of(plant.mechanism, summary=summary)
    rows, motors = [], 0
    for row in stage.rows:
        if row.role == "actuator":
            limits = (float(hand.lower[motors]), float(hand.upper[motors]))
            row = replace(row, displacement=limits, drive="displacement")
            motors += 1
        rows.append(row)
    rows.append(RowFacts(OBJECT, "Position", "effector", 3, "m", "N"))
    mechanism = plant.mechanism
    parts = np.array([_part(body.name) for body in mechanism.bodies])
    return replace(stage, robot="hand", rows=tuple(rows), region=parts[stage.region])


def _part(body: str) -> int:
    """The object's region, or that of the finger whose number ends a body's name: "paddle 1" → 2."""
    return OBJECT_REGION if body == OBJECT else 1 + int(body.rpartition(" ")[2])
