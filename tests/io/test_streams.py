"""Marker frames from files, NatNet and JSON: what is sent is read, garbage is not, the newest wins."""

import json
import socket
import struct
from itertools import count
from time import monotonic, sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.io.streams import (
    Frame,
    JsonEmulator,
    JsonUdp,
    MarkerFile,
    NatNet,
    NatNetEmulator,
    Reader,
    write_markers,
)
from pliant.io.streams.emulator import encode_frame
from pliant.io.streams.natnet_wire import Malformed, decode_frame

NAN = float("nan")
VERSIONS = [(3, 0), (3, 1), (4, 0), (4, 1), (4, 2)]
SEEN = Frame(2.5, [[0.1, 0.2, 0.3], [NAN, 0, 0], [0.4, 0.5, 0.6], [1, 2, 3]], ("3:1", "3:2", "", "4:7"))


def same(a, b, tolerance=1e-12):
    assert a.points == pytest.approx(b.points, abs=tolerance, nan_ok=True) and a.time == b.time
    assert a.labels == b.labels


def until(condition, seconds=120.0):
    """Wait for another thread, not for a speed."""
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, "it never came to that"
        sleep(0.002)


# Frames


def test_frames_are_checked_and_arranged():
    frame = Frame(1, [[1, 2, 3], [4, NAN, 6]], ("a", "b"))
    assert np.isnan(frame.points[1]).all()  # half a position is none
    placed = frame.arranged(["b", "c", "a"])
    assert np.isnan(placed[:2]).all() and (placed[2] == [1, 2, 3]).all()
    for wrong in (
        (NAN, [[1, 2, 3]]),
        (0, [[1, 2]]),
        (0, [[1, 2, 3]], ("a", "b")),
        (0, "points"),
        ("now", []),
    ):
        with pytest.raises(pl.InputError):
            Frame(*wrong)
    assert len(Frame(0, [])) == 0


# NatNet


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("full", [False, True])
def test_natnet_frames_are_read_as_they_were_written(version, full):
    """Other sections before and after the markers change nothing; occluded markers are left out."""
    data = encode_frame(SEEN, 12, version, full=full)
    number, frame = decode_frame(data[4:], version)
    assert number == 12 and frame.time == 2.5
    assert frame.labels == ("3:1", "", "4:7")
    assert frame.points == pytest.approx(SEEN.points[[0, 2, 3]], rel=1e-6)


def test_natnet_layout_byte_by_byte():
    """A message of version 3.0 written by hand, not by our encoder: one other marker and one labelled one."""
    zero = struct.pack("<i", 0)
    content = struct.pack("<i", 5) + struct.pack("<i", 1) + b"set\0" + struct.pack("<i3f", 1, 9, 9, 9)
    content += struct.pack("<i3f", 1, 7.0, 8.0, 9.0)  # another marker
    content += struct.pack("<i", 1) + struct.pack("<i3f4ffh", 1, 0, 0, 0, 0, 0, 0, 1, 1e-4, 1)  # a rigid body
    content += zero  # skeletons
    content += struct.pack("<i", 1) + struct.pack("<i3ffhf", (2 << 16) + 3, 0.5, 0.25, 0.125, 0.01, 2, 1e-4)
    content += zero + zero  # force plates, devices
    content += struct.pack("<IIdQQQhi", 0, 0, 42.5, 1, 2, 3, 0, 0)
    number, frame = decode_frame(content, (3, 0))
    assert number == 5 and frame.time == 42.5 and frame.labels == ("2:3", "")
    assert frame.points.tolist() == [[0.5, 0.25, 0.125], [7.0, 8.0, 9.0]]


def test_unlabelled_points_are_counted_once():
    """Motive sends them twice: among the others and among the labelled ones."""
    frame = decode_frame(encode_frame(Frame(1.0, np.eye(3)), 1, (4, 1))[4:], (4, 1))[1]
    assert frame.labels is None and frame.points == pytest.approx(np.eye(3))


@pytest.mark.parametrize("version", [(3, 0), (4, 1)])
def test_natnet_frames_that_are_cut_off_are_refused(version):
    content = encode_frame(SEEN, 1, version, full=True)[4:]
    end = len(content) - 30 - 8 * (version >= (4, 1))  # what follows the time is not needed
    for length in range(0, end):
        with pytest.raises(Malformed):
            decode_frame(content[:length], version)


