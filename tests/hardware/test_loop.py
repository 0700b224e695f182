"""The loop on emulators that watch the wire: whatever happens, devices end in their safe state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.errors import InputError
from pliant.hardware import (
    Channel,
    DeviceError,
    Follower,
    Guarded,
    Keyboard,
    Loop,
    Reading,
    SerialLine,
    Signals,
    Stop,
    studio_stop,
)
from pliant.hardware.clock import SystemClock
from pliant.hardware.emulators import EmulatedWire, FakeClock, Microcontroller, Terminal
from pliant.hardware.output import Output
from pliant.session import Session
from tests.hardware.test_drivers import mangled

GAIN = 1e5  # counts per metre


class Model:
    """A controller: strokes as a function of its steps, which take some time on a clock."""

    def __init__(self, clock: FakeClock, path=lambda k: 1e-3 * k, takes=lambda k: 0.0) -> None:
        self.clock, self.path, self.takes, self.steps, self.observed = clock, path, takes, -1, []

    def step(self):
        self.steps += 1  # the first, before the devices are armed, is number 0
        self.clock.advance(self.takes(self.steps))
        value = self.path(self.steps)
        row = {"cable": np.array([value])}
        return SimpleNamespace(command=row, effort=row, displacement=row)

    def observe(self, readings):
        self.observed.append(readings)


class Eye:
    """A sensor that sees something until it does not."""

    name = "eye"

    def __init__(self, clock: FakeClock, blind_after: float = np.inf) -> None:
        self.clock, self.blind_after, self.opened = clock, blind_after, False

    def open(self):
        self.opened = True

    def read(self):
        now = self.clock.now()
        return Reading(now, {"tip": np.zeros(3)}) if now <= self.blind_after else None

    def close(self):
        self.opened = False


def bench(*, path=None, takes=lambda k: 0.0, sensors=(), channel=None, **options):
    """A loop on an emulated microcontroller, on a clock that moves when someone waits."""
    clock, device = FakeClock(), Microcontroller([1])
    wire = EmulatedWire(device, clock)
    channel = channel or Channel("cable", 1, GAIN, safe=0.0)
    drive = SerialLine(wire, [channel], watchdog=0.2)
    model = Model(clock, path or (lambda k: 1e-3 * k), takes)
    loop = Loop(
        model, drive, sensors(clock) if callable(sensors) else sensors, rate=50, clock=clock, **options
    )
    return loop, model, device, wire


def commands(device: Microcontroller) -> list[int]:
    return [counts[1] for _, counts in device.accepted]


# The rate


def test_commands_leave_once_a_period_and_it_ends_safe():
    loop, _, device, _ = bench()
    report = loop.run(steps=5)
    assert (report.status, report.periods, report.missed) == ("done", 5, 0)
    assert commands(device) == [100, 200, 300, 400, 500]
    np.testing.assert_allclose(np.diff([t for t, _ in device.accepted]), 0.02)
    assert device.state == "safe" and device.position[1] == 0
    assert loop.run(seconds=0.1).periods == 5 and "100.00 % of deadlines" in str(report)


def test_missed_deadlines_are_counted_and_the_rhythm_is_kept():
    loop, _, device, _ = bench(takes=lambda k: 0.05 if k == 3 else 0.015 if k == 6 else 0.0)
    report = loop.run(steps=8)
    assert report.missed == 2 and report.met == pytest.approx(0.8)
    assert report.busy.max() == pytest.approx(0.05) and report.jitter.max() < 1e-9
    times = np.array([t for t, _ in device.accepted])
    phase = (times - times[0]) / 0.02
    late = [3 - 1, 6 - 1]  # the third and the sixth left late, all others on time
    assert np.allclose(np.delete(phase, late), np.round(np.delete(phase, late)), atol=1e-6)


def test_limits_on_the_way_out():
    channel = Channel("cable", 1, GAIN, limits=(-0.005, 0.005), rate=0.05, safe=0.0)  # 1 mm a period
    loop, _, device, _ = bench(path=lambda k: 0.02 if k < 9 else -0.02, channel=channel)
    report = loop.run(steps=12)
    sent = np.array(commands(device)) / GAIN
    assert np.abs(sent).max() <= 0.005 and np.abs(np.diff([0.0, *sent])).max() <= 0.001 + 1e-9
    assert sent[4] == 0.005  # after five periods it is at its soft limit
    assert report.limited["cable: soft limit"] == 12 and report.limited["cable: rate"] >= 4


def test_rate_limits_begin_where_the_device_is():
    channel = Channel("cable", 1, GAIN, rate=0.05, safe=0.0)
    loop, _, device, _ = bench(path=lambda k: 0.0, channel=channel)
    device.position[1] = 300  # 3 mm
    loop.run(steps=4)
    assert commands(device) == [200, 100, 0, 0]


def test_a_dry_run_touches_nothing():
    loop, model, device, _ = bench(dry_run=True)
    report = loop.run(steps=6)
    assert report.periods == 6 and model.steps == 6 and not device.requests


def test_what_is_sent_and_read_is_recorded():
    notes = []
    recorder = SimpleNamespace(note=lambda kind, when, data: notes.append((kind, data)))
    loop, *_ = bench(sensors=Eye, recorder=recorder)
    loop.run(steps=2)
    assert [kind for kind, _ in notes] == ["channels", "reading", "sent", "reading", "sent", "event"]
    assert notes[2][1]["counts"] == {"cable": 100} and notes[1][1]["values"] == {"tip": [0.0, 0.0, 0.0]}
    assert notes[0][1]["rows"]["cable"]["gain"] == GAIN
    assert notes[-1][1] == {"what": "done", "reason": "", "met": 1.0}


# Whatever happens


def test_an_exception_of_the_model_ends_safe():
    loop, _, device, _ = bench(path=lambda k: 1e-3 * k if k < 4 else 1 / 0)
    report = loop.run(steps=10)
    assert report.status == "failed" and isinstance(report.error, ZeroDivisionError)
    assert commands(device) == [100, 200, 300] and device.state == "safe" and device.position[1] == 0


def test_a_command_that_is_no_number_is_not_sent():
    loop, _, device, _ = bench(path=lambda k: np.nan if k == 3 else 1e-3)
    report = loop.run(steps=10)
    assert report.status == "failed" and "nan" in report.reason
    assert len(device.accepted) == 2 and device.state == "safe"


def test_ctrl_c_ends_safe_and_is_passed_on():
    def press(k):
        if k == 3:
            raise KeyboardInterrupt
        return 1e-3

    loop, _, device, _ = bench(path=press)
    with pytest.raises(KeyboardInterrupt):
        loop.run(steps=10)
    assert device.state == "safe"


def test_a_lost_cable_is_noticed_and_the_device_saves_itself():
    loop, model, device, wire = bench()
    model.path = lambda k: setattr(wire, "cut", k >= 4) or 1e-3
    report = loop.run(steps=10)
    assert report.status == "failed" and "cut" in report.reason and len(device.accepted) == 3
    assert device.position[1] == 100  # nobody can tell it …
    device.tick(device.accepted[-1][0] + 0.19)
    assert device.state == "armed"
    device.tick(device.accepted[-1][0] + 0.21)  # … but its own watchdog
    assert device.state == "safe" and device.position[1] == 0


def test_a_silent_device_ends_it():
    loop, model, device, wire = bench()
    model.path = lambda k: setattr(wire, "back", (lambda d: b"") if k >= 4 else (lambda d: d)) or 1e-3
    report = loop.run(steps=10)
    assert report.status == "failed" and "does not answer" in report.reason
    assert device.state == "safe"  # it hears us, though we do not hear it


def test_a_silent_sensor_ends_it():
    loop, _, device, _ = bench(sensors=lambda clock: [Eye(clock, blind_after=0.1)], watchdog=0.06)
    report = loop.run(steps=50)
    assert report.status == "watchdog" and "eye" in report.reason
    assert device.state == "safe" and 7 <= report.periods <= 9
    assert not loop.sensors[0].opened


def test_a_model_that_takes_too_long_sends_nothing_any_more():
    loop, _, device, _ = bench(takes=lambda k: 0.15 if k == 4 else 0.0, watchdog=0.1)
    report = loop.run(steps=10)
    assert report.status == "watchdog" and "command" in report.reason
    assert len(device.accepted) == 3 and device.state == "safe"


class ByHand(SystemClock):
    """The machine's clock, as far as the loop can tell: it moves as a fake one does."""

    def __init__(self) -> None:
        super().__init__()
        self.fake = FakeClock()

    def now(self) -> float:
        return self.fake.now()

    def wait_until(self, time: float) -> None:
        self.fake.wait_until(time)


