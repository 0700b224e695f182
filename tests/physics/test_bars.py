"""Torsion, pure bending, the elastica and the cantilever of the targets."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.algebra import factorise
from pliant.bench.cantilever import REFERENCE, VARIANTS, beam
from pliant.bench.validation import bars
from pliant.core.view import linearise


@pytest.mark.parametrize(("shape", "cells"), [("round", (12, 1, 8)), ("square", (4, 8))])
@pytest.mark.parametrize("angle", [0.01, 0.5])
def test_torsion(shape, cells, angle, within):
    """T = G J θ' of Saint-Venant. Corotated bars keep to it at half a radian too."""
    error, _ = bars.torsion(shape, cells=cells, angle=angle)
    within(error, 0.01, "torque")


@pytest.mark.parametrize("kind", ["hex", "tet"])
@pytest.mark.parametrize("degrees", [90, 180, 300])
def test_end_torque_bends_a_strip_into_an_arc(kind, degrees, within):
    """κ = M/EI, with one cell across."""
    off, angle = bars.Strip(0.002, 50, kind=kind, middle=np.pi).arc(np.radians(degrees))
    within(off, 0.005, "tip")
    within(angle, 0.005, "angle")


@pytest.mark.parametrize("kind", ["hex", "tet"])
@pytest.mark.parametrize("load", [1.0, 10.0])
def test_elastica_under_a_dead_load(kind, load, within):
    off, angle = bars.Strip(0.002, 40, kind=kind).elastica(load)
    within(off, 0.001, "tip")
    within(angle, 0.001, "angle")


def test_elastica_agrees_with_published_numbers():
    """Mattiasson 1981, PL²/EI = 10: 1 − x/L = 0.55500, z/L = 0.81061, θ = 1.43029."""
    np.testing.assert_allclose(bars.elastica(10.0), [1 - 0.55500, 0.81061, 1.43029], atol=1e-5)


@pytest.mark.parametrize(("degrees", "negative"), [(80, 0), (100, 1)])
def test_a_square_strip_leaves_its_plane_at_a_quarter_turn(degrees, negative):
    """The arc is stable against motion out of its plane up to 90° of bending, and no further.

    When the sides of the section are equal, turning the bent strip about the normal of the clamp costs no
    elastic energy. The angle that the motor sees falls with such a turn while the tip points forwards, and
    rises once it points back.
    """
    flat, loose = (bars.Strip(0.004, 25, planar=planar) for planar in (True, False))
    torque = flat.stiffness * np.radians(degrees) / bars.LENGTH
    arc = pl.static(flat.robot, {"motor": pl.Known(effort=torque)}, load_steps=4)
    q, effort, internal = arc.state.q, arc.state.effort, arc.state.internal
    linear = linearise(loose.robot, q, effort, internal, loose.robot.gravity)
    assert np.linalg.norm(linear.residual()) < 1e-6 * np.linalg.norm(linear.H.transpose_dot(effort))
    assert factorise(loose.robot.symbolic, linear.K, indefinite=True).negative == negative


@pytest.mark.parametrize("poisson", REFERENCE)
@pytest.mark.parametrize(
    ("variant", "cells", "allowed"),
    [(VARIANTS[0], (8, 2, 2), 0.01), (VARIANTS[1], (12, 2, 2), 0.015)],
    ids=["tet10", "hex8"],
)
def test_cantilever_under_its_own_weight(variant, cells, allowed, poisson, within):
    """The default elements against converged deflections of other codes, uncertain by 0.15 to 0.4 %."""
    result = pl.static(beam(variant, cells, poisson))
    within(result.displacement["tip"][2] / REFERENCE[poisson] - 1, allowed, "deflection")
