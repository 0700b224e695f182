"""Stills: frames as PNG pictures, all seen from the same place; what a film is made of.

session.listeners.append(Stills("film", session.stage).write)      # while it runs
Recording.read("run.mcap").to_png("film")                          # afterwards
ffmpeg -framerate 50 -i film/%05d.png -pix_fmt yuv420p film.mp4    # if there is ffmpeg
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.contact.obstacles import KINDS, Obstacle, surface_of
from pliant.contact.obstacles.surfaces import Triangles, joined
from pliant.errors import InputError
from pliant.frame import Frame
from pliant.io.picture import BEYOND, CABLE, COLOURS, DEFAULT_VIEW, INK, SLACK, TRAIL, View
from pliant.io.raster import Camera
from pliant.io.render import Image, Renderer, Skin
from pliant.stage import RowFacts, Stage

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

PAPER = 1.0
PUSH = "#2563eb"
MARGIN = 0.05  # of the picture
CAPTION = 44  # [px] for the sentence below
OVERSAMPLING = 2  # pixels per pixel of lines
LONGEST_ARROW = 0.2  # of the robot's length: the arrow of the largest contact force


class Stills:
    """Draws frames to numbered files in a folder: 00000.png, 00001.png …

    `view` is where it is seen from, `size` (columns, rows) [px]. `box` (2, 3) [m] is the part of space that
    is seen, and `top` [m] the displacement at the top of the colours; by default there is room for half the
    robot's length around it at rest.
    """

    def __init__(
        self,
        folder: str | Path,
        stage: Stage,
        *,
        view: View = DEFAULT_VIEW,
        size: tuple[int, int] = (960, 720),
        box: Any = None,
        top: float | None = None,
    ) -> None:
        if min(size) < 2 * CAPTION:
            raise InputError("size", expected=f"at least {2 * CAPTION} pixels", got=size)
        self.folder, self.stage, self.size, self.count = Path(folder), stage, size, 0
        self.top = top or 0.5 * stage.length
        up = stage.up if view.up is None else np.asarray(view.up, float)
        self.camera = Camera.looking(view.azimuth, view.elevation, up=tuple(up))
        if box is None:
            room = 0.5 * stage.length
            box = stage.rest.min(axis=0) - room, stage.rest.max(axis=0) + room
        self.box = np.asarray(box, float).reshape(2, 3)
        self._frame_it()
        self.trail: list[np.ndarray] = []  # where the first effector has been (3,)

    def _frame_it(self) -> None:
        """The box fits into the picture, above the caption."""
        corners = np.array([[self.box[b >> k & 1][k] for k in range(3)] for b in range(8)])
        at = self.camera.project(corners)[:, :2]
        lo, hi = at.min(axis=0), at.max(axis=0)
        wide, high = self.size
        scale = (1.0 - 2.0 * MARGIN) * float(min(wide / (hi - lo)[0], (high - CAPTION) / (hi - lo)[1]))
        middle = (lo + hi) / 2 - (0.0, CAPTION / 2 / scale)
        half = np.array(self.size) / 2 / scale
        self.scale, self.corner = scale, middle + half * (-1.0, 1.0)  # upper left
        skin = Skin(self.stage.rest, self.stage.triangles)
        self.renderer = Renderer(skin, self.camera, scale, origin=self.corner)

    def write(self, frame: Frame) -> Path:
        """Draw one more frame, and return its path."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.count:05d}.png"
        self.image(frame).save(path)
        self.count += 1
        return path

    def image(self, frame: Frame) -> Any:
        """The picture of a frame, a PIL image; the trail goes on from the frames before."""
        from PIL import Image as pil

        nodes = frame.positions[self.stage.vertices]
        moved = np.linalg.norm(nodes - self.stage.rest, axis=1) / self.top
        layers = [self.renderer.ghost]
        things = self._things(frame)
        behind, before = self.renderer.things(nodes, *things) if len(things[1]) else (None, None)
        layers += [behind, self.renderer.body(nodes, coloured(moved)), before]
        canvas = np.full((self.size[1], self.size[0], 3), PAPER)
        for layer in layers:
            if layer is not None:
                self._paste(canvas, layer)
        picture = pil.fromarray((255.0 * np.clip(canvas, 0.0, 1.0)).astype(np.uint8))
        return self._with_lines(picture, frame)

    def _paste(self, canvas: np.ndarray, image: Image) -> None:
        """An image on top, as far as it is in the picture."""
        left, _, _, top = image.extent
        j, i = np.rint(self.scale * ((left, top) - self.corner) * (1.0, -1.0)).astype(int)
        pixels = image.pixels[max(-i, 0) :, max(-j, 0) :]
        under = canvas[max(i, 0) :, max(j, 0) :][: pixels.shape[0], : pixels.shape[1]]
        pixels = pixels[: under.shape[0], : under.shape[1]]
        alpha = pixels[..., 3:]
        under[:] = (1.0 - alpha) * under + alpha * pixels[..., :3]

    def _things(self, frame: Frame) -> Triangles:
        """The obstacles' surfaces; those without an end somewhat larger than the picture."""
        middle, size = self.box.mean(axis=0), BEYOND * float(np.linalg.norm(self.box[1] - self.box[0]))
        return joined(surface_of(data, middle, size) for data in frame.obstacles.values())

    def _with_lines(self, picture: Any, frame: Frame) -> Any:
        """Cables, trail, targets and forces on top; what it says below."""
        from PIL import Image as pil
        from PIL import ImageDraw, ImageFont

        fine = pil.new("RGBA", (OVERSAMPLING * self.size[0], OVERSAMPLING * self.size[1]), (255, 255, 255, 0))
        draw = ImageDraw.Draw(fine)
        self._cables(draw, frame)
        self._targets(draw, frame)
        self._forces(draw, frame)
        picture.paste(small := fine.resize(self.size, pil.Resampling.BOX), (0, 0), small)
        text = ImageDraw.Draw(picture)
        font = ImageFont.load_default(15)
        text.text(
            (16, self.size[1] - CAPTION + 12),
            _fitting(frame.words, text, font, self.size[0] - 120),
            INK,
            font,
        )
        clock = f"{frame.time:.2f} s"
        text.text((self.size[0] - 16, self.size[1] - CAPTION + 12), clock, SLACK, font, anchor="ra")
        return picture

    def _at(self, points: np.ndarray) -> list[tuple[float, float]]:
        """Points (n, 3) [m] in pixels of the fine picture."""
        xy = self.camera.project(np.atleast_2d(points))[:, :2]
        return [tuple(p) for p in OVERSAMPLING * self.scale * (xy - self.corner) * (1.0, -1.0)]

    def _cables(self, draw: ImageDraw, frame: Frame) -> None:
        start = 0
        for name, count in self.stage.cables:
            line = self._at(frame.lines[start : start + count])
            start += count
            if name in frame.lost:
                continue
            taut = frame.effort[name][0] > 0
            draw.line(line, CABLE if taut else SLACK, OVERSAMPLING * 2 if taut else OVERSAMPLING)

    def _targets(self, draw: ImageDraw, frame: Frame) -> None:
        points = [row.name for row in _points(self.stage)]
        for name in points[:1]:
            self.trail.append(frame.displacement[name])
            draw.line(self._at(np.array(self.trail)), TRAIL, OVERSAMPLING)
        for name in points:
            _disc(draw, self._at(frame.displacement[name])[0], 4 * OVERSAMPLING, None, TRAIL)
            if name in frame.target:
                draw.line(
                    self._at(np.array([frame.displacement[name], frame.target[name]])), TRAIL, OVERSAMPLING
                )
                _disc(draw, self._at(frame.target[name])[0], 5 * OVERSAMPLING, TRAIL, "white")

    def _forces(self, draw: ImageDraw, frame: Frame) -> None:
        strength = frame.touch.strength
        lengths = (
            LONGEST_ARROW * self.stage.length * np.sqrt(strength / max(strength.max(initial=0.0), 1e-12))
        )
        for where, force, size, length in zip(
            frame.touch.position, frame.touch.force, strength, lengths, strict=True
        ):
            start, end = self._at(np.array([where - length * force / size, where]))
            _arrow(draw, start, end, TRAIL)
        if frame.push is not None and frame.push.force.any():
            arrow = LONGEST_ARROW * self.stage.length * frame.push.force / np.linalg.norm(frame.push.force)
            start, end = self._at(np.array([frame.push.position, frame.push.position + arrow]))
            _arrow(draw, start, end, PUSH)


