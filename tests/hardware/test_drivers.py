"""Channels and drivers against emulators that watch the wire: corrupted, delayed and missing answers."""

from __future__ import annotations

import math
import random
import socket
import sys
import types
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.drive import Drive
from pliant.errors import InputError
from pliant.hardware import (
    Actuator,
    Channel,
    Counts,
    DeviceError,
    Dynamixel,
    Feedback,
    Markers,
    Osc,
    RegulatorBus,
    Ros2,
    Sensor,
    SerialLine,
    Zenoh,
    driver,
    zero,
)
from pliant.hardware.emulators import (
    DynamixelBus,
    EmulatedWire,
    FakeClock,
    Microcontroller,
    Regulators,
    Terminal,
)
from pliant.hardware.emulators.dynamixel import (
    BITTEN,
    GOAL,
    MAX,
    MIN,
    MODE,
    PRESENT,
    TORQUE,
    WATCHDOG,
    crc16,
    packet,
)
from pliant.hardware.lineprotocol import LONGEST_LINE, Line, Splitter, decoded, pairs

PULL = (
    Channel.spool("cable 1", 1, radius=0.01, safe=0.0, limits=(-0.02, 0.02)),
    Channel.spool("cable 2", 2, radius=0.01, sign=-1),
)


def serial_line(device: Microcontroller | None = None, **options):
    """A driver, its wire and the device at the other end."""
    device, clock = device or Microcontroller(), FakeClock()
    wire = EmulatedWire(device, clock)
    return SerialLine(wire, PULL, **options), wire, device


# Channels


@given(
    st.floats(1e-2, 1e6),
    st.floats(-1e4, 1e4),
    st.sampled_from([1, -1]),
    st.floats(-1.0, 1.0),
)
def test_counts_and_values_are_inverse_to_half_a_count(gain, zero, sign, value):
    channel = Channel("x", 0, gain, zero=zero, sign=sign)
    assert abs(channel.value(channel.counts(value)) - value) <= 0.5000001 / gain


def test_what_counts_mean():
    spool = Channel.spool("cable", 1, radius=0.01, counts_per_turn=4096, zero=2048, sign=-1)
    assert spool.counts(2 * math.pi * 0.01) == 2048 - 4096  # one turn
    motor = Channel.angle("motor", 1, counts_per_turn=4096)
    assert motor.counts(math.pi / 2) == 1024
    valve = Channel.valve("chamber", 0, full_scale=1e5, counts=(200, 4095))
    assert (valve.counts(0.0), valve.counts(1e5), valve.quantity) == (200, 4095, "effort")
    assert valve.counts(2e5) == 4095 and valve.safe_counts == 200
    again = spool.zeroed(3000, 0.005)
    assert again.counts(0.005) == 3000 and again.gain == spool.gain
    for wrong in [{"gain": 0.0}, {"gain": math.nan}, {"gain": 1.0, "sign": 0}, {"gain": 1.0, "rate": 0.0}]:
        with pytest.raises(InputError):
            Channel("x", 0, **wrong)
    with pytest.raises(InputError, match="safe"):
        Channel("x", 0, 1.0, limits=(0, 1), safe=2.0)


# The line protocol


@given(st.integers(0, 65535), st.sampled_from("ISQZ"), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=8))
def test_a_line_comes_back(sequence, verb, numbers):
    line = Line(sequence, verb, tuple(f"{k}:{n}" for k, n in enumerate(numbers)))
    raw = line.encoded()
    assert decoded(raw[1:-1]) == line
    assert Splitter().feed(b"noise$12 S" + raw + b"\n$") == [line]
    assert pairs(line.arguments) == dict(enumerate(numbers))


def test_the_checksum_is_the_usual_crc32():
    assert Line(17, "S", ("1:2048", "2:1900")).encoded() == b"$17 S 1:2048 2:1900*%08X\n" % zlib.crc32(
        b"17 S 1:2048 2:1900"
    )


