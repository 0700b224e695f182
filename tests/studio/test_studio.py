"""The studio without sockets: messages, packets, viewers, the loop.

No clock: time is a number that tests set.
"""

from __future__ import annotations

import asyncio
import errno
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import pliant as pl
from pliant.frame import Frame, Touch
from pliant.io.packet import frame_packet, quantised, stage_packet, unpack
from pliant.io.recording import Recorder, Recording
from pliant.session import Session
from pliant.stage import Stage
from pliant.studio import messages
from pliant.studio.desk import MOST_OBSTACLES, SETTLED, Desk, View
from pliant.studio.limits import UNSEEN
from pliant.studio.loop import SHOWN, Inbox, Loop, Pace
from pliant.studio.viewer import Viewer
from tests.studio.robots import bar


@pytest.fixture(scope="module")
def robot():
    return bar()


@pytest.fixture
def desk(robot, tmp_path):
    robots = {"bar": lambda: Session(robot), "other": lambda: Session(robot, mode="forward")}
    return Desk(robots, "bar", folder=tmp_path)


def say(**message):
    return messages.parse(json.dumps(message))


# Messages

GOOD = [
    {"do": "ack", "serial": 3},
    {"do": "look", "field": "stress"},
    {"do": "control", "take": True},
    {"do": "aim", "row": "tip", "value": [0.1, 0, 0.02]},
    {"do": "drive", "row": "upper", "kind": "effort", "value": [1]},
    {"do": "mode", "mode": "forward"},
    {"do": "mode", "mode": "dynamic"},
    {"do": "play", "on": False},
    {"do": "step"},
    {"do": "reset"},
    {"do": "speed", "value": 0.5},
    {"do": "add", "kind": "sphere", "at": [0, 0, 1], "size": 0.02},
    {"do": "move", "name": "sphere", "at": [0, 0, 1]},
    {"do": "form", "name": "sphere", "numbers": {"radius": [0.02]}},
    {"do": "remove", "name": "sphere"},
    {"do": "cut", "row": "upper", "on": True},
    {"do": "push", "vertices": [0, 1, 2], "weights": [0.5, 0.5, 0], "force": [0, 0, 1]},
    {"do": "probe", "vertices": [0, 1, 2], "weights": [0.5, 0.5, 0]},
    {"do": "robot", "name": "other"},
    {"do": "record", "on": True},
    {
        "do": "upload",
        "name": "part",
        "kind": "stl",
        "at": 0,
        "total": 3,
        "data": "AAAA",
        "unit": "mm",
        "size": 0.004,
    },
    {"do": "remesh", "size": 0.005},
    {"do": "clamp", "at": [0, 0, 0.1], "normal": [0, 0, 1]},
    {"do": "cable", "name": "", "through": [[0, 0, 0], [0, 0, 0.1]]},
    {"do": "chamber", "number": 1, "on": True},
    {"do": "effector", "name": "tip", "at": [0, 0, 0]},
    {"do": "material", "name": "ecoflex 00-30"},
    {"do": "gravity", "value": [0, 0, -9.81]},
    {"do": "limit", "name": "cable 1", "value": 5},
    {"do": "forget", "name": "cable 1"},
    {"do": "fast", "on": True},
    {"do": "undo"},
    {"do": "save", "name": "my finger"},
    {"do": "open", "name": "my finger"},
]


def test_every_message_is_tried_here_and_stands_in_the_docs():
    assert {message["do"] for message in GOOD} == set(messages.MESSAGES)
    page = (Path(pl.__file__).parent.parent / "docs" / "studio.md").read_text(encoding="utf-8")
    for name, made in messages.MESSAGES.items():
        fields = ", ".join(f"`{field}`" for field in made.model_fields if field != "do")
        assert f"| `{name}` | {fields}{' ' if fields else ''}|" in page, name


