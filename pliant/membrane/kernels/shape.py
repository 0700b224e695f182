"""A convex shape at a pose, compiled: corners in the world, support, edges, how deep a point lies in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import inner

SUPPORT_TIE = 1e-15  # relative: a corner further along a direction by less than this is not further


class Stations(NamedTuple):
    """The shapes that a path passes, one per station, m in all; the first and the last are points.

    poses (m, 5): x, y [m], θ [rad], cos θ, sin θ of the body that carries the shape. corners (c, 2) [m] in
    its frame; those of station k are rows first[k]:last[k], counter-clockwise. radius (m,) [m] rounds the
    corners: a disc has one. side (m,): +1 for a shape on the left of the cable, −1 on its right, 0 for a
    point that the cable runs through.
    """

    poses: np.ndarray
    corners: np.ndarray
    first: np.ndarray
    last: np.ndarray
    radius: np.ndarray
    side: np.ndarray


@inner
def in_world(poses, k, x, y):
    """World place of the point (x, y) of body k."""
    c, s = poses[k, 3], poses[k, 4]
    return poses[k, 0] + c * x - s * y, poses[k, 1] + s * x + c * y


@inner
def corner(stations, k, index):
    """World place of a corner of station k."""
    return in_world(stations.poses, k, stations.corners[index, 0], stations.corners[index, 1])


@inner
def support(stations, k, nx, ny, present):
    """The corner of station k furthest along (nx, ny): the present one unless another is truly further."""
    first, last, corners = stations.first[k], stations.last[k], stations.corners
    if last - first == 1:
        return first
    c, s = stations.poses[k, 3], stations.poses[k, 4]
    x, y = c * nx + s * ny, -s * nx + c * ny
    furthest = present
    top = corners[present, 0] * x + corners[present, 1] * y
    for index in range(first, last):
        value = corners[index, 0] * x + corners[index, 1] * y
        if value > top + SUPPORT_TIE * abs(top):
            furthest, top = index, value
    return furthest


@inner
def following(stations, k, index):
    """The corner of station k that follows a corner counter-clockwise."""
    return index + 1 if index + 1 < stations.last[k] else stations.first[k]


@inner
def preceding(stations, k, index):
    """The corner of station k that precedes a corner counter-clockwise."""
    return index - 1 if index > stations.first[k] else stations.last[k] - 1


@inner
def edge(stations, k, index):
    """The edge (x, y) [m] that leaves a corner of station k counter-clockwise, in the frame of its body."""
    corners, after = stations.corners, following(stations, k, index)
    return corners[after, 0] - corners[index, 0], corners[after, 1] - corners[index, 1]


@inner
def hull_perimeter(stations, k):
    """Sum of the edges of station k [m], its rounding left out."""
    total = 0.0
    for index in range(stations.first[k], stations.last[k]):
        ex, ey = edge(stations, k, index)
        total += np.sqrt(ex * ex + ey * ey)
    return total


@inner
def nearest_edge(stations, k, x, y):
    """Height of a world point over the nearest edge of station k, inwards [m], and that edge's first corner.

    Outside of the hull the height is negative, over the first edge that the point lies beyond.
    """
    height, at = np.inf, stations.first[k]
    for index in range(stations.first[k], stations.last[k]):
        ax, ay = corner(stations, k, index)
        bx, by = corner(stations, k, following(stations, k, index))
        ex, ey = bx - ax, by - ay
        over = (ex * (y - ay) - ey * (x - ax)) / np.sqrt(ex * ex + ey * ey)
        if over < height:
            height, at = over, index
            if over < 0.0:
                break
    return height, at


@inner
def depth_of(stations, k, x, y):
    """How deep a world point lies in shape k [m], negative outside.

    Outward normal at the nearest place of its edge.
    """
    distance, nx, ny = np.inf, 1.0, 0.0
    if stations.last[k] - stations.first[k] > 2:
        height, at = nearest_edge(stations, k, x, y)
        if height >= 0.0:
            ex, ey = edge(stations, k, at)
            length, c, s = np.sqrt(ex * ex + ey * ey), stations.poses[k, 3], stations.poses[k, 4]
            return height + stations.radius[k], (s * ex + c * ey) / length, (s * ey - c * ex) / length
    for index in range(stations.first[k], stations.last[k]):
        ax, ay = corner(stations, k, index)
        bx, by = corner(stations, k, following(stations, k, index))
        ex, ey, wx, wy = bx - ax, by - ay, x - ax, y - ay
        square = ex * ex + ey * ey
        along = min(max((ex * wx + ey * wy) / square, 0.0), 1.0) if square > 0.0 else 0.0
        dx, dy = wx - along * ex, wy - along * ey
        away = np.sqrt(dx * dx + dy * dy)
        if away < distance:
            distance = away
            nx, ny = (dx / away, dy / away) if away > 0.0 else (1.0, 0.0)
    return stations.radius[k] - distance, nx, ny