def mangled(rng: random.Random, frame: bytes) -> bytes:
    """Bits flipped, bytes lost, doubled, swapped, replaced, lines cut or spliced into one another."""
    data = bytearray(frame)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        at = rng.randrange(len(data)) if data else 0
        match rng.randrange(7):
            case 0 if data:
                data[at] ^= 1 << rng.randrange(8)
            case 1 if data:
                del data[at]
            case 2:
                data.insert(at, rng.randrange(256))
            case 3 if len(data) > 2:
                data[at : at + 2] = bytes(reversed(data[at : at + 2]))
            case 4:
                data[at:] = b""
            case 5:
                data[at:at] = data[: rng.randrange(len(data) + 1)]
            case _ if data:
                data[at] = rng.choice(b"0123456789:-*$ \nSZG")
    return bytes(data)


def test_ten_thousand_corrupted_frames_no_wrong_command():
    """Whatever the device accepts was sent exactly so; it survives everything else, and still works."""
    rng = random.Random(1)
    device = Microcontroller(range(8))
    for line in [Line(1, "W", ("10000",)), Line(2, "G")]:
        assert device.feed(line.encoded(), 0.0)
    sent, whole = set(), 0
    for k in range(10_000):
        counts = {i: rng.randrange(-(2**20), 2**20) for i in rng.sample(range(8), rng.randint(1, 8))}
        line = Line(k % 65536, "S", tuple(f"{i}:{n}" for i, n in counts.items()))
        sent.add(tuple(sorted(counts.items())))
        frame = line.encoded()
        damaged = mangled(rng, frame) if k % 10 else bytes(rng.randbytes(rng.randint(1, 300)))
        whole += frame.rstrip(b"\n") in damaged
        device.feed(damaged, 1e-6 * k)
    device.feed(b"\n", 0.1)
    accepted = [tuple(sorted(counts.items())) for _, counts in device.accepted]
    assert set(accepted) <= sent
    assert len(accepted) <= whole + 1 and device.damaged > 5000
    answer = device.feed(Line(7, "S", ("0:5",)).encoded(), 0.1)
    assert device.position[0] == 5 and Splitter().feed(answer) == [Line(7, "A")]


def test_ten_thousand_corrupted_answers_no_crash():
    """The driver's side: noise as answers is no answer."""
    rng, splitter = random.Random(2), Splitter()
    good = Line(3, "R", ("1:100", "2:-5")).encoded()
    lines = [line for _ in range(10_000) for line in splitter.feed(mangled(rng, good))]
    assert set(lines) <= {Line(3, "R", ("1:100", "2:-5"))}
    assert decoded(b"1 S " + b"1:1 " * LONGEST_LINE) is None


# A microcontroller on the line


def test_a_device_is_armed_declared_and_driven():
    drive, _, device = serial_line(watchdog=0.25)
    assert isinstance(drive, Actuator) and isinstance(drive, Feedback)
    with pytest.raises(DeviceError, match="not open"):
        SerialLine("COM9", PULL).send({1: 1})
    drive.open()
    assert device.state == "idle" and device.watchdog == 0.25  # the watchdog does not run yet
    assert device.safe_position[1] == 0 and device.safe_position[2] is None
    drive.arm()
    assert device.state == "armed"
    drive.send({1: 100, 2: -50})
    assert drive.counts() == {1: 100, 2: -50, 3: 0, 4: 0}
    reading = Counts(drive, clock=FakeClock()).read()
    assert reading is not None
    assert reading.values["cable 2"] == pytest.approx(50 * 2 * math.pi * 0.01 / 4096)
    drive.safe()
    assert device.state == "safe" and device.position[1] == 0 and device.position[2] == -50
    with pytest.raises(DeviceError, match="refuses S: safe"):
        drive.send({1: 7})
    assert device.position[1] == 0


