"""Points between samples that an obstacle touches: found by cutting facets where it may be nearer there.

Samples alone would let a small ball, an edge or a corner sink in between them. A facet on which the obstacle
is nearer than at its samples by CUT gets more rows: the nearest point of the facet, and where a long part of
it is as near (a bar lies across it, an edge), points spread over that part. They are taken from a lattice
of fixed places, so that each is a material point with a key of its own; it reports on the sample next to it.
Points that push stay rows, and others join them only where they are deeper: a row that went along with the
nearest point would lose its force at every step, and Newton's method would not come to rest.

On obstacles that are round enough a point between samples is like a sample. On small ones, edges and corners
a row inside a facet pushes across the facet, as a small thing that touches a flat one does; a row on the side
of a facet across that side. Where it is deep, its gap is the way out in that direction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.contact.contacts import Contacts, Stencil
from pliant.contact.detect.cells import at_places, first_cells, halved, start_cells
from pliant.contact.detect.facets import LEVELS, PIECES, FacetArrays
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.obstacles import Obstacle
from pliant.contact.obstacles.obstacle import INF
from pliant.contact.stiffness import ROUND

CUT = 2e-5  # of the robot's length: by how much a facet may be deeper between samples, without a row there …
DENSE_CUT = 3.4e-4  # … where samples were made for such an obstacle: its push stays on them …
FLAT_CUT = 1e-4  # … for an obstacle that does not bulge, where only a curved facet does …
FAR_CUT = 0.05  # … and this share of the gap, where it is open
RESOLVED = 1e-5  # of the length: how well the nearest point is found
BAND = 8e-5  # of the length: points so much farther than the nearest are as near
NEW = 2e-5  # of the length: by how much a point must be deeper than rows of its facet to become one
MEASURED = 1e-5  # of the robot's length: how well the deepest point of the skin is found
MOST_CELLS = 6000  # at a time: a robot may lie flat on something with very many edges
MOST_ROWS = 5  # new ones on one facet
APART = 0.3  # of the longest side of a facet: rows on it are no nearer to each other and to samples as near
ACROSS = 0.2  # cosine between gradient and facet's normal, below which an obstacle pushes beside the facet
ASIDE = PIECES // 16  # how far from a place a facet's normal there is taken
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
    *,
    dense: bool = False,
) -> Between | None:
    """Rows for points between samples that are nearer than `limit` [m], None if there are none.

    samples: their gaps (S,), less the radii, and normals (S, 3); above `limit` a gap may be a bound. dense:
    whether they were made for such an obstacle. held:
    keys of points that push. Keys are those with the first opponent; to them goes `key_step` times the slot.
    """
    gap, normal = samples
    cut = (DENSE_CUT if dense else CUT if obstacle.bulges else FLAT_CUT) * length
    first = skin.facets, skin.p, gap, normal, _pieces(skin, obstacle), skin.mobile, obstacle.convex
    triangles, least = first_cells(*first, limit, INF if obstacle.exact else limit, cut, FAR_CUT)
    if not len(triangles) and not len(held):
        return None
    kept = _spots(skin, obstacle, *place_of(skin.facets, held))
    kept = kept.take(np.flatnonzero(kept.gap < limit))
    rows = kept
    if len(triangles):
        facets, group = np.unique(skin.facets.facet[triangles], return_inverse=True)
        best = least[facets]
        found = _cut(skin, obstacle, triangles, group, best, BAND * length, RESOLVED * length)
        near = np.minimum(best + BAND * length, limit)
        found = found.take(np.flatnonzero(found.gap <= near[found.group]))
        found = found.take(_facing(skin, found, len(facets)))
        found = found.take(np.lexsort((*found.place.T, found.triangle, found.gap, found.group)))
        new = chosen(skin.facets, skin.p, gap, best, *found, kept.triangle, kept.x, kept.gap, cut, length)
        rows = Spots(*(np.concatenate(both) for both in zip(kept, found.take(new), strict=True)))
    if not len(rows.gap):
        return None
    return described(skin, rows, obstacle.round_at(rows.x, ROUND * length))


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
    first = skin.facets, skin.p, gap, normal, _pieces(skin, obstacle), skin.mobile, obstacle.convex
    triangles, _ = first_cells(*first, best[0] - tolerance, INF if obstacle.exact else 0.0, tolerance, 0.0)
    if len(triangles):
        _cut(skin, obstacle, triangles, np.zeros(len(triangles), np.int64), best, -tolerance, tolerance)
    return float(best[0])


def _pieces(skin: Surfaced, obstacle: Obstacle) -> np.ndarray:
    """Of samples (S,), the concave functions that are an obstacle's gap there; none where it is convex."""
    return NO_GROUP if obstacle.convex else obstacle.concave_piece(skin.p[: len(skin.radius)])


def _facing(skin: Surfaced, found: Spots, groups: int) -> np.ndarray:
    """Points that an obstacle pushes across their facet; all points of a facet that has none."""
    across = facet_normals(skin, found.triangle, found.place)
    faces = np.abs(np.einsum("ki,ki->k", across, found.normal)) >= ACROSS
    some = np.bincount(found.group, faces, groups) > 0
    return np.flatnonzero(faces | ~some[found.group])


