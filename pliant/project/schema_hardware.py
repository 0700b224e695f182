"""The [hardware] table of a project file: devices, and which row drives which of their channels."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pliant.project.kinds import (
    Bound,
    Count,
    Flag,
    NotNegativeTime,
    Number,
    Part,
    Positive,
    Range,
    Sign,
    Word,
)

INF = float("inf")


class DeviceSpec(Part):
    """A device: which driver, and where it is."""

    driver: Literal["serial", "dynamixel", "pressure", "osc", "zenoh", "ros2"]
    port: Word | Annotated[Count, Field(le=65535)] | None = None
    baud: Annotated[Count, Field(ge=300)] | None = None
    host: Word | None = None
    address: Word | None = None
    timeout: Positive = 0.05
    guard: Flag = False
    lag: NotNegativeTime = 0.0  # of what answers in its place with --emulate


class ChannelSpec(Part):
    """counts = zero + sign · gain · value, within soft limits; see `pliant.hardware.Channel`."""

    device: Word
    id: Count
    quantity: Literal["displacement", "effort"] = "displacement"
    gain: Positive | None = None
    spool_radius: Positive | None = None
    counts_per_turn: Positive = 4096.0
    sign: Sign = 1
    zero: Number = 0.0
    limits: Range = (-INF, INF)
    rate: Annotated[Bound, Field(gt=0)] = INF
    safe: Number | Literal["hold"] = "hold"


class HardwareSpec(Part):
    """Rate [1/s] of the loop, watchdog [s], devices and channels."""

    rate: Positive = 50.0
    watchdog: Positive = 0.2
    devices: Annotated[dict[str, DeviceSpec], Field(min_length=1)]
    channels: Annotated[dict[str, ChannelSpec], Field(min_length=1)]