def test_zeroing_takes_where_the_device_is():
    drive, _, device = serial_line()
    device.position |= {1: 700, 2: -30}
    first, second = zero(drive, {"cable 2": 0.01})
    assert first.counts(0.0) == 700 and second.counts(0.01) == -30 and drive.channels == (first, second)
    assert not device.accepted and device.position[1] == 700  # nothing moved
    with pytest.raises(InputError, match="cable"):
        zero(drive, {"cabel 1": 0.0})


def test_lost_and_corrupted_answers_are_asked_for_again():
    drive, wire, device = serial_line()
    drive.open()
    rng = random.Random(3)
    wire.back = lambda data: mangled(rng, data) if rng.random() < 0.3 else b"" if rng.random() < 0.2 else data
    wire.out = lambda data: mangled(rng, data) if rng.random() < 0.2 else data
    done = lost = 0
    for k in range(400):
        try:
            drive.send({1: k})
            done += 1
            assert device.position[1] == k  # what was acknowledged has been done
        except DeviceError:
            lost += 1
    assert done > 300 and drive.repeated > 50
    assert {n for _, counts in device.accepted for n in counts.values()} <= set(range(400))


def test_a_late_answer_to_another_request_does_not_count():
    drive, wire, device = serial_line(timeout=0.02, retries=1)
    drive.open()
    wire.delay = 0.03  # every answer comes after its request was given up
    with pytest.raises(DeviceError, match="does not answer"):
        for k in range(5):
            drive.send({1: k})
    wire.delay = 0.0
    drive.counts()
    assert drive.counts()[1] == device.position[1]


def test_a_device_that_is_silent_or_another_is_refused():
    drive, wire, _ = serial_line()
    wire.out = lambda data: b""
    with pytest.raises(DeviceError, match="does not answer"):
        drive.open()
    drive, _, _ = serial_line(Microcontroller([1]))
    with pytest.raises(DeviceError, match=r"has channels \[1\], not \[2\]"):
        drive.open()
    drive, wire, _ = serial_line()
    drive.open()
    wire.cut = True
    with pytest.raises(DeviceError, match="cut"):
        drive.send({1: 1})
    drive.safe()  # does not raise


def test_the_device_goes_to_its_safe_state_by_itself():
    drive, wire, device = serial_line(watchdog=0.1)
    drive.open()
    drive.send({1: 500, 2: 300})
    device.tick(wire.clock.now() + 0.09)
    assert device.position[1] == 500
    device.tick(wire.clock.now() + 0.11)
    assert device.state == "safe" and device.position == {1: 0, 2: 300, 3: 0, 4: 0}


def test_counts_out_of_range_are_refused_whole():
    channels = (Channel.valve("chamber", 1, full_scale=1e5), PULL[1])
    device, clock = Microcontroller(), FakeClock()
    drive = SerialLine(EmulatedWire(device, clock), channels)
    drive.open()
    with pytest.raises(DeviceError, match="range"):
        drive.send({2: 10, 1: 9999})
    assert device.position[2] == 0 and not device.accepted


def test_over_a_real_terminal():
    device = Microcontroller()
    with Terminal(device) as terminal:
        drive = SerialLine(terminal.port, PULL, timeout=20.0, watchdog=10.0)
        drive.open()
        for k in range(20):
            drive.send({1: k, 2: -k})
        assert drive.counts()[1] == 19
        drive.close()
    with pytest.raises(DeviceError):
        drive.send({1: 0})
    with pytest.raises(DeviceError, match="cannot be opened"):
        SerialLine("no-such-port", PULL).open()


# Dynamixel


def servos(**options):
    device, clock = DynamixelBus((1, 2)), FakeClock()
    for servo, place in ((1, 700), (2, -40)):
        device.table[servo][PRESENT : PRESENT + 4] = place.to_bytes(4, "little", signed=True)
    wire = EmulatedWire(device, clock)
    return Dynamixel(wire, PULL, **options), wire, device


