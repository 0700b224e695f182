"""Forces on a mechanism, compiled: joints, springs, cables and skins, with their tangents K = −∂Q/∂q and C = −∂Q/∂v."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane import friction_kernel as band
from pliant.membrane.model import BAND, CABLE, SKIN
from pliant.membrane.small import add, clear, copy, dot, fill, outer
from pliant.membrane.tree_kernel import inertia, kinematics
from pliant.membrane.wrap_kernel import (
    ACTIVE,
    CIN_X,
    CIN_Y,
    COUT_X,
    COUT_Y,
    IN_X,
    IN_Y,
    SPAN,
    corner,
    depth_of,
    path_gradient,
    solve_path,
)


@inner
def scale(A, f):
    """A *= f, (m, n)."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] *= f


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
def add_point(pose, J, body, x, y, fx, fy, row):
    """row += (fx, fy)·∂p/∂q for a point of a body at the world place (x, y)."""
    moment = (x - pose[body, 0]) * fy - (y - pose[body, 1]) * fx
    for k in range(len(row)):
        row[k] += J[body, 0, k] * fx + J[body, 1, k] * fy + J[body, 2, k] * moment


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
def path_row(body, grad, J, row):
    """∂L/∂q (n,) from ∂L/∂(poses of the stations)."""
    fill(row, 0.0)
    for s in range(len(body)):
        for r in range(3):
            if grad[s, r] != 0.0:
                add(row, grad[s, r], J[body[s], r])


@inner
def bend(poses, table, body, tension, J, K, row):
    """K += T ∂²L/∂q² of the straight pieces: T/ℓ for the sideways motion of one end against the other."""
    before = 0
    for k in range(1, len(body)):
        if table[k, ACTIVE] == 0.0:
            continue
        i, before = before, k
        length = table[k, SPAN]
        if length <= 0.0:
            continue
        tx, ty = -table[k, IN_Y], table[k, IN_X]
        fill(row, 0.0)
        lever(row, J, body[i], -tx, -ty, table[i, COUT_X] - poses[i, 0], table[i, COUT_Y] - poses[i, 1])
        lever(row, J, body[k], tx, ty, table[k, CIN_X] - poses[k, 0], table[k, CIN_Y] - poses[k, 1])
        outer(K, tension / length, row)


@inner
def lever(row, J, b, fx, fy, rx, ry):
    """row += (fx, fy)·∂p/∂q for a point at the offset (rx, ry) of body b's origin, in world axes."""
    moment = rx * fy - ry * fx
    for k in range(len(row)):
        row[k] += J[b, 0, k] * fx + J[b, 1, k] * fy + J[b, 2, k] * moment


@inner
def band_forces(paths, lo, hi, memory, poses, table, stiffness, rest, drag, tangent, commit, J, K, row, pull):
    """A skin with friction: fills `pull` (m, 3), the wrenches on its stations; returns its energy and mean tension."""
    m = hi - lo
    stretched, xi, hold, come = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    first, last, radius, side = paths.first[lo:hi], paths.last[lo:hi], paths.radius[lo:hi], paths.side[lo:hi]
    friction, known, held = paths.friction[lo:hi], memory.known[lo:hi], memory.held[lo:hi]
    seen, kept = memory.seen[lo:hi], memory.rest[lo:hi]
    count = band.pieces(
        poses,
        paths.corners,
        first,
        last,
        radius,
        side,
        known,
        held,
        seen,
        kept,
        table,
        stretched,
        xi,
        hold,
        come,
    )
    band.roll(table, hold, come, stretched, xi)
    band.let_slip(table, friction, stretched, xi)
    if commit:
        band.keep(table, hold, come, xi, known, held, seen, kept)
    EA = stiffness * rest
    energy, mean, j, before = 0.0, 0.0, 0, 0
    end = np.zeros((m, 3))
    for k in range(1, m):
        if table[k, ACTIVE] == 0.0:
            continue
        strain = max(stretched[j] / xi[j] - 1.0, 0.0)
        tension = max(EA * strain + (drag if strain > 0.0 else 0.0), 0.0)
        energy += 0.5 * EA * strain * strain * xi[j]
        mean += tension / count
        clear(end)
        ends_of(poses, table, radius, side, before, k, end)
        for s in range(m):
            for r in range(3):
                pull[s, r] -= tension * end[s, r]
        if tangent and strain > 0.0:
            path_row(paths.body[lo:hi], end, J, row)
            outer(K, EA / xi[j], row)
        before = k
        j += 1
    return energy, mean


