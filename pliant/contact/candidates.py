"""Gaps of contacts whose triangles are known beforehand, and the modes they make: no search, a few candidates each, one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from pliant.arrays import frozen
from pliant.contact.found import blank_found, parted
from pliant.contact.modes import faded
from pliant.contact.packed import piece, table
from pliant.contact.rules import FACING
from pliant.contact.triangle import FACE, closest
from pliant.contact.watch import watched

FLAT = 1e-16  # (|u × v| / |u||v|)² of two sides, from which on a triangle has an area


class Candidates(NamedTuple):
    """What contacts (n,) may be with, as rows of a list of positions: contact i of sample row[i] and radius [m] with the nearest of triangles
    ptr[i]:ptr[i+1], t of them with corners corner[triangle[t]]. point (n,) and corner_point are their numbers in a `Stack`. Where both hang on
    rigid regions: arm (n, 3) [m] of samples in the frame of theirs, and plane (·, 12) of triangles, see `planes`."""

    row: np.ndarray
    radius: np.ndarray
    arm: np.ndarray
    ptr: np.ndarray
    triangle: np.ndarray
    corner: np.ndarray
    plane: np.ndarray
    point: np.ndarray
    corner_point: np.ndarray

    @classmethod
    def of(
        cls, points: Any, sample: np.ndarray, radius: np.ndarray, ptr: np.ndarray, corner: np.ndarray
    ) -> Candidates:
        """Contacts of samples (n,) of a `Stack` with triangles corner[ptr[i]:ptr[i+1]] (·, 3) of it."""
        arm, row = points.posed[1], points.rows
        corner, triangle = np.unique(corner, axis=0, return_inverse=True)
        return cls(
            frozen(row[sample], int), frozen(radius), frozen(arm[sample]), frozen(ptr, int), frozen(triangle.ravel(), int),
            frozen(row[corner], int), frozen(planes(arm[corner])), frozen(sample, int), frozen(corner, int),
        )  # fmt: skip


def planes(corner: np.ndarray) -> np.ndarray:
    """Of triangles with corners (t, 3, 3): n and −n·a, so that n·x − n·a is a point's height, and likewise what gives the weights of the second
    and third corner of what is below it; (t, 12). Nothing is above a triangle without area."""
    a, u, v = corner[:, 0], corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    normal = np.cross(u, v)
    square = np.einsum("ti,ti->t", normal, normal)
    flat = square > FLAT * np.einsum("ti,ti->t", u, u) * np.einsum("ti,ti->t", v, v)
    found = np.zeros((len(corner), 3, 4))
    vectors = np.stack([normal * np.sqrt(square)[:, None], np.cross(v, normal), np.cross(normal, u)], axis=1)
    found[flat, :, :3] = vectors[flat] / square[flat, None, None]
    found[..., 3] = -np.einsum("tri,ti->tr", found[..., :3], a)
    found[~flat, 1:, 3] = -1.0
    return found.reshape(-1, 12)


class Memory(NamedTuple):
    """What is known from one look to the next, as most contacts are far and most others stay above their triangle: what gaps of contacts (n,)
    are at least [m], the triangle that was nearest, which one that is of all, and what the distances to all others are at least [m]; what gaps
    are at least of contacts that go the same way, see `Watch`; and what δ̂ of modes (k,) is at least. All plus their way by then."""

    least: np.ndarray
    last: np.ndarray
    below: np.ndarray
    others: np.ndarray
    nearest: np.ndarray
    ahead: np.ndarray

    @classmethod
    def of(cls, ptr: np.ndarray, ways: int, modes: int) -> Memory:
        """Nothing is known of contacts with triangles ptr[i]:ptr[i+1]."""
        n, unknown = len(ptr) - 1, lambda n: np.full(n, -np.inf)
        return cls(
            unknown(n), ptr[:-1].copy(), np.zeros(n, np.int64), unknown(n), unknown(ways), unknown(modes)
        )


@njit(cache=True, error_model="numpy")
def looked(q, X, known, obstacles, reach, far, fade):
    """Modes with δ̂ below `reach`, see `faded`, and the contacts that count in them, nearer than `far`, at coordinates q and positions X (·, 3).

    known: packed arrays of a `Watch`, a `Memory` and `Candidates`, and of modes those of `faded` and the sums of ψ (k,). obstacles: numbers, gaps
    and normals of contacts that are with no triangle. Returns whether X is finite; and modes, δ̂ and what they are sums of, see `found`.
    """
    watch, memory, candidates, modes = _opened(*known)
    begin, belongs, psi, offset, _ = modes
    count = len(candidates[0])
    near, gap, triangle = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int64)
    normal, weights = np.empty((count, 3)), np.empty((count, 3))
    finite, n = watched(q, X, watch), 0
    beside = _asked(memory[5], watch[2][-1], reach, far)
    if finite:
        n = _measure(
            q, X, watch, memory, candidates, begin, belongs, beside, far, near, gap, triangle, normal, weights
        )
    else:
        for unknown in memory[0], memory[3], memory[4], memory[5]:
            unknown[:] = -np.inf
    for k in range(len(obstacles[0])):
        near[n], gap[n], triangle[n] = obstacles[0][k], obstacles[1][k], -1
        for d in range(3):
            normal[n, d] = obstacles[2][k, d]
        n += 1
    mode, least, live, ptr, contact, share, smooth = faded(
        begin, belongs, psi, offset, near[:n], gap, reach, fade
    )
    if finite:
        _remember(memory[5], watch[2][-1], modes, beside, smooth, fade)
    sums = mode, least, ptr, contact, share
    return finite, _gathered(X, candidates, sums, live, near, gap, triangle, normal, weights)


@njit(error_model="numpy")
def _opened(ints, reals, marks):
    """The fields of `Watch`, `Memory` and `Candidates`, and the arrays of modes, see `looked`."""
    watch = (
        piece(ints, marks, 0), piece(ints, marks, 1), piece(reals, marks, 2), piece(ints, marks, 3), piece(ints, marks, 4),
        piece(reals, marks, 5), piece(ints, marks, 6), table(reals, marks, 7, 12), table(reals, marks, 8, 3),
    )  # fmt: skip
    memory = (
        piece(reals, marks, 9), piece(ints, marks, 10), piece(ints, marks, 11), piece(reals, marks, 12), piece(reals, marks, 13),
        piece(reals, marks, 14),
    )  # fmt: skip
    candidates = (
        piece(ints, marks, 15), piece(reals, marks, 16), table(reals, marks, 17, 3), piece(ints, marks, 18), piece(ints, marks, 19),
        table(ints, marks, 20, 3), table(reals, marks, 21, 12), piece(ints, marks, 22), table(ints, marks, 23, 3),
    )  # fmt: skip
    modes = (
        piece(ints, marks, 24), piece(ints, marks, 25), piece(reals, marks, 26), piece(reals, marks, 27), piece(reals, marks, 28),
    )  # fmt: skip
    return watch, memory, candidates, modes


@njit(error_model="numpy")
def _asked(ahead, gone, reach, far):
    """How far (k,) all contacts are that are not near: `far`, for modes whose δ̂ may be below `reach`; −inf marks modes that need no look."""
    beside = np.full(len(ahead), -np.inf)
    for j in range(len(ahead)):
        if ahead[j] - gone <= reach:
            beside[j] = far
    return beside


@njit(error_model="numpy")
def _remember(ahead, gone, modes, beside, smooth, fade):
    """What δ̂ is at least of modes that were looked at: contacts near make `smooth` (k,), whatever else there is lies beyond `beside` (k,), and the
    sum of both counts at most twice the larger."""
    for j in range(len(ahead)):
        if beside[j] > -np.inf:
            others = modes[3][j] + beside[j] - fade * np.log(modes[4][j])
            ahead[j] = min(smooth[j], others) - fade * np.log(2.0) + gone


@njit(error_model="numpy")
def _gathered(X, c, summed, live, near, gap, triangle, normal, weights):
    """Modes that are sums over contacts at places `live` of those near, see `found`."""
    mode, least, ptr, contact, share = summed
    row, of_contact, of_corner = c[0], c[7], c[8]
    n, entries = len(live), 0
    for k in range(n):
        entries += 4 if triangle[live[k]] >= 0 else 1
    found = blank_found(len(mode), n, len(contact), entries)
    (index, hat), sums, (number, gaps, normals, position), (stencil_ptr, point, weight) = parted(*found)
    sums[0][0] = 0
    for j in range(len(mode)):
        index[j], hat[j], sums[0][j + 1] = mode[j], least[j], ptr[j + 1]
    for s in range(len(contact)):
        sums[1][s], sums[2][s] = contact[s], share[s]
    e, stencil_ptr[0] = 0, 0
    for k in range(n):
        at = live[k]
        i, t = near[at], triangle[at]
        number[k], gaps[k], point[e], weight[e] = i, gap[at], of_contact[i], 1.0
        e += 1
        for d in range(3):
            normals[k, d], position[k, d] = normal[at, d], X[row[i], d]
            if t >= 0:
                point[e], weight[e] = of_corner[t, d], -weights[at, d]
                e += 1
        stencil_ptr[k + 1] = e
    return found


@njit(error_model="numpy")
def _measure(q, X, watch, memory, c, begin, mode, beside, far, near, gap, triangle, normal, weights):
    """Fill in contacts nearer than `far`, of modes that are looked at: numbers, gaps, triangles, normals and weights; returns how many.
    Lowers `beside` (k,), see `_asked`, to what the distances to other triangles than those are at least."""
    start, of, way, _, second, _, _, frames, _ = watch
    least, last, below, others, nearest, _ = memory
    row, radius, arm, ptr, triangles, corner, plane = c[:7]
    n, tiny, d, rest, t = 0, 1e-9 * far, np.inf, np.inf, 0
    for r in range(len(of)):
        pair, gone, lowest = of[r] - 1, way[of[r]], np.inf
        if nearest[r] - gone > far:
            continue
        for i in range(start[r], start[r + 1]):
            asked = False
            for s in range(begin[i], begin[i + 1]):
                asked = asked or beside[mode[s]] > -np.inf
            if asked and least[i] - gone <= far and ptr[i] < ptr[i + 1]:
                limit, known, above = far + radius[i], others[i] - gone, False
                u, direction, share = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                if pair >= 0:
                    u, t, rest = _seen_from(frames, pair, arm, i), below[i], known
                    above, d, direction, share = _above(u, plane, t, q, second[pair])
                if not (above and (1.0 + 1e-9) * abs(d) + tiny < min(known, limit)):
                    o, d, rest, direction, share = _facing(
                        X, row[i], triangles, corner, ptr[i], ptr[i + 1], last[i], known, limit, tiny
                    )
                    t = triangles[o]
                    if pair >= 0 and d < np.inf:  # the same to the last digit, whatever was looked at before
                        above, height, up, under = _above(u, plane, t, q, second[pair])
                        if above:
                            d, direction, share = height, up, under
                    last[i], below[i], others[i] = o, t, rest + gone
                    if d == np.inf:
                        rest = _least(X, row[i], ptr[i], ptr[i + 1], triangles, corner, limit)
                    least[i] = min(abs(d), rest) - radius[i] + gone
                if d < np.inf:
                    near[n], gap[n], triangle[n] = i, d - radius[i], t
                    for k in range(3):
                        normal[n, k], weights[n, k] = direction[k], share[k]
                    n += 1
                for s in range(begin[i], begin[i + 1]):
                    beside[mode[s]] = min(beside[mode[s]], rest - radius[i])
            lowest = min(lowest, least[i])
        nearest[r] = lowest
    return n


@njit(error_model="numpy")
def _seen_from(frames, pair, arm, i):
    """A sample in the frame of the region that it may touch."""
    x, y, z = arm[i, 0], arm[i, 1], arm[i, 2]
    return (
        frames[pair, 0] + frames[pair, 3] * x + frames[pair, 4] * y + frames[pair, 5] * z,
        frames[pair, 1] + frames[pair, 6] * x + frames[pair, 7] * y + frames[pair, 8] * z,
        frames[pair, 2] + frames[pair, 9] * x + frames[pair, 10] * y + frames[pair, 11] * z,
    )


@njit(error_model="numpy")
def _above(u, plane, t, q, o):
    """Whether a point u in the frame of a rigid triangle is above or below it, how high, its normal in space, and the weights of its corners; the
    frame's rotation begins at q[o]."""
    x, y, z = u
    height = plane[t, 0] * x + plane[t, 1] * y + plane[t, 2] * z + plane[t, 3]
    b = plane[t, 4] * x + plane[t, 5] * y + plane[t, 6] * z + plane[t, 7]
    c = plane[t, 8] * x + plane[t, 9] * y + plane[t, 10] * z + plane[t, 11]
    x, y, z = plane[t, 0], plane[t, 1], plane[t, 2]
    up = (
        q[o] * x + q[o + 1] * y + q[o + 2] * z,
        q[o + 3] * x + q[o + 4] * y + q[o + 5] * z,
        q[o + 6] * x + q[o + 7] * y + q[o + 8] * z,
    )
    return b > 0.0 and c > 0.0 and b + c < 1.0, height, up, (1.0 - b - c, b, c)


