"""A taut skin over one convex object: its length with first and second derivatives, compiled.

The object is a convex polygon (counterclockwise corners) grown by a radius r: a disc has one corner, a polygon r = 0. A path
from A to B that keeps the object on its left touches it first at corner i and last at corner j, turning by ψ:

    ℓ = T_A + Σ edges(i → j) + T_B + r ψ,     T_A = √(|v_i − A|² − r²)

With the unit directions t_A of the first and t_B of the last straight piece,

    dℓ = t_A·dw_A + t_B·dw_B,     w_A = v_i − A,  w_B = B − v_j
    d²ℓ = (t_A⊥·dw_A)²/T_A + (t_B⊥·dw_B)²/T_B + t_A·d²v_i − t_B·d²v_j

An object on the right is the same path from B to A. This is the closed form for a skin and one object, with what statics needs
and little to compile; `wrapping.py` has the path past any number of shapes.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel

SWALLOWED, FREE, TOUCHED, BEYOND = -1, 0, 1, 2
"""What a skin does with the object: it begins or ends inside it, misses it, wraps it, or wraps it outside its own span."""


@inner
def _corner(ox, oy, ux, uy, corners, r, turn):
    """(corner, angle of the tangent from u): the corner that a ray from O meets first, turned to the right (turn = −1) or left."""
    best, found = -np.inf, -1
    for k in range(len(corners)):
        wx, wy = corners[k, 0] - ox, corners[k, 1] - oy
        d = np.sqrt(wx * wx + wy * wy)
        if d <= r or d == 0.0:
            return -1, 0.0
        angle = turn * np.arctan2(ux * wy - uy * wx, ux * wx + uy * wy) + np.arcsin(r / d)
        if angle > best:
            best, found = angle, k
    return found, turn * best


@inner
def place(shape, pose, corners):
    """Corners in space (n, 2) of a shape (n, 2) at pose (x, y, φ)."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    for k in range(len(shape)):
        corners[k, 0] = pose[0] + c * shape[k, 0] - s * shape[k, 1]
        corners[k, 1] = pose[1] + s * shape[k, 0] + c * shape[k, 1]


@inner
def _holds(corners, r, x, y):
    """Whether a point lies inside the polygon or within r of one of its edges; single corners are left to `_corner`."""
    n = len(corners)
    inside, nearest = n > 2, np.inf
    for k in range(n if n > 2 else 0):
        wx, wy = x - corners[k, 0], y - corners[k, 1]
        ex, ey = corners[(k + 1) % n, 0] - corners[k, 0], corners[(k + 1) % n, 1] - corners[k, 1]
        inside = inside and ex * wy - ey * wx >= 0.0
        along = min(max((wx * ex + wy * ey) / (ex * ex + ey * ey), 0.0), 1.0)
        nearest = min(nearest, (wx - along * ex) ** 2 + (wy - along * ey) ** 2)
    return inside or nearest < r * r


@inner
def _end(t, T, arm, rows, sign, at, g, H):
    """Add one straight piece to the gradient g (7,) and the Hessian H (7, 7); `sign` is +1 at A, −1 at B."""
    row = rows
    row[:] = 0.0
    row[0], row[1] = -sign * t[1], sign * t[0]  # t⊥·dv, with the sign of v in w
    row[2] = sign * (t[0] * arm[0] + t[1] * arm[1])
    row[at], row[at + 1] = sign * t[1], -sign * t[0]
    g[0] += sign * t[0]
    g[1] += sign * t[1]
    g[2] += sign * (arm[0] * t[1] - arm[1] * t[0])
    g[at] -= sign * t[0]
    g[at + 1] -= sign * t[1]
    for a in range(7):
        for b in range(7):
            H[a, b] += row[a] * row[b] / T
    H[2, 2] -= sign * (t[0] * arm[0] + t[1] * arm[1])


