"""Cables and skins on a mechanism, compiled: their paths, what they pull with, and the rows of the constraints they are."""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane import friction_kernel as band
from pliant.membrane.model import BAND, CABLE, SKIN
from pliant.membrane.slope_kernel import path_gradient
from pliant.membrane.small import add, clear, copy, dot, fill, outer
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
    solve_path,
)


@inner
def scale(A, f):
    """A *= f, (m, n)."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] *= f


@inner
def add_point(pose, J, body, x, y, fx, fy, row):
    """row += (fx, fy)·∂p/∂q for a point of a body at the world place (x, y)."""
    moment = (x - pose[body, 0]) * fy - (y - pose[body, 1]) * fx
    for k in range(len(row)):
        row[k] += J[body, 0, k] * fx + J[body, 1, k] * fy + J[body, 2, k] * moment


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
    """Cables and skins: forces of the skins, rows and values of the cables; returns the energy."""
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
