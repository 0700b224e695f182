"""The taut path round convex shapes, compiled: which shapes it touches, its length and how the length changes.

A path runs through m stations; each is a shape (corners and radius) on a body with a pose (x, y, θ). The first and the last are
points. With s = ±1 for a shape left or right of the cable and n(u) = (u_y, −u_x) the normal to the right of a direction u, the
cable touches a corner circle at c + s r n(u). The straight piece between two corner circles with D = c₂ − c₁ and
ρ = s₁r₁ − s₂r₂ has n·D = ρ and the length √(D·D − ρ²); with the arcs added, ∂L/∂D = u and ∂²L/∂D² = ttᵀ/ℓ, t ⊥ u.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.membrane.small import copy, fill

# States of a station, kept from one time to the next.
BEHIND, FRONT, TOUCHING, THROUGH = -1, 0, 1, 2
# Columns of the table `out`, one row per station.
ACTIVE, IN_X, IN_Y, OUT_X, OUT_Y, CIN_X, CIN_Y, COUT_X = range(8)
COUT_Y, SPAN, TURN, ARC, ENTRY, EXIT, INSIDE, CHANGES = range(8, 16)
COLUMNS = 16
TIE = 1e-9  # [rad]
ROUNDS = 64
UNDECIDED = 4  # changes after which a station stays as it was: it asks to join, and to leave once it has
TINY = 1e-12  # [m]
ROUNDING = 1e-14  # of the lengths about: a shape on the cable by less than this is not worth a change


@kernel
def corner(poses, corners, station, index):
    """World position of a corner of a station's shape."""
    c, s = poses[station, 3], poses[station, 4]
    x, y = corners[index, 0], corners[index, 1]
    return poses[station, 0] + c * x - s * y, poses[station, 1] + s * x + c * y


@kernel
def support(poses, corners, first, last, station, nx, ny, now):
    """Index of the corner furthest along (nx, ny); the present one unless another is truly further."""
    if last[station] - first[station] == 1:
        return first[station]
    c, s = poses[station, 3], poses[station, 4]
    lx, ly = c * nx + s * ny, -s * nx + c * ny
    best = now
    top = corners[now, 0] * lx + corners[now, 1] * ly
    for k in range(first[station], last[station]):
        value = corners[k, 0] * lx + corners[k, 1] * ly
        if value > top + 1e-15 * abs(top):
            best, top = k, value
    return best


@inner
def straight(dx, dy, rho):
    """Direction and length of the straight piece with centre difference D and ρ; (u_x, u_y, ℓ, whether there is none)."""
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
def leave_hull(poses, corners, first, last, towards, outer, point):
    """Where a point within a polygon lies nearest to an edge: the far end of that edge as the cable runs, else −1."""
    px, py = corner(poses, corners, point, first[point])
    lo, hi = first[outer], last[outer]
    best, far = np.inf, -1
    for k in range(lo, hi):
        after = k + 1 if k + 1 < hi else lo
        ax, ay = corner(poses, corners, outer, k)
        bx, by = corner(poses, corners, outer, after)
        ex, ey = bx - ax, by - ay
        depth = (ex * (py - ay) - ey * (px - ax)) / np.sqrt(ex * ex + ey * ey)
        if depth < 0.0:
            return -1
        if depth < best:
            best = depth
            far = after if towards > 0 else k
    return far


@inner
def piece(poses, corners, first, last, radius, side, i, j, out):
    """The straight piece from station i to station j: fills the leaving part of row i and the arriving part of row j."""
    a, b = int(out[i, EXIT]), int(out[j, ENTRY])
    rho = side[i] * radius[i] - side[j] * radius[j]
    ux, uy, length, inside = 1.0, 0.0, 0.0, True
    settled = False
    for _ in range(ROUNDS):
        ax, ay = corner(poses, corners, i, a)
        bx, by = corner(poses, corners, j, b)
        ux, uy, length, inside = straight(bx - ax, by - ay, rho)
        a_new = support(poses, corners, first, last, i, side[i] * uy, -side[i] * ux, a)
        if a_new != a:
            a = a_new
            continue
        b_new = support(poses, corners, first, last, j, side[j] * uy, -side[j] * ux, b)
        if b_new == b:
            settled = True
            break
        b = b_new
    if not settled:  # no tangent: an end lies within the other's hull
        inside = True
        if last[i] - first[i] == 1:
            far = leave_hull(poses, corners, first, last, side[j], j, i)
            b = far if far >= 0 else b
        elif last[j] - first[j] == 1:
            far = leave_hull(poses, corners, first, last, -side[i], i, j)
            a = far if far >= 0 else a
        ax, ay = corner(poses, corners, i, a)
        bx, by = corner(poses, corners, j, b)
        ux, uy, length, _ = straight(bx - ax, by - ay, rho)
    out[i, OUT_X], out[i, OUT_Y], out[i, COUT_X], out[i, COUT_Y], out[i, EXIT] = ux, uy, ax, ay, a
    out[j, IN_X], out[j, IN_Y], out[j, CIN_X], out[j, CIN_Y], out[j, ENTRY] = ux, uy, bx, by, b
    out[j, SPAN] = length
    out[j, INSIDE] = 1.0 if inside else 0.0


