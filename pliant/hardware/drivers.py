"""Drivers by name, as project files and guards call them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pliant.errors import InputError, unknown_name
from pliant.hardware.channel import Channel

DRIVERS = {
    "serial": ("pliant.hardware.serial_line", "SerialLine"),
    "dynamixel": ("pliant.hardware.dynamixel", "Dynamixel"),
    "pressure": ("pliant.hardware.regulator", "RegulatorBus"),
    "osc": ("pliant.hardware.publisher", "Osc"),
    "zenoh": ("pliant.hardware.publisher", "Zenoh"),
    "ros2": ("pliant.hardware.publisher", "Ros2"),
}


def driver(kind: str, channels: Sequence[Channel], **options: Any) -> Any:
    """The actuator of a kind. Those on a wire take `wire`, a port."""
    if kind not in DRIVERS:
        raise unknown_name("driver", kind, DRIVERS)
    module, name = DRIVERS[kind]
    try:
        wire = {"wire": options.pop("wire")} if "wire" in options else {}
        return getattr(import_module(module), name)(channels=channels, **wire, **options)
    except TypeError as error:
        raise InputError(
            f"options of the driver {kind!r}", expected="those it takes", got=str(error)
        ) from error