def test_a_model_that_hangs_is_not_waited_for():
    """The supervisor, a thread of its own, sends the safe state while the model is still computing."""
    device, clock = Microcontroller([1]), ByHand()
    wire = EmulatedWire(device, FakeClock())
    saved = threading.Event()

    class Hanging:
        steps = 0

        def step(self):
            self.steps += 1
            if self.steps == 3:
                clock.fake.advance(0.5)
                saved.set() if wait_for(lambda: device.state == "safe") else None
            row = {"cable": np.array([1e-3])}
            return SimpleNamespace(command=row, effort=row, displacement=row)

    drive = SerialLine(wire, [Channel("cable", 1, GAIN, safe=0.0)], watchdog=9.0)
    report = Loop(Hanging(), drive, rate=20, watchdog=0.2, clock=clock).run(steps=10)
    assert saved.is_set() and report.status == "watchdog" and len(device.accepted) == 1


def wait_for(condition, seconds: float = 120.0) -> bool:
    """Whether something happens within a long time."""
    for _ in range(int(100 * seconds)):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_one_device_that_cannot_be_opened_saves_the_others():
    clock = FakeClock()
    first, second = Microcontroller([1]), Microcontroller([1])
    good, bad = EmulatedWire(first, clock), EmulatedWire(second, clock)
    bad.out = lambda data: b""
    drives = [
        SerialLine(wire, [Channel(f"cable {k}", 1, GAIN, safe=0.0)], name=f"drive {k}")
        for k, wire in enumerate((good, bad))
    ]
    output = Output(drives)
    with pytest.raises(DeviceError, match="drive 1"):
        output.open()
    assert first.state == "safe" and output.state == "off"
    assert output.send({"cable 0": 1e-3, "cable 1": 1e-3}) == {} and not first.accepted


