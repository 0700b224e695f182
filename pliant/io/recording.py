"""Recordings: the frames of a session in one file, in the mcap container that robotics tools read.

    with Recorder("run.mcap", session.stage) as recorder:      # or: session.listeners.append(recorder.write)
        recorder.write(session.step())
    run = Recording.read("run.mcap")
    run.positions                    # (frames, nodes, 3) [m]
    run.signals["effort cable 1"]    # (frames,) [N]

In the file: topic /frame, JSON with its schema; topic /positions, float32 (nodes, 3) [m], little-endian, with
the same time; topic /stress, float32 (nodes,) [Pa], where whoever recorded knew it; metadata "stage" and the
attachment stage.npz, the skin and rows of the robot; topics /sent,
/reading, /channels and /event, JSON with schemas, the notes of a run on devices. A file that was cut off,
because a program was killed, is read up to there.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantError, unknown_name
from pliant.files import read_arrays, reading
from pliant.frame import Frame
from pliant.io.notes import KINDS, Note, schema
from pliant.io.plain import (
    POSITIONS,
    SCHEMA,
    STRESS,
    frame_data,
    frame_from,
    stage_arrays,
    stage_facts,
    stage_from,
)
from pliant.stage import RowFacts, Stage

NANO = 1e-9
WHOLE = {"contact force": "N", "speed": "m/s"}  # signals of the whole robot


class RecordingError(PliantError, OSError):
    """A recording that could not be written to its end, as on a full disk."""


class Recorder:
    """Writes frames to a new file; closes it at the end of a `with` block. `count` frames are in it.

    A file that is there already is never overwritten: that is an InputError. If the disk fails, the file is
    released, a RecordingError says so, and what was written can be read. chunk_size [bytes]: what a kill may
    cost at most.
    """

    def __init__(self, path: str | Path, stage: Stage, *, chunk_size: int = 2**16) -> None:
        self.path, self.count, self._shapes = Path(path), 0, None
        self._notes: dict[str, int] = {}  # channels of the notes, by kind
        self._stress: int | None = None  # channel of the stress
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:  # made, or refused: nobody else can come between a look and this
            self._file = self.path.open("xb")
        except FileExistsError:
            raise taken(self.path) from None
        try:
            with self._writing():
                self._begin(stage, chunk_size)
        except BaseException:  # nothing to keep
            self._file.close()
            self.path.unlink(missing_ok=True)
            raise

    @classmethod
    def new(cls, folder: str | Path, name: str, stage: Stage, **options: Any) -> Recorder:
        """A recorder of the first of NAME-1.mcap, NAME-2.mcap, … in a folder that is not there yet.

        Two programs never get the same.
        """
        number = 1
        while True:
            path = Path(folder) / f"{name}-{number}.mcap"
            try:
                return cls(path, stage, **options)
            except InputError:
                if not path.exists():  # another reason
                    raise
            number += 1

    def _begin(self, stage: Stage, chunk_size: int) -> None:
        """The head of the file: schemas, channels, and the stage."""
        from mcap.writer import Writer

        import pliant

        self._writer = Writer(self._file, chunk_size=chunk_size)
        self._writer.start(profile="", library=f"pliant {getattr(pliant, '__version__', '')}")
        schema = self._writer.register_schema("pliant.Frame", "jsonschema", json.dumps(SCHEMA).encode())
        layout = self._writer.register_schema("pliant.Positions", "text", POSITIONS.encode())
        self._frames = self._writer.register_channel("/frame", "json", schema)
        self._positions = self._writer.register_channel("/positions", "float32", layout)
        facts = json.dumps(stage_facts(stage))
        self._writer.add_metadata("stage", {"json": facts})
        self._writer.add_attachment(0, 0, "stage.npz", "application/octet-stream", stage_arrays(stage))
        self._file.flush()

    def write(self, frame: Frame, *, at: float | None = None, stress: np.ndarray | None = None) -> None:
        """Add a frame, made at a time `at` [s], by default its own; `stress` (nodes,) [Pa] to colour it by.

        The time of a session counts steps: in a loop that missed some periods it lags behind.
        """
        data = frame_data(frame)
        if frame.obstacles is not self._shapes:
            data["obstacles"], self._shapes = dict(frame.obstacles), frame.obstacles
        when = max(round((frame.time if at is None else at) / NANO), 0)
        raw = np.asarray(frame.positions, "<f4").tobytes()
        with self._writing():
            self._writer.add_message(self._frames, when, json.dumps(data).encode(), when, self.count)
            self._writer.add_message(self._positions, when, raw, when, self.count)
            if stress is not None:
                self._add_stress(np.asarray(stress, "<f4").tobytes(), when)
            self._file.flush()  # whole chunks reach the disk whatever becomes of us
        self.count += 1

    def _add_stress(self, raw: bytes, when: int) -> None:
        if self._stress is None:
            layout = self._writer.register_schema("pliant.Stress", "text", STRESS.encode())
            self._stress = self._writer.register_channel("/stress", "float32", layout)
        self._writer.add_message(self._stress, when, raw, when, self.count)

    def note(self, kind: str, time: float, data: Mapping[str, Any]) -> None:
        """Add a note of a kind, at a time [s]; see `pliant.io.notes`."""
        if kind not in KINDS:
            raise unknown_name("note", kind, KINDS)
        with self._writing():
            if kind not in self._notes:
                said = json.dumps(schema(kind)).encode()
                number = self._writer.register_schema(f"pliant.{kind.capitalize()}", "jsonschema", said)
                self._notes[kind] = self._writer.register_channel(f"/{kind}", "json", number)
            when = max(round(time / NANO), 0)
            said = json.dumps({"time": time, **data}).encode()
            self._writer.add_message(self._notes[kind], when, said, when)
            self._file.flush()

    def close(self) -> None:
        """Complete and release the file; it is released even if it cannot be completed.

        Nothing happens the second time.
        """
        if not self._file.closed:
            with self._writing():
                self._writer.finish()
                self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The file is released if it cannot be written: what came after the gap could not be read."""
        try:
            yield
        except OSError as error:
            with suppress(OSError):  # of what is still in its buffer
                self._file.close()
            kept = "What reached the disk can be read; make" if self.count else "Make"
            raise RecordingError(
                f"{self.path}: the recording ends at frame {self.count}: {error.strerror or error}. "
                f"{kept} room, and record to a new file."
            ) from error

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def taken(path: str | Path) -> InputError:
    """The error for the path of a new file where something is already."""
    hint = "It is never overwritten: give another name, or move it away."
    return InputError(str(path), expected="a new file", got="one that is there already", hint=hint)


