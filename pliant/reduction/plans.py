"""Plans: the commands that a robot is driven through to see what it can do.

Every trajectory starts with nothing commanded and goes to a posture in equal steps, on its own: trajectories
may run in any order, and in parallel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from inspect import signature
from typing import Any

import numpy as np

from pliant.errors import InputError, as_floats, is_number
from pliant.laws import Known
from pliant.reduction.plackett_burman import plackett_burman as design
from pliant.robot import Robot
from pliant.stage import RowFacts

DRIVES = ("effort", "displacement")
Limits = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Plan:
    """Trajectories (steps, a) of commands for `actuators` (a,).

    `drives` (a,) says of each whether it is an "effort" or a "displacement".
    """

    actuators: tuple[str, ...]
    drives: tuple[str, ...]
    trajectories: tuple[np.ndarray, ...]
    kind: str = "trajectories"

    def __post_init__(self) -> None:
        for drive in self.drives:
            if drive not in DRIVES:
                raise InputError("drive", expected=f"one of {DRIVES}", got=repr(drive))
        if len(self.drives) != len(self.actuators) or not self.actuators:
            raise InputError("drives", expected="one for each of at least one actuator", got=self.drives)
        if not self.trajectories:
            raise InputError("plan", expected="at least one trajectory", got="none")
        object.__setattr__(self, "trajectories", tuple(map(self._checked, self.trajectories)))

    def _checked(self, values: object) -> np.ndarray:
        expected = f"an array (steps, {len(self.actuators)}) of finite commands"
        array = as_floats("trajectory", values, expected)
        if array.ndim != 2 or array.shape[1] != len(self.actuators) or not len(array):
            raise InputError("trajectory", expected=expected, got=f"shape {array.shape}")
        if not np.isfinite(array).all():
            raise InputError("trajectory", expected=expected, got="nan or inf")
        array.setflags(write=False)
        return array

    def __len__(self) -> int:
        return len(self.trajectories)

    def __repr__(self) -> str:
        steps = f"{self.size} steps of {len(self.actuators)} actuators"
        return f"Plan({self.kind}: {len(self)} trajectories, {steps})"

    @property
    def size(self) -> int:
        """Steps in all."""
        return sum(len(t) for t in self.trajectories)

    @property
    def digest(self) -> str:
        """A digest of all its numbers: two plans with the same digest command the same."""
        parts = [repr((self.actuators, self.drives, [t.shape for t in self.trajectories])).encode()]
        return sha256(b"".join(parts + [t.tobytes() for t in self.trajectories])).hexdigest()

    def laws(self, command: np.ndarray) -> dict[str, Known]:
        """One row of commands as laws."""
        pairs = zip(self.actuators, self.drives, command, strict=True)
        return {name: Known(**{drive: float(value)}) for name, drive, value in pairs}

    def check(self, robot: Robot) -> None:
        """Raise InputError unless the robot has these actuators."""
        for name in self.actuators:
            robot.named(name)
            _scalar(robot, name)


def pull(robot: Robot, limits: Limits | None = None, *, steps: int, drive: str | None = None) -> Plan:
    """One trajectory: the actuators in `limits` (default: all) go together to the ends of their ranges."""
    reach = _Reach.of(robot, limits, drive)
    return reach.plan(np.ones((1, len(reach.names))), steps, "incremental pull")


def grid(
    robot: Robot, limits: Limits | None = None, *, levels: int, steps: int = 1, drive: str | None = None
) -> Plan:
    """All combinations of `levels` equally spaced values of every actuator."""
    reach, count = _Reach.of(robot, limits, drive), _count("levels", levels, 2)
    axes = np.meshgrid(*[np.linspace(0.0, 1.0, count)] * len(reach.names), indexing="ij")
    return reach.plan(np.stack([axis.ravel() for axis in axes], axis=1), steps, "full grid")


def plackett_burman(
    robot: Robot, limits: Limits | None = None, *, steps: int, drive: str | None = None
) -> Plan:
    """The postures of a Plackett–Burman design: 12 for nine actuators instead of 512."""
    reach = _Reach.of(robot, limits, drive)
    return reach.plan(0.5 * (design(len(reach.names)) + 1.0), steps, "Plackett–Burman")


def latin_hypercube(robot: Robot, limits: Limits | None = None, **options: Any) -> Plan:
    """Random postures, each of which has its own slice of every actuator's range; options of `spread`."""
    return spread(robot, limits, by="LatinHypercube", **options)