@inner
def ends_of(poses, table, radius, side, i, k, end):
    """How the length of the piece i → k changes with the poses of its ends, the band held on both: into rows i and k of `end`."""
    ux, uy = table[k, IN_X], table[k, IN_Y]
    ax = table[i, COUT_X] + side[i] * radius[i] * uy - poses[i, 0]
    ay = table[i, COUT_Y] - side[i] * radius[i] * ux - poses[i, 1]
    bx = table[k, CIN_X] + side[k] * radius[k] * uy - poses[k, 0]
    by = table[k, CIN_Y] - side[k] * radius[k] * ux - poses[k, 1]
    end[i, 0], end[i, 1], end[i, 2] = -ux, -uy, -(ax * uy - ay * ux)
    end[k, 0], end[k, 1], end[k, 2] = ux, uy, bx * uy - by * ux


@inner
def find_path(paths, memory, p, pose, places, table, grad):
    """The taut path p: gathers the poses of its stations, fills its table and ∂L/∂(poses); returns its length."""
    lo, hi = paths.start[p], paths.start[p + 1]
    body = paths.body
    for s in range(lo, hi):
        copy(pose[body[s]], places[s])
    first, last, radius, side = paths.first[lo:hi], paths.last[lo:hi], paths.radius[lo:hi], paths.side[lo:hi]
    state, turn = memory.state[lo:hi], memory.turn[lo:hi]
    length = solve_path(places[lo:hi], paths.corners, first, last, radius, side, state, turn, table[lo:hi])
    path_gradient(places[lo:hi], table[lo:hi], grad[lo:hi])
    return length


@inner
def bump(paths, p, tangent, pose, places, J, applied, K, row):
    """The points of a path push away shapes that they would enter; returns the energy."""
    lo, hi, stiffness = paths.start[p], paths.start[p + 1], paths.bumper[p]
    side, first, last, radius, corners = paths.side, paths.first, paths.last, paths.radius, paths.corners
    energy = 0.0
    if stiffness == 0.0:
        return energy
    for t in range(lo, hi):
        if side[t] != 0.0:
            continue
        x, y = corner(places, corners, t, first[t])
        for k in range(lo, hi):
            if side[k] == 0.0 or paths.body[k] == paths.body[t]:
                continue
            depth, nx, ny = depth_of(places, corners, first, last, radius, k, x, y)
            if depth <= 0.0:
                continue
            fill(row, 0.0)  # of the depth
            add_point(pose, J, paths.body[t], x, y, -nx, -ny, row)
            add_point(pose, J, paths.body[k], x, y, nx, ny, row)
            add(applied, -stiffness * depth, row)
            energy += 0.5 * stiffness * depth * depth
            if tangent:
                outer(K, stiffness, row)
    return energy


@inner
def path_forces(paths, memory, v, tangent, commit, work, row):
    """Cables and skins: forces of the skins, rows and values of the cables; returns the energy, NaN if a path has none."""
    pose, J, K, C, applied, total = work.pose, work.J, work.K, work.C, work.applied, 0.0
    places, tables, pulls, bumped = work.place, work.table, work.pull, work.bumped
    for p in range(len(paths.kind)):
        lo, hi = paths.start[p], paths.start[p + 1]
        body, table, pull = paths.body[lo:hi], tables[lo:hi], pulls[lo:hi]
        length = find_path(paths, memory, p, pose, places, tables, pulls)
        path_row(body, pull, J, row)
        work.length[p] = length
        total += 0.0 * length  # not a number where the state is none
        k, b, kind = paths.stiffness[p], paths.damping[p], paths.kind[p]
        total += bump(paths, p, tangent, pose, places, J, applied, K, bumped)
        off = length - paths.rest[p]
        if kind == CABLE:
            copy(row, work.rows[paths.row[p]])
            work.value[paths.row[p]] = off
            scale(pull, -1.0)  # of a unit tension: the constraint decides how much of it
            continue
        taut, drag = off > 0.0, b * dot(row, v)
        tension = max(k * off + drag, 0.0) if taut else 0.0
        energy = 0.5 * k * off * off if taut else 0.0
        if tangent and taut:
            outer(C, b if tension > 0.0 else 0.0, row)
            outer(K, k if kind == SKIN else 0.0, row)
        if kind == BAND:
            clear(pull)
            energy, tension = band_forces(
                paths,
                lo,
                hi,
                memory,
                places[lo:hi],
                table,
                k,
                paths.rest[p],
                drag,
                tangent,
                commit,
                J,
                K,
                row,
                pull,
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
            bend(places[lo:hi], table, body, tension, J, K, row)
    return total


@inner
def evaluate(model, memory, drive, q, v, tangent, commit, work):
    """Everything at (q, v), into `work`: M, c, applied forces, constraint rows, K and C if asked. Energies [J] in
    work.total: kinetic, potential (weight, springs, skins; NaN if a cable has no taut path), motors. commit: bands remember their slip."""
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
