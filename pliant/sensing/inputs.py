"""Checks of what a user says about doubts and candidates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.errors import InputError, is_number
from pliant.laws import Known, Law
from pliant.robot import Robot
from pliant.sensing.condensed import Commands
from pliant.sensing.identifiability import Identifiability


def check_doubts(young: float, estimate_young: bool, offset: float, prior: float) -> None:
    """Raise InputError unless these are deviations."""
    if not (is_number(young) and 0 <= young < 1):
        raise InputError("young", expected="a relative deviation in [0, 1)", got=repr(young))
    if estimate_young and not young:
        raise InputError("young", expected="its relative deviation, as it is to be estimated", got=young)
    if not (is_number(offset) and 0 <= offset < np.inf):
        raise InputError("offset", expected="a deviation in metres, at least 0", got=repr(offset))
    if not (is_number(prior) and prior > 0):
        raise InputError("prior", expected="a positive number [N]", got=repr(prior))


def doubtful(
    robot: Robot, laws: Mapping[str, Law], sigma: Mapping[str, float], estimated: bool, scale: float
) -> Commands:
    """The rows whose commands are doubtful, from deviations by row name."""
    rows, each, names = [], [], []
    for name, value in sigma.items():
        span = robot.named(name)
        if not isinstance(laws.get(name, robot.rows[name].law), Known):
            raise InputError(
                f"command_error of {name!r}", expected="a row with a Known law", got="another law"
            )
        if not (is_number(value) and value > 0):
            raise InputError(f"command_error of {name!r}", expected="a positive number", got=repr(value))
        size = span.stop - span.start
        rows += range(span.start, span.stop)
        each += size * [float(value)]
        names += [name] if size == 1 else [f"{name}[{k}]" for k in range(size)]
    return Commands(np.array(rows, int), np.array(each), estimated, tuple(names), scale)


def check_influence(report: Identifiability) -> None:
    """Raise InputError naming forces that nothing measured feels."""
    if report.blind:
        hint = "Nothing that is measured moves when they act: are they on a fixed support?"
        raise InputError(
            "candidates", expected="forces that move some sensor", got=", ".join(report.blind), hint=hint
        )
