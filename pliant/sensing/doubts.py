"""What a model does not know exactly: errors of commands, the scale of loads, and priors on the forces.

They are rows below the readings, P x = 0 + unit noise. Errors of commands have the covariance diag(σ²) + s² v
vᵀ: each its own, and a factor that all share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.errors import InputError, is_number
from pliant.laws import Known, Law
from pliant.robot import Robot
from pliant.sensing.condensed import Commands
from pliant.sensing.roles import Roles

# Usual deviations of a robot that was measured with care, relative …
YOUNG_DEVIATION = 0.05
COMMON_COMMAND_DEVIATION = 0.1  # of a factor on all commands
COMMAND_DEVIATION = 0.05  # of each command by itself
# … and as shares of the robot's length
MARKER_OFFSET_DEVIATION = 1e-3  # of a translation that all markers share
LENGTH_DEVIATION = 5e-3  # of each imposed length


def check_doubts(young: float, estimate_young: bool, offset: float, prior: float, shared: float) -> None:
    """Raise InputError unless these are deviations."""
    if not (is_number(young) and 0 <= young < 1):
        raise InputError("young", expected="a relative deviation in [0, 1)", got=repr(young))
    if estimate_young and not young:
        raise InputError("young", expected="its relative deviation, as it is to be estimated", got=young)
    if not (is_number(offset) and 0 <= offset < np.inf):
        raise InputError("offset", expected="a deviation in metres, at least 0", got=repr(offset))
    if not (is_number(prior) and prior > 0):
        raise InputError("prior", expected="a positive number [N]", got=repr(prior))
    if not (is_number(shared) and 0 <= shared < 1):
        raise InputError("command_scale", expected="a relative deviation in [0, 1)", got=repr(shared))


def doubtful(
    robot: Robot,
    laws: Mapping[str, Law],
    sigma: Mapping[str, float],
    estimated: bool,
    scale: float,
    shared: float = 0.0,
) -> Commands:
    """The rows whose commands are doubtful, from deviations by row name."""
    rows, each, names = [], [], []
    if shared and not sigma:
        hint = "command_error={row: deviation} names them."
        raise InputError("command_scale", expected="commands that share it", got="none", hint=hint)
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
    return Commands(np.array(rows, int), np.array(each), estimated, tuple(names), scale, shared)


def shared_error(roles: Roles, commands: Commands) -> np.ndarray:
    """s v (na,): what one deviation of the shared factor adds to each doubtful command."""
    c, rows = roles.conditions, commands.rows
    return commands.shared * np.where(c.given[rows], c.effort[rows], c.imposed[rows])


def command_factor(roles: Roles, commands: Commands) -> np.ndarray:
    """L (na, na) with L Lᵀ = diag(σ²) + s² v vᵀ, the covariance of the errors of commands."""
    v = shared_error(roles, commands)
    return np.linalg.cholesky(np.diag(commands.sigma**2) + np.outer(v, v))


def prior_rows(roles: Roles, commands: Commands, prior: float) -> np.ndarray:
    """P (rows, nx) for x = (forces, errors of commands, scale of loads)."""
    nf, na = len(roles.unknown), len(commands.rows)
    nx = nf + na + int(commands.scale > 0)
    P = np.zeros((nf * int(np.isfinite(prior)) + nx - nf, nx))
    at = 0
    if np.isfinite(prior):
        P[:nf, :nf], at = np.eye(nf) / prior, nf
    if na:
        P[at : at + na, nf : nf + na] = np.linalg.inv(command_factor(roles, commands))
    if commands.scale:
        P[-1, -1] = 1.0 / commands.scale
    return P


def usual_doubts(robot: Robot, laws: Mapping[str, Law] | None = None) -> dict[str, Any]:
    """Options of a `ForceEstimator` for a robot that was measured with care, but not perfectly.

    They state standard deviations: 5 % of Young's modulus; of commands 10 % that they share and 5 % of each
    (of an imposed length half a percent of the robot's length); of all markers a common offset of a
    thousandth of that length. What known loads determine of these is estimated, where the residuals ask for
    it.
    """
    chosen = robot.chosen_laws(laws)
    errors: dict[str, float] = {}
    loaded = bool(robot.gravity.any())
    for name, law in chosen.items():
        if not isinstance(law, Known):
            continue
        command = law.displacement if law.effort is None else law.effort
        largest = float(np.abs(np.asarray(command, float)).max())
        if law.effort is None:
            metres = robot.rows[name].interaction.unit == "m"
            errors[name] = LENGTH_DEVIATION * robot.length if metres else COMMAND_DEVIATION * largest
        elif largest > 0.0:
            errors[name], loaded = COMMAND_DEVIATION * largest, True
    out: dict[str, Any] = {
        "young": YOUNG_DEVIATION,
        "estimate_young": loaded,
        "offset": MARKER_OFFSET_DEVIATION * robot.length,
        "judged": True,
    }
    errors = {name: value for name, value in errors.items() if value > 0.0}
    if errors:
        out |= {
            "command_error": errors,
            "command_scale": COMMON_COMMAND_DEVIATION,
            "estimate_commands": True,
        }
    return out