def test_a_packet_of_the_manual():
    """Ping of servo 1, and its answer, as ROBOTIS' protocol page prints them."""
    assert packet(1, 1, b"") == bytes.fromhex("FFFFFD000103 00 01 19 4E".replace(" ", ""))
    assert crc16(bytes.fromhex("FFFFFD000107005500060426")) == 0x5D65


def test_servos_are_armed_where_they_are_and_driven():
    drive, _, device = servos(watchdog=0.1)
    assert isinstance(drive, Actuator) and isinstance(drive, Feedback)
    drive.open()
    assert not device.goals and device.get(1, TORQUE, 1) == 0
    drive.arm()
    assert {goal for _, _, goal in device.goals} == {700, -40}  # nothing moves when it is armed
    assert device.get(1, TORQUE, 1) == 1 and device.get(1, WATCHDOG, 1) == 5
    drive.send({1: 1500, 2: -70_000})
    assert device.get(1, GOAL) == 1500 and device.get(2, GOAL) == -70_000
    assert drive.counts() == {1: 1500, 2: -70_000}
    drive.safe()  # channel 1 has a safe value, 2 holds
    assert device.get(1, GOAL) == 0 and device.get(2, GOAL) == -70_000
    assert device.get(1, WATCHDOG, 1) == 0  # it would stop it on its way there
    release, _, device = servos(release=True)
    release.open()
    release.safe()
    assert device.get(1, TORQUE, 1) == 0


def test_bytes_that_look_like_a_header_are_stuffed():
    drive, _, device = servos()
    drive.open()
    goal = int.from_bytes(b"\xff\xff\xfd\xff", "little", signed=True)
    drive.send({1: goal, 2: 0})
    assert device.get(1, GOAL) == goal and drive.counts()[1] == goal


def test_servos_that_do_not_answer():
    drive, wire, device = servos()
    drive.open()
    rng = random.Random(4)
    wire.back = lambda data: mangled(rng, data) if rng.random() < 0.3 else data
    done = 0
    for k in range(100):
        try:
            drive.send({1: k, 2: k})
            done += 1
            assert device.get(1, GOAL) == k
        except DeviceError:
            pass
    assert done > 60 and drive.repeated > 5
    wire.back = lambda data: b""
    with pytest.raises(DeviceError, match=r"[Nn]o status packet"):
        drive.send({1: 1, 2: 1})
    wire.cut = True
    with pytest.raises(DeviceError, match="cut"):
        drive.send({1: 1, 2: 1})
    drive.safe()


def test_late_answers_of_servos_and_regulators_are_not_taken_for_others():
    drive, wire, _ = servos(timeout=0.05, retries=0)
    drive.open()
    wire.delay = 0.06
    with pytest.raises(DeviceError, match=r"[Nn]o status packet"):
        drive.send({1: 10, 2: 10})
    wire.delay = 0.0
    drive.send({1: 20, 2: -20})
    assert drive.counts() == {1: 20, 2: -20}
    pressure, wire, gauge = regulators(retries=0)
    pressure.open()
    wire.delay = 0.06
    with pytest.raises(DeviceError, match="does not answer"):
        pressure.send({0: 10_000})
    wire.clock.advance(0.1)  # the answer is there now, and no longer wanted
    wire.delay = 0.0
    pressure.send({0: 20_000})
    assert pressure.counts()[0] == 20_000 and gauge.set_point["A"] == 20.0


def test_corrupted_packets_are_no_commands():
    rng, device = random.Random(5), DynamixelBus((1, 2))
    device.table[1][TORQUE] = 1
    frame = packet(1, 3, GOAL.to_bytes(2, "little") + (1234).to_bytes(4, "little"))
    for _ in range(10_000):
        device.feed(mangled(rng, frame), 0.0)
    assert {goal for _, _, goal in device.goals} <= {1234}


