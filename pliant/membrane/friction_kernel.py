"""A skin with friction, compiled: a band held on the shapes it touches until the tensions differ by more than exp(μφ).

Between two shapes (or an end and a shape) a piece of the band with the rest length ξ is stretched to Λ: the free span and the parts of
the arcs up to the places where the band is held. Its tension is T = EA (Λ/ξ − 1). A held place moves with its body; where
T₂ > T₁ exp(μφ) the band slips: rest length passes from one piece to the other, at constant sum, until equality.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner
from pliant.membrane.wrap_kernel import ACTIVE, ARC, ENTRY, IN_X, IN_Y, SPAN, TURN

SWEEPS = 40
EVEN = 1e-12  # relative excess of a ratio of tensions that counts as none


@inner
def edge(corners, lo, hi, k):
    """The edge that leaves corner k, counter-clockwise."""
    after = k + 1 if k + 1 < hi else lo
    return corners[after, 0] - corners[k, 0], corners[after, 1] - corners[k, 1]


@inner
def arrival(poses, corners, first, last, radius, side, k, table):
    """Where the cable arrives at shape k, in metres along its edge as the cable runs; whole laps are left to the caller."""
    s, a, lo, hi = side[k], int(table[k, ENTRY]), first[k], last[k]
    normal = np.arctan2(-s * table[k, IN_X], s * table[k, IN_Y]) - poses[k, 2]
    if hi - lo == 1:
        return s * radius[k] * normal
    along = 0.0
    px, py = edge(corners, lo, hi, hi - 1)
    facing = np.arctan2(-px, py)  # normal at the start of the corner
    for c in range(lo, a + 1):
        ex, ey = edge(corners, lo, hi, c)
        turn = np.arctan2(px * ey - py * ex, px * ex + py * ey)
        if c == a:
            middle = facing + 0.5 * turn
            normal += 2.0 * np.pi * np.round((middle - normal) / (2.0 * np.pi))
            break
        along += np.sqrt(ex * ex + ey * ey)
        facing += turn
        px, py = ex, ey
    return s * (along + radius[k] * normal)


@inner
def around(corners, first, last, radius, k):
    """Perimeter of shape k [m]."""
    total = 2.0 * np.pi * radius[k]
    for c in range(first[k], last[k]):
        ex, ey = edge(corners, first[k], last[k], c)
        total += np.sqrt(ex * ex + ey * ey)
    return total


@inner
def slip(one, two, xi, yi, ratio):
    """Rest length of the second of two neighbouring pieces, stretched to `one` and `two`, for T₂ = ratio T₁; ξ + η is kept."""
    total = xi + yi
    if total >= one + two:  # slack as a whole: nothing pulls
        return min(max(yi, two), total - one)
    a, b, c = 1.0 - ratio, two + total + ratio * (one - total), two * total
    if abs(a) < 1e-12:
        return c / b
    root = np.sqrt(max(b * b - 4.0 * a * c, 0.0))
    return 2.0 * c / (b + root)


@inner
def pieces(
    poses, corners, first, last, radius, side, known, held, seen, rest, table, stretched, xi, hold, come
):
    """Lengths Λ and rest lengths ξ of the pieces of a band, before it slips; returns how many.

    hold, come (m,): where each shape holds the band and where it arrives now, in metres along the shape.
    """
    m, count, group, pending, tail = len(radius), 0, 0, 0.0, 0.0
    for k in range(1, m):
        pending += rest[k]
        if table[k, ACTIVE] == 0.0:
            continue
        end = k == m - 1
        part = 0.0
        if not end:
            come[k] = arrival(poses, corners, first, last, radius, side, k, table)
            hold[k] = come[k] + 0.5 * table[k, ARC]
            if known[k] > 0:
                lap = around(corners, first, last, radius, k)
                if lap > 0.0:
                    come[k] += lap * np.round((seen[k] - come[k]) / lap)
                hold[k] = held[k]
            part = hold[k] - come[k]
        stretched[count] = tail + table[k, SPAN] + part
        tail = table[k, ARC] - part
        count += 1
        if end or known[k] > 0:
            total = 0.0
            for j in range(group, count):
                total += stretched[j]
            for j in range(group, count):
                xi[j] = pending * stretched[j] / total
            pending, group = 0.0, count
    return count


@inner
def roll(table, hold, come, stretched, xi):
    """Move the held places back onto the arcs that the shapes have rolled out of; the band there keeps its stretch."""
    j = 0
    for k in range(1, len(table) - 1):
        if table[k, ACTIVE] == 0.0:
            continue
        low, high = come[k], come[k] + table[k, ARC]
        if hold[k] < low:
            moved = low - hold[k]
            material = moved * xi[j + 1] / stretched[j + 1]
        elif hold[k] > high:
            moved = high - hold[k]
            material = moved * xi[j] / stretched[j]
        else:
            moved, material = 0.0, 0.0
        hold[k] += moved
        stretched[j] += moved
        stretched[j + 1] -= moved
        xi[j] += material
        xi[j + 1] -= material
        j += 1


@inner
def let_slip(table, friction, stretched, xi):
    """Slip at every shape whose tensions differ too much, in sweeps; returns whether any slipped."""
    slipped = False
    for _ in range(SWEEPS):
        change = False
        j = 0
        for k in range(1, len(table) - 1):
            if table[k, ACTIVE] == 0.0:
                continue
            before, after = stretched[j] / xi[j] - 1.0, stretched[j + 1] / xi[j + 1] - 1.0
            ratio = np.exp(friction[k] * max(table[k, TURN], 0.0))
            low, high = max(before, 0.0), max(after, 0.0)
            if high > low * ratio * (1.0 + EVEN) + 1e-15 or low > high * ratio * (1.0 + EVEN) + 1e-15:
                wanted = ratio if high > low else 1.0 / ratio
                total = xi[j] + xi[j + 1]
                xi[j + 1] = slip(stretched[j], stretched[j + 1], xi[j], xi[j + 1], wanted)
                xi[j] = total - xi[j + 1]
                change = slipped = True
            j += 1
        if not change:
            break
    return slipped


@inner
def keep(table, hold, come, xi, known, held, seen, rest):
    """Write what the band remembers after a step."""
    j = 0
    for k in range(1, len(table)):
        if table[k, ACTIVE] == 0.0:
            known[k], rest[k] = 0, 0.0
            continue
        known[k] = 1
        held[k], seen[k], rest[k] = hold[k], come[k], xi[j]
        j += 1
