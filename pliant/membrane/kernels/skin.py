"""One skin over one shape, compiled: its length and derivatives wherever the shape is.

It is the taut path with three stations, the ends A and B and the shape between them, but without memory: the
skin touches the shape wherever the shape reaches through the line from A to B, also beyond the ends. Statics
asks for it at places that no motion leads to.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.jit import inner, kernel
from pliant.membrane.kernels.path import (
    ACTIVE,
    ARC,
    CIN_X,
    CIN_Y,
    COLUMNS,
    COUT_X,
    COUT_Y,
    ENTRY,
    EXIT,
    NEGLIGIBLE_DEPTH,
    SPAN,
    arc,
    clear_table,
    connect,
    depth_through,
    path_gradient,
    path_hessian,
)
from pliant.membrane.kernels.shape import Stations, depth_of
from pliant.membrane.kernels.vectors import fill

SWALLOWED, FREE, TOUCHED, BEYOND = -1, 0, 1, 2
"""What a skin does with the object: ends inside it, misses it, wraps it, or wraps it outside its own span."""

MIDDLE_TURN = np.pi - 1e-6  # [rad]: turns are sought within π of it; rounding may leave one just below zero
A, OBJECT, B = range(3)  # stations


@inner
def skin_stations(shape, radius):
    """The stations of a skin over a shape (n, 2) with a radius, still without places."""
    n = len(shape)
    corners, first, last = np.zeros((n + 2, 2)), np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(n):
        corners[1 + k, 0], corners[1 + k, 1] = shape[k, 0], shape[k, 1]
    first[A], first[OBJECT], first[B] = 0, 1, n + 1
    last[A], last[OBJECT], last[B] = 1, n + 1, n + 2
    stations = Stations(np.zeros((3, 5)), corners, first, last, np.zeros(3), np.zeros(3))
    stations.radius[OBJECT] = radius
    stations.poses[A, 3] = stations.poses[B, 3] = 1.0
    return stations


@inner
def place_object(stations, pose):
    """Move the shape to a pose (x, y, φ)."""
    poses = stations.poses
    poses[OBJECT, 0], poses[OBJECT, 1], poses[OBJECT, 2] = pose[0], pose[1], pose[2]
    poses[OBJECT, 3], poses[OBJECT, 4] = np.cos(pose[2]), np.sin(pose[2])


@inner
def solve_skin(stations, ends, side, table):
    """(kind, ℓ [m]) of a skin between ends (4,), the object on its left (side +1) or right (−1).

    Fills `table`.
    """
    poses, turn = stations.poses, np.empty(3)
    fill(turn, MIDDLE_TURN)
    poses[A, 0], poses[A, 1], poses[B, 0], poses[B, 1] = ends[0], ends[1], ends[2], ends[3]
    stations.side[OBJECT] = side
    clear_table(stations, table)
    connect(stations, turn, table)
    span, k = table[B, SPAN], len(table) - 2  # no constants: they would be compiled for
    if depth_of(stations, k, ends[0], ends[1])[0] >= 0.0 or depth_of(stations, k, ends[2], ends[3])[0] >= 0.0:
        return SWALLOWED, span
    if depth_through(stations, k, k - 1, k + 1, table)[0] <= NEGLIGIBLE_DEPTH * span:
        return FREE, span
    table[OBJECT, ACTIVE] = 1.0
    connect(stations, turn, table)
    table[OBJECT, ARC] = arc(stations, k, table)
    ux, uy = (ends[2] - ends[0]) / span, (ends[3] - ends[1]) / span
    first = ux * (table[OBJECT, CIN_X] - ends[0]) + uy * (table[OBJECT, CIN_Y] - ends[1])
    last = ux * (table[OBJECT, COUT_X] - ends[0]) + uy * (table[OBJECT, COUT_Y] - ends[1])
    kind = BEYOND if first >= span or last <= 0.0 else TOUCHED
    return kind, table[OBJECT, SPAN] + table[OBJECT, ARC] + table[B, SPAN]


@kernel
def skin_length(ends, side, shape, radius, pose):
    """(kind, entry, exit, ℓ [m], gradient (3, 3), Hessian (9, 9)) of a skin over a shape (n, 2) at a pose.

    entry, exit: the shape's corners where the skin arrives from A and leaves to B, −1 where it touches none.
    The derivatives are those by (x, y, angle) of A, of the object and of B, in this order; angles of the ends
    count for nothing.
    """
    stations, table = skin_stations(shape, radius), np.empty((3, COLUMNS))
    place_object(stations, pose)
    kind, length = solve_skin(stations, ends, side, table)
    gradient, hessian = np.empty((3, 3)), np.empty((9, 9))
    path_gradient(stations.poses, table, gradient)
    path_hessian(stations.poses, table, hessian)
    touches = kind > FREE
    entry, exit = int(table[OBJECT, ENTRY]) - 1, int(table[OBJECT, EXIT]) - 1
    return kind, entry if touches else -1, exit if touches else -1, length, gradient, hessian
