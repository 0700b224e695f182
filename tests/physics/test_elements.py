"""Solid elements against values from outside: bending, near incompressibility, vibration, compression."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench.validation import elements
from pliant.materials import ArrudaBoyce, Hooke, MooneyRivlin, NeoHookean, Ogden, StVenantKirchhoff, Yeoh

LAWS = {"Hooke": Hooke, "neo-Hookean": NeoHookean, "St Venant": StVenantKirchhoff}


@pytest.mark.parametrize("cells", [(6, 1, 2), (4, 1, 1)], ids=["two across", "one across"])
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.49, 0.4999])
@pytest.mark.parametrize("law", LAWS)
def test_hexahedra_bend_exactly(law, poisson, cells, within):
    """κ = M/EI where the section is free to contract, with one cell across, nearly incompressible or not."""
    within(elements.bent_bar("hex", cells, LAWS[law](3e5, poisson)), 1e-6, "deflection")


@pytest.mark.parametrize("poisson", elements.CLAMPED)
@pytest.mark.parametrize("law", [Hooke, NeoHookean])
def test_clamped_bar_of_hexahedra(law, poisson, within):
    """10×3×3 cells that narrow towards the clamp, where the section may not contract."""
    robot = elements.clamped_bar("hex", (10, 3, 3), law(elements.YOUNG, poisson), grade=10.0)
    within(elements.sag(robot)[0] / elements.CLAMPED[poisson] - 1, 0.02, "deflection")


def test_clamped_bar_on_an_even_mesh(within):
    """ν = 0.3 needs no layers behind the clamp."""
    robot = elements.clamped_bar("hex", (10, 3, 3), NeoHookean(elements.YOUNG, 0.3))
    within(elements.sag(robot)[0] / elements.CLAMPED[0.3] - 1, 0.02, "deflection")


@pytest.mark.parametrize(("kind", "cells", "allowed"), [("hex", 16, 0.02), ("tet", 8, 0.06)])
def test_cook_membrane_nearly_incompressible(kind, cells, allowed, within):
    """ν = 0.4999 in plane strain, in one load step from rest."""
    tip, result = elements.cook_tip(kind, cells)
    assert result.certificate.converged
    within(tip / elements.COOK_TIP - 1, allowed, "corner")


@pytest.mark.parametrize("poisson", [0.3, 0.45, 0.4999])
@pytest.mark.parametrize("law", [Hooke, NeoHookean])
def test_frequency_with_two_cells_across(law, poisson, within):
    value = elements.frequency("hex", (5, 1, 2), law(elements.YOUNG, poisson))
    within(value / elements.timoshenko(poisson) - 1, 0.01, "frequency")


RUBBERS = (
    NeoHookean(3e5, 0.3),
    NeoHookean(3e5, 0.4999),
    MooneyRivlin(c10=4e4, c01=1e4, bulk=5e6),
    Yeoh(c1=5e4, c2=2e3, c3=1e2, bulk=5e6),
    Ogden(mu=[6e4, 1.5e3, -8e3], alpha=[1.3, 5.0, -2.0], bulk=2e7),
    ArrudaBoyce(shear=1e5, locking=2.8, bulk=5e6),
)


@pytest.mark.parametrize("law", RUBBERS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("stretch", [0.6, 0.45, 2.0])
def test_no_hourglass_grows_in_a_squeezed_or_stretched_block(law, stretch):
    """K of a uniform state stays positive, far from zero: enhanced strains alone lose that when squeezed."""
    assert elements.compressed("hex", law, stretch, cells=2) > 0.005


CLAMPED_BARS = [(poisson, cells) for poisson in (0.4, 0.45, 0.4999) for cells in ((6, 2, 2), (10, 3, 3))]


@pytest.mark.parametrize(("poisson", "cells"), CLAMPED_BARS)
@pytest.mark.parametrize("law", [Hooke, NeoHookean])
def test_a_layer_behind_a_clamp_lets_an_even_mesh_bend(law, poisson, cells, within):
    """Without it the bar is 3 to 12 % too stiff; the reference is FElupe's, between its ν by a parabola."""
    x, y = np.transpose(list(elements.CLAMPED.items()))
    exact = np.polyval(np.polyfit(x[:3], y[:3], 2), poisson) if poisson < 0.49 else y[-1]
    robot = elements.clamped_bar("hex", cells, law(elements.YOUNG, poisson))
    within(elements.sag(robot)[0] / exact - 1, 0.01 if cells[1] == 2 else 0.015, "deflection")
