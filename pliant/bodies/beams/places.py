"""Places on rods: an element, a share of its length, and an offset across.

Between two ends the centreline is the cubic through both with their tangents, and the section is the mean
of the sections there: at the share s of the length,

    x(s) = Σ_k h_k(s) x_k + Λ_k (L g_k(s) e_x + N_k(s) o)        N = (1 − s, s), h and g the cubics of Hermite
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies.location import checked_points
from pliant.errors import InputError, as_floats
from pliant.mesh.lines import Lines

PROJECTION_STEPS = 12  # of Newton's method, to the nearest point of an element
NEAREST_ELEMENTS = 3  # by their chords, tried for each point
SAME_PLACE = 1e-12  # of the rods' size, and of its square: nearer places and equal distances are rounding
SHARE_DIGITS = 12  # of a share of an element's length: more are rounding
ON_AXIS = 1e-6  # of the rods' size: points that are no farther off the axis lie on it
BEYOND_THE_END = 1e-9  # of a branch's length: arc lengths that are off by less are rounding


@dataclass(frozen=True, eq=False)
class Places:
    """Element (n,), share s (n,) of its length, offset o (n, 3) [m] in the axes there."""

    element: np.ndarray
    share: np.ndarray
    offset: np.ndarray


def hermite(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h (n, 2) for the places and g (n, 2) for the tangents of both ends."""
    r = 1.0 - s
    h = np.column_stack([r * r * (1 + 2 * s), s * s * (1 + 2 * r)])
    return h, np.column_stack([s * r * r, -s * s * r])


def rest_position(lines: Lines, lengths: np.ndarray, places: Places) -> np.ndarray:
    """Positions (n, 3) [m] at rest."""
    h, g = hermite(places.share)
    X, axes = lines.nodes[lines.elements[places.element]], lines.frames[places.element]
    arm = arms(lengths, places, g)
    return np.einsum("nk,nki->ni", h, X) + np.einsum("nkij,nkj->ni", axes, arm)


def arms(lengths: np.ndarray, places: Places, g: np.ndarray) -> np.ndarray:
    """(n, 2, 3): L g e_x + N o in the section axes of both ends."""
    share = np.column_stack([1.0 - places.share, places.share])
    arm = share[:, :, None] * places.offset[:, None, :]
    arm[:, :, 0] += lengths[places.element, None] * g
    return arm


def along(lines: Lines, arc: Any, branch: int, offset: Any) -> Places:
    """Places at arc lengths (P,) [m] of a branch, `offset` (2,) or (P, 2) [m] along the section's y and z."""
    s = np.atleast_1d(as_floats("arc length", arc, "numbers [m]"))
    elements = _elements(lines, branch)
    length = lines.arc[elements[-1], 1]
    if s.ndim != 1 or not ((s >= -BEYOND_THE_END * length) & (s <= (1 + BEYOND_THE_END) * length)).all():
        raise InputError("arc length", expected=f"from 0 to {length:.6g} m along branch {branch}", got=arc)
    before = np.searchsorted(lines.arc[elements, 0], s, side="right") - 1
    e = elements[np.clip(before, 0, len(elements) - 1)]
    start, end = lines.arc[e].T
    across = np.atleast_2d(as_floats("offset", offset, "two numbers [m], or two for each point"))
    if across.ndim != 2 or across.shape not in ((1, 2), (len(s), 2)):
        raise InputError("offset", expected=f"shape (2,) or ({len(s)}, 2)", got=np.shape(offset))
    share = np.round(np.clip((s - start) / (end - start), 0.0, 1.0), SHARE_DIGITS)
    return Places(e, share, np.column_stack([np.zeros(len(s)), np.broadcast_to(across, (len(s), 2))]))


def near(lines: Lines, lengths: np.ndarray, where: Any, branch: int | None) -> tuple[np.ndarray, Places]:
    """Positions (P, 3) [m] and their nearest places on the centreline, with the offset from there."""
    rest = checked_points(where)
    elements = _elements(lines, branch)
    best = np.full(len(rest), np.inf)
    element, share = np.zeros(len(rest), np.int64), np.zeros(len(rest))
    for e in elements[_nearest_chords(lines, elements, rest)].T:
        s, distance = _project(lines, lengths, e, rest)
        closer = distance < best - SAME_PLACE * lines.size
        best = np.where(closer, distance, best)
        element, share = np.where(closer, e, element), np.where(closer, s, share)
    far = np.flatnonzero(best > lines.size)
    if len(far):
        got = f"{best[far[0]]:.3g} m off"
        raise InputError(f"point {far[0]} of a beam", expected="near its rods", got=got, hint="Wrong unit?")
    return rest, _offset(lines, lengths, rest, Places(element, share, np.zeros((len(rest), 3))))