@given(st.binary(max_size=300), st.integers(0, 400), st.sampled_from(VERSIONS))
def test_garbage_never_escapes(noise, where, version):
    """Any bytes, alone or within a good message, are a frame or are refused."""
    good = encode_frame(SEEN, 1, version, full=True)[4:]
    at = min(where, len(good))
    for content in (noise, good[:at] + noise + good[at + len(noise) :]):
        try:
            frame = decode_frame(content, version)[1]
        except (Malformed, pl.InputError):
            continue
        assert frame.points.shape[1] == 3


@pytest.mark.parametrize("version", [(3, 1), (4, 1)])
def test_natnet_over_the_network(version):
    """A client asks, learns the server's version, and reads; messages that are cut off are counted."""
    server = NatNetEmulator(version=version)
    with NatNet("127.0.0.1", command_port=server.port, version=(4, 0)) as client:
        client.read(0.0)  # says that it is there
        until(lambda: server.answer() or server.clients)
        assert client.read(1.0) is None and client.connected and client.version == version
        server.send(SEEN)
        frame = client.read(1.0)
        assert frame is not None and frame.labels == ("3:1", "", "4:7")
        whole = encode_frame(SEEN, 2, version)
        for data in (whole[:100], b"", b"\x07", whole[:4] + b"\xff" * 200):
            server.send_raw(data)
            assert client.read(1.0) is None
        assert client.rejected == 4
        server.send(SEEN)
        assert client.read(1.0) is not None
    assert client.read(0.01) is None and client.ended
    server.close()


def test_natnet_listens_to_what_is_sent_to_all():
    """Multicast on the loopback interface, where the system allows it."""
    here = socket.inet_aton("127.0.0.1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    with NatNet(port=port, interface="127.0.0.1", version=(3, 0)) as client:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            try:
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
                sender.sendto(encode_frame(SEEN, 1, (3, 0)), ("239.255.42.99", port))
            except OSError as error:
                pytest.skip(f"no multicast here: {error}")
        frame = client.read(2.0)
    assert frame is not None and frame.time == SEEN.time and len(frame) == 3


def test_natnet_says_what_it_cannot_do():
    with pytest.raises(pl.InputError, match="version"):
        NatNet("127.0.0.1", version=(2, 9))
    with pytest.raises(pl.InputError, match="address"):
        NatNet(group="not a group")


# JSON


def test_json_datagrams_are_read():
    with JsonUdp(0, host="127.0.0.1", unit="mm") as source:
        sender = JsonEmulator("127.0.0.1", source.port)
        sender.send_raw(
            b'{"time": 3, "points": [[10, 20, 30], null, [1, null, 3]], "labels": ["a", "b", "c"]}'
        )
        frame = source.read(1.0)
        assert frame is not None and frame.points[0] == pytest.approx([0.01, 0.02, 0.03])
        assert np.isnan(frame.points[1:]).all() and frame.labels == ("a", "b", "c") and frame.time == 3.0
        sender.send_raw(b'{"points": [[1, 2, 3]], "unit": "cm"}')
        assert source.read(1.0).points[0] == pytest.approx([0.01, 0.02, 0.03])
        wrong = [
            b"",
            b"{",
            b"[]",
            b"null",
            b'{"points": 3}',
            b'{"points": [[1, 2]]}',
            b'{"time": "now", "points": []}',
        ]
        wrong += [
            b'{"points": [[1, 2, 3]], "unit": "furlong"}',
            b'{"points": [[1,2,3]], "labels": ["a", "b"]}',
        ]
        wrong += [json.dumps({"points": [[10**400, 0, 0]]}).encode(), b"\xff\xfe"]
        for data in wrong:
            sender.send_raw(data)
            assert source.read(1.0) is None, data
        assert source.rejected == len(wrong)
        sender.close()
    with pytest.raises(pl.InputError, match="unit"):
        JsonUdp(0, unit="furlong")


def test_a_port_that_is_taken_is_named():
    with JsonUdp(0, host="127.0.0.1") as source, pytest.raises(pl.InputError, match=str(source.port)):
        JsonUdp(source.port, host="127.0.0.1")


@given(st.integers(0, 2**32 - 1))
def test_json_messages_come_back_as_they_were(seed):
    from pliant.io.streams.json_udp import frame_of, message_of

    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(0, 6), 3))
    points[rng.random(len(points)) < 0.3] = np.nan
    labels = tuple(map(str, range(len(points)))) if rng.random() < 0.5 else None
    frame = Frame(rng.uniform(0, 1e6), points, labels)
    same(frame_of(json.loads(message_of(frame))), frame)


# The newest wins


