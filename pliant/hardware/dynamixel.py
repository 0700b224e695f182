"""Dynamixel X-series servos, protocol 2, through ROBOTIS' dynamixel-sdk. Counts are those of the servo, 4096 to a turn."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pliant.errors import MissingExtraError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError, checked_channels
from pliant.hardware.wire import SerialWire, Wire

# Addresses of the X-series control table, and their sizes in bytes
OPERATING_MODE, TORQUE_ENABLE, HARDWARE_ERROR, BUS_WATCHDOG = (11, 1), (64, 1), (70, 1), (98, 1)
GOAL_POSITION, PRESENT_POSITION = (116, 4), (132, 4)
EXTENDED_POSITION = 4  # several turns: a spool makes them
WATCHDOG_UNIT = 0.02  # [s]
SLICE = 0.002  # [s] that one look at the wire may wait


class Dynamixel:
    """Servos on one bus.

    watchdog [s]: the servos' own Bus Watchdog; without an instruction for so long they stop where they are. `release`: the safe state
    switches the torque off; otherwise servos whose channel has a `safe` value go there, and the others hold.
    """

    def __init__(
        self,
        wire: Wire | str,
        channels: Sequence[Channel],
        *,
        baud: int = 57600,
        watchdog: float = 0.2,
        timeout: float = 0.05,
        retries: int = 2,
        release: bool = False,
        name: str = "dynamixel",
    ) -> None:
        self.name, self.channels = name, checked_channels(name, channels)
        self.watchdog, self.timeout, self.retries = watchdog, timeout, retries
        self.release, self._baud, self._given = release, baud, wire
        self._wire: Wire | None = None if isinstance(wire, str) else wire
        self._port: Any = None
        self._present: dict[int, int] = {}
        self.repeated = 0
        self._one = threading.RLock()  # an emergency stop comes from another thread

    def open(self) -> None:
        """Every servo must answer without an error. None moves: the goal is where it is."""
        try:
            import dynamixel_sdk as sdk
        except ImportError as error:
            raise MissingExtraError("Dynamixel servos", "hardware") from error
        if isinstance(self._given, str):
            self._wire = SerialWire(self._given, self._baud)
        assert self._wire is not None
        self._sdk, self._port = sdk, WirePort(self._wire, self.timeout)
        self._handler = sdk.Protocol2PacketHandler()
        ids = [c.id for c in self.channels]
        for servo in ids:
            self._write(servo, BUS_WATCHDOG, 0)  # clears one that has bitten
            error = self._read(servo, HARDWARE_ERROR)
            if error:
                raise DeviceError(f"Servo {servo} of {self.name!r} reports hardware error {error:#04x}.")
            self._write(servo, TORQUE_ENABLE, 0)
            self._write(servo, OPERATING_MODE, EXTENDED_POSITION)
        self._present = self._positions()
        for servo in ids:
            self._write(servo, GOAL_POSITION, self._present[servo])
            self._write(servo, TORQUE_ENABLE, 1)
            self._write(servo, BUS_WATCHDOG, min(max(1, math.ceil(self.watchdog / WATCHDOG_UNIT)), 127))

    def send(self, counts: Mapping[int, int]) -> None:
        """Goals of all servos in one packet, which has no answer; then all must tell where they are."""
        with self._one:
            self._goals(counts)
            self._present = self._positions()

    def counts(self) -> dict[int, int]:
        """Where the servos are."""
        with self._one:
            self._present = self._positions()
            return dict(self._present)

    def safe(self) -> None:
        with self._one:
            self._retreat()

    def _retreat(self) -> None:
        try:
            if self.release:
                for channel in self.channels:
                    self._write(channel.id, TORQUE_ENABLE, 0)
                return
            hold = dict(self._present)
            with suppress(DeviceError):  # if one does not answer, the others hold where they were last
                hold = self._positions()
            goals = {c.id: hold.get(c.id) if c.safe is None else c.safe_counts for c in self.channels}
            self._goals({i: n for i, n in goals.items() if n is not None})
        except DeviceError:
            return  # lost: the servos' Bus Watchdog stops them

    def close(self) -> None:
        if self._wire is not None:
            self._wire.close()

    def _goals(self, counts: Mapping[int, int]) -> None:
        group = self._sdk.GroupSyncWrite(self._ready(), self._handler, *GOAL_POSITION)
        for servo, goal in counts.items():
            group.addParam(servo, list(int(goal).to_bytes(4, "little", signed=True)))
        self._check(group.txPacket(), 0, "all servos")

    def _positions(self) -> dict[int, int]:
        group = self._sdk.GroupSyncRead(self._ready(), self._handler, *PRESENT_POSITION)
        for channel in self.channels:
            group.addParam(channel.id)

        def read() -> tuple[dict[int, int], int, int]:
            result = group.txRxPacket()
            found = {}
            for channel in self.channels:
                if group.isAvailable(channel.id, *PRESENT_POSITION):
                    found[channel.id] = _signed(group.getData(channel.id, *PRESENT_POSITION))
                else:
                    result = result or self._sdk.COMM_RX_TIMEOUT
            return found, result, 0

        return self._again(read, "the servos")

    def _read(self, servo: int, address: tuple[int, int]) -> int:
        at, size = address
        call = {1: self._handler.read1ByteTxRx, 4: self._handler.read4ByteTxRx}[size]
        return self._again(lambda: call(self._ready(), servo, at), f"servo {servo}")

    def _write(self, servo: int, address: tuple[int, int], value: int) -> None:
        at, size = address
        call = {1: self._handler.write1ByteTxRx, 4: self._handler.write4ByteTxRx}[size]
        self._again(
            lambda: (None, *call(self._ready(), servo, at, value & (256**size - 1))), f"servo {servo}"
        )

    def _ready(self) -> WirePort:
        if self._port is None:
            raise DeviceError(f"Device {self.name!r} is not open.")
        self._port.is_using = False  # the SDK leaves it set when an exception passed through
        return self._port

    def _again(self, ask: Callable[[], tuple[Any, int, int]], who: str) -> Any:
        """Ask until it is answered."""
        result = error = 0
        for attempt in range(self.retries + 1):
            self.repeated += attempt > 0
            value, result, error = ask()
            if result == self._sdk.COMM_SUCCESS and not error & 0x7F:  # bit 7: an alert, see HARDWARE_ERROR
                return value
        return self._check(result, error, who)

    def _check(self, result: int, error: int, who: str) -> None:
        if result != self._sdk.COMM_SUCCESS:
            said = self._handler.getTxRxResult(result).removeprefix("[TxRxResult] ")
            raise DeviceError(f"{who[0].upper()}{who[1:]} of {self.name!r}: {said}")
        if error & 0x7F:
            said = self._handler.getRxPacketError(error).removeprefix("[RxPacketError] ")
            raise DeviceError(f"{who[0].upper()}{who[1:]} of {self.name!r}: {said}")


class WirePort:
    """A wire as the SDK's port. Time is what its reads wait: no clock."""

    def __init__(self, wire: Wire, timeout: float) -> None:
        self.wire, self.timeout, self.is_using = wire, timeout, False
        self._buffer, self._left = bytearray(), 0.0

    def clearPort(self) -> None:
        """Forget what came in."""
        while self.wire.read(0.0):
            pass
        self._buffer.clear()

    def readPort(self, length: int) -> bytes:
        """At most `length` bytes."""
        if len(self._buffer) < length:
            data = self.wire.read(SLICE)
            self._buffer += data
            if not data:
                self._left -= SLICE
        out = bytes(self._buffer[:length])
        del self._buffer[:length]
        return out

    def writePort(self, packet: Sequence[int]) -> int:
        """How many bytes were sent: all."""
        self.wire.write(bytes(packet))
        return len(packet)

    def setPacketTimeout(self, packet_length: int) -> None:
        """Begin to wait for an answer."""
        self._left = self.timeout

    def setPacketTimeoutMillis(self, msec: float) -> None:
        """Begin to wait for so long."""
        self._left = 1e-3 * msec

    def isPacketTimeout(self) -> bool:
        """Whether it has waited long enough."""
        return self._left <= 0.0

    def getBaudRate(self) -> int:
        """What the SDK reckons waiting times with; ours are given."""
        return 57600


def _signed(value: int) -> int:
    return value - 2**32 if value >= 2**31 else value
