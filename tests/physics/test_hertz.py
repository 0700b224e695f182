"""A dome on a block presses as another code says, and as Hertz does for layers without end."""

from __future__ import annotations

import pytest

from pliant.bench.validation import hertz


@pytest.mark.parametrize(
    ("kind", "order", "cells", "layers"), [("hex", 1, 16, 8), ("tet", 2, 12, 4)], ids=["hex8", "tet10"]
)
def test_a_dome_on_a_block_presses_as_hertz_says(kind, order, cells, layers, within):
    found = hertz.pressed(kind, order, cells, layers)
    within(found.force / hertz.REFERENCE - 1, 0.02, "force of a dome")
    assert found.iterations < 10


def test_the_reference_is_near_the_closed_form():
    """The layers of the closed form have no end, so that it is a little stiffer."""
    assert 0.0 < hertz.layered() / hertz.REFERENCE - 1 < 0.015
