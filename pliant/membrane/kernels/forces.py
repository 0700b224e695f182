"""Forces on a mechanism, compiled: joints, springs, cables and skins, with K = −∂Q/∂q and C = −∂Q/∂v."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane.kernels.band import piece_gradient, stretch_band
from pliant.membrane.kernels.path import ACTIVE, SPAN, path_gradient, sideways, solve_path
from pliant.membrane.kernels.shape import Stations, corner, depth_of, in_world
from pliant.membrane.kernels.tree import inertia, kinematics
from pliant.membrane.kernels.vectors import add, clear, copy, dot, fill, outer, scale
from pliant.membrane.model import BAND, CABLE, SKIN, Memory


@inner
def joint_forces(joints, drive, q, v, tangent, applied, K, C):
    """Springs, dashpots and motors of the joints; returns the energies (springs, motors) [J]."""
    stiffness, rest, damping = joints.stiffness, joints.rest, joints.damping
    motor, brake, limits = joints.motor_stiffness, joints.motor_damping, joints.motor_limit
    target, rate, push = drive.target, drive.rate, drive.effort
    energy, motors = 0.0, 0.0
    for k in range(len(q)):
        stretch = q[k] - rest[k]
        energy += 0.5 * stiffness[k] * stretch * stretch
        error = target[k] - q[k]
        effort = motor[k] * error + brake[k] * (rate[k] - v[k])
        motors += 0.5 * motor[k] * error * error
        free = abs(effort) < limits[k]
        effort = min(max(effort, -limits[k]), limits[k])
        applied[k] += push[k] - stiffness[k] * stretch - damping[k] * v[k] + effort
        if tangent:
            K[k, k] += stiffness[k] + (motor[k] if free else 0.0)
            C[k, k] += damping[k] + (brake[k] if free else 0.0)
    return energy, motors


@inner
def wrenches(wrench, J, applied):
    """Wrenches from outside: forces at the origins of the bodies in world axes, and torques."""
    for b in range(len(wrench) - 1):
        for r in range(3):
            if wrench[b, r] != 0.0:
                add(applied, wrench[b, r], J[b, r])


@inner
def add_wrench(J, body, fx, fy, moment, row):
    """row += (fx, fy, moment)·∂(x, y, θ)/∂q of a body."""
    for k in range(len(row)):
        row[k] += J[body, 0, k] * fx + J[body, 1, k] * fy + J[body, 2, k] * moment


@inner
def add_point(pose, J, body, x, y, fx, fy, row):
    """row += (fx, fy)·∂p/∂q for the point p of a body at the world place (x, y)."""
    add_wrench(J, body, fx, fy, (x - pose[body, 0]) * fy - (y - pose[body, 1]) * fx, row)


@inner
def spring_forces(springs, v, tangent, pose, J, applied, K, C, row):
    """Straight springs and dashpots; returns their energy [J]."""
    body, at, law = springs.body, springs.at, springs.law
    energy = 0.0
    for k in range(len(body)):
        ax, ay = in_world(pose, body[k, 0], at[k, 0], at[k, 1])
        bx, by = in_world(pose, body[k, 1], at[k, 2], at[k, 3])
        dx, dy = bx - ax, by - ay
        length = np.sqrt(dx * dx + dy * dy)
        if length == 0.0:
            continue
        fill(row, 0.0)
        add_point(pose, J, body[k, 0], ax, ay, -dx / length, -dy / length, row)
        add_point(pose, J, body[k, 1], bx, by, dx / length, dy / length, row)
        stretch = length - law[k, 1]
        add(applied, -(law[k, 0] * stretch + law[k, 2] * dot(row, v)), row)
        energy += 0.5 * law[k, 0] * stretch * stretch
        if tangent:
            outer(K, law[k, 0], row)
            outer(C, law[k, 2], row)
    return energy


@inner
def pin_rows(pins, pose, J, rows, value):
    """Rows and values of the hinges that close loops, two each."""
    body, at = pins.body, pins.at
    for k in range(len(body)):
        ax, ay = in_world(pose, body[k, 0], at[k, 0], at[k, 1])
        bx, by = in_world(pose, body[k, 1], at[k, 2], at[k, 3])
        for axis in range(2):
            fx, fy = (1.0, 0.0) if axis == 0 else (0.0, 1.0)
            row = rows[2 * k + axis]
            fill(row, 0.0)
            add_point(pose, J, body[k, 0], ax, ay, -fx, -fy, row)
            add_point(pose, J, body[k, 1], bx, by, fx, fy, row)
        value[2 * k], value[2 * k + 1] = bx - ax, by - ay


# Cables and skins


@inner
def stations_of(paths, places, p):
    """The stations of path p."""
    lo, hi = paths.start[p], paths.start[p + 1]
    first, last = paths.first[lo:hi], paths.last[lo:hi]
    return Stations(places[lo:hi], paths.corners, first, last, paths.radius[lo:hi], paths.side[lo:hi])


@inner
def memory_of(paths, memory, p):
    """What path p remembers."""
    lo, hi = paths.start[p], paths.start[p + 1]
    state, turn, known = memory.state[lo:hi], memory.turn[lo:hi], memory.known[lo:hi]
    return Memory(state, turn, known, memory.stick[lo:hi], memory.arrived[lo:hi], memory.rest[lo:hi])


@inner
def path_row(body, grad, J, row):
    """∂L/∂q (n,) from ∂L/∂(poses of the stations)."""
    fill(row, 0.0)
    for s in range(len(body)):
        for r in range(3):
            if grad[s, r] != 0.0:
                add(row, grad[s, r], J[body[s], r])


@inner
def add_geometric(poses, table, body, tension, J, K, row):
    """K += T ∂²L/∂q² of the straight pieces: T/ℓ for the motion of their ends across them."""
    before = 0
    for k in range(1, len(body)):
        if table[k, ACTIVE] == 0.0:
            continue
        i, before = before, k
        if table[k, SPAN] <= 0.0:
            continue
        tx, ty, arm_i, arm_k = sideways(poses, table, i, k)
        fill(row, 0.0)
        add_wrench(J, body[i], -tx, -ty, -arm_i, row)
        add_wrench(J, body[k], tx, ty, arm_k, row)
        outer(K, tension / table[k, SPAN], row)


@inner
def band_forces(stations, friction, memory, table, body, EA, drag, tangent, commit, J, K, row, pull):
    """A skin with friction: wrenches on its stations into `pull` (m, 3).

    Returns its energy and mean tension [J, N].
    """
    m = len(table)
    stretched, xi, end = np.zeros(m), np.zeros(m), np.zeros((m, 3))
    count = stretch_band(stations, friction, memory, table, commit, stretched, xi)
    energy, mean, j, before = 0.0, 0.0, 0, 0
    clear(pull)
    for k in range(1, m):
        if table[k, ACTIVE] == 0.0:
            continue
        strain = max(stretched[j] / xi[j] - 1.0, 0.0)
        tension = max(EA * strain + (drag if strain > 0.0 else 0.0), 0.0)
        energy += 0.5 * EA * strain * strain * xi[j]
        mean += tension / count
        clear(end)
        piece_gradient(stations, table, before, k, end)
        for s in range(m):
            for r in range(3):
                pull[s, r] -= tension * end[s, r]
        if tangent and strain > 0.0:
            path_row(body, end, J, row)
            outer(K, EA / xi[j], row)
        before = k
        j += 1
    return energy, mean


@inner
def bumper_forces(stations, body, stiffness, tangent, pose, J, applied, K, row):
    """The points of a path push away shapes that they would enter; returns the energy [J]."""
    side, energy = stations.side, 0.0
    if stiffness == 0.0:
        return energy
    for t in range(len(side)):
        if side[t] != 0.0:
            continue
        x, y = corner(stations, t, stations.first[t])
        for k in range(len(side)):
            if side[k] == 0.0 or body[k] == body[t]:
                continue
            depth, nx, ny = depth_of(stations, k, x, y)
            if depth <= 0.0:
                continue
            fill(row, 0.0)  # of the depth
            add_point(pose, J, body[t], x, y, -nx, -ny, row)
            add_point(pose, J, body[k], x, y, nx, ny, row)
            add(applied, -stiffness * depth, row)
            energy += 0.5 * stiffness * depth * depth
            if tangent:
                outer(K, stiffness, row)
    return energy


@inner
def path_forces(paths, memory, v, tangent, commit, work, row):
    """Cables and skins: forces of the skins, rows and values of the cables; returns the energy [J]."""
    pose, J, K, C, applied, total = work.pose, work.J, work.K, work.C, work.applied, 0.0
    for p in range(len(paths.kind)):
        lo, hi = paths.start[p], paths.start[p + 1]
        body, table, pull = paths.body[lo:hi], work.table[lo:hi], work.pull[lo:hi]
        for s in range(lo, hi):
            copy(pose[paths.body[s]], work.place[s])
        stations = stations_of(paths, work.place, p)
        length = solve_path(stations, memory.state[lo:hi], memory.turn[lo:hi], table)
        path_gradient(stations.poses, table, pull)
        path_row(body, pull, J, row)
        work.length[p] = length
        total += 0.0 * length  # not a number where the state is none
        k, b, kind = paths.stiffness[p], paths.damping[p], paths.kind[p]
        total += bumper_forces(stations, body, paths.bumper[p], tangent, pose, J, applied, K, work.bumped)
        stretch = length - paths.rest[p]
        if kind == CABLE:
            copy(row, work.rows[paths.row[p]])
            work.value[paths.row[p]] = stretch
            scale(pull, -1.0)  # of a unit tension: the constraint decides how much of it
            continue
        taut, drag = stretch > 0.0, b * dot(row, v)
        tension = max(k * stretch + drag, 0.0) if taut else 0.0
        energy = 0.5 * k * stretch * stretch if taut else 0.0
        if tangent and taut:
            outer(C, b if tension > 0.0 else 0.0, row)
            outer(K, k if kind == SKIN else 0.0, row)
        if kind == BAND:
            own, friction, EA = memory_of(paths, memory, p), paths.friction[lo:hi], k * paths.rest[p]
            energy, tension = band_forces(
                stations, friction, own, table, body, EA, drag, tangent, commit, J, K, row, pull
            )
        else:
            scale(pull, -tension)
        for s in range(hi - lo):
            for r in range(3):
                if pull[s, r] != 0.0:
                    add(applied, pull[s, r], J[body[s], r])
        work.tension[p], work.energy[p] = tension, energy
        total += energy
        if tangent and tension > 0.0:
            add_geometric(stations.poses, table, body, tension, J, K, row)
    return total


@inner
def evaluate(model, memory, drive, q, v, tangent, commit, work):
    """Everything at (q, v), into `work`: M, c, applied forces, constraint rows, and K and C with `tangent`.

    work.total takes the energies [J]: kinetic; potential of weight, springs and skins; of the motors'
    springs. With `commit` bands remember their slip.
    """
    pose, J, applied, K, C, row = work.pose, work.J, work.applied, work.K, work.C, work.row
    kinematics(model.tree, q, v, pose, J, work.bias)
    fill(applied, 0.0)
    if tangent:
        clear(K)
        clear(C)
    M, inertial = work.M, work.inertial
    kinetic, weight = inertia(model.tree, model.gravity, v, pose, J, work.bias, M, inertial, applied)
    elastic, motors = joint_forces(model.joints, drive, q, v, tangent, applied, K, C)
    wrenches(drive.wrench, J, applied)
    elastic += spring_forces(model.springs, v, tangent, pose, J, applied, K, C, row)
    pin_rows(model.pins, pose, J, work.rows, work.value)
    elastic += path_forces(model.paths, memory, v, tangent, commit, work, row)
    work.total[0], work.total[1], work.total[2] = kinetic, weight + elastic, motors
