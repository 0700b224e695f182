"""From what the pixels see to colours: smooth normals with creases, light, mesh lines, contours."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter

from pliant.io.raster import Fragments

CREASE = np.cos(np.radians(35.0))  # triangles that meet at a larger angle keep an edge between them
KEY, FILL = np.array([-0.45, 0.55, 0.70]), np.array([0.75, -0.10, 0.45])  # lights, in the camera's axes
DEPTH_JUMP = 8.0  # [px] between neighbouring pixels: one surface ends in front of another
AMBIENT, KEY_POWER, FILL_POWER, GLOSS = 0.52, 0.50, 0.14, 0.12


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
    """Unit normals at the corners of the triangles, (t, 3, 3): means over the triangles `around` them, see `smoothing`."""
    return _unit(around @ triangle_normals(nodes, triangles)).reshape(-1, 3, 3)


def lit(colours: np.ndarray, normals: np.ndarray, occlusion: np.ndarray) -> np.ndarray:
    """Colours (n, 3) under two lights, with normals (n, 3) in the camera's axes; both sides of a surface are lit."""
    n = _unit(normals)
    n = np.where(n[:, 2:] < 0, -n, n)
    key, fill = _unit(KEY), _unit(FILL)
    wrapped = np.clip((n @ key + 0.35) / 1.35, 0.0, 1.0)
    light = AMBIENT + KEY_POWER * wrapped + FILL_POWER * np.clip(n @ fill, 0.0, 1.0)
    half = _unit(key + np.array([0.0, 0.0, 1.0]))
    gloss = GLOSS * np.clip(n @ half, 0.0, 1.0) ** 40
    return np.clip(colours * (light * occlusion)[:, None] + gloss[:, None], 0.0, 1.0)


def occlusion(seen: Fragments, radius: float, strength: float = 0.38) -> np.ndarray:
    """Darkening (n,) of covered pixels that lie behind their neighbourhood of `radius` [px]: depth made visible."""
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

    `edges` (t, 3, e) are functions over the triangles' corners that vanish on the edges to draw; `width` [px].
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