def test_a_driver_that_raises_does_not_keep_the_others_from_safety():
    clock, device = FakeClock(), Microcontroller([1])
    good = SerialLine(EmulatedWire(device, clock), [Channel("cable", 1, GAIN, safe=0.0)])

    class Broken:
        name, channels = "broken", (Channel("other", 1, GAIN),)

        def open(self): ...
        def send(self, counts): ...
        def safe(self):
            raise RuntimeError("broken")

        close = safe

    output = Output([Broken(), good])
    output.open()
    output.send({"cable": 1e-3, "other": 0.0})
    output.safe()
    assert device.state == "safe"
    output.close()


@given(
    st.lists(
        st.sampled_from(["ok"] * 6 + ["lost", "mute", "noise out", "noise back", "late", "cut"]), max_size=60
    ),
    st.randoms(),
)
@settings(max_examples=80)
def test_whatever_the_wire_does_the_device_ends_safe(faults, rng):
    """Each write may be lost, unanswered, damaged, answered late or the last.

    What the device took was meant; and it ends safe.
    """
    loop, _, device, wire = bench(channel=Channel("cable", 1, GAIN, limits=(0.0, 0.006), safe=0.0))
    ahead = iter(faults)

    def out(data: bytes) -> bytes:
        fault = next(ahead, "ok")
        wire.back = (lambda d: b"") if fault == "mute" else (lambda d: d)
        wire.delay = 0.03 if fault == "late" else 0.0
        if fault == "noise back":
            wire.back = lambda d: mangled(rng, d)
        wire.cut = wire.cut or fault == "cut"
        return b"" if fault in ("lost", "cut") else mangled(rng, data) if fault == "noise out" else data

    wire.out = out
    report = loop.run(steps=12)
    assert report.status in ("done", "failed", "watchdog")
    meant = {round(1e-3 * k * GAIN) for k in range(1, 7)}
    assert set(commands(device)) <= meant
    device.tick(wire.clock.now() + device.watchdog + 1e-6)
    assert device.state in ("safe", "idle") and device.position[1] == 0


