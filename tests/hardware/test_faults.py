"""What goes wrong on a bench: slow, babbling, restarted devices, stops at the worst moment, a wrong zero."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import time
import types
from types import SimpleNamespace

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.hardware import (
    Channel,
    Counts,
    DeviceError,
    Dynamixel,
    Follower,
    Guarded,
    Keyboard,
    Loop,
    Osc,
    Reading,
    RegulatorBus,
    Ros2,
    SerialLine,
    Signals,
    Stop,
    zero,
)
from pliant.hardware.emulators import EmulatedWire, FakeClock, Microcontroller, Terminal
from pliant.hardware.emulators.dynamixel import BITTEN, GOAL, PRESENT, TORQUE, WATCHDOG
from pliant.hardware.output import Output
from pliant.hardware.post import Post
from tests.hardware.test_drivers import PULL, StandIn, regulators, serial_line, servos
from tests.hardware.test_loop import GAIN, Eye, Model, bench, commands, wait_for


def drive_on(clock: FakeClock, row: str = "cable", **options):
    """A serial drive of one row, and its device."""
    device = Microcontroller([1])
    channel = Channel(row, 1, GAIN, safe=0.0)
    return SerialLine(EmulatedWire(device, clock), [channel], **{"watchdog": 0.2, **options}), device


class Other:
    """A device of another make, with one row; a test gives it habits."""

    def __init__(self, row: str = "other", **habits) -> None:
        self.name, self.channels, self.told, self.habits = row, (Channel(row, 1, GAIN, safe=0.0),), [], habits

    def _do(self, what: str) -> None:
        self.told.append(what)
        self.habits.get(what, lambda: None)()

    def open(self):
        self._do("open")

    def send(self, counts):
        self._do("send")

    def safe(self):
        self._do("safe")

    def close(self):
        self._do("close")


INF = float("inf")
BOTH = {"cable": 1e-3, "other": 1e-3}

# Opening


def test_a_device_that_is_slow_to_open_does_not_cost_the_others_their_watchdog():
    clock = FakeClock()
    drive, device = drive_on(clock)
    output = Output([drive, Other(open=lambda: clock.advance(2.0))])  # as a guard, which starts a process
    output.open()
    assert device.state == "armed" and output.send(BOTH) and device.position[1] == 100


def test_a_stop_while_devices_are_opened_arms_none():
    clock = FakeClock()
    first, device = drive_on(clock)
    output = Output([first, slow := Other(open=lambda: pressed()), last := Other("last")])
    presser = threading.Thread(target=lambda: output.safe())

    def pressed():
        presser.start()
        assert wait_for(lambda: output.state == "safe")

    output.open()
    presser.join()
    assert output.state == "safe" and slow.told == ["open", "safe"] and last.told == []
    assert device.state == "safe" and "G" not in [line.verb for line in device.requests]
    assert output.send({**BOTH, "last": 0.0}) == {} and not device.accepted


def test_a_board_that_boots_when_its_port_is_opened_is_waited_for():
    drive, wire, device = serial_line()
    wire.out = lambda data: data if wire.clock.now() > 1.8 else b""
    drive.open()
    assert 1.8 < wire.clock.now() < 3.0 and drive.repeated == 0
    drive.send({1: 5, 2: 6})
    assert device.position[1] == 5
    drive, wire, _ = serial_line(boot=0.0)
    wire.out = lambda data: b""
    with pytest.raises(DeviceError, match="firmware/pliant_serial"):
        drive.open()
    assert wire.clock.now() < 0.1


def test_a_port_can_be_opened_again_after_a_failure():
    device = Microcontroller([1])  # has no channel 2
    with Terminal(device) as terminal:
        drive = SerialLine(terminal.port, PULL, timeout=20.0)
        for _ in range(2):
            with pytest.raises(DeviceError, match="not"):
                drive.open()
        drive.close()


def test_where_a_device_stands():
    """A stroke far outside its limits has a wrong zero; nobody knows where it would go.

    Rate limits begin at the safe state if it cannot tell.
    """
    channel = Channel("cable", 1, GAIN, limits=(-0.005, 0.005), rate=0.05, safe=0.0)
    loop, _, device, _ = bench(channel=channel)
    device.position[1] = 3000  # 30 mm
    report = loop.run(steps=3)
    assert report.status == "failed" and "outside its limits" in report.reason and "zero" in report.reason
    assert not device.accepted
    device.position[1] = 510  # a little beyond: it goes in
    loop.run(steps=2)
    assert commands(device) == [400, 300]
    loop, _, device, _ = bench(path=lambda k: 5e-3, channel=channel)
    device._known.clear()  # a board with hobby servos
    loop.run(steps=2)
    assert commands(device) == [100, 200]
    with pytest.raises(DeviceError, match="does not know where"):
        zero(SerialLine(EmulatedWire(Microcontroller([1], feedback=False), FakeClock()), [channel]))


def test_what_the_device_cannot_take_is_said():
    """Counts beyond its span are not sent, and what is recorded is what was sent."""
    valve = Channel.valve("cable", 1, full_scale=1e5, counts=(0, 4095), limits=(-INF, INF))
    loop, _, device, _ = bench(path=lambda k: 2e5, channel=valve)
    device.position[1] = 4000
    values, met = loop.output.limited(Model(FakeClock(), lambda k: 2e5).step(), 0.02)
    assert values["cable"] == pytest.approx(1e5, abs=valve.value(1)) and met == ["cable: range of the device"]
    report = loop.run(steps=2)
    assert commands(device) == [4095, 4095] and "cable: range of the device (2 times)" in str(report)
    assert loop.output.limited(Model(FakeClock(), lambda k: 1e5).step(), 0.02)[1] == []
    with pytest.raises(InputError, match="can take"):
        Channel("cable", 1, 1.0, safe=5000.0, span=(0, 4095))


def test_too_many_channels_for_a_line_are_refused_before_anything_is_sent():
    channels = [Channel(f"cable {k}", k, 1.0) for k in range(1, 17)]
    assert SerialLine("COM1", channels[:15])
    with pytest.raises(InputError, match="two devices"):
        SerialLine("COM1", channels)
    with pytest.raises(InputError, match="watchdog"):
        SerialLine("COM1", PULL, watchdog=60.0)


# Devices that babble, restart or lie


class Babbling:
    """A wire on which someone never stops talking."""

    def __init__(self) -> None:
        self.written = 0

    def write(self, data: bytes) -> None:
        self.written += 1

    def read(self, timeout: float) -> bytes:
        return b"12.5 3.1 \xff\xff\xfd\x00 $1 A "

    def close(self) -> None: ...


def test_a_device_that_babbles_does_not_hold_the_loop():
    regulator = RegulatorBus(Babbling(), [RegulatorBus.channel("chamber", 0, full_scale=1e5)])
    for drive in (SerialLine(Babbling(), PULL, boot=0.0), regulator, Dynamixel(Babbling(), PULL)):
        with pytest.raises(DeviceError):
            drive.open()
        drive.safe()


def test_a_machine_that_stalls_while_it_writes_has_not_lost_its_port(monkeypatch):
    device, written = Microcontroller([1, 2]), os.write

    def stalling(file, data):
        time.sleep(0.15)
        return written(file, data)

    with Terminal(device, clock=FakeClock().now) as terminal:
        drive = SerialLine(terminal.port, PULL, timeout=20.0, watchdog=10.0)
        drive.open()
        monkeypatch.setattr(os, "write", stalling)
        drive.send({1: 5, 2: 6})
        monkeypatch.undo()
        drive.close()
    assert device.position == {1: 5, 2: 6}


def test_servos_reach_their_safe_place_after_the_bus_watchdog_has_bitten():
    drive, wire, device = servos(watchdog=0.1)
    drive.open()
    drive.send({1: 800, 2: 90})
    device.tick(wire.clock.now() + 0.5)  # the model took too long
    assert device.get(1, WATCHDOG, 1) == BITTEN
    drive.safe()
    assert device.get(1, GOAL) == 0 and device.get(2, GOAL) == 90
    device.tick(wire.clock.now() + 9.0)
    assert device.get(1, WATCHDOG, 1) == 0  # nothing stops it on its way, now that nobody speaks


def test_a_servo_that_restarted_or_is_overloaded_is_noticed():
    for address, value, said in ((TORQUE, 0, "no torque"), (70, 0x20, "hardware error 0x20")):
        drive, _, device = servos()
        drive.open()
        drive.send({1: 10, 2: 20})
        device.table[2][address] = value
        with pytest.raises(DeviceError, match=f"Servo 2 .*{said}"):
            for _ in range(2):  # one is looked at in each turn
                drive.send({1: 10, 2: 20})


def test_servos_beyond_a_silent_one_are_released():
    drive, wire, device = servos(release=True)
    drive.open()
    drive.send({1: 10, 2: 20})
    first = b"\xff\xff\xfd\x00\x01"  # what begins a packet to servo 1
    everyone = b"\xff\xff\xfd\x00\xfe"
    wire.out = lambda data: b"" if data.startswith((first, everyone)) else data
    drive.safe()
    assert device.get(1, TORQUE, 1) == 1 and device.get(2, TORQUE, 1) == 0


def test_servos_that_hold_do_not_go_limp_when_opened_again():
    drive, wire, device = servos()
    drive.open()
    drive.send({1: 10, 2: 20})
    drive.safe()
    limp = []
    wire.back = lambda data: limp.append(device.get(1, TORQUE, 1)) or data
    drive.open()
    assert all(limp) and len(limp) > 3
    with pytest.raises(DeviceError, match="1048575"):
        drive.send({1: 2_000_000, 2: 0})
    assert device.get(1, PRESENT) != 2_000_000


def test_regulators_beyond_a_silent_one_are_vented_first():
    drive, wire, device = regulators()
    drive.open()
    drive.send({0: 10_000, 1: 20_000})
    told = []
    wire.out = lambda data: (told.append(data[:1]), b"" if data[:1] == b"A" else data)[1]
    drive.safe()
    assert device.set_point == {"A": 10.0, "B": 0.0} and told == [b"A", b"B", b"A", b"A", b"A"]
    with pytest.raises(InputError, match="quantity effort"):
        RegulatorBus("COM1", [Channel("chamber", 0, 1.0)])
    with pytest.raises(InputError, match="A … Z"):
        RegulatorBus("COM1", [RegulatorBus.channel("chamber", 26, full_scale=1e5)])


def test_publishers_that_fail_are_devices_that_fail(monkeypatch):
    drive = Osc(PULL)
    drive.open()
    broken = SimpleNamespace(send_message=lambda *_: 1 / 0, _sock=SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(drive, "_client", broken)
    with pytest.raises(DeviceError, match=r"osc.* cannot publish: division"):
        drive.send({1: 1, 2: 1})
    drive.safe()
    drive.close()


def test_ros2_tells_tensions_from_strokes(monkeypatch):
    rclpy, sensors, standard = StandIn(), types.ModuleType("m"), types.ModuleType("s")
    sensors.JointState = lambda: SimpleNamespace(header=SimpleNamespace(), position=[], effort=[])  # type: ignore[attr-defined]
    standard.Bool = lambda data: SimpleNamespace(data=data)  # type: ignore[attr-defined]
    modules = {"rclpy": rclpy, "sensor_msgs.msg": sensors, "std_msgs.msg": standard}
    for name, module in {**modules, "sensor_msgs": sensors, "std_msgs": standard}.items():
        monkeypatch.setitem(sys.modules, name, module)
    drive = Ros2([Channel("cable", 1, 1e3), Channel.valve("chamber", 2, full_scale=1e5)])
    drive.open()
    drive.send({1: 5, 2: 4095})
    message = rclpy.published[0][1]
    assert message.name == ["cable", "chamber"]
    assert message.position[0] == 5e-3 and math.isnan(message.position[1])
    assert message.effort[1] == pytest.approx(1e5) and math.isnan(message.effort[0])
    drive.safe()
    assert rclpy.published[-2][1].effort == [0.0] and rclpy.published[-2][1].position == []
    drive.close()


# Stops at the worst moment


def test_a_stop_does_not_wait_for_a_device_that_does_not_answer():
    """While the loop waits for one device, the other is made safe.

    The first is told to hurry, and is safe as soon as it lets go.
    """
    clock, inside, answered = FakeClock(), threading.Event(), threading.Event()
    mute = Other(send=lambda: inside.set() or answered.wait(120.0))
    mute.hurried = False  # type: ignore[attr-defined]
    drive, device = drive_on(clock)
    output = Output([drive, mute])
    output.open()
    loop = threading.Thread(target=lambda: output.send(BOTH))
    loop.start()
    assert inside.wait(120.0) and device.position[1] == 100
    presser = threading.Thread(target=output.safe)
    presser.start()
    assert wait_for(lambda: device.state == "safe") and "safe" not in mute.told
    assert wait_for(lambda: mute.hurried)  # type: ignore[attr-defined]
    answered.set()
    loop.join()
    presser.join()
    assert mute.told == ["open", "send", "safe"] and not mute.hurried  # type: ignore[attr-defined]


def test_nothing_is_repeated_when_someone_waits():
    drive, wire, _ = serial_line(retries=5)
    drive.open()
    drive.arm()
    wire.back = lambda data: b""
    begun, drive.hurried = wire.clock.now(), True
    with pytest.raises(DeviceError, match="does not answer"):
        drive.send({1: 1, 2: 1})
    assert wire.clock.now() - begun < 0.05 and drive.repeated == 0


def test_a_driver_may_press_the_stop_itself():
    clock, stop = FakeClock(), Stop()
    alarmed = Other("cable", send=lambda: stop.press("alarm of the drive"))
    report = Loop(Model(clock), alarmed, clock=clock, stop=stop).run(steps=5)
    assert (report.status, report.reason) == ("stopped", "alarm of the drive")
    assert alarmed.told[:3] == ["open", "send", "safe"] and alarmed.told.count("send") == 1


def test_ctrl_c_again_while_devices_go_to_their_safe_state():
    impatient = iter([KeyboardInterrupt()])

    def press():
        for error in impatient:
            raise error

    first = Other("first", safe=press)
    drive, device = drive_on(FakeClock())
    output = Output([first, drive])
    output.open()
    output.send({"first": 0.0, "cable": 1e-3})
    output.safe()
    assert first.told[-2:] == ["safe", "safe"] and device.state == "safe"


def test_a_listener_that_fails_keeps_no_loop_running():
    loop, model, device, _ = bench()
    other = Stop()
    other.listen(lambda reason: 1 / 0)
    other.listen(loop.emergency.press)
    heard = []

    def path(k):
        if k == 3:
            with pytest.raises(ZeroDivisionError):
                other.press("both")
            heard.append(device.state)
        return 1e-3

    model.path = path
    assert loop.run(steps=9).status == "stopped" and heard == ["safe"]


def test_a_stop_in_the_moment_the_loop_begins_is_not_lost():
    loop, _, device, _ = bench()

    class Late(Stop):
        """Pressed by someone who has looked at the loop before it ran."""

        def __init__(self):
            super().__init__()
            self.looks = 0

        @property
        def pressed(self):
            self.looks += 1
            return self.looks > 1

    loop.emergency = Late()
    report = loop.run(steps=5)
    assert report.status == "stopped" and not device.accepted


def test_what_was_sent_is_recorded_even_if_a_stop_came_with_it():
    notes = []
    recorder = SimpleNamespace(note=lambda kind, when, data: notes.append((kind, when, data)))
    loop, _, device, wire = bench(recorder=recorder)
    send = loop.output.send

    def last(values):
        counts = send(values)
        if len(device.accepted) == 3:
            loop.stop()
        return counts

    loop.output.send = last  # type: ignore[method-assign]
    assert loop.run(steps=9).status == "stopped"
    assert (
        [d["counts"]["cable"] for kind, _, d in notes if kind == "sent"]
        == commands(device)
        == [100, 200, 300]
    )
    notes.clear()
    loop.emergency.release()
    wire.clock.advance(5000.0)
    wire.cut = True
    assert loop.run(steps=9).status == "failed"
    ((kind, when, _),) = notes
    assert kind == "event" and when < 5.0  # since this run began


@pytest.mark.parametrize("name", ["SIGHUP", "SIGTSTP", "SIGQUIT", "SIGTERM"])
def test_what_would_end_or_freeze_the_program_is_a_stop(name):
    stop = Stop()
    with Signals(stop):
        os.kill(os.getpid(), getattr(signal, name))
        assert stop.wait(120.0) and stop.reason == name


def test_a_second_ctrl_c_ends_a_model_that_hangs():
    stop = Stop()
    with Signals(stop):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(120.0) and stop.reason == "SIGINT"
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            wait_for(lambda: False, 5.0)


def test_no_keys_in_the_background(monkeypatch):
    """A shell's background job that changes its terminal is frozen by the system."""
    master, slave = os.openpty()
    monkeypatch.setattr(os, "tcgetpgrp", lambda terminal: os.getpgrp() + 1)
    with os.fdopen(slave, "rb", buffering=0) as terminal, Keyboard(Stop(), terminal) as keyboard:
        assert keyboard._thread is None
    os.close(master)


