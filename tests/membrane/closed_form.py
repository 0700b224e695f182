"""A taut skin over one convex shape in closed form, apart from the package: what its path must agree with.

A path from A to B that keeps the shape (corners grown by a radius r) on its left touches it first at corner i
and last at corner j, turning by ψ. With the unit directions t_A of the first and t_B of the last straight
piece, T_A and T_B long,

    ℓ = T_A + Σ edges(i → j) + T_B + r ψ,     T_A = √(|v_i − A|² − r²)
    dℓ = t_A·dw_A + t_B·dw_B,                 w_A = v_i − A,  w_B = B − v_j
    d²ℓ = (t_A⊥·dw_A)²/T_A + (t_B⊥·dw_B)²/T_B + t_A·d²v_i − t_B·d²v_j

A shape on the right is the same path from B to A.
"""

from __future__ import annotations

import numpy as np

from pliant.membrane.shapes import Shape, rotation


def cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def skin_over(ends, side, shape: Shape, pose):
    """(ℓ, gradient (7,), Hessian (7, 7)) by A, the pose (x, y, φ) and B, for a shape between the ends."""
    swapped = side < 0
    a, b = (ends[2:], ends[:2]) if swapped else (ends[:2], ends[2:])
    corners = shape.corners @ rotation(pose[2]).T + pose[:2]
    r, span = shape.radius, np.linalg.norm(b - a)
    u = (b - a) / span
    g, H = np.zeros(7), np.zeros((7, 7))
    places = {"a": [5, 6] if swapped else [0, 1], "b": [0, 1] if swapped else [5, 6]}
    if (cross(u, corners - a) >= r).all():
        row = np.zeros(7)
        row[places["a"]], row[places["b"]] = (u[1], -u[0]), (-u[1], u[0])
        g[places["a"]], g[places["b"]] = -u, u
        return span, g, np.outer(row, row) / span
    length, touched, turned = 0.0, [], []
    for end, along, sign in (("a", u, 1.0), ("b", -u, -1.0)):
        w = corners - (a if end == "a" else b)
        d = np.linalg.norm(w, axis=1)
        away = -sign * np.arctan2(cross(along, w), w @ along) + np.arcsin(r / d)
        k = int(np.argmax(away))
        angle = -sign * away[k]
        t = rotation(angle) @ u
        T, arm = np.sqrt(d[k] ** 2 - r**2), corners[k] - pose[:2]
        row = np.zeros(7)
        row[2:4], row[4] = sign * np.array([-t[1], t[0]]), sign * t @ arm
        row[places[end]] = -sign * np.array([-t[1], t[0]])
        g[2:4] += sign * t
        g[4] += sign * cross(arm, t)
        g[places[end]] -= sign * t
        H += np.outer(row, row) / T
        H[4, 4] -= sign * t @ arm
        length += T
        touched.append(k)
        turned.append(angle)
    k, last = touched
    while k != last:
        after = (k + 1) % len(corners)
        length += np.linalg.norm(corners[after] - corners[k])
        k = after
    return length + r * (turned[1] - turned[0]), g, H
