"""An orthographic camera: lengths in the picture are lengths in space, so one scale serves the whole figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.errors import InputError


@dataclass(frozen=True)
class Camera:
    """Rows of `axes` (3, 3) are the picture's right, its up, and the direction towards the viewer."""

    axes: np.ndarray

    @classmethod
    def looking(cls, azimuth: float, elevation: float, *, up: Sequence[float] = (0.0, 0.0, 1.0)) -> Camera:
        """Seen from `azimuth` degrees around the vertical and `elevation` degrees above the horizon.

        `up` (3,) is the vertical. Azimuth 0 is the x axis (the y axis, should the vertical be x).
        """
        vertical = np.asarray(up, float)
        length = np.linalg.norm(vertical)
        if vertical.shape != (3,) or not (np.isfinite(length) and length > 0):
            raise InputError("up", expected="a direction, three numbers", got=up)
        vertical = vertical / length
        start = np.eye(3)[0 if abs(vertical[0]) < 0.9 else 1]
        start = start - vertical * (vertical @ start)
        start /= np.linalg.norm(start)
        a, e = np.radians(azimuth), np.radians(np.clip(elevation, -89.0, 89.0))
        horizontal = np.cos(a) * start + np.sin(a) * np.cross(vertical, start)
        towards = np.cos(e) * horizontal + np.sin(e) * vertical
        right = np.cross(vertical, towards)
        right /= np.linalg.norm(right)
        return cls(np.array([right, np.cross(towards, right), towards]))

    @property
    def towards(self) -> np.ndarray:
        """Unit vector from the scene to the viewer, (3,)."""
        return self.axes[2]

    def project(self, points: np.ndarray) -> np.ndarray:
        """Positions (…, 3) [m] in the picture: right, up, and towards the viewer, (…, 3) [m]."""
        return points @ self.axes.T