@given(
    st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=20),
    st.tuples(st.floats(-0.5, 0.0), st.floats(0.0, 0.5)),
    st.floats(0.01, 5.0),
)
def test_limits_hold_for_any_commands(asked, limits, rate):
    channel = Channel("cable", 1, GAIN, limits=limits, rate=rate)
    output = Output([SerialLine("COM1", [channel])], dry=True)
    output.open()
    before = None
    for value in asked:
        row = {"cable": np.array([value])}
        values, met = output.limited(SimpleNamespace(command=row, effort=row, displacement=row), 0.02)
        now = values["cable"]
        assert limits[0] <= now <= limits[1]
        if before is not None:
            assert abs(now - before) <= 0.02 * rate + 1e-12
        assert (now == value) == (not met)
        output.send(values)
        before = now


class Catching:
    """A device that keeps all it was sent, and says where it stands."""

    name = "catching"

    def __init__(self, channel: Channel, at: int) -> None:
        self.channels, self.sent = (channel,), [at]

    def open(self): ...
    def safe(self): ...
    def close(self): ...

    def counts(self):
        return {1: self.sent[-1]}

    def send(self, counts):
        self.sent.append(counts[1])


ANYTHING = st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.lists(st.tuples(st.one_of(st.floats(-3.0, 3.0), ANYTHING), st.one_of(st.floats(-1.0, 1.0), ANYTHING))),
    st.tuples(st.floats(-0.5, 0.0), st.floats(0.0, 0.5)),
    st.floats(1e-3, 5.0),
    st.sampled_from([1, -1]),
)
def test_limits_hold_whatever_the_clock_says(turns, limits, rate, sign):
    """Times and targets of any kind, not even numbers: what leaves is within soft limits and the rate."""
    channel = Channel("cable", 1, GAIN, zero=17.0, sign=sign, limits=limits, rate=rate)
    device, longest = Catching(channel, channel.counts(0.0)), 0.04
    output = Output([device], longest=longest)
    output.open()
    low, high = channel.bounds
    for elapsed, value in turns:
        row = {"cable": np.array([value])}
        frame = SimpleNamespace(command=row, effort=row, displacement=row)
        if not np.isfinite(value):
            with pytest.raises(DeviceError, match="cable"):
                output.limited(frame, elapsed)
            continue
        output.send(output.limited(frame, elapsed)[0])
        *_, before, sent = device.sent
        assert isinstance(sent, int) and low <= sent <= high
        far = GAIN * rate * (min(elapsed, longest) if elapsed > 0 else 0.0)
        assert abs(sent - before) <= far + 1  # each is rounded by half a count
    for unlimited in (np.inf, -np.inf):
        output.send({"cable": unlimited})
        assert device.sent[-1] in channel.bounds


def test_a_clock_that_is_set_back_does_not_move_the_robot():
    """By a second, in the middle of a run: limits hold, the rhythm stays, nothing counts as missed."""
    channel = Channel("cable", 1, GAIN, limits=(-0.02, 0.02), rate=0.05, safe=0.0)  # 1 mm a period
    loop, model, device, wire = bench(channel=channel, path=lambda k: 0.02)
    model.takes = lambda k: -1.0 if k == 6 else 0.0
    report = loop.run(steps=30)
    sent = np.array(commands(device))
    assert (report.status, report.periods, report.missed) == ("done", 30, 0)
    assert sent.max() <= 2000 and sent.min() >= 0 and np.abs(np.diff(sent)).max() <= 200
    assert wire.clock.now() < 30 * 0.02  # it did not wait for the clock to come back to where it was


