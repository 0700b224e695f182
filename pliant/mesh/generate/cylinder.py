"""Solid cylinders and tubes along z."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.disc import ON_SURFACE, ROUNDING, check_around, disc, round_off, sweep
from pliant.mesh.generate.grid import Grade, at_least, finish, graded, positive
from pliant.mesh.mesh import Mesh


def cylinder(
    radius: float = 0.01,
    length: float = 0.1,
    *,
    around: int = 12,
    rings: int = 1,
    along: int = 18,
    kind: str = "tet",
    order: int = 1,
    grade: Grade = 1.0,
) -> Mesh:
    """A solid cylinder from z = 0 to z = `length` [m].

    `around` cells on the circle (a multiple of 4), `rings` between the core and the circle, `along` layers,
    graded as the axes of `box`. With `order=2` the mid nodes of the mantle lie on the true cylinder.
    """
    positive(radius=radius, length=length)
    at_least(1, rings=rings, along=along)
    points, quads = disc(around, rings)
    nodes, cells = sweep(radius * points, quads, graded(length, along, grade))

    def curve(ends: np.ndarray, middle: np.ndarray) -> np.ndarray:
        on_mantle = (np.linalg.norm(ends[:, :, :2], axis=2) > (1 - ON_SURFACE) * radius).all(axis=1)
        return round_off(ends, middle, where=on_mantle)

    return finish(nodes, cells, kind=kind, order=order, curve=curve)


def tube(
    inner: float = 0.006,
    outer: float = 0.01,
    length: float = 0.1,
    *,
    angle: float = 2 * np.pi,
    around: int = 16,
    across: int = 2,
    along: int = 16,
    kind: str = "tet",
    order: int = 1,
    grade: Grade = 1.0,
) -> Mesh:
    """A tube with open ends, from z = 0 to z = `length`, radii `inner` and `outer` [m].

    `angle` [rad] below 2π gives a sector from the x axis on (π/2: a quarter, for symmetric problems).
    `around` cells over the angle, `across` the wall, `along` the axis; `grade` is across the wall. With
    `order=2` mid nodes lie on true circles.
    """
    positive(inner=inner, outer=outer, length=length, angle=angle)
    at_least(1, around=around, across=across, along=along)
    if inner >= outer:
        raise InputError("inner radius", expected=f"less than the outer, {outer}", got=inner)
    if angle > 2 * np.pi * (1 + ROUNDING):
        raise InputError("angle", expected="at most 2π", got=angle)
    full = angle > 2 * np.pi * (1 - ROUNDING)
    if full:
        check_around(around)
    radii = inner + graded(outer - inner, across, grade)
    points, quads = _sector(radii, angle, around, full)
    nodes, cells = sweep(points, quads, np.linspace(0, length, along + 1))

    def curve(ends: np.ndarray, middle: np.ndarray) -> np.ndarray:
        return round_off(ends, middle, where=np.ones(len(ends), bool))

    return finish(nodes, cells, kind=kind, order=order, curve=curve)


def _sector(radii: np.ndarray, angle: float, around: int, full: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points and quadrilaterals of a ring or of a part of it."""
    theta = np.linspace(0, angle, around + 1)[: around + (not full)]
    direction = np.column_stack([np.cos(theta), np.sin(theta)])
    if not full and np.isclose(angle, np.pi / 2):
        direction[-1, 0] = 0.0  # exactly on the symmetry plane
    points = (direction[:, None, :] * radii[None, :, None]).reshape(-1, 2)
    number = np.arange(len(points)).reshape(len(theta), len(radii))
    following = np.roll(number, -1, axis=0) if full else number[1:]
    number = number if full else number[:-1]
    quads = np.stack([number[:, :-1], number[:, 1:], following[:, 1:], following[:, :-1]], axis=-1)
    return points, quads.reshape(-1, 4)
