"""Dynamixel X-series servos on one bus, protocol 2: what of it a robot needs."""

from __future__ import annotations

from collections.abc import Iterable

from pliant.drive import Drive
from pliant.hardware.emulators.following import Following

HEADER = b"\xff\xff\xfd\x00"
PING, READ, WRITE, SYNC_READ, SYNC_WRITE, STATUS = 1, 2, 3, 0x82, 0x83, 0x55
BROADCAST = 0xFE
RESULT_FAIL, INSTRUCTION_ERROR, CRC_ERROR, RANGE_ERROR, LIMIT_ERROR, ACCESS_ERROR = 1, 2, 3, 4, 6, 7
MODE, MAX, MIN, TORQUE, WATCHDOG, GOAL, PRESENT = 11, 48, 52, 64, 98, 116, 132
POSITION, TURN = 3, 4096  # the mode of one turn, in which limits count
BITTEN = 0xFF  # what the Bus Watchdog reads after it has stopped a servo


def crc16(data: bytes) -> int:
    """CRC-16 with polynomial 0x8005, most significant bit first."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def packet(servo: int, instruction: int, parameters: bytes) -> bytes:
    """A whole packet, stuffed."""
    inside = (bytes([instruction]) + parameters).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    head = HEADER + bytes([servo]) + (len(inside) + 2).to_bytes(2, "little")
    return head + inside + crc16(head + inside).to_bytes(2, "little")


class DynamixelBus:
    """Servos by id, each with its control `table`; `goals` are all that were accepted (time, id, counts).

    `table` is the control table of each, `goals` all goals that were accepted (time, id, counts). drive: how
    they follow, in counts; by default they are there at once.
    """

    def __init__(self, ids: Iterable[int] = (1, 2, 3, 4), *, drive: Drive | None = None) -> None:
        self.table = {i: bytearray(147) for i in ids}
        for table in self.table.values():
            table[MAX : MAX + 4] = (TURN - 1).to_bytes(4, "little")
        self._motors = Following(drive, dict.fromkeys(self.table, 0))
        self.goals: list[tuple[float, int, int]] = []
        self.heard = 0.0
        self._buffer = bytearray()

    def get(self, servo: int, address: int, size: int = 4) -> int:
        """A value of the control table."""
        return int.from_bytes(self.table[servo][address : address + size], "little", signed=size == 4)

    def moving_allowed(self, servo: int) -> bool:
        """Torque is on and the watchdog has not bitten."""
        return self.get(servo, TORQUE, 1) == 1 and self.get(servo, WATCHDOG, 1) != BITTEN

    def tick(self, now: float) -> None:
        """The Bus Watchdog stops servos that hear nothing, and servos go on."""
        self._follow(now)
        for servo, table in self.table.items():
            limit = table[WATCHDOG]
            if 0 < limit < 128 and now - self.heard > 0.02 * limit:
                table[WATCHDOG] = BITTEN
                table[GOAL : GOAL + 4] = table[PRESENT : PRESENT + 4]
                self._motors.put({servo: self.get(servo, PRESENT)})

    def _follow(self, now: float) -> None:
        if self._motors.drive is None:
            return
        for servo, place in self._motors.places(now).items():
            self.table[servo][PRESENT : PRESENT + 4] = place.to_bytes(4, "little", signed=True)

    def feed(self, data: bytes, now: float) -> bytes:
        """Answers to the whole packets among the bytes; damaged ones have none."""
        self.tick(now)
        self._buffer += data
        out = b""
        while True:
            start = self._buffer.find(HEADER)
            if start < 0:
                del self._buffer[:-3]
                return out
            del self._buffer[:start]
            if len(self._buffer) < 7:
                return out
            length = int.from_bytes(self._buffer[5:7], "little")
            if not 3 <= length <= 512:
                del self._buffer[:4]
                continue
            if len(self._buffer) < 7 + length:
                return out
            whole = bytes(self._buffer[: 7 + length])
            if crc16(whole[:-2]) != int.from_bytes(whole[-2:], "little"):
                del self._buffer[:4]  # perhaps a whole packet begins within
                continue
            del self._buffer[: 7 + length]
            self.heard = now
            inside = whole[7:-2].replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
            out += self._do(whole[4], inside[0], inside[1:], now)

    def _do(self, servo: int, instruction: int, data: bytes, now: float) -> bytes:
        if servo == BROADCAST and instruction in (SYNC_READ, SYNC_WRITE) and len(data) >= 4:
            address, size = int.from_bytes(data[:2], "little"), int.from_bytes(data[2:4], "little")
            if instruction == SYNC_READ:
                return b"".join(self._read(i, address, size) for i in data[4:] if i in self.table)
            for k in range(4, len(data) - size, size + 1):
                if data[k] in self.table:
                    self._write(data[k], address, data[k + 1 : k + 1 + size], now)
            return b""
        if servo not in self.table:
            return b""
        if instruction == PING:
            return packet(servo, STATUS, b"\x00\x24\x04\x30")
        if instruction == READ and len(data) == 4:
            return self._read(servo, int.from_bytes(data[:2], "little"), int.from_bytes(data[2:], "little"))
        if instruction == WRITE and len(data) > 2:
            return packet(
                servo, STATUS, bytes([self._write(servo, int.from_bytes(data[:2], "little"), data[2:], now)])
            )
        return packet(servo, STATUS, bytes([INSTRUCTION_ERROR]))

    def _read(self, servo: int, address: int, size: int) -> bytes:
        return packet(servo, STATUS, b"\x00" + bytes(self.table[servo][address : address + size]))

    def _write(self, servo: int, address: int, data: bytes, now: float) -> int:
        """The error, 0 if there is none."""
        table = self.table[servo]
        if address == WATCHDOG and len(data) == 1:
            if data[0] > 127 or (table[WATCHDOG] == BITTEN and data[0] != 0):
                return RANGE_ERROR
        elif address < TORQUE and table[TORQUE]:  # what it keeps when it is switched off
            return ACCESS_ERROR
        elif address == MODE and data[0] == POSITION:
            place = self.get(servo, PRESENT) % TURN  # it knows no other turns
            table[PRESENT : PRESENT + 4] = place.to_bytes(4, "little")
            self._motors.put({servo: place})
        elif address in (MIN, MAX) and not 0 <= int.from_bytes(data, "little") < TURN:
            return RANGE_ERROR
        elif address == GOAL:
            if table[WATCHDOG] == BITTEN or len(data) != 4:
                return ACCESS_ERROR
            goal = int.from_bytes(data, "little", signed=True)
            if table[MODE] == POSITION and not self.get(servo, MIN) <= goal <= self.get(servo, MAX):
                return LIMIT_ERROR
            self.goals.append((now, servo, goal))
            if table[TORQUE]:
                self._motors.ask({servo: goal}, now)
                if self._motors.drive is None:
                    table[PRESENT : PRESENT + 4] = data  # as fast as that
        elif address + len(data) > len(table):
            return RANGE_ERROR
        table[address : address + len(data)] = data
        return 0