def test_the_bus_watchdog_stops_servos():
    drive, wire, device = servos(watchdog=0.1)
    drive.open()
    drive.send({1: 800, 2: 0})
    device.tick(wire.clock.now() + 0.2)
    assert device.get(1, WATCHDOG, 1) == BITTEN and not device.moving_allowed(1)
    drive.open()  # clears it
    assert device.moving_allowed(1)


def test_a_servo_with_a_hardware_error_is_not_armed():
    drive, _, device = servos()
    device.table[2][70] = 0x20
    with pytest.raises(DeviceError, match="hardware error 0x20"):
        drive.open()
    assert device.get(2, TORQUE, 1) == 0


def turning(at: int, **options):
    """One servo whose soft limits are within a turn, 1000 … 3000 counts, standing somewhere."""
    device = DynamixelBus((1,))
    device.table[1][PRESENT : PRESENT + 4] = at.to_bytes(4, "little", signed=True)
    channel = Channel("arm", 1, 1000.0, zero=2000.0, limits=(-1.0, 1.0))
    wire = EmulatedWire(device, FakeClock())
    return Dynamixel(wire, [channel], **options), wire, device


def test_a_servo_is_told_its_limits_and_ignores_goals_beyond():
    drive, wire, device = turning(1800)
    drive.open()
    drive.arm()
    assert device.get(1, MODE, 1) == 3 and (device.get(1, MIN), device.get(1, MAX)) == (1000, 3000)
    drive.send({1: 3000})
    for beyond in (999, 3001, -5, 70_000):
        drive.send({1: beyond})  # past the loop, which would not
        assert device.get(1, GOAL) == device.get(1, PRESENT) == 3000
    written = []
    wire.out = lambda data: written.append(device.get(1, TORQUE, 1)) or data
    drive.open()
    drive.arm()  # it has them already: neither goes it limp nor is its memory worn
    assert all(written) and len(written) > 5


def test_a_servo_that_stands_outside_its_limits_or_its_turn():
    drive, _, device = turning(3040)  # a little: it is armed where it stands
    drive.open()
    drive.arm()
    assert device.get(1, GOAL) == 3040 and (device.get(1, MIN), device.get(1, MAX)) == (1000, 3040)
    drive, _, device = turning(1800 + 4096)  # a turn: it must not forget, for then it would seem to be inside
    drive.open()
    assert device.get(1, MODE, 1) == 4 and drive.counts() == {1: 5896}


# Pressure regulators


def regulators(**options):
    device, clock = Regulators("AB"), FakeClock()
    wire = EmulatedWire(device, clock)
    channels = [RegulatorBus.channel(f"chamber {k + 1}", k, full_scale=1e5) for k in range(2)]
    return RegulatorBus(wire, channels, **options), wire, device


def test_regulators_are_set_and_repeat_it():
    drive, wire, device = regulators()
    drive.open()
    drive.send({0: 25_500, 1: 1})
    assert device.set_point == {"A": 25.5, "B": 0.001} and drive.counts() == {0: 25_500, 1: 1}
    spoil = iter([b"AS99.000\r"])
    wire.out = lambda data: next(
        spoil, data
    )  # without a checksum a wrong command gets through, and is noticed
    drive.send({0: 30_000, 1: 0})
    assert device.set_point["A"] == 30.0 and drive.repeated == 1
    drive.safe()
    assert device.set_point == {"A": 0.0, "B": 0.0}


def test_regulators_that_are_silent_or_talk_nonsense():
    drive, wire, device = regulators(retries=1)
    drive.open()
    wire.back = lambda data: b"A +12.5 +1"
    with pytest.raises(DeviceError, match="A of 'pressure' does not answer"):
        drive.send({0: 1000})
    wire.back = lambda data: data.replace(b"A", b"B")
    with pytest.raises(DeviceError, match="does not answer"):
        drive.send({0: 1000})
    wire.back = lambda data: data
    device.full_scale = 10.0
    with pytest.raises(DeviceError, match="does not answer"):
        drive.send({0: 50_000})
    rng = random.Random(6)
    for _ in range(2000):
        device.feed(mangled(rng, b"AS5.000\r"), 0.0)