def test_the_newest_frame_wins_and_late_ones_are_dropped():
    with Reader(JsonUdp(0, host="127.0.0.1"), stale=60.0) as reader:
        assert reader.latest() is None and reader.age == float("inf")
        sender = JsonEmulator("127.0.0.1", reader.source.port)
        times = [10.00, 10.01, 10.03, 10.02, 10.03, 10.05]  # one late, one twice
        for time in times:
            sender.send(Frame(time, [[time, 0, 0]]))
        sender.send_raw(b"garbage")
        until(lambda: reader.rejected == 1)
        assert reader.latest().time == 10.05 and reader.count == 4 and reader.late == 2
        assert reader.wait(0.01).time == 10.05  # not given before
        assert reader.wait(0.01) is None
        sender.send(Frame(0.5, [[0, 0, 0]]))  # the tracker was started anew
        until(lambda: reader.count == 5)
        assert reader.latest().time == 0.5
        sender.close()


def test_stale_frames_are_not_given():
    with Reader(JsonUdp(0, host="127.0.0.1"), stale=0.05) as reader:
        sender = JsonEmulator("127.0.0.1", reader.source.port)
        sender.send(Frame(1.0, [[0, 0, 0]]))
        until(lambda: reader.count == 1)
        until(lambda: reader.age > 0.05)
        assert reader.latest() is None
        frames = (Frame(1.1 + 0.1 * k, [[0, 0, 0]]) for k in count())
        until(lambda: sender.send(next(frames)) or reader.wait(0.2))  # a busy machine lets some grow old
        sender.close()


# Files


def test_tables_come_back_as_they_were(tmp_path):
    frames = [
        Frame(0.1 * k, np.where(k == 2, NAN, k) + np.arange(6.0).reshape(2, 3) / 7, ("tip", "leg 1"))
        for k in range(4)
    ]
    source = MarkerFile(write_markers(tmp_path / "take.csv", frames))
    assert len(source) == 4
    for read, written in zip(source, frames, strict=True):
        same(read, written)
    assert source.ended and source.read() is None
    plain = [Frame(1.0, np.eye(3))]
    again = next(iter(MarkerFile(write_markers(tmp_path / "plain.csv", plain))))
    assert again.labels == ("1", "2", "3") and again.points == pytest.approx(np.eye(3))


def test_tables_of_others(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("Time (s),tip_X [mm],tip_Y [mm],tip_Z [mm],speed\n0.5,1,2,3,9\n0.6,,,,9\n")
    first, second = MarkerFile(path)
    assert first.points[0] == pytest.approx([1e-3, 2e-3, 3e-3]) and np.isnan(second.points).all()
    path.write_text(
        "Format Version,1.23,Take Name,t,Length Units,Millimeters,Coordinate Space,Global\n\n"
        ",Type,Marker,Marker,Marker,Rigid Body,Rigid Body,Rigid Body\n"
        ",Name,leg:1,leg:1,leg:1,hub,hub,hub\n,ID,1,1,1,2,2,2\n,,Position,Position,Position,Position,Position,Position\n"
        "Frame,Time (Seconds),X,Y,Z,X,Y,Z\n0,0.00,100,200,300,1,1,1\n1,0.01,,,,1,1,1\n"
    )
    first, second = MarkerFile(path)
    assert first.labels == ("leg:1",) and first.points[0] == pytest.approx([0.1, 0.2, 0.3])
    assert second.time == 0.01 and np.isnan(second.points).all()


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n1,2\n", "time,x\n1,2\n", "time,a x,a y,a z\n1,2,three,4\n", "time,a x,a y,a z\n,1,2,3\n"],
)
def test_tables_that_are_none_are_named(tmp_path, text):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(pl.InputError, match=r"bad\.csv"):
        MarkerFile(path)
    with pytest.raises(pl.InputError, match="file"):
        MarkerFile(tmp_path / "missing.csv")


def test_a_recording_plays_its_markers(tmp_path):
    """What a session recorded comes back as frames: markers are a row of the robot."""
    from pliant.io.recording import Recorder
    from pliant.sensing import instrumented
    from pliant.session import Session

    sheet = pl.robots.sheet(cells=(11, 1), order=1)
    robot = instrumented(sheet, [[0.0, 0.0, 0.002], [0.02, 0.01, 0.002]])
    session = Session(robot)
    with Recorder(tmp_path / "run.mcap", session.stage) as recorder:
        written = [session.step() for _ in range(2)]
        for frame in written:
            recorder.write(frame)
    source = MarkerFile(tmp_path / "run.mcap")
    for read, frame in zip(source, written, strict=True):
        assert read.points.ravel() == pytest.approx(frame.displacement["markers"])
    with pytest.raises(pl.InputError, match="tip"):
        MarkerFile(tmp_path / "run.mcap", row="nothing")