@dataclass(frozen=True, eq=False)
class Recording:
    """Stage, frames and notes of a file; `stress` (frames, nodes) [Pa] at the nodes, None if not recorded."""

    stage: Stage
    frames: tuple[Frame, ...]
    notes: tuple[Note, ...] = ()
    stress: np.ndarray | None = None

    @classmethod
    def read(cls, path: str | Path) -> Recording:
        """Read a file; damaged chunks, and what is missing at the end of a cut one, are left out."""
        with reading(path, "recording", "a recording of pliant (.mcap)") as file:
            return cls._read(file)

    @classmethod
    def _read(cls, path: Path) -> Recording:
        stage, frames, shapes, notes = {}, [], {}, []
        numbers: list[int] = []  # of the frames
        stress: dict[int, np.ndarray] = {}  # by these
        data: dict[int, dict[str, Any]] = {}
        for kind, number, content in _records(path):
            if kind in ("facts", "arrays"):
                stage[kind] = content
            elif kind == "/frame":
                data[number] = json.loads(content)
            elif kind == "/positions" and number in data:
                said = data.pop(number)
                shapes = said.get("obstacles", shapes)
                positions = np.frombuffer(content, "<f4").reshape(-1, 3).astype(float)
                frames.append(frame_from(said, positions, shapes))
                numbers.append(number)
            elif kind == "/stress":
                stress[number] = np.frombuffer(content, "<f4").astype(float)
            elif kind[1:] in KINDS:
                said = json.loads(content)
                notes.append(Note(kind[1:], said.pop("time"), said))
        shown = {frame.positions.shape for frame in frames}
        if len(shown) > 1:
            raise InputError("frames", expected="positions of the same nodes", got=f"shapes {sorted(shown)}")
        fits = lambda n, f: n in stress and len(stress[n]) == len(f.positions)
        whole = all(map(fits, numbers, frames))
        known = np.array([stress[n] for n in numbers]) if whole and frames else None
        return cls(_stage(**stage), tuple(frames), tuple(notes), known)

    def __repr__(self) -> str:
        span = f", {self.frames[-1].time:.4g} s" if self.frames else ""
        return f"<Recording of {self.stage.robot!r}: {len(self)} frames{span}>"

    def _repr_html_(self) -> str:
        """In a notebook: a light player."""
        return import_module("pliant.io.notebook").recording_html(self)  # by name: pictures stand above

    def __len__(self) -> int:
        return len(self.frames)

    def __iter__(self) -> Iterator[Frame]:
        return iter(self.frames)

    @cached_property
    def positions(self) -> np.ndarray:
        """(frames, nodes, 3) [m]."""
        return np.array([frame.positions for frame in self.frames])

    @cached_property
    def signals(self) -> dict[str, np.ndarray]:
        """Every scalar by name, (frames,), NaN where a frame has none; SI units."""
        rows = [frame.signals() for frame in self.frames]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}

    def units(self) -> dict[str, str]:
        """The SI unit of each signal."""
        rows = {row.name: row for row in self.stage.rows}
        inverse = all(frame.mode == "inverse" for frame in self.frames)
        return {name: _unit(name, rows, inverse) for name in self.signals}

    def to_csv(self, path: str | Path) -> Path:
        """A table of the signals, one line per frame, names with their SI units in the first."""
        path, units = Path(path), self.units()
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([f"{name} [{units[name]}]" for name in self.signals])
            writer.writerows(zip(*(values.tolist() for values in self.signals.values()), strict=True))
        return path

    def to_png(self, folder: str | Path, *, every: int = 1, **options: Any) -> list[Path]:
        """Pictures of every n-th frame in a folder, numbered; what a film is made of.

        Options as of `pliant.io.stills.Stills`.
        """
        from pliant.io.stills import Stills, box_of

        shown = self.frames[::every]
        if not shown:
            raise InputError("recording", expected="at least one frame", got="none")
        rest, skin = self.stage.rest, self.stage.vertices
        moved = max(float(np.linalg.norm(f.positions[skin] - rest, axis=1).max()) for f in shown)
        fitted = {"box": box_of(self.stage, shown), "top": max(moved, 0.02 * self.stage.length)}
        stills = Stills(folder, self.stage, **{**fitted, **options})
        return [stills.write(frame) for frame in shown]