def test_a_channel_that_nobody_commands_is_noticed_before_anything_is_armed():
    clock = FakeClock()
    drive, device = drive_on(clock, "tip")
    report = Loop(Model(clock), drive, clock=clock).run(steps=3)
    assert report.status == "failed" and "'tip'" in report.reason and "cable" in report.reason
    assert not device.requests


def test_a_loop_runs_once_at_a_time():
    loop, model, device, _ = bench()

    def again(k):
        if k == 2:
            with pytest.raises(InputError, match="stands still"):
                loop.run(steps=1)
        return 1e-3

    model.path = again
    assert loop.run(steps=3).status == "done" and len(device.accepted) == 3


# Sensors


def test_sensors_that_share_a_name_are_refused():
    clock = FakeClock()
    with pytest.raises(InputError, match="different names"):
        Loop(Model(clock), [], [Eye(clock), Eye(clock)])


def test_a_row_that_is_lost_among_others_ends_it():
    class Half(Eye):
        rows = ("tip", "elbow")

        def read(self):
            now = self.clock.now()
            seen = ("tip", "elbow") if now < 0.1 else ("tip",)
            return Reading(now, dict.fromkeys(seen, np.zeros(3)))

    loop, _, device, _ = bench(sensors=lambda clock: [Half(clock)], watchdog=0.06)
    report = loop.run(steps=50)
    assert report.status == "watchdog" and "'elbow' of eye" in report.reason and "tip" not in report.reason
    assert device.state == "safe"


