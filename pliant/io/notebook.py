"""Robots, meshes, results and recordings in notebooks: a picture that can be turned, in a frame of its own.

The frame is complete in itself, a few tens of kilobytes: triangles of the skin as whole numbers, and a
script that draws them in a canvas, farthest first. It asks for nothing from anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact.obstacles.surfaces import joined
from pliant.frame import Frame, Touch
from pliant.io import page
from pliant.io.packet import quantised
from pliant.io.recording import Recording
from pliant.stage import Stage, polylines
from pliant.units import quantity

MOST_FRAMES = 60  # of a recording that is shown
BITS = 15
HEIGHT, STUDIO_HEIGHT = 380, 620  # [px]
COLOUR, THING = (118, 169, 182), (214, 178, 132)


class Plot(type(Path())):
    """The path of a picture, which a notebook shows."""

    def _repr_png_(self) -> bytes | None:
        return self.read_bytes() if self.suffix.lower() == ".png" and self.is_file() else None

    def _repr_svg_(self) -> str | None:
        return self.read_text(encoding="utf-8") if self.suffix.lower() == ".svg" and self.is_file() else None


def plot(result: Any, path: str | Path, **options: Any) -> Plot:
    """Draw a result or an outcome; options as of `pliant.io.picture.picture`."""
    from pliant.io.picture import picture

    return Plot(picture(result, path, **options))


def recording_of(results: Sequence[Any], *, summary: str = "", period: float = 0.05) -> Recording:
    """Results of one robot, one after the other, as a recording: each stands for `period` seconds."""
    robot = results[0].robot
    stage = Stage.of(robot, summary=summary)
    cables, things = [name for name, _ in stage.cables], _things(robot)
    frames = [
        Frame(
            step=step,
            time=step * period,
            mode="forward",
            positions=result.positions,
            lines=polylines(robot, result.state.q, cables),
            effort=dict(result.effort),
            displacement=dict(result.displacement),
            command={},
            target={},
            error={},
            touch=Touch.none(),
            status=result.certificate.status,
            words=str(result.certificate),
            obstacles={thing.name or f"obstacle {k}": thing.data() for k, thing in enumerate(things)},
        )
        for step, result in enumerate(results)
    ]
    return Recording(stage, tuple(frames))


def robot_html(robot: Any) -> str:
    """A robot as it was built, with its rows below."""
    stage, q = Stage.of(robot), robot.rest.q
    rows = ", ".join(f"{row.name} ({row.kind}, {row.role})" for row in stage.rows)
    return _robot_at(robot, stage, robot.positions(q), q, f"{robot.name}: {rows or 'no rows'}")


def result_html(result: Any) -> str:
    """A result or an outcome: the deformed robot, what its certificate says, and the numbers of its rows."""
    stage = Stage.of(result.robot)
    words = str(result.certificate)
    picture = _robot_at(result.robot, stage, result.positions, result.state.q, words)
    return page.together([picture, rows_table(result, stage)])


def _robot_at(robot: Any, stage: Stage, positions: np.ndarray, q: np.ndarray, words: str) -> page.Markup:
    lines = polylines(robot, q, [name for name, _ in stage.cables])
    return scene(positions[stage.vertices][None], stage, lines[None], _things(robot), words)


def mesh_html(mesh: Any) -> str:
    """A mesh: its skin."""
    triangles = mesh.surface.triangles
    vertices, local = np.unique(triangles, return_inverse=True)
    return drawn(mesh.nodes[vertices][None], local.reshape(-1, 3), repr(mesh))


def recording_html(recording: Recording) -> str:
    """A recording: a light player of at most `MOST_FRAMES` of its frames."""
    stage, every = recording.stage, max(1, -(-len(recording) // MOST_FRAMES))
    frames = recording.frames[::every]
    if not frames:
        return page.paragraph(f"{stage.robot}: a recording without frames")
    places = np.array([frame.positions[stage.vertices] for frame in frames])
    lines = np.array([frame.lines for frame in frames])
    words = f"{stage.robot}: {len(recording)} frames, {recording.frames[-1].time:.4g} s"
    return scene(places, stage, lines, (), words)


def study_html(study: Any) -> str:
    """A study: what it repeats, and its parts."""
    return page.together([page.paragraph(f"{study.name}: {study.title}"), page.listed(list(study.parts))])


def rows_table(result: Any, stage: Stage) -> page.Markup:
    """Efforts and displacements by row, with units."""
    rows = [
        (
            row.name,
            _numbers(result.effort[row.name], row.effort_unit),
            _numbers(result.displacement[row.name], row.unit),
        )
        for row in stage.rows
    ]
    return page.table(("row", "effort λ", "displacement δ"), rows)


def _numbers(values: np.ndarray, unit: str) -> str:
    shown = quantity(values[:3], unit)
    return f"{shown} and {len(values) - 3} more" if len(values) > 3 else shown


def scene(
    places: np.ndarray, stage: Stage, lines: np.ndarray, things: Sequence[Any], words: str
) -> page.Markup:
    """The skin at places (frames, v, 3) [m] with its cables (frames, p, 3) and obstacles."""
    span = np.ptp(places.reshape(-1, 3), axis=0)
    around = joined([t.surface(places.reshape(-1, 3).mean(axis=0), float(span.max())) for t in things])
    counts = [count for _, count in stage.cables]
    return drawn(places, stage.triangles, words, lines=lines, counts=counts, around=around, up=stage.up)


def drawn(
    places: np.ndarray,
    triangles: np.ndarray,
    words: str,
    *,
    lines: np.ndarray | None = None,
    counts: Sequence[int] = (),
    around: Any = None,
    up: Any = (0.0, 0.0, 1.0),
) -> page.Markup:
    """A frame with a picture that can be turned; with several frames, one that plays."""
    frames = len(places)
    around = joined([]) if around is None else around
    lines = np.zeros((frames, 0, 3)) if lines is None else lines
    fixed = np.broadcast_to(around[0], (frames, *np.shape(around[0])))
    points = np.concatenate([places, fixed, lines], axis=1)
    whole, box = quantised(points, BITS)
    skin, other = places.shape[1], len(around[0])
    facts = {
        "points": points.shape[1],
        "skin": len(triangles),
        "lines": [skin + other, list(map(int, counts))],
        "up": np.asarray(up, float).tolist(),
        "step": box[3:],
        "half": (2**BITS - 1) / 2,
        "colours": [COLOUR, THING],
    }
    joint = np.concatenate([triangles, np.asarray(around[1]) + skin])
    data = {
        "facts": json.dumps(facts).encode(),
        "points": np.ascontiguousarray(whole.astype("<u2")).tobytes(),
        "triangles": np.ascontiguousarray(joint.astype("<u4")).tobytes(),
    }
    return page.framed(page.drawn_by(_turntable(), data, words), HEIGHT)


def live_html(url: str) -> str:
    """A studio that runs, in a cell."""
    return page.window(url, STUDIO_HEIGHT)


def _things(robot: Any) -> tuple[Any, ...]:
    return tuple(robot.surroundings.obstacles)


@cache
def _turntable() -> str:
    return files("pliant").joinpath("io", "turntable.js").read_text(encoding="utf-8")
