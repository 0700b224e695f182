"""Rows of surfaces that touch: patch tests, balance, symmetry."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant import contact

YOUNG, SIDE, HEIGHT = 1e5, 0.04, 0.02  # [Pa], [m]
PRESSED = 0.002  # [m]
KINDS = {"tet4": ("tet", 1), "tet10": ("tet", 2), "hex8": ("hex", 1), "hex20": ("hex", 2)}
PAIRS = [
    ("tet4", "tet4", 3, 4),
    ("tet10", "tet10", 3, 4),
    ("tet10", "tet10", 2, 5),
    ("hex8", "hex8", 3, 5),
    ("hex20", "hex20", 2, 3),
    ("tet4", "hex8", 4, 3),
    ("tet10", "hex8", 2, 3),
    ("hex20", "tet10", 2, 3),
    ("tet4", "tet10", 5, 2),
]


def block(kind: str, cells: int, low: float, poisson: float = 0.0, young: float = YOUNG) -> pl.Solid:
    """A block on its lower side at `low` [m], held at the side away from z = HEIGHT."""
    shape, order = KINDS[kind]
    box = {"size": (SIDE, SIDE, HEIGHT), "cells": (cells, cells, 2), "origin": (0, 0, low), "kind": shape}
    mesh = pl.mesh.box(**box, order=order) if kind == "hex20" else pl.mesh.box(**box)
    held = 0.0 if low < HEIGHT / 2 else 2 * HEIGHT
    solid = pl.Solid(
        mesh, pl.Hooke(young, poisson), order=order, fixed=np.abs(mesh.nodes[:, 2] - held) < 1e-9
    )
    assert solid.mesh.kind == kind
    return solid


def pressed(
    lower: pl.Solid, upper: pl.Solid, *, swapped: bool = False, shift=(0.0, 0.0), friction: float = 0.0
):
    """The equilibrium of two blocks pressed together, the robot, and stress σ_zz of both [Pa]."""
    bodies = [upper, lower] if swapped else [lower, upper]
    robot = pl.Robot(bodies, surroundings=contact.Surroundings(friction=friction))
    q, span = robot.rest.q.copy(), robot.q_spans[bodies.index(upper)]
    q[span] = upper.move_supports(q[span], translation=(*shift, -PRESSED))
    result = pl.static(robot, state=robot.rest.with_(q=q))
    own = [result.q[robot.q_spans[bodies.index(b)]] for b in (lower, upper)]
    return result, robot, [b.stress(x)[..., 2, 2] for b, x in zip((lower, upper), own, strict=True)]


@pytest.mark.parametrize(("low", "high", "cells_low", "cells_high"), PAIRS)
def test_uniform_stress_goes_through_any_pair_of_meshes(low, high, cells_low, cells_high, within):
    """Two blocks with flush sides, pressed face to face: σ = −E ε in every cell, in a few iterations."""
    result, _, stresses = pressed(block(low, cells_low, 0.0), block(high, cells_high, HEIGHT))
    expected = -YOUNG * PRESSED / (2 * HEIGHT)
    for stress in stresses:
        within(np.abs(stress / expected - 1).max(), 0.01, f"stress {low} {high}")
    assert result.certificate.iterations <= 8