def halton(robot: Robot, limits: Limits | None = None, **options: Any) -> Plan:
    """The first points of a scrambled Halton sequence, to which more can be added; options of `spread`."""
    return spread(robot, limits, by="Halton", **options)


def spread(
    robot: Robot,
    limits: Limits | None = None,
    *,
    by: str,
    postures: int,
    steps: int = 1,
    seed: int = 0,
    drive: str | None = None,
) -> Plan:
    """Postures that fill the ranges by a design of `scipy.stats.qmc`, the same for the same seed."""
    reach, count = _Reach.of(robot, limits, drive), _count("postures", postures)
    return reach.plan(unit_points(by, len(reach.names), count, seed), steps, by)


def trajectories(robot: Robot, values: Mapping[str, Sequence], *, drive: str | None = None) -> Plan:
    """Your own plan: for each actuator the commands (steps,) of one trajectory, or a list of several.

    They are equally long for all actuators.
    """
    if not values:
        raise InputError("trajectories", expected="commands of at least one actuator", got="none")
    columns = []
    for name, given in values.items():
        several = given if len(given) and np.ndim(given[0]) > 0 else [given]
        columns.append([as_floats(f"trajectory of {name!r}", t, "numbers") for t in several])
    shapes = {tuple(len(t) for t in column) for column in columns}
    if len(shapes) != 1:
        raise InputError("trajectories", expected="as many steps for every actuator", got=sorted(shapes))
    drives = tuple(drive or _facts(robot, name).drive for name in values)
    stacked = [np.stack(parts, axis=1) for parts in zip(*columns, strict=True)]
    return Plan(tuple(values), drives, tuple(stacked))


@dataclass(frozen=True)
class _Reach:
    """Actuators, what drives them, and their ranges (a, 2)."""

    names: tuple[str, ...]
    drives: tuple[str, ...]
    range: np.ndarray

    @classmethod
    def of(cls, robot: Robot, limits: Limits | None, drive: str | None) -> _Reach:
        names = tuple(limits) if limits is not None else tuple(robot.by_role("actuator"))
        if not names:
            raise InputError("plan", expected="a robot with actuators", got="none", hint="Give limits=.")
        drives, ranges = [], []
        for name in names:
            facts = _facts(robot, name)
            drives.append(drive or facts.drive)
            ranges.append(limits[name] if limits is not None else facts.limits(drives[-1]))
            low, high = _pair(name, ranges[-1])
            if not (np.isfinite((low, high)).all() and low <= high):
                hint = f"Give limits={{{name!r}: (low, high), …}}."
                raise InputError(f"range of {name!r}", expected="a finite one", got=ranges[-1], hint=hint)
        return cls(names, tuple(drives), np.array(ranges, float))

    def plan(self, share: np.ndarray, steps: int, kind: str) -> Plan:
        """To postures at a `share` (p, a) of the ranges, each from nothing in equal steps."""
        low, high = self.range.T
        postures = low + share * (high - low)
        count = _count("steps", steps)
        ramp = np.arange(1, count + 1)[:, None] / count
        return Plan(self.names, self.drives, tuple(ramp * posture for posture in postures), kind)


def unit_points(design: str, dimension: int, count: int, seed: int) -> np.ndarray:
    """Points (count, dimension) of a design of `scipy.stats.qmc` in the unit cube."""
    from scipy.stats import qmc

    sampler = getattr(qmc, design)
    called = "rng" if "rng" in signature(sampler).parameters else "seed"  # its name before SciPy 1.15
    return sampler(dimension, **{called: seed}).random(count)


def _facts(robot: Robot, name: str) -> RowFacts:
    robot.named(name)
    _scalar(robot, name)
    return RowFacts.of(robot, name)


def _scalar(robot: Robot, name: str) -> None:
    size = robot.rows[name].interaction.size
    if size != 1:
        raise InputError(f"actuator {name!r}", expected="one with a single row", got=f"{size} rows")


def _pair(name: str, value: object) -> tuple[float, float]:
    pair = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else ()
    if len(pair) != 2 or not all(map(is_number, pair)):
        raise InputError(f"range of {name!r}", expected="(low, high)", got=repr(value))
    return float(pair[0]), float(pair[1])


def _count(what: str, value: object, least: int = 1) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(what, expected=f"a whole number, at least {least}", got=repr(value))
    return int(value)
