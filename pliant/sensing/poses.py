"""Recorded poses as functions of what is to be calibrated: residuals over their noise, and their Jacobian.

x are parameters, offsets and a small motion of the tracker, each over its `scale`. The motion itself is kept
apart and composed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantError
from pliant.interactions import Position
from pliant.laws import Measured
from pliant.robot import Robot
from pliant.sensing.instruments import instrumented
from pliant.sensing.readings import vector
from pliant.sensing.record import Loop, Record, check_offset
from pliant.sensing.registration import Rigid, check_size, register
from pliant.sensing.replay import replay
from pliant.sensing.roles import Noise, Sensors, compile_sensors
from pliant.state import State

DIFFERENCE = 1e-3  # of a parameter's scale: step of the differences, far above an equilibrium's tolerance
OFFSET_SCALE = 0.01  # of the robot's length, or of the largest displacement imposed
ROBOTS_KEPT = 4  # besides those of one Jacobian, for parameters that come again
MOTION = ("turn x", "turn y", "turn z", "shift x", "shift y", "shift z")


class Poses:
    """Records, the robot that makes their poses, and what of it is free."""

    def __init__(
        self,
        build: Callable[..., Any],
        records: Sequence[Record | Loop],
        start: Mapping[str, float],
        offsets: tuple[str, ...],
        transform: bool | Rigid,
        noise: Noise,
        row: str,
        equip: Mapping[str, Any],
    ) -> None:
        if not records or not all(isinstance(record, (Record, Loop)) for record in records):
            raise InputError("records", expected="at least one Record(readings, laws)", got=f"{len(records)}")
        self._build, self._equip = build, {k: v for k, v in equip.items() if v is not None}
        self.records, self.start, self.rows = records, dict(start), offsets
        self._robots: dict[tuple[float, ...], tuple[Robot, Any]] = {}  # and the damping of each
        self._states: list[State | None] = [None] * len(records)
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # x and the model there
        first = self._made(tuple(self.start.values()))[0]
        for name in offsets:
            check_offset(first, records, name)
        moving = MOTION if transform is not False else ()
        self.names: tuple[str, ...] = (*self.start, *offsets, *moving)
        self.scale = self._scales(first, len(moving))
        self.row = row
        self._read(first, noise)
        self.motion = self._registered(transform)
        if self.motion is None:
            self._check_unit()

    # What is asked for

    def robot(self, x: np.ndarray) -> Robot:
        """The robot of these parameters."""
        return self._made(tuple(self.split(x)[0].values()))[0]

    def split(self, x: np.ndarray) -> tuple[dict[str, float], dict[str, float]]:
        """Values of the parameters, and offsets by row name."""
        n, m = len(self.start), len(self.rows)
        moved = self.scale * x
        values = {name: value + moved[k] for k, (name, value) in enumerate(self.start.items())}
        return (
            {k: float(v) for k, v in values.items()},
            dict(zip(self.rows, moved[n : n + m].tolist(), strict=True)),
        )

    def advanced(
        self, x: np.ndarray, motion: Rigid | None, step: np.ndarray
    ) -> tuple[np.ndarray, Rigid | None]:
        """x and motion after a step; the motion's part of x stays zero."""
        out = x + step
        if motion is None:
            return out, None
        from scipy.spatial.transform import Rotation  # slow to import

        turn, shift = np.split((self.scale * step)[-6:], 2)
        out[-6:] = 0.0
        R = Rotation.from_rotvec(turn).as_matrix()
        return out, Rigid(R @ motion.rotation, R @ motion.translation + shift)

    def residuals(self, x: np.ndarray, motion: Rigid | None) -> np.ndarray | None:
        """(readings − δ_s)/noise of all that was read; None where no such robot comes to rest."""
        model = self._model(x)
        return (
            None if model is None else (self._readings(motion) - model)[self._seen] / self._noise[self._seen]
        )

    def jacobian(self, x: np.ndarray, motion: Rigid | None) -> np.ndarray:
        """−∂residuals/∂x, by differences; of the motion as it is."""
        here = self._model(x)
        assert here is not None
        own = len(self.names) - 6 * (motion is not None)
        columns = [self._difference(x, k, here) for k in range(own)]
        if motion is not None:
            columns += list(self._moved(motion).T)
        return (np.column_stack(columns) / self._noise[:, None])[self._seen]

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each residual: its step, counted over all records, and which of the step's readings it is."""
        return self._step[self._seen], self._channel[self._seen]

    def motion_seen(self, motion: Rigid | None) -> np.ndarray:
        """By how much the readings are off the robot as it is drawn, over their noise."""
        robot = self._made(tuple(self.start.values()))[0]
        drawn = robot.split(robot.bundle.delta(robot.bundle.positions(robot.rest.q)))
        names = [self._sensors[k] for k, record in enumerate(self.records) for _ in record.steps]
        still = np.concatenate([drawn[name] for step in names for name in step])
        return ((self._readings(motion) - still) / self._noise)[self._seen]

    def rms(self, x: np.ndarray, motion: Rigid) -> float:
        """Root mean square distance [m] of markers to the model."""
        model = self._model(x)
        assert model is not None
        distance = (self._readings(motion) - model)[self._seen & self._place]
        return float(np.sqrt(3.0 * (distance**2).mean()))

    # How it is made

    def _made(self, values: tuple[float, ...]) -> tuple[Robot, Any]:
        """The robot of these parameters with its sensors, and the damping of its bodies if that is known."""
        if values not in self._robots:
            if len(self._robots) > 2 * len(self.start) + ROBOTS_KEPT:
                self._robots.pop(next(iter(self._robots)))
            made = self._build(**dict(zip(self.start, values, strict=True)))
            robot, damping = made if isinstance(made, tuple) else (made, None)
            self._robots[values] = instrumented(robot, **self._equip), damping
        return self._robots[values]

    def _scales(self, robot: Robot, moving: int) -> np.ndarray:
        own = [abs(v) or 1.0 for v in self.start.values()]
        for name in self.rows:
            metres = robot.rows[name].interaction.unit == "m"
            largest = max(record.imposed(name) for record in self.records)
            own.append(OFFSET_SCALE * robot.length if metres else OFFSET_SCALE * largest or 1.0)
        return np.array([*own, *([1.0, 1.0, 1.0] + 3 * [robot.length] if moving else [])])

    def _read(self, robot: Robot, noise: Noise) -> None:
        """Sets the readings of all records (n,), their noise, and which are positions of markers."""
        steps = [step for record in self.records for step in record.steps]
        parts = [compile_sensors(robot, robot.chosen_laws(step.laws), noise) for step in steps]
        first = np.cumsum([0, *(len(record.steps) for record in self.records[:-1])])
        self._sensors = [parts[k].names for k in first]
        self._values = np.concatenate(
            [vector(robot, part, step.readings) for part, step in zip(parts, steps, strict=True)]
        )
        sizes = [len(part.value) for part in parts]
        self._step = np.repeat(np.arange(len(steps)), sizes)  # of each reading, counted over all records
        self._channel = np.concatenate([np.arange(size) for size in sizes])
        self._noise = np.concatenate([part.noise for part in parts])
        self._seen = np.isfinite(self._values) & np.isfinite(self._noise)
        if not self._seen.any():
            raise InputError("records", expected="readings that are seen", got="none")
        self._place = np.concatenate([_marked(part, self.row) for part in parts])

    def _registered(self, transform: bool | Rigid) -> Rigid | None:
        if transform is False:
            return None
        robot = self._made(tuple(self.start.values()))[0]
        law = robot.rows[self.row].law if self.row in robot.rows else None
        if not isinstance(law, Measured) or not isinstance(robot.rows[self.row].interaction, Position):
            raise InputError("transform", expected=f"measured positions in row {self.row!r}", got="none")
        if isinstance(transform, Rigid):
            return Rigid(transform.rotation, transform.translation)
        model = self._model(np.zeros(len(self.names)))
        if model is None:
            raise InputError("start", expected="parameters whose robot comes to rest", got=str(self.start))
        return register(self._values[self._place].reshape(-1, 3), model[self._place].reshape(-1, 3))

    def _check_unit(self) -> None:
        """Raise InputError where markers must be in another unit than the model's."""
        model, seen = self._model(np.zeros(len(self.names))), self._values[self._place].reshape(-1, 3)
        good = np.isfinite(seen).all(axis=1)
        if model is not None and good.sum() > 2:
            check_size(seen[good], model[self._place].reshape(-1, 3)[good])

    def _readings(self, motion: Rigid | None) -> np.ndarray:
        """Readings, markers in the robot's coordinates."""
        if motion is None:
            return self._values
        out = self._values.copy()
        out[self._place] = motion.apply(out[self._place].reshape(-1, 3)).ravel()
        return out

    def _model(self, x: np.ndarray) -> np.ndarray | None:
        """δ_s of all records (n,); None where an equilibrium is missing or a parameter is impossible."""
        if self._last is not None and np.array_equal(self._last[0], x):
            return self._last[1]
        values, offsets = self.split(x)
        out = []
        try:
            robot, damping = self._made(tuple(values.values()))
            for k, record in enumerate(self.records):
                shown, state = replay(robot, damping, record, offsets, self._sensors[k], self._states[k])
                self._states[k] = state
                out += shown
        except PliantError:
            return None
        self._last = x.copy(), np.concatenate(out)
        return self._last[1]

    def _difference(self, x: np.ndarray, k: int, here: np.ndarray) -> np.ndarray:
        """∂δ_s/∂x_k by a forward difference, or a backward one where the robot ahead has no equilibrium."""
        for side in (1.0, -1.0):
            there = x.copy()
            there[k] += side * DIFFERENCE
            moved = self._model(there)
            if moved is not None:
                return (moved - here) / (side * DIFFERENCE)
        raise InputError(
            f"parameter {self.names[k]!r}", expected="a robot that comes to rest on one side", got="none"
        )

    def _moved(self, motion: Rigid) -> np.ndarray:
        """−∂readings/∂(turn, shift) (n, 6), over the scale."""
        out = np.zeros((len(self._values), 6))
        at = self._readings(motion)[self._place].reshape(-1, 3)
        turn = -np.cross(np.eye(3)[None], at[:, None])  # (m, 3 turns, 3 axes): −ω × x
        out[self._place, :3] = np.swapaxes(turn, 1, 2).reshape(-1, 3)
        out[self._place, 3:] = -np.tile(np.eye(3), (len(at), 1))
        return np.where(np.isfinite(out), out, 0.0) * self.scale[-6:]


def _marked(sensors: Sensors, row: str) -> np.ndarray:
    """Which readings (ns,) are those of a row."""
    out = np.zeros(len(sensors.value), bool)
    if row in sensors.sensor_spans:
        out[sensors.sensor_spans[row]] = True
    return out
