"""The taut path past convex shapes, compiled: which it touches, its length and the derivatives of the length.

A path runs through m stations (`Stations`); the first and the last are points. With s = ±1 for a shape left
or right of the cable and n(u) = (u_y, −u_x) the normal to the right of a direction u, the cable touches a
corner circle at c + s r n(u). The straight piece between two corner circles with D = c₂ − c₁ and ρ = s₁r₁ −
s₂r₂ has n·D = ρ and the length √(D·D − ρ²); with the arcs added, ∂L/∂D = u and ∂²L/∂D² = ttᵀ/ℓ, t ⊥ u.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.membrane.kernels.shape import (
    corner,
    edge,
    following,
    hull_perimeter,
    nearest_edge,
    preceding,
    support,
)
from pliant.membrane.kernels.vectors import clear, copy, on_branch

# State of a station, kept from one time to the next: past an end of the cable and ignored; not touched;
# touched; always touched.
BEHIND, FRONT, TOUCHING, THROUGH = -1, 0, 1, 2
# Columns of a path's table, one row per station. Of an active station, which the path touches: the directions
# in which the path arrives (IN) and leaves (OUT), the centres of the corner circles there (CIN, COUT),
# the length of the straight piece that arrives (SPAN), the angle turned [rad] and the length along the shape
# (ARC), the corners' indices (ENTRY, EXIT), whether the piece that arrives has no tangent (INSIDE), and how
# often the station has joined or left (CHANGES).
ACTIVE, IN_X, IN_Y, OUT_X, OUT_Y, CIN_X, CIN_Y, COUT_X = range(8)
COUT_Y, SPAN, TURN, ARC, ENTRY, EXIT, INSIDE, CHANGES = range(8, 16)
COLUMNS = 16

IN_LINE = 1e-9  # [rad]: an edge turned from the cable by less than this lies along it
CORNER_SEARCHES = 64  # most changes of corners while the tangent between two shapes is sought
MOST_CHANGES = 4  # of a station that asks to join, and to leave once it has: then it stays as it is
NO_LENGTH = 1e-12  # [m], added to a piece so that a wrong turn counts also where the piece has no length
NEGLIGIBLE_DEPTH = 1e-14  # of the lengths about: a shape on the cable by less than this is not worth a change


@inner
def tangent(dx, dy, rho):
    """(u_x, u_y, ℓ, whether there is none) of the straight piece with the centre difference D and ρ [m]."""
    d = np.sqrt(dx * dx + dy * dy)
    if d == 0.0:
        return 1.0, 0.0, 0.0, True
    sin = rho / d
    inside = abs(sin) > 1.0
    if inside:  # one circle within the other: the arcs meet, and the length goes on with the same slope
        sin = 1.0 if sin > 0.0 else -1.0
    cos = np.sqrt(1.0 - sin * sin)
    return (dx * cos - dy * sin) / d, (dy * cos + dx * sin) / d, d * cos, inside


@inner
def way_out(stations, side, hull, point):
    """The corner where a cable leaves a hull around its point, at the nearest edge's far end; −1 outside."""
    x, y = corner(stations, point, stations.first[point])
    height, near = nearest_edge(stations, hull, x, y)
    if height < 0.0:
        return -1
    return following(stations, hull, near) if side > 0 else near


@inner
def straight_piece(stations, i, j, table):
    """The straight piece from station i to station j: what leaves in row i and what arrives in row j."""
    side, a, b = stations.side, int(table[i, EXIT]), int(table[j, ENTRY])
    rho = side[i] * stations.radius[i] - side[j] * stations.radius[j]
    for search in range(CORNER_SEARCHES + 1):
        ax, ay = corner(stations, i, a)
        bx, by = corner(stations, j, b)
        ux, uy, length, inside = tangent(bx - ax, by - ay, rho)
        if search == CORNER_SEARCHES:
            inside = True
            break
        before_a, before_b = a, b
        a = support(stations, i, side[i] * uy, -side[i] * ux, a)
        if a == before_a:
            b = support(stations, j, side[j] * uy, -side[j] * ux, b)
            if b == before_b:
                break
        if search == CORNER_SEARCHES - 1:  # no tangent: an end lies within the other's hull
            at_start = stations.last[i] - stations.first[i] == 1
            hull, point, towards = (j, i, side[j]) if at_start else (i, j, -side[i])
            if stations.last[point] - stations.first[point] == 1:
                out = way_out(stations, towards, hull, point)
                if out >= 0:
                    a, b = (a, out) if at_start else (out, b)
    table[i, OUT_X], table[i, OUT_Y], table[i, COUT_X], table[i, COUT_Y], table[i, EXIT] = ux, uy, ax, ay, a
    table[j, IN_X], table[j, IN_Y], table[j, CIN_X], table[j, CIN_Y], table[j, ENTRY] = ux, uy, bx, by, b
    table[j, SPAN] = length
    table[j, INSIDE] = 1.0 if inside else 0.0