@inner
def _straight(ax, ay, bx, by, g, H):
    """Length of the skin that misses the object, and its derivatives with respect to its ends."""
    wx, wy = bx - ax, by - ay
    d = np.sqrt(wx * wx + wy * wy)
    ux, uy = wx / d, wy / d
    g[3], g[4], g[5], g[6] = -ux, -uy, ux, uy
    n = np.array([-uy, ux])
    for a in range(2):
        for b in range(2):
            h = n[a] * n[b] / d
            H[3 + a, 3 + b] = H[5 + a, 5 + b] = h
            H[3 + a, 5 + b] = H[5 + a, 3 + b] = -h
    return d


@inner
def wrap(ax, ay, bx, by, corners, r):
    """(kind, i, j, α, β) of a path from A to B with the object on its left: corners and the angles of its ends from AB."""
    wx, wy = bx - ax, by - ay
    d = np.sqrt(wx * wx + wy * wy)
    ux, uy = wx / d, wy / d
    if _holds(corners, r, ax, ay) or _holds(corners, r, bx, by):
        return SWALLOWED, -1, -1, 0.0, 0.0
    depth = -np.inf
    for k in range(len(corners)):
        depth = max(depth, r - (ux * (corners[k, 1] - ay) - uy * (corners[k, 0] - ax)))
    if depth <= 0.0:
        return FREE, -1, -1, 0.0, 0.0
    i, alpha = _corner(ax, ay, ux, uy, corners, r, -1.0)
    j, beta = _corner(bx, by, -ux, -uy, corners, r, 1.0)
    if i < 0 or j < 0:
        return SWALLOWED, -1, -1, 0.0, 0.0
    first = ux * (corners[i, 0] - ax) + uy * (corners[i, 1] - ay)
    last = ux * (corners[j, 0] - ax) + uy * (corners[j, 1] - ay)
    kind = BEYOND if first >= d or last <= 0.0 else TOUCHED
    return kind, i, j, alpha, beta


@inner
def taut(end, side, corners, r, pose, g, H):
    """(kind, i, j, ℓ): g (7,) and H (7, 7) take the derivatives by (x, y, φ, A, B).

    end (4,) is A, B; side +1 keeps the object on the left of A → B, −1 on its right; corners (n, 2) in space.
    """
    g[:] = 0.0
    H[:] = 0.0
    at, to = (0, 2) if side > 0 else (2, 0)
    ax, ay, bx, by = end[at], end[at + 1], end[to], end[to + 1]
    kind, i, j, alpha, beta = wrap(ax, ay, bx, by, corners, r)
    if kind <= FREE:
        return kind, i, j, _straight(end[0], end[1], end[2], end[3], g, H)
    wx, wy = bx - ax, by - ay
    d = np.sqrt(wx * wx + wy * wy)
    u, t, arm, row = np.array([wx / d, wy / d]), np.empty(2), np.empty(2), np.empty(7)
    length = r * (beta - alpha)
    for turn in range(2):
        v, angle = (i, alpha) if turn == 0 else (j, beta)
        ox, oy = (ax, ay) if turn == 0 else (bx, by)
        c, s = np.cos(angle), np.sin(angle)
        t[0], t[1] = c * u[0] - s * u[1], s * u[0] + c * u[1]
        dx, dy = corners[v, 0] - ox, corners[v, 1] - oy
        T = abs(t[0] * dx + t[1] * dy)
        arm[0], arm[1] = corners[v, 0] - pose[0], corners[v, 1] - pose[1]
        _end(t, T, arm, row, 1.0 if turn == 0 else -1.0, 3 + (at if turn == 0 else to), g, H)
        length += T
    n, k = len(corners), i
    while k != j:
        following = (k + 1) % n
        length += np.sqrt(
            (corners[following, 0] - corners[k, 0]) ** 2 + (corners[following, 1] - corners[k, 1]) ** 2
        )
        k = following
    return kind, i, j, length


@kernel
def length(end, side, shape, r, pose):
    """(kind, i, j, ℓ, g (7,), H (7, 7)) of one skin; see `taut`."""
    corners, g, H = np.empty_like(shape), np.empty(7), np.empty((7, 7))
    place(shape, pose, corners)
    kind, i, j, value = taut(end, side, corners, r, pose, g, H)
    return kind, i, j, value, g, H