def _stage(facts: str | None = None, arrays: bytes | None = None) -> Stage:
    """The scene, of which every recording begins with a description."""
    if facts is None or arrays is None:
        raise InputError("content", expected="a recording of pliant", got="a file without a stage")
    return stage_from(json.loads(facts), read_arrays(io.BytesIO(arrays)))


def _records(path: Path) -> Iterator[tuple[str, int, Any]]:
    """Kind, number and content of the records that a recording is made of, as far as the file is whole."""
    from mcap.records import Attachment, Channel, Chunk, Message, Metadata
    from mcap.stream_reader import StreamReader

    topics: dict[int, str] = {}
    with path.open("rb") as file:
        size = path.stat().st_size  # no record is longer than the file
        records = StreamReader(file, emit_chunks=True, record_size_limit=size).records
        while (record := _next(records)) is not None:
            if isinstance(record, Metadata) and record.name == "stage":
                yield "facts", 0, record.metadata.get("json")
            elif isinstance(record, Attachment) and record.name == "stage.npz":
                yield "arrays", 0, record.data
            for inner in _unpacked(record) if isinstance(record, Chunk) else ():
                if isinstance(inner, Channel):
                    topics[inner.id] = inner.topic
                elif isinstance(inner, Message):
                    yield topics.get(inner.channel_id, ""), inner.sequence, inner.data


def _next(records: Iterator[Any]) -> Any:
    """The next record; None where the file ends or was cut off: its readers have many errors for that."""
    try:
        return next(records, None)
    except Exception:
        return None


def _unpacked(chunk: Any) -> list[Any]:
    """What is in a chunk; nothing if its checksum says that it is damaged."""
    from mcap.stream_reader import breakup_chunk

    try:
        return breakup_chunk(chunk, validate_crc=True)
    except Exception:  # of the checksum or the decompression
        return []


def _unit(signal: str, rows: Mapping[str, RowFacts], inverse: bool) -> str:
    kind, _, name = signal.partition(" ")
    if kind in ("time", "seconds"):
        return "s"
    if signal in WHOLE:
        return WHOLE[signal]
    row = rows.get(name) or rows[name.rpartition(" ")[0]]
    if kind == "command" and not inverse:  # commands of the inverse model are displacements
        return row.effort_unit if row.drive == "effort" else row.unit
    return row.effort_unit if kind == "effort" else row.unit