@inner
def turn_at(stations, table, k, before):
    """How far the cable turns about station k towards its shape [rad], on the branch nearest to `before`."""
    cross = table[k, IN_X] * table[k, OUT_Y] - table[k, IN_Y] * table[k, OUT_X]
    dot = table[k, IN_X] * table[k, OUT_X] + table[k, IN_Y] * table[k, OUT_Y]
    return on_branch(stations.side[k] * np.arctan2(cross, dot), 2.0 * np.pi, before)


@inner
def arc(stations, k, table):
    """Length along shape k from where the cable arrives to where it leaves [m], with rounding and laps."""
    s = int(stations.side[k])
    turn = table[k, TURN]
    total = stations.radius[k] * turn
    if stations.last[k] - stations.first[k] == 1 or s == 0:
        return total
    loops = np.floor((turn + IN_LINE) / (2.0 * np.pi))
    if loops > 0.0:
        total += loops * hull_perimeter(stations, k)
    a, b = int(table[k, ENTRY]), int(table[k, EXIT])
    if a == b:
        return total
    x0, y0 = corner(stations, k, a)
    x1, y1 = corner(stations, k, following(stations, k, a) if s > 0 else preceding(stations, k, a))
    ex, ey = x1 - x0, y1 - y0
    ux, uy = table[k, IN_X], table[k, IN_Y]
    to_edge = s * np.arctan2(ux * ey - uy * ex, ux * ex + uy * ey)
    if to_edge < -IN_LINE:
        to_edge += 2.0 * np.pi
    # Along an edge in line with the cable, leaving may come before arrival: the arc is then negative.
    backwards = to_edge > turn - 2.0 * np.pi * loops + IN_LINE
    if backwards == (s > 0):  # edges are walked counter-clockwise
        a, b = b, a
    along = 0.0
    while a != b:
        ex, ey = edge(stations, k, a)
        along += np.sqrt(ex * ex + ey * ey)
        a = following(stations, k, a)
    return total + (-along if backwards else along)


@inner
def depth_through(stations, k, i, j, table):
    """How far shape k reaches through the piece i → j [m], and whether before (−1), abreast (0), past (1)."""
    ux, uy, length = table[i, OUT_X], table[i, OUT_Y], table[j, SPAN]
    nx, ny = stations.side[k] * uy, -stations.side[k] * ux
    px = table[i, COUT_X] + stations.side[i] * stations.radius[i] * uy
    py = table[i, COUT_Y] - stations.side[i] * stations.radius[i] * ux
    deepest, low, high = -np.inf, np.inf, -np.inf
    for index in range(stations.first[k], stations.last[k]):
        x, y = corner(stations, k, index)
        depth = nx * (x - px) + ny * (y - py) + stations.radius[k]
        along = ux * (x - px) + uy * (y - py)
        deepest = max(deepest, depth)
        if depth > 0.0:
            low, high = min(low, along), max(high, along)
    return deepest, -1 if high <= 0.0 else (1 if low >= length else 0)


@inner
def connect(stations, turn, table):
    """All straight pieces between active stations, and the turns at these, nearest to `turn` (m,) [rad]."""
    m = len(stations.radius)
    for i in range(m - 1):
        if table[i, ACTIVE] > 0.0:
            j = i + 1
            while table[j, ACTIVE] == 0.0:
                j += 1
            straight_piece(stations, i, j, table)
    for k in range(1, m - 1):
        if table[k, ACTIVE] > 0.0:
            table[k, TURN] = turn_at(stations, table, k, turn[k])


@inner
def active_neighbours(table, k):
    """The active stations before and after station k."""
    before, after = k - 1, k + 1
    while table[before, ACTIVE] == 0.0:
        before -= 1
    while table[after, ACTIVE] == 0.0:
        after += 1
    return before, after


@inner
def next_change(stations, state, table):
    """The station that must leave the path, or join it, first; −1 when none must."""
    m, chosen = len(stations.radius), -1
    worst = NEGLIGIBLE_DEPTH * (table[m - 1, SPAN] + abs(table[0, COUT_X]) + abs(table[0, COUT_Y]))
    for k in range(1, m - 1):
        if table[k, CHANGES] >= MOST_CHANGES:
            continue
        if table[k, ACTIVE] > 0.0:
            lift = -table[k, TURN] * (table[k, SPAN] + NO_LENGTH)
            if state[k] < THROUGH and lift > worst:
                chosen, worst = k, lift
        elif state[k] >= FRONT:
            before, after = active_neighbours(table, k)
            depth, where = depth_through(stations, k, before, after, table)
            if where == 0 and depth > worst:
                chosen, worst = k, depth
    return chosen


@inner
def clear_table(stations, table):
    """A table in which no station is active but the two ends."""
    clear(table)
    for k in range(len(table)):
        table[k, ENTRY] = table[k, EXIT] = stations.first[k]
    table[0, ACTIVE] = table[len(table) - 1, ACTIVE] = 1.0


