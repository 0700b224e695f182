"""The chain rule in compiled loops."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def chain_rows(gradient, stencil_point, ptr, plain, weight, J, nnz):
    """H's entries: gᵀ J for each stencil point and each block that moves it."""
    out = np.empty(nnz)
    k = 0
    for e in range(len(stencil_point)):
        g0, g1, g2 = gradient[e, 0], gradient[e, 1], gradient[e, 2]
        for s in range(ptr[stencil_point[e]], ptr[stencil_point[e] + 1]):
            if plain[s]:
                w = weight[s]
                out[k], out[k + 1], out[k + 2] = w * g0, w * g1, w * g2
            else:
                for c in range(3):
                    out[k + c] = g0 * J[s, 0, c] + g1 * J[s, 1, c] + g2 * J[s, 2, c]
            k += 3
    return out


@njit(cache=True, error_model="numpy")
def point_forces(row_ptr, stencil_point, gradient, lam, count):
    """Σ λₖ ∂δₖ/∂p: the force each interaction puts on its points, (P, 3) [N]."""
    forces = np.zeros((count, 3))
    for i in range(len(row_ptr) - 1):
        for e in range(row_ptr[i], row_ptr[i + 1]):
            for c in range(3):
                forces[stencil_point[e], c] += lam[i] * gradient[e, c]
    return forces


@njit(cache=True, error_model="numpy")
def add_geometric_stiffness(K, M, pair, s, t, mode, placement, plain, weight, J):
    """K −= Jₛᵀ M Jₜ for every coupling, in the half of K that is stored."""
    B, C = np.empty((3, 3)), np.empty((3, 3))
    for n in range(len(pair)):
        a, b, m = s[n], t[n], M[pair[n]]
        if plain[a] and plain[b]:
            w = weight[a] * weight[b]
            for i in range(3):
                for j in range(3):
                    B[i, j] = w * m[i, j]
        else:
            for i in range(3):
                for j in range(3):
                    C[i, j] = m[i, 0] * J[b, 0, j] + m[i, 1] * J[b, 1, j] + m[i, 2] * J[b, 2, j]
            for i in range(3):
                for j in range(3):
                    B[i, j] = J[a, 0, i] * C[0, j] + J[a, 1, i] * C[1, j] + J[a, 2, i] * C[2, j]
        k = placement[n]
        for i in range(3):
            for j in range(3):
                if mode[n] == 0:
                    K[k, i, j] -= B[i, j]
                elif mode[n] == 1:
                    K[k, i, j] -= B[j, i]
                else:
                    K[k, i, j] -= B[i, j] + B[j, i]


@njit(cache=True, error_model="numpy")
def subtract_blocks(K, at, blocks):
    """K[at] −= blocks (k, 3, 3), also where a place comes twice."""
    for n in range(len(at)):
        for i in range(3):
            for j in range(3):
                K[at[n], i, j] -= blocks[n, i, j]
