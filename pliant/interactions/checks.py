"""Checks of what a user hands to an interaction; each returns a clean array or raises an InputError."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats

LEAST_SUM = 1e-9  # of signed weights over the sum of their sizes
SAME_PLACE = 1e-12  # of the largest coordinate: consecutive points that are nearer coincide


def array(what: str, value: ArrayLike, shape: tuple[int | None, ...], expected: str) -> np.ndarray:
    """`value` as finite floats of the given shape (None: any length)."""
    try:
        out = np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(what, expected=expected, got=repr(value)) from None
    fits = out.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, out.shape))
    if not fits:
        raise InputError(what, expected=expected, got=f"shape {out.shape}")
    if not np.isfinite(out).all():
        raise InputError(what, expected=expected, got="numbers that are not finite")
    return out


def position(what: str, value: ArrayLike) -> np.ndarray:
    """A point fixed in space, (3,) [m]."""
    return array(what, value, (3,), "a point in space, three numbers in metres")


def unit_vector(what: str, value: ArrayLike) -> np.ndarray:
    """A direction, (3,), normalised."""
    return unit_vectors(what, array(what, value, (3,), "a direction, three numbers")[None])[0]


def unit_vectors(what: str, value: ArrayLike) -> np.ndarray:
    """Directions, (k, 3), normalised; one direction may be given as (3,)."""
    expected = "directions, three numbers each"
    vectors = np.atleast_2d(as_floats(what, value, expected))
    vectors = array(what, vectors, (None, 3), expected)
    length = np.linalg.norm(vectors, axis=1)
    if not length.all():
        k = int(np.flatnonzero(length == 0)[0])
        raise InputError(what, expected="directions of non-zero length", got=f"zero at index {k}")
    return vectors / length[:, None]


def weights(what: str, value: ArrayLike, count: int, *, signed: bool = False) -> np.ndarray:
    """`count` non-negative numbers that add up to one; `signed` ones need a positive sum only."""
    w = array(what, value, (count,), f"{count} numbers, one per point")
    if not signed and ((w < 0).any() or not w.any()):
        raise InputError(what, expected="non-negative numbers, not all zero", got=f"smallest {w.min():g}")
    if not w.sum() > LEAST_SUM * np.abs(w).sum():
        raise InputError(what, expected="numbers of a positive sum, not all zero", got=f"sum {w.sum():g}")
    return w / w.sum()


def triangles(what: str, value: ArrayLike, count: int) -> np.ndarray:
    """Triangles, (t, 3) indices of `count` points, three different corners each."""
    try:
        corners = np.asarray(value)
    except ValueError:
        raise InputError(what, expected="(t, 3) integer indices", got=repr(value)) from None
    if corners.ndim != 2 or corners.shape[1] != 3 or not len(corners) or corners.dtype.kind not in "iu":
        raise InputError(
            what, expected="(t, 3) integer indices", got=f"{corners.dtype} array of shape {corners.shape}"
        )
    if corners.min() < 0 or corners.max() >= count:
        raise InputError(
            what,
            expected=f"indices of its {count} points, 0 to {count - 1}",
            got=f"{corners.min()} to {corners.max()}",
            hint="Triangles index the points given, not the nodes of the mesh.",
        )
    a, b, c = corners.T
    folded = np.flatnonzero((a == b) | (b == c) | (c == a))
    if len(folded):
        raise InputError(
            what, expected="three different corners", got=f"a repeated corner in triangle {folded[0]}"
        )
    return np.ascontiguousarray(corners, np.int64)


def at_least(what: str, count: int, needed: int, hint: str = "") -> None:
    """Raise InputError unless there are as many points as needed."""
    if count < needed:
        raise InputError(what, expected=f"at least {needed} points", got=count, hint=hint)


def segments(what: str, nodes: np.ndarray, names: list[str]) -> np.ndarray:
    """Lengths of a polyline's segments [m]; consecutive nodes must differ."""
    length = np.linalg.norm(np.diff(nodes, axis=0), axis=1)
    short = np.flatnonzero(length <= SAME_PLACE * np.abs(nodes).max(initial=0.0))
    if len(short):
        k = int(short[0])
        raise InputError(
            what, expected="consecutive points apart", got=f"{names[k]} and {names[k + 1]} coincide"
        )
    return length
