"""Emulators: devices in software that watch the wire, for tests, dry runs and demonstrations."""

from pliant.hardware.emulators.dynamixel import DynamixelBus
from pliant.hardware.emulators.microcontroller import Microcontroller
from pliant.hardware.emulators.regulator import Regulators
from pliant.hardware.emulators.terminal import Terminal
from pliant.hardware.emulators.wire import EmulatedWire, FakeClock

__all__ = ["DynamixelBus", "EmulatedWire", "FakeClock", "Microcontroller", "Regulators", "Terminal"]