# Messages


def test_osc_messages_say_name_value_and_watchdog():
    from pythonosc.osc_message import OscMessage

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10.0)
        drive = Osc(PULL, port=receiver.getsockname()[1], watchdog=0.5)
        with pytest.raises(DeviceError, match="not open"):
            drive.send({1: 1})
        drive.open()
        drive.send({1: 4096, 2: 0})
        message = OscMessage(receiver.recv(4096))
        assert message.address == "/pliant/command"
        sequence, watchdog, *rest = message.params
        assert (sequence, watchdog) == (1, 0.5)
        assert dict(zip(rest[::2], rest[1::2], strict=True)) == pytest.approx(
            {"cable 1": 2 * math.pi * 0.01, "cable 2": 0.0}
        )
        drive.safe()
        message = OscMessage(receiver.recv(4096))
        assert message.address == "/pliant/safe" and message.params[2:] == ["cable 1", 0.0]
        drive.close()


def test_zenoh_messages_arrive():
    import json
    import threading

    zenoh = pytest.importorskip("zenoh")
    config = zenoh.Config()
    for key, value in {"scouting/multicast/enabled": "false", "listen/endpoints": "[]"}.items():
        config.insert_json5(key, value)
    drive = Zenoh(PULL, config=config, watchdog=0.3)
    drive.open()
    came, heard = [], threading.Event()

    def hear(sample):
        came.append((str(sample.key_expr), json.loads(bytes(sample.payload))))
        if len(came) == 2:
            heard.set()

    subscriber = drive._session.declare_subscriber("pliant/**", hear)
    drive.send({1: 4096, 2: 0})
    drive.safe()
    assert heard.wait(120.0)
    subscriber.undeclare()
    drive.close()
    (first, command), (second, safe) = came
    assert first == "pliant/command" and command["watchdog"] == 0.3 and command["sequence"] == 1
    assert command["values"]["cable 1"] == pytest.approx(2 * math.pi * 0.01)
    assert second == "pliant/safe" and safe["values"] == {"cable 1": 0.0}


class StandIn(types.ModuleType):
    """As much of rclpy as a publisher needs; `published` is what went out."""

    def __init__(self):
        super().__init__("rclpy")
        self.published, self.alive = [], False

    def ok(self):
        return self.alive

    def init(self):
        self.alive = True

    def shutdown(self):
        self.alive = False

    def create_node(self, name):
        out = self.published
        publisher = lambda kind, topic, depth: types.SimpleNamespace(
            publish=lambda message: out.append((topic, message))
        )
        now = types.SimpleNamespace(to_msg=lambda: "now")
        clock = types.SimpleNamespace(now=lambda: now)
        return types.SimpleNamespace(
            create_publisher=publisher,
            get_clock=lambda: clock,
            destroy_node=lambda: out.append(("gone", None)),
        )


def test_ros2_publishes_joint_states(monkeypatch):
    with pytest.raises(DeviceError, match="rclpy"):
        Ros2(PULL).open()
    rclpy, sensors, standard = StandIn(), types.ModuleType("m"), types.ModuleType("s")
    sensors.JointState = lambda: types.SimpleNamespace(header=types.SimpleNamespace())  # type: ignore[attr-defined]
    standard.Bool = lambda data: types.SimpleNamespace(data=data)  # type: ignore[attr-defined]
    modules = {"rclpy": rclpy, "sensor_msgs.msg": sensors, "std_msgs.msg": standard}
    for name, module in {**modules, "sensor_msgs": sensors, "std_msgs": standard}.items():
        monkeypatch.setitem(sys.modules, name, module)
    drive = Ros2(PULL)
    drive.open()
    drive.send({1: 4096, 2: 0})
    (topic, message), (other, flag) = rclpy.published
    assert topic == "pliant/command" and message.name == ["cable 1", "cable 2"]
    assert message.position == pytest.approx([2 * math.pi * 0.01, 0.0])
    assert other == "pliant/safe" and flag.data is False
    drive.safe()
    assert rclpy.published[-1][1].data is True and rclpy.published[-2][1].position == [0.0]
    drive.close()
    assert not rclpy.alive


