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


@dataclass(frozen=True)
class Skin:
    """What is drawn of a robot: nodes at rest (k, 3) [m], triangles (t, 3) of them, and functions (t, 3, e) that vanish on the
    edges of its elements, or None."""

    rest: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray | None = None

    @classmethod
    def of(cls, robot: Any) -> Skin:
        """The surfaces of a robot's bodies."""
        return cls(robot.positions(robot.rest.q), *_surface(robot))


class Renderer:
    """Draws a robot, or a skin, with an orthographic camera, at `scale` pixels per metre.

    Images are just as large as what they show. With an `origin` (2,) [m] in the picture, whole pixels lie between it and them.
    """

    def __init__(self, robot: Any, camera: Camera, scale: float, *, origin: np.ndarray | None = None) -> None:
        self.camera, self.scale, self.origin = camera, OVERSAMPLING * scale, origin
        skin = robot if isinstance(robot, Skin) else Skin.of(robot)
        self.rest, self.triangles, self.edges = skin.rest, skin.triangles, skin.edges

    def body(self, nodes: np.ndarray, colours: np.ndarray, *, mesh: bool = True) -> Image:
        """Nodes at (k, 3) [m] in colours (k, 3), with the edges of the elements if `mesh`."""
        seen, xy, extent = self._look(nodes)
        normals = self._normals(seen, nodes)
        shade = shading.occlusion(seen, radius=0.05 * max(seen.covered.shape))
        rgb = shading.lit(seen.interpolate(colours[self.triangles]), normals, shade)
        if mesh and self.edges is not None:
            drawn = shading.lines(seen, self.edges, xy, self.triangles, 0.7 * OVERSAMPLING)
            rgb *= 1.0 - 0.2 * drawn[:, None]
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
        around = shading.smoothing(triangles, vertices)
        normals = seen.interpolate(shading.corner_normals(vertices, triangles, around)) @ self.camera.axes.T
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
        """What the image sees of the nodes, where they are in it, and its extent."""
        at = self.camera.project(nodes)
        pad = 4.0 * OVERSAMPLING / self.scale
        lo, hi = at[:, :2].min(axis=0) - pad, at[:, :2].max(axis=0) + pad
        if self.origin is not None:
            pixel = OVERSAMPLING / self.scale
            lo = self.origin + np.floor((lo - self.origin) / pixel) * pixel
        columns, rows = (OVERSAMPLING * int(np.ceil(n * self.scale / OVERSAMPLING)) for n in hi - lo)
        hi = lo + np.array([columns, rows]) / self.scale
        xy = np.stack([(at[:, 0] - lo[0]) * self.scale, (hi[1] - at[:, 1]) * self.scale], axis=1)
        shown = self.triangles if triangles is None else triangles
        seen = rasterise(xy, at[:, 2] * self.scale, shown, (rows, columns))
        return seen, xy, (lo[0], hi[0], lo[1], hi[1])

    def _normals(self, seen: Fragments, nodes: np.ndarray) -> np.ndarray:
        normals = shading.corner_normals(nodes, self.triangles, self._around)
        return seen.interpolate(normals) @ self.camera.axes.T

    @cached_property
    def _around(self) -> Any:
        return shading.smoothing(self.triangles, self.rest)


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
    steps = range(OVERSAMPLING)
    tiles = [image[i::OVERSAMPLING, j::OVERSAMPLING] for i in steps for j in steps]
    alpha = sum(tile[..., 3:] for tile in tiles)
    rgb = sum(tile[..., :3] * tile[..., 3:] for tile in tiles) / np.maximum(alpha, 1e-9)
    return np.concatenate([rgb, alpha / len(tiles)], axis=2)