# Limits in the device


def test_a_microcontroller_is_told_the_soft_limits_and_refuses_what_is_beyond():
    channel = Channel("cable", 1, GAIN, zero=50.0, sign=-1, limits=(-0.005, 0.02), safe=0.0)
    device = Microcontroller([1])
    drive = SerialLine(EmulatedWire(device, FakeClock()), [channel])
    drive.open()
    assert device.limits[1] == channel.bounds == (50 - 2000, 50 + 500)
    drive.send({1: channel.counts(0.02)})
    for beyond in (0.0201, -0.0051):
        with pytest.raises(DeviceError, match="range"):
            drive.send({1: channel.counts(beyond)})  # past the loop, which would not
    assert commands(device) == [channel.counts(0.02)]
    with pytest.raises(InputError, match="can take"):
        Channel.valve("chamber", 1, full_scale=1e5, limits=(2e5, 3e5), safe=None)


def test_a_guard_refuses_what_is_beyond_the_soft_limits():
    from pliant.hardware.post import Post

    post = Post()
    post.device, post.state = Catching(Channel("cable", 1, GAIN, limits=(0.0, 0.01)), 0), "open"
    assert post.obey({"send": {"1": 1000}}) == {}
    assert (
        "'cable' was sent 1001 counts, beyond its limits 0 … 1000"
        in post.obey({"send": {"1": 1001}})["error"]
    )
    assert post.device.sent == [0, 1000]


# Emergency stop


def test_stop_from_code_takes_effect_at_once():
    loop, model, device, _ = bench()

    def path(k):
        if k == 4:
            loop.stop()
            assert device.state == "safe"  # before the step that pressed it is over
        return 1e-3 * k

    model.path = path
    report = loop.run(steps=10)
    assert (report.status, report.reason, len(device.accepted)) == ("stopped", "code", 3)
    with pytest.raises(InputError, match="emergency stop"):
        loop.run(steps=1)
    loop.emergency.release()
    model.path = lambda k: 0.0
    assert loop.run(steps=2).status == "done"


def test_a_stop_before_the_devices_are_armed_leaves_them_alone():
    loop, model, device, _ = bench()
    model.path = lambda k: loop.stop() or 0.0  # in the very first step
    assert loop.run(steps=5).status == "stopped" and not device.requests


def test_stop_from_another_thread_between_two_turns():
    """Pressed while the loop waits for its next period: safe before that period begins."""
    device = Microcontroller([1])
    drive = SerialLine(EmulatedWire(device, FakeClock()), [Channel("cable", 1, GAIN, safe=0.0)], watchdog=9.0)
    stop = Stop()
    row = {"cable": np.array([1e-3])}
    frame = SimpleNamespace(command=row, effort=row, displacement=row)
    loop = Loop(SimpleNamespace(step=lambda: frame), drive, rate=0.01, stop=stop)  # a period of 100 s
    thread = threading.Thread(target=lambda: wait_for(lambda: device.accepted) and stop.press("other thread"))
    thread.start()
    report = loop.run(steps=5)
    thread.join()
    assert report.status == "stopped" and len(device.accepted) == 1 and device.state == "safe"
    stop.release()
    loop.period = 0.1
    begun = time.perf_counter()
    loop.run(steps=3)
    assert time.perf_counter() - begun >= 0.2  # it waits again between turns


