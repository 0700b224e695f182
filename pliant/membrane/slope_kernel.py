"""How the length of a taut path changes with the poses of its stations, compiled: first and second derivatives."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import kernel
from pliant.membrane.small import clear
from pliant.membrane.wrap_kernel import (
    ACTIVE,
    CIN_X,
    CIN_Y,
    COUT_X,
    COUT_Y,
    IN_X,
    IN_Y,
    OUT_X,
    OUT_Y,
    SPAN,
)


@kernel
def path_gradient(poses, out, g):
    """∂L/∂(x, y, θ) of every station, (m, 3): the pull of a unit tension, reversed."""
    for k in range(len(g)):
        g[k, 0] = g[k, 1] = g[k, 2] = 0.0
        if out[k, ACTIVE] == 0.0:
            continue
        x, y = poses[k, 0], poses[k, 1]
        g[k, 0] = out[k, IN_X] - out[k, OUT_X]
        g[k, 1] = out[k, IN_Y] - out[k, OUT_Y]
        g[k, 2] = (
            (out[k, CIN_X] - x) * out[k, IN_Y]
            - (out[k, CIN_Y] - y) * out[k, IN_X]
            - (out[k, COUT_X] - x) * out[k, OUT_Y]
            + (out[k, COUT_Y] - y) * out[k, OUT_X]
        )


@kernel
def path_hessian(poses, out, H):
    """∂²L/∂(poses)² (3m, 3m), zero where one corner circle lies within another."""
    clear(H)
    row = np.empty(6)
    last = 0
    for j in range(1, len(out)):
        if out[j, ACTIVE] == 0.0:
            continue
        i, last = last, j
        ux, uy, length = out[i, OUT_X], out[i, OUT_Y], out[j, SPAN]
        ax, ay = out[i, COUT_X] - poses[i, 0], out[i, COUT_Y] - poses[i, 1]
        bx, by = out[j, CIN_X] - poses[j, 0], out[j, CIN_Y] - poses[j, 1]
        # t·(dc₂ − dc₁), t = (−u_y, u_x), dc = (dx, dy) + dθ (−r_y, r_x)
        row[0], row[1], row[2] = uy, -ux, -(uy * ay + ux * ax)
        row[3], row[4], row[5] = -uy, ux, uy * by + ux * bx
        for p in range(6):
            P = 3 * i + p if p < 3 else 3 * j + p - 3
            for q in range(6):
                Q = 3 * i + q if q < 3 else 3 * j + q - 3
                if length > 0.0:
                    H[P, Q] += row[p] * row[q] / length
        H[3 * i + 2, 3 * i + 2] += ux * ax + uy * ay
        H[3 * j + 2, 3 * j + 2] -= ux * bx + uy * by