@pytest.mark.parametrize("message", GOOD, ids=lambda m: m["do"])
def test_every_message_has_one_form(message):
    """Nothing can be added, left out or changed in kind."""
    assert messages.parse(json.dumps(message)).model_dump() == message
    bad = [{**message, "path": "x"}, {**message, "do": "run"}]
    bad += [{k: v for k, v in message.items() if k != key} for key in message]
    bad += [{**message, key: {"a": 1}} for key in message]
    bad += [{**message, key: "x " * 50} for key, value in message.items() if isinstance(value, str)]
    for wrong in bad:
        with pytest.raises(ValidationError):
            messages.parse(json.dumps(wrong))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "1e12", '"1"', "null", "true"])
def test_numbers_are_finite_and_bounded(number):
    for text in (
        f'{{"do":"aim","row":"tip","value":[{number}]}}',
        f'{{"do":"move","name":"a","at":[0,0,{number}]}}',
        f'{{"do":"push","vertices":[0,1,2],"weights":[1,0,0],"force":[0,0,{number}]}}',
    ):
        with pytest.raises(ValidationError):
            messages.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 4000,
        '{"do":' * 600,
        '{"do":"ack","serial":' + "9" * 3000 + "}",
        '{"do":"aim","row":"tip","value":[' + "9" * 3000 + "]}",
        '{"do":"aim","row":"\\ud800","value":[0]}',
        b'{"do":"robot","name":"\xed\xa0\x80"}',
    ],
    ids=["nested", "nested objects", "huge", "huge in a list", "surrogate", "surrogate in UTF-8"],
)
def test_strange_values_are_refused(text):
    with pytest.raises(ValidationError):
        messages.parse(text)