def test_a_sensor_that_cannot_be_closed_leaves_none_open():
    class Stubborn(Eye):
        name = "stubborn"

        def close(self):
            raise OSError("no")

    loop, *_ = bench(sensors=lambda clock: [Stubborn(clock), Eye(clock)])
    assert loop.run(steps=2).status == "done" and not loop.sensors[1].opened


def test_a_dry_run_does_not_ask_devices_where_they_are():
    clock = FakeClock()
    drive, device = drive_on(clock)
    loop = Loop(Model(clock), drive, [Counts(drive, clock=clock), Eye(clock)], clock=clock, dry_run=True)
    assert loop.run(steps=3).status == "done" and not device.requests
    loop = Loop(Model(clock), drive, [Counts(drive, clock=clock)], clock=clock)
    assert loop.run(steps=3).status == "done" and "Q" in [line.verb for line in device.requests]


# Followers


def test_a_follower_is_not_stopped_while_its_devices_open():
    clock = FakeClock()
    other = Other(open=lambda: clock.advance(1.0) or looked.append(follower.check(clock.now())))
    session = SimpleNamespace(robot=SimpleNamespace(rows={"other": None}), period=0.02, listeners=[])
    follower, looked = Follower(session, [other], clock=clock), []
    row = {"other": np.array([1e-3])}
    frame = SimpleNamespace(command=row, effort=row, displacement=row, step=1, time=0.0)
    with follower:
        clock.advance(1.0)
        assert not follower.check(clock.now())
        follower.resume()
        assert looked == [True, True]
        session.listeners[0](frame)
        assert other.told[-1] == "send" and not follower.emergency.pressed
        other.habits["send"] = lambda: 1 / 0
        session.listeners[0](frame)
        assert follower.emergency.pressed and "division" in follower.emergency.reason


