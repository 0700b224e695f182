"""Recordings: what is written comes back, cut files are read up to there, players are small and exact."""

from __future__ import annotations

import base64
import csv
import errno
import io
import os
import re
import subprocess
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.io.notes import Note
from pliant.io.packet import packet, unpack
from pliant.io.player import BITS, export, player, predicted, unpredicted
from pliant.io.plots import time_plot
from pliant.io.recording import Recorder, Recording, RecordingError
from pliant.io.run_report import _against, _readings, _times, run_report
from pliant.session import Session
from pliant.studio.bench.tube import bent_tube
from tests.studio.robots import bar


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A session of twelve steps: a target, an obstacle that comes and moves, a push, a cut."""
    path = tmp_path_factory.mktemp("recording") / "run.mcap"
    session = Session(bar())
    frames = []
    with Recorder(path, session.stage) as recorder:
        session.listeners += [recorder.write, frames.append]
        session.aim("tip", (0.098, 0.01, 0.02))
        for step in range(12):
            if step == 3:
                session.add(pl.Sphere((0.08, 0.01, 0.03), 0.01))
            if step == 6:
                session.move("sphere", (0.08, 0.01, 0.035))
            if step == 8:
                session.push([0, 1, 2], [0.2, 0.3, 0.5], (0.0, 0.01, 0.0))
            if step == 10:
                session.lose("lower")
            session.step()
    return path, session, frames


def test_frames_come_back(run):
    path, _, frames = run
    recording = Recording.read(path)
    assert len(recording) == len(frames) == 12
    for read, written in zip(recording, frames, strict=True):
        for name in ("step", "time", "mode", "status", "words", "limits", "slack", "lost", "speed"):
            assert getattr(read, name) == getattr(written, name)
        np.testing.assert_allclose(read.positions, written.positions, atol=1e-8)  # float32
        np.testing.assert_allclose(read.lines, written.lines, atol=1e-7)
        for kind in ("effort", "displacement", "command", "target", "error"):
            assert {n: v.tolist() for n, v in getattr(read, kind).items()} == {
                n: v.tolist() for n, v in getattr(written, kind).items()
            }
        assert read.obstacles == written.obstacles and read.touch.opponent == written.touch.opponent
        np.testing.assert_array_equal(read.touch.force, written.touch.force)
        assert (read.push is None) == (written.push is None)
    assert recording.positions.shape == (12, len(frames[0].positions), 3)


def test_the_scene_comes_back(run):
    path, session, _ = run
    stage, given = Recording.read(path).stage, session.stage
    for name in ("rest", "vertices", "triangles", "region", "up"):
        np.testing.assert_array_equal(getattr(stage, name), getattr(given, name))
    for name in ("robot", "length", "rows", "cables", "fields"):
        assert getattr(stage, name) == getattr(given, name)


def test_signals_have_units_and_become_a_table(run, tmp_path):
    path, _, frames = run
    recording = Recording.read(path)
    units = recording.units()
    assert units["effort upper"] == "N" and units["displacement upper"] == "m" and units["time"] == "s"
    assert units["error tip 3"] == "m" and units["contact force"] == "N" and units["seconds total"] == "s"
    with recording.to_csv(tmp_path / "signals.csv").open(encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    assert "effort upper [N]" in head and len(rows) == 12
    column = head.index("effort upper [N]")
    assert float(rows[5][column]) == frames[5].effort["upper"][0]


def test_commands_of_the_inverse_model_are_strokes():
    """Also of a cable that forward mode would pull with a force, since its stroke has no limits."""
    body = bar().bodies[0]
    cable = pl.Cable(body.points([[x, 0.01, 0.016] for x in (0.0, 0.03, 0.06, 0.095)]))
    tip = pl.Position(body.points([[0.1, 0.01, 0.01]]), directions="z")
    robot = pl.Robot(
        body, {"cable": pl.Row(cable, pl.Bounded(effort=(0, 9))), "tip": pl.Row(tip, pl.Target((0.01,)))}
    )
    session = Session(robot)
    recording = Recording(session.stage, (session.step(),))
    assert session.stage.rows[0].drive == "effort"
    assert recording.units()["command cable"] == "m" and recording.units()["effort cable"] == "N"
    session.switch("forward")
    assert Recording(session.stage, (session.step(),)).units()["command cable"] == "N"


def test_other_tools_read_it(run):
    """The schema is JSON Schema, and every message is valid JSON with its fields."""
    from mcap.reader import make_reader

    with run[0].open("rb") as file:
        summary = make_reader(file).get_summary()
        assert summary is not None and summary.statistics is not None
        assert summary.statistics.message_count == 24
        topics = {channel.topic: channel.message_encoding for channel in summary.channels.values()}
        assert topics == {"/frame": "json", "/positions": "float32"}
        assert {s.name: s.encoding for s in summary.schemas.values()}["pliant.Frame"] == "jsonschema"


def test_a_file_that_was_cut_off_is_read_up_to_there(run):
    data, whole = run[0].read_bytes(), Recording.read(run[0])
    cut = run[0].with_name("cut.mcap")
    for share in (*np.linspace(0.0, 1.0, 40), 3e-4, 1e-3):
        cut.write_bytes(data[: int(share * len(data))])
        try:
            recording = Recording.read(cut)
        except pl.InputError as error:
            assert "recording" in str(error) and share < 0.5  # not even the stage is there
            continue
        assert len(recording) <= len(whole)
        for a, b in zip(recording, whole):
            np.testing.assert_array_equal(a.positions, b.positions)


def test_a_long_recording_survives_a_kill(tmp_path):
    """What is not in the last, unfinished chunk is on disk while recording goes on."""
    path, session = tmp_path / "run.mcap", Session(bar())
    recorder = Recorder(path, session.stage)
    for _ in range(60):
        recorder.write(session.frame)
    recorder._file.flush()
    assert 30 < len(Recording.read(path)) < 60  # not closed
    recorder.close()
    assert len(Recording.read(path)) == 60


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    """The bytes of a recording in small chunks, and where each ends with how many frames and notes."""
    from mcap.records import Chunk, Message
    from mcap.stream_reader import StreamReader, breakup_chunk

    path, session = tmp_path_factory.mktemp("noted") / "run.mcap", Session(bar())
    with Recorder(path, session.stage, chunk_size=20_000) as recorder:
        for k in range(40):
            recorder.write(session.frame)
            recorder.note("sent", 0.02 * k, {"values": {"upper": 1e-3 * k}, "counts": {"upper": k}})
        recorder.note("event", 0.8, {"what": "done", "reason": ""})
    data, ends, frames, notes = path.read_bytes(), [(0, 0, 0)], 0, 0
    with path.open("rb") as file:
        topics = {}
        for record in StreamReader(file, emit_chunks=True).records:
            if isinstance(record, Chunk):
                for inner in breakup_chunk(record):
                    topics |= {inner.id: inner.topic} if hasattr(inner, "topic") else {}
                    if isinstance(inner, Message):
                        frames += topics[inner.channel_id] == "/positions"
                        notes += topics[inner.channel_id] in ("/sent", "/event")
                ends.append((data.index(bytes(record.data)) + len(record.data), frames, notes))
    return path, data, ends


def test_notes_come_back(noted):
    path, _, ends = noted
    recording = Recording.read(path)
    assert len(recording.notes) == 41 and len(recording) == 40 and len(ends) > 5
    assert [n.data["counts"]["upper"] for n in recording.notes[:40]] == list(range(40))
    assert recording.notes[7].time == pytest.approx(0.14) and recording.notes[-1].kind == "event"
    with (
        pytest.raises(pl.InputError, match="reading"),
        Recorder(path.with_name("x.mcap"), recording.stage) as r,
    ):
        r.note("raeding", 0.0, {})


@given(st.floats(0.0, 1.0), st.integers(-3, 3), st.booleans())
@settings(max_examples=200)
def test_a_kill_at_any_byte_leaves_all_complete_chunks(noted, share, beside, at_an_end):
    path, data, ends = noted
    size = int(share * len(data))
    if at_an_end:  # about the end of a chunk, where it matters
        size = min(ends, key=lambda end: abs(end[0] - size))[0] + beside
    size = min(max(size, 0), len(data))
    cut = path.with_name("cut.mcap")
    cut.write_bytes(data[:size])
    first = next(end for end, *_ in ends[1:])
    try:
        recording = Recording.read(cut)
    except pl.InputError:
        assert size < first  # not even the stage, which comes before the first chunk
        return
    _, frames, notes = max(end for end in ends if end[0] <= size)
    assert (len(recording), len(recording.notes)) == (frames, notes)


def test_a_recording_is_never_overwritten(run, tmp_path):
    _, session, _ = run
    path = tmp_path / "run.mcap"
    with Recorder(path, session.stage) as recorder:
        recorder.write(session.frame)
        with pytest.raises(pl.InputError, match=r"run\.mcap: expected a new file.*another name"):
            Recorder(path, session.stage)  # while it is written
    whole = path.read_bytes()
    with pytest.raises(pl.InputError, match="already"):
        Recorder(str(path), session.stage)
    assert path.read_bytes() == whole and len(Recording.read(path)) == 1


def test_recorders_that_begin_together_get_different_files(run, tmp_path):
    _, session, _ = run
    (tmp_path / "run-2.mcap").write_text("a note of someone")
    begin = threading.Barrier(6)

    def record(_):
        begin.wait()
        with Recorder.new(tmp_path, "run", session.stage) as recorder:
            recorder.write(session.frame)
        return recorder.path.name

    with ThreadPoolExecutor(6) as pool:
        names = set(pool.map(record, range(6)))
    assert names == {f"run-{k}.mcap" for k in (1, 3, 4, 5, 6, 7)}
    assert all(len(Recording.read(tmp_path / name)) == 1 for name in names)
    with pytest.raises(AttributeError):
        Recorder.new(tmp_path, "wrong", None)  # type: ignore[arg-type]
    assert not (tmp_path / "wrong-1.mcap").exists()  # nothing is left of what could not begin


class Small(io.FileIO):
    """A new file on a disk with little room."""

    room = 2**15

    def write(self, data):
        if self.tell() + len(data) > self.room:
            super().write(bytes(data)[: self.room - self.tell()])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def test_a_full_disk_ends_a_recording_and_releases_its_file(run, tmp_path, monkeypatch):
    _, session, _ = run
    monkeypatch.setattr(Path, "open", lambda path, mode: io.BufferedWriter(Small(path, mode)))
    recorder = Recorder(tmp_path / "run.mcap", session.stage)
    with pytest.raises(
        RecordingError, match=r"run\.mcap: the recording ends at frame \d+: No space.*new file"
    ):
        for _ in range(5000):
            recorder.write(session.frame)
    monkeypatch.setattr(Small, "room", 2**30)  # what came now would stand behind a gap
    for _ in range(2):
        recorder.close()
    with pytest.raises(ValueError, match="closed"):
        recorder.write(session.frame)
    ending = Recorder(tmp_path / "ending.mcap", session.stage)
    ending.write(session.frame)
    monkeypatch.setattr(Small, "room", 1000)
    with pytest.raises(RecordingError, match="frame 1"):
        ending.close()
    ending.close()  # it is released, and says so once
    with pytest.raises(RecordingError, match=r"frame 0: No space left on device\. Make room"):
        Recorder(tmp_path / "none.mcap", session.stage)
    assert not (tmp_path / "none.mcap").exists()
    monkeypatch.undo()
    assert 0 < len(Recording.read(tmp_path / "run.mcap")) <= recorder.count


def test_takes_of_markers_are_never_overwritten(tmp_path):
    from pliant.io.streams import Frame, MarkerFile, write_markers

    path = write_markers(tmp_path / "take.csv", [Frame(0.0, [[1.0, 2.0, 3.0]])])
    with pytest.raises(pl.InputError, match=r"take\.csv: expected a new file"):
        write_markers(path, [])
    assert len(MarkerFile(path)) == 1


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
from tests.studio.robots import bar
from pliant.io.recording import Recorder
from pliant.session import Session
session = Session(bar())
recorder = Recorder(sys.argv[1], session.stage)
k = 0
while True:
    recorder.write(session.frame)
    recorder.note("sent", 0.02 * k, {"counts": {"upper": k}})
    k += 1
    if k == 300:
        print("ready", flush=True)
        sys.stdin.readline()
"""