def test_a_stop_while_the_wire_is_busy_is_not_mixed_up():
    """A device that is asked all the time by one thread, and stopped from another."""
    device = Microcontroller([1])
    drive = SerialLine(EmulatedWire(device, FakeClock()), [Channel("cable", 1, GAIN, safe=0.0)], watchdog=9.0)
    output, ready = Output([drive]), threading.Event()
    output.open()

    def busy():
        for k in range(3000):
            output.send({"cable": 1e-5 * k})
            drive.counts()
            if k == 100:
                ready.set()

    thread = threading.Thread(target=busy)
    thread.start()
    assert ready.wait(120.0)
    output.safe()
    last = len(device.accepted)
    thread.join()
    assert device.state == "safe" and device.position[1] == 0 and len(device.accepted) == last
    assert drive.repeated == 0


def test_stop_from_the_keyboard():
    master, slave = os.openpty()
    stop = Stop()
    with os.fdopen(slave, "rb", buffering=0) as terminal, Keyboard(stop, terminal):
        os.write(master, b"x")
        assert not stop.wait(0.2)  # not every key
        os.write(master, b" ")
        assert stop.wait(120.0) and stop.reason == "keyboard"
    os.close(master)
    with open(os.devnull) as nothing, Keyboard(Stop(), nothing):
        pass  # no terminal: no complaint


def test_stop_from_signals():
    stop, before = Stop(), signal.getsignal(signal.SIGINT)  # what runs in the background may ignore it
    with Signals(stop):
        assert signal.getsignal(signal.SIGINT) is not before
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(120.0) and stop.reason == "SIGTERM"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture(scope="module")
def bar() -> pl.Robot:
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1), kind="hex")
    body = pl.Solid(
        mesh, pl.Hooke(3e5, 0.45), density=1100.0, fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    )
    path = [[x, 0.01, 0.016] for x in np.linspace(0.0, 0.095, 5)]
    rows = {
        "cable": pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=(0, 20), displacement=(-0.02, 0.02))),
        "tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]]), directions="z"), pl.Target((0.02,))),
    }
    return pl.Robot(body, rows, name="bar")


def test_a_session_drives_a_device_and_the_studio_stops_it(bar):
    from pliant.studio.desk import Desk
    from pliant.studio.messages import Play

    device, clock = Microcontroller([1]), FakeClock()
    drive = SerialLine(
        EmulatedWire(device, clock), [Channel.spool("cable", 1, radius=0.01, safe=0.0)], watchdog=9.0
    )
    desk, stop = Desk({"bar": lambda: Session(bar)}, "bar"), Stop()
    studio_stop(desk, stop)
    with Follower(desk.session, [drive], stop=stop, clock=clock) as follower:
        for _ in range(20):
            desk.tick()
            clock.advance(0.02)
        stroke = desk.session.frame.command["cable"][0]
        assert stroke > 1e-3 and device.position[1] == drive.channels[0].counts(stroke)
        desk.do(Play(do="play", on=False))
        assert stop.reason == "studio" and device.state == "safe" and device.position[1] == 0
        desk.session.step()
        assert device.state == "safe"  # nothing is sent any more …
        follower.resume()  # … until someone says so
        desk.session.step()
        assert device.state == "armed"
        clock.advance(1.0)
        assert not follower.check(clock.now()) and device.state == "safe"  # a studio that hangs
    assert desk.session.listeners == []


def test_the_inverse_model_drives_a_device(bar):
    device, clock = Microcontroller([1]), FakeClock()
    drive = SerialLine(EmulatedWire(device, clock), [Channel.spool("cable", 1, radius=0.01)], watchdog=9.0)
    inverse = pl.Inverse(bar)
    report = Loop(inverse, drive, rate=50, clock=clock).run(steps=30)
    assert report.status == "done"
    result = pl.static(bar, {"cable": pl.Known(displacement=drive.channels[0].value(device.position[1]))})
    assert result.displacement["tip"][0] == pytest.approx(0.02, abs=1e-4)
    with pytest.raises(InputError, match="wire"):
        Loop(inverse, SerialLine("COM1", [Channel("wire", 1, 1.0)]))


# A killed process

