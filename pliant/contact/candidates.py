"""Gaps of contacts whose triangles are known beforehand, and the modes they make: no search, a few candidates each, one pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.contact.modes import faded
from pliant.contact.rules import FACING
from pliant.contact.triangle import FACE, closest
from pliant.contact.watch import watched


class Candidates(NamedTuple):
    """What contacts (n,) may be with, as rows of a list of positions: contact i of sample row[i] and radius [m] with the nearest of
    triangles corner[ptr[i]:ptr[i+1]]. point (n,) and corner_point are their numbers in a `Stack`."""

    row: np.ndarray
    radius: np.ndarray
    ptr: np.ndarray
    corner: np.ndarray
    corner_point: np.ndarray
    point: np.ndarray


class Memory(NamedTuple):
    """What is known of contacts (n,) from one look to the next, as most are far and most others stay over their triangle: what their gaps
    are at least [m], the triangle that was nearest, and what the distances to all others are at least [m]; both plus their way by
    then, see `Watch`."""

    least: np.ndarray
    last: np.ndarray
    others: np.ndarray

    @classmethod
    def of(cls, ptr: np.ndarray) -> Memory:
        """Nothing is known of contacts with triangles ptr[i]:ptr[i+1]."""
        n = len(ptr) - 1
        return cls(np.full(n, -np.inf), ptr[:-1].copy(), np.full(n, -np.inf))


@njit(cache=True, error_model="numpy")
def looked(q, X, watch, memory, candidates, modes, obstacles, reach, far, fade):
    """Modes with δ̂ below `reach`, see `faded`, and the contacts that count in them, nearer than `far`, at coordinates q and positions X (·, 3).

    obstacles: numbers, gaps and normals of contacts that are with no triangle. Returns mode, δ̂, (ptr, contact, share), their
    mean positions (k, 3), (number, gap, normal, position) of the contacts and their stencil (ptr, point, weight); a mode −1 if X
    is not finite.
    """
    c = candidates
    count = len(c.point)
    near, gap, triangle = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int64)
    normal, weights = np.empty((count, 3)), np.empty((count, 3))
    finite, n = watched(q, X, watch), 0
    if finite:
        n = _measure(X, watch.of, watch.way, memory, c, far, near, gap, triangle, normal, weights)
    else:
        memory.least[:], memory.others[:] = -np.inf, -np.inf
    for k in range(len(obstacles[0])):
        near[n], gap[n], triangle[n] = obstacles[0][k], obstacles[1][k], -1
        for d in range(3):
            normal[n, d] = obstacles[2][k, d]
        n += 1
    begin, belongs, psi, offset = modes
    mode, least, live, ptr, contact, share = faded(begin, belongs, psi, offset, near[:n], gap, reach, fade)
    if not finite:
        mode = np.full(1, -1)
    found, stencil = _gathered(X, c, live, near, gap, triangle, normal, weights)
    position, mean = found[3], np.zeros((len(mode), 3))
    for j in range(len(ptr) - 1):
        for s in range(ptr[j], ptr[j + 1]):
            for d in range(3):
                mean[j, d] += share[s] * position[contact[s], d]
    return mode, least, (ptr, contact, share), mean, found, stencil


@njit(error_model="numpy")
def _gathered(X, c, live, near, gap, triangle, normal, weights):
    """The contacts at places `live` of those near, and their stencil, as `looked` returns them."""
    n, nnz = len(live), 0
    for k in range(n):
        nnz += 4 if triangle[live[k]] >= 0 else 1
    number, gaps, normals, position = np.empty(n, np.int64), np.empty(n), np.empty((n, 3)), np.empty((n, 3))
    ptr, point, weight, e = np.zeros(n + 1, np.int64), np.empty(nnz, np.int64), np.empty(nnz), 0
    for k in range(n):
        at = live[k]
        i, t = near[at], triangle[at]
        number[k], gaps[k], point[e], weight[e] = i, gap[at], c.point[i], 1.0
        e += 1
        for d in range(3):
            normals[k, d], position[k, d] = normal[at, d], X[c.row[i], d]
            if t >= 0:
                point[e], weight[e] = c.corner_point[t, d], -weights[at, d]
                e += 1
        ptr[k + 1] = e
    return (number, gaps, normals, position), (ptr, point, weight)


@njit(error_model="numpy")
def _measure(X, of, way, memory, c, reach, near, gap, triangle, normal, weights):
    """Fill in contacts nearer than `reach`: numbers, gaps, triangles, normals and weights; returns how many.

    Where a triangle is nearest at its rim, the way there must not lie in its plane: such ones do not face the sample.
    One loop: calls of parts of it would take most of the time.
    """
    least, last, others = memory
    row, radius, ptr, corner, tiny, n = c.row, c.radius, c.ptr, c.corner, 1e-9 * reach, 0
    for i in range(len(least)):
        gone = way[of[i]]
        if least[i] - gone > reach or ptr[i] == ptr[i + 1]:
            continue
        s, first, limit = row[i], ptr[i], reach + radius[i]
        x, y, z, best, found, rest, distance = X[s, 0], X[s, 1], X[s, 2], limit, last[i], np.inf, np.inf
        # First that triangle which was nearest: the others need not be looked at where they are farther. Then all in their order,
        # so that which of several at the same distance wins depends on nothing else.
        for o in range(first - 1, ptr[i + 1]):
            if o == first and distance < np.inf:
                best = (1.0 + 1e-9) * best + tiny
                if best < others[i] - gone:
                    rest = others[i] - gone
                    break
                best, distance = min(limit, best), np.inf
            t = o if o >= first else last[i]
            j, k, m = corner[t, 0], corner[t, 1], corner[t, 2]
            ux, uy, uz = X[k, 0] - X[j, 0], X[k, 1] - X[j, 1], X[k, 2] - X[j, 2]
            vx, vy, vz = X[m, 0] - X[j, 0], X[m, 1] - X[j, 1], X[m, 2] - X[j, 2]
            wx, wy, wz = x - X[j, 0], y - X[j, 1], z - X[j, 2]
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            square, height = nx * nx + ny * ny + nz * nz, nx * wx + ny * wy + nz * wz
            if height * height >= best * best * square:  # also triangles without area
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
            triangle[n] = t
            normal[n, 0], normal[n, 1], normal[n, 2] = nx / length, ny / length, nz / length
            weights[n, 0], weights[n, 1], weights[n, 2] = a, b, e
        last[i], others[i] = found, rest + gone
        if distance < np.inf:
            near[n], gap[n] = i, distance - radius[i]
            n += 1
        else:
            distance = _least(X, s, first, ptr[i + 1], corner, limit)
        least[i] = abs(distance) - radius[i] + gone
    return n


@njit(error_model="numpy")
def _least(p, s, start, stop, corner, limit):
    """What the distance to triangles start … stop − 1 is at least."""
    x, y, z, least = p[s, 0], p[s, 1], p[s, 2], np.inf
    for t in range(start, stop):
        j, k, m = corner[t, 0], corner[t, 1], corner[t, 2]
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
