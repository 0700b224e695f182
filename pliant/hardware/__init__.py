"""Real robots: a fixed-rate loop, drivers and sensors, emulators.

loop = pl.hardware.Loop(session, [SerialLine("/dev/ttyACM0", channels)], rate=50)
print(loop.run(seconds=60))
"""

from typing import TYPE_CHECKING

from pliant.hardware.channel import Channel
from pliant.hardware.closed import ClosedLoop
from pliant.hardware.device import Actuator, DeviceError, Feedback, Reading, Sensor, zero
from pliant.hardware.drivers import DRIVERS, driver
from pliant.hardware.follow import Follower
from pliant.hardware.guard import Guarded
from pliant.hardware.loop import Loop
from pliant.hardware.output import Output
from pliant.hardware.replay import Replayed, replay
from pliant.hardware.report import LoopReport
from pliant.hardware.sensors import Counts, Markers
from pliant.hardware.serial_line import SerialLine
from pliant.hardware.stop import Keyboard, Signals, Stop, studio_stop
from pliant.lazy import lazy

if TYPE_CHECKING:
    from pliant.hardware.dynamixel import Dynamixel
    from pliant.hardware.publisher import Osc, Ros2, Zenoh
    from pliant.hardware.regulator import RegulatorBus
else:
    __getattr__ = lazy(
        __name__,
        {
            "Dynamixel": "pliant.hardware.dynamixel",
            "RegulatorBus": "pliant.hardware.regulator",
            **dict.fromkeys(("Osc", "Ros2", "Zenoh"), "pliant.hardware.publisher"),
        },
    )

__all__ = [
    "DRIVERS",
    "Actuator",
    "Channel",
    "ClosedLoop",
    "Counts",
    "DeviceError",
    "Dynamixel",
    "Feedback",
    "Follower",
    "Guarded",
    "Keyboard",
    "Loop",
    "LoopReport",
    "Markers",
    "Osc",
    "Output",
    "Reading",
    "RegulatorBus",
    "Replayed",
    "Ros2",
    "Sensor",
    "SerialLine",
    "Signals",
    "Stop",
    "Zenoh",
    "driver",
    "replay",
    "studio_stop",
    "zero",
]
