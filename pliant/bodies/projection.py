"""Rigid regions in compiled loops: forces and stiffness on their nodes as those on six coordinates; motion.

With x_n = t + R exp([dω]ₓ) a_n and g the gradient of an energy with respect to x_n, h = Rᵀg,

    ∂x_n/∂dτ = Q,      ∂x_n/∂dω = −R[a]ₓ,      g·∂²x_n/∂dω² = ½(h aᵀ + a hᵀ) − (h·a) I
"""

from __future__ import annotations

import math

import numpy as np

from pliant.bodies.blocks import kernel

NO_TURN = 1e-8  # [rad]: sin θ/θ of smaller angles is 1 to rounding


@kernel
def _jacobian(q, pose, frame, region, arm, node, which, J):
    """J (3, 3) of a node on its own block, or on its region: translation (which = 0), rotation (1)."""
    r = region[node]
    for i in range(3):
        if r < 0:
            J[i, 0] = J[i, 1] = J[i, 2] = 0.0
            J[i, i] = 1.0
        elif which == 0:
            J[i, 0], J[i, 1], J[i, 2] = frame[r, i, 0], frame[r, i, 1], frame[r, i, 2]
        else:
            k = pose + 12 * r + 3 + 3 * i
            x, y, z = q[k], q[k + 1], q[k + 2]
            J[i, 0] = z * arm[node, 1] - y * arm[node, 2]
            J[i, 1] = x * arm[node, 2] - z * arm[node, 0]
            J[i, 2] = y * arm[node, 0] - x * arm[node, 1]


@kernel
def project_blocks(q, pose, frame, region, arm, extra, target, direct, K):
    """Spread the extra blocks, K[direct:] (flat), over the blocks of the regions: C = J_mᵀ X J_n."""
    left, right = np.empty((3, 3)), np.empty((3, 3))
    for x in range(extra.shape[0]):
        base, m, n = 9 * (direct + x), extra[x, 0], extra[x, 1]
        for s in range(2):
            for t in range(2):
                code = target[x, s, t]
                if code < 0 or (m == n and t > s):  # a node with itself: (t, s) is the transpose of (s, t)
                    continue
                _jacobian(q, pose, frame, region, arm, m, s, left)
                _jacobian(q, pose, frame, region, arm, n, t, right)
                both = m != n and region[m] == region[n] and s == t
                k, flipped = 9 * (code >> 1), code & 1
                for i in range(3):
                    for j in range(3):
                        value = 0.0
                        for a in range(3):
                            for b in range(3):
                                value += left[a, i] * K[base + 3 * a + b] * right[b, j]
                        if both or not flipped:
                            K[k + 3 * i + j] += value
                        if both or flipped:
                            K[k + 3 * j + i] += value


@kernel
def project_forces(q, pose, frame, region, arm, nodes, g, out):
    """out (6m,) += Jᵀg of the regions' nodes: force Qᵀg, torque a × Rᵀg. g (3n,)."""
    for n in nodes:
        r = region[n]
        k, o = pose + 12 * r + 3, 6 * r
        x, y, z = g[3 * n], g[3 * n + 1], g[3 * n + 2]
        h0 = q[k] * x + q[k + 3] * y + q[k + 6] * z
        h1 = q[k + 1] * x + q[k + 4] * y + q[k + 7] * z
        h2 = q[k + 2] * x + q[k + 5] * y + q[k + 8] * z
        for i in range(3):
            out[o + i] += frame[r, 0, i] * x + frame[r, 1, i] * y + frame[r, 2, i] * z
        out[o + 3] += arm[n, 1] * h2 - arm[n, 2] * h1
        out[o + 4] += arm[n, 2] * h0 - arm[n, 0] * h2
        out[o + 5] += arm[n, 0] * h1 - arm[n, 1] * h0


@kernel
def add_second_derivatives(q, pose, region, arm, nodes, slot, g, K):
    """K[slot[r]] += Σ ½(h aᵀ + a hᵀ) − (h·a) I over the nodes of a region; slot (m,) its rotation block."""
    h = np.empty(3)
    for n in nodes:
        k, o = pose + 12 * region[n] + 3, 9 * slot[region[n]]
        dot = 0.0
        for i in range(3):
            h[i] = q[k + i] * g[3 * n] + q[k + 3 + i] * g[3 * n + 1] + q[k + 6 + i] * g[3 * n + 2]
            dot += h[i] * arm[n, i]
        for i in range(3):
            for j in range(3):
                K[o + 3 * i + j] += 0.5 * (h[i] * arm[n, j] + arm[n, i] * h[j])
            K[o + 4 * i] -= dot


@kernel
def move_regions(q, pose, frame, region, arm, nodes, dq):
    """t ← t + Q dτ, R ← R exp([dω]ₓ), x_n = t + R a_n; q in place, dq (6m,) of the regions."""
    E, row = np.empty((3, 3)), np.empty(3)
    for r in range(frame.shape[0]):
        k, o = pose + 12 * r, 6 * r
        for i in range(3):
            q[k + i] += frame[r, i, 0] * dq[o] + frame[r, i, 1] * dq[o + 1] + frame[r, i, 2] * dq[o + 2]
        _exponential(dq[o + 3], dq[o + 4], dq[o + 5], E)
        for i in range(3):
            for j in range(3):
                row[j] = q[k + 3 + 3 * i + j]
            for j in range(3):
                q[k + 3 + 3 * i + j] = row[0] * E[0, j] + row[1] * E[1, j] + row[2] * E[2, j]
    for n in nodes:
        k = pose + 12 * region[n]
        for i in range(3):
            m = k + 3 + 3 * i
            q[3 * n + i] = q[k + i] + q[m] * arm[n, 0] + q[m + 1] * arm[n, 1] + q[m + 2] * arm[n, 2]


@kernel
def _exponential(x, y, z, E):
    """E = exp([ω]ₓ) = I + sin θ/θ [ω]ₓ + (1 − cos θ)/θ² [ω]ₓ²."""
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    half = 0.5 * angle
    a = math.sin(angle) / angle if angle > NO_TURN else 1.0
    b = 0.5 * (math.sin(half) / half) ** 2 if angle > NO_TURN else 0.5
    E[0, 0], E[0, 1], E[0, 2] = 1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    E[1, 0], E[1, 1], E[1, 2] = b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x
    E[2, 0], E[2, 1], E[2, 2] = b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)
