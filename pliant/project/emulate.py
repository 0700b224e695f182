"""Devices in software for the [hardware] table of a project file: everything but the metal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import Any

from pliant.drive import Drive
from pliant.errors import InputError
from pliant.project.project import Project
from pliant.project.wiring import ON_A_WIRE, channels_of


@contextmanager
def emulated(project: Project, *, clock: Callable[[], float] = monotonic) -> Iterator[dict[str, str]]:
    """The serial port of an emulator for each device of a project, by the device's name, while it lasts.

    Messages over a network (OSC, zenoh, ROS 2) have nobody to answer them here: such a device is refused.
    """
    from pliant.hardware.emulators import Terminal

    assert project.spec.hardware is not None
    ports = {}
    with ExitStack() as stack:
        for name, spec in project.spec.hardware.devices.items():
            with project.source.at("hardware", "devices", name, "driver"):
                if spec.driver not in ON_A_WIRE:
                    raise InputError("emulator", expected=f"a device of {list(ON_A_WIRE)}", got=spec.driver)
            device = _emulator(spec.driver, [channel.id for channel in channels_of(project, name)], spec.lag)
            ports[name] = stack.enter_context(Terminal(device, clock=clock)).port
        yield ports


def _emulator(driver: str, ids: list[int], lag: float) -> Any:
    from pliant.hardware.emulators import DynamixelBus, Microcontroller, Regulators

    drive = Drive(lag=lag) if lag else None
    if driver == "serial":
        return Microcontroller(ids, drive=drive)
    if driver == "dynamixel":
        return DynamixelBus(ids, drive=drive)
    return Regulators([chr(ord("A") + unit) for unit in ids], drive=drive)  # unit 0 is A
