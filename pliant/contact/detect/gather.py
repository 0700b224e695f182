"""From gaps of all samples and opponents to the list of contacts."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place

# A frame whose first vector no usual wall or floor looks against. Turned so that the first vector meets the
# normal, the other two are tangents that change smoothly with it.
_A = np.array([0.36, 0.48, 0.8])
_B = np.array([0.8, -0.6, 0.0])
_C = np.array([0.48, 0.64, -0.6])


@in_place
def _turned(n, a, x, out):
    """x turned as the shortest rotation turns a to n:  x − (n·x)/(1 + n·a) (n + a)  for x across a."""
    c = n[0] * a[0] + n[1] * a[1] + n[2] * a[2]
    s = n[0] * x[0] + n[1] * x[1] + n[2] * x[2]
    if c < -1.0 + 1e-12:  # opposite: a half turn about the second vector
        along = x[0] * _B[0] + x[1] * _B[1] + x[2] * _B[2]
        for k in range(3):
            out[k] = 2.0 * along * _B[k] - x[k]
        return
    for k in range(3):
        out[k] = x[k] - s / (1.0 + c) * (n[k] + a[k])


@njit(cache=True, error_model="numpy")
def tangent_frames(normal):
    """Two unit vectors (n, 2, 3) across each unit normal (n, 3), which change smoothly with it."""
    tangents = np.empty((len(normal), 2, 3))
    for k in range(len(normal)):
        _turned(normal[k], _A, _B, tangents[k, 0])
        _turned(normal[k], _A, _C, tangents[k, 1])
    return tangents


@njit(cache=True, error_model="numpy")
def gather(gaps, normals, corners, weights, slots, friction, margin, radius, mobile, p, reach, first, start):
    """Contacts with gap < reach that something can move, by opponent and sample.

    gaps (M, S), normals (M, S, 3); the first len(corners) opponents are deformable, with corners (·, S, 3)
    as points and barycentric weights (·, S, 3). Sample 0 has the index `first` with the
    opponent of slot 0, and the number `start` in the stack of points.
    """
    M, S, soft = gaps.shape[0], gaps.shape[1], len(corners)
    keep = np.zeros((M, S), np.bool_)
    n, nnz = 0, 0
    for m in range(M):
        for s in range(S):
            if gaps[m, s] - radius[s] - margin[m] < reach:
                moves = mobile[start + s]
                if m < soft:
                    for c in range(3):
                        moves = moves or mobile[corners[m, s, c]]
                if moves:
                    keep[m, s] = True
                    n += 1
                    nnz += 4 if m < soft else 1
    index, sample, opponent = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    gap, mu, off = np.empty(n), np.empty(n), np.empty(n)
    normal, position = np.empty((n, 3)), np.empty((n, 3))
    ptr, point, weight = np.zeros(n + 1, np.int64), np.empty(nnz, np.int64), np.empty(nnz)
    k, e = 0, 0
    for m in range(M):
        for s in range(S):
            if not keep[m, s]:
                continue
            index[k], sample[k], opponent[k] = first + slots[m] * S + s, s, slots[m]
            gap[k], mu[k], off[k] = gaps[m, s] - radius[s] - margin[m], friction[m], margin[m]
            for c in range(3):
                normal[k, c], position[k, c] = normals[m, s, c], p[s, c]
            point[e], weight[e] = start + s, 1.0
            e += 1
            if m < soft:
                for c in range(3):
                    point[e], weight[e] = corners[m, s, c], -weights[m, s, c]
                    e += 1
            k += 1
            ptr[k] = e
    tangents = tangent_frames(normal)
    return index, sample, opponent, gap, normal, position, tangents, mu, off, ptr, point, weight