@inner
def turned(out, k, side, before):
    """How far the cable turns about station k towards its shape [rad], the branch nearest to `before`."""
    cross = out[k, IN_X] * out[k, OUT_Y] - out[k, IN_Y] * out[k, OUT_X]
    dot = out[k, IN_X] * out[k, OUT_X] + out[k, IN_Y] * out[k, OUT_Y]
    angle = side[k] * np.arctan2(cross, dot)
    return angle + 2.0 * np.pi * np.round((before - angle) / (2.0 * np.pi))


@inner
def edge_length(corners, lo, hi, k, step):
    """Length of the edge from corner k to its neighbour, and that neighbour."""
    after = k + step
    after = lo if after == hi else (hi - 1 if after < lo else after)
    dx, dy = corners[after, 0] - corners[k, 0], corners[after, 1] - corners[k, 1]
    return np.sqrt(dx * dx + dy * dy), after


@inner
def arc(poses, corners, first, last, radius, side, k, out):
    """Length along shape k between where the cable arrives and leaves [m]; rounded corners and full turns included."""
    lo, hi, s = first[k], last[k], int(side[k])
    turn = out[k, TURN]
    total = radius[k] * turn
    loops = np.floor(turn / (2.0 * np.pi))
    if hi - lo == 1 or side[k] == 0.0:
        return total
    if loops > 0.0:
        around, at = 0.0, lo
        for _ in range(hi - lo):
            length, at = edge_length(corners, lo, hi, at, s * s)
            around += length
        total += loops * around
    a, b = int(out[k, ENTRY]), int(out[k, EXIT])
    if a == b:
        return total
    _, after = edge_length(corners, lo, hi, a, s)
    x0, y0 = corner(poses, corners, k, a)
    x1, y1 = corner(poses, corners, k, after)
    ex, ey = x1 - x0, y1 - y0
    first_turn = s * np.arctan2(out[k, IN_X] * ey - out[k, IN_Y] * ex, out[k, IN_X] * ex + out[k, IN_Y] * ey)
    if first_turn < -TIE:
        first_turn += 2.0 * np.pi
    # An edge in line with the cable: arrival and leaving may be taken in either order, the arc is then negative.
    back = first_turn > turn - 2.0 * np.pi * loops + TIE
    step = -s if back else s
    at, along = a, 0.0
    while at != b:
        length, at = edge_length(corners, lo, hi, at, step)
        along += length
    return total + (-along if back else along)


@inner
def depth_beyond(poses, corners, first, last, radius, side, k, i, j, out):
    """How far shape k reaches through the straight piece i → j [m], and whether that part lies before (−1), beside (0) or past it (1)."""
    ux, uy, length = out[i, OUT_X], out[i, OUT_Y], out[j, SPAN]
    nx, ny = side[k] * uy, -side[k] * ux
    px = out[i, COUT_X] + side[i] * radius[i] * uy
    py = out[i, COUT_Y] - side[i] * radius[i] * ux
    deepest, low, high = -np.inf, np.inf, -np.inf
    for c in range(first[k], last[k]):
        x, y = corner(poses, corners, k, c)
        depth = nx * (x - px) + ny * (y - py) + radius[k]
        along = ux * (x - px) + uy * (y - py)
        deepest = max(deepest, depth)
        if depth > 0.0:
            low, high = min(low, along), max(high, along)
    return deepest, -1 if high <= 0.0 else (1 if low >= length else 0)


@inner
def chain(poses, corners, first, last, radius, side, turn, out):
    """All straight pieces between the active stations, and the turns at them."""
    for i in range(len(radius) - 1):
        if out[i, ACTIVE] > 0.0:
            j = i + 1
            while out[j, ACTIVE] == 0.0:
                j += 1
            piece(poses, corners, first, last, radius, side, i, j, out)
    for k in range(1, len(radius) - 1):
        if out[k, ACTIVE] > 0.0:
            out[k, TURN] = turned(out, k, side, turn[k])


@inner
def beside(out, k):
    """The active stations before and after station k."""
    before, after = k - 1, k + 1
    while out[before, ACTIVE] == 0.0:
        before -= 1
    while out[after, ACTIVE] == 0.0:
        after += 1
    return before, after


