"""Dynamixel X-series servos, protocol 2, through ROBOTIS' dynamixel-sdk.

Counts are those of the servo, 4096 to a turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from pliant.errors import MissingExtraError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError
from pliant.hardware.wire import MOST_BYTES, OnAWire, Wire, clear

# Addresses of the X-series control table, and their sizes in bytes
OPERATING_MODE, TORQUE_ENABLE, HARDWARE_ERROR, BUS_WATCHDOG = (11, 1), (64, 1), (70, 1), (98, 1)
MAX_POSITION, MIN_POSITION, GOAL_POSITION, PRESENT_POSITION = (48, 4), (52, 4), (116, 4), (132, 4)
POSITION, TURN = 3, 4096  # one turn [counts], within limits that the servo keeps
EXTENDED_POSITION, FARTHEST = 4, 1_048_575  # several turns, since a spool makes them: up to 256 [counts]
WATCHDOG_UNIT = 0.02  # [s]
SLICE = 0.002  # [s] that one look at the wire may wait


class Dynamixel(OnAWire):
    """Servos on one bus.

    Where the soft limits of a channel are within one turn of the servo, 0 … 4095, it is told of them, and
    ignores goals beyond; for several turns a servo knows no limits.

    watchdog [s]: the servos' own Bus Watchdog; without an instruction for so long they stop where they are.
    `release`: the safe state switches the torque off; otherwise servos whose channel has a `safe` value go
    there, and the others hold.
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
        super().__init__(name, channels, wire, baud=baud, timeout=timeout, retries=retries)
        self.watchdog, self.release = watchdog, release
        self._port: WirePort | None = None
        self._present: dict[int, int] = {}
        self._limits: dict[int, tuple[int, int]] = {}  # of those that keep to them
        self._armed, self._looked = False, 0

    def open(self) -> None:
        """Every servo must answer without an error.

        Torque stays as it is, unless the servo was in another mode.
        """
        try:
            import dynamixel_sdk as sdk
        except ImportError as error:
            raise MissingExtraError("Dynamixel servos", "hardware") from error
        self._sdk, self._handler = sdk, sdk.Protocol2PacketHandler()
        self._port, self._armed = WirePort(self._plug_in(), self.timeout), False
        for channel in self.channels:
            servo = channel.id
            self._write(servo, BUS_WATCHDOG, 0)  # clears one that has bitten
            self._look(servo, needs_torque=False)
        self._present = self._positions()
        self._limits = {c.id: c.bounds for c in self.channels if self._in_one_turn(c)}
        for servo in self._present:
            mode = POSITION if servo in self._limits else EXTENDED_POSITION
            if self._read(servo, OPERATING_MODE) != mode:
                self._write(servo, TORQUE_ENABLE, 0)  # it takes no other mode under torque
                self._write(servo, OPERATING_MODE, mode)
        self._present = self._positions()

    def _in_one_turn(self, channel: Channel) -> bool:
        """Whether limits and servo are. A servo that stands elsewhere would forget by how many turns."""
        return all(0 <= n < TURN for n in (*channel.bounds, self._present[channel.id]))

    def _tell_limits(self, servo: int, place: int) -> None:
        """The limits, and where it stands if that is just outside: it would not take that for its goal.

        They are kept in memory that wears out, and cannot be written under torque: only if they are others.
        """
        low, high = self._limits[servo]
        limits = ((MIN_POSITION, min(low, place)), (MAX_POSITION, max(high, place)))
        if any(self._read(servo, address) != value for address, value in limits):
            self._write(servo, TORQUE_ENABLE, 0)
            for address, value in limits:
                self._write(servo, address, value)

    def arm(self) -> None:
        """Limits told, torque on, and the watchdog. None moves: the goal is where it is."""
        self._present = self._positions()
        for servo, place in self._present.items():
            if servo in self._limits:
                self._tell_limits(servo, place)
            self._write(servo, GOAL_POSITION, place)
            self._write(servo, TORQUE_ENABLE, 1)
        for servo in self._present:
            self._write(servo, BUS_WATCHDOG, min(max(1, math.ceil(self.watchdog / WATCHDOG_UNIT)), 127))
        self._armed = True

    def send(self, counts: Mapping[int, int]) -> None:
        """Send all goals in one packet, which has no answer; then read all positions and one status."""
        far = {i: n for i, n in counts.items() if abs(n) > FARTHEST}
        if far:  # a servo would ignore it, and nobody notice
            raise DeviceError(f"Servos of {self.name!r} go to ±{FARTHEST} counts, not to {far}.")
        with self._one:
            if not self._armed:
                self.arm()
            self._all(GOAL_POSITION, counts)
            self._present = self._positions()
            self._looked = (self._looked + 1) % len(self.channels)
            self._look(self.channels[self._looked].id, needs_torque=True)

    def counts(self) -> dict[int, int]:
        """Where the servos are."""
        with self._one:
            self._present = self._positions()
            return dict(self._present)

    def safe(self) -> None:
        """To all at once, which has no answer; then to each, until it answers.

        The Bus Watchdog would stop them on their way.
        """
        if self._port is None:
            return
        hold = self._present
        goals = {c.id: hold.get(c.id) if c.safe is None else c.safe_counts for c in self.channels}
        told = {i: n for i, n in goals.items() if n is not None}
        orders = [(BUS_WATCHDOG, dict.fromkeys(told, 0)), (GOAL_POSITION, told)]
        if self.release:
            orders = [(TORQUE_ENABLE, dict.fromkeys(goals, 0))]
        with self._one:
            for address, values in orders:
                with suppress(DeviceError):
                    self._all(address, values)
            for servo in goals:
                with suppress(
                    DeviceError
                ):  # lost: its Bus Watchdog stops it; the others still answer, perhaps
                    for address, values in orders:
                        if servo in values:
                            self._write(servo, address, values[servo])

    def _look(self, servo: int, *, needs_torque: bool) -> None:
        """Check that a servo reports no error and holds.

        One that was overloaded or restarted ignores its goals without a word.
        """
        at, size = TORQUE_ENABLE[0], HARDWARE_ERROR[0] + 1 - TORQUE_ENABLE[0]
        said = self._again(lambda: self._handler.readTxRx(self._ready(), servo, at, size), f"servo {servo}")
        if said[-1]:
            raise DeviceError(f"Servo {servo} of {self.name!r} reports hardware error {said[-1]:#04x}.")
        if needs_torque and not said[0]:
            raise DeviceError(f"Servo {servo} of {self.name!r} has no torque: was it restarted?")

    def _all(self, address: tuple[int, int], values: Mapping[int, int]) -> None:
        """One packet for all, without answers."""
        group = self._sdk.GroupSyncWrite(self._ready(), self._handler, *address)
        for servo, value in values.items():
            group.addParam(servo, list(int(value).to_bytes(address[1], "little", signed=True)))
        self._check(group.txPacket(), 0, "all servos")

    def _positions(self) -> dict[int, int]:
        group = self._sdk.GroupSyncRead(self._ready(), self._handler, *PRESENT_POSITION)
        for channel in self.channels:
            group.addParam(channel.id)

        def read() -> tuple[dict[int, int], int, int]:
            result = group.txRxPacket()
            positions = {}
            for channel in self.channels:
                if group.isAvailable(channel.id, *PRESENT_POSITION):
                    positions[channel.id] = _signed(group.getData(channel.id, *PRESENT_POSITION))
                else:
                    result = result or self._sdk.COMM_RX_TIMEOUT
            return positions, result, 0

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
        for _ in self._attempts():
            try:
                value, result, error = ask()
            except IndexError:  # the SDK believes in the length that an answer should have
                value, result, error = None, self._sdk.COMM_RX_CORRUPT, 0
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
    """A wire as the SDK's port.

    Time is what its reads wait; a bus that babbles is not listened to for longer.
    """

    def __init__(self, wire: Wire, timeout: float) -> None:
        self.wire, self.timeout, self.is_using = wire, timeout, False
        self._buffer, self._left, self._end, self._room = bytearray(), 0.0, 0.0, MOST_BYTES

    def clearPort(self) -> None:
        """Forget what came in."""
        clear(self.wire)
        self._buffer.clear()

    def readPort(self, length: int) -> bytes:
        """At most `length` bytes."""
        if len(self._buffer) < length and not self.isPacketTimeout():
            data = self.wire.read(SLICE)
            self._buffer += data
            self._room -= len(data)
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
        self.setPacketTimeoutMillis(1e3 * self.timeout)

    def setPacketTimeoutMillis(self, msec: float) -> None:
        """Begin to wait for so long."""
        self._left, self._room = 1e-3 * msec, MOST_BYTES
        self._end = (
            monotonic() + 2.0 * self._left
        )  # twice: a machine that stalls has not been answered too late

    def isPacketTimeout(self) -> bool:
        """Whether it has waited long enough."""
        return self._left <= 0.0 or self._room <= 0 or monotonic() > self._end

    def getBaudRate(self) -> int:
        """What the SDK reckons waiting times with; ours are given."""
        return 57600


def _signed(value: int) -> int:
    return value - 2**32 if value >= 2**31 else value
