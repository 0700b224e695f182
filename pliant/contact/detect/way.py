"""Way: points of one surface against the skin of a body, and what each of them meets there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place
from pliant.arrays import frozen
from pliant.contact.detect.mortar import feet
from pliant.contact.detect.nearest import nearest_facing
from pliant.contact.detect.quadrature import Reference, placed, reference
from pliant.contact.detect.rules import SHALLOW, SIDEWAYS, beyond, hangs_on, next_leaf, rises_above
from pliant.contact.detect.skin import Posture, Skin
from pliant.mesh import Surface

CORNERS = 4  # of a facet: with more nodes it is curved
FRONTAL = 0.7  # cosine: a point and its partner look at each other within 45°
MOST_NEAR = 64  # triangles near a facet that are tried one after the other; a tree is quicker for more
WIDER = 1.0 + 1e-9  # the ball round the points of a facet: none is outside by rounding


class Wall(NamedTuple):
    """A patch of a skin as kernels read it: what stays as it is when the body moves.

    Nodes and normals at rest, triangles (t, 3) and which of them are `allowed`; neighbours as in `Adjacency`;
    the tree with the patch alone, and that of the skin; ways along the skin as in `Geodesics`; nodes (t, nn)
    of the facet of each triangle, which part of it that is, and the facet's polynomials as in `Reference`.
    """

    rest: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    allowed: np.ndarray
    across: np.ndarray
    fan_ptr: np.ndarray
    fan: np.ndarray
    links: np.ndarray
    skin_links: np.ndarray
    ways_ptr: np.ndarray
    ways_node: np.ndarray
    ways_length: np.ndarray
    limit: float
    facets: np.ndarray
    part: np.ndarray
    corner: np.ndarray
    exponents: np.ndarray
    coefficients: np.ndarray


class Standing(NamedTuple):
    """Where a wall is: nodes (k, 3) and unit normals (t, 3) of its skin, bounds of both trees."""

    X: np.ndarray
    normals: np.ndarray
    bounds: np.ndarray
    skin_bounds: np.ndarray


class Met(NamedTuple):
    """Points `which` (n,) that have a partner; by point: gap, normal, triangle of the skin, weights on it.

    N (n, nn) and slope (n, nn, 3): shape functions of the facets that are touched, and their gradients.
    """

    which: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    triangle: np.ndarray
    weights: np.ndarray
    N: np.ndarray
    slope: np.ndarray


@dataclass(frozen=True, eq=False)
class Target:
    """A patch of a skin: which triangles (t,) are allowed, the nodes (t, nn) of their facets, their parts."""

    skin: Skin
    allowed: np.ndarray
    facets: np.ndarray
    part: np.ndarray
    reference: Reference
    nodes: np.ndarray  # (m,) numbers of the nodes of the skin's tree that hold allowed triangles
    wall: Wall

    @classmethod
    def of(cls, skin: Skin, patch: Surface) -> Target:
        """A patch of the body's boundary."""
        surface, allowed, near, along = skin.surface, skin.allowed(patch), skin.adjacency, skin.geodesics
        count = np.concatenate([[0], np.cumsum(allowed)])
        skip, start, stop = skin.links.T
        ends = np.append(start, len(surface.triangles))[np.minimum(skip, len(start))]
        used = count[ends] > count[start]
        before = np.concatenate([[0], np.cumsum(used)])
        links = frozen(np.column_stack([before[skip], start, stop])[used], int)
        facets, part, r = skin_facets(skin)
        still = skin.rest, skin.rest_normals, skin.triangles, allowed, near.across, near.fan_ptr, near.fan
        ways = along.ptr, along.node, along.length, float(along.limit)
        curved = facets, part, r.corner, r.exponents, r.coefficients
        wall = Wall(*still, links, skin.links, *ways, *curved)
        return cls(skin, allowed, facets, part, r, np.flatnonzero(used), wall)

    def standing(self, at: Posture) -> Standing:
        """Where it is when its skin is in a posture."""
        bounds = at.bounds if len(self.nodes) == len(at.bounds) else frozen(at.bounds[self.nodes])
        return Standing(at.X, at.normals, bounds, at.bounds)