# Guards


@pytest.fixture
def post():
    """A guard's side without its process: ask it, and look at its device."""
    at_work = Post()
    at_work.device = Other(send=lambda: None)
    at_work.state, at_work.silence = "open", 30.0
    return at_work


def test_a_guard_survives_a_driver_that_fails(post):
    assert post.obey({"arm": True}) == {} and post.state == "armed"
    post.device.habits["send"] = lambda: {}["nothing"]
    assert "KeyError" in post.obey({"send": {"1": 5}})["error"]
    assert post.state == "armed"
    post.device.habits["safe"] = lambda: 1 / 0
    assert post.obey({"safe": True}) == {} and post.state == "safe" and post.device.told[-1] == "safe"
    assert "too far apart" in post.obey({"send": {"1": 5}})["error"]


def test_a_guard_retreats_whatever_ends_it(post):
    reading, writing = os.pipe()
    os.write(writing, b"this is no request\n")
    post._requests = reading
    with pytest.raises(json.JSONDecodeError):
        post.serve()
    assert post.device.told == ["safe", "close"]
    os.close(reading)
    os.close(writing)


def test_a_late_answer_of_the_guard_is_not_taken_for_another():
    guard = Guarded("serial", PULL, wire="COM1")
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        with pytest.raises(DeviceError, match="does not answer"):
            guard._answer(pipe, 1, 0.0)
        os.write(writing, b'{"number": 1, "error": "late"}\n{"number": 2, "counts": {"1": 7}}\n')
        assert guard._answer(pipe, 2, 5.0) == {"counts": {"1": 7}}
        os.close(writing)
        with pytest.raises(DeviceError, match="is gone"):
            guard._answer(pipe, 3, 5.0)
        reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:  # a stop that fetches its answer first leaves the loop's
        os.write(writing, b"".join(b'{"number": %d, "counts": {"1": %d}}\n' % (k, k) for k in range(10, 40)))
        assert guard._answer(pipe, 39, 5.0)["counts"] == {"1": 39}
        assert guard._answer(pipe, 38, 5.0)["counts"] == {"1": 38} and len(guard._answers) <= 8
        os.close(writing)
    with pytest.raises(InputError, match="silence"):
        Guarded("serial", PULL, silence=0.0)


def test_a_guard_that_is_ended_by_a_signal_retreats_and_zeroing_moves_nothing():
    device = Microcontroller([1])
    device.position[1] = 700
    channel = Channel("cable", 1, GAIN, safe=0.0)
    with Terminal(device) as terminal:
        drive = Guarded("serial", [channel], silence=30.0, wire=terminal.port, timeout=20.0, watchdog=10.0)
        (zeroed,) = zero(drive)
        assert (
            device.position[1] == 700 and zeroed.safe_counts == 700
        )  # not 0, the safe place by the old zero
        drive.open()
        drive.send({1: 950})
        assert drive._process is not None
        drive._process.terminate()
        assert wait_for(lambda: device.state == "safe") and device.position[1] == 700
        drive.close()


def test_the_benchmark_of_stops_stops():
    from pliant.hardware.bench_stop import stop_bench

    (table,) = stop_bench(3)
    assert all(np.isfinite(row["measured"]) for row in table.rows)
