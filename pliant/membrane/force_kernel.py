"""Forces on a mechanism, compiled: joints, springs and paths, with their tangents K = −∂Q/∂q and C = −∂Q/∂v."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane.path_kernel import add_point, path_forces
from pliant.membrane.small import add, clear, dot, fill, outer
from pliant.membrane.tree_kernel import inertia, kinematics


@inner
def joint_forces(joints, drive, q, v, tangent, applied, K, C):
    """Springs, dashpots and motors of the joints; returns the energy of the springs, and that of the motors."""
    stiffness, rest, damping = joints.stiffness, joints.rest, joints.damping
    motor, brake, limits = joints.motor_stiffness, joints.motor_damping, joints.motor_limit
    target, rate, push = drive.target, drive.rate, drive.effort
    energy, held = 0.0, 0.0
    for k in range(len(q)):
        off = q[k] - rest[k]
        energy += 0.5 * stiffness[k] * off * off
        error = target[k] - q[k]
        effort = motor[k] * error + brake[k] * (rate[k] - v[k])
        held += 0.5 * motor[k] * error * error
        free = abs(effort) < limits[k]
        effort = min(max(effort, -limits[k]), limits[k])
        applied[k] += push[k] - stiffness[k] * off - damping[k] * v[k] + effort
        if tangent:
            K[k, k] += stiffness[k] + (motor[k] if free else 0.0)
            C[k, k] += damping[k] + (brake[k] if free else 0.0)
    return energy, held


@inner
def wrenches(wrench, J, applied):
    """Wrenches from outside: forces at the origins of the bodies in world axes, and torques."""
    for b in range(len(wrench) - 1):
        for r in range(3):
            if wrench[b, r] != 0.0:
                add(applied, wrench[b, r], J[b, r])


@inner
def place(pose, body, x, y):
    """World place of a point of a body."""
    c, s = pose[body, 3], pose[body, 4]
    return pose[body, 0] + c * x - s * y, pose[body, 1] + s * x + c * y


@inner
def spring_forces(springs, v, tangent, pose, J, applied, K, C, row):
    """Straight springs and dashpots; returns their energy."""
    body, at, law = springs.body, springs.at, springs.law
    energy = 0.0
    for k in range(len(body)):
        ax, ay = place(pose, body[k, 0], at[k, 0], at[k, 1])
        bx, by = place(pose, body[k, 1], at[k, 2], at[k, 3])
        dx, dy = bx - ax, by - ay
        length = np.sqrt(dx * dx + dy * dy)
        if length == 0.0:
            continue
        fill(row, 0.0)
        add_point(pose, J, body[k, 0], ax, ay, -dx / length, -dy / length, row)
        add_point(pose, J, body[k, 1], bx, by, dx / length, dy / length, row)
        off = length - law[k, 1]
        add(applied, -(law[k, 0] * off + law[k, 2] * dot(row, v)), row)
        energy += 0.5 * law[k, 0] * off * off
        if tangent:
            outer(K, law[k, 0], row)
            outer(C, law[k, 2], row)
    return energy


@inner
def pin_rows(pins, pose, J, rows, value):
    """Rows and values of the hinges that close loops, two each."""
    body, at = pins.body, pins.at
    for k in range(len(body)):
        ax, ay = place(pose, body[k, 0], at[k, 0], at[k, 1])
        bx, by = place(pose, body[k, 1], at[k, 2], at[k, 3])
        for axis in range(2):
            fx, fy = (1.0, 0.0) if axis == 0 else (0.0, 1.0)
            row = rows[2 * k + axis]
            fill(row, 0.0)
            add_point(pose, J, body[k, 0], ax, ay, -fx, -fy, row)
            add_point(pose, J, body[k, 1], bx, by, fx, fy, row)
        value[2 * k], value[2 * k + 1] = bx - ax, by - ay


@inner
def evaluate(model, memory, drive, q, v, tangent, commit, work):
    """Everything at (q, v), into `work`: M, c, applied forces, constraint rows, K and C if asked. Energies [J] in
    work.total: kinetic, potential (weight, springs, skins), motors. commit: bands remember their slip."""
    pose, J, applied, K, C = work.pose, work.J, work.applied, work.K, work.C
    kinematics(model.tree, q, v, pose, J, work.bias)
    fill(applied, 0.0)
    if tangent:
        clear(K)
        clear(C)
    row = work.row
    kinetic, weight = inertia(
        model.tree, model.gravity, v, pose, J, work.bias, work.M, work.inertial, applied
    )
    elastic, held = joint_forces(model.joints, drive, q, v, tangent, applied, K, C)
    wrenches(drive.wrench, J, applied)
    elastic += spring_forces(model.springs, v, tangent, pose, J, applied, K, C, row)
    pin_rows(model.pins, pose, J, work.rows, work.value)
    elastic += path_forces(model.paths, memory, v, tangent, commit, work, row)
    work.total[0], work.total[1], work.total[2] = kinetic, weight + elastic, held
