"""Forces and stiffness of all triangles of a membrane: those of a shell without rotations; see `element`."""

from __future__ import annotations

import numpy as np

from pliant.bodies.blocks import kernel
from pliant.bodies.shells.element import add_geometric, add_tension, carry_plane, frame_rows, plane_gradient


@kernel
def add_membrane(cells, gradient, T, U, N, C, first, slots, K, f, tangent, clamp):
    """Add ∂E/∂x to f (3n,) [N] and, if tangent, blocks to K (flat). slots (ne, 6) of the corner pairs (a, b ≤ a).

    Corners before first[e] are fixed.
    """
    tau, P, H, S = np.zeros(3), np.empty((3, 2)), np.empty((6, 6)), np.zeros((6, 6))
    work, xx = np.empty((2, 2, 3, 3)), np.empty((3, 3, 3, 3))
    for e in range(len(cells)):
        c = plane_gradient(U[e], N[e], tau, P)
        for a in range(3):
            n = 3 * cells[e, a]
            for i in range(3):
                for s in range(2):
                    g = gradient[e, a, s]
                    f[n + i] += g * (T[e, i, 0] * P[0, s] + T[e, i, 1] * P[1, s] + T[e, i, 2] * P[2, s])
        if not tangent:
            continue
        for i in range(3):
            for j in range(3):
                H[i, j], H[i, 3 + j], H[3 + i, 3 + j] = C[e, i, j], 0.0, 0.0
        if clamp:
            add_tension(U[e], N[e], H)
        else:
            add_geometric(U[e], N[e], tau, c, P, H)
        frame_rows(U[e], S)
        carry_plane(e, S, H, T, gradient, work, xx)
        for a in range(first[e], 3):
            for b in range(first[e], a + 1):
                k = 9 * slots[e, (a * (a + 1)) // 2 + b]
                for i in range(3):
                    for j in range(3):
                        K[k + 3 * i + j] += xx[a, b, i, j]
