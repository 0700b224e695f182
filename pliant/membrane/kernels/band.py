"""A skin with friction, compiled: a band that sticks to the shapes it touches, or slips on them.

Between two shapes (or an end and a shape) a piece of the band with the rest length ξ is stretched to Λ: the
straight piece and the parts of the arcs up to the places where the band sticks. Its tension is T = EA (Λ/ξ −
1). A sticking place moves with its body; where T₂ > T₁ exp(μφ) the band slips: rest length passes from one
piece to the other, at constant sum, until equality.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane.kernels.path import (
    ACTIVE,
    ARC,
    CIN_X,
    CIN_Y,
    COUT_X,
    COUT_Y,
    ENTRY,
    IN_X,
    IN_Y,
    SPAN,
    TURN,
)
from pliant.membrane.kernels.shape import edge, hull_perimeter
from pliant.membrane.kernels.vectors import on_branch

SLIP_SWEEPS = 40  # most passes over the shapes of a band
EQUAL_TENSIONS = 1e-12  # relative excess of a ratio of tensions that counts as none
NO_STRAIN = 1e-15  # excess of a strain that counts as none
RATIO_OF_ONE = 1e-12  # nearer to one than this, the quadratic equation of the slip is a linear one


@inner
def arrival(stations, k, table):
    """Where the cable arrives at shape k, in metres along its edge as the cable runs, up to whole laps."""
    s, entry = stations.side[k], int(table[k, ENTRY])
    radius, first, last = stations.radius[k], stations.first[k], stations.last[k]
    normal = np.arctan2(-s * table[k, IN_X], s * table[k, IN_Y]) - stations.poses[k, 2]
    if last - first == 1:
        return s * radius * normal
    along = 0.0
    px, py = edge(stations, k, last - 1)
    facing = np.arctan2(-px, py)  # normal at the start of the corner
    for index in range(first, entry + 1):
        ex, ey = edge(stations, k, index)
        turn = np.arctan2(px * ey - py * ex, px * ex + py * ey)
        if index == entry:
            middle = facing + 0.5 * turn
            normal = on_branch(normal, 2.0 * np.pi, middle)
            break
        along += np.sqrt(ex * ex + ey * ey)
        facing += turn
        px, py = ex, ey
    return s * (along + radius * normal)


@inner
def slipped_rest(one, two, xi, yi, ratio):
    """Rest length η of the second of two neighbouring pieces for T₂ = ratio T₁, their sum ξ + η unchanged.

    The pieces are stretched to `one` and `two` [m] and have the rest lengths ξ and η now.
    """
    total = xi + yi
    if total >= one + two:  # slack as a whole: nothing pulls
        return min(max(yi, two), total - one)
    a, b, c = 1.0 - ratio, two + total + ratio * (one - total), two * total
    if abs(a) < RATIO_OF_ONE:
        return c / b
    root = np.sqrt(max(b * b - 4.0 * a * c, 0.0))
    return 2.0 * c / (b + root)


@inner
def cut_pieces(stations, memory, table, stretched, xi, stick, come):
    """Lengths Λ and rest lengths ξ of the pieces of a band, before it slips; returns how many.

    stick, come (m,): where on each shape the band sticks and where it arrives now, in metres along the shape.
    """
    m, count, group, pending, tail = len(stations.radius), 0, 0, 0.0, 0.0
    for k in range(1, m):
        pending += memory.rest[k]
        if table[k, ACTIVE] == 0.0:
            continue
        end = k == m - 1
        part = 0.0
        if not end:
            come[k] = arrival(stations, k, table)
            stick[k] = come[k] + 0.5 * table[k, ARC]
            if memory.known[k] > 0:
                lap = 2.0 * np.pi * stations.radius[k] + hull_perimeter(stations, k)
                if lap > 0.0:
                    come[k] = on_branch(come[k], lap, memory.arrived[k])
                stick[k] = memory.stick[k]
            part = stick[k] - come[k]
        stretched[count] = tail + table[k, SPAN] + part
        tail = table[k, ARC] - part
        count += 1
        if end or memory.known[k] > 0:
            total = 0.0
            for j in range(group, count):
                total += stretched[j]
            for j in range(group, count):
                xi[j] = pending * stretched[j] / total
            pending, group = 0.0, count
    return count


@inner
def roll(table, stick, come, stretched, xi):
    """Move sticking places that the shapes have rolled out of their arcs back.

    The band there keeps its stretch.
    """
    j = 0
    for k in range(1, len(table) - 1):
        if table[k, ACTIVE] == 0.0:
            continue
        low, high = come[k], come[k] + table[k, ARC]
        if stick[k] < low:
            moved = low - stick[k]
            material = moved * xi[j + 1] / stretched[j + 1]
        elif stick[k] > high:
            moved = high - stick[k]
            material = moved * xi[j] / stretched[j]
        else:
            moved, material = 0.0, 0.0
        stick[k] += moved
        stretched[j] += moved
        stretched[j + 1] -= moved
        xi[j] += material
        xi[j + 1] -= material
        j += 1


@inner
def slip(table, friction, stretched, xi):
    """Let the band slip at every shape whose tensions differ too much, in sweeps until none do."""
    for _ in range(SLIP_SWEEPS):
        slipped = False
        j = 0
        for k in range(1, len(table) - 1):
            if table[k, ACTIVE] == 0.0:
                continue
            low, high = max(stretched[j] / xi[j] - 1.0, 0.0), max(stretched[j + 1] / xi[j + 1] - 1.0, 0.0)
            ratio = np.exp(friction[k] * max(table[k, TURN], 0.0))
            most = ratio * (1.0 + EQUAL_TENSIONS)
            if high > low * most + NO_STRAIN or low > high * most + NO_STRAIN:
                total = xi[j] + xi[j + 1]
                wanted = ratio if high > low else 1.0 / ratio
                xi[j + 1] = slipped_rest(stretched[j], stretched[j + 1], xi[j], xi[j + 1], wanted)
                xi[j] = total - xi[j + 1]
                slipped = True
            j += 1
        if not slipped:
            break


@inner
def remember_band(table, stick, come, xi, memory):
    """Write what the band remembers after a step."""
    j = 0
    for k in range(1, len(table)):
        if table[k, ACTIVE] == 0.0:
            memory.known[k], memory.rest[k] = 0, 0.0
            continue
        memory.known[k] = 1
        memory.stick[k], memory.arrived[k], memory.rest[k] = stick[k], come[k], xi[j]
        j += 1


@inner
def piece_gradient(stations, table, i, k, end):
    """∂Λ of the piece i → k by the poses of its ends, to which it sticks, into rows i and k of `end`."""
    poses, radius, side = stations.poses, stations.radius, stations.side
    ux, uy = table[k, IN_X], table[k, IN_Y]
    ax = table[i, COUT_X] + side[i] * radius[i] * uy - poses[i, 0]
    ay = table[i, COUT_Y] - side[i] * radius[i] * ux - poses[i, 1]
    bx = table[k, CIN_X] + side[k] * radius[k] * uy - poses[k, 0]
    by = table[k, CIN_Y] - side[k] * radius[k] * ux - poses[k, 1]
    end[i, 0], end[i, 1], end[i, 2] = -ux, -uy, -(ax * uy - ay * ux)
    end[k, 0], end[k, 1], end[k, 2] = ux, uy, bx * uy - by * ux


@inner
def stretch_band(stations, friction, memory, table, commit, stretched, xi):
    """Lengths Λ and rest lengths ξ (m,) of the pieces of a band after rolling and slipping.

    Returns their number. With `commit` the memory of the band takes its new state.
    """
    m = len(table)
    stick, come = np.zeros(m), np.zeros(m)
    count = cut_pieces(stations, memory, table, stretched, xi, stick, come)
    roll(table, stick, come, stretched, xi)
    slip(table, friction, stretched, xi)
    if commit:
        remember_band(table, stick, come, xi, memory)
    return count