def test_a_killed_process_leaves_a_recording(tmp_path):
    path = tmp_path / "run.mcap"
    code = [sys.executable, "-c", KILLED, str(path), str(Path(__file__).parents[2])]
    process = subprocess.Popen(code, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.kill()
    process.wait()
    recording = Recording.read(path)
    assert 200 < len(recording) <= 300
    assert [n.data["counts"]["upper"] for n in recording.notes] == list(range(len(recording.notes)))
    assert abs(len(recording.notes) - len(recording)) <= 1


@given(st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_a_damaged_file_loses_damaged_chunks_only(noted, random):
    """Flipped bits, a block of zeros: what is read is what was written, or the file is refused in words."""
    path, data, ends = noted
    whole, spoilt = Recording.read(path), bytearray(data)
    at = random.randrange(len(data))
    if random.random() < 0.5:
        spoilt[at] ^= 1 << random.randrange(8)
    else:
        spoilt[at : at + 512] = bytes(len(spoilt[at : at + 512]))
    cut = path.with_name("spoilt.mcap")
    cut.write_bytes(spoilt)
    try:
        recording = Recording.read(cut)
    except pl.InputError as error:
        assert "recording of pliant" in str(error) and at < ends[1][0]  # the stage comes first
        return
    written = {frame.step: frame for frame in whole}
    for frame in recording:
        np.testing.assert_array_equal(frame.positions, written[frame.step].positions)
    told = [n.data for n in whole.notes]
    assert all(n.data in told for n in recording.notes)


def test_no_file_is_no_recording(tmp_path):
    for wrong in (tmp_path, tmp_path / "none.mcap"):
        with pytest.raises(pl.InputError, match="recording"):
            Recording.read(wrong)


@given(st.binary(max_size=200))
def test_garbage_is_no_recording(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("garbage") / "x.mcap"
    path.write_bytes(data)
    with pytest.raises(pl.InputError, match="recording"):
        Recording.read(path)


# Reports


def test_a_report_tells_what_happened(run, noted, tmp_path):
    page = run_report(run[0], tmp_path / "run").read_text(encoding="utf-8")
    assert page.count("<svg") >= 2 and page.count("data:image/png") == 3
    assert "cut" in page and "effort [N]" in page  # the lost cable
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    assert (tmp_path / "run" / "signals.csv").exists()
    page = run_report(Recording.read(noted[0]), tmp_path / "noted").read_text(encoding="utf-8")
    assert "40 commands to devices" in page and "The run came to its end." in page and "sent [mm]" in page


@pytest.mark.parametrize(("met", "kind"), [(0.28, "status bad"), (0.95, "status"), (None, "status")])
def test_a_report_says_when_deadlines_were_missed(run, tmp_path, met, kind):
    said = {"what": "done", "reason": ""} | ({} if met is None else {"met": met})
    page = run_report(Recording(run[1].stage, (), (Note("event", 0.2, said),)), tmp_path / "report")
    late = " Only 28 % of its deadlines were met." if met == 0.28 else ""
    assert f'<p class="{kind}">The run came to its end.{late}</p>' in page.read_text(encoding="utf-8")


def test_a_report_keeps_the_time_of_a_loop_that_was_late(tmp_path):
    """Two periods are missed after the first; readings are compared with the model of their time."""
    path, session = tmp_path / "late.mcap", Session(bar())
    session.aim("tip", (0.098, 0.01, 0.02))
    places, frames = (0.0, 0.06, 0.08, 0.1), []
    with Recorder(path, session.stage) as recorder:
        for t in places:
            if frames:
                seen = {"tip": frames[-1].displacement["tip"].tolist()}
                recorder.note("reading", t, {"sensor": "eye", "age": 0.0, "values": seen})
            frames.append(session.step())
            recorder.write(frames[-1], at=t)
            recorder.note("sent", t + 1e-3, {"step": frames[-1].step, "values": {"upper": 0.0}, "counts": {}})
        recorder.write(session.step())  # a kill came before its note
    recording = Recording.read(path)
    np.testing.assert_allclose(
        _times(recording), [*(np.array(places) + 1e-3), places[-1] + 1e-3 + session.period]
    )
    tip = [row for row in recording.stage.rows if row.name == "tip"]
    when, apart = _against(recording, tip, _readings(recording))["tip"]
    np.testing.assert_allclose(when, places[1:])
    assert (
        np.abs(apart).max() < 1e-12 < np.linalg.norm(np.diff([f.displacement["tip"] for f in frames], axis=0))
    )
    page = run_report(recording, tmp_path / "report").read_text(encoding="utf-8")
    assert "over 0.12 s" in page and "breaks off" in page
    from mcap.reader import make_reader

    with path.open("rb") as file:
        stamps = [m.log_time for _, _, m in make_reader(file).iter_messages(log_time_order=False)][:-2]
    assert stamps == sorted(stamps)  # one clock for all that happened


def test_rounding_errors_are_drawn_as_a_level_line():
    drawn = time_plot({"tip": ([0.0, 1.0], [0.05579884877, 0.05579884877 + 1e-13])}, "m", "distance")
    ticks = re.findall(r"<text[^>]*>([\d.]+)<", drawn)
    assert "55.80" in ticks and len(ticks) > 6  # plain numbers of millimetres, no offset and no digits beyond


# Players


@given(st.integers(1, 6), st.integers(1, 5), st.randoms(use_true_random=False))
def test_prediction_loses_nothing(frames, count, random):
    whole = np.array([[random.randrange(2**BITS) for _ in range(count)] for _ in range(frames)], np.uint16)
    np.testing.assert_array_equal(unpredicted(*predicted(whole)), whole)


@given(st.dictionaries(st.text(max_size=5), st.integers(), max_size=3), st.integers(0, 9))
def test_packets_come_back(header, count):
    blocks = {"a": np.arange(count, dtype=np.uint8), "b": np.linspace(0, 1, count, dtype=np.float32)}
    read, arrays = unpack(packet(header, blocks))
    assert {k: v for k, v in read.items() if k != "blocks"} == {
        k: v for k, v in header.items() if k != "blocks"
    }
    for name, array in blocks.items():
        np.testing.assert_array_equal(arrays[name], array)


def embedded(text):
    """Header and blocks in the HTML of a player."""
    data = re.search(r'id="recording">([^<]*)</script>', text)
    assert data is not None
    return unpack(zlib.decompress(base64.b64decode(data.group(1))))


def test_a_player_holds_the_frames(run, tmp_path):
    path, session, frames = run
    text = export(path, tmp_path / "run.html").read_text(encoding="utf-8")
    header, blocks = embedded(text)
    whole = unpredicted(blocks["low"].reshape(12, -1), blocks["high"].reshape(12, -1)).reshape(12, -1, 3)
    box = np.array(header["box"])
    points = box[:3] + box[3:] * whole
    skin = points[:, : header["skin"]]
    for k, frame in enumerate(frames):
        error = np.abs(skin[k] - frame.positions[session.stage.vertices]).max()
        assert error <= 0.51 * box[3:].max() + 1e-7 < 2e-5  # half a step of the box
    assert header["frames"][11]["words"] == frames[11].words
    assert [f["shapes"] for f in header["frames"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)  # nothing is fetched


def test_a_player_of_300_frames_of_5000_vertices_is_below_6_megabytes(record_property):
    text = player(bent_tube(300))
    record_property("megabytes", len(text) / 1e6)
    assert len(text) < 6e6
    header, _ = embedded(text)
    assert len(header["frames"]) == 300 and header["skin"] == 5000


def test_stress_comes_back_and_colours_the_player(tmp_path):
    session = Session(bar())
    said = []
    with Recorder(tmp_path / "run.mcap", session.stage) as recorder:
        for height in (0.01, 0.02, 0.03):
            session.aim("tip", (0.095, 0.01, height))
            frame = session.step()
            said.append(session.field("stress"))
            recorder.write(frame, stress=said[-1])
    again = Recording.read(tmp_path / "run.mcap")
    assert again.stress is not None
    np.testing.assert_allclose(again.stress, said, rtol=1e-6)
    text = re.search(r'id="recording">([^<]+)<', player(again))
    assert text is not None
    header, blocks = unpack(zlib.decompress(base64.b64decode(text[1])))
    skin = np.array(said)[:, again.stage.vertices]
    shown = blocks["stress"].reshape(skin.shape) * (header["top"] / 255)
    below = skin < header["top"]
    assert header["fields"] == ["displacement", "stress"] and below.mean() > 0.95
    np.testing.assert_allclose(shown[below], skin[below], atol=1.01 * header["top"] / 255)


def test_an_empty_recording_has_no_player():
    with pytest.raises(pl.InputError, match="frame"):
        player(Recording(bent_tube(1).stage, ()))
