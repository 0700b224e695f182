"""Devices from the [hardware] table of a project file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pliant.errors import InputError

if TYPE_CHECKING:
    from pliant.hardware import Channel
    from pliant.project.project import Project
    from pliant.project.schema_hardware import ChannelSpec, DeviceSpec, HardwareSpec

ON_A_WIRE = ("serial", "dynamixel", "pressure")
EXAMPLE = (
    'Such as: [hardware.devices.winches] driver = "serial", port = "/dev/ttyACM0"; '
    '[hardware.channels."cable 1"] device = "winches", id = 1, spool_radius = 0.01, counts_per_turn = 4096. '
    "See docs/hardware.md."
)


def hardware_of(project: Project) -> HardwareSpec:
    """The [hardware] table of a project; an InputError that shows one where there is none."""
    if project.spec.hardware is None:
        name = project.source.path.name
        raise InputError(name, expected="a [hardware] table", got="none", hint=EXAMPLE)
    return project.spec.hardware


def channels_of(project: Project, device: str) -> list[Channel]:
    """The channels of a device, in the order of the file."""
    assert project.spec.hardware is not None
    said = project.spec.hardware.channels
    return [_channel(project, row, spec) for row, spec in said.items() if spec.device == device]


def devices_of(project: Project, ports: Mapping[str, str] | None = None) -> list[Any]:
    """The devices of a project as actuators for `pliant.hardware.Loop`; nothing is opened.

    `ports` are serial ports by device, instead of those of the file.
    """
    from pliant.hardware import Guarded, driver

    hardware = hardware_of(project)
    out = []
    for name, spec in hardware.devices.items():
        with project.source.at("hardware", "devices", name):
            channels, options = channels_of(project, name), _options(spec, name, hardware.watchdog)
            options |= {"wire": ports[name]} if ports and name in ports else {}
            if spec.guard:
                out.append(Guarded(spec.driver, channels, silence=hardware.watchdog, **options))
            else:
                out.append(driver(spec.driver, channels, **options))
    return out


def _options(spec: DeviceSpec, name: str, watchdog: float) -> dict[str, Any]:
    options: dict[str, Any] = {"name": name}
    if spec.driver in ON_A_WIRE:
        if not isinstance(spec.port, str):
            raise InputError("port", expected="the name of a serial port", got=repr(spec.port))
        options |= {"wire": spec.port, "timeout": spec.timeout}
        options |= {} if spec.baud is None else {"baud": spec.baud}
    elif spec.driver == "osc":
        if spec.port is not None and not isinstance(spec.port, int):
            raise InputError("port", expected="the number of a UDP port", got=repr(spec.port))
        options |= {key: v for key in ("host", "port") if (v := getattr(spec, key)) is not None}
    if spec.driver not in ON_A_WIRE and spec.address is not None:
        options["address"] = spec.address
    return options | ({} if spec.driver == "pressure" else {"watchdog": watchdog})


def _channel(project: Project, row: str, spec: ChannelSpec) -> Channel:
    from pliant.hardware import Channel

    device = project.spec.hardware.devices[spec.device]  # type: ignore[union-attr]
    options: dict[str, Any] = {
        "zero": spec.zero,
        "sign": spec.sign,
        "quantity": spec.quantity,
        "limits": spec.limits,
        "rate": spec.rate,
        "safe": None if spec.safe == "hold" else spec.safe,
    }
    here = ("hardware", "channels", row)
    with project.source.at(*here):
        if spec.gain is not None:
            return Channel(row, spec.id, spec.gain, **options)
        if spec.spool_radius is not None:
            return Channel.spool(
                row, spec.id, radius=spec.spool_radius, counts_per_turn=spec.counts_per_turn, **options
            )
        if device.driver == "pressure":
            return Channel(row, spec.id, 1.0, **options)  # counts are pascals
        if device.driver not in ON_A_WIRE:
            return Channel(row, spec.id, 1e9, span=(-(2**62), 2**62), **options)  # messages carry SI values
        if project.robot.rows[row].interaction.unit == "rad" and spec.quantity == "displacement":
            return Channel.angle(row, spec.id, counts_per_turn=spec.counts_per_turn, **options)
    raise project.source.fault(here, expected="gain or spool_radius", got="neither")