KILLED = """
import numpy as np, sys
from types import SimpleNamespace
from pliant.hardware import Channel, Guarded, Loop, SerialLine
channels = [Channel("cable", 1, 1e5, safe=0.0)]
port, guarded = sys.argv[1], sys.argv[2] == "guarded"
options = dict(timeout=20.0, watchdog=10.0)
if guarded:
    drive = Guarded("serial", channels, silence=60.0, wire=port, **options)
else:
    drive = SerialLine(port, channels, **options)
row = {"cable": np.array([3e-3])}
frame = SimpleNamespace(command=row, effort=row, displacement=row)
Loop(SimpleNamespace(step=lambda: frame), drive, rate=50, watchdog=60.0).run()
"""


@pytest.mark.parametrize("how", ["watchdog", "guarded"])
def test_a_killed_process_leaves_the_device_safe(how):
    """SIGKILL: no handler runs.

    The device's own watchdog sees to it, or the guard, which outlives its master.
    """
    device, clock = Microcontroller([1]), FakeClock()
    with Terminal(device, clock=clock.now) as terminal:
        process = subprocess.Popen([sys.executable, "-c", KILLED, terminal.port, how])
        assert wait_for(lambda: len(device.accepted) > 5)
        assert device.position[1] == 300 and device.state == "armed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        if how == "watchdog":
            clock.advance(10.1)
        assert wait_for(lambda: device.state == "safe")
        assert device.position[1] == 0
        if how == "guarded":  # it was told: no time has passed for the device's own watchdog
            assert device.requests[-1].verb == "Z"


def test_a_guard_passes_errors_on_and_retreats_from_silence():
    device = Microcontroller([1])
    with Terminal(device, clock=FakeClock().now) as terminal:
        drive = Guarded(
            "serial",
            [Channel("cable", 1, GAIN, safe=0.0)],
            silence=0.5,
            watchdog=10.0,
            wire=terminal.port,
            timeout=20.0,
        )
        with pytest.raises(DeviceError, match="not open"):
            drive.send({1: 1})
        device.position[1] = 55
        drive.open()
        assert drive.counts() == {1: 55}  # nobody is in a hurry before the first command
        drive.send({1: 77})
        assert commands(device) == [77]
        assert wait_for(lambda: device.state == "safe")  # nothing was said for a while
        with pytest.raises(DeviceError, match="safe state"):
            drive.send({1: 78})
        assert device.position[1] == 0
        drive.close()
    broken = Guarded("serial", [Channel("cable", 1, GAIN)], wire="no-such-port")
    with pytest.raises(DeviceError, match="cannot be opened"):
        broken.open()
    broken.close()


# Recorded and replayed


def test_a_recorded_run_goes_through_the_model_again(bar, tmp_path):
    """What was sent, imposed on the model, brings the tip where the sensor saw it."""
    from pliant.hardware.replay import replay
    from pliant.io.recording import Recorder, Recording

    device, clock, session = Microcontroller([1]), FakeClock(), Session(bar)
    drive = SerialLine(EmulatedWire(device, clock), [Channel.spool("cable", 1, radius=0.01)], watchdog=9.0)

    class Camera(Eye):
        def read(self):
            stroke = drive.channels[0].value(device.position[1])
            tip = pl.static(bar, {"cable": pl.Known(displacement=stroke)}).displacement["tip"]
            return Reading(self.clock.now(), {"tip": tip})

    with Recorder(tmp_path / "run.mcap", session.stage) as recorder:
        Loop(session, drive, Camera(clock), rate=50, clock=clock, recorder=recorder).run(steps=40)
    recording = Recording.read(tmp_path / "run.mcap")
    assert len(recording) == 40
    again = list(replay(recording, bar, every=13))
    assert len(again) == 4 and again[-1].time == pytest.approx(39 * 0.02)
    count = 2 * np.pi * 0.01 / 4096  # [m] of stroke; the tip moves a few times as far
    assert again[-1].error["tip"] < 5 * count
    softer = pl.Robot(
        bar.bodies, bar.rows, gravity=(0.0, 0.0, -9.81)
    )  # another model: the same bar with its weight
    assert list(replay(recording, softer, every=39))[-1].error["tip"] > 1e-4