@given(st.one_of(st.text(max_size=80), st.binary(max_size=80)))
def test_garbage_is_refused(text):
    with pytest.raises(ValidationError):
        messages.parse(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda c: (
            st.lists(c, max_size=4)
            | st.dictionaries(st.sampled_from(["do", "row", "value", "at", "on"]), c, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_other_json_is_refused(value):
    with pytest.raises(ValidationError):
        messages.parse(json.dumps(value))


# Packets


def test_positions_are_exact_to_half_a_step(robot):
    frame, stage = Session(robot).step(), Stage.of(robot)
    header, blocks = unpack(frame_packet(frame, stage, {}))
    box = np.array(header["box"])
    skin = box[:3] + box[3:] * blocks["skin"].reshape(-1, 3)
    error = np.abs(skin - frame.positions[stage.vertices])
    assert (error <= 0.5001 * box[3:]).all() and box[3:].max() < 2e-6
    lines = box[:3] + box[3:] * blocks["lines"].reshape(-1, 3)
    np.testing.assert_allclose(lines, frame.lines, atol=2e-6)


def test_a_scene_packet_holds_the_skin(robot):
    stage = Stage.of(robot)
    header, blocks = unpack(stage_packet(stage, {"robots": {}}))
    np.testing.assert_array_equal(blocks["triangles"].reshape(-1, 3), stage.triangles)
    np.testing.assert_allclose(blocks["rest"].reshape(-1, 3), stage.rest, atol=1e-7)
    tip = next(row for row in header["rows"] if row["name"] == "tip")
    assert tip["effort"] == [None, None] and header["cables"] == [["upper", 11], ["lower", 11]]


def test_a_frame_of_5000_vertices_is_small():
    x = np.random.default_rng(0).random((5000, 3))
    stage = Stage(
        "r",
        "",
        1.0,
        np.array([0, 0, 1.0]),
        x,
        np.arange(5000),
        np.zeros((0, 3), int),
        np.zeros(5000, int),
        (),
        (),
        (),
    )
    none = np.zeros((0, 3))
    frame = Frame(0, 0.0, "inverse", x, none, {}, {}, {}, {}, {}, Touch(none, none), "moving", "")
    assert len(frame_packet(frame, stage, {})) < 31_000
    assert len(frame_packet(frame, stage, {}, ("stress", np.ones(5000)))) < 36_000


@given(st.lists(st.tuples(*[st.floats(-10, 10)] * 3), max_size=20))
def test_quantisation_keeps_to_its_box(points):
    p = np.array(points, float).reshape(-1, 3)
    whole, box = quantised(p)
    back = np.array(box[:3]) + np.array(box[3:]) * whole
    assert np.abs(back - p).max(initial=0.0) <= 0.51 * max(box[3:])


# Viewers


class Wire:
    """What a viewer sent. `stalled`: the browser takes nothing more."""

    def __init__(self):
        self.sent, self.stalled = [], asyncio.Event()
        self.stalled.set()

    async def send(self, data):
        await self.stalled.wait()
        self.sent.append(data)


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


def views(robot, count):
    session = Session(robot)
    stage = session.stage
    return [View(session.step(), stage, {"n": n}) for n in range(count)]


def run_viewer(script):
    async def main():
        wire = Wire()
        viewer = Viewer(wire.send, lambda view, what: (what or "frame", view.state["n"]))
        task = asyncio.create_task(viewer.run())
        await script(viewer, wire)
        task.cancel()

    asyncio.run(main())


def test_at_most_six_frames_are_on_their_way_and_the_newest_wins(robot):
    async def script(viewer, wire):
        for view in views(robot, UNSEEN + 4):
            viewer.show(view)
            await settle()
        frames = [d for d in wire.sent if d[0] == "frame"]
        assert frames == [("frame", k) for k in range(UNSEEN)] and viewer.unseen == UNSEEN
        viewer.acknowledge(1)
        await settle()
        assert [d for d in wire.sent if d[0] == "frame"][-1] == (
            "frame",
            UNSEEN + 3,
        )  # those between were never sent
        viewer.acknowledge(99)  # not sent yet: ignored
        assert viewer.unseen == UNSEEN

    run_viewer(script)


def test_a_stalled_page_delays_nobody(robot):
    """`show` returns at once, and keeps only the newest view."""

    async def script(viewer, wire):
        wire.stalled.clear()
        for view in views(robot, 5):
            viewer.show(view)
            await settle()
        assert wire.sent == []
        wire.stalled.set()
        await settle()
        assert [d for d in wire.sent if d[0] == "frame"] == [("frame", 0), ("frame", 4)]

    run_viewer(script)


def test_the_scene_comes_first_and_obstacles_when_they_change(robot):
    async def script(viewer, wire):
        session = Session(robot)
        session.add(pl.Sphere((0, 0, 1), 0.1))
        session.add(pl.Sphere((0, 0, 2), 0.1))
        show = lambda: viewer.show(View(session.step(), session.stage, {"n": 0}))
        show()
        await settle()
        assert wire.sent[0] == ("stage", 0) and json.loads(wire.sent[1])["names"] == ["sphere", "sphere 2"]
        assert wire.sent[2] == ("frame", 0)
        session.move("sphere", (0, 0, 1.5))
        viewer.acknowledge(1)
        show()
        await settle()
        note = json.loads(wire.sent[3])
        assert list(note["changed"]) == ["sphere"] and note["changed"]["sphere"]["centre"] == [0, 0, 1.5]
        session.remove("sphere 2")
        viewer.acknowledge(2)
        show()
        await settle()
        assert json.loads(wire.sent[5]) == {"type": "obstacles", "names": ["sphere"], "changed": {}}

    run_viewer(script)


def test_notes_that_wait_replace_each_other(robot):
    """However many are told to a page that does not read, two wait for it: one of each kind."""

    async def script(viewer, wire):
        wire.stalled.clear()
        viewer.tell(type="control", held="you", viewers=1)
        await settle()
        for n in range(1000):
            viewer.tell(type="refused", why=f"{n}")
            viewer.tell(type="control", held="other", viewers=n)
            await settle()
        wire.stalled.set()
        await settle()
        said = [json.loads(note) for note in wire.sent]
        assert [note["type"] for note in said] == ["control", "refused", "control"]
        assert said[1]["why"] == "999" and said[2]["viewers"] == 999

    run_viewer(script)


# The loop


def test_commands_that_replace_each_other_are_joined():
    inbox = Inbox(most=4)
    for n in range(100):
        assert inbox.put(say(do="aim", row="tip", value=[n]))
    assert inbox.put(say(do="aim", row="top", value=[0]))
    assert inbox.put(say(do="step")) and inbox.put(say(do="reset"))
    assert not inbox.put(say(do="play", on=True))  # full
    commands = inbox.take()
    assert [type(c).__name__ for c in commands] == ["Aim", "Aim", "Step", "Reset"] and commands[0].value == [
        99.0
    ]
    assert inbox.take() == []


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def started(*works):
    """When steps that take so long begin [s], and the pace."""
    clock = Clock()
    pace, starts = Pace(clock), []
    for work in works:
        clock.now += pace.wait(0.02)
        pace.begin()
        starts.append(round(clock.now, 3))
        clock.now += work
    return starts, pace


def test_the_pace_is_fixed_and_a_late_step_is_made_good():
    starts, pace = started(0.005, 0.005, 0.050, 0.005, 0.005, 0.005, 0.005)
    assert starts == [0.02, 0.04, 0.06, 0.11, 0.115, 0.12, 0.14]
    assert pace.punctual(0.02) == pytest.approx(6 / 7)


def test_what_is_very_late_is_let_go():
    """After three seconds, one of them is made good: by steps of 5 ms, 15 ms each."""
    starts, _ = started(0.005, 3.0, *[0.005] * 80)
    assert starts[1:5] == [0.04, 3.04, 3.045, 3.05]
    hurried = np.diff(starts[2:]) < 0.019
    assert hurried.sum() == np.ceil(1.0 / 0.015) and not hurried[-8:].any()
    assert starts[-1] - starts[-2] == pytest.approx(0.02)


def looped(desk):
    """A loop without a thread: tests call `turn`."""
    clock, seen = Clock(), []
    loop = Loop(lambda: desk, seen.append, clock=clock)
    loop.desk = desk
    return loop, clock, seen


@pytest.mark.parametrize(("period", "jitter"), [(0.01, 0.0), (0.02, 0.0), (1 / 30, 1e-3), (0.05, 0.0)])
def test_views_come_thirty_times_a_second_or_at_every_step(desk, monkeypatch, period, jitter):
    """Whatever the rate of the steps, and however unpunctual they are by a millisecond."""
    loop, clock, seen = looped(desk)
    monkeypatch.setattr(desk.session, "step", lambda: None)  # not what this is about
    count = round(2.0 / period)
    begin = clock.now
    for k in range(count):
        clock.now = begin + k * period + jitter * (-1) ** k
        loop.put(say(do="aim", row="tip", value=[0.1, 0.01, 0.01]))  # dragging brings no more of them
        loop.turn()
    assert len(seen) == pytest.approx(min(2.0 / SHOWN, count), abs=2)


def test_a_view_that_is_asked_for_puts_off_no_other(desk, monkeypatch):
    """Someone who asks at every step, or comes and goes, delays nobody's views afterwards."""
    loop, clock, seen = looped(desk)
    monkeypatch.setattr(desk.session, "step", lambda: None)

    def run(steps):
        before = len(seen)
        for _ in range(steps):
            clock.now += 0.02
            loop.turn()
        return len(seen) - before

    for _ in range(100):
        loop.refresh()
        assert run(1) == 1
    assert run(50) == pytest.approx(1.0 / SHOWN, abs=2)


def test_a_robot_at_rest_is_not_stepped_while_nobody_looks(desk):
    """A command, a viewer, a recording or any other listener wakes it at once; nothing else has to."""
    loop, _, _ = looped(desk)

    def steps(turns=3):
        before = desk.session.count
        for _ in range(turns):
            loop.turn()
        return desk.session.count - before

    def settled():
        return any(not steps(1) for _ in range(1000))

    assert steps(200) == 200  # someone looks
    loop.watched = False
    assert settled() and steps() == 0
    loop.put(say(do="aim", row="tip", value=[0.098, 0.01, 0.02]))
    assert steps() == 3 and settled()
    assert desk.session.frame.status != "moving" and desk.session.frame.target["tip"][2] == 0.02
    loop.put(say(do="record", on=True))
    assert steps(100) == 100 and desk.recorder.count == 101
    loop.put(say(do="record", on=False))
    assert settled()
    desk.session.listeners.append(lambda frame: None)  # such as devices that follow
    assert steps() == 3
    desk.session.listeners.clear()
    assert steps() == 0
    loop.watched = True
    assert steps() == 3


def test_a_robot_in_motion_is_stepped_though_nobody_looks(robot):
    """What swings goes on; it is at rest when nothing has moved for a while, not at a turning point."""
    desk = Desk({"bar": lambda: Session(robot, mode="dynamic")}, "bar")
    loop, _, _ = looped(desk)
    loop.watched, tip = False, [int(desk.session.stage.rest[:, 0].argmax())] * 3
    for force in (0.3, 0.0):  # pull, and let go
        loop.put(say(do="push", vertices=tip, weights=[1, 0, 0], force=[0, 0, force]))
        for _ in range(SETTLED + 10):
            loop.turn()
    assert desk.session.count == 2 * (SETTLED + 10) and not desk.rests


def test_pause_holds_and_step_steps(desk):
    loop, clock, seen = looped(desk)
    loop.put(say(do="play", on=False))
    for _ in range(5):
        loop.turn()
        clock.now += 1.0
    assert desk.session.count == 0 and len(seen) == 1 and not seen[-1].state["playing"]
    loop.put(say(do="step"))
    loop.turn()
    loop.turn()
    assert desk.session.count == 1 and seen[-1].frame.step == 1


def test_commands_reach_the_session(desk):
    loop, _, seen = looped(desk)
    for message in (
        {"do": "aim", "row": "tip", "value": [0.098, 0.01, 0.02]},
        {"do": "add", "kind": "box", "at": [0.1, 0.01, 0.2], "size": 0.02},
        {"do": "cut", "row": "lower", "on": True},
        {"do": "push", "vertices": [0, 1, 2], "weights": [1, 0, 0], "force": [0, 0.01, 0]},
    ):
        loop.put(messages.parse(json.dumps(message)))
    loop.turn()
    frame = seen[-1].frame
    np.testing.assert_allclose(frame.target["tip"], [0.098, 0.01, 0.02])
    assert list(frame.obstacles) == ["block"] and frame.lost == ("lower",)
    np.testing.assert_allclose(frame.push.force, [0, 0.01, 0])
    loop.put(say(do="mode", mode="forward"))
    loop.put(say(do="drive", row="upper", kind="displacement", value=[0.004]))
    loop.turn()
    assert seen[-1].state["asked"]["upper"] == ["displacement", 0.004]


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ({"do": "aim", "row": "nose", "value": [1]}, "nose"),
        ({"do": "aim", "row": "tip", "value": [1, 2]}, "3 numbers"),
        ({"do": "push", "vertices": [0, 1, 2000000], "weights": [1, 0, 0], "force": [0, 0, 1]}, "vertices"),
        ({"do": "remove", "name": "ghost"}, "ghost"),
        ({"do": "robot", "name": "../../etc"}, "etc"),
    ],
)
def test_wrong_commands_become_notices(desk, message, word):
    loop, _, seen = looped(desk)
    loop.put(messages.parse(json.dumps(message)))
    loop.turn()
    assert word in seen[-1].state["notice"] and desk.session.count == 1


def test_reset_keeps_mode_and_obstacles_by_the_names_of_their_buttons(desk):
    desk.do(say(do="add", kind="sphere", at=[0, 0, 1], size=0.02))
    desk.do(say(do="add", kind="cylinder", at=[0, 0.5, 1], size=0.02))
    desk.do(say(do="mode", mode="forward"))
    desk.do(say(do="reset"))
    assert not desk.notice
    assert desk.session.mode == "forward" and list(desk.session.obstacles) == ["ball", "post"]


def test_a_point_of_the_skin_says_its_stress(desk):
    desk.do(say(do="aim", row="tip", value=[0.095, 0.01, 0.03]))
    for _ in range(3):
        desk.tick()
    assert "probe" not in desk.view().state
    desk.do(say(do="probe", vertices=[0, 1, 2], weights=[0.5, 0.25, 0.25]))
    stress = desk.session.field("stress")[desk.session.stage.vertices[:3]]
    assert desk.view().state["probe"]["stress"] == pytest.approx(stress @ [0.5, 0.25, 0.25])
    desk.do(say(do="probe", vertices=[0, 1, 2**31], weights=[0.5, 0.25, 0.25]))
    assert "vertices" in desk.notice
    desk.do(say(do="probe", vertices=[], weights=[]))
    assert "probe" not in desk.view().state


def test_there_is_an_end_to_obstacles(desk):
    for _ in range(MOST_OBSTACLES + 3):
        desk.do(say(do="add", kind="sphere", at=[0, 0, 5], size=0.1))
    assert len(desk.session.obstacles) == MOST_OBSTACLES and "at most" in desk.notice


def test_fields_are_computed_only_when_someone_looks(desk, monkeypatch):
    asked = []
    field = desk.session.field
    monkeypatch.setattr(desk.session, "field", lambda name: asked.append(name) or field(name))
    assert desk.view().fields == {} and asked == []
    assert list(desk.view(frozenset({"stress"})).fields) == ["stress"] and asked == ["stress"]


def test_recordings_go_on_without_viewers_and_end_with_the_robot(desk, tmp_path):
    loop, _, _ = looped(desk)
    loop.put(say(do="record", on=True))
    for _ in range(5):
        loop.turn()
    assert desk.view().state["recording"] == 6  # the first frame, and one per step
    loop.put(say(do="robot", name="other"))
    loop.turn()
    assert desk.view().state["recording"] is None and desk.name == "other"
    (path,) = desk.recordings
    assert path == tmp_path / "bar-1.mcap" and len(Recording.read(path)) == 6
    desk.start_recording()
    desk.stop_recording()
    assert [p.name for p in desk.recordings] == ["bar-1.mcap", "other-1.mcap"]
    desk.start_recording()
    loop.put(say(do="reset"))  # time begins anew: so would a recording
    loop.turn()
    assert desk.recorder is None and len(desk.recordings) == 3


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("failing", [("write",), ("write", "close"), ("close",)], ids="+".join)
def test_a_full_disk_ends_the_recording_and_nothing_else(desk, monkeypatch, failing):
    loop, _, _ = looped(desk)
    loop.put(say(do="record", on=True))
    for _ in range(5):
        loop.turn()
    path = desk.recorder.path
    for method in failing:
        monkeypatch.setattr(desk.recorder, method, full)
    if failing == ("close",):
        loop.put(say(do="record", on=False))
    loop.turn()
    assert "No space left" in desk.notice and desk.view().state["recording"] is None
    assert desk.playing and desk.session.count == 6 and desk.recordings == [path]
    if "close" not in failing:
        assert len(Recording.read(path)) == 6
    for command in ({"do": "record", "on": False}, {"do": "reset"}, {"do": "robot", "name": "other"}):
        loop.put(say(**command))
        loop.turn()
        assert not desk.notice
    loop.put(say(do="record", on=True))
    loop.turn()
    assert desk.recorder is not None and not desk.notice and desk.name == "other"
    monkeypatch.setattr(desk.recorder, "close", full)
    desk.stop_recording()  # as the loop does at its end: it never raises
    assert desk.recorder is None and desk.session.listeners == []


def test_a_recording_cannot_begin_on_a_full_disk(desk, monkeypatch):
    monkeypatch.setattr(Recorder, "write", full)
    desk.do(say(do="record", on=True))
    assert "No space left" in desk.notice and desk.recorder is None and desk.session.listeners == []


def test_studios_that_start_together_record_to_different_files(desk, monkeypatch):
    """Between a look whether a name is free and the opening of the file another studio may take it."""
    taken, exists = [], Path.exists

    def look(path, **options):
        there = exists(path, **options)
        if not there and path.suffix == ".mcap":
            path.write_bytes(b"of another studio")
            taken.append(path)
        return there

    monkeypatch.setattr(Path, "exists", look)
    desk.start_recording()
    desk.stop_recording()
    assert desk.recordings and not set(taken).intersection(desk.recordings)


@pytest.mark.parametrize(
    "error", [pl.InputError("state", expected="a state", got="none"), ZeroDivisionError("a state")]
)
def test_a_failing_step_pauses_and_says_why(desk, monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setattr(desk.session, "step", fail)
    loop, _, seen = looped(desk)
    loop.turn()
    assert not desk.playing and "a state" in seen[-1].state["notice"]
    monkeypatch.undo()
    loop.put(say(do="reset"))
    loop.put(say(do="play", on=True))
    loop.turn()
    assert desk.session.count == 1 and not seen[-1].state["notice"]