@inner
def worst_change(poses, corners, first, last, radius, side, state, out):
    """The station that must leave the path, or join it, first; −1 when none must."""
    chosen = -1
    worst = ROUNDING * (out[len(radius) - 1, SPAN] + abs(out[0, COUT_X]) + abs(out[0, COUT_Y]))
    for k in range(1, len(radius) - 1):
        if out[k, CHANGES] >= UNDECIDED:
            continue
        if out[k, ACTIVE] > 0.0:
            lift = -out[k, TURN] * (out[k, SPAN] + TINY)
            if state[k] < THROUGH and lift > worst:
                chosen, worst = k, lift
        elif state[k] >= FRONT:
            before, after = beside(out, k)
            depth, where = depth_beyond(poses, corners, first, last, radius, side, k, before, after, out)
            if where == 0 and depth > worst:
                chosen, worst = k, depth
    return chosen


@kernel
def solve_path(poses, corners, first, last, radius, side, state, turn, out):
    """The taut path: fills `out` (m, COLUMNS) and returns its length [m].

    poses (m, 5): x, y, θ, cos θ, sin θ; corners (c, 2) of station k in rows first[k]:last[k]; side (m,) ±1, 0 for points; state and turn (m,) as they
    were: a TOUCHING shape stays until its turn, followed continuously, falls to zero; a FRONT one joins when it reaches through the
    piece beside it; a BEHIND one is ignored; a THROUGH one always counts.
    """
    m = len(radius)
    for k in range(m):
        fill(out[k], 0.0)
        out[k, ENTRY] = out[k, EXIT] = first[k]
        out[k, ACTIVE] = 1.0 if k == 0 or k == m - 1 or state[k] >= TOUCHING else 0.0
    followed = np.empty(m)
    copy(turn, followed)
    chain(poses, corners, first, last, radius, side, followed, out)
    k = worst_change(poses, corners, first, last, radius, side, state, out)
    while k >= 0:
        out[k, ACTIVE] = 1.0 - out[k, ACTIVE]
        out[k, CHANGES] += 1.0
        followed[k] = 0.0
        chain(poses, corners, first, last, radius, side, followed, out)
        k = worst_change(poses, corners, first, last, radius, side, state, out)
    length = 0.0
    for j in range(m):
        if out[j, ACTIVE] > 0.0:
            out[j, ARC] = arc(poses, corners, first, last, radius, side, j, out)
            length += out[j, SPAN] + out[j, ARC]
    return length


@kernel
def remember(poses, corners, first, last, radius, side, state, turn, out):
    """What is kept for the next time: who is touched, with the turn; who went past an end, until it is wholly in front again."""
    for k in range(1, len(radius) - 1):
        if out[k, ACTIVE] > 0.0:
            turn[k] = out[k, TURN]
            state[k] = THROUGH if state[k] == THROUGH else TOUCHING
            continue
        before, after = beside(out, k)
        depth, where = depth_beyond(poses, corners, first, last, radius, side, k, before, after, out)
        # Past an end of the cable or a ring; past another shape it is only out of order, beside the piece it just left.
        by_start = where < 0 and (before == 0 or state[before] == THROUGH)
        by_end = where > 0 and (after == len(radius) - 1 or state[after] == THROUGH)
        past = depth > 0.0 and (state[k] == BEHIND or by_start or by_end)
        state[k] = BEHIND if past else FRONT
        turn[k] = 0.0


@inner
def depth_of(poses, corners, first, last, radius, k, x, y):
    """How deep a point lies in shape k [m], negative outside, and the outward normal at the nearest place of its edge."""
    lo, hi = first[k], last[k]
    far, deep = np.inf, np.inf
    nx, ny, mx, my = 1.0, 0.0, 1.0, 0.0
    for c in range(lo, hi):
        ax, ay = corner(poses, corners, k, c)
        bx, by = corner(poses, corners, k, c + 1 if c + 1 < hi else lo)
        ex, ey = bx - ax, by - ay
        length = np.sqrt(ex * ex + ey * ey)
        share = 0.0
        if length > 0.0:
            height = (ex * (y - ay) - ey * (x - ax)) / length
            if height < deep:
                deep, nx, ny = height, ey / length, -ex / length
            share = min(max((ex * (x - ax) + ey * (y - ay)) / (length * length), 0.0), 1.0)
        dx, dy = x - ax - share * ex, y - ay - share * ey
        away = np.sqrt(dx * dx + dy * dy)
        if away < far:
            far = away
            mx, my = (dx / away, dy / away) if away > 0.0 else (1.0, 0.0)
    if hi - lo > 2 and deep >= 0.0:
        return deep + radius[k], nx, ny
    return radius[k] - far, mx, my
