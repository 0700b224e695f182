"""The triangles of a sheet at rest: their frames, and what linear fields on them need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.mesh.sheets import Sheet


@dataclass(frozen=True, eq=False)
class Triangles:
    """Triangles in their natural shape, the one without stress.

    cells (ne, 3): nodes, counter-clockwise seen from the front.
    frame (ne, 3, 3): axes as columns, the third is the normal of the front.
    corners (ne, 3, 2) [m]: in the frame, about the centre.
    gradient (ne, 3, 2) [1/m]: that of the linear shape functions.
    area (ne,) [m²].
    """

    cells: np.ndarray
    frame: np.ndarray
    corners: np.ndarray
    gradient: np.ndarray
    area: np.ndarray

    @classmethod
    def of(cls, sheet: Sheet, prestretch: float = 1.0) -> Triangles:
        """The triangles of a sheet that is stretched by `prestretch` as it lies."""
        X = sheet.nodes[sheet.cells]
        along, normal = _unit(X[:, 1] - X[:, 0]), _unit(np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]))
        frame = np.stack([along, np.cross(normal, along), normal], axis=2)
        corners = np.einsum("eai,eij->eaj", X - X.mean(axis=1, keepdims=True), frame)[:, :, :2] / prestretch
        across = np.roll(corners, 1, axis=1) - np.roll(corners, -1, axis=1)  # the edge opposite each corner
        double = across[:, 0, 0] * across[:, 1, 1] - across[:, 0, 1] * across[:, 1, 0]
        gradient = np.stack([-across[:, :, 1], across[:, :, 0]], axis=2) / double[:, None, None]
        return cls(sheet.cells, frame, corners, gradient, 0.5 * double)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def sides(self) -> np.ndarray:
        """Vectors (ne, 3, 2) [m] from corner 1 to 2, 2 to 3 and 3 to 1."""
        return np.roll(self.corners, -1, axis=1) - self.corners

    def curvature(self, normals: np.ndarray) -> np.ndarray:
        """Curvature (ne, 2, 2) [1/m] of the sheet at rest, of how its normals (k, 3) turn between corners."""
        tilt = np.einsum("eai,eij->eaj", normals[self.cells], self.frame[:, :, :2])
        slope = np.einsum("eai,eaj->eij", tilt, self.gradient)
        return 0.5 * (slope + np.swapaxes(slope, 1, 2))


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=1, keepdims=True)