def _spots(
    skin: Surfaced, obstacle: Obstacle, triangle: np.ndarray, place: np.ndarray, group: np.ndarray = NO_GROUP
) -> Spots:
    """Places as they are."""
    x, around, _ = at_places(skin.facets, skin.p, skin.radius, triangle, place)
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
    arrays,
    p,
    sample_gap,
    best,
    triangle,
    place,
    x,
    gap,
    normal,
    group,
    kept_triangle,
    kept_x,
    kept_gap,
    cut,
    length,
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
            if sample_gap[s] <= best[group[first]] + BAND * length:
                for k in range(first, last):
                    nearest[k - first] = min(nearest[k - first], _apart(x, p, k, s))
        for r in range(len(kept_gap)):
            if facet[kept_triangle[r]] == f:
                least = min(least, kept_gap[r] - NEW * length)
                if kept_gap[r] <= best[group[first]] + BAND * length:
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


def facet_normals(skin: Surfaced, triangle: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) of facets at places; differences are exact, as facets are quadratic at most."""
    n, shifts = len(triangle), ASIDE * np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
    around = (place + shifts[:, None]).reshape(-1, 2)
    x = at_places(skin.facets, skin.p, skin.radius, np.tile(triangle, 4), around)[0].reshape(4, n, 3)
    return _unit(np.cross(x[0] - x[1], x[2] - x[3]))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.sqrt(np.einsum("ki,ki->k", vectors, vectors)), 1e-300)[:, None]


def side_of(place: np.ndarray) -> np.ndarray:
    """On which side of its triangle each place (n, 2) is, −1 for none."""
    i, j = place.T
    return np.select([j == 0, i + j == PIECES, i == 0], [0, 1, 2], -1)


def _names(facets: FacetArrays, triangle: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Keys (n,) of places with the first opponent."""
    i, j = place.T
    side = side_of(place)
    along = np.choose(np.maximum(side, 0), [i, j, PIECES - j])
    a, b = facets.corner[triangle, side], facets.corner[triangle, (side + 1) % 3]
    on_side = len(facets.facet) + facets.side[triangle, side], np.where(a < b, along, PIECES - along)
    inside = triangle, i * (PIECES + 1) + j
    unit, spot = (np.where(side >= 0, *both) for both in zip(on_side, inside, strict=True))
    return FIRST_KEY + (unit << PLACE_BITS) + spot


def _pushes(skin: Surfaced, rows: Spots, side: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals (n, 3) that points push along, and the gaps (n,) [m] in these directions."""
    across = facet_normals(skin, rows.triangle, rows.place)
    corner = skin.p[skin.facets.corner[rows.triangle]]
    each = np.arange(len(side))
    along = _unit(corner[each, (side + 1) % 3] - corner[each, side])
    level = rows.normal - np.einsum("ki,ki->k", rows.normal, along)[:, None] * along
    across = np.where((side >= 0)[:, None], _unit(level), across)
    cosine = np.einsum("ki,ki->k", across, rows.normal)
    faces = np.abs(cosine) >= ACROSS
    normal = np.where(faces[:, None], np.sign(cosine)[:, None] * across, rows.normal)
    way_out = rows.gap / np.where(faces, np.abs(cosine), 1.0)
    return normal, np.where(rows.gap < 0.0, way_out, rows.gap)


def described(skin: Surfaced, rows: Spots, smooth: np.ndarray) -> Between:
    """Points as rows, each once, in the order of their keys; where the obstacle is `smooth`, as samples."""
    facets = skin.facets
    key, first = np.unique(_names(facets, rows.triangle, rows.place), return_index=True)
    rows = rows.take(first)
    normal, gap, smooth = rows.normal, rows.gap, smooth[first]
    if not smooth.all():
        across, way_out = _pushes(skin, rows, side_of(rows.place))
        normal = np.where(smooth[:, None], normal, across)
        gap = np.where(smooth, gap, way_out)
    rest, _, weights = at_places(facets, skin.rest, skin.radius, rows.triangle, rows.place)
    sample, nodes = np.empty(len(key), np.int64), np.zeros((len(key), 8), np.int64)
    for r, f in enumerate(facets.facet[rows.triangle].tolist()):
        on = facets.sample[facets.sample_ptr[f] : facets.sample_ptr[f + 1]]
        apart = skin.rest[on] - rest[r]
        sample[r] = on[np.argmin(np.einsum("ki,ki->k", apart, apart))]
        mine = facets.node[facets.node_ptr[f] : facets.node_ptr[f + 1]]
        nodes[r, : len(mine)] = mine
    used = np.abs(weights) > 1e-14
    ptr = np.concatenate([[0], np.cumsum(np.count_nonzero(used, axis=1))])
    return Between(key, sample, gap, normal, rows.x, ptr, nodes[used], weights[used])


def as_contacts(
    rows: Between,
    like: Contacts,
    slot: int,
    friction: float,
    margin: float,
    skin: Surfaced,
    first: tuple[int, int],
) -> Contacts:
    """Points between samples that touch an obstacle, as contacts on the points of others.

    first: the index of sample 0 with the opponent of slot 0, and its number in the stack of points.
    """
    n, samples = len(rows.key), len(skin.radius)
    return replace(
        like,
        key=rows.key + slot * key_step(skin.facets),
        index=first[0] + slot * samples + rows.sample,
        sample=rows.sample,
        opponent=np.full(n, slot),
        gap=rows.gap - margin,
        normal=rows.normal,
        position=rows.position,
        tangents=tangent_frames(rows.normal),
        friction=np.full(n, friction),
        margin=np.full(n, margin),
        stencil=Stencil(rows.ptr, first[1] + rows.point, rows.weight),
    )
