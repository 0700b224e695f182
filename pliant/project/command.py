"""Commands in people's words: "cable 1=tension:2 N", pressure = "30 kPa"; compared with the row's limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.interactions import Cable
from pliant.laws import Known
from pliant.robot import Robot
from pliant.stage import RowFacts
from pliant.units import DISPLAY, parse, quantity, si_units, split

# Word: the side of a row that it commands, and the SI unit of that side.
WORDS = {
    "tension": ("effort", "N"),
    "force": ("effort", "N"),
    "pressure": ("effort", "Pa"),
    "torque": ("effort", "N·m"),
    "length": ("displacement", "m"),
    "volume": ("displacement", "m³"),
    "angle": ("displacement", "rad"),
}
SIDES = ("effort", "displacement")
SLACK = 1e-9  # of a limit: rounding is no command beyond it


def words_of(robot: Robot, row: str) -> dict[str, str]:
    """The words for a command of a row, and the side that each of them is."""
    robot.named(row)
    action = robot.rows[row].interaction
    units = {"effort": action.effort_unit, "displacement": action.unit}
    fitting = {word: side for word, (side, unit) in WORDS.items() if units[side] == unit}
    fitting.pop("force" if isinstance(action, Cable) else "tension", None)
    return {**{side: side for side in SIDES}, **fitting}


def command_of(robot: Robot, row: str, word: str, value: Any) -> Known:
    """The law of a command: `value` is a number in SI units, text with a unit, or several of these."""
    known = words_of(robot, row)
    if word not in known:
        kind = type(robot.rows[row].interaction).__name__.lower()
        raise InputError(f"command of {row!r}", expected=f"{_either(known)}, as it is a {kind}", got=word)
    side, action = known[word], robot.rows[row].interaction
    unit = action.effort_unit if side == "effort" else action.unit
    one = lambda v: parse(v, unit, f"{word} of {row!r}") if isinstance(v, str) else v
    numbers = [one(v) for v in value] if isinstance(value, (list, tuple)) else one(value)
    return Known(**{side: numbers})


def setting(robot: Robot, text: str) -> tuple[str, Known]:
    """A command as people write it at a shell: ROW=WHAT:VALUE, or ROW=VALUE where its unit says what it is.

    "cable 1=length:20mm", "chamber=30 kPa", "cable 1=displacement:0.02" (a number alone is in SI units).
    """
    row, equals, command = (part.strip() for part in text.partition("="))
    word, colon, value = (part.strip() for part in command.partition(":"))
    if not (row and equals and command):
        hint = 'Such as --set "cable 1=length:20mm".'
        raise InputError("--set", expected="ROW=WHAT:VALUE", got=repr(text), hint=hint)
    known = words_of(robot, row)
    if not colon:
        word, value = _word_by_unit(robot, row, command, known), command
    values = [part.strip() for part in value.split(",")]
    law = command_of(robot, row, word, values[0] if len(values) == 1 else values)
    law.check(robot.rows[row].interaction.size, robot.rows[row].interaction.effort_range, row)
    return row, law


def _word_by_unit(robot: Robot, row: str, command: str, known: Mapping[str, str]) -> str:
    """Which side of a row "20 mm" commands."""
    action, parts = robot.rows[row].interaction, split(command.split(",")[0])
    units = {} if parts is None else {"effort": action.effort_unit, "displacement": action.unit}
    fitting = [side for side in units if parts is not None and units[side] in si_units(parts[1])]
    if len(fitting) != 1:
        amount = f"{parts[0]:g}{DISPLAY.get(action.unit, (action.unit,))[0]}" if parts else "…"
        hint = f'Such as --set "{row}={list(known)[-1]}:{amount}".'
        expected = f"{_either(known)}, a colon and a value"
        raise InputError(f"--set {row}", expected=expected, got=repr(command), hint=hint)
    return fitting[0]


def check_limits(robot: Robot, laws: Mapping[str, Known]) -> None:
    """Raise InputError for a command beyond the limits of its row; the message has the limits."""
    for name, law in laws.items():
        facts = RowFacts.of(robot, name)
        side = "effort" if law.effort is not None else "displacement"
        values = np.atleast_1d(np.asarray(getattr(law, side), float))
        low, high = facts.limits(side)
        room = SLACK * max(abs(x) for x in (low, high, 0.0) if np.isfinite(x))
        if (values < low - room).any() or (values > high + room).any():
            unit = facts.effort_unit if side == "effort" else facts.unit
            word = [word for word, of in words_of(robot, name).items() if of == side][-1]
            raise InputError(
                f"{word} of {name!r}",
                expected=f"within its limits, {_limits((low, high), unit)}",
                got=quantity(values, unit),
                hint=f"Command less, or raise the limit `{word}` of this row where it is described.",
            )


def beyond(robot: Robot, laws: Mapping[str, Known], effort: Mapping[str, Any]) -> list[str]:
    """Sentences on actuators whose efforts at the end, which no command imposed, are beyond their limits."""
    out = []
    for name in [n for n in laws if robot.rows[n].law.role == "actuator" and laws[n].effort is None]:
        facts, values = RowFacts.of(robot, name), np.atleast_1d(effort[name])
        low, high = facts.effort
        if (values < low * (1 - SLACK) - SLACK).any() or (values > high * (1 + SLACK) + SLACK).any():
            limits = _limits(facts.effort, facts.effort_unit)
            out.append(f"{name} needs {quantity(values, facts.effort_unit)}; its limits are {limits}.")
    return out


def _limits(pair: tuple[float, float], unit: str) -> str:
    low, high = pair
    if np.isfinite(low) and np.isfinite(high):
        return f"{quantity(low, unit)} to {quantity(high, unit)}"
    return f"at least {quantity(low, unit)}" if np.isfinite(low) else f"at most {quantity(high, unit)}"


def _either(words: Mapping[str, str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}"
