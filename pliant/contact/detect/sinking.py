"""Where points of two surfaces may sink in between rows: the compiled loops of `refining.py`."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place
from pliant.contact.detect.fine_lattice import at_numbers
from pliant.contact.detect.gather import tangent_frames
from pliant.contact.detect.way import below, frontal, look, nothing_found, touch_down

NEAR = 0.25  # of what points may sink in: facets nearer than that are looked at
NEARER = 0.5  # of that: how much nearer a point must be than other rows keep it, to become one
CREASE = 0.25  # of the way between two places times what the facets there turn: what may be hidden between
SAME_PLACE = 1e-9  # [m]

BEYOND = 0.25  # of the range of gaps on a facet: how much nearer its corners may be than its points
BETWEEN = 0.25  # of the range of gaps at coarse places of a triangle: how much nearer places between may be


@njit(cache=True, error_model="numpy")
def least_gaps(opponent, sample, gap, touches, samples, reach):
    """Gaps [m] of samples of a side with the other, by sample; `reach` for far ones, nan at the end.

    Contacts (n,) have opponents, samples and gaps; the side `touches` some opponents (k,).
    """
    least = np.full(samples + 1, reach)
    for i in range(len(gap)):
        if opponent[i] < len(touches) and touches[opponent[i]] and sample[i] < samples:
            least[sample[i]] = min(least[sample[i]], gap[i])
    least[samples] = np.nan
    return least


@njit(cache=True, error_model="numpy")
def near_triangles(which, gap, triangle, triangles, per, near, lattices, numbers):
    """Which triangles (t,) of two lattices may be nearer than `near` [m], and whether any is.

    Of `per` points on each of the first surface's triangles, `which` met something, a triangle of the second.
    numbers: what the triangles of both are called on the lattices of so many triangles each.
    """
    low, high = np.full(triangles, np.inf), np.full(triangles, -np.inf)
    for s in which:
        t = s // per
        low[t], high[t] = min(low[t], gap[s]), max(high[t], gap[s])
    here, there, any_ = np.zeros(lattices[0], np.bool_), np.zeros(lattices[1], np.bool_), False
    for s in which:
        t = s // per
        if low[t] - BEYOND * (high[t] - low[t]) < near:
            here[numbers[0][t]] = there[numbers[1][triangle[s]]] = any_ = True
    return here, there, any_


@njit(error_model="numpy")
def first_places(known, open_, coarse, per, held):
    """Numbers (n,), ascending, of open coarse places (t, c) on known triangles (t,), and those held (m,).

    And which of them are held.
    """
    number = np.empty(known.sum() * len(coarse) + len(held), np.int64)
    stays, count, h = np.zeros(len(number), np.bool_), 0, 0
    for t in np.flatnonzero(known):
        for c in range(len(coarse)):
            if not open_[t, c]:
                continue
            place = t * per + coarse[c]
            while h < len(held) and held[h] <= place:
                number[count], stays[count] = held[h], True
                count += 1
                h += 1
            if count == 0 or number[count - 1] != place:
                number[count] = place
                count += 1
    while h < len(held):
        number[count], stays[count] = held[h], True
        count += 1
        h += 1
    return number[:count], stays[:count]


@njit(error_model="numpy")
def hidden_places(looking, number, gap, p, normal, depth, near, sinking, beside, close):
    """Numbers (m,), ascending, of places between two that touch facets which look different ways.

    There one surface may cross an edge of the other: points between the two, h apart, lie deeper than both by
    up to h |n₁ − n₂| / 4. On each triangle with places `looking` those are chosen that may be the deepest, if
    the nearer is nearer than `near` [m], and those between may be nearer than `sinking` [m] and hide `depth`.
    """
    P, most = beside.shape[0], close.shape[1]
    order = looking[np.argsort(number[looking])]
    known, out = number[order], np.empty((len(order) + 1) * 2 * most, np.int64)
    count, k = 0, 0
    while k < len(order):
        t, lowest, one, other = known[k] // P, sinking, -1, -1
        while k < len(order) and known[k] // P == t:
            a, at = order[k], known[k] % P
            k += 1
            if gap[a] >= near:
                continue
            for g in beside[at]:
                n = np.searchsorted(known, t * P + g) if g >= 0 else len(known)
                if n == len(known) or known[n] != t * P + g or gap[order[n]] < gap[a]:
                    continue
                b, apart, turned = order[n], 0.0, 0.0
                for c in range(3):
                    apart += (p[a, c] - p[b, c]) ** 2
                    turned += (normal[a, c] - normal[b, c]) ** 2
                hidden = CREASE * np.sqrt(apart * turned)
                if hidden > depth and gap[a] - hidden < lowest:
                    lowest, one, other = gap[a] - hidden, at, g
        for place in (one, other):
            for g in close[max(place, 0)]:
                if place >= 0 and g >= 0:
                    out[count] = t * P + g
                    count += 1
    return np.unique(out[:count])


@njit(error_model="numpy")
def without(number, held):
    """Numbers (n,) that are not among those held (m,), ascending."""
    return number[held[np.minimum(np.searchsorted(held, number), len(held) - 1)] != number]


@njit(error_model="numpy")
def finer_places(which, number, gap, near, sinking, around, is_coarse):
    """Numbers (m,) of places around the nearest of each triangle that are no coarse ones.

    Places are those of `number` (ascending) in `which`, with gaps; only where the nearest is nearer than
    `near` [m], and places between it and the next may be nearer than `sinking` [m].
    """
    P, most = around.shape
    out, count, k = np.empty((len(which) + 1) * most, np.int64), 0, 0
    while k < len(which):
        t, nearest, farthest = number[which[k]] // P, which[k], gap[which[k]]
        while k < len(which) and number[which[k]] // P == t:
            farthest = max(farthest, gap[which[k]])
            if gap[which[k]] < gap[nearest]:
                nearest = which[k]
            k += 1
        if gap[nearest] < near and gap[nearest] - BETWEEN * (farthest - gap[nearest]) < sinking:
            for g in around[number[nearest] % P]:
                if g >= 0 and not is_coarse[g]:
                    out[count] = t * P + g
                    count += 1
    return out[:count].copy()


@in_place
def _between(corners, weights, value):
    """Σ weight · value over three corners with a weight; `corners` are places in `value`, −1 its last."""
    total = 0.0
    for a in range(3):
        if weights[a] > 1e-9:
            total += weights[a] * value[corners[a]]
    return total


@njit(error_model="numpy")
def kept_at(
    which, number, triangles, places, slave,  # points of a lattice, on the slave or on the master
    skin, met, weights,  # triangles that they met
    means, sample, of_slave, own_sample, of_own, home,
):  # fmt: skip
    """Gaps (n,) [m] that other rows keep open at points that met something, nan where none does; bases (n,).

    These are the mean gaps at nodes of the slave, and gaps of samples at corners of either triangle, between
    these. Corners that are not within reach count as just so far. The base of a point is the sample that it
    reports on, that of the nearest node of the slave.
    """
    n, P = len(which), len(places)
    kept, base = np.empty(n), np.empty(n, np.int64)
    corners, samples, w = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3)
    for i in range(n):
        s = which[i]
        t, g = number[s] // P, number[s] % P
        for a in range(3):
            corners[a] = triangles[t, a] if slave else skin[met[s], a]
            w[a] = places[g, a] if slave else weights[s, a]
            samples[a] = sample[corners[a]]
        kept[i] = np.fmin(_between(corners, w, means), _between(samples, w, of_slave))
        largest = 0
        for a in range(1, 3):
            if w[a] > w[largest]:
                largest = a
        base[i] = home[corners[largest], 0]
        if not slave:
            for a in range(3):
                samples[a] = own_sample[triangles[t, a]]
            kept[i] = np.fmin(kept[i], _between(samples, places[g], of_own))
    return kept, base


@njit(error_model="numpy")
def deepest(which, number, gap, p, per, kept, base, held, depth):
    """Places in `which` of points that become rows: those held, and the deepest of each triangle.

    Beside one that is held, the deepest is a row only if it is deeper by `depth` [m]: they would take turns.
    kept (n,) [m]: the gaps there that other rows keep open, nan where none does; base (n,): samples that they
    report on, −1 for none.
    """
    some, n = np.empty(len(which), np.int64), 0
    for i in range(len(which)):
        g = gap[which[i]]
        if held[which[i]] or (g < NEAR * depth and not g > kept[i] - NEARER * depth and base[i] >= 0):
            some[n] = i
            n += 1
    some = some[:n]
    some = some[np.argsort(gap[which[some]], kind="mergesort")]
    some = some[np.argsort(number[which[some]] // per, kind="mergesort")]
    rows, count = np.empty(n, np.int64), 0
    for turn in (True, False):
        for i in some:
            if held[which[i]] != turn:
                continue
            if taken(which[i], which[rows[:count]], number, gap, p, per, np.inf if turn else depth):
                continue
            rows[count] = i
            count += 1
    rows = rows[:count]
    return rows[np.argsort(number[which[rows]], kind="mergesort")]


@in_place
def taken(s, others, number, gap, p, per, deeper):
    """Whether one of some points is at the place of point s, or on its triangle and nearly as deep.

    That is less deep than s by up to `deeper` [m]; infinite: points of a triangle do not stand for others.
    """
    for o in others:
        if deeper < np.inf and number[o] // per == number[s] // per and gap[s] > gap[o] - deeper:
            return True
        same = True
        for c in range(3):
            same = same and np.round(p[o, c] / SAME_PLACE) == np.round(p[s, c] / SAME_PLACE)
        if same:
            return True
    return False


@njit(cache=True, error_model="numpy")
def sunk(
    known, held, open_, places, X, node_point,  # one side
    own, wall, at, wall_point,  # the other
    reach, depth, near,
    slave, means, sample, of_slave, own_sample, of_own, home,  # what other rows keep open
):  # fmt: skip
    """Points of one side that become rows, and the least gap [m] of all that were looked at.

    Coarse places are looked at on the triangles that are `known`, and those that are held; then places around
    the nearest ones, and where one surface crosses an edge of the other, the finest between them.
    """
    per, limit, least = places.shape.shape[1], NEAR * depth, np.inf
    number, stays = first_places(known, open_, places.coarse, per, held)
    seen = seen_from(number, stays, places, X, own, wall, at, reach, limit)
    if len(seen[1]):
        finer = finer_places(seen[1], number, seen[3][0], near, limit, places.around, places.is_coarse)
        number, stays, seen = with_more(
            finer, held, number, stays, seen, places, X, own, wall, at, reach, limit
        )
        facing = seen[3][0], seen[2], seen[3][1]
        finest = hidden_places(seen[1], number, *facing, depth, near, limit, places.beside, places.close)
        if len(finest):
            number, stays, seen = with_more(
                finest, held, number, stays, seen, places, X, own, wall, at, reach, limit
            )
    which, _, p, found, N, slope = seen
    gap = found[0]
    for s in which:
        least = min(least, gap[s])
    kept, base = kept_at(
        which, number, places.triangles, places.weights, slave, wall.triangles, found[2], found[3],
        means, sample, of_slave, own_sample, of_own, home,
    )  # fmt: skip
    rows = deepest(which, number, gap, p, per, kept, base, stays, depth)
    mine, normal = which[rows], found[1][which[rows]]
    entries = joined_nodes(mine, number, places, node_point, wall, wall_point, found[2], N[rows])
    tangents = tangent_frames(normal)
    pull, along = directed(entries[1], normal, slope[rows], tangents)
    of_each = number[mine], base[rows], gap[mine] + depth, normal, p[mine], tangents
    return of_each, (*entries, pull, along), least


@njit(error_model="numpy")
def with_more(numbers, held, number, stays, seen, places, X, own, wall, at, reach, limit):
    """Places and what is seen from them, with those of more numbers behind, but for the held ones."""
    finer = without(numbers, held) if len(held) else numbers
    none = np.zeros(len(finer), np.bool_)
    which, looking, p, found, N, slope = seen
    more = seen_from(finer, none, places, X, own, wall, at, reach, limit)
    found = (
        np.concatenate((found[0], more[3][0])),
        np.concatenate((found[1], more[3][1])),
        np.concatenate((found[2], more[3][2])),
        np.concatenate((found[3], more[3][3])),
    )
    seen = (
        np.concatenate((which, len(number) + more[0])),
        np.concatenate((looking, len(number) + more[1])),
        np.concatenate((p, more[2])),
        found,
        np.concatenate((N, more[4])),
        np.concatenate((slope, more[5])),
    )
    return np.concatenate((number, finer)), np.concatenate((stays, none)), seen


@njit(error_model="numpy")
def seen_from(number, stays, places, X, own, wall, at, reach, limit):
    """What places of some numbers meet: those measured, all that have a partner, where they are, and what.

    Those that stay are measured in any case, others where gaps may be below `limit` [m].
    """
    spots = at_numbers(X, places.rest, places.triangles, places.nodes, places.part, places.shape, number)
    p, facing, rest, support = spots
    ptr = (len(support) // max(len(p), 1)) * np.arange(len(p) + 1)
    facet, found = number // places.shape.shape[1], nothing_found(len(p))
    look(np.arange(len(p)), facet, p, facing, rest, ptr, support, own, wall, at, reach, reach, found)
    looking = frontal(np.arange(len(p)), found[2], facing, found[1], at.normals)
    which = below(looking, found[0], found[2], at.X, wall.facets, limit, stays)
    N, slope = touch_down(which, p, found, np.full(len(p), -1), wall, at)
    return which, looking, p, found, N, slope


@njit(error_model="numpy")
def joined_nodes(mine, number, places, node_point, wall, wall_point, triangle, N):
    """Points (n, nn) of the stack, and their weights, that the points `mine` hang on and touch."""
    per, a, b = places.shape.shape[1], places.nodes.shape[1], wall.facets.shape[1]
    point, weight = np.empty((len(mine), a + b), np.int64), np.empty((len(mine), a + b))
    for r in range(len(mine)):
        t, g = number[mine[r]] // per, number[mine[r]] % per
        for k in range(a):
            point[r, k], weight[r, k] = node_point[places.nodes[t, k]], places.shape[places.part[t], g, k]
        for k in range(b):
            point[r, a + k], weight[r, a + k] = wall_point[wall.facets[triangle[mine[r]], k]], -N[r, k]
    return point, weight


@njit(error_model="numpy")
def directed(weight, normal, gradient, tangents):
    """Pulls (n·nn, 3) of weights (n, nn) along normals; slopes (n·nn, 2) of touched nodes, the last ones."""
    n, nn = weight.shape
    pull, along, first = np.empty((n * nn, 3)), np.zeros((n * nn, 2)), nn - gradient.shape[1]
    for r in range(n):
        for k in range(nn):
            for c in range(3):
                pull[r * nn + k, c] = weight[r, k] * normal[r, c]
            for a in range(2 if k >= first else 0):
                for c in range(3):
                    along[r * nn + k, a] += gradient[r, k - first, c] * tangents[r, a, c]
    return pull, along
