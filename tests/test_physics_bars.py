"""Torsion, pure bending, the elastica and the cantilever of the targets."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bench.cantilever import REFERENCE, VARIANTS, beam
from pliant.bench.validation import bars


@pytest.mark.parametrize(("shape", "cells"), [("round", (12, 1, 8)), ("square", (4, 8))])
@pytest.mark.parametrize("angle", [0.01, 0.5])
def test_torsion(shape, cells, angle):
    """T = G J θ' of Saint-Venant. Corotated bars keep to it at half a radian too."""
    error, _ = bars.torsion(shape, cells=cells, angle=angle)
    assert abs(error) < 0.01


@pytest.mark.parametrize("kind", ["hex", "tet"])
@pytest.mark.parametrize("degrees", [90, 180, 300])
def test_end_torque_bends_a_strip_into_an_arc(kind, degrees):
    """κ = M/EI, with one cell across."""
    off, angle = bars.Strip(0.002, 50, kind=kind, middle=np.pi).arc(np.radians(degrees))
    assert off < 0.01
    assert abs(angle) < 0.01


@pytest.mark.parametrize("kind", ["hex", "tet"])
@pytest.mark.parametrize("load", [1.0, 10.0])
def test_elastica_under_a_dead_load(kind, load):
    off, angle = bars.Strip(0.002, 40, kind=kind).elastica(load)
    assert off < 0.002
    assert abs(angle) < 0.002


def test_elastica_agrees_with_published_numbers():
    """Mattiasson 1981, PL²/EI = 10: 1 − x/L = 0.55500, z/L = 0.81061, θ = 1.43029."""
    np.testing.assert_allclose(bars.elastica(10.0), [1 - 0.55500, 0.81061, 1.43029], atol=1e-5)


def test_square_strip_leaves_its_plane_at_a_quarter_turn():
    """Turning the bent strip about the clamp's normal costs no elastic energy when its sides are equal.

    The angle that the motor sees falls with that turn as long as the tip stands less than 90° from the normal, and rises
    beyond: the arc in the plane is stable up to a quarter turn, and no further.
    """
    strip = bars.Strip(0.004, 25, planar=False)
    limit = strip.stiffness * (np.pi / 2) / bars.LENGTH
    below = pl.static(strip.robot, {"motor": pl.Known(effort=0.98 * limit)})
    assert below.certificate.negative == 0
    with pytest.raises(pl.ConvergenceError) as stuck:
        pl.static(strip.robot, {"motor": pl.Known(effort=1.05 * limit)}, state=below.state)
    assert stuck.value.result.displacement["motor"][0] == pytest.approx(np.pi / 2, rel=0.02)


@pytest.mark.parametrize("poisson", REFERENCE)
@pytest.mark.parametrize(
    ("variant", "cells", "allowed"),
    [(VARIANTS[0], (8, 2, 2), 0.01), (VARIANTS[1], (12, 2, 2), 0.015)],
    ids=["tet10", "hex8"],
)
def test_cantilever_under_its_own_weight(variant, cells, allowed, poisson):
    """The default elements against converged deflections of other codes (their uncertainty is 0.15 to 0.4 %)."""
    result = pl.static(beam(variant, cells, poisson))
    assert result.displacement["tip"][2] == pytest.approx(REFERENCE[poisson], rel=allowed)