def on_elements(lines: Lines, lengths: np.ndarray, where: Any, elements: Any) -> Places:
    """Places of positions (P, 3) [m] on the elements given (P,)."""
    rest, e = checked_points(where), np.asarray(elements)
    count = len(lines.elements)
    if e.shape != (len(rest),) or e.dtype.kind not in "iu" or not ((e >= 0) & (e < count)).all():
        expected = f"the number of an element, below {count}, for each of {len(rest)} nodes"
        raise InputError("carriers of a mesh", expected=expected, got=f"{e.dtype} of shape {e.shape}")
    share, _ = _project(lines, lengths, e, rest)
    return _offset(lines, lengths, rest, Places(e.astype(np.int64), share, np.zeros((len(rest), 3))))


def _nearest_chords(lines: Lines, elements: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Which of the elements (P, 3 or fewer) have the chords nearest to x (P, 3)."""
    middle = lines.nodes.mean(axis=0)
    start, end = np.moveaxis(lines.nodes[lines.elements[elements]] - middle, 1, 0)
    x, chord = x - middle, end - start
    along, square = x @ chord.T - (start * chord).sum(axis=1), (chord**2).sum(axis=1)
    s = np.clip(along / square, 0, 1)
    gap = (
        (x**2).sum(axis=1)[:, None] - 2 * x @ start.T + (start**2).sum(axis=1) + s * (s * square - 2 * along)
    )
    gap = np.round(gap / (SAME_PLACE * lines.size**2))  # ties go to the first element
    return np.argsort(gap, axis=1, kind="stable")[:, :NEAREST_ELEMENTS]


def _project(
    lines: Lines, lengths: np.ndarray, e: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Share (P,) of the point of each element nearest to x (P, 3), and the distance (P,) [m]."""
    X, T = lines.nodes[lines.elements[e]], lengths[e, None, None] * lines.frames[e][:, :, :, 0]
    at = lambda h, g: np.einsum("nk,nki->ni", h, X) + np.einsum("nk,nki->ni", g, T)
    s = np.full(len(x), 0.5)
    for _ in range(PROJECTION_STEPS):
        slope = at(
            np.column_stack([6 * s * (s - 1), 6 * s * (1 - s)]),
            np.column_stack([(1 - s) * (1 - 3 * s), s * (3 * s - 2)]),
        )
        away = at(*hermite(s)) - x
        s = np.clip(s - (away * slope).sum(axis=1) / (slope**2).sum(axis=1), 0.0, 1.0)
    s = np.round(s, SHARE_DIGITS)
    return s, np.linalg.norm(at(*hermite(s)) - x, axis=1)


def _offset(lines: Lines, lengths: np.ndarray, x: np.ndarray, places: Places) -> Places:
    """The same places with the offsets that reach x."""
    share = np.column_stack([1.0 - places.share, places.share])
    axes = np.einsum("nk,nkij->nij", share, lines.frames[places.element])
    away = x - rest_position(lines, lengths, places)
    return Places(places.element, places.share, np.linalg.solve(axes, away[:, :, None])[:, :, 0])


def centreline(lines: Lines, lengths: np.ndarray, spacing: float | None, branch: int | None) -> Places:
    """Nodes of the lines, and points between them no farther apart than `spacing` [m] (None: the middles)."""
    if spacing is not None and not (np.isfinite(spacing) and spacing > 0):
        raise InputError("spacing", expected="a positive number [m]", got=spacing)
    element, share, seen = [], [], set()
    for e in _elements(lines, branch):
        pieces = 2 if spacing is None else max(1, int(np.ceil(lengths[e] / spacing - BEYOND_THE_END)))
        for s in np.arange(pieces + 1) / pieces:
            node = int(lines.elements[e, int(s)]) if s in (0.0, 1.0) else -1
            if node not in seen:
                element.append(int(e))
                share.append(float(s))
                seen |= {node} - {-1}
    return Places(np.array(element, np.int64), np.array(share), np.zeros((len(share), 3)))


def neighbours(lines: Lines, lengths: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Pairs (m, 2) of positions (P, 3) [m] at rest that lie next to each other on the axis of a branch."""
    pairs = [np.zeros((0, 2), np.int64)]
    for branch in range(int(lines.branch.max()) + 1):
        where = near(lines, lengths, rest, branch)[1]
        on = np.flatnonzero(np.linalg.norm(where.offset, axis=1) < ON_AXIS * lines.size)
        start, end = lines.arc[where.element[on]].T
        order = on[np.argsort(start + where.share[on] * (end - start), kind="stable")]
        pairs.append(np.column_stack([order[:-1], order[1:]]))
    return np.unique(np.sort(np.vstack(pairs), axis=1), axis=0)


def _elements(lines: Lines, branch: int | None) -> np.ndarray:
    """The elements of a branch, or all."""
    chosen = np.arange(len(lines.elements)) if branch is None else np.flatnonzero(lines.branch == branch)
    if not len(chosen):
        raise InputError("branch", expected=f"from 0 to {lines.branch.max()}", got=branch)
    return chosen
