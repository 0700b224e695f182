"""Checks of what users give to the inverse model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pliant.errors import InputError
from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.robot import Robot


def check_robot(robot: Any) -> None:
    """A robot, not a body."""
    if not isinstance(robot, Robot):
        hint = "pl.Robot(body, rows) makes one of a body."
        raise InputError("robot", expected="a Robot", got=type(robot).__name__, hint=hint)


def check_roles(roles: Roles) -> None:
    """Something to choose, and something to choose it for."""
    if not len(roles.actuators):
        raise InputError("robot", expected="at least one row with a Bounded law", got="no actuator")
    if not len(roles.effectors):
        raise InputError("robot", expected="at least one row with a Target law", got="no effector")


def check_settings(settings: Any) -> None:
    """Settings of this package."""
    if not isinstance(settings, Settings):
        raise InputError("settings", expected="inverse.Settings(…)", got=repr(settings))


def checked_targets(targets: Any) -> Mapping[str, Any]:
    """A dictionary from row name to value, empty for None."""
    if targets is None:
        return {}
    if not isinstance(targets, Mapping):
        raise InputError("targets", expected="a dictionary from row name to value", got=repr(targets))
    return targets
