"""The rows of a robot sorted by what they are in a sensing problem: laws compiled once to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.conditions import Conditions
from pliant.errors import InputError, is_number, unknown_name
from pliant.laws import Law, as_vector
from pliant.robot import Robot

INF = float("inf")
Noise = float | Mapping[str, float]


@dataclass(frozen=True)
class Roles:
    """Scalar rows by role; index arrays are into all rows (m,).

    `equal` rows have an imposed δ (or a spring) and an unbounded effort; `pushing` rows have a one-sided
    effort and act like contacts.
    """

    sensors: np.ndarray
    unknown: np.ndarray
    equal: np.ndarray
    pushing: np.ndarray
    conditions: Conditions
    effort: tuple[np.ndarray, np.ndarray]  # bounds of the unknown efforts
    noise: np.ndarray  # (ns,) standard deviation of each reading, in its unit
    value: np.ndarray  # (ns,) readings that the laws give, NaN where none
    metres: np.ndarray  # (ns,) whether a reading is a length
    names: tuple[str, ...]  # of the unknown rows
    sensor_spans: Mapping[str, slice]  # of each sensor among the readings, by row name
    unknown_spans: Mapping[str, slice]

    @property
    def solved(self) -> np.ndarray:
        """Rows whose effort the model solves for: equal, then pushing."""
        return np.concatenate([self.equal, self.pushing])


@dataclass(frozen=True)
class Sensors:
    """What is read: scalar readings (ns,) of all rows with a Measured law, one row after the other."""

    names: tuple[str, ...]
    noise: np.ndarray  # standard deviation of each reading, in its unit
    value: np.ndarray  # readings that the laws give, NaN where none
    metres: np.ndarray  # whether a reading is a length
    sensor_spans: Mapping[str, slice]


def compile_sensors(robot: Robot, chosen: Mapping[str, Law], noise: Noise) -> Sensors:
    """The sensors among rows with these laws."""
    names = tuple(name for name, law in chosen.items() if law.role == "sensor")
    if not names:
        raise InputError("robot", expected="at least one row with a Measured law, or markers=", got="none")
    sizes = {name: robot.rows[name].interaction.size for name in names}
    sigma = _noise(robot, list(names), chosen, noise)
    return Sensors(
        names,
        np.concatenate([sigma[n] for n in names]),
        np.concatenate([_value(robot, n, chosen[n]) for n in names]),
        np.concatenate([np.full(sizes[n], _is_length(robot, n)) for n in names]),
        _spans(sizes),
    )


def compile_roles(robot: Robot, laws: Mapping[str, Law] | None, noise: Noise) -> Roles:
    """Roles of all rows, after the laws given instead of the robot's own."""
    chosen = robot.chosen_laws(laws)
    for name, law in chosen.items():
        interaction = robot.rows[name].interaction
        law.check(interaction.size, interaction.effort_range, name)
    conditions = robot.forward(laws)
    if conditions.lined.any():
        expected, got = "pressures or volumes of chambers", "a Valve law, or the stroke of a syringe"
        raise InputError("laws", expected=expected, got=got)
    rows = {name: np.arange(span.start, span.stop) for name, span in robot.spans.items()}
    sensors = compile_sensors(robot, chosen, noise)
    asked = [name for name, law in chosen.items() if law.role == "unknown"]
    if not asked:
        raise InputError("robot", expected="at least one row with an Unknown law, or candidates=", got="none")
    solved = conditions.solved
    _check_one_sided(robot, conditions)
    unbounded = np.isinf(conditions.low[solved]) & np.isinf(conditions.high[solved])
    join = lambda parts: np.concatenate([np.zeros(0), *parts])
    bounds = [_bounds(robot, name, chosen[name]) for name in asked]
    return Roles(
        sensors=np.concatenate([rows[n] for n in sensors.names]),
        unknown=np.concatenate([rows[n] for n in asked]),
        equal=solved[unbounded],
        pushing=solved[~unbounded],
        conditions=conditions,
        effort=(join([b[0] for b in bounds]), join([b[1] for b in bounds])),
        noise=sensors.noise,
        value=sensors.value,
        metres=sensors.metres,
        names=tuple(_scalar(n, k, len(rows[n])) for n in asked for k in range(len(rows[n]))),
        sensor_spans=sensors.sensor_spans,
        unknown_spans=_spans({n: len(rows[n]) for n in asked}),
    )


def _spans(sizes: Mapping[str, int]) -> dict[str, slice]:
    ends = np.cumsum(list(sizes.values()))
    return {name: slice(int(e) - size, int(e)) for (name, size), e in zip(sizes.items(), ends, strict=True)}


def _check_one_sided(robot: Robot, conditions: Conditions) -> None:
    """Raise InputError unless rows solved for are two-sided, or have efforts from 0 to infinity."""
    low, high = conditions.low, conditions.high
    both, one = np.isinf(low) & np.isinf(high), (low == 0.0) & np.isinf(high)
    for name, span in robot.spans.items():
        if not (conditions.given | both | one)[span].all():
            expected = "an effort without bounds, or from 0 upwards, where its displacement is imposed"
            raise InputError(f"row {name!r}", expected=expected, got=f"[{low[span][0]:g}, {high[span][0]:g}]")


def _scalar(name: str, k: int, count: int) -> str:
    return name if count == 1 else f"{name}[{k}]"


def _is_length(robot: Robot, name: str) -> bool:
    return robot.rows[name].interaction.unit == "m"


def _bounds(robot: Robot, name: str, law: Any) -> tuple[np.ndarray, np.ndarray]:
    interaction = robot.rows[name].interaction
    low = max(law.effort[0], interaction.effort_range[0])
    high = min(law.effort[1], interaction.effort_range[1])
    return np.full(interaction.size, low), np.full(interaction.size, high)


def _value(robot: Robot, name: str, law: Any) -> np.ndarray:
    size = robot.rows[name].interaction.size
    return np.full(size, np.nan) if law.value is None else as_vector(law.value, size, f"Measured of {name!r}")


def _noise(robot: Robot, reading: list[str], laws: Mapping[str, Any], noise: Noise) -> dict[str, np.ndarray]:
    """σ of each sensor row: as stated, divided by the root of the law's weight (0: never used)."""
    stated = dict(noise) if isinstance(noise, Mapping) else {}
    for name in stated:
        if name not in reading:
            raise unknown_name("sensor", name, reading)
    out = {}
    for name in reading:
        sigma: Any = stated.get(name, noise if is_number(noise) and _is_length(robot, name) else None)
        if sigma is None:
            unit = robot.rows[name].interaction.unit
            expected = f"a standard deviation for {name!r} [{unit}]"
            raise InputError("noise", expected=expected, got="none", hint=f"noise={{{name!r}: …}} states it.")
        if not (is_number(sigma) and 0 < sigma < INF):
            raise InputError(f"noise of {name!r}", expected="a positive number", got=repr(sigma))
        weight = laws[name].weight
        factor = 1.0 / np.sqrt(weight) if weight > 0 else INF
        out[name] = np.full(robot.rows[name].interaction.size, float(sigma) * factor)
    return out