def skin_facets(skin: Skin) -> tuple[np.ndarray, np.ndarray, Reference]:
    """Of each triangle of a skin, in its order: nodes (t, nn) of its facet, which part (t,) of it it is."""
    surface = skin.surface
    facets = frozen(surface.facets[surface.facet_of_triangle[skin.order]], int)
    part = frozen(skin.order % (len(surface.triangles) // len(surface)), int)
    return facets, part, reference(surface.kind)


class Facets(NamedTuple):
    """Curved facets of a rigid skin as `feet` reads them; nodes (t, nn) and part (t,) of each triangle."""

    nodes: np.ndarray
    part: np.ndarray
    reference: Reference

    @classmethod
    def of(cls, skin: Skin) -> Facets | None:
        """None where its facets are no more than their triangles, or nearly; and where the body deforms.

        Pushes act by the triangles' weights: where along the normal makes no difference on a rigid body. On
        others, gaps to the curved facets would not be what the rows are slopes of.
        """
        nodes, part, r = skin_facets(skin)
        return cls(nodes, part, r) if nodes.shape[1] > CORNERS and skin.body.element == "rigid" else None

    def measure(self, which: np.ndarray, p: np.ndarray, X: np.ndarray, found: tuple[np.ndarray, ...]) -> None:
        """Turn gaps and normals of points `which` (n,) to triangles into those to the facets themselves.

        found: gaps, normals, triangles and weights on them by point, positions p; X (k, 3): of the nodes.
        """
        gap, normal, triangle, weights = found
        r, nn, none = self.reference, self.nodes.shape[1], np.full(len(p), -1)
        N, slope = np.empty((len(which), nn)), np.empty((len(which), nn, 3))
        feet(
            which, p, triangle, weights, none, X, self.nodes, self.part, r.corner, r.exponents,
            r.coefficients, gap, normal, N, slope,
        )  # fmt: skip


@njit(error_model="numpy")
def look(which, facet, p, facing, rest, support_ptr, support, own, wall, at, far, reach, found):
    """Add to found = gap, normal, triangle, weights the nearest triangle that looks at each of some points.

    Points `which` (n,) of positions p, looking along `facing`, at rest at `rest`, hang on nodes support; own:
    whether they belong to the same body as the wall. They see as far as `far` [m]; those deeper than a tenth
    of `reach` [m] must be inside the body. Points of one triangle, `facet`, stand together: they look one way
    and hang on the same nodes, and what may be near any of them is looked for once.
    """
    gap, normal, triangle, weights = found
    owns, radius, room = np.full(len(which), own), np.zeros(len(p)), max(len(wall.links), MOST_NEAR)
    links, bounds = np.empty((room, 3), np.int64), np.empty((room, 12))
    a, b = 0, 0
    while b < len(which):
        a, b = b, b + 1
        while b < len(which) and facet[which[b]] == facet[which[a]]:
            b += 1
        mine = which[a:b]
        n = _near(mine, p, facing, support_ptr, support, own, wall, at, far, links, bounds)
        if n > 0:
            nearest_facing(
                mine, owns, p, facing, radius, rest, support_ptr, support,
                at.X, wall.rest, wall.triangles, wall.allowed, at.normals, wall.normals,
                wall.across, wall.fan_ptr, wall.fan, links[:n], bounds[:n], wall.skin_links, at.skin_bounds,
                wall.ways_ptr, wall.ways_node, wall.ways_length, wall.limit, True, far, SHALLOW * reach,
                gap, normal, triangle, weights,
            )  # fmt: skip


@in_place
def copy(rows, to):
    """Write rows over the first of others."""
    for r in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            to[r, c] = rows[r, c]


@in_place
def _near(which, p, facing, support_ptr, support, own, wall, at, far, links, bounds):
    """Fill a tree with the triangles that any point of one facet may touch, as leaves; how many there are.

    It is the whole tree of the wall where these are more than MOST_NEAR.
    """
    s = which[0]
    fx, fy, fz, mine = facing[s, 0], facing[s, 1], facing[s, 2], support[support_ptr[s] : support_ptr[s + 1]]
    x, y, z, square, base = 0.0, 0.0, 0.0, 0.0, np.inf
    for s in which:
        x, y, z = x + p[s, 0] / len(which), y + p[s, 1] / len(which), z + p[s, 2] / len(which)
        base = min(base, fx * p[s, 0] + fy * p[s, 1] + fz * p[s, 2])
    for s in which:
        square = max(square, (p[s, 0] - x) ** 2 + (p[s, 1] - y) ** 2 + (p[s, 2] - z) ** 2)
    wide = WIDER * np.sqrt(square)
    reach, n, count = far + wide, 0, 0
    while True:
        n = next_leaf(n, x, y, z, reach * reach, fx, fy, fz, at.bounds, wall.links)
        if n == len(wall.links):
            return count
        for t in range(wall.links[n, 1], wall.links[n, 2]):
            i, j, k = wall.triangles[t, 0], wall.triangles[t, 1], wall.triangles[t, 2]
            nx, ny, nz = at.normals[t, 0], at.normals[t, 1], at.normals[t, 2]
            height = nx * (x - at.X[i, 0]) + ny * (y - at.X[i, 1]) + nz * (z - at.X[i, 2])
            if not wall.allowed[t] or nx * fx + ny * fy + nz * fz > SIDEWAYS or abs(height) >= reach:
                continue
            if height > wide and not rises_above(base, fx, fy, fz, at.X, i, j, k):
                continue
            if beyond(x, y, z, at.X, i, j, k, reach) or (own and hangs_on(mine, i, j, k)):
                continue
            if count == MOST_NEAR:
                copy(wall.links, links)
                copy(at.bounds, bounds)
                return len(wall.links)
            links[count, 0], links[count, 1], links[count, 2] = count + 1, t, t + 1
            for c in range(3):
                corners = at.X[i, c], at.X[j, c], at.X[k, c]
                bounds[count, c], bounds[count, 3 + c] = min(corners), max(corners)
                bounds[count, 6 + c] = bounds[count, 9 + c] = at.normals[t, c]
            count += 1
        n += 1


@njit(error_model="numpy")
def nothing_found(n):
    """Gaps, normals, triangles and weights of n points that have met nothing yet."""
    return np.full(n, np.inf), np.zeros((n, 3)), np.full(n, -1), np.zeros((n, 3))


@njit(error_model="numpy")
def touch_down(which, p, found, before, wall, at):
    """Measure points `which` from the facets as they are: N (n, nn) and slope (n, nn, 3), see `feet`."""
    gap, normal, triangle, weights = found
    N, slope = np.empty((len(which), wall.facets.shape[1])), np.empty((len(which), wall.facets.shape[1], 3))
    feet(
        which, p, triangle, weights, before, at.X, wall.facets, wall.part, wall.corner, wall.exponents,
        wall.coefficients, gap, normal, N, slope,
    )  # fmt: skip
    return N, slope


@njit(cache=True, error_model="numpy")
def met_by_points(grid, X, home, own, wall, at, reach, widest, before):
    """What the points of a grid on nodes X (k, 3) meet of a wall, as in `Met`, and where all points are.

    before (t·G,): the triangles that points met earlier, −1 for none; or empty. The mean of a row is below
    reach [m] only if one of its points is: points up to `widest` [m] farther off are looked for only beside
    these, on nodes that report on the same samples `home` (k, 2).
    """
    near = placed(X, grid.triangles, grid.nodes, grid.part, grid.shape, at.bounds, wall.links, reach + widest)
    which, p, facing = near
    found, per = nothing_found(len(p)), grid.shape.shape[1]
    points = np.arange(len(p)) // per, p, facing, grid.rest, grid.support_ptr, grid.support
    look(which, *points, own, wall, at, reach, reach, found)
    look(beside(which, found[2], per, grid.triangles, home), *points, own, wall, at, reach + widest, reach,
         found)  # fmt: skip
    which = frontal(which, found[2], facing, found[1], at.normals)
    earlier = before if len(before) else np.full(len(p), -1)
    N, slope = touch_down(which, p, found, earlier, wall, at)
    return (which, *found, N, slope), p


@njit(error_model="numpy")
def beside(which, triangle, per, triangles, home):
    """Those of the points `which` that have found no triangle, but take part in a row with some that have.

    `per` points lie on each of the triangles (t, 3), whose nodes report on samples home (k, 2).
    """
    live = np.zeros(home.max() + 2, np.bool_)
    for s in which:
        if triangle[s] >= 0:
            for node in triangles[s // per]:
                live[home[node, 0]] = live[home[node, 1]] = True
    out, count = np.empty(len(which), np.int64), 0
    for s in which:
        if triangle[s] >= 0:
            continue
        for node in triangles[s // per]:
            if live[home[node, 0]] or live[home[node, 1]]:
                out[count] = s
                count += 1
                break
    return out[:count].copy()


@njit(error_model="numpy")
def frontal(which, triangle, facing, normal, normals):
    """Those of the points `which` that look at what they met; a facet met at its edge must look here too."""
    out, count = np.empty(len(which), np.int64), 0
    for s in which:
        t = triangle[s]
        if t < 0:
            continue
        across, facet = 0.0, 0.0
        for c in range(3):
            across += facing[s, c] * normal[s, c]
            facet += facing[s, c] * normals[t, c]
        if across < -FRONTAL and facet < -FRONTAL:
            out[count] = s
            count += 1
    return out[:count].copy()


@njit(error_model="numpy")
def below(which, gap, triangle, X, facets, limit, stays):
    """Those of the points `which` that stay, or whose gaps to curved facets may be below `limit` [m]."""
    out, count, nn = np.empty(len(which), np.int64), 0, facets.shape[1]
    for s in which:
        square = 0.0
        if nn == 4:  # no point of a twisted facet is farther off its two triangles than the square root
            f = facets[triangle[s]]
            for c in range(3):
                twist = 0.25 * (X[f[0], c] - X[f[1], c] + X[f[2], c] - X[f[3], c])
                square += twist * twist
        if nn > 4 or gap[s] - np.sqrt(square) < limit or (len(stays) and stays[s]):
            out[count] = s
            count += 1
    return out[:count].copy()
