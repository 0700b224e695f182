"""Pictures of a robot: the body coloured by stress, its rest shape, obstacles, cables and the tip's path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.contact import Obstacle
from pliant.contact.obstacles.surfaces import Triangles, joined
from pliant.errors import unknown_name
from pliant.interactions import Cable, Position
from pliant.io.raster import Camera
from pliant.io.render import Image, Renderer
from pliant.io.ruled_box import MM, RuledBox

if TYPE_CHECKING:
    from pliant.inverse import Outcome
    from pliant.result import Result

    Shown = Result | Outcome

COLOURS = ("#dfe9ee", "#b4d5dc", "#8cc3b8", "#d3cb74", "#f0ad45", "#e3703a", "#b8342c")
INK, CABLE, SLACK, TRAIL, FIBRE = "#20262e", "#17202b", "#7c8792", "#a3195b", "#42505f"
LABELS, EDGE, BAR, TITLE = (
    0.52,
    0.12,
    1.0,
    0.4,
)  # [in] room for tick labels, on other sides, for the colour bar, the title


BEYOND = 1.2  # of what else is shown: how large a part of an obstacle without an end is drawn


@dataclass(frozen=True)
class View:
    """Where a picture is seen from: degrees around the vertical and above the horizon; `up` is −gravity."""

    azimuth: float = -60.0
    elevation: float = 16.0
    up: Sequence[float] | None = None


DEFAULT_VIEW = View()


def picture(
    result: Shown,
    path: str | Path,
    *,
    field: str = "stress",
    view: View = DEFAULT_VIEW,
    trail: Sequence[Shown] = (),
    obstacles: Iterable[Obstacle] | None = None,
    title: str = "",
    ghost: bool = True,
    axes: bool = True,
    mesh: bool = True,
    scale: bool = True,
    limit: float | None = None,
    size: tuple[float, float] = (7.0, 6.0),
    dpi: int = 150,
) -> Path:
    """Draw a result to a PNG (or any format matplotlib writes) and return its path.

    `field` colours the body: "stress" (von Mises) or "displacement". `trail` are results on the way here: the
    effectors' path is drawn through them. `obstacles` are those of the robot's surroundings unless given, say
    where they have moved to. `ghost` shows the rest shape, `axes` a box with ticks, `mesh` the elements,
    `scale` a colour bar. `limit` is the top of the colour scale [Pa or m]; by default the 98th percentile
    over the nodes, because stress is singular at clamps. The picture is at most `size` [in] large, less where
    the robot is slim.
    """
    if field not in FIELDS:
        raise unknown_name("field", field, FIELDS)
    values, unit, label = FIELDS[field](result)
    top = limit / unit if limit else max(float(np.percentile(values, 98)), 1e-12)
    camera, rest = _camera(result, view), result.robot.positions(result.robot.rest.q)
    shown = np.vstack([result.positions, rest if ghost else result.positions, *_outside(result)])
    things = _things(result.robot.surroundings.obstacles if obstacles is None else obstacles, shown)
    shown = np.vstack([shown, things[0]])
    box = RuledBox(shown)
    sheet = _Sheet(camera.project(box.corners if axes else shown)[:, :2], size, dpi, axes, scale, bool(title))
    if axes:
        box.draw(sheet.canvas, camera)
    renderer = Renderer(result.robot, camera, sheet.pixels_per_metre)
    if ghost:
        sheet.paste(renderer.ghost, 1)
    if len(things[1]):
        behind, before = renderer.things(result.positions, *things)
        sheet.paste(behind, 1.5)
        sheet.paste(before, 2.5)
    colours = _colour_map()
    sheet.paste(renderer.body(result.positions, colours(values / top)[:, :3], mesh=mesh), 2)
    _draw_fibres(sheet.canvas, camera, result)
    _draw_cables(sheet.canvas, camera, result)
    _draw_trail(sheet.canvas, camera, [*trail, result])
    if scale:
        sheet.colour_bar(colours, top, label)
    if title:
        sheet.title(title)
    return sheet.save(Path(path))


class _Sheet:
    """A matplotlib figure just large enough; the units of its canvas are the picture's metres."""

    def __init__(
        self, points: np.ndarray, size: tuple[float, float], dpi: int, axes: bool, bar: bool, title: bool
    ) -> None:
        from matplotlib.figure import Figure

        self._bar, self._head = BAR if bar else 0.0, TITLE if title else 0.0
        left_below = np.full(2, LABELS if axes else EDGE)
        right_above = np.array([0.3 if axes else EDGE, EDGE])
        lo, hi = points.min(axis=0), points.max(axis=0)
        room = np.array(size) - left_below - right_above - (self._bar, self._head)
        inch = float(((hi - lo) / room).max())  # [m] per inch
        inner = (hi - lo) / inch + left_below + right_above
        self.width, self.height = float(inner[0] + self._bar), float(inner[1] + self._head)
        self.pixels_per_metre = dpi / inch
        self.dpi = dpi
        self.figure = Figure(figsize=(self.width, self.height), dpi=dpi, facecolor="white")
        self.canvas: Any = self.figure.add_axes((0.0, 0.0, inner[0] / self.width, inner[1] / self.height))
        self.canvas.set_axis_off()
        lo, hi = lo - left_below * inch, hi + right_above * inch
        self.canvas.set_xlim(lo[0], hi[0])
        self.canvas.set_ylim(lo[1], hi[1])

    def paste(self, image: Image, order: float) -> None:
        self.canvas.imshow(
            image.pixels, extent=image.extent, zorder=order, interpolation="bilinear", aspect="auto"
        )

    def colour_bar(self, colours: Any, top: float, label: str) -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        length = min(0.7 * (self.height - self._head), 3.2)
        bottom = (self.height - self._head - length) / 2
        left = self.width - self._bar + 0.12
        place = (left / self.width, bottom / self.height, 0.13 / self.width, length / self.height)
        bar = self.figure.add_axes(place)
        scale = self.figure.colorbar(ScalarMappable(Normalize(0.0, top), colours), cax=bar, extend="max")
        scale.set_label(label, color=INK, fontsize=9)
        scale.outline.set_visible(False)
        bar.tick_params(labelsize=8, color="#9aa3ad", labelcolor=INK)

    def title(self, text: str) -> None:
        at = (0.2 / self.width, 1.0 - 0.5 * TITLE / self.height)
        self.figure.text(*at, text, fontsize=12.5, color=INK, weight="bold", va="center")

    def save(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.canvas.set_autoscale_on(False)
        self.figure.savefig(path, dpi=self.dpi)
        return path


def _things(obstacles: Iterable[Obstacle], shown: np.ndarray) -> Triangles:
    """The obstacles' surfaces; planes as large as what else is shown (k, 3)."""
    lo, hi = shown.min(axis=0), shown.max(axis=0)
    size = BEYOND * float(np.linalg.norm(hi - lo))
    return joined(o.surface((lo + hi) / 2, size) for o in obstacles)


def _camera(result: Shown, view: View) -> Camera:
    gravity = result.robot.gravity
    up = view.up if view.up is not None else (-gravity if gravity.any() else (0.0, 0.0, 1.0))
    return Camera.looking(view.azimuth, view.elevation, up=tuple(up))


def _stress(result: Shown) -> tuple[np.ndarray, float, str]:
    robot = result.robot
    spans = zip(robot.bodies, robot.q_spans, robot.z_spans, strict=True)
    parts = [
        body.stress(result.q[s], "von_mises", at="nodes", z=result.state.internal[t]) for body, s, t in spans
    ]
    return np.concatenate(parts) / 1e3, 1e3, "von Mises stress [kPa]"


def _displacement(result: Shown) -> tuple[np.ndarray, float, str]:
    moved = np.linalg.norm(result.positions - result.robot.positions(result.robot.rest.q), axis=1)
    return moved / MM, MM, "displacement [mm]"


FIELDS = {"stress": _stress, "displacement": _displacement}


def _colour_map() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("silicone", COLOURS)


def point_positions(result: Shown, interaction: Any) -> np.ndarray:
    """Where the points of an interaction are, (P, 3) [m]."""
    robot, parts = result.robot, []
    for part in interaction.points:
        n = next(k for k, body in enumerate(robot.bodies) if body is part.owner)
        parts.append(part.position(result.q[robot.q_spans[n]]))
    return np.concatenate(parts)


def _cables(result: Shown) -> dict[str, np.ndarray]:
    """The polyline of each cable, fixed ends included, (n, 3) [m]."""
    lines = {}
    for name, row in result.robot.rows.items():
        cable = row.interaction
        if isinstance(cable, Cable):
            ends = [np.zeros((0, 3)) if e is None else e[None] for e in (cable.anchor, cable.end)]
            lines[name] = np.vstack([ends[0], point_positions(result, cable), ends[1]])
    return lines


def _outside(result: Shown) -> list[np.ndarray]:
    return list(_cables(result).values())


def _draw_fibres(canvas: Any, camera: Camera, result: Shown) -> None:
    """Threads that are glued to bodies, where the skin next to them faces the camera."""
    from matplotlib.collections import LineCollection
    from scipy.spatial import KDTree

    for body, span in zip(result.robot.bodies, result.robot.q_spans, strict=True):
        paths = body.fibre_paths(result.q[span])
        if not paths:
            continue
        x, triangles = body.positions(result.q[span]), body.mesh.surface.triangles
        skin = np.unique(triangles)
        a, b, c = (x[triangles[:, k]] for k in range(3))
        normals = np.zeros_like(x)
        np.add.at(normals, triangles, np.cross(b - a, c - a)[:, None])
        nearest = KDTree(x[skin])
        for path in paths:
            facing = normals[skin[nearest.query(path)[1]]] @ camera.axes[2] > 0.0
            seen = facing[:-1] & facing[1:]
            at = camera.project(path)[:, :2]
            lines = LineCollection(
                list(np.stack([at[:-1], at[1:]], axis=1)[seen]), colors=FIBRE, linewidths=0.6, zorder=3
            )
            canvas.add_collection(lines, autolim=False)


def _draw_cables(canvas: Any, camera: Camera, result: Shown) -> None:
    for name, path in _cables(result).items():
        line = camera.project(path)[:, :2].T
        if result.effort[name][0] > 0:
            canvas.plot(*line, color="white", linewidth=2.8, alpha=0.7, zorder=4)
            canvas.plot(*line, "o-", color=CABLE, linewidth=1.4, markersize=2.2, zorder=5)
        else:
            canvas.plot(*line, color=SLACK, linewidth=0.6, alpha=0.55, zorder=3)


def _draw_trail(canvas: Any, camera: Camera, results: Sequence[Shown]) -> None:
    robot = results[-1].robot
    for name in robot.by_role("effector"):
        effector = robot.rows[name].interaction
        if not isinstance(effector, Position):
            continue
        path = np.array([point_positions(r, effector) for r in results])  # (n, P, 3)
        for k in range(path.shape[1]):
            line = camera.project(path[:, k])[:, :2]
            canvas.plot(*line.T, color=TRAIL, linewidth=1.3, zorder=6)
            canvas.plot(*line[-1], "o", color=TRAIL, markeredgecolor="white", markersize=6, zorder=7)
