"""The box around a picture's scene: walls behind it with a grid, and ticks in millimetres."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.io.raster import Camera

MM = 1e-3
WALL, GRID, TEXT = "#f6f7f9", "#dfe3e8", "#5b6470"
NICE = (1, 2, 5, 10)


class RuledBox:
    """A box [lo, hi] (3,) [m] around points (k, 3), with ticks at multiples of a round `step` [m]."""

    def __init__(self, points: np.ndarray, *, slimmest: float = 0.22, ticks: int = 8) -> None:
        lo, hi = points.min(axis=0), points.max(axis=0)
        half = (hi - lo) / 2
        half = np.maximum(half, slimmest * half.max()) + 0.08 * half.max()
        self.lo, self.hi = (lo + hi) / 2 - half, (lo + hi) / 2 + half
        self.step = _round_step(2 * half.max() / ticks)

    @property
    def corners(self) -> np.ndarray:
        """The eight corners, (8, 3) [m]."""
        return np.array([[(self.lo, self.hi)[b >> k & 1][k] for k in range(3)] for b in range(8)])

    def ticks(self, axis: int) -> np.ndarray:
        """Tick positions along an axis [m]."""
        first, last = np.ceil(self.lo[axis] / self.step), np.floor(self.hi[axis] / self.step)
        return self.step * np.arange(first, last + 1)

    def draw(self, axes: Any, camera: Camera) -> None:
        """Walls, grid, ticks and labels on matplotlib axes whose unit is the picture's metre."""
        back = np.where(camera.towards > 0, self.lo, self.hi)
        for k in range(3):
            self._wall(axes, camera, k, back)
        for k in range(3):
            self._ruler(axes, camera, k, back)

    def _wall(self, axes: Any, camera: Camera, k: int, back: np.ndarray) -> None:
        i, j = (k + 1) % 3, (k + 2) % 3
        ring = np.tile(back, (4, 1))
        ring[:, i], ring[:, j] = self.lo[i], self.lo[j]
        ring[1:3, i], ring[2:, j] = self.hi[i], self.hi[j]
        axes.fill(*camera.project(ring)[:, :2].T, facecolor=WALL, edgecolor=GRID, linewidth=0.8, zorder=0)
        for a, b in ((i, j), (j, i)):
            for tick in self.ticks(a):
                line = np.tile(back, (2, 1))
                line[:, a], line[0, b], line[1, b] = tick, self.lo[b], self.hi[b]
                axes.plot(*camera.project(line)[:, :2].T, color=GRID, linewidth=0.6, zorder=0.1)

    def _ruler(self, axes: Any, camera: Camera, k: int, back: np.ndarray) -> None:
        """Ticks along the edge of the silhouette that is lowest (or leftmost, for an upright axis)."""
        i, j = (k + 1) % 3, (k + 2) % 3
        front = self.lo + self.hi - back
        direction = camera.axes[:2, k]
        if np.linalg.norm(direction) < 0.15:  # seen from its end
            return
        upright = abs(direction[1]) > 2.0 * abs(direction[0])
        edges = []
        for near, far in ((i, j), (j, i)):
            edge = back.copy()
            edge[near], edge[far] = front[near], back[far]
            edges.append(edge)
        middle = (self.lo + self.hi) / 2
        screen = []
        for edge in edges:
            edge[k] = middle[k]
            screen.append(camera.project(edge - middle)[:2])
        chosen = int(np.argmin([s[0] if upright else s[1] for s in screen]))
        edge, outward = edges[chosen], screen[chosen]
        normal = np.array([-direction[1], direction[0]]) / np.linalg.norm(direction)
        normal *= np.sign(normal @ outward) or 1.0
        self._labels(axes, camera, k, edge, normal)

    def _labels(self, axes: Any, camera: Camera, k: int, edge: np.ndarray, normal: np.ndarray) -> None:
        align = {"ha": _side(normal[0], "left", "right"), "va": _side(normal[1], "bottom", "top")}
        style = {"color": TEXT, "textcoords": "offset points", "annotation_clip": False, **align}
        for value in self.ticks(k):
            point = edge.copy()
            point[k] = value
            at = camera.project(point)[:2]
            axes.annotate(f"{round(value / MM, 6) + 0.0:g}", at, xytext=4 * normal, fontsize=7.5, **style)
        style |= {"ha": "center", "va": "center"}
        angle = np.degrees(np.arctan2(*camera.axes[1::-1, k]))
        angle = 90.0 - (90.0 - angle) % 180.0  # in (−90°, 90°]: never upside down
        at, text = camera.project(edge)[:2], f"{'xyz'[k]} [mm]"
        axes.annotate(text, at, xytext=27 * normal, fontsize=9, rotation=angle, **style)


def _side(x: float, positive: str, negative: str) -> str:
    return "center" if abs(x) < 0.38 else positive if x > 0 else negative


def _round_step(size: float) -> float:
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(n * power for n in NICE if n * power >= size * (1 - 1e-9)))
