"""Orders of convergence on manufactured solutions. Patch tests are in test_solid.py."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench.validation import manufactured
from pliant.materials import Hooke, NeoHookean

SMALL = Hooke(young=3e5, poisson=0.3, small_strain=True)
FINITE = NeoHookean(young=3e5, poisson=0.3)
NEARLY_RIGID_VOLUME = Hooke(young=3e5, poisson=0.4999, small_strain=True)

# kind, order, options of Solid, cells, order expected
ELEMENTS = {
    "tet4": ("tet", 1, {}, (4, 6, 8), 2),
    "hex8": ("hex", 1, {}, (4, 6, 8), 2),
    "tet10": ("tet", 2, {}, (3, 4, 6), 2),
    "tet10, no split": ("tet", 2, {"split": False}, (3, 4, 6), 3),
}


def errors(element: str, material, field: str = "general") -> tuple[tuple[int, ...], list[float]]:
    kind, order, options, cells, _ = ELEMENTS[element]
    errors = [
        manufactured.error(material, kind=kind, cells=n, order=order, field=field, **options) for n in cells
    ]
    return cells, errors


@pytest.mark.parametrize("field", manufactured.FIELDS)
def test_gradient_of_the_field_is_its_derivative(field):
    X = manufactured.SIDE * np.random.default_rng(0).random((5, 3))
    h = 1e-20
    for j, axis in enumerate(np.eye(3)):
        derivative = manufactured.displacement(X + 1j * h * axis, field).imag / h
        np.testing.assert_allclose(
            derivative, manufactured.displacement_gradient(X, field)[:, :, j], atol=1e-15
        )


@pytest.mark.parametrize("material", [SMALL, FINITE], ids=["small strain", "neo-Hookean"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_order_of_the_displacement(element, material, within):
    order = manufactured.rate(*errors(element, material))
    expected = ELEMENTS[element][-1]
    within(order - expected, 0.2, f"order {order:.2f}, off {expected}")


@pytest.mark.parametrize(("element", "order"), [("hex8", 2), ("tet10", 3)])
def test_default_elements_do_not_lock(element, order, within):
    """On a solution that keeps its volume the error is the same at ν = 0.3 and at ν = 0.4999."""
    cells, compressible = errors(element, SMALL, "swirl")
    _, incompressible = errors(element, NEARLY_RIGID_VOLUME, "swirl")
    within(np.array(incompressible) / compressible - 1, 0.1, "change of the error with ν")
    within(manufactured.rate(cells, incompressible) - order, 0.2, f"order, off {order}")


def test_locking_shows_without_the_split():
    """The same error, several times larger: what the split is for."""
    _, split = errors("tet10", NEARLY_RIGID_VOLUME, "swirl")
    _, plain = errors("tet10, no split", NEARLY_RIGID_VOLUME, "swirl")
    assert (np.array(plain) > 3 * np.array(split)).all()
