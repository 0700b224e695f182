"""Images of a robot's surface: the lit body, the pale ghost of its rest shape, and the obstacles around it.

Why pliant draws its pictures itself: Matplotlib's 3-D axes sort whole collections of triangles by one depth
each, so that a post that goes through a robot, or a finger round a ball, is in front of it or behind it
altogether, and they neither light smooth surfaces nor draw the edges of elements of second order; the
studio's page needs a browser with WebGL. A depth buffer (`pliant.io.raster`) is right for every pixel, and
needs nothing that pliant does not need anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter

from pliant.io.raster import Camera, Fragments, rasterise
from pliant.mesh.elements import SUBTRIANGLES, Element

OVERSAMPLING = 2  # pixels per pixel and direction
GHOST = 0.45  # grey level
THING = np.array([0.72, 0.70, 0.66])  # colour of obstacles
BEHIND, BEFORE = 0.75, 0.28  # how solid they look behind the robot and before it
CREASE = np.cos(np.radians(35.0))  # triangles that meet at a larger angle keep an edge between them
KEY, FILL = np.array([-0.45, 0.55, 0.70]), np.array([0.75, -0.10, 0.45])  # lights, in the camera's axes
DEPTH_JUMP = 8.0  # [px] between neighbouring pixels: one surface ends in front of another
AMBIENT, KEY_POWER, FILL_POWER, GLOSS = 0.52, 0.50, 0.14, 0.12


@dataclass(frozen=True)
class Image:
    """RGBA pixels (rows, columns, 4) and the part of the picture they cover: left, right, bottom, top [m]."""

    pixels: np.ndarray
    extent: tuple[float, float, float, float]


@dataclass(frozen=True)
class Skin:
    """What is drawn of a robot: nodes at rest (k, 3) [m], triangles (t, 3) of them, and functions (t, 3, e)
    that vanish on the edges of its elements, or None.
    """

    rest: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray | None = None

    @classmethod
    def of(cls, robot: Any) -> Skin:
        """The surfaces of a robot's bodies."""
        return cls(robot.positions(robot.rest.q), *_surface(robot))