def box_of(stage: Stage, frames: Sequence[Frame]) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a box around the robot, cables, targets and obstacles in frames; planes have no end."""
    points, known = [stage.rest], None
    for frame in frames:
        points += [frame.positions[stage.vertices], frame.lines]
        points += [frame.target[row.name][None] for row in _points(stage) if row.name in frame.target]
        if frame.obstacles is not known:
            known = frame.obstacles
            ended = [data for data in known.values() if KINDS.get(data["kind"], Obstacle).bounded]
            points += [surface_of(data, np.zeros(3), 1.0)[0] for data in ended]
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


def _points(stage: Stage) -> list[RowFacts]:
    """Effectors that are a place in space."""
    return [row for row in stage.by_role("effector") if row.kind == "Position" and row.size == 3]


def coloured(values: np.ndarray) -> np.ndarray:
    """Colours (n, 3) of values (n,) in 0 … 1, as in pictures and in the studio."""
    stops = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in COLOURS])
    place = np.linspace(0.0, 1.0, len(stops))
    return np.stack([np.interp(values, place, stops[:, k]) for k in range(3)], axis=1)


def _disc(draw: ImageDraw, at: tuple[float, float], radius: float, fill: str | None, outline: str) -> None:
    x, y = at
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill, outline, 2 * OVERSAMPLING)


def _arrow(draw: ImageDraw, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    arrow = np.subtract(end, start)
    length = float(np.linalg.norm(arrow))
    if length < 1.0:
        return
    along, head = arrow / length, min(0.5 * length, 9.0 * OVERSAMPLING)
    side, neck = 0.45 * head * np.array([-along[1], along[0]]), np.array(end) - head * along
    draw.line([start, tuple(neck)], colour, 3 * OVERSAMPLING)
    draw.polygon([end, tuple(neck + side), tuple(neck - side)], colour)


def _fitting(words: str, draw: ImageDraw, font: Any, width: float) -> str:
    """As many of the words as fit into a width [px]."""
    kept = words.split()
    while kept and draw.textlength(" ".join(kept), font) > width:
        kept.pop()
    return words if len(kept) == len(words.split()) else f"{' '.join(kept)} …"