@njit(error_model="numpy")
def _facing(X, s, triangles, corner, first, stop, last, known, limit, tiny):
    """The nearest of triangles first … stop − 1 that face point s: its number, signed distance (inf: none below `limit`), what the distance to
    all others is at least, normal and weights of its corners. It is `last`, if that is nearer than what is known of the others.

    Where a triangle is nearest at its rim, the way there must not lie in its plane: such ones do not face the sample.
    """
    x, y, z, best, found, rest, distance = X[s, 0], X[s, 1], X[s, 2], limit, last, np.inf, np.inf
    normal, weights = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    # First that triangle which was nearest: the others need not be looked at where they are farther. Then all in their order,
    # so that which of several at the same distance wins depends on nothing else.
    for o in range(first - 1, stop):
        if o == first and distance < np.inf:
            best = (1.0 + 1e-9) * best + tiny
            if best < known:
                rest = known
                break
            best, distance = min(limit, best), np.inf
        t = o if o >= first else last
        j, k, m = corner[triangles[t], 0], corner[triangles[t], 1], corner[triangles[t], 2]
        ux, uy, uz = X[k, 0] - X[j, 0], X[k, 1] - X[j, 1], X[k, 2] - X[j, 2]
        vx, vy, vz = X[m, 0] - X[j, 0], X[m, 1] - X[j, 1], X[m, 2] - X[j, 2]
        wx, wy, wz = x - X[j, 0], y - X[j, 1], z - X[j, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        square, height = nx * nx + ny * ny + nz * nz, nx * wx + ny * wy + nz * wz
        if height * height >= limit * limit * square:  # also triangles without area
            if square > 0.0 and o >= first:
                rest = min(rest, abs(height) / np.sqrt(square))
            continue
        a, b, e, feature = closest(x, y, z, X, j, k, m)
        dx = x - a * X[j, 0] - b * X[k, 0] - e * X[m, 0]
        dy = y - a * X[j, 1] - b * X[k, 1] - e * X[m, 1]
        dz = z - a * X[j, 2] - b * X[k, 2] - e * X[m, 2]
        d, length = np.sqrt(dx * dx + dy * dy + dz * dz), np.sqrt(square)
        if d >= best or (feature != FACE and abs(height) < FACING * d * length):
            rest = min(rest, d) if o >= first else rest
            continue
        if distance < np.inf:
            rest = min(rest, best)
        best, found, distance = d, t, np.copysign(d, height)
        if feature != FACE and d > tiny:
            nx, ny, nz, length = dx, dy, dz, distance
        normal, weights = (nx / length, ny / length, nz / length), (a, b, e)
    return found, distance, rest, normal, weights


@njit(error_model="numpy")
def _least(p, s, start, stop, triangles, corner, limit):
    """What the distance to triangles start … stop − 1 is at least."""
    x, y, z, least = p[s, 0], p[s, 1], p[s, 2], np.inf
    for t in range(start, stop):
        j, k, m = corner[triangles[t], 0], corner[triangles[t], 1], corner[triangles[t], 2]
        side = max(_apart(p, j, p[k, 0], p[k, 1], p[k, 2]), _apart(p, j, p[m, 0], p[m, 1], p[m, 2]))
        far = _apart(p, j, x, y, z) - side
        if far < limit:
            a, b, c, _ = closest(x, y, z, p, j, k, m)
            dx = x - a * p[j, 0] - b * p[k, 0] - c * p[m, 0]
            dy = y - a * p[j, 1] - b * p[k, 1] - c * p[m, 1]
            dz = z - a * p[j, 2] - b * p[k, 2] - c * p[m, 2]
            far = np.sqrt(dx * dx + dy * dy + dz * dz)
        least = min(least, far)
    return least


@njit(error_model="numpy")
def _apart(p, i, x, y, z):
    """Distance of point i from (x, y, z)."""
    u, v, w = p[i, 0] - x, p[i, 1] - y, p[i, 2] - z
    return np.sqrt(u * u + v * v + w * w)