class Renderer:
    """Draws a robot, or a skin, with an orthographic camera, at `scale` pixels per metre.

    Images are just as large as what they show. With an `origin` (2,) [m] in the picture, whole pixels lie
    between it and them.
    """

    def __init__(self, robot: Any, camera: Camera, scale: float, *, origin: np.ndarray | None = None) -> None:
        self.camera, self.scale, self.origin = camera, OVERSAMPLING * scale, origin
        skin = robot if isinstance(robot, Skin) else Skin.of(robot)
        self.rest, self.triangles, self.edges = skin.rest, skin.triangles, skin.edges

    def body(self, nodes: np.ndarray, colours: np.ndarray, *, mesh: bool = True) -> Image:
        """Nodes at (k, 3) [m] in colours (k, 3), with the edges of the elements if `mesh`."""
        seen, xy, extent = self._look(nodes)
        normals = self._normals(seen, nodes)
        shade = occlusion(seen, radius=0.05 * max(seen.covered.shape))
        rgb = lit(seen.interpolate(colours[self.triangles]), normals, shade)
        if mesh and self.edges is not None:
            drawn = lines(seen, self.edges, xy, self.triangles, 0.7 * OVERSAMPLING)
            rgb *= 1.0 - 0.2 * drawn[:, None]
        image = np.zeros((*seen.covered.shape, 4))
        image[seen.covered, :3], image[seen.covered, 3] = rgb, 1.0
        outline = 0.5 * contours(seen, normals)
        image[..., :3] *= 1.0 - outline[..., None]
        image[..., 3] = np.maximum(image[..., 3], outline)
        return Image(_shrink(image), extent)

    @cached_property
    def ghost(self) -> Image:
        """The rest shape, as outlines on a trace of grey."""
        seen, _, extent = self._look(self.rest)
        outline = contours(seen, self._normals(seen, self.rest))
        image = np.full((*seen.covered.shape, 4), GHOST)
        image[..., 3] = np.maximum(0.10 * seen.covered, 0.45 * outline)
        return Image(_shrink(image), extent)

    def things(self, nodes: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> tuple[Image, Image]:
        """Obstacles behind the body with its nodes at (k, 3) [m]; and those before it, like glass."""
        everything = np.concatenate([vertices, nodes])
        seen, xy, extent = self._look(everything, triangles)
        depth = self.camera.project(everything)[:, 2] * self.scale
        body = rasterise(xy, depth, self.triangles + len(vertices), seen.covered.shape)
        around = smoothing(triangles, vertices)
        normals = seen.interpolate(corner_normals(vertices, triangles, around)) @ self.camera.axes.T
        rgb = lit(np.tile(THING, (len(normals), 1)), normals, np.ones(len(normals)))
        image = np.zeros((*seen.covered.shape, 4))
        image[seen.covered, :3] = rgb
        outline = 0.5 * contours(seen, normals)
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
        normals = corner_normals(nodes, self.triangles, self._around)
        return seen.interpolate(normals) @ self.camera.axes.T

    @cached_property
    def _around(self) -> Any:
        return smoothing(self.triangles, self.rest)


def _surface(robot: Any) -> tuple[np.ndarray, np.ndarray]:
    """Triangles of all bodies (t, 3), numbered as `robot.positions`, and functions (t, 3, e) for their edges.

    The functions vanish on the edges of the bodies' facets.
    """
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


# Shading: from what the pixels see to colours


def triangle_normals(nodes: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Area vectors of triangles (t, 3): twice the area times the unit normal, (t, 3) [m²]."""
    a, b, c = np.moveaxis(nodes[triangles], 1, 0)
    return np.cross(b - a, c - a)


def smoothing(triangles: np.ndarray, rest: np.ndarray) -> sp.csr_array:
    """(3t, t): which triangles the normal at each corner is the mean of, those around its node.

    Triangles across a crease are left out; creases are those of the rest shape `rest` (k, 3).
    """
    before, count = _unit(triangle_normals(rest, triangles)), triangles.size
    at_node = sp.csr_array((np.ones(count), (np.arange(count), triangles.ravel())), shape=(count, len(rest)))
    pairs = (at_node @ at_node.T).tocoo()
    mine, other = pairs.row // 3, pairs.col // 3
    smooth = np.einsum("ni,ni->n", before[mine], before[other]) > CREASE
    ones = np.ones(int(smooth.sum()))
    return sp.csr_array((ones, (pairs.row[smooth], other[smooth])), shape=(count, len(triangles)))


def corner_normals(nodes: np.ndarray, triangles: np.ndarray, around: sp.csr_array) -> np.ndarray:
    """Unit normals at the corners of the triangles, (t, 3, 3): means over those `around` them."""
    return _unit(around @ triangle_normals(nodes, triangles)).reshape(-1, 3, 3)


def lit(colours: np.ndarray, normals: np.ndarray, occlusion: np.ndarray) -> np.ndarray:
    """Colours (n, 3) under two lights, with normals (n, 3) in the camera's axes; both sides are lit."""
    n = _unit(normals)
    n = np.where(n[:, 2:] < 0, -n, n)
    key, fill = _unit(KEY), _unit(FILL)
    wrapped = np.clip((n @ key + 0.35) / 1.35, 0.0, 1.0)
    light = AMBIENT + KEY_POWER * wrapped + FILL_POWER * np.clip(n @ fill, 0.0, 1.0)
    half = _unit(key + np.array([0.0, 0.0, 1.0]))
    gloss = GLOSS * np.clip(n @ half, 0.0, 1.0) ** 40
    return np.clip(colours * (light * occlusion)[:, None] + gloss[:, None], 0.0, 1.0)


def occlusion(seen: Fragments, radius: float, strength: float = 0.38) -> np.ndarray:
    """Darkening (n,) of covered pixels that lie behind their neighbourhood of `radius` [px]."""
    covered = seen.covered
    every = max(1, int(radius / 4))  # the neighbourhood's mean is smooth: every few pixels are enough
    coarse = covered[::every, ::every]
    weight = gaussian_filter(coarse.astype(float), radius / every)
    total = gaussian_filter(np.where(coarse, seen.depth[::every, ::every], 0.0), radius / every)
    mean = total / np.maximum(weight, 1e-6)
    rows, columns = np.nonzero(covered)
    behind = (_between(mean, rows / every, columns / every) - seen.depth[rows, columns]) / radius
    return 1.0 - strength * np.clip(behind, 0.0, 1.0)


def _between(image: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Bilinear interpolation of an image at fractional positions (n,)."""
    i, j = (np.minimum(x.astype(int), n - 1) for x, n in zip((row, column), image.shape))
    below, right = np.minimum(i + 1, image.shape[0] - 1), np.minimum(j + 1, image.shape[1] - 1)
    u, v = row - i, column - j
    top = (1 - v) * image[i, j] + v * image[i, right]
    return (1 - u) * top + u * ((1 - v) * image[below, j] + v * image[below, right])


def lines(
    seen: Fragments, edges: np.ndarray, xy: np.ndarray, triangles: np.ndarray, width: float
) -> np.ndarray:
    """How much of each covered pixel a mesh line covers, (n,) in 0…1.

    `edges` (t, 3, e) are functions over the triangles' corners that vanish on the edges to draw; `width`
    [px].
    """
    a, b, c = np.moveaxis(xy[triangles], 1, 0)
    (ux, uy), (vx, vy) = (b - a).T, (c - a).T
    area = ux * vy - uy * vx
    area = np.where(area == 0, 1.0, area)[:, None]
    turn = lambda v: np.stack([-v[:, 1], v[:, 0]], axis=1)
    gradient = (
        np.stack([turn(c - b), turn(a - c), turn(b - a)], axis=1) / area[:, None]
    )  # of the three weights
    slope = np.linalg.norm(np.einsum("tce,tcx->tex", edges, gradient), axis=2)
    distance = seen.interpolate(edges) / np.maximum(slope[seen.triangle[seen.covered]], 1e-12)
    return np.clip(width / 2 + 0.5 - distance.min(axis=1), 0.0, 1.0)


def contours(seen: Fragments, normals: np.ndarray) -> np.ndarray:
    """Pixels (rows, columns) 0…1 where the silhouette is, or where the normals (n, 3) or the depth jump."""
    covered = seen.covered
    image = np.zeros((*covered.shape, 3), np.float32)
    image[covered] = _unit(normals)
    jump = np.zeros(covered.shape, np.float32)
    for axis in (0, 1):
        inside, outside = _neighbours(covered, axis)
        both = inside & outside
        strength = (inside != outside).astype(np.float32)
        near, far = _neighbours(image, axis)
        aligned = np.einsum("ni,ni->n", near[both], far[both])
        strength[both] = np.clip((0.9 - aligned) * 5.0, 0.0, 1.0)
        near, far = (d[both] for d in _neighbours(seen.depth, axis))
        strength[both] = np.maximum(strength[both], np.abs(near - far) > DEPTH_JUMP)
        for side in _neighbours(jump, axis):
            np.maximum(side, strength, out=side)
    return jump


def _neighbours(image: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    return (image[:-1], image[1:]) if axis == 0 else (image[:, :-1], image[:, 1:])


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)
