"""Small loops that all element kernels share.

Cells list their nodes so that the blocks of K ascend (fixed nodes first): pair (a, b ≤ a) is always in the
lower half, and the pairs that matter begin at the first node that moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numba import njit

MULTIPLE_OF_IDENTITY = 1e-14  # spread of the eigenvalues over their mean, below which all are the mean

# Fused multiply-add and reordered sums; NaN and inf keep their meaning.
kernel: Callable[..., Any] = njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


@kernel
def gather(nn, q, cells, e, x):
    """x (nn, 3): positions of the nodes of cell e."""
    for a in range(nn):
        n = 3 * cells[e, a]
        x[a, 0], x[a, 1], x[a, 2] = q[n], q[n + 1], q[n + 2]


@kernel
def deformation_gradient(nn, x, G, e, p, F):
    """F_ij = Σ_a x_ai G_aj at quadrature point p of cell e."""
    a00 = a01 = a02 = a10 = a11 = a12 = a20 = a21 = a22 = 0.0
    for a in range(nn):
        u, v, w = G[e, p, a, 0], G[e, p, a, 1], G[e, p, a, 2]
        a00, a01, a02 = a00 + x[a, 0] * u, a01 + x[a, 0] * v, a02 + x[a, 0] * w
        a10, a11, a12 = a10 + x[a, 1] * u, a11 + x[a, 1] * v, a12 + x[a, 1] * w
        a20, a21, a22 = a20 + x[a, 2] * u, a21 + x[a, 2] * v, a22 + x[a, 2] * w
    F[0, 0], F[0, 1], F[0, 2] = a00, a01, a02
    F[1, 0], F[1, 1], F[1, 2] = a10, a11, a12
    F[2, 0], F[2, 1], F[2, 2] = a20, a21, a22


@kernel
def scatter_forces(nn, cells, e, fe, f):
    """f += fe, node by node, and fe ← 0."""
    for a in range(nn):
        n = 3 * cells[e, a]
        f[n] += fe[a, 0]
        f[n + 1] += fe[a, 1]
        f[n + 2] += fe[a, 2]
        fe[a, 0] = fe[a, 1] = fe[a, 2] = 0.0


@kernel
def scatter_pairs(nn, terms, first, slots, e, left, right, B, scale, K):
    """K_ab += Σ_t left[a,t] right[b,t] + scale B_a B_bᵀ for all pairs b ≤ a of moving nodes of cell e.

    left (nn, terms), right (nn, terms, 9), B (nn, 3); K is flat, with nine numbers for each block
    slots[e, a(a+1)/2 + b].
    """
    for a in range(first[e], nn):
        u, v, w = scale * B[a, 0], scale * B[a, 1], scale * B[a, 2]
        for b in range(first[e], a + 1):
            k0, k1, k2 = u * B[b, 0], u * B[b, 1], u * B[b, 2]
            k3, k4, k5 = v * B[b, 0], v * B[b, 1], v * B[b, 2]
            k6, k7, k8 = w * B[b, 0], w * B[b, 1], w * B[b, 2]
            for t in range(terms):  # nine accumulators stay in registers
                c = left[a, t]
                k0 += c * right[b, t, 0]
                k1 += c * right[b, t, 1]
                k2 += c * right[b, t, 2]
                k3 += c * right[b, t, 3]
                k4 += c * right[b, t, 4]
                k5 += c * right[b, t, 5]
                k6 += c * right[b, t, 6]
                k7 += c * right[b, t, 7]
                k8 += c * right[b, t, 8]
            n = 9 * slots[e, (a * (a + 1)) // 2 + b]
            K[n] += k0
            K[n + 1] += k1
            K[n + 2] += k2
            K[n + 3] += k3
            K[n + 4] += k4
            K[n + 5] += k5
            K[n + 6] += k6
            K[n + 7] += k7
            K[n + 8] += k8


@kernel
def largest_eigenvalue(a, b, c, d, e, f):
    """That of the symmetric matrix with diagonal (a, b, c) and entries d = 01, e = 02, f = 12 beside it."""
    mean = (a + b + c) / 3.0
    a, b, c = a - mean, b - mean, c - mean
    size = math.sqrt((a * a + b * b + c * c + 2.0 * (d * d + e * e + f * f)) / 6.0)
    if size <= MULTIPLE_OF_IDENTITY * abs(mean) or size == 0.0:
        return mean
    det = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    cosine = min(1.0, max(-1.0, 0.5 * det / (size * size * size)))
    return mean + 2.0 * size * math.cos(math.acos(cosine) / 3.0)
