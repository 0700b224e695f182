"""Points between samples that an obstacle touches: found by cutting facets where it may be nearer there.

Samples alone would let a small ball, an edge or a corner sink in between them. A facet on which the obstacle
is nearer than at its samples by CUT gets more rows: the nearest point of the facet, and where a long part of
it is as near (a bar lies across it, an edge), points spread over that part. They are taken from a lattice
of fixed places, so that each is a material point with a key of its own; it reports on the sample next to it.
Points that push stay rows, and others join them only where they are deeper: a row that went along with the
nearest point would lose its force at every step, and Newton's method would not come to rest.

A row inside a facet pushes across the facet, as it does wherever a smooth obstacle touches a flat one, and
as it must where an edge or a corner does; a row on the side of a facet across that side. Where it is deep,
its gap is the way out in that direction. Only on obstacles that are flat or hollow is it pushed along their
own normal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.contact.detect.cells import at_places, first_cells, halved, reference, shape_weights, start_cells
from pliant.contact.detect.facets import LEVELS, PIECES, FacetArrays
from pliant.contact.obstacles import Obstacle

CUT = 2e-5  # of the robot's length: by how much a facet may be deeper between samples, without a row there …
FLAT_CUT = 1e-4  # … for an obstacle that does not bulge, where only a curved facet does …
FAR_CUT = 0.05  # … and this share of the gap, where it is open
RESOLVED = 0.5  # of that: how well the nearest point is found
BAND = 4.0  # of that: points so much farther than the nearest are as near
NEW = 1.0  # of that: by how much a point must be deeper than rows of its facet to become one
MEASURED = 1e-5  # of the robot's length: how well the deepest point of the skin is found
MOST_CELLS = 6000  # at a time: a robot may lie flat on something with very many edges
MOST_ROWS = 5  # new ones on one facet
APART = 0.3  # of the longest side of a facet: rows on it are no nearer to each other and to samples as near
ACROSS = 0.2  # cosine between gradient and facet's normal, below which an obstacle pushes beside the facet
NO_GROUP = np.zeros(0, np.int64)
FIRST_KEY = 1 << 52  # keys below it are those of samples
PLACE_BITS = 2 * LEVELS + 1  # of a place in a key


class Surfaced(NamedTuple):
    """The robot's surface where an obstacle is looked for: facets, and points (·, 3) [m] of the stack.

    radius (S,) [m] of the samples; of all points where they are at rest, and whether anything moves them.
    """

    facets: FacetArrays
    p: np.ndarray
    radius: np.ndarray
    rest: np.ndarray
    mobile: np.ndarray


class Spots(NamedTuple):
    """Points that were looked at: triangle, place (·, 2), position, gap less radius, normal, group."""

    triangle: np.ndarray
    place: np.ndarray
    x: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    group: np.ndarray

    def take(self, which: np.ndarray) -> Spots:
        """Some of them, by place."""
        return Spots(*(array[which] for array in self))


class Between(NamedTuple):
    """n rows of points between samples in the order of their keys, and their stencil, as in `Contacts`."""

    key: np.ndarray
    sample: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    position: np.ndarray
    ptr: np.ndarray
    point: np.ndarray
    weight: np.ndarray


def rows_between(
    skin: Surfaced,
    obstacle: Obstacle,
    samples: tuple[np.ndarray, np.ndarray],
    limit: float,
    length: float,
    held: np.ndarray,
) -> Between | None:
    """Rows for points between samples that are nearer than `limit` [m], None if there are none.

    samples: their gaps (S,), less the radii, and normals (S, 3); above `limit` a gap may be a bound. held:
    keys of points that push. Keys are those with the first opponent; to them goes `key_step` times the slot.
    """
    gap, normal = samples
    cut = (CUT if obstacle.bulges else FLAT_CUT) * length
    first = skin.facets, skin.p, gap, normal, skin.mobile, obstacle.convex
    triangles, least = first_cells(*first, limit, limit, cut, FAR_CUT)
    if not len(triangles) and not len(held):
        return None
    kept = _spots(skin, obstacle, *place_of(skin.facets, held))
    kept = kept.take(np.flatnonzero(kept.gap < limit))
    rows = kept
    if len(triangles):
        facets, group = np.unique(skin.facets.facet[triangles], return_inverse=True)
        best = least[facets]
        found = _cut(skin, obstacle, triangles, group, best, BAND * cut, RESOLVED * cut)
        found = found.take(np.flatnonzero(found.gap <= np.minimum(best + BAND * cut, limit)[found.group]))
        found = found.take(_facing(skin, found, len(facets)))
        found = found.take(np.lexsort((*found.place.T, found.triangle, found.gap, found.group)))
        new = chosen(skin.facets, skin.p, gap, best, *found, kept.triangle, kept.x, kept.gap, cut)
        rows = Spots(*(np.concatenate(both) for both in zip(kept, found.take(new), strict=True)))
    if not len(rows.gap):
        return None
    *fields, stencil = described(skin.facets, skin.p, skin.rest, *rows[:5], obstacle.bulges)
    return Between(*fields, *stencil)


def key_step(facets: FacetArrays) -> int:
    """How many keys of points between samples one opponent has."""
    return (len(facets.facet) + len(facets.first)) << PLACE_BITS


def place_of(facets: FacetArrays, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The triangles (n,) and places (n, 2) of keys with the first opponent."""
    unit, spot = (key - FIRST_KEY) >> PLACE_BITS, (key - FIRST_KEY) & ((1 << PLACE_BITS) - 1)
    inside, sides = unit < len(facets.facet), len(facets.first)
    use = facets.first[np.clip(unit - len(facets.facet), 0, max(sides - 1, 0))] if sides else unit
    triangle, corner = np.where(inside, unit, use // 3), use % 3
    ahead = facets.corner[triangle, corner] < facets.corner[triangle, (corner + 1) % 3]
    along = np.where(ahead, spot, PIECES - spot)
    on_side = [(along, 0 * along), (PIECES - along, along), (0 * along, PIECES - along)]
    i, j = (np.choose(corner, [place[k] for place in on_side]) for k in (0, 1))
    i, j = np.where(inside, spot // (PIECES + 1), i), np.where(inside, spot % (PIECES + 1), j)
    return triangle, np.column_stack([i, j])


def least_gap(
    skin: Surfaced, obstacle: Obstacle, samples: tuple[np.ndarray, np.ndarray], length: float
) -> float:
    """The least gap [m], below zero, of any point of the skin that something can move; else zero.

    samples: as in `rows_between`; above zero a gap may be a bound. It is found to MEASURED of the robot's
    length.
    """
    gap, normal = samples
    tolerance = MEASURED * length
    best = np.array([min(0.0, float(gap[skin.mobile[: len(gap)]].min(initial=0.0)))])
    first = skin.facets, skin.p, gap, normal, skin.mobile, obstacle.convex
    triangles, _ = first_cells(*first, best[0] - tolerance, 0.0, tolerance, 0.0)
    if len(triangles):
        _cut(skin, obstacle, triangles, np.zeros(len(triangles), np.int64), best, -tolerance, tolerance)
    return float(best[0])


def _facing(skin: Surfaced, found: Spots, groups: int) -> np.ndarray:
    """Points that an obstacle pushes across their facet; all points of a facet that has none."""
    faces = cosines(skin.facets, skin.p, found.triangle, found.place, found.normal) >= ACROSS
    some = np.bincount(found.group, faces, groups) > 0
    return np.flatnonzero(faces | ~some[found.group])


def _spots(
    skin: Surfaced, obstacle: Obstacle, triangle: np.ndarray, place: np.ndarray, group: np.ndarray = NO_GROUP
) -> Spots:
    """Places as they are."""
    x, around = at_places(skin.facets, skin.p, skin.radius, triangle, place)
    gap, normal = obstacle.distance(x)
    group = group if len(group) else np.zeros(len(triangle), np.int64)
    return Spots(triangle, place, x, gap - around, normal, group)


def _cut(
    skin: Surfaced,
    obstacle: Obstacle,
    triangles: np.ndarray,
    group: np.ndarray,
    best: np.ndarray,
    band: float,
    tolerance: float,
) -> Spots:
    """Cut triangles while they may be below best + band of their group; `best` takes the least gaps."""
    facets, p, radius, convex = skin.facets, skin.p, skin.radius, obstacle.convex
    place, x = start_cells(facets, p, triangles)
    gap, normal = obstacle.distance(x)
    gap = gap - radius[facets.corner[triangles].ravel()]  # corners are samples
    shape = (len(triangles), 3)
    cells = triangles, place, x.reshape(*shape, 3), gap.reshape(shape), normal.reshape(*shape, 3)
    parts = []
    for level in range(1, LEVELS + 1):
        if not 0 < len(cells[0]) <= MOST_CELLS:
            break
        middle = ((cells[1] + cells[1][:, [1, 2, 0]]) >> 1).reshape(-1, 2)
        seen = _spots(skin, obstacle, np.repeat(cells[0], 3), middle, np.repeat(group, 3))
        parts.append(seen)
        now = seen.x, seen.gap, seen.normal
        cells, group = halved(facets, p, cells, group, *now, best, band, tolerance, convex, level)
    return Spots(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@njit(error_model="numpy")
def _apart(x, p, i, s):
    """Squared distance of x[i] and p[s]."""
    u, v, w = x[i, 0] - p[s, 0], x[i, 1] - p[s, 1], x[i, 2] - p[s, 2]
    return u * u + v * v + w * w


@njit(cache=True, error_model="numpy")
def chosen(
    arrays, p, sample_gap, best, triangle, place, x, gap, normal, group, kept_triangle, kept_x, kept_gap, cut
):
    """Which points to take as rows, by number; points come by group and there by gap.

    The nearest of a facet, if it is nearer than the facet's samples by `cut` and than rows that it has; then
    points that are farther than APART from all these and from samples that are as near, the farthest first.
    """
    _, _, _, sample_ptr, sample, facet, _, corner, _, _, _ = arrays
    n = len(gap)
    taken, count, first = np.empty(n, np.int64), 0, 0
    while first < n:
        last = first
        while last < n and group[last] == group[first]:
            last += 1
        t = triangle[first]
        f, size = facet[t], 0.0
        for a in range(3):
            size = max(size, _apart(p, p, corner[t, a], corner[t, (a + 1) % 3]))
        nearest = np.full(last - first, np.inf)  # squared distance to what is there already
        least = np.inf  # what a new row must be below
        for e in range(sample_ptr[f], sample_ptr[f + 1]):
            s = sample[e]
            least = min(least, sample_gap[s] - cut - FAR_CUT * max(sample_gap[s], 0.0))
            if sample_gap[s] <= best[group[first]] + BAND * cut:
                for k in range(first, last):
                    nearest[k - first] = min(nearest[k - first], _apart(x, p, k, s))
        for r in range(len(kept_gap)):
            if facet[kept_triangle[r]] == f:
                least = min(least, kept_gap[r] - NEW * cut)
                if kept_gap[r] <= best[group[first]] + BAND * cut:
                    for k in range(first, last):
                        nearest[k - first] = min(nearest[k - first], _apart(x, kept_x, k, r))
        pick, rows, far = first, 0, APART * APART * size
        while rows < MOST_ROWS and (nearest[pick - first] > far if rows else gap[pick] < least):
            taken[count] = pick
            count += 1
            rows += 1
            for k in range(first, last):
                nearest[k - first] = min(nearest[k - first], _apart(x, x, k, pick))
            pick = first + np.argmax(nearest)
        first = last
    return taken[:count].copy()


@njit(error_model="numpy")
def _facet_normal(arrays, p, t, xi, eta, weight, out):
    """Unit normal of a facet at reference coordinates; differences are exact, as facets are quadratic."""
    code, node_ptr, node, _, _, facet, _, _, _, _, _ = arrays
    f, step = facet[t], 0.25
    u, v = np.zeros(3), np.zeros(3)
    for sign in (-1.0, 1.0):
        n = shape_weights(code[f], xi + sign * step, eta, weight)
        for e in range(n):
            for k in range(3):
                u[k] += sign * weight[e] * p[node[node_ptr[f] + e], k]
        shape_weights(code[f], xi, eta + sign * step, weight)
        for e in range(n):
            for k in range(3):
                v[k] += sign * weight[e] * p[node[node_ptr[f] + e], k]
    out[0], out[1], out[2] = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    length = np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    for k in range(3):
        out[k] /= length if length > 0.0 else 1.0


@njit(error_model="numpy")
def _without_part_along(n, a, b, out):
    """n less its part along b − a, unit, or n itself where little would be left; returns how long it was."""
    along, square, length = 0.0, 0.0, 0.0
    for k in range(3):
        along += n[k] * (b[k] - a[k])
        square += (b[k] - a[k]) ** 2
    for k in range(3):
        out[k] = n[k] - (along / square * (b[k] - a[k]) if square > 0.0 else 0.0)
        length += out[k] * out[k]
    length = np.sqrt(length)
    for k in range(3):
        out[k] = out[k] / length if length > ACROSS else n[k]
    return length


@njit(error_model="numpy")
def _name_and_normal(arrays, p, t, i, j, gradient, spare, out):
    """Key of a place with the first opponent, and the cosine between its gradient and the normal it pushes
    along, which goes into `out`; 1 where that is the gradient.
    """
    _, _, _, _, _, facet, xi, corner, side, _, _ = arrays
    on, along = -1, 0
    if j == 0:
        on, along = 0, i
    elif i + j == PIECES:
        on, along = 1, j
    elif i == 0:
        on, along = 2, PIECES - j
    if on >= 0:
        a, b = corner[t, on], corner[t, (on + 1) % 3]
        c = _without_part_along(gradient, p[a], p[b], out)
        spot = along if a < b else PIECES - along
        return FIRST_KEY + ((len(facet) + side[t, on]) << PLACE_BITS) + spot, (c if c > ACROSS else 1.0)
    u, v = reference(xi, t, i, j)
    _facet_normal(arrays, p, t, u, v, spare, out)
    c = out[0] * gradient[0] + out[1] * gradient[1] + out[2] * gradient[2]
    for k in range(3):
        out[k] = gradient[k] if abs(c) < ACROSS else np.sign(c) * out[k]
    spot = i * (PIECES + 1) + j
    return FIRST_KEY + (t << PLACE_BITS) + spot, (abs(c) if abs(c) >= ACROSS else 1.0)


@njit(cache=True, error_model="numpy")
def cosines(arrays, p, triangle, place, gradient):
    """|cosine| (n,) between gradients (n, 3) at places on triangles and the facet's normal there."""
    xi = arrays[6]
    out, across, spare = np.empty(len(triangle)), np.empty(3), np.empty(8)
    for r in range(len(triangle)):
        u, v = reference(xi, triangle[r], place[r, 0], place[r, 1])
        _facet_normal(arrays, p, triangle[r], u, v, spare, across)
        out[r] = abs(across[0] * gradient[r, 0] + across[1] * gradient[r, 1] + across[2] * gradient[r, 2])
    return out


@njit(cache=True, error_model="numpy")
def described(arrays, p, rest, triangle, place, x, gap, gradient, bulges):
    """Keys, samples, gaps, normals, positions and stencils of points, each once, in the order of their keys.

    Gaps below zero are those along the normal; that is the gradient where the obstacle does not bulge.
    """
    code, node_ptr, node, sample_ptr, sample, facet, xi, _, _, _, _ = arrays
    n = len(triangle)
    key, near, normal = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 3))
    along = gap.copy()
    weights, here, spare = np.empty((n, 8)), np.zeros((1, 3)), np.empty(8)
    for r in range(n):
        t, i, j = triangle[r], place[r, 0], place[r, 1]
        f = facet[t]
        key[r], c = _name_and_normal(arrays, p, t, i, j, gradient[r], spare, normal[r])
        if not bulges:
            normal[r] = gradient[r]
        elif gap[r] < 0.0:
            along[r] = gap[r] / c
        nodes = shape_weights(code[f], *reference(xi, t, i, j), weights[r])
        here[:] = 0.0
        for e in range(nodes):
            for k in range(3):
                here[0, k] += weights[r, e] * rest[node[node_ptr[f] + e], k]
        far = np.inf
        for e in range(sample_ptr[f], sample_ptr[f + 1]):
            square = _apart(here, rest, 0, sample[e])
            if square < far:
                far, near[r] = square, sample[e]
    kept, count = np.empty(n, np.int64), 0
    for o in np.argsort(key):
        if count == 0 or key[o] != key[kept[count - 1]]:
            kept[count] = o
            count += 1
    kept = kept[:count].copy()
    ptr, point, weight = np.zeros(count + 1, np.int64), np.empty(8 * count, np.int64), np.empty(8 * count)
    for r in range(count):
        o, e = kept[r], ptr[r]
        f = facet[triangle[o]]
        for a in range(node_ptr[f + 1] - node_ptr[f]):
            if abs(weights[o, a]) > 1e-14:
                point[e], weight[e] = node[node_ptr[f] + a], weights[o, a]
                e += 1
        ptr[r + 1] = e
    stencil = ptr, point[: ptr[count]].copy(), weight[: ptr[count]].copy()
    return key[kept], near[kept], along[kept], normal[kept], x[kept], stencil
