"""Kinematics and inertia of planar bodies, compiled: poses, Jacobians, J̇v, M, forces of inertia."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane.joints import FREE, PRISMATIC, REVOLUTE, TRANSLATING
from pliant.membrane.kernels.vectors import clear, fill


@inner
def carry(p, i, rx, ry, rate, pose, J, bias):
    """Fix body i to body p at the offset (rx, ry) from p's origin, in world axes; rate [rad/s] of p."""
    pose[i, 0], pose[i, 1], pose[i, 2] = pose[p, 0] + rx, pose[p, 1] + ry, pose[p, 2]
    for k in range(J.shape[2]):
        turn = J[p, 2, k]
        J[i, 0, k] = J[p, 0, k] - ry * turn
        J[i, 1, k] = J[p, 1, k] + rx * turn
        J[i, 2, k] = turn
    bias[i, 0] = bias[p, 0] - rx * rate * rate
    bias[i, 1] = bias[p, 1] - ry * rate * rate
    bias[i, 2] = 0.0


@inner
def slide(i, dof, dx, dy, vx, vy, rate, c, s, flat, pose, J, bias):
    """Move body i by (dx, dy) [m] at (vx, vy) [m/s], along its joint's axis (c, s), or both axes if `flat`.

    rate [rad/s]: of the joint's frame.
    """
    pose[i, 0] += dx
    pose[i, 1] += dy
    for k in range(J.shape[2]):
        J[i, 0, k] -= dy * J[i, 2, k]
        J[i, 1, k] += dx * J[i, 2, k]
    J[i, 0, dof] += c
    J[i, 1, dof] += s
    if flat:
        J[i, 0, dof + 1] -= s
        J[i, 1, dof + 1] += c
    bias[i, 0] -= dx * rate * rate + 2.0 * rate * vy
    bias[i, 1] -= dy * rate * rate - 2.0 * rate * vx


@inner
def kinematics(tree, q, v, pose, J, bias):
    """Poses (b + 1, 5) of the bodies in the world, their Jacobians J (b + 1, 3, n) and J̇v (b + 1, 3).

    A pose is x, y, θ, cos θ, sin θ; the last body is the world.
    """
    b = len(tree.parent)
    parents, dofs, kinds, frame = tree.parent, tree.dof, tree.kind, tree.frame
    fill(pose[b], 0.0)
    pose[b, 3] = 1.0
    clear(J[b])
    fill(bias[b], 0.0)
    for i in range(b):
        p, dof, kind = parents[i], dofs[i], kinds[i]
        rate = 0.0
        for k in range(len(v)):
            rate += J[p, 2, k] * v[k]
        c, s = pose[p, 3], pose[p, 4]
        fx, fy = frame[i, 0], frame[i, 1]
        carry(p, i, c * fx - s * fy, s * fx + c * fy, rate, pose, J, bias)
        pose[i, 2] += frame[i, 2]
        c, s = np.cos(pose[i, 2]), np.sin(pose[i, 2])
        if kind in (PRISMATIC, TRANSLATING, FREE):
            flat = kind != PRISMATIC
            x, vx = q[dof], v[dof]
            y, vy = (q[dof + 1], v[dof + 1]) if flat else (0.0, 0.0)
            dx, dy = c * x - s * y, s * x + c * y
            slide(i, dof, dx, dy, c * vx - s * vy, s * vx + c * vy, rate, c, s, flat, pose, J, bias)
        if kind in (REVOLUTE, FREE):
            turn = dof if kind == REVOLUTE else dof + 2
            pose[i, 2] += q[turn]
            J[i, 2, turn] += 1.0
        pose[i, 3], pose[i, 4] = np.cos(pose[i, 2]), np.sin(pose[i, 2])


@inner
def inertia(tree, gravity, v, pose, J, bias, M, inertial, applied):
    """M (n, n), forces of inertia c(q, v) (n,), and the weight, added to `applied` (n,).

    Returns the energies of motion and of weight [J].
    """
    n = len(v)
    clear(M)
    fill(inertial, 0.0)
    kinetic, potential = 0.0, 0.0
    jx, jy = np.empty(n), np.empty(n)
    masses, turns, centre = tree.mass, tree.inertia, tree.centre
    for i in range(len(tree.parent)):
        m, turn = masses[i], turns[i]
        if m == 0.0 and turn == 0.0:
            continue
        c, s = pose[i, 3], pose[i, 4]
        rx = c * centre[i, 0] - s * centre[i, 1]
        ry = s * centre[i, 0] + c * centre[i, 1]
        vx, vy, rate = 0.0, 0.0, 0.0
        for k in range(n):
            w = J[i, 2, k]
            jx[k], jy[k] = J[i, 0, k] - ry * w, J[i, 1, k] + rx * w
            vx, vy, rate = vx + jx[k] * v[k], vy + jy[k] * v[k], rate + w * v[k]
        ax, ay = bias[i, 0] - rx * rate * rate, bias[i, 1] - ry * rate * rate
        kinetic += 0.5 * (m * (vx * vx + vy * vy) + turn * rate * rate)
        potential -= m * (gravity[0] * (pose[i, 0] + rx) + gravity[1] * (pose[i, 1] + ry))
        for k in range(n):
            if jx[k] == 0.0 and jy[k] == 0.0 and J[i, 2, k] == 0.0:
                continue
            inertial[k] += m * (jx[k] * ax + jy[k] * ay)
            applied[k] += m * (jx[k] * gravity[0] + jy[k] * gravity[1])
            for r in range(k + 1):
                M[k, r] += m * (jx[k] * jx[r] + jy[k] * jy[r]) + turn * J[i, 2, k] * J[i, 2, r]
    for k in range(n):
        for r in range(k):
            M[r, k] = M[k, r]
    return kinetic, potential
