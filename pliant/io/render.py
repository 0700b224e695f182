"""Images of a robot's surface: the lit body, the pale ghost of its rest shape, and what stands round it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.io import shading
from pliant.io.camera import Camera
from pliant.io.raster import Fragments, rasterise
from pliant.mesh.elements import SUBTRIANGLES, Element

OVERSAMPLING = 2  # pixels per pixel and direction
GHOST = 0.45  # grey level
THING = np.array([0.72, 0.70, 0.66])  # colour of obstacles
BEHIND, BEFORE = 0.75, 0.28  # how solid they look behind the robot and before it


@dataclass(frozen=True)
class Image:
    """RGBA pixels (rows, columns, 4) and the part of the picture they cover: left, right, bottom, top [m]."""

    pixels: np.ndarray
    extent: tuple[float, float, float, float]


class Renderer:
    """Draws the surfaces of a robot's bodies with an orthographic camera, at `scale` pixels per metre."""

    def __init__(self, robot: Any, camera: Camera, scale: float) -> None:
        self.camera, self.scale = camera, OVERSAMPLING * scale
        self.rest = robot.positions(robot.rest.q)
        self.triangles, self.edges = _surface(robot)

    def body(self, nodes: np.ndarray, colours: np.ndarray, *, mesh: bool = True) -> Image:
        """Nodes at (k, 3) [m] in colours (k, 3), with the edges of the elements if `mesh`."""
        seen, xy, extent = self._look(nodes)
        normals = self._normals(seen, nodes)
        shade = shading.occlusion(seen, radius=0.05 * max(seen.covered.shape))
        rgb = shading.lit(seen.interpolate(colours[self.triangles]), normals, shade)
        if mesh:
            rgb *= (
                1.0 - 0.2 * shading.lines(seen, self.edges, xy, self.triangles, 0.7 * OVERSAMPLING)[:, None]
            )
        image = np.zeros((*seen.covered.shape, 4))
        image[seen.covered, :3], image[seen.covered, 3] = rgb, 1.0
        outline = 0.5 * shading.contours(seen, normals)
        image[..., :3] *= 1.0 - outline[..., None]
        image[..., 3] = np.maximum(image[..., 3], outline)
        return Image(_shrink(image), extent)

    @cached_property
    def ghost(self) -> Image:
        """The rest shape, as outlines on a trace of grey."""
        seen, _, extent = self._look(self.rest)
        outline = shading.contours(seen, self._normals(seen, self.rest))
        image = np.full((*seen.covered.shape, 4), GHOST)
        image[..., 3] = np.maximum(0.10 * seen.covered, 0.45 * outline)
        return Image(_shrink(image), extent)

    def things(self, nodes: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> tuple[Image, Image]:
        """Obstacles behind the body with its nodes at (k, 3) [m], and the same where they are before it, like glass."""
        everything = np.concatenate([vertices, nodes])
        seen, xy, extent = self._look(everything, triangles)
        depth = self.camera.project(everything)[:, 2] * self.scale
        body = rasterise(xy, depth, self.triangles + len(vertices), seen.covered.shape)
        normals = seen.interpolate(shading.corner_normals(vertices, triangles, vertices)) @ self.camera.axes.T
        rgb = shading.lit(np.tile(THING, (len(normals), 1)), normals, np.ones(len(normals)))
        image = np.zeros((*seen.covered.shape, 4))
        image[seen.covered, :3] = rgb
        outline = 0.5 * shading.contours(seen, normals)
        image[..., :3] *= 1.0 - outline[..., None]
        solid = np.maximum(seen.covered.astype(float), outline)
        layers = []
        for alpha in (BEHIND * solid, BEFORE * solid * (seen.depth > body.depth)):
            image[..., 3] = alpha
            layers.append(Image(_shrink(image), extent))
        return layers[0], layers[1]

    def _look(
        self, nodes: np.ndarray, triangles: np.ndarray | None = None
    ) -> tuple[Fragments, np.ndarray, tuple[float, float, float, float]]:
        """What an image just large enough sees of the nodes, where they are in it, and its extent."""
        at = self.camera.project(nodes)
        pad = 4.0 * OVERSAMPLING / self.scale
        lo, hi = at[:, :2].min(axis=0) - pad, at[:, :2].max(axis=0) + pad
        columns, rows = (OVERSAMPLING * int(np.ceil(n * self.scale / OVERSAMPLING)) for n in hi - lo)
        hi = lo + np.array([columns, rows]) / self.scale
        xy = np.stack([(at[:, 0] - lo[0]) * self.scale, (hi[1] - at[:, 1]) * self.scale], axis=1)
        shown = self.triangles if triangles is None else triangles
        seen = rasterise(xy, at[:, 2] * self.scale, shown, (rows, columns))
        return seen, xy, (lo[0], hi[0], lo[1], hi[1])

    def _normals(self, seen: Fragments, nodes: np.ndarray) -> np.ndarray:
        return seen.interpolate(shading.corner_normals(nodes, self.triangles, self.rest)) @ self.camera.axes.T


def _surface(robot: Any) -> tuple[np.ndarray, np.ndarray]:
    """Triangles of all bodies (t, 3) in the numbering of `robot.positions`, and functions (t, 3, e) that vanish on the
    edges of their facets."""
    triangles, edges, offset = [], [], 0
    for body in robot.bodies:
        surface = body.mesh.surface
        triangles.append(surface.triangles + offset)
        local = _edge_functions(surface.element)[SUBTRIANGLES[surface.kind]]
        edges.append(np.tile(local, (len(surface.facets), 1, 1)))
        offset += len(body.mesh.nodes)
    widest = max(e.shape[2] for e in edges)  # three for triangles, four for quadrilaterals
    edges = [np.pad(e, ((0, 0), (0, 0), (0, widest - e.shape[2])), constant_values=9.0) for e in edges]
    return np.concatenate(triangles), np.concatenate(edges)


def _edge_functions(facet: Element) -> np.ndarray:
    x, y = facet.nodes.T
    if facet.corners == 3:
        return np.stack([x, y, 1.0 - x - y], axis=1)
    return np.stack([1.0 + x, 1.0 - x, 1.0 + y, 1.0 - y], axis=1) / 2.0


def _shrink(image: np.ndarray) -> np.ndarray:
    """Average OVERSAMPLING² pixels into one, colours weighted by their opacity."""
    rows, columns = (s // OVERSAMPLING for s in image.shape[:2])
    tiles = image.reshape(rows, OVERSAMPLING, columns, OVERSAMPLING, 4)
    alpha = tiles[..., 3:].mean(axis=(1, 3))
    rgb = (tiles[..., :3] * tiles[..., 3:]).mean(axis=(1, 3)) / np.maximum(alpha, 1e-9)
    return np.concatenate([rgb, alpha], axis=2)
