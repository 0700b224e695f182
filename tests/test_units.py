"""Numbers as a person would write them."""

from __future__ import annotations

import pytest

from pliant.units import number, quantity


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8.11e-5, "N", "0.0811 mN"),
        (-8.11e-8, "N", "−0.0811 µN"),
        (1e-12, "N", "0 N"),
        (-1e-13, "m", "0 mm"),
        (4e-7, "m", "0.4 µm"),
        (0.0125, "m", "12.5 mm"),
        (0.4, "Pa", "0.4 Pa"),
        (-0.0, "rad", "0°"),
        (1e-6, "rad", "0°"),
    ],
)
def test_small_values_have_a_smaller_unit(value, unit, text):
    assert quantity(value, unit, digits=3) == text


def test_a_vector_has_one_unit():
    assert quantity([0.0, -2e-7, 1e-7], "m") == "(0, −0.2, 0.1) µm"
    assert quantity([1e-12, -3e-13, 0.1], "m") == "(0, 0, 100) mm"


def test_zero_has_no_sign():
    assert number(-0.0) == "0" and number(-1e-300) != "0"