# Sensors and names


def test_markers_are_rows():
    class Frames:
        def __init__(self):
            self.frame = None

        def latest(self):
            return self.frame

        def close(self):
            self.frame = "closed"

    from pliant.io.streams import Frame

    source = Frames()
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    sensor = Markers(
        source, {"tip": ["a"], "both": ["a", "b"]}, pose=(turn, (0.0, 0.0, 1.0)), clock=FakeClock()
    )
    assert isinstance(sensor, Sensor) and sensor.read() is None
    source.frame = Frame(1.0, [[1.0, 2.0, 3.0]], ("a",))
    reading = sensor.read()
    assert reading is not None and set(reading.values) == {"tip"}  # b is not seen
    np.testing.assert_allclose(reading.values["tip"], [-2.0, 1.0, 4.0])
    assert sensor.read() is None  # nothing new
    sensor.open()
    sensor.close()
    assert source.frame == "closed"


def test_markers_come_over_the_network():
    from pliant.io.streams import Frame, JsonEmulator, JsonUdp, Reader

    source = JsonUdp(port=0)
    tracker = JsonEmulator("127.0.0.1", source.port)
    reader = Reader(source, stale=60.0)
    sensor = Markers(reader, {"tip": ["hub"]})
    for k in range(200):
        tracker.send(Frame(0.01 * (k + 1), [[0.1, 0.2, 0.3]], ("hub",)))
        if reader.wait(0.1) is not None:
            break
    reading = sensor.read()
    assert reading is not None
    np.testing.assert_allclose(reading.values["tip"], [0.1, 0.2, 0.3])
    sensor.close()
    tracker.close()


def test_drivers_have_names():
    assert isinstance(driver("serial", PULL, wire="COM1"), SerialLine)
    with pytest.raises(InputError, match="dynamixel"):
        driver("dynamixle", PULL)
    with pytest.raises(InputError, match="options of the driver"):
        driver("osc", PULL, colour="red")
    with pytest.raises(InputError, match="different ids"):
        SerialLine("COM1", [PULL[0], PULL[0]])


def test_emulated_motors_follow_as_slowly_as_they_are_told_to():
    """First order in counts or kPa, on every kind of line; set points and goals are as sent."""
    slow, left = Drive(lag=0.2), np.exp(-0.1 / 0.2)
    board = Microcontroller([1], drive=slow)
    for verb, *words in (("W", "5000"), ("G",), ("S", "1:1000")):
        board.feed(Line(1, verb, tuple(words)).encoded(), 0.0)
    board.tick(0.1)
    assert board.position[1] == pytest.approx(1000 * (1 - left), abs=1) and board.accepted[0][1] == {1: 1000}
    bus = DynamixelBus((1,), drive=slow)
    bus.table[1][TORQUE] = 1
    goal = (1000).to_bytes(4, "little")
    bus.feed(packet(1, 3, GOAL.to_bytes(2, "little") + goal), 0.0)
    bus.tick(0.1)
    assert bus.get(1, PRESENT) == pytest.approx(1000 * (1 - left), abs=1) and bus.get(1, GOAL) == 1000
    valve = Regulators("A", drive=slow)
    valve.feed(b"AS50.0\r", 0.0)
    measured, asked = map(float, valve.feed(b"A\r", 0.1).split()[1:])
    assert measured == pytest.approx(50.0 * (1 - left), abs=1e-3) and asked == 50.0