@kernel
def solve_path(stations, state, turn, table):
    """The taut path: fills `table` (m, COLUMNS) and returns its length [m].

    state and turn (m,) are as the last path left them: a TOUCHING shape stays until its turn, followed
    continuously, falls to zero; a FRONT one joins when it reaches through the piece abreast of it; a BEHIND
    one is ignored; a THROUGH one always counts.
    """
    m = len(stations.radius)
    clear_table(stations, table)
    for k in range(1, m - 1):
        table[k, ACTIVE] = 1.0 if state[k] >= TOUCHING else 0.0
    followed = np.empty(m)
    copy(turn, followed)
    connect(stations, followed, table)
    k = next_change(stations, state, table)
    while k >= 0:
        table[k, ACTIVE] = 1.0 - table[k, ACTIVE]
        table[k, CHANGES] += 1.0
        followed[k] = 0.0
        connect(stations, followed, table)
        k = next_change(stations, state, table)
    length = 0.0
    for j in range(m):
        if table[j, ACTIVE] > 0.0:
            table[j, ARC] = arc(stations, j, table)
            length += table[j, SPAN] + table[j, ARC]
    return length


@kernel
def remember(stations, state, turn, table):
    """Write what the next path needs to know into state and turn (m,).

    That is who is touched, with the turn, and who went past an end, until it is wholly in front again.
    """
    for k in range(1, len(stations.radius) - 1):
        if table[k, ACTIVE] > 0.0:
            turn[k] = table[k, TURN]
            state[k] = THROUGH if state[k] == THROUGH else TOUCHING
            continue
        before, after = active_neighbours(table, k)
        depth, where = depth_through(stations, k, before, after, table)
        # Past an end of the cable or a ring; past another shape it is only out of order.
        by_start = where < 0 and (before == 0 or state[before] == THROUGH)
        by_end = where > 0 and (after == len(stations.radius) - 1 or state[after] == THROUGH)
        past = depth > 0.0 and (state[k] == BEHIND or by_start or by_end)
        state[k] = BEHIND if past else FRONT
        turn[k] = 0.0


@kernel
def path_gradient(poses, table, g):
    """∂L/∂(x, y, θ) of every station into g (m, 3): the pull of a unit tension, reversed."""
    clear(g)
    for k in range(len(g)):
        if table[k, ACTIVE] == 0.0:
            continue
        x, y = poses[k, 0], poses[k, 1]
        g[k, 0] = table[k, IN_X] - table[k, OUT_X]
        g[k, 1] = table[k, IN_Y] - table[k, OUT_Y]
        g[k, 2] = (
            (table[k, CIN_X] - x) * table[k, IN_Y]
            - (table[k, CIN_Y] - y) * table[k, IN_X]
            - (table[k, COUT_X] - x) * table[k, OUT_Y]
            + (table[k, COUT_Y] - y) * table[k, OUT_X]
        )


@inner
def sideways(poses, table, i, j):
    """(t_x, t_y, arm_i, arm_j): how the ends of the straight piece i → j move across it, t = (−u_y, u_x).

    t·(dc_j − dc_i) = t·(dx, dy)_j + arm_j dθ_j − t·(dx, dy)_i − arm_i dθ_i for corner circles at the offsets
    r of the bodies' origins, with arm = u·r.
    """
    ux, uy = table[j, IN_X], table[j, IN_Y]
    arm_i = uy * (table[i, COUT_Y] - poses[i, 1]) + ux * (table[i, COUT_X] - poses[i, 0])
    arm_j = uy * (table[j, CIN_Y] - poses[j, 1]) + ux * (table[j, CIN_X] - poses[j, 0])
    return -uy, ux, arm_i, arm_j


@kernel
def path_hessian(poses, table, H):
    """∂²L/∂(poses)² into H (3m, 3m): (t·(dc_j − dc_i))²/ℓ + u·(d²c_j − d²c_i) of every straight piece i → j.

    A piece without length, between circles one within the other, adds the second term only.
    """
    clear(H)
    row = np.empty(6)
    before = 0
    for j in range(1, len(table)):
        if table[j, ACTIVE] == 0.0:
            continue
        i, before = before, j
        tx, ty, arm_i, arm_j = sideways(poses, table, i, j)
        row[0], row[1], row[2], row[3], row[4], row[5] = -tx, -ty, -arm_i, tx, ty, arm_j
        for p in range(6):
            P = 3 * i + p if p < 3 else 3 * j + p - 3
            for q in range(6):
                Q = 3 * i + q if q < 3 else 3 * j + q - 3
                if table[j, SPAN] > 0.0:
                    H[P, Q] += row[p] * row[q] / table[j, SPAN]
        H[3 * i + 2, 3 * i + 2] += arm_i
        H[3 * j + 2, 3 * j + 2] -= arm_j
